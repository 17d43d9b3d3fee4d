/* SPDX-License-Identifier: MIT
 *
 * column_fold.cuh - from bytes to one fold a column, in one kernel, on the GPU.
 *
 * Replaces records_ends, fields and reduce if only the columns' folds are needed, not each record's
 * values: values go from the text in shared memory to the registers of the column's threads.
 */
#pragma once

#include "kernels/fold/reduce.cuh"
#include "kernels/csv/window.cuh"

/* One scale of a column, to which blocks add. Zero: nothing was added. The sum is 2^32 sum_high +
 * sum_low: neither overflows in a chunk, so there is no carry between them. */
struct column_bin {
	unsigned long long sum_low;  /* of less than 2^32 each */
	unsigned long long sum_high; /* two's complement: the upper bits, with the sign */
	unsigned long long least, greatest; /* 2^62 - the minimum, 2^62 + the maximum */
	unsigned long long squares[4];      /* sum of 2^(32 i) squares[i], of less than 2^32 each */
};

/* The counts of a column, and of the whole chunk. All zero: nothing was added. */
struct column_counts {
	uint32_t nnumbers, nmissing, ninvalid, scales;
	uint32_t first_number, first_invalid; /* UINT32_MAX - the offset */
};
struct column_fold_ends {
	uint32_t first; /* UINT32_MAX - the offset */
	uint32_t last;
};

/* The sums to which blocks add, with atomics. Device memory, zeroed once, and left zero. */
struct column_fold_memory {
	struct column_counts *counts; /* ncolumns */
	struct column_bin *bins;      /* ncolumns x DECIMAL_NSCALES */
	struct column_fold_ends *ends;
	uint32_t *ndone;              /* one */
	uint32_t nblocks;             /* at most; from column_fold_nblocks */
};

/* Sets *nblocks to the number that the current device runs at once. Errors: the runtime's. */
cudaError_t column_fold_nblocks(uint32_t *nblocks);

/* Folds the complete records of text, which has been mapped, into results.tally and results.bins in
 * reduce_launch's form, and results.squares, unless that is NULL, and sets the members of the summary that fields sets. Other members of
 * results are not used. plan: without conditions; 0 < ncolumns <= FOLDED_NCOLUMNS_MAX, of which each
 * WINDOW_NTHREADS take a launch.
 * summary: as records_map left it. If it then counts more exceptions than the list holds, the CPU
 * must fold the chunk. summary->noff_scale: numbers whose scale differed from the others of their
 * thread; each costs two atomics or more on the same bin. entry.head_nbytes > 0: a record end.
 * summary->first_end is then undefined. Launches a kernel or more on stream, and does not wait.
 * Errors: the launch's. */
cudaError_t column_fold_launch(struct text_view text, struct window_entry entry,
			       struct fields_plan plan, struct column_fold_memory memory,
			       struct reduce_memory results, struct exception_list exceptions,
			       struct chunk_summary *summary, cudaStream_t stream);
