/* SPDX-License-Identifier: MIT
 *
 * lockstep.c - see lockstep.h.
 *
 * All threads do a step at once and then meet at a barrier. The last thread to arrive does the work
 * that follows the order of the input: the chunks' entries, the totals before them, and writing.
 */
#include "bench/pipeline/lockstep.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/pipeline/traced_worker.h"
#include "fold/groups.h"
#include "io/output.h"

#define NSPINS 10000 /* before a waiting thread yields: a wake-up takes as long as a step */

struct lockstep;

struct stepper {
	struct lockstep *of;
	pthread_t thread;
	struct worker *worker;
	bool has_chunk;
	struct chunk chunk;
	struct chunk_map map;
	struct chunk_entry entry;
	struct partial partial, before;
	struct text_buffer *text; /* the worker's; NULL: none */
};

struct lockstep {
	const struct lockstep_request *request;
	const struct worker_ops *ops;
	struct stepper *steppers;
	struct stepper **order;   /* those with a chunk, in the order of the input */
	int nthreads, nchunks;    /* threads that run; length of order */
	uint64_t index, nbytes;   /* of the next round's first chunk; read so far */
	struct chunk_entry entry; /* of that chunk */
	struct partial sum;       /* of all chunks before it */
	struct writer writer;
	atomic_int narrived;   /* at the barrier */
	atomic_uint nbarriers; /* passed */
	atomic_bool started, failed;
	bool emits, over;
	pthread_mutex_t lock; /* of fault */
	struct fault fault;
};

static void fail(struct lockstep *ls, const struct fault *fault)
{
	pthread_mutex_lock(&ls->lock);
	if (!ls->failed)
		ls->fault = *fault;
	ls->failed = true;
	pthread_mutex_unlock(&ls->lock);
}

static void fail_memory(struct lockstep *ls)
{
	struct fault fault = {0};

	fault_set(&fault, STATUS_NO_MEMORY, 0, NULL);
	fail(ls, &fault);
}

/* ---- the steps, in each thread ---- */

static enum status read_chunk(struct stepper *s, struct fault *fault)
{
	struct lockstep *ls = s->of;
	const struct reader reader = {.buffer = ls->ops->buffer(s->worker),
				      .nbytes = ls->request->pool->setup.chunk_nbytes,
				      .worker = s->worker,
				      .read = ls->ops->read};
	enum status status = STATUS_OK;

	s->has_chunk = input_read_chunk(ls->request->input, &reader, &s->chunk, &status, fault);
	if (s->has_chunk && status == STATUS_OK)
		traced_has_read(s->worker, &s->chunk);
	return s->has_chunk ? status : STATUS_OK;
}

static enum status map(struct stepper *s, struct fault *fault)
{
	return s->of->ops->map(s->worker, &s->chunk, &s->map, fault);
}

static enum status fold(struct stepper *s, struct fault *fault)
{
	partial_clear(&s->partial);
	return s->of->ops->fold(s->worker, &s->chunk, s->entry, &s->partial, fault);
}

static enum status emit(struct stepper *s, struct fault *fault)
{
	s->text = NULL;
	if (!s->of->emits)
		return STATUS_OK;
	return s->of->ops->emit(s->worker, &s->chunk, s->entry, &s->before, &s->text, fault);
}

/* ---- after each step, in one thread ---- */

/* Puts the chunks in order. No chunk: the input is at its end. */
static void order_chunks(struct lockstep *ls)
{
	ls->nchunks = 0;
	for (int i = 0; i < ls->nthreads && !ls->failed; i++) {
		struct stepper *s = &ls->steppers[i];
		if (!s->has_chunk)
			continue;
		ls->order[s->chunk.index - ls->index] = s;
		ls->nbytes += s->chunk.nbytes;
		ls->nchunks++;
	}
	ls->index += (uint64_t)ls->nchunks;
	ls->over = ls->nchunks == 0;
}

static void enter_chunks(struct lockstep *ls)
{
	const struct chunk_entry afresh = {CSV_FIELD_START, false, false};

	for (int i = 0; i < ls->nchunks; i++) {
		struct stepper *s = ls->order[i];
		const struct chunk *c = &s->chunk;
		s->entry = c->first_of_file ? afresh : ls->entry;
		ls->entry = s->entry;
		if (c->nbytes > 0)
			ls->entry = chunk_entry_after(s->map.map, c->data[c->nbytes - 1] == '\n',
						      s->entry);
	}
}

/* Makes the chunk's groups those of all records before, which its records are printed with. */
static enum status exchange_groups(struct stepper *s)
{
	struct groups *spare = s->before.groups;

	s->before.groups = s->partial.groups;
	s->partial.groups = spare;
	if (spare)
		groups_clear(spare);
	return s->before.groups ? groups_exchange(s->before.groups) : STATUS_OK;
}

static void add_partials(struct lockstep *ls)
{
	for (int i = 0; i < ls->nchunks && ls->emits; i++) {
		struct stepper *s = ls->order[i];
		partial_clear(&s->before);
		if (partial_combine(&s->before, &ls->sum) != STATUS_OK || exchange_groups(s) != STATUS_OK ||
		    partial_combine(&ls->sum, &s->partial) != STATUS_OK)
			fail_memory(ls);
	}
}

