/* SPDX-License-Identifier: MIT
 *
 * part_lines.c - see part_lines.h.
 */
#include "cluster/part_lines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "cluster/part_head.h"
#include "engine/total_join.h"
#include "fold/groups.h"

#define WAITING_NRUNS 4 /* for each thread */

/* What a thread reads with. */
struct line_reader {
	struct part_lines *of;
	struct partial partial; /* what it has read, and not added to the total or the store */
	struct partial blank;   /* the identity */
	struct json_reader json;
	struct fault fault;
};

struct part_lines {
	const struct plan *plan;
	struct partial *total;
	bool in_order;
	int nthreads;
	struct line_reader *readers; /* nthreads; the first is that of the thread that adds runs */
	pthread_t *threads;          /* of the other readers; nstarted of them run */
	int nstarted;
	/* Under the lock. Runs have numbers from 0 on. */
	pthread_mutex_t lock;
	pthread_cond_t arrived; /* a run, or the end */
	pthread_cond_t done;    /* a run is done, or its turn over */
	struct line_run *waiting; /* by number modulo capacity: [ntaken, nadded) */
	size_t capacity;
	uint64_t nadded, ntaken, ndone;
	uint64_t turn;     /* in_order: the run that is added to the total next */
	uint64_t fault_at; /* the first run with an error; UINT64_MAX: none */
	struct fault fault;
	bool is_ended;
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
	part_map_free(&map->map);
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

/* Waits for a run's turn. Returns false where an error in a run before ends the merge. */
static bool await_turn(struct part_lines *l, uint64_t number)
{
	bool is_good;

	pthread_mutex_lock(&l->lock);
	while (l->turn < number && l->fault_at > number)
		pthread_cond_wait(&l->done, &l->lock);
	is_good = l->fault_at > number;
	pthread_mutex_unlock(&l->lock);
	return is_good;
}

/* Adds the reader's partial to the total, in the run's turn. */
static enum status add_in_turn(struct line_reader *r, uint64_t number)
{
	struct part_lines *l = r->of;
	enum status status;

	if (!await_turn(l, number))
		return STATUS_OK;
	status = partial_combine(l->total, &r->partial);
	partial_clear(&r->partial);
	return status == STATUS_OK ? status : partial_fault(l->total, l->plan, status, &r->fault);
}

static void end_run(struct line_reader *r, uint64_t number, enum status status)
{
	struct part_lines *l = r->of;

	pthread_mutex_lock(&l->lock);
	if (status != STATUS_OK && number < l->fault_at) {
		l->fault_at = number;
		l->fault = r->fault;
	}
	if (l->turn == number)
		l->turn++;
	l->ndone++;
	pthread_cond_broadcast(&l->done);
	pthread_mutex_unlock(&l->lock);
}

static void do_run(struct line_reader *r, const struct line_run *run, uint64_t number)
{
	struct part_lines *l = r->of;
	enum status status = STATUS_OK;
	bool is_wanted;

	pthread_mutex_lock(&l->lock);
	is_wanted = number < l->fault_at;
	pthread_mutex_unlock(&l->lock);
	if (is_wanted)
		status = read_run(r, run);
	if (status == STATUS_OK && is_wanted)
		status = l->in_order ? add_in_turn(r, number) : move_groups(r, GROUPS_FEW);
	part_block_release(run->block);
	part_map_release(run->map);
	end_run(r, number, status);
}

/* ---- threads ---- */

/* Takes the next run. waits: until one is added; else false is returned if no run is waiting. */
static bool take_run(struct part_lines *l, bool waits, struct line_run *run, uint64_t *number)
{
	bool has;

	pthread_mutex_lock(&l->lock);
	while (waits && l->ntaken == l->nadded && !l->is_ended)
		pthread_cond_wait(&l->arrived, &l->lock);
	has = l->ntaken < l->nadded;
	if (has) {
		*number = l->ntaken++;
		*run = l->waiting[*number % l->capacity];
	}
	pthread_mutex_unlock(&l->lock);
	return has;
}

static void *thread_main(void *reader)
{
	struct line_reader *r = reader;
	struct line_run run;
	uint64_t number;

	while (take_run(r->of, true, &run, &number))
		do_run(r, &run, number);
	return NULL;
}

/* Starts one more thread, unless all run or the system has no more. */
static void start_thread(struct part_lines *l)
{
	int i = l->nstarted;

	if (i + 1 < l->nthreads && !pthread_create(&l->threads[i], NULL, thread_main, &l->readers[i + 1]))
		l->nstarted++;
}

struct part_lines *part_lines_begin(const struct plan *plan, struct partial *total, int nthreads)
{
	struct part_lines *l = calloc(1, sizeof *l);
	size_t n = (size_t)(nthreads ? nthreads : cores_count());

