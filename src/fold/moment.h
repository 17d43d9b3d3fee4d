/* SPDX-License-Identifier: MIT
 *
 * moment.h - what is kept of a column's numbers beyond count, sum and extremes.
 *
 * A moment is an ordered fold: an identity, numbers that are added, and an associative
 * combine(cell, later). Statistics are formulas over moments (statistic.h). Count, sum and
 * extremes are fused into one fold on every device (number/decimal.h), which is several times
 * as fast as three; every other moment is a file that defines one struct moment_ops, a bit of
 * enum moment (query/plan.h), and a row of MOMENTS.
 */
#pragma once

#include "base/json_text.h"
#include "base/status.h"
#include "number/decimal.h"
#include "number/exact.h"
#include "number/reciprocal.h"
#include "query/plan.h"
#include "query/value.h"
#include "simd/simd.h"

/* What the text of a cell is read for. */
struct moment_source {
	const struct plan_column *column; /* the plan's, to which the cell belongs */
	uint64_t offset_bytes; /* in the input, of the part's first byte */
	uint64_t count; /* of the numbers that the column has so far */
};

struct moment_ops {
	enum moment moment;
	size_t cell_nbytes; /* a cell whose bytes are all 0 is the identity */

	/* Makes the cell the identity. Keeps its memory. */
	void (*clear)(void *cell);

	/* Adds the numbers significand[i] x 10^-scale[i] for each bit i that is set in rows, of
	 * arrays for SIMD_NUMBERS_NROWS rows, or for one if rows is 1. NULL: the moment is one of
	 * texts. Errors: STATUS_NO_MEMORY. */
	enum status (*add)(void *cell, const int64_t *significand, const uint8_t *scale,
			   uint64_t rows);

	/* Adds a number that does not fit the fast path. NULL where add is. Errors: STATUS_NO_MEMORY. */
	enum status (*add_long)(void *cell, const struct exact *x);

	/* cell becomes the moment of cell's numbers followed by later's, whose memory it may take
	 * over: later may then only be cleared or freed. Errors: STATUS_NO_MEMORY, and what the
	 * moment's file says. */
	enum status (*combine)(void *cell, void *later);

	/* Frees what the cell owns, but not the cell. */
	void (*free)(void *cell);

	/* Whether the cell is the identity, whatever memory it has: it is not written then. */
	bool (*is_empty)(const void *cell);

