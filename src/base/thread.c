/* SPDX-License-Identifier: MIT
 *
 * thread.c - see thread.h.
 */
#include "base/thread.h"

#include <signal.h>
#include <string.h>

bool thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, NULL, work, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void team_start(struct team *team, size_t nwanted, void *(*work)(void *context), void *context)
{
	nwanted = nwanted < TEAM_NTHREADS_MAX ? nwanted : TEAM_NTHREADS_MAX;
	while (team->nthreads < nwanted && thread_start(&team->threads[team->nthreads], work, context))
		team->nthreads++;
}

void team_join(struct team *team)
{
	while (team->nthreads > 0)
		pthread_join(team->threads[--team->nthreads], NULL);
}

void team_run(size_t nthreads, void *(*work)(void *context), void *context)
{
	struct team team = {.nthreads = 0};

	nthreads = nthreads < TEAM_NTHREADS_MAX ? nthreads : TEAM_NTHREADS_MAX;
	while (team.nthreads + 1 < nthreads && pthread_create(&team.threads[team.nthreads], NULL, work, context) == 0)
		team.nthreads++;
	work(context);
	team_join(&team);
}

/* One call of team_each. */
struct calls {
	void (*work)(void *context, size_t i);
	void *context;
	size_t n;
	atomic_size_t next;
};

static void *call_each(void *calls)
{
	struct calls *c = calls;

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
		c->work(c->context, i);
	return NULL;
}

void team_each(size_t nthreads, size_t n, void (*work)(void *context, size_t i), void *context)
{
	team_run(n < nthreads ? n : nthreads, call_each, &(struct calls){work, context, n, 0});
}

/* ---- an ordered queue ----
 *
 * A turn wakes only those that wait for it, or for one that is a multiple of NWAITS later: with a
 * broadcast to dozens of threads, waking them takes longer than their work.
 */

enum item_state { ITEM_NOT_DONE, ITEM_POSTED, ITEM_FINISHED };

void ordered_queue_init(struct ordered_queue *q, uint64_t capacity, uint64_t nput, bool has_consumer)
{
	memset(q, 0, sizeof *q);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->put, NULL);
	for (int i = 0; i < ORDERED_QUEUE_NWAITS; i++)
		pthread_cond_init(&q->turned[i], NULL);
	q->capacity = capacity;
	q->nput = nput;
	q->nreleased = has_consumer ? 0 : UINT64_MAX;
	q->fault_at = UINT64_MAX;
}

void ordered_queue_destroy(struct ordered_queue *q)
{
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->put);
	for (int i = 0; i < ORDERED_QUEUE_NWAITS; i++)
		pthread_cond_destroy(&q->turned[i]);
}

/* Under the lock. */
static void wake_all(struct ordered_queue *q)
{
	pthread_cond_broadcast(&q->put);
	for (int i = 0; i < ORDERED_QUEUE_NWAITS; i++)
		pthread_cond_broadcast(&q->turned[i]);
}

void ordered_queue_put(struct ordered_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->nput++;
	pthread_cond_signal(&q->put);
	pthread_mutex_unlock(&q->lock);
}

void ordered_queue_end(struct ordered_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	if (q->nput == UINT64_MAX)
		q->nput = q->ntaken;
	wake_all(q);
	pthread_mutex_unlock(&q->lock);
}

/* Whether the next item may be taken. */
static bool has_next(const struct ordered_queue *q)
{
	uint64_t free = q->turn < q->nreleased ? q->turn : q->nreleased;

	return q->ntaken < q->nput && q->ntaken - free < q->capacity;
}

bool ordered_queue_take(struct ordered_queue *q, bool waits, uint64_t *item)
{
	bool taken;

	pthread_mutex_lock(&q->lock);
	while (waits && !q->stopped && !has_next(q) && !(q->ended && q->ntaken == q->nput))
		pthread_cond_wait(&q->put, &q->lock);
	taken = !q->stopped && has_next(q);
	if (taken)
		*item = q->ntaken++;
	if (taken && has_next(q))
		pthread_cond_signal(&q->put); /* for another thread: one may have been woken for several items */
	else if (q->ended && q->ntaken == q->nput)
		pthread_cond_broadcast(&q->put); /* those that wait for room: no item is left for them */
	pthread_mutex_unlock(&q->lock);
	return taken;
}

/* Under the lock. */
static uint8_t *state_of(struct ordered_queue *q, uint64_t item)
{
	return &q->states[item % ORDERED_QUEUE_MOST];
}

