/* SPDX-License-Identifier: MIT
 *
 * groups_end.cu - what becomes of a GPU's groups when the last chunk has been folded. They come down to the plan's store; or,
 * where they are only to be printed, they stay:
 *
 *     1. those of other GPUs are sent to one (gpu_groups_cross)
 *     2. groups that lie in the store, such as those of records cut by chunk borders, go up into its table
 *     3. all are sorted by their first records, and laid one behind the other (kernels/group/group_arrange.cuh)
 *     4. threads that print read them, block by block (fold/groups.h)
 *
 * Whether all of that can be done is found out first: until 2. nothing has changed, and the groups may still be brought
 * down.
 */
#include <stdlib.h>

#include "kernels/group/group_arrange.cuh"
#include "kernels/level/gpu_memory.cuh"
#include "kernels/scan/scan.cuh"
#include "kernels/worker/groups.cuh"

extern "C" {
#include "base/thread.h"
#include "fold/group_order.h"
#include "fold/groups.h"
}

/* ======== pieces: what groups are copied through ======== */

/* One thread's memory of the host, and the stream that copies there, or from there. Zeroed: nothing. */
struct host_piece {
	cudaStream_t stream;
	struct pinned_buffer memory;
};

/* Groups that a kernel adds to a table: memory of the table's device, owned. Zeroed: nothing. */
struct device_piece {
	uint64_t *words, *begins;
	unsigned long long *nleft; /* groups that the table had no room for */
};

/* Selects the device, and allocates. Errors: STATUS_GPU. Close p in any case. */
static enum status host_piece_open(struct host_piece *p, int device, size_t nbytes, struct fault *fault)
{
	GPU_TRY("select GPU", cudaSetDevice(device));
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	pinned_buffer_reserve(&p->memory, nbytes);
	GPU_TRY("pin memory", pinned_buffer_pin(&p->memory));
	return STATUS_OK;
}

/* Copies words of the device to the beginning of the memory, and waits. Errors: STATUS_GPU. */
static enum status host_piece_read(struct host_piece *p, const uint64_t *words, uint64_t nwords, struct fault *fault)
{
	GPU_TRY("copy groups", cudaMemcpyAsync(p->memory.data, words, nwords * sizeof *words, cudaMemcpyDeviceToHost,
					   p->stream));
	GPU_TRY("copy groups", cudaStreamSynchronize(p->stream));
	return STATUS_OK;
}

static void host_piece_close(struct host_piece *p)
{
	if (p->stream)
		(void)cudaStreamSynchronize(p->stream); /* after a fault a copy may go on */
	(void)pinned_buffer_free(&p->memory);
	if (p->stream)
		(void)cudaStreamDestroy(p->stream);
	(void)cudaGetLastError();
}

/* Allocates memory of the current device. *made: false: it has not so much. Errors: STATUS_GPU. */
static enum status groups_allocate(void **memory, size_t nbytes, bool *made, struct fault *fault)
{
	cudaError_t error = gpu_checked(cudaMalloc(memory, nbytes));

	*made = error == cudaSuccess;
	if (error != cudaErrorMemoryAllocation)
		return *made ? STATUS_OK : gpu_fault(fault, STATUS_GPU, "allocate groups", error);
	(void)cudaGetLastError();
	*memory = NULL;
	return STATUS_OK;
}

/* Allocates on the current device, for nwords of up to ngroups groups, and clears *nleft in the stream, in which groups are
 * then merged. *made: false: the device has no memory for it. Errors: STATUS_GPU. Close p in any case. */
static enum status device_piece_open(struct device_piece *p, size_t nwords, size_t ngroups, cudaStream_t stream, bool *made,
				     struct fault *fault)
{
	TRY(groups_allocate((void **)&p->words, nwords * sizeof *p->words, made, fault));
	if (*made)
		TRY(groups_allocate((void **)&p->begins, ngroups * sizeof *p->begins, made, fault));
	if (*made)
		TRY(groups_allocate((void **)&p->nleft, sizeof *p->nleft, made, fault));
	if (!*made)
		return STATUS_OK;
	GPU_TRY("clear groups", cudaMemsetAsync(p->nleft, 0, sizeof *p->nleft, stream));
	return STATUS_OK;
}

/* Waits for the stream. Errors: STATUS_GPU, also where the table had no room for a group: whoever sends groups finds out before
 * whether there is room, and now some of them are in it. */
static enum status device_piece_end(const struct device_piece *p, cudaStream_t stream, struct fault *fault)
{
	unsigned long long nleft;

	GPU_TRY("send groups", cudaMemcpyAsync(&nleft, p->nleft, sizeof nleft, cudaMemcpyDeviceToHost, stream));
	GPU_TRY("send groups", cudaStreamSynchronize(stream));
	return nleft == 0 ? STATUS_OK : fault_set(fault, STATUS_GPU, 0, "no room for groups");
}

