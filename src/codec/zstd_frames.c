/* SPDX-License-Identifier: MIT
 *
 * zstd_frames.c - zstd through libzstd, which checks each frame; here stands what lies between
 * frames and at the end.
 */
#include "codec/zstd_frames.h"

#ifdef HAVE_ZSTD
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct unzstd {
	ZSTD_DStream *stream;
	bool inside_frame; /* it has begun, its checksum has not been checked */
};

const char *unzstd_version(void)
{
	return ZSTD_VERSION_STRING;
}

enum status unzstd_open(struct unzstd **out, struct fault *fault)
{
	struct unzstd *z = calloc(1, sizeof *z);

	if (z)
		z->stream = ZSTD_createDStream();
	if (!z || !z->stream) {
		free(z);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	*out = z;
	return STATUS_OK;
}

void unzstd_close(struct unzstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

static enum status refused(const struct unzstd *z, size_t result, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (!z->inside_frame && ZSTD_getErrorCode(result) == ZSTD_error_prefix_unknown)
		return fault_set(fault, STATUS_READ, 0, "trailing garbage after zstd data");
	snprintf(words, sizeof words, "corrupt zstd data: %s", ZSTD_getErrorName(result));
	return fault_set(fault, STATUS_READ, 0, words);
}

/* The feed is empty. */
static enum status starve(const struct unzstd *z, const struct feed *feed, enum step *step,
			  struct fault *fault)
{
	*step = feed->at_end ? STEP_ENDED : STEP_STARVES;
	if (feed->at_end && z->inside_frame)
		return fault_set(fault, STATUS_READ, 0, "truncated zstd data");
	return STATUS_OK;
}

enum status unzstd_step(struct unzstd *z, struct feed *feed, unsigned char *to, size_t capacity,
			size_t *nbytes, enum step *step, struct fault *fault)
{
	ZSTD_outBuffer out = {.dst = to, .size = capacity};

	*nbytes = 0;
	*step = STEP_GOES_ON;
	while (out.pos < out.size) {
		ZSTD_inBuffer in = {0};
		size_t result, had = out.pos;
		in.src = feed_data(feed, &in.size);
		/* Without input it may still hold output. */
		if (in.size == 0 && !z->inside_frame)
			return starve(z, feed, step, fault);
		result = ZSTD_decompressStream(z->stream, &out, &in);
		*nbytes = out.pos;
		if (ZSTD_isError(result))
			return refused(z, result, fault);
		feed_use(feed, in.pos);
		z->inside_frame = result != 0;
		if (in.pos == 0 && out.pos == had && z->inside_frame)
			return starve(z, feed, step, fault);
	}
	return STATUS_OK;
}

#else

const char *unzstd_version(void)
{
	return NULL;
}

enum status unzstd_open(struct unzstd **out, struct fault *fault)
{
	*out = NULL;
	return fault_set(fault, STATUS_OPEN, 0, "zstd data, and this build has no zstd");
}

void unzstd_close(struct unzstd *z)
{
	(void)z;
}

enum status unzstd_step(struct unzstd *z, struct feed *feed, unsigned char *to, size_t capacity,
			size_t *nbytes, enum step *step, struct fault *fault)
{
	(void)z;
	(void)feed;
	(void)to;
	(void)capacity;
	*nbytes = 0;
	*step = STEP_ENDED;
	return fault_set(fault, STATUS_OPEN, 0, NULL);
}

#endif
