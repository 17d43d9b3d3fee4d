/* SPDX-License-Identifier: MIT
 *
 * test_group_words.c - groups as a GPU keeps them (fold/group_words.h), from groups of the host and back: against groups to
 * which the same numbers were added one by one.
 *
 * The words of a GPU are made here as its kernels make them: every value at the table's scale, sums in as many words as they
 * need. Numbers have up to 18 digits and come by the thousand, so that their squares need more than 128 bits.
 */
#include "tap.h"
#include "fold/group_words.h"
#include "fold/groups.h"
#include "fold/moment.h"

#define NCASES 3000
#define VALUE_MOST INT64_C(999999999999999999)

static uint64_t random_state = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* A number with all moments, one with a sum, one that is only counted. */
static struct plan_column columns[] = {
	{.field = 0, .name = "a", .needs = MOMENTS_FUSED | MOMENT_SQUARES, .parses = true},
	{.field = 1, .name = "b", .needs = MOMENTS_FUSED & ~(unsigned)MOMENT_EXTREMES, .parses = true},
	{.field = 2, .name = "c", .needs = MOMENTS_FUSED & ~(unsigned)MOMENT_EXTREMES},
};
#define NCOLUMNS (sizeof columns / sizeof *columns)
static size_t keys[] = {2};
static struct plan test_plan = {.ncolumns = NCOLUMNS, .columns = columns, .nkeys = 1, .keys = keys,
				.where = PREDICATE_NONE};
static struct group_layout layout;
static struct key_arena texts; /* of both groups of a pair */

/* A group's words, as the device adds to them, and the group of the host with the same numbers. */
struct pair {
	uint32_t scales[NCOLUMNS]; /* of the table */
	uint64_t *words;
	char key[64];
	size_t key_nbytes;
	struct group *group;
};

static struct group *new_group(void)
{
	struct group *g = calloc(1, test_plan.group_nbytes);

	if (!g)
		bail("out of memory");
	return g;
}

static struct group_cell *cell_of(uint64_t *words, size_t c)
{
	return (struct group_cell *)(words + layout.columns[c].cell);
}

static void begin(struct pair *p)
{
	struct key_seed seed = key_seed_get();
	struct group *there;

	p->key_nbytes = random_below(sizeof p->key);
	for (size_t i = 0; i < p->key_nbytes; i++)
		p->key[i] = (char)('a' + random_below(26));
	for (size_t c = 0; c < NCOLUMNS; c++)
		p->scales[c] = (uint32_t)random_below(5);
	p->words = calloc(group_words_most(&layout), sizeof *p->words);
	p->group = new_group();
	key_make(p->key, p->key_nbytes, false, seed, &p->group->key);
	there = (struct group *)p->words;
	there->key = p->group->key;
	there->first = p->group->first = random_below(1000);
	cell_of(p->words, 0)->extremes[0] = INT64_MAX;
	cell_of(p->words, 0)->extremes[1] = INT64_MIN;
	if (!key_is_long(&there->key))
		return;
	there->key.text = NULL;
	memcpy(p->words + layout.nwords, p->key, p->key_nbytes);
}

static void end(struct pair *p)
{
	key_arena_free(&texts);
	free(p->group);
	free(p->words);
}

/* Adds a number to column c of the words: as group_add of kernels/group/. */
static void cell_add(uint64_t *words, size_t c, int64_t x, unsigned scale)
{
	const struct group_layout_column *column = &layout.columns[c];
	struct group_cell *cell = cell_of(words, c);
	uint64_t *excess = words + column->excess;
	uint128 square = (uint128)((int128)x * x), squares;

	cell->count_scale++;
	if (!column->parses)
		return;
	if (group_cell_scale(cell) < scale)
		cell->count_scale = group_cell_count(cell) | (uint64_t)scale << GROUP_COUNT_BITS;
	cell->sum = (int64_t)((uint64_t)cell->sum + (uint64_t)x);
	excess[0] += (uint64_t)(x >> GROUP_UPPER_SHIFT);
	if (column->needs & MOMENT_EXTREMES) {
		cell->extremes[0] = x < cell->extremes[0] ? x : cell->extremes[0];
		cell->extremes[1] = x > cell->extremes[1] ? x : cell->extremes[1];
	}
	if (!(column->needs & MOMENT_SQUARES))
		return;
	squares = group_joined(cell->squares) + square;
	excess[1] += squares < square;
	group_split(cell->squares, squares);
}

