/* SPDX-License-Identifier: MIT
 *
 * groups_test.cuh - chunks of records whose keys and values are known by the number of their group, the tables that a device
 * makes of them, and the groups of a loop on the host: for test_groups.cu.
 */
#pragma once

#include "kernel_test.cuh"

#include "kernels/group/group_table.cuh"

#define NCHUNKS 2u          /* of the same records: the second one finds the groups of the first */
#define CHUNK_NBYTES ((uint64_t)1 << 33) /* from one to the next */
#define KEY_NBYTES_MAX 128u
#define ROOM_NSLOTS ((uint64_t)1 << 13) /* a part has room for all keys of a case */
#define ROOM_NWORDS ((uint64_t)5 << 13)
#define CAPACITY 65536u     /* of the list of exceptions */
#define NCOLUMNS 2u         /* a number with all moments, and one that is only counted */
#define WIDE INT64_C(999999999999999999)
enum { /* words of a group */
	FIRST_CELL = sizeof(struct group) / sizeof(uint64_t),
	SECOND_CELL = FIRST_CELL + 6,
	FIRST_EXCESS = SECOND_CELL + 2
};

enum key_kind { KEYS_SHORT, KEYS_LONG, KEYS_OF_ALL_LENGTHS, KEYS_OF_TWO_COLUMNS };

struct groups_case {
	const char *name;
	enum key_kind keys;
	uint32_t nrecords, ngroups;
	uint64_t hash_mask, part_nslots, part_nwords;
	uint32_t nwide; /* one record in so many has a number that does not fit the table's scale; 0: none */
	uint32_t nheads;
};

/* A group's records, as the host has counted them. */
struct host_group {
	uint64_t first;
	uint32_t nrecords, count, scales, ncounted;
	int128 sum;
	int64_t min, max;
	uint128 squares;
};

/* A chunk in both memories. */
struct test_chunk {
	char *text;
	uint32_t *ends, *group_of, nbytes, nkeys, scales;
	int64_t *significand;
	uint8_t *code;
	size_t stride;
};

/* ---- keys ---- */

/* Writes the key of a group, with a NUL between its values. Returns its length. */
static uint32_t key_write(char *to, enum key_kind keys, uint32_t group)
{
	switch (keys) {
	case KEYS_SHORT:
		return (uint32_t)sprintf(to, "k%u", group);
	case KEYS_LONG:
		return (uint32_t)sprintf(to, "/a/path/that/begins/like/all/others/%08u%s", group, group % 2 ? "x" : "");
	case KEYS_OF_ALL_LENGTHS: /* only the first is empty */
		memset(to, 'a' + (char)(group / 100 % 26), KEY_NBYTES_MAX);
		return group % 100 + (group >= 100);
	default:
		return (uint32_t)sprintf(to, "%u%c%u", group % 7, 0, group / 7);
	}
}

/* The group with this key; UINT32_MAX: none. */
static uint32_t key_group(const struct groups_case *c, const char *key, uint32_t nbytes)
{
	char other[KEY_NBYTES_MAX + 1] = "";

	if (c->keys == KEYS_SHORT && nbytes <= KEY_NBYTES_MAX) { /* of which there may be many: a guess */
		memcpy(other, key, nbytes);
		uint32_t g = (uint32_t)strtoul(other + 1, NULL, 10);
		return g < c->ngroups && key_write(other, c->keys, g) == nbytes && !memcmp(other, key, nbytes) ? g : UINT32_MAX;
	}
	for (uint32_t g = 0; g < c->ngroups; g++)
		if (key_write(other, c->keys, g) == nbytes && !memcmp(other, key, nbytes))
			return g;
	return UINT32_MAX;
}

/* ---- a chunk ---- */

static void field_set(struct test_chunk *t, uint32_t column, uint32_t r, unsigned code, int64_t significand)
{
	t->code[column * t->stride + r] = (uint8_t)code;
	t->significand[column * t->stride + r] = significand;
}

