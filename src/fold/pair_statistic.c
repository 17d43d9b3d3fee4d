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
 */
#include "fold/pair_statistic.h"

#include "fold/moment.h"
#include "fold/pair.h"

/* One column's sums over the records that have both values. */
struct side {
	uint64_t n;
	int scale;              /* a multiple of WIDE_LIMB_DIGITS; no number has more digits after the point */
	struct integer sum;     /* x 10^scale */
	struct natural squares; /* x 10^(2 scale), if they are asked for */
	bool is_noise, is_constant; /* the sum is 0, and the numbers are equal, but for the errors of rounded ones */
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
	struct wide negated;

	for (int i = 0; i < WIDE_NLIMBS; i++)
		negated.limb[i] = -y->limb[i];
	wide_add(x, &negated);
}

/* Whether the errors of n rounded numbers of a scale reach all digits of x. */
static bool is_noise(const struct wide *x, int scale, uint64_t n)
{
	struct natural digits;

	if (!wide_scale_is_rounded(scale))
		return false;
	natural_set_limbs(&digits, x->limb, WIDE_NLIMBS);
	return natural_ndigits(&digits) <= WIDE_POINT * WIDE_LIMB_DIGITS - wide_sum_places(scale, n);
}

/* Reads a side: the column's numbers less those alone. needs: see struct plan_pair. */
static void read_side(const struct column_partial *column, const struct column_partial *alone,
		      unsigned needs, struct side *out)
{
	struct wide_fold numbers, lone = {.count = 0};
	const struct squares *squares = moments_cell(&column->moments, CELL_SQUARES);
	int from;

	column_numbers(column, &numbers);
	if (alone)
		column_numbers(alone, &lone);
	out->n = numbers.count - lone.count;
	out->scale = integer_limb_scale(numbers.scale);
	from = WIDE_POINT - out->scale / WIDE_LIMB_DIGITS; /* limbs below it are 0 */
	if (lone.count)
		subtract(&numbers.sum, &lone.sum);
	out->is_noise = is_noise(&numbers.sum, numbers.scale, numbers.count);
	subtract(&numbers.max, &numbers.min);
	out->is_constant = is_noise(&numbers.max, numbers.scale, numbers.count);
	out->sum.negative = natural_set_limbs(&out->sum.magnitude, numbers.sum.limb + from,
					      WIDE_NLIMBS - from);
	if (!(needs & MOMENT_SQUARES))
		return;
	squares_sum(squares, out->scale, &out->squares);
	if (lone.count) {
		struct natural rest;
		squares_sum(moments_cell(&alone->moments, CELL_SQUARES), out->scale, &rest);
		natural_subtract(&out->squares, &rest);
	}
}

static void read_pair(const struct plan_pair *plan, const struct partial *total,
		      const struct pair_partial *p, struct pair_sums *out)
{
	const size_t columns[PAIR_NSIDES] = {plan->x, plan->y};

	for (int i = 0; i < PAIR_NSIDES; i++)
		read_side(&total->columns[columns[i]], p->alone[i], plan->needs, &out->sides[i]);
	out->products.negative = pair_products(p, out->sides[0].scale + out->sides[1].scale,
					       &out->products.magnitude);
}

/* *out = a b */
static void multiply(struct integer *out, const struct integer *a, const struct integer *b)
{
	out->negative = a->negative != b->negative;
	natural_multiply(&out->magnitude, &a->magnitude, &b->magnitude);
}

/* *out = n times the sum of products, less the product of the sums */
static void scatter(uint64_t n, const struct integer *products, const struct integer *x_sum,
		    const struct integer *y_sum, struct integer *out)
{
	struct integer count = {.negative = false}, product;

	natural_set(&count.magnitude, n);
	multiply(out, products, &count);
	multiply(&product, x_sum, y_sum);
	integer_add(out, &product, true);
}

/* A or B: n times the sum of squares, less the square of the sum. */
static void scatter_of_side(const struct side *side, struct integer *out)
{
	const struct integer squares = {false, side->squares};

	scatter(side->n, &squares, &side->sum, &side->sum, out);
}

/* ---- formulas ---- */

/* The covariance with divisor n - nless. */
static void format_cov(const struct pair_sums *s, unsigned nless, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct natural denominator;
	struct integer c;

	if (x->n <= nless)
		return;
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	if (x->is_constant || y->is_constant)
		natural_set(&c.magnitude, 0);
	natural_set(&denominator, (uint128)x->n * (x->n - nless));
	ratio_format(c.negative, &c.magnitude, &denominator, x->scale + y->scale, text);
}

static void pair_cov(const struct pair_sums *s, char *text)
{
	format_cov(s, 1, text);
}

static void pair_cov_pop(const struct pair_sums *s, char *text)
{
	format_cov(s, 0, text);
}

static void pair_corr(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *y = &s->sides[PAIR_Y];
	struct natural numerator, denominator;
	struct integer a, b, c;

	if (x->n < 2 || x->is_constant || y->is_constant)
		return;
	scatter_of_side(x, &a);
	scatter_of_side(y, &b);
	if (a.magnitude.nlimbs == 0 || b.magnitude.nlimbs == 0)
		return; /* a constant */
	scatter(x->n, &s->products, &x->sum, &y->sum, &c);
	natural_multiply(&numerator, &c.magnitude, &c.magnitude);
	natural_multiply(&denominator, &a.magnitude, &b.magnitude);
	if (c.negative && c.magnitude.nlimbs)
		*text++ = '-';
	ratio_sqrt_format(&numerator, &denominator, 0, text);
}

static void pair_wmean(const struct pair_sums *s, char *text)
{
	const struct side *x = &s->sides[PAIR_X], *weights = &s->sides[PAIR_Y];

	if (weights->sum.magnitude.nlimbs == 0 || weights->is_noise)
		return;
	ratio_format(s->products.negative != weights->sum.negative, &s->products.magnitude,
		     &weights->sum.magnitude, x->scale, text);
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
