/* SPDX-License-Identifier: MIT
 *
 * groups_down.cu - how the groups that a GPU has kept come to the plan's store. Threads take one part of the table
 * after the other, and copy it piece by piece, so that some copy while others add.
 */
#include "kernels/worker/groups.cuh"

extern "C" {
#include "base/team.h"
#include "fold/groups.h"
}

#define PIECE_NBYTES ((size_t)8 << 20) /* of a part, that comes down at once */
static_assert(PIECE_NBYTES > 2 * GROUP_TABLE_KEY_NBYTES_MAX, "a piece holds a group");

/* What the threads share. */
struct descent {
	const struct gpu_groups *groups;
	struct group_control control;
	size_t piece_nwords; /* the longest */
	uint32_t next;       /* part that no thread has taken */
	int failed;          /* the thread that sets it has fault */
	struct fault fault;
};

/* One thread's memory, and its stream. */
struct descending {
	struct descent *all;
	struct pinned_buffer piece;
	cudaStream_t stream;
};

/* Copies words of the device to the piece. */
static enum status copy_piece(struct descending *d, const uint64_t *words, uint64_t nwords, struct fault *fault)
{
	TRY("copy groups", cudaMemcpyAsync(d->piece.data, words, nwords * sizeof *words, cudaMemcpyDeviceToHost,
					   d->stream));
	TRY("copy groups", cudaStreamSynchronize(d->stream));
	return STATUS_OK;
}

/* Adds a part to the store, piece by piece: each begins with the group that the one before has cut. */
static enum status add_part(struct descending *d, uint32_t p, struct fault *fault)
{
	const struct group_table *t = &d->all->groups->table;
	uint64_t nwords = group_part_nwords(*t, d->all->control, p);
	struct groups *to;
	enum status status = group_words_begin(d->all->groups->plan, p, &to);
	size_t nused;

	for (uint64_t at = 0; at < nwords && status == STATUS_OK; at += nused) {
		uint64_t n = nwords - at < d->all->piece_nwords ? nwords - at : d->all->piece_nwords;
		nused = 0;
		status = copy_piece(d, group_part_words(*t, p) + at, n, fault);
		if (status == STATUS_OK)
			status = group_words_add(to, &t->layout, d->all->control.scales,
						 (const uint64_t *)d->piece.data, n, &nused);
	}
	group_words_end(d->all->groups->plan, p);
	return status == STATUS_OK || status == STATUS_GPU
		       ? status : partial_fault(NULL, d->all->groups->plan, status, fault);
}

static enum status open_descending(struct descending *d, struct fault *fault)
{
	TRY("select GPU", cudaSetDevice(d->all->groups->device));
	TRY("create stream", cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
	pinned_buffer_reserve(&d->piece, d->all->piece_nwords * sizeof(uint64_t));
	TRY("pin memory", pinned_buffer_pin(&d->piece));
	return STATUS_OK;
}

static void *add_parts(void *argument)
{
	struct descending d = {(struct descent *)argument, {}, NULL};
	struct fault fault;
	enum status status = open_descending(&d, &fault);
	uint32_t p;

	while (status == STATUS_OK &&
	       (p = __atomic_fetch_add(&d.all->next, 1, __ATOMIC_RELAXED)) < GROUP_TABLE_NPARTS)
		status = add_part(&d, p, &fault);
	if (status != STATUS_OK && !__atomic_exchange_n(&d.all->failed, 1, __ATOMIC_RELAXED))
		d.all->fault = fault;
	(void)pinned_buffer_free(&d.piece);
	if (d.stream)
		(void)cudaStreamDestroy(d.stream);
	(void)cudaGetLastError();
	return NULL;
}

enum status gpu_groups_bring_down(const struct gpu_groups *g, int nthreads, struct fault *fault)
{
	struct descent d = {g, {}, 0, 0, 0, {}};
	uint64_t nwords = 0, most = 0;

	TRY("select GPU", cudaSetDevice(g->device));
	TRY("copy groups", cudaMemcpy(&d.control, g->table.control, sizeof d.control, cudaMemcpyDeviceToHost));
	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++) {
		uint64_t n = group_part_nwords(g->table, d.control, p);
		nwords += n;
		most = n > most ? n : most;
	}
	if (nwords == 0)
		return STATUS_OK;
	d.piece_nwords = PIECE_NBYTES / sizeof(uint64_t);
	d.piece_nwords = most < d.piece_nwords ? most : d.piece_nwords;
	team_run(nwords * sizeof(uint64_t) < PIECE_NBYTES ? 1 : (size_t)nthreads, add_parts, &d);
	if (d.failed)
		*fault = d.fault;
	return d.failed ? fault->status : STATUS_OK;
}
