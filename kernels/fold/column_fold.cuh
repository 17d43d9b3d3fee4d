/* SPDX-License-Identifier: MIT
 *
 * column_fold.cuh - from bytes to one fold a column, in one kernel, on the GPU.
 *
 * What records_ends, fields and reduce do one after the other for those who want each
 * record's values, for those who want nothing but the columns' folds: values go from the
 * text in shared memory to the registers of the thread that has their column.
 */
#ifndef GPUSTAT_COLUMN_FOLD_CUH
#define GPUSTAT_COLUMN_FOLD_CUH

#include "kernels/fold/reduce.cuh"
#include "kernels/csv/window.cuh"

#define COLUMN_FOLD_NCOLUMNS_MAX WINDOW_NTHREADS /* a thread has one column */

/* One scale of a column, while blocks add to it. Zero: nothing added. The sum is 2^32
 * sum_high + sum_low: neither overflows in a chunk, so that nobody has to wait for a carry. */
struct column_bin {
	unsigned long long sum_low;  /* of less than 2^32 each */
	unsigned long long sum_high; /* two's complement; the rest, down to its sign */
	unsigned long long least, greatest; /* 2^62 - the minimum, 2^62 + the maximum */
};

/* A column and the whole, likewise. */
struct column_counts {
	uint32_t nnumbers, nmissing, ninvalid, scales;
	uint32_t first_number, first_invalid; /* UINT32_MAX - the offset */
};
struct column_fold_ends {
	uint32_t first; /* UINT32_MAX - the offset */
	uint32_t last;
};

/* What blocks add to, with atomics: device memory, zeroed once, left zero. */
struct column_fold_memory {
	struct column_counts *counts; /* ncolumns */
	struct column_bin *bins;      /* ncolumns x DECIMAL_NSCALES */
	struct column_fold_ends *ends;
	uint32_t *ndone;              /* one */
	uint32_t nblocks;             /* at most; from column_fold_nblocks */
};

/* Sets *nblocks to the number that the current device runs at once. Errors: the runtime's. */
cudaError_t column_fold_nblocks(uint32_t *nblocks);

/* Folds the complete records of text, which has been mapped and is entered as entry says,
 * into results.tally and results.bins, as reduce_launch leaves them, and sets the summary's
 * members that fields sets. Only these members of results are looked at.
 * plan: without conditions; 0 < ncolumns <= COLUMN_FOLD_NCOLUMNS_MAX.
 * summary: as records_map left it. If it then counts more exceptions than the list holds,
 * the chunk is one for the CPU. summary->noff_scale: numbers that had not the scale of
 * others of their column; each costs two atomics on the same bin.
 * entry.head_nbytes > 0: a record end. summary->first_end then means nothing.
 * Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t column_fold_launch(struct text_view text, struct window_entry entry,
			       struct fields_plan plan, struct column_fold_memory memory,
			       struct reduce_memory results, struct exception_list exceptions,
			       struct chunk_summary *summary, cudaStream_t stream);

#endif
