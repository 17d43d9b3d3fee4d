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
#include "query/remedy.h"
#include "query/select.h"
#include "base/status.h"

/* A field of one of the first records, its quotes removed. */
struct first_value {
	char *text; /* up to its first NUL; owned */
	bool is_missing, is_number, has_nul;
	bool has_no_byte; /* not even quotes */
	bool has_quotes;  /* which it does not need */
	uint32_t nlines; /* LFs of the record before it */
};

struct first_record {
	size_t nfields; /* 0: there is no such record */
	struct first_value *values;
};

/* How it is known whether the first record is a header. */
enum header_reason {
	HEADER_AS_SAID,      /* by --header */
	HEADER_ALL_NUMBERS,  /* it is data */
	HEADER_IS_NAMED,     /* it has the columns asked for, or one asked for is nowhere */
	HEADER_ABOVE_NUMBER, /* a text in it stands above a number */
	HEADER_DOUBTFUL,     /* it is not known: only the summary goes on */
};

struct header {
	bool present;                  /* the first record is a header, and was skipped */
	enum header_reason reason;
	const struct first_value *above_number; /* the text of HEADER_ABOVE_NUMBER */
	size_t nfields;                /* of the first record; 0: the input is empty */
	bool has_byte;                 /* the input has, be it a blank line */
	bool ends_empty;               /* its last field has no byte */
	bool is_numbers;               /* all its values, as they were read first */
	char **names;                  /* NULL for a column that has none. Owned. */
	size_t nnames;                 /* nfields, unless the input is empty */
	struct first_record record[2]; /* the first, and the second if it was read ... */
	bool has_second;               /* ... and is there: it may be a blank line */
	bool is_above_units;           /* see header_find_units */
	char *line;                    /* a header that is present, or a later file's first record, as it came, with its line
					* end if it has one: line_nbytes. Owned. */
	size_t line_nbytes;
	int file;                      /* of the first */
	uint64_t line_number;          /* of the first */
	struct word_layout *layout; /* of words below the header; NULL: it has one word, or no record below. Owned. */
	bool lacks_name;       /* each record looked at has one field more */
	size_t nwords_below;   /* of the record below, if it does not stand below the header's words; else 0 */
	struct other_fields other;     /* what separates fields, if the first records have one each; see remedy.h */
	size_t nbytes;                 /* of the first, with blank lines before it */
	size_t begin, end; /* of the first, in those bytes, line end left out */
};

/* Reads the first record of the input, without taking it out.
 * plan: gives the delimiter and the spellings of missing values.
 * Errors: input's, STATUS_OPEN_QUOTE, STATUS_NO_MEMORY. */
enum status header_read(struct header *h, struct input *input, const struct plan *plan,
			struct fault *fault);

/* Like header_read, but reads the first record of one file; a file without records is one of no
 * fields. */
enum status header_read_file(struct header *h, struct input *input, int file,
			     const struct plan *plan, struct fault *fault);

/* Reads the record below the first, without taking it out. If it has a fault or is in another file, there is
 * none: h->has_second. Errors: input's, STATUS_NO_MEMORY. */
enum status header_read_below(struct header *h, struct input *input, const struct plan *plan,
			      struct fault *fault);

/* With --whitespace, after header_read or header_read_file with a plan of neither layout nor number of fields, if the first
 * record may be a header: finds how the records below it in its file stand below its words, and sets h->layout, and the
 * header's fields by it. Errors: input's, STATUS_NO_MEMORY. */
enum status header_line_up(struct header *h, struct input *input, const struct plan *plan, struct fault *fault);

/* Fails if the header, which is present, has another number of words than the record below it, or begins with blanks, and that
 * record does not stand below it. Errors: STATUS_MISALIGNED. */
enum status header_check_words(const struct header *h, const struct input *input, struct fault *fault);

/* Sets h->is_above_units if the line below the first record is one of units, and the record below has a number in the place
 * of one. Errors: input's, STATUS_NO_MEMORY. */
enum status header_find_units(struct header *h, struct input *input, const struct plan *plan, struct fault *fault);

/* Which values of the first record are texts. */
struct header_texts {
	bool *is_text; /* of each field; not owned */
	size_t n;
};

/* Looks in the records below the first, one after the other, whether the first value that is not missing is a
 * number below any of the texts, and sets h->above_number. Ends as soon as that is known, after 100 records, and at
 * one that does not end within a mebibyte behind the first: no more is waited for. texts: changed.
 * Errors: input's, STATUS_NO_MEMORY. */
enum status header_find_number(struct header *h, struct input *input, const struct plan *plan,
			       struct header_texts *texts, struct fault *fault);

/* Returns # or % if the first record is more probably a comment than names: it begins so, and with a blank, or is one
 * field; else 0. */
char header_comment_sign(const struct header *h, const struct csv_dialect *dialect);

/* Sets h->lacks_name, of a header that is present, and fails if it is so and --ragged takes longer records: R and pandas
 * leave out the name of the first column. Looks no further than the first record that has not one field more.
 * Errors: input's, STATUS_NO_MEMORY, STATUS_ROW_NAMES. */
enum status header_check_row_names(struct header *h, struct input *input, const struct plan *plan,
				   struct fault *fault);

/* What a query knows of the header before the input is read. */
struct header_request {
	enum header_mode mode;
	const struct selection *const *selections; /* all that name columns */
	size_t nselections;
	bool summary;
	bool prints; /* records: the header, too, which waits for no record */
};

/* Decides whether the first record is a header, then takes it out of the input and names the
 * columns.
 * Errors: input's, STATUS_NO_MEMORY, STATUS_DOUBTFUL_HEADER. */
enum status header_decide(struct header *h, struct input *input, const struct plan *plan,
			  const struct header_request *request, struct fault *fault);

/* Gives the next column of an empty input the selector's name, if it is a name that no column has.
 * h->names has room. Errors: STATUS_NO_MEMORY. */
enum status header_add_name(struct header *h, const struct selector *s);

/* If the header, and perhaps blank lines, was all there was in its file, or the second record was
 * not asked for, reads the record after it, from the next file that has one; sets h->has_second. */
enum status header_read_second(struct header *h, struct input *input, const struct plan *plan,
			       struct fault *fault);

void header_free(struct header *h);

/* The name of a field, colN where the header has none; to be freed. NULL: out of memory. */
char *header_column_name(const struct header *h, size_t field);

#endif