static void device_piece_close(struct device_piece *p)
{
	(void)cudaFree(p->nleft);
	(void)cudaFree(p->begins);
	(void)cudaFree(p->words);
	(void)cudaGetLastError();
}

/* ======== what a table has ======== */

/* Selects the table's device, and copies its control down. Errors: STATUS_GPU. */
static enum status read_control(const struct gpu_groups *g, struct group_control *control, struct fault *fault)
{
	GPU_TRY("select GPU", cudaSetDevice(g->device));
	GPU_TRY("copy groups", cudaMemcpy(control, g->table.control, sizeof *control, cudaMemcpyDeviceToHost));
	return STATUS_OK;
}

/* The groups of a table that have records; 0 also where the device has no memory for counting. Makes the device the current
 * one, and waits for it. Errors: STATUS_GPU. */
static enum status count_groups(const struct gpu_groups *g, uint64_t *n, struct fault *fault)
{
	struct group_census *census = NULL;
	cudaError_t error;
	bool made = false;

	*n = 0;
	GPU_TRY("select GPU", cudaSetDevice(g->device));
	TRY(groups_allocate((void **)&census, sizeof *census, &made, fault));
	if (!made)
		return STATUS_OK;
	error = gpu_checked(group_count_launch(g->table, census, NULL));
	if (error == cudaSuccess)
		error = gpu_checked(cudaMemcpy(n, &census->n, sizeof *n, cudaMemcpyDeviceToHost));
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

/* Whether probes stay short with n groups. */
static bool groups_have_slots(const struct group_table *t, uint64_t n)
{
	return n <= GROUP_TABLE_NPARTS * t->part_nslots / 4 * 3;
}

/* ======== down to the store ======== */

/* Threads take one part of the table after the other, and copy it piece by piece, so that some copy while others add. */

#define PIECE_NBYTES ((size_t)8 << 20) /* the most of a part that is copied down at once */
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

	TRY(read_control(g, &d.control, fault));
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

/* ======== up from the store ======== */

/* Threads take one part of the store after the other, write its groups as words, and send them piece by piece. What a table
 * cannot take is found out before the first is sent. */

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

	if (group->nrecords == 0)
		return STATUS_OK;
	if (a->ngroups == PIECE_NGROUPS || a->nwords + group_words_most(&a->all->groups->table.layout) > PIECE_NWORDS)
		TRY(send_piece(a));
	a->begins[a->ngroups++] = a->nwords;
	a->nwords += put(a, group, a->words + a->nwords);
	return STATUS_OK;
}

static enum status open_ascending(struct ascending *a)
{
	size_t words_nbytes = PIECE_NWORDS * sizeof *a->words, begins_nbytes = PIECE_NGROUPS * sizeof *a->begins;
	bool made = false;

	TRY(host_piece_open(&a->piece, a->all->groups->device, words_nbytes + begins_nbytes, &a->fault));
	TRY(device_piece_open(&a->on_device, PIECE_NWORDS, PIECE_NGROUPS, a->piece.stream, &made, &a->fault));
	if (!made)
		return gpu_fault(&a->fault, STATUS_GPU, "allocate groups", cudaErrorMemoryAllocation);
	a->words = (uint64_t *)a->piece.memory.data;
	a->begins = (uint64_t *)(a->piece.memory.data + words_nbytes);
	return STATUS_OK;
}

