/* SPDX-License-Identifier: MIT
 *
 * test_group_words.c - groups as a GPU keeps them (fold/group_words.h), from groups of the host and back: against groups to
 * which the same numbers were added one by one.
 *
 * The words of a GPU are made here as its kernels make them: every value at the table's scale, the parts of its square
 * added without carries. Numbers have up to 18 digits and come by the thousand, so that their squares need more than
 * 128 bits.
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

static void begin(struct pair *p)
{
	struct key_seed seed = key_seed_get();

	p->key_nbytes = random_below(sizeof p->key);
	for (size_t i = 0; i < p->key_nbytes; i++)
		p->key[i] = (char)('a' + random_below(26));
	for (size_t c = 0; c < NCOLUMNS; c++)
		p->scales[c] = (uint32_t)random_below(5);
	p->words = calloc(group_words_most(&layout), sizeof *p->words);
	p->group = new_group();
	p->group->first = p->words[0] = random_below(1000);
	p->words[1] = (uint64_t)p->key_nbytes << 32;
	p->words[layout.columns[0].word + 3] = (uint64_t)INT64_MAX;
	p->words[layout.columns[0].word + 4] = (uint64_t)INT64_MIN;
	memcpy(p->words + layout.nwords, p->key, p->key_nbytes);
	key_make(p->key, p->key_nbytes, false, seed, &p->group->key);
}

static void end(struct pair *p)
{
	group_free(p->group, &test_plan);
	free(p->group);
	free(p->words);
}

/* Adds a number to a cell of the words: as group_add of kernels/group/. */
static void cell_add(uint64_t *cell, const struct group_layout_column *column, int64_t x, unsigned scale)
{
	uint128 square = (uint128)((int128)x * x);
	bool widens = column->needs & MOMENT_EXTREMES;

	cell[0]++;
	if (!column->parses)
		return;
	cell[0] |= (uint64_t)1 << (32 + scale);
	cell[1] += (uint32_t)x;
	cell[2] += (uint64_t)(x >> 32);
	if (widens && x < (int64_t)cell[3])
		cell[3] = (uint64_t)x;
	if (widens && x > (int64_t)cell[4])
		cell[4] = (uint64_t)x;
	for (int i = 0; column->needs & MOMENT_SQUARES && i < 4; i++)
		cell[(widens ? 5 : 3) + i] += (uint32_t)(square >> 32 * i);
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
		cell_add(&p->words[layout.columns[c].word], &layout.columns[c], lengthened, scale);
		if (group_add(p->group, &test_plan, c, (struct decimal){x, (int)scale}) != STATUS_OK)
			bail("out of memory");
	}
	p->words[1] += n;
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
	struct partial blanks[2], *a, *b;
	bool agree = x->first == y->first && x->nrecords == y->nrecords;

	if (partial_init(&blanks[0], &test_plan) != STATUS_OK || partial_init(&blanks[1], &test_plan) != STATUS_OK)
		bail("out of memory");
	a = group_partial(x, &test_plan, &blanks[0]);
	b = group_partial(y, &test_plan, &blanks[1]);
	for (size_t c = 0; c < NCOLUMNS && agree; c++)
		agree = columns_agree(&a->columns[c], &b->columns[c], columns[c].needs);
	partial_free(&blanks[0]);
	partial_free(&blanks[1]);
	return agree;
}

static bool key_is(const struct group *g, const struct pair *p)
{
	return key_nbytes(&g->key) == p->key_nbytes && !memcmp(key_text(&g->key), p->key, p->key_nbytes);
}

/* Whether the words read as the group. */
static bool reads(struct pair *p, const uint64_t *words, struct group *wanted)
{
	struct group *g = new_group();
	bool right = group_words_get(g, &test_plan, &layout, p->scales, words) == STATUS_OK && key_is(g, p) &&
		     groups_agree(g, wanted);

	group_free(g, &test_plan);
	free(g);
	return right;
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
		nlong += p.words[layout.columns[0].word + 8] >> 32 != 0;
		right = reads(&p, p.words, p.group);
		end(&p);
	}
	ok(right, "words read as the group%s", squared ? ", squares beyond 128 bits" : "");
	ok(squared == (nlong > 0), "there were %u of these", nlong);
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
		right = n == 0 ? p.group->rest != NULL
			       : n == group_words_count(&layout, words) && reads(&p, words, p.group);
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
	if (group_add(g, &test_plan, 0, (struct decimal){x, scale}) != STATUS_OK)
		bail("out of memory");
	n = group_words_put(g, &test_plan, &layout, scales, words);
	group_free(g, &test_plan);
	free(g);
	free(words);
	return n;
}

static void test_refusing(void)
{
	size_t one = group_words_with_key(&layout, 1);

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
