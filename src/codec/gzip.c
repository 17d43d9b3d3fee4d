/* SPDX-License-Identifier: MIT
 *
 * gzip.c - what surrounds deflate data: headers, trailers, what lies between members and at
 * the end. RFC 1952; extra subfield BC: SAM/BAM format specification, section 4.1.
 */
#include "codec/gzip.h"

#include <stdlib.h>

#define FIXED_NBYTES 10 /* of the header: magic, method, flags, time, flags, system */
#define METHOD_DEFLATE 8

enum flag { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAG_RESERVED = 0xe0 };

enum place { BETWEEN_MEMBERS, IN_DATA, AT_TRAILER };

struct gzip {
	const struct inflate_ops *ops;
	void *state;
	enum place place;
	uint32_t crc;    /* of the member so far */
	uint32_t nbytes; /* modulo 2^32, as the trailer has it */
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

bool gzip_is_magic(const unsigned char *data, size_t nbytes)
{
	return nbytes >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* ---- the header ---- */

/* The size of the BGZF block among the extra subfields, or 0. */
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

/* Passes over a text and its NUL. False: there is no NUL yet. */
static bool pass_text(const unsigned char *data, size_t nbytes, size_t *at)
{
	while (*at < nbytes)
		if (data[(*at)++] == '\0')
			return true;
	return false;
}

static enum gzip_parse parse_optional(struct gzip_header *header, const unsigned char *data,
				      size_t nbytes, const struct inflate_ops *ops,
				      const char **words)
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
	if ((flags & FLAG_NAME && !pass_text(data, nbytes, &at)) ||
	    (flags & FLAG_COMMENT && !pass_text(data, nbytes, &at)))
		return GZIP_INCOMPLETE;
	if (flags & FLAG_HCRC) {
		if (at + 2 > nbytes)
			return GZIP_INCOMPLETE;
		*words = "header crc mismatch";
		if (load16(data + at) != (ops->crc(0, data, at) & 0xffff))
			return GZIP_DAMAGED;
		at += 2;
	}
	header->nbytes = at;
	return GZIP_PARSED;
}

enum gzip_parse gzip_parse_header(struct gzip_header *header, const unsigned char *data,
				  size_t nbytes, const struct inflate_ops *ops,
				  const char **words)
{
	*header = (struct gzip_header){0};
	*words = "unknown compression method";
	if (nbytes > 2 && data[2] != METHOD_DEFLATE)
		return GZIP_DAMAGED;
	*words = "unknown header flags set";
	if (nbytes > 3 && data[3] & FLAG_RESERVED)
		return GZIP_DAMAGED;
	return nbytes < FIXED_NBYTES ? GZIP_INCOMPLETE
				     : parse_optional(header, data, nbytes, ops, words);
}

/* ---- members ---- */

struct gzip *gzip_open(void)
{
	struct gzip *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->ops = inflate_stream();
	g->state = g->ops->open();
	if (g->state)
		return g;
	free(g);
	return NULL;
}

void gzip_close(struct gzip *g)
{
	if (!g)
		return;
	g->ops->close(g->state);
	free(g);
}

bool gzip_is_between(const struct gzip *g)
{
	return g->place == BETWEEN_MEMBERS;
}

static enum status damaged(struct fault *fault, const char *words)
{
	return fault_set(fault, STATUS_GZIP_DATA, 0, words);
}

/* The feed has too little of something that must come as a whole. */
static enum status starve(struct feed *feed, enum step *step, struct fault *fault)
{
	if (feed->at_end)
		return fault_set(fault, STATUS_GZIP_TRUNCATED, 0, NULL);
	if (feed_is_full(feed))
		return damaged(fault, "header without end");
	*step = STEP_STARVES;
	return STATUS_OK;
}

/* Between members: begins the next one if there is one. */
static enum status next_member(struct gzip *g, struct feed *feed, enum step *step,
			       struct fault *fault)
{
	struct gzip_header header;
	const char *words;
	size_t have;
	const unsigned char *data = feed_data(feed, &have);

	if (have == 0) {
		*step = feed->at_end ? STEP_ENDED : STEP_STARVES;
		return STATUS_OK;
	}
	if (have < 2 && !feed->at_end)
		return starve(feed, step, fault);
	if (!gzip_is_magic(data, have))
		return fault_set(fault, STATUS_GZIP_TRAILING, 0, NULL);
	switch (gzip_parse_header(&header, data, have, g->ops, &words)) {
	case GZIP_INCOMPLETE:
		return starve(feed, step, fault);
	case GZIP_DAMAGED:
		return damaged(fault, words);
	case GZIP_PARSED:
		break;
	}
	feed_use(feed, header.nbytes);
	g->ops->reset(g->state);
	g->place = IN_DATA;
	g->crc = g->nbytes = 0;
	return STATUS_OK;
}

/* The deflate data. Sets STEP_STARVES where all input is used and room is left. */
static enum status inflate_some(struct gzip *g, struct feed *feed, unsigned char *to,
				size_t capacity, size_t *nbytes, enum step *step,
				struct fault *fault)
{
	struct inflate_span span = {.out = to, .out_nbytes = capacity};
	enum inflate_result result;
	size_t have;

	span.in = feed_data(feed, &have);
	span.in_nbytes = have;
	result = g->ops->run(g->state, &span);
	*nbytes = capacity - span.out_nbytes;
	feed_use(feed, have - span.in_nbytes);
	g->crc = g->ops->crc(g->crc, to, *nbytes);
	g->nbytes += (uint32_t)*nbytes;
	switch (result) {
	case INFLATE_NO_MEMORY:
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	case INFLATE_DAMAGED:
		return damaged(fault, span.words);
	case INFLATE_ENDED:
		feed_give_back(feed, span.in_excess_nbytes);
		g->place = AT_TRAILER;
		return STATUS_OK;
	case INFLATE_GOES_ON:
		break;
	}
	/* With no room left it may still hold output, and then end without more input. */
	return span.out_nbytes == 0 ? STATUS_OK : starve(feed, step, fault);
}

static enum status check_trailer(struct gzip *g, struct feed *feed, enum step *step,
				 struct fault *fault)
{
	size_t have;
	const unsigned char *trailer = feed_data(feed, &have);

	if (have < GZIP_TRAILER_NBYTES)
		return starve(feed, step, fault);
	if (gzip_trailer_crc(trailer) != g->crc)
		return damaged(fault, "incorrect data check");
	if (gzip_trailer_nbytes(trailer) != g->nbytes)
		return damaged(fault, "incorrect length check");
	feed_use(feed, GZIP_TRAILER_NBYTES);
	g->place = BETWEEN_MEMBERS;
	return STATUS_OK;
}

enum status gzip_step(struct gzip *g, struct feed *feed, unsigned char *to, size_t capacity,
		      size_t *nbytes, enum step *step, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool ended = false;

	*nbytes = 0;
	*step = STEP_GOES_ON;
	while (status == STATUS_OK && *step == STEP_GOES_ON && *nbytes < capacity && !ended) {
		size_t n = 0;
		switch (g->place) {
		case BETWEEN_MEMBERS:
			status = next_member(g, feed, step, fault);
			break;
		case IN_DATA:
			status = inflate_some(g, feed, to + *nbytes, capacity - *nbytes, &n, step,
					      fault);
			*nbytes += n;
			break;
		case AT_TRAILER:
			status = check_trailer(g, feed, step, fault);
			ended = g->place == BETWEEN_MEMBERS;
			break;
		}
	}
	return status;
}
