/* SPDX-License-Identifier: MIT
 *
 * quantile.c - see quantile.h.
 *
 * With D = 100 x 10^nplaces, numerator P, and (n - 1) P = k D + r, the percentile is
 * ((D - r) x[k] + r x[k + 1]) / D: an integer at D's scale more than the column's.
 */
#include "fold/quantile.h"

#include <stdlib.h>

#include "base/cores.h"
#include "fold/result.h"
#include "number/integer.h"
#include "number/decimal_text.h"
#include "query/summary.h"

#define PLACED int64_t
#define PLACED_NAME(name) name##_64
#include "fold/put_in_place.h"

#define RANKS_A_RESULT 4 /* of an interquartile range; others have 2 */

/* The percentiles that a result is: the upper one, less the lower one where it has one. */
struct quantile {
	struct percentile upper, lower;
	bool has_lower;
};

/* percentile: of --pNN. */
static struct quantile quantile_of(enum operation operation, struct percentile percentile)
{
	if (operation == OPERATION_IQR)
		return (struct quantile){{75, 0}, {25, 0}, true};
	return (struct quantile){operation == OPERATION_MEDIAN ? (struct percentile){50, 0} : percentile, {0, 0}, false};
}

/* ---- ranks ---- */

/* A percentile's place among n > 0 numbers: rest / divisor of the way from a rank to the next. */
struct place {
	uint64_t rank, rest, divisor;
};

static struct place place_of(struct percentile p, uint64_t n)
{
	uint64_t divisor = 100 * (uint64_t)decimal_shift(1, p.nplaces);
	uint128 h = (uint128)(n - 1) * p.numerator;

	return (struct place){(uint64_t)(h / divisor), (uint64_t)(h % divisor), divisor};
}

/* Adds the ranks of a percentile. */
static void add_ranks(struct ranks *r, struct percentile p, uint64_t n)
{
	struct place place = place_of(p, n);

	r->at[r->n++].rank = place.rank;
	if (place.rest)
		r->at[r->n++].rank = place.rank + 1;
}

static int compare_ranks(const void *a, const void *b)
{
	uint64_t x = ((const struct ranked *)a)->rank, y = ((const struct ranked *)b)->rank;

	return (x > y) - (x < y);
}

/* Sorts the ranks and leaves out what is there twice. */
static void sort_ranks(struct ranks *r)
{
	size_t n = 0;

	qsort(r->at, r->n, sizeof *r->at, compare_ranks);
	for (size_t i = 0; i < r->n; i++)
		if (i == 0 || r->at[i].rank != r->at[n - 1].rank)
			r->at[n++].rank = r->at[i].rank;
	r->n = n;
}

void ranks_extent(const struct wide_fold *numbers, struct values_extent *out)
{
	*out = (struct values_extent){numbers->count, numbers->scale, &numbers->min, &numbers->max};
}

int ranks_nthreads(const struct query *q)
{
	return q->nthreads ? q->nthreads : cores_count();
}

enum status ranks_select(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks)
{
	enum status status = STATUS_OK;
	struct wide_fold numbers;
	struct values_extent extent;

	for (size_t c = 0; ranks && c < q->plan.ncolumns && status == STATUS_OK; c++) {
		const struct column_partial *column = &total->columns[c];
		if (ranks[c].n == 0)
			continue;
		column_numbers(column, &numbers);
		ranks_extent(&numbers, &extent);
		status = values_select(moments_cell(&column->moments, CELL_VALUES), &extent,
				       nthreads, ranks[c].at, ranks[c].n);
	}
	return status;
}

static bool needs_ranks(const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs & MOMENT_VALUES)
			return true;
	return false;
}

/* Lists the ranks of an operation on a column of n numbers. */
static enum status list_ranks(struct ranks *r, enum operation operation,
			      struct percentile percentile, uint64_t n)
{
	const struct quantile q = quantile_of(operation, percentile);
	struct ranked *grown;

	if (operation_kind(operation) != OPERATION_REDUCE || !(operation_needs(operation) & MOMENT_VALUES) || n == 0)
		return STATUS_OK; /* a histogram, a table, takes values and no ranks */
	grown = realloc(r->at, (r->n + RANKS_A_RESULT) * sizeof *grown);
	if (!grown)
		return STATUS_NO_MEMORY;
	r->at = grown;
	add_ranks(r, q.upper, n);
	if (q.has_lower)
		add_ranks(r, q.lower, n);
	return STATUS_OK;
}

/* Lists the ranks of a column of the summary. */
static enum status list_summary_ranks(struct ranks *r, uint64_t n)
{
	enum status status = STATUS_OK;

	for (const struct summary_column *s = summary_columns; s->name && status == STATUS_OK; s++)
		if (s->of_numbers != NOPERATIONS)
			status = list_ranks(r, s->of_numbers, s->percentile, n);
	return status;
}

enum status ranks_list(const struct query *q, const struct partial *total, struct ranks **out)
{
	struct ranks *ranks = *out = NULL;
	enum status status = STATUS_OK;

