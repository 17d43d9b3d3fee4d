/* SPDX-License-Identifier: MIT
 *
 * frames.c - codecs that are a library's: zstd (RFC 8878), bzip2 and xz (the .xz file format, 1.1). A file is a stream of
 * frames, one after the other. The library decodes and checks a frame; what stands between frames and at the end is checked
 * here. A codec is a struct frame_library.
 *
 * Frames are decoded in order, or by several threads where the library's row says how they are found: pzstd, the seekable
 * format and appended logs have many zstd frames, and pbzip2 writes a bzip2 stream for each 900 kB of text. The first piece of
 * text is decoded in order. Then whole frames are gathered into parts, which threads decode. If that meets damage, a frame
 * that is too long, the stream's end or a pipe that has no data yet, all bytes that were gathered are decoded in order
 * instead. So text and errors do not depend on the threads. xz has threads of its own, if its blocks say how long they
 * are, as those of xz -T do.
 */
#include "codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "base/array.h"
#include "base/machine.h"
#include "base/thread.h"

/* ---- what a library does ---- */

/* Whole frames, which decode by themselves. */
struct part {
	unsigned char *data; /* compressed */
	size_t nbytes, room_nbytes;
	unsigned char *text;
	size_t text_nbytes, text_room_nbytes;
	size_t text_most_nbytes; /* what data may decode to at most */
	bool good;               /* text is complete */
};

enum gathering {
	GATHER_WHOLE, /* the part has frames enough and ends where one ends */
	GATHER_STARVES,
	GATHER_OTHER, /* no frame that can be decoded ahead */
};

/* Input and room for output of one call, which moves the pointers forward. */
struct frame_span {
	const unsigned char *in;
	size_t in_nbytes;
	unsigned char *out;
	size_t out_nbytes;
};

struct frame_library {
	void *(*open)(int nthreads); /* a thread's means of decoding; NULL: out of memory */
	void (*close)(void *state);

	/* Uses what may stand before a frame; NULL: nothing may. Sets *step where more is needed to tell. */
	enum status (*pass)(struct feed *feed, enum decode_step *step, struct fault *fault);

	/* Begins a frame; NULL: nothing is to be done. False: out of memory. */
	bool (*begin)(void *state);

	/* Decodes some of a frame, also without input: it may still hold output. Errors: STATUS_NO_MEMORY, STATUS_DAMAGED,
	 * STATUS_OPEN; STATUS_TRAILING if this is no frame's beginning. */
	enum status (*run)(void *state, struct frame_span *span, bool *ended, struct fault *fault);

	/* Of parts; NULL: all is decoded in order. gather moves bytes from the feed to the part, and adds to text_most_nbytes;
	 * *at_bytes: where the next frame begins, 0 at first. decode decodes the part to its text, which has room for
	 * text_most_nbytes; it returns false if the data is damaged or longer, or memory is short. */
	enum gathering (*gather)(size_t *at_bytes, struct part *part, struct feed *feed);
	bool (*decode)(void *state, struct part *part);
	int nthreads_most; /* more would wait for memory */
};

#if defined(HAVE_BZIP2) || defined(HAVE_ZSTD)

/* Moves up to nbytes from the feed to the part. False: out of memory. */
static bool part_take(struct part *p, struct feed *feed, size_t nbytes)
{
	size_t have;
	const unsigned char *data = feed_data(feed, &have);

	nbytes = nbytes < have ? nbytes : have;
	if (ARRAY_GROW(p->data, p->room_nbytes, p->nbytes + nbytes) != STATUS_OK)
		return false;
	if (nbytes)
		memcpy(p->data + p->nbytes, data, nbytes);
	p->nbytes += nbytes;
	feed_use(feed, nbytes);
	return true;
}

#endif

/* ---- the stream ---- */

/* Beyond one part for each thread: one that is filled, and one whose text is read. */
#define SPARE_PARTS 2

struct frames {
	const struct codec *codec;
	const struct frame_library *library;
	void *state;       /* the library's, for what is decoded in order */
	bool inside_frame; /* from its beginning until its checksum has been verified */
	int nthreads;      /* as asked for; 0: one for each core */
	size_t text_nbytes; /* that was decoded in order */
	size_t at_bytes;     /* where the next frame begins in the part that is gathered */
	struct part *held;   /* decoded in order: a part that was gathered, or handed in */
	size_t offset_bytes; /* what was used of it; or of the first part's text */