/* Lays down a record's key in the text, value by value, and where the values lie. */
static void record_write(struct test_chunk *t, const struct groups_case *c, uint32_t r)
{
	char key[KEY_NBYTES_MAX + 1];
	uint32_t nbytes = key_write(key, c->keys, t->group_of[r]), begin = t->nbytes, k = 0;

	for (uint32_t i = 0; i <= nbytes; i++) {
		bool ends = i == nbytes || (t->nkeys > 1 && key[i] == 0);
		t->text[t->nbytes] = ends ? i == nbytes ? '\n' : ',' : key[i];
		if (ends) {
			field_set(t, NCOLUMNS + k++, r, 0, (int64_t)((uint64_t)t->nbytes << 32 | begin));
			begin = t->nbytes + 1;
		}
		t->nbytes++;
	}
	t->ends[r + c->nheads] = t->nbytes;
}

/* A number, none, or a record that is left out. */
static void record_fill(struct test_chunk *t, const struct groups_case *c, uint32_t r)
{
	unsigned scale = random_below(3), kind = random_below(10);
	int64_t value = (int64_t)(random_next() >> 24) * (random_below(2) ? 1 : -1);

	if (c->nwide && random_below(c->nwide) == 0)
		value = random_below(2) ? WIDE : -WIDE;
	if (r == 0) /* the table's scale is 2, whatever follows */
		scale = 2;
	field_set(t, 0, r, r > 0 && kind == 0 ? (unsigned)FIELD_MISSING : scale, value);
	field_set(t, 1, r, kind == 1 ? (unsigned)FIELD_MISSING : 0, 0);
	for (uint32_t k = 0; r > 0 && kind == 2 && k < NCOLUMNS + t->nkeys; k++)
		field_set(t, k, r, FIELD_ABSENT, -1);
	if (t->code[r] < FIELD_NCODES_NUMBER)
		t->scales |= 1u << t->code[r];
}

static struct test_chunk chunk_make(const struct groups_case *c)
{
	struct test_chunk t = {};
	size_t n = c->nrecords;

	t.nkeys = c->keys == KEYS_OF_TWO_COLUMNS ? 2 : 1;
	t.stride = (n + FIELD_ROWS_ALIGN) / FIELD_ROWS_ALIGN * FIELD_ROWS_ALIGN;
	t.text = (char *)malloc(n * (KEY_NBYTES_MAX + 1) + 16);
	t.ends = (uint32_t *)malloc((n + 1) * sizeof *t.ends);
	t.group_of = (uint32_t *)malloc((n + 1) * sizeof *t.group_of);
	t.significand = (int64_t *)malloc(t.stride * (NCOLUMNS + t.nkeys) * sizeof *t.significand);
	t.code = (uint8_t *)malloc(t.stride * (NCOLUMNS + t.nkeys));
	memset(t.code, POISON, t.stride * (NCOLUMNS + t.nkeys));
	if (c->nheads > 0) { /* the end of a record of before, which no one counts */
		memcpy(t.text, "x\n", 2);
		t.ends[0] = t.nbytes = 2;
	}
	for (uint32_t r = 0; r < n; r++) {
		t.group_of[r] = c->ngroups > n / 2 ? r % c->ngroups : random_below(c->ngroups);
		record_write(&t, c, r);
		record_fill(&t, c, r);
	}
	memset(t.text + t.nbytes, '?', 16);
	return t;
}

static void chunk_free(struct test_chunk *t)
{
	free(t->text);
	free(t->ends);
	free(t->group_of);
	free(t->significand);
	free(t->code);
}

/* ---- the device ---- */

/* A number with all moments, and one that is counted: their cells behind struct group, then the excess of the first. */
static struct group_table table_make(const struct groups_case *c, uint32_t nkeys)
{
	struct group_table t = {};
	struct group_control begin;
	size_t nwords = 1 + GROUP_TABLE_NPARTS * c->part_nwords;

	group_control_begin(&begin);
	t.slots = device_filled<uint64_t>(GROUP_TABLE_NPARTS * c->part_nslots, 0);
	t.words = device_filled<uint64_t>(nwords, POISON);
	t.control = device_copy(&begin, 1);
	t.part_nslots = c->part_nslots;
	t.part_nwords = c->part_nwords;
	t.hash_mask = c->hash_mask;
	t.layout.ncolumns = NCOLUMNS;
	t.layout.nkeys = nkeys;
	t.layout.nwords = FIRST_EXCESS + 2;
	t.layout.columns[0] = {0, FIRST_CELL, FIRST_EXCESS, MOMENT_EXTREMES | MOMENT_SQUARES, true};
	t.layout.columns[1] = {1, SECOND_CELL, FIRST_EXCESS + 2, 0, false};
	t.layout.seed[0] = UINT64_C(0x0123456789abcdef);
	t.layout.seed[1] = UINT64_C(0xfedcba9876543210);
	return t;
}

