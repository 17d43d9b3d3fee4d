/* SPDX-License-Identifier: MIT
 *
 * gzip.h - members of a gzip file (RFC 1952): places in their data, which many threads decode in sections, or a device; and
 * members of BGZF.
 */
#pragma once

#include <sys/types.h>

#include "codec/codec.h"
#include "codec/deflate.h"

struct gzip;
struct sections; /* the data of the current member, and its sections */

/* The CRC in a trailer. */
uint32_t gzip_trailer_crc(const unsigned char *trailer);

/* Whether the stream stands in a member's data, and all text before has been delivered: sections can go on there. */
bool gzip_is_in_data(const struct gzip *g);

/* Begins with sections, which go on from the feed's first unused byte. False: out of memory. */
bool gzip_split(const struct gzip *g, struct feed *feed, struct sections *sections, size_t section_nbytes);

/* The data has ended: the feed stands behind it. crc, text_nbytes: of the whole member. */
void gzip_end_data(struct gzip *g, uint32_t crc, uint64_t text_nbytes);

/* A place in a member's data at which a decoder can begin: between two blocks, with the text before it. Who decodes
 * elsewhere, as on a GPU, tells by it where a CPU goes on. */
struct member_place {
	off_t position; /* in the file, of the byte that has the next bit ... */
	unsigned bit;   /* ... which is this one of it, 0 to 7 */
	uint64_t text_nbytes; /* of the member before it */
	uint32_t crc;         /* of that text */
	unsigned char window[DEFLATE_WINDOW_NBYTES]; /* its last bytes, at the end */
};

/* Where the data began in the plain file, without text before it; all but the window. Returns false if there is no telling.
 * *text_nbytes: what has been delivered since. */
bool gzip_began(const struct gzip *g, struct member_place *place, uint64_t *text_nbytes);

/* Goes on at a place, where the feed stands. */
void gzip_resume(struct gzip *g, const struct member_place *place);

/* Decodes nbytes of the text, from skip bytes behind the place on, of a plain file's member: what has been decoded
 * before and is wanted again. Any thread. Errors: STATUS_NO_MEMORY; STATUS_READ; STATUS_DAMAGED, if the file has
 * changed. */
enum status member_place_read(const struct member_place *p, int fd, uint64_t skip, void *to, size_t nbytes,
			      struct fault *fault);

/* ---- sections ----
 *
 * The deflate data of one gzip member, decoded by many threads.
 *
 * The compressed bytes are cut, as they are read, into sections of equal length. A thread takes the
 * next section, looks for a bit at which a block may begin, and decodes from there without knowing
 * the 32 KiB of text before it: to symbols, each a byte or a place in that unknown window. Turns
 * pass from section to section in order. A turn brings what a serial decoder would know: the bit at
 * which the section before ended, and the window. A section that began at that very bit, behind at
 * least 32 KiB of text, holds what a serial decoder makes. Any other is decoded again from the true
 * place. A section that is not decoded to its end when its turn comes goes on in bytes. A wrong
 * guess costs time, never an answer.
 *
 * Symbols become bytes after the turn, piece by piece, where they are wanted. Source of the idea:
 * Kerbiriou and Chikhi, "Parallel decompression of gzip-compressed files", 2019.
 *
 * For each section: sections_cut(), under a lock of the caller's; section_decode(); section_pass();
 * section_read() until all of its text is read. If the section is not finished, section_decode()
 * and the rest once more. If the member has ended: sections_end(), under that lock.
 */

#define SECTION_NBYTES ((size_t)1 << 20) /* of compressed bytes, at most */
#define SECTION_NBYTES_MIN 1024          /* at least, so that a block's header has room */

/* One thread's memory for decoding, and the section that it has. 14 MiB, as far as used. */
struct section_decoder;

