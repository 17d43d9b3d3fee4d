/* SPDX-License-Identifier: MIT
 *
 * column.h - what a run of records folds to: the moments of each column.
 *
 * Identity: partial_clear. Combine: partial_combine(earlier, later), associative, always called in
 * this order of operands. The kernels of kernels/fold/ fold to the same numbers; a field that
 * neither they nor the SIMD folds can hold goes through column_add_field on the CPU.
 */
#pragma once

#include "base/status.h"
#include "csv/field.h"
#include "fold/key_memory.h"
#include "fold/moment.h"
#include "number/numbers.h"
#include "query/plan.h"
#include "query/value.h"

#define OFFSET_NONE SIZE_MAX

/* A column's kind, decided by its first value that is not missing. */
enum column_kind { COLUMN_UNKNOWN, COLUMN_NUMBER, COLUMN_TEXT };

/* One column over a run of records. Offsets are bytes from the start of the text
 * that was folded, OFFSET_NONE where there was none; they mean nothing after a
 * combine, which drops them. */
struct column_partial {
	struct numbers numbers;    /* also counts presence in a column that does not parse */
	struct moment_cells moments; /* what else the plan's column needs */
	uint64_t nmissing;
	uint64_t ninvalid;
	uint64_t nnuls; /* invalid values that are no texts either: with a NUL, or computed from a wrong one */
	enum column_kind kind; /* set by combine; ask column_kind() */
	bool is_mixed; /* it has two currencies: to the summary it is text. Set by total_check */
	size_t first_number_offset;  /* of the first number, or of its record's start */
	size_t first_invalid_offset; /* of the first invalid field's first byte */
	size_t first_nul_offset;     /* of the first of those that nnuls counts */
	size_t first_out_of_range_offset; /* of the first that is a number, but beyond the range of numbers */
};

/* With --money, the currencies of a column over a run of records; as there, a combine drops them. */
struct currencies_seen {
	size_t first_offset; /* of the first value that has one; OFFSET_NONE: none has */
	size_t other_offset; /* of the first that has another one than that */
	char first[NOTATION_CURRENCY_NBYTES + 1]; /* of that value */
};

/* A value that is complained about, as it was found: no field of the text needs to have it. */
struct bad_value {
	size_t offset;   /* of its field or, if it was computed, of its record; OFFSET_NONE: nothing is kept */
	enum status why; /* STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE, STATUS_NUL, STATUS_TOO_COSTLY, or what a function says */
	size_t nbytes;   /* of the value, without quotes and blanks around it; text has its start */
	char text[FAULT_DETAIL_NBYTES];
};

/* Of a computed column: the first invalid value, and the first of those that nnuls counts. Owned; NULL: none
 * has been noted yet. */
struct bad_values {
	struct bad_value *first, *first_nul;
};

struct pair;         /* pair.h */
struct window_fold;  /* window.h */
struct groups;       /* groups.h */

/* All columns of a plan over a run of records. Its arrays lie one after the other in the memory of columns. */
struct partial {
	size_t ncolumns, npredicates, npairs;
	struct column_partial *columns; /* ncolumns, in the plan's order. Owned. */
	struct pair *pairs;             /* npairs, in the plan's order */
	struct key_arena memory;        /* of what does not fit into these */
	size_t nwindows;
	struct window_fold *windows;    /* nwindows, in the plan's order; with keys, by group only */
	size_t nlets;
	struct bad_values *computed; /* of the last nlets columns; NULL in a group's partial */
	struct currencies_seen *currencies; /* ncolumns. Owned; NULL: no value with a currency has been seen */
	struct groups *groups; /* of a plan with keys: what is kept of columns and pairs, by group; a
				* column then has counts, kind and offsets only. NULL: none yet. Owned. */
	uint64_t *nmatched;             /* for each predicate, records where it holds */
	uint64_t nundecided; /* records for which a predicate compares text with a number */
	size_t first_undecided_offset; /* the first such value, and its column */
	uint32_t undecided_column;
	struct bad_value *undecided; /* that value. Owned; NULL: there has been none yet */
	size_t first_backward_offset; /* of the first time that is before the one before it, of
					 windows by time */
	uint64_t offset_bytes; /* of the folded text in the input: whoever folds sets it */
	size_t full_column; /* after STATUS_MANY_KEYS: whose values they are */
	uint64_t nkept;    /* with plan->head or a choice: records that are printed, or may be */
	uint64_t nrecords; /* taken, whether or not a predicate holds; blank lines do not count */
	uint64_t nragged;  /* records for which ragged_is_counted */
	size_t first_ragged_offset; /* where the first of them starts */
	uint64_t nheaders; /* records that are the header again, which are left out unless they are an error */
	size_t first_header_offset; /* where the first of them starts */
	/* Where a chunk's complete records lie; set by a worker's fold. Bytes before
	 * head_nbytes belong to a record that began in an earlier chunk: 0 if the chunk was
	 * entered between records, nbytes if that record does not end here either
	 * (head_ends is then false). Bytes from tail_offset on begin a record that does
	 * not end here; tail_offset is head_nbytes if no later record ends. */
	bool needs_entry; /* folded without knowing how the text is entered, and it matters */
	bool head_ends;
	size_t head_nbytes;
	size_t tail_offset;
	size_t open_field_offset; /* at the input's end: the field whose quote or escape is open */
	size_t first_stray_offset; /* where the first complete record with text after a closing
				    * quote starts */
};

