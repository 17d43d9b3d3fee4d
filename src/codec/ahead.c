/* SPDX-License-Identifier: MIT
 *
 * ahead.c - see ahead.h.
 */
#include "codec/ahead.h"

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

void ahead_close(struct ahead *a)
{
	crew_close(a->crew);
}

/* ---- beginning ---- */

static void begin(struct ahead *a)
{
	int nthreads = a->nthreads ? a->nthreads : cores_count();

	if (nthreads > a->ops->nthreads_most)
		nthreads = a->ops->nthreads_most;
	if (nthreads > 1)
		a->crew = crew_open(&a->ops->crew, nthreads);
	a->refused = !a->crew;
}

bool ahead_begins(struct ahead *a, const struct feed *feed)
{
	size_t have;

	feed_data(feed, &have);
	if (!a->crew && !a->refused && have && a->text_nbytes >= PIECE_NBYTES)
		begin(a);
	return a->crew && !a->held;
}

/* ---- what the codec decodes itself ---- */

static void let_go(struct ahead *a)
{
	if (a->held == crew_first(a->crew))
		crew_take_out(a->crew);
	else
		part_clear(a->held);
	a->held = NULL;
	a->offset_bytes = 0;
}

/* Takes the part that comes next in the stream: the first that was handed in, or what has been
 * gathered, or NULL, where the feed comes next. */
static void hold_next(struct ahead *a)
{
	struct part *gathered = crew_next(a->crew);

	a->held = crew_first(a->crew);
	a->offset_bytes = 0;
	if (a->held) {
		crew_wait(a->crew);
	} else if (gathered && gathered->nbytes) {
		a->held = gathered;
		memset(a->walk, 0, a->ops->walk_nbytes);
	}
}

const unsigned char *ahead_data(struct ahead *a, const struct feed *feed, size_t *nbytes)
{
	if (a->crew && !a->held)
		hold_next(a);
	if (!a->held)
		return feed_data(feed, nbytes);
	*nbytes = a->held->nbytes - a->offset_bytes;
	return a->held->data + a->offset_bytes;
}

void ahead_use(struct ahead *a, struct feed *feed, size_t nbytes, size_t text_nbytes)
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

/* ---- what the crew decodes ---- */

/* Hands in parts while the feed has whole ones. Returns what ended that. */
static enum gathering gather(struct ahead *a, struct feed *feed)
{
	enum gathering result = GATHER_WHOLE;
	struct part *part;

	while (result == GATHER_WHOLE && (part = crew_next(a->crew))) {
		result = a->ops->gather(a->walk, part, feed);
		if (result != GATHER_WHOLE)
			break;
		crew_submit(a->crew);
		memset(a->walk, 0, a->ops->walk_nbytes);
	}
	return result;
}

/* Appends text of the crew's first part. One that is not good is left to the codec. */
static void take_text(struct ahead *a, struct piece *piece)
{
	struct part *first = crew_first(a->crew);
	size_t left, room = PIECE_NBYTES - piece->nbytes;

	crew_wait(a->crew);
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
	crew_take_out(a->crew);
	a->offset_bytes = 0;
}

/* Whether more of the stream can be had at once. */
static bool has_more(const struct feed *feed)
{
	return !feed->at_end && feed_is_ready(feed);
}

bool ahead_step(struct ahead *a, struct feed *feed, struct piece *piece, enum decode_step *step)
{
	enum gathering result = gather(a, feed);
	bool has_first = crew_first(a->crew);

	if (result == GATHER_STARVES && !(has_first && crew_is_done(a->crew)) && has_more(feed))
		*step = DECODE_STARVES;
	else if (has_first)
		take_text(a, piece);
	else
		return false;
	return true;
}
