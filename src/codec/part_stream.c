/* SPDX-License-Identifier: MIT
 *
 * part_stream.c - see part_stream.h. Parts stand in a ring, and are items of a queue: the codec's thread fills and puts them,
 * and takes their texts out.
 */
#include "codec/part_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cores.h"
#include "base/ordered_queue.h"
#include "base/thread.h"

/* Beyond one for each thread: one that is filled, and one whose text is read. */
#define SPARE_PARTS 2

struct part_threads {
	const struct part_stream_ops *ops;
	struct ordered_queue queue;
	struct part parts[TEAM_NTHREADS_MAX + SPARE_PARTS]; /* nparts are used */
	uint64_t nparts;
	struct team team;
	uint64_t nput, nout; /* parts that were put, and taken out */
};

/* ---- parts ---- */

/* Makes room for nbytes of compressed data. False: out of memory. */
static bool part_reserve(struct part *p, size_t nbytes)
{
	return ARRAY_GROW(p->data, p->room_nbytes, nbytes) == STATUS_OK;
}

static void part_clear(struct part *p)
{
	p->nbytes = p->text_nbytes = p->text_most_nbytes = 0;
	p->good = false;
}

/* False: out of memory. */
static bool make_text_room(struct part *p)
{
	if (p->text_most_nbytes <= p->text_room_nbytes)
		return true;
	free(p->text);
	p->text = malloc(p->text_most_nbytes);
	p->text_room_nbytes = p->text ? p->text_most_nbytes : 0;
	return p->text != NULL;
}

bool part_take(struct part *p, struct feed *feed, size_t nbytes)
{
	size_t have;
	const unsigned char *data = feed_data(feed, &have);

	nbytes = nbytes < have ? nbytes : have;
	if (!part_reserve(p, p->nbytes + nbytes))
		return false;
	if (nbytes)
		memcpy(p->data + p->nbytes, data, nbytes);
	p->nbytes += nbytes;
	feed_use(feed, nbytes);
	return true;
}

/* ---- threads ---- */

static void *decode_parts(void *threads)
{
	struct part_threads *c = threads;
	void *state = c->ops->open();
	uint64_t item;

	while (ordered_queue_take(&c->queue, true, &item)) {
		struct part *p = &c->parts[item % c->nparts];
		p->good = state && make_text_room(p) && c->ops->decode(state, p);
		ordered_queue_finish(&c->queue, item, STATUS_OK, NULL);
	}
	if (state)
		c->ops->close(state);
	return NULL;
}

static void close_threads(struct part_threads *c)
{
	if (!c)
		return;
	ordered_queue_stop(&c->queue);
	team_join(&c->team);
	for (uint64_t i = 0; i < c->nparts; i++) {
		free(c->parts[i].data);
		free(c->parts[i].text);
	}
	ordered_queue_destroy(&c->queue);
	free(c);
}

/* Starts so many threads, or fewer where the system has no more. NULL: none was started. */
static struct part_threads *open_threads(const struct part_stream_ops *ops, int nthreads)
{
	struct part_threads *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->ops = ops;
	c->nparts = (uint64_t)nthreads + SPARE_PARTS;
	ordered_queue_init(&c->queue, c->nparts, 0, true);
	team_start(&c->team, (size_t)nthreads, decode_parts, c);
	if (c->team.nthreads)
		return c;
	close_threads(c);
	return NULL;
}

/* The part to be filled next, or NULL: as many as there is room for have been put. */
static struct part *part_to_fill(struct part_threads *c)
{
	return c->nput - c->nout < c->nparts - 1 ? &c->parts[c->nput % c->nparts] : NULL;
}

/* The first part that was put and not taken out, or NULL. */
static struct part *first_part(struct part_threads *c)
{
	return c->nout < c->nput ? &c->parts[c->nout % c->nparts] : NULL;
}

static void await_first(struct part_threads *c)
{
	ordered_queue_await(&c->queue, c->nout + 1, c->nout + 1);
}

static void take_out_first(struct part_threads *c)
{
	part_clear(first_part(c));
	ordered_queue_release(&c->queue, ++c->nout);
}

