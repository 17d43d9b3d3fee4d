/* SPDX-License-Identifier: MIT
 *
 * total_join.c - see total_join.h. Keys are joined a cell at a time, and a cell a part at a time: each
 * thread takes the next part that none has taken.
 */
#include "engine/total_join.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "fold/keys.h"

#define FEW_KEYS 10000 /* to be joined: a thread takes longer to start */

/* One cell of the total and of all partials. */
struct join {
	struct keys **all;
	size_t nall;
	atomic_size_t next; /* part */
	atomic_int status;  /* an enum status: the last that was not OK */
};

static void *join_parts(void *argument)
{
	struct join *j = argument;
	size_t part;

	while ((part = atomic_fetch_add(&j->next, 1)) < KEYS_NPARTS) {
		enum status status = keys_join_part(j->all, j->nall, part);
		if (status != STATUS_OK)
			j->status = (int)status;
	}
	return NULL;
}

static enum status join_cells(struct join *j, int nthreads)
{
	enum status status = keys_join_begin(j->all, j->nall);
	uint64_t nkeys = 0;

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < j->nall; i++)
		nkeys += keys_count_at_most(j->all[i]);
	team_run(nkeys < FEW_KEYS ? 1 : (size_t)nthreads, join_parts, j);
	if (j->status == STATUS_OK)
		keys_join_end(j->all[0]);
	return (enum status)j->status;
}

/* Joins the keys in cell `cell` of column c. all: room for npartials + 1. */
static enum status join_column(struct partial *total, struct partial *const *partials,
			       size_t npartials, size_t c, int cell, int nthreads,
			       struct keys **all)
{
	struct join join = {.all = all};

	for (size_t i = 0; i < npartials; i++)
		if (moments_cell(&partials[i]->columns[c].moments, cell))
			all[++join.nall] = moments_cell(&partials[i]->columns[c].moments, cell);
	if (join.nall++ == 0)
		return STATUS_OK;
	all[0] = moments_need(&total->columns[c].moments, cell);
	total->full_column = c;
	return all[0] ? join_cells(&join, nthreads) : STATUS_NO_MEMORY;
}

static enum status join_keys(struct partial *total, struct partial *const *partials,
			     size_t npartials, const struct plan *plan, int nthreads)
{
	struct keys **all = calloc(npartials + 1, sizeof *all);
	enum status status = all ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++) {
		if (!(plan->columns[c].needs & MOMENT_KEYS))
			continue;
		status = join_column(total, partials, npartials, c, CELL_KEYS, nthreads, all);
		if (status == STATUS_OK)
			status = join_column(total, partials, npartials, c, CELL_TEXT_KEYS,
					     nthreads, all);
	}
	free(all);
	return status;
}

/* Counts the keys that devices have kept. */
static enum status settle_keys(struct partial *total, const struct plan *plan)
{
	enum status status = STATUS_OK;

	for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++) {
		struct keys_wanted wanted = keys_wanted_of(&plan->columns[c]);
		total->full_column = c;
		status = keys_settle(moments_cell(&total->columns[c].moments, CELL_KEYS), &wanted);
	}
	return status;
}

enum status total_join(struct partial *total, struct partial *const *partials, size_t npartials,
		       const struct plan *plan, int nthreads, struct fault *fault)
{
	enum status status = join_keys(total, partials, npartials, plan, nthreads);

	for (size_t i = 0; status == STATUS_OK && i < npartials; i++)
		status = partial_combine(total, partials[i]);
	if (status == STATUS_OK)
		status = settle_keys(total, plan);
	return status == STATUS_OK ? status : partial_fault(total, plan, status, fault);
}
