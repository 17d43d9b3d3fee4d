/* SPDX-License-Identifier: MIT
 *
 * values_select.h - the numbers of given ranks in a column's kept numbers, or by passes over an input that memory cannot keep.
 */
#ifndef GPUSTAT_VALUES_SELECT_H
#define GPUSTAT_VALUES_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/values.h"
#include "number/wide.h"

/* A number and its rank: 0 is the least number's. trims: the sum of the numbers of all ranks between two that are wanted and
 * equally far from the ends, both among them, is asked of the first of the two, which is above 0. */
struct ranked {
	uint64_t rank;
	struct wide value;
	bool trims;
	struct wide trimmed; /* that sum */
};

/* What the fold of a column knows of its numbers: as in struct number_sums. */
struct values_extent {
	uint64_t count;
	int scale; /* the largest of all numbers */
	const struct exact *min, *max;
};

/* Sets the values and the sums of wanted[0 .. nwanted), whose ranks ascend, none twice, and are below
 * extent->count. v: that many numbers. nthreads: at least 1; as many threads read v.
 * Errors: STATUS_NO_MEMORY, STATUS_GPU; STATUS_PART_DAMAGED if v has other numbers than the extent says, as only a part that
 * was not written by gpustat can have.
 * Cost: two or three passes over the numbers, each shared by all threads, where the numbers differ and
 * fit in 128 bits at the largest scale. Memory: 32 KiB for each wanted number and thread. */
enum status values_select(struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted);

/* What the numbers are taken for: integers at the largest scale, or keys in the same order. */
enum key_kind { KEY_64, KEY_128, KEY_OF_WIDE };
struct values_keys {
	enum key_kind kind;
	int scale;
};

/* Chooses the keys of a column, and sets the keys of its least and its greatest number. */
void values_keys_choose(struct values_keys *keys, const struct values_extent *extent, int128 *low,
			int128 *high);

/* ---- a pass over kept numbers, in several threads ---- */

/* The blocks of a cell that hold numbers. */
struct values_blocks {
	const struct values_block **at; /* owned, the blocks are not */
	size_t n;
};

/* Lists v's blocks; v may be NULL. Errors: STATUS_NO_MEMORY. Free with values_blocks_free, after an
 * error too. */
enum status values_blocks_list(const struct values *v, struct values_blocks *out);
void values_blocks_free(struct values_blocks *blocks);

/* The number of threads that a pass is worth, from 1 to nmost. */
int values_pass_nthreads(const struct values_blocks *blocks, int nmost);

/* Calls visit once for each block, with contexts[i], context_nbytes each, in thread i of nthreads. The
 * calling thread is one of them, and does the work of those that the system refuses. */
void values_pass(const struct values_blocks *blocks, int nthreads,
		 void (*visit)(void *context, const struct values_block *block), void *contexts,
		 size_t context_nbytes);

/* ---- numbers that are not all kept ---- */

/* What the cells of kept numbers do where not all numbers fit in memory. Where dropping is allowed, the first refusal of memory
 * has all cells drop their numbers: the pass over the input then still finds count and extremes. Later passes have a focus:
 * intervals in which ranks are looked for. Their numbers are counted in bins, or kept; the others are not. One focus holds
 * for all cells of the process, so one column at a time is looked at. */
struct interval;
struct values_clamp {
	const struct wide *low, *high;
};
struct values_focus {
	struct values_clamp clamp; /* if low: numbers are summed, each of them kept within these; and nothing else */
	struct values_keys keys;
	const struct interval *intervals; /* disjoint; their shifts are set */
	size_t nintervals;
	bool counts; /* numbers are counted; else kept */
};

/* Sets the focus, NULL: none, and whether numbers are dropped where memory is refused. Before any
 * thread starts. */
void values_focus_set(const struct values_focus *focus, bool may_drop);

/* Whether numbers have been dropped since then. */
bool values_are_dropped(void);

const struct values_focus *values_focus(void);

/* Memory was refused. */
void values_note_refusal(void);

/* The key of a number. */
int128 values_focus_key(const struct values_focus *f, int64_t significand, int scale);
int128 values_focus_key_of_wide(const struct values_focus *f, const struct wide *x);

/* Returns whether the number of that key is to be kept. Counts it in v, if it is to be counted.
 * *status: STATUS_NO_MEMORY where that fails. */
bool values_focus_find(const struct values_focus *f, struct values *v, int128 key,
		       enum status *status);

/* Sums a number up, where the focus clamps. Errors: STATUS_NO_MEMORY. */
enum status values_focus_sum(const struct values_focus *f, struct values *v, const struct wide *x);

/* Adds later's counts and sum to v's; makes v's 0. Errors: STATUS_NO_MEMORY. */
enum status values_focus_combine(struct values *v, const struct values *later);
void values_focus_clear(struct values *v);

/* The numbers of given ranks in a column that does not fit in memory: by several
 * passes over the input, each of which counts the numbers in bins of the intervals that are left, or
 * keeps the numbers of those. Like values_select, but the caller makes the passes:
 *
 *     status = values_search_begin(&s, &extent, wanted, nwanted);
 *     while (status == STATUS_OK && values_search_focus(&s)) {
 *             ... fold the input; cell: the column's ...
 *             status = values_search_end_pass(&s, cell, nthreads);
 *     }
 *     values_search_end(&s);
 */
struct values_search {
	struct values_extent extent;
	struct values_focus focus;
	struct ranked *wanted;
	size_t nwanted, nsummed; /* of these, those whose sums are known, if they are asked */
	struct interval *intervals, *next; /* room for as many as wanted numbers; owned */
	struct ranked *kept;               /* the same; owned */
	size_t nintervals;
	uint64_t nkept_most; /* more numbers are not kept */
};

/* Arguments and errors: as of values_select. extent's numbers must stay. */
enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted);

/* Sets the focus of the next pass; returns false where none is needed, and there is no focus. */
bool values_search_focus(struct values_search *s);

/* Narrows the search. cell: of all numbers of the pass. Errors: STATUS_NO_MEMORY; STATUS_CHANGED: the
 * numbers are not those of the passes before. */
enum status values_search_end_pass(struct values_search *s, struct values *cell, int nthreads);
void values_search_end(struct values_search *s);

#endif
