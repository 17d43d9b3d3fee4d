/* SPDX-License-Identifier: MIT
 *
 * statistic.c - the formulas. See statistic.h.
 *
 * With n numbers, S1 their sum and S2 the sum of their squares, all integers once scaled by
 * 10^scale and 10^(2 scale), the variance is (n S2 - S1^2) / (n d) x 10^(-2 scale), where d is
 * n - 1 for a sample and n for a population. Numerator and denominator are exact, so that
 * ratio_format() rounds once, half to even, to 17 significant digits.
 */
#include "fold/statistic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fold/moment.h"
#include "fold/pair.h"
#include "fold/quantile.h"
#include "number/exact.h"
#include "number/logarithm.h"

static char *statistic_sum(const struct column_moments *m, char *text)
{
	return exact_write_sum(&m->numbers.sum, m->numbers.scale, m->numbers.count, text);
}

static char *statistic_count(const struct column_moments *m, char *text)
{
	return decimal_write_u64(text, m->npresent);
}

static char *statistic_extreme(const struct column_moments *m, char *text)
{
	return m->numbers.count > 0 ? exact_write(m->operation == OPERATION_MIN ? &m->numbers.min : &m->numbers.max, m->numbers.scale, text)
				    : text;
}

/* How many digits after the point are right of each number of a column; scale: the largest of theirs. May be negative. Of
 * numbers of which none was rounded: RATIO_ALL, with which all is written exactly. */
static int statistic_places(int scale)
{
	return exact_scale_is_rounded(scale) ? exact_sum_places(scale, 1) : RATIO_ALL;
}

/* How many digits are right of a deviation, a root; 0 or less: none,
 * and it is the errors of rounded numbers alone that make them differ. places: statistic_places of the numbers.
 *
 * The errors are less than a 20th of 10^-places, see exact_sum_places(): less than a 200th of a unit of the digits. */
static int statistic_ndigits(int places, struct ratio deviation)
{
	if (places == RATIO_ALL)
		return RATIO_ALL;
	return integer_is_zero(deviation.numerator) ? 0 : places + ratio_magnitude(deviation) - 2;
}

static char *statistic_mean(const struct column_moments *m, char *text)
{
	return exact_write_mean(&m->numbers.sum, m->numbers.scale, m->numbers.count, text);
}

static char *statistic_end(const struct column_moments *m, char *text)
{
	struct integer room;
	struct exact x;

	if (!m->ends || !ends_number(m->ends, m->operation == OPERATION_LAST, &room, &x))
		return text;
	return exact_write(&x, m->numbers.scale, text);
}

/* *out = (x - y) x 10^places */
static void subtract(const struct exact *x, const struct exact *y, int places, struct integer *out)
{
	struct integer subtrahend;

	exact_to_integer(x, places, out);
	exact_to_integer(y, places, &subtrahend);
	integer_add(out, &subtrahend, true);
}

static char *statistic_range(const struct column_moments *m, char *text)
{
	const int places = exact_places(m->numbers.scale);
	struct integer difference;
	struct exact range;

	subtract(&m->numbers.max, &m->numbers.min, places, &difference);
	range = exact_view(&difference, places);
	return m->numbers.count > 0 ? exact_write_sum(&range, m->numbers.scale, 2, text) : text;
}

/* The geometric and the harmonic mean: of numbers of which one is 0, they are 0; a negative one leaves them without a value. The
 * relative error of the mean is a mean of those of the numbers, of which the smallest number has the largest. */
static char *statistic_positive_mean(const struct column_moments *m, char *text)
{
	const int ndigits = statistic_places(m->numbers.scale) + exact_magnitude(&m->numbers.min) - 1;
	const int sign = exact_compare(&m->numbers.min, &(struct exact){.scale = 0});

	if (m->numbers.count > 0 && sign == 0)
		*text++ = '0';
	else if (m->numbers.count > 0 && sign > 0 && m->operation == OPERATION_GEOMEAN)
		text += logarithm_format_mean(m->logs, m->numbers.count, ndigits, text);
	else if (m->reciprocals && sign > 0)
		text += reciprocal_format_mean(&m->reciprocals->sum, &m->reciprocals->longer, m->numbers.count, ndigits, text);
	return text;
}

