/* SPDX-License-Identifier: MIT
 *
 * logarithm.c - see logarithm.h.
 *
 * The logarithm of a mantissa y is looked up in four steps. The first multiplies y by r/512, which is
 * near 1/y, so that 1 + e is left with |e| < 2^-8. Each of the others multiplies 1 + e by 1 - k/2^s,
 * where k/2^s is near e; what is left of e is below 2^-15, 2^-22, and 2^-29. The logarithms of the
 * factors are in tables. Then ln(1 + e) = e - e^2/2 + e^3/3, within 2^-118. (The method: W. F. Wong
 * and E. Goto, "Fast hardware-based algorithms for elementary function computations", IEEE Trans.
 * Computers 43, 1994.)
 *
 * Errors. All is computed in units of 2^-126. A table's entry is a series of up to 40 terms, each
 * cut off: 45 units. Four entries, the products that are cut off, e^4/4, and the last six bits: the
 * logarithm of a number is wrong by less than 2^-116. So is the mean of any number of them. The
 * exponential of it, below 10.1, is one of a table, a Taylor series of 60 terms that are cut off at 2^-120,
 * times that of less than 1/64, a series of 16: it is wrong by less than 10.1 x 2^-114 < 10^-33. It is rounded
 * to 33 digits, which makes it exact where the geometric mean has no more digits (2 and 8 have 4, ties included),
 * and then to 17. That is the correct rounding unless the true value lies within 10^-32 of the middle between two results, which
 * are 10^-16 apart: once in 10^16.
 *
 * A library's logarithm would be as exact, but takes some microseconds (MPFR, real.c), where this one takes 25 ns of a column's fold.
 */
#include "number/logarithm.h"

#include <gmp.h>
#include <pthread.h>
#include <stdlib.h>

#include "number/ratio.h"

#define UNIT_NBITS 126 /* of the tables; sums have SUM_NBITS */
#define SUM_NBITS 120
#define FIRST_NBITS 8
#define NFIRST (1 << FIRST_NBITS)
#define NSTEPS 3
#define STEP_MAX 128 /* |k| at most */
static const int step_shift[NSTEPS] = {15, 22, 29};
#define EXPONENTIAL_STEPS 64
#define NEXPONENTIALS (7 * EXPONENTIAL_STEPS / 3 + 1) /* up to ln 10 and a little more */

static struct {
	uint16_t factor[NFIRST]; /* r, by the bits after the mantissa's first */
	int128 first[NFIRST];    /* -ln(r / 512) */
	int128 step[NSTEPS][2 * STEP_MAX + 1]; /* -ln(1 - k / 2^s), by k + STEP_MAX */
	uint128 ln2, ln10;
	uint128 exponential[NEXPONENTIALS]; /* of i / EXPONENTIAL_STEPS */
} table;

/* ---- tables ---- */

/* x a / b, rounded down. The product of b and a is below 2^64. */
static uint128 times_ratio(uint128 x, uint64_t a, uint64_t b)
{
	return x / b * a + x % b * a / b;
}

/* ln((b + a) / (b - a)) = 2 atanh(a / b), a / b <= 1/3 */
static uint128 log_of_quotient(uint64_t a, uint64_t b)
{
	uint128 sum = 0, power = times_ratio((uint128)1 << (UNIT_NBITS + 1), a, b);

	for (unsigned j = 1; power > 0; j += 2) {
		sum += power / j;
		power = times_ratio(times_ratio(power, a, b), a, b);
	}
	return sum;
}

/* a b / 2^SUM_NBITS, which fits. */
static uint128 multiply_fixed(uint128 a, uint128 b)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b,
		 b1 = (uint64_t)(b >> 64);
	uint128 low = (uint128)a0 * b0, left = (uint128)a0 * b1, right = (uint128)a1 * b0;
	uint128 middle = (low >> 64) + (uint64_t)left + (uint64_t)right;
	uint128 high = (uint128)a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);

	return high << (128 - SUM_NBITS) | (uint64_t)middle >> (SUM_NBITS - 64);
}

/* In units of 2^-SUM_NBITS, as x. */
static uint128 exponential_series(uint128 x)
{
	uint128 term = (uint128)1 << SUM_NBITS, sum = term;

	for (unsigned k = 1; term > 0; k++) {
		term = multiply_fixed(term, x) / k;
		sum += term;
	}
	return sum;
}