	/* Writes the cell as one value of JSON, exactly: what parts are made of (partial_text.h). Or reads it: cell becomes the
	 * moment of cell's numbers followed by those of the text; of a long cell it is a piece. Errors, in j->status:
	 * STATUS_DAMAGED, STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
	void (*text)(void *cell, struct json_text *j, const struct moment_source *source);
};

/* All that is kept of a column's values, a moment a line:
 *
 *     CELL(id, type, ops, name)   of all records: CELL_id has the form of struct type and the functions of moment_ops, and is called
 *                                 name in the text of a column and in struct column_moments (statistic.h)
 *     STATE(id, name, type, its bytes, whether it is needed, if the column has any state)   of a group: GROUP_id, the functions of
 *                                 group_state_name (group.h); group_name() is its place
 *
 * The cells are written, and the states lie, in this order. */
#define MOMENTS(CELL, STATE) \
	STATE(NUMBERS, cell, struct group_cell, group_sums_nbytes(column->needs), true) /* count, sum, extremes and powers */ \
	CELL(SQUARES, exact, squares, squares) \
	CELL(CUBES, exact, cubes, cubes) \
	CELL(FOURTHS, exact, fourths, fourths) \
	CELL(RECIPROCALS, reciprocals, reciprocals, reciprocals) \
	STATE(RECIPROCALS, reciprocals, struct group_reciprocals, sizeof(struct group_reciprocals), column->needs & MOMENT_RECIPROCALS) \
	CELL(LOGS, logarithm_sum, logs, logs) \
	STATE(LOGS, logs, struct group_logs, sizeof(struct group_logs), column->needs & MOMENT_LOGS) \
	CELL(ENDS, ends, ends, ends) \
	STATE(ENDS, ends, struct kept_text, group_ends_nbytes(column), column->needs & MOMENT_ENDS) \
	STATE(TEXT_COUNT, text_count, uint64_t, sizeof(uint64_t), group_has_texts(column)) /* values that are no numbers */ \
	CELL(VALUES, values, values, values) \
	STATE(VALUES, values, struct values_list, sizeof(struct values_list), column->needs & MOMENT_VALUES) \
	CELL(TEXTS, texts, texts, texts) \
	STATE(TEXTS, texts, struct texts, sizeof(struct texts), column->needs & MOMENT_TEXTS) \
	CELL(KEYS, keys, keys, keys) /* of the column's values; if it parses, of its numbers */ \
	STATE(KEYS, keys, struct group_keys, sizeof(struct group_keys), column->needs & MOMENT_KEYS) \
	CELL(TEXT_KEYS, keys, keys, text_keys) /* if it parses, of the values that are no numbers */ \
	STATE(TEXT_KEYS, text_keys, struct group_keys, sizeof(struct group_keys), column->needs & MOMENT_KEYS && group_has_texts(column)) \
	STATE(QUOTIENTS, quotients, struct quotient_fold, sizeof(struct quotient_fold), keeps_quotients) /* rounded numbers */


#define MOMENTS_SKIP(...)
#define MOMENT_CELLS(CELL) MOMENTS(CELL, MOMENTS_SKIP)
#define GROUP_STATES(STATE) MOMENTS(MOMENTS_SKIP, STATE)

enum {
#define CELL(id, type, ops, name) CELL_##id,
	MOMENT_CELLS(CELL)
#undef CELL
	NCELLS
};

/* By cell. */
extern const struct moment_ops *const moment_table[NCELLS];

/* A column's cells. Allocated with the first one that is needed, and each of the others alone: an input may have 300,000
 * columns, of which nothing is asked but sums, or one cell. NULL: the identity. Owned. */
struct moment_cells {
	void **cells; /* NCELLS */
};

/* Cell i; NULL: the identity. */
static inline void *moments_cell(const struct moment_cells *m, int i)
{
	return m->cells ? m->cells[i] : NULL;
}

void moments_free(struct moment_cells *m);
void moments_clear(struct moment_cells *m);

/* These call the function of that name for every cell in `needs`, a set of enum moment.
 * Errors: STATUS_NO_MEMORY. */
enum status moments_add(struct moment_cells *m, unsigned needs, const int64_t *significand,
			const uint8_t *scale, uint64_t rows);
enum status moments_add_long(struct moment_cells *m, unsigned needs, const struct exact *x);

/* Makes cell i, unless it is there, and returns it; NULL: no memory. */
void *moments_need(struct moment_cells *m, int i);

/* m becomes the moments of m's numbers followed by later's, which may then only be cleared or freed.
 * Errors: STATUS_NO_MEMORY, and those of the moments' files. */
enum status moments_combine(struct moment_cells *m, const struct moment_cells *later);

/* ---- squares, cubes and fourth powers (moment_powers.c) ---- */

/* Their cells are numbers: the sum of the powers. Of numbers with up to `scale` digits after the point, it is an integer x
 * 10^(-power scale). */

/* ---- reciprocals (moment_logs.c) ---- */

struct reciprocals {
	struct reciprocal_sum sum;
	struct exact longer; /* what numbers beyond the fast path add to it */
};

/* ---- the first and the last value (moment_ends.c) ---- */

struct ends;

/* The numbers are kept apart where it is known only at the end whether the column is text. */
enum end { END_FIRST, END_FIRST_NUMBER, END_LAST, END_LAST_NUMBER, NENDS };

/* Makes a field of the plan's column c the value of an end, and sets *taken, unless the value is
 * missing, has a NUL, is no number where it must be one, or is not before the first or after the last so far. place: its
 * offset in the input, in bytes. The caller offers the fields of rows in order, or backwards for the last ones, until one
 * is taken. scratch: as in value_read. Errors: STATUS_NO_MEMORY. */
enum status ends_offer(struct ends *e, enum end end, const struct plan *plan, size_t c, uint64_t place,
		       const struct raw_field *field, struct scratch *scratch, bool *taken);

/* The value of an end. */
struct column_end {
	const char *text; /* as ends_text returns it, but without a NUL after it */
	size_t nbytes;
	uint64_t place;
	bool is_number;
};

/* Makes x the value of an end, unless that has one that is nearer to it. Errors: STATUS_NO_MEMORY. */
enum status ends_put(struct ends *e, enum end end, const struct plan *plan, const struct column_end *x,
		     struct scratch *scratch);

/* Sets *out to the value of an end, which belongs to e. Returns false if the end has no value. */
bool ends_get(const struct ends *e, enum end end, struct column_end *out);

/* Whether the end has a value. */
bool ends_has(const struct ends *e, enum end end);

/* The first or last value, or the number unless the column is one of text, as it is spelled: without its quotes, a number
 * without blanks around it. NUL-terminated; NULL if the column has no value. */
const char *ends_text(const struct ends *e, bool at_end, bool is_text);

/* Sets *out to the first or the last number, whose limbs are in the room. Returns false if no value is a number. */
bool ends_number(const struct ends *e, bool at_end, struct integer *room, struct exact *out);
