/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h. Here is how the team's threads start and end; what each of them does
 * is in worker_thread.c.
 *
 * A GPU takes some time to wake, and the CPUs may be done before that. So nobody waits for the
 * threads of an optional pool while they wake it: they count only from then on, and those that come
 * too late touch nothing.
 */
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/worker_thread.h"

/* Chunks that may be folded while the total waits for one. Those that have gone through the
 * entry chain may be ahead of these by one for each thread; who asks later how one was entered
 * must still find its slot. */
#define TOTAL_NSLOTS 1024

_Atomic uint64_t engine_nbytes_begun;

/* ---- one thread ---- */

/* Counts an optional member in, now that it can work or has found that it cannot. Returns false
 * if all is over: then nobody waits for it, and it leaves everything as it is. */
static bool admit(struct worker_thread *m)
{
	struct engine *e = m->engine;
	bool in_time;

	pthread_mutex_lock(&e->lock);
	in_time = !e->over && !e->failed;
	if (in_time && m->opening) {
		m->opening = false;
		e->nrunning++;
	}
	pthread_mutex_unlock(&e->lock);
	return in_time;
}

static void leave(struct worker_thread *m)
{
	struct engine *e = m->engine;

	pthread_mutex_lock(&e->lock);
	m->pool->nbytes += m->nbytes;
	m->pool->nchunks += m->nchunks;
	e->over = --e->nrunning == 0;
	if (e->over)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
}

/* Opens a worker; a CPU in the place of a GPU that fails, or that cannot be had where another thread
 * has retired for it. Somebody who may do without the GPU is not warned. */
static bool open_worker(struct worker_thread *m, struct work_slot *slot)
{
	struct worker_pool *pool = m->pool;
	struct fault fault, *first = pool->optional ? &pool->open_fault : &pool->work_fault;
	enum status status = slot->ops->open(&slot->worker, m->engine->plan, &pool->setup, &fault);

	if (status == STATUS_GPU || (status != STATUS_OK && pool->optional))
		status = worker_thread_use_cpu(m, slot, first, &fault);
	if (status != STATUS_OK)
		engine_fail(m->engine, &fault);
	return status == STATUS_OK;
}

static bool open_workers(struct worker_thread *m)
{
	for (int i = 0; i < m->nslots; i++)
		if (!open_worker(m, &m->slots[i]))
			return false;
	return true;
}

/* Has another thread retire, whose core this one needs. */
static void take_place(struct worker_thread *m)
{
	if (m->pool->replaces && !m->has_place)
		atomic_fetch_add(&m->engine->nsurplus, 1);
	m->has_place = m->pool->replaces;
}

/* Wakes the device, if others work in the meantime; else whoever opens a worker does. */
static enum status wake(const struct worker_thread *m, struct fault *fault)
{
	const struct worker_pool *pool = m->pool;

	if (!pool->replaces || !pool->ops->wake)
		return STATUS_OK;
	return pool->ops->wake(pool->setup.device, fault);
}

/* Whether an admitted member has work to do. One whose device did not wake has none, unless it must
 * open something all the same: a fault that is to be reported, or a CPU. */
static bool has_work(struct worker_thread *m, enum status woken, const struct fault *fault)
{
	if (!m->pool->optional)
		return true;
	if (woken == STATUS_OK || m->has_place)
		return !input_is_over(m->engine->input);
	pthread_mutex_lock(&m->engine->lock);
	m->pool->open_fault = *fault;
	pthread_mutex_unlock(&m->engine->lock);
	return false;
}

static void close_workers(struct worker_thread *m)
{
	for (int i = 0; i < m->nslots; i++)
		if (m->slots[i].worker)
			m->slots[i].ops->close(m->slots[i].worker);
}

static void *thread_main(void *argument)
{
	struct worker_thread *m = argument;
	struct fault fault;
	enum status woken = wake(m, &fault);

	if (!admit(m))
		return NULL;
	if (has_work(m, woken, &fault)) {
		take_place(m);
		if (open_workers(m))
			worker_thread_run(m);
	}
	close_workers(m);
	leave(m);
	return NULL;
}

/* ---- the team ---- */

static enum status chains_init(struct engine *e)
{
	uint64_t nthreads = (uint64_t)e->nthreads;

