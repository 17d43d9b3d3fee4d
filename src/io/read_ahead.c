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

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ordered_queue.h"
#include "base/thread.h"
#include "codec/bgzf.h"

#define NSLOTS 8 /* 2 MiB: half of them are filled while the other half is read */

/* ---- decoding: one thread at a time ---- */

struct decoder {
	struct feed feed;
	const struct codec *codec;
	void *state; /* the codec's */
	size_t piece_nbytes; /* the longest piece */
	struct block_ahead *ahead; /* NULL if it was not asked for, or could not be begun */
	bool ahead_asked;
};

#define AHEAD_BATCH_NBYTES ((size_t)8 << 20)  /* of text that a batch has room for */
#define AHEAD_RANGE_NBYTES ((off_t)16 << 20) /* 1000 blocks of logs: 0.6 ms, and 0.2 for what seems to be the first one */

static size_t piece_nbytes(void)
{
	const char *text = getenv(CHUNK_VARIABLE);
	unsigned long long number = text ? strtoull(text, NULL, 10) : 0;

	return number > 0 && number < CODEC_PIECE_NBYTES ? (size_t)number : CODEC_PIECE_NBYTES;
}

/* Starts on what fd delivers. prefix: bytes already read from it, at most FEED_NBYTES; copied.
 * nthreads: as codec.open takes it. Errors: the codec's open. */
static enum status decoder_open(struct decoder *d, const struct codec *codec, int fd, const void *prefix,
			 size_t nbytes, int nthreads, struct fault *fault)
{
	d->codec = codec;
	d->state = NULL;
	d->piece_nbytes = piece_nbytes();
	d->ahead = NULL;
	d->ahead_asked = false;
	feed_init(&d->feed, fd, prefix, nbytes);
	return codec->open(&d->state, codec, nthreads, fault);
}

static void decoder_close(struct decoder *d)
{
	block_ahead_close(d->ahead);
	if (d->state)
		d->codec->close(d->state);
	feed_free(&d->feed);
}

/* Whether the stream ends behind the piece, complete or with an error. */
static bool piece_is_last(const struct piece *p)
{
	return p->last || p->status != STATUS_OK;
}

static enum status make_room(struct piece *p)
{
	if (!p->data)
		p->data = malloc(CODEC_PIECE_NBYTES);
	return p->data ? STATUS_OK : fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Reads more, unless the piece has text and input would have to be waited for: then *full. */
static enum status feed_piece(struct decoder *d, struct piece *p, bool *full)
{
	enum status status;

	*full = p->nbytes && !feed_is_ready(&d->feed);
	if (*full)
		return STATUS_OK;
	status = feed_more(&d->feed, &p->fault);
	p->last = d->feed.stopped;
	return status;
}

static enum block_next next_block(const struct decoder *d)
{
	return d->codec == &codec_gzip ? bgzf_next(d->state, &d->feed) : BLOCK_NONE;
}

/* Appends the text of the blocks that are next. *full: the piece has no room for another. */
static enum status decode_blocks(struct decoder *d, struct piece *p, bool *full)
{
	struct block_decoder *b = block_decoder_open(CODEC_PIECE_NBYTES - p->nbytes);
	enum status status;

	if (!b)
		return fault_set(&p->fault, STATUS_NO_MEMORY, 0, NULL);
	*full = bgzf_cut(d->state, &d->feed, &b->batch) == BLOCK_WHOLE;
	status = bgzf_decode(&b->deflate, &b->batch, p->data + p->nbytes, &p->fault);
	p->nbytes += b->batch.text_nbytes;
	free(b);
	return status;
}

static enum status fill(struct decoder *d, struct piece *p)
{
	enum status status = make_room(p);
	bool full = false;

	while (status == STATUS_OK && !full && !p->last) {
		enum block_next next = next_block(d);
		enum decode_step step = DECODE_GOES_ON;
		if (next == BLOCK_WHOLE)
			status = decode_blocks(d, p, &full);
		else if (next == BLOCK_STARVES)
			step = DECODE_STARVES;
		else
			status = d->codec->step(d->state, &d->feed, p, &step);
		full = full || p->nbytes >= p->room_nbytes;
		p->last = step == DECODE_ENDED;
		if (status == STATUS_OK && step == DECODE_STARVES)
			status = feed_piece(d, p, &full);
	}
	return status;
}

/* Fills the piece with text. It ends early where input would have to be waited for, and before a
 * block for which it has no room. Errors go to the piece's status. */
static void decoder_fill(struct decoder *d, struct piece *p)
{
	p->nbytes = 0;
	p->room_nbytes = d->piece_nbytes;
	p->last = p->padded = false;
	p->status = fill(d, p);
}

/* ---- blocks ---- */

/* Whether decoder_cut may find blocks next. */
static bool decoder_has_blocks(const struct decoder *d)
{
	return next_block(d) != BLOCK_NONE;
}

/* Has blocks looked for ahead of large batches, which are a GPU's: while one is measured, all others wait. */
static struct block_ahead *ahead_of(struct decoder *d, const struct block_batch *batch, off_t position)
{
	if (!d->ahead_asked && batch->text_room_nbytes >= AHEAD_BATCH_NBYTES) {
		d->ahead_asked = true;
		d->ahead = block_ahead_open(batch->fd, position, feed_end(&d->feed), AHEAD_RANGE_NBYTES);
	}
	return d->ahead;
}

/* Measures blocks of a plain file, batch->fd, and leaves them there: the feed goes on behind them. There may
 * be none. Errors: STATUS_READ, if the batch is empty. */
static enum status walk_blocks(struct decoder *d, struct block_batch *batch, struct fault *fault)
{
	off_t position = feed_tell(&d->feed);
	bool readable = true;

