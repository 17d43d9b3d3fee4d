/* SPDX-License-Identifier: MIT
 *
 * let_block.h - the values of --let's columns for a block of rows.
 *
 * A value is a number of the fast path, or a raw field: text as in the input, quotes and all, or a
 * longer number, or a quotient that was rounded (number/quotient.h): its field is what is printed, compared
 * and used as a key, and behind it lies the text of the number that is folded. To all that folds and prints, a computed column looks like one of the input. So that
 * its fields have places, texts are folded from a copy, behind which there is room for them. A
 * number becomes text only where someone asks for its field.
 *
 * Steps work on all rows at once. Rows with a value beyond the fast path are done one by one, with
 * big_decimal.h.
 *
 * A step that cannot have a result, since its operand is no number or no date, or since the result is beyond the
 * range, leaves a wrong value: why it is wrong, and a field that shows it. It stays wrong through all later steps,
 * whatever its field looks like, and nobody judges the field again.
 */
#ifndef GPUSTAT_LET_BLOCK_H
#define GPUSTAT_LET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/field.h"
#include "fold/row_block.h"
#include "fold/row_filter.h"
#include "query/let.h"
#include "query/plan.h"
#include "query/value.h"

/* A value of each row. A row may have a number, or a field, or both, which are the same then. */
struct let_values {
	uint64_t numbers; /* rows with significand x 10^-scale */
	uint64_t fields;  /* rows with data[begin .. end); of no byte: the value is missing */
	uint64_t rounded; /* of those with fields only, rows with what quotient_write wrote at data[end] */
	uint64_t wrong;   /* rows with a wrong value; they have a field, and no number */
	uint8_t why[ROW_BLOCK_NROWS]; /* enum status, of a wrong value */
	int64_t significand[ROW_BLOCK_NROWS];
	uint8_t scale[ROW_BLOCK_NROWS]; /* < DECIMAL_NSCALES */
	uint32_t begin[ROW_BLOCK_NROWS], end[ROW_BLOCK_NROWS];
};

/* One computed column. */
struct let_column {
	const struct let *let;
	bool is_computed; /* for the block: the others are set */
	struct let_values values;
	uint64_t undecided; /* rows in which a condition has no answer */
	struct row_culprit culprits[ROW_BLOCK_NROWS];
	struct row_predicate *conditions;   /* one for each of if() */
	uint32_t literals_offset; /* in the data */
};

/* One thread's memory. All owned. */
struct let_block {
	const struct plan *plan;
	size_t nlets, first; /* columns first ... first + nlets - 1 of the plan */
	struct let_column *columns;
	struct let_values *stack, *top; /* a column may compute another one while its own values wait */
	struct field_span *spans; /* plan->ncolumns: for conditions */
	struct scratch scratch;
	/* A text, literals, and the fields that were made since. data: with padding before it. */
	char *memory, *data;
	size_t text_nbytes, nbytes, capacity;
	size_t room_nbytes; /* for fields, at the next text */
	bool is_full;       /* a field found no room: what was folded is void */
	enum status status; /* STATUS_NO_MEMORY if memory ran out */
};

/* Errors: STATUS_NO_MEMORY; l can then be freed. */
enum status let_block_init(struct let_block *l, const struct plan *plan);
void let_block_free(struct let_block *l);

/* Copies text[0 .. nbytes), padded as simd.h says, from which rows are made from now on: l->data.
 * Errors: STATUS_NO_MEMORY, also for a text of which fields cannot be told apart by 32 bits. */
enum status let_block_begin(struct let_block *l, const char *text, size_t nbytes);

/* Makes more room for fields, after l->is_full; the text is then to be begun again. */
void let_block_widen(struct let_block *l);

/* The block has other rows now. */
void let_block_forget(struct let_block *l);

/* The numbers of the plan's column c, which is computed; they are put into the block's. */
const struct simd_numbers *let_block_numbers(struct row_block *b, size_t c);

/* The raw field of the plan's column c, which is computed, in a row. */
struct field_span let_block_field(const struct row_block *b, size_t c, unsigned row);

/* The number of the plan's column c, which is computed, in a row, as what quotient_write wrote; NULL if it
 * was not rounded, or the value is no number. */
const char *let_block_rounded(const struct row_block *b, size_t c, unsigned row);

/* How a field at data[begin] is read: VALUE_COMPUTED if it lies behind the text, or 0. */
static inline unsigned let_block_how(const struct let_block *l, size_t begin)
{
	return begin >= l->text_nbytes ? (unsigned)VALUE_COMPUTED : 0u;
}

/* Why the value of the plan's column c, which is computed, is wrong in a row; STATUS_OK: it is not. */
enum status let_block_why(const struct row_block *b, size_t c, unsigned row);

/* The rows in which the plan's column c, which is computed, is wrong. */
uint64_t let_block_wrong(struct row_block *b, size_t c);

/* Adds to *undecided the rows in which a condition of if() is undecided, and sets *culprit to that of the first
 * such row, unless an earlier row is in *undecided. */
void let_block_undecided(struct row_block *b, uint64_t *undecided, struct row_culprit *culprit);

#endif