static void table_free(struct group_table *t)
{
	device_free(t->slots);
	device_free(t->words);
	device_free(t->control);
}

/* What came of a chunk. */
struct outcome {
	struct chunk_summary summary;
	struct field_exception *exceptions;
	uint8_t *key_code; /* of the first key */
};

/* Adds the chunk to the table, on the device. nrecords: 0 where there are none. */
static struct outcome chunk_add(const struct group_table &table, const struct groups_case *c, const struct test_chunk *t,
				uint64_t offset_bytes)
{
	size_t nfields = t->stride * (NCOLUMNS + t->nkeys);
	struct column_tally tallies[NCOLUMNS] = {{0, 0, 0, t->scales, 0, 0}, {0, 0, 0, 1, 0, 0}};
	struct chunk_summary none = {};
	char *text = device_copy(t->text, t->nbytes + 16);
	uint32_t *ends = device_copy(t->ends, c->nrecords + 1), *n = device_copy(&c->nrecords, 1);
	struct field_table fields = {device_copy(t->significand, nfields), device_copy(t->code, nfields), t->stride,
				     NCOLUMNS + t->nkeys};
	struct column_tally *tally = device_copy(tallies, NCOLUMNS);
	struct chunk_summary *summary = device_copy(&none, 1);
	struct exception_list exceptions = {device_filled<struct field_exception>(CAPACITY, POISON), CAPACITY};
	struct group_records records = {{text, t->nbytes, ',', '"'}, {ends, NULL, NULL, n, c->nheads, c->nrecords + 40},
					fields, NCOLUMNS, tally, offset_bytes, exceptions, summary};
	struct outcome out;

	must(group_find_launch(table, records, NULL), "group_find");
	must(group_add_launch(table, records, NULL), "group_add");
	struct chunk_summary *said = host_copy(summary, 1);
	out.summary = *said;
	free(said);
	out.exceptions = host_copy(exceptions.list, CAPACITY);
	out.key_code = host_copy(fields.code + NCOLUMNS * t->stride, t->stride);
	for (void *memory : {(void *)text, (void *)ends, (void *)n, (void *)fields.significand, (void *)fields.code,
			     (void *)tally, (void *)summary, (void *)exceptions.list})
		device_free(memory);
	return out;
}

/* ---- the host ---- */

/* The value at scale 2, or false where it does not fit. */
static bool value_at_scale(const struct test_chunk *t, uint32_t r, int64_t *value)
{
	int128 x = t->significand[r];

	for (unsigned scale = t->code[r]; scale < 2; scale++)
		x *= 10;
	*value = (int64_t)x;
	return x <= WIDE && x >= -WIDE;
}

/* Adds the chunk's records to groups, but those that the device has left to the host, which it lists. Returns whether
 * it lists each of those that do not fit; and no others, if the table has room. */
static bool host_add(struct host_group *groups, const struct groups_case *c, const struct test_chunk *t,
		     const struct outcome *out, uint64_t offset_bytes, bool has_room)
{
	bool right = out->summary.nexceptions <= CAPACITY, refuses = out->summary.nexceptions > GROUP_EXCEPTIONS_MAX;
	uint32_t nlisted = 0;

	for (uint32_t r = 0; r < c->nrecords && right; r++) {
		struct host_group *g = &groups[t->group_of[r]];
		uint32_t begin = r + c->nheads ? t->ends[r + c->nheads - 1] : 0, i;
		bool is_number = t->code[r] < FIELD_NCODES_NUMBER, fits;
		int64_t value = 0;
		if (t->code[NCOLUMNS * t->stride + r] == FIELD_ABSENT)
			continue;
		fits = !is_number || value_at_scale(t, r, &value);
		for (i = 0; i < out->summary.nexceptions && out->exceptions[i].begin != begin; i++)
			;
		bool is_listed = i < out->summary.nexceptions;
		nlisted += is_listed;
		right = right && is_listed == (out->key_code[r] == FIELD_ABSENT) && (fits || is_listed) &&
			(!fits || !is_listed || !has_room) &&
			(!is_listed || (out->exceptions[i].end == t->ends[r + c->nheads] &&
					out->exceptions[i].column == EXCEPTION_TALLIED));
		if (is_listed || refuses)
			continue;
		g->first = g->nrecords++ == 0 || offset_bytes + begin < g->first ? offset_bytes + begin : g->first;
		g->ncounted += t->code[t->stride + r] < FIELD_NCODES_NUMBER;
		if (!is_number)
			continue;
		g->min = g->count == 0 || value < g->min ? value : g->min;
		g->max = g->count++ == 0 || value > g->max ? value : g->max;
		g->scales |= 1u << t->code[r];
		g->sum += value;
		g->squares += (uint128)((int128)value * value);
	}
	return right && nlisted == out->summary.nexceptions;
}

