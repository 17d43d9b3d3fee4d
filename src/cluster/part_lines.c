/* SPDX-License-Identifier: MIT
 *
 * part_lines.c - see part_lines.h.
 */
#include "cluster/part_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "base/ordered_queue.h"
#include "base/thread.h"
#include "engine/total.h"
#include "fold/groups.h"

/* ---- blocks ---- */

void part_block_release(struct part_block *b)
{
	if (b && atomic_fetch_sub_explicit(&b->nusers, 1, memory_order_acq_rel) == 1)
		free(b);
}

void part_blocks_free(struct part_blocks *blocks)
{
	for (size_t i = 0; i < PART_NBLOCKS; i++)
		part_block_release(blocks->at[i]);
	memset(blocks, 0, sizeof *blocks);
}

/* Finds a block that nobody uses, or makes one. nbytes: of its data. NULL: no memory. */
static struct part_block *need_block(struct part_blocks *blocks, size_t nbytes)
{
	struct part_block **at = &blocks->at[blocks->next];

	for (size_t i = 0; i < PART_NBLOCKS; i++) {
		struct part_block *b = blocks->at[i];
		if (b && b->capacity >= nbytes && atomic_load_explicit(&b->nusers, memory_order_acquire) == 1) {
			part_block_use(b);
			return b;
		}
		at = b ? at : &blocks->at[i];
	}
	blocks->next = (blocks->next + 1) % PART_NBLOCKS;
	part_block_release(*at);
	*at = malloc(sizeof **at + nbytes);
	if (!*at)
		return NULL;
	(*at)->capacity = nbytes;
	atomic_init(&(*at)->nusers, 2);
	return *at;
}

/* ---- files ---- */

enum status part_text_open(struct part_text *t, const struct part_source *from, struct part_blocks *blocks,
			   struct fault *fault)
{
	*t = (struct part_text){.from = *from, .blocks = blocks};
	if (!from->name)
		return STATUS_OK;
	t->file = (struct source){.path = from->name, .nthreads = 1, .is_raw = true};
	t->name = source_name(&t->file);
	return source_open(&t->file, fault);
}

void part_text_close(struct part_text *t)
{
	part_block_release(t->block);
	t->block = NULL;
	source_close(&t->file);
}

bool part_text_next(struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	const char *end;

	if (left == 0)
		return false;
	t->line = t->block->data + t->at;
	end = memchr(t->line, '\n', left);
	if (!end && !t->is_at_end)
		return false;
	t->nbytes = end ? (size_t)(end - t->line) + 1 : left;
	t->at += t->nbytes;
	t->nlines++;
	return true;
}

/* Makes a block that begins with what is left of the last one: a line's beginning. A longer line gets a
 * longer block. */
static struct part_block *make_block(const struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	size_t nbytes = t->blocks->nbytes;
	struct part_block *b = need_block(t->blocks, left <= nbytes / 2 ? nbytes : 4 * left);

	if (!b)
		return NULL;
	b->nbytes = left;
	if (left)
		memcpy(b->data, t->block->data + t->at, left);
	return b;
}

/* Fills the block, unless the text ends. Errors: STATUS_READ, a codec's. */
static enum status read_block(struct part_text *t, struct part_block *b, struct fault *fault)
{
	size_t n = 1;

	while (b->nbytes < b->capacity && n > 0) {
		size_t room = b->capacity - b->nbytes;
		if (t->name) {
			TRY(source_take(&t->file, b->data + b->nbytes, room, &n, fault));
		} else {
			ssize_t nread = t->from.read(t->from.context, b->data + b->nbytes, room);
			if (nread < 0)
				return fault_set(fault, STATUS_READ, errno, NULL);
			n = (size_t)nread;
		}
		b->nbytes += n;
	}
	t->is_at_end = b->nbytes < b->capacity;
	return STATUS_OK;
}

