/* SPDX-License-Identifier: MIT
 *
 * bgzf_text.h - the text of a BGZF file from any place on, and where its blocks begin.
 *
 * A place in the text is the offset of a block in the file, times 65536, and the offset in the block's text: the virtual
 * offset of the SAM/BAM format specification, section 4.1.1. Places have the order of the text. The place of a byte is that
 * of the block which has it.
 */
#ifndef GPUSTAT_BGZF_TEXT_H
#define GPUSTAT_BGZF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

#define BGZF_PLACE(block, offset) ((uint64_t)(block) << 16 | (offset))
#define BGZF_PLACE_BLOCK(place) ((off_t)((place) >> 16))
#define BGZF_PLACE_OFFSET(place) ((size_t)((place) & 0xffff))

/* Reads a file block by block. One thread at a time. */
struct bgzf_text {
	int fd; /* not owned; its position is not used */
	void *state; /* of bgzf_blocks; owned */
	unsigned char *packed; /* owned: packed[begin .. end) is not used yet, and stands at position in the file */
	size_t begin, end;
	off_t position;
	size_t nskipped; /* bytes of the next block's text to leave out */
	/* The text read last. */
	unsigned char *text; /* of the whole block; owned */
	const char *data;
	size_t nbytes;
	uint64_t place; /* of data[0] */
};

/* Whether a file's beginning, nbytes of it, is a BGZF block's. */
bool bgzf_begins(const unsigned char *data, size_t nbytes);

/* Begins at a place. Errors: STATUS_NO_MEMORY. Free with bgzf_text_close in any case. */
enum status bgzf_text_open(struct bgzf_text *t, int fd, uint64_t place, struct fault *fault);
void bgzf_text_close(struct bgzf_text *t);

/* Reads the next block: data, nbytes, which may be 0, and place. *is_there: false: no whole block follows. Errors:
 * STATUS_READ, STATUS_DAMAGED, STATUS_NO_MEMORY. */
enum status bgzf_text_next(struct bgzf_text *t, bool *is_there, struct fault *fault);

/* Finds what seems to be the first block that begins at or behind an offset: data within a block may look like one, which
 * only blocks before it can tell. Several blocks are decoded. Returns false if no block follows. */
bool bgzf_seek(int fd, uint64_t offset, uint64_t size, uint64_t *block);

/* *block = the last place up to `end` where a block ends, of those that follow each other from a block's beginning on.
 * Costs a short read for each. False: the file cannot be read. */
bool bgzf_walk_blocks(int fd, uint64_t from, uint64_t end, uint64_t *block);

/* *place = that of the text's byte at an offset from the file's beginning. False: the file cannot be read. */
bool bgzf_find_text(int fd, uint64_t offset, uint64_t *place);

#endif
