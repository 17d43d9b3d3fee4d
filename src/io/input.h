/* SPDX-License-Identifier: MIT
 *
 * input.h - files and standard input as one stream of chunks.
 *
 * Workers take chunks themselves: whoever takes the next one reads it into its own
 * buffer. A plain regular file's chunks are read at their offsets, many at a time;
 * a pipe or a packed stream is read by one worker at a time while the others fold what
 * they took. What is packed is decoded ahead by a thread of its own (read_ahead.h), but for blocks
 * of BGZF, which say how long they are: a worker takes some, and inflates them itself.
 */
#ifndef GPUSTAT_INPUT_H
#define GPUSTAT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "base/status.h"

struct input;

/* Opens the first of the files; the others follow as they are reached. paths: npaths
 * names, "-" is standard input; not copied. Compressed files, by their first bytes, are
 * decompressed; a UTF-8 byte-order mark at a file's start is dropped.
 * Errors, here and below, name the file in fault: STATUS_OPEN, STATUS_READ,
 * STATUS_NO_MEMORY, STATUS_GZIP_*, STATUS_SHRANK. */
enum status input_open(struct input **out, const char *const *paths, int npaths,
		       struct fault *fault);
void input_close(struct input *in);

/* A file's name, as messages print it. */
const char *input_name(const struct input *in, int file);

/* The file in hand: before the first chunk is taken, the first that is not empty. */
int input_file(const struct input *in);

/* Looks at the stream's beginning without taking it: reads on until more than *nbytes
 * bytes of its first file are there, or that file ends (*at_end); empty files before it
 * are passed over, as by input_pass(). *data stays valid until the next call. Not to be
 * called once a chunk has been taken. */
enum status input_peek(struct input *in, const char **data, size_t *nbytes, bool *at_end,
		       struct fault *fault);

/* What has been peeked at and not been taken; *nbytes may be 0. */
const char *input_peeked(const struct input *in, size_t *nbytes);

/* Whether there are files after the one in hand. */
bool input_has_more_files(const struct input *in);

/* Passes over the file in hand, which was peeked at to its end, and opens the next. It is kept in
 * memory until input_go_back() or input_forget(). There must be a file after it. */
enum status input_pass(struct input *in, struct fault *fault);

/* Has the stream begin with the first of the files passed over. Errors: STATUS_NO_MEMORY. */
enum status input_go_back(struct input *in, struct fault *fault);

/* Leaves the files passed over out of the stream for good. */
void input_forget(struct input *in);

/* Takes the first nbytes of what was peeked at out of the stream. */
void input_skip(struct input *in, size_t nbytes);

/* Says that files after the first may repeat this first record, which is then skipped.
 * header: nbytes bytes without the line end; copied. required: a file that does not
 * repeat it is an error, STATUS_HEADER_DIFFERS. Errors: STATUS_NO_MEMORY. */
enum status input_expect_header(struct input *in, const char *header, size_t nbytes,
				bool required);

/* Says that records are printed as they come: a pipe's chunk then ends early where the
 * next byte would have to be waited for. Otherwise chunks are filled. */
void input_be_prompt(struct input *in);

/* Bytes still to come where that can be known (plain regular files only), else
 * UINT64_MAX. Files not reached yet are looked at, not opened. */
uint64_t input_nbytes_left(const struct input *in);

/* Whether the file in hand is decompressed by a thread of the input's own. */
bool input_has_thread(const struct input *in);

/* Takes the next chunk, reading as much as the reader has room for. Any thread.
 * Returns true with *chunk filled and *status telling how reading went: if it failed,
 * chunk->index still says where in the order. Returns false at the input's end. */
bool input_read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		enum status *status, struct fault *fault);

/* Whether the last chunk has been taken, or input_stop() called. Any thread. */
bool input_is_over(struct input *in);

/* Makes every later input_read_chunk return false. Any thread. */
void input_stop(struct input *in);

#endif