static void make_tables(void)
{
	for (unsigned i = 0; i < NFIRST; i++) { /* r is near 512 / y in the middle of the interval */
		unsigned middle = 2 * NFIRST + 2 * i + 1;
		table.factor[i] = (uint16_t)((262144 + middle / 2) / middle);
		table.first[i] = (int128)log_of_quotient(512 - table.factor[i],
							 512 + table.factor[i]);
	}
	for (int j = 0; j < NSTEPS; j++) {
		for (int k = -STEP_MAX; k <= STEP_MAX; k++) {
			int64_t b = (INT64_C(2) << step_shift[j]) - k;
			int128 log = (int128)log_of_quotient((uint64_t)abs(k), (uint64_t)b);
			table.step[j][k + STEP_MAX] = k < 0 ? -log : log;
		}
	}
	table.ln2 = log_of_quotient(1, 3);
	table.ln10 = 3 * table.ln2 + log_of_quotient(1, 9);
	for (unsigned i = 0; i < NEXPONENTIALS; i++)
		table.exponential[i] = exponential_series(((uint128)1 << SUM_NBITS) / EXPONENTIAL_STEPS * i);
}

static void need_tables(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

/* ---- logarithms ---- */

/* ln(1 + e), |e| < 2^-29 */
static int128 log_near_one(int128 e)
{
	int128 x = e >> 34, square = x * x;     /* units of 2^-92, 2^-184 */
	int128 cube = (square >> 62) * x; /* 2^-214 */

	return e - (square >> 59) + (cube >> 88) / 3;
}

/* ln(y / 2^127) in units of 2^-SUM_NBITS; y has its highest bit. */
static uint128 log_of_mantissa(uint128 y)
{
	unsigned i = (unsigned)(y >> (127 - FIRST_NBITS)) & (NFIRST - 1);
	/* y r / 512 - 1 in units of 2^-129: the product modulo 2^128, because 1 is 2^129. */
	int128 e = (int128)((y >> 7) * table.factor[i]) >> 3;
	int128 log = table.first[i];

	for (int j = 0; j < NSTEPS; j++) {
		int down = UNIT_NBITS - step_shift[j];
		int k = (int)((e + ((int128)1 << (down - 1))) >> down);
		e -= k * ((int128)1 << down) + ((e * k) >> step_shift[j]);
		log += table.step[j][k + STEP_MAX];
	}
	log += log_near_one(e);
	return log > 0 ? (uint128)log >> (UNIT_NBITS - SUM_NBITS) : 0;
}

static int leading_zeros(uint128 x)
{
	uint64_t high = (uint64_t)(x >> 64);

	return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

/* *sum += x */
static void add_mantissas(struct logarithm_sum *sum, uint128 x)
{
	const uint128 low = (uint128)sum->mantissas[0] + (uint64_t)x, high = (x >> 64) + sum->mantissas[1] + (low >> 64);

	sum->mantissas[0] = (unsigned long)low;
	sum->mantissas[1] = (unsigned long)high;
	sum->mantissas[2] += (unsigned long)(high >> 64);
}

void logarithm_add(struct logarithm_sum *sum, uint128 significand, int exponent10)
{
	int nzeros = leading_zeros(significand);

	need_tables();
	add_mantissas(sum, log_of_mantissa(significand << nzeros));
	sum->exponents2 += 127 - nzeros;
	sum->exponents10 += exponent10;
}

void logarithm_add_rows(struct logarithm_sum *sum, const int64_t *significand,
			const uint8_t *scale, uint64_t rows)
{
	uint128 mantissas = 0; /* 64 of them are below 2^126 */
	int exponents2 = 0, exponents10 = 0;

	need_tables();
	for (; rows; rows &= rows - 1) {
		int i = __builtin_ctzll(rows);
		int nzeros = significand[i] > 0 ? __builtin_clzll((uint64_t)significand[i]) : -1;
		if (nzeros < 0)
			continue;
		mantissas += log_of_mantissa((uint128)significand[i] << (64 + nzeros));
		exponents2 += 63 - nzeros;
		exponents10 -= scale[i];
	}
	add_mantissas(sum, mantissas);
	sum->exponents2 += exponents2;
	sum->exponents10 += exponents10;
}

/* Each is the logarithm of less than 2: below 2^SUM_NBITS. */
bool logarithm_mantissas_fit(const struct logarithm_sum *sum, uint64_t n)
{
	const uint128 whole = ((uint128)sum->mantissas[2] << 64 | sum->mantissas[1]) >> (SUM_NBITS - 64);

	return whole < n || (whole == 0 && !sum->mantissas[0] && !sum->mantissas[1]);
}

void logarithm_combine(struct logarithm_sum *sum, const struct logarithm_sum *later)
{
	mpn_add_n(sum->mantissas, sum->mantissas, later->mantissas, 3);
	sum->exponents2 += later->exponents2;
	sum->exponents10 += later->exponents10;
}

/* ---- the mean ---- */

/* *sum += x n, but for the exponents. */
static void add_product(struct logarithm_sum *sum, uint128 x, uint64_t n)
{
	const unsigned long limb[2] = {(unsigned long)x, (unsigned long)(x >> 64)};

	sum->mantissas[2] += mpn_addmul_1(sum->mantissas, limb, 2, n);
}

/* n x, in units of 2^-SUM_NBITS; x: of 2^-UNIT_NBITS. */
static uint128 multiple(uint128 x, unsigned n)
{
	const int more = UNIT_NBITS - SUM_NBITS;

	return (x >> more) * n + ((x & ((1 << more) - 1)) * n >> more);
}

/* x / n rounded down; *rest: what is left, 0 <= *rest < n */
static int divide_down(int128 x, uint64_t n, uint64_t *rest)
{
	int128 quotient = x / n;

	quotient -= quotient * n > x;
	*rest = (uint64_t)(x - quotient * n);
	return (int)quotient;
}

/* 0 <= x < 7 / 3 */
static uint128 exponential(uint128 x)
{
	const uint128 step = ((uint128)1 << SUM_NBITS) / EXPONENTIAL_STEPS;

	return multiply_fixed(table.exponential[x / step], exponential_series(x % step));
}

size_t logarithm_format_mean(const struct logarithm_sum *sum, uint64_t n, int ndigits, char *text)
{
	const uint128 ten16 = 10000000000000000, ten32 = ten16 * ten16;
	const int more = UNIT_NBITS - SUM_NBITS;
	static const struct logarithm_sum none;
	struct integer numerator, one;
	struct logarithm_sum rest;
	uint64_t rest2, rest10;
	int exponent2, exponent10, ntens;
	uint128 log;

	need_tables();
	sum = sum ? sum : &none;
	rest = *sum;
	exponent2 = divide_down(sum->exponents2, n, &rest2);
	exponent10 = divide_down(sum->exponents10, n, &rest10);
	add_product(&rest, table.ln2 >> more, rest2);
	add_product(&rest, table.ln10 >> more, rest10);
	mpn_divrem_1(rest.mantissas, 0, rest.mantissas, 3, n); /* it fits in 128 bits */
	log = ((uint128)rest.mantissas[1] << 64 | rest.mantissas[0]) + multiple(table.ln2, (unsigned)exponent2);
	ntens = (int)(log / ((table.ln10 >> more) + 1));
	log = exponential(log - multiple(table.ln10, (unsigned)ntens));
	integer_set(&numerator, (multiply_fixed(log, 2 * ten32) + 1) / 2);
	integer_set(&one, 1);
	return ratio_format((struct ratio){&numerator, &one, 32 - exponent10 - ntens, false},
			    ndigits < RATIO_NDIGITS ? ndigits : RATIO_NDIGITS, RATIO_ALL, text); /* no more is known */
}

/* ---- entropy ---- */

void logarithm_add_count(struct logarithm_sum *sum, uint64_t count)
{
	int nzeros = __builtin_clzll(count);

	need_tables();
	add_product(sum, log_of_mantissa((uint128)count << (64 + nzeros)), count);
	sum->exponents2 += (int128)count * (63 - nzeros);
}

/* The logarithms of n numbers, and ln 2 as often as 64 n times, are wrong by less than n << ERROR_NBITS units in all. What is
 * so near to a multiple of ln 2 is one: n bits, or fewer, make the exact entropy then. */
#define ERROR_NBITS 7

size_t logarithm_format_entropy(const struct logarithm_sum *sum, uint64_t n, char *text)
{
	struct integer numerator, denominator, rest, error, nbits;
	struct logarithm_sum whole = {.exponents2 = 0};

	/* numerator = n ln(n) - sum, which is not negative */
	logarithm_add_count(&whole, n); /* makes the tables */
	add_product(&whole, table.ln2 >> (UNIT_NBITS - SUM_NBITS),
		    (uint64_t)(whole.exponents2 - sum->exponents2));
	mpn_sub_n(whole.mantissas, whole.mantissas, sum->mantissas, 3);
	integer_set_words(&numerator, whole.mantissas, 3);
	integer_set(&denominator, table.ln2 >> (UNIT_NBITS - SUM_NBITS));
	integer_set(&error, (uint128)n << ERROR_NBITS);
	integer_copy(&rest, &numerator);
	integer_add(&rest, &error, false);
	integer_divide(&rest, &denominator, &nbits);
	integer_multiply_short(&denominator, n);
	integer_add(&error, &error, false);
	if (integer_compare(&rest, &error) <= 0) {
		integer_copy(&numerator, &nbits);
		integer_set(&denominator, n);
	}
	return ratio_format((struct ratio){&numerator, &denominator, 0, false}, RATIO_NDIGITS, RATIO_ALL, text);
}
