/* SPDX-License-Identifier: MIT
 *
 * bzip2.c - a file of bzip2 streams, one behind the other. libbz2 decodes and checks a stream; what
 * stands behind one is checked here.
 *
 * pbzip2 writes a stream for each 900 kB of text, and their magic numbers show where they begin:
 * several threads decode some each. bzip2 writes one stream, which is decoded in order.
 */
#include "codec/codec.h"

#include <string.h>

#ifdef HAVE_BZIP2
#include <bzlib.h>
#include <stdlib.h>

#include "codec/part_stream.h"

#define HEAD_NBYTES 10 /* what a stream with a block begins with: "BZh", a digit, BLOCK_MAGIC */
#define BLOCK_MAGIC "1AY&SY"
#define PART_NBYTES_MOST ((size_t)2 << 20)      /* packed */
#define PART_TEXT_NBYTES_MOST ((size_t)4 << 20) /* longer streams are decoded in order */

struct bzip2 {
	bz_stream stream;
	bool inside_stream; /* it is initialised */
	bool has_stream;    /* one has ended */
	struct part_stream ahead;
	char walk; /* there is nothing to remember */
};

static const char *version(void)
{
	return BZ2_bzlibVersion();
}

/* ---- streams decoded ahead ---- */

/* Where a stream begins in data, which is from the byte at on searched; nbytes: nowhere. */
static size_t find_head(const unsigned char *data, size_t nbytes, size_t at)
{
	for (; at + HEAD_NBYTES <= nbytes; at++) {
		const unsigned char *b = memchr(data + at, 'B', nbytes - at);
		if (!b || (size_t)(b - data) + HEAD_NBYTES > nbytes)
			return nbytes;
		at = (size_t)(b - data);
		if (!memcmp(b, "BZh", 3) && !memcmp(b + 4, BLOCK_MAGIC, 6))
			return at;
	}
	return nbytes;
}

/* A head that stands there by chance makes the part bad, and all is then decoded in order. */
static enum gathering gather(void *walk, struct part *part, struct feed *feed)
{
	size_t have, head;
	const unsigned char *data = feed_data(feed, &have);

	(void)walk;
	if (part->nbytes > PART_NBYTES_MOST)
		return GATHER_OTHER;
	part->text_most_nbytes = PART_TEXT_NBYTES_MOST;
	head = find_head(data, have, part->nbytes == 0);
	if (head < have)
		return part_take(part, feed, head) ? GATHER_WHOLE : GATHER_OTHER;
	/* A head may have begun. */
	if (have >= HEAD_NBYTES && !part_take(part, feed, have - (HEAD_NBYTES - 1)))
		return GATHER_OTHER;
	return GATHER_STARVES;
}

static void *open_thread(void)
{
	return calloc(1, sizeof(bz_stream));
}

/* Decodes one stream; input and output go on in s. */
static bool decode_stream(bz_stream *s)
{
	int result = BZ2_bzDecompressInit(s, 0, 0);

	if (result != BZ_OK)
		return false;
	result = BZ2_bzDecompress(s);
	BZ2_bzDecompressEnd(s);
	return result == BZ_STREAM_END;
}

static bool decode_part(void *thread_state, struct part *p)
{
	bz_stream *s = thread_state;

	*s = (bz_stream){.next_in = (char *)p->data, .avail_in = (unsigned)p->nbytes,
			 .next_out = (char *)p->text, .avail_out = (unsigned)p->text_most_nbytes};
	while (s->avail_in)
		if (!decode_stream(s))
			return false;
	p->text_nbytes = p->text_most_nbytes - s->avail_out;
	return true;
}

static const struct part_stream_ops part_stream_ops = {
	.open = open_thread,
	.close = free,
	.decode = decode_part,
	.nthreads_most = 64,
	.gather = gather,
	.walk_nbytes = 1,
};

/* ---- in order ---- */

static enum status bzip2_open(void **state, int nthreads, struct fault *fault)
{
	struct bzip2 *z = calloc(1, sizeof *z);