	if (!needs_ranks(&q->plan))
		return STATUS_OK;
	ranks = *out = calloc(q->plan.ncolumns + 1, sizeof *ranks);
	if (!ranks)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; !q->summary && i < q->nresults && status == STATUS_OK; i++) {
		const struct result *r = &q->results[i];
		status = list_ranks(&ranks[r->column], r->operation, q->uses[r->use].percentile,
				    result_nnumbers(&total->columns[r->column]));
	}
	for (size_t c = 0; q->summary && c < q->plan.ncolumns && status == STATUS_OK; c++)
		status = list_summary_ranks(&ranks[c], result_nnumbers(&total->columns[c]));
	for (size_t c = 0; c < q->plan.ncolumns && status == STATUS_OK; c++)
		if (ranks[c].n > 0)
			sort_ranks(&ranks[c]);
	return status;
}

void ranks_free(struct ranks *ranks, size_t ncolumns)
{
	for (size_t c = 0; ranks && c < ncolumns; c++)
		free(ranks[c].at);
	free(ranks);
}

static const struct wide *value_at(const struct ranks *r, uint64_t rank)
{
	const struct ranked wanted = {.rank = rank}, *found;

	found = bsearch(&wanted, r->at, r->n, sizeof *r->at, compare_ranks);
	return &found->value;
}

/* ---- values ---- */

/* *out = the percentile x 10^limb_scale x its divisor, which is added up of numbers of *size in all; m has
 * numbers. */
static void set_percentile(const struct column_moments *m, struct percentile p, struct integer *out,
			   struct natural *size)
{
	struct place place = place_of(p, m->numbers.count);
	int scale = integer_limb_scale(m->numbers.scale);
	struct integer next;

	integer_set_product(out, value_at(m->ranks, place.rank), place.divisor - place.rest, scale);
	*size = out->magnitude;
	if (place.rest == 0)
		return;
	integer_set_product(&next, value_at(m->ranks, place.rank + 1), place.rest, scale);
	integer_add(out, &next, false);
	natural_add(size, &next.magnitude);
}

/* Writes x 10^-scale, which was added up of the column's numbers, of size in all: where one was rounded, in the
 * digits that are right. */
static void format_value(const struct column_moments *m, const struct integer *x, const struct natural *size, int scale,
			 char *text)
{
	struct natural one;

	if (!wide_scale_is_rounded(m->numbers.scale)) {
		integer_format(x, scale, m->numbers.scale, text);
		return;
	}
	natural_set(&one, 1);
	ratio_format_known(x->negative, &x->magnitude, &one, scale,
			   QUOTIENT_NRIGHT + natural_ndigits(&x->magnitude) - natural_ndigits(size), text);
}

static void format_quantile(const struct column_moments *m, enum operation operation, char *text)
{
	const struct quantile q = quantile_of(operation, m->percentile);
	struct natural size, lower_size;
	struct integer x, lower;

	if (m->numbers.count == 0)
		return;
	set_percentile(m, q.upper, &x, &size);
	if (q.has_lower) {
		set_percentile(m, q.lower, &lower, &lower_size);
		integer_add(&x, &lower, true);
		natural_add(&size, &lower_size);
	}
	format_value(m, &x, &size, integer_limb_scale(m->numbers.scale) + 2 + q.upper.nplaces, text);
}

void quantile_median(const struct column_moments *m, char *text)
{
	format_quantile(m, OPERATION_MEDIAN, text);
}

void quantile_percentile(const struct column_moments *m, char *text)
{
	format_quantile(m, OPERATION_PERCENTILE, text);
}

void quantile_iqr(const struct column_moments *m, char *text)
{
	format_quantile(m, OPERATION_IQR, text);
}

/* ---- few numbers in memory ---- */

/* *out = the percentile x its divisor. */
static void set_short(struct percentile p, int64_t *x, uint64_t n, int128 *out)
{
	struct place place = place_of(p, n);
	ptrdiff_t k = (ptrdiff_t)place.rank, last = (ptrdiff_t)n - 1;

	put_in_place_64(x, 0, last, k);
	*out = (int128)x[k] * (int64_t)(place.divisor - place.rest);
	if (place.rest == 0)
		return;
	put_in_place_64(x, k + 1, last, k + 1);
	*out += (int128)x[k + 1] * (int64_t)place.rest;
}

char *quantile_write_short(enum operation operation, struct percentile percentile, int64_t *x, uint64_t n, int scale,
			   char *to)
{
	const struct quantile q = quantile_of(operation, percentile);
	int more = 2 + q.upper.nplaces;
	int128 value, low = 0;

	if (scale + more > DECIMAL_POWER_MAX)
		return NULL;
	if (q.has_lower)
		set_short(q.lower, x, n, &low);
	set_short(q.upper, x, n, &value);
	value -= low;
	for (; more > 0 && value % 10 == 0; more--)
		value /= 10;
	return decimal_write(to, value, scale + more);
}
