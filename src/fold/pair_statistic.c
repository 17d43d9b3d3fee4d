/* SPDX-License-Identifier: MIT
 *
 * pair_statistic.c - the formulas. See pair_statistic.h.
 *
 * Over the n records with both values, with the sums Sx, Sy, Sxy, Sxx, Syy, all of them integers once
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
 * weighted by y is wrong by the sums of q |x - mean| and of p |y|, over that of y.
 */
#include "fold/pair_statistic.h"

#include "fold/moment.h"
#include "fold/pair.h"

/* One column's sums over the records that have both values. */
struct side {
	uint64_t n;
	struct wide_fold numbers; /* the column's, but for the sum */
	int places;             /* statistic_places of the numbers */
	int scale;              /* no number has more digits after the point */
	struct integer sum;     /* x 10^scale */
	struct integer squares; /* x 10^(2 scale), if they are asked for */
};

/* The sums of a pair. */
struct pair_sums {
	struct side sides[PAIR_NSIDES];
	struct integer products; /* x 10^(sum of the sides' scales) */
};

/* A formula: writes the statistic; nothing where it has no value. */
typedef void pair_formula(const struct pair_sums *s, char text[STATISTIC_TEXT_NBYTES]);

/* ---- sums ---- */

/* *x -= y */
static void subtract(struct wide *x, const struct wide *y)
{
	struct wide negated = *y;

	wide_negate(&negated);
	wide_add(x, &negated);
}

/* Reads a side: the column's numbers less those alone. needs: see struct plan_pair. */
static void read_side(const struct column_partial *column, const struct column_partial *alone,
		      unsigned needs, struct side *out)
{
	struct wide_fold *numbers = &out->numbers, lone = {.count = 0};
	const struct squares *squares = moments_cell(&column->moments, CELL_SQUARES);

	column_numbers(column, numbers);
	if (alone)
		column_numbers(alone, &lone);
	out->n = numbers->count - lone.count;
	out->places = statistic_places(numbers->scale);
	out->scale = wide_places(numbers->scale);
	if (lone.count)
		subtract(&numbers->sum, &lone.sum);
	wide_to_integer(&numbers->sum, out->scale, &out->sum);
	if (!(needs & MOMENT_SQUARES))
		return;
	squares_sum(squares, out->scale, &out->squares);
	if (lone.count) {
		struct integer rest;
		squares_sum(moments_cell(&alone->moments, CELL_SQUARES), out->scale, &rest);
		integer_add(&out->squares, &rest, true);
	}
}

static void read_pair(const struct plan_pair *plan, const struct partial *total,
		      const struct pair_partial *p, struct pair_sums *out)
{
	const size_t columns[PAIR_NSIDES] = {plan->x, plan->y};

	for (int i = 0; i < PAIR_NSIDES; i++)
		read_side(&total->columns[columns[i]], p->alone[i], plan->needs, &out->sides[i]);
	pair_products(p, out->sides[0].scale + out->sides[1].scale, &out->products);
}

/* *out = n times the sum of products, less the product of the sums; of a side with itself: A or B. */
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
	struct wide range = side->numbers.max;

	subtract(&range, &side->numbers.min);
	return wide_magnitude(&range);
}

/* Whether numbers differ by their errors alone. */
static bool is_constant(const struct side *side)
{
	return is_rounded(side) && range_magnitude(side) <= -side->places;
}

/* Whether the sum is not 0 for the errors alone. */
static bool is_noise(const struct side *side)
{
	return is_rounded(side) &&
	       wide_magnitude(&side->numbers.sum) <= -wide_sum_places(side->numbers.scale, side->numbers.count);
}

/* ---- formulas ---- */

/* The covariance with divisor n - nless. */
static void format_cov(const struct pair_sums *s, unsigned nless, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer c, denominator;
	int places = RATIO_ALL;

	if (x->n <= nless)
		return;
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	if (is_constant(x) || is_constant(y))
		integer_set(&c, 0);
	if (is_rounded(x) || is_rounded(y))
		places = least(x->places - range_magnitude(y), y->places - range_magnitude(x));
	integer_set(&denominator, (uint128)x->n * (x->n - nless));
	ratio_format((struct ratio){&c, &denominator, x->scale + y->scale, false}, RATIO_ALL, places, text);
}

static void pair_cov(const struct pair_sums *s, char *text)
{
	format_cov(s, 1, text);
}

static void pair_cov_pop(const struct pair_sums *s, char *text)
{
	format_cov(s, 0, text);
}

/* How many digits of a side's deviation are right; scatter: A or B, which is not 0. */
static int count_right(const struct side *side, const struct integer *scatter)
{
	struct integer square;

	integer_set(&square, (uint128)side->n * side->n);
	return statistic_ndigits(side->places, (struct ratio){scatter, &square, 2 * side->scale, true});
}

