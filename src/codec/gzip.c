/* SPDX-License-Identifier: MIT
 *
 * gzip.c - a stream of gzip members, each one checked: headers, trailers, what stands between
 * members and at the end; then places in their data; then blocks of BGZF. RFC 1952; extra subfield BC: SAM/BAM format specification, section 4.1.
 */
#include "codec/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/machine.h"
#include "base/fd.h"
#include "base/thread.h"
#include "simd/simd.h"

#define MAGIC "\x1f\x8b"
#define GZIP_TRAILER_NBYTES 8
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

static uint32_t gzip_trailer_nbytes(const unsigned char *trailer)
{
	return load32(trailer + 4);
}

static enum codec_match gzip_begins(const unsigned char *data, size_t nbytes)
{
	return codec_match_magic(data, nbytes, MAGIC, sizeof MAGIC - 1);
}

/* ---- the header ---- */

struct gzip_header {
	size_t nbytes;
	uint32_t block_nbytes; /* the whole member, by its BGZF subfield; 0 if it has no such subfield */
};

enum gzip_parse {
	GZIP_PARSED,
	GZIP_INCOMPLETE, /* the header goes on behind nbytes */
	GZIP_OTHER,      /* no magic number */
	GZIP_DAMAGED,
};

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

/* Parses the header that begins at data, of which nbytes are there, and checks its CRC if it has
 * one. *words: at GZIP_DAMAGED, what is wrong. */
static enum gzip_parse gzip_parse_header(struct gzip_header *header, const unsigned char *data, size_t nbytes,
					 const char **words)
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

static enum status damaged(struct fault *fault, const char *words)
{
	return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, words);
}

/* The feed has only a part of the header, the data or the trailer. */
static enum status starve(const struct feed *feed, enum decode_step *step, struct fault *fault)
{
	return !feed->at_end && feed_is_full(feed) ? damaged(fault, "header without end")
						   : codec_starve(&codec_gzip, feed, true, step, fault);
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
	/* A block that bgzf_next does not find. */
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

/* ---- BGZF ----
 *
 * How long a block is stands in its header's extra subfield BC.
 *
 * In a plain file, blocks are found without reading them: a block's length stands in its header, and a few
 * bytes around its end tell the length of its text and where the next one ends.
 */

#define USUAL_HEADER_NBYTES 18 /* of a block whose header has the subfield BC and nothing else */

/* Parses the block that begins at data, of which nbytes are there, at least its header. Returns its
 * length; 0: none begins, or its header goes on. */
static size_t parse_block(const unsigned char *data, size_t nbytes, struct gzip_header *header)
{
	const char *words;

	if (gzip_parse_header(header, data, nbytes, &words) != GZIP_PARSED ||
	    header->block_nbytes <= header->nbytes + GZIP_TRAILER_NBYTES)
		return 0;
	return header->block_nbytes;
}

bool bgzf_begins(const unsigned char *data, size_t nbytes)
{
	struct gzip_header header;

	return parse_block(data, nbytes, &header) > 0;
}

enum block_next bgzf_next(const struct gzip *g, const struct feed *feed, struct block_length *block)
{
	enum block_next starves = feed->at_end ? BLOCK_NONE : BLOCK_STARVES;
	struct gzip_header header;
	enum gzip_parse parse;
	size_t nbytes, have;
	const char *words;
	const unsigned char *begin = feed_data(feed, &have);

	if (g->place != BETWEEN_MEMBERS)
		return BLOCK_NONE;
	if (have < 2)
		return starves;
	parse = gzip_parse_header(&header, begin, have, &words);
	if (parse == GZIP_INCOMPLETE && have < BGZF_BLOCK_NBYTES)
		return starves;
	nbytes = parse_block(begin, have, &header);
	if (nbytes == 0)
		return BLOCK_NONE;
	if (nbytes > have)
		return starves;
	*block = (struct block_length){(uint32_t)nbytes, gzip_trailer_nbytes(begin + nbytes - GZIP_TRAILER_NBYTES)};
	return block->text_nbytes <= BGZF_BLOCK_NBYTES ? BLOCK_WHOLE : BLOCK_NONE;
}

enum block_next bgzf_cut(const struct gzip *g, struct feed *feed, struct block_batch *batch)
{
	struct block_length block;
	enum block_next next;
	size_t have;

