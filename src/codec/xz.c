/* SPDX-License-Identifier: MIT
 *
 * xz.c - a file of xz streams with padding between them (the .xz file format, 1.1). liblzma decodes
 * and checks a stream, by several threads if its blocks say how long they are, as those of xz -T do.
 * What stands behind a stream is checked here.
 */
#include "codec/codec.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"

#define MIB ((uint64_t)1 << 20)
#define MEMORY_NBYTES (512 * MIB)       /* at most; xz -9 takes 65 MiB in order */
#define THREAD_MEMORY_NBYTES (64 * MIB) /* of each thread; a block of xz -6 -T takes some 40 MiB */
#define NTHREADS_MOST 16

#define MAGIC "\xfd" "7zXZ"
#define MAGIC_NBYTES 6
#define FLAGS LZMA_TELL_UNSUPPORTED_CHECK

struct xz {
	lzma_stream stream;
	int nthreads;       /* as asked for; then as many as there are */
	bool inside_stream; /* it is initialised */
	bool has_stream;    /* one has ended */
};

static const char *version(void)
{
	return LZMA_VERSION_STRING;
}

static enum status xz_open(void **state, int nthreads, struct fault *fault)
{
	struct xz *x = calloc(1, sizeof *x);

	if (!x)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	x->nthreads = nthreads ? nthreads : cores_count();
	if (x->nthreads > NTHREADS_MOST)
		x->nthreads = NTHREADS_MOST;
	*state = x;
	return STATUS_OK;
}

static void xz_close(void *state)
{
	struct xz *x = state;

	lzma_end(&x->stream);
	free(x);
}

static lzma_ret init_decoder(struct xz *x)
{
#if LZMA_VERSION >= UINT32_C(50040002) /* the first with lzma_stream_decoder_mt */
	const lzma_mt how = {.flags = FLAGS, .threads = (uint32_t)x->nthreads,
			     .memlimit_threading = (uint64_t)x->nthreads * THREAD_MEMORY_NBYTES,
			     .memlimit_stop = MEMORY_NBYTES};

	return lzma_stream_decoder_mt(&x->stream, &how);
#else
	return lzma_stream_decoder(&x->stream, MEMORY_NBYTES, FLAGS);
#endif
}

/* ---- between streams ---- */

/* Uses the padding, zero bytes in fours. False: there may be more, or it ends too soon. */
static bool pass_padding(struct feed *feed, bool *odd)
{
	size_t have;
	const unsigned char *data;

	while ((data = feed_data(feed, &have)), have >= 4 && memcmp(data, "\0\0\0", 4) == 0)
		feed_use(feed, 4);
	*odd = have > 0 && have < 4 && *data == '\0';
	return !*odd && have > 0;
}

/* Begins the next stream, or finds the end. */
static enum status begin_stream(struct xz *x, struct feed *feed, enum decode_step *step,
				struct fault *fault)
{
	size_t have;
	bool odd;

	if (!pass_padding(feed, &odd)) {
		*step = feed->at_end ? DECODE_ENDED : DECODE_STARVES;
		return feed->at_end && odd ? codec_fault(fault, STATUS_DAMAGED, &codec_xz,
							 "padding that is no multiple of 4 bytes")
					   : STATUS_OK;
	}
	const unsigned char *data = feed_data(feed, &have);
	if (codec_match_magic(data, have, MAGIC, MAGIC_NBYTES) == CODEC_OTHER)
		return codec_fault(fault, STATUS_TRAILING, &codec_xz, NULL);
	if (init_decoder(x) != LZMA_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	x->inside_stream = true;
	return STATUS_OK;
}

/* ---- streams ---- */

static enum status refused(const struct xz *x, lzma_ret result, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	uint64_t wanted = lzma_memusage(&x->stream) / MIB + 1;

	switch (result) {
	case LZMA_MEM_ERROR:
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	case LZMA_MEMLIMIT_ERROR:
		snprintf(words, sizeof words,
			 "xz data that takes %llu MiB of memory, more than %llu MiB: try xzcat FILE | gpustat ...",
			 (unsigned long long)wanted, (unsigned long long)(MEMORY_NBYTES / MIB));
		return fault_set(fault, STATUS_OPEN, 0, words);
	case LZMA_OPTIONS_ERROR:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, "unknown filter or flag");
	case LZMA_UNSUPPORTED_CHECK:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, "unknown kind of check");
	default:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, NULL);
	}
}

static enum status decode(struct xz *x, struct feed *feed, struct piece *piece,
			  enum decode_step *step)
{
	size_t have, room = CODEC_PIECE_NBYTES - piece->nbytes;
	lzma_ret result;

	x->stream.next_in = feed_data(feed, &have);
	/* Threads may hold text: it is asked for only where reading on would wait. */
	if (have == 0 && !feed->at_end && feed_is_ready(feed)) {
		*step = DECODE_STARVES;
		return STATUS_OK;
	}
	x->stream.avail_in = have;
	x->stream.next_out = piece->data + piece->nbytes;
	x->stream.avail_out = room;
	result = lzma_code(&x->stream, LZMA_RUN);
	feed_use(feed, have - x->stream.avail_in);
	piece->nbytes += room - x->stream.avail_out;
	if (result == LZMA_BUF_ERROR) /* twice without progress */
		return codec_starve(&codec_xz, feed, true, step, &piece->fault);
	x->has_stream = x->has_stream || result == LZMA_STREAM_END;
	x->inside_stream = result != LZMA_STREAM_END;
	return result == LZMA_OK || result == LZMA_STREAM_END ? STATUS_OK
							      : refused(x, result, &piece->fault);
}

static enum status xz_step(void *state, struct feed *feed, struct piece *piece,
			   enum decode_step *step)
{
	struct xz *x = state;

	return x->inside_stream ? decode(x, feed, piece, step) : begin_stream(x, feed, step, &piece->fault);
}

static enum codec_match xz_begins(const unsigned char *data, size_t nbytes)
{
	return codec_match_magic(data, nbytes, MAGIC, MAGIC_NBYTES);
}

#else

static const char *version(void)
{
	return NULL;
}

/* foreign.c then says what it is and what to do. */
static enum codec_match xz_begins(const unsigned char *data, size_t nbytes)
{
	(void)data;
	(void)nbytes;
	return CODEC_OTHER;
}

#endif

const struct codec codec_xz = {
	.name = "xz",
	.library = "liblzma",
	.version = version,
	.begins = xz_begins,
#ifdef HAVE_LZMA
	.open = xz_open,
	.close = xz_close,
	.step = xz_step,
#endif
};
