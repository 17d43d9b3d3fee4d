/* SPDX-License-Identifier: MIT
 *
 * test_groups.cu - the table of groups (kernels/group/) against a loop on the host: each record's key and values are
 * known by the number of its group, so what the table holds is compared byte by byte.
 *
 * Chunks have hardly any groups, or one for each record; keys are short, long with the same begin, or of two columns.
 * Hashes are cut to few bits, so that keys collide; tables are too small, so that records are left to the host. Then
 * groups of the host are merged into the table; and all are arranged in the order of their first records.
 */
#include "groups_test.cuh"
#include "kernels/group/group_arrange.cuh"

/* ---- groups of the host ---- */

/* Writes a group as words. Returns how many. */
static size_t group_put(const struct groups_case *c, const struct group_layout *layout, const struct host_group *g,
			uint32_t number, uint64_t *words)
{
	const struct key_seed seed = {{layout->seed[0], layout->seed[1]}};
	struct group *group = (struct group *)words;
	struct group_cell *cell = (struct group_cell *)(words + FIRST_CELL);
	char key[KEY_NBYTES_MAX + 1];
	uint32_t nbytes = key_write(key, c->keys, number);

	key_make(key, nbytes, false, seed, &group->key);
	if (key_is_long(&group->key)) {
		memcpy(words + layout->nwords, key, nbytes);
		group->key.low = 0;
	}
	group->first = g->first;
	group->nrecords = g->nrecords;
	cell->count_scale = count_scale_of(g);
	cell->sum = (int64_t)g->sum;
	words[FIRST_EXCESS] = (uint64_t)(g->sum >> GROUP_UPPER_SHIFT);
	cell->extremes[0] = g->min;
	cell->extremes[1] = g->max;
	group_split(cell->squares, g->squares);
	words[SECOND_CELL] = g->ncounted;
	return group_words_count(layout, group);
}

/* Merges groups [first, c->ngroups) that have records into the table. Returns how many it has had no room for. */
static uint64_t merge(const struct groups_case *c, const struct group_table &t, const struct host_group *groups, uint32_t first)
{
	size_t most = t.layout.nwords + KEY_NBYTES_MAX / 8 + 2;
	uint64_t *words = (uint64_t *)calloc((c->ngroups + 1) * most, sizeof *words);
	uint64_t *begins = (uint64_t *)malloc((c->ngroups + 1) * sizeof *begins), nwords = 0;
	uint32_t n = 0;

	for (uint32_t g = first; g < c->ngroups; g++) {
		if (groups[g].nrecords == 0)
			continue;
		begins[n++] = nwords;
		nwords += group_put(c, &t.layout, &groups[g], g, words + nwords);
	}
	uint64_t *device_words = device_copy(words, nwords + 1);
	uint64_t *device_begins = device_copy(begins, n + 1);
	must(group_merge_launch(t, device_words, device_begins, n, NULL), "group_merge");
	struct group_control *control = host_copy(t.control, 1);
	uint64_t count = control->nleft;
	for (void *memory : {(void *)device_words, (void *)device_begins})
		device_free(memory);
	for (void *memory : {(void *)words, (void *)begins, (void *)control})
		free(memory);
	return count;
}

/* The group's records once more. */
static void double_group(struct host_group *g)
{
	g->nrecords *= 2;
	g->count *= 2;
	g->ncounted *= 2;
	g->sum *= 2;
	g->squares *= 2;
}

/* Merges half of the groups into a table without any, and then all of them. */
static bool merging_is_right(const struct groups_case *c, uint32_t nkeys, const struct host_group *groups)
{
	struct group_table table = table_make(c, nkeys);
	struct host_group *wanted = (struct host_group *)malloc((c->ngroups + 1) * sizeof *wanted);
	bool right;

	memcpy(wanted, groups, c->ngroups * sizeof *wanted);
	right = merge(c, table, groups, c->ngroups / 2) == 0 && merge(c, table, groups, 0) == 0;
	for (uint32_t g = c->ngroups / 2; g < c->ngroups; g++)
		double_group(&wanted[g]);
	right = table_is_right(c, table, wanted) && right;
	table_free(&table);
	free(wanted);
	return right;
}

