/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h. Here is how the team's threads start and end; what each of them does
 * is in worker_thread.c.
 *
 * A GPU takes some time to wake, and the CPUs may be done before that. So nobody waits for the
 * threads of an optional squad while they wake it: they count only from then on, and those that come
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
static bool admit(struct member *m)
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

static void leave(struct member *m)
{
	struct engine *e = m->engine;

	pthread_mutex_lock(&e->lock);
	m->squad->nbytes += m->nbytes;
	m->squad->nchunks += m->nchunks;
	e->over = --e->nrunning == 0;
	if (e->over)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
}

/* Opens a worker; a CPU in the place of a GPU that fails, or that cannot be had where another thread
 * has retired for it. Somebody who may do without the GPU is not warned. */
static bool open_worker(struct member *m, struct hand *hand)
{
	struct squad *squad = m->squad;
	struct fault fault, *first = squad->optional ? &squad->open_fault : &squad->work_fault;
	enum status status = hand->ops->open(&hand->worker, m->engine->plan, &squad->setup, &fault);

	if (status == STATUS_GPU || (status != STATUS_OK && squad->optional))
		status = member_use_cpu(m, hand, first, &fault);
	if (status != STATUS_OK)
		member_fail(m->engine, &fault);
	return status == STATUS_OK;
}

static bool open_workers(struct member *m)
{
	for (int i = 0; i < m->nhands; i++)
		if (!open_worker(m, &m->hands[i]))
			return false;
	return true;
}

/* Has another thread retire, whose core this one needs. */
static void take_place(struct member *m)
{
	if (m->squad->replaces && !m->has_place)
		atomic_fetch_add(&m->engine->nsurplus, 1);
	m->has_place = m->squad->replaces;
}

/* Wakes the device, if others work in the meantime; else whoever opens a worker does. */
static enum status wake(const struct member *m, struct fault *fault)
{
	const struct squad *squad = m->squad;

	if (!squad->replaces || !squad->ops->wake)
		return STATUS_OK;
	return squad->ops->wake(squad->setup.device, fault);
}

/* Whether an admitted member has work to do. One whose device did not wake has none, unless it must
 * open something all the same: a fault that is to be reported, or a CPU. */
static bool has_work(struct member *m, enum status woken, const struct fault *fault)
{
	if (!m->squad->optional)
		return true;
	if (woken == STATUS_OK || m->has_place)
		return !input_is_over(m->engine->input);
	pthread_mutex_lock(&m->engine->lock);
	m->squad->open_fault = *fault;
	pthread_mutex_unlock(&m->engine->lock);
	return false;
}

static void close_workers(struct member *m)
{
	for (int i = 0; i < m->nhands; i++)
		if (m->hands[i].worker)
			m->hands[i].ops->close(m->hands[i].worker);
}

static void *member_main(void *argument)
{
	struct member *m = argument;
	struct fault fault;
	enum status woken = wake(m, &fault);

	if (!admit(m))
		return NULL;
	if (has_work(m, woken, &fault)) {
		take_place(m);
		if (open_workers(m))
			member_work(m);
	}
	close_workers(m);
	leave(m);
	return NULL;
}

/* ---- the team ---- */

static enum status chains_init(struct engine *e)
{
	uint64_t nmembers = (uint64_t)e->nmembers;