	if (!z)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	z->ahead = (struct part_stream){.ops = &part_stream_ops, .walk = &z->walk, .nthreads = nthreads};
	*state = z;
	return STATUS_OK;
}

static void bzip2_close(void *state)
{
	struct bzip2 *z = state;

	part_stream_close(&z->ahead);
	if (z->inside_stream)
		BZ2_bzDecompressEnd(&z->stream);
	free(z);
}

/* Begins the next stream if its first byte is that of one. */
static enum status begin_stream(struct bzip2 *z, unsigned char first, struct fault *fault)
{
	if (z->has_stream && first != 'B')
		return codec_fault(fault, STATUS_TRAILING, &codec_bzip2, NULL);
	z->stream = (bz_stream){0};
	if (BZ2_bzDecompressInit(&z->stream, 0, 0) != BZ_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	z->inside_stream = true;
	return STATUS_OK;
}

static enum status refused(const struct bzip2 *z, int result, struct fault *fault)
{
	if (result == BZ_MEM_ERROR)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (result == BZ_DATA_ERROR_MAGIC && z->has_stream)
		return codec_fault(fault, STATUS_TRAILING, &codec_bzip2, NULL);
	return codec_fault(fault, STATUS_DAMAGED, &codec_bzip2, NULL);
}

static void end_stream(struct bzip2 *z)
{
	BZ2_bzDecompressEnd(&z->stream);
	z->inside_stream = false;
	z->has_stream = true;
}

static enum status decode(struct bzip2 *z, struct feed *feed, struct piece *piece,
			  enum decode_step *step)
{
	size_t have, room = CODEC_PIECE_NBYTES - piece->nbytes, text_nbytes;
	const unsigned char *data = part_stream_data(&z->ahead, feed, &have);
	enum status status = STATUS_OK;
	bool is_stuck;
	int result;

	if (have && !z->inside_stream)
		status = begin_stream(z, *data, &piece->fault);
	if (status != STATUS_OK)
		return status;
	if (!z->inside_stream)
		return codec_starve(&codec_bzip2, feed, z->inside_stream, step, &piece->fault);
	z->stream.next_in = (char *)data;
	z->stream.avail_in = (unsigned)have;
	z->stream.next_out = (char *)piece->data + piece->nbytes;
	z->stream.avail_out = (unsigned)room;
	result = BZ2_bzDecompress(&z->stream); /* without input it may still hold output */
	text_nbytes = room - z->stream.avail_out;
	is_stuck = have == z->stream.avail_in && text_nbytes == 0;
	piece->nbytes += text_nbytes;
	part_stream_use(&z->ahead, feed, have - z->stream.avail_in, text_nbytes);
	if (result == BZ_STREAM_END)
		end_stream(z);
	else if (result != BZ_OK)
		return refused(z, result, &piece->fault);
	else if (is_stuck)
		return codec_starve(&codec_bzip2, feed, z->inside_stream, step, &piece->fault);
	return STATUS_OK;
}

static enum status bzip2_step(void *state, struct feed *feed, struct piece *piece,
			      enum decode_step *step)
{
	struct bzip2 *z = state;

	if (z->inside_stream || !part_stream_begins(&z->ahead, feed) || !part_stream_step(&z->ahead, feed, piece, step))
		return decode(z, feed, piece, step);
	return STATUS_OK;
}

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
	block = codec_match_magic(data + 4, nbytes - 4, BLOCK_MAGIC, 6);
	end = codec_match_magic(data + 4, nbytes - 4, "\x17\x72\x45\x38\x50\x90", 6);
	return block > end ? block : end;
}

#else

static const char *version(void)
{
	return NULL;
}

/* foreign.c then says what it is and what to do. */
static enum codec_match bzip2_begins(const unsigned char *data, size_t nbytes)
{
	(void)data;
	(void)nbytes;
	return CODEC_OTHER;
}

#endif

const struct codec codec_bzip2 = {
	.name = "bzip2",
	.library = "libbz2",
	.version = version,
	.begins = bzip2_begins,
#ifdef HAVE_BZIP2
	.open = bzip2_open,
	.close = bzip2_close,
	.step = bzip2_step,
#endif
};
