/* SPDX-License-Identifier: MIT
 *
 * groups.cu - the groups that a GPU keeps for a run (--by).
 *
 * All workers of a device add to one table (kernels/group/), which the first of them makes. No group comes back with
 * a chunk: gpu_finish brings all of them down once, when the last chunk has been folded, or holds them until they are printed,
 * those of several GPUs on the last one (groups_end.cu). A table belongs to a plan and a device; those of runs that failed
 * are forgotten first, and freed with their last worker.
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
#include "kernels/worker/groups.cuh"

extern "C" {
#include "fold/groups.h"
}

#define WORDS_NBYTES_MIN ((uint64_t)64 << 20)
#define LIKELY_GROUP_NBYTES 64 /* a slot for so many: groups are seldom shorter */
#define PART_NSLOTS_MIN ((uint64_t)1 << 10)

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

void gpu_groups_free(struct gpu_groups *g)
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

	if (!g)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
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

/* ---- the end of a run ---- */

/* Another table of the plan with records, whose device has not been finished; NULL if all have been. */
static struct gpu_groups *find_other(const struct plan *plan)
{
	struct gpu_groups *g;

	pthread_mutex_lock(&tables.lock);
	for (g = tables.first; g && (g->plan != plan || g->nrecords == 0 || g->nworkers > 0); g = g->next)
		;
	pthread_mutex_unlock(&tables.lock);
	return g;
}

/* Groups that are read once stay on a GPU: *held: the table belongs to the plan's source then; *left: they are another
 * GPU's. */
static enum status keep_there(struct gpu_groups *g, const struct worker_finish *how, bool *held, bool *left,
			      struct fault *fault)
{
	struct gpu_groups *other;

	if (!g->plan->reads_groups_once || g->nworkers > 0)
		return STATUS_OK;
	other = find_other(g->plan);
	return other ? gpu_groups_cross(g, other, GROUPS_PIECE_NBYTES, left, fault)
		     : gpu_groups_hold(g, how->nthreads, held, fault);
}

/* Brings all groups to the plan's store, unless they stay on a GPU. */
static enum status finish_wanted(struct gpu_groups *g, const struct worker_finish *how, bool *held, struct fault *fault)
{
	bool left = false;
	enum status status = keep_there(g, how, held, &left, fault);

	return status == STATUS_OK && !*held && !left ? gpu_groups_bring_down(g, how->nthreads, fault) : status;
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
	if (g && how->wanted)
		status = finish_wanted(g, how, &held, fault);
	pthread_mutex_lock(&tables.lock);
	if (g && g->nworkers == 0 && !held)
		gpu_groups_free(g);
	pthread_mutex_unlock(&tables.lock);
	return status;
}
