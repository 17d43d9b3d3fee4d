/* SPDX-License-Identifier: MIT
 *
 * test_decimal.c - the fast path: what is a number, and the laws of its fold.
 */
#include "number/exact.h"
#include "number/decimal_arithmetic.h"
#include "number/numbers.h"
#include "tap.h"

static const struct parse_case {
	const char *text;
	enum decimal_kind kind;
	int64_t significand;
	int scale;
} cases[] = {
	{"0", DECIMAL_NUMBER, 0, 0},
	{"-0", DECIMAL_NUMBER, 0, 0},
	{"0.10", DECIMAL_NUMBER, 10, 2},
	{"+7", DECIMAL_NUMBER, 7, 0},
	{"-7.50", DECIMAL_NUMBER, -750, 2},
	{".5", DECIMAL_NUMBER, 5, 1},
	{"5.", DECIMAL_NUMBER, 5, 0},
	{"-.5e1", DECIMAL_NUMBER, -5, 0},
	{"1.5e-2", DECIMAL_NUMBER, 15, 3},
	{"1e3", DECIMAL_NUMBER, 1000, 0},
	{"1.50e1", DECIMAL_NUMBER, 150, 1},
	{"1E+2", DECIMAL_NUMBER, 100, 0},
	{"0e-2", DECIMAL_NUMBER, 0, 2},
	{"0e500", DECIMAL_NUMBER, 0, 0},
	{"0e99999999999999999999", DECIMAL_NUMBER, 0, 0},
	{" \t12 \t", DECIMAL_NUMBER, 12, 0},
	{"000000000000000000000000000042", DECIMAL_NUMBER, 42, 0},
	{"0.0000000000000000000000000000001", DECIMAL_NUMBER, 1, 31},
	{"999999999999999999", DECIMAL_NUMBER, 999999999999999999, 0},
	{"-999999999999999999", DECIMAL_NUMBER, -999999999999999999, 0},
	{"1e17", DECIMAL_NUMBER, 100000000000000000, 0},
	{"1000000000000000000", DECIMAL_WIDE, 0, 0},
	{"1e18", DECIMAL_WIDE, 0, 0},
	{"9223372036854775807", DECIMAL_WIDE, 0, 0},
	{"1e-32", DECIMAL_WIDE, 0, 0},
	{"1e300", DECIMAL_WIDE, 0, 0},
	{"1e99999999999999999999", DECIMAL_WIDE, 0, 0},
	{"1e-99999999999999999999", DECIMAL_WIDE, 0, 0},
	{"", DECIMAL_MISSING, 0, 0},
	{" \t ", DECIMAL_MISSING, 0, 0},
	{"+", DECIMAL_INVALID, 0, 0},
	{".", DECIMAL_INVALID, 0, 0},
	{"-.", DECIMAL_INVALID, 0, 0},
	{"e5", DECIMAL_INVALID, 0, 0},
	{"1e", DECIMAL_INVALID, 0, 0},
	{"1e+", DECIMAL_INVALID, 0, 0},
	{"1e5.", DECIMAL_INVALID, 0, 0},
	{"1.2.3", DECIMAL_INVALID, 0, 0},
	{"--1", DECIMAL_INVALID, 0, 0},
	{"1 2", DECIMAL_INVALID, 0, 0},
	{"1,234", DECIMAL_INVALID, 0, 0},
	{"0x10", DECIMAL_INVALID, 0, 0},
	{"nan", DECIMAL_INVALID, 0, 0},
	{"inf", DECIMAL_INVALID, 0, 0},
	{"1\r", DECIMAL_INVALID, 0, 0},
};

static void test_parse(const struct parse_case *c)
{
	struct decimal x = {-77, -77};
	enum decimal_kind kind = decimal_parse(c->text, strlen(c->text), &x);

	if (!is_int(c->kind, kind, "kind of '%s'", c->text) || kind != DECIMAL_NUMBER)
		return;
	is_int(c->significand, x.significand, "significand of '%s'", c->text);
	is_int(c->scale, x.scale, "scale of '%s'", c->text);
}

/* ---- laws of the fold ---- */