static void write_texts(struct lockstep *ls)
{
	struct fault fault;

	for (int i = 0; i < ls->nchunks && ls->emits; i++) {
		struct stepper *s = ls->order[i];
		ls->ops->writes(s->worker, true);
		if (s->text && writer_write(&ls->writer, s->text, &fault) != STATUS_OK)
			fail(ls, &fault);
		ls->ops->writes(s->worker, false);
	}
	ls->over = ls->nbytes >= ls->request->nbytes;
}

/* ---- the threads ---- */

static const struct {
	enum status (*each)(struct stepper *, struct fault *);
	void (*in_order)(struct lockstep *);
} steps[] = {
	{read_chunk, order_chunks}, {map, enter_chunks}, {fold, add_partials}, {emit, write_texts}};
#define NSTEPS ((int)(sizeof steps / sizeof *steps))

/* Waits for all threads. The last one to arrive calls in_order first, unless it is NULL. */
static void meet(struct lockstep *ls, void (*in_order)(struct lockstep *))
{
	unsigned barrier = ls->nbarriers;

	if (atomic_fetch_add(&ls->narrived, 1) + 1 == ls->nthreads) {
		if (in_order)
			in_order(ls);
		ls->over |= ls->failed;
		ls->narrived = 0;
		ls->nbarriers = barrier + 1;
		return;
	}
	for (int n = 0; ls->nbarriers == barrier; n++)
		if (n >= NSPINS)
			sched_yield();
}

static void work(struct stepper *s)
{
	struct lockstep *ls = s->of;
	struct fault fault = {0};

	for (int step = 0; !ls->over; step = (step + 1) % NSTEPS) {
		bool skips = step > 0 && (!s->has_chunk || ls->request->reads_only);
		if (!skips && !ls->failed && steps[step].each(s, &fault) != STATUS_OK)
			fail(ls, &fault);
		meet(ls, steps[step].in_order);
	}
}

static void *stepper_main(void *argument)
{
	struct stepper *s = argument;
	struct lockstep *ls = s->of;
	struct fault fault = {0};

	while (!ls->started)
		sched_yield();
	if (ls->ops->open(&s->worker, ls->request->plan, &ls->request->pool->setup, &fault) !=
	    STATUS_OK)
		fail(ls, &fault);
	meet(ls, NULL);
	work(s);
	if (s->worker)
		ls->ops->close(s->worker);
	return NULL;
}

static enum status steppers_init(struct lockstep *ls, int n)
{
	const struct plan *plan = ls->request->plan;

	ls->steppers = calloc((size_t)n, sizeof *ls->steppers);
	ls->order = calloc((size_t)n, sizeof(struct stepper *));
	if (!ls->steppers || !ls->order || partial_init(&ls->sum, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (int i = 0; i < n; i++) {
		ls->steppers[i].of = ls;
		if (partial_init(&ls->steppers[i].partial, plan) != STATUS_OK ||
		    partial_init(&ls->steppers[i].before, plan) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static void lockstep_free(struct lockstep *ls)
{
	for (int i = 0; ls->steppers && i < ls->request->nthreads; i++) {
		partial_free(&ls->steppers[i].partial);
		partial_free(&ls->steppers[i].before);
	}
	free(ls->steppers);
	free(ls->order);
	partial_free(&ls->sum);
	pthread_mutex_destroy(&ls->lock);
}

/* Runs with as many threads as can be started. */
static void run_threads(struct lockstep *ls, struct trace *trace)
{
	while (ls->nthreads < ls->request->nthreads &&
	       !pthread_create(&ls->steppers[ls->nthreads].thread, NULL, stepper_main,
			       &ls->steppers[ls->nthreads]))
		ls->nthreads++;
	traced_begin(trace, ls->nthreads, true);
	ls->started = true;
	for (int i = 0; i < ls->nthreads; i++)
		pthread_join(ls->steppers[i].thread, NULL);
	if (ls->nthreads == 0)
		fail_memory(ls);
}

enum status lockstep_run(const struct lockstep_request *request, struct trace *trace,
			 struct fault *fault)
{
	struct lockstep ls = {.request = request, .ops = traced_ops(request->pool->ops)};
	const struct worker_finish forgets = {.device = request->pool->setup.device, .nthreads = 1};
	enum status status = STATUS_OK;

	pthread_mutex_init(&ls.lock, NULL);
	ls.entry.state = CSV_FIELD_START;
	ls.emits = request->plan->emits && !request->reads_only;
	if (steppers_init(&ls, request->nthreads) == STATUS_OK)
		run_threads(&ls, trace);
	else
		fail_memory(&ls);
	if (ls.ops->finish) /* the groups of a part of the input are nobody's */
		(void)ls.ops->finish(request->plan, &forgets, fault);
	if (ls.failed) {
		*fault = ls.fault;
		status = fault->status;
	}
	lockstep_free(&ls);
	return status;
}
