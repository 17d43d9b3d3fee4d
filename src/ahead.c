/* SPDX-License-Identifier: MIT
 *
 * ahead.c - see ahead.h.
 *
 * The ring's slots are filled, inflated and taken in the order of the file:
 *
 *   FREE --reader--> PACKED --an inflater--> INFLATING --it--> READY --ahead_read--> FREE
 *   FREE --reader, for what is no block of BGZF--> READY
 *
 * The reader publishes a slot when it is full, and sooner where it would have to wait for
 * input: so what a pipe has said can be answered while it is silent. An error is in the slot
 * where it happened, behind what was good.
 *
 * Whoever takes is mostly faster, and a thread that sleeps takes a while to wake: 30 us
 * of the reader's time on a virtual machine (2026-11-21), a tenth of what a slot takes to
 * fill. So it is woken for half a ring, or when nothing more will come without waiting.
 */
#include "ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores.h"
#include "inflate.h"

#define STREAM_NSLOTS 8  /* 2 MiB: half of them are made while the other half is taken */
#define MAX_INFLATERS 64 /* beyond, whoever takes the text out cannot keep up */

enum slot_state { SLOT_FREE, SLOT_PACKED, SLOT_INFLATING, SLOT_READY };

struct slot {
	enum slot_state state;
	struct piece piece;
};

struct ahead {
	/* The reader's alone; it is the calling thread until it has one of its own. */
	struct decoder decoder;
	void *block_state; /* for blocks where no inflater can be had; NULL: none yet */

	size_t offset; /* ahead_read's alone: taken of slot ntaken */

	struct slot *slots;
	size_t nslots; /* that are in use; known once the first has been filled */
	int max_inflaters;

	pthread_mutex_t lock; /* guards all below, and the slots' states */
	pthread_cond_t freed, packed, ready, ended;
	uint64_t nmade, ntried, ntaken; /* slots published, looked at by inflaters, taken */
	bool all_made, stop;
	bool waits_for_input; /* the reader does, and has published all that it has */
	bool threaded; /* the reader has a thread */
	int wake[2];   /* a pipe; its end wakes the reader where it waits for input */
	int ninflaters, nidle;
	int nthreads; /* that run; detached, since after an error the process ends under them */
};

static struct slot *slot_of(struct ahead *a, uint64_t index)
{
	return &a->slots[index % a->nslots];
}

/* Enough that every inflater has a batch, while as many are ready or being cut. */
static size_t max_slots(const struct ahead *a)
{
	return 2 * (size_t)a->max_inflaters + 2 > STREAM_NSLOTS
		       ? 2 * (size_t)a->max_inflaters + 2 : STREAM_NSLOTS;
}

static const struct inflate_ops *block_ops(const struct ahead *a)
{
	return a->decoder.block_ops;
}

/* ---- threads ---- */

/* Under the lock: starts a thread that no signal interrupts; those are the program's own. */
static bool start_thread(struct ahead *a, void *(*body)(void *))
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, body, a) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	a->nthreads += started;
	return started;
}

/* The last that a thread does. */
static void end_thread(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->nthreads--;
	pthread_cond_signal(&a->ended);
	pthread_mutex_unlock(&a->lock);
}

/* Under the lock: wakes whoever takes, if enough is ready. If not, there must be someone who
 * will call this again: an inflater that has a slot before those that are ready, or a
 * reader that goes on. */
static void wake_taker(struct ahead *a)
{
	bool goes_on = !a->all_made && !a->waits_for_input && a->nmade - a->ntaken < a->nslots;
	size_t nready = 0;

	while (nready < a->nmade - a->ntaken &&
	       slot_of(a, a->ntaken + nready)->state == SLOT_READY)
		nready++;
	if (nready >= a->nslots / 2 || (!goes_on && a->ntaken + nready == a->nmade))
		pthread_cond_signal(&a->ready);
}

/* The reader has to wait for input, or no longer. */
static void note_wait(void *argument, bool waits)
{
	struct ahead *a = argument;

	pthread_mutex_lock(&a->lock);
	a->waits_for_input = waits;
	wake_taker(a);
	pthread_mutex_unlock(&a->lock);
}

