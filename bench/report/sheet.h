/* SPDX-License-Identifier: MIT
 *
 * sheet.h - records of a report, printed as a table, CSV or JSON (io/table.h).
 *
 * The caller adds the cells of one record after the other, each time in the same order. A cell has
 * a name, for CSV and JSON, and a heading, for a table; it is left out of a format whose one is
 * NULL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "io/table.h"

#define SHEET_NCOLUMNS_MAX 32 /* cells of one record that a format shows */

struct sheet {
	enum format format; /* FORMAT_TABLE, FORMAT_CSV or FORMAT_JSON */
	struct table table;
	size_t nrecords, ncells, capacity;
	bool lacks_memory;
};

/* Makes a sheet for nrecords records at most. sheet_print reports a lack of memory. */
void sheet_init(struct sheet *s, enum format format, size_t nrecords);

/* Begins the next record. */
void sheet_record(struct sheet *s);

/* Adds a cell, formatted as printf does. is_number: right-aligned in a table, not quoted in JSON
 * (so for true and false, too). An empty text is an unknown value: '-' in a table, empty in CSV,
 * and null in JSON if is_number. */
__attribute__((format(printf, 5, 6))) void sheet_cell(struct sheet *s, const char *name,
						      const char *heading, bool is_number,
						      const char *format, ...);

void sheet_text(struct sheet *s, const char *name, const char *heading, const char *text);

/* Adds a number with ndigits digits after the point. One that is not positive is unknown. */
void sheet_number(struct sheet *s, const char *name, const char *heading, double number,
		  int ndigits);

/* Adds a speed: 3 digits after the point below 10 GB/s, else 1. */
void sheet_gbps(struct sheet *s, const char *name, const char *heading, double gbps);

/* Prints and frees the sheet, after an error too. Errors: STATUS_NO_MEMORY, STATUS_WRITE. */
enum status sheet_print(struct sheet *s, struct fault *fault);