void part_stream_close(struct part_stream *a)
{
	close_threads(a->threads);
}

/* ---- beginning ---- */

static void begin(struct part_stream *a)
{
	int nthreads = a->nthreads ? a->nthreads : cores_count();

	if (nthreads > a->ops->nthreads_most)
		nthreads = a->ops->nthreads_most;
	if (nthreads > 1)
		a->threads = open_threads(a->ops, nthreads);
	a->refused = !a->threads;
}

bool part_stream_begins(struct part_stream *a, const struct feed *feed)
{
	size_t have;

	feed_data(feed, &have);
	if (!a->threads && !a->refused && have && a->text_nbytes >= CODEC_PIECE_NBYTES)
		begin(a);
	return a->threads && !a->held;
}

/* ---- what the codec decodes itself ---- */

static void let_go(struct part_stream *a)
{
	if (a->held == first_part(a->threads))
		take_out_first(a->threads);
	else
		part_clear(a->held);
	a->held = NULL;
	a->offset_bytes = 0;
}

/* Takes the part that comes next in the stream: the first that was handed in, or what has been
 * gathered, or NULL, where the feed comes next. */
static void hold_next(struct part_stream *a)
{
	struct part *gathered = part_to_fill(a->threads);

	a->held = first_part(a->threads);
	a->offset_bytes = 0;
	if (a->held) {
		await_first(a->threads);
	} else if (gathered && gathered->nbytes) {
		a->held = gathered;
		memset(a->walk, 0, a->ops->walk_nbytes);
	}
}

const unsigned char *part_stream_data(struct part_stream *a, const struct feed *feed, size_t *nbytes)
{
	if (a->threads && !a->held)
		hold_next(a);
	if (!a->held)
		return feed_data(feed, nbytes);
	*nbytes = a->held->nbytes - a->offset_bytes;
	return a->held->data + a->offset_bytes;
}

void part_stream_use(struct part_stream *a, struct feed *feed, size_t nbytes, size_t text_nbytes)
{
	a->text_nbytes += text_nbytes;
	if (!a->held) {
		feed_use(feed, nbytes);
		return;
	}
	a->offset_bytes += nbytes;
	if (a->offset_bytes == a->held->nbytes)
		let_go(a);
}

/* ---- what the threads decode ---- */

/* Hands in parts while the feed has whole ones. Returns what ended that. */
static enum gathering gather(struct part_stream *a, struct feed *feed)
{
	enum gathering result = GATHER_WHOLE;
	struct part *part;

	while (result == GATHER_WHOLE && (part = part_to_fill(a->threads))) {
		result = a->ops->gather(a->walk, part, feed);
		if (result != GATHER_WHOLE)
			break;
		a->threads->nput++;
		ordered_queue_put(&a->threads->queue);
		memset(a->walk, 0, a->ops->walk_nbytes);
	}
	return result;
}

/* Appends text of the first part. One that is not good is left to the codec. */
static void take_text(struct part_stream *a, struct piece *piece)
{
	struct part *first = first_part(a->threads);
	size_t left, room = CODEC_PIECE_NBYTES - piece->nbytes;

	await_first(a->threads);
	if (!first->good) {
		a->held = first;
		return;
	}
	left = first->text_nbytes - a->offset_bytes;
	room = left < room ? left : room;
	if (room)
		memcpy(piece->data + piece->nbytes, first->text + a->offset_bytes, room);
	piece->nbytes += room;
	a->offset_bytes += room;
	if (room < left)
		return;
	take_out_first(a->threads);
	a->offset_bytes = 0;
}

/* Whether more of the stream can be had at once. */
static bool has_more(const struct feed *feed)
{
	return !feed->at_end && feed_is_ready(feed);
}

bool part_stream_step(struct part_stream *a, struct feed *feed, struct piece *piece, enum decode_step *step)
{
	enum gathering result = gather(a, feed);
	bool has_first = first_part(a->threads);

	if (result == GATHER_STARVES && !(has_first && ordered_queue_is_finished(&a->threads->queue, a->threads->nout)) && has_more(feed))
		*step = DECODE_STARVES;
	else if (has_first)
		take_text(a, piece);
	else
		return false;
	return true;
}