	while ((next = bgzf_next(g, feed, &block)) == BLOCK_WHOLE && block_batch_take(batch, block)) {
		memcpy(batch->data + batch->nbytes - block.nbytes, feed_data(feed, &have), block.nbytes);
		feed_use(feed, block.nbytes);
	}
	return next;
}

/* The end of a block, and the header of the next one: nheader bytes of it; -1: errno. */
struct seam {
	unsigned char trailer[GZIP_TRAILER_NBYTES], header[USUAL_HEADER_NBYTES];
	ssize_t nheader;
};

static void seam_begin(struct seam *s, int fd, off_t position)
{
	s->nheader = fd_read_at(fd, s->header, sizeof s->header, position);
}

/* Measures the block at position, whose header the seam has, and moves the seam to its end. nbytes 0: no whole block
 * begins there, or it ends beyond `end`. False: the file cannot be read. */
static bool measure(struct seam *s, int fd, off_t position, off_t end, struct block_length *block)
{
	struct gzip_header parsed;
	size_t nbytes = s->nheader > 0 ? parse_block(s->header, (size_t)s->nheader, &parsed) : 0;
	ssize_t n;

	*block = (struct block_length){0, 0};
	if (nbytes == 0 || (off_t)nbytes > end - position)
		return s->nheader >= 0;
	n = fd_read_at(fd, s->trailer, sizeof s->trailer + sizeof s->header, position + (off_t)nbytes - GZIP_TRAILER_NBYTES);
	s->nheader = n < 0 ? -1 : n > GZIP_TRAILER_NBYTES ? n - GZIP_TRAILER_NBYTES : 0;
	if (n >= GZIP_TRAILER_NBYTES && gzip_trailer_nbytes(s->trailer) <= BGZF_BLOCK_NBYTES)
		*block = (struct block_length){(uint32_t)nbytes, gzip_trailer_nbytes(s->trailer)};
	return n >= 0;
}

bool bgzf_walk(int fd, off_t *position, off_t end, struct block_batch *batch)
{
	struct block_length block;
	struct seam seam;

	for (seam_begin(&seam, fd, *position); measure(&seam, fd, *position, end, &block); *position += block.nbytes)
		if (block.nbytes == 0 || !block_batch_take(batch, block))
			return true;
	return false;
}

size_t bgzf_parse(const unsigned char *data, size_t nbytes, struct bgzf_block *block)
{
	struct gzip_header header;
	size_t block_nbytes = parse_block(data, nbytes, &header);
	const unsigned char *trailer = data + block_nbytes - GZIP_TRAILER_NBYTES;

	if (block_nbytes == 0 || block_nbytes > nbytes)
		return 0;
	*block = (struct bgzf_block){data + header.nbytes, trailer, gzip_trailer_nbytes(trailer)};
	return block_nbytes;
}

/* Decodes a block into to, which has room for its text. */
static enum status decode_block(struct deflate *d, const struct bgzf_block *b, unsigned char *to, struct fault *fault)
{
	if (!deflate_whole(d, b->data, (size_t)(b->trailer - b->data), to, b->text_nbytes))
		return damaged(fault, "damaged block, or of another length");
	if (simd()->crc(0, to, b->text_nbytes) != gzip_trailer_crc(b->trailer))
		return damaged(fault, "incorrect data check");
	return STATUS_OK;
}

/* The blocks of a file that is being changed may be others now than when they were measured. */
enum status bgzf_decode(struct deflate *d, struct block_batch *batch, unsigned char *to, struct fault *fault)
{
	unsigned char last[BGZF_BLOCK_NBYTES + DEFLATE_SLACK]; /* a text that has no slack behind it */
	size_t room_nbytes = batch->text_nbytes, at = 0;
	enum status status = STATUS_OK;
	struct bgzf_block b;

	batch->text_nbytes = 0;
	while (status == STATUS_OK && at < batch->nbytes) {
		size_t nbytes = bgzf_parse(batch->data + at, batch->nbytes - at, &b), left = room_nbytes - batch->text_nbytes;
		unsigned char *text = to + batch->text_nbytes;
		if (nbytes == 0 || b.text_nbytes > left || b.text_nbytes > BGZF_BLOCK_NBYTES)
			return damaged(fault, "damaged block");
		status = decode_block(d, &b, left < b.text_nbytes + DEFLATE_SLACK ? last : text, fault);
		if (left < b.text_nbytes + DEFLATE_SLACK)
			memcpy(text, last, b.text_nbytes);
		at += nbytes;
		batch->text_nbytes += status == STATUS_OK ? b.text_nbytes : 0;
	}
	return status;
}

/* ---- decoders ---- */

/* The room suffices even if blocks are no shorter than their text. */
struct block_decoder *block_decoder_open(size_t text_nbytes)
{
	size_t nbytes = text_nbytes > BGZF_BLOCK_NBYTES ? text_nbytes : BGZF_BLOCK_NBYTES;
	struct block_decoder *d = malloc(sizeof *d + nbytes + FEED_PAD_NBYTES);

