/* SPDX-License-Identifier: MIT
 *
 * gzip.c - a stream of gzip members, each one checked: headers, trailers, what stands between
 * members and at the end. RFC 1952; extra subfield BC: SAM/BAM format specification, section 4.1.
 */
#include "codec/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/sections.h"
#include "simd/simd.h"

#define MAGIC "\x1f\x8b"
#define FIXED_NBYTES 10 /* of the header: magic, method, flags, time, flags, system */
#define METHOD_DEFLATE 8

enum flag { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAG_RESERVED = 0xe0 };

enum place { BETWEEN_MEMBERS, IN_DATA, AT_TRAILER, IN_PADDING };

struct gzip {
	struct inflate *stream;
	enum place place;
	/* Of the member so far. */
	uint32_t crc;
	uint64_t text_nbytes;
	off_t data_position; /* where its data begins in a plain file; -1: unknown */
};

static uint32_t load16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t load32(const unsigned char *p)
{
	return load16(p) | load16(p + 2) << 16;
}

uint32_t gzip_trailer_crc(const unsigned char *trailer)
{
	return load32(trailer);
}

uint32_t gzip_trailer_nbytes(const unsigned char *trailer)
{
	return load32(trailer + 4);
}

static enum codec_match gzip_begins(const unsigned char *data, size_t nbytes)
{
	return codec_match_magic(data, nbytes, MAGIC, sizeof MAGIC - 1);
}

/* ---- the header ---- */

/* The length of the BGZF block among the extra subfields, or 0. */
static uint32_t find_block_nbytes(const unsigned char *extra, size_t nbytes)
{
	while (nbytes >= 4) {
		size_t field_nbytes = 4 + load16(extra + 2);
		if (field_nbytes > nbytes)
			return 0;
		if (extra[0] == 'B' && extra[1] == 'C' && field_nbytes == 6)
			return load16(extra + 4) + 1;
		extra += field_nbytes;
		nbytes -= field_nbytes;
	}
	return 0;
}

/* Moves *at behind the next NUL. Returns false where the data have no NUL yet. */
static bool skip_string(const unsigned char *data, size_t nbytes, size_t *at)
{
	while (*at < nbytes)
		if (data[(*at)++] == '\0')
			return true;
	return false;
}

static enum gzip_parse parse_optional(struct gzip_header *header, const unsigned char *data,
				      size_t nbytes, const char **words)
{
	unsigned flags = data[3];
	size_t at = FIXED_NBYTES;

	if (flags & FLAG_EXTRA) {
		size_t extra_nbytes = nbytes >= at + 2 ? load16(data + at) : nbytes;
		at += 2 + extra_nbytes;
		if (at > nbytes)
			return GZIP_INCOMPLETE;
		header->block_nbytes = find_block_nbytes(data + at - extra_nbytes, extra_nbytes);
	}
	if ((flags & FLAG_NAME && !skip_string(data, nbytes, &at)) ||
	    (flags & FLAG_COMMENT && !skip_string(data, nbytes, &at)))
		return GZIP_INCOMPLETE;
	if (flags & FLAG_HCRC) {
		if (at + 2 > nbytes)
			return GZIP_INCOMPLETE;
		*words = "header crc mismatch";
		if (load16(data + at) != (simd()->crc(0, data, at) & 0xffff))
			return GZIP_DAMAGED;
		at += 2;
	}
	header->nbytes = at;
	return GZIP_PARSED;
}

enum gzip_parse gzip_parse_header(struct gzip_header *header, const unsigned char *data,
				  size_t nbytes, const char **words)
{
	*header = (struct gzip_header){0};
	if (gzip_begins(data, nbytes) != CODEC_BEGINS)
		return GZIP_OTHER;
	*words = "unknown compression method";
	if (nbytes > 2 && data[2] != METHOD_DEFLATE)
		return GZIP_DAMAGED;
	*words = "unknown header flags set";
	if (nbytes > 3 && data[3] & FLAG_RESERVED)
		return GZIP_DAMAGED;
	return nbytes < FIXED_NBYTES ? GZIP_INCOMPLETE : parse_optional(header, data, nbytes, words);
}

/* ---- members ---- */

static enum status gzip_open(void **state, const struct codec *codec, int nthreads, struct fault *fault)
{
	struct gzip *g = calloc(1, sizeof *g);

