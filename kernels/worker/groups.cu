/* SPDX-License-Identifier: MIT
 *
 * groups.cu - the groups that a GPU keeps for a run (--by).
 *
 * All workers of a device add to one table (kernels/group/), which the first of them makes. No group is copied to the host with
 * a chunk. When the last chunk has been folded, gpu_finish copies all groups to the plan's store. If they are only to be printed
 * and no other GPU has groups, it keeps them on the device instead:
 *
 *     1. groups of the store, such as those of records cut by chunk borders, are copied to the device and added to the table
 *     2. all groups are sorted by their first records, and stored one after the other (kernels/group/group_arrange.cuh)
 *     3. threads that print read them, block by block (fold/groups.h)
 *
 * If that fails, they are copied to the store. A table belongs to a plan and a device. The table of a run that failed is removed
 * from the list first, and freed with its last worker.
 *
 * The table is as large as it may have to be, since it does not grow: a chunk whose keys do not fit is folded by
 * the CPU.
 *
 * Where records are printed, each worker has a table for the groups of one chunk instead: running.cu.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/group/group_arrange.cuh"
#include "kernels/worker/gpu.h"
#include "kernels/worker/worker.cuh"

extern "C" {
#include "base/thread.h"
#include "fold/group_order.h"
#include "fold/groups.h"
}

#define WORDS_NBYTES_MIN ((uint64_t)64 << 20)
#define LIKELY_GROUP_NBYTES 64 /* a slot for so many: groups are seldom shorter */
#define PART_NSLOTS_MIN ((uint64_t)1 << 10)

struct gpu_groups {
	struct gpu_groups *next;
	const struct plan *plan;
	int device;
	int nworkers;
	bool is_forgotten;
	uint64_t nrecords; /* of all chunks so far that were sent to the table */
	struct group_table table;
};

static struct {
	pthread_mutex_t lock;
	struct gpu_groups *first;
} tables = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* ---- making a table ---- */

/* As much as groups of all records may need, whose keys are part of the text, and half of what is free at most. */
static uint64_t words_nbytes(const struct worker_setup *setup, const struct group_layout *layout, uint64_t nbytes_free)
{
	uint64_t nbytes = setup->input_nbytes + setup->nrecords * (layout->nwords + 1) * sizeof(uint64_t);

	nbytes = nbytes > WORDS_NBYTES_MIN ? nbytes : WORDS_NBYTES_MIN;
	return nbytes < nbytes_free / 2 ? nbytes : nbytes_free / 2;
}

/* Slots of a part, of which a quarter and more stay empty: for all records, or for what the words hold, if that is less. */
static uint64_t part_nslots(uint64_t part_nwords, uint64_t nrecords, uint32_t nparts)
{
	uint64_t ngroups = part_nwords * sizeof(uint64_t) / LIKELY_GROUP_NBYTES, least = PART_NSLOTS_MIN;

	ngroups = nrecords > 0 && nrecords / nparts < ngroups ? nrecords / nparts : ngroups;
	while (least < ngroups + ngroups / 3)
		least *= 2;
	return least;
}

enum status worker_group_table_open(struct worker *w, struct group_table *t, uint32_t nparts, uint64_t nbytes,
				    uint64_t nrecords, struct fault *fault)
{
	const char *wanted = getenv("GPUSTAT_GPU_GROUPS_BYTES"); /* for tests */

	nbytes = wanted ? strtoull(wanted, NULL, 10) : nbytes;
	t->part_nwords = nbytes / sizeof *t->words / nparts;
	t->part_nslots = part_nslots(t->part_nwords, nrecords, nparts);
	t->hash_mask = UINT64_MAX;
	group_layout_make(&t->layout, w->plan);
	GPU_TRY("allocate groups", /* and one more: words are copied by two */
	    cudaMalloc((void **)&t->words, (2 + nparts * t->part_nwords) * sizeof *t->words));
	GPU_TRY("allocate groups", cudaMalloc((void **)&t->slots, nparts * t->part_nslots * sizeof *t->slots));
	GPU_TRY("allocate groups", cudaMalloc((void **)&t->control, sizeof *t->control));
	return STATUS_OK;
}

enum status worker_group_table_clear(struct worker *w, const struct group_table *t, uint32_t nparts, struct fault *fault)
{
	GPU_TRY("clear groups", cudaMemsetAsync(t->slots, 0, nparts * t->part_nslots * sizeof *t->slots, w->stream));
	GPU_TRY("clear groups", worker_copy_small(w, t->control, w->empty_groups, sizeof *t->control));
	return STATUS_OK;
}