	if (d)
		d->batch = (struct block_batch){.data = d->data, .room_nbytes = nbytes, .text_room_nbytes = text_nbytes, .fd = -1};
	return d;
}

#define PROOF_NBLOCKS 3 /* that are decoded before a block is believed to begin */

/* ---- the text from any place on ---- */

enum status bgzf_text_open(struct bgzf_text *t, int fd, uint64_t place, struct fault *fault)
{
	*t = (struct bgzf_text){.position = BGZF_PLACE_BLOCK(place), .nskipped = BGZF_PLACE_OFFSET(place)};
	t->deflate = malloc(sizeof *t->deflate);
	t->feed = malloc(sizeof *t->feed);
	t->text = malloc(BGZF_BLOCK_NBYTES);
	if (t->feed)
		feed_init_at(t->feed, fd, t->position);
	return t->deflate && t->feed && t->text ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

void bgzf_text_close(struct bgzf_text *t)
{
	free(t->deflate);
	free(t->feed);
	free(t->text);
	memset(t, 0, sizeof *t);
}

enum status bgzf_text_next(struct bgzf_text *t, bool *is_there, struct fault *fault)
{
	struct block_batch batch;
	struct bgzf_block block;
	size_t have, nbytes;
	const unsigned char *data;

	*is_there = false;
	while ((data = feed_data(t->feed, &have)), have < BGZF_BLOCK_NBYTES && !t->feed->at_end)
		TRY(feed_more(t->feed, fault));
	nbytes = have ? bgzf_parse(data, have, &block) : 0;
	if (nbytes == 0 || block.text_nbytes > BGZF_BLOCK_NBYTES || t->nskipped > block.text_nbytes)
		return STATUS_OK;
	batch = (struct block_batch){.data = (unsigned char *)data, .nbytes = nbytes, .text_nbytes = block.text_nbytes,
				     .fd = -1};
	TRY(bgzf_decode(t->deflate, &batch, t->text, fault));
	t->place = BGZF_PLACE(t->position, t->nskipped);
	t->data = (const char *)t->text + t->nskipped;
	t->nbytes = batch.text_nbytes - t->nskipped;
	t->nskipped = 0;
	feed_use(t->feed, nbytes);
	t->position += (off_t)nbytes;
	*is_there = true;
	return STATUS_OK;
}

/* ---- where blocks begin ---- */

/* Whether several blocks follow each other from here on, or up to the file's end. */
static bool begins_blocks(int fd, uint64_t at, uint64_t size)
{
	struct bgzf_text t;
	struct fault ignored;
	bool is_there = true;

	if (bgzf_text_open(&t, fd, BGZF_PLACE(at, 0), &ignored) != STATUS_OK)
		is_there = false;
	for (int i = 0; i < PROOF_NBLOCKS && is_there && (uint64_t)t.position < size; i++)
		if (bgzf_text_next(&t, &is_there, &ignored) != STATUS_OK)
			is_there = false;
	bgzf_text_close(&t);
	return is_there;
}

bool bgzf_seek(int fd, uint64_t offset, uint64_t size, uint64_t *block)
{
	const size_t most = 2 * BGZF_BLOCK_NBYTES; /* a block, and the header of the next one */
	unsigned char *data = malloc(most);
	ssize_t n = data ? fd_read_at(fd, data, most, (off_t)offset) : -1;
	const unsigned char *at = data, *end = data + (n > 0 ? n : 0);
	bool is_found = false;

	for (; !is_found && at < end && (at = memchr(at, 0x1f, (size_t)(end - at))); at++) {
		*block = offset + (uint64_t)(at - data);
		is_found = bgzf_begins(at, (size_t)(end - at)) && begins_blocks(fd, *block, size);
	}
	free(data);
	return is_found;
}

bool bgzf_walk_blocks(int fd, uint64_t from, uint64_t end, uint64_t *block)
{
	struct block_batch batch = {.room_nbytes = SIZE_MAX, .text_room_nbytes = SIZE_MAX, .fd = fd};
	off_t position = (off_t)from;
	bool is_readable = bgzf_walk(fd, &position, (off_t)end, &batch);

	*block = (uint64_t)position;
	return is_readable;
}

bool bgzf_find_text(int fd, uint64_t offset, uint64_t *place)
{
	struct block_batch batch = {.room_nbytes = SIZE_MAX, .text_room_nbytes = offset, .fd = fd};
	off_t position = 0;
	bool is_readable = bgzf_walk(fd, &position, INT64_MAX, &batch);

	*place = BGZF_PLACE(position, 0) + (offset - batch.text_nbytes);
	return is_readable && offset - batch.text_nbytes < BGZF_BLOCK_NBYTES;
}

/* ---- blocks ahead ---- */

/* Ranges are items of a queue from the second one of the file on, whose consumer is the walk. */

#define NSLOTS 16
#define NBLOCKS_MAX 4096 /* of a range that are listed */
#define NTHREADS_MAX 4
#define CORES_PER_THREAD 4

struct range {
	off_t position; /* of blocks[nused] in the file */
	size_t nblocks, nused;
	struct block_length blocks[NBLOCKS_MAX];
};

struct block_ahead {
	int fd;
	off_t end, range_nbytes;
	off_t first;          /* the number of the first range, which is no item: the walk is in it at once */
	_Atomic off_t walked; /* ... of the one that the walk is in */
	struct ordered_queue queue;
	struct team team;
	struct range slots[NSLOTS];
};

/* Lists the blocks that begin in a range, up to what is no whole block, or cannot be read. */
static void search(struct block_ahead *a, off_t number, struct range *r)
{
	off_t begin = number * a->range_nbytes, position;
	struct block_length *next = r->blocks;
	struct seam seam;
	uint64_t block;

	r->nblocks = r->nused = 0;
	if (number < a->walked || !bgzf_seek(a->fd, (uint64_t)begin, (uint64_t)a->end, &block))
		return;
	r->position = position = (off_t)block;
	seam_begin(&seam, a->fd, position);
	for (; next < r->blocks + NBLOCKS_MAX && position < begin + a->range_nbytes; position += (next++)->nbytes)
		if (!measure(&seam, a->fd, position, INT64_MAX, next) || next->nbytes == 0)
			break;
	r->nblocks = (size_t)(next - r->blocks);
}

static void *search_ranges(void *ahead)
{
	struct block_ahead *a = ahead;
	uint64_t item;

	while (ordered_queue_take(&a->queue, true, &item)) {
		search(a, a->first + 1 + (off_t)item, &a->slots[item % NSLOTS]);
		ordered_queue_finish(&a->queue, item, STATUS_OK, NULL);
	}
	return NULL;
}

struct block_ahead *block_ahead_open(int fd, off_t begin, off_t end, off_t range_nbytes)
{
	int nthreads = cores_count() / CORES_PER_THREAD;
	struct block_ahead *a;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	end = end < st.st_size ? end : st.st_size;
	a = (end - begin) / range_nbytes >= NTHREADS_MAX ? calloc(1, sizeof *a) : NULL;
	if (!a)
		return NULL;
	a->fd = fd;
	a->end = end;
	a->range_nbytes = range_nbytes;
	a->walked = a->first = begin / range_nbytes;
	ordered_queue_init(&a->queue, NSLOTS, (uint64_t)((end - 1) / range_nbytes - a->first), true);
	ordered_queue_end(&a->queue);
	team_start(&a->team, nthreads < 1 ? 1 : nthreads < NTHREADS_MAX ? (size_t)nthreads : NTHREADS_MAX, search_ranges, a);
	if (a->team.nthreads > 0)
		return a;
	block_ahead_close(a);
	return NULL;
}

void block_ahead_close(struct block_ahead *a)
{
	if (!a)
		return;
	ordered_queue_stop(&a->queue);
	team_join(&a->team);
	ordered_queue_destroy(&a->queue);
	free(a);
}

/* The list of the range that the walk is in; ranges before it are free. NULL: there is none. */
static struct range *enter_range(struct block_ahead *a, off_t position)
{
	off_t number = position / a->range_nbytes;
	uint64_t item = (uint64_t)(number - a->first - 1);

	if (number > a->walked) {
		a->walked = number;
		ordered_queue_release(&a->queue, item);
	}
	return number > a->first && ordered_queue_is_finished(&a->queue, item) ? &a->slots[item % NSLOTS] : NULL;
}

/* Whether one of the range's blocks begins at the position. Those before it have been passed. */
static bool meets(struct range *r, off_t position)
{
	for (; r->nused < r->nblocks && r->position < position; r->nused++)
		r->position += r->blocks[r->nused].nbytes;
	return r->nused < r->nblocks && r->position == position;
}

bool block_ahead_walk(struct block_ahead *a, off_t *position, off_t end, struct block_batch *batch)
{
	struct range *r = NULL;

	while (a && (r = enter_range(a, *position)) && meets(r, *position))
		for (; r->nused < r->nblocks; r->nused++) {
			struct block_length block = r->blocks[r->nused];
			if ((off_t)block.nbytes > end - *position || !block_batch_take(batch, block))
				return true;
			*position += block.nbytes;
			r->position = *position;
		}
	return false;
}
