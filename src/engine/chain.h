/* SPDX-License-Identifier: MIT
 *
 * chain.h - turns that pass through the chunks in input order, like falling dominoes.
 *
 * Chunk k's turn comes when chunk k - 1's is over. Whoever has chunk k joins the chain in one of
 * two ways: it waits for its turn, or it leaves behind what the turn needs and goes on to
 * other work; then the turn is taken by whoever ends that of k - 1. Nobody is woken but the
 * one whose turn it is, and one atomic exchange decides who was first at a slot, the joining
 * or the turn. That is why no turn is lost, and none is taken twice.
 */
#ifndef GPUSTAT_CHAIN_H
#define GPUSTAT_CHAIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What a thread sleeps on until somebody calls it. */
struct waiter {
	atomic_int state;
	pthread_mutex_t lock;
	pthread_cond_t called;
};

void waiter_init(struct waiter *w);
void waiter_destroy(struct waiter *w);

/* Forgets earlier calls. To be done before the caller can know that it is waited for. */
void waiter_reset(struct waiter *w);

/* Waits for a call: awake for a few microseconds, as it mostly comes soon, then asleep. */
void waiter_wait(struct waiter *w);

/* Ends the wait, or the next one. Any thread. */
void waiter_call(struct waiter *w);

/* Who is at a chunk's slot. */
enum chain_slot {
	CHAIN_EMPTY, /* its chunk's holder has not come yet */
	CHAIN_POSTED,   /* it came, left what is needed, and went on */
	CHAIN_WAITING,  /* it waits for the turn */
	CHAIN_TURN,   /* the turn is there, and nobody else has come */
};

struct chain {
	atomic_int *slots; /* nslots: an enum chain_slot each. Owned. */
	uint64_t nslots;    /* a power of two */
	_Atomic uint64_t next; /* the chunk whose turn it is */
	atomic_int nwaiting;   /* threads that wait for room */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	atomic_bool stopped;
};

/* Makes a chain in which at least so many chunks can be beyond the last whose turn is over. The
 * turn is at chunk 0. Errors: STATUS_NO_MEMORY. */
enum status chain_init(struct chain *c, uint64_t nchunks);
void chain_destroy(struct chain *c);

/* Where users of the chain may keep what belongs to chunk k's turn: 0 .. nslots - 1. */
static inline uint64_t chain_slot(const struct chain *c, uint64_t k)
{
	return k & (c->nslots - 1);
}

/* Waits until chunk k has a slot, which was that of k - nslots, and sometimes for nslots / 4 turns
 * more; false if the chain was stopped. */
bool chain_enter(struct chain *c, uint64_t k);

/* Joins the chain at chunk k, which has entered: as CHAIN_POSTED or CHAIN_WAITING, after all that
 * its turn needs was written. Returns true if the turn has come already: it is the caller's. */
bool chain_join(struct chain *c, uint64_t k, enum chain_slot as);

/* Ends chunk k's turn, which the caller has. Returns who is at k + 1: CHAIN_POSTED: the caller
 * has its turn as well; CHAIN_WAITING: the caller must call it; CHAIN_EMPTY: it will find out. */
enum chain_slot chain_pass(struct chain *c, uint64_t k);

/* Makes every chain_enter, now and later, return false. */
void chain_stop(struct chain *c);

#endif
