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
#include <sys/types.h>

#include "base/status.h"
#include "codec/feed.h"

#define PIECE_NBYTES (256 * 1024) /* of text; a few pieces stay in L2 */

/* Decoded text. All 0 to begin with; reused. */
struct piece {
	unsigned char *data; /* room for PIECE_NBYTES; NULL: not used yet */
	size_t nbytes;
	size_t room_nbytes;  /* it is full with so many; gzip adds no more */
	bool last;           /* the stream ends behind it */
	bool padded;         /* ... and zero bytes behind the stream were left out */
	enum status status;  /* of the stream behind data; if not STATUS_OK, fault has the details */
	struct fault fault;
};

/* Why a call of step ended. */
enum decode_step {
	DECODE_GOES_ON, /* the piece is full, or a member or frame has ended */
	DECODE_STARVES, /* the feed has too little */
	DECODE_ENDED,   /* the feed has ended between members or frames: the stream is complete */
};

enum codec_match {
	CODEC_OTHER,   /* another format, or text */
	CODEC_PERHAPS, /* the bytes agree so far; more decide */
	CODEC_BEGINS,
};

/* Whole compressed blocks, one after the other, as they are in the file. */
struct block_batch {
	unsigned char *data; /* FEED_PAD_NBYTES are readable behind the blocks */
	size_t nbytes, room_nbytes;
	size_t text_nbytes, text_room_nbytes; /* of the blocks' text, and the most it may become */
	/* Of a plain file, the blocks are measured and left there, for another thread to read. */
	int fd;         /* -1: they are in data, or shall be */
	off_t position; /* of the first, in fd */
};

/* What a block has. */
struct block_length {
	uint32_t nbytes, text_nbytes;
};

/* Adds a block to what the batch has, if it has room for it. */
static inline bool block_batch_take(struct block_batch *batch, struct block_length block)
{
	if (batch->nbytes + block.nbytes > batch->room_nbytes ||
	    batch->text_nbytes + block.text_nbytes > batch->text_room_nbytes)
		return false;
	batch->nbytes += block.nbytes;
	batch->text_nbytes += block.text_nbytes;
	return true;
}

/* What the feed has next. */
enum block_next {
	BLOCK_NONE,    /* none, or one of impossible length: step decodes what is next, or fails */
	BLOCK_STARVES, /* too little to tell, or part of a block */
	BLOCK_WHOLE,
};

/* Blocks: parts of a stream that say how long they are, packed and as text, so that several
 * threads can each decode some. */
struct codec_blocks {
	size_t block_nbytes; /* the longest block and its longest text */

	/* What the feed has next. state: the codec's. */
	enum block_next (*next)(const void *state, const struct feed *feed);

	/* Moves whole blocks from the feed to the batch while it has room, and returns what is next.
	 * A batch with room for block_nbytes has room for any block. */
	enum block_next (*cut)(const void *state, struct feed *feed, struct block_batch *batch);

	/* Adds the lengths of blocks that begin at *position of the plain file fd, while the batch has room and
	 * they end at or before `end`, and moves *position behind them. Ends before what is no whole block. False:
	 * the file cannot be read; errno says why. */
	bool (*walk)(int fd, off_t *position, off_t end, struct block_batch *batch);

	/* Lists the lengths of up to `most` blocks that begin at *position of the plain file fd and before stop, and moves
	 * *position behind them. Ends before what is no whole block, or cannot be read. Returns how many there are. */
	size_t (*list)(int fd, off_t *position, off_t stop, struct block_length *lengths, size_t most);

	/* Finds what seems to be the first block that begins at or behind an offset of a file with `size` bytes: data within
	 * a block may look like one, which only blocks before it can tell. Returns false where no block begins. */
	bool (*seek)(int fd, uint64_t offset, uint64_t size, uint64_t *block);

	/* A thread's means of decoding batches. open returns NULL: out of memory. */
	void *(*open)(void);
	void (*close)(void *thread_state);

	/* Decodes a batch into to, which has room for its text_nbytes; these become fewer if a block
	 * is damaged. Errors: STATUS_DAMAGED, STATUS_NO_MEMORY. */
	enum status (*decode)(void *thread_state, struct block_batch *batch, unsigned char *to,
			      struct fault *fault);
};

struct sections;
struct member_place;

/* Data in the midst of a stream that sections.h decodes. */
struct codec_sections {
	/* Whether the stream stands in such data, and all text before has been delivered. */
	bool (*next)(const void *state);

	/* Begins: the sections go on from the feed's first unused byte. False: out of memory. */
	bool (*begin)(void *state, struct feed *feed, struct sections *sections,
		      size_t section_nbytes);

	/* The data has ended: the feed stands behind it. crc, text_nbytes: of the whole member. */
	void (*end)(void *state, uint32_t crc, uint64_t text_nbytes);

	/* Where the data began in the plain file, without text before it; all but the window. Returns false if there is no telling.
	 * *text_nbytes: what has been delivered since. */
	bool (*began)(const void *state, struct member_place *place, uint64_t *text_nbytes);

	/* Goes on at a place, where the feed stands. */
	void (*resume)(void *state, const struct member_place *place);
};

/* A library that a codec uses. */
struct codec_library {
	const char *name;
	const char *(*version)(void); /* returns NULL: not built in */
};

struct codec {
	const char *name;                      /* for messages: "corrupt NAME data" */
	const struct codec_library *libraries; /* an array that a NULL name ends */

	/* Compares a file's first nbytes with the magic number. */
	enum codec_match (*begins)(const unsigned char *data, size_t nbytes);

	/* Starts a stream; *state is one thread's at a time. nthreads: so many may decode, 0: one for
	 * each core. Errors: STATUS_NO_MEMORY; STATUS_OPEN: the library is not built in, and all
	 * members below may be NULL. */
	enum status (*open)(void **state, int nthreads, struct fault *fault);
	void (*close)(void *state);

	/* Appends text to the piece, which is not full; fills its fault. Sets *step. Not
	 * called while blocks->next returns BLOCK_WHOLE or BLOCK_STARVES.
	 * Errors: STATUS_NO_MEMORY, STATUS_DAMAGED, STATUS_TRUNCATED, STATUS_TRAILING. */
	enum status (*step)(void *state, struct feed *feed, struct piece *piece,
			    enum decode_step *step);

	const struct codec_blocks *blocks;     /* NULL: the format has none */
	const struct codec_sections *sections; /* likewise */
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

#endif
