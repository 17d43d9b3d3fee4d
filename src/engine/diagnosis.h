/* SPDX-License-Identifier: MIT
 *
 * diagnosis.h - what is wrong at a place of a text, in words: for the first error of a run, and for
 * the first of those values or records that are left out.
 */
#ifndef GPUSTAT_DIAGNOSIS_H
#define GPUSTAT_DIAGNOSIS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/column.h"
#include "query/plan.h"

/* A piece of the input that was folded as one: a chunk, or the seam. */
struct text {
	const char *data;
	size_t nbytes;
	int file;      /* which of the input's files */
	uint64_t line; /* of data[0] */
	/* The place whose line was counted last, so that a fault nearby costs little. */
	size_t counted_nbytes;
	uint64_t ncounted; /* LFs in data[0 .. counted_nbytes) */
};

/* Sets fault's line to that of data[offset], and its column to the plan's column c, if there is such a column. Where
 * compressed data begin in that line, they are the fault: STATUS_PACKED. Returns its status. */
enum status diagnose_place(const struct plan *plan, struct text *text, size_t offset, size_t c,
			   struct fault *fault);

/* Reads the value of column c, a field of the input, at offset into *out. why: what was found wrong with it. Errors:
 * STATUS_NO_MEMORY. */
enum status diagnose_read(const struct plan *plan, const struct text *text, size_t offset, size_t c,
			  enum status why, struct bad_value *out);

/* Sets fault to a value of column c that is complained about, with a remedy if there is one. Returns v->why or
 * STATUS_PACKED. */
enum status diagnose_value(const struct plan *plan, struct text *text, const struct bad_value *v, size_t c,
			   struct fault *fault);

/* Sets fault to the ragged record that begins at offset, STATUS_RAGGED, or to the header again that does,
 * STATUS_HEADER_AGAIN. Returns that.
 * Errors: STATUS_NO_MEMORY. */
enum status diagnose_ragged(const struct plan *plan, struct text *text, size_t offset,
			    struct fault *fault);

/* Sets fault to the text behind a closing quote in the record that begins at offset:
 * STATUS_STRAY_QUOTE, which it returns. Errors: STATUS_NO_MEMORY. */
enum status diagnose_stray(const struct plan *plan, struct text *text, size_t offset,
			   struct fault *fault);

/* Sets fault to the field at offset, which the file's end leaves open: STATUS_OPEN_QUOTE or
 * STATUS_OPEN_ESCAPE. Returns that. Errors: STATUS_NO_MEMORY. */
enum status diagnose_open(const struct plan *plan, struct text *text, size_t offset,
			  struct fault *fault);

/* A fault that ends no run. Its memory is one allocation, to be freed with free. */
struct note {
	enum status status;
	int file;
	uint64_t line;
	const char *column; /* the plan's */
	size_t value_nbytes, detail_nbytes; /* as in struct fault */
	char text[]; /* the remedy, NUL-terminated, and the detail */
};

/* Returns a copy of fault, which lies in the given file. NULL: out of memory. */
struct note *note_make(const struct fault *fault, int file);

/* Whether a is earlier in the input than b. The files of a state, -1, -2 ..., come before all others. */
bool note_is_before(const struct note *a, const struct note *b);

/* Sets fault to what was noted, but for its file. */
void note_read(const struct note *note, struct fault *fault);

#endif