/* What the threads spend their time on. */
enum section_stage {
	SECTION_FIND,    /* the search for a beginning */
	SECTION_GUESS,   /* decoding to symbols */
	SECTION_WAIT,    /* for the turn */
	SECTION_GO_ON,   /* decoding to bytes, in the turn */
	SECTION_REDO,    /* likewise, of what had been guessed wrong */
	SECTION_RESOLVE, /* symbols to bytes, and the CRC */
	SECTION_NSTAGES
};

/* Called by a thread when it has spent time on a stage. text_nbytes: what it made of text; 0: none.
 * Times are clock_s's. */
typedef void section_watcher(enum section_stage stage, size_t text_nbytes, double begin_s,
			     double end_s);

/* Of all members. */
struct section_totals {
	uint64_t nsections; /* whose turns have come */
	uint64_t nright;    /* of these, guessed right */
	double stage_s[SECTION_NSTAGES];
};

enum section_result {
	SECTION_VOID,    /* the section is not needed: the member or the run has ended before it */
	SECTION_DECODED, /* *text_nbytes of text, perhaps none; the caller has the turn */
	SECTION_ENDED,   /* likewise, and the member's data ends behind the text */
	SECTION_FAILED,  /* likewise, and behind the text the data is damaged or cannot be read */
};

/* NULL: out of memory. */
struct sections *sections_open(void);

/* Has every decoder call the watcher. Before the first one. */
void sections_watch(struct sections *s, section_watcher *watcher);

/* Stops, and waits until no thread is in section_decode. NULL is good. */
void sections_close(struct sections *s);

/* Begins with a member whose data goes on in the feed. The trunk's decoder stands `bit` bits behind
 * the first unused byte of the feed; copied. crc: of the member's text so far. section_nbytes: how
 * long sections are to be, SECTION_NBYTES_MIN to SECTION_NBYTES. Returns false, and changes nothing, if there is no
 * memory for it. */
bool sections_begin(struct sections *s, struct feed *feed, const struct deflate_trunk *trunk,
		    uint64_t bit, uint32_t crc, size_t section_nbytes);

/* Whether a member has begun and not ended. */
bool sections_are_open(struct sections *s);

/* Hands out the next section, in a decoder of one thread's. Reads from the feed, for which it may
 * wait. NULL: all have been handed out, or there is no memory for a further decoder. */
struct section_decoder *sections_cut(struct sections *s);

/* Takes back a decoder whose section is finished, or not needed, and read. */
void sections_take_back(struct sections *s, struct section_decoder *d);

/* Waits until the member has ended, or all stops. Not under the caller's lock. */
void sections_wait(struct sections *s);

/* Decodes the section, and waits for its turn. Errors with SECTION_FAILED, in fault:
 * STATUS_DAMAGED, with deflate's words as detail; STATUS_TRUNCATED; STATUS_READ; STATUS_NO_MEMORY. */
enum section_result section_decode(struct sections *s, struct section_decoder *d,
				   size_t *text_nbytes, struct fault *fault);

/* After SECTION_DECODED. Returns whether the section is finished; if so its turn ends. If not, the
 * decoder's memory is full: more follows once the text has been read. */
bool section_pass(struct sections *s, struct section_decoder *d);

/* Copies the next nbytes of the text, at most what is left of it. The turn need not be the
 * section's any more. */
void section_read(struct sections *s, struct section_decoder *d, void *to, size_t nbytes);

/* How much of the text has not been read. */
size_t section_nbytes_left(const struct section_decoder *d);

/* After SECTION_ENDED, when all text has been read: waits until that of all earlier sections has
 * been, too. *crc, *text_nbytes: of the member's whole text. */
void sections_check(struct sections *s, struct section_decoder *d, uint32_t *crc,
		    uint64_t *text_nbytes);

/* After sections_check, under the caller's lock: gives what follows the member's data back to the
 * feed. */
void sections_end(struct sections *s, struct section_decoder *d);

/* Makes all threads leave: what is handed out is void, and no member is open any more. Any thread. */
void sections_stop(struct sections *s);

/* What has been done by decoders that were taken back. Any thread. */
void sections_sum_up(struct sections *s, struct section_totals *totals);