void worker_group_table_free(struct group_table *t)
{
	(void)cudaFree(t->control);
	(void)cudaFree(t->slots);
	(void)cudaFree(t->words);
	(void)cudaGetLastError();
}

/* Opens the table of all workers of the device, without groups. Errors: STATUS_GPU. */
static enum status open_table(struct group_table *t, struct worker *w, const struct worker_setup *setup,
			      struct fault *fault)
{
	struct group_layout layout;
	size_t nfree, nall;

	GPU_TRY("ask for free memory", cudaMemGetInfo(&nfree, &nall));
	group_layout_make(&layout, w->plan);
	TRY(worker_group_table_open(w, t, GROUP_TABLE_NPARTS, words_nbytes(setup, &layout, nfree), setup->nrecords, fault));
	TRY(worker_group_table_clear(w, t, GROUP_TABLE_NPARTS, fault));
	return worker_wait(w, "clear groups", fault);
}

static void gpu_groups_free(struct gpu_groups *g)
{
	worker_group_table_free(&g->table);
	free(g);
}

static struct gpu_groups **find_groups(const struct plan *plan, int device)
{
	struct gpu_groups **at = &tables.first;

	while (*at && ((*at)->plan != plan || (*at)->device != device))
		at = &(*at)->next;
	return at;
}

/* Adds a table to the list. */
static enum status make_groups(struct worker *w, const struct worker_setup *setup, struct gpu_groups **out, struct fault *fault)
{
	struct gpu_groups *g = (struct gpu_groups *)calloc(1, sizeof *g);
	enum status status;

	NEED(g);
	g->plan = w->plan;
	g->device = w->device;
	status = open_table(&g->table, w, setup, fault);
	if (status != STATUS_OK) {
		gpu_groups_free(g);
		return status;
	}
	g->next = tables.first;
	tables.first = g;
	*out = g;
	return STATUS_OK;
}

enum status groups_join(struct worker *w, const struct worker_setup *setup, struct fault *fault)
{
	enum status status = STATUS_OK;

	pthread_mutex_lock(&tables.lock);
	w->groups = *find_groups(w->plan, w->device);
	if (!w->groups)
		status = make_groups(w, setup, &w->groups, fault);
	if (w->groups) {
		w->groups->nworkers++;
		w->group_table = &w->groups->table;
	}
	pthread_mutex_unlock(&tables.lock);
	return status;
}

void groups_leave(struct worker *w)
{
	struct gpu_groups *g = w->groups;

	if (!g)
		return;
	pthread_mutex_lock(&tables.lock);
	if (--g->nworkers == 0 && g->is_forgotten)
		gpu_groups_free(g);
	pthread_mutex_unlock(&tables.lock);
	w->groups = NULL;
}

/* ---- a chunk ---- */

bool groups_have_room(struct worker *w)
{
	uint64_t nbefore;

	if (!w->groups) /* a chunk's */
		return true;
	nbefore = __atomic_fetch_add(&w->groups->nrecords, w->nlines, __ATOMIC_RELAXED);
	return nbefore + w->nlines <= GROUP_TABLE_NRECORDS_MAX;
}

enum status worker_launch_groups(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	const struct group_table *t = w->group_table;
	const struct group_records records = {text_of(w, chunk), w->records, w->table,
					      (uint32_t)table_ncolumns(w->plan), w->reduce.tally, chunk->offset_bytes,
					      w->exception_list, w->device_summary};

	GPU_TRY("launch group_find", group_find_launch(*t, records, w->stream));
	GPU_TRY("launch group_add", group_add_launch(*t, records, w->stream));
	worker_mark(w, STAGE_GROUPS);
	return STATUS_OK;
}

/* *to becomes the lesser of itself and an offset in a text that begins at `begin`. */
static void note_first(size_t *to, size_t offset, size_t begin)
{
	if (offset != OFFSET_NONE && begin + offset < *to)
		*to = begin + offset;
}

