/* SPDX-License-Identifier: MIT
 *
 * groups_held.cu - the groups of a run that are only to be printed stay on the GPU that has them until then:
 *
 *     1. what the store has, as of records that chunks' borders cut, goes up into the table (groups_up.cu)
 *     2. all are sorted by their first records, and laid one behind the other (kernels/group/group_arrange.cuh)
 *     3. threads that print read them, block by block (fold/group_source.h)
 *
 * Whether all of that can be done is found out first: until 1. nothing has changed, and the groups may still be brought
 * down.
 */
#include <stdlib.h>

#include "kernels/group/group_arrange.cuh"
#include "kernels/level/gpu_memory.cuh"
#include "kernels/scan/scan.cuh"
#include "kernels/worker/groups.cuh"

extern "C" {
#include "fold/group_source.h"
#include "fold/groups.h"
}

/* What the source owns. Zeroed: nothing. */
struct held_groups {
	struct group_source source;
	struct gpu_groups *groups;
	struct group_control control; /* the scales are the source's */
	uint64_t *words;              /* device memory: of all groups, one behind the other */
	uint64_t *begins;             /* in words, of each block; the last: where they end */
	size_t block_nwords;          /* of the longest */
};

/* ---- in their order ---- */

/* What that takes on the device, for up to n groups. */
struct arranging {
	struct group_census *census;
	struct group_places places;
	uint64_t *begins; /* n + 1: in place of the first records, when they are sorted */
	void *scratch, *slots;
	size_t scratch_nbytes, slots_nbytes;
	struct scan_shape shape;
	struct arena memory;
	cudaStream_t stream;
};

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

/* Whether an allocation was made; that there is no memory is no failure. */
static enum status allocate(void **memory, size_t nbytes, bool *made, struct fault *fault)
{
	cudaError_t error = gpu_checked(cudaMalloc(memory, nbytes));

	*made = error == cudaSuccess;
	if (error != cudaErrorMemoryAllocation)
		return *made ? STATUS_OK : gpu_fault(fault, STATUS_GPU, "allocate groups", error);
	(void)cudaGetLastError();
	*memory = NULL;
	return STATUS_OK;
}

static enum status count_groups(const struct group_table *t, const struct arranging *r, struct group_census *out,
				struct fault *fault)
{
	TRY("launch visit_slots", group_count_launch(*t, r->census, r->stream));
	TRY("count groups", cudaMemcpyAsync(out, r->census, sizeof *out, cudaMemcpyDeviceToHost, r->stream));
	TRY("count groups", cudaStreamSynchronize(r->stream));
	return STATUS_OK;
}

/* Allocates what arranging up to n groups takes. */
static enum status arranging_open(struct arranging *r, uint64_t n, bool *made, struct fault *fault)
{
	struct arena measured = {};

	TRY("choose a scan", scan_shape_choose<scan_sum_u64>(&r->shape));
	r->slots_nbytes = scan_memory_nbytes<scan_sum_u64>(&r->shape, n + 1);
	r->scratch_nbytes = group_sort_scratch_nbytes(n);
	if (r->scratch_nbytes == SIZE_MAX)
		return gpu_fault(fault, STATUS_GPU, "measure the sort of groups", cudaGetLastError());
	arranging_cut(r, &measured, n);
	enum status status = allocate((void **)&r->memory.base, measured.nbytes, made, fault);
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

	TRY("launch visit_slots", group_place_launch(*t, r->places, r->census, r->stream));
	TRY("count groups", cudaMemcpyAsync(&census, r->census, sizeof census, cudaMemcpyDeviceToHost, r->stream));
	TRY("count groups", cudaStreamSynchronize(r->stream));
	r->places.n = census.n;
	TRY("sort groups", group_sort_launch(r->places, census.last, r->scratch, &sorted, r->stream));
	*index = r->places.index[sorted];
	r->begins = r->places.first[0];
	TRY("launch measure", group_measure_launch(*t, *index, census.n, r->begins, r->stream));
	TRY("scan groups", scan_memory_open(&memory, r->slots, r->slots_nbytes, r->stream));
	TRY("scan groups", scan_launch<scan_sum_u64>(&r->shape, &memory, {r->begins, r->begins, census.n + 1, NULL, NULL, true},
						     r->stream));
	return STATUS_OK;
}

/* Copies down where each block begins. */
static enum status list_blocks(struct held_groups *h, const struct arranging *r, struct fault *fault)
{
	uint64_t n = r->places.n;
	size_t nblocks = (size_t)((n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);

	h->source.ngroups = n;
	h->begins = (uint64_t *)malloc((nblocks + 1) * sizeof *h->begins);
	if (!h->begins)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	TRY("copy groups", cudaMemcpy2DAsync(h->begins, sizeof(uint64_t), r->begins, GROUP_SOURCE_NGROUPS * sizeof(uint64_t),
					     sizeof(uint64_t), nblocks, cudaMemcpyDeviceToHost, r->stream));
	TRY("copy groups", cudaMemcpyAsync(h->begins + nblocks, r->begins + n, sizeof(uint64_t), cudaMemcpyDeviceToHost,
					   r->stream));
	TRY("copy groups", cudaStreamSynchronize(r->stream));
	for (size_t b = 0; b < nblocks; b++) {
		size_t nwords = (size_t)(h->begins[b + 1] - h->begins[b]);
		h->block_nwords = nwords > h->block_nwords ? nwords : h->block_nwords;
	}
	return STATUS_OK;
}

static enum status arrange(struct held_groups *h, struct arranging *r, struct fault *fault)
{
	const struct group_table *t = &h->groups->table;
	const uint64_t *index = NULL;
	enum status status = sort_groups(t, r, &index, fault);

