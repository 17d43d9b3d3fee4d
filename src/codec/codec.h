/* SPDX-License-Identifier: MIT
 *
 * codec.h - compressed formats, each a row of one table.
 *
 * A codec decodes bytes from a feed and never reads: its caller decides whether to wait for
 * more. Code outside of a format's own file does not depend on it. To add one: HACKING.md.
 */
#ifndef GPUSTAT_CODEC_H
#define GPUSTAT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "codec/feed.h"

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

#endif
