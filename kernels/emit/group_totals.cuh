/* SPDX-License-Identifier: MIT
 *
 * group_totals.cuh - running totals by group (--by), on the GPU: a segmented scan.
 *
 * A chunk's records are sorted by group, those of one group stay in their order, and each new column is scanned over
 * all groups at once (fold_segmented). The totals then go back to their records:
 *
 *     group_order_launch       the groups that the fold found  -> each record's group, and that order
 *     group_total_launch       for each new column: fields, order  -> totals up to each record, in its group
 *
 * in place of emission_total_launch. emission_place_launch and emission_write_launch add what each group had before.
 */
#ifndef GPUSTAT_GROUP_TOTALS_CUH
#define GPUSTAT_GROUP_TOTALS_CUH

#include "kernels/emit/emission.cuh"

#define GROUP_TOTALS_NGROUPS_MAX ((uint32_t)1 << 24) /* of a chunk: the scan of scales has bits for so many */

/* The order of n records. All pointers: device memory, 16-byte aligned. */
struct group_order {
	const uint32_t *begins; /* ngroups: where the words of each group begin, the first of which is overwritten */
	uint64_t *words;        /* of the chunk's groups: src/fold/group_words.h */
	uint32_t first_key;     /* column of the field table, of which group_find has made such places, from 1 on */
	uint32_t ngroups;
	uint32_t *groups;  /* n: each record's group; ngroups: it has none, and is not printed */
	uint32_t *sorted;  /* n: the same, ascending */
	uint32_t *numbers; /* n: for the sort */
	uint32_t *records; /* n: the records in that order */
	int128 *values;    /* n: a column's, in that order */
	void *scratch;     /* group_order_scratch_nbytes(n) */
};

/* Bytes that the sort of n records wants; SIZE_MAX: the runtime's failure. */
size_t group_order_scratch_nbytes(uint32_t n);

/* Sorts the records of the chunk. Launches some kernels on stream, and does not wait. Errors: theirs. */
cudaError_t group_order_launch(const struct emission &e, const struct group_order &order, cudaStream_t stream);

/* Computes the totals of one new column, given in host memory: totals and scales, as emission.cuh says, but for
 * NEW_COUNT totals, too. |totals| < 2^126 - 1. Launches up to six kernels on stream, and does not wait. Errors:
 * theirs. */
cudaError_t group_total_launch(const struct emission &e, const struct emission_column &column,
			       const struct group_order &order, struct emission_scans *scans, cudaStream_t stream);

#endif
