/* SPDX-License-Identifier: MIT
 *
 * quantile.c - see quantile.h.
 *
 * With D = 100 x 10^nplaces, numerator P, and (n - 1) P = k D + r, the percentile is
 * ((D - r) x[k] + r x[k + 1]) / D: an integer at D's scale more than the column's.
 */
#include "fold/quantile.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/machine.h"
#include "fold/result.h"
#include "number/decimal_text.h"
#include "number/exact.h"
#include "number/quotient.h"
#include "query/query.h"

#define PLACED int64_t
#define PLACED_NAME(name) name##_64
#include "fold/put_in_place.h"

#define RANKS_A_RESULT 4 /* of an interquartile range; others have 2 */

/* The percentiles that a result is: the upper one, minus the lower one where it has one. */
struct quantile {
	struct percentile upper, lower;
	bool has_lower;
};

/* percentile: of --pNN. */
static struct quantile quantile_of(enum operation operation, struct percentile percentile)
{
	if (operation == OPERATION_MAD)
		return (struct quantile){{50, 0}, {0, 0}, false};
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

/* How many of n numbers a trimmed mean leaves out at each end. */
static uint64_t ntrimmed_of(struct percentile p, uint64_t n)
{
	return (uint64_t)((uint128)n * p.numerator / (100 * (uint64_t)decimal_shift(1, p.nplaces)));
}

static void add_rank(struct ranks *r, uint64_t rank, bool trims)
{
	r->at[r->n++] = (struct ranked){.rank = rank, .trims = trims};
}

/* Adds the ranks of a percentile. */
static void add_ranks(struct ranks *r, struct percentile p, uint64_t n)
{
	struct place place = place_of(p, n);

	add_rank(r, place.rank, false);
	if (place.rest)
		add_rank(r, place.rank + 1, false);
}

/* Adds those that a trimmed mean sums from and to: none where it leaves no number out. */
static void add_trim(struct ranks *r, struct percentile p, uint64_t n)
{
	uint64_t ntrimmed = ntrimmed_of(p, n);

	if (ntrimmed == 0)
		return;
	add_rank(r, ntrimmed, true);
	add_rank(r, n - 1 - ntrimmed, false);
}

/* Sorts the ranks and leaves out what is there twice. */
static void sort_ranks(struct ranks *r)
{
	size_t n = 0;

	qsort(r->at, r->n, sizeof *r->at, compare_uint64);
	for (size_t i = 0; i < r->n; i++)
		if (n > 0 && r->at[i].rank == r->at[n - 1].rank)
			r->at[n - 1].trims |= r->at[i].trims;
		else
			r->at[n++] = r->at[i];
	r->n = r->nwanted = n;
	r->wanted = r->at;
}

void ranks_extent(const struct ranks *r, const struct number_sums *numbers, struct values_extent *out)
{
	*out = (struct values_extent){numbers->count, numbers->scale, &numbers->min, &numbers->max,
				      r->wanted == r->distances ? &r->center : NULL};
}

int ranks_nthreads(const struct query *q)
{
	return q->nthreads ? q->nthreads : cores_count();
}

static enum status ranks_select(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks)
{
	struct number_sums numbers;
	struct values_extent extent;

	for (size_t c = 0; ranks && c < q->plan.ncolumns; c++) {
		const struct column_partial *column = &total->columns[c];
		if (!ranks[c].nwanted)
			continue;
		numbers_get(&column->numbers, &numbers);
		ranks_extent(&ranks[c], &numbers, &extent);
		TRY(values_select(moments_cell(&column->moments, CELL_VALUES), &extent, nthreads,
				  ranks[c].wanted, ranks[c].nwanted));
	}
	return STATUS_OK;
}

/* Makes room for nmore ranks. */
static bool grow(struct ranks *r, size_t nmore)
{
	struct ranked *grown = realloc(r->at, (r->n + nmore) * sizeof *grown);

	if (!grown)
		return false;
	r->at = grown;
	return true;
}

/* Lists the ranks of an operation on a column of n numbers. */
static enum status list_ranks(struct ranks *r, enum operation operation,
			      struct percentile percentile, uint64_t n)
{
	const struct quantile q = quantile_of(operation, percentile);

	if (operation_kind(operation) != OPERATION_REDUCE || !(operation_needs(operation) & MOMENT_VALUES) || n == 0)
		return STATUS_OK; /* a histogram, a table, takes values and no ranks */
	if (!grow(r, RANKS_A_RESULT))
		return STATUS_NO_MEMORY;
	if (operation == OPERATION_TRIMMED_MEAN) {
		add_trim(r, percentile, n);
		return STATUS_OK;
	}
	add_ranks(r, q.upper, n);
	if (q.has_lower)
		add_ranks(r, q.lower, n);
	r->has_deviation |= operation == OPERATION_MAD;
	return STATUS_OK;
}

/* Lists the ranks of a column of the summary. */
static enum status list_summary_ranks(struct ranks *r, uint64_t n)
{
	for (const struct summary_column *s = summary_columns; s->name; s++)
		if (s->of_numbers != NOPERATIONS)
			TRY(list_ranks(r, s->of_numbers, s->percentile, n));
	return STATUS_OK;
}

enum status ranks_list(const struct query *q, const struct partial *total, struct ranks **out)
{
	struct ranks *ranks = *out = NULL;

