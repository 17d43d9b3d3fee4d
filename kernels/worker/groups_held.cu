/* SPDX-License-Identifier: MIT
 *
 * groups_held.cu - the groups of a run that are only to be printed stay on the GPU that has them until then:
 *
 *     1. what the store has, as of records that chunks' borders cut, goes up into the table (groups_up.cu)
 *     2. all are sorted by their first records, and laid one behind the other (groups_arranged.cuh)
 *     3. threads that print read them, block by block (fold/group_source.h)
 *
 * Whether all of that can be done is found out first: until 1. nothing has changed, and the groups may still be brought
 * down.
 */
#include <stdlib.h>

#include "kernels/worker/groups_arranged.cuh"
#include "kernels/worker/groups_piece.cuh"

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
	uint64_t *begins;             /* in words, of each block; the last: where they end. malloc's */
	size_t block_nwords;          /* of the longest */
};

/* ---- the source ---- */

struct group_reader {
	const struct held_groups *held;
	struct host_piece piece;
};

static void held_close(struct group_reader *r)
{
	host_piece_close(&r->piece);
	free(r);
}

static enum status held_open(const struct group_source *s, struct group_reader **out, struct fault *fault)
{
	struct group_reader *r = (struct group_reader *)calloc(1, sizeof *r);
	const struct held_groups *h = (const struct held_groups *)s;
	enum status status;

	*out = NULL;
	if (!r)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	r->held = h;
	status = host_piece_open(&r->piece, h->groups->device, h->block_nwords * sizeof *h->words, fault);
	if (status == STATUS_OK)
		*out = r;
	else
		held_close(r);
	return status;
}

static enum status held_read(struct group_reader *r, size_t block, const uint64_t **words, struct fault *fault)
{
	const uint64_t *begins = &r->held->begins[block];

	*words = (const uint64_t *)r->piece.memory.data;
	return host_piece_read(&r->piece, r->held->words + begins[0], begins[1] - begins[0], fault);
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

/* Finds out whether it can be done, and allocates what it takes. */
static enum status prepare(struct held_groups *h, struct arranging *r, int nthreads, bool *can, struct fault *fault)
{
	uint64_t n, nadded, nwords;
	enum status status;

	status = group_store_visit(h->groups->plan->groups, (size_t)nthreads, NULL, NULL); /* tuples become groups */
	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	if (!gpu_groups_survey(h->groups, &h->control, nthreads, &nadded, &nwords))
		return STATUS_OK;
	status = groups_count(h->groups, &n, fault);
	if (status != STATUS_OK || n == 0 || !groups_have_slots(&h->groups->table, n + nadded))
		return status;
	return arranging_open(r, h->groups, n + nadded, groups_nwords(&h->groups->table, &h->control) + nwords, can, fault);
}

/* What the source keeps of an arrangement. */
static void keep_arranged(struct held_groups *h, struct arranging *r)
{
	h->source.ngroups = r->places.n;
	h->words = r->words;
	h->begins = r->block_begins;
	h->block_nwords = r->block_nwords;
	r->words = r->block_begins = NULL;
}

static enum status hold(struct held_groups *h, struct arranging *r, int nthreads, bool *held, struct fault *fault)
{
	bool can = false;
	enum status status;

	GPU_TRY("select GPU", cudaSetDevice(h->groups->device));
	GPU_TRY("copy groups", cudaMemcpy(&h->control, h->groups->table.control, sizeof h->control, cudaMemcpyDeviceToHost));
	status = prepare(h, r, nthreads, &can, fault);
	if (status != STATUS_OK || !can)
		return status;
	status = gpu_groups_send(h->groups, &h->control, nthreads, fault);
	if (status == STATUS_OK)
		status = arranging_run(r, &h->groups->table, fault);
	if (status == STATUS_OK)
		keep_arranged(h, r);
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
	arranging_close(&r);
	if (*held)
		group_store_set_source(g->plan->groups, &h->source);
	else
		free_held(h);
	return status;
}
