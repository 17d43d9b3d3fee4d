/* SPDX-License-Identifier: MIT
 *
 * source.h - one file: opened, recognised, inflated if need be, looked at before it is
 * taken.
 *
 * No locks: input.c has one thread at a time here. Errors name the file in fault:
 * STATUS_OPEN, STATUS_READ, STATUS_NO_MEMORY, STATUS_GZIP_*.
 */
#ifndef GPUSTAT_SOURCE_H
#define GPUSTAT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "io/read_ahead.h"
#include "base/status.h"

struct source {
	const char *name;     /* as messages print it; not owned */
	int fd;               /* -1: none open */
	struct ahead *packed; /* gzip or zstd; NULL: not compressed */
	bool at_end;          /* nothing more will come */
	/* Bytes read before they were wanted: data[begin .. end). The buffer is kept from
	 * file to file. */
	char *data;
	size_t begin, end, capacity;
};

/* Opens path, "-" being standard input, and recognises gzip and zstd by their first bytes. A
 * UTF-8 byte-order mark is dropped; *nskipped is its length, or 0. */
enum status source_open(struct source *s, const char *path, size_t *nskipped,
			struct fault *fault);

/* Closes the file; standard input stays open. */
void source_close(struct source *s);

/* Closes, and frees the buffer. */
void source_free(struct source *s);

/* Reads up to capacity bytes behind all peeked ones into to; 0 bytes: the end. */
enum status source_read(struct source *s, char *to, size_t capacity, size_t *nbytes,
			struct fault *fault);

/* The bytes peeked at, from the one at on; *nbytes of them. */
const char *source_peeked(const struct source *s, size_t at, size_t *nbytes);

/* Reads on until at least nbytes are peeked at, or the file ends. */
enum status source_peek(struct source *s, size_t nbytes, struct fault *fault);

/* Whether the bytes from the one at on are wanted[0 .. nbytes). Reads on only while what
 * is there is a true beginning of it: never waits for a byte that cannot matter. */
bool source_matches(struct source *s, size_t at, const char *wanted, size_t nbytes,
		    enum status *status, struct fault *fault);

/* Whether nothing is left from the peeked byte at on. Waits for one more byte. */
bool source_ends(struct source *s, size_t at, enum status *status, struct fault *fault);

/* Whether blocks of BGZF may come next, with nothing peeked at before them. */
bool source_has_blocks(const struct source *s);

/* Moves such blocks into the batch, as decoder_cut() does; at the end, sets at_end. */
enum status source_cut(struct source *s, struct bgzf_batch *batch, bool prompt,
		       struct fault *fault);

/* Finds a line at the beginning of what is left, perhaps behind blank lines: wanted, without its
 * line end. Returns the bytes up to its end, or 0 where it is not there; *blank: whether
 * there is nothing but blank lines. */
size_t source_find_line(struct source *s, const char *wanted, size_t wanted_nbytes, bool *blank,
			enum status *status, struct fault *fault);

/* Whether a read would return at once. */
bool source_is_ready(const struct source *s);

#endif
