/* SPDX-License-Identifier: MIT
 *
 * histogram.c - see histogram.h.
 *
 * A number's bin is floor((x - first) / width), where first, the least bin's begin, is the largest
 * multiple of the width that is no greater than any number. Numbers, first and width are integers at
 * one scale: of 128 bits where that suffices, else of any size.
 */
#include "fold/histogram.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/result.h"
#include "fold/device_run.h"
#include "fold/values_select.h"

#define NCOLUMNS 3
#define TEXT_NBYTES (INTEGER_NDIGITS + 512)

/* Where the bins lie. */
struct bins {
	struct integer first; /* begin of the first bin, x 10^places */
	struct integer width;
	int places, width_scale;
	size_t n;
	bool is_small;  /* all numbers fit in 128 bits at the scale below */
	int scale;
	int128 first128, width128;
};

/* One thread's counts. */
struct bin_counts {
	const struct bins *bins;
	uint64_t *counts; /* bins->n; owned */
	bool lies_beyond; /* some number: only of a part that gpustat did not write */
};

/* ---- where the bins lie ---- */

/* *x becomes the largest multiple of the width, which is positive, that is not greater. */
static void round_down(struct integer *x, const struct integer *width)
{
	struct integer rest, quotient;

	integer_copy(&rest, x);
	integer_divide(&rest, width, &quotient);
	integer_add(x, &rest, true);
	if (rest.negative && !integer_is_zero(&rest))
		integer_add(x, width, true);
}

/* The number of bins, or HISTOGRAM_NBINS_MAX + 1 if there are more. max: of the numbers. */
static size_t count_bins(const struct bins *b, const struct exact *max)
{
	struct integer range, quotient;

	exact_to_integer(max, b->places, &range);
	integer_add(&range, &b->first, true);
	integer_divide(&range, &b->width, &quotient);
	if (quotient.nlimbs > 1 || integer_low(&quotient) >= HISTOGRAM_NBINS_MAX)
		return HISTOGRAM_NBINS_MAX + 1;
	return (size_t)integer_low(&quotient) + 1;
}

/* Sets what small bins have, if they are. scale: of the numbers and the width. */
static void set_small(struct bins *b, const struct exact *max, int scale)
{
	const struct exact first = exact_view(&b->first, b->places), width = exact_view(&b->width, b->places);
	const int128 most = DECIMAL_INT128_MAX / 4;
	int128 max128;

	b->scale = scale;
	b->is_small = exact_to_int128(&first, scale, &b->first128) && exact_to_int128(&width, scale, &b->width128) &&
		      exact_to_int128(max, scale, &max128) && b->first128 > -most && b->width128 < most && max128 < most;
}

/* numbers: of the column, at least one. */
static void bins_set(struct bins *b, const struct number_sums *numbers, struct decimal width)
{
	int scale = numbers->scale > width.scale ? numbers->scale : width.scale;

	b->places = exact_places(scale);
	b->width_scale = width.scale;
	exact_to_integer(&(struct exact){.value = width.significand, .scale = width.scale}, b->places, &b->width);
	exact_to_integer(&numbers->min, b->places, &b->first);
	round_down(&b->first, &b->width);
	b->n = count_bins(b, &numbers->max);
	set_small(b, &numbers->max, scale);
}

/* ---- counting ---- */

/* Counts numbers, whose bins are those. */
static void count(struct bin_counts *c, const size_t *bins, size_t n)
{
	size_t last = 0;

	for (size_t i = 0; i < n; i++)
		last = bins[i] > last ? bins[i] : last;
	c->lies_beyond |= last >= c->bins->n;
	for (size_t i = 0; i < n && !c->lies_beyond; i++)
		c->counts[bins[i]]++;
}

static size_t bin_of128(const struct bins *b, int128 x)
{
	uint128 distance = (uint128)(x - b->first128), width = (uint128)b->width128, bin;

	if (distance >> 64 == 0 && width >> 64 == 0) /* as in most columns: divided several times as fast */
		return (size_t)((uint64_t)distance / (uint64_t)width);
	bin = distance / width;
	return bin < b->n ? (size_t)bin : b->n;
}

static void count_small(struct bin_counts *c, struct values_cursor *at)
{
	int128 x[VALUES_BATCH];
	size_t bins[VALUES_BATCH], n;

	while ((n = values_next128(at, c->bins->scale, x)) > 0) {
		for (size_t i = 0; i < n; i++)
			bins[i] = bin_of128(c->bins, x[i]);
		count(c, bins, n);
	}
}

/* The bin of a number; b->n: it is below the first. */
static size_t bin_of_long(const struct bins *b, const struct exact *x)
{
	struct integer distance, quotient;

	exact_to_integer(x, b->places, &distance);
	integer_add(&distance, &b->first, true);
	if (distance.negative && !integer_is_zero(&distance))
		return b->n;
	integer_divide(&distance, &b->width, &quotient);
	return (size_t)integer_low(&quotient);
}

