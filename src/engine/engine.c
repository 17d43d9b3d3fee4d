/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h. This file starts and ends the threads; worker_thread.c is what each of
 * them does.
 *
 * A GPU takes some time to wake, and the CPUs may finish before that. The threads of an optional
 * pool therefore wait until the run has shown its speed, and wake their device if the run then ends
 * sooner. They count as running only once the device is awake; those that are too late touch nothing.
 */
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/total_join.h"
#include "engine/worker_thread.h"
#include "fold/groups.h"

/* Chunks that may be folded while the total waits for one. The entry chain has more slots, one for
 * each thread: its threads may be a chunk ahead, and an entry must still be there when it is asked
 * for. */
#define TOTAL_NSLOTS 1024

_Atomic uint64_t engine_nbytes_begun;

/* ---- whether a device joins ---- */

/* The share of the run's speed that is left once the pool's threads have replaced others. */
static double share_kept(const struct engine *e, const struct worker_pool *pool)
{
	int nworking = 0, nreplaced = pool->replaces ? pool->nthreads : 0;

	for (int i = 0; i < e->nthreads; i++)
		nworking += e->threads[i].is_first ? e->threads[i].pool->nworking : 0;
	return nworking > nreplaced ? (double)(nworking - nreplaced) / nworking : 0;
}

/* The speed of the devices that have been called and do not work yet. */
static double speed_called(const struct engine *e)
{
	double speed = 0;

	for (int i = 0; i < e->nthreads; i++) {
		const struct worker_pool *pool = e->threads[i].pool;
		if (e->threads[i].is_first && pool->called_s > 0 && pool->nworking == 0)
			speed += pool->offer.speed;
	}
	return speed;
}

/* Bytes of text that are left. Of packed files, as their bytes that have been read have turned out. */
static double nbytes_left(const struct engine *e, double nbytes_begun)
{
	double nread = (double)fd_nbytes_read;

	if (e->nbytes_all != UINT64_MAX)
		return (double)e->nbytes_all - nbytes_begun;
	return nread > 0 ? nbytes_begun * ((double)e->nbytes_stored - nread) / nread : 0;
}

/* Looks at the run's pace; whether it would end sooner with the pool's device. Holds the engine's lock. */
static bool offer_pays(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct worker_pool *pool = t->pool;
	double nbytes = (double)(engine_nbytes_begun - e->nbytes_before), now_s = clock_s() - e->begin_s;
	struct run_pace run;

	if (!pace_look(&t->meter, now_s, nbytes, (double)e->writer.busy_ns * 1e-9))
		return false;
	run = (struct run_pace){t->meter.speed + speed_called(e), nbytes_left(e, nbytes),
				share_kept(e, pool), t->meter.writing};
	if (!pace_is_sure(&t->meter, gain_s(&run, &pool->offer) > 0))
		return false;
	pool->called_s = now_s;
	pool->others_speed = run.speed;
	return true;
}

/* Waits for the run's end or, the pool's first thread, for the next look at its pace. */
static void await_look(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct timespec when;

	if (!t->is_first) {
		pthread_cond_wait(&e->finished, &e->lock);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &when); /* what the condition's clock is everywhere */
	when.tv_nsec += (long)(PACE_LOOK_S * 1e9);
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&e->finished, &e->lock, &when);
}

/* Makes a thread of a retiring pool end, whose core this one needs. */
static void replace_other(struct worker_thread *t)
{
	if (t->pool->replaces && !t->has_place)
		atomic_fetch_add(&t->engine->nsurplus, 1);
	t->has_place = t->pool->replaces;
}

/* Waits until it pays to wake an optional thread's device. Returns false if the run is over before. */
static bool await_call(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct worker_pool *pool = t->pool;
	bool in_time;

	if (!pool->optional)
		return true;
	pthread_mutex_lock(&e->lock);
	while (!e->over && !e->failed && pool->offer.speed > 0 && pool->called_s == 0) {
		await_look(t);
		if (t->is_first && !e->over && offer_pays(t))
			pthread_cond_broadcast(&e->finished);
	}
	in_time = t->opening = !e->over && !e->failed;
	pthread_mutex_unlock(&e->lock);
	if (in_time && t->is_first && pool->needs_core)
		replace_other(t);
	return in_time;
}

/* ---- one thread ---- */

/* Counts an optional thread as running, once its device is awake or has failed to wake. Returns
 * false if the run is over: the thread then must not touch anything. */
static bool admit(struct worker_thread *t)
{
	struct engine *e = t->engine;
	bool in_time;

	pthread_mutex_lock(&e->lock);
	in_time = !e->over && !e->failed;
	if (in_time && t->opening) {
		t->opening = false;
		e->nrunning++;
	}
	pthread_mutex_unlock(&e->lock);
	return in_time;
}

