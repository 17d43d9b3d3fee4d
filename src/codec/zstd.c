/* SPDX-License-Identifier: MIT
 *
 * zstd.c - a stream of zstd frames (RFC 8878). libzstd decodes and checks a frame; what stands
 * between frames and at the end is checked here. Many frames are decoded ahead (zstd_frames.c).
 */
#include "codec/codec.h"

#ifdef HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/zstd_frames.h"

struct zstd {
	ZSTD_DStream *stream;
	bool inside_frame; /* from its first byte until its checksum has been verified */
	struct part_stream ahead;
	struct zstd_walk walk; /* of ahead */
};

static const char *version(void)
{
	return ZSTD_VERSION_STRING;
}

static enum status zstd_open(void **state, int nthreads, struct fault *fault)
{
	struct zstd *z = calloc(1, sizeof *z);

	if (z)
		z->stream = ZSTD_createDStream();
	if (!z || !z->stream) {
		free(z);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	z->ahead = (struct part_stream){.ops = &zstd_ahead, .walk = &z->walk, .nthreads = nthreads};
	*state = z;
	return STATUS_OK;
}

static void zstd_close(void *state)
{
	struct zstd *z = state;

	part_stream_close(&z->ahead);
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

/* Decodes some, in order. */
static enum status decode(struct zstd *z, struct feed *feed, struct piece *piece,
			  enum decode_step *step)
{
	ZSTD_outBuffer out = {.dst = piece->data, .size = PIECE_NBYTES, .pos = piece->nbytes};
	ZSTD_inBuffer in = {0};
	size_t result;
	bool is_stuck;

	in.src = part_stream_data(&z->ahead, feed, &in.size);
	/* Without input it may still hold output. */
	if (in.size == 0 && !z->inside_frame)
		return starve(z, feed, step, &piece->fault);
	result = ZSTD_decompressStream(z->stream, &out, &in);
	is_stuck = in.pos == 0 && out.pos == piece->nbytes;
	part_stream_use(&z->ahead, feed, in.pos, out.pos - piece->nbytes);
	piece->nbytes = out.pos;
	if (ZSTD_isError(result))
		return refused(z, result, &piece->fault);
	z->inside_frame = result != 0;
	return is_stuck && z->inside_frame ? starve(z, feed, step, &piece->fault) : STATUS_OK;
}

static enum status zstd_step(void *state, struct feed *feed, struct piece *piece,
			     enum decode_step *step)
{
	struct zstd *z = state;
	enum status status = STATUS_OK;

	*step = DECODE_GOES_ON;
	while (status == STATUS_OK && *step == DECODE_GOES_ON && piece->nbytes < PIECE_NBYTES)
		if (z->inside_frame || !part_stream_begins(&z->ahead, feed) ||
		    !part_stream_step(&z->ahead, feed, piece, step))
			status = decode(z, feed, piece, step);
	return status;
}

#else

static const char *version(void)
{
	return NULL;
}

static enum status zstd_open(void **state, int nthreads, struct fault *fault)
{
	(void)state;
	(void)nthreads;
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
