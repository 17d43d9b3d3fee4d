/* SPDX-License-Identifier: MIT
 *
 * codec.h - compressed formats, each a row of one table; the bytes that they decode; and formats that are not read.
 *
 * A codec decodes bytes from a feed and never reads: its caller decides whether to wait for
 * more. Code outside of a format's own file does not depend on it. To add one: HACKING.md.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"

/* ---- compressed bytes that were read from a file and not yet decoded: one thread at a time ---- */

#define FEED_NBYTES (256 * 1024) /* the most unused bytes; more than any BGZF block has */
#define FEED_PAD_NBYTES 64       /* readable bytes behind the unused ones, of any value */

/* Bytes that were taken from a feed and given back. */
struct feed_part {
	const unsigned char *data;
	size_t begin, end; /* unused: data[begin .. end) */
	struct feed_part *next;
	void (*release)(struct feed_part *part); /* called when all are used */
};

struct feed {
	int fd;   /* not owned */
	int wake; /* feed_more stops waiting when this is readable; -1: never */
	/* With wake: called before feed_more waits (true) and after (false). */
	void (*note_wait)(void *argument, bool waits);
	void *note_argument;
	off_t position; /* what is read of fd stands there, and fd's own position is not used; -1: it is */
	struct feed_part *parts; /* to be read before fd */
	bool stopped;      /* wake was readable */
	bool at_end;       /* fd has no more */
	off_t fd_end;      /* where its reading of a plain file ends; -1: at the file's end */
	size_t begin, end; /* unused: data[begin .. end) */
	unsigned char data[FEED_NBYTES + FEED_PAD_NBYTES];
};

/* Releases what was given back. */
void feed_free(struct feed *f);

/* prefix: bytes already read from fd, at most FEED_NBYTES; copied. */
void feed_init(struct feed *f, int fd, const void *prefix, size_t nbytes);

/* Begins at a place of a plain file, whose own position stays: for any thread. */
void feed_init_at(struct feed *f, int fd, off_t position);

/* The unused bytes; *nbytes of them, and FEED_PAD_NBYTES behind them. Valid until feed_more. */
const unsigned char *feed_data(const struct feed *f, size_t *nbytes);

/* Marks the first nbytes of the unused bytes as used. */
void feed_use(struct feed *f, size_t nbytes);

/* Marks the last nbytes that were used, since the last feed_more, as unused again. */
void feed_unuse(struct feed *f, size_t nbytes);

/* Whether there is no room for more: what is decoded must not need so much at once. */
bool feed_is_full(const struct feed *f);

/* Whether feed_more would not wait. */
bool feed_is_ready(const struct feed *f);

/* Reads more: waits for at least one byte, the end (at_end) or wake (stopped). The feed must not
 * be full. Errors: STATUS_READ. */
enum status feed_more(struct feed *f, struct fault *fault);

/* Moves up to capacity bytes to `to`: the unused ones, or else those that are next. Waits for at
 * least one; *nbytes is 0 at the end (at_end). Errors: STATUS_READ. */
enum status feed_take(struct feed *f, void *to, size_t capacity, size_t *nbytes,
		      struct fault *fault);

/* Where the first unused byte stands in a plain file, of feed_init; -1: there is no telling, as behind what was given
 * back. */
off_t feed_tell(const struct feed *f);

/* Ends at that place of a plain file as if the file ended there. Before anything is read. */
void feed_end_at(struct feed *f, off_t position);

/* Where it ends in a plain file; INT64_MAX: at the file's end. */
off_t feed_end(const struct feed *f);

/* Goes on at that place of the file, and drops the unused bytes. */
void feed_seek(struct feed *f, off_t position);

/* Gives taken bytes back, so that they come next. The feed must have no unused bytes. The part is the
 * feed's until it is released, perhaps at once. Of several parts, the last comes first. */
void feed_give_back_part(struct feed *f, struct feed_part *part);

/* ---- formats ---- */

/* For tests: how long a chunk is at most, and a piece. */
#define CHUNK_VARIABLE "GPUSTAT_CHUNK_BYTES"

#define CODEC_PIECE_NBYTES (256 * 1024) /* of text; a few pieces stay in L2 */

/* Decoded text. All 0 to begin with; reused. */
struct piece {
	unsigned char *data; /* room for CODEC_PIECE_NBYTES; NULL: not used yet */
	size_t nbytes;
	size_t room_nbytes;  /* it is full with so many; gzip adds no more */
	bool last;           /* the stream ends behind it */
	bool padded;         /* ... and zero bytes behind the stream were left out */
	enum status status;  /* of the stream behind data; if not STATUS_OK, fault has the details */
	struct fault fault;
};

