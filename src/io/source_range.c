/* SPDX-License-Identifier: MIT
 *
 * source_range.c - a plain file, handed out in ranges, which any thread reads. See source.h.
 */
#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/source.h"

static enum status name_fault(const struct source *s, enum status status, struct fault *fault)
{
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

void source_make_ranged(struct source *s)
{
	if (s->state != SOURCE_OPEN || s->packed || !s->is_plain)
		return;
	s->ranged = true;
	s->position = s->start + (off_t)s->nskipped; /* all that has been taken of it */
	s->size = s->size > s->position ? s->size : s->position;
	fd_note_read(-(ssize_t)(s->end - s->begin)); /* it is read again */
	s->begin = s->end = 0;
	if (s->fd == STDIN_FILENO)
		lseek(s->fd, s->size, SEEK_SET);
}

size_t source_cut_range(struct source *s, size_t capacity, off_t *position)
{
	off_t left = s->size - s->position;
	size_t nbytes = left < (off_t)capacity ? (size_t)left : capacity;

	*position = s->position;
	s->position += (off_t)nbytes;
	s->at_end = s->position == s->size;
	fd_note_read((ssize_t)nbytes);
	atomic_fetch_add(&s->nusers, 1);
	return nbytes;
}

enum status file_read_range(int fd, off_t position, char *data, size_t nbytes, struct fault *fault)
{
	while (nbytes > 0) {
		ssize_t n = pread(fd, data, nbytes, position);
		if (n == 0)
			return fault_set(fault, STATUS_SHRANK, 0, NULL);
		if (n < 0 && errno != EINTR)
			return fault_set(fault, STATUS_READ, errno, NULL);
		n = n > 0 ? n : 0;
		data += n;
		nbytes -= (size_t)n;
		position += n;
	}
	return STATUS_OK;
}

enum status source_read_range(struct source *s, off_t position, const struct chunk *chunk,
			      const struct reader *reader, struct fault *fault)
{
	enum status status =
		reader->read ? reader->read(reader->worker, s->fd, position, chunk, fault)
			     : file_read_range(s->fd, position, chunk->data, chunk->nbytes, fault);

	source_release(s);
	return name_fault(s, status, fault);
}