/* Makes an empty partial for the plan's columns. STATUS_NO_MEMORY or STATUS_OK. */
enum status partial_init(struct partial *p, const struct plan *plan);

/* Like partial_init, but does nothing if p, zeroed before, is a partial already. A partial takes
 * 128 bytes a column or more, so threads make theirs when they need them. */
enum status partial_need(struct partial *p, const struct plan *plan);
void partial_free(struct partial *p);

/* Makes p the fold of no records. Keeps its memory. */
void partial_clear(struct partial *p);

/* Makes *kept the value text[0 .. nbytes), unless it has an earlier one. why: see struct bad_value; a value with a
 * NUL is never a number, but STATUS_NUL. Errors: STATUS_NO_MEMORY. */
enum status bad_value_keep(struct bad_value **kept, size_t offset, enum status why, const char *text,
			   size_t nbytes);

/* What p has kept of column c, which is computed. */
static inline struct bad_values *partial_computed(const struct partial *p, size_t c)
{
	return &p->computed[c - (p->ncolumns - p->nlets)];
}

/* p becomes the fold of p's records followed by later's, whose moments may then only be cleared or
 * freed. Until then, a fold may point into the text that was folded (keys.h). Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status partial_combine(struct partial *p, const struct partial *later);

/* Fills fault unless status, of what was done with p, is STATUS_OK: with STATUS_MANY_KEYS, it tells of whose values and how many.
 * Returns status. */
enum status partial_fault(const struct partial *p, const struct plan *plan, enum status status,
			  struct fault *fault);
/* These do for one column what the function of that name does for a partial's. Zeroed: no
 * values. */
void column_free(struct column_partial *column);
void column_clear(struct column_partial *column);
enum status column_combine(struct column_partial *column, const struct column_partial *later);

/* Adds a number beyond the fast path; needs: a set of enum moment. Errors: STATUS_NO_MEMORY. */
enum status column_add_long(struct column_partial *column, unsigned needs, const struct exact *x);

/* The kind of a column: that of the earliest value folded into it. */
enum column_kind column_kind(const struct column_partial *column);

/* Folds a number of either kind into a column; any other value changes nothing. needs: the plan's
 * column's. Errors: STATUS_NO_MEMORY. */
enum status column_add_number(struct column_partial *column, unsigned needs, const struct value *v);

/* Folds one field into column c of p: a number, a missing value, a wide number or text,
 * with or without quotes.
 * field: nbytes raw bytes of the record, with its quotes, without the CR of the line end.
 * offset: of field[0] in the folded text.
 * Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. A value that is no number is counted, not an error: total.c
 * decides what it means, in the order of all records. */
enum status column_add_field(const struct plan *plan, struct partial *p, size_t c, const char *field,
			size_t nbytes, size_t offset, struct scratch *scratch);

/* Like column_add_field, for a computed value. Sets *why to what is wrong with it, for struct bad_value: STATUS_OK where
 * it is a number or missing. */
enum status column_add_computed(const struct plan *plan, struct partial *p, size_t c, const struct raw_field *field,
				size_t offset, struct scratch *scratch, enum status *why);

/* Counts a value that is wrong both as a number and as a text. offset: as in column_add_field. */
void column_add_wrong(struct column_partial *column, enum status why, size_t offset);
