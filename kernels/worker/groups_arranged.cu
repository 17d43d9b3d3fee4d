/* SPDX-License-Identifier: MIT
 *
 * groups_arranged.cu - see groups_arranged.cuh.
 */
#include "kernels/worker/groups_arranged.cuh"

#include <stdlib.h>

#include "kernels/worker/groups_piece.cuh"

extern "C" {
#include "fold/group_source.h"
}

static void arranging_cut(struct arranging *r, struct arena *a, uint64_t n)
{
	r->census = arena_cut<struct group_census>(a, 1);
	for (int i = 0; i < 2; i++) {
		r->places.first[i] = arena_cut<uint64_t>(a, n + 1);
		r->places.index[i] = arena_cut<uint64_t>(a, n + 1);
	}
	r->scratch = arena_cut<char>(a, r->scratch_nbytes);
	r->slots = arena_cut<char>(a, r->slots_nbytes);
}

/* Counts the groups of a table. census: memory of its device, for counting. */
static cudaError_t count_groups(const struct group_table *t, struct group_census *census, uint64_t *n)
{
	cudaError_t error = gpu_checked(group_count_launch(*t, census, NULL));

	if (error == cudaSuccess)
		error = gpu_checked(cudaMemcpy(n, &census->n, sizeof *n, cudaMemcpyDeviceToHost));
	return error;
}

enum status groups_count(const struct gpu_groups *g, uint64_t *n, struct fault *fault)
{
	struct group_census *census = NULL;
	cudaError_t error;
	enum status status;
	bool made;

	*n = 0;
	GPU_TRY("select GPU", cudaSetDevice(g->device));
	status = groups_allocate((void **)&census, sizeof *census, &made, fault);
	if (!made)
		return status;
	error = count_groups(&g->table, census, n);
	(void)cudaFree(census);
	return error == cudaSuccess ? STATUS_OK : gpu_fault(fault, STATUS_GPU, "count groups", error);
}

uint64_t groups_nwords(const struct group_table *t, const struct group_control *control)
{
	uint64_t nwords = 0;

	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++)
		nwords += group_part_nwords(*t, *control, p);
	return nwords;
}

bool groups_have_slots(const struct group_table *t, uint64_t n)
{
	return n <= GROUP_TABLE_NPARTS * t->part_nslots / 4 * 3;
}

/* Allocates what arranging up to n groups takes, but for their words. */
static enum status reserve(struct arranging *r, uint64_t n, bool *made, struct fault *fault)
{
	struct arena measured = {};

	GPU_TRY("choose a scan", scan_shape_choose<scan_sum_u64>(&r->shape));
	r->slots_nbytes = scan_memory_nbytes<scan_sum_u64>(&r->shape, n + 1);
	r->scratch_nbytes = group_sort_scratch_nbytes(n);
	if (r->scratch_nbytes == SIZE_MAX)
		return gpu_fault(fault, STATUS_GPU, "measure the sort of groups", cudaGetLastError());
	arranging_cut(r, &measured, n);
	enum status status = groups_allocate((void **)&r->memory.base, measured.nbytes, made, fault);
	if (*made)
		arranging_cut(r, &r->memory, n);
	return status;
}

/* Sorts all groups of the table, and finds where each begins. *index: their places in the table. */
static enum status sort_groups(const struct group_table *t, struct arranging *r, const uint64_t **index,
			       struct fault *fault)
{
	struct group_census census;
	struct scan_memory memory;
	int sorted;

	GPU_TRY("launch visit_slots", group_place_launch(*t, r->places, r->census, r->stream));
	GPU_TRY("count groups", cudaMemcpyAsync(&census, r->census, sizeof census, cudaMemcpyDeviceToHost, r->stream));
	GPU_TRY("count groups", cudaStreamSynchronize(r->stream));
	r->places.n = census.n;
	GPU_TRY("sort groups", group_sort_launch(r->places, census.last, r->scratch, &sorted, r->stream));
	*index = r->places.index[sorted];
	r->begins = r->places.first[0];
	GPU_TRY("launch measure", group_measure_launch(*t, *index, census.n, r->begins, r->stream));
	GPU_TRY("scan groups", scan_memory_open(&memory, r->slots, r->slots_nbytes, r->stream));
	GPU_TRY("scan groups", scan_launch<scan_sum_u64>(&r->shape, &memory, {r->begins, r->begins, census.n + 1, NULL, NULL, true},
						     r->stream));
	return STATUS_OK;
}

/* Copies down where each block begins. */
static enum status list_blocks(struct arranging *r, struct fault *fault)
{
	uint64_t n = r->places.n;
	size_t nblocks = (size_t)((n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);

	r->block_begins = (uint64_t *)malloc((nblocks + 1) * sizeof *r->block_begins);
	if (!r->block_begins)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	GPU_TRY("copy groups", cudaMemcpy2DAsync(r->block_begins, sizeof(uint64_t), r->begins,
					     GROUP_SOURCE_NGROUPS * sizeof(uint64_t), sizeof(uint64_t), nblocks,
					     cudaMemcpyDeviceToHost, r->stream));
	GPU_TRY("copy groups", cudaMemcpyAsync(r->block_begins + nblocks, r->begins + n, sizeof(uint64_t),
					   cudaMemcpyDeviceToHost, r->stream));
	GPU_TRY("copy groups", cudaStreamSynchronize(r->stream));
	for (size_t b = 0; b < nblocks; b++) {
		size_t nwords = (size_t)(r->block_begins[b + 1] - r->block_begins[b]);
		r->block_nwords = nwords > r->block_nwords ? nwords : r->block_nwords;
	}
	return STATUS_OK;
}

enum status arranging_open(struct arranging *r, const struct gpu_groups *g, uint64_t ngroups, uint64_t nwords, bool *can,
			   struct fault *fault)
{
	enum status status;
	bool made = false;

	GPU_TRY("select GPU", cudaSetDevice(g->device));
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	status = reserve(r, ngroups, &made, fault);
	if (status == STATUS_OK && made)
		status = groups_allocate((void **)&r->words, nwords * sizeof *r->words, can, fault);
	return status;
}

enum status arranging_run(struct arranging *r, const struct group_table *t, struct fault *fault)
{
	const uint64_t *index = NULL;
	enum status status = sort_groups(t, r, &index, fault);

	if (status != STATUS_OK)
		return status;
	GPU_TRY("launch gather", group_gather_launch(*t, index, r->begins, r->places.n, r->words, r->stream));
	return list_blocks(r, fault);
}

void arranging_close(struct arranging *r)
{
	(void)cudaFree(r->memory.base);
	(void)cudaFree(r->words);
	if (r->stream)
		(void)cudaStreamDestroy(r->stream);
	(void)cudaGetLastError();
	free(r->block_begins);
}