	/* Parts stand in a ring, and are items of a queue: the codec's thread fills and puts them, and takes their texts out. */
	struct team team;    /* no threads: not begun */
	struct ordered_queue queue;
	struct part parts[TEAM_NTHREADS_MAX + SPARE_PARTS]; /* nparts are used */
	uint64_t nparts;
	uint64_t nput, nout; /* parts that were put, and taken out */
};

static void *decode_parts(void *frames)
{
	struct frames *f = frames;
	void *state = f->library->open(1);
	uint64_t item;

	while (ordered_queue_take(&f->queue, true, &item)) {
		struct part *p = &f->parts[item % f->nparts];
		if (p->text_most_nbytes > p->text_room_nbytes) {
			free(p->text);
			p->text = malloc(p->text_most_nbytes);
			p->text_room_nbytes = p->text ? p->text_most_nbytes : 0;
		}
		p->good = state && p->text && f->library->decode(state, p);
		ordered_queue_finish(&f->queue, item, STATUS_OK, NULL);
	}
	if (state)
		f->library->close(state);
	return NULL;
}

/* The part to be filled next, or NULL: as many as there is room for have been put. */
static struct part *part_to_fill(struct frames *f)
{
	return f->nput - f->nout < f->nparts - 1 ? &f->parts[f->nput % f->nparts] : NULL;
}

/* The first part that was put and not taken out, or NULL. */
static struct part *first_part(struct frames *f)
{
	return f->nout < f->nput ? &f->parts[f->nout % f->nparts] : NULL;
}

/* The part has been used up: its memory is used again. */
static void end_part(struct frames *f, struct part *p)
{
	bool is_first = p == first_part(f);

	p->nbytes = p->text_nbytes = p->text_most_nbytes = 0;
	p->good = false;
	f->held = NULL;
	f->offset_bytes = 0;
	if (is_first)
		ordered_queue_release(&f->queue, ++f->nout);
}

/* Whether threads are to decode what comes next. Starts them where there is more than a piece of text. */
static bool has_threads(struct frames *f, const struct feed *feed)
{
	size_t have;

	feed_data(feed, &have);
	if (!f->nparts && f->library->gather && have && f->text_nbytes >= CODEC_PIECE_NBYTES) {
		int nthreads = f->nthreads ? f->nthreads : cores_count();
		nthreads = nthreads < f->library->nthreads_most ? nthreads : f->library->nthreads_most;
		f->nparts = (uint64_t)nthreads + SPARE_PARTS;
		ordered_queue_init(&f->queue, f->nparts, 0, true);
		if (nthreads > 1)
			team_start(&f->team, (size_t)nthreads, decode_parts, f);
	}
	return f->team.nthreads && !f->held;
}

/* Hands in parts while the feed has whole ones. Returns what ended that. */
static enum gathering gather(struct frames *f, struct feed *feed)
{
	struct part *part;

	while ((part = part_to_fill(f))) {
		enum gathering result = f->library->gather(&f->at_bytes, part, feed);
		if (result != GATHER_WHOLE)
			return result;
		f->nput++;
		ordered_queue_put(&f->queue);
		f->at_bytes = 0;
	}
	return GATHER_WHOLE;
}

/* Appends text of the first part. One that is not good is decoded in order. */
static void take_text(struct frames *f, struct piece *piece)
{
	struct part *first = first_part(f);
	size_t left, room = CODEC_PIECE_NBYTES - piece->nbytes;

	ordered_queue_await(&f->queue, f->nout + 1, f->nout + 1);
	if (!first->good) {
		f->held = first;
		return;
	}
	left = first->text_nbytes - f->offset_bytes;
	room = left < room ? left : room;
	if (room)
		memcpy(piece->data + piece->nbytes, first->text + f->offset_bytes, room);
	piece->nbytes += room;
	f->offset_bytes += room;
	if (room == left)
		end_part(f, first);
}

/* Whether more of the stream can be had at once. */
static bool has_more(const struct feed *feed)
{
	return !feed->at_end && feed_is_ready(feed);
}

