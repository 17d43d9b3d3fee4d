/* SPDX-License-Identifier: MIT
 *
 * file_text.h - the text of a file that can be cut, a plain or a BGZF one, from a place within it on.
 *
 * A place in a plain file is an offset in bytes, in a BGZF file that of codec/gzip.h.
 */
#pragma once

#include "base/status.h"
#include "codec/gzip.h"
#include "csv/field.h"

#define FILE_TEXT_NBYTES ((size_t)512 << 10) /* a piece at most */

struct file_text {
	int fd;
	bool owns_fd;
	bool has_blocks;
	uint64_t next, end; /* places: of the next piece, and where the text ends */
	struct bgzf_text blocks;
	char *buffer; /* of a plain file; owned */
	/* The piece read last. Data is valid up to the next one. */
	const char *data;
	size_t nbytes;
	uint64_t place; /* of data[0]; data[i] has place + i */
	struct fault fault; /* STATUS_OK: none; without the file's name */
};

/* Begins with a file's text from a place on, up to `end`: the plain file's size; UINT64_MAX of a BGZF file. fd: not owned, and its
 * position is not used. Free with file_text_close in any case. Errors: STATUS_NO_MEMORY; of file_text_open, which opens the
 * file, STATUS_OPEN. */
enum status file_text_begin(struct file_text *t, int fd, bool has_blocks, uint64_t begin, uint64_t end);
enum status file_text_open(struct file_text *t, const char *path, bool has_blocks, uint64_t begin, uint64_t end);
void file_text_close(struct file_text *t);

/* Reads the next piece. False: the text has ended, or t->fault. Errors: STATUS_READ, STATUS_SHRANK, STATUS_DAMAGED. */
bool file_text_next(struct file_text *t);

/* Finds the first record that ends in the text, which is entered in *state, and *place of the byte behind its LF. state NULL: it
 * is not known, and a line is sought whose LF does not follow the dialect's escape byte. Reads pieces up to there. False: none
 * ends before the last byte, or t->fault. */
bool file_text_find_end(struct file_text *t, const struct csv_dialect *dialect, enum csv_state *state, uint64_t *place);

/* Finds where a file can be cut: *place behind the first line that ends at or behind an offset, in bytes as they are stored, and
 * behind the place `least`. start: of the text, from which places and offset are counted in a plain file; size: where it ends. In a BGZF
 * file the line ends in a block that begins there: walks: one that follows from the file's beginning; else one that seems
 * to be a block. Returns false if none does; *fault is set if the text could not be read, and else left alone. */
struct text_cut {
	int fd;
	bool has_blocks, walks;
	uint64_t start, offset, least, size;
};
bool file_text_cut(const struct text_cut *cut, const struct csv_dialect *dialect, uint64_t *place, struct fault *fault);
