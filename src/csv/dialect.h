/* SPDX-License-Identifier: MIT
 *
 * dialect.h - how an input writes CSV.
 */
#ifndef GPUSTAT_CSV_DIALECT_H
#define GPUSTAT_CSV_DIALECT_H

#include <stdbool.h>

struct csv_dialect {
	char delimiter;
	bool whitespace; /* fields are separated by runs of blanks, whatever the delimiter */
	/* 0: there is none */
	char quote;      /* around a field that holds separators */
	char escape;     /* the byte behind it is data */
	char comment;    /* as a line's first byte: the line is no record */
	bool one_column; /* records have one field: a blank line is a record with a missing value */
};

#endif
