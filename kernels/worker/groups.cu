/* SPDX-License-Identifier: MIT
 *
 * groups.cu - the groups that a GPU keeps for a run (--by), and how they come down.
 *
 * All workers of a device add to one table (kernels/group/), which the first of them makes. No group comes back with
 * a chunk: gpu_finish brings all of them down once, when the last chunk has been folded, and adds them to the
 * plan's store. Its threads take one part of the table after the other, and copy it piece by piece, so that
 * some copy while others add. A table belongs to a plan and a device; those of runs that failed are forgotten first,
 * and freed with their last worker.
 *
 * The table is as large as it may have to be, since it does not grow: a chunk whose keys do not fit is folded by
 * the CPU.
 *
 * Where records are printed, each worker has a table for the groups of one chunk instead: running.cu.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/worker/gpu.h"
#include "kernels/worker/worker.cuh"

extern "C" {
#include "base/team.h"
#include "fold/groups.h"
}

#define WORDS_NBYTES_MIN ((uint64_t)64 << 20)
#define LIKELY_GROUP_NBYTES 64 /* a slot for so many: groups are seldom shorter */
#define PART_NSLOTS_MIN ((uint64_t)1 << 10)
#define PIECE_NBYTES ((size_t)8 << 20) /* of a part, that comes down at once */
static_assert(PIECE_NBYTES > 2 * GROUP_TABLE_KEY_NBYTES_MAX, "a piece holds a group");

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

/* As much as the input may need, and half of what is free at most. */
static uint64_t words_nbytes(uint64_t input_nbytes, uint64_t nbytes_free)
{
	uint64_t nbytes = input_nbytes > WORDS_NBYTES_MIN ? input_nbytes : WORDS_NBYTES_MIN;

	return nbytes < nbytes_free / 2 ? nbytes : nbytes_free / 2;
}

/* The power of 2 at or above n. */
static uint64_t power_of_two(uint64_t n)
{
	uint64_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

enum status worker_group_table_open(struct worker *w, struct group_table *t, uint32_t nparts, uint64_t nbytes,
				    struct fault *fault)
{
	const char *wanted = getenv("GPUSTAT_GPU_GROUPS_BYTES"); /* for tests */

	nbytes = wanted ? strtoull(wanted, NULL, 10) : nbytes;
	t->part_nwords = nbytes / sizeof *t->words / nparts;
	t->part_nslots = power_of_two(t->part_nwords * sizeof *t->words / LIKELY_GROUP_NBYTES);
	t->part_nslots = t->part_nslots > PART_NSLOTS_MIN ? t->part_nslots : PART_NSLOTS_MIN;
	t->hash_mask = UINT64_MAX;
	group_layout_make(&t->layout, w->plan);
	TRY("allocate groups", /* and one more: words are copied by two */
	    cudaMalloc((void **)&t->words, (2 + nparts * t->part_nwords) * sizeof *t->words));
	TRY("allocate groups", cudaMalloc((void **)&t->slots, nparts * t->part_nslots * sizeof *t->slots));
	TRY("allocate groups", cudaMalloc((void **)&t->control, sizeof *t->control));
	return STATUS_OK;
}

enum status worker_group_table_clear(struct worker *w, const struct group_table *t, uint32_t nparts, struct fault *fault)
{
	TRY("clear groups", cudaMemsetAsync(t->slots, 0, nparts * t->part_nslots * sizeof *t->slots, w->stream));
	TRY("clear groups", worker_copy_small(w, t->control, w->empty_groups, sizeof *t->control));
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
static enum status open_table(struct group_table *t, struct worker *w, uint64_t input_nbytes, struct fault *fault)
{
	enum status status;
	size_t nfree, nall;

	TRY("ask for free memory", cudaMemGetInfo(&nfree, &nall));
	status = worker_group_table_open(w, t, GROUP_TABLE_NPARTS, words_nbytes(input_nbytes, nfree), fault);
	if (status == STATUS_OK)
		status = worker_group_table_clear(w, t, GROUP_TABLE_NPARTS, fault);
	return status == STATUS_OK ? worker_wait(w, "clear groups", fault) : status;
}

static void free_groups(struct gpu_groups *g)
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
static enum status make_groups(struct worker *w, uint64_t input_nbytes, struct gpu_groups **out, struct fault *fault)
{
	struct gpu_groups *g = (struct gpu_groups *)calloc(1, sizeof *g);
	enum status status;

	if (!g)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	g->plan = w->plan;
	g->device = w->device;
	status = open_table(&g->table, w, input_nbytes, fault);
	if (status != STATUS_OK) {
		free_groups(g);
		return status;
	}
	g->next = tables.first;
	tables.first = g;
	*out = g;
	return STATUS_OK;
}

enum status groups_join(struct worker *w, uint64_t input_nbytes, struct fault *fault)
{
	enum status status = STATUS_OK;

	pthread_mutex_lock(&tables.lock);
	w->groups = *find_groups(w->plan, w->device);
	if (!w->groups)
		status = make_groups(w, input_nbytes, &w->groups, fault);
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
		free_groups(g);
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

	TRY("launch group_find", group_find_launch(*t, records, w->stream));
	TRY("launch group_add", group_add_launch(*t, records, w->stream));
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
		to->fast.count += from->fast.count;
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
	enum status status = partial_need(one, w->plan);

	if (status != STATUS_OK)
		return status;
	partial_clear(one);
	one->offset_bytes = chunk->offset_bytes + record.begin;
	status = cpu_folder_fold(&w->on_cpu, chunk->data + record.begin, record.end - record.begin,
				 {CSV_FIELD_START, false, false}, one);
	if (status == STATUS_OK && record.column == EXCEPTION_RECORD)
		count_record(out, one, record.begin);
	if (status == STATUS_OK && one->groups && !out->groups)
		status = (out->groups = groups_new(w->plan)) ? STATUS_OK : STATUS_NO_MEMORY;
	return status == STATUS_OK && one->groups ? groups_combine(out->groups, one->groups) : status;
}

/* ---- bringing them down ---- */

/* What the threads of gpu_finish share. */
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

/* Adds all groups of a table to its plan's store. */
static enum status bring_down(const struct gpu_groups *g, int nthreads, struct fault *fault)
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

enum status gpu_finish(const struct plan *plan, int device, bool wanted, int nthreads, struct fault *fault)
{
	struct gpu_groups **at, *g;
	enum status status = STATUS_OK;

	pthread_mutex_lock(&tables.lock);
	at = find_groups(plan, device);
	g = *at;
	if (g) {
		*at = g->next;
		g->is_forgotten = true;
	}
	pthread_mutex_unlock(&tables.lock);
	if (g && wanted)
		status = bring_down(g, nthreads, fault);
	pthread_mutex_lock(&tables.lock);
	if (g && g->nworkers == 0)
		free_groups(g);
	pthread_mutex_unlock(&tables.lock);
	return status;
}
