/* SPDX-License-Identifier: MIT
 *
 * chain.h - a chained scan over chunks: turns that pass from chunk to chunk in input order, like
 * falling dominoes.
 *
 * Chunk k's turn begins when chunk k - 1's ends. The thread that has chunk k joins the chain in one
 * of two ways: it waits for the turn; or it posts what the turn needs and continues with other
 * work, and the thread that ends the turn of k - 1 then also does the turn of k. Only the thread
 * that waits for the new turn is woken. One atomic exchange at the chunk's slot decides which came
 * first, the join or the turn, so that no turn is lost and none is done twice.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/status.h"

/* What a thread sleeps on until another thread calls it. */
struct waiter {
	atomic_int state;
	pthread_mutex_t lock;
	pthread_cond_t called;
};

void waiter_init(struct waiter *w);
void waiter_destroy(struct waiter *w);

/* Discards earlier calls. Call this before another thread can call the waiter for this wait. */
void waiter_reset(struct waiter *w);

/* Waits for a call: spins for a few microseconds, which is usually enough, then sleeps. */
void waiter_wait(struct waiter *w);

/* Ends the wait, or the next one. Any thread. */
void waiter_call(struct waiter *w);

struct chain {
	atomic_int *slots;       /* nslots: an enum slot of chain.c each. Owned. */
	struct waiter **waiters; /* by slot, of the threads that wait. Owned. */
	uint64_t nslots;       /* a power of two */
	_Atomic uint64_t next; /* the chunk whose turn it is */
	atomic_int nwaiting;   /* threads that wait for a slot */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	atomic_bool stopped;
};

/* Makes a chain with slots for at least nchunks chunks from the one whose turn it is on. The turn
 * is at chunk 0. Errors: STATUS_NO_MEMORY. */
enum status chain_init(struct chain *c, uint64_t nchunks);
void chain_destroy(struct chain *c);

/* The slot of chunk k, 0 .. nslots - 1: for the caller's own arrays, too. */
static inline uint64_t chain_slot(const struct chain *c, uint64_t k)
{
	return k & (c->nslots - 1);
}

/* Waits until chunk k has a slot, that is until the turn of k - nslots is over, or up to nslots / 4
 * turns longer. Returns false if the chain was stopped. */
bool chain_enter(struct chain *c, uint64_t k);

/* Posts what the turn of chunk k, which has entered, needs: all that must have been written before. Returns true if the turn has
 * come: the caller does it. */
bool chain_post(struct chain *c, uint64_t k);

/* Enters chunk k, and waits for its turn. Returns false if the chain was stopped; who stops it then calls w. */
bool chain_await(struct chain *c, uint64_t k, struct waiter *w);

/* Ends chunk k's turn, which the caller has, and calls the thread that waits for the next. Returns whether that was posted instead:
 * the caller then has that turn as well. */
bool chain_pass(struct chain *c, uint64_t k);

/* Makes every chain_enter, now and later, return false. */
void chain_stop(struct chain *c);