/* What is made of a variance with divisor n - nless: itself or its root, or that of its n-th part, the variance of the mean. */
struct spread {
	unsigned nless;
	bool is_root, is_of_mean;
};

static const struct spread spreads[NOPERATIONS] = {
	[OPERATION_VAR] = {1, false, false},	[OPERATION_VAR_POP] = {0, false, false},
	[OPERATION_STDDEV] = {1, true, false},	[OPERATION_STDDEV_POP] = {0, true, false},
	[OPERATION_SEM] = {1, true, true},
};

static char *statistic_spread(const struct column_moments *m, char *text)
{
	const struct spread *s = &spreads[m->operation];
	const uint64_t n = m->numbers.count;
	const int places = exact_places(m->numbers.scale);
	struct integer numerator, denominator, sum, square;
	const struct ratio variance = {&numerator, &denominator, 2 * places, s->is_root};
	int ndigits;

	if (n <= s->nless)
		return text;
	exact_to_integer(m->squares, 2 * places, &numerator);
	integer_multiply_short(&numerator, n);
	exact_to_integer(&m->numbers.sum, places, &sum);
	integer_multiply(&square, &sum, &sum);
	integer_add(&numerator, &square, true);
	integer_set(&denominator, (uint128)n * (n - s->nless));
	ndigits = statistic_ndigits(statistic_places(m->numbers.scale), (struct ratio){&numerator, &denominator, 2 * places, true});
	if (s->is_of_mean)
		integer_multiply_short(&denominator, n);
	return text + ratio_format(variance, ndigits, RATIO_ALL, text);
}

static char *statistic_rms(const struct column_moments *m, char *text)
{
	const int places = exact_places(m->numbers.scale);
	struct integer squares, count;

	if (m->numbers.count == 0)
		return text;
	exact_to_integer(m->squares, 2 * places, &squares);
	integer_set(&count, m->numbers.count);
	return text + ratio_format((struct ratio){&squares, &count, 2 * places, true}, RATIO_ALL, statistic_places(m->numbers.scale), text);
}

static char *statistic_count_distinct(const struct column_moments *m, char *text)
{
	return decimal_write_u64(text, keys_count(m->keys) + keys_count(m->text_keys));
}

void entropy_add(void *entropy, const struct key_found *key)
{
	struct entropy *e = entropy;

	e->count += key->times.count;
	if (key->times.count > 0)
		logarithm_add_count(&e->sum, key->times.count);
}

char *entropy_write(const struct entropy *e, char *to)
{
	return e->count > 0 ? to + logarithm_format_entropy(&e->sum, e->count, to) : to;
}

static char *statistic_entropy(const struct column_moments *m, char *text)
{
	struct entropy e = {.count = 0};

	keys_each(m->keys, entropy_add, &e);
	keys_each(m->text_keys, entropy_add, &e);
	return entropy_write(&e, text);
}

/* Whether a text is a number does not depend on where it stands, so the two sets of keys have no key in common. */
static bool statistic_frequent(const struct column_moments *m, struct key_found *out)
{
	return keys_find(m->keys, m->text_keys, m->operation == OPERATION_MODE ? KEYS_MOST_FREQUENT : KEYS_LEAST_FREQUENT, out);
}

static bool statistic_text_extreme(const struct column_moments *m, struct key_found *out)
{
	const struct kept_text *kept;
	const char *text;
	size_t nbytes;

	if (!m->texts || m->texts->count == 0)
		return false;
	kept = m->operation == OPERATION_TEXT_MIN ? &m->texts->least : &m->texts->greatest;
	text = kept_text_bytes(kept, &nbytes);
	key_make(text, nbytes, false, key_seed_get(), &out->key);
	return true;
}

/* ---- skewness and kurtosis ---- */

/* With n numbers and S1 ... S4 the sums of their powers, integers once scaled, the central moments
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
 * the unit of the k-th digit after the point, or of one digit less for each that G or K has before the point. */

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

