/* SPDX-License-Identifier: MIT
 *
 * inflate_own.c - raw deflate by deflate.c.
 *
 * The output of a stream may lie elsewhere in each call. So a stream is decoded behind a window of
 * its own, a piece at a time, and copied from there, which takes a twentieth of the time.
 */
#include "codec/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "codec/deflate.h"
#include "codec/feed.h"
#include "codec/member_place.h"
#include "codec/sections.h"

#define TEXT_NBYTES (128 * 1024) /* of a piece; window and piece stay in L2 */

_Static_assert(FEED_PAD_NBYTES >= DEFLATE_PAD_NBYTES, "pad of the input");

struct own {
	struct deflate deflate;
	enum deflate_result result; /* of the decoding of text */
	size_t begin, end;          /* text[begin .. end) is to be copied; all before is window */
	unsigned char text[DEFLATE_WINDOW_NBYTES + TEXT_NBYTES + DEFLATE_SLACK];
};

static void own_reset(void *state)
{
	struct own *own = state;

	deflate_begin(&own->deflate, NULL, 0, 0);
	own->result = DEFLATE_STARVES;
	own->begin = own->end = 0;
}

static void *own_open(void)
{
	struct own *own = malloc(sizeof *own);

	if (own)
		own_reset(own);
	return own;
}

/* Makes room behind the window, where there is little. All of the text has been copied. */
static void slide(struct own *own)
{
	if (own->end < DEFLATE_WINDOW_NBYTES + TEXT_NBYTES / 2)
		return;
	memmove(own->text, own->text + own->end - DEFLATE_WINDOW_NBYTES, DEFLATE_WINDOW_NBYTES);
	own->begin = own->end = DEFLATE_WINDOW_NBYTES;
}

/* Decodes more text, and moves span->in behind the bytes of which no bit is left. */
static void decode(struct own *own, struct inflate_span *span)
{
	unsigned char *out, *limit = own->text + DEFLATE_WINDOW_NBYTES + TEXT_NBYTES;
	size_t used;

	slide(own);
	out = own->text + own->end;
	if (span->out_nbytes < (size_t)(limit - out))
		limit = out + span->out_nbytes; /* at most a match is left to be copied */
	deflate_continue(&own->deflate, span->in, span->in_nbytes, deflate_bit(&own->deflate) & 7);
	own->result = deflate_bytes(&own->deflate, &out, limit, own->text, UINT64_MAX);
	own->end = (size_t)(out - own->text);
	used = (size_t)(deflate_bit(&own->deflate) >> 3);
	if (own->result == DEFLATE_ENDED && deflate_bit(&own->deflate) & 7) {
		used++; /* the bits that are left fill the byte: what goes on from here is behind it */
		deflate_continue(&own->deflate, NULL, 0, 0);
	}
	span->in += used;
	span->in_nbytes -= used;
}

static void copy_out(struct own *own, struct inflate_span *span)
{
	size_t n = own->end - own->begin;

	if (n > span->out_nbytes)
		n = span->out_nbytes;
	memcpy(span->out, own->text + own->begin, n);
	own->begin += n;
	span->out += n;
	span->out_nbytes -= n;
}

static enum inflate_result own_run(void *state, struct inflate_span *span)
{
	struct own *own = state;
	bool starves = false;

	copy_out(own, span);
	while (own->begin == own->end && !starves && own->result != DEFLATE_ENDED &&
	       own->result != DEFLATE_DAMAGED && span->out_nbytes) {
		decode(own, span);
		starves = own->result == DEFLATE_STARVES;
		copy_out(own, span);
	}
	if (own->begin < own->end || (own->result != DEFLATE_ENDED && own->result != DEFLATE_DAMAGED))
		return INFLATE_GOES_ON;
	span->words = own->deflate.words;
	return own->result == DEFLATE_ENDED ? INFLATE_ENDED : INFLATE_DAMAGED;
}

/* Straight to out: without slack behind it, the last bytes are decoded exactly. */
static enum inflate_result own_whole(void *state, const unsigned char *in, size_t in_nbytes,
				     unsigned char *out, size_t out_nbytes)
{
	struct deflate *d = &((struct own *)state)->deflate;
	unsigned char *at = out, *end = out + out_nbytes;
	enum deflate_result result = DEFLATE_FULL;

	deflate_begin(d, in, in_nbytes, 0);
	if (out_nbytes > DEFLATE_SLACK)
		result = deflate_bytes(d, &at, end - DEFLATE_SLACK, out, UINT64_MAX);
	if (result == DEFLATE_FULL)
		result = deflate_bytes_exact(d, &at, end, out);
	return result == DEFLATE_ENDED && at == end && (deflate_bit(d) + 7) >> 3 == in_nbytes
		       ? INFLATE_ENDED
		       : INFLATE_DAMAGED;
}

const struct inflate_ops inflate_own = {
	.name = "own",
	.open = own_open,
	.close = free,
	.reset = own_reset,
	.run = own_run,
	.whole = own_whole,
};

void inflate_own_trunk(const void *state, struct deflate_trunk *trunk)
{
	const struct own *own = state;
	size_t n = own->end < DEFLATE_WINDOW_NBYTES ? own->end : DEFLATE_WINDOW_NBYTES;

	trunk->deflate = own->deflate;
	trunk->nunread = own->end - own->begin;
	memcpy(trunk->window + DEFLATE_WINDOW_NBYTES - n, own->text + own->end - n, n);
}

void inflate_own_resume(void *state, const struct member_place *place)
{
	struct own *own = state;
	size_t n = member_place_window_nbytes(place);

	own_reset(own);
	deflate_begin(&own->deflate, NULL, 0, place->bit);
	memcpy(own->text, place->window + DEFLATE_WINDOW_NBYTES - n, n);
	own->begin = own->end = n;
}
