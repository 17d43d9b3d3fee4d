/* SPDX-License-Identifier: MIT
 *
 * part_stream.c - see part_stream.h.
 */
#include "codec/part_stream.h"

#include <string.h>

#include "base/cores.h"

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

void part_stream_close(struct part_stream *a)
{
	part_threads_close(a->threads);
}

/* ---- beginning ---- */

static void begin(struct part_stream *a)
{
	int nthreads = a->nthreads ? a->nthreads : cores_count();

	if (nthreads > a->ops->nthreads_most)
		nthreads = a->ops->nthreads_most;
	if (nthreads > 1)
		a->threads = part_threads_open(&a->ops->threads, nthreads);
	a->refused = !a->threads;
}

bool part_stream_begins(struct part_stream *a, const struct feed *feed)
{
	size_t have;

	feed_data(feed, &have);
	if (!a->threads && !a->refused && have && a->text_nbytes >= PIECE_NBYTES)
		begin(a);
	return a->threads && !a->held;
}

/* ---- what the codec decodes itself ---- */

static void let_go(struct part_stream *a)
{
	if (a->held == part_threads_first(a->threads))
		part_threads_take_out(a->threads);
	else
		part_clear(a->held);
	a->held = NULL;
	a->offset_bytes = 0;
}

/* Takes the part that comes next in the stream: the first that was handed in, or what has been
 * gathered, or NULL, where the feed comes next. */
static void hold_next(struct part_stream *a)
{
	struct part *gathered = part_threads_next(a->threads);

	a->held = part_threads_first(a->threads);
	a->offset_bytes = 0;
	if (a->held) {
		part_threads_wait(a->threads);
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

/* ---- what the threads decodes ---- */

/* Hands in parts while the feed has whole ones. Returns what ended that. */
static enum gathering gather(struct part_stream *a, struct feed *feed)
{
	enum gathering result = GATHER_WHOLE;
	struct part *part;

	while (result == GATHER_WHOLE && (part = part_threads_next(a->threads))) {
		result = a->ops->gather(a->walk, part, feed);
		if (result != GATHER_WHOLE)
			break;
		part_threads_submit(a->threads);
		memset(a->walk, 0, a->ops->walk_nbytes);
	}
	return result;
}

/* Appends text of the first part. One that is not good is left to the codec. */
static void take_text(struct part_stream *a, struct piece *piece)
{
	struct part *first = part_threads_first(a->threads);
	size_t left, room = PIECE_NBYTES - piece->nbytes;

	part_threads_wait(a->threads);
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
	part_threads_take_out(a->threads);
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
	bool has_first = part_threads_first(a->threads);

	if (result == GATHER_STARVES && !(has_first && part_threads_is_done(a->threads)) && has_more(feed))
		*step = DECODE_STARVES;
	else if (has_first)
		take_text(a, piece);
	else
		return false;
	return true;
}