/* Sends the last piece. */
static enum status end_ascending(struct ascending *a)
{
	if (a->ngroups > 0)
		TRY(send_piece(a));
	return device_piece_end(&a->on_device, a->piece.stream, &a->fault);
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

/* Sets *ngroups and *nwords to what the plan's store has, as words; no tuples wait there any more. Returns false where the
 * table, whose control is given, does not take all of them: it has no words for them, or some have what words cannot hold. */
static bool survey_store(const struct gpu_groups *g, const struct group_control *control, int nthreads, uint64_t *ngroups,
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

/* Adds the groups of the plan's store, which has been surveyed, to the table. Errors: STATUS_GPU: some may be there then. */
static enum status send_store(const struct gpu_groups *g, const struct group_control *control, int nthreads, struct fault *fault)
{
	struct ascent all;

	visit_store(&all, g, control, nthreads, send_parts);
	if (all.failed)
		*fault = all.fault;
	return all.failed ? fault->status : STATUS_OK;
}

/* ======== arranged one behind the other ======== */

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
	TRY(groups_allocate((void **)&r->memory.base, measured.nbytes, made, fault));
	if (*made)
		arranging_cut(r, &r->memory, n);
	return STATUS_OK;
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

/* Allocates what it takes to arrange ngroups groups with nwords: the table's, and those that will be added to it before.
 * *can: false: the device has no memory for it. Errors: STATUS_GPU. Close r in any case. */
static enum status arranging_open(struct arranging *r, const struct gpu_groups *g, uint64_t ngroups, uint64_t nwords, bool *can,
				  struct fault *fault)
{
	bool made = false;

	GPU_TRY("select GPU", cudaSetDevice(g->device));
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	TRY(reserve(r, ngroups, &made, fault));
	return made ? groups_allocate((void **)&r->words, nwords * sizeof *r->words, can, fault) : STATUS_OK;
}

/* Arranges them; waits until it is done. Errors: STATUS_GPU, STATUS_NO_MEMORY. */
static enum status arranging_run(struct arranging *r, const struct group_table *t, struct fault *fault)
{
	const uint64_t *index = NULL;

	TRY(sort_groups(t, r, &index, fault));
	GPU_TRY("launch gather", group_gather_launch(*t, index, r->begins, r->places.n, r->words, r->stream));
	return list_blocks(r, fault);
}

static void arranging_close(struct arranging *r)
{
	(void)cudaFree(r->memory.base);
	(void)cudaFree(r->words);
	if (r->stream)
		(void)cudaStreamDestroy(r->stream);
	(void)cudaGetLastError();
	free(r->block_begins);
}

/* ======== to another GPU ======== */

#define NDEVICES_MAX 64

/* What it takes. */
struct crossing {
	const struct gpu_groups *from, *to;
	struct group_control controls[2]; /* from's, and to's */
	struct arranging r;               /* from's */
	cudaStream_t stream;              /* to's device's, as the piece is */
	struct device_piece piece;
	size_t nblocks, piece_nblocks;    /* of GROUP_SOURCE_NGROUPS groups: in all, and in the piece */
};

/* Whether the other table takes all of them as they are: it has room, and columns have the same scales, which become its own
 * where it has had no numbers. */
static bool tables_agree(struct crossing *x, uint64_t ngroups)
{
	const struct group_table *t = &x->to->table;
	uint32_t *scales = x->controls[1].scales;

	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++)
		if (group_part_nwords(x->from->table, x->controls[0], p) + group_part_nwords(*t, x->controls[1], p) >
		    t->part_nwords)
			return false;
	for (uint32_t c = 0; c < t->layout.ncolumns; c++) {
		uint32_t scale = x->controls[0].scales[c];
		scales[c] = scales[c] == GROUP_SCALE_UNSET ? scale : scales[c];
		if (scale != GROUP_SCALE_UNSET && scale != scales[c])
			return false;
	}
	return groups_have_slots(t, ngroups) && x->from->nrecords + x->to->nrecords <= GROUP_TABLE_NRECORDS_MAX;
}

/* Finds out whether it can be done, and allocates what arranging takes. */
static enum status prepare_crossing(struct crossing *x, bool *can, struct fault *fault)
{
	const struct gpu_groups *both[2] = {x->from, x->to};
	uint64_t n[2];

	for (int i = 0; i < 2; i++) {
		TRY(count_groups(both[i], &n[i], fault));
		TRY(read_control(both[i], &x->controls[i], fault));
	}
	if (n[0] == 0 || n[1] == 0 || !tables_agree(x, n[0] + n[1]))
		return STATUS_OK;
	return arranging_open(&x->r, x->from, n[0], groups_nwords(&x->from->table, &x->controls[0]), can, fault);
}

/* Enables the current device's access to a peer's memory, if it can have that: copies go by the host otherwise. It stays
 * enabled, since to disable and to enable it for each crossing took 0.3 s (two H100s, 2026-11-24). One thread at a time. */
static void enable_peer_access(int device, int peer)
{
	static uint64_t asked[NDEVICES_MAX]; /* by each device: a bit for each peer */
	int can = 0;

	if (device == peer || device >= NDEVICES_MAX || peer >= NDEVICES_MAX || asked[device] >> peer & 1)
		return;
	asked[device] |= (uint64_t)1 << peer;
	if (cudaDeviceCanAccessPeer(&can, device, peer) == cudaSuccess && can)
		(void)cudaDeviceEnablePeerAccess(peer, 0);
	(void)cudaGetLastError();
}

/* Opens what the arranged groups go through, in pieces of up to piece_nbytes. */
static enum status open_path(struct crossing *x, size_t piece_nbytes, bool *can, struct fault *fault)
{
	size_t nfitting = piece_nbytes / (x->r.block_nwords * sizeof(uint64_t));

	x->nblocks = (size_t)((x->r.places.n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);
	x->piece_nblocks = nfitting < 1 ? 1 : nfitting < x->nblocks ? nfitting : x->nblocks;
	GPU_TRY("select GPU", cudaSetDevice(x->to->device));
	enable_peer_access(x->to->device, x->from->device);
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking));
	return device_piece_open(&x->piece, x->piece_nblocks * x->r.block_nwords, x->piece_nblocks * GROUP_SOURCE_NGROUPS,
				 x->stream, can, fault);
}