/* The sums of powers at a common scale. */
struct sums {
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

/* Writes the root of factor / divisor x N3^2 / N2^3, with the sign of N3. */
static char *format_skewness(const struct shape *s, uint128 factor, uint128 divisor, char *text)
{
	struct integer square, product, numerator, denominator;
	const struct ratio skewness = {&numerator, &denominator, 0, true};

	integer_multiply(&square, &s->higher, &s->higher);
	multiply(&numerator, factor, &square);
	integer_multiply(&square, &s->n2, &s->n2);
	multiply(&product, divisor, &s->n2);
	integer_multiply(&denominator, &product, &square);
	numerator.negative = s->higher.negative;
	return text + ratio_format(skewness, RATIO_ALL, count_places(s, skewness), text);
}

/* Writes factor x (a N4 - 3 b N2^2) / (divisor N2^2). */
static char *format_kurtosis(const struct shape *s, uint128 factor, uint128 a, uint128 b, uint128 divisor, char *text)
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
	return text + ratio_format((struct ratio){&numerator, &denominator, 0, false}, RATIO_ALL, places, text);
}

/* How many numbers a result needs. */
static uint64_t nleast_of(enum operation operation)
{
	return operation == OPERATION_SKEWNESS ? 3 : operation == OPERATION_KURTOSIS ? 4 : 1;
}

