/* SPDX-License-Identifier: MIT
 *
 * values_search.c - see values_search.h. A pass that counts makes each interval NBINS times as narrow,
 * so a column of 64 bits is searched in up to six, and usually in two: one that counts, and one that
 * keeps what is left.
 */
#include "fold/values_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "fold/values_pass.h"

/* Memory for a kept number, by enum key_kind, and twice as much for blocks that are not full. */
static const uint64_t nbytes_each[] = {[KEY_64] = 18, [KEY_128] = 80, [KEY_OF_WIDE] = 100};

enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted)
{
	struct interval all = {.count = extent->count, .wanted = wanted, .nwanted = nwanted};

	memset(s, 0, sizeof *s);
	s->extent = *extent;
	s->intervals = calloc(nwanted + 1, sizeof *s->intervals);
	s->next = calloc(nwanted + 1, sizeof *s->next);
	s->kept = calloc(nwanted + 1, sizeof *s->kept);
	if (!s->intervals || !s->next || !s->kept)
		return STATUS_NO_MEMORY;
	values_keys_choose(&s->focus.keys, extent, &all.low, &all.high);
	s->nkept_most = memory_limit_nbytes() / nbytes_each[s->focus.keys.kind];
	interval_add(&s->focus.keys, s->intervals, &s->nintervals, &all);
	return STATUS_OK;
}

/* How many numbers the intervals hold. */
static uint64_t count_left(const struct values_search *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nintervals; i++)
		n += s->intervals[i].count;
	return n;
}

/* Whether counting makes no interval narrower: all are keys that many numbers share. */
static bool is_stuck(const struct values_search *s)
{
	for (size_t i = 0; i < s->nintervals; i++)
		if (s->intervals[i].low < s->intervals[i].high)
			return false;
	return true;
}

bool values_search_focus(struct values_search *s)
{
	for (size_t i = 0; i < s->nintervals; i++)
		interval_set_shift(&s->intervals[i]);
	s->focus.intervals = s->intervals;
	s->focus.nintervals = s->nintervals;
	s->focus.counts = count_left(s) > s->nkept_most && !is_stuck(s);
	values_focus_set(s->nintervals ? &s->focus : NULL, s->nintervals > 0);
	return s->nintervals > 0;
}

static enum status end_counting(struct values_search *s, const struct values *cell)
{
	enum status status = STATUS_OK;
	size_t nnext = 0;

	for (size_t i = 0; i < s->nintervals && status == STATUS_OK; i++) {
		const uint64_t *counts = cell && cell->counts ? cell->counts + i * NBINS : NULL;
		uint64_t count = 0;
		for (size_t bin = 0; counts && bin < NBINS; bin++)
			count += counts[bin];
		if (count != s->intervals[i].count)
			return STATUS_CHANGED;
		status = interval_split(&s->focus.keys, &s->intervals[i], counts, 1, 0, s->next, &nnext);
	}
	memcpy(s->intervals, s->next, nnext * sizeof *s->next);
	s->nintervals = nnext;
	return status;
}

static void count_block(void *context, const struct values_block *block)
{
	*(uint64_t *)context += block->nvalues;
}

/* Selects among the kept numbers: those of all intervals, one behind the other. */
static enum status select_kept(struct values_search *s, struct values *cell, int nthreads)
{
	struct values_extent extent = s->extent;
	uint64_t nbefore = 0, nkept = 0;
	enum status status;
	size_t n = 0;

	extent.count = count_left(s);
	if (cell)
		values_each_block(cell, count_block, &nkept);
	if (nkept != extent.count)
		return STATUS_CHANGED;
	for (size_t i = 0; i < s->nintervals; nbefore += s->intervals[i++].count)
		for (size_t k = 0; k < s->intervals[i].nwanted; k++)
			s->kept[n++].rank = s->intervals[i].wanted[k].rank -
					    s->intervals[i].nbelow + nbefore;
	status = values_select(cell, &extent, nthreads, s->kept, n);
	n = 0;
	for (size_t i = 0; i < s->nintervals; i++)
		for (size_t k = 0; k < s->intervals[i].nwanted; k++)
			s->intervals[i].wanted[k].value = s->kept[n++].value;
	s->nintervals = 0;
	return status;
}

enum status values_search_end_pass(struct values_search *s, struct values *cell, int nthreads)
{
	if (s->focus.counts)
		return end_counting(s, cell);
	if (!values_are_dropped())
		return select_kept(s, cell, nthreads);
	s->nkept_most = count_left(s) / 8; /* blocks that are not full took too much */
	return is_stuck(s) ? STATUS_NO_MEMORY : STATUS_OK;
}

void values_search_end(struct values_search *s)
{
	free(s->intervals);
	free(s->next);
	free(s->kept);
	values_focus_set(NULL, false);
}
