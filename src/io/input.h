/* SPDX-License-Identifier: MIT
 *
 * input.h - files and standard input as one stream of chunks.
 *
 * A worker thread reads the next chunk into its own buffer. Chunks of a plain file are ranges, read
 * by many threads at once. A pipe or a compressed stream is read by one thread at a time, while the
 * others fold. A thread of its own decodes a compressed stream (source.h), except for blocks,
 * which the worker threads decode (codec/gzip.h).
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "csv/chunk.h"
#include "csv/field.h"
#include "codec/gzip.h"
#include "io/reader.h"

struct device_inflate_ops;
struct input;
struct plan;
struct source; /* io/source.h */

/* Opens the first file; the others are opened when they are reached. paths: npaths names, "-" is
 * standard input; not copied. Compressed files, recognised by their first bytes, are decompressed;
 * a UTF-8 byte-order mark at a file's beginning is skipped. nthreads: so many may decompress, 0: one
 * for each core.
 * Errors, here and below, name the file in fault: STATUS_OPEN, STATUS_READ, STATUS_NO_MEMORY,
 * STATUS_DAMAGED, STATUS_TRUNCATED, STATUS_TRAILING, STATUS_SHRANK, STATUS_IS_OUTPUT,
 * STATUS_FOREIGN, and of struct input_headers. */
enum status input_open(struct input **out, const char *const *paths, int npaths, int nthreads,
		       struct fault *fault);
void input_close(struct input *in);

int input_nfiles(const struct input *in);

/* A file's name for messages. */
const char *input_name(const struct input *in, int file);

/* A file; and the first that will be read, which may be a blank one when all have been read. Before the first chunk is read
 * their bytes may be peeked at and skipped; what source.h says of them holds in one thread. */
struct source *input_source(const struct input *in, int file);
struct source *input_next(const struct input *in);

/* ---- before the first chunk is read ---- */

/* Skips what stands before the first record of each file, from the first one on, which has been opened: nlines lines, and, if
 * seeks_delimiter, a line sep=C, which sets the delimiter of the dialect. The dialect is the caller's, to the end. Errors:
 * preamble_skip's, here and where later files are opened. */
enum status input_skip_preamble(struct input *in, uint64_t nlines, bool seeks_delimiter, struct csv_dialect *dialect,
				struct fault *fault);

/* Peeks at a file's beginning: reads on until more than *nbytes bytes are there, or the file ends
 * (*at_end). *data stays valid until the next call. All earlier files must have been peeked at to
 * their ends; they are kept in memory. */
enum status input_peek(struct input *in, int file, const char **data, size_t *nbytes,
		       bool *at_end, struct fault *fault);

/* Makes this file the first that will be read. Earlier ones only count in offsets. */
void input_begin_with(struct input *in, int file);

/* What is done with the headers of files that are opened from now on. Called by one thread at a
 * time, perhaps under the input's lock, in the order of the files. Errors are the caller's. */
struct input_headers {
	void *context; /* not owned */

	/* The file has been opened: input_peek may be called for it. Sets *nbytes to the length of
	 * its header and all before it, which is then skipped. */
	enum status (*find)(void *context, struct input *in, int file, size_t *nbytes,
			    struct fault *fault);

	/* The file's first chunk is next. Sets *plan, which is NULL, to that of its chunks if it is
	 * not the run's. */
	enum status (*place)(void *context, const struct input *in, int file,
			     const struct plan **plan, struct fault *fault);
};
void input_expect_headers(struct input *in, const struct input_headers *headers);

/* How the input is read; set before the first chunk is read. All 0: the defaults. */
struct input_setup {
	/* Undoes input_share_decoding: for threads that read a chunk before the last one is finished. Such a thread would wait
	 * for the turn of its section while others, which have the turns before, wait for its chunk. */
	bool decodes_alone;
	/* A chunk ends early where the next byte of a pipe would have to be waited for: records are printed as they come.
	 * Otherwise chunks are filled. */
	bool is_prompt;
	/* Chunks are worked on in their order: each one waits for the one before. A section's text then is to fit into one. */
	bool is_ordered;
	/* A device decodes the members of plain files, as far as it can, and the CPUs the rest. NULL: none does. Not owned. */
	const struct device_inflate_ops *device_ops;
	int device; /* its number */
};
void input_set_up(struct input *in, const struct input_setup *setup);