static void add_to_group(struct group *g, size_t c, struct decimal number)
{
	struct group_cell *cell = group_cell(g, &columns[c]);

	if (!columns[c].parses)
		cell->count_scale++;
	else if (group_cell_add_number(cell, columns[c].needs, number, &texts) != STATUS_OK)
		bail("out of memory");
}

/* Adds one number of up to `most` to column c of both, or n of them. */
static void add(struct pair *p, size_t c, int64_t most, uint32_t n)
{
	unsigned scale = (unsigned)random_below(p->scales[c] + 1);
	int64_t x = (int64_t)random_below((uint64_t)most + 1) * (random_below(2) ? 1 : -1), lengthened = x;

	for (unsigned i = scale; i < p->scales[c]; i++)
		lengthened *= 10;
	if (!columns[c].parses)
		x = lengthened = 0, scale = 0;
	for (uint32_t i = 0; i < n; i++) {
		cell_add(p->words, c, lengthened, scale);
		add_to_group(p->group, c, (struct decimal){x, (int)scale});
	}
	((struct group *)p->words)->nrecords += n;
	p->group->nrecords += n;
}

/* ---- comparing ---- */

static bool columns_agree(const struct column_partial *x, const struct column_partial *y, unsigned needs)
{
	struct number_sums a, b;
	struct integer squares, others;

	if (x->numbers.count != y->numbers.count)
		return false;
	numbers_get(&x->numbers, &a);
	numbers_get(&y->numbers, &b);
	if (exact_compare(&a.sum, &b.sum) != 0 || a.scale != b.scale)
		return false;
	if (needs & MOMENT_EXTREMES && x->numbers.count > 0 &&
	    (exact_compare(&a.min, &b.min) != 0 || exact_compare(&a.max, &b.max) != 0))
		return false;
	if (!(needs & MOMENT_SQUARES))
		return true;
	exact_to_integer(moments_cell(&x->moments, CELL_SQUARES), 36, &squares);
	exact_to_integer(moments_cell(&y->moments, CELL_SQUARES), 36, &others);
	return integer_compare(&squares, &others) == 0;
}

/* Whether two groups have the same numbers, wherever they keep them. Both can then only be freed. */
static bool groups_agree(struct group *x, struct group *y)
{
	struct partial blanks[2];
	bool agree = x->first == y->first && x->nrecords == y->nrecords;

	if (partial_init(&blanks[0], &test_plan) != STATUS_OK || partial_init(&blanks[1], &test_plan) != STATUS_OK)
		bail("out of memory");
	if (group_add_to(x, &test_plan, &blanks[0]) != STATUS_OK || group_add_to(y, &test_plan, &blanks[1]) != STATUS_OK)
		bail("out of memory");
	for (size_t c = 0; c < NCOLUMNS && agree; c++)
		agree = columns_agree(&blanks[0].columns[c], &blanks[1].columns[c], columns[c].needs);
	partial_free(&blanks[0]);
	partial_free(&blanks[1]);
	return agree;
}

static bool key_is(const struct group *g, const struct pair *p)
{
	return key_nbytes(&g->key) == p->key_nbytes && !memcmp(key_text(&g->key), p->key, p->key_nbytes);
}

/* Whether the words become the group. */
static bool reads(struct pair *p, uint64_t *words, struct group *wanted)
{
	struct group *g = (struct group *)words;

	return group_words_settle(g, &test_plan, &layout, p->scales, &texts) == STATUS_OK && key_is(g, p) && groups_agree(g, wanted);
}

/* ---- cases ---- */