static char *statistic_shape(const struct column_moments *m, char *text)
{
	const bool is_fourth = m->operation >= OPERATION_KURTOSIS;
	const int scale = exact_places(m->numbers.scale);
	const uint128 n = m->numbers.count;
	struct integer square;
	struct shape shape;
	struct sums s;

	if (n < nleast_of(m->operation))
		return text;
	integer_set(&s.count, n);
	exact_to_integer(&m->numbers.sum, scale, &s.s1);
	exact_to_integer(m->squares, 2 * scale, &s.s2);
	exact_to_integer(m->cubes, 3 * scale, &s.s3);
	if (is_fourth)
		exact_to_integer(m->fourths, 4 * scale, &s.s4);
	integer_multiply(&shape.n2, &s.count, &s.s2);
	add_product(&shape.n2, -1, &s.s1, &s.s1);
	integer_multiply(&square, &s.count, &s.count);
	shape.ndigits = statistic_ndigits(statistic_places(m->numbers.scale), (struct ratio){&shape.n2, &square, 2 * scale, true});
	if (integer_is_zero(&shape.n2) || shape.ndigits <= 0)
		return text;
	(is_fourth ? fourth : third)(&s, &shape.higher);
	switch (m->operation) {
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

/* ---- two columns ---- */

/* Over the n records with both values, with the sums Sx, Sy, Sxy, Sxx, Syy, all of them integers once
 * scaled by powers of ten, and
 *
 *     C = n Sxy - Sx Sy      A = n Sxx - Sx^2      B = n Syy - Sy^2,
 *
 * the sample's covariance is C / (n (n - 1)), the population's C / n^2, Pearson's correlation C / sqrt(A B), with the sign of C
 * and the size of the root of C^2 / (A B), and the mean of x weighted by y is Sxy / Sy. Numerators and
 * denominators are exact, so that each result is rounded once.
 *
 * Of rounded numbers, each x may be wrong by p and each y by q. In the mean over the records, no deviation exceeds half of the
 * range. So the population's covariance is wrong by p / 2 times the range of y, and q / 2 times that of x, and the sample's by
 * twice as much at most. A correlation is the cosine of an angle, of which p turns one leg by p over x's deviation. A mean
 * weighted by y is wrong by the sums of q |x - mean| and of p |y|, over that of y. */

/* One column's sums over the records that have both values. */
struct side {
	uint64_t n;
	struct number_sums numbers; /* the column's, with those without a partner */
	int places;             /* statistic_places of the numbers */
	int scale;              /* no number has more digits after the point */
	struct integer sum;     /* x 10^scale */
	struct integer squares; /* x 10^(2 scale), if they are asked for */
};

/* The sums of a pair. */
struct pair_sums {
	enum operation operation;
	struct side sides[PAIR_NSIDES];
	struct integer products; /* x 10^(sum of the sides' scales) */
};

/* A formula: writes the statistic, nothing where it has no value, and returns the text's end. */
typedef char *pair_formula(const struct pair_sums *s, char text[STATISTIC_TEXT_NBYTES]);

/* ---- sums ---- */

/* Reads a side: the column's numbers minus those alone. */
static void read_side(const struct column_moments *column, const struct group_sums *alone, bool has_squares, struct side *out)
{
	out->numbers = column->numbers;
	out->n = out->numbers.count - alone->numbers.count;
	out->places = statistic_places(out->numbers.scale);
	out->scale = exact_places(out->numbers.scale);
	subtract(&out->numbers.sum, &alone->numbers.sum, out->scale, &out->sum);
	if (!has_squares)
		return;
	exact_to_integer(column->squares, 2 * out->scale, &out->squares);
	if (alone->numbers.count) {
		struct integer rest;
		exact_to_integer(&alone->powers[0], 2 * out->scale, &rest);
		integer_add(&out->squares, &rest, true);
	}
}

/* *out = n times the sum of products, minus the product of the sums; of a side with itself: A or B. */
static void scatter(uint64_t n, const struct integer *products, const struct integer *x_sum,
		    const struct integer *y_sum, struct integer *out)
{
	struct integer product;

	integer_copy(out, products);
	integer_multiply_short(out, n);
	integer_multiply(&product, x_sum, y_sum);
	integer_add(out, &product, true);
}

/* ---- the errors of rounded numbers ---- */

static bool is_rounded(const struct side *side)
{
	return side->places != RATIO_ALL;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* The magnitude of the largest difference of two numbers. */
static int range_magnitude(const struct side *side)
{
	struct integer range;

	subtract(&side->numbers.max, &side->numbers.min, side->scale, &range);
	return integer_is_zero(&range) ? EXACT_MAGNITUDE_OF_0 : integer_ndigits(&range) - side->scale;
}

/* Whether numbers differ by their errors alone. */
static bool is_constant(const struct side *side)
{
	return is_rounded(side) && range_magnitude(side) <= -side->places;
}

/* Whether the sum is not 0 for the errors alone. */
static bool is_noise(const struct side *side)
{
	return is_rounded(side) && (integer_is_zero(&side->sum) || integer_ndigits(&side->sum) - side->scale <=
									   -exact_sum_places(side->numbers.scale, side->numbers.count));
}

/* ---- formulas ---- */

static char *pair_cov(const struct pair_sums *s, char *text)
{
	const unsigned nless = s->operation == OPERATION_COV; /* the divisor is n minus that */
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer c, denominator;
	int places = RATIO_ALL;

	if (x->n <= nless)
		return text;
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	if (is_constant(x) || is_constant(y))
		integer_set(&c, 0);
	if (is_rounded(x) || is_rounded(y))
		places = least(x->places - range_magnitude(y), y->places - range_magnitude(x));
	integer_set(&denominator, (uint128)x->n * (x->n - nless));
	return text + ratio_format((struct ratio){&c, &denominator, x->scale + y->scale, false}, RATIO_ALL, places, text);
}

/* How many digits of a side's deviation are right; scatter: A or B, which is not 0. */
static int count_right(const struct side *side, const struct integer *scatter)
{
	struct integer square;

	integer_set(&square, (uint128)side->n * side->n);
	return statistic_ndigits(side->places, (struct ratio){scatter, &square, 2 * side->scale, true});
}

static char *pair_corr(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer a, b, c, numerator, denominator;
	int ndigits;

	if (x->n < 2)
		return text;
	scatter(x->n, &x->squares, &x->sum, &x->sum, &a);
	scatter(y->n, &y->squares, &y->sum, &y->sum, &b);
	if (integer_is_zero(&a) || integer_is_zero(&b))
		return text; /* a constant */
	ndigits = least(count_right(x, &a), count_right(y, &b));
	if (ndigits <= 0)
		return text; /* a constant but for errors */
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	integer_multiply(&numerator, &c, &c);
	numerator.negative = c.negative;
	integer_multiply(&denominator, &a, &b);
	return text + ratio_format((struct ratio){&numerator, &denominator, 0, true}, RATIO_ALL, ndigits + 1, text); /* wrong by a 10th of a unit */
}

/* The least squares line y = a + b x: b = C / A. */
struct line {
	struct integer x_scatter, scatter; /* A and C */
};

/* Returns false where x is constant, perhaps but for errors. */
static bool find_line(const struct pair_sums *s, struct line *line)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];

	scatter(x->n, &x->squares, &x->sum, &x->sum, &line->x_scatter);
	if (integer_is_zero(&line->x_scatter) || count_right(x, &line->x_scatter) <= 0)
		return false;
	scatter(x->n, &s->products, &x->sum, &y->sum, &line->scatter);
	if (is_constant(y))
		integer_set(&line->scatter, 0);
	return true;
}

/* How many digits after the point are right of b, or of b times the mean of x: by the errors of C, and by those of A. */
static int line_places(const struct pair_sums *s, const struct line *line, bool times_mean)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer factor, divisor, product;
	int places;

	if ((!is_rounded(x) && !is_rounded(y)) || (times_mean && integer_is_zero(&x->sum)))
		return RATIO_ALL;
	integer_set(&factor, x->n);
	integer_set(&product, x->n);
	integer_multiply(&divisor, &factor, &line->x_scatter);
	if (times_mean)
		integer_copy(&product, &x->sum);
	integer_multiply(&factor, &product, &line->scatter);
	integer_multiply_short(&product, x->n);
	places = least(x->places - range_magnitude(y), y->places - range_magnitude(x)) -
		 ratio_magnitude((struct ratio){&product, &line->x_scatter, times_mean ? -x->scale : -2 * x->scale, false});
	if (integer_is_zero(&factor))
		return places;
	return least(places, count_right(x, &line->x_scatter) -
				     ratio_magnitude((struct ratio){&factor, &divisor, times_mean ? y->scale : y->scale - x->scale, false}));
}