static void count_long(struct bin_counts *c, struct values_cursor *at)
{
	struct exact x;
	size_t bin;

	while (values_next_exact(at, &x)) {
		bin = bin_of_long(c->bins, &x);
		count(c, &bin, 1);
	}
}

static void count_block(void *context, const struct values_block *block)
{
	struct bin_counts *c = context;
	struct values_cursor at = {.block = block};

	if (c->bins->is_small)
		count_small(c, &at);
	else
		count_long(c, &at);
}

/* Counts in all threads, and adds the counts to the first one's. Errors: STATUS_NO_MEMORY, STATUS_PART_DAMAGED. */
static enum status count_all(struct bin_counts *counts, int nthreads,
			     const struct values_blocks *blocks, const struct bins *bins)
{
	for (int i = 0; i < nthreads; i++) {
		counts[i] = (struct bin_counts){bins, calloc(bins->n, sizeof *counts[i].counts), false};
		NEED(counts[i].counts);
	}
	values_pass(blocks, nthreads, count_block, counts, sizeof *counts);
	for (int i = 0; i < nthreads; i++) {
		if (counts[i].lies_beyond)
			return STATUS_PART_DAMAGED;
		for (size_t k = 0; i > 0 && k < bins->n; k++)
			counts[0].counts[k] += counts[i].counts[k];
	}
	return STATUS_OK;
}

/* ---- the table ---- */

static enum status init_table(struct table *t, size_t nbins)
{
	static const char *const names[NCOLUMNS] = {"low", "high", "count"};

	TRY(table_init(t, NCOLUMNS, nbins));
	t->nlabels = 2;
	t->labels_are_bounds = true;
	for (size_t i = 0; i < NCOLUMNS * (nbins + 1); i++)
		t->names[i].is_number = true;
	for (size_t i = 0; i < NCOLUMNS; i++)
		NEED(t->names[i].text = strdup(names[i]));
	return STATUS_OK;
}

/* Writes the bins. The end of one is the begin of the next. */
static enum status write_bins(const struct bins *b, const uint64_t *counts, struct table *t)
{
	struct integer edge = b->first;
	char text[TEXT_NBYTES];

	for (size_t i = 0; i <= b->n; i++) {
		struct cell *row = t->cells + i * NCOLUMNS;
		integer_format(&edge, b->places, b->width_scale, text);
		integer_add(&edge, &b->width, false);
		if (i > 0 && !(row[-NCOLUMNS + 1].text = result_shown(OPERATION_HIST, text, strlen(text))))
			return STATUS_NO_MEMORY;
		if (i == b->n)
			break;
		NEED(row[0].text = result_shown(OPERATION_HIST, text, strlen(text)));
		snprintf(text, sizeof text, "%" PRIu64, counts[i]);
		NEED(row[2].text = result_shown(OPERATION_COUNT, text, strlen(text)));
	}
	return STATUS_OK;
}

static enum status fill(const struct query *q, const struct values *values,
			const struct bins *bins, struct table *t)
{
	struct values_blocks blocks;
	enum status status = values_blocks_list(values, &blocks);
	int nthreads = values_pass_nthreads(&blocks, q->nthreads ? q->nthreads : cores_count());
	struct bin_counts *counts = calloc((size_t)nthreads, sizeof *counts);

	if (!counts)
		status = STATUS_NO_MEMORY;
	THEN(status, count_all(counts, nthreads, &blocks, bins));
	THEN(status, write_bins(bins, counts[0].counts, t));
	for (int i = 0; counts && i < nthreads; i++)
		free(counts[i].counts);
	free(counts);
	values_blocks_free(&blocks);
	return status;
}

enum status histogram_table(const struct query *q, const struct partial *total, struct table *out,
			    struct fault *fault)
{
	const struct result *r = &q->results[0];
	const struct column_partial *column = &total->columns[r->column];
	struct number_sums numbers;
	struct bins bins = {0};
	enum status status;

	numbers_get(&column->numbers, &numbers);
	if (numbers.count > 0)
		bins_set(&bins, &numbers, q->uses[r->use].width);
	if (bins.n > HISTOGRAM_NBINS_MAX) {
		fault_set(fault, STATUS_MANY_BINS, 0, NULL);
		fault->column = q->plan.columns[r->column].name;
		return fault->status;
	}
	status = init_table(out, bins.n);
	if (status == STATUS_OK && !(out->title = result_heading_of(q, result_name(q, r))))
		status = STATUS_NO_MEMORY;
	THEN(status, values_bring_down(moments_cell(&column->moments, CELL_VALUES)));
	if (status == STATUS_OK && bins.n > 0)
		status = fill(q, moments_cell(&column->moments, CELL_VALUES), &bins, out);
	if (status == STATUS_OK)
		return STATUS_OK;
	table_free(out);
	return fault_set(fault, status, 0, NULL);
}
