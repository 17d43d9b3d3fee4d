/* SPDX-License-Identifier: MIT
 *
 * inflate_libdeflate.c - raw deflate by libdeflate, which decodes whole blocks only.
 */
#include "codec/inflate.h"

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>

static void *libdeflate_open(void)
{
	return libdeflate_alloc_decompressor();
}

static void libdeflate_close(void *state)
{
	libdeflate_free_decompressor(state);
}

static enum inflate_result libdeflate_whole(void *state, const unsigned char *in, size_t in_nbytes,
					    unsigned char *out, size_t out_nbytes)
{
	size_t used, made;

	return libdeflate_deflate_decompress_ex(state, in, in_nbytes, out, out_nbytes, &used,
						&made) == LIBDEFLATE_SUCCESS &&
			       used == in_nbytes && made == out_nbytes
		       ? INFLATE_ENDED
		       : INFLATE_DAMAGED;
}

const struct inflate_ops *inflate_libdeflate(void)
{
	static const struct inflate_ops ops = {
		.name = "libdeflate",
		.open = libdeflate_open,
		.close = libdeflate_close,
		.whole = libdeflate_whole,
	};

	return &ops;
}

const char *inflate_libdeflate_version(void)
{
	return LIBDEFLATE_VERSION_STRING;
}

#else

const struct inflate_ops *inflate_libdeflate(void)
{
	return NULL;
}

const char *inflate_libdeflate_version(void)
{
	return NULL;
}

#endif
