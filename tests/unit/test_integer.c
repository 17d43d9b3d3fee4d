/* SPDX-License-Identifier: MIT
 *
 * test_integer.c - big integers: their laws; ratios and roots of ratios: their text.
 */
#include "tap.h"
#include "number/decimal_text.h"
#include "number/ratio.h"

/* Fills a result before the call under test, which must not depend on the old contents. */
static void poison(struct integer *n)
{
	memset(n, 0xff, sizeof *n);
}

/* 10^ndigits - 1 */
static struct integer nines(int ndigits)
{
	struct integer n, one;

	integer_set(&n, 1);
	integer_set(&one, 1);
	integer_shift(&n, ndigits);
	integer_add(&n, &one, true);
	return n;
}

/* Reads digits, digits and eN for N zeros after them, or 9*N for N nines. */
static struct integer parsed(const char *text)
{
	struct integer n, digit;

	if (strncmp(text, "9*", 2) == 0)
		return nines(atoi(text + 2));
	poison(&n);
	integer_set(&n, 0);
	for (; *text >= '0' && *text <= '9'; text++) {
		integer_shift(&n, 1);
		integer_set(&digit, (uint128)(*text - '0'));
		integer_add(&n, &digit, false);
	}
	if (*text == 'e')
		integer_shift(&n, atoi(text + 1));
	return n;
}

/* p / q x 10^-scale, or its root. */
static size_t write(const struct integer *p, const struct integer *q, int scale, bool is_root, char *text)
{
	return ratio_format((struct ratio){p, q, scale, is_root}, RATIO_ALL, RATIO_ALL, text);
}

static bool is_same(const struct integer *a, const struct integer *b)
{
	return a->nlimbs == b->nlimbs &&
	       memcmp(a->limb, b->limb, (size_t)a->nlimbs * sizeof *a->limb) == 0;
}

/* ---- integers ---- */

/* Ascending; around the ends of limbs and of the built-in types. */
static const char *const numbers[] = {
	"0",
	"1",
	"2",
	"999999999",
	"1000000000",
	"1000000001",
	"18446744073709551615",
	"999999999999999999999999999",
	"1e27",
	"1000000000000000000000000001",
	"340282366920938463463374607431768211455",
	"9*100",
	"1e100",
	"123456789012345678901234567890e400",
	"9*600",
	"1e600",
};
#define NNUMBERS ((int)(sizeof numbers / sizeof *numbers))

static void test_set(void)
{
	struct integer n, wanted = parsed("340282366920938463463374607431768211455");

	poison(&n);
	integer_set(&n, ~(uint128)0);
	ok(is_same(&wanted, &n), "the largest uint128");
	integer_set(&n, 0);
	is_int(0, n.nlimbs, "zero has no limb");
}

static void test_compare(void)
{
	int nwrong = 0;

	for (int i = 0; i < NNUMBERS; i++) {
		for (int j = 0; j < NNUMBERS; j++) {
			struct integer a = parsed(numbers[i]), b = parsed(numbers[j]);
			nwrong += integer_compare(&a, &b) != (i > j) - (i < j);
		}
	}
	is_int(0, nwrong, "numbers compare in their order");
}

static void sum(struct integer *s, const struct integer *a, const struct integer *b)
{
	*s = *a;
	integer_add(s, b, false);
}

static void test_addition(void)
{
	int nwrong = 0;

	for (int i = 0; i < NNUMBERS; i++) {
		for (int j = 0; j < NNUMBERS; j++) {
			struct integer a = parsed(numbers[i]), b = parsed(numbers[j]), ab, ba;
			sum(&ab, &a, &b);
			sum(&ba, &b, &a);
			nwrong += !is_same(&ab, &ba) || integer_compare(&ab, &a) != (j > 0);
			integer_add(&ab, &b, true);
			integer_add(&ba, &ba, true);
			nwrong += !is_same(&ab, &a) || ba.nlimbs != 0;
		}
	}
	is_int(0, nwrong, "a + b = b + a >= a, a + b - b = a, a - a = 0");
}

static void test_product(const struct integer *a, const struct integer *b, int *nwrong)
{
	struct integer ab, ba, twice_a, left, right;

	poison(&ab);
	poison(&ba);
	integer_multiply(&ab, a, b);
	integer_multiply(&ba, b, a);
	*nwrong += !is_same(&ab, &ba);
	sum(&twice_a, a, a);
	integer_multiply(&left, &twice_a, b);
	sum(&right, &ab, &ab);
	*nwrong += !is_same(&left, &right);
	sum(&twice_a, a, b); /* (a + b) b = a b + b b */
	integer_multiply(&left, &twice_a, b);
	integer_multiply(&right, b, b);
	integer_add(&right, &ab, false);
	*nwrong += !is_same(&left, &right);
}

