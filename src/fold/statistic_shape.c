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
 * Without variance, N2 = 0, neither has a value.
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

void statistic_skewness(const struct column_moments *m, char *text)
{
	struct integer n3, factor, numerator, denominator, square;
	uint128 n = m->numbers.count;
	struct sums s;

	if (!sums_set(&s, m, 3))
		return;
	third(&s, &n3);
	set_integer(&square, 0);
	add_product(&square, 1, &n3, &n3);
	set_integer(&factor, n * (n - 1));
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &factor, &square);
	set_integer(&square, 0);
	add_product(&square, 1, &s.n2, &s.n2);
	set_integer(&factor, (n - 2) * (n - 2));
	set_integer(&denominator, 0);
	add_product(&denominator, 1, &factor, &s.n2);
	n3.magnitude = denominator.magnitude;
	natural_multiply(&denominator.magnitude, &n3.magnitude, &square.magnitude);
	if (n3.negative && numerator.magnitude.nlimbs > 0)
		*text++ = '-';
	ratio_sqrt_format(&numerator.magnitude, &denominator.magnitude, 0, text);
}

void statistic_kurtosis(const struct column_moments *m, char *text)
{
	struct integer s4, n4, factor, sum, square, numerator, denominator;
	uint128 n = m->numbers.count;
	struct sums s;

	if (!sums_set(&s, m, 4))
		return;
	fourths_sum(m->fourths, statistic_limb_scale(m), &s4);
	fourth(&s, &s4, &n4);
	set_integer(&square, 0);
	add_product(&square, 1, &s.n2, &s.n2);
	set_integer(&sum, 0);
	set_integer(&factor, n + 1);
	add_product(&sum, 1, &factor, &n4);
	set_integer(&factor, n - 1);
	add_product(&sum, -3, &factor, &square);
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &factor, &sum);
	set_integer(&factor, (n - 2) * (n - 3));
	set_integer(&denominator, 0);
	add_product(&denominator, 1, &factor, &square);
	ratio_format(numerator.negative, &numerator.magnitude, &denominator.magnitude, 0, text);
}
