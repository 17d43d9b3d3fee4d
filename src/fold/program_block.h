/* SPDX-License-Identifier: MIT
 *
 * program_block.h - runs programs (lang/program.h) for a block of rows: the plan's conditions, and the values of its computed
 * columns.
 *
 * A value is a number of the fast path, or a quotient that was rounded (number/quotient.h), or a raw field: text as in the input,
 * quotes and all, or a longer number. A quotient's field is what is printed, compared and used as a key; what is folded is the
 * quotient. To all that folds and prints, a computed column looks like one of the input. So that its fields have places, texts are
 * folded from a copy, after which there is room for them. A number becomes text only where someone asks for its field.
 *
 * Steps work on all rows at once. Rows with a value beyond the fast path are done one by one, with
 * number/exact.h, or by a look at their text.
 *
 * A step that cannot have a result, because its operand is not a number or a date, or the result is beyond the
 * range, leaves a wrong value: why it is wrong, and a field that shows it. It stays wrong through all later steps,
 * whatever its field looks like, and nobody judges the field again.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "csv/field.h"
#include "fold/row_block.h"
#include "lang/program.h"
#include "lang/time.h"
#include "query/plan.h"
#include "query/value.h"

struct aggregate_value; /* aggregates.h */

/* A value of each row. A row may have a number, or a field, or both, which are the same then. */
struct program_values {
	/* The plan's column that has what is not here: the numbers, unless has_numbers, and the fields; else NO_COLUMN. */
	uint32_t column;
	bool has_numbers;
	uint64_t numbers; /* rows with significand x 10^-scale */
	uint64_t empty;   /* rows of a column whose field has no byte */
	uint64_t fields;  /* rows with the field text[begin .. end); of no byte: the value is missing */
	uint64_t rounded; /* rows with a quotient, and no number; its field is made when one asks for it */
	uint64_t wrong;   /* rows with a wrong value; they have a field, and no number */
	const int64_t *significand; /* own_significand, or the block's of a column */
	const uint8_t *scale;       /* < DECIMAL_NSCALES */
	uint8_t why[ROW_BLOCK_NROWS]; /* enum status, of a wrong value */
	uint8_t own_scale[ROW_BLOCK_NROWS];
	int64_t own_significand[ROW_BLOCK_NROWS];
	uint32_t begin[ROW_BLOCK_NROWS], end[ROW_BLOCK_NROWS];
	const struct exact *quotient; /* of `rounded`: own_quotient, or those of a computed column */
	struct exact own_quotient[ROW_BLOCK_NROWS];
};

/* Rows where it is true whatever the values that are not numbers, and rows where it may be true, depending on them. */
struct truth {
	uint64_t low, high;
};

/* The value that leaves a condition without an answer. */
struct row_culprit {
	uint32_t column;        /* in the plan */
	enum status why;        /* what is wrong with it: not a number, out of range, too costly, ... */
	struct field_span field; /* which shows it */
};

/* One thread's memory for a program. All owned, but for the program. */
struct program_state {
	const struct program *program;
	bool is_computed; /* for the block: the others are set */
	struct program_values *values; /* the stack; of a computed column, values[0] are its own */
	struct truth *truths;  /* the stack */
	uint64_t *rows;        /* the stack of those that are evaluated */
	struct row_culprit (*culprits)[ROW_BLOCK_NROWS]; /* of each truth: in the rows that it leaves undecided */
	struct row_threshold *thresholds; /* DECIMAL_NSCALES for each test with a number */
	struct pattern_match **matches;   /* one for each pattern */
	uint32_t literals_offset;         /* in the data */
};

/* What the plan's conditions say of a block. */
struct row_filter {
	uint64_t kept;      /* rows where the plan's condition holds, if it has one */
	uint64_t undecided; /* rows left out because a condition has no answer */
	struct row_culprit culprit; /* in the first of them */
	uint64_t *holds;    /* plan->npredicates: of the kept rows, those where it holds. Owned. */
};

