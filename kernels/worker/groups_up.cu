/* SPDX-License-Identifier: MIT
 *
 * groups_up.cu - how groups of the plan's store come to the table of a GPU: threads take one part of the store after the
 * other, write its groups as words, and send them piece by piece. What a table cannot take is found out before the first
 * is sent.
 */
#include <stdlib.h>

#include "kernels/worker/groups_piece.cuh"

extern "C" {
#include "base/team.h"
#include "fold/group_list.h"
#include "fold/groups.h"
}

#define PIECE_NWORDS ((size_t)1 << 19) /* that go up at once */
#define PIECE_NGROUPS ((size_t)1 << 15)
static_assert(PIECE_NWORDS > GROUP_LAYOUT_NCOLUMNS_MAX * 9 + GROUP_TABLE_KEY_NBYTES_MAX / 8 + 2, "a piece holds a group");

/* Groups of the store on their way to the table. */
struct ascent {
	const struct gpu_groups *groups;
	const struct group_control *control;
	uint32_t next;   /* part that no thread has taken */
	int refused;     /* some group does not fit in words */
	uint64_t ngroups[GROUP_TABLE_NPARTS], nwords[GROUP_TABLE_NPARTS]; /* of the parts */
	int failed;      /* the thread that sets it has fault */
	struct fault fault;
};

/* One thread's. */
struct ascending {
	struct ascent *all;
	uint32_t part;
	struct host_piece piece; /* words, then begins */
	struct device_piece on_device;
	uint64_t *words, *begins;
	size_t ngroups, nwords; /* in the piece */
	struct fault fault;
};

static struct groups *part_of(const struct ascent *all, uint32_t p)
{
	return group_store_part(all->groups->plan->groups, p);
}

static bool take_part(struct ascending *a)
{
	return (a->part = __atomic_fetch_add(&a->all->next, 1, __ATOMIC_RELAXED)) < GROUP_TABLE_NPARTS;
}

static size_t put(const struct ascending *a, const struct group *group, uint64_t *words)
{
	const struct gpu_groups *g = a->all->groups;

	return group_words_put(group, g->plan, &g->table.layout, a->all->control->scales, words);
}

static enum status survey_group(void *context, struct group *group)
{
	struct ascending *a = (struct ascending *)context;
	size_t nwords = group->nrecords ? put(a, group, a->words) : 0;

	if (group->nrecords && nwords == 0) {
		__atomic_store_n(&a->all->refused, 1, __ATOMIC_RELAXED);
		return STATUS_NO_MEMORY; /* no further group is visited */
	}
	a->all->ngroups[a->part] += group->nrecords > 0;
	a->all->nwords[a->part] += nwords;
	return STATUS_OK;
}

static void *survey_parts(void *ascent)
{
	struct ascending a = {};

	a.all = (struct ascent *)ascent;
	a.words = (uint64_t *)malloc(group_words_most(&a.all->groups->table.layout) * sizeof *a.words);
	if (!a.words)
		__atomic_store_n(&a.all->refused, 1, __ATOMIC_RELAXED);
	while (a.words && !__atomic_load_n(&a.all->refused, __ATOMIC_RELAXED) && take_part(&a))
		(void)groups_each(part_of(a.all, a.part), survey_group, &a);
	free(a.words);
	return NULL;
}

/* Whether the table has words for what the survey has found. */
static bool table_has_room(const struct ascent *all)
{
	const struct group_table *t = &all->groups->table;

	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++) {
		uint64_t nwords = group_part_nwords(*t, *all->control, p) + all->nwords[p];
		if (nwords > t->part_nwords)
			return false;
	}
	return true;
}

static enum status send_piece(struct ascending *a)
{
	const struct group_table *t = &a->all->groups->table;
	const struct device_piece *to = &a->on_device;
	cudaStream_t stream = a->piece.stream;
	struct fault *fault = &a->fault;

