/* SPDX-License-Identifier: MIT
 *
 * read_ahead.c - see read_ahead.h.
 *
 * The decoder fills the ring's slots in the file's order. It publishes a slot when it is full, and
 * earlier where input would have to be waited for, so that all text received so far is available
 * while a pipe is silent. An error is stored in its slot, behind the text before it.
 *
 * The reader is usually faster than the decoder. Waking a sleeping thread takes 30 us of the
 * decoder's time on a virtual machine (2026-11-21), a tenth of what it takes to fill a slot. The
 * reader is therefore woken for half a ring, or when no more will come without waiting.
 */
#include "io/read_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

#define NSLOTS 8 /* 2 MiB: half of them are filled while the other half is read */

struct read_ahead {
	/* Used by the decoding thread only; before it is started, by the caller. */
	struct decoder decoder;
	bool cut;    /* blocks were cut since the last slot was filled */
	bool shared; /* sections are decoded by the readers */

	size_t offset; /* the reader's: bytes read of slot nread */

	struct piece slots[NSLOTS];

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t freed, ready, ended;
	uint64_t nfilled, nread; /* slots published, read */
	bool all_filled, stop;
	bool waits_for_input; /* the decoder; it has published all that it has */
	bool threaded;        /* a thread was started */
	bool running;         /* ... and has not ended; detached, as after an error the process ends */
	int wake[2];          /* a pipe; closing its end wakes the decoder where it waits for input */
};

static struct piece *slot_of(struct read_ahead *r, uint64_t index)
{
	return &r->slots[index % NSLOTS];
}

/* ---- the decoding thread ---- */

/* Under the lock. Wakes the reader if enough is ready, or the decoder will not call this again
 * soon. */
static void wake_reader(struct read_ahead *r)
{
	uint64_t nready = r->nfilled - r->nread;

	if (nready >= NSLOTS / 2 || r->all_filled || r->waits_for_input)
		pthread_cond_signal(&r->ready);
}

static void note_wait(void *argument, bool waits)
{
	struct read_ahead *r = argument;

	pthread_mutex_lock(&r->lock);
	r->waits_for_input = waits;
	wake_reader(r);
	pthread_mutex_unlock(&r->lock);
}

static void fill_slot(struct read_ahead *r, struct piece *p)
{
	decoder_fill(&r->decoder, p);
	pthread_mutex_lock(&r->lock);
	r->nfilled++;
	r->all_filled = piece_is_last(p);
	wake_reader(r);
	pthread_mutex_unlock(&r->lock);
}

/* Waits for a free slot; NULL: all are filled, or the file is no longer wanted. */
static struct piece *wait_for_free(struct read_ahead *r)
{
	bool done;

	pthread_mutex_lock(&r->lock);
	while (!(done = r->stop || r->all_filled) && r->nfilled - r->nread == NSLOTS)
		pthread_cond_wait(&r->freed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return done ? NULL : slot_of(r, r->nfilled);
}

static void *thread_main(void *argument)
{
	struct read_ahead *r = argument;
	struct piece *p;

	while ((p = wait_for_free(r)))
		fill_slot(r, p);
	pthread_mutex_lock(&r->lock);
	r->running = false;
	pthread_cond_signal(&r->ended);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static bool create_thread(struct read_ahead *r)
{
	pthread_t thread;

	r->threaded = r->running = true;
	if (!thread_start(&thread, thread_main, r))
		r->threaded = r->running = false;
	if (r->threaded)
		pthread_detach(thread);
	return r->threaded;
}

/* False: the system has no thread or no pipe left. */
static bool start_thread(struct read_ahead *r)
{
	struct feed *feed = &r->decoder.feed;

	if (pipe2(r->wake, O_CLOEXEC))
		return false;
	feed->wake = r->wake[0];
	feed->note_wait = note_wait;
	feed->note_argument = r;
	if (create_thread(r))
		return true;
	feed->wake = -1;
	close(r->wake[0]);
	close(r->wake[1]);
	return false;
}

static void stop_thread(struct read_ahead *r)
{
	if (!r->threaded)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->freed);
	close(r->wake[1]);
	while (r->running)
		pthread_cond_wait(&r->ended, &r->lock);
	pthread_mutex_unlock(&r->lock);
	close(r->wake[0]);
}

/* ---- opening ---- */

enum status read_ahead_open(struct read_ahead **out, const struct codec *codec, int fd,
			    const void *prefix, size_t prefix_nbytes, int nthreads,
			    struct fault *fault)
{
	struct read_ahead *r = calloc(1, sizeof *r);
	enum status status;

	if (!r)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->freed, NULL);
	pthread_cond_init(&r->ready, NULL);
	pthread_cond_init(&r->ended, NULL);
	status = decoder_open(&r->decoder, codec, fd, prefix, prefix_nbytes, nthreads, fault);
	if (status == STATUS_OK)
		*out = r;
	else
		read_ahead_close(r);
	return status;
}