/* Counts in out what the record at `begin` has, but for its group. */
static void count_record(struct partial *out, const struct partial *record, size_t begin)
{
	out->nrecords += record->nrecords;
	for (size_t p = 0; p < out->npredicates; p++)
		out->nmatched[p] += record->nmatched[p];
	for (size_t c = 0; c < out->ncolumns; c++) {
		struct column_partial *to = &out->columns[c];
		const struct column_partial *from = &record->columns[c];
		to->numbers.count += from->numbers.count;
		to->nmissing += from->nmissing;
		to->ninvalid += from->ninvalid;
		to->nnuls += from->nnuls;
		note_first(&to->first_number_offset, from->first_number_offset, begin);
		note_first(&to->first_invalid_offset, from->first_invalid_offset, begin);
		note_first(&to->first_nul_offset, from->first_nul_offset, begin);
		note_first(&to->first_out_of_range_offset, from->first_out_of_range_offset, begin);
	}
}

enum status groups_add_record(struct worker *w, const struct chunk *chunk, struct field_exception record,
			      struct partial *out)
{
	struct partial *one = &w->ignored;

	TRY(partial_need(one, w->plan));
	partial_clear(one);
	one->offset_bytes = chunk->offset_bytes + record.begin;
	TRY(cpu_folder_fold(&w->on_cpu, chunk->data + record.begin, record.end - record.begin, {CSV_FIELD_START, false, false}, one));
	if (record.column == EXCEPTION_RECORD)
		count_record(out, one, record.begin);
	if (!one->groups)
		return STATUS_OK;
	if (!out->groups && !(out->groups = groups_new(w->plan)))
		return STATUS_NO_MEMORY;
	return groups_combine(out->groups, one->groups);
}

/* ---- the end of a run: pieces ---- */

#define PIECE_NBYTES ((size_t)8 << 20) /* the most that is copied at once */
#define PIECE_NWORDS (PIECE_NBYTES / sizeof(uint64_t))
#define PIECE_NGROUPS ((size_t)1 << 15) /* copied to the device at once */
static_assert(PIECE_NBYTES > 2 * GROUP_TABLE_KEY_NBYTES_MAX + GROUP_LAYOUT_NCOLUMNS_MAX * sizeof(struct group_cell),
	      "a piece holds a group");

/* One thread's memory of the host, and the stream that copies there, or from there. Zeroed: nothing. */
struct host_piece {
	cudaStream_t stream;
	struct pinned_buffer memory;
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

/* Allocates memory of the current device. *made: false: it does not have as much. Errors: STATUS_GPU. */
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

/* Threads that take one part of the table or of the store after the other, and copy it piece by piece, so that some copy while
 * others add. */
struct moving {
	const struct gpu_groups *groups;
	struct group_control control; /* before it */
	size_t piece_nwords; /* the longest */
	uint32_t next;       /* part that no thread has taken */
	int stays;           /* some part of the store cannot be copied to the device */
	int failed;          /* the thread that sets it has fault */
	struct fault fault;
};

/* Selects the table's device, counts the groups with records, and copies the control to the host. Errors: STATUS_GPU, also if
 * the table had no room for a group of the store: some of the store's groups are in the table then. */
static enum status moving_begin(struct moving *m, const struct gpu_groups *g, struct fault *fault)
{
	*m = {};
	m->groups = g;
	GPU_TRY("select GPU", cudaSetDevice(g->device));
	GPU_TRY("launch visit_slots", group_count_launch(g->table, NULL));
	GPU_TRY("copy groups", cudaMemcpy(&m->control, g->table.control, sizeof m->control, cudaMemcpyDeviceToHost));
	return m->control.nleft == 0 ? STATUS_OK : fault_set(fault, STATUS_GPU, 0, "no room for groups");
}

static bool take_part(struct moving *m, uint32_t *part)
{
	return (*part = __atomic_fetch_add(&m->next, 1, __ATOMIC_RELAXED)) < GROUP_TABLE_NPARTS;
}

static void moving_fail(struct moving *m, enum status status, const struct fault *fault)
{
	if (status != STATUS_OK && !__atomic_exchange_n(&m->failed, 1, __ATOMIC_RELAXED))
		m->fault = *fault;
}

static enum status moving_run(struct moving *m, size_t nthreads, void *(*work)(void *), struct fault *fault)
{
	m->next = 0;
	team_run(nthreads, work, m);
	if (m->failed)
		*fault = m->fault;
	return m->failed ? fault->status : STATUS_OK;
}

/* The words in use in a table: those of its groups with records, or more. */
static uint64_t nwords_used(const struct group_table &t, const struct group_control &control, uint64_t *longest)
{
	uint64_t nwords = 0;

	*longest = 0;
	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++) {
		uint64_t n = group_part_nwords(t, control, p);
		nwords += n;
		*longest = n > *longest ? n : *longest;
	}
	return nwords;
}

