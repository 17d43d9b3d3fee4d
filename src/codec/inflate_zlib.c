/* SPDX-License-Identifier: MIT
 *
 * inflate_zlib.c - raw deflate by zlib.
 */
#include "codec/inflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define RAW (-15) /* inflateInit2: largest window, no wrapper */

static void *zlib_open(void)
{
	z_stream *z = calloc(1, sizeof *z);

	if (z && inflateInit2(z, RAW) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static void zlib_close(void *state)
{
	inflateEnd(state);
	free(state);
}

static void zlib_reset(void *state)
{
	inflateReset(state);
}

static unsigned at_most(size_t nbytes)
{
	return nbytes < UINT_MAX ? (unsigned)nbytes : UINT_MAX;
}

static enum inflate_result zlib_run(void *state, struct inflate_span *span)
{
	z_stream *z = state;
	unsigned in_nbytes = at_most(span->in_nbytes), out_nbytes = at_most(span->out_nbytes);
	int result;

	z->next_in = (unsigned char *)span->in;
	z->avail_in = in_nbytes;
	z->next_out = span->out;
	z->avail_out = out_nbytes;
	result = inflate(z, Z_NO_FLUSH);
	span->in = z->next_in;
	span->in_nbytes -= in_nbytes - z->avail_in;
	span->out = z->next_out;
	span->out_nbytes -= out_nbytes - z->avail_out;
	span->words = z->msg;
	if (result == Z_STREAM_END)
		return INFLATE_ENDED;
	if (result == Z_MEM_ERROR)
		return INFLATE_NO_MEMORY;
	return result == Z_OK || result == Z_BUF_ERROR ? INFLATE_GOES_ON : INFLATE_DAMAGED;
}

static enum inflate_result zlib_whole(void *state, const unsigned char *in, size_t in_nbytes,
				      unsigned char *out, size_t out_nbytes)
{
	struct inflate_span span = {in, in_nbytes, out, out_nbytes, NULL};

	zlib_reset(state);
	enum inflate_result result = zlib_run(state, &span);
	if (result == INFLATE_NO_MEMORY)
		return result;
	return result == INFLATE_ENDED && span.in_nbytes == 0 && span.out_nbytes == 0
		       ? INFLATE_ENDED
		       : INFLATE_DAMAGED;
}

const struct inflate_ops inflate_zlib = {
	.name = "zlib",
	.open = zlib_open,
	.close = zlib_close,
	.reset = zlib_reset,
	.run = zlib_run,
	.whole = zlib_whole,
};

const char *inflate_zlib_version(void)
{
	return zlibVersion();
}