	if (chain_init(&e->entries, TOTAL_NSLOTS + nmembers) != STATUS_OK ||
	    chain_init(&e->writes, 2 * nmembers) != STATUS_OK || /* each may have two chunks */
	    chain_init(&e->totals, TOTAL_NSLOTS) != STATUS_OK)
		return STATUS_NO_MEMORY;
	e->entry_slots = calloc(e->entries.nslots, sizeof *e->entry_slots);
	e->write_slots = calloc(e->writes.nslots, sizeof(struct member *));
	e->total_slots = calloc(e->totals.nslots, sizeof *e->total_slots);
	return e->entry_slots && e->write_slots && e->total_slots ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status member_init(struct member *m, struct engine *e, struct squad *squad,
			       bool is_first)
{
	m->engine = e;
	m->squad = squad;
	m->nhands = squad->reads_ahead ? 2 : 1;
	m->hands[0].ops = m->hands[1].ops = squad->ops;
	m->opening = squad->optional;
	m->has_place = is_first && squad->has_core;
	waiter_init(&m->waiter);
	if (partial_init(&m->partial, e->plan) != STATUS_OK ||
	    partial_init(&m->deferred, e->plan) != STATUS_OK ||
	    seam_folder_init(&m->folder, e->plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return emission_init(&m->emission, e->plan);
}

static enum status members_init(struct engine *e, struct squad *squads, size_t nsquads)
{
	struct member *m;

	for (size_t i = 0; i < nsquads; i++)
		e->nmembers += squads[i].nthreads;
	m = e->members = calloc((size_t)e->nmembers + 1, sizeof *m);
	if (!m || e->nmembers == 0)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < nsquads; i++) {
		e->nrunning += squads[i].optional ? 0 : squads[i].nthreads;
		for (int j = 0; j < squads[i].nthreads; j++)
			if (member_init(m++, e, &squads[i], j == 0) != STATUS_OK)
				return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static struct engine *engine_make(const struct plan *plan, struct input *input,
				  struct squad *squads, size_t nsquads, struct total *total,
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
	if (members_init(e, squads, nsquads) != STATUS_OK || chains_init(e) != STATUS_OK)
		return NULL; /* the process ends: see engine_run */
	return e;
}

static void engine_free(struct engine *e)
{
	for (int i = 0; i < e->nmembers; i++) {
		struct member *m = &e->members[i];
		waiter_destroy(&m->waiter);
		partial_free(&m->partial);
		partial_free(&m->deferred);
		seam_folder_free(&m->folder);
		emission_free(&m->emission);
	}
	free(e->members);
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
	for (int i = 0; i < e->nmembers; i++)
		started[i] = !pthread_create(&e->members[i].thread, NULL, member_main,
					     &e->members[i]);
	for (int i = 0; i < e->nmembers; i++)
		if (!started[i] && !e->members[i].squad->optional)
			member_main(&e->members[i]);
}

/* Waits until all work is done or the run has failed. Returns whether every thread has ended. */
static bool end_threads(struct engine *e, const bool *started)
{
	bool all_ended = true;

	pthread_mutex_lock(&e->lock);
	while (!e->failed && !e->over)
		pthread_cond_wait(&e->finished, &e->lock);
	for (int i = 0; i < e->nmembers; i++)
		if (started[i] && (e->failed || e->members[i].opening))
			all_ended = false;
	pthread_mutex_unlock(&e->lock);
	if (e->failed)
		pthread_mutex_lock(&e->writing); /* for good: nobody writes any more */
	for (int i = 0; i < e->nmembers; i++) {
		if (started[i] && (e->failed || e->members[i].opening))
			pthread_detach(e->members[i].thread);
		else if (started[i])
			pthread_join(e->members[i].thread, NULL);
	}
	return all_ended;
}

/* Adds what the members have kept to themselves. */
static enum status add_deferred(struct engine *e)
{
	for (int i = 0; i < e->nmembers; i++)
		if (partial_combine(&e->total->partial, &e->members[i].deferred) != STATUS_OK)
			return fault_set(e->fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

enum status engine_run(const struct plan *plan, struct input *input, struct squad *squads,
		       size_t nsquads, struct total *total, bool may_guess, bool *all_ended,
		       struct fault *fault)
{
	struct engine *e = engine_make(plan, input, squads, nsquads, total, fault);
	enum status status;

	*all_ended = true;
	if (!e)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no worker");
	e->guesses = may_guess && !plan->emits && e->nmembers > 1;
	if (e->nmembers == 1) { /* no thread to start: a short input is answered sooner */
		member_main(&e->members[0]);
	} else {
		bool started[e->nmembers];
		start_threads(e, started);
		*all_ended = end_threads(e, started);
	}
	status = e->failed ? fault->status : add_deferred(e);
	if (*all_ended)
		engine_free(e);
	return status;
}