/* Like the codec's step, by threads. False: it has done nothing, and what is next is decoded in order. */
static bool step_ahead(struct frames *f, struct feed *feed, struct piece *piece, enum decode_step *step)
{
	enum gathering result = gather(f, feed);
	bool has_first = first_part(f);

	if (result == GATHER_STARVES && has_more(feed) &&
	    !(has_first && ordered_queue_is_finished(&f->queue, f->nout)))
		*step = DECODE_STARVES;
	else if (has_first)
		take_text(f, piece);
	else
		return false;
	return true;
}

/* Holds the part that comes next in the stream: the first that was handed in, or what has been gathered. None: the feed comes
 * next. */
static void hold_next(struct frames *f)
{
	struct part *gathered = part_to_fill(f);

	f->held = first_part(f);
	f->offset_bytes = 0;
	if (f->held) {
		ordered_queue_await(&f->queue, f->nout + 1, f->nout + 1);
	} else if (gathered && gathered->nbytes) {
		f->held = gathered;
		f->at_bytes = 0;
	}
}

/* Decodes some, in order. */
static enum status step_in_order(struct frames *f, struct feed *feed, struct piece *piece, enum decode_step *step)
{
	size_t have, nbytes = piece->nbytes;
	struct frame_span span = {.out = piece->data + nbytes, .out_nbytes = CODEC_PIECE_NBYTES - nbytes};
	enum status status = STATUS_OK;
	bool ended = false;

	if (f->team.nthreads && !f->held)
		hold_next(f);
	if (!f->inside_frame && f->library->pass)
		status = f->library->pass(feed, step, &piece->fault);
	if (status != STATUS_OK || *step != DECODE_GOES_ON)
		return status;
	span.in = feed_data(feed, &span.in_nbytes);
	if (f->held) {
		span.in = f->held->data + f->offset_bytes;
		span.in_nbytes = f->held->nbytes - f->offset_bytes;
	}
	have = span.in_nbytes;
	if (have == 0 && !f->inside_frame)
		return codec_starve(f->codec, feed, false, step, &piece->fault);
	/* The library's threads may hold text: it is asked for only where reading on would wait. */
	if (have == 0 && has_more(feed)) {
		*step = DECODE_STARVES;
		return STATUS_OK;
	}
	if (!f->inside_frame && f->library->begin && !f->library->begin(f->state))
		return fault_set(&piece->fault, STATUS_NO_MEMORY, 0, NULL);
	f->inside_frame = true;
	status = f->library->run(f->state, &span, &ended, &piece->fault);
	piece->nbytes = (size_t)(span.out - piece->data);
	f->text_nbytes += piece->nbytes - nbytes;
	f->inside_frame = !ended;
	if (!f->held)
		feed_use(feed, have - span.in_nbytes);
	else if ((f->offset_bytes += have - span.in_nbytes) == f->held->nbytes)
		end_part(f, f->held);
	if (status != STATUS_OK || ended || span.in_nbytes < have || piece->nbytes > nbytes)
		return status;
	return codec_starve(f->codec, feed, true, step, &piece->fault);
}

static enum status frames_step(void *state, struct feed *feed, struct piece *piece, enum decode_step *step)
{
	struct frames *f = state;

	if (!f->inside_frame && has_threads(f, feed) && step_ahead(f, feed, piece, step))
		return STATUS_OK;
	return step_in_order(f, feed, piece, step);
}