/* Under the lock: passes the turn on, as far as items are finished. Returns whether it comes to one that was posted. */
static bool pass_turn(struct ordered_queue *q)
{
	bool is_posted;

	for (uint8_t *at; *(at = state_of(q, q->turn)) == ITEM_FINISHED;) {
		*at = ITEM_NOT_DONE;
		q->turn++;
		pthread_cond_broadcast(&q->turned[q->turn % ORDERED_QUEUE_NWAITS]);
	}
	is_posted = *state_of(q, q->turn) == ITEM_POSTED;
	*state_of(q, q->turn) = ITEM_NOT_DONE;
	return is_posted;
}

bool ordered_queue_enter(struct ordered_queue *q, uint64_t item)
{
	uint64_t turn = item < q->capacity ? 0 : item - q->capacity + 1;

	return ordered_queue_await(q, turn, turn + q->capacity / 4);
}

bool ordered_queue_post(struct ordered_queue *q, uint64_t item)
{
	bool has_turn;

	pthread_mutex_lock(&q->lock);
	has_turn = q->turn == item;
	if (!has_turn)
		*state_of(q, item) = ITEM_POSTED;
	pthread_mutex_unlock(&q->lock);
	return has_turn;
}

bool ordered_queue_finish(struct ordered_queue *q, uint64_t item, enum status status, const struct fault *fault)
{
	bool is_posted;

	pthread_mutex_lock(&q->lock);
	if (status != STATUS_OK && item < q->fault_at) {
		q->fault_at = item;
		q->fault = *fault;
		fault_complete(&q->fault, status); /* a worker may have left it without details */
	}
	if (item >= q->turn) /* it was not skipped */
		*state_of(q, item) = ITEM_FINISHED;
	is_posted = pass_turn(q);
	if (has_next(q))
		pthread_cond_signal(&q->put);
	pthread_mutex_unlock(&q->lock);
	return is_posted;
}

#define NSPINS 100 /* some 4 us: less than the system takes to wake a thread */

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

bool ordered_queue_await(struct ordered_queue *q, uint64_t item, uint64_t enough)
{
	bool good;

	for (int i = 0; i < NSPINS && q->turn < item; i++)
		spin_pause();
	pthread_mutex_lock(&q->lock);
	if (q->turn < item)
		while (!q->stopped && (q->turn < item || (q->turn < enough && !q->paused && !q->ended)))
			pthread_cond_wait(&q->turned[(q->paused || q->ended ? item : enough) % ORDERED_QUEUE_NWAITS],
					  &q->lock);
	good = !q->stopped && q->fault_at >= item;
	pthread_mutex_unlock(&q->lock);
	return good;
}

void ordered_queue_pause(struct ordered_queue *q, bool paused)
{
	pthread_mutex_lock(&q->lock);
	q->paused = paused;
	if (paused)
		wake_all(q);
	pthread_mutex_unlock(&q->lock);
}

void ordered_queue_release(struct ordered_queue *q, uint64_t n)
{
	pthread_mutex_lock(&q->lock);
	q->nreleased = n;
	pthread_cond_signal(&q->put);
	pthread_mutex_unlock(&q->lock);
}

bool ordered_queue_is_finished(struct ordered_queue *q, uint64_t item)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = item < q->turn || (item < q->ntaken && *state_of(q, item) == ITEM_FINISHED);
	pthread_mutex_unlock(&q->lock);
	return is;
}

bool ordered_queue_is_void(struct ordered_queue *q, uint64_t item)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->fault_at < item;
	pthread_mutex_unlock(&q->lock);
	return is;
}

enum status ordered_queue_status(struct ordered_queue *q, struct fault *fault)
{
	enum status status = STATUS_OK;

	pthread_mutex_lock(&q->lock);
	if (q->fault_at < UINT64_MAX) {
		*fault = q->fault;
		status = fault->status;
	}
	pthread_mutex_unlock(&q->lock);
	return status;
}

void ordered_queue_skip(struct ordered_queue *q, uint64_t item)
{
	pthread_mutex_lock(&q->lock);
	for (uint64_t i = q->turn; i < item && i < q->turn + ORDERED_QUEUE_MOST; i++)
		*state_of(q, i) = ITEM_NOT_DONE;
	q->turn = item;
	pass_turn(q);
	wake_all(q);
	pthread_mutex_unlock(&q->lock);
}

void ordered_queue_stop(struct ordered_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopped = true;
	wake_all(q);
	pthread_mutex_unlock(&q->lock);
}
