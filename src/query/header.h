/* SPDX-License-Identifier: MIT
 *
 * header.h - the first records of the input: are there names, and which.
 */
#ifndef GPUSTAT_HEADER_H
#define GPUSTAT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/input.h"
#include "query/options.h"
#include "query/plan.h"
#include "query/select.h"
#include "base/status.h"

/* A field of one of the first records, its quotes removed. */
struct first_value {
	char *text; /* up to its first NUL; owned */
	bool is_missing, is_number, has_nul;
	bool has_no_byte; /* not even quotes */
	uint32_t nlines; /* LFs of the record before it */
};

struct first_record {
	size_t nfields; /* 0: there is no such record */
	struct first_value *values;
};

struct header {
	bool present;                  /* the first record is a header, and was skipped */
	const struct first_value *guess; /* the value that alone tells so; NULL: no guess was needed */
	size_t nfields;                /* of the first record; 0: the input is empty */
	bool ends_empty;               /* its last field has no byte */
	char **names;                  /* NULL for a column that has none. Owned. */
	size_t nnames;                 /* nfields, unless the input is empty */
	struct first_record record[2]; /* the first, and the second if it was asked for ... */
	bool has_second;               /* ... and is there: it may be a blank line */
	char *last_name; /* with --whitespace: of the second record's last field, if the header has
			  * more words; NULL: none. Owned. */
	char *line;                    /* a header that is present, or a later file's first record, as it came, with its line
					* end or none: line_nbytes. Owned. */
	size_t line_nbytes;
	int file;                      /* of the first */
	uint64_t line_number;          /* of the first */
	char other_delimiter;          /* the first records have one field each, and hold this byte */
	char doubtful_column[24];      /* the name of a fault's column */
	size_t nbytes;                 /* of the first, with blank lines before it */
	size_t begin, end; /* of the first, in those bytes, line end left out */
};

/* Reads the first record (and_second: two) of the input, without taking it out.
 * plan: gives the delimiter and the spellings of missing values.
 * Errors: input's, STATUS_OPEN_QUOTE, STATUS_NO_MEMORY. */
enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			bool and_second, struct fault *fault);

/* Like header_read, but reads the first record of one file; a file without records is one of no
 * fields. */
enum status header_read_file(struct header *h, struct input *input, int file,
			     const struct plan *plan, struct fault *fault);

/* Decides whether the first record is a header, as mode and the selections say, then
 * takes it out of the input and names the columns.
 * selections: nselections lists; all of them empty for the summary.
 * Errors: STATUS_NO_MEMORY; STATUS_DOUBTFUL_HEADER or STATUS_NUL for a first value that may be a
 * number or a name. */
enum status header_decide(struct header *h, struct input *input, enum header_mode mode,
			  const struct selection *selections, size_t nselections,
			  bool summary, struct fault *fault);

/* Gives the next column of an empty input the selector's name, if it is a name that no column has.
 * h->names has room. Errors: STATUS_NO_MEMORY. */
enum status header_add_name(struct header *h, const struct selector *s);

/* Whether the header was guessed, and all that is known of the next record is text as well. */
bool header_may_be_data(const struct header *h);

/* If the header, and perhaps blank lines, was all there was in its file, or the second record was
 * not asked for, reads the record after it, from the next file that has one; sets h->has_second. */
enum status header_read_second(struct header *h, struct input *input, const struct plan *plan,
			       struct fault *fault);

void header_free(struct header *h);

/* The name of a field, colN where the header has none; to be freed. NULL: out of memory. */
char *header_column_name(const struct header *h, size_t field);

#endif
