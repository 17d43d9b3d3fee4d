/* SPDX-License-Identifier: MIT
 *
 * header.h - the first records of the input: are there names, and which.
 */
#pragma once

#include "io/input.h"
#include "query/options.h"
#include "query/plan.h"
#include "query/remedy.h"
#include "lang/select.h"
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

/* Makes an index of the record's values. Errors: STATUS_NO_MEMORY. */
enum status first_record_index(struct name_index *names, const struct first_record *r);

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

/* Reads the record below the first, without taking it out. If it has a fault or is in another file, there is
 * none: h->has_second. Errors: input's, STATUS_NO_MEMORY. */
enum status header_read_below(struct header *h, struct input *input, const struct plan *plan,
			      struct fault *fault);

/* With --whitespace, after header_read, with a plan of neither layout nor number of fields, if the first
 * record may be a header: finds how the records below it in its file stand below its words, and sets h->layout, and the
 * header's fields by it. Errors: input's, STATUS_NO_MEMORY. */
enum status header_line_up(struct header *h, struct input *input, const struct plan *plan, struct fault *fault);

/* Sets h->is_above_units if the line below the first record is one of units, and the record below has a number in the place
 * of one. Errors: input's, STATUS_NO_MEMORY. */
enum status header_find_units(struct header *h, struct input *input, const struct plan *plan, struct fault *fault);

/* Returns # or % if the first record is more probably a comment than names: it begins so, and with a blank, or is one
 * field; else 0. */
char header_comment_sign(const struct header *h, const struct csv_dialect *dialect);

/* What a query knows of the header before the input is read. */
struct header_request {
	enum header_mode mode;
	const struct selector *const *selectors; /* all that name columns */
	size_t nselectors;
	bool summary;
	bool prints; /* records: the header, too, which waits for no record */
};

/* Decides whether the first record is a header, then takes it out of the input and names the
 * columns.
 * Errors: input's, STATUS_NO_MEMORY, STATUS_DOUBTFUL_HEADER. */
enum status header_decide(struct header *h, struct input *input, const struct plan *plan,
			  const struct header_request *request, struct fault *fault);

/* Adds the names of another file's first record that the header lacks: the second of one name is another column. Errors:
 * STATUS_NO_MEMORY. */
enum status header_unite(struct header *h, const struct first_record *r);

/* Whether a column is called text[0 .. nbytes). */
bool header_names_column(const struct header *h, const char *text, size_t nbytes);

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

/* ---- the headers of files after the first: columns are matched by name ---- */

/* A file whose header is not the first one's. */
struct file_header {
	bool differs;         /* its records need a plan of their own */
	bool has_other_names; /* or the same in another order */
	struct header header;
	struct plan plan; /* the run's, but for the places of the columns, which are owned */
	struct word_layout *layout; /* of words below its header; owned */
	char *line;       /* of its header, as it came; owned */
	uint32_t *places; /* of its plan; owned */
};

struct file_headers {
	const struct header *first;
	const struct plan *plan;    /* the run's */
	bool always;                /* the first record of each file is a header */
	struct name_index names;    /* of first, empty ones too */
	struct file_header *files;  /* one for each file of the input; owned */
	int nfiles;
};

/* Makes the plan of a file whose records have other fields than the run's: the run's plan, with columns of its own, which the caller
 * frees and places, and so many fields. Errors: STATUS_NO_MEMORY. */
enum status plan_of_file(struct plan *plan, const struct plan *run, size_t nfields, bool ends_empty);

/* Sets the header of a plan's file, without its line end, which the caller owns. is_sought: records are compared with it. */
void plan_use_header(struct plan *plan, const char *line, size_t nbytes, bool is_sought);

/* Has the input skip the header of each file after the first's, and give the file's chunks a plan of their own where
 * the header differs; where the first file's is not present, find what may be one. first and plan are not copied;
 * plan->columns and shares_header are read when a file's first chunk is.
 * Errors: STATUS_NO_MEMORY, and of the input, later: those of header_read;
 * STATUS_HEADER_UNCLEAR: the first record is no header for sure, and no data for sure; STATUS_HEADER_LATER: so is one
 * where the first file's is not present;
 * STATUS_HEADER_LACKS, STATUS_HEADER_REPEATS: a column of the plan is not in the header, or not as
 * often as in the first; STATUS_HEADER_DIFFERS if the plan shares_header. */
enum status file_headers_init(struct file_headers *f, const struct header *first, const struct plan *plan, bool always,
			      struct input *input);

/* Also for one that is all 0. */
void file_headers_free(struct file_headers *f);