	if (!l)
		return NULL;
	*l = (struct part_lines){.plan = plan, .total = total, .in_order = plan_is_ordered(plan),
				 .nthreads = (int)n, .capacity = n * WAITING_NRUNS, .fault_at = UINT64_MAX};
	l->readers = calloc(n, sizeof *l->readers);
	l->threads = calloc(n, sizeof *l->threads);
	l->waiting = calloc(l->capacity, sizeof *l->waiting);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->arrived, NULL);
	pthread_cond_init(&l->done, NULL);
	for (size_t i = 0; l->readers && i < n; i++)
		l->readers[i].of = l;
	if (l->readers && l->threads && l->waiting)
		return l;
	l->nthreads = 0;
	part_lines_end(l, &(struct fault){.status = STATUS_OK});
	return NULL;
}

/* Puts a run behind those that wait. Returns their number before. */
static uint64_t put_run(struct part_lines *l, const struct line_run *run)
{
	uint64_t nwaiting;

	pthread_mutex_lock(&l->lock);
	nwaiting = l->nadded - l->ntaken;
	l->waiting[l->nadded++ % l->capacity] = *run;
	pthread_cond_signal(&l->arrived);
	pthread_mutex_unlock(&l->lock);
	return nwaiting;
}

enum status part_lines_add(struct part_lines *l, const struct line_run *run)
{
	struct line_run taken;
	uint64_t number, nwaiting;
	enum status status;

	part_block_use(run->block);
	atomic_fetch_add_explicit(&run->map->nusers, 1, memory_order_relaxed);
	nwaiting = put_run(l, run);
	if (nwaiting > 0)
		start_thread(l);
	if ((l->nthreads == 1 || nwaiting + 1 == l->capacity) && take_run(l, false, &taken, &number))
		do_run(&l->readers[0], &taken, number);
	pthread_mutex_lock(&l->lock);
	status = l->fault_at == UINT64_MAX ? STATUS_OK : l->fault.status;
	pthread_mutex_unlock(&l->lock);
	return status;
}

enum status part_lines_wait(struct part_lines *l, struct fault *fault)
{
	struct line_run run;
	uint64_t number;
	enum status status;

	while (take_run(l, false, &run, &number))
		do_run(&l->readers[0], &run, number);
	pthread_mutex_lock(&l->lock);
	while (l->ndone < l->nadded)
		pthread_cond_wait(&l->done, &l->lock);
	status = l->fault_at == UINT64_MAX ? STATUS_OK : l->fault.status;
	if (status != STATUS_OK)
		*fault = l->fault;
	pthread_mutex_unlock(&l->lock);
	return status;
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

static void end_threads(struct part_lines *l)
{
	pthread_mutex_lock(&l->lock);
	l->is_ended = true;
	pthread_cond_broadcast(&l->arrived);
	pthread_mutex_unlock(&l->lock);
	for (int i = 0; i < l->nstarted; i++)
		pthread_join(l->threads[i], NULL);
}

enum status part_lines_end(struct part_lines *l, struct fault *fault)
{
	enum status status;

	if (!l)
		return STATUS_OK;
	status = l->nthreads ? part_lines_wait(l, fault) : STATUS_OK;
	end_threads(l);
	if (status == STATUS_OK && l->nthreads)
		status = join(l, fault);
	for (int i = 0; i < l->nthreads; i++) {
		partial_free(&l->readers[i].partial);
		partial_free(&l->readers[i].blank);
		text_free(&l->readers[i].json.scratch);
		text_free(&l->readers[i].json.joined);
	}
	free(l->readers);
	free(l->threads);
	free(l->waiting);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->arrived);
	pthread_cond_destroy(&l->done);
	free(l);
	return status;
}
