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

static void set_signed(struct integer *x, int128 value)
{
	set_integer(x, value < 0 ? -(uint128)value : (uint128)value);
	x->negative = value < 0;
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

	set_integer(&inner, 0);
	add_product(&inner, 1, &s->count, &s->s3);
	add_product(&inner, -3, &s->s1, &s->s2);
	set_integer(out, 0);
	add_product(out, 1, &s->count, &inner);
	set_integer(&inner, 0);
	add_product(&inner, 1, &s->s1, &s->s1);
	add_product(out, 2, &s->s1, &inner);
}

/* *out = N4 */
static void fourth(const struct sums *s, struct integer *out)
{
	struct integer inner, square;

	set_integer(&square, 0);
	add_product(&square, 1, &s->s1, &s->s1);
	set_integer(&inner, 0);
	add_product(&inner, 1, &s->count, &s->s4);
	add_product(&inner, -4, &s->s1, &s->s3);
	set_integer(out, 0);
	add_product(out, 1, &s->count, &inner);
	add_product(out, 6, &square, &s->s2);
	natural_copy(&inner.magnitude, &out->magnitude);
	inner.negative = out->negative;
	set_integer(out, 0);
	add_product(out, 1, &s->count, &inner);
	add_product(out, -3, &square, &square);
}

/* N2, and N3 or N4. */
struct shape {
	struct integer n2, higher;
	int ndigits; /* of the deviation that are right */
};

/* How many digits after the point are right of G, which is the root of numerator / denominator, or of K, which is that. */
static int count_places(const struct shape *s, bool is_root, const struct natural *numerator, const struct natural *denominator)
{
	int magnitude;

	if (s->ndigits == RATIO_PLACES_ALL || numerator->nlimbs == 0)
		return s->ndigits;
	magnitude = is_root ? ratio_sqrt_magnitude(numerator, denominator, 0) : ratio_magnitude(numerator, denominator, 0);
	return s->ndigits - (magnitude > 0 ? magnitude : 0);
}

/* Writes the root of factor / divisor x N3^2 / N2^3, with the sign of N3. Returns the text's length. */
static size_t format_skewness(const struct shape *s, uint128 factor, uint128 divisor, char *text)
{
	struct integer number, square, product, numerator, denominator;

	set_integer(&square, 0);
	add_product(&square, 1, &s->higher, &s->higher);
	set_integer(&number, factor);
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &number, &square);
	set_integer(&square, 0);
	add_product(&square, 1, &s->n2, &s->n2);
	set_integer(&number, divisor);
	set_integer(&product, 0);
	add_product(&product, 1, &number, &s->n2);
	natural_multiply(&denominator.magnitude, &product.magnitude, &square.magnitude);
	return ratio_sqrt_format_places(s->higher.negative, &numerator.magnitude, &denominator.magnitude, 0,
					count_places(s, true, &numerator.magnitude, &denominator.magnitude), text);
}

/* Writes factor x (a N4 - 3 b N2^2) / (divisor N2^2). Returns the text's length. */
static size_t format_kurtosis(const struct shape *s, uint128 factor, uint128 a, uint128 b, uint128 divisor, char *text)
{
	struct integer number, sum, square, numerator, denominator;
	int places;

	set_integer(&square, 0);
	add_product(&square, 1, &s->n2, &s->n2);
	places = count_places(s, false, &s->higher.magnitude, &square.magnitude);
	set_integer(&sum, 0);
	set_integer(&number, a);
	add_product(&sum, 1, &number, &s->higher);
	set_integer(&number, b);
	add_product(&sum, -3, &number, &square);
	set_integer(&number, factor);
	set_integer(&numerator, 0);
	add_product(&numerator, 1, &number, &sum);
	set_integer(&number, divisor);
	set_integer(&denominator, 0);
	add_product(&denominator, 1, &number, &square);
	return ratio_format_places(numerator.negative, &numerator.magnitude, &denominator.magnitude, 0, places, text);
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
	struct natural square;
	struct shape shape;

	set_integer(&s->count, n);
	set_integer(&shape.n2, 0);
	add_product(&shape.n2, 1, &s->count, &s->s2);
	add_product(&shape.n2, -1, &s->s1, &s->s1);
	natural_multiply(&square, &s->count.magnitude, &s->count.magnitude);
	shape.ndigits = statistic_ndigits(places, &shape.n2.magnitude, &square, 2 * scale);
	if (shape.n2.magnitude.nlimbs == 0 || shape.ndigits <= 0)
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
	const int scale = statistic_limb_scale(m);
	struct sums s;

	if (m->numbers.count < nleast_of(operation))
		return;
	s.n = m->numbers.count;
	s.s1.negative = statistic_scaled_sum(m, scale, &s.s1.magnitude);
	s.s2.negative = false;
	squares_sum(m->squares, scale, &s.s2.magnitude);
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
	set_signed(&s.s1, m->sum);
	set_integer(&s.s2, m->squares);
	set_signed(&s.s3, m->cubes);
	set_signed(&s.s4, m->fourths);
	return to + format_shape(operation, &s, RATIO_PLACES_ALL, m->scale, to);
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