static enum status frames_open(void **state, const struct codec *codec, int nthreads, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	struct frames *f;

	if (!codec->frames) {
		snprintf(words, sizeof words, "%s data, and this build has no %s", codec->name, codec->library);
		return fault_set(fault, STATUS_OPEN, 0, words);
	}
	f = calloc(1, sizeof *f);
	if (f)
		f->state = codec->frames->open(nthreads);
	if (!f || !f->state) {
		free(f);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	f->codec = codec;
	f->library = codec->frames;
	f->nthreads = nthreads;
	*state = f;
	return STATUS_OK;
}

static void frames_close(void *state)
{
	struct frames *f = state;

	if (f->nparts) {
		ordered_queue_stop(&f->queue);
		team_join(&f->team);
		ordered_queue_destroy(&f->queue);
	}
	for (uint64_t i = 0; i < f->nparts; i++) {
		free(f->parts[i].data);
		free(f->parts[i].text);
	}
	f->library->close(f->state);
	free(f);
}

/* ---- zstd ---- */

#ifdef HAVE_ZSTD

#define ZSTD_PART_NBYTES ((size_t)512 << 10)       /* of text: less takes a thread's start longer */
#define ZSTD_FRAME_MOST_NBYTES ((size_t)32 << 20)  /* of text: pzstd -19 writes frames of so much */
#define ZSTD_BLOCK_MOST_NBYTES ((size_t)128 << 10) /* of text */
#define ZSTD_WINDOW_LOG_MOST 26 /* within what a stream's decoder allows */

/* What a whole frame may decode to at most: as its header says, or by the number of its blocks (RFC 8878, 3.1.1). SIZE_MAX: it is
 * not to be decoded ahead. */
static size_t zstd_text_most(const unsigned char *frame, size_t nbytes)
{
	static const unsigned char id_nbytes[] = {0, 1, 2, 4};
	unsigned long long text_nbytes = ZSTD_getFrameContentSize(frame, nbytes);
	bool is_skipped = (frame[0] & 0xf0) == 0x50, has_window = !(frame[4] & 0x20), is_last = false;
	size_t at = 5 + has_window + id_nbytes[frame[4] & 3]; /* of a header that does not say how long the text is */

	if (is_skipped)
		return 0;
	if (text_nbytes == ZSTD_CONTENTSIZE_ERROR || (has_window && frame[5] >> 3 > ZSTD_WINDOW_LOG_MOST - 10))
		return SIZE_MAX;
	if (text_nbytes == ZSTD_CONTENTSIZE_UNKNOWN)
		for (text_nbytes = 0; !is_last && at + 3 <= nbytes; text_nbytes += ZSTD_BLOCK_MOST_NBYTES) {
			unsigned header = frame[at] | (unsigned)frame[at + 1] << 8 | (unsigned)frame[at + 2] << 16;
			is_last = header & 1;
			at += 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3); /* 1: one byte, repeated */
		}
	return text_nbytes <= ZSTD_FRAME_MOST_NBYTES ? (size_t)text_nbytes : SIZE_MAX;
}

static enum gathering zstd_gather(size_t *at_bytes, struct part *part, struct feed *feed)
{
	while (part->text_most_nbytes < ZSTD_PART_NBYTES && *at_bytes < ZSTD_PART_NBYTES) {
		size_t have, nbytes, text_most;
		const unsigned char *data = feed_data(feed, &have);
		size_t ntaken = part->nbytes - *at_bytes; /* of the frame */
		if (ntaken + have > ZSTD_FRAME_MOST_NBYTES)
			return GATHER_OTHER;
		/* A frame that goes on behind the feed is taken piece by piece. */
		if (ntaken > 0 && !part_take(part, feed, have))
			return GATHER_OTHER;
		nbytes = ntaken > 0 ? ZSTD_findFrameCompressedSize(part->data + *at_bytes, ntaken + have)
				    : ZSTD_findFrameCompressedSize(data, have);
		if (ZSTD_getErrorCode(nbytes) == ZSTD_error_srcSize_wrong)
			return ntaken > 0 || part_take(part, feed, have) ? GATHER_STARVES : GATHER_OTHER;
		if (ZSTD_isError(nbytes))
			return GATHER_OTHER;
		if (ntaken > 0) {
			feed_unuse(feed, ntaken + have - nbytes);
			part->nbytes = *at_bytes + nbytes;
		} else if (!part_take(part, feed, nbytes)) {
			return GATHER_OTHER;
		}
		text_most = zstd_text_most(part->data + *at_bytes, nbytes);
		if (text_most == SIZE_MAX)
			return GATHER_OTHER;
		part->text_most_nbytes += text_most;
		*at_bytes += nbytes;
	}
	return GATHER_WHOLE;
}

static void *zstd_open(int nthreads)
{
	(void)nthreads;
	return ZSTD_createDCtx();
}

static void zstd_close(void *state)
{
	ZSTD_freeDCtx(state);
}