	if (status != STATUS_OK)
		return status;
	TRY("launch gather", group_gather_launch(*t, index, r->begins, r->places.n, h->words, r->stream));
	return list_blocks(h, r, fault);
}

/* ---- the source ---- */

struct group_reader {
	const struct held_groups *held;
	struct pinned_buffer piece;
	cudaStream_t stream;
};

static enum status open_stream(struct group_reader *r, struct fault *fault)
{
	TRY("select GPU", cudaSetDevice(r->held->groups->device));
	TRY("create stream", cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	pinned_buffer_reserve(&r->piece, r->held->block_nwords * sizeof(uint64_t));
	TRY("pin memory", pinned_buffer_pin(&r->piece));
	return STATUS_OK;
}

static void held_close(struct group_reader *r)
{
	(void)pinned_buffer_free(&r->piece);
	if (r->stream)
		(void)cudaStreamDestroy(r->stream);
	(void)cudaGetLastError();
	free(r);
}

static enum status held_open(const struct group_source *s, struct group_reader **out, struct fault *fault)
{
	struct group_reader *r = (struct group_reader *)calloc(1, sizeof *r);
	enum status status;

	*out = NULL;
	if (!r)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	r->held = (const struct held_groups *)s;
	status = open_stream(r, fault);
	if (status == STATUS_OK)
		*out = r;
	else
		held_close(r);
	return status;
}

static enum status held_read(struct group_reader *r, size_t block, const uint64_t **words, struct fault *fault)
{
	const uint64_t *begins = &r->held->begins[block];

	TRY("copy groups", cudaMemcpyAsync(r->piece.data, r->held->words + begins[0],
					   (begins[1] - begins[0]) * sizeof(uint64_t), cudaMemcpyDeviceToHost, r->stream));
	TRY("copy groups", cudaStreamSynchronize(r->stream));
	*words = (const uint64_t *)r->piece.data;
	return STATUS_OK;
}

/* Frees all but the table. */
static void free_held(struct held_groups *h)
{
	(void)cudaFree(h->words);
	(void)cudaGetLastError();
	free(h->begins);
	free(h);
}

static void held_free(struct group_source *s)
{
	struct held_groups *h = (struct held_groups *)s;

	(void)cudaSetDevice(h->groups->device);
	gpu_groups_free(h->groups);
	free_held(h);
}

static const struct group_source_ops held_ops = {held_open, held_read, held_close, held_free};

/* ---- all of it ---- */

/* Whether probes stay short with n groups. */
static bool has_slots(const struct group_table *t, uint64_t n)
{
	return n <= GROUP_TABLE_NPARTS * t->part_nslots / 4 * 3;
}

/* Finds out whether it can be done, and allocates what it takes. */
static enum status prepare(struct held_groups *h, struct arranging *r, int nthreads, bool *can, struct fault *fault)
{
	const struct group_table *t = &h->groups->table;
	struct group_census census = {};
	uint64_t nadded, nwords;
	enum status status;
	bool made = false;

	if (!gpu_groups_survey(h->groups, &h->control, nthreads, &nadded, &nwords))
		return STATUS_OK;
	status = allocate((void **)&r->census, sizeof *r->census, &made, fault);
	if (made)
		status = count_groups(t, r, &census, fault);
	(void)cudaFree(r->census);
	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++)
		nwords += group_part_nwords(*t, h->control, p);
	if (status != STATUS_OK || !made || census.n == 0 || !has_slots(t, census.n + nadded))
		return status;
	status = arranging_open(r, census.n + nadded, &made, fault);
	if (status == STATUS_OK && made)
		status = allocate((void **)&h->words, nwords * sizeof *h->words, can, fault);
	return status;
}

static enum status hold(struct held_groups *h, struct arranging *r, int nthreads, bool *held, struct fault *fault)
{
	bool can = false;
	enum status status;

	TRY("select GPU", cudaSetDevice(h->groups->device));
	TRY("create stream", cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	TRY("copy groups", cudaMemcpy(&h->control, h->groups->table.control, sizeof h->control, cudaMemcpyDeviceToHost));
	status = prepare(h, r, nthreads, &can, fault);
	if (status != STATUS_OK || !can)
		return status;
	status = gpu_groups_send(h->groups, &h->control, nthreads, fault);
	if (status == STATUS_OK)
		status = arrange(h, r, fault);
	*held = status == STATUS_OK;
	return status;
}

enum status gpu_groups_hold(struct gpu_groups *g, int nthreads, bool *held, struct fault *fault)
{
	struct held_groups *h = (struct held_groups *)calloc(1, sizeof *h);
	struct arranging r = {};
	enum status status;

	if (!h)
		return STATUS_OK; /* not held */
	h->groups = g;
	h->source.ops = &held_ops;
	h->source.layout = &g->table.layout;
	h->source.scales = h->control.scales;
	status = hold(h, &r, nthreads, held, fault);
	(void)cudaFree(r.memory.base);
	if (r.stream)
		(void)cudaStreamDestroy(r.stream);
	(void)cudaGetLastError();
	if (*held)
		group_store_set_source(g->plan->groups, &h->source);
	else
		free_held(h);
	return status;
}
