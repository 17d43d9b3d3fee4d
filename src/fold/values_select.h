/* SPDX-License-Identifier: MIT
 *
 * values_select.h - the numbers of given ranks in a column's kept numbers, or by passes over an input that memory cannot keep.
 */
#pragma once

#include "base/status.h"
#include "fold/values.h"

/* A number and its rank: 0 is the smallest number's. The caller frees the number and the sum (exact_free). trims: the sum of the numbers of all ranks between two that are wanted and
 * equally far from the ends, both among them, is asked of the first of the two, which is above 0. */
struct ranked {
	uint64_t rank; /* first, so that they are sorted by it */
	struct exact value;
	bool trims;
	struct exact trimmed; /* that sum */
};

/* What the fold of a column knows of its numbers: as in struct number_sums. */
struct values_extent {
	uint64_t count;
	int scale; /* the largest of all numbers */
	const struct exact *min, *max;
	const struct exact *center; /* if it is not NULL: what is ranked is |2 x - *center| of each number x */
};

/* Sets the values and the sums of wanted[0 .. nwanted), whose ranks ascend, none twice, and are below
 * extent->count. v: that many numbers. nthreads: at least 1; as many threads read v.
 * Errors: STATUS_NO_MEMORY, STATUS_GPU; STATUS_PART_DAMAGED if v has other numbers than the extent says, as only a part that
 * was not written by gpustat can have.
 * Cost: two or three passes over the numbers, each shared by all threads, where the numbers differ and
 * fit in 128 bits at the largest scale. Memory: 32 KiB for each wanted number and thread. */
enum status values_select(struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted);

/* What the numbers are taken for: integers at the largest scale, or keys of 128 bits in the same order. */
enum key_kind { KEY_64, KEY_128, KEY_OF_LONG };
struct values_keys {
	enum key_kind kind;
	int scale;
	int nlimbs; /* KEY_OF_LONG: no integer at that scale has more limbs */
};

/* Chooses the keys of a column, and sets the keys of its smallest and its largest number, of those that are ranked. */
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

/* Makes cells drop their numbers, or not, when one of them is refused memory: the pass over the input then still finds count and
 * extremes. Before any thread starts. */
void values_may_drop(bool may);

/* Whether numbers have been dropped since then. */
bool values_are_dropped(void);

/* Memory was refused. */
void values_note_refusal(void);

/* The numbers of given ranks in a column that does not fit in memory: by several passes over the input, each of which counts the
 * numbers in bins of the intervals that are left, gathers the numbers of those, or sums. Like values_select, but the caller makes
 * the passes:
 *
 *     status = values_search_begin(&s, &extent, wanted, nwanted);
 *     while (status == STATUS_OK && (status = values_search_begin_pass(&s, &is_needed)) == STATUS_OK && is_needed) {
 *             ... fold the input; cell: the column's ...
 *             status = values_search_end_pass(&s, cell);
 *     }
 *     values_search_end(&s);
 *
 * A pass holds for all cells of the process, so one column at a time is looked at: what is combined goes through the pass, and
 * is freed. */
struct interval;
struct values_pass;
struct values_search {
	struct values_extent extent;
	struct values_keys keys;
	struct ranked *wanted;
	size_t nwanted, nsummed; /* of these, those whose sums are known, if they are asked */
	struct interval *intervals, *next; /* room for as many as wanted numbers; owned */
	size_t nintervals, ncounts; /* ncounts: of those that do not gather */
	uint64_t nfew; /* so many numbers are gathered, in all intervals */
	const struct exact *low_end, *high_end; /* if low_end: numbers are summed, each kept within these */
	int128 low, high; /* the keys of these or, first, of the extent */
	int128 center;    /* the extent's, unless the keys are of long numbers */
	struct values_pass *passes; /* of threads that have visited a block; owned */
	bool lacks_memory;
};

/* Arguments and errors: as in values_select. extent's numbers must stay. */
enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted);

/* Begins a pass, if one is needed. Errors: STATUS_NO_MEMORY. */
enum status values_search_begin_pass(struct values_search *s, bool *is_needed);

/* Whether a pass is on; and has a block go through it. Any thread may call that. */
bool values_are_searched(void);
void values_search_block(const struct values_block *block);

/* Narrows the search. cell: of all numbers of the pass. Errors: STATUS_NO_MEMORY; STATUS_CHANGED: the
 * numbers are not those of the passes before. */
enum status values_search_end_pass(struct values_search *s, const struct values *cell);
void values_search_end(struct values_search *s);
