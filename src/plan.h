/* SPDX-License-Identifier: MIT
 *
 * plan.h - what one run asks of every record: fixed before the first worker
 * starts, read by all of them, changed by none.
 */
#ifndef GPUSTAT_PLAN_H
#define GPUSTAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to do about a value that is no number, or a record without the field. */
enum invalid_policy {
	INVALID_ERROR, /* stop with a message */
	INVALID_SKIP,  /* leave it out, and say at the end how many there were */
	INVALID_TEXT,  /* the column is text, then: the summary's way */
};

/* One field that is read. */
struct plan_column {
	uint32_t field;      /* 0-based position in the record */
	const char *name;    /* header name, or colN; not owned */
	bool parses;         /* values must be numbers; false: only presence is counted */
	bool if_numeric;     /* selected by '*' or the summary: text is no error if the first
			      * value is text */
	enum invalid_policy invalid;
};

struct plan {
	char delimiter;
	bool one_column;       /* records have one field: a blank line is a missing value,
				* not nothing */
	enum invalid_policy short_record; /* ERROR or SKIP */
	size_t ncolumns;
	struct plan_column *columns; /* by field, ascending, no field twice */
	size_t nmissing;             /* spellings besides the empty field */
	const char *const *missing;  /* each NUL-terminated, blanks trimmed */
};

#endif