bool part_text_fill(struct part_text *t, enum status *status, struct fault *fault)
{
	struct part_block *b;

	if (t->is_at_end)
		return false;
	b = make_block(t);
	if (!b) {
		*status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	part_block_release(t->block);
	t->block = b;
	t->at = 0;
	*status = read_block(t, b, fault);
	if (*status == STATUS_OK)
		return b->nbytes > 0;
	fault->file = t->name;
	return false;
}

/* ---- runs of lines ---- */

#define WAITING_NRUNS 4 /* for each thread */

/* What a thread reads with. */
struct line_reader {
	struct part_lines *of;
	struct partial partial; /* what it has read, and not added to the total or the store */
	struct partial blank;   /* the identity */
	struct json_text json;
	struct fault fault;
};

struct part_lines {
	const struct plan *plan;
	struct partial *total;
	bool in_order;
	int nthreads;
	struct line_reader *readers; /* nthreads; the first is that of the thread that adds runs */
	struct team team;            /* of the other readers */
	atomic_size_t nreaders;      /* that threads have taken, the first included */
	struct ordered_queue queue;
	struct line_run *waiting; /* by number modulo capacity: the runs that are in the queue */
	size_t capacity;
	uint64_t nadded;
};

/* ---- maps ---- */

struct part_map *part_map_new(void)
{
	struct part_map *map = calloc(1, sizeof *map);

	if (map)
		atomic_init(&map->nusers, 1);
	return map;
}

void part_map_release(struct part_map *map)
{
	if (!map || atomic_fetch_sub_explicit(&map->nusers, 1, memory_order_acq_rel) != 1)
		return;
	free(map->map.columns);
	free(map->map.pairs);
	free(map->map.are_swapped);
	free(map);
}

/* ---- a run ---- */

static enum status fail(struct line_reader *r, const struct line_run *run, uint64_t line, enum status status)
{
	if (status == STATUS_MANY_KEYS)
		return partial_fault(&r->partial, r->of->plan, status, &r->fault);
	fault_set(&r->fault, status == STATUS_DAMAGED ? STATUS_PART_DAMAGED : status, 0, NULL);
	r->fault.file = run->name;
	r->fault.line = line;
	return r->fault.status;
}

static enum status need_partials(struct line_reader *r)
{
	enum status status = partial_need(&r->partial, r->of->plan);

	return status == STATUS_OK ? partial_need(&r->blank, r->of->plan) : status;
}

/* Reads the lines into the reader's partial. */
static enum status read_run(struct line_reader *r, const struct line_run *run)
{
	uint64_t line = run->nlines;
	enum status status = need_partials(r);

	if (status != STATUS_OK)
		return fail(r, run, line, status);
	for (const char *at = run->text; at < run->end; at = r->json.end + 1) {
		r->json.at = at;
		r->json.end = memchr(at, '\n', (size_t)(run->end - at));
		r->json.status = STATUS_OK;
		r->json.reads = true;
		line++;
		partial_read_line(&r->partial, r->of->plan, &run->map->map, &r->blank, &r->json);
		if (r->json.status != STATUS_OK)
			return fail(r, run, line, r->json.status);
	}
	return STATUS_OK;
}

/* Moves groups on, once they are too many for a thread's cache. */
static enum status move_groups(struct line_reader *r, size_t nmost)
{
	struct groups *groups = r->partial.groups;
	enum status status = STATUS_OK;

	if (groups && groups->ngroups > nmost)
		status = groups_store(groups);
	return status == STATUS_OK ? status : partial_fault(&r->partial, r->of->plan, status, &r->fault);
}

/* Adds the reader's partial to the total, in the run's turn. */
static enum status add_in_turn(struct line_reader *r, uint64_t number)
{
	struct part_lines *l = r->of;
	enum status status;

	if (!ordered_queue_await(&l->queue, number, number))
		return STATUS_OK;
	status = partial_combine(l->total, &r->partial);
	partial_clear(&r->partial);
	return status == STATUS_OK ? status : partial_fault(l->total, l->plan, status, &r->fault);
}

/* Takes the next run and reads it. waits: for one to be added; else false is returned if no run is waiting. */
static bool do_run(struct line_reader *r, bool waits)
{
	struct part_lines *l = r->of;
	enum status status = STATUS_OK;
	struct line_run run;
	uint64_t number;

	if (!ordered_queue_take(&l->queue, waits, &number))
		return false;
	run = l->waiting[number % l->capacity];
	if (!ordered_queue_is_void(&l->queue, number)) {
		status = read_run(r, &run);
		if (status == STATUS_OK)
			status = l->in_order ? add_in_turn(r, number) : move_groups(r, GROUPS_FEW);
	}
	part_block_release(run.block);
	part_map_release(run.map);
	ordered_queue_finish(&l->queue, number, status, &r->fault);
	return true;
}

/* ---- threads ---- */

static void *thread_main(void *lines)
{
	struct part_lines *l = lines;
	struct line_reader *r = &l->readers[atomic_fetch_add(&l->nreaders, 1)];

	while (do_run(r, true))
		;
	return NULL;
}

struct part_lines *part_lines_begin(const struct plan *plan, struct partial *total, int nthreads)
{
	struct part_lines *l = calloc(1, sizeof *l);
	size_t n = (size_t)(nthreads ? nthreads : cores_count());

	if (!l)
		return NULL;
	n = n < TEAM_NTHREADS_MAX ? n : TEAM_NTHREADS_MAX;
	*l = (struct part_lines){.plan = plan, .total = total, .in_order = plan_is_ordered(plan),
				 .nthreads = (int)n, .nreaders = 1, .capacity = n * WAITING_NRUNS};
	l->readers = calloc(n, sizeof *l->readers);
	l->waiting = calloc(l->capacity, sizeof *l->waiting);
	ordered_queue_init(&l->queue, l->capacity, 0, false);
	for (size_t i = 0; l->readers && i < n; i++)
		l->readers[i].of = l;
	if (l->readers && l->waiting)
		return l;
	l->nthreads = 0;
	part_lines_end(l, &(struct fault){.status = STATUS_OK});
	return NULL;
}

enum status part_lines_add(struct part_lines *l, const struct line_run *run)
{
	struct fault ignored;

	part_block_use(run->block);
	atomic_fetch_add_explicit(&run->map->nusers, 1, memory_order_relaxed);
	l->waiting[l->nadded % l->capacity] = *run;
	ordered_queue_put(&l->queue);
	if (l->nadded++ > l->queue.turn && l->team.nthreads + 1 < (size_t)l->nthreads) /* one is being read, or waits */
		team_start(&l->team, l->team.nthreads + 1, thread_main, l);
	/* Room for the next one. A single thread reads at once. */
	while (l->nadded - l->queue.turn >= (l->nthreads == 1 ? 1 : l->capacity))
		if (!do_run(&l->readers[0], false))
			ordered_queue_await(&l->queue, l->nadded - l->capacity + 1, l->nadded - l->capacity + 1);
	return ordered_queue_status(&l->queue, &ignored);
}

enum status part_lines_wait(struct part_lines *l, struct fault *fault)
{
	while (do_run(&l->readers[0], false))
		;
	ordered_queue_await(&l->queue, l->nadded, l->nadded);
	return ordered_queue_status(&l->queue, fault);
}

/* ---- the end ---- */

/* Joins what the readers have. */
static enum status join(struct part_lines *l, struct fault *fault)
{
	struct partial **partials = calloc((size_t)l->nthreads, sizeof *partials);
	enum status status = STATUS_OK;
	size_t n = 0;

	if (!partials)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (int i = 0; i < l->nthreads; i++)
		if (l->readers[i].partial.columns)
			partials[n++] = &l->readers[i].partial;
	if (!l->in_order)
		status = total_join(l->total, partials, n, l->plan, l->nthreads, fault);
	free(partials);
	if (status != STATUS_OK || !l->total->groups)
		return status;
	status = groups_store(l->total->groups);
	return status == STATUS_OK ? status : partial_fault(l->total, l->plan, status, fault);
}

enum status part_lines_end(struct part_lines *l, struct fault *fault)
{
	enum status status;

	if (!l)
		return STATUS_OK;
	status = l->nthreads ? part_lines_wait(l, fault) : STATUS_OK;
	ordered_queue_end(&l->queue);
	team_join(&l->team);
	if (status == STATUS_OK && l->nthreads)
		status = join(l, fault);
	for (int i = 0; i < l->nthreads; i++) {
		partial_free(&l->readers[i].partial);
		partial_free(&l->readers[i].blank);
		text_free(&l->readers[i].json.scratch);
		text_free(&l->readers[i].json.joined);
	}
	free(l->readers);
	free(l->waiting);
	ordered_queue_destroy(&l->queue);
	free(l);
	return status;
}
