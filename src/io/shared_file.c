/* SPDX-License-Identifier: MIT
 *
 * shared_file.c - see shared_file.h.
 */
#include "io/shared_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct ranged {
	int fd;
	atomic_uint nusers;
};

struct ranged *ranged_make(int fd)
{
	struct ranged *r = malloc(sizeof *r);

	if (!r)
		return NULL;
	r->fd = fd;
	atomic_init(&r->nusers, 1);
	return r;
}

void ranged_add_user(struct ranged *r)
{
	atomic_fetch_add(&r->nusers, 1);
}

void ranged_release(struct ranged *r)
{
	if (atomic_fetch_sub(&r->nusers, 1) > 1)
		return;
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	free(r);
}

static enum status read_whole(int fd, off_t position, struct room room, struct fault *fault)
{
	while (room.nbytes > 0) {
		ssize_t n = pread(fd, room.data, room.nbytes, position);
		if (n == 0)
			return fault_set(fault, STATUS_SHRANK, 0, NULL);
		if (n < 0 && errno != EINTR)
			return fault_set(fault, STATUS_READ, errno, NULL);
		n = n > 0 ? n : 0;
		room.data += n;
		room.nbytes -= (size_t)n;
		position += n;
	}
	return STATUS_OK;
}

enum status ranged_read(const struct ranged *r, off_t position, const struct chunk *chunk,
			const struct reader *reader, struct fault *fault)
{
	struct room room = {chunk->data, chunk->nbytes};
	enum status status = STATUS_OK;
	size_t done = 0;

	if (!reader->next)
		return read_whole(r->fd, position, room, fault);
	while (done < chunk->nbytes && status == STATUS_OK) {
		room = reader->next(reader->worker, chunk, done);
		status = read_whole(r->fd, position + (off_t)done, room, fault);
		done += room.nbytes;
	}
	if (status == STATUS_OK)
		reader->next(reader->worker, chunk, done);
	return status;
}
