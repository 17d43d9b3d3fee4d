/* SPDX-License-Identifier: MIT
 *
 * zstd.c - a stream of zstd frames (RFC 8878). libzstd decodes and checks a frame; what stands
 * between frames and at the end is checked here. Many frames are decoded ahead.
 */
#include "codec/codec.h"

#ifdef HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/part_stream.h"

/* ---- frames decoded ahead ---- */

/* A frame's length is found by walking from block header to block header (RFC 8878, 3.1.1). pzstd, the seekable format and
 * appended logs have many frames. */

#define PART_NBYTES ((size_t)512 << 10)       /* of text: less takes a thread's start longer */
#define FRAME_MOST_NBYTES ((size_t)32 << 20)  /* of text: pzstd -19 writes frames of so much */
#define BLOCK_MOST_NBYTES ((size_t)128 << 10) /* of text */
#define SKIPPED_MOST_NBYTES ((size_t)1 << 20)
#define WINDOW_LOG_MOST 26 /* within what a stream's decoder allows */

/* Where a walk over the frames of a part is. All 0: at the part's beginning. */
struct zstd_walk {
	size_t at_bytes;   /* where the next header begins: a frame's, or a block's */
	bool inside_frame; /* the latter */
	bool has_checksum; /* the frame */
	bool has_nbytes;   /* ... its text's length in its header */
};

static uint32_t little_endian(const unsigned char *data, int nbytes)
{
	uint32_t value = 0;

	for (int i = nbytes - 1; i >= 0; i--)
		value = value << 8 | data[i];
	return value;
}

static bool is_skippable(const unsigned char *frame)
{
	return (little_endian(frame, 4) & 0xfffffff0) == 0x184d2a50;
}

/* The length of a frame's header, whose first five bytes are there. */
static size_t header_nbytes(const unsigned char *frame)
{
	static const unsigned char id_nbytes[] = {0, 1, 2, 4}, length_nbytes[] = {0, 2, 4, 8};
	unsigned descriptor = frame[4];
	bool has_window = !(descriptor & 0x20);
	size_t length = length_nbytes[descriptor >> 6];

	if (length == 0 && !has_window)
		length = 1;
	return 5 + has_window + id_nbytes[descriptor & 3] + length;
}

/* How many bytes the part needs to hold the rest of a block, or else the next header. */
static size_t wanted_nbytes(const struct zstd_walk *w, const struct part *p)
{
	const unsigned char *header;

	if (p->nbytes < w->at_bytes)
		return w->at_bytes;
	if (w->inside_frame)
		return w->at_bytes + 3;
	if (p->nbytes < w->at_bytes + 5)
		return w->at_bytes + 5;
	header = p->data + w->at_bytes;
	return w->at_bytes + (is_skippable(header) ? 8 : header_nbytes(header));
}

static bool skip_frame(struct zstd_walk *w, const unsigned char *frame)
{
	size_t nbytes = little_endian(frame + 4, 4);

	w->at_bytes += 8 + nbytes;
	return nbytes <= SKIPPED_MOST_NBYTES;
}

static bool begin_frame(struct zstd_walk *w, struct part *p, const unsigned char *frame)
{
	unsigned long long nbytes = ZSTD_getFrameContentSize(frame, header_nbytes(frame));
	bool has_window = !(frame[4] & 0x20);

	if (nbytes == ZSTD_CONTENTSIZE_ERROR || (has_window && frame[5] >> 3 > WINDOW_LOG_MOST - 10))
		return false;
	w->has_nbytes = nbytes != ZSTD_CONTENTSIZE_UNKNOWN;
	if (w->has_nbytes && nbytes > FRAME_MOST_NBYTES)
		return false;
	p->text_most_nbytes += w->has_nbytes ? nbytes : 0;
	w->has_checksum = frame[4] & 4;
	w->at_bytes += header_nbytes(frame);
	w->inside_frame = true;
	return true;
}

static bool pass_block(struct zstd_walk *w, struct part *p, const unsigned char *header)
{
	enum { RAW, RLE, COMPRESSED, RESERVED } kind = header[0] >> 1 & 3;
	bool is_last = header[0] & 1;
	size_t nbytes = little_endian(header, 3) >> 3;

	if (kind == RESERVED || nbytes > BLOCK_MOST_NBYTES)
		return false;
	if (!w->has_nbytes)
		p->text_most_nbytes += kind == COMPRESSED ? BLOCK_MOST_NBYTES : nbytes;
	w->at_bytes += 3 + (kind == RLE ? 1 : nbytes) + (is_last && w->has_checksum ? 4 : 0);
	w->inside_frame = !is_last;
	return p->text_most_nbytes <= PART_NBYTES + FRAME_MOST_NBYTES &&
	       w->at_bytes <= PART_NBYTES + FRAME_MOST_NBYTES;
}

