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
 *
 * Of rounded numbers, let no error be more than the part q of the deviation, sqrt(m2): q < 10^-k / 200, where k digits of the
 * deviation are right (statistic_ndigits). Less the errors' mean, one is 2 q at most, and the mean of |(x - mean)^3| is
 * sqrt(m2 m4) at most. So a skewness G = f m3 / m2^(3/2) is wrong by less than (6 f + 3 |G|) q, where f < 2.5, and a kurtosis
 * f m4 / m2^2, less what does not depend on the numbers, by f (8 sqrt(K) + 4 K) q, where K is m4 / m2^2. With n numbers,
 * 1 <= K < n - 1, so that f is 7.5 only where K < 2.4, and less than 2 where K > 8. Both errors are then less than a tenth of
 * the unit of the k-th digit after the point, or of one digit less for each that G or K has before the point.
 */
#include "fold/moment.h"
#include "fold/statistic.h"

/* *sum += factor x a x b. */
static void add_product(struct integer *sum, int factor, const struct integer *a, const struct integer *b)
{
	struct integer product;

	integer_multiply(&product, a, b);
	integer_multiply_short(&product, (uint64_t)(factor < 0 ? -factor : factor));
	integer_add(sum, &product, factor < 0);
}

/* *product = factor x a */
static void multiply(struct integer *product, uint128 factor, const struct integer *a)
{
	struct integer number;

	integer_set(&number, factor);
	integer_multiply(product, &number, a);
}

/* n, and the sums of powers at a common scale. */
struct sums {
	uint64_t n;
	struct integer count, s1, s2, s3, s4;
};

/* *out = N3 */
static void third(const struct sums *s, struct integer *out)
{
	struct integer inner;

	integer_multiply(&inner, &s->count, &s->s3);
	add_product(&inner, -3, &s->s1, &s->s2);
	integer_multiply(out, &s->count, &inner);
	integer_multiply(&inner, &s->s1, &s->s1);
	add_product(out, 2, &s->s1, &inner);
}

/* *out = N4 */
static void fourth(const struct sums *s, struct integer *out)
{
	struct integer inner, square;

	integer_multiply(&square, &s->s1, &s->s1);
	integer_multiply(&inner, &s->count, &s->s4);
	add_product(&inner, -4, &s->s1, &s->s3);
	integer_multiply(out, &s->count, &inner);
	add_product(out, 6, &square, &s->s2);
	integer_copy(&inner, out);
	integer_multiply(out, &s->count, &inner);
	add_product(out, -3, &square, &square);
}

/* N2, and N3 or N4. */
struct shape {
	struct integer n2, higher;
	int ndigits; /* of the deviation that are right */
};

/* How many digits after the point are right of G or K. */
static int count_places(const struct shape *s, struct ratio x)
{
	int magnitude;

	if (s->ndigits == RATIO_ALL || integer_is_zero(x.numerator))
		return s->ndigits;
	magnitude = ratio_magnitude(x);
	return s->ndigits - (magnitude > 0 ? magnitude : 0);
}

/* Writes the root of factor / divisor x N3^2 / N2^3, with the sign of N3. Returns the text's length. */
static size_t format_skewness(const struct shape *s, uint128 factor, uint128 divisor, char *text)
{
	struct integer square, product, numerator, denominator;
	const struct ratio skewness = {&numerator, &denominator, 0, true};

	integer_multiply(&square, &s->higher, &s->higher);
	multiply(&numerator, factor, &square);
	integer_multiply(&square, &s->n2, &s->n2);
	multiply(&product, divisor, &s->n2);
	integer_multiply(&denominator, &product, &square);
	numerator.negative = s->higher.negative;
	return ratio_format(skewness, RATIO_ALL, count_places(s, skewness), text);
}

