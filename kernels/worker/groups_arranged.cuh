/* SPDX-License-Identifier: MIT
 *
 * groups_arranged.cuh - all groups of a GPU's table, sorted by their first records, and one behind the other
 * (kernels/group/group_arrange.cuh): to be printed (groups_held.cu), or to be sent to another GPU (groups_across.cu).
 */
#ifndef GPUSTAT_WORKER_GROUPS_ARRANGED_CUH
#define GPUSTAT_WORKER_GROUPS_ARRANGED_CUH

#include "kernels/group/group_arrange.cuh"
#include "kernels/level/gpu_memory.cuh"
#include "kernels/scan/scan.cuh"
#include "kernels/worker/groups.cuh"

/* All owned; arrays are in device memory, but for block_begins. Zeroed: nothing. */
struct arranging {
	cudaStream_t stream;
	struct arena memory; /* has all up to begins */
	struct group_census *census;
	struct group_places places; /* n: the groups that have been arranged */
	void *scratch, *slots;
	size_t scratch_nbytes, slots_nbytes;
	struct scan_shape shape;
	uint64_t *begins; /* n + 1, in words: in place of the first records, when they are sorted */
	uint64_t *words;
	uint64_t *block_begins; /* those of each GROUP_SOURCE_NGROUPS groups; the last: where they end. malloc's */
	size_t block_nwords;    /* of the longest block */
};

/* The groups of a table that have records; 0 also where the device has no memory for counting. Makes the device the current
 * one, and waits for it. Errors: STATUS_GPU. */
enum status groups_count(const struct gpu_groups *g, uint64_t *n, struct fault *fault);

/* The words in use in a table: those of its groups with records, or more. control: the table's. */
uint64_t groups_nwords(const struct group_table *t, const struct group_control *control);

/* Whether probes stay short with n groups. */
bool groups_have_slots(const struct group_table *t, uint64_t n);

/* Allocates what it takes to arrange ngroups groups with nwords: the table's, and those that will be added to it before.
 * *can: false: the device has no memory for it. Errors: STATUS_GPU. Close r in any case. */
enum status arranging_open(struct arranging *r, const struct gpu_groups *g, uint64_t ngroups, uint64_t nwords, bool *can,
			   struct fault *fault);

/* Arranges them; waits until it is done. Errors: STATUS_GPU, STATUS_NO_MEMORY. */
enum status arranging_run(struct arranging *r, const struct group_table *t, struct fault *fault);

void arranging_close(struct arranging *r);

#endif