	batch->position = position;
	if (position >= 0) {
		bool full = block_ahead_walk(ahead_of(d, batch, position), &position, feed_end(&d->feed), batch);
		readable = full || bgzf_walk(batch->fd, &position, feed_end(&d->feed), batch);
	}
	if (batch->nbytes)
		feed_seek(&d->feed, position);
	else if (!readable)
		return fault_set(fault, STATUS_READ, errno, NULL);
	return STATUS_OK;
}

/* See read_ahead_cut. */
static enum status decoder_cut(struct decoder *d, struct block_batch *batch, bool prompt, bool *ended,
			struct fault *fault)
{
	enum status status = STATUS_OK;
	enum block_next next;
	size_t have;

	*ended = false;
	if (batch->fd >= 0 && next_block(d) != BLOCK_NONE)
		status = walk_blocks(d, batch, fault);
	if (batch->nbytes)
		return STATUS_OK;
	batch->fd = -1;
	if (status != STATUS_OK)
		return status;
	while ((next = bgzf_cut(d->state, &d->feed, batch)) == BLOCK_STARVES &&
	       status == STATUS_OK) {
		if (prompt && batch->nbytes && !feed_is_ready(&d->feed))
			break;
		status = feed_more(&d->feed, fault);
	}
	feed_data(&d->feed, &have);
	*ended = next == BLOCK_NONE && d->feed.at_end && have == 0;
	return batch->nbytes ? STATUS_OK : status;
}

/* Whether its stream stands where sections can go on. */
static bool decoder_has_sections(const struct decoder *d)
{
	return d->codec == &codec_gzip && gzip_is_in_data(d->state);
}

/* ---- the ring ---- */

struct read_ahead {
	/* Used by the decoding thread only; before it is started, by the caller. */
	struct decoder decoder;
	bool cut;    /* blocks were cut since the last slot was filled */
	bool shared; /* sections are decoded by the readers */

	uint64_t nread; /* the reader's: slots read */
	size_t offset;  /* ... and bytes of the next one */

	struct piece slots[NSLOTS];
	struct ordered_queue queue; /* of slots */
	bool threaded;              /* a thread was started */
	pthread_t thread;           /* not joined where an error ends the process */
	int wake[2];                /* a pipe; closing its end wakes the decoder where it waits for input */
};

static struct piece *slot_of(struct read_ahead *r, uint64_t index)
{
	return &r->slots[index % NSLOTS];
}

/* ---- the decoding thread ---- */

static void note_wait(void *argument, bool waits)
{
	struct read_ahead *r = argument;

	ordered_queue_pause(&r->queue, waits);
}

/* Fills the next slot. Returns false if none is free, all are filled, or the file is no longer wanted. waits: for a free one. */
static bool fill_slot(struct read_ahead *r, bool waits)
{
	uint64_t index;

	if (!ordered_queue_take(&r->queue, waits, &index))
		return false;
	decoder_fill(&r->decoder, slot_of(r, index));
	if (piece_is_last(slot_of(r, index)))
		ordered_queue_end(&r->queue);
	ordered_queue_finish(&r->queue, index, STATUS_OK, NULL);
	return true;
}

static void *thread_main(void *argument)
{
	while (fill_slot(argument, true))
		;
	return NULL;
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
	r->threaded = thread_start(&r->thread, thread_main, r);
	if (r->threaded)
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
	ordered_queue_stop(&r->queue);
	close(r->wake[1]);
	pthread_join(r->thread, NULL);
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
	ordered_queue_init(&r->queue, NSLOTS, UINT64_MAX, true);
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
		free(r->slots[i].data);
	ordered_queue_destroy(&r->queue);
	free(r);
}

/* ---- reading ---- */

/* Whether all slots have been read and no thread fills another. */
static bool is_drained(const struct read_ahead *r)
{
	return !r->threaded && r->nread == r->queue.turn;
}

/* Whether filling the next slot shows if a thread is needed: behind the first slot of the file, and
 * behind the first after blocks, there may be blocks or the end. */
static bool decides_on_thread(const struct read_ahead *r)
{
	return r->queue.turn == 0 || r->cut;
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
		fill_slot(r, false);
	}
	ordered_queue_await(&r->queue, r->nread + 1, r->nread + NSLOTS / 2);
	return slot_of(r, r->nread);
}

/* Frees the slot if all of it was read. The last one stays: its status is asked for again. */
static void free_if_read(struct read_ahead *r, const struct piece *p)
{
	if (r->offset < p->nbytes || piece_is_last(p))
		return;
	ordered_queue_release(&r->queue, ++r->nread);
	r->offset = 0;
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
	return r->nread < r->queue.turn;
}

/* ---- blocks ---- */

bool read_ahead_has_blocks(const struct read_ahead *r)
{
	return is_drained(r) && r->nread && decoder_has_blocks(&r->decoder);
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
	return is_drained(r) && r->nread && has_sections(r);
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