/* ---- from the table to the store ---- */

/* Adds a part to the store's, piece by piece: each begins with the group that the end of the one before cut. */
static enum status add_part(const struct moving *m, struct host_piece *piece, uint32_t p, struct fault *fault)
{
	const struct group_table *t = &m->groups->table;
	const struct plan *plan = m->groups->plan;
	uint64_t nwords = group_part_nwords(*t, m->control, p);
	struct groups *to = group_store_lock(plan->groups, p);
	enum status status = to->ngroups > 0 ? groups_index(to) : STATUS_OK;
	size_t nused;

	for (uint64_t at = 0; at < nwords && status == STATUS_OK; at += nused) {
		uint64_t n = nwords - at < m->piece_nwords ? nwords - at : m->piece_nwords;
		nused = 0;
		status = host_piece_read(piece, group_part_words(*t, p) + at, n, fault);
		THEN(status, group_words_add(to, &t->layout, m->control.scales, (uint64_t *)piece->memory.data,
					     n, &nused));
	}
	groups_drop_index(to);
	group_store_unlock(plan->groups, p);
	return status == STATUS_OK || status == STATUS_GPU ? status : partial_fault(NULL, plan, status, fault);
}

static void *add_parts(void *moving)
{
	struct moving *m = (struct moving *)moving;
	struct host_piece piece = {};
	struct fault fault;
	enum status status = host_piece_open(&piece, m->groups->device, m->piece_nwords * sizeof(uint64_t), &fault);
	uint32_t p;

	while (status == STATUS_OK && take_part(m, &p))
		status = add_part(m, &piece, p, &fault);
	moving_fail(m, status, &fault);
	host_piece_close(&piece);
	return NULL;
}

/* Adds all groups of the table to its plan's store, in up to nthreads threads. Errors: STATUS_GPU, STATUS_NO_MEMORY,
 * STATUS_MANY_GROUPS. */
static enum status bring_down(const struct gpu_groups *g, int nthreads, struct fault *fault)
{
	struct moving m;
	uint64_t nwords, longest;

	TRY(moving_begin(&m, g, fault));
	nwords = nwords_used(g->table, m.control, &longest);
	if (nwords == 0)
		return STATUS_OK;
	m.piece_nwords = longest < PIECE_NWORDS ? longest : PIECE_NWORDS;
	return moving_run(&m, nwords < PIECE_NWORDS ? 1 : (size_t)nthreads, add_parts, fault);
}

/* ---- from the store to the table ---- */

/* A thread that sends parts of the store, as far as the table takes them. */
struct sending {
	struct moving *all;
	uint32_t part;
	struct host_piece piece; /* begins of PIECE_NGROUPS groups, then words */
	uint64_t *begins, *words, *on_device;
	size_t ngroups, nwords; /* in the piece */
	uint64_t npart_words;   /* of the part that is surveyed */
	struct fault fault;
};

static size_t put(const struct sending *s, const struct group *group, uint64_t *words)
{
	const struct gpu_groups *g = s->all->groups;

	return group_words_put(group, g->plan, &g->table.layout, s->all->control.scales, words);
}

static enum status send_piece(struct sending *s)
{
	size_t nbytes = (PIECE_NGROUPS + s->nwords) * sizeof *s->words;
	struct fault *fault = &s->fault;

	if (s->ngroups == 0)
		return STATUS_OK;
	GPU_TRY("send groups", cudaMemcpyAsync(s->on_device, s->begins, nbytes, cudaMemcpyHostToDevice, s->piece.stream));
	GPU_TRY("launch group_merge", group_merge_launch(s->all->groups->table, s->on_device + PIECE_NGROUPS, s->on_device,
						     (uint32_t)s->ngroups, s->piece.stream));
	GPU_TRY("send groups", cudaStreamSynchronize(s->piece.stream));
	s->ngroups = s->nwords = 0;
	return STATUS_OK;
}

/* Fails if the group cannot be copied to the device. The words are written after those of the piece. */
static enum status survey_group(void *context, struct group *group)
{
	struct sending *s = (struct sending *)context;
	size_t nwords = group->nrecords ? put(s, group, s->words + s->nwords) : 0;

