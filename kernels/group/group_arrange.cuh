/* SPDX-License-Identifier: MIT
 *
 * group_arrange.cuh - the groups of a table one behind the other, in the order of their first records:
 *
 *     group_count_launch     slots                -> how many groups have records, and the last of these
 *     group_place_launch     slots                -> each group's first record and place, in any order
 *     group_sort_launch      (first, place)       -> places by first record (CUB's radix sort)
 *     group_measure_launch   places               -> words of each; the caller scans them: where each begins
 *     group_gather_launch    places, begins       -> words
 *
 * A table is visited by its slots, since groups are of different lengths: a thread that walks from one to the next waits for
 * memory at each. All pointers are to device memory; each launches kernels on stream, and does not wait. Errors: theirs.
 */
#ifndef GPUSTAT_GROUP_ARRANGE_CUH
#define GPUSTAT_GROUP_ARRANGE_CUH

#include "kernels/group/group_table.cuh"

/* n groups of a table. Two copies of each array: the sort goes from one to the other. */
struct group_places {
	uint64_t *first[2];  /* n each: offset in the input of the first record */
	uint64_t *index[2];  /* n each: where in the table's words the group begins */
	uint64_t n;
};

/* The groups with records. */
struct group_census {
	unsigned long long n, last; /* how many, and the greatest offset of a first record */
};

/* Counts them. */
cudaError_t group_count_launch(const struct group_table &table, struct group_census *census, cudaStream_t stream);

/* Counts them again, and lists them in first[0] and index[0], in any order. */
cudaError_t group_place_launch(const struct group_table &table, const struct group_places &places,
			       struct group_census *census, cudaStream_t stream);

/* Bytes that the sort of n wants; SIZE_MAX: the runtime's failure. */
size_t group_sort_scratch_nbytes(uint64_t n);

/* Sorts them. last: the census's. *sorted: which of the two copies has them then. */
cudaError_t group_sort_launch(const struct group_places &places, uint64_t last, void *scratch, int *sorted,
			      cudaStream_t stream);

/* Sets nwords[i] to the words of group i of n, nwords[n] to 0. */
cudaError_t group_measure_launch(const struct group_table &table, const uint64_t *index, uint64_t n, uint64_t *nwords,
				 cudaStream_t stream);

/* Copies group i of n to words[begins[i] .. begins[i + 1]). */
cudaError_t group_gather_launch(const struct group_table &table, const uint64_t *index, const uint64_t *begins, uint64_t n,
				uint64_t *words, cudaStream_t stream);

#endif
