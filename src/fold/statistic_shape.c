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

/* n, N2, and N3 or N4. */
struct shape {
	uint64_t n;
	struct integer n2, higher;
	int ndigits; /* of the deviation that are right */
};

/* n, and the sums of powers at a common scale. */
struct sums {
	struct integer n, s1, s2, s3, s4;
};

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
static void fourth(const struct sums *s, struct integer *out)
{
	struct integer inner, square;

	set_integer(&square, 0);
	add_product(&square, 1, &s->s1, &s->s1);
	set_integer(&inner, 0);
	add_product(&inner, 1, &s->n, &s->s4);
	add_product(&inner, -4, &s->s1, &s->s3);
	set_integer(out, 0);
	add_product(out, 1, &s->n, &inner);
	add_product(out, 6, &square, &s->s2);
	inner = *out;
	set_integer(out, 0);
	add_product(out, 1, &s->n, &inner);
	add_product(out, -3, &square, &square);
}

/* Returns false where there are fewer than nleast numbers, or no variance. */
static bool shape_set(struct shape *shape, const struct column_moments *m, uint64_t nleast, bool is_fourth)
{
	int scale = statistic_limb_scale(m);
	struct natural square;
	struct sums s;

	if (m->numbers.count < nleast)
		return false;
	shape->n = m->numbers.count;
	set_integer(&s.n, shape->n);
	s.s1.negative = statistic_scaled_sum(m, scale, &s.s1.magnitude);
	s.s2.negative = false;
	squares_sum(m->squares, scale, &s.s2.magnitude);
	set_integer(&shape->n2, 0);
	add_product(&shape->n2, 1, &s.n, &s.s2);
	add_product(&shape->n2, -1, &s.s1, &s.s1);
	natural_multiply(&square, &s.n.magnitude, &s.n.magnitude);
	shape->ndigits = statistic_ndigits(statistic_places(m->numbers.scale), &shape->n2.magnitude, &square, 2 * scale);
	if (shape->n2.magnitude.nlimbs == 0 || shape->ndigits <= 0)
		return false;
	cubes_sum(m->cubes, scale, &s.s3);
	if (is_fourth)
		fourths_sum(m->fourths, scale, &s.s4);
	(is_fourth ? fourth : third)(&s, &shape->higher);
	return true;
}

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

/* The four results: how many numbers each needs, and what it is of their moments. */
static uint64_t nleast_of(enum operation operation)
{
	return operation == OPERATION_SKEWNESS ? 3 : operation == OPERATION_KURTOSIS ? 4 : 1;
}

static size_t format_shape(enum operation operation, const struct shape *s, char *text)
{
	const uint128 n = s->n;

	switch (operation) {
	case OPERATION_SKEWNESS:
		return format_skewness(s, n * (n - 1), (n - 2) * (n - 2), text);
	case OPERATION_SKEWNESS_POP:
		return format_skewness(s, 1, 1, text);
	case OPERATION_KURTOSIS:
		return format_kurtosis(s, n - 1, n + 1, n - 1, (n - 2) * (n - 3), text);
	default:
		return format_kurtosis(s, 1, 1, 1, 1, text);
	}
}

static void format_moments(enum operation operation, const struct column_moments *m, char *text)
{
	struct shape s;

	if (shape_set(&s, m, nleast_of(operation), operation >= OPERATION_KURTOSIS))
		format_shape(operation, &s, text);
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

/* ---- short ones ---- */

/* *sum += factor x a x b. Returns false where that does not fit. */
static bool add_short_product(int128 *sum, int factor, int128 a, int128 b)
{
	int128 product;

	return !__builtin_mul_overflow(a, b, &product) && !__builtin_mul_overflow(product, (int128)factor, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* Like third and fourth. Return false where that does not fit. */
static bool short_third(const struct short_moments *m, int128 *out)
{
	const int128 n = m->count, s1 = m->sum;
	int128 inner = 0, square = 0;

	*out = 0;
	return m->squares <= (uint128)DECIMAL_INT128_MAX && add_short_product(&inner, 1, n, m->cubes) &&
	       add_short_product(&inner, -3, s1, (int128)m->squares) && add_short_product(&square, 1, s1, s1) &&
	       add_short_product(out, 1, n, inner) && add_short_product(out, 2, s1, square);
}

static bool short_fourth(const struct short_moments *m, int128 *out)
{
	const int128 n = m->count, s1 = m->sum;
	int128 inner = 0, outer = 0, square = 0;

	*out = 0;
	return m->squares <= (uint128)DECIMAL_INT128_MAX && add_short_product(&square, 1, s1, s1) &&
	       add_short_product(&inner, 1, n, m->fourths) && add_short_product(&inner, -4, s1, m->cubes) &&
	       add_short_product(&outer, 1, n, inner) && add_short_product(&outer, 6, square, (int128)m->squares) &&
	       add_short_product(out, 1, n, outer) && add_short_product(out, -3, square, square);
}

char *statistic_shape_write_short(enum operation operation, const struct short_moments *m, char *to)
{
	int128 n2, higher;
	struct shape s;

	if (m->count < nleast_of(operation))
		return to;
	if (!statistic_scatter_short(m, &n2) || !(operation >= OPERATION_KURTOSIS ? short_fourth : short_third)(m, &higher))
		return NULL;
	if (n2 == 0)
		return to;
	s.n = m->count;
	s.ndigits = RATIO_PLACES_ALL;
	set_integer(&s.n2, (uint128)n2);
	set_integer(&s.higher, higher < 0 ? -(uint128)higher : (uint128)higher);
	s.higher.negative = higher < 0;
	return to + format_shape(operation, &s, to);
}
