/* SPDX-License-Identifier: MIT
 *
 * zstd.c - a stream of zstd frames (RFC 8878). libzstd decodes and checks a frame; what stands
 * between frames and at the end is checked here.
 */
#include "codec/codec.h"

#ifdef HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct zstd {
	ZSTD_DStream *stream;
	bool inside_frame; /* from its first byte until its checksum has been verified */
};

static const char *version(void)
{
	return ZSTD_VERSION_STRING;
}

static enum status zstd_open(void **state, struct fault *fault)
{
	struct zstd *z = calloc(1, sizeof *z);

	if (z)
		z->stream = ZSTD_createDStream();
	if (!z || !z->stream) {
		free(z);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	*state = z;
	return STATUS_OK;
}

static void zstd_close(void *state)
{
	struct zstd *z = state;

	ZSTD_freeDStream(z->stream);
	free(z);
}

static enum status refused(const struct zstd *z, size_t result, struct fault *fault)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

	if (code == ZSTD_error_memory_allocation)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (!z->inside_frame && code == ZSTD_error_prefix_unknown)
		return codec_fault(fault, STATUS_TRAILING, &codec_zstd, NULL);
	return codec_fault(fault, STATUS_DAMAGED, &codec_zstd, ZSTD_getErrorName(result));
}

/* The feed is empty, and all text that it determines is out. */
static enum status starve(const struct zstd *z, const struct feed *feed, enum decode_step *step,
			  struct fault *fault)
{
	*step = feed->at_end ? DECODE_ENDED : DECODE_STARVES;
	return feed->at_end && z->inside_frame
		       ? codec_fault(fault, STATUS_TRUNCATED, &codec_zstd, NULL)
		       : STATUS_OK;
}

static enum status zstd_step(void *state, struct feed *feed, struct piece *piece,
			     enum decode_step *step)
{
	struct zstd *z = state;
	ZSTD_outBuffer out = {.dst = piece->data, .size = PIECE_NBYTES, .pos = piece->nbytes};

	*step = DECODE_GOES_ON;
	while (out.pos < out.size) {
		ZSTD_inBuffer in = {0};
		size_t result;
		in.src = feed_data(feed, &in.size);
		/* Without input it may still hold output. */
		if (in.size == 0 && !z->inside_frame)
			return starve(z, feed, step, &piece->fault);
		result = ZSTD_decompressStream(z->stream, &out, &in);
		bool is_stuck = in.pos == 0 && out.pos == piece->nbytes;
		piece->nbytes = out.pos;
		if (ZSTD_isError(result))
			return refused(z, result, &piece->fault);
		feed_use(feed, in.pos);
		z->inside_frame = result != 0;
		if (is_stuck && z->inside_frame)
			return starve(z, feed, step, &piece->fault);
	}
	return STATUS_OK;
}

#else

static const char *version(void)
{
	return NULL;
}

static enum status zstd_open(void **state, struct fault *fault)
{
	(void)state;
	return fault_set(fault, STATUS_OPEN, 0, "zstd data, and this build has no zstd");
}

#endif

/* A frame's magic number, or one of the 16 of skippable frames (RFC 8878, 3.1.1 and 3.1.2). */
static enum codec_match zstd_begins(const unsigned char *data, size_t nbytes)
{
	if (nbytes && (data[0] & 0xf0) == 0x50)
		return codec_match_magic(data + 1, nbytes - 1, "\x2a\x4d\x18", 3);
	return codec_match_magic(data, nbytes, "\x28\xb5\x2f\xfd", 4);
}

static const struct codec_library libraries[] = {{"zstd", version}, {NULL, NULL}};

const struct codec codec_zstd = {
	.name = "zstd",
	.libraries = libraries,
	.begins = zstd_begins,
	.open = zstd_open,
#ifdef HAVE_ZSTD
	.close = zstd_close,
	.step = zstd_step,
#endif
};