/* ---- in their order ---- */

/* What the steps of group_arrange.cuh make. Device memory. */
struct arranged {
	void *places;
	uint64_t *begins, *words;
};

/* Sorts and lays down all groups of the table. Returns how many there are. */
static uint64_t arrange(const struct group_table &t, uint64_t nwords, struct arranged *a, uint64_t **begins)
{
	struct arena arena = {NULL, 0};
	struct group_places places;
	int sorted;

	must(group_count_launch(t, NULL), "count");
	struct group_control *control = host_copy(t.control, 1);
	uint64_t n = control->census.n;
	group_places_cut(&places, &arena, n);
	a->places = device_filled<char>(arena.nbytes, POISON);
	arena = {(char *)a->places, 0};
	group_places_cut(&places, &arena, n);
	must(group_place_launch(t, places, NULL), "place");
	must(group_sort_launch(places, control->census.last, &sorted, NULL), "sort");
	a->begins = device_filled<uint64_t>(n + 1, POISON);
	a->words = device_filled<uint64_t>(nwords + 1, POISON);
	must(group_begins_launch(t, places, sorted, a->begins, NULL), "begins");
	*begins = host_copy(a->begins, n + 1);
	must(group_gather_launch(t, places, sorted, a->begins, a->words, NULL), "gather");
	free(control);
	return n;
}

/* Whether words are the groups, each once, in the order of their first records, and nothing is behind them. groups become
 * 0. */
static bool arrangement_is_right(const struct groups_case *c, const struct group_table &t, struct host_group *groups,
				 uint64_t nwords)
{
	struct arranged a;
	uint64_t *begins, n = arrange(t, nwords, &a, &begins), *words = host_copy(a.words, nwords + 1), last = 0, poison;
	bool right = begins[n] <= nwords;

	memset(&poison, POISON, sizeof poison);
	for (uint64_t i = 0; i < n && right; i++) {
		const uint64_t *group = words + begins[i], first = ((const struct group *)group)->first;
		uint32_t nbytes, g;
		const char *key = key_of(t, group, &nbytes);
		g = key_group(c, key, nbytes);
		right = g != UINT32_MAX && group_is_right(group, &groups[g]) && (i == 0 || first > last);
		last = first;
		if (right)
			groups[g] = {};
	}
	right = right && words[begins[n]] == poison;
	for (uint32_t g = 0; g < c->ngroups; g++)
		right = right && groups[g].nrecords == 0;
	for (void *memory : {a.places, (void *)a.begins, (void *)a.words})
		device_free(memory);
	free(begins);
	free(words);
	return right;
}

/* The words that the groups in the table may take. */
static uint64_t table_nwords(const struct group_table &t)
{
	struct group_control *control = host_copy(t.control, 1);
	uint64_t nwords = 0;

	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++)
		nwords += group_part_nwords(t, *control, p);
	free(control);
	return nwords;
}

/* ---- cases ---- */

/* Compares what becomes of the table's groups. */
static void test_groups_of(const struct groups_case *c, const struct group_table &table, uint32_t nkeys,
			   const struct host_group *groups)
{
	struct host_group *wanted = (struct host_group *)malloc((c->ngroups + 1) * sizeof *wanted);

	memcpy(wanted, groups, c->ngroups * sizeof *wanted);
	ok(arrangement_is_right(c, table, wanted, table_nwords(table)), "%s: in order", c->name);
	free(wanted);
	if (c->part_nslots != ROOM_NSLOTS)
		return;
	ok(merging_is_right(c, nkeys, groups), "%s: groups of the host", c->name);
}