static char *pair_slope(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct line line;

	if (!find_line(s, &line))
		return text;
	return text + ratio_format((struct ratio){&line.scatter, &line.x_scatter, y->scale - x->scale, false}, RATIO_ALL,
				   line_places(s, &line, false), text);
}

/* a = (sum(y) sum(x x) - sum(x) sum(x y)) / A, the mean of y minus b times that of x. */
static char *pair_intercept(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer numerator, rest;
	struct line line;
	int places;

	if (!find_line(s, &line))
		return text;
	places = least(y->places, line_places(s, &line, true));
	if (is_rounded(x) && !integer_is_zero(&line.scatter))
		places = least(places, x->places - ratio_magnitude((struct ratio){&line.scatter, &line.x_scatter, y->scale - x->scale, false}));
	integer_multiply(&numerator, &y->sum, &x->squares);
	integer_multiply(&rest, &x->sum, &s->products);
	integer_add(&numerator, &rest, true);
	return text + ratio_format((struct ratio){&numerator, &line.x_scatter, y->scale, false}, RATIO_ALL, places, text);
}

/* Makes *x, which is not negative, the larger of both sizes. */
static void keep_larger(struct integer *x, struct integer *y)
{
	y->negative = false;
	if (integer_compare(x, y) < 0)
		integer_copy(x, y);
}

/* How many digits after the point the weights leave right of the mean, by n times the largest deviation from it. */
static int count_places_by_weights(const struct pair_sums *s)
{
	const struct side *x = &s->sides[PAIR_X], *weights = &s->sides[PAIR_Y];
	const struct exact *const ends[] = {&x->numbers.min, &x->numbers.max};
	struct integer largest, end, deviation, square; /* times the sum of the weights */

	integer_set(&largest, 0);
	for (int i = 0; i < 2; i++) {
		exact_to_integer(ends[i], x->scale, &end);
		integer_multiply(&deviation, &end, &weights->sum);
		integer_add(&deviation, &s->products, true);
		keep_larger(&largest, &deviation);
	}
	if (integer_is_zero(&largest))
		return RATIO_ALL;
	integer_multiply_short(&largest, x->n);
	integer_multiply(&square, &weights->sum, &weights->sum);
	return weights->places - ratio_magnitude((struct ratio){&largest, &square, x->scale - weights->scale, false});
}

