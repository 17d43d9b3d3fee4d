/* SPDX-License-Identifier: MIT
 *
 * bgzf.c - see bgzf.h. How long a block is stands in its header's extra subfield BC.
 *
 * In a plain file, blocks are found without reading them: a block's length stands in its header, and a few
 * bytes around its end tell the length of its text and where the next one ends.
 */
#include "codec/bgzf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cores.h"
#include "base/fd.h"
#include "base/ordered_queue.h"
#include "base/thread.h"
#include "simd/simd.h"

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

/* Looks for a whole block; sets *block at BLOCK_WHOLE. */
static enum block_next find(const struct gzip *g, const struct feed *feed, struct block_length *block)
{
	enum block_next starves = feed->at_end ? BLOCK_NONE : BLOCK_STARVES;
	struct gzip_header header;
	enum gzip_parse parse;
	size_t nbytes, have;
	const char *words;
	const unsigned char *begin = feed_data(feed, &have);

	if (!gzip_is_between(g))
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

enum block_next bgzf_next(const struct gzip *g, const struct feed *feed)
{
	struct block_length ignored;

	return find(g, feed, &ignored);
}

enum block_next bgzf_cut(const struct gzip *g, struct feed *feed, struct block_batch *batch)
{
	struct block_length block;
	enum block_next next;
	size_t have;

	while ((next = find(g, feed, &block)) == BLOCK_WHOLE && block_batch_take(batch, block)) {
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

/* Lists the lengths of up to `most` blocks that begin at *position of the plain file fd and before stop, and moves
 * *position behind them. Ends before what is no whole block, or cannot be read. Returns how many there are. */
static size_t list_blocks(int fd, off_t *position, off_t stop, struct block_length *lengths, size_t most)
{
	struct seam seam;
	size_t n = 0;

	seam_begin(&seam, fd, *position);
	while (n < most && *position < stop && measure(&seam, fd, *position, INT64_MAX, &lengths[n]) && lengths[n].nbytes)
		*position += lengths[n++].nbytes;
	return n;
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
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "damaged block, or of another length");
	if (simd()->crc(0, to, b->text_nbytes) != gzip_trailer_crc(b->trailer))
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "incorrect data check");
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
			return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "damaged block");
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

/* Makes the text that which the block has behind what is to be left out. */
static void show(struct bgzf_text *t, size_t text_nbytes)
{
	t->place = BGZF_PLACE(t->position, t->nskipped);
	t->data = (const char *)t->text + t->nskipped;
	t->nbytes = text_nbytes - t->nskipped;
	t->nskipped = 0;
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
	show(t, batch.text_nbytes);
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

/* Finds a block that begins in data, which is read at the offset. */
static bool seek_in(int fd, const unsigned char *data, size_t nbytes, uint64_t offset, uint64_t size, uint64_t *block)
{
	for (const unsigned char *at = data; (at = memchr(at, 0x1f, nbytes - (size_t)(at - data))); at++) {
		*block = offset + (uint64_t)(at - data);
		if (bgzf_begins(at, nbytes - (size_t)(at - data)) && begins_blocks(fd, *block, size))
			return true;
	}
	return false;
}

bool bgzf_seek(int fd, uint64_t offset, uint64_t size, uint64_t *block)
{
	const size_t most = 2 * BGZF_BLOCK_NBYTES; /* a block, and the header of the next one */
	unsigned char *data = malloc(most);
	ssize_t n = data ? fd_read_at(fd, data, most, (off_t)offset) : -1;
	bool is_found = n > 0 && seek_in(fd, data, (size_t)n, offset, size, block);

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

/* Lists the blocks that begin in a range. */
static void search(struct block_ahead *a, off_t number, struct range *r)
{
	off_t begin = number * a->range_nbytes, position;
	uint64_t block;

	r->nblocks = r->nused = 0;
	if (number < a->walked || !bgzf_seek(a->fd, (uint64_t)begin, (uint64_t)a->end, &block))
		return;
	r->position = position = (off_t)block;
	r->nblocks = list_blocks(a->fd, &position, begin + a->range_nbytes, r->blocks, NBLOCKS_MAX);
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
