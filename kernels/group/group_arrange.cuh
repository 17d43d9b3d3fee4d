/* SPDX-License-Identifier: MIT
 *
 * group_arrange.cuh - stores the groups of a table one after the other, in the order of their first records:
 *
 *     group_count_launch     slots                -> how many groups have records, and the last of these: the control's census
 *     group_place_launch     slots                -> each group's first record and place, in any order
 *     group_sort_launch      (first, place)       -> places by first record (CUB's radix sort)
 *     group_begins_launch    places               -> where each group's words are to begin (CUB's scan)
 *     group_gather_launch    places, begins       -> words
 *
 * A table is visited by its slots, since groups are of different lengths: a thread that walks from one to the next waits for
 * memory at each. All pointers are to device memory; each launches kernels on stream, and does not wait. Errors: theirs.
 */
#pragma once

#include "kernels/group/group_table.cuh"
#include "kernels/level/gpu_memory.cuh"

/* n groups of a table. Two copies of each array: the sort goes from one to the other. */
struct group_places {
	uint64_t n;
	uint64_t *first[2];  /* n + 1 each: offset in the input of the first record */
	uint64_t *index[2];  /* n each: where in the table's words the group begins */
	void *scratch;
	size_t scratch_nbytes;
};

/* Cuts what n groups need. */
void group_places_cut(struct group_places *places, struct arena *a, uint64_t n);

/* Counts the groups with records. */
cudaError_t group_count_launch(const struct group_table &table, cudaStream_t stream);

/* Counts them again, and lists them in first[0] and index[0], in any order. */
cudaError_t group_place_launch(const struct group_table &table, const struct group_places &places, cudaStream_t stream);

/* Sorts them. last: the census's. *sorted: which of the two copies has them then. */
cudaError_t group_sort_launch(const struct group_places &places, uint64_t last, int *sorted, cudaStream_t stream);

/* Sets begins[i], of n + 1, to the words of the groups before group i: the last to those of all. */
cudaError_t group_begins_launch(const struct group_table &table, const struct group_places &places, int sorted,
				uint64_t *begins, cudaStream_t stream);

/* Copies group i to words[begins[i] .. begins[i + 1]). */
cudaError_t group_gather_launch(const struct group_table &table, const struct group_places &places, int sorted,
				const uint64_t *begins, uint64_t *words, cudaStream_t stream);