#define NVALUES 9
static const struct decimal values[NVALUES] = {
	{5, 0},  {-3, 2}, {999999999999999999, 31}, {0, 1}, {-999999999999999999, 0},
	{12, 2}, {7, 0},  {-1, 31},                 {4, 1},
};

static struct decimal_fold fold(int begin, int end)
{
	struct decimal_fold f;

	memset(&f, 0x5a, sizeof f); /* what a bin holds before its first value must not show */
	decimal_fold_clear(&f);
	for (int i = begin; i < end; i++)
		decimal_fold_add(&f, values[i]);
	return f;
}

static bool same(const struct decimal_fold *a, const struct decimal_fold *b)
{
	if (a->count != b->count || a->scales != b->scales)
		return false;
	for (int s = 0; s < DECIMAL_NSCALES; s++)
		if (a->scales >> s & 1 &&
		    (a->bin[s].sum != b->bin[s].sum || a->bin[s].min != b->bin[s].min ||
		     a->bin[s].max != b->bin[s].max))
			return false;
	return true;
}

static struct decimal_fold combine(struct decimal_fold a, struct decimal_fold b)
{
	decimal_fold_combine(&a, &b);
	return a;
}

static void test_laws(void)
{
	struct decimal_fold whole = fold(0, NVALUES), none = fold(0, 0), left, right;

	left = combine(none, whole);
	right = combine(whole, none);
	ok(same(&left, &whole), "the empty fold is an identity on the left");
	ok(same(&right, &whole), "the empty fold is an identity on the right");
	for (int i = 0; i <= NVALUES; i++) {
		left = combine(fold(0, i), fold(i, NVALUES));
		ok(same(&left, &whole), "fold(a ++ b) is combine(fold a, fold b), cut at %d", i);
	}
	left = combine(combine(fold(0, 3), fold(3, 5)), fold(5, NVALUES));
	right = combine(fold(0, 3), combine(fold(3, 5), fold(5, NVALUES)));
	ok(same(&left, &right), "combine is associative");
	left = fold(0, NVALUES - 1);
	ok(!same(&left, &whole), "and this comparison can fail");
}

/* ---- laws of a column's numbers ---- */

/* The numbers of values [begin, end), over what was left by others. */
static struct numbers numbers_of(int begin, int end)
{
	struct numbers n = {0};

	for (int i = 0; i < NVALUES; i += 2)
		if (numbers_add(&n, values[i]) != STATUS_OK)
			bail("out of memory");
	numbers_free(&n);
	for (int i = begin; i < end; i++)
		if (numbers_add(&n, values[i]) != STATUS_OK)
			bail("out of memory");
	return n;
}

static bool same_numbers(const struct numbers *a, const struct numbers *b)
{
	struct number_sums x, y;

	numbers_get(a, &x);
	numbers_get(b, &y);
	return x.count == y.count && x.scale == y.scale && exact_compare(&x.sum, &y.sum) == 0 && exact_compare(&x.min, &y.min) == 0 &&
	       exact_compare(&x.max, &y.max) == 0;
}

/* Whether combine(numbers [begin, cut), numbers [cut, end)), and the same with a dense fold, are those of [begin, end). */
static bool combines(int begin, int cut, int end)
{
	struct decimal_fold dense = fold(cut, end);
	struct numbers a = numbers_of(begin, cut), b = numbers_of(begin, cut), later = numbers_of(cut, end), whole = numbers_of(begin, end);
	bool equal = numbers_combine(&a, &later) == STATUS_OK && same_numbers(&a, &whole) &&
		     numbers_add_fold(&b, &dense) == STATUS_OK && same_numbers(&b, &whole);

	numbers_free(&a);
	numbers_free(&b);
	numbers_free(&later);
	numbers_free(&whole);
	return equal;
}

static void test_numbers(void)
{
	struct numbers whole = numbers_of(0, NVALUES), shorter = numbers_of(0, NVALUES - 1);
	bool all = true;

	for (int i = 0; i <= NVALUES; i++)
		ok(combines(0, i, NVALUES), "a column's numbers, too, cut at %d", i);
	for (int begin = 0; begin < NVALUES; begin++)
		for (int end = begin; end <= NVALUES; end++)
			all &= combines(begin, begin, end) && combines(begin, end, end);
	ok(all, "none are an identity on both sides");
	ok(!same_numbers(&shorter, &whole), "and this comparison can fail");
	numbers_free(&whole);
	numbers_free(&shorter);
	is_int(48, sizeof whole, "numbers of a column are small");
}

