/* SPDX-License-Identifier: MIT
 *
 * chain.c - see chain.h.
 */
#include "engine/chain.h"

#include <stdlib.h>

/* ---- waiting ---- */

enum { WAITER_AWAKE, WAITER_ASLEEP, WAITER_CALLED };

#define NSPINS 100 /* some 4 us: less than the system takes to wake a thread */

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void waiter_init(struct waiter *w)
{
	atomic_init(&w->state, WAITER_AWAKE);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->called, NULL);
}

void waiter_destroy(struct waiter *w)
{
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->called);
}

void waiter_reset(struct waiter *w)
{
	atomic_store(&w->state, WAITER_AWAKE);
}

static void fall_asleep(struct waiter *w)
{
	int awake = WAITER_AWAKE;

	if (!atomic_compare_exchange_strong(&w->state, &awake, WAITER_ASLEEP))
		return; /* called just now */
	pthread_mutex_lock(&w->lock);
	while (atomic_load(&w->state) != WAITER_CALLED)
		pthread_cond_wait(&w->called, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void waiter_wait(struct waiter *w)
{
	for (int i = 0; i < NSPINS; i++) {
		if (atomic_load_explicit(&w->state, memory_order_acquire) == WAITER_CALLED)
			return;
		spin_pause();
	}
	fall_asleep(w);
}

void waiter_call(struct waiter *w)
{
	if (atomic_exchange(&w->state, WAITER_CALLED) != WAITER_ASLEEP)
		return;
	pthread_mutex_lock(&w->lock);
	pthread_cond_signal(&w->called);
	pthread_mutex_unlock(&w->lock);
}

/* ---- the chain ---- */

/* The state of a chunk's slot. */
enum slot {
	SLOT_EMPTY,   /* neither the chunk's thread nor its turn has come */
	SLOT_POSTED,  /* the thread left what the turn needs, and went on */
	SLOT_WAITING, /* the thread waits for the turn */
	SLOT_TURN,    /* the turn has come, but not the thread */
};

enum status chain_init(struct chain *c, uint64_t nchunks)
{
	c->nslots = 1;
	while (c->nslots < nchunks)
		c->nslots *= 2;
	c->slots = calloc(c->nslots, sizeof *c->slots);
	c->waiters = calloc(c->nslots, sizeof *c->waiters);
	if (!c->slots || !c->waiters) {
		free(c->slots);
		free(c->waiters);
		c->slots = NULL;
		return STATUS_NO_MEMORY;
	}
	for (uint64_t i = 0; i < c->nslots; i++)
		atomic_init(&c->slots[i], i == 0 ? SLOT_TURN : SLOT_EMPTY);
	atomic_init(&c->next, 0);
	atomic_init(&c->nwaiting, 0);
	atomic_init(&c->stopped, false);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->moved, NULL);
	return STATUS_OK;
}

void chain_destroy(struct chain *c)
{
	if (!c->slots)
		return;
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->moved);
	free(c->slots);
	free(c->waiters);
	c->slots = NULL;
}

static bool has_slot(struct chain *c, uint64_t k)
{
	return k - atomic_load(&c->next) < c->nslots;
}

static void wait_for_slot(struct chain *c, uint64_t k)
{
	pthread_mutex_lock(&c->lock);
	atomic_fetch_add(&c->nwaiting, 1);
	while (!has_slot(c, k) && !atomic_load(&c->stopped))
		pthread_cond_wait(&c->moved, &c->lock);
	atomic_fetch_sub(&c->nwaiting, 1);
	pthread_mutex_unlock(&c->lock);
}

static void wake_all(struct chain *c)
{
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->moved);
	pthread_mutex_unlock(&c->lock);
}

/* Turns between two broadcasts to the threads that wait for a slot. One broadcast a turn, to dozens
 * of threads, took longer than the turns: with 64 threads 70 GB of text took 0.9 to 6 s (64 cores,
 * 2026-11-22). The next broadcast always comes: the turns up to it are of chunks that had a slot at
 * the last one, so none of their threads sleeps. */
static uint64_t wake_stride(const struct chain *c)
{
	return c->nslots > 4 ? c->nslots / 4 : 1;
}

bool chain_enter(struct chain *c, uint64_t k)
{
	if (!has_slot(c, k))
		wait_for_slot(c, k);
	return !atomic_load(&c->stopped);
}

/* Joins the chain at chunk k. Returns true if the turn has come. */
static bool join(struct chain *c, uint64_t k, enum slot as)
{
	return atomic_exchange(&c->slots[chain_slot(c, k)], (int)as) == SLOT_TURN;
}

bool chain_post(struct chain *c, uint64_t k)
{
	return join(c, k, SLOT_POSTED);
}

bool chain_await(struct chain *c, uint64_t k, struct waiter *w)
{
	waiter_reset(w);
	if (!chain_enter(c, k))
		return false;
	c->waiters[chain_slot(c, k)] = w;
	if (!join(c, k, SLOT_WAITING))
		waiter_wait(w);
	return !atomic_load(&c->stopped);
}

bool chain_pass(struct chain *c, uint64_t k)
{
	int found;

	atomic_store(&c->slots[chain_slot(c, k)], SLOT_EMPTY);
	atomic_store(&c->next, k + 1);
	found = atomic_exchange(&c->slots[chain_slot(c, k + 1)], SLOT_TURN);
	if ((k + 1) % wake_stride(c) == 0 && atomic_load(&c->nwaiting) > 0)
		wake_all(c);
	if (found == SLOT_WAITING)
		waiter_call(c->waiters[chain_slot(c, k + 1)]);
	return found == SLOT_POSTED;
}

void chain_stop(struct chain *c)
{
	atomic_store(&c->stopped, true);
	wake_all(c);
}
