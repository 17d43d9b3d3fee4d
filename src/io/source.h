/* SPDX-License-Identifier: MIT
 *
 * source.h - one file of the input: recognised and decompressed, peeked at, read in order or in
 * ranges.
 *
 * No locks: one thread at a time, except for source_read_range. Errors name the file in fault:
 * STATUS_OPEN, STATUS_READ, STATUS_NO_MEMORY, and what a codec reports.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "base/status.h"
#include "codec/gzip.h"
#include "csv/chunk.h"
#include "csv/field.h"
#include "io/reader.h"

enum source_state {
	SOURCE_UNOPENED,
	SOURCE_OPEN,
	SOURCE_CLOSED, /* what was peeked at may still be there */
};

/* What is read of a file of blocks; places are those of codec/gzip.h. */
struct source_cut {
	bool is_made;
	uint64_t first;      /* where the first record begins */
	uint64_t begin, end; /* UINT64_MAX: the file's end */
	char *tail;          /* of the block in which it ends; owned; NULL if it ends with a block, or the tail has been read */
	size_t tail_begin, tail_end;
};

/* Initially all 0 except for the path, nthreads and is_raw. */
struct source {
	const char *path; /* "-": standard input; not owned */
	int nthreads;     /* so many may decode; 0: one for each core */
	enum source_state state;
	int fd;
	atomic_uint nusers;        /* this, and the ranges being read; the last one closes fd */
	const struct codec *codec; /* NULL: not compressed */
	struct packed *packed;     /* what decodes it; NULL: not compressed */
	bool shared;               /* the caller's threads decode it, where its codec has sections, ... */
	bool prompt;               /* ... unless text is wanted as soon as the compressed bytes are there */
	bool is_raw;               /* bytes as they are, and not the run's input: no text need be in it, nothing is skipped */
	bool at_end;               /* all bytes have been peeked at, read, or cut to ranges */
	atomic_bool padded;        /* zero bytes behind compressed data were left out; after --head, a thread may still be reading */
	uint64_t nskipped;         /* bytes left out at the beginning: byte-order mark, header */
	uint64_t line;             /* of the first byte behind them */
	char *data;                /* peeked at: data[begin .. end) */
	size_t begin, end, capacity;
	bool is_plain;  /* a regular file whose size can be trusted: it can be read again */
	bool is_empty;  /* a file or a pipe without any byte */
	bool ranged;    /* a plain file, read in ranges */
	off_t size;     /* of a plain file when it was opened, or looked at */
	off_t start;    /* where reading began: standard input may have been read before */
	off_t position; /* ranged: of the next byte */
	off_t device_nbytes; /* while a device decodes: those of its bytes that fd_note_read has been told */
	struct source_cut cut; /* of a file of blocks, of which only some is read */
};

/* The name for messages. */
#define STDIN_NAME "<stdin>"
const char *source_name(const struct source *s);

/* Like fault_set, and names the file. */
enum status source_fail(const struct source *s, struct fault *fault, enum status status,
			int error_number);

/* Opens the file, finds its codec by its first bytes, and skips a UTF-8 byte-order mark.
 * Errors, besides those above: STATUS_IS_OUTPUT; STATUS_FOREIGN, a format that is not read. */
enum status source_open(struct source *s, struct fault *fault);

/* Closes the file, but not standard input, and frees the rest. Ranges can still be read. */
void source_close(struct source *s);

/* Closes a file that has been peeked at to its end. Keeps what was peeked at, and no more memory
 * than that takes. */
void source_settle(struct source *s);

/* Reads up to capacity bytes behind all peeked ones into to; 0 bytes: the end. */
enum status source_read(struct source *s, char *to, size_t capacity, size_t *nbytes,
			struct fault *fault);

/* Whether a thread of its own decodes it. */
bool source_has_thread(const struct source *s);

/* Whether source_read would return at once. May be false where only reading on can tell. */
bool source_is_ready(struct source *s);

/* Like source_read, but what was peeked at comes first. */
enum status source_take(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault);

/* The bytes peeked at, from the one at on; *nbytes of them. NULL: nothing was peeked at yet. */
const char *source_peeked(const struct source *s, size_t at, size_t *nbytes);

/* Reads on until at least nbytes are peeked at, or the file ends. */
enum status source_peek(struct source *s, size_t nbytes, struct fault *fault);

/* Skips the first nbytes of what was peeked at. */
void source_skip(struct source *s, size_t nbytes);