void read_ahead_end_at(struct read_ahead *r, off_t position)
{
	feed_end_at(&r->decoder.feed, position);
}

void read_ahead_close(struct read_ahead *r)
{
	if (!r)
		return;
	stop_thread(r);
	decoder_close(&r->decoder);
	for (size_t i = 0; i < NSLOTS; i++)
		piece_free(&r->slots[i]);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->freed);
	pthread_cond_destroy(&r->ready);
	pthread_cond_destroy(&r->ended);
	free(r);
}

/* ---- reading ---- */

/* Whether all slots have been read and no thread fills another. */
static bool is_drained(const struct read_ahead *r)
{
	return !r->threaded && r->nread == r->nfilled;
}

/* Whether filling the next slot shows if a thread is needed: behind the first slot of the file, and
 * behind the first after blocks, there may be blocks or the end. */
static bool decides_on_thread(const struct read_ahead *r)
{
	return r->nfilled == 0 || r->cut;
}

static bool has_sections(const struct read_ahead *r)
{
	return r->shared && decoder_has_sections(&r->decoder);
}

/* Returns the slot to be read next. Fills it in the calling thread, starts a thread, or waits. */
static struct piece *next_slot(struct read_ahead *r)
{
	if (is_drained(r) && (decides_on_thread(r) || has_sections(r) || !start_thread(r))) {
		r->cut = false;
		fill_slot(r, slot_of(r, r->nfilled));
	}
	pthread_mutex_lock(&r->lock);
	while (r->nread == r->nfilled)
		pthread_cond_wait(&r->ready, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return slot_of(r, r->nread);
}

/* Frees the slot if all of it was read. The last one stays: its status is asked for again. */
static void free_if_read(struct read_ahead *r, const struct piece *p)
{
	if (r->offset < p->nbytes || piece_is_last(p))
		return;
	pthread_mutex_lock(&r->lock);
	r->nread++;
	r->offset = 0;
	pthread_cond_signal(&r->freed);
	pthread_mutex_unlock(&r->lock);
}

enum status read_ahead_read(struct read_ahead *r, char *to, size_t capacity, size_t *nbytes,
			    struct fault *fault)
{
	*nbytes = 0;
	if (capacity == 0)
		return STATUS_OK;
	do {
		const struct piece *p = next_slot(r);
		size_t left = p->nbytes - r->offset;
		if (left == 0 && p->status != STATUS_OK)
			*fault = p->fault;
		if (left == 0 && piece_is_last(p))
			return p->status;
		*nbytes = left < capacity ? left : capacity;
		memcpy(to, p->data + r->offset, *nbytes);
		r->offset += *nbytes;
		free_if_read(r, p);
	} while (*nbytes == 0);
	return STATUS_OK;
}

bool read_ahead_is_ready(struct read_ahead *r)
{
	bool ready;

	pthread_mutex_lock(&r->lock);
	ready = r->nread < r->nfilled;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

/* ---- blocks ---- */

bool read_ahead_has_blocks(const struct read_ahead *r)
{
	return is_drained(r) && r->nfilled && decoder_has_blocks(&r->decoder);
}

bool read_ahead_expects_blocks(const struct read_ahead *r)
{
	return !r->threaded && decoder_has_blocks(&r->decoder);
}

enum status read_ahead_cut(struct read_ahead *r, struct block_batch *batch, bool prompt,
			   bool *ended, struct fault *fault)
{
	enum status status = decoder_cut(&r->decoder, batch, prompt, ended, fault);

	r->cut = r->cut || batch->nbytes;
	return status;
}

/* ---- sections ---- */

void read_ahead_share(struct read_ahead *r, bool shared)
{
	r->shared = shared;
}

bool read_ahead_has_sections(const struct read_ahead *r)
{
	return is_drained(r) && r->nfilled && has_sections(r);
}

bool read_ahead_split(struct read_ahead *r, struct sections *sections, size_t section_nbytes)
{
	return gzip_split(r->decoder.state, &r->decoder.feed, sections, section_nbytes);
}

void read_ahead_join(struct read_ahead *r, uint32_t crc, uint64_t text_nbytes)
{
	gzip_end_data(r->decoder.state, crc, text_nbytes);
	r->cut = true; /* there may be blocks, or the end */
}

bool read_ahead_began(const struct read_ahead *r, struct member_place *place, uint64_t *text_nbytes)
{
	return gzip_began(r->decoder.state, place, text_nbytes);
}

void read_ahead_resume(struct read_ahead *r, const struct member_place *place, bool ended)
{
	feed_seek(&r->decoder.feed, place->position + (ended && place->bit > 0));
	if (ended)
		gzip_end_data(r->decoder.state, place->crc, place->text_nbytes);
	else
		gzip_resume(r->decoder.state, place);
	r->cut = true; /* there may be blocks, or the end */
}

bool read_ahead_has_thread(const struct read_ahead *r)
{
	return r->threaded;
}

bool read_ahead_is_padded(struct read_ahead *r)
{
	return slot_of(r, r->nread)->padded;
}
