/* SPDX-License-Identifier: MIT
 *
 * group.c - see group.h.
 */
#include "fold/group.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "fold/pair.h"
#include "number/decimal_text.h"

static bool has_extremes(const struct plan *plan, size_t c)
{
	return (plan->columns[c].needs & MOMENT_EXTREMES) != 0;
}

/* ---- the partial ---- */

static size_t rest_nbytes(const struct plan *plan)
{
	return sizeof(struct partial) + plan->ncolumns * sizeof(struct column_partial) +
	       plan->npairs * sizeof(struct pair_partial);
}

enum status group_need_rest(struct group *g, const struct plan *plan)
{
	if (g->rest)
		return STATUS_OK;
	if (!memory_take(rest_nbytes(plan)))
		return STATUS_MANY_KEYS;
	g->rest = malloc(sizeof *g->rest);
	if (g->rest && partial_init(g->rest, plan) == STATUS_OK)
		return STATUS_OK;
	free(g->rest);
	g->rest = NULL;
	memory_give(rest_nbytes(plan));
	return STATUS_NO_MEMORY;
}

void group_free(struct group *g, const struct plan *plan)
{
	if (!g->rest)
		return;
	partial_free(g->rest);
	free(g->rest);
	g->rest = NULL;
	memory_give(rest_nbytes(plan));
}

/* ---- cells ---- */

/* Multiplies *x by 10^nzeros. Returns false where it does not fit. */
static bool lengthen(int64_t *x, unsigned nzeros)
{
	return nzeros <= DECIMAL_NDIGITS &&
	       !__builtin_mul_overflow(*x, (int64_t)decimal_powers[nzeros], x);
}

static void set_scale(struct group_cell *cell, unsigned scale)
{
	cell->count_scale = group_cell_count(cell) | (uint64_t)scale << GROUP_COUNT_BITS;
}

/* Writes the cell's numbers with a larger scale. Returns false, and changes nothing, where they do not
 * fit. */
static bool cell_set_scale(struct group_cell *cell, bool extremes, unsigned scale)
{
	unsigned nzeros = scale - group_cell_scale(cell);
	int64_t sum = cell->sum, least = 0, greatest = 0;

	if (extremes) {
		least = cell->extremes[0];
		greatest = cell->extremes[1];
	}
	if (!lengthen(&sum, nzeros) || !lengthen(&least, nzeros) || !lengthen(&greatest, nzeros))
		return false;
	set_scale(cell, scale);
	cell->sum = sum;
	if (extremes) {
		cell->extremes[0] = least;
		cell->extremes[1] = greatest;
	}
	return true;
}

static struct decimal_bin cell_bin(const struct group_cell *cell, bool extremes)
{
	return (struct decimal_bin){cell->sum, extremes ? cell->extremes[0] : 0,
				    extremes ? cell->extremes[1] : 0};
}

/* Adds the cell's numbers to a column. Errors: STATUS_NO_MEMORY. */
static enum status cell_add_to(const struct group_cell *cell, bool extremes,
			       struct column_partial *column)
{
	struct decimal_bin bin = cell_bin(cell, extremes);

	if (group_cell_count(cell) == 0)
		return STATUS_OK;
	column->fast.count += group_cell_count(cell);
	return by_scale_add_bin(&column->fast, (int)group_cell_scale(cell), &bin);
}

/* Gives both numbers of the larger scale, of which an empty cell has any. Returns false where they do not
 * fit; *bin is then as it was. */
static bool align(struct group_cell *cell, bool extremes, struct decimal_bin *bin, unsigned *scale)
{
	int64_t sum = (int64_t)bin->sum, least = bin->min, greatest = bin->max;
	unsigned nzeros = group_cell_scale(cell) - *scale;

	if (group_cell_count(cell) == 0)
		set_scale(cell, *scale);
	if (group_cell_scale(cell) <= *scale)
		return cell_set_scale(cell, extremes, *scale);
	if (!lengthen(&sum, nzeros) || !lengthen(&least, nzeros) || !lengthen(&greatest, nzeros))
		return false;
	*bin = (struct decimal_bin){sum, least, greatest};
	*scale += nzeros;
	return true;
}