static void test_multiplication(void)
{
	struct integer product, a = parsed("123456789012345678901234567890");
	struct integer b = parsed("987654321098765432109876543210");
	struct integer wanted = parsed("1219326311370217952261850327336229233322374638011112635269e2");
	int nwrong = 0;

	poison(&product);
	integer_multiply(&product, &a, &b);
	ok(is_same(&wanted, &product), "a product of 30 by 30 digits");
	for (int i = 0; i < NNUMBERS; i++) {
		for (int j = 0; j < NNUMBERS; j++) {
			a = parsed(numbers[i]);
			b = parsed(numbers[j]);
			test_product(&a, &b, &nwrong);
		}
	}
	is_int(0, nwrong, "a b = b a, 2 a b = a b + a b, (a + b) b = a b + b b");
}

static void test_shift(void)
{
	int nwrong = 0;

	for (int i = 0; i < NNUMBERS; i++) {
		for (int ndigits = 0; ndigits <= 28; ndigits++) {
			struct integer a = parsed(numbers[i]), power, product;
			integer_set(&power, 1);
			integer_shift(&power, ndigits);
			integer_multiply(&product, &a, &power);
			integer_shift(&a, ndigits);
			nwrong += !is_same(&product, &a);
		}
	}
	is_int(0, nwrong, "a shift multiplies by a power of ten");
}

/* ---- ratios ---- */

static void is_ratio(const char *p, const char *q, int scale, const char *wanted)
{
	struct integer numerator = parsed(p), denominator = parsed(q);
	char text[RATIO_TEXT_NBYTES];
	size_t length;

	numerator.negative = *wanted == '-';
	memset(text, 'x', sizeof text);
	length = write(&numerator, &denominator, scale, false, text);
	is_string(wanted, text, "%s / %s, scale %d", p, q, scale);
	is_uint(strlen(wanted), length, "and its length is returned");
}

static void test_ratios(void)
{
	is_ratio("0", "3", 0, "0");
	is_ratio("0", "9*40", -4096, "0");
	is_ratio("6", "3", 0, "2");
	is_ratio("6", "3", 2, "0.02");
	is_ratio("6", "3", -2, "200");
	is_ratio("1", "3", 0, "0.33333333333333333");
	is_ratio("2", "3", 0, "0.66666666666666667");
	is_ratio("2", "3", 0, "-0.66666666666666667");
	is_ratio("1000", "8", 1, "12.5");
	is_ratio("1", "8", 20, "0.00000000000000000000125");
	is_ratio("1", "3", -20, "33333333333333333000");
	is_ratio("1", "18446744073709551615", 0, "0.000000000000000000054210108624275222");
	is_ratio("355e30", "113e30", 0, "3.1415929203539823");
	is_ratio("355", "113e40", -40, "3.1415929203539823");
}

static void test_ratio_ties(void)
{
	is_ratio("20000000000000001", "2", 0, "10000000000000000");
	is_ratio("20000000000000003", "2", 0, "10000000000000002");
	is_ratio("20000000000000003", "2", 3, "-10000000000000.002");
	is_ratio("100000000000000005", "1", 0, "100000000000000000");
	is_ratio("100000000000000015", "1", 0, "100000000000000020");
	is_ratio("200000000000000030000000000000000000001", "2", 24, "100000000000000.02");
	is_ratio("200000000000000010000000000000000000001", "2", 24, "100000000000000.01");
	is_ratio("200000000000000010000000000000000000000", "2", 24, "100000000000000");
	is_ratio("200000000000000009999999999999999999999", "2", 24, "100000000000000");
}

static void test_ratio_carries(void)
{
	is_ratio("999999999999999995", "1", 1, "100000000000000000");
	is_ratio("199999999999999999", "2", 0, "100000000000000000");
	is_ratio("199999999999999997", "2", 0, "99999999999999998");
	is_ratio("999999999999999994", "1", 18, "0.99999999999999999");
	is_ratio("999999999999999995", "1", 18, "1");
	is_ratio("9*400", "1", 401, "0.1");
	is_ratio("1e400", "9*400", 0, "1");
}