	GPU_TRY("send groups", cudaMemcpyAsync(to->words, a->words, a->nwords * sizeof *a->words, cudaMemcpyHostToDevice, stream));
	GPU_TRY("send groups", cudaMemcpyAsync(to->begins, a->begins, a->ngroups * sizeof *a->begins, cudaMemcpyHostToDevice,
					   stream));
	GPU_TRY("launch group_merge",
	    group_merge_launch(*t, to->words, to->begins, (uint32_t)a->ngroups, to->nleft, stream));
	GPU_TRY("send groups", cudaStreamSynchronize(stream));
	a->ngroups = a->nwords = 0;
	return STATUS_OK;
}

static enum status send_group(void *context, struct group *group)
{
	struct ascending *a = (struct ascending *)context;
	enum status status = STATUS_OK;

	if (group->nrecords == 0)
		return STATUS_OK;
	if (a->ngroups == PIECE_NGROUPS || a->nwords + group_words_most(&a->all->groups->table.layout) > PIECE_NWORDS)
		status = send_piece(a);
	if (status != STATUS_OK)
		return status;
	a->begins[a->ngroups++] = a->nwords;
	a->nwords += put(a, group, a->words + a->nwords);
	return STATUS_OK;
}

static enum status open_ascending(struct ascending *a)
{
	size_t words_nbytes = PIECE_NWORDS * sizeof *a->words, begins_nbytes = PIECE_NGROUPS * sizeof *a->begins;
	enum status status = host_piece_open(&a->piece, a->all->groups->device, words_nbytes + begins_nbytes, &a->fault);
	bool made = true;

	if (status == STATUS_OK)
		status = device_piece_open(&a->on_device, PIECE_NWORDS, PIECE_NGROUPS, a->piece.stream, &made, &a->fault);
	if (!made)
		return gpu_fault(&a->fault, STATUS_GPU, "allocate groups", cudaErrorMemoryAllocation);
	if (status != STATUS_OK)
		return status;
	a->words = (uint64_t *)a->piece.memory.data;
	a->begins = (uint64_t *)(a->piece.memory.data + words_nbytes);
	return STATUS_OK;
}

/* Sends the last piece. */
static enum status end_ascending(struct ascending *a)
{
	enum status status = a->ngroups > 0 ? send_piece(a) : STATUS_OK;

	return status == STATUS_OK ? device_piece_end(&a->on_device, a->piece.stream, &a->fault) : status;
}

static void *send_parts(void *ascent)
{
	struct ascending a = {};
	enum status status;

	a.all = (struct ascent *)ascent;
	status = open_ascending(&a);
	while (status == STATUS_OK && take_part(&a))
		status = groups_each(part_of(a.all, a.part), send_group, &a);
	if (status == STATUS_OK)
		status = end_ascending(&a);
	if (status != STATUS_OK && !__atomic_exchange_n(&a.all->failed, 1, __ATOMIC_RELAXED))
		a.all->fault = a.fault;
	device_piece_close(&a.on_device);
	host_piece_close(&a.piece);
	return NULL;
}

/* ---- all of it ---- */

static void visit_store(struct ascent *all, const struct gpu_groups *g, const struct group_control *control, int nthreads,
			void *(*visit)(void *))
{
	uint64_t ngroups = group_store_count(g->plan->groups);

	*all = {};
	all->groups = g;
	all->control = control;
	if (ngroups > 0)
		team_run(ngroups < GROUP_LIST_FEW ? 1 : (size_t)nthreads, visit, all);
}

bool gpu_groups_survey(const struct gpu_groups *g, const struct group_control *control, int nthreads, uint64_t *ngroups,
		       uint64_t *nwords)
{
	struct ascent all;

	visit_store(&all, g, control, nthreads, survey_parts);
	*ngroups = *nwords = 0;
	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++) {
		*ngroups += all.ngroups[p];
		*nwords += all.nwords[p];
	}
	return !all.refused && table_has_room(&all);
}

enum status gpu_groups_send(const struct gpu_groups *g, const struct group_control *control, int nthreads,
			    struct fault *fault)
{
	struct ascent all;

	visit_store(&all, g, control, nthreads, send_parts);
	if (all.failed)
		*fault = all.fault;
	return all.failed ? fault->status : STATUS_OK;
}
