/* SPDX-License-Identifier: MIT
 *
 * file_text.h - the text of a file that can be cut, a plain or a BGZF one, from a place within it on.
 *
 * A place in a plain file is an offset in bytes, in a BGZF file that of codec/bgzf.h.
 */
#ifndef GPUSTAT_FILE_TEXT_H
#define GPUSTAT_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "codec/bgzf.h"

#define FILE_TEXT_NBYTES ((size_t)512 << 10) /* a piece at most */

struct file_text {
	int fd;
	bool has_blocks;
	uint64_t next, end; /* places: of the next piece, and where the text ends */
	struct bgzf_text blocks;
	char *buffer; /* of a plain file; owned */
	/* The piece read last. Data is valid up to the next one. */
	const char *data;
	size_t nbytes;
	uint64_t place; /* of data[0]; data[i] has place + i */
};

/* Opens a file's text from a place on, up to `end`: the plain file's size; UINT64_MAX of a BGZF file. Free with
 * file_text_close in any case. Errors: STATUS_OPEN, STATUS_NO_MEMORY. */
enum status file_text_open(struct file_text *t, const char *path, bool has_blocks, uint64_t begin, uint64_t end);
void file_text_close(struct file_text *t);

/* Finds the first line that ends in the text, and *place of the byte behind its LF, which does not follow the byte escape, 0:
 * none. Reads pieces up to there. False: no line ends before the last byte, or the text cannot be read. */
bool file_text_find_line(struct file_text *t, char escape, uint64_t *place);

/* Reads the next piece. False: the text has ended, or *status. Errors: STATUS_READ, STATUS_SHRANK, STATUS_DAMAGED. */
bool file_text_next(struct file_text *t, enum status *status);

#endif