static void is_numbers(const struct numbers *n, enum numbers_form form, const char *sum, const char *min, const char *max)
{
	struct number_sums all;
	char text[3][EXACT_TEXT_NBYTES];

	numbers_get(n, &all);
	*exact_write(&all.sum, all.scale, text[0]) = *exact_write(&all.min, all.scale, text[1]) = '\0';
	*exact_write(&all.max, all.scale, text[2]) = '\0';
	ok(n->form == form && !strcmp(sum, text[0]) && !strcmp(min, text[1]) && !strcmp(max, text[2]), "%s, %s, %s", text[0], text[1], text[2]);
}

static void test_scales(void)
{
	struct numbers n = {0};

	is_numbers(&n, NUMBERS_NONE, "0", "0", "0");
	numbers_add(&n, (struct decimal){-3, 2});
	numbers_add(&n, (struct decimal){5, 0});
	numbers_add(&n, (struct decimal){12, 2});
	is_numbers(&n, NUMBERS_BIN, "5.09", "-0.03", "5.00");
	numbers_add(&n, (struct decimal){999999999999999999, 0});
	is_numbers(&n, NUMBERS_LONG, "1000000000000000004.09", "-0.03", "999999999999999999.00");
	numbers_add(&n, (struct decimal){1, 31});
	is_numbers(&n, NUMBERS_LONG, "1000000000000000004.0900000000000000000000000000001", "-0.0300000000000000000000000000000",
		   "999999999999999999.0000000000000000000000000000000");
	numbers_free(&n);
}

/* ---- arithmetic, against numbers of any length ---- */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 20) % n;
}

/* Of any length up to 18 digits, and often a tie when it is rounded. */
static struct decimal random_decimal(void)
{
	int64_t power = decimal_shift(1, (int64_t)random_below(DECIMAL_NDIGITS + 1)), x;

	x = (int64_t)random_below((uint64_t)power) / (random_below(2) ? 1 : 1 + power / 100);
	if (random_below(3) == 0 && power < DECIMAL_SIGNIFICAND_LIMIT / 10)
		x = x % 100 * power + power / 2;
	x %= DECIMAL_SIGNIFICAND_LIMIT;
	return (struct decimal){random_below(2) ? x : -x, (int32_t)random_below(DECIMAL_NSCALES)};
}

/* Whether the fast path has this result exactly if it fits there. */
static bool is_result(int fits, struct decimal fast, struct exact exact)
{
	const int128 limit = DECIMAL_SIGNIFICAND_LIMIT;

	if (exact.is_long || exact.value >= limit || exact.value <= -limit || exact.scale >= DECIMAL_NSCALES)
		return !fits;
	return !fits || (fast.significand == exact.value && fast.scale == exact.scale);
}

static void test_arithmetic(void)
{
	struct integer room;
	struct decimal out;
	bool adds = true, multiplies = true, rounds = true;
	unsigned nfit = 0;

	for (int i = 0; i < 200000; i++) {
		struct decimal x = random_decimal(), y = random_decimal();
		int nplaces = (int)random_below(DECIMAL_NSCALES), fits;
		const struct exact a = {.value = x.significand, .scale = x.scale}, b = {.value = y.significand, .scale = y.scale};
		fits = decimal_multiply(x, y, &out);
		nfit += (unsigned)fits;
		multiplies &= is_result(fits, out, exact_product(&a, &b, &room));
		fits = decimal_add(x, y, &out);
		nfit += (unsigned)fits;
		adds &= is_result(fits, out, exact_sum(&a, &b, &room));
		rounds &= is_result(1, decimal_round(x, nplaces), exact_round(&a, nplaces, &room));
	}
	ok(adds, "sums are exact or refused");
	ok(multiplies, "products, too");
	ok(rounds, "rounding is half to even");
	ok(nfit > 100000, "%u results fit", nfit);
}

int main(void)
{
	plan_lazy();
	test_arithmetic();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test_parse(&cases[i]);
	test_laws();
	test_numbers();
	test_scales();
	return done();
}