/* Why a call of step ended. */
enum decode_step {
	DECODE_GOES_ON, /* step is to be called again, unless the piece is full */
	DECODE_STARVES, /* the feed has too little */
	DECODE_ENDED,   /* the feed has ended between members or frames: the stream is complete */
};

enum codec_match {
	CODEC_OTHER,   /* another format, or text */
	CODEC_PERHAPS, /* the bytes agree so far; more decide */
	CODEC_BEGINS,
};

struct codec {
	const char *name;                      /* for messages: "corrupt NAME data" */
	const char *library;                   /* that it uses */
	const char *(*version)(void);          /* the library's; NULL: not built in */

	/* Compares a file's first nbytes with the magic number. */
	enum codec_match (*begins)(const unsigned char *data, size_t nbytes);

	/* Starts a stream; *state is one thread's at a time. nthreads: so many may decode, 0: one for
	 * each core. Errors: STATUS_NO_MEMORY; STATUS_OPEN: the library is not built in. */
	enum status (*open)(void **state, const struct codec *codec, int nthreads, struct fault *fault);
	void (*close)(void *state);

	/* Appends some text to the piece, which is not full; fills its fault. Sets *step, which is
	 * DECODE_GOES_ON, if it is to be another. Not
	 * called while bgzf_next returns BLOCK_WHOLE or BLOCK_STARVES.
	 * Errors: STATUS_NO_MEMORY, STATUS_DAMAGED, STATUS_TRUNCATED, STATUS_TRAILING. */
	enum status (*step)(void *state, struct feed *feed, struct piece *piece,
			    enum decode_step *step);

	const struct frame_library *frames; /* of frames.c; NULL: another's, or not built in */
};

extern const struct codec codec_gzip, codec_zstd, codec_bzip2, codec_xz;

/* All rows; NULL ends them. */
extern const struct codec *const codecs[];

/* Finds the codec of a file that begins with nbytes of data, or sets *codec to NULL.
 * CODEC_PERHAPS: more bytes decide. */
enum codec_match codec_find(const unsigned char *data, size_t nbytes, const struct codec **codec);

/* A `begins` for a fixed magic number. */
enum codec_match codec_match_magic(const unsigned char *data, size_t nbytes, const char *magic,
				   size_t magic_nbytes);

/* Fills the fault with STATUS_DAMAGED, STATUS_TRUNCATED or STATUS_TRAILING, the codec's name and
 * words, which may be NULL; returns status. */
enum status codec_fault(struct fault *fault, enum status status, const struct codec *codec,
			const char *words);

/* The feed is empty, and all text that it determines is out: sets *step. inside: the stream is in the midst of a member or
 * frame, so that its end is STATUS_TRUNCATED, which is returned with the fault. */
enum status codec_starve(const struct codec *codec, const struct feed *feed, bool inside, enum decode_step *step,
			 struct fault *fault);

/* ---- formats that are not read, each a row of one table ----
 *
 * They are recognised, so that the message can say what the file is and which command makes CSV of it.
 */

/* How much of a file decides at most. */
#define FOREIGN_NBYTES 512

struct foreign {
	const char *name;   /* "bzip2 data" */
	const char *remedy; /* what to do, a sentence; each % stands for the file's name */
	/* Either a magic number of magic_nbytes at offset_bytes; or units of text with NULs in the places that `nuls` has; or a
	 * function. */
	const char *magic;
	size_t magic_nbytes, offset_bytes;
	size_t unit;
	unsigned nuls;
	bool (*is)(const unsigned char *data, size_t nbytes);
};

/* Looks for a foreign format in a file's first nbytes, compressed data decompressed. at_end: there
 * are no more. Returns CODEC_BEGINS and sets *found; CODEC_OTHER: text, *found is NULL;
 * CODEC_PERHAPS: more bytes decide. What it returns does not depend on how the bytes arrive. It
 * never asks for more than the first line, unless that is no text or may be JSON. */
enum codec_match foreign_find(const unsigned char *data, size_t nbytes, bool at_end,
			      const struct foreign **found);

/* Fills the fault with STATUS_FOREIGN and the message's end. name: the file's, if a shell takes it
 * as one word it becomes part of the command. codec: what it was decompressed by, or NULL.
 * Returns STATUS_FOREIGN. */
enum status foreign_refuse(struct fault *fault, const struct foreign *f, const char *name,
			  const struct codec *codec);
