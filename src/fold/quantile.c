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
#include "number/decimal_text.h"
#include "number/exact.h"
#include "query/query.h"

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
	r->at[r->n].trims = trims;
	r->at[r->n++].rank = rank;
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
		if (n > 0 && r->at[i].rank == r->at[n - 1].rank)
			r->at[n - 1].trims |= r->at[i].trims;
		else
			r->at[n++] = r->at[i];
	r->n = n;
	r->is_wanted = n > 0;
}

void ranks_extent(const struct number_sums *numbers, struct values_extent *out)
{
	*out = (struct values_extent){numbers->count, numbers->scale, &numbers->min, &numbers->max};
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
		if (!ranks[c].is_wanted)
			continue;
		numbers_get(&column->numbers, &numbers);
		ranks_extent(&numbers, &extent);
		TRY(values_select(moments_cell(&column->moments, CELL_VALUES), &extent, nthreads,
				  ranks[c].at, ranks[c].n));
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

/* ---- the deviation from the median ---- */

/* Places of struct nearest that are tried at once. A pass over the numbers takes as long as there are ranks, so more would be
 * slower where the numbers are in memory. */
#define NPROBES 3

/* Adds the ranks of places between low and high, of all if they are few. */
static void add_probes(struct ranks *r, const struct nearest *d)
{
	uint64_t width = d->high - d->low, step = width / (NPROBES + 1) + 1;

	for (uint64_t a = d->low + (step > 1 ? step : 0); a < d->high; a += step) {
		add_rank(r, a, false);
		add_rank(r, a + d->nmore, false);
	}
}

/* Begins with the distances from the median of n > 0 numbers, whose ranks are listed. */
static bool begin_deviation(struct ranks *r, uint64_t n)
{
	if (r->has_deviation)
		return true;
	if (!grow(r, 2 * NPROBES))
		return false;
	r->has_deviation = true;
	r->count = n;
	r->nearest = (struct nearest){(n - 1) / 2, 0, n - (n - 1) / 2};
	add_probes(r, &r->nearest);
	return true;
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
	return operation != OPERATION_MAD || begin_deviation(r, n) ? STATUS_OK : STATUS_NO_MEMORY;
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

	if (!needs_ranks(&q->plan))
		return STATUS_OK;
	ranks = *out = calloc(q->plan.ncolumns + 1, sizeof *ranks);
	if (!ranks)
		return STATUS_NO_MEMORY;
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

void ranks_free(struct ranks *ranks, size_t ncolumns)
{
	for (size_t c = 0; ranks && c < ncolumns; c++)
		free(ranks[c].at);
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

static const struct wide *value_at(const struct ranks *r, uint64_t rank)
{
	return &find_rank(r, rank)->value;
}

/* Twice the median of r->count numbers is x[*low] + x[*high]. */
static void middle_of(const struct ranks *r, uint64_t *low, uint64_t *high)
{
	*low = (r->count - 1) / 2;
	*high = r->count / 2;
}

/* *out = x + y less twice the median; all are found. */
static void set_balance(const struct ranks *r, const struct wide *x, const struct wide *y, struct wide *out)
{
	uint64_t middle[2];

	middle_of(r, &middle[0], &middle[1]);
	wide_clear(out);
	for (size_t i = 0; i < 2; i++)
		for (int l = 0; l < WIDE_NLIMBS; l++)
			out->limb[l] -= value_at(r, middle[i])->limb[l];
	wide_add(out, x);
	wide_add(out, y);
}

/* Narrows the places by what is known of all that are tried. */
static void narrow(const struct ranks *r, struct nearest *d)
{
	struct wide balance, zero;

	wide_clear(&zero);
	for (size_t i = 0; i < r->n && r->at[i].rank < d->high; i++) {
		uint64_t a = r->at[i].rank;
		const struct ranked *other = a >= d->low ? find_rank(r, a + d->nmore) : NULL;
		if (!other)
			continue;
		set_balance(r, &r->at[i].value, &other->value, &balance);
		if (wide_compare(&balance, &zero) < 0)
			d->low = a + 1;
		else
			d->high = a;
	}
}

/* The ranks of the numbers that may be next to the nearest ones, of which the middle distances are two: returns how many. */
static size_t list_next(const struct ranks *r, uint64_t rank[4])
{
	const struct nearest *d = &r->nearest;
	size_t n = 0;

	for (uint64_t i = 1; i <= 2 && i <= d->low; i++)
		rank[n++] = d->low - i;
	for (uint64_t i = 0; i < 2 && i < r->count - d->low - d->nmore; i++)
		rank[n++] = d->low + d->nmore + i;
	return n;
}

/* Narrows the places of the distances, and lists the ranks that are needed next. What was found is found once more, which
 * costs less than to keep it apart. Sets r->is_wanted. */
static enum status narrow_deviation(struct ranks *r)
{
	const size_t nfound = r->n;
	bool is_missing = false;
	uint64_t next[4];
	size_t nnext;

	narrow(r, &r->nearest);
	if (!grow(r, 2 * NPROBES + 4))
		return STATUS_NO_MEMORY;
	add_probes(r, &r->nearest);
	nnext = r->n == nfound ? list_next(r, next) : 0;
	for (size_t i = 0; i < nnext; i++)
		is_missing |= !find_rank(r, next[i]);
	for (size_t i = 0; is_missing && i < nnext; i++)
		add_rank(r, next[i], false);
	r->is_wanted = r->n > nfound;
	if (r->is_wanted)
		sort_ranks(r);
	return STATUS_OK;
}

enum status ranks_narrow(struct ranks *ranks, size_t ncolumns, bool *more)
{
	*more = false;
	for (size_t c = 0; ranks && c < ncolumns; c++) {
		if (!ranks[c].is_wanted)
			continue;
		ranks[c].is_wanted = false;
		if (ranks[c].has_deviation)
			TRY(narrow_deviation(&ranks[c]));
		*more |= ranks[c].is_wanted;
	}
	return STATUS_OK;
}

enum status ranks_find(const struct query *q, const struct partial *total, int nthreads, struct ranks *ranks)
{
	bool more = ranks != NULL;

	while (more) {
		TRY(ranks_select(q, total, nthreads, ranks));
		TRY(ranks_narrow(ranks, q->plan.ncolumns, &more));
	}
	return STATUS_OK;
}

/* ---- values ---- */

/* *out += factor x a number of the column, x 10^places; *size gets its magnitude more. */
static void add_number(const struct column_moments *m, struct integer *out, const struct wide *x, uint64_t factor,
		       bool subtract, struct integer *size)
{
	struct integer product;

	wide_to_integer(x, wide_places(m->numbers.scale), &product);
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
static void format_value(const struct column_moments *m, const struct integer *x, const struct integer *size, int scale,
			 char *text)
{
	struct integer one;

	if (!wide_scale_is_rounded(m->numbers.scale)) {
		integer_format(x, scale, m->numbers.scale, text);
		return;
	}
	integer_set(&one, 1);
	ratio_format((struct ratio){x, &one, scale, false}, QUOTIENT_NRIGHT + integer_ndigits(x) - integer_ndigits(size), RATIO_ALL,
		     text);
}

void quantile_format(const struct column_moments *m, char *text)
{
	const struct quantile q = quantile_of(m->operation, m->percentile);
	struct integer x, lower, size, lower_size;

	if (m->numbers.count == 0)
		return;
	set_percentile(m, q.upper, &x, &size);
	if (q.has_lower) {
		set_percentile(m, q.lower, &lower, &lower_size);
		integer_add(&x, &lower, true);
		integer_add(&size, &lower_size, false);
	}
	format_value(m, &x, &size, wide_places(m->numbers.scale) + 2 + q.upper.nplaces, text);
}

/* *out = 50 times the distance of the number of a rank from the median: 50 x - 25 (x[low] + x[high]), or that with another
 * sign. */
static void set_distance(const struct column_moments *m, uint64_t rank, struct integer *out, struct integer *size)
{
	bool is_above = rank >= m->ranks->nearest.low;
	uint64_t middle[2];

	middle_of(m->ranks, &middle[0], &middle[1]);
	integer_set(out, 0);
	integer_set(size, 0);
	add_number(m, out, value_at(m->ranks, rank), 50, !is_above, size);
	for (size_t i = 0; i < 2; i++)
		add_number(m, out, value_at(m->ranks, middle[i]), 25, is_above, size);
}

void quantile_mad(const struct column_moments *m, char *text)
{
	struct integer x[2], now, size[2], size_now;
	uint64_t rank[4];
	size_t nranks, n = 0;

	if (m->numbers.count == 0)
		return;
	nranks = list_next(m->ranks, rank);
	for (size_t i = 0; i < nranks; i++) {
		set_distance(m, rank[i], &now, &size_now);
		if (n == 0 || integer_compare(&now, &x[0]) < 0) {
			x[1] = x[0];
			size[1] = size[0];
			x[0] = now;
			size[0] = size_now;
		} else if (n == 1 || integer_compare(&now, &x[1]) < 0) {
			x[1] = now;
			size[1] = size_now;
		}
		n++;
	}
	if (m->numbers.count % 2 == 1) { /* one is in the middle */
		x[1] = x[0];
		size[1] = size[0];
	}
	integer_add(&x[0], &x[1], false);
	integer_add(&size[0], &size[1], false);
	format_value(m, &x[0], &size[0], wide_places(m->numbers.scale) + 2, text);
}

void quantile_trimmed_mean(const struct column_moments *m, char *text)
{
	const uint64_t n = m->numbers.count, ntrimmed = ntrimmed_of(m->percentile, n);

	const int places = wide_places(m->numbers.scale);
	struct exact sum = m->numbers.sum;
	struct integer trimmed;

	if (ntrimmed) {
		wide_to_integer(&find_rank(m->ranks, ntrimmed)->trimmed, places, &trimmed);
		sum = exact_view(&trimmed, places);
	}
	*exact_write_mean(&sum, m->numbers.scale, n - 2 * ntrimmed, text) = '\0';
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
	for (size_t i = 0; i < 2; i++)
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