/* Adds count numbers, at least one, to the cell. Returns false, and adds nothing, where they do not fit. */
static bool cell_add_bin(struct group_cell *cell, bool extremes, const struct decimal_bin *bin,
			 uint64_t count)
{
	bool is_empty = group_cell_count(cell) == 0;
	int64_t sum;

	if (__builtin_add_overflow(cell->sum, (int64_t)bin->sum, &sum))
		return false;
	cell->sum = sum;
	cell->count_scale += count;
	if (extremes) {
		cell->extremes[0] = is_empty || bin->min < cell->extremes[0] ? bin->min : cell->extremes[0];
		cell->extremes[1] = is_empty || bin->max > cell->extremes[1] ? bin->max : cell->extremes[1];
	}
	return true;
}

/* Adds count numbers of column c, to its cell or, where they do not fit, to the partial. */
static enum status add_bin(struct group *g, const struct plan *plan, size_t c, unsigned scale,
			   const struct decimal_bin *bin, uint64_t count)
{
	struct group_cell *cell = group_cell(g, &plan->columns[c]);
	bool extremes = has_extremes(plan, c);
	struct decimal_bin aligned = *bin;
	unsigned aligned_scale = scale;
	enum status status;

	if (align(cell, extremes, &aligned, &aligned_scale) &&
	    cell_add_bin(cell, extremes, &aligned, count))
		return STATUS_OK;
	status = group_need_rest(g, plan);
	if (status != STATUS_OK)
		return status;
	g->rest->columns[c].fast.count += count;
	return by_scale_add_bin(&g->rest->columns[c].fast, (int)scale, bin);
}

enum status group_add(struct group *g, const struct plan *plan, size_t c, struct decimal number)
{
	const struct decimal_bin one = {number.significand, number.significand, number.significand};

	return add_bin(g, plan, c, (unsigned)number.scale, &one, 1);
}

static enum status combine_cells(struct group *g, const struct group *later, const struct plan *plan,
				 size_t c)
{
	const struct group_cell *cell = group_cell((struct group *)later, &plan->columns[c]);
	struct decimal_bin bin = cell_bin(cell, has_extremes(plan, c));

	if (group_cell_count(cell) == 0)
		return STATUS_OK;
	return add_bin(g, plan, c, group_cell_scale(cell), &bin, group_cell_count(cell));
}

/* ---- groups ---- */

/* Gives g what later has in its partial. A partial of keys points into the text that was folded until it
 * is combined (keys.h), so it is not taken over. */
static enum status combine_rest(struct group *g, struct group *later, const struct plan *plan)
{
	enum status status;

	if (!g->rest && !plan->groups_keep_keys) {
		g->rest = later->rest;
		later->rest = NULL;
		return STATUS_OK;
	}
	status = group_need_rest(g, plan);
	return status == STATUS_OK ? partial_combine(g->rest, later->rest) : status;
}

enum status group_combine(struct group *g, struct group *later, const struct plan *plan)
{
	enum status status = STATUS_OK;

	if (g->nrecords == 0 && !(later->rest && plan->groups_keep_keys)) {
		memcpy(&g->first, &later->first, plan->group_nbytes - offsetof(struct group, first));
		later->rest = NULL;
		return STATUS_OK;
	}
	g->first = g->nrecords == 0 || later->first < g->first ? later->first : g->first;
	g->nrecords += later->nrecords;
	if (later->rest)
		status = combine_rest(g, later, plan);
	for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++)
		if (plan_column_has_cell(&plan->columns[c]))
			status = combine_cells(g, later, plan, c);
	return status;
}

struct partial *group_partial(struct group *g, const struct plan *plan, struct partial *p)
{
	enum status status = STATUS_OK;

	p = g->rest ? g->rest : p;
	for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++) {
		struct group_cell *cell = group_cell(g, &plan->columns[c]);
		if (!plan_column_has_cell(&plan->columns[c]))
			continue;
		status = cell_add_to(cell, has_extremes(plan, c), &p->columns[c]);
		if (p == g->rest)
			*cell = (struct group_cell){0, 0};
	}
	p->nrecords = g->nrecords;
	for (size_t i = 0; i < plan->npredicates; i++)
		p->nmatched[i] = g->nrecords;
	return status == STATUS_OK ? p : NULL;
}
