/* SPDX-License-Identifier: MIT
 *
 * thread.h - starting threads beside the program's own, joining them, and the queue that keeps their work in order.
 */
#pragma once

#include <pthread.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif

#include "base/status.h"

#define TEAM_NTHREADS_MAX 64

/* Threads that run one function. All 0: none. */
struct team {
	size_t nthreads;
	pthread_t threads[TEAM_NTHREADS_MAX];
};

/* Starts a thread with all signals blocked, since they are the program's own threads': a handler must not wait for what the
 * thread holds. False: the system has no more. */
bool thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

/* Starts threads as thread_start does, until the team has as many as are wanted, or the system has no more. */
void team_start(struct team *team, size_t nwanted, void *(*work)(void *context), void *context);

/* Waits for all of its threads to end. */
void team_join(struct team *team);

/* Calls work(context) in up to nthreads threads at once, of which the caller is one, and waits for all. Where
 * the system refuses threads there are fewer: the function takes its work from a queue in the context. Signals are not
 * blocked: the threads may write to standard output (io/output.h). */
void team_run(size_t nthreads, void *(*work)(void *context), void *context);

/* Calls work(context, i) for each i < n, in up to nthreads threads, as team_run does. */
void team_each(size_t nthreads, size_t n, void (*work)(void *context, size_t i), void *context);

/* ---- an ordered queue ----
 *
 * Items that several threads work on, in order: they are put, taken by any thread, finished in any order,
 * and delivered in order. The first error in that order is the queue's. As outqueue.c of xz does.
 *
 * Items are numbers from 0 on; what they stand for lies in an array of the caller's, at the number modulo the queue's
 * capacity or more. An item's *turn* comes when all before it are finished. There are three ways to deliver: the thread that
 * has an item awaits its turn, delivers it, and finishes it then; or it posts what the turn needs and goes on to other work, and
 * the thread that finishes the item before delivers this one as well; or it finishes the item at once, and one thread, the
 * consumer, awaits the turn of the next item, which means that this one is finished. A thread that waits is woken for its own
 * turn, not for every one, and one that posts wakes nobody: to wake dozens of threads takes longer than their turns do.
 */

#define ORDERED_QUEUE_MOST 4096
#define ORDERED_QUEUE_NWAITS 64

struct ordered_queue {
#ifdef __cplusplus
	uint64_t turn; /* C++ has no _Atomic, and does not look at it */
#else
	_Atomic uint64_t turn; /* the first item that is not finished. Any thread may read it. */
#endif
	pthread_mutex_t lock;  /* guards all below, and changes of turn */
	pthread_cond_t put;    /* an item can be taken, or none ever */
	pthread_cond_t turned[ORDERED_QUEUE_NWAITS]; /* the turn of an item has come; by its number modulo NWAITS */
	uint64_t nput, ntaken;
	uint64_t nreleased; /* by the consumer; UINT64_MAX: the queue has no consumer */
	uint64_t capacity;
	bool ended, paused, stopped;
	uint8_t states[ORDERED_QUEUE_MOST]; /* enum item_state of thread.c, of items from the turn on, by their number modulo MOST */
	uint64_t fault_at; /* the first item with an error; UINT64_MAX: none */
	struct fault fault;
};

/* capacity: how many items after the turn, and after those that the consumer has released, may be taken; at most
 * ORDERED_QUEUE_MOST. nput: the number of items that are there from the beginning; UINT64_MAX: there is no end. */
void ordered_queue_init(struct ordered_queue *q, uint64_t capacity, uint64_t nput, bool has_consumer);
void ordered_queue_destroy(struct ordered_queue *q);

/* Puts one more item. */
void ordered_queue_put(struct ordered_queue *q);

/* No more items are put, or, where they are without end, taken. */
void ordered_queue_end(struct ordered_queue *q);

/* Takes the next item. waits: whether to wait until there is one. Returns false at the end, after a stop, and, without
 * waiting, if there is none now. */
bool ordered_queue_take(struct ordered_queue *q, bool waits, uint64_t *item);

/* Waits until the item is less than the capacity after the turn, or up to a quarter of the capacity longer: for items that the
 * caller numbers. Returns as ordered_queue_await does. */
bool ordered_queue_enter(struct ordered_queue *q, uint64_t item);

/* Posts an item: all that its turn needs must have been written. Returns true if the turn has come: the caller delivers it. */
bool ordered_queue_post(struct ordered_queue *q, uint64_t item);

/* The item is done. status, fault: its error, or STATUS_OK and NULL. Returns whether the item that has the turn now was posted:
 * the caller then delivers it, too. */
bool ordered_queue_finish(struct ordered_queue *q, uint64_t item, enum status status, const struct fault *fault);

/* Waits for the item's turn. If it has to wait, it does so until that of `enough`, an item behind it, has come, too, or the
 * queue pauses or ends: a thread that sleeps is woken for several items. Returns false if an earlier item has an error, and
 * after a stop. */
bool ordered_queue_await(struct ordered_queue *q, uint64_t item, uint64_t enough);

/* Whether the queue pauses: no item will be finished soon. */
void ordered_queue_pause(struct ordered_queue *q, bool paused);

/* The consumer no longer needs the first n items. */
void ordered_queue_release(struct ordered_queue *q, uint64_t n);

/* Whether the item is finished, also out of turn. */
bool ordered_queue_is_finished(struct ordered_queue *q, uint64_t item);

/* Whether an item before this one has an error, so that this one is not wanted. */
bool ordered_queue_is_void(struct ordered_queue *q, uint64_t item);

/* The first error of all, in *fault, or STATUS_OK. */
enum status ordered_queue_status(struct ordered_queue *q, struct fault *fault);

/* Passes the turn to an item; those before it are not wanted, and nobody finishes them. */
void ordered_queue_skip(struct ordered_queue *q, uint64_t item);

/* Makes all threads leave. */
void ordered_queue_stop(struct ordered_queue *q);