/* In so many places, and the root of p^2 / q^2 likewise. */
static void is_in_places(const char *p, const char *q, int scale, int places, const char *wanted)
{
	struct integer numerator = parsed(p), denominator = parsed(q), square, square_of_q;
	char text[RATIO_TEXT_NBYTES];

	numerator.negative = *wanted == '-';
	memset(text, 'x', sizeof text);
	is_uint(strlen(wanted), ratio_format((struct ratio){&numerator, &denominator, scale, false}, RATIO_ALL, places, text), "the length");
	is_string(wanted, text, "%s / %s, scale %d, %d places", p, q, scale, places);
	integer_multiply(&square, &numerator, &numerator);
	square.negative = numerator.negative;
	integer_multiply(&square_of_q, &denominator, &denominator);
	memset(text, 'x', sizeof text);
	is_uint(strlen(wanted), ratio_format((struct ratio){&square, &square_of_q, 2 * scale, true}, RATIO_ALL, places, text), "the length");
	is_string(wanted, text, "... as a root");
}

static void test_places(void)
{
	is_in_places("0", "3", 0, 5, "0");
	is_in_places("2", "3", 0, 5, "0.66667");
	is_in_places("2", "3", 0, 5, "-0.66667");
	is_in_places("2", "3", 0, 17, "0.66666666666666667");
	is_in_places("2", "3", 0, RATIO_ALL, "0.66666666666666667");
	is_in_places("20000", "3", 0, 1, "6666.7");
	is_in_places("20000", "3", 0, 0, "6667");
	is_in_places("20000", "3", 0, -2, "6700");
	is_in_places("20000", "3", 0, -4, "0");
	is_in_places("20000", "3", 4, 0, "0");
	is_in_places("20000", "3", 9, 5, "0");
	is_in_places("20000", "3", 8, 5, "0.00007");
	is_in_places("9996", "1", 2, 1, "100");
}

/* 10^(m - 1) <= p / q x 10^-scale < 10^m, and of the root. */
static void is_magnitude(const char *p, const char *q, int scale, int wanted, int wanted_of_root)
{
	struct integer numerator = parsed(p), denominator = parsed(q);

	is_int(wanted, ratio_magnitude((struct ratio){&numerator, &denominator, scale, false}), "magnitude of %s / %s, scale %d", p, q, scale);
	is_int(wanted_of_root, ratio_magnitude((struct ratio){&numerator, &denominator, scale, true}), "... of its root");
}

static void test_magnitudes(void)
{
	is_magnitude("1", "1", 0, 1, 1);
	is_magnitude("9", "1", 0, 1, 1);
	is_magnitude("10", "1", 0, 2, 1);
	is_magnitude("9*2", "1", 0, 2, 1);
	is_magnitude("100", "1", 0, 3, 2);
	is_magnitude("1", "3", 0, 0, 0);
	is_magnitude("1", "100", 0, -1, 0);
	is_magnitude("1", "101", 0, -2, -1);
	is_magnitude("1", "1", 3, -2, -1);
	is_magnitude("1", "1", 4, -3, -1);
	is_magnitude("1", "1", -7, 8, 4);
}

/* ---- roots ---- */

static void is_root(const char *p, const char *q, int scale, const char *wanted)
{
	struct integer numerator = parsed(p), denominator = parsed(q);
	char text[RATIO_TEXT_NBYTES];
	size_t length;

	memset(text, 'x', sizeof text);
	length = write(&numerator, &denominator, scale, true, text);
	is_string(wanted, text, "root of %s / %s, scale %d", p, q, scale);
	is_uint(strlen(wanted), length, "and its length is returned");
}

static void test_roots(void)
{
	is_root("0", "7", 5, "0");
	is_root("1", "1", 0, "1");
	is_root("1", "4", 0, "0.5");
	is_root("144", "1", 0, "12");
	is_root("144", "1", 2, "1.2");
	is_root("2", "1", 0, "1.414213562373095");
	is_root("2", "1", -1, "4.4721359549995794");
	is_root("2", "1", 1, "0.44721359549995794");
	is_root("2", "1", 2, "0.1414213562373095");
	is_root("2", "1", -40, "141421356237309500000");
	is_root("10", "1", 0, "3.1622776601683793");
	is_root("1", "3", 0, "0.57735026918962576");
	is_root("1", "1", 41, "0.0000000000000000000031622776601683793");
	is_root("3249000000", "1000000", 0, "57");
}

