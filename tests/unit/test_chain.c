/* SPDX-License-Identifier: MIT
 *
 * test_chain.c - every turn is taken once and in order, whether threads wait, leave or come late.
 * After chain_stop(), chain_enter() returns false.
 */
#include "engine/chain.h"
#include "tap.h"

#include <sched.h>
#include <unistd.h>

#define NCHUNKS 20000
#define NTHREADS_MAX 40 /* more than there are slots */
#define NSLOTS 16 /* at most */

/* How the threads of a run join. */
enum manner { ALL_WAIT, ALL_LEAVE, MIXED };

struct run {
	struct chain chain;
	enum manner manner;
	int nthreads;
	_Atomic uint64_t taken;           /* the next chunk to hand out */
	uint64_t left[NSLOTS];            /* by slot: the number of the posted chunk */
	uint64_t next, nout_of_order;     /* next: the chunk whose turn comes next */
	struct waiter waiter;             /* of test_stop */
};

static void take_turn(struct run *r, uint64_t k)
{
	r->nout_of_order += r->next != k;
	r->next = k + 1;
}

/* Ends the turn of chunk k, then takes the turns of the posted chunks that follow it. */
static void pass(struct run *r, uint64_t k)
{
	while (chain_pass(&r->chain, k)) {
		k++;
		take_turn(r, r->left[chain_slot(&r->chain, k)]);
	}
}

static bool leaves(const struct run *r, uint64_t k)
{
	return r->manner == ALL_LEAVE || (r->manner == MIXED && k * 2654435761u % 7 < 4);
}

static void join(struct run *r, uint64_t k, struct waiter *waiter)
{
	if (leaves(r, k)) {
		chain_enter(&r->chain, k);
		r->left[chain_slot(&r->chain, k)] = k;
		if (!chain_post(&r->chain, k))
			return;
	} else {
		chain_await(&r->chain, k, waiter);
	}
	take_turn(r, k);
	pass(r, k);
}

static void *worker(void *argument)
{
	struct run *r = argument;
	struct waiter waiter;
	uint64_t k;

	waiter_init(&waiter);
	while ((k = r->taken++) < NCHUNKS) {
		if (k % 97 == 0) /* some come late */
			sched_yield();
		if (k % 4001 == 0)
			usleep(2000);
		join(r, k, &waiter);
	}
	waiter_destroy(&waiter);
	return NULL;
}

static void test_order(enum manner manner, const char *words, int nthreads, uint64_t nslots)
{
	struct run r = {.manner = manner, .nthreads = nthreads};
	pthread_t threads[NTHREADS_MAX];

	if (chain_init(&r.chain, nslots) != STATUS_OK)
		bail("no memory");
	for (int i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, worker, &r))
			bail("no thread");
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	is_int(NCHUNKS, (int)r.next, "every turn was taken, %s, %d threads, %d slots", words,
	       nthreads, (int)nslots);
	is_int(0, (int)r.nout_of_order, "all in order, %s, %d threads, %d slots", words, nthreads,
	       (int)nslots);
	chain_destroy(&r.chain);
}

/* Waits for the turn of chunk 1, which never comes. Then enters a chunk that has no slot. */
static void *stranded(void *argument)
{
	struct run *r = argument;
	r->nout_of_order = chain_await(&r->chain, 1, &r->waiter) || chain_enter(&r->chain, NSLOTS + 1);
	return NULL;
}

static void test_stop(void)
{
	struct run r = {.nout_of_order = 99};
	pthread_t thread;

	waiter_init(&r.waiter);
	if (chain_init(&r.chain, NSLOTS) != STATUS_OK ||
	    pthread_create(&thread, NULL, stranded, &r))
		bail("no thread");
	usleep(10000);
	chain_stop(&r.chain);
	waiter_call(&r.waiter);
	pthread_join(thread, NULL);
	is_int(0, (int)r.nout_of_order, "nobody waits in a chain that was stopped, or enters it");
	chain_destroy(&r.chain);
	waiter_destroy(&r.waiter);
}

int main(void)
{
	const int nthreads[] = {1, 2, 7, NTHREADS_MAX};

	plan_lazy();
	for (size_t i = 0; i < sizeof nthreads / sizeof *nthreads; i++) {
		test_order(ALL_WAIT, "all wait", nthreads[i], NSLOTS);
		test_order(ALL_LEAVE, "all leave", nthreads[i], NSLOTS);
		for (uint64_t nslots = 1; nslots <= NSLOTS; nslots *= 2)
			test_order(MIXED, "some leave", nthreads[i], nslots);
	}
	test_stop();
	return done();
}