static bool zstd_decode(void *state, struct part *p)
{
	size_t result = ZSTD_decompressDCtx(state, p->text, p->text_most_nbytes, p->data, p->nbytes);

	p->text_nbytes = ZSTD_isError(result) ? 0 : result;
	return !ZSTD_isError(result);
}

static enum status zstd_run(void *state, struct frame_span *span, bool *ended, struct fault *fault)
{
	ZSTD_outBuffer out = {.dst = span->out, .size = span->out_nbytes};
	ZSTD_inBuffer in = {.src = span->in, .size = span->in_nbytes};
	size_t result = ZSTD_decompressStream(state, &out, &in);
	ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

	span->in_nbytes -= in.pos;
	span->out += out.pos;
	*ended = result == 0;
	if (code == ZSTD_error_no_error)
		return STATUS_OK;
	if (code == ZSTD_error_memory_allocation)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (code == ZSTD_error_prefix_unknown)
		return codec_fault(fault, STATUS_TRAILING, &codec_zstd, NULL);
	return codec_fault(fault, STATUS_DAMAGED, &codec_zstd, ZSTD_getErrorName(result));
}

static const struct frame_library zstd = {
	.open = zstd_open, .close = zstd_close, .run = zstd_run, .gather = zstd_gather, .decode = zstd_decode,
	.nthreads_most = 16,
};

#endif

/* A frame's magic number, or one of the 16 of skippable frames (RFC 8878, 3.1.1 and 3.1.2). */
static enum codec_match zstd_begins(const unsigned char *data, size_t nbytes)
{
	if (nbytes && (data[0] & 0xf0) == 0x50)
		return codec_match_magic(data + 1, nbytes - 1, "\x2a\x4d\x18", 3);
	return codec_match_magic(data, nbytes, "\x28\xb5\x2f\xfd", 4);
}

const struct codec codec_zstd = {
	.name = "zstd", .library = "zstd", .begins = zstd_begins, .open = frames_open, .close = frames_close,
	.step = frames_step,
#ifdef HAVE_ZSTD
	.version = ZSTD_versionString, .frames = &zstd,
#endif
};

/* ---- bzip2 ---- */

#define BZIP2_BLOCK_MAGIC "1AY&SY"
#define BZIP2_END_MAGIC "\x17\x72\x45\x38\x50\x90"

/* A whole stream's magic number, and that of a block or of its end: the first four bytes could be a
 * column's name. */
static enum codec_match bzip2_begins(const unsigned char *data, size_t nbytes)
{
	enum codec_match head = codec_match_magic(data, nbytes, "BZh", 3);
	enum codec_match block, end;

	if (head != CODEC_BEGINS || nbytes == 3)
		return head == CODEC_OTHER ? CODEC_OTHER : CODEC_PERHAPS;
	if (data[3] < '1' || data[3] > '9')
		return CODEC_OTHER;
	block = codec_match_magic(data + 4, nbytes - 4, BZIP2_BLOCK_MAGIC, 6);
	end = codec_match_magic(data + 4, nbytes - 4, BZIP2_END_MAGIC, 6);
	return block > end ? block : end;
}

#ifdef HAVE_BZIP2

#define BZIP2_HEAD_NBYTES 10 /* what a stream with a block begins with: "BZh", a digit, the block's magic number */
#define BZIP2_PART_NBYTES_MOST ((size_t)2 << 20)      /* compressed */
#define BZIP2_PART_TEXT_NBYTES_MOST ((size_t)4 << 20) /* longer streams are decoded in order */

/* Where a stream begins in data, which is from the byte at on searched; nbytes: nowhere. */
static size_t bzip2_find_head(const unsigned char *data, size_t nbytes, size_t at)
{
	for (; at + BZIP2_HEAD_NBYTES <= nbytes; at++) {
		const unsigned char *b = memchr(data + at, 'B', nbytes - at);
		if (!b || (size_t)(b - data) + BZIP2_HEAD_NBYTES > nbytes)
			return nbytes;
		at = (size_t)(b - data);
		if (!memcmp(b, "BZh", 3) && !memcmp(b + 4, BZIP2_BLOCK_MAGIC, 6))
			return at;
	}
	return nbytes;
}