/* One thread's memory. All owned. */
struct program_block {
	const struct plan *plan;
	size_t first; /* columns first ... of the plan are computed: programs[0 .. plan->nlets); after them come its predicates */
	struct program_state *programs;
	struct scratch scratch[PROGRAM_NVALUES_MAX], room; /* of values that are read, and of a text that is made */
	/* Of the rows' groups, while the block is the same: the values of aggregates; NULL: it has none. */
	const struct aggregate_value *aggregates[ROW_BLOCK_NROWS];
	bool has_aggregates;
	struct text_buffer key_text; /* for a key */
	struct time_reader times;
	/* A text, literals, and the fields that were made since. data: with padding before it. */
	char *memory, *data;
	size_t text_nbytes, nbytes, capacity; /* text_nbytes: SIZE_MAX if there is no copy */
	size_t room_nbytes; /* for fields, at the next text */
	bool is_full;       /* a field found no room: what was folded is void */
	enum status status; /* STATUS_NO_MEMORY if memory ran out */
};

/* Errors: STATUS_NO_MEMORY; l can then be freed. */
enum status program_block_init(struct program_block *l, const struct plan *plan);
void program_block_free(struct program_block *l);

/* If plan->computes: copies text[0 .. nbytes), padded as simd.h says, from which rows are made from now on: l->data.
 * Errors: STATUS_NO_MEMORY, also for a text of which fields cannot be told apart by 32 bits. */
enum status program_block_begin(struct program_block *l, const char *text, size_t nbytes);

/* Makes more room for fields, after l->is_full; the text is then to be begun again. */
void program_block_widen(struct program_block *l);

/* Sets l->is_full if there is no room for nbytes. */
void program_block_need(struct program_block *l, size_t nbytes);

/* The block has other rows now. */
void program_block_forget(struct program_block *l);

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status row_filter_init(struct row_filter *f, const struct plan *plan);
void row_filter_free(struct row_filter *f);

/* Evaluates the predicates for the block's rows, which have all fields of the plan, and sets the
 * result. Errors: STATUS_NO_MEMORY. */
enum status row_filter_block(struct row_filter *f, struct program_block *l, struct row_block *b);

/* ---- computed columns ---- */

/* The numbers of the plan's column c, which is computed; they are put into the block's. */
const struct simd_numbers *program_block_numbers(struct row_block *b, size_t c);

/* The raw field of the plan's column c, which is computed, in a row. */
struct field_span program_block_field(const struct row_block *b, size_t c, unsigned row);

/* Writes where the fields of the plan's column c, which is computed, are: of each row, the byte before its field and that after it.
 * Returns whether a row shares the field of the one before: then their ends are the same. */
bool program_block_pairs(const struct row_block *b, size_t c, uint32_t *pairs);

/* Has each of some rows that has a number in the plan's column c, which is computed, have its field. Returns those rows. */
uint64_t program_block_number_fields(const struct row_block *b, size_t c, uint64_t rows);

/* The value of the plan's column c, which is computed and not wrong there, in a row: *text, until
 * the scratch is used again, of no bytes if it is missing. *is_number: it is one, in plain decimal
 * (of a quotient, as quotient_format writes it), or missing. Errors: STATUS_NO_MEMORY. */
enum status program_block_plain(struct row_block *b, size_t c, unsigned row,
				struct scratch *scratch, const char **text, size_t *nbytes,
				bool *is_number);

/* The number of the plan's column c in a row, as quotient_write writes it; NULL if it was not rounded, or the value is no
 * number, or the column is not computed. It lies among the fields. */
const char *program_block_rounded(const struct row_block *b, size_t c, unsigned row);

/* The rounded numbers of the plan's column c, which is computed: those of *rows. */
const struct exact *program_block_quotients(struct row_block *b, size_t c, uint64_t *rows);

/* How a field at data[begin] is read: VALUE_COMPUTED if it lies after the text, or 0. */
static inline unsigned program_block_how(const struct program_block *l, size_t begin)
{
	return begin >= l->text_nbytes ? (unsigned)VALUE_COMPUTED : 0u;
}

/* Those of some rows which have a quotient of numbers in the plan's column c, which is computed, if it is not made yet. It still is
 * not: to count them is cheaper. */
uint64_t program_block_quotients_not_made(struct row_block *b, size_t c, uint64_t rows);

/* Why the value of the plan's column c, which is computed, is wrong in a row; STATUS_OK: it is not. */
enum status program_block_why(const struct row_block *b, size_t c, unsigned row);

/* The rows in which the plan's column c, which is computed, is wrong. */
uint64_t program_block_wrong(struct row_block *b, size_t c);
