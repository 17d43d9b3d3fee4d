/* SPDX-License-Identifier: MIT
 *
 * keep.cuh - a column's numbers into memory that stays, and passes over them, on the GPU.
 *
 * What the device does for src/fold/device_run.h.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/fold/reduce.cuh"

enum keep_form {
	KEEP_VALUES, /* integers at the largest scale of all */
	KEEP_KEYS,   /* key numbers (src/fold/device_run.h) */
};

/* What became of a column's numbers. */
struct keep_result {
	uint32_t nkept;
	uint32_t nbeyond; /* numbers beyond 64 bits at the scale of all */
};

/* Writes the numbers of table's column c to `to`, in any order, as integers of that form. If some are beyond 64
 * bits then, nothing that was written means anything. tally: the column's, as
 * reduce_launch leaves it; to: room for records.nrecords_at_most; result: zeroed. All device memory.
 * Launches a kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t keep_launch(enum keep_form form, struct field_table table, uint32_t c, struct record_table records,
			const struct column_tally *tally, int64_t *to, struct keep_result *result,
			cudaStream_t stream);

/* A run of kept numbers, as integers x unit. */
struct keep_run {
	const int64_t *numbers;
	int64_t unit;
	uint64_t n;
	uint64_t first_tile; /* tiles of KEEP_TILE numbers in the runs before */
};
#define KEEP_TILE ((uint64_t)16384)
#define KEEP_NBINS 4096

/* The numbers from low to low + width. */
struct keep_interval {
	int64_t low;
	uint64_t width;
};

/* Adds to counts[(x - low) >> shift], KEEP_NBINS of them, for each number x of the interval. runs: nruns > 0 of
 * ntiles tiles in all. All pointers: device memory. Launches a kernel on stream, and does not wait. Errors:
 * the launch's. */
cudaError_t keep_count_launch(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles,
			      struct keep_interval interval, int shift, unsigned long long *counts,
			      cudaStream_t stream);

/* Lists the numbers of the interval in any order: list[0 .. *nlisted), as far as it has room for nmost. Like
 * keep_count_launch otherwise. */
cudaError_t keep_list_launch(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles,
			     struct keep_interval interval, int64_t *list, uint64_t nmost,
			     unsigned long long *nlisted, cudaStream_t stream);

/* Counts the different ones of n > 0 integers. numbers: n, which are spoiled; spare: room for n; memory:
 * keep_different_nbytes(n) of it; *count: zeroed. All device memory. Launches kernels on stream, and does not
 * wait. Errors: the launches'. */
size_t keep_different_nbytes(uint64_t n);
cudaError_t keep_different_launch(int64_t *numbers, int64_t *spare, uint64_t n, void *memory,
				  unsigned long long *count, cudaStream_t stream);