/* Under the lock: the next batch that is not taken; NULL: there will be none. */
static struct slot *take_packed(struct ahead *a)
{
	for (;;) {
		while (a->ntried < a->nmade) {
			struct slot *s = slot_of(a, a->ntried++);
			/* If it had none, it may by now be another's, later in the file. */
			if (s->state == SLOT_PACKED)
				return s;
		}
		if (a->stop || a->all_made)
			return NULL;
		a->nidle++;
		pthread_cond_wait(&a->packed, &a->lock);
		a->nidle--;
	}
}

static void *inflater_main(void *argument)
{
	struct ahead *a = argument;
	void *state = block_ops(a)->open();
	struct slot *s;

	pthread_mutex_lock(&a->lock);
	while ((s = take_packed(a))) {
		s->state = SLOT_INFLATING;
		pthread_mutex_unlock(&a->lock);
		piece_unpack(&s->piece, block_ops(a), state);
		pthread_mutex_lock(&a->lock);
		s->state = SLOT_READY;
		wake_taker(a);
	}
	pthread_mutex_unlock(&a->lock);
	if (state)
		block_ops(a)->close(state);
	end_thread(a);
	return NULL;
}

/* Under the lock: one more inflater if all have work already. */
static void want_inflater(struct ahead *a)
{
	bool all_busy = a->nmade - a->ntried >= (uint64_t)a->nidle;

	if (all_busy && a->ninflaters < a->max_inflaters && start_thread(a, inflater_main))
		a->ninflaters++;
}

static void unpack_alone(struct ahead *a, struct piece *p)
{
	if (!a->block_state)
		a->block_state = block_ops(a)->open();
	piece_unpack(p, block_ops(a), a->block_state);
}

/* Gives the slot away. */
static void publish(struct ahead *a, struct slot *s, bool threads)
{
	bool packed = piece_is_packed(&s->piece), last = piece_is_last(&s->piece);

	pthread_mutex_lock(&a->lock);
	if (packed && threads)
		want_inflater(a);
	if (packed && a->ninflaters == 0) {
		unpack_alone(a, &s->piece);
		packed = false;
	}
	s->state = packed ? SLOT_PACKED : SLOT_READY;
	a->nmade++;
	a->all_made = last;
	if (last)
		pthread_cond_broadcast(&a->packed);
	else
		pthread_cond_signal(&a->packed);
	wake_taker(a);
	pthread_mutex_unlock(&a->lock);
}

/* Waits for a slot to fill; NULL: the file is no longer wanted. */
static struct slot *wait_for_free(struct ahead *a)
{
	bool stop;

	pthread_mutex_lock(&a->lock);
	while (!a->stop && a->nmade - a->ntaken == a->nslots)
		pthread_cond_wait(&a->freed, &a->lock);
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return stop ? NULL : slot_of(a, a->nmade);
}

static void *reader_main(void *argument)
{
	struct ahead *a = argument;
	bool last = false;
	struct slot *s;

	while (!last && (s = wait_for_free(a))) {
		decoder_fill(&a->decoder, &s->piece);
		last = piece_is_last(&s->piece);
		publish(a, s, true);
	}
	end_thread(a);
	return NULL;
}

/* False where the system has no thread, or no pipe, left. */
static bool start_reader(struct ahead *a)
{
	if (pipe2(a->wake, O_CLOEXEC))
		return false;
	a->decoder.feed.wake = a->wake[0];
	a->decoder.feed.note_wait = note_wait;
	a->decoder.feed.note_argument = a;
	pthread_mutex_lock(&a->lock);
	a->threaded = start_thread(a, reader_main);
	pthread_mutex_unlock(&a->lock);
	if (a->threaded)
		return true;
	a->decoder.feed.wake = -1;
	close(a->wake[0]);
	close(a->wake[1]);
	return false;
}

static void stop_threads(struct ahead *a)
{
	if (!a->threaded)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->freed);
	pthread_cond_broadcast(&a->packed);
	close(a->wake[1]);
	while (a->nthreads)
		pthread_cond_wait(&a->ended, &a->lock);
	pthread_mutex_unlock(&a->lock);
	close(a->wake[0]);
}

/* ---- opening ---- */