/* Few or many numbers, short or long. squared: so many of them, so long, that their squares need more than 128 bits. */
static void fill(struct pair *p, bool squared)
{
	for (size_t c = 0; c < NCOLUMNS; c++) {
		int64_t most = squared && c == 0 ? VALUE_MOST : (int64_t)random_below(1000000) + 1;
		unsigned nnumbers = (unsigned)random_below(6);
		for (unsigned i = p->scales[c]; squared && c == 0 && i > 0; i--)
			most /= 10;
		for (unsigned i = 0; i < nnumbers; i++)
			add(p, c, most, squared ? 1 + (uint32_t)random_below(2000) : 1);
	}
}

static void test_reading(bool squared)
{
	bool right = true;
	unsigned nlong = 0;

	for (int i = 0; i < (squared ? NCASES / 30 : NCASES) && right; i++) {
		struct pair p;
		begin(&p);
		fill(&p, squared);
		nlong += p.words[layout.columns[0].excess + 1] != 0;
		right = reads(&p, p.words, p.group);
		end(&p);
	}
	ok(right, "words read as the group%s", squared ? ", squares beyond 128 bits" : "");
	ok(squared == (nlong > 0), "there were %u of these", nlong);
}

static bool has_long_cell(struct group *g)
{
	for (size_t c = 0; c < NCOLUMNS; c++)
		if (group_cell_is_long(group_cell(g, &columns[c])))
			return true;
	return false;
}

static void test_writing(void)
{
	unsigned nfitting = 0;
	bool right = true;

	for (int i = 0; i < NCASES && right; i++) {
		uint64_t *words = malloc(group_words_most(&layout) * sizeof *words);
		struct pair p;
		size_t n;
		begin(&p);
		fill(&p, false);
		n = group_words_put(p.group, &test_plan, &layout, p.scales, words);
		right = n == 0 ? has_long_cell(p.group)
			       : n == group_words_count(&layout, (struct group *)words) && reads(&p, words, p.group);
		nfitting += n > 0;
		end(&p);
		free(words);
	}
	ok(right, "a group reads as it was written");
	ok(nfitting > NCASES / 2, "most fit: %u of %d", nfitting, NCASES);
}

/* Returns how many words a group with that number takes in a table of a scale; 0: none. */
static size_t put_one(int64_t x, int scale, uint32_t table_scale, uint64_t nrecords)
{
	const uint32_t scales[NCOLUMNS] = {table_scale, table_scale, table_scale};
	uint64_t *words = malloc(group_words_most(&layout) * sizeof *words);
	struct group *g = new_group();
	size_t n;

	key_make("k", 1, false, key_seed_get(), &g->key);
	g->nrecords = nrecords;
	add_to_group(g, 0, (struct decimal){x, scale});
	n = group_words_put(g, &test_plan, &layout, scales, words);
	key_arena_free(&texts);
	free(g);
	free(words);
	return n;
}

static void test_refusing(void)
{
	size_t one = layout.nwords;

	is_int((int)one, (int)put_one(5, 2, 2, 1), "a number of the table's scale fits");
	is_int((int)one, (int)put_one(5, 0, 2, 1), "one with fewer digits fits");
	is_int(0, (int)put_one(5, 3, 2, 1), "one with more digits does not");
	is_int(0, (int)put_one(5, 3, UINT32_MAX, 1), "nor one in a table without a scale, yet");
	is_int(0, (int)put_one(VALUE_MOST, 0, 4, 1), "nor one that is too long at the table's scale");
	is_int((int)one, (int)put_one(1, 0, 0, UINT32_MAX), "2^32 - 1 records fit");
	is_int(0, (int)put_one(1, 0, 0, (uint64_t)UINT32_MAX + 1), "2^32 do not");
}

int main(void)
{
	if (groups_plan(&test_plan, 0) != STATUS_OK || !group_layout_make(&layout, &test_plan))
		bail("no plan");
	plan_lazy();
	test_reading(false);
	test_reading(true);
	test_writing();
	test_refusing();
	group_store_free(test_plan.groups);
	return done();
}