	s->npart_words += nwords;
	return group->nrecords == 0 || nwords > 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status send_group(void *context, struct group *group)
{
	struct sending *s = (struct sending *)context;

	if (group->nrecords == 0)
		return STATUS_OK;
	s->begins[s->ngroups++] = s->nwords;
	s->nwords += put(s, group, s->words + s->nwords);
	if (s->ngroups == PIECE_NGROUPS || s->nwords + group_words_most(&s->all->groups->table.layout) > PIECE_NWORDS)
		return send_piece(s);
	return STATUS_OK;
}

/* Moves a part of the store to the table if all its groups can be copied there; other parts stay. */
static enum status send_part(struct sending *s)
{
	struct moving *all = s->all;
	const struct group_table *t = &all->groups->table;
	struct groups *from = group_store_part(all->groups->plan->groups, s->part);

	s->npart_words = group_part_nwords(*t, all->control, s->part);
	if (groups_each(from, survey_group, s) != STATUS_OK || s->npart_words > t->part_nwords) {
		__atomic_store_n(&all->stays, 1, __ATOMIC_RELAXED);
		return STATUS_OK;
	}
	TRY(groups_each(from, send_group, s));
	TRY(send_piece(s));
	groups_clear(from);
	return STATUS_OK;
}

static enum status open_sending(struct sending *s)
{
	size_t nbytes = (PIECE_NGROUPS + PIECE_NWORDS) * sizeof *s->words;
	struct fault *fault = &s->fault;

	TRY(host_piece_open(&s->piece, s->all->groups->device, nbytes, fault));
	GPU_TRY("allocate groups", cudaMalloc((void **)&s->on_device, nbytes));
	s->begins = (uint64_t *)s->piece.memory.data;
	s->words = s->begins + PIECE_NGROUPS;
	return STATUS_OK;
}

static void *send_parts(void *moving)
{
	struct sending s = {};
	enum status status;

	s.all = (struct moving *)moving;
	status = open_sending(&s);
	while (status == STATUS_OK && take_part(s.all, &s.part))
		status = send_part(&s);
	moving_fail(s.all, status, &s.fault);
	(void)cudaFree(s.on_device);
	host_piece_close(&s.piece);
	return NULL;
}

/* Whether probes stay short with n groups. */
static bool has_slots(const struct group_table *t, uint64_t n)
{
	return n <= GROUP_TABLE_NPARTS * t->part_nslots / 4 * 3;
}

/* Moves the groups of the store to the table, which has some. *all: false: some stay. Errors: STATUS_GPU;
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_MANY_GROUPS. */
static enum status send_up(const struct gpu_groups *g, int nthreads, bool *all, struct fault *fault)
{
	enum status status = group_store_visit(g->plan->groups, (size_t)nthreads, NULL, NULL); /* tuples become groups */
	uint64_t ngroups = group_store_count(g->plan->groups);
	struct moving m;

	*all = false;
	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	TRY(moving_begin(&m, g, fault));
	if (m.control.census.n == 0 || !has_slots(&g->table, m.control.census.n + ngroups))
		return STATUS_OK;
	if (ngroups > 0)
		TRY(moving_run(&m, ngroups < GROUPS_NTHREAD ? 1 : (size_t)nthreads, send_parts, fault));
	*all = !m.stays;
	return STATUS_OK;
}

/* ---- held until they are printed ---- */

/* What the source owns. Zeroed: nothing. */
struct held_groups {
	struct group_source source;
	struct gpu_groups *groups;
	struct group_control control; /* the scales are the source's */
	uint64_t *words;              /* device memory: of all groups, one after the other */
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
	NEED(r);
	r->held = h;
	status = host_piece_open(&r->piece, h->groups->device, h->block_nwords * sizeof *h->words, fault);
	if (status == STATUS_OK)
		*out = r;
	else
		held_close(r);
	return status;
}

static enum status held_read(struct group_reader *r, size_t block, uint64_t **words, struct fault *fault)
{
	const uint64_t *begins = &r->held->begins[block];