/* Puts a piece, from block b on, into the stream. */
static enum status send_blocks(struct crossing *x, size_t b, size_t nblocks, struct fault *fault)
{
	uint64_t first = b * GROUP_SOURCE_NGROUPS, left = x->r.places.n - first;
	uint64_t n = nblocks * GROUP_SOURCE_NGROUPS < left ? nblocks * GROUP_SOURCE_NGROUPS : left;
	uint64_t at = x->r.block_begins[b], nwords = x->r.block_begins[b + nblocks] - at;
	int to = x->to->device, from = x->from->device;

	GPU_TRY("send groups",
	    cudaMemcpyPeerAsync(x->piece.words, to, x->r.words + at, from, nwords * sizeof *x->r.words, x->stream));
	GPU_TRY("send groups",
	    cudaMemcpyPeerAsync(x->piece.begins, to, x->r.begins + first, from, n * sizeof *x->r.begins, x->stream));
	GPU_TRY("launch group_merge", group_merge_launch(x->to->table, x->piece.words, x->piece.begins, (uint32_t)n,
						     x->piece.nleft, x->stream));
	return STATUS_OK;
}

/* Sends all: from here on the other table changes. */
static enum status send_all(struct crossing *x, struct fault *fault)
{
	GPU_TRY("copy groups", cudaMemcpyAsync(x->to->table.control->scales, x->controls[1].scales, sizeof x->controls[1].scales,
					   cudaMemcpyHostToDevice, x->stream));
	for (size_t b = 0; b < x->nblocks; b += x->piece_nblocks)
		TRY(send_blocks(x, b, x->nblocks - b < x->piece_nblocks ? x->nblocks - b : x->piece_nblocks, fault));
	return device_piece_end(&x->piece, x->stream, fault);
}

/* *can: whether it was done. */
static enum status cross(struct crossing *x, size_t piece_nbytes, bool *can, struct fault *fault)
{
	TRY(prepare_crossing(x, can, fault));
	if (*can)
		TRY(arranging_run(&x->r, &x->from->table, fault));
	if (*can)
		TRY(open_path(x, piece_nbytes, can, fault));
	return *can ? send_all(x, fault) : STATUS_OK;
}

enum status gpu_groups_cross(const struct gpu_groups *from, struct gpu_groups *to, size_t piece_nbytes, bool *crossed,
			     struct fault *fault)
{
	struct crossing x = {from, to, {}, {}, {}, {}, 0, 0};
	bool can = false;
	enum status status = cross(&x, piece_nbytes, &can, fault);

	*crossed = status == STATUS_OK && can;
	if (*crossed)
		to->nrecords += from->nrecords;
	device_piece_close(&x.piece);
	if (x.stream)
		(void)cudaStreamDestroy(x.stream);
	arranging_close(&x.r);
	return status;
}

/* ======== held until they are printed ======== */

/* What the source owns. Zeroed: nothing. */
struct held_groups {
	struct group_source source;
	struct gpu_groups *groups;
	struct group_control control; /* the scales are the source's */
	uint64_t *words;              /* device memory: of all groups, one behind the other */
	uint64_t *begins;             /* in words, of each block; the last: where they end. malloc's */
	size_t block_nwords;          /* of the longest */
};

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

/* Finds out whether it can be done, and allocates what it takes. */
static enum status prepare_holding(struct held_groups *h, struct arranging *r, int nthreads, bool *can, struct fault *fault)
{
	uint64_t n, nadded, nwords;
	enum status status = group_store_visit(h->groups->plan->groups, (size_t)nthreads, NULL, NULL); /* tuples become groups */

	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	TRY(read_control(h->groups, &h->control, fault));
	if (!survey_store(h->groups, &h->control, nthreads, &nadded, &nwords))
		return STATUS_OK;
	TRY(count_groups(h->groups, &n, fault));
	if (n == 0 || !groups_have_slots(&h->groups->table, n + nadded))
		return STATUS_OK;
	return arranging_open(r, h->groups, n + nadded, groups_nwords(&h->groups->table, &h->control) + nwords, can, fault);
}

static enum status hold(struct held_groups *h, struct arranging *r, int nthreads, bool *held, struct fault *fault)
{
	bool can = false;

	TRY(prepare_holding(h, r, nthreads, &can, fault));
	if (!can)
		return STATUS_OK;
	TRY(send_store(h->groups, &h->control, nthreads, fault));
	TRY(arranging_run(r, &h->groups->table, fault));
	h->source.ngroups = r->places.n;
	h->words = r->words;
	h->begins = r->block_begins;
	h->block_nwords = r->block_nwords;
	r->words = r->block_begins = NULL;
	*held = true;
	return STATUS_OK;
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
