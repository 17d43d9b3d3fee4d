/* SPDX-License-Identifier: MIT
 *
 * bgzf_text.c - see bgzf_text.h.
 */
#include "codec/bgzf_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/gzip.h"

#define PACKED_NBYTES (4 * BGZF_BLOCK_NBYTES)
#define PROOF_NBLOCKS 3 /* that are decoded before a block is believed to begin */

bool bgzf_begins(const unsigned char *data, size_t nbytes)
{
	struct gzip_header header;
	const char *words;

	return gzip_parse_header(&header, data, nbytes, &words) == GZIP_PARSED &&
	       header.block_nbytes > header.nbytes + GZIP_TRAILER_NBYTES;
}

/* ---- reading ---- */

enum status bgzf_text_open(struct bgzf_text *t, int fd, uint64_t place, struct fault *fault)
{
	*t = (struct bgzf_text){.fd = fd, .position = BGZF_PLACE_BLOCK(place), .nskipped = BGZF_PLACE_OFFSET(place)};
	t->state = bgzf_blocks.open();
	t->packed = malloc(PACKED_NBYTES + FEED_PAD_NBYTES);
	t->text = malloc(BGZF_BLOCK_NBYTES);
	return t->state && t->packed && t->text ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

void bgzf_text_close(struct bgzf_text *t)
{
	if (t->state)
		bgzf_blocks.close(t->state);
	free(t->packed);
	free(t->text);
	memset(t, 0, sizeof *t);
}

/* Reads on until a whole block must be there, unless the file ends. */
static enum status fill(struct bgzf_text *t, struct fault *fault)
{
	size_t have = t->end - t->begin;

	if (have >= BGZF_BLOCK_NBYTES)
		return STATUS_OK;
	memmove(t->packed, t->packed + t->begin, have);
	t->begin = 0;
	t->end = have;
	while (t->end < PACKED_NBYTES) {
		ssize_t n = pread(t->fd, t->packed + t->end, PACKED_NBYTES - t->end, t->position + (off_t)t->end);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return fault_set(fault, STATUS_READ, errno, NULL);
		t->end += n > 0 ? (size_t)n : 0;
	}
	return STATUS_OK;
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
	enum status status = fill(t, fault);
	struct block_batch batch;
	struct bgzf_block block;
	size_t nbytes;

	*is_there = false;
	if (status != STATUS_OK || t->begin == t->end)
		return status;
	nbytes = bgzf_parse(t->packed + t->begin, t->end - t->begin, &block);
	if (nbytes == 0 || block.text_nbytes > BGZF_BLOCK_NBYTES || t->nskipped > block.text_nbytes)
		return STATUS_OK;
	batch = (struct block_batch){.data = t->packed + t->begin, .nbytes = nbytes, .text_nbytes = block.text_nbytes,
				     .fd = -1};
	status = bgzf_blocks.decode(t->state, &batch, t->text, fault);
	if (status != STATUS_OK)
		return status;
	show(t, batch.text_nbytes);
	t->begin += nbytes;
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
	size_t most = 2 * BGZF_BLOCK_NBYTES, nbytes = 0; /* a block, and the header of the next one */
	unsigned char *data = malloc(most);
	ssize_t n = 1;
	bool is_found;

	while (data && nbytes < most && n != 0) {
		n = pread(fd, data + nbytes, most - nbytes, (off_t)(offset + nbytes));
		if (n < 0 && errno != EINTR)
			break;
		nbytes += n > 0 ? (size_t)n : 0;
	}
	is_found = data && seek_in(fd, data, nbytes, offset, size, block);
	free(data);
	return is_found;
}

bool bgzf_walk_blocks(int fd, uint64_t from, uint64_t end, uint64_t *block)
{
	struct block_batch batch = {.room_nbytes = SIZE_MAX, .text_room_nbytes = SIZE_MAX, .fd = fd};
	off_t position = (off_t)from;
	bool is_readable = bgzf_blocks.walk(fd, &position, (off_t)end, &batch);

	*block = (uint64_t)position;
	return is_readable;
}

bool bgzf_find_text(int fd, uint64_t offset, uint64_t *place)
{
	struct block_batch batch = {.room_nbytes = SIZE_MAX, .text_room_nbytes = offset, .fd = fd};
	off_t position = 0;
	bool is_readable = bgzf_blocks.walk(fd, &position, INT64_MAX, &batch);

	*place = BGZF_PLACE(position, 0) + (offset - batch.text_nbytes);
	return is_readable && offset - batch.text_nbytes < BGZF_BLOCK_NBYTES;
}