static void leave(struct worker_thread *t)
{
	struct engine *e = t->engine;

	pthread_mutex_lock(&e->lock);
	t->pool->nbytes += t->nbytes;
	t->pool->nchunks += t->nchunks;
	e->over = --e->nrunning == 0;
	if (e->over)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
}

/* Opens a worker; a CPU in place of a GPU that fails, or, in a pool that forgives it, that cannot be
 * opened. The user is not warned of the latter. */
static bool open_worker(struct worker_thread *t, struct work_slot *slot)
{
	struct worker_pool *pool = t->pool;
	bool forgives = pool->optional || pool->forgives;
	struct fault fault, *first = forgives ? &pool->open_fault : &pool->work_fault;
	enum status status = slot->ops->open(&slot->worker, t->engine->plan, &pool->setup, &fault);

	if (status == STATUS_GPU || (status != STATUS_OK && forgives))
		status = worker_thread_use_cpu(t, slot, first, &fault);
	if (status != STATUS_OK)
		engine_fail(t->engine, &fault);
	return status == STATUS_OK;
}

static bool open_workers(struct worker_thread *t)
{
	for (int i = 0; i < t->nslots; i++)
		if (!open_worker(t, &t->slots[i]))
			return false;
	return true;
}

/* Wakes the device if others work meanwhile; otherwise opening the worker does. */
static enum status wake(const struct worker_thread *t, struct fault *fault)
{
	const struct worker_pool *pool = t->pool;

	if (!pool->replaces || !pool->ops->wake)
		return STATUS_OK;
	return pool->ops->wake(pool->setup.device, fault);
}

/* Whether an admitted thread has work to do. If its device did not wake it has none, unless a core
 * was left for it: then it opens a CPU worker instead. */
static bool has_work(struct worker_thread *t, enum status woken, const struct fault *fault)
{
	if (!t->pool->optional)
		return true;
	if (woken == STATUS_OK || t->has_place)
		return !input_is_over(t->engine->input);
	pthread_mutex_lock(&t->engine->lock);
	t->pool->open_fault = *fault;
	pthread_mutex_unlock(&t->engine->lock);
	return false;
}

static void close_workers(struct worker_thread *t)
{
	for (int i = 0; i < t->nslots; i++)
		if (t->slots[i].worker)
			t->slots[i].ops->close(t->slots[i].worker);
}

static void run_worker(struct worker_thread *t)
{
	if (!open_workers(t))
		return;
	atomic_fetch_add(&t->pool->nworking, 1);
	worker_thread_run(t);
	atomic_fetch_sub(&t->pool->nworking, 1);
}

static void *thread_main(void *argument)
{
	struct worker_thread *t = argument;
	struct fault fault;
	enum status woken;

	if (!await_call(t))
		return NULL;
	woken = wake(t, &fault);
	if (!admit(t))
		return NULL;
	if (has_work(t, woken, &fault)) {
		replace_other(t);
		run_worker(t);
	}
	close_workers(t);
	leave(t);
	return NULL;
}

/* ---- all threads ---- */

static enum status chains_init(struct engine *e)
{
	uint64_t nthreads = (uint64_t)e->nthreads;

	if (chain_init(&e->entries, TOTAL_NSLOTS + nthreads) != STATUS_OK ||
	    chain_init(&e->writes, 2 * nthreads) != STATUS_OK || /* a thread may have two chunks */
	    chain_init(&e->totals, TOTAL_NSLOTS) != STATUS_OK)
		return STATUS_NO_MEMORY;
	e->entry_slots = calloc(e->entries.nslots, sizeof *e->entry_slots);
	e->write_slots = calloc(e->writes.nslots, sizeof(struct worker_thread *));
	e->total_slots = calloc(e->totals.nslots, sizeof *e->total_slots);
	return e->entry_slots && e->write_slots && e->total_slots ? STATUS_OK : STATUS_NO_MEMORY;
}

static void thread_init(struct worker_thread *t, struct engine *e, struct worker_pool *pool,
			bool is_first)
{
	t->engine = e;
	t->pool = pool;
	t->nslots = pool->reads_ahead ? 2 : 1;
	t->slots[0].ops = t->slots[1].ops = pool->ops;
	t->is_first = is_first;
	waiter_init(&t->waiter);
}

static enum status threads_init(struct engine *e, struct worker_pool *pools, size_t npools)
{
	struct worker_thread *t;