	(void)codec;
	(void)nthreads;
	if (g)
		g->stream = inflate_open();
	if (!g || !g->stream) {
		free(g);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	*state = g;
	return STATUS_OK;
}

static void gzip_close(void *state)
{
	struct gzip *g = state;

	free(g->stream);
	free(g);
}

bool gzip_is_between(const struct gzip *g)
{
	return g->place == BETWEEN_MEMBERS;
}

static enum status damaged(struct fault *fault, const char *words)
{
	return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, words);
}

/* The feed has only a part of the header, the data or the trailer. */
static enum status starve(const struct feed *feed, enum decode_step *step, struct fault *fault)
{
	if (feed->at_end)
		return codec_fault(fault, STATUS_TRUNCATED, &codec_gzip, NULL);
	if (feed_is_full(feed))
		return damaged(fault, "header without end");
	*step = DECODE_STARVES;
	return STATUS_OK;
}

static enum status begin_member(struct gzip *g, struct feed *feed, enum decode_step *step,
				struct fault *fault)
{
	struct gzip_header header;
	const char *words;
	size_t have;
	const unsigned char *data = feed_data(feed, &have);

	if (have < 2 && !feed->at_end) {
		*step = DECODE_STARVES;
		return STATUS_OK;
	}
	if (have == 0) {
		*step = DECODE_ENDED;
		return STATUS_OK;
	}
	switch (gzip_parse_header(&header, data, have, &words)) {
	case GZIP_OTHER:
		if (*data == '\0') { /* the file began with the magic number */
			g->place = IN_PADDING;
			return STATUS_OK;
		}
		return codec_fault(fault, STATUS_TRAILING, &codec_gzip, NULL);
	case GZIP_INCOMPLETE:
		return starve(feed, step, fault);
	case GZIP_DAMAGED:
		return damaged(fault, words);
	case GZIP_PARSED:
		break;
	}
	/* A block that bgzf.c does not find. */
	if (header.block_nbytes > have)
		return codec_fault(fault, STATUS_TRUNCATED, &codec_gzip, NULL);
	if (header.block_nbytes)
		return damaged(fault, "impossible length of a block");
	feed_use(feed, header.nbytes);
	g->data_position = feed_tell(feed);
	inflate_begin(g->stream, 0, NULL, 0);
	g->place = IN_DATA;
	g->crc = g->text_nbytes = 0;
	return STATUS_OK;
}

static enum status inflate_some(struct gzip *g, struct feed *feed, struct piece *piece,
				enum decode_step *step)
{
	unsigned char *text = piece->data + piece->nbytes;
	struct inflate_span span = {.out = text, .out_nbytes = piece->room_nbytes - piece->nbytes};
	enum deflate_result result;
	size_t have, text_nbytes;

	span.in = feed_data(feed, &have);
	span.in_nbytes = have;
	result = inflate_run(g->stream, &span);
	feed_use(feed, have - span.in_nbytes);
	text_nbytes = (size_t)(span.out - text);
	g->crc = simd()->crc(g->crc, text, text_nbytes);
	g->text_nbytes += text_nbytes;
	piece->nbytes += text_nbytes;
	if (result == DEFLATE_DAMAGED)
		return damaged(&piece->fault, span.words);
	if (result == DEFLATE_ENDED) {
		g->place = AT_TRAILER;
		return STATUS_OK;
	}
	/* With no room left it may still hold output, and then end without more input. */
	return span.out_nbytes == 0 ? STATUS_OK : starve(feed, step, &piece->fault);
}

static enum status end_member(struct gzip *g, struct feed *feed, enum decode_step *step,
			      struct fault *fault)
{
	size_t have;
	const unsigned char *trailer = feed_data(feed, &have);

	if (have < GZIP_TRAILER_NBYTES)
		return starve(feed, step, fault);
	if (gzip_trailer_crc(trailer) != g->crc)
		return damaged(fault, "incorrect data check");
	if (gzip_trailer_nbytes(trailer) != (uint32_t)g->text_nbytes)
		return damaged(fault, "incorrect length check");
	feed_use(feed, GZIP_TRAILER_NBYTES);
	g->place = BETWEEN_MEMBERS;
	return STATUS_OK;
}

/* Tapes and some devices pad a file with zeros to a whole block. gzip(1) ignores them, too. */
static enum status pass_padding(struct feed *feed, struct piece *piece, enum decode_step *step)
{
	size_t have, n = 0;
	const unsigned char *data = feed_data(feed, &have);