/* ---- the data of a plain file's members, decoded by a device in place of the CPUs ----
 *
 * The text stays on the device: the input cuts it to chunks, and a device's worker copies each to its own memory
 * there (read_text of worker.h). What the device cannot decode, and all damage, is left to the CPUs, which go on
 * where it ended. kernels/worker/device_inflate.cu is the one there is.
 */

struct device_inflate;

/* Text on a device, lent by cut. */
struct device_text {
	struct device_inflate *of;
	int buffer;       /* which one of it */
	const char *data; /* device memory */
	size_t nbytes;
	const struct member_place *place; /* the text is found again from here on, skip bytes further */
	uint64_t skip;
	int fd; /* of the file */
};

struct device_inflate_ops {
	/* Prepares, for chunks of chunk_nbytes and files of about file_nbytes. NULL: there is no memory. */
	struct device_inflate *(*open)(int device, size_t chunk_nbytes, off_t file_nbytes);

	/* Stops, and frees all. All text must have been given back. */
	void (*close)(struct device_inflate *d);

	/* Begins with a member's data at the place, where its text begins; both copied. fd is not owned and is open
	 * until end or close. skip: so many bytes of the text are not wanted. False: the device cannot, or it is not worth its
	 * while for so little. */
	bool (*begin)(struct device_inflate *d, int fd, const struct member_place *place, uint64_t skip);

	/* Lends the next text, up to nbytes. Waits for it. False: there is no more. */
	bool (*cut)(struct device_inflate *d, size_t nbytes, struct device_text *text);

	/* After the last text: where CPUs go on. *ended: the member's data has ended there. Returns false if the place
	 * is not behind the text that was to be skipped. */
	bool (*end)(struct device_inflate *d, struct member_place *place, bool *ended);

	/* Copies the text to the host. Errors: member_place_read's. */
	enum status (*copy)(const struct device_text *text, char *to, struct fault *fault);

	/* Takes the text back. Any thread. */
	void (*give_back)(const struct device_text *text);
};

/* ---- BGZF ----
 *
 * Blocks of BGZF, which bgzip writes: gzip members that say how long they are, packed and as text, so that
 * several threads can each decode some. SAM/BAM format specification, section 4.1.
 *
 * A place in the text is the offset of a block in the file, times 65536, and the offset in the block's text: the virtual
 * offset of the specification's section 4.1.1. Places have the order of the text. The place of a byte is that
 * of the block which has it.
 */

#define BGZF_BLOCK_NBYTES 65536 /* the longest block, and its longest text */

#define BGZF_PLACE(block, offset) ((uint64_t)(block) << 16 | (offset))
#define BGZF_PLACE_BLOCK(place) ((off_t)((place) >> 16))
#define BGZF_PLACE_OFFSET(place) ((size_t)((place) & 0xffff))

/* A block, where it lies. */
struct bgzf_block {
	const unsigned char *data, *trailer; /* deflate data, up to the trailer */
	uint32_t text_nbytes;
};

/* Parses the block that begins at data, of which nbytes are there. Returns its length; 0: there is no whole
 * block. */
size_t bgzf_parse(const unsigned char *data, size_t nbytes, struct bgzf_block *block);

/* Whether a file's beginning, nbytes of it, is a BGZF block's. */
bool bgzf_begins(const unsigned char *data, size_t nbytes);

/* ---- batches ---- */

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

/* What the feed has next; of a whole block, its lengths. g: the stream that it feeds. */
enum block_next bgzf_next(const struct gzip *g, const struct feed *feed, struct block_length *block);

/* Moves whole blocks from the feed to the batch while it has room, and returns what is next.
 * A batch with room for BGZF_BLOCK_NBYTES has room for any block. */
enum block_next bgzf_cut(const struct gzip *g, struct feed *feed, struct block_batch *batch);

/* Adds the lengths of blocks that begin at *position of the plain file fd, while the batch has room and
 * they end at or before `end`, and moves *position behind them. Ends before what is no whole block. Costs a short read for
 * each. False: the file cannot be read; errno says why. */