/* A head that stands there by chance makes the part bad, and all is then decoded in order. */
static enum gathering bzip2_gather(size_t *at_bytes, struct part *part, struct feed *feed)
{
	size_t have, head;
	const unsigned char *data = feed_data(feed, &have);

	(void)at_bytes;
	if (part->nbytes > BZIP2_PART_NBYTES_MOST)
		return GATHER_OTHER;
	part->text_most_nbytes = BZIP2_PART_TEXT_NBYTES_MOST;
	head = bzip2_find_head(data, have, part->nbytes == 0);
	if (head < have)
		return part_take(part, feed, head) ? GATHER_WHOLE : GATHER_OTHER;
	/* A head may have begun. */
	if (have >= BZIP2_HEAD_NBYTES && !part_take(part, feed, have - (BZIP2_HEAD_NBYTES - 1)))
		return GATHER_OTHER;
	return GATHER_STARVES;
}

static void *bzip2_open(int nthreads)
{
	(void)nthreads;
	return calloc(1, sizeof(bz_stream));
}

static void bzip2_close(void *state)
{
	BZ2_bzDecompressEnd(state); /* between streams it does nothing */
	free(state);
}

static bool bzip2_begin(void *state)
{
	return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

static enum status bzip2_run(void *state, struct frame_span *span, bool *ended, struct fault *fault)
{
	bz_stream *s = state;
	int result;

	s->next_in = (char *)span->in;
	s->avail_in = (unsigned)span->in_nbytes;
	s->next_out = (char *)span->out;
	s->avail_out = (unsigned)span->out_nbytes;
	result = BZ2_bzDecompress(s);
	span->in_nbytes = s->avail_in;
	span->out += span->out_nbytes - s->avail_out;
	*ended = result == BZ_STREAM_END;
	if (*ended)
		BZ2_bzDecompressEnd(s);
	if (*ended || result == BZ_OK)
		return STATUS_OK;
	if (result == BZ_MEM_ERROR)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return codec_fault(fault, result == BZ_DATA_ERROR_MAGIC ? STATUS_TRAILING : STATUS_DAMAGED, &codec_bzip2, NULL);
}

static bool bzip2_decode(void *state, struct part *p)
{
	struct frame_span span = {p->data, p->nbytes, p->text, p->text_most_nbytes};
	struct fault ignored;
	bool ended = true;

	while (ended && span.in_nbytes > 0) {
		span.in = p->data + p->nbytes - span.in_nbytes;
		span.out_nbytes = p->text_most_nbytes - (size_t)(span.out - p->text);
		ended = bzip2_begin(state) && bzip2_run(state, &span, &ended, &ignored) == STATUS_OK && ended;
	}
	p->text_nbytes = (size_t)(span.out - p->text);
	if (!ended)
		BZ2_bzDecompressEnd(state);
	return ended;
}

static const struct frame_library bzip2 = {
	.open = bzip2_open, .close = bzip2_close, .begin = bzip2_begin, .run = bzip2_run, .gather = bzip2_gather,
	.decode = bzip2_decode, .nthreads_most = 64,
};

#endif

const struct codec codec_bzip2 = {
	.name = "bzip2", .library = "libbz2", .begins = bzip2_begins, .open = frames_open, .close = frames_close,
	.step = frames_step,
#ifdef HAVE_BZIP2
	.version = BZ2_bzlibVersion, .frames = &bzip2,
#endif
};

/* ---- xz ---- */

#define XZ_MAGIC "\xfd" "7zXZ"
#define XZ_MAGIC_NBYTES 6

static enum codec_match xz_begins(const unsigned char *data, size_t nbytes)
{
	return codec_match_magic(data, nbytes, XZ_MAGIC, XZ_MAGIC_NBYTES);
}

#ifdef HAVE_LZMA

#define MIB ((uint64_t)1 << 20)
#define XZ_MEMORY_NBYTES (512 * MIB)       /* at most; xz -9 takes 65 MiB in order */
#define XZ_THREAD_MEMORY_NBYTES (64 * MIB) /* of each thread; a block of xz -6 -T takes some 40 MiB */
#define XZ_NTHREADS_MOST 16
#define XZ_FLAGS LZMA_TELL_UNSUPPORTED_CHECK

struct xz {
	lzma_stream stream;
	int nthreads;
};

static void *xz_open(int nthreads)
{
	struct xz *x = calloc(1, sizeof *x);

	nthreads = nthreads ? nthreads : cores_count();
	if (x)
		x->nthreads = nthreads < XZ_NTHREADS_MOST ? nthreads : XZ_NTHREADS_MOST;
	return x;
}

static void xz_close(void *state)
{
	struct xz *x = state;

	lzma_end(&x->stream);
	free(x);
}

static bool xz_begin(void *state)
{
	struct xz *x = state;
#if LZMA_VERSION >= UINT32_C(50040002) /* the first with lzma_stream_decoder_mt */
	const lzma_mt how = {.flags = XZ_FLAGS, .threads = (uint32_t)x->nthreads,
			     .memlimit_threading = (uint64_t)x->nthreads * XZ_THREAD_MEMORY_NBYTES,
			     .memlimit_stop = XZ_MEMORY_NBYTES};

	return lzma_stream_decoder_mt(&x->stream, &how) == LZMA_OK;
#else
	return lzma_stream_decoder(&x->stream, XZ_MEMORY_NBYTES, XZ_FLAGS) == LZMA_OK;
#endif
}

/* Between streams there may be padding, zero bytes in fours. */
static enum status xz_pass(struct feed *feed, enum decode_step *step, struct fault *fault)
{
	size_t have;
	const unsigned char *data;

	while ((data = feed_data(feed, &have)), have >= 4 && memcmp(data, "\0\0\0", 4) == 0)
		feed_use(feed, 4);
	if (have > 0 && have < 4 && *data == '\0') {
		*step = DECODE_STARVES;
		return feed->at_end ? codec_fault(fault, STATUS_DAMAGED, &codec_xz, "padding that is no multiple of 4 bytes")
				    : STATUS_OK;
	}
	return xz_begins(data, have) == CODEC_OTHER ? codec_fault(fault, STATUS_TRAILING, &codec_xz, NULL) : STATUS_OK;
}

static enum status xz_refused(const struct xz *x, lzma_ret result, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	uint64_t wanted = lzma_memusage(&x->stream) / MIB + 1;

	switch (result) {
	case LZMA_MEM_ERROR:
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	case LZMA_MEMLIMIT_ERROR:
		snprintf(words, sizeof words,
			 "xz data that takes %llu MiB of memory, more than %llu MiB: try xzcat FILE | gpustat ...",
			 (unsigned long long)wanted, (unsigned long long)(XZ_MEMORY_NBYTES / MIB));
		return fault_set(fault, STATUS_OPEN, 0, words);
	case LZMA_OPTIONS_ERROR:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, "unknown filter or flag");
	case LZMA_UNSUPPORTED_CHECK:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, "unknown kind of check");
	default:
		return codec_fault(fault, STATUS_DAMAGED, &codec_xz, NULL);
	}
}

