/* SPDX-License-Identifier: MIT
 *
 * reader.c - see reader.h.
 */
#include "io/reader.h"

#include <errno.h>
#include <unistd.h>

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

enum status reader_read(const struct reader *reader, int fd, off_t position,
			const struct chunk *chunk, struct fault *fault)
{
	if (reader->read)
		return reader->read(reader->worker, fd, position, chunk, fault);
	return file_read_range(fd, position, chunk->data, chunk->nbytes, fault);
}
