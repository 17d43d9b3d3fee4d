/* SPDX-License-Identifier: MIT
 *
 * input_range.c - a range of a plain file instead of all of it: see input_cut_range in input.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "csv/record.h"
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
		return source_fail(s, fault, STATUS_NOT_PLAIN, 0);
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
	enum status status = STATUS_OK;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC); /* the file may be closed already */
	char block[BLOCK_NBYTES];
	size_t nbytes;

	if (fd < 0)
		return source_fail(s, fault, STATUS_OPEN, errno);
	range->nlines_before = 0;
	for (uint64_t at = 0; at < range->begin && status == STATUS_OK; at += nbytes) {
		status = read_block(fd, s->start, at, range->begin, block, &nbytes, fault);
		range->nlines_before += status == STATUS_OK ? count_lines(block, nbytes) : 0;
	}
	close(fd);
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}