/* The count_scale of a cell. */
static uint64_t count_scale_of(const struct host_group *g)
{
	unsigned scale = g->scales ? 31 - (unsigned)__builtin_clz(g->scales) : 0;

	return g->count | (uint64_t)scale << GROUP_COUNT_BITS;
}

/* Whether the words of a group in the table are what the host has. */
static bool group_is_right(const uint64_t *words, const struct host_group *g)
{
	const struct group *group = (const struct group *)words;
	const struct group_cell *cell = (const struct group_cell *)(words + FIRST_CELL);

	if (group->first != g->first || group->nrecords != g->nrecords ||
	    cell->count_scale != count_scale_of(g) || words[SECOND_CELL] != g->ncounted || words[SECOND_CELL + 1] != 0)
		return false;
	if (group_words_sum(cell->sum, words[FIRST_EXCESS]) != g->sum ||
	    group_joined(cell->squares) != g->squares || words[FIRST_EXCESS + 1] != 0)
		return false;
	return g->count == 0 || (cell->extremes[0] == g->min && cell->extremes[1] == g->max);
}

/* The bytes of a group's key. */
static const char *key_of(const struct group_table &t, const uint64_t *words, uint32_t *nbytes)
{
	const struct key *key = &((const struct group *)words)->key;

	*nbytes = (uint32_t)key_nbytes(key);
	return key_is_long(key) ? (const char *)(words + t.layout.nwords) : (const char *)key;
}

/* Compares a part's groups with the host's, which become 0. */
static bool part_is_right(const struct groups_case *c, const struct group_table &t, uint32_t p, const uint64_t *words,
			  uint64_t nwords, struct host_group *groups)
{
	struct key_seed seed = {{t.layout.seed[0], t.layout.seed[1]}};
	bool right = true;
	uint64_t at = 0;

	while (at < nwords && right) {
		const struct group *group = (const struct group *)(words + at);
		uint32_t nbytes, g;
		const char *key = key_of(t, words + at, &nbytes);
		struct key made;
		uint64_t hash = key_make(key, nbytes, false, seed, &made) & c->hash_mask;
		g = key_group(c, key, nbytes);
		right = g != UINT32_MAX && hash >> (64 - GROUP_TABLE_PART_BITS) == p && made.high == group->key.high &&
			group->key.low == (key_is_long(&made) ? 0 : made.low);
		if (right && group->nrecords > 0) { /* else another thread's has the key */
			right = group_is_right(words + at, &groups[g]);
			groups[g] = {};
		}
		at += group_words_count(&t.layout, group);
	}
	return right && at == nwords;
}

/* Whether the table holds the host's groups, each once, and no others; and nothing is written behind them. */
static bool table_is_right(const struct groups_case *c, const struct group_table &t, struct host_group *groups)
{
	struct group_control *control = host_copy(t.control, 1);
	uint64_t *words = host_copy(t.words, 1 + GROUP_TABLE_NPARTS * t.part_nwords), poison;
	bool right = true;

	memset(&poison, POISON, sizeof poison);
	right = words[0] == poison;
	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS && right; p++) {
		const uint64_t *part = words + 1 + p * t.part_nwords;
		uint64_t nwords = group_part_nwords(t, *control, p);
		right = part_is_right(c, t, p, part, nwords, groups);
		for (uint64_t i = nwords; i < t.part_nwords && right; i++)
			right = part[i] == poison;
	}
	for (uint32_t g = 0; g < c->ngroups; g++)
		right = right && groups[g].nrecords == 0;
	free(control);
	free(words);
	return right;
}