/* The root of (2 s + 1)^2 / 4 is s + 1/2. */
static void test_root_ties(void)
{
	is_root("400000000000000040000000000000001", "4", 0, "10000000000000000");
	is_root("400000000000000120000000000000009", "4", 0, "10000000000000002");
	is_root("400000000000000040000000000000002", "4", 0, "10000000000000001");
	is_root("400000000000000120000000000000008", "4", 0, "10000000000000001");
	is_root("39999999999999999600000000000000001", "4", 0, "100000000000000000");
	is_root("39999999999999999600000000000000000", "4", 0, "99999999999999999");
	is_root("9*400", "1e400", 0, "1");
}

/* ---- laws of both, and the ends of their ranges ---- */

static const char *const factors[] = {
	"1", "7", "1e9", "999999999", "123456789123456789e31", "9*300",
};

/* Whether p f / (q f) and the root of p^2 f / (q^2 f) have the text of p / q, at this scale. */
static bool is_invariant(const char *p, const char *q, const char *factor, int scale)
{
	struct integer a = parsed(p), b = parsed(q), f = parsed(factor), af, bf, aa, bb;
	char wanted[RATIO_TEXT_NBYTES], text[RATIO_TEXT_NBYTES], root[RATIO_TEXT_NBYTES];

	integer_multiply(&af, &a, &f);
	integer_multiply(&bf, &b, &f);
	integer_multiply(&aa, &a, &af);
	integer_multiply(&bb, &b, &bf);
	write(&a, &b, scale, false, wanted);
	write(&af, &bf, scale, false, text);
	write(&aa, &bb, 2 * scale, true, root);
	return strcmp(wanted, text) == 0 && strcmp(wanted, root) == 0;
}

static void test_invariance(void)
{
	static const int scales[] = {-1000, -17, -1, 0, 1, 8, 9, 405, 2000};
	int nfactors = sizeof factors / sizeof *factors, nwrong = 0;

	for (int i = 0; i < NNUMBERS; i++)
		for (int j = 1; j < NNUMBERS; j++)
			for (int k = 0; k < nfactors; k++)
				for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
					nwrong += !is_invariant(numbers[i], numbers[j], factors[k],
								scales[s]);
	is_int(0, nwrong, "p/q = (p f)/(q f) = root of (p^2 f)/(q^2 f)");
}

/* The longest operands and texts. A row of nines rounds up to a power of ten. */
static void test_ends(void)
{
	const size_t ndigits = RATIO_OPERAND_NDIGITS;
	struct integer most = nines((int)ndigits), n;
	char text[RATIO_TEXT_NBYTES];

	integer_set(&n, 1);
	n.negative = true;
	is_uint(1 + ndigits + RATIO_SCALE_MAX + 1,
		write(&most, &n, -RATIO_SCALE_MAX, false, text), "the largest ratio");
	is_uint(strlen("-0.") + ndigits + RATIO_SCALE_MAX,
		write(&n, &most, RATIO_SCALE_MAX, false, text), "the smallest one");
	integer_set(&most, 7);
	integer_shift(&most, (int)ndigits - 1);
	is_uint(strlen("-0.") + ndigits + RATIO_SCALE_MAX + RATIO_NDIGITS - 1,
		write(&n, &most, RATIO_SCALE_MAX, false, text), "the longest text");
	most = nines((int)ndigits);
	write(&most, &most, 0, true, text);
	is_string("1", text, "the root of a ratio of the longest operands");
	write(&most, &most, 1, true, text);
	is_string("0.31622776601683793", text, "a tenth of it");
	write(&most, &most, -1, true, text);
	is_string("3.1622776601683793", text, "and ten times it");
}

/* ---- short ratios ---- */

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Whether the short root is written as the long one. scale: even */
static bool short_root_agrees(bool negative, uint128 p, uint128 q, int scale)
{
	char wanted[RATIO_TEXT_NBYTES], text[RATIO_TEXT_NBYTES];
	struct integer numerator, denominator;

	integer_set(&numerator, p);
	integer_set(&denominator, q);
	numerator.negative = negative;
	write(&numerator, &denominator, scale, true, wanted);
	return ratio_sqrt_format_short(negative, p, q, scale, text) == strlen(wanted) && !strcmp(text, wanted);
}