	if (!plan_needs(&q->plan, MOMENT_VALUES))
		return STATUS_OK;
	ranks = *out = calloc(q->plan.ncolumns + 1, sizeof *ranks);
	NEED(ranks);
	for (size_t i = 0; !q->summary && i < q->nresults; i++) {
		const struct result *r = &q->results[i];
		TRY(list_ranks(&ranks[r->column], r->operation, q->uses[r->use].percentile,
			       result_nnumbers(&total->columns[r->column])));
	}
	for (size_t c = 0; q->summary && c < q->plan.ncolumns; c++)
		TRY(list_summary_ranks(&ranks[c], result_nnumbers(&total->columns[c])));
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		if (ranks[c].n > 0)
			sort_ranks(&ranks[c]);
	return STATUS_OK;
}

static void free_ranked(struct ranked *x)
{
	exact_free(&x->value);
	exact_free(&x->trimmed);
}

static void free_ranks(struct ranks *r)
{
	for (size_t i = 0; i < r->n; i++)
		free_ranked(&r->at[i]);
	free(r->at);
	for (size_t i = 0; i < 2; i++)
		free_ranked(&r->distances[i]);
	exact_free(&r->center);
}

void ranks_free(struct ranks *ranks, size_t ncolumns)
{
	for (size_t c = 0; ranks && c < ncolumns; c++)
		free_ranks(&ranks[c]);
	free(ranks);
}

/* NULL: it is not listed. */
static const struct ranked *find_rank(const struct ranks *r, uint64_t rank)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->at[middle].rank == rank)
			return &r->at[middle];
		if (r->at[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct exact *value_at(const struct ranks *r, uint64_t rank)
{
	return &find_rank(r, rank)->value;
}

/* Goes on from the median of n numbers, which is known, to the distances from it, of which the median is wanted. Errors:
 * STATUS_NO_MEMORY. */
static enum status want_distances(struct ranks *r, uint64_t n)
{
	const uint64_t middle[] = {(n - 1) / 2, n / 2};

	TRY(exact_copy(&r->center, value_at(r, middle[0])));
	TRY(exact_add(&r->center, value_at(r, middle[1])));
	r->wanted = r->distances;
	r->nwanted = middle[0] == middle[1] ? 1 : 2;
	for (size_t i = 0; i < 2; i++)
		r->distances[i].rank = middle[i];
	return STATUS_OK;
}

enum status ranks_advance(struct ranks *ranks, const struct partial *total, bool *more)
{
	*more = false;
	for (size_t c = 0; ranks && c < total->ncolumns; c++) {
		struct ranks *r = &ranks[c];
		if (r->nwanted && r->has_deviation && r->wanted == r->at)
			TRY(want_distances(r, result_nnumbers(&total->columns[c])));
		else
			r->nwanted = 0;
		*more |= r->nwanted > 0;
	}
	return STATUS_OK;
}

enum status ranks_find(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks)
{
	bool more;

	do {
		TRY(ranks_select(q, total, nthreads, ranks));
		TRY(ranks_advance(ranks, total, &more));
	} while (more);
	return STATUS_OK;
}

/* ---- values ---- */

/* *out += factor x a number of the column, x 10^places; *size gets its magnitude more. */
static void add_number(const struct column_moments *m, struct integer *out, const struct exact *x, uint64_t factor,
		       bool subtract, struct integer *size)
{
	struct integer product;

	exact_to_integer(x, exact_places(m->numbers.scale), &product);
	integer_multiply_short(&product, factor);
	integer_add(out, &product, subtract);
	product.negative = false;
	integer_add(size, &product, false);
}

/* *out = the percentile x 10^places x its divisor, which is added up of numbers of *size in all; m has
 * numbers. */
static void set_percentile(const struct column_moments *m, struct percentile p, struct integer *out,
			   struct integer *size)
{
	struct place place = place_of(p, m->numbers.count);

	integer_set(out, 0);
	integer_set(size, 0);
	add_number(m, out, value_at(m->ranks, place.rank), place.divisor - place.rest, false, size);
	if (place.rest)
		add_number(m, out, value_at(m->ranks, place.rank + 1), place.rest, false, size);
}

/* Writes x 10^-scale, which was added up of the column's numbers, of size in all: where one was rounded, in the
 * digits that are right. */
static char *format_value(const struct column_moments *m, const struct integer *x, const struct integer *size, int scale,
			 char *text)
{
	struct integer one;

	if (!exact_scale_is_rounded(m->numbers.scale))
		return text + integer_format(x, scale, m->numbers.scale, text);
	integer_set(&one, 1);
	return text + ratio_format((struct ratio){x, &one, scale, false}, QUOTIENT_NRIGHT + integer_ndigits(x) - integer_ndigits(size),
				   RATIO_ALL, text);
}

char *quantile_format(const struct column_moments *m, char *text)
{
	const struct quantile q = quantile_of(m->operation, m->percentile);
	struct integer x, lower, size, lower_size;

	if (m->numbers.count == 0)
		return text;
	set_percentile(m, q.upper, &x, &size);
	if (q.has_lower) {
		set_percentile(m, q.lower, &lower, &lower_size);
		integer_add(&x, &lower, true);
		integer_add(&size, &lower_size, false);
	}
	return format_value(m, &x, &size, exact_places(m->numbers.scale) + 2 + q.upper.nplaces, text);
}

char *quantile_mad(const struct column_moments *m, char *text)
{
	const struct ranks *r = m->ranks;
	const uint64_t n = m->numbers.count;
	struct integer x, size, ignored;

	if (n == 0)
		return text;
	integer_set(&x, 0);
	integer_set(&size, 0);
	integer_set(&ignored, 0);
	for (size_t i = 0; i < 2; i++) { /* a fourth of both, of which no number is larger than the median and the distance */
		add_number(m, &x, &r->distances[i && n % 2 == 0].value, 25, false, &size);
		add_number(m, &ignored, value_at(r, (n - 1 + i) / 2), 100, false, &size);
	}
	return format_value(m, &x, &size, exact_places(m->numbers.scale) + 2, text);
}

char *quantile_trimmed_mean(const struct column_moments *m, char *text)
{
	const uint64_t n = m->numbers.count, ntrimmed = ntrimmed_of(m->percentile, n);

	const struct exact *sum = ntrimmed ? &find_rank(m->ranks, ntrimmed)->trimmed : &m->numbers.sum;

	return exact_write_mean(sum, m->numbers.scale, n - 2 * ntrimmed, text);
}

/* ---- few numbers in memory ---- */

/* 4 times the median of the distances of the numbers from their median; sorts them. */
static int128 short_deviation(int64_t *x, uint64_t n)
{
	const uint64_t nmore = (n - 1) / 2;
	uint64_t low = 0, high = n - nmore, above;
	int128 middle, distance[2];

	qsort(x, n, sizeof *x, compare_64);
	middle = (int128)x[nmore] + x[n / 2];
	while (low < high) {
		uint64_t a = low + (high - low) / 2;
		if ((int128)x[a] + x[a + nmore] < middle)
			low = a + 1;
		else
			high = a;
	}
	above = low + nmore;
	for (size_t i = 0; i < 2 - n % 2; i++)
		if (above == n || (low > 0 && middle - x[low - 1] < x[above]))
			distance[i] = middle - 2 * (int128)x[--low];
		else
			distance[i] = 2 * (int128)x[above++] - middle;
	return distance[0] + distance[n % 2 == 1 ? 0 : 1];
}

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

static char *write_trimmed_mean(struct percentile p, int64_t *x, uint64_t n, int scale, char *to)
{
	const uint64_t ntrimmed = ntrimmed_of(p, n);
	const ptrdiff_t first = (ptrdiff_t)ntrimmed, last = (ptrdiff_t)(n - 1 - ntrimmed);
	struct exact sum = {.scale = scale};

	put_in_place_64(x, 0, (ptrdiff_t)n - 1, first);
	put_in_place_64(x, first, (ptrdiff_t)n - 1, last);
	for (ptrdiff_t i = first; i <= last; i++)
		sum.value += x[i];
	return exact_write_mean(&sum, scale, n - 2 * ntrimmed, to);
}

char *quantile_write_short(enum operation operation, struct percentile percentile, int64_t *x, uint64_t n, int scale,
			   char *to)
{
	const struct quantile q = quantile_of(operation, percentile);
	int more = 2 + q.upper.nplaces;
	int128 value, low = 0;

	if (operation == OPERATION_TRIMMED_MEAN)
		return write_trimmed_mean(percentile, x, n, scale, to);
	if (scale + more > DECIMAL_POWER_MAX)
		return NULL;
	if (q.has_lower)
		set_short(q.lower, x, n, &low);
	if (operation == OPERATION_MAD)
		value = 25 * short_deviation(x, n);
	else
		set_short(q.upper, x, n, &value);
	value -= low;
	for (; more > 0 && value % 10 == 0; more--)
		value /= 10;
	return decimal_write(to, value, scale + more);
}