	*words = (uint64_t *)r->piece.memory.data;
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

/* Copies the beginnings of all blocks to the host. */
static enum status list_blocks(struct held_groups *h, const uint64_t *begins, struct fault *fault)
{
	uint64_t n = h->source.ngroups;
	size_t nblocks = (size_t)((n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);

	h->begins = (uint64_t *)malloc((nblocks + 1) * sizeof *h->begins);
	NEED(h->begins);
	GPU_TRY("copy groups", cudaMemcpy2D(h->begins, sizeof(uint64_t), begins, GROUP_SOURCE_NGROUPS * sizeof(uint64_t),
					sizeof(uint64_t), nblocks, cudaMemcpyDeviceToHost));
	GPU_TRY("copy groups", cudaMemcpy(h->begins + nblocks, begins + n, sizeof *begins, cudaMemcpyDeviceToHost));
	for (size_t b = 0; b < nblocks; b++) {
		size_t nwords = (size_t)(h->begins[b + 1] - h->begins[b]);
		h->block_nwords = nwords > h->block_nwords ? nwords : h->block_nwords;
	}
	return STATUS_OK;
}

/* Stores all groups of the table one after the other; waits until it is done. memory: for all but their words, owned by the
 * caller. *held: false: the device has no memory for it. Errors: STATUS_GPU, STATUS_NO_MEMORY. */
static enum status arrange(struct held_groups *h, void **memory, bool *held, struct fault *fault)
{
	const struct group_table &t = h->groups->table;
	struct group_places places;
	struct arena arena = {};
	uint64_t longest, *begins;
	struct moving counted;
	int sorted;

	TRY(moving_begin(&counted, h->groups, fault));
	h->control = counted.control;
	h->source.ngroups = h->control.census.n;
	group_places_cut(&places, &arena, h->source.ngroups);
	TRY(groups_allocate(memory, arena.nbytes, held, fault));
	if (*held)
		TRY(groups_allocate((void **)&h->words, nwords_used(t, h->control, &longest) * sizeof *h->words, held, fault));
	if (!*held)
		return STATUS_OK;
	arena = {(char *)*memory, 0};
	group_places_cut(&places, &arena, h->source.ngroups);
	GPU_TRY("launch visit_slots", group_place_launch(t, places, NULL));
	GPU_TRY("sort groups", group_sort_launch(places, h->control.census.last, &sorted, NULL));
	begins = places.first[0];
	GPU_TRY("add up groups", group_begins_launch(t, places, sorted, begins, NULL));
	GPU_TRY("launch gather", group_gather_launch(t, places, sorted, begins, h->words, NULL));
	return list_blocks(h, begins, fault);
}

/* Arranges all groups of the run on the device, and makes g, which it then owns, the store's source. *held: false: it cannot.
 * Errors: arrange's, and send_up's. */
static enum status hold(struct gpu_groups *g, int nthreads, bool *held, struct fault *fault)
{
	struct held_groups *h = (struct held_groups *)calloc(1, sizeof *h);
	void *memory = NULL;
	enum status status;

	*held = false;
	if (!h)
		return STATUS_OK;
	h->groups = g;
	h->source.ops = &held_ops;
	h->source.layout = &g->table.layout;
	h->source.scales = h->control.scales;
	status = send_up(g, nthreads, held, fault);
	if (status == STATUS_OK && *held)
		status = arrange(h, &memory, held, fault);
	*held = *held && status == STATUS_OK;
	(void)cudaFree(memory);
	if (*held)
		group_store_set_source(g->plan->groups, &h->source);
	else
		free_held(h);
	return status;
}

/* Whether another GPU has groups of the plan, and has not been finished. */
static bool has_other(const struct plan *plan)
{
	const struct gpu_groups *g;

	pthread_mutex_lock(&tables.lock);
	for (g = tables.first; g && (g->plan != plan || g->nrecords == 0); g = g->next)
		;
	pthread_mutex_unlock(&tables.lock);
	return g != NULL;
}

enum status gpu_finish(const struct plan *plan, const struct worker_finish *how, struct fault *fault)
{
	struct gpu_groups **at, *g;
	enum status status = STATUS_OK;
	bool held = false;

	pthread_mutex_lock(&tables.lock);
	at = find_groups(plan, how->device);
	g = *at;
	if (g) {
		*at = g->next;
		g->is_forgotten = true;
	}
	pthread_mutex_unlock(&tables.lock);
	if (g && how->wanted && plan->reads_groups_once && g->nworkers == 0 && !has_other(plan))
		status = hold(g, how->nthreads, &held, fault);
	if (g && how->wanted && status == STATUS_OK && !held)
		status = bring_down(g, how->nthreads, fault);
	pthread_mutex_lock(&tables.lock);
	if (g && g->nworkers == 0 && !held)
		gpu_groups_free(g);
	pthread_mutex_unlock(&tables.lock);
	return status;
}