/* What stands before a file's first record: lines to skip, and Excel's sep=;. */
struct preamble {
	uint64_t nlines;             /* to skip in each file */
	bool seeks_delimiter;        /* a line sep=C sets the delimiter */
	bool is_settled;             /* a file with text in it has been opened: the delimiter is fixed */
	struct csv_dialect *dialect; /* not owned; its delimiter is set */
};

/* Skips the preamble of a file that was just opened, and reads on until the first line's end is
 * known, at most about a mebibyte.
 * Errors: the source's; STATUS_FEW_LINES where a file that is not empty has fewer lines than are to
 * be skipped; STATUS_DELIMITER_DIFFERS where sep= differs from the first file's delimiter;
 * STATUS_CR_LINES where CR ends lines, and LF none. */
enum status preamble_skip(struct preamble *p, struct source *s, struct fault *fault);

/* Whether source_cut may find blocks next. */
bool source_has_blocks(const struct source *s);

/* Whether a plain file has blocks behind what was peeked at, which any thread can read and decode. */
bool source_leaves_blocks(const struct source *s);

/* Moves blocks to the batch until it has no room for the next. Blocks of a plain file are only measured: the caller reads them
 * from batch->fd, and then calls source_release. Reads more; if prompt, only while the batch is empty or input need not be
 * waited for. If the batch stays empty, what is next is no block, or a block longer than all of the room. Sets at_end if the
 * stream is complete. Call it where source_has_blocks; source_read goes on after the blocks. Errors: STATUS_READ, if the batch
 * is empty; after blocks, the next call reads again. */
enum status source_cut(struct source *s, struct block_batch *batch, bool prompt,
		       struct fault *fault);

/* Whether its codec has sections, and the caller's threads decode them. */
bool source_has_sections(const struct source *s);

/* Whether the text that comes next can be decoded in sections. */
bool source_splits(const struct source *s);

/* Begins to decode in sections. Returns false if memory is short. source_join ends it; crc, text_nbytes: of the member's whole
 * text. */
bool source_split(struct source *s, struct sections *sections, size_t section_nbytes);
void source_join(struct source *s, uint32_t crc, uint64_t text_nbytes);

/* Whether it is plain, and compressed in a way that a device may decode. */
bool source_has_long_member(const struct source *s);

/* Where source_splits: has a device go on with the text. Returns false if it cannot. */
bool source_begin_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device);

/* Cuts the next text, up to nbytes. Returns false if there is no more. */
bool source_cut_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device,
			  size_t nbytes, struct device_text *text);

/* Ends that: the CPUs go on. Returns whether the member's data has ended. */
bool source_end_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device);

/* Gives back what source_cut_range or source_cut has lent of the file: the last one closes it. Any thread. */
void source_release(struct source *s);

/* Makes the source ranged if it is a plain file, and drops what was peeked at. Standard input is
 * left at its end, as if it had been read. Unless ranges are needed, a file that has been peeked at to its end is not read
 * again. */
void source_make_ranged(struct source *s, bool needs_ranges);

/* Cuts the next range, of up to capacity bytes. Returns its length; *position: where it begins.
 * source_read_range must be called for it. */
size_t source_cut_range(struct source *s, size_t capacity, off_t *position);

/* Reads a range of chunk->nbytes to where reader says. Any thread.
 * Errors: STATUS_SHRANK, STATUS_READ. */
enum status source_read_range(struct source *s, off_t position, const struct chunk *chunk,
			      const struct reader *reader, struct fault *fault);

/* Has only what lies between two places of a BGZF file's text be read: s->cut is that, which does not begin before the first
 * record. The file's blocks must end where a cut ends: else data in them were taken for blocks, which is an error. What was
 * peeked at is dropped. Errors, besides those above: STATUS_DAMAGED, STATUS_TRUNCATED, STATUS_TRAILING. */
enum status source_cut_text(struct source *s, uint64_t begin, uint64_t end, struct fault *fault);

/* Sets is_plain, is_empty and size of a file that has not been opened yet. */
void source_look(struct source *s);

/* The bytes of a plain file that fd_nbytes_read counts, compressed or not, once it has been read; 0 of what is empty.
 * UINT64_MAX: it is neither. */
uint64_t source_nbytes_stored(const struct source *s);

/* The length of a plain file, opened or not; 0 of what is empty. UINT64_MAX: unknown, or neither. */
uint64_t source_nbytes(const struct source *s);
