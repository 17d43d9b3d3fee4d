/* SPDX-License-Identifier: MIT
 *
 * statistic_shape.c - the formulas of skewness and kurtosis. See statistic.h.
 *
 * With n numbers and S1 ... S4 the sums of their powers, integers once scaled, the central moments
 * are m2 = N2 / n^2, m3 = N3 / n^3, m4 = N4 / n^4, where
 *     N2 = n S2 - S1^2
 *     N3 = n (n S3 - 3 S1 S2) + 2 S1^3
 *     N4 = n (n (n S4 - 4 S1 S3) + 6 S1^2 S2) - 3 S1^4
 * The estimators of a sample are those of SAS, SPSS, Excel and pandas, in the names of D. N. Joanes
 * and C. A. Gill, "Comparing measures of sample skewness and kurtosis", The Statistician 47, 1998:
 *     G1 = sqrt(n (n - 1)) / (n - 2) x m3 / m2^(3/2)
 *     G2 = (n - 1) / ((n - 2) (n - 3)) x ((n + 1) (m4 / m2^2 - 3) + 6)
 * The powers of n and of the scale cancel: both are ratios of integers, and G1 the root of one:
 *     G1^2 = n (n - 1) N3^2 / ((n - 2)^2 N2^3), with the sign of N3
 *     G2 = (n - 1) ((n + 1) N4 - 3 (n - 1) N2^2) / ((n - 2) (n - 3) N2^2)
 * Those of a population are the moments themselves:
 *     g1 = m3 / m2^(3/2), g1^2 = N3^2 / N2^3, with the sign of N3
 *     g2 = m4 / m2^2 - 3 = (N4 - 3 N2^2) / N2^2
 * Without variance, N2 = 0, none has a value.
 */
#include "fold/moment.h"
#include "fold/statistic.h"

/* *sum += factor x a x b. */
static void add_product(struct integer *sum, int factor, const struct integer *a,
			const struct integer *b)
{
	struct natural multiple, product;

	natural_set(&product, (uint128)(factor < 0 ? -factor : factor));
	natural_multiply(&multiple, &a->magnitude, &product);
	natural_multiply(&product, &multiple, &b->magnitude);
	integer_add_natural(sum, &product, (factor < 0) ^ a->negative ^ b->negative);
}

static void set_integer(struct integer *x, uint128 value)
{
	x->negative = false;
	natural_set(&x->magnitude, value);
}

/* n, the sums of powers at a common scale, and N2. */
struct sums {
	struct integer n, s1, s2, s3, n2;
};

/* Returns false where there are fewer than nleast numbers, or no variance. */
static bool sums_set(struct sums *s, const struct column_moments *m, uint64_t nleast)
{
	int scale = statistic_limb_scale(m);
	struct natural square;

	if (m->numbers.count < nleast)
		return false;
	set_integer(&s->n, m->numbers.count);
	s->s1.negative = statistic_scaled_sum(m, scale, &s->s1.magnitude);
	s->s2.negative = false;
	squares_sum(m->squares, scale, &s->s2.magnitude);
	cubes_sum(m->cubes, scale, &s->s3);
	set_integer(&s->n2, 0);
	add_product(&s->n2, 1, &s->n, &s->s2);
	add_product(&s->n2, -1, &s->s1, &s->s1);
	natural_multiply(&square, &s->n.magnitude, &s->n.magnitude);
	return s->n2.magnitude.nlimbs > 0 && !statistic_is_noise(m, &s->n2.magnitude, &square, 2 * scale, 2);
}

/* *out = N3 */
static void third(const struct sums *s, struct integer *out)
{
	struct integer inner;

	set_integer(&inner, 0);
	add_product(&inner, 1, &s->n, &s->s3);
	add_product(&inner, -3, &s->s1, &s->s2);
	set_integer(out, 0);
	add_product(out, 1, &s->n, &inner);
	set_integer(&inner, 0);
	add_product(&inner, 1, &s->s1, &s->s1);
	add_product(out, 2, &s->s1, &inner);
}

/* *out = N4 */
static void fourth(const struct sums *s, const struct integer *s4, struct integer *out)
{
	struct integer inner, square;

	set_integer(&square, 0);
	add_product(&square, 1, &s->s1, &s->s1);
	set_integer(&inner, 0);
	add_product(&inner, 1, &s->n, s4);
	add_product(&inner, -4, &s->s1, &s->s3);
	set_integer(out, 0);
	add_product(out, 1, &s->n, &inner);
	add_product(out, 6, &square, &s->s2);
	inner = *out;
	set_integer(out, 0);
	add_product(out, 1, &s->n, &inner);
	add_product(out, -3, &square, &square);
}

/* Writes the root of factor / divisor x N3^2 / N2^3, with the sign of N3. */
static void format_skewness(const struct sums *s, uint128 factor, uint128 divisor, char *text)
{
	struct integer n3, number, square, numerator, denominator;
	bool negative;

	third(s, &n3);
	negative = n3.negative;
	set_integer(&square, 0);
	add_product(&square, 1, &n3, &n3);
	set_integer(&number, factor);
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &number, &square);
	set_integer(&square, 0);
	add_product(&square, 1, &s->n2, &s->n2);
	set_integer(&number, divisor);
	set_integer(&n3, 0);
	add_product(&n3, 1, &number, &s->n2);
	natural_multiply(&denominator.magnitude, &n3.magnitude, &square.magnitude);
	if (negative && numerator.magnitude.nlimbs > 0)
		*text++ = '-';
	ratio_sqrt_format(&numerator.magnitude, &denominator.magnitude, 0, text);
}

void statistic_skewness(const struct column_moments *m, char *text)
{
	uint128 n = m->numbers.count;
	struct sums s;

	if (sums_set(&s, m, 3))
		format_skewness(&s, n * (n - 1), (n - 2) * (n - 2), text);
}

void statistic_skewness_pop(const struct column_moments *m, char *text)
{
	struct sums s;

	if (sums_set(&s, m, 1))
		format_skewness(&s, 1, 1, text);
}

/* Writes factor x (a N4 - 3 b N2^2) / (divisor N2^2). */
static void format_kurtosis(const struct sums *s, const struct column_moments *m, uint128 factor, uint128 a, uint128 b,
			    uint128 divisor, char *text)
{
	struct integer s4, n4, number, sum, square, numerator, denominator;

	fourths_sum(m->fourths, statistic_limb_scale(m), &s4);
	fourth(s, &s4, &n4);
	set_integer(&square, 0);
	add_product(&square, 1, &s->n2, &s->n2);
	set_integer(&sum, 0);
	set_integer(&number, a);
	add_product(&sum, 1, &number, &n4);
	set_integer(&number, b);
	add_product(&sum, -3, &number, &square);
	set_integer(&number, factor);
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &number, &sum);
	set_integer(&number, divisor);
	set_integer(&denominator, 0);
	add_product(&denominator, 1, &number, &square);
	ratio_format(numerator.negative, &numerator.magnitude, &denominator.magnitude, 0, text);
}

void statistic_kurtosis(const struct column_moments *m, char *text)
{
	uint128 n = m->numbers.count;
	struct sums s;

	if (sums_set(&s, m, 4))
		format_kurtosis(&s, m, n - 1, n + 1, n - 1, (n - 2) * (n - 3), text);
}

void statistic_kurtosis_pop(const struct column_moments *m, char *text)
{
	struct sums s;

	if (sums_set(&s, m, 1))
		format_kurtosis(&s, m, 1, 1, 1, 1, text);
}
