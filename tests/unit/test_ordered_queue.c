/* SPDX-License-Identifier: MIT
 *
 * test_ordered_queue.c - every item is delivered once and in order, whether threads await their turns, post, finish items
 * at once for a consumer, or come late. The first error in order is the queue's. After a stop nobody waits.
 */
#include "base/thread.h"
#include "tap.h"

#include <sched.h>
#include <unistd.h>

#define NITEMS 5000
#define NTHREADS_MAX 40 /* more than the capacity */
#define CAPACITY 16     /* at most */

/* How the threads of a run deliver. */
enum manner { ALL_WAIT, ALL_POST, MIXED, CONSUMER };

struct run {
	struct ordered_queue queue;
	enum manner manner;
	_Atomic uint64_t taken;       /* the next item to hand out */
	uint64_t posted[CAPACITY];    /* the number of the item, by its number modulo the capacity */
	uint64_t next, nout_of_order; /* next: the item whose turn comes next */
};

static void deliver(struct run *r, uint64_t item)
{
	r->nout_of_order += r->next != item;
	r->next = item + 1;
}

static bool posts(const struct run *r, uint64_t item)
{
	return r->manner == ALL_POST || (r->manner == MIXED && item * 2654435761u % 7 < 4);
}

static void work_on(struct run *r, uint64_t item)
{
	uint64_t *posted = &r->posted[item % r->queue.capacity];

	if (r->manner == CONSUMER) {
		*posted = item;
		ordered_queue_finish(&r->queue, item, STATUS_OK, NULL);
		return;
	}
	if (posts(r, item)) {
		ordered_queue_enter(&r->queue, item);
		*posted = item;
		if (!ordered_queue_post(&r->queue, item))
			return;
	} else {
		ordered_queue_await(&r->queue, item, item);
	}
	deliver(r, item);
	while (ordered_queue_finish(&r->queue, item, STATUS_OK, NULL)) {
		item++;
		deliver(r, r->posted[item % r->queue.capacity]);
	}
}

/* With a consumer items are taken from the queue; else the threads number them. */
static bool take(struct run *r, uint64_t *item)
{
	if (r->manner == CONSUMER)
		return ordered_queue_take(&r->queue, true, item);
	*item = r->taken++;
	return *item < NITEMS;
}

static void *worker(void *argument)
{
	struct run *r = argument;
	uint64_t item;

	while (take(r, &item)) {
		if (item % 97 == 0) /* some come late */
			sched_yield();
		if (item % 1001 == 0)
			usleep(2000);
		work_on(r, item);
	}
	return NULL;
}

static void test_order(enum manner manner, const char *words, size_t nthreads, uint64_t capacity)
{
	struct run r = {.manner = manner};
	struct team team = {.nthreads = 0};

	ordered_queue_init(&r.queue, capacity, manner == CONSUMER ? NITEMS : UINT64_MAX, manner == CONSUMER);
	if (manner == CONSUMER)
		ordered_queue_end(&r.queue);
	team_start(&team, nthreads, worker, &r);
	for (uint64_t i = 0; manner == CONSUMER && i < NITEMS; i++) {
		ordered_queue_await(&r.queue, i + 1, i + capacity / 2);
		deliver(&r, r.posted[i % capacity]);
		ordered_queue_release(&r.queue, i + 1);
	}
	team_join(&team);
	is_int(NITEMS, (int)r.next, "every item was delivered, %s, %d threads, room for %d", words, (int)nthreads, (int)capacity);
	is_int(0, (int)r.nout_of_order, "all in order, %s, %d threads, room for %d", words, (int)nthreads, (int)capacity);
	ordered_queue_destroy(&r.queue);
}

static void test_faults(void)
{
	struct ordered_queue q;
	struct fault fault = {.status = STATUS_OPEN, .line = 7}, later = {.status = STATUS_READ}, found;
	uint64_t item;

	ordered_queue_init(&q, CAPACITY, 3, false);
	while (ordered_queue_take(&q, false, &item))
		;
	ordered_queue_finish(&q, 2, STATUS_READ, &later);
	ordered_queue_finish(&q, 0, STATUS_OK, NULL);
	ok(ordered_queue_await(&q, 1, 1), "an item before the error is wanted");
	ok(ordered_queue_is_void(&q, 3) && !ordered_queue_is_void(&q, 1), "one after it is not");
	ok(ordered_queue_is_finished(&q, 2) && !ordered_queue_is_finished(&q, 1), "items are finished out of turn");
	ordered_queue_finish(&q, 1, STATUS_OPEN, &fault);
	ok(!ordered_queue_await(&q, 3, 3), "no turn comes after an error");
	is_int(STATUS_OPEN, (int)ordered_queue_status(&q, &found), "the first error in order is the queue's");
	is_int(7, (int)found.line, "with its fault");
	ordered_queue_destroy(&q);
}

/* Waits for the turn of item 1, which never comes. Then enters an item that has no room. */
static void *stranded(void *argument)
{
	struct run *r = argument;

	r->nout_of_order = ordered_queue_await(&r->queue, 1, 1) || ordered_queue_enter(&r->queue, CAPACITY + 1);
	return NULL;
}

static void test_stop(void)
{
	struct run r = {.nout_of_order = 99};
	struct team team = {.nthreads = 0};

	ordered_queue_init(&r.queue, CAPACITY, UINT64_MAX, false);
	team_start(&team, 1, stranded, &r);
	usleep(10000);
	ordered_queue_stop(&r.queue);
	team_join(&team);
	is_int(0, (int)r.nout_of_order, "nobody waits in a queue that was stopped, or enters it");
	ordered_queue_destroy(&r.queue);
}

int main(void)
{
	const size_t nthreads[] = {1, 2, 7, NTHREADS_MAX};

	plan_lazy();
	for (size_t i = 0; i < sizeof nthreads / sizeof *nthreads; i++) {
		test_order(ALL_WAIT, "all wait", nthreads[i], CAPACITY);
		test_order(ALL_POST, "all post", nthreads[i], CAPACITY);
		for (uint64_t capacity = 1; capacity <= CAPACITY; capacity *= 2) {
			test_order(MIXED, "some post", nthreads[i], capacity);
			test_order(CONSUMER, "with a consumer", nthreads[i], capacity);
		}
	}
	test_faults();
	test_stop();
	return done();
}
