/* SPDX-License-Identifier: MIT
 *
 * select.h - the COLS language: which columns an option means.
 */
#ifndef GPUSTAT_SELECT_H
#define GPUSTAT_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* One item of a COLS list, its quotes removed. */
struct selector {
	char *text; /* owned */
	bool quoted; /* only ever a name */
};

struct selection {
	size_t nselectors;
	struct selector *selectors; /* owned */
};

/* Fields first ... last (0-based) of the records, or every numeric column. */
struct field_range {
	uint32_t first, last;
	bool star;
};

/* No record has more fields; selectors beyond are unknown columns. */
#define FIELD_LIMIT ((uint32_t)1 << 24)

/* Cuts a COLS list into its items. Errors: STATUS_USAGE with the sentence in fault's detail
 * (an empty item, a quote that does not close), STATUS_NO_MEMORY. */
enum status selection_parse(const char *cols, struct selection *out, struct fault *fault);
void selection_free(struct selection *s);

/* What a selector says without looking at names: :N, N, colN, N-M, N-, -M or *, with
 * fields counted from 1, of records of nfields fields. nfields 0: nothing is known of
 * the records, any field may be. False: it says nothing, or names fields beyond. */
bool selector_by_position(const struct selector *s, size_t nfields, struct field_range *out);

/* Finds the fields that a selector means. names: nfields header names, NULL for a column
 * without one. An exact name wins over a position, but for :N.
 * Errors: STATUS_UNKNOWN_COLUMN with the selector as fault's value; STATUS_USAGE where
 * several columns have the name. */
enum status selector_resolve(const struct selector *s, char *const *names, size_t nfields,
			     struct field_range *out, struct fault *fault);

#endif
