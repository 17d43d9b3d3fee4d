/* SPDX-License-Identifier: MIT
 *
 * fd.c - see fd.h.
 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define PIPE_NBYTES (1024 * 1024)

_Atomic uint64_t fd_nbytes_read;

void fd_note_read(ssize_t nbytes)
{
	atomic_fetch_add_explicit(&fd_nbytes_read, (uint64_t)nbytes, memory_order_relaxed);
}

bool fd_open_standard(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
	bool has_output = true;

	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		has_output = has_output && fd != 1;
		open("/dev/null", modes[fd]); /* the lowest free one: fd */
	}
	return has_output;
}

bool fd_may_retry(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	if (errno == EAGAIN || errno == EWOULDBLOCK)
		poll(&p, 1, -1); /* a failure shows at the next try */
	else if (errno != EINTR)
		return false;
	return true;
}

ssize_t fd_read(int fd, void *to, size_t nbytes)
{
	ssize_t n;

	do
		n = read(fd, to, nbytes);
	while (n < 0 && fd_may_retry(fd, POLLIN));
	return n;
}

ssize_t fd_read_at(int fd, void *to, size_t nbytes, off_t position)
{
	size_t have = 0;
	ssize_t n = 1;

	for (; have < nbytes && n != 0; have += n > 0 ? (size_t)n : 0) {
		n = pread(fd, (char *)to + have, nbytes - have, position + (off_t)have);
		if (n < 0 && errno != EINTR)
			return -1;
	}
	return (ssize_t)have;
}

bool fd_write(int fd, const void *from, size_t nbytes)
{
	const char *data = from;

	while (nbytes) {
		ssize_t n = write(fd, data, nbytes);
		if (n < 0 && !fd_may_retry(fd, POLLOUT))
			return false;
		data += n < 0 ? 0 : n;
		nbytes -= n < 0 ? 0 : (size_t)n;
	}
	return true;
}

void fd_widen_pipe(int fd)
{
	fcntl(fd, F_SETPIPE_SZ, PIPE_NBYTES);
}
