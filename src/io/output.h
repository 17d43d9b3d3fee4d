/* SPDX-License-Identifier: MIT
 *
 * output.h - standard output: a stream for results, and a writer for records, which go past the stream.
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include "base/status.h"
#include "base/array.h"
#include "csv/field.h"
#include "io/curve.h"
#include "io/table.h"

/* Standard output, also where it is set to O_NONBLOCK, with which stdout would lose what it cannot
 * write at once. What is printed to stdout before comes before. */
FILE *output_stream(void);

/* Prints text to `to` as a field of the dialect, quoted or escaped if needed. With whitespace, a
 * blank in it becomes "_". is_first: of its line, where it may not begin a comment. */
void output_field(FILE *to, const char *text, const struct csv_dialect *dialect, bool is_first);

/* Whether output_field can: the text is read as it is, or the dialect can quote or escape it. */
bool output_field_fits(const char *text, const struct csv_dialect *dialect, bool is_first);

/* Has what was written so far written again, by a run that writes the same bytes, and leaves those out that standard
 * output has taken. */
void output_repeat(void);

/* Records to standard output. */
struct writer {
	bool owes_newline;   /* what is written ends inside a line */
	_Atomic uint64_t busy_ns; /* in which output was written; read by any thread */
	const struct row_format *format; /* of the records; NULL: as they came. Not owned */
	bool has_rows;       /* some have been written */
	struct table_rows *rows; /* takes them in place of standard output; not owned; NULL: none */
	struct curve *curve; /* takes the records in place of standard output; not owned; NULL: none */
};

/* Writes text. A file's last record may lack its LF; it gets one if anything follows.
 * Errors: STATUS_WRITE, STATUS_NO_MEMORY. */
enum status writer_write(struct writer *w, struct text_buffer *text, struct fault *fault);

/* Gives back disk blocks that are reserved, if any. Threads that still write wait meanwhile, and then reserve nothing. */
void output_trim(void);

/* Flushes standard output. Errors: STATUS_WRITE for this or an earlier write. */
enum status output_flush(struct fault *fault);

/* Flushes and closes standard output: some file systems report a full disk only then. Errors:
 * STATUS_WRITE. */
enum status output_close(struct fault *fault);
