/* SPDX-License-Identifier: MIT
 *
 * gzip.c - gzip through zlib. zlib checks each member's CRC and length; here stands
 * what lies between members and at the end.
 */
#include "gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define INPUT_NBYTES (256 * 1024)
#define GZIP_ONLY (15 + 16) /* inflateInit2: largest window, gzip wrapper */

struct gzip {
	int fd;
	z_stream stream;
	bool inside_member; /* its header has begun, its trailer has not been checked */
	bool at_end;        /* fd has no more */
	unsigned char input[INPUT_NBYTES];
};

bool gzip_is_magic(const unsigned char *data, size_t nbytes)
{
	return nbytes >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

enum status gzip_open(struct gzip **out, int fd, const unsigned char *prefix, size_t prefix_nbytes)
{
	struct gzip *g = calloc(1, sizeof *g);

	if (!g || inflateInit2(&g->stream, GZIP_ONLY) != Z_OK) {
		free(g);
		return STATUS_NO_MEMORY;
	}
	g->fd = fd;
	memcpy(g->input, prefix, prefix_nbytes);
	g->stream.next_in = g->input;
	g->stream.avail_in = (unsigned)prefix_nbytes;
	*out = g;
	return STATUS_OK;
}

void gzip_close(struct gzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->stream);
	free(g);
}

/* Reads more compressed bytes behind those not yet used. */
static enum status refill(struct gzip *g, struct fault *fault)
{
	size_t kept = g->stream.avail_in;
	ssize_t n;

	memmove(g->input, g->stream.next_in, kept);
	g->stream.next_in = g->input;
	do
		n = read(g->fd, g->input + kept, sizeof g->input - kept);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	g->stream.avail_in += (unsigned)n;
	g->at_end = n == 0;
	return STATUS_OK;
}

/* Between members: begins the next one if there is one. */
static enum status next_member(struct gzip *g, struct fault *fault)
{
	while (g->stream.avail_in < 2 && !g->at_end) {
		enum status status = refill(g, fault);
		if (status != STATUS_OK)
			return status;
	}
	if (g->stream.avail_in == 0)
		return STATUS_OK;
	if (!gzip_is_magic(g->stream.next_in, g->stream.avail_in))
		return fault_set(fault, STATUS_GZIP_TRAILING, 0, NULL);
	inflateReset(&g->stream);
	g->inside_member = true;
	return STATUS_OK;
}

/* One step inside a member. Input is waited for only when zlib can do nothing without. */
static enum status inflate_some(struct gzip *g, struct fault *fault)
{
	enum status status;

	switch (inflate(&g->stream, Z_NO_FLUSH)) {
	case Z_OK:
		return STATUS_OK;
	case Z_STREAM_END:
		g->inside_member = false;
		return STATUS_OK;
	case Z_BUF_ERROR:
		status = refill(g, fault);
		if (status == STATUS_OK && g->at_end)
			return fault_set(fault, STATUS_GZIP_TRUNCATED, 0, NULL);
		return status;
	case Z_MEM_ERROR:
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	default:
		return fault_set(fault, STATUS_GZIP_DATA, 0, g->stream.msg);
	}
}

enum status gzip_read(struct gzip *g, char *to, size_t capacity, size_t *nbytes,
		      struct fault *fault)
{
	enum status status = STATUS_OK;

	if (capacity > INT_MAX)
		capacity = INT_MAX;
	g->stream.next_out = (unsigned char *)to;
	g->stream.avail_out = (unsigned)capacity;
	while (status == STATUS_OK && g->stream.avail_out == capacity) {
		if (!g->inside_member)
			status = next_member(g, fault);
		if (status != STATUS_OK || !g->inside_member)
			break;
		status = inflate_some(g, fault);
	}
	*nbytes = capacity - g->stream.avail_out;
	return status;
}