/* Goes to the next header. False: no frame that is decoded ahead; called again, it says so again. */
static bool walk_on(struct zstd_walk *w, struct part *p)
{
	const unsigned char *header = p->data + w->at_bytes;
	struct zstd_walk before = *w;
	size_t text_before = p->text_most_nbytes;
	bool is_good;

	if (w->inside_frame)
		is_good = pass_block(w, p, header);
	else if (is_skippable(header))
		is_good = skip_frame(w, header);
	else
		is_good = begin_frame(w, p, header);
	if (is_good)
		return true;
	*w = before;
	p->text_most_nbytes = text_before;
	return false;
}

/* Whether the part may end here. */
static bool is_whole(const struct zstd_walk *w, const struct part *p)
{
	return !w->inside_frame && p->nbytes == w->at_bytes &&
	       (p->text_most_nbytes >= PART_NBYTES || p->nbytes >= PART_NBYTES);
}

static enum gathering gather(void *walk, struct part *part, struct feed *feed)
{
	struct zstd_walk *w = walk;

	while (!is_whole(w, part)) {
		size_t wanted = wanted_nbytes(w, part);
		if (!part_take(part, feed, wanted - part->nbytes))
			return GATHER_OTHER;
		if (part->nbytes < wanted)
			return GATHER_STARVES;
		/* The first bytes of a header have told how long it is. */
		if (part->nbytes < wanted_nbytes(w, part))
			continue;
		if (!walk_on(w, part))
			return GATHER_OTHER;
	}
	return GATHER_WHOLE;
}

/* ---- a thread that decodes ahead ---- */

static void *open_thread(void)
{
	return ZSTD_createDCtx();
}

static void close_thread(void *state)
{
	ZSTD_freeDCtx(state);
}

static bool decode_part(void *state, struct part *p)
{
	size_t result = ZSTD_decompressDCtx(state, p->text, p->text_most_nbytes, p->data,
					    p->nbytes);

	p->text_nbytes = ZSTD_isError(result) ? 0 : result;
	return !ZSTD_isError(result);
}

static const struct part_stream_ops frames_ahead = {
	.open = open_thread,
	.close = close_thread,
	.decode = decode_part,
	.nthreads_most = 16,
	.gather = gather,
	.walk_nbytes = sizeof(struct zstd_walk),
};

/* ---- in order ---- */

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
	z->ahead = (struct part_stream){.ops = &frames_ahead, .walk = &z->walk, .nthreads = nthreads};
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

/* Decodes some, in order. */
static enum status decode(struct zstd *z, struct feed *feed, struct piece *piece,
			  enum decode_step *step)
{
	ZSTD_outBuffer out = {.dst = piece->data, .size = CODEC_PIECE_NBYTES, .pos = piece->nbytes};
	ZSTD_inBuffer in = {0};
	size_t result;
	bool is_stuck;

	in.src = part_stream_data(&z->ahead, feed, &in.size);
	/* Without input it may still hold output. */
	if (in.size == 0 && !z->inside_frame)
		return codec_starve(&codec_zstd, feed, z->inside_frame, step, &piece->fault);
	result = ZSTD_decompressStream(z->stream, &out, &in);
	is_stuck = in.pos == 0 && out.pos == piece->nbytes;
	part_stream_use(&z->ahead, feed, in.pos, out.pos - piece->nbytes);
	piece->nbytes = out.pos;
	if (ZSTD_isError(result))
		return refused(z, result, &piece->fault);
	z->inside_frame = result != 0;
	return is_stuck && z->inside_frame ? codec_starve(&codec_zstd, feed, z->inside_frame, step, &piece->fault) : STATUS_OK;
}

static enum status zstd_step(void *state, struct feed *feed, struct piece *piece,
			     enum decode_step *step)
{
	struct zstd *z = state;

	if (z->inside_frame || !part_stream_begins(&z->ahead, feed) || !part_stream_step(&z->ahead, feed, piece, step))
		return decode(z, feed, piece, step);
	return STATUS_OK;
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

const struct codec codec_zstd = {
	.name = "zstd",
	.library = "zstd",
	.version = version,
	.begins = zstd_begins,
	.open = zstd_open,
#ifdef HAVE_ZSTD
	.close = zstd_close,
	.step = zstd_step,
#endif
};
