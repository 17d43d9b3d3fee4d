/* SPDX-License-Identifier: MIT
 *
 * groups.cuh - the groups that a GPU keeps for a run (--by), as groups.cu makes them, and groups_end.cu takes them to where they
 * are printed.
 */
#ifndef GPUSTAT_WORKER_GROUPS_CUH
#define GPUSTAT_WORKER_GROUPS_CUH

#include "kernels/worker/worker.cuh"

struct gpu_groups {
	struct gpu_groups *next;
	const struct plan *plan;
	int device;
	int nworkers;
	bool is_forgotten;
	uint64_t nrecords; /* of all chunks so far that were sent to the table */
	struct group_table table;
};

/* Frees it with its table. */
void gpu_groups_free(struct gpu_groups *g);

/* Adds all groups of the table to its plan's store, in up to nthreads threads. Errors: STATUS_GPU, STATUS_NO_MEMORY,
 * STATUS_MANY_GROUPS. */
enum status gpu_groups_bring_down(const struct gpu_groups *g, int nthreads, struct fault *fault);

/* The words in use in a table: those of its groups with records, or more. control: the table's. */
uint64_t groups_nwords(const struct group_table *t, const struct group_control *control);

/* Adds the store's groups to the table, arranges all of them there in their order, and makes g, which it then owns, the
 * store's source. *held: false: the device has no memory for that, or the table does not take all of the store's
 * groups; nothing has changed. Errors: STATUS_GPU; STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_MANY_GROUPS: some of the store's
 * may be in the table then. */
enum status gpu_groups_hold(struct gpu_groups *g, int nthreads, bool *held, struct fault *fault);

#define GROUPS_PIECE_NBYTES ((size_t)128 << 20)

/* Adds all groups of one table to another's, of the same plan, on another device or the same. They go in pieces of up to
 * piece_nbytes, or of one block (GROUP_SOURCE_NGROUPS). *crossed: false: one has none, the devices have no memory for that, or
 * the table does not take all of them as they are; nothing has changed. Errors: STATUS_GPU, STATUS_NO_MEMORY: some may be there
 * then. */
enum status gpu_groups_cross(const struct gpu_groups *from, struct gpu_groups *to, size_t piece_nbytes, bool *crossed,
			     struct fault *fault);

#endif