/* Like that for the weighted numbers. The sizes of weights of both signs add up to n of the largest at most. */
static int count_places_by_numbers(const struct pair_sums *s)
{
	const struct side *x = &s->sides[PAIR_X], *weights = &s->sides[PAIR_Y];
	struct integer min, max;

	exact_to_integer(&weights->numbers.min, weights->scale, &min);
	exact_to_integer(&weights->numbers.max, weights->scale, &max);
	if (!min.negative || max.negative || integer_is_zero(&max))
		return x->places;
	keep_larger(&max, &min);
	integer_multiply_short(&max, x->n);
	return x->places - ratio_magnitude((struct ratio){&max, &weights->sum, 0, false});
}

static char *pair_wmean(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *weights = &s->sides[PAIR_Y];
	int places = RATIO_ALL;

	if (integer_is_zero(&weights->sum) || is_noise(weights))
		return text;
	if (is_rounded(weights))
		places = count_places_by_weights(s);
	if (is_rounded(x))
		places = least(places, count_places_by_numbers(s));
	return text + ratio_format((struct ratio){&s->products, &weights->sum, x->scale, false}, RATIO_ALL, places, text);
}

/* ---- by operation ---- */

void statistic_moments(const struct column_partial *column, uint64_t npresent, bool has_texts,
		       struct column_moments *out)
{
	out->npresent = npresent;
	out->ranks = NULL;
#define CELL(id, type, ops, name) out->name = moments_cell(&column->moments, CELL_##id);
	MOMENT_CELLS(CELL)
#undef CELL
	if (!has_texts)
		out->text_keys = NULL;
	numbers_get(&column->numbers, &out->numbers);
}

const char *statistic_end_text(enum operation operation, const struct column_moments *m, bool is_text)
{
	return m->ends ? ends_text(m->ends, operation == OPERATION_LAST, is_text) : NULL;
}

/* What computes an operation, by its kind. */
static const union {
	statistic_formula *number;
	statistic_text_formula *text;
	pair_formula *pair;
} formulas[NOPERATIONS] = {
#define BY(formula) {.number = formula}
#define COUNT_BY(formula) {.number = formula}
#define TEXT_BY(formula) {.text = formula}
#define PAIR_BY(formula) {.pair = formula}
#define SYMMETRIC_BY(formula) {.pair = formula}
#define SHOWS(new_column) {NULL}
#define SHOWS_COUNT(new_column) {NULL}
#define OPERATION(id, kind, name, argument, title, needs, result, help) [OPERATION_##id] = result,
#include "query/options.def"
};

char *statistic_format(enum operation operation, struct column_moments *m, char text[STATISTIC_TEXT_NBYTES])
{
	m->operation = operation;
	text = formulas[operation].number(m, text);
	*text = '\0';
	return text;
}

bool statistic_text(enum operation operation, struct column_moments *m, struct key_found *out)
{
	m->operation = operation;
	return formulas[operation].text(m, out);
}

char *pair_statistic_format(enum operation operation, const struct column_moments sides[PAIR_NSIDES],
			    const struct pair *pair, char text[STATISTIC_TEXT_NBYTES])
{
	const struct exact products = pair->products;
	struct group_sums alone;
	struct pair_sums sums; /* large: not zeroed */

	sums.operation = operation;
	for (int i = 0; i < PAIR_NSIDES; i++)
		read_side(&sides[i], pair_alone(pair, i, &alone), operation_needs(operation) & MOMENT_SQUARES, &sums.sides[i]);
	exact_to_integer(&products, sums.sides[PAIR_X].scale + sums.sides[PAIR_Y].scale, &sums.products);
	text = formulas[operation].pair(&sums, text);
	*text = '\0';
	return text;
}

char *pair_statistic_format_total(enum operation operation, const struct plan *plan, const struct partial *total, size_t p,
				  char text[STATISTIC_TEXT_NBYTES])
{
	const size_t columns[PAIR_NSIDES] = {plan->pairs[p].x, plan->pairs[p].y};
	struct column_moments sides[PAIR_NSIDES];

	for (int i = 0; i < PAIR_NSIDES; i++)
		statistic_moments(&total->columns[columns[i]], 0, false, &sides[i]);
	return pair_statistic_format(operation, sides, &total->pairs[p], text);
}