bool bgzf_walk(int fd, off_t *position, off_t end, struct block_batch *batch);

/* Decodes a batch into to, which has room for its text_nbytes; these become fewer if a block
 * is damaged. Errors: STATUS_DAMAGED. */
enum status bgzf_decode(struct deflate *d, struct block_batch *batch, unsigned char *to, struct fault *fault);

/* A batch, and the means of decoding it. */
struct block_decoder {
	struct block_batch batch;
	struct deflate deflate;
	unsigned char data[];
};

/* Makes a decoder whose batch is empty and has room for text_nbytes of text, and for one block at least. NULL: out of memory.
 * Free it with free. */
struct block_decoder *block_decoder_open(size_t text_nbytes);

/* ---- where blocks begin ---- */

/* Finds what seems to be the first block that begins at or behind an offset: data within a block may look like one, which
 * only blocks before it can tell. Several blocks are decoded. Returns false if no block follows. */
bool bgzf_seek(int fd, uint64_t offset, uint64_t size, uint64_t *block);

/* *block = the last place up to `end` where a block ends, of those that follow each other from a block's beginning on.
 * Costs a short read for each. False: the file cannot be read. */
bool bgzf_walk_blocks(int fd, uint64_t from, uint64_t end, uint64_t *block);

/* *place = that of the text's byte at an offset from the file's beginning. False: the file cannot be read. */
bool bgzf_find_text(int fd, uint64_t offset, uint64_t *place);

/* Threads that find the blocks of a large plain file before they are asked for.
 *
 * Where a block begins is told by the one before it: from block to block is one way through the file, at a short read for
 * each. 64 KiB of text cost 0.5 to 0.8 us so, which is 100 GB/s and more, but all who wait for their blocks are waiting
 * then, and each of them is woken in turn (docs/speed.md, "Inflate on a GPU"). Here threads go through one range of
 * the file each, from what seems to be the first block there. It is one if the blocks before it end there. Ranges that do
 * not go on like that are not used.
 */
struct block_ahead;

/* Starts threads for the file from `begin` on up to `end`, or to the file's end if that is less; it is cut in ranges of
 * range_nbytes. fd: not owned; it must stay open. NULL: the file has too few ranges for it to pay, or there are no threads. */
struct block_ahead *block_ahead_open(int fd, off_t begin, off_t end, off_t range_nbytes);

/* Ends the threads. NULL is good. */
void block_ahead_close(struct block_ahead *a);

/* Adds the lengths of blocks that begin at *position, which is where a block begins, as far as they have been found, the
 * batch has room, and they end at or before `end`; moves *position behind them. Waits for nothing. One thread at a time.
 * Returns whether it has met a block that the batch does not take, so that nothing is left to do; otherwise the next blocks are
 * to be found one by one. a: NULL: none have been found. */
bool block_ahead_walk(struct block_ahead *a, off_t *position, off_t end, struct block_batch *batch);

/* ---- the text from any place on ---- */

/* Reads a file block by block. One thread at a time. */
struct bgzf_text {
	struct deflate *deflate; /* owned */
	struct feed *feed; /* owned */
	off_t position; /* of the next block */
	size_t nskipped; /* bytes of the next block's text to leave out */
	/* The text read last. */
	unsigned char *text; /* of the whole block; owned */
	const char *data;
	size_t nbytes;
	uint64_t place; /* of data[0] */
};

/* Begins at a place. Errors: STATUS_NO_MEMORY. Free with bgzf_text_close in any case. */
enum status bgzf_text_open(struct bgzf_text *t, int fd, uint64_t place, struct fault *fault);
void bgzf_text_close(struct bgzf_text *t);

/* Reads the next block: data, nbytes, which may be 0, and place. *is_there: false: no whole block follows. Errors:
 * STATUS_READ, STATUS_DAMAGED, STATUS_NO_MEMORY. */
enum status bgzf_text_next(struct bgzf_text *t, bool *is_there, struct fault *fault);