	if (chain_init(&e->entries, TOTAL_NSLOTS + nthreads) != STATUS_OK ||
	    chain_init(&e->writes, 2 * nthreads) != STATUS_OK || /* each may have two chunks */
	    chain_init(&e->totals, TOTAL_NSLOTS) != STATUS_OK)
		return STATUS_NO_MEMORY;
	e->entry_slots = calloc(e->entries.nslots, sizeof *e->entry_slots);
	e->write_slots = calloc(e->writes.nslots, sizeof(struct worker_thread *));
	e->total_slots = calloc(e->totals.nslots, sizeof *e->total_slots);
	return e->entry_slots && e->write_slots && e->total_slots ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status thread_init(struct worker_thread *m, struct engine *e, struct worker_pool *pool,
			       bool is_first)
{
	m->engine = e;
	m->pool = pool;
	m->nslots = pool->reads_ahead ? 2 : 1;
	m->slots[0].ops = m->slots[1].ops = pool->ops;
	m->opening = pool->optional;
	m->has_place = is_first && pool->has_core;
	waiter_init(&m->waiter);
	if (partial_init(&m->partial, e->plan) != STATUS_OK ||
	    partial_init(&m->deferred, e->plan) != STATUS_OK ||
	    seam_folder_init(&m->folder, e->plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return chunk_output_init(&m->output, e->plan);
}

static enum status threads_init(struct engine *e, struct worker_pool *pools, size_t npools)
{
	struct worker_thread *m;

	for (size_t i = 0; i < npools; i++)
		e->nthreads += pools[i].nthreads;
	m = e->threads = calloc((size_t)e->nthreads + 1, sizeof *m);
	if (!m || e->nthreads == 0)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < npools; i++) {
		e->nrunning += pools[i].optional ? 0 : pools[i].nthreads;
		for (int j = 0; j < pools[i].nthreads; j++)
			if (thread_init(m++, e, &pools[i], j == 0) != STATUS_OK)
				return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static struct engine *engine_make(const struct plan *plan, struct input *input,
				  struct worker_pool *pools, size_t npools, struct total *total,
				  struct fault *fault)
{
	struct engine *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->plan = plan;
	e->input = input;
	e->total = total;
	e->fault = fault;
	e->writer.owes_newline = plan->inside_line;
	pthread_mutex_init(&e->lock, NULL);
	pthread_mutex_init(&e->writing, NULL);
	pthread_cond_init(&e->finished, NULL);
	if (threads_init(e, pools, npools) != STATUS_OK || chains_init(e) != STATUS_OK)
		return NULL; /* the process ends: see engine_run */
	return e;
}

static void engine_free(struct engine *e)
{
	for (int i = 0; i < e->nthreads; i++) {
		struct worker_thread *m = &e->threads[i];
		waiter_destroy(&m->waiter);
		partial_free(&m->partial);
		partial_free(&m->deferred);
		seam_folder_free(&m->folder);
		chunk_output_free(&m->output);
	}
	free(e->threads);
	free(e->entry_slots);
	free(e->write_slots);
	free(e->total_slots);
	chain_destroy(&e->entries);
	chain_destroy(&e->writes);
	chain_destroy(&e->totals);
	pthread_mutex_destroy(&e->lock);
	pthread_mutex_destroy(&e->writing);
	pthread_cond_destroy(&e->finished);
	free(e);
}

/* Starts a thread for each member. Where the system has no thread left, the calling thread takes
 * that member's part. */
static void start_threads(struct engine *e, bool *started)
{
	for (int i = 0; i < e->nthreads; i++)
		started[i] = !pthread_create(&e->threads[i].thread, NULL, thread_main,
					     &e->threads[i]);
	for (int i = 0; i < e->nthreads; i++)
		if (!started[i] && !e->threads[i].pool->optional)
			thread_main(&e->threads[i]);
}

/* Waits until all work is done or the run has failed. Returns whether every thread has ended. */
static bool end_threads(struct engine *e, const bool *started)
{
	bool all_ended = true;

	pthread_mutex_lock(&e->lock);
	while (!e->failed && !e->over)
		pthread_cond_wait(&e->finished, &e->lock);
	for (int i = 0; i < e->nthreads; i++)
		if (started[i] && (e->failed || e->threads[i].opening))
			all_ended = false;
	pthread_mutex_unlock(&e->lock);
	if (e->failed)
		pthread_mutex_lock(&e->writing); /* for good: nobody writes any more */
	for (int i = 0; i < e->nthreads; i++) {
		if (started[i] && (e->failed || e->threads[i].opening))
			pthread_detach(e->threads[i].thread);
		else if (started[i])
			pthread_join(e->threads[i].thread, NULL);
	}
	return all_ended;
}

/* Adds what the threads have kept to themselves. */
static enum status add_deferred(struct engine *e)
{
	for (int i = 0; i < e->nthreads; i++)
		if (partial_combine(&e->total->partial, &e->threads[i].deferred) != STATUS_OK)
			return fault_set(e->fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

enum status engine_run(const struct plan *plan, struct input *input, struct worker_pool *pools,
		       size_t npools, struct total *total, bool may_guess, bool *all_ended,
		       struct fault *fault)
{
	struct engine *e = engine_make(plan, input, pools, npools, total, fault);
	enum status status;

	*all_ended = true;
	if (!e)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no worker");
	e->guesses = may_guess && !plan->emits && e->nthreads > 1;
	if (e->nthreads == 1) { /* no thread to start: a short input is answered sooner */
		thread_main(&e->threads[0]);
	} else {
		bool started[e->nthreads];
		start_threads(e, started);
		*all_ended = end_threads(e, started);
	}
	status = e->failed ? fault->status : add_deferred(e);
	if (*all_ended)
		engine_free(e);
	return status;
}