/* Whether a writer of means writes -p / q 10^-scale as wanted, if it does. */
static bool writer_agrees(uint128 p, uint64_t q, int scale, const char *wanted)
{
	struct decimal_writer w = {.scale = 0};
	char text[RATIO_TEXT_NBYTES], *end = NULL;

	if (p > INT64_MAX || scale < 0)
		return true;
	memset(text, '#', sizeof text);
	if (decimal_writer_set(&w, scale, q))
		end = decimal_writer_mean(&w, text, -(int64_t)p);
	return !end || ((size_t)(end - text) == strlen(wanted) && memcmp(text, wanted, strlen(wanted)) == 0 &&
			end[DECIMAL_TEXT_SLACK] == '#');
}

/* Whether the short functions write the texts of the long ones. scale: even */
static bool short_agrees(uint128 p, uint64_t q, int scale)
{
	char wanted[RATIO_TEXT_NBYTES], text[RATIO_TEXT_NBYTES];
	struct integer numerator, denominator;

	integer_set(&numerator, p);
	integer_set(&denominator, q);
	numerator.negative = true;
	write(&numerator, &denominator, scale, false, wanted);
	return ratio_format_short(true, p, q, scale, text) == strlen(wanted) && !strcmp(text, wanted) &&
	       writer_agrees(p, q, scale, wanted) && short_root_agrees(q & 1, p, q, scale);
}

/* Roots with denominators beyond 64 bits. */
static void test_long_denominators(void)
{
	bool right = true;

	for (int i = 0; i < 200000 && right; i++) {
		uint128 p = ((uint128)random_bits() << 64 | random_bits()) >> random_bits() % 128;
		uint128 q = (((uint128)random_bits() << 64 | random_bits()) >> (8 + random_bits() % 60)) | 1;
		right = short_root_agrees(i & 1, p, q, 2 * (int)(random_bits() % 50) - 40);
	}
	ok(right, "short roots of random numbers, with long denominators");
	for (int i = 0; i < 20000 && right; i++) { /* (s + 1/2)^2 of 17 digits, and beside it: p / q = (2 s + 1)^2 k / (4 k) */
		uint128 s = 2 * (10000000000000000 + random_bits() % 90000000000000000) + 1;
		uint128 k = 1 + random_bits() % 4000; /* s^2 k < 2^128 */
		right = short_root_agrees(false, s * s, 4, 0) && short_root_agrees(true, s * s * k, 4 * k, 0) &&
			short_root_agrees(false, RATIO_SHORT_MAX - s, RATIO_SHORT_MAX, 0) &&
			short_root_agrees(false, ~(uint128)0 - s, RATIO_SHORT_MAX - k, 2);
	}
	ok(right, "short roots at ties and at the end of the range");
}

static void test_short(void)
{
	static const uint64_t edges[] = {1, 2, 3, 4, 10, 99, 100, UINT64_C(10000000000000000), UINT64_MAX,
					 UINT64_MAX - 1};
	const unsigned n = sizeof edges / sizeof *edges;
	bool right = true;

	for (unsigned i = 0; i < n * n && right; i++)
		for (int scale = -2; scale <= 2; scale += 2)
			right = short_agrees(edges[i / n], edges[i % n], scale) &&
				short_agrees((uint128)edges[i / n] * edges[i / n], edges[i % n], scale) &&
				short_agrees(~(uint128)0 - i, edges[i % n], scale);
	ok(right, "short ratios and roots at the ends of their ranges");
	for (int i = 0; i < 200000 && right; i++) {
		uint128 p = ((uint128)random_bits() << 64 | random_bits()) >> random_bits() % 128;
		uint64_t q = (random_bits() >> random_bits() % 64) | 1;
		right = short_agrees(p, q, 2 * (int)(random_bits() % 50) - 40);
	}
	ok(right, "short ratios and roots of random numbers");
	for (int i = 0; i < 20000 && right; i++) { /* s + 1/2 and s / 2 of 17 digits, and beside them */
		uint128 s = 2 * (10000000000000000 + random_bits() % 90000000000000000) + 1;
		right = short_agrees(s * s, 4, 0) && short_agrees(s * s + 1, 4, 0) &&
			short_agrees(s * s - 1, 4, 0) && short_agrees(s, 2, 0);
	}
	ok(right, "short ratios and roots at ties");
}

int main(void)
{
	plan_lazy();
	test_set();
	test_compare();
	test_addition();
	test_multiplication();
	test_shift();
	test_ratios();
	test_ratio_ties();
	test_ratio_carries();
	test_places();
	test_magnitudes();
	test_roots();
	test_root_ties();
	test_invariance();
	test_ends();
	test_short();
	test_long_denominators();
	return done();
}
