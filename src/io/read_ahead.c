/* SPDX-License-Identifier: MIT
 *
 * read_ahead.c - see read_ahead.h.
 *
 * The reader fills the ring's slots in the order of the file. It publishes a slot when it is
 * full, and sooner where it would have to wait for input: so what a pipe has said can be
 * answered while it is silent. An error is in the slot where it happened, behind what was good.
 *
 * Whoever takes is mostly faster, and a thread that sleeps takes a while to wake: 30 us
 * of the reader's time on a virtual machine (2026-11-21), a tenth of what a slot takes to
 * fill. So it is woken for half a ring, or when nothing more will come without waiting.
 */
#include "io/read_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NSLOTS 8 /* 2 MiB: half of them are made while the other half is taken */

struct ahead {
	/* The reader's alone; it is the calling thread until it has one of its own. */
	struct decoder decoder;
	bool cut; /* blocks were, since something was filled */

	size_t offset; /* ahead_read's alone: taken of slot ntaken */

	struct piece slots[NSLOTS];

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t freed, ready, ended;
	uint64_t nmade, ntaken; /* slots published, taken */
	bool all_made, stop;
	bool waits_for_input; /* the reader does, and has published all that it has */
	bool threaded;        /* the reader has a thread */
	bool running;         /* that has not ended; detached, as after an error the process ends */
	int wake[2];          /* a pipe; its end wakes the reader where it waits for input */
};

static struct piece *slot_of(struct ahead *a, uint64_t index)
{
	return &a->slots[index % NSLOTS];
}

/* ---- threads ---- */

/* Under the lock: wakes whoever takes, if enough is ready. If not, the reader goes on, and will
 * call this again. */
static void wake_taker(struct ahead *a)
{
	uint64_t nready = a->nmade - a->ntaken;
	bool goes_on = !a->all_made && !a->waits_for_input && nready < NSLOTS;

	if (nready >= NSLOTS / 2 || !goes_on)
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

/* Gives the slot away. */
static void publish(struct ahead *a, const struct piece *p)
{
	pthread_mutex_lock(&a->lock);
	a->nmade++;
	a->all_made = piece_is_last(p);
	wake_taker(a);
	pthread_mutex_unlock(&a->lock);
}

/* Waits for a slot to fill; NULL: the file is no longer wanted. */
static struct piece *wait_for_free(struct ahead *a)
{
	bool stop;

	pthread_mutex_lock(&a->lock);
	while (!a->stop && a->nmade - a->ntaken == NSLOTS)
		pthread_cond_wait(&a->freed, &a->lock);
	stop = a->stop;
	pthread_mutex_unlock(&a->lock);
	return stop ? NULL : slot_of(a, a->nmade);
}

static void *reader_main(void *argument)
{
	struct ahead *a = argument;
	bool last = false;
	struct piece *p;

	while (!last && (p = wait_for_free(a))) {
		decoder_fill(&a->decoder, p);
		last = piece_is_last(p);
		publish(a, p);
	}
	pthread_mutex_lock(&a->lock);
	a->running = false;
	pthread_cond_signal(&a->ended);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Starts the thread, which no signal interrupts; those are the program's own. */
static bool start_thread(struct ahead *a)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	a->threaded = a->running = true;
	if (pthread_create(&thread, NULL, reader_main, a))
		a->threaded = a->running = false;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (a->threaded)
		pthread_detach(thread);
	return a->threaded;
}

/* False where the system has no thread, or no pipe, left. */
static bool start_reader(struct ahead *a)
{
	if (pipe2(a->wake, O_CLOEXEC))
		return false;
	a->decoder.feed.wake = a->wake[0];
	a->decoder.feed.note_wait = note_wait;
	a->decoder.feed.note_argument = a;
	if (start_thread(a))
		return true;
	a->decoder.feed.wake = -1;
	close(a->wake[0]);
	close(a->wake[1]);
	return false;
}

static void stop_thread(struct ahead *a)
{
	if (!a->threaded)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->freed);
	close(a->wake[1]);
	while (a->running)
		pthread_cond_wait(&a->ended, &a->lock);
	pthread_mutex_unlock(&a->lock);
	close(a->wake[0]);
}

/* ---- opening ---- */

enum status ahead_open(struct ahead **out, enum decoder_format format, int fd, const void *prefix,
		       size_t prefix_nbytes, struct fault *fault)
{
	struct ahead *a = calloc(1, sizeof *a);
	enum status status;

	if (!a)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->freed, NULL);
	pthread_cond_init(&a->ready, NULL);
	pthread_cond_init(&a->ended, NULL);
	status = decoder_open(&a->decoder, format, fd, prefix, prefix_nbytes, fault);
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
	stop_thread(a);
	decoder_close(&a->decoder);
	for (size_t i = 0; i < NSLOTS; i++)
		piece_free(&a->slots[i]);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->freed);
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->ended);
	free(a);
}

/* ---- taking ---- */

/* Whether the next slot is to be filled by the calling thread: the first, which tells what the file
 * is, the first behind blocks, which may be followed by blocks, and all where no thread can be
 * had. Otherwise there is a reader from now on. */
static bool is_alone(struct ahead *a)
{
	return !a->threaded && a->ntaken == a->nmade &&
	       (a->nmade == 0 || a->cut || !start_reader(a));
}

/* The slot that is next to be taken, waited for. */
static struct piece *wait_for_ready(struct ahead *a)
{
	if (is_alone(a)) {
		a->cut = false;
		decoder_fill(&a->decoder, slot_of(a, a->nmade));
		publish(a, slot_of(a, a->nmade));
	}
	pthread_mutex_lock(&a->lock);
	while (a->ntaken == a->nmade)
		pthread_cond_wait(&a->ready, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return slot_of(a, a->ntaken);
}

/* The slot has been taken, unless it has more to say than its text. */
static void release_if_taken(struct ahead *a, const struct piece *p)
{
	if (a->offset < p->nbytes || piece_is_last(p))
		return;
	pthread_mutex_lock(&a->lock);
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
		const struct piece *p = wait_for_ready(a);
		size_t left = p->nbytes - a->offset;
		if (left == 0 && p->status != STATUS_OK)
			*fault = p->fault;
		if (left == 0 && piece_is_last(p))
			return p->status;
		*nbytes = left < capacity ? left : capacity;
		memcpy(to, p->data + a->offset, *nbytes);
		a->offset += *nbytes;
		release_if_taken(a, p);
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
	enum status status = decoder_cut(&a->decoder, batch, prompt, ended, fault);

	a->cut = a->cut || batch->nbytes;
	return status;
}

bool ahead_has_thread(const struct ahead *a)
{
	return a->threaded;
}

bool ahead_is_ready(struct ahead *a)
{
	bool ready;

	/* Whether the stream has more to say without waiting, only a thread can find out. */
	if (is_alone(a))
		return feed_is_ready(&a->decoder.feed);
	pthread_mutex_lock(&a->lock);
	ready = a->ntaken < a->nmade;
	pthread_mutex_unlock(&a->lock);
	return ready;
}