	while (n < have && data[n] == '\0')
		n++;
	feed_use(feed, n);
	if (n < have)
		return codec_fault(&piece->fault, STATUS_TRAILING, &codec_gzip, NULL);
	piece->padded = feed->at_end;
	*step = feed->at_end ? DECODE_ENDED : DECODE_STARVES;
	return STATUS_OK;
}

static enum status gzip_step(void *state, struct feed *feed, struct piece *piece,
			     enum decode_step *step)
{
	struct gzip *g = state;

	switch (g->place) {
	case BETWEEN_MEMBERS:
		return begin_member(g, feed, step, &piece->fault);
	case IN_DATA:
		return inflate_some(g, feed, piece, step);
	case AT_TRAILER:
		return end_member(g, feed, step, &piece->fault);
	default:
		return pass_padding(feed, piece, step);
	}
}

/* ---- sections, and places in a member's data ---- */

bool gzip_is_in_data(const struct gzip *g)
{
	return g->place == IN_DATA;
}

bool gzip_split(const struct gzip *g, struct feed *feed, struct sections *sections, size_t section_nbytes)
{
	struct deflate_trunk *trunk = malloc(sizeof *trunk);
	bool begun;

	if (!trunk)
		return false;
	inflate_trunk(g->stream, trunk);
	trunk->text_nbytes = g->text_nbytes;
	begun = sections_begin(sections, feed, trunk, deflate_bit(&trunk->deflate) & 7, g->crc, section_nbytes);
	free(trunk);
	return begun;
}

void gzip_end_data(struct gzip *g, uint32_t crc, uint64_t text_nbytes)
{
	g->crc = crc;
	g->text_nbytes = text_nbytes;
	g->place = AT_TRAILER;
}

bool gzip_began(const struct gzip *g, struct member_place *place, uint64_t *text_nbytes)
{
	place->position = g->data_position;
	place->bit = 0;
	place->text_nbytes = 0;
	place->crc = 0;
	*text_nbytes = g->text_nbytes;
	return g->data_position >= 0;
}

void gzip_resume(struct gzip *g, const struct member_place *place)
{
	size_t n = place->text_nbytes < DEFLATE_WINDOW_NBYTES ? (size_t)place->text_nbytes : DEFLATE_WINDOW_NBYTES;

	inflate_begin(g->stream, place->bit, place->window + DEFLATE_WINDOW_NBYTES - n, n);
	g->crc = place->crc;
	g->text_nbytes = place->text_nbytes;
}

enum status member_place_read(const struct member_place *p, int fd, uint64_t skip, void *to, size_t nbytes,
			      struct fault *fault)
{
	struct gzip g = {.stream = inflate_open(), .place = IN_DATA};
	struct feed *feed = malloc(sizeof *feed);
	uint64_t first = p->text_nbytes + skip;
	struct piece piece = {.data = to};
	enum status status = g.stream && feed ? STATUS_OK : STATUS_NO_MEMORY;

	if (status == STATUS_OK) {
		feed_init_at(feed, fd, p->position);
		gzip_resume(&g, p);
	}
	while (status == STATUS_OK && g.place == IN_DATA && g.text_nbytes < first + nbytes) {
		uint64_t nskipped = g.text_nbytes < first ? first - g.text_nbytes : 0; /* to the same memory again and again */
		enum decode_step step = DECODE_GOES_ON;
		piece.nbytes = nskipped ? 0 : (size_t)(g.text_nbytes - first);
		piece.room_nbytes = nskipped && nskipped < nbytes ? (size_t)nskipped : nbytes;
		status = inflate_some(&g, feed, &piece, &step);
		if (step == DECODE_STARVES)
			status = feed_more(feed, &piece.fault);
	}
	*fault = piece.fault;
	if (status == STATUS_DAMAGED || status == STATUS_TRUNCATED || (status == STATUS_OK && g.text_nbytes < first + nbytes))
		status = damaged(fault, "the file has changed");
	free(g.stream);
	free(feed);
	return fault_complete(fault, status);
}

const struct codec codec_gzip = {
	.name = "gzip",
	.library = "zlib",
	.version = zlibVersion,
	.begins = gzip_begins,
	.open = gzip_open,
	.close = gzip_close,
	.step = gzip_step,
};
