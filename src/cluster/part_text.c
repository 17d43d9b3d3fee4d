/* SPDX-License-Identifier: MIT
 *
 * part_text.c - see part_text.h.
 */
#include "cluster/part_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "codec/decoder.h"
#include "io/source.h"

void part_block_release(struct part_block *b)
{
	if (b && atomic_fetch_sub_explicit(&b->nusers, 1, memory_order_acq_rel) == 1)
		free(b);
}

void part_blocks_free(struct part_blocks *blocks)
{
	for (size_t i = 0; i < PART_NBLOCKS; i++)
		part_block_release(blocks->at[i]);
	memset(blocks, 0, sizeof *blocks);
}

/* Finds a block that nobody uses, or makes one. nbytes: of its data. NULL: no memory. */
static struct part_block *need_block(struct part_blocks *blocks, size_t nbytes)
{
	struct part_block **at = &blocks->at[blocks->next];

	for (size_t i = 0; i < PART_NBLOCKS; i++) {
		struct part_block *b = blocks->at[i];
		if (b && b->capacity >= nbytes && atomic_load_explicit(&b->nusers, memory_order_acquire) == 1) {
			part_block_use(b);
			return b;
		}
		at = b ? at : &blocks->at[i];
	}
	blocks->next = (blocks->next + 1) % PART_NBLOCKS;
	part_block_release(*at);
	*at = malloc(sizeof **at + nbytes);
	if (!*at)
		return NULL;
	(*at)->capacity = nbytes;
	atomic_init(&(*at)->nusers, 2);
	return *at;
}

/* ---- files ---- */

/* A compressed file. */
struct packed_part {
	struct decoder decoder;
	struct piece piece; /* of the text; all before `at` is in blocks */
	size_t at;
};

static enum status open_packed(struct part_text *t, const struct codec *codec, struct fault *fault)
{
	enum status status;

	t->packed = calloc(1, sizeof *t->packed);
	if (!t->packed)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = decoder_open(&t->packed->decoder, codec, t->fd, t->begin, t->nbegin, 1, fault);
	t->nbegin = 0;
	if (status == STATUS_OK)
		return status;
	free(t->packed);
	t->packed = NULL;
	return status;
}

/* Reads as much as tells whether the file is compressed. */
static enum status recognise(struct part_text *t, struct fault *fault)
{
	const struct codec *codec;
	enum codec_match match;
	ssize_t n = 1;

	while ((match = codec_find((const unsigned char *)t->begin, t->nbegin, &codec)) == CODEC_PERHAPS && n > 0) {
		n = fd_read(t->fd, t->begin + t->nbegin, sizeof t->begin - t->nbegin);
		t->nbegin += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	return match == CODEC_BEGINS ? open_packed(t, codec, fault) : STATUS_OK;
}

enum status part_text_open(struct part_text *t, const struct part_source *source, struct part_blocks *blocks,
			   struct fault *fault)
{
	const char *name = source->name;
	bool is_stdin = name && !strcmp(name, "-");

	*t = (struct part_text){.name = is_stdin ? STDIN_NAME : name, .source = *source, .blocks = blocks, .fd = -1};
	if (!name)
		return STATUS_OK;
	t->fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0 ? fault_set(fault, STATUS_OPEN, errno, NULL) : recognise(t, fault))
		fault->file = t->name;
	else
		return STATUS_OK;
	return fault->status;
}

void part_text_close(struct part_text *t)
{
	part_block_release(t->block);
	if (t->packed) {
		piece_free(&t->packed->piece);
		decoder_close(&t->packed->decoder);
	}
	free(t->packed);
	t->packed = NULL;
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->block = NULL;
	t->fd = -1;
}

bool part_text_next(struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	const char *end;

	if (left == 0)
		return false;
	t->line = t->block->data + t->at;
	end = memchr(t->line, '\n', left);
	if (!end && !t->is_at_end)
		return false;
	t->nbytes = end ? (size_t)(end - t->line) + 1 : left;
	t->at += t->nbytes;
	t->nlines++;
	return true;
}

/* Makes a block that begins with what is left of the last one: a line's beginning. A longer line gets a
 * longer block. */
static struct part_block *make_block(const struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	size_t nbytes = t->blocks->nbytes;
	struct part_block *b = need_block(t->blocks, left <= nbytes / 2 ? nbytes : 4 * left);

	if (!b)
		return NULL;
	b->nbytes = left;
	if (left)
		memcpy(b->data, t->block->data + t->at, left);
	return b;
}

/* Fills the block with text that is decompressed, unless that ends. */
static enum status unpack_block(struct packed_part *packed, struct part_block *b, struct fault *fault)
{
	struct piece *p = &packed->piece;

	while (b->nbytes < b->capacity) {
		size_t room = b->capacity - b->nbytes, left = p->nbytes - packed->at, n = left < room ? left : room;
		if (n > 0)
			memcpy(b->data + b->nbytes, p->data + packed->at, n);
		b->nbytes += n;
		packed->at += n;
		if (n == left && piece_is_last(p))
			break;
		if (n == left) {
			decoder_fill(&packed->decoder, p);
			packed->at = 0;
		}
	}
	if (packed->at < p->nbytes || p->status == STATUS_OK)
		return STATUS_OK;
	*fault = p->fault;
	return p->status;
}

/* Moves what was read to recognise the file to the block. */
static void take_begin(struct part_text *t, struct part_block *b)
{
	size_t room = b->capacity - b->nbytes, n = t->nbegin < room ? t->nbegin : room;

	memcpy(b->data + b->nbytes, t->begin, n);
	b->nbytes += n;
	t->nbegin -= n;
	memmove(t->begin, t->begin + n, t->nbegin);
}

static ssize_t read_some(struct part_text *t, char *to, size_t nbytes)
{
	return t->name ? fd_read(t->fd, to, nbytes) : t->source.read(t->source.context, to, nbytes);
}

/* Fills the block, unless the text ends. Errors: STATUS_READ, a codec's. */
static enum status read_block(struct part_text *t, struct part_block *b, struct fault *fault)
{
	enum status status = STATUS_OK;
	ssize_t n = 0;

	take_begin(t, b);
	if (t->packed)
		status = unpack_block(t->packed, b, fault);
	while (!t->packed && b->nbytes < b->capacity &&
	       (n = read_some(t, b->data + b->nbytes, b->capacity - b->nbytes)) > 0)
		b->nbytes += (size_t)n;
	t->is_at_end = b->nbytes < b->capacity;
	return n < 0 ? fault_set(fault, STATUS_READ, errno, NULL) : status;
}

bool part_text_fill(struct part_text *t, enum status *status, struct fault *fault)
{
	struct part_block *b;

	if (t->is_at_end)
		return false;
	b = make_block(t);
	if (!b) {
		*status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	part_block_release(t->block);
	t->block = b;
	t->at = 0;
	*status = read_block(t, b, fault);
	if (*status == STATUS_OK)
		return b->nbytes > 0;
	fault->file = t->name;
	return false;
}