static void test_case(const struct groups_case *c)
{
	struct test_chunk t = chunk_make(c);
	struct group_table table = table_make(c, t.nkeys);
	struct host_group *groups = (struct host_group *)calloc(c->ngroups + 1, sizeof *groups);
	bool right = true, has_room = c->part_nslots == ROOM_NSLOTS;
	uint32_t nlisted = 0;

	for (uint32_t i = NCHUNKS; i-- > 0;) { /* the later one first: the table keeps the least offset */
		struct outcome out = chunk_add(table, c, &t, i * CHUNK_NBYTES);
		right = host_add(groups, c, &t, &out, i * CHUNK_NBYTES, has_room) && right;
		nlisted += out.summary.nexceptions;
		free(out.exceptions);
		free(out.key_code);
	}
	test_groups_of(c, table, t.nkeys, groups);
	right = table_is_right(c, table, groups) && right;
	ok(right, "%s: %u records of %u groups, %u for the host", c->name, c->nrecords, c->ngroups, nlisted);
	if (!has_room && strcmp(c->name, "random"))
		ok(nlisted > 0, "%s: some were for the host", c->name);
	free(groups);
	table_free(&table);
	chunk_free(&t);
}

#define ROOM ROOM_NSLOTS, ROOM_NWORDS
#define ALL_BITS UINT64_MAX

static void test_sizes(void)
{
	for (uint32_t n : {0u, 1u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u}) {
		const struct groups_case one = {"one group", KEYS_SHORT, n, 1, ALL_BITS, ROOM, 0, 0};
		const struct groups_case few = {"five groups", KEYS_SHORT, n, 5, ALL_BITS, ROOM, 0, 1};
		const struct groups_case all = {"a group each", KEYS_LONG, n, n ? n : 1, ALL_BITS, ROOM, 0, 0};
		test_case(&one);
		test_case(&few);
		test_case(&all);
	}
}

static void test_tables(bool quick)
{
	uint32_t n = quick ? 600 : 3000;
	const struct groups_case cases[] = {
		{"keys of all lengths", KEYS_OF_ALL_LENGTHS, n, 500, ALL_BITS, ROOM, 0, 0},
		{"two columns", KEYS_OF_TWO_COLUMNS, n, 300, ALL_BITS, ROOM, 0, 1},
		{"hashes of 3 bits", KEYS_LONG, n, 300, UINT64_C(7) << 61, ROOM, 0, 0},
		{"equal hashes", KEYS_OF_TWO_COLUMNS, n, 200, 0, ROOM, 0, 0},
		{"wide numbers", KEYS_SHORT, n, 40, ALL_BITS, ROOM, n / 10, 1},
		{"many wide numbers", KEYS_SHORT, n, 40, ALL_BITS, ROOM, 2, 0},
		{"few slots", KEYS_LONG, n, 600, ALL_BITS, 2, 1 << 12, 0, 0},
		{"hardly any slots", KEYS_LONG, n, n, ALL_BITS, 1, 1 << 12, 0, 0},
		{"few words", KEYS_OF_ALL_LENGTHS, n, 500, ALL_BITS, 1024, n / 15, 0, 0},
		{"no words", KEYS_SHORT, 200, 50, ALL_BITS, 1024, 0, 0, 0},
		{"more groups than two blocks", KEYS_SHORT, 40000, 40000, ALL_BITS, ROOM, 0, 0},
		{"more keys than probes", KEYS_SHORT, 1500, 1500, 0, 2048, ROOM_NWORDS, 0, 0},
	};

	for (const struct groups_case &c : cases)
		test_case(&c);
}

/* Tables of any shape, some of them with hardly any room. */
static void test_random(unsigned ncases)
{
	for (; ncases > 0; ncases--) {
		uint32_t n = random_below(700), ngroups = 1 + random_below(random_below(4) ? 300 : 5);
		bool has_room = random_below(4) > 0;
		uint64_t hash_mask = random_below(3) ? UINT64_MAX : UINT64_MAX << random_below(64);
		const struct groups_case c = {"random", (enum key_kind)random_below(4), n, ngroups, hash_mask,
					      has_room ? ROOM_NSLOTS : (uint64_t)1 << random_below(5), ROOM_NWORDS,
					      random_below(3) ? 0 : 2 + random_below(100), random_below(2)};
		test_case(&c);
	}
}

int main(int argc, char **argv)
{
	int ndevices = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	test_sizes();
	test_tables(argc > 1 && !strcmp(argv[1], "quick"));
	random_state += asked("GPUSTAT_TEST_SEED", 0);
	test_random(asked("GPUSTAT_TEST_CASES", 20));
	return done();
}
