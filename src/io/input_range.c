/* SPDX-License-Identifier: MIT
 *
 * input_range.c - a range of a plain or a BGZF file instead of all of it: see input_cut_range in input.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "codec/bgzf.h"
#include "codec/codec.h"
#include "csv/record.h"
#include "io/file_text.h"
#include "io/input_state.h"

#define BLOCK_NBYTES 65536

/* Reads up to a block from an offset on. start: of the text in the file. */
static enum status read_block(int fd, off_t start, uint64_t offset, uint64_t end, char *block, size_t *nbytes,
			      struct fault *fault)
{
	*nbytes = end - offset < BLOCK_NBYTES ? (size_t)(end - offset) : BLOCK_NBYTES;
	return file_read_range(fd, start + (off_t)offset, block, *nbytes, fault);
}

enum status file_find_border(int fd, off_t start, uint64_t offset, uint64_t size, char escape, uint64_t *border,
			     struct fault *fault)
{
	char block[BLOCK_NBYTES], before = '\0';
	enum status status = STATUS_OK;
	size_t nbytes;

	for (*border = size; offset < size; offset += nbytes) {
		status = read_block(fd, start, offset, size, block, &nbytes, fault);
		if (status != STATUS_OK)
			return status;
		for (const char *at = block; (at = memchr(at, '\n', nbytes - (size_t)(at - block))); at++)
			if (!escape || (at > block ? at[-1] : before) != escape) {
				*border = offset + (uint64_t)(at - block) + 1;
				return status;
			}
		before = block[nbytes - 1];
	}
	return status;
}

/* The k-th of n borders in the records, which begin at first; 0 and n are their ends. */
static enum status cut(const struct source *s, uint64_t first, uint64_t size, uint64_t k, uint64_t n, char escape,
		       uint64_t *border, struct fault *fault)
{
	*border = k == 0 ? first : size;
	if (k == 0 || k == n)
		return STATUS_OK;
	first += (uint64_t)((uint128)(size - first) * k / n);
	if (file_find_border(s->fd, s->start, first, size, escape, border, fault) == STATUS_OK)
		return STATUS_OK;
	fault->file = source_name(s);
	return fault->status;
}

/* ---- BGZF ---- */

/* The size as a place, if the file's blocks follow each other up to its end; 0: not. */
static uint64_t find_end(const struct source *s)
{
	uint64_t last;

	if (!s->packed || !s->is_plain || s->fd == STDIN_FILENO || s->state != SOURCE_OPEN || s->codec != &codec_gzip)
		return 0;
	return bgzf_walk_blocks(s->fd, 0, (uint64_t)s->size, &last) && last == (uint64_t)s->size ? BGZF_PLACE(last, 0) : 0;
}

/* The k-th of n borders in the records, which begin at the place first: in a block that begins at about k/n. */
static uint64_t cut_blocks(const struct source *s, uint64_t first, uint64_t size, uint64_t k, uint64_t n, char escape)
{
	uint64_t block = (uint64_t)BGZF_PLACE_BLOCK(first), place;
	struct file_text text;
	bool is_found;

	if (k == 0 || k == n)
		return k == 0 ? first : size;
	block += (uint64_t)((uint128)((uint64_t)s->size - block) * k / n);
	if (!bgzf_walk_blocks(s->fd, 0, block, &block))
		return size;
	place = BGZF_PLACE(block, 0) > first ? BGZF_PLACE(block, 0) : first;
	is_found = file_text_open(&text, s->path, true, place, UINT64_MAX) == STATUS_OK &&
		   file_text_find_line(&text, escape, &place);
	file_text_close(&text);
	return is_found ? place : size;
}

static enum status cut_range_of_blocks(struct input *in, uint64_t k, uint64_t n, char escape, struct input_range *out,
				       struct fault *fault)
{
	struct source *s = &in->sources[0];
	uint64_t size = find_end(s), first;

	if (size == 0)
		return source_fail(s, fault, STATUS_NOT_PLAIN, 0);
	if (!bgzf_find_text(s->fd, s->nskipped, &first))
		return source_fail(s, fault, STATUS_READ, errno);
	*out = (struct input_range){.has_blocks = true, .size = size};
	out->begin = cut_blocks(s, first, size, k - 1, n, escape);
	out->end = cut_blocks(s, first, size, k, n, escape);
	in->range = *out;
	in->has_range = true;
	return STATUS_OK;
}

/* ---- any ---- */

enum status input_cut_range(struct input *in, uint64_t k, uint64_t n, char escape, struct input_range *out,
			    struct fault *fault)
{
	struct source *s = &in->sources[0];
	off_t now = s->packed || !s->is_plain || s->state != SOURCE_OPEN ? -1 : lseek(s->fd, 0, SEEK_CUR);
	uint64_t first;
	enum status status;

	if (!s->packed && s->at_end && s->begin == s->end) { /* it has no records */
		*out = (struct input_range){.begin = s->nskipped, .end = s->nskipped, .size = s->nskipped};
		return STATUS_OK;
	}
	if (now < 0)
		return cut_range_of_blocks(in, k, n, escape, out, fault);
	first = (uint64_t)(now - s->start) - (s->end - s->begin);
	*out = (struct input_range){.size = (uint64_t)(s->size - s->start)};
	out->size = out->size > first ? out->size : first;
	status = cut(s, first, out->size, k - 1, n, escape, &out->begin, fault);
	if (status == STATUS_OK)
		status = cut(s, first, out->size, k, n, escape, &out->end, fault);
	in->range = *out;
	in->has_range = status == STATUS_OK;
	return status;
}

void input_begin_quoted(struct input *in)
{
	in->range.is_quoted = true;
}

enum status input_count_before(const struct input *in, struct input_range *range, struct fault *fault)
{
	const struct source *s = &in->sources[range->file];
	uint64_t start = range->has_blocks ? 0 : (uint64_t)s->start;
	struct file_text text; /* the file may be closed already */
	enum status status = file_text_open(&text, s->path, range->has_blocks, start, start + range->begin);

	range->nlines_before = 0;
	while (status == STATUS_OK && file_text_next(&text, &status))
		range->nlines_before += count_lines(text.data, text.nbytes);
	file_text_close(&text);
	return status == STATUS_OK ? status : source_fail(s, fault, status, 0);
}
