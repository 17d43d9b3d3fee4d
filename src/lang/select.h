/* SPDX-License-Identifier: MIT
 *
 * select.h - the COLS language: parses a list of columns and finds their fields.
 */
#pragma once

#include "base/status.h"

/* One item of a COLS list, its quotes removed. */
struct selector {
	char *text;  /* owned */
	bool quoted; /* it is a name, never a position */
	bool is_aggregate; /* of an expression: it is no column but an aggregate, as sum(x) */
	uint32_t computed; /* it is the name of this computed column, counted from 1; 0: of none */
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

/* The most fields that a record can have; a selector beyond is an unknown column. */
#define FIELD_LIMIT ((uint32_t)1 << 24)

/* Computed columns count as fields from here on. */
#define FIELD_COMPUTED FIELD_LIMIT

/* Copies the quoted item that text begins with to `to`, its "" as ". Returns what follows the closing quote, or NULL if there is
 * none. */
const char *selector_unquote(const char *text, char *to);

/* Splits a COLS list into items, which are added to *out. Errors: STATUS_USAGE for an empty item or an open quote,
 * STATUS_NO_MEMORY. Free with selection_free, after an error too. */
enum status selection_parse(const char *cols, struct selection *out, struct fault *fault);
void selection_free(struct selection *s);

/* Reads a selector as a position: :N, N, colN, N-M, N-, -M or *, with fields counted from 1.
 * nfields: of each record; 0: unknown, any position counts. Returns false if the selector is not a
 * position, or lies beyond nfields. */
bool selector_by_position(const struct selector *s, size_t nfields, struct field_range *out);

/* Whether the selector never is a name: :N, N. */
bool selector_is_position(const struct selector *s);

/* The names of a header by name, then by field, so that many searches need not pass over all. */
struct name_index {
	struct name_entry {
		const char *name; /* not owned */
		uint32_t field;
	} *entries; /* owned; NULL: no index */
	size_t nentries;
};

/* Makes an empty index with room for n names. Errors: STATUS_NO_MEMORY. */
enum status name_index_init(struct name_index *index, size_t n);
void name_index_free(struct name_index *index);

/* Adds a field's name, which is not copied; name_index_sort then makes all of them searchable. */
void name_index_add(struct name_index *index, const char *name, size_t field);
void name_index_sort(struct name_index *index);

/* Makes an index of n names, except those that are NULL: members of the structs of an array, or an array of their own.
 * first: the first one; each_nbytes: from one to the next. Errors: STATUS_NO_MEMORY. */
enum status name_index_make(struct name_index *index, const void *first, size_t each_nbytes, size_t n);

/* The entries of a name, in order of their fields; *n of them. NULL if no field has that name. */
const struct name_entry *name_index_find(const struct name_index *index, const char *name,
					 size_t *n);

/* Finds a selector's fields. names: nfields header names, NULL for a column without one; index: of these, or NULL or without
 * entries. An exact name wins over colN and ranges. Errors: STATUS_UNKNOWN_COLUMN with the selector as
 * fault's value; STATUS_USAGE if several columns have the name. */
enum status selector_resolve(const struct selector *s, const struct name_index *index, char *const *names, size_t nfields,
			     struct field_range *out, struct fault *fault);