	for (size_t i = 0; i < npools; i++)
		e->nthreads += pools[i].nthreads;
	t = e->threads = calloc((size_t)e->nthreads + 1, sizeof *t);
	if (!t || e->nthreads == 0)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < npools; i++) {
		e->nrunning += pools[i].optional ? 0 : pools[i].nthreads;
		for (int j = 0; j < pools[i].nthreads; j++)
			thread_init(t++, e, &pools[i], j == 0);
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
	e->begin_s = clock_s();
	e->nbytes_before = engine_nbytes_begun;
	e->nbytes_all = input_nbytes_left(input);
	e->nbytes_stored = input_nbytes_stored(input);
	if (total->keeps_head)
		e->entry = (struct chunk_entry){CSV_QUOTED, true, false};
	e->writer.owes_newline = plan->inside_line;
	e->writer.curve = plan->curve;
	e->leads = (struct lead_queue){.plan = plan};
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
		struct worker_thread *t = &e->threads[i];
		waiter_destroy(&t->waiter);
		partial_free(&t->partial);
		partial_free(&t->deferred);
		seam_folder_free(&t->folder);
		chunk_output_free(&t->output);
	}
	lead_queue_free(&e->leads);
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

/* Starts the threads. The calling thread does the work of those that the system refuses. */
static void start_threads(struct engine *e, bool *started)
{
	for (int i = 0; i < e->nthreads; i++)
		started[i] = !pthread_create(&e->threads[i].thread, NULL, thread_main,
					     &e->threads[i]);
	for (int i = 0; i < e->nthreads; i++)
		if (!started[i] && !e->threads[i].pool->optional)
			thread_main(&e->threads[i]);
}

/* Waits until all work is done or the run has failed. Returns whether all threads have ended. */
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
		pthread_mutex_lock(&e->writing); /* for good: no thread writes any more */
	for (int i = 0; i < e->nthreads; i++) {
		if (started[i] && (e->failed || e->threads[i].opening))
			pthread_detach(e->threads[i].thread);
		else if (started[i])
			pthread_join(e->threads[i].thread, NULL);
	}
	return all_ended;
}

enum status engine_lose_device(struct engine *e, struct worker_pool *pool, struct fault *fault)
{
	pthread_mutex_lock(&e->lock);
	if (pool->work_fault.status == STATUS_OK)
		pool->work_fault = *fault;
	pthread_mutex_unlock(&e->lock);
	pool->failed = true;
	return fault->status = STATUS_GPU_LOST;
}

/* Adds the total's groups to the store. */
static enum status store_groups(struct engine *e)
{
	struct partial *total = &e->total->partial;
	enum status status = total->groups ? groups_store(total->groups) : STATUS_OK;

	return status == STATUS_OK ? status : partial_fault(total, e->plan, status, e->fault);
}

/* Adds the groups that devices have kept to the store, behind all others, which are few: see group_words.h. Or
 * forgets them, if the run has failed with a status. Returns the status. */
static enum status finish_pools(struct engine *e, struct worker_pool *pools, size_t npools, enum status status)
{
	for (size_t i = 0; i < npools; i++) {
		struct worker_pool *pool = &pools[i];
		struct worker_finish how = {pool->setup.device, e->nthreads, false};
		struct fault fault;
		enum status finished;
		if (!pool->ops->finish || !plan_leaves_groups(e->plan))
			continue;
		if (status == STATUS_OK)
			status = store_groups(e);
		how.wanted = status == STATUS_OK;
		finished = pool->ops->finish(e->plan, &how, &fault);
		if (finished == STATUS_GPU)
			finished = engine_lose_device(e, pool, &fault);
		if (finished == STATUS_OK || status != STATUS_OK)
			continue;
		*e->fault = fault;
		status = fault.status;
	}
	return status;
}

/* Adds the threads' own partials to the total. */
static enum status add_deferred(struct engine *e)
{
	struct partial *deferred[e->nthreads];
	size_t ndeferred = 0;

	for (int i = 0; i < e->nthreads; i++)
		if (e->threads[i].deferred.columns)
			deferred[ndeferred++] = &e->threads[i].deferred;
	return total_join(&e->total->partial, deferred, ndeferred, e->plan, e->nthreads, e->fault);
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
	if (e->nthreads == 1) { /* a short input: no thread is started */
		thread_main(&e->threads[0]);
	} else {
		bool started[e->nthreads];
		start_threads(e, started);
		*all_ended = end_threads(e, started);
	}
	status = e->failed ? e->fault->status : add_deferred(e);
	status = finish_pools(e, pools, npools, status);
	total->owes_newline = e->writer.owes_newline;
	if (status == STATUS_ENOUGH) /* the first fault in the order of the input: all that was asked is done */
		status = STATUS_OK;
	if (status == STATUS_OK) /* no thread writes any more */
		status = lead_queue_end(&e->leads, &e->writer, fault);
	if (*all_ended)
		engine_free(e);
	return status;
}