static void pair_corr(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct integer a, b, c, numerator, denominator;
	int ndigits;

	if (x->n < 2)
		return;
	scatter(x->n, &x->squares, &x->sum, &x->sum, &a);
	scatter(y->n, &y->squares, &y->sum, &y->sum, &b);
	if (integer_is_zero(&a) || integer_is_zero(&b))
		return; /* a constant */
	ndigits = least(count_right(x, &a), count_right(y, &b));
	if (ndigits <= 0)
		return; /* a constant but for errors */
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	integer_multiply(&numerator, &c, &c);
	numerator.negative = c.negative;
	integer_multiply(&denominator, &a, &b);
	ratio_format((struct ratio){&numerator, &denominator, 0, true}, RATIO_ALL, ndigits + 1, text); /* wrong by a 10th of a unit */
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
	const struct wide *const ends[] = {&x->numbers.min, &x->numbers.max};
	struct integer largest, end, deviation, square; /* times the sum of the weights */

	integer_set(&largest, 0);
	for (int i = 0; i < 2; i++) {
		wide_to_integer(ends[i], x->scale, &end);
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

	wide_to_integer(&weights->numbers.min, weights->scale, &min);
	wide_to_integer(&weights->numbers.max, weights->scale, &max);
	if (!min.negative || max.negative || integer_is_zero(&max))
		return x->places;
	keep_larger(&max, &min);
	integer_multiply_short(&max, x->n);
	return x->places - ratio_magnitude((struct ratio){&max, &weights->sum, 0, false});
}

static void pair_wmean(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *weights = &s->sides[PAIR_Y];
	int places = RATIO_ALL;

	if (integer_is_zero(&weights->sum) || is_noise(weights))
		return;
	if (is_rounded(weights))
		places = count_places_by_weights(s);
	if (is_rounded(x))
		places = least(places, count_places_by_numbers(s));
	ratio_format((struct ratio){&s->products, &weights->sum, x->scale, false}, RATIO_ALL, places, text);
}

void pair_statistic_format(enum operation operation, const struct plan *plan,
			   const struct partial *total, size_t p, char text[STATISTIC_TEXT_NBYTES])
{
	static pair_formula *const formulas[NOPERATIONS] = {
#define FORMULA_REDUCE(formula) NULL
#define FORMULA_TEXT(formula) NULL
#define FORMULA_PAIR(formula) formula
#define FORMULA_TABLE(formula) NULL
#define FORMULA_RECORDS(formula) NULL
#define FORMULA_RUNNING(new_column) NULL
#define FORMULA_OFFSET(new_column) NULL
#define FORMULA_LET(new_column) NULL
#define FORMULA_FIELDS(new_column) NULL
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
		[OPERATION_##id] = FORMULA_##kind(value),
#include "query/options.def"
	};
	struct pair_sums sums;

	*text = '\0';
	read_pair(&plan->pairs[p], total, &total->pairs[p], &sums);
	formulas[operation](&sums, text);
}

/* ---- short ones ---- */

static uint128 size_of(int128 x)
{
	return x < 0 ? -(uint128)x : (uint128)x;
}

/* n times the sum of products, less the product of the sums. Returns false where it does not fit. */
static bool scatter_short(const struct short_moments *x, const struct short_moments *y, int128 products, int128 *out)
{
	int128 product;

	return !__builtin_mul_overflow(products, (int128)x->count, out) && !__builtin_mul_overflow(x->sum, y->sum, &product) &&
	       !__builtin_sub_overflow(*out, product, out);
}

static char *write_cov(const struct short_moments *x, const struct short_moments *y, int128 products, unsigned nless, char *to)
{
	uint64_t denominator;
	int128 c;

	if (x->count <= nless)
		return to;
	if (__builtin_mul_overflow(x->count, x->count - nless, &denominator) ||
	    !scatter_short(x, y, products, &c))
		return NULL;
	return to + ratio_format_short(c < 0, size_of(c), denominator, x->scale + y->scale, to);
}

static char *write_corr(const struct short_moments *x, const struct short_moments *y, int128 products, char *to)
{
	int128 a, b, c;
	uint128 numerator, denominator;

	if (x->count < 2)
		return to;
	if (!statistic_scatter_short(x, &a) || !statistic_scatter_short(y, &b) || !scatter_short(x, y, products, &c))
		return NULL;
	if (a == 0 || b == 0)
		return to; /* a constant */
	if (__builtin_mul_overflow((uint128)a, (uint128)b, &denominator) || denominator > RATIO_SHORT_MAX ||
	    __builtin_mul_overflow(size_of(c), size_of(c), &numerator))
		return NULL;
	return to + ratio_sqrt_format_short(c < 0, numerator, denominator, 0, to);
}

static char *write_wmean(const struct short_moments *x, const struct short_moments *weights, int128 products, char *to)
{
	const uint128 sum = size_of(weights->sum);

	if (sum == 0)
		return to;
	if (sum >> 64)
		return NULL;
	return to + ratio_format_short((products < 0) != (weights->sum < 0), size_of(products), (uint64_t)sum, x->scale, to);
}

char *pair_statistic_write_short(enum operation operation, const struct short_moments sides[2], int128 products, char *to)
{
	const struct short_moments *x = &sides[PAIR_X], *y = &sides[PAIR_Y];

	switch (operation) {
	case OPERATION_COV:
	case OPERATION_COV_POP:
		return write_cov(x, y, products, operation == OPERATION_COV, to);
	case OPERATION_CORR:
		return write_corr(x, y, products, to);
	case OPERATION_WMEAN:
		return write_wmean(x, y, products, to);
	default:
		return NULL;
	}
}