static struct ahead *make(int nthreads)
{
	struct ahead *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	if (nthreads <= 0)
		nthreads = cores_count();
	a->max_inflaters = nthreads < MAX_INFLATERS ? nthreads : MAX_INFLATERS;
	a->nslots = max_slots(a);
	a->slots = calloc(a->nslots, sizeof *a->slots);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->freed, NULL);
	pthread_cond_init(&a->packed, NULL);
	pthread_cond_init(&a->ready, NULL);
	pthread_cond_init(&a->ended, NULL);
	return a;
}

enum status ahead_open(struct ahead **out, enum decoder_format format, int fd, const void *prefix,
		       size_t prefix_nbytes, int nthreads, struct fault *fault)
{
	struct ahead *a = make(nthreads);
	enum status status;

	if (!a)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = decoder_open(&a->decoder, format, fd, prefix, prefix_nbytes, fault);
	if (status == STATUS_OK && !a->slots)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK)
		*out = a;
	else
		ahead_close(a);
	return status;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	stop_threads(a);
	if (a->block_state)
		block_ops(a)->close(a->block_state);
	decoder_close(&a->decoder);
	for (size_t i = 0; a->slots && i < max_slots(a); i++)
		piece_free(&a->slots[i].piece);
	free(a->slots);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->freed);
	pthread_cond_destroy(&a->packed);
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->ended);
	free(a);
}

/* ---- taking ---- */

/* Fills the next slot in the calling thread. The first tells what the file is. */
static void fill_alone(struct ahead *a)
{
	struct slot *s = slot_of(a, a->nmade);

	decoder_fill(&a->decoder, &s->piece);
	if (a->nmade == 0 && !piece_is_packed(&s->piece))
		a->nslots = STREAM_NSLOTS;
	publish(a, s, false);
}

/* The slot that is next to be taken, waited for. */
static struct slot *wait_for_ready(struct ahead *a)
{
	struct slot *s;

	if (!a->threaded && a->ntaken == a->nmade && (a->nmade == 0 || !start_reader(a)))
		fill_alone(a);
	pthread_mutex_lock(&a->lock);
	s = slot_of(a, a->ntaken);
	while (a->ntaken == a->nmade || s->state != SLOT_READY)
		pthread_cond_wait(&a->ready, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return s;
}

/* The slot has been taken, unless it has more to say than its text. */
static void release_if_taken(struct ahead *a, struct slot *s)
{
	if (a->offset < s->piece.nbytes || piece_is_last(&s->piece))
		return;
	pthread_mutex_lock(&a->lock);
	s->state = SLOT_FREE;
	a->ntaken++;
	a->offset = 0;
	pthread_cond_signal(&a->freed);
	pthread_mutex_unlock(&a->lock);
}

enum status ahead_read(struct ahead *a, char *to, size_t capacity, size_t *nbytes,
		       struct fault *fault)
{
	*nbytes = 0;
	if (capacity == 0)
		return STATUS_OK;
	do {
		struct slot *s = wait_for_ready(a);
		const struct piece *p = &s->piece;
		size_t left = p->nbytes - a->offset;
		if (left == 0 && p->status != STATUS_OK)
			*fault = p->fault;
		if (left == 0 && piece_is_last(p))
			return p->status;
		*nbytes = left < capacity ? left : capacity;
		memcpy(to, p->data + a->offset, *nbytes);
		a->offset += *nbytes;
		release_if_taken(a, s);
	} while (*nbytes == 0);
	return STATUS_OK;
}

bool ahead_has_blocks(const struct ahead *a)
{
	return !a->threaded && a->nmade && a->ntaken == a->nmade && decoder_has_blocks(&a->decoder);
}

enum status ahead_cut(struct ahead *a, struct bgzf_batch *batch, bool prompt, bool *ended,
		      struct fault *fault)
{
	return decoder_cut(&a->decoder, batch, prompt, ended, fault);
}

bool ahead_is_ready(struct ahead *a)
{
	bool ready;

	/* Whether the stream has more to say without waiting, only a thread can find out. */
	if (!a->threaded && a->ntaken == a->nmade && (a->nmade == 0 || !start_reader(a)))
		return feed_is_ready(&a->decoder.feed);
	pthread_mutex_lock(&a->lock);
	ready = a->ntaken < a->nmade && slot_of(a, a->ntaken)->state == SLOT_READY;
	pthread_mutex_unlock(&a->lock);
	return ready;
}