/* Writes factor x (a N4 - 3 b N2^2) / (divisor N2^2). Returns the text's length. */
static size_t format_kurtosis(const struct shape *s, uint128 factor, uint128 a, uint128 b, uint128 divisor, char *text)
{
	struct integer sum, square, product, numerator, denominator;
	int places;

	integer_multiply(&square, &s->n2, &s->n2);
	places = count_places(s, (struct ratio){&s->higher, &square, 0, false});
	multiply(&sum, a, &s->higher);
	multiply(&product, 3 * b, &square);
	integer_add(&sum, &product, true);
	multiply(&numerator, factor, &sum);
	multiply(&denominator, divisor, &square);
	return ratio_format((struct ratio){&numerator, &denominator, 0, false}, RATIO_ALL, places, text);
}

/* How many numbers a result needs. */
static uint64_t nleast_of(enum operation operation)
{
	return operation == OPERATION_SKEWNESS ? 3 : operation == OPERATION_KURTOSIS ? 4 : 1;
}

/* Writes one of the four results. places: how many are right of each number; scale: of the sums. Returns the text's length; 0: there
 * is no variance. */
static size_t format_shape(enum operation operation, struct sums *s, int places, int scale, char *text)
{
	const bool is_fourth = operation >= OPERATION_KURTOSIS;
	const uint128 n = s->n;
	struct integer square;
	struct shape shape;

	integer_set(&s->count, n);
	integer_multiply(&shape.n2, &s->count, &s->s2);
	add_product(&shape.n2, -1, &s->s1, &s->s1);
	integer_multiply(&square, &s->count, &s->count);
	shape.ndigits = statistic_ndigits(places, (struct ratio){&shape.n2, &square, 2 * scale, true});
	if (integer_is_zero(&shape.n2) || shape.ndigits <= 0)
		return 0;
	(is_fourth ? fourth : third)(s, &shape.higher);
	switch (operation) {
	case OPERATION_SKEWNESS:
		return format_skewness(&shape, n * (n - 1), (n - 2) * (n - 2), text);
	case OPERATION_SKEWNESS_POP:
		return format_skewness(&shape, 1, 1, text);
	case OPERATION_KURTOSIS:
		return format_kurtosis(&shape, n - 1, n + 1, n - 1, (n - 2) * (n - 3), text);
	default:
		return format_kurtosis(&shape, 1, 1, 1, 1, text);
	}
}

static void format_moments(enum operation operation, const struct column_moments *m, char *text)
{
	const int scale = wide_places(m->numbers.scale);
	struct sums s;

	if (m->numbers.count < nleast_of(operation))
		return;
	s.n = m->numbers.count;
	wide_to_integer(&m->numbers.sum, scale, &s.s1);
	squares_sum(m->squares, scale, &s.s2);
	cubes_sum(m->cubes, scale, &s.s3);
	if (operation >= OPERATION_KURTOSIS)
		fourths_sum(m->fourths, scale, &s.s4);
	format_shape(operation, &s, statistic_places(m->numbers.scale), scale, text);
}

char *statistic_shape_write_short(enum operation operation, const struct short_moments *m, char *to)
{
	struct sums s;

	if (m->count < nleast_of(operation))
		return to;
	s.n = m->count;
	integer_set_signed(&s.s1, m->sum);
	integer_set(&s.s2, m->squares);
	integer_set_signed(&s.s3, m->cubes);
	integer_set_signed(&s.s4, m->fourths);
	return to + format_shape(operation, &s, RATIO_ALL, m->scale, to);
}

void statistic_skewness(const struct column_moments *m, char *text)
{
	format_moments(OPERATION_SKEWNESS, m, text);
}

void statistic_skewness_pop(const struct column_moments *m, char *text)
{
	format_moments(OPERATION_SKEWNESS_POP, m, text);
}

void statistic_kurtosis(const struct column_moments *m, char *text)
{
	format_moments(OPERATION_KURTOSIS, m, text);
}

void statistic_kurtosis_pop(const struct column_moments *m, char *text)
{
	format_moments(OPERATION_KURTOSIS_POP, m, text);
}