static enum status xz_run(void *state, struct frame_span *span, bool *ended, struct fault *fault)
{
	struct xz *x = state;
	lzma_stream *s = &x->stream;
	lzma_ret result;

	s->next_in = span->in;
	s->avail_in = span->in_nbytes;
	s->next_out = span->out;
	s->avail_out = span->out_nbytes;
	do /* with threads, the first call without progress need not be the last */
		result = lzma_code(s, LZMA_RUN);
	while (result == LZMA_OK && s->avail_in == span->in_nbytes && s->avail_out == span->out_nbytes);
	span->in_nbytes = s->avail_in;
	span->out += span->out_nbytes - s->avail_out;
	*ended = result == LZMA_STREAM_END;
	return *ended || result == LZMA_OK || result == LZMA_BUF_ERROR ? STATUS_OK : xz_refused(x, result, fault);
}

static const struct frame_library xz = {
	.open = xz_open, .close = xz_close, .pass = xz_pass, .begin = xz_begin, .run = xz_run,
};

#endif

const struct codec codec_xz = {
	.name = "xz", .library = "liblzma", .begins = xz_begins, .open = frames_open, .close = frames_close,
	.step = frames_step,
#ifdef HAVE_LZMA
	.version = lzma_version_string, .frames = &xz,
#endif
};
