/* SPDX-License-Identifier: MIT
 *
 * groups_down.cu - how the groups that a GPU has kept come to the plan's store. Threads take one part of the table
 * after the other, and copy it piece by piece, so that some copy while others add.
 */
#include "kernels/worker/groups_piece.cuh"

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

/* Adds a part to the store, piece by piece: each begins with the group that the one before has cut. */
static enum status add_part(const struct descent *d, struct host_piece *piece, uint32_t p, struct fault *fault)
{
	const struct group_table *t = &d->groups->table;
	uint64_t nwords = group_part_nwords(*t, d->control, p);
	struct groups *to;
	enum status status = group_words_begin(d->groups->plan, p, &to);
	size_t nused;

	for (uint64_t at = 0; at < nwords && status == STATUS_OK; at += nused) {
		uint64_t n = nwords - at < d->piece_nwords ? nwords - at : d->piece_nwords;
		nused = 0;
		status = host_piece_read(piece, group_part_words(*t, p) + at, n, fault);
		if (status == STATUS_OK)
			status = group_words_add(to, &t->layout, d->control.scales, (const uint64_t *)piece->memory.data, n,
						 &nused);
	}
	group_words_end(d->groups->plan, p);
	return status == STATUS_OK || status == STATUS_GPU ? status : partial_fault(NULL, d->groups->plan, status, fault);
}

static void *add_parts(void *descent)
{
	struct descent *d = (struct descent *)descent;
	struct host_piece piece = {};
	struct fault fault;
	enum status status = host_piece_open(&piece, d->groups->device, d->piece_nwords * sizeof(uint64_t), &fault);
	uint32_t p;

	while (status == STATUS_OK && (p = __atomic_fetch_add(&d->next, 1, __ATOMIC_RELAXED)) < GROUP_TABLE_NPARTS)
		status = add_part(d, &piece, p, &fault);
	if (status != STATUS_OK && !__atomic_exchange_n(&d->failed, 1, __ATOMIC_RELAXED))
		d->fault = fault;
	host_piece_close(&piece);
	return NULL;
}

enum status gpu_groups_bring_down(const struct gpu_groups *g, int nthreads, struct fault *fault)
{
	struct descent d = {g, {}, 0, 0, 0, {}};
	uint64_t nwords = 0, most = 0;

	GPU_TRY("select GPU", cudaSetDevice(g->device));
	GPU_TRY("copy groups", cudaMemcpy(&d.control, g->table.control, sizeof d.control, cudaMemcpyDeviceToHost));
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