/* The text that it has decoded, of all files. */
uint64_t input_device_nbytes(const struct input *in);

/* Has all threads that read chunks decode compressed data, where its format can be decoded in
 * sections. Before anything is peeked at beyond the first file's beginning. Errors:
 * STATUS_NO_MEMORY. */
enum status input_share_decoding(struct input *in);

/* The length of all files that will be read if they are plain, else UINT64_MAX. */
uint64_t input_nbytes_left(const struct input *in);

/* The bytes of all files as they are stored, compressed or not, if they are plain, else UINT64_MAX.
 * fd_nbytes_read grows to this. */
uint64_t input_nbytes_stored(const struct input *in);

/* Whether all files are plain, compressed or not: they can be read a second time. */
bool input_is_repeatable(const struct input *in);

/* Has what is decoded in sections call the watcher. Before the first chunk is read. */
void input_watch_sections(struct input *in, section_watcher *watcher);

/* What has been decoded in sections, of all files; 0 sections: nothing. */
struct section_totals input_sections(struct input *in);

/* A range of a file that consists of whole lines. */
struct input_range {
	uint64_t begin, end, size; /* offsets in the file, and its size: has_blocks: places (codec/gzip.h) */
	bool has_blocks;           /* it is of a BGZF file */
	uint64_t nlines_before;    /* once input_count_before has been called */
};

/* Reads only the k-th of n ranges of the first file's records, 1 <= k <= n; all have about the same
 * length. A border lies behind the first LF from a place on that n and the file's size give, so each run finds
 * the same, but not behind one that follows the dialect's escape byte. A BGZF file is cut by its blocks, whose headers are all
 * read. After the header has been skipped. is_quoted: the range begins inside quotes.
 * Errors: STATUS_NOT_PLAIN, STATUS_READ. */
enum status input_cut_range(struct input *in, uint64_t k, uint64_t n, bool is_quoted, const struct csv_dialect *dialect,
			    struct input_range *out, struct fault *fault);

/* A slice of the input: from an offset of one file up to one of the same file or a later one. 0: the whole beginning
 * of the file, UINT64_MAX: up to its end. Other offsets stand behind an LF: in a plain file, in bytes from the beginning; in
 * a BGZF file they are places (codec/gzip.h), from which offsets in the input are counted then. Where they lie before the
 * file's first record, they stand for that. */
struct input_slice {
	int first, last; /* files */
	uint64_t begin, end;
	uint64_t nlines_before; /* of the first file, if begin > 0; 0: lines are counted from the slice's first */
};

/* Has only a slice be read, before the first chunk; it does not begin before the file of the header. Offsets begin with its first file. An
 * unfinished record at an end within a file goes on in the next slice. After the header has been skipped. */
void input_use_slice(struct input *in, const struct input_slice *slice);

/* So many lines stand before the slice in its first file. */
void input_count_slice_from(struct input *in, uint64_t nlines_before);

/* Where the slice ends within its last file, which has been read: not before the first record. */
uint64_t input_slice_end(const struct input *in);

/* Counts the lines before the range, for messages. Errors: STATUS_OPEN, STATUS_READ, STATUS_SHRANK. */
enum status input_count_before(const struct input *in, struct input_range *range, struct fault *fault);

/* Has offsets begin behind nbytes of other inputs. */
void input_begin_at(struct input *in, uint64_t nbytes);

/* ---- reading: any thread ---- */

/* Reads the next chunk, as long as the reader has room for. Returns false at the input's end.
 * Otherwise *status tells how reading went; if it failed, chunk->index still is the chunk's place
 * in the order. */
bool input_read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		      enum status *status, struct fault *fault);

/* Whether the last chunk has been handed out, or input_stop() called. */
bool input_is_over(struct input *in);

/* Makes every later input_read_chunk return false. */
void input_stop(struct input *in);

/* Stops it, and what reads ahead of it: its descriptors are not read any more, so another input can read standard input from its
 * beginning. No chunk may be in the middle of being read. */
void input_end(struct input *in);
