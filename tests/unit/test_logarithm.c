/* SPDX-License-Identifier: MIT
 *
 * test_logarithm.c - logarithms as fixed-point integers: the law of products, to 2^-115; sums cut
 * anywhere; and geometric means that have an end.
 */
#include "number/logarithm.h"
#include "tap.h"

/* ln 2 in units of 2^-120, by Python's decimal. */
#define LN2 ((uint128)UINT64_C(0xb17217f7d1cf79) << 64 | UINT64_C(0xabc9e3b39803f2f6))
#define ERROR_MAX 32 /* 2^-115 */

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static struct logarithm_sum of(uint128 x)
{
	struct logarithm_sum sum = {0};

	logarithm_add(&sum, x, 0);
	return sum;
}

/* The mantissas' sum, of few numbers. */
static uint128 mantissas_of(const struct logarithm_sum *x)
{
	return (uint128)x->mantissas[1] << 64 | x->mantissas[0];
}

/* Whether ln a + ln b = ln ab. */
static bool products_hold(uint64_t a, uint64_t b)
{
	struct logarithm_sum x = of(a), y = of(b), product = of((uint128)a * b);
	uint128 sum = mantissas_of(&x) + mantissas_of(&y), wanted = mantissas_of(&product);

	if (product.exponents2 == x.exponents2 + y.exponents2 + 1)
		wanted += LN2;
	else if (product.exponents2 != x.exponents2 + y.exponents2)
		return false;
	return (sum > wanted ? sum - wanted : wanted - sum) <= ERROR_MAX;
}

static void test_products(void)
{
	bool right = true;

	for (uint64_t a = 1; a < 300 && right; a++)
		for (uint64_t b = a; b < 300 && right; b++)
			right = products_hold(a, b);
	ok(right, "the logarithm of a product is the sum: small integers");
	for (int i = 0; i < 100000 && right; i++)
		right = products_hold(random_bits() >> random_bits() % 63 | 1,
				      random_bits() >> random_bits() % 63 | 1) &&
			products_hold(UINT64_MAX >> random_bits() % 63, random_bits() | 1);
	ok(right, "of random integers");
}

static bool sums_equal(const struct logarithm_sum *a, const struct logarithm_sum *b)
{
	return memcmp(a->mantissas, b->mantissas, sizeof a->mantissas) == 0 && a->exponents2 == b->exponents2 && a->exponents10 == b->exponents10;
}

/* fold(a ++ b) == combine(fold a, fold b), at every split of 64 rows, some of which are no numbers or
 * not positive. */
static void test_splits(void)
{
	int64_t significand[64];
	uint8_t scale[64];
	bool right = true;

	for (int round = 0; round < 200; round++) {
		uint64_t rows = random_bits() | random_bits();
		struct logarithm_sum whole = {0}, one_by_one = {0};
		for (int i = 0; i < 64; i++) {
			significand[i] = (int64_t)(random_bits() >> (4 + random_bits() % 60)) -
					 (random_bits() % 8 == 0 ? 1000 : 0);
			scale[i] = (uint8_t)(random_bits() % 32);
			if (rows >> i & 1 && significand[i] > 0)
				logarithm_add(&one_by_one, (uint128)significand[i], -scale[i]);
		}
		logarithm_add_rows(&whole, significand, scale, rows);
		right = right && sums_equal(&whole, &one_by_one);
		for (int split = 1; split < 64; split++) {
			uint64_t first = ~UINT64_C(0) >> (64 - split);
			struct logarithm_sum a = {0}, b = {0};
			logarithm_add_rows(&a, significand, scale, rows & first);
			logarithm_add_rows(&b, significand, scale, rows & ~first);
			logarithm_combine(&a, &b);
			right = right && sums_equal(&a, &whole);
		}
	}
	ok(right, "sums do not depend on where they are cut");
}

/* count times the number significand x 10^exponent10, doubled often: sums beyond 128 bits. */
static void is_mean(uint128 significand, int exponent10, int ndoublings, const char *wanted)
{
	struct logarithm_sum sum = {0}, copy;
	char text[RATIO_TEXT_NBYTES];

	logarithm_add(&sum, significand, exponent10);
	for (int i = 0; i < ndoublings; i++) {
		copy = sum;
		logarithm_combine(&sum, &copy);
	}
	logarithm_format_mean(&sum, UINT64_C(1) << ndoublings, RATIO_NDIGITS, text);
	is_string(wanted, text, "the mean of 2^%d equal numbers", ndoublings);
}

static void test_means(void)
{
	for (int n = 0; n <= 63; n += 7) {
		is_mean(1, 0, n, "1");
		is_mean(1, 20, n, "100000000000000000000");
		is_mean(1000, 0, n, "1000");
		is_mean(999, -3, n, "0.999");
		is_mean(1234567890123456789, -9, n, "1234567890.1234568");
		is_mean(100000000000000005, -17, n, "1");
		is_mean(100000000000000015, -17, n, "1.0000000000000002");
	}
}

int main(void)
{
	plan_lazy();
	test_products();
	test_splits();
	test_means();
	return done();
}
