/* SPDX-License-Identifier: MIT
 *
 * row_block.h - up to 64 rows of separator positions, so that a set of rows is a word of bits.
 *
 * Filters, folds and printing ask the block for a column's numbers, which are converted all at once
 * and kept until the block is set to other rows. The caller reads fields that are no plain numbers,
 * quoted ones for example.
 */
#pragma once

#include "csv/field.h"
#include "query/plan.h"
#include "query/value.h"
#include "csv/rows.h"
#include "simd/simd.h"
#include "base/status.h"

#define ROW_BLOCK_NROWS SIMD_NUMBERS_NROWS

struct program_block; /* program_block.h */

/* One thread's block. All memory owned. */
struct row_block {
	const struct plan *plan;
	struct program_block *programs; /* computes values; NULL unless plan->computes. Not owned. */
	bool missing_is_number;  /* a spelling of "missing" could pass for a number */
	bool may_be_missing[256]; /* by first byte: the value may be blank or such a spelling */
	const char *text;
	const uint32_t *ends; /* as in struct row_run */
	size_t stride;
	unsigned nrows;
	struct simd_numbers *numbers; /* plan->ncolumns */
	bool *has_numbers;            /* plan->ncolumns: numbers[c] is the block's */
	struct simd_hint *hints;      /* plan->ncolumns; ask row_block_hint */
};

/* Errors: STATUS_NO_MEMORY; b can then be freed. */
enum status row_block_init(struct row_block *b, const struct plan *plan);
void row_block_free(struct row_block *b);

/* How numbers of the plan's column c are spelled, for converting and folding them. */
static inline struct simd_hint *row_block_hint(struct row_block *b, size_t c)
{
	b->hints[c].decimal = b->plan->notation.decimal; /* here, since of many columns few may be asked for */
	return &b->hints[c];
}

/* Sets the block to the run's rows from `first` on, as many as fit. Returns their number. */
size_t row_block_set(struct row_block *b, const char *text, const struct row_run *run,
		     size_t first);

/* The first and the last of some rows, not none. */
static inline unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

static inline unsigned highest(uint64_t rows)
{
	return 63 - (unsigned)__builtin_clzll(rows);
}

/* A bit for each row. */
static inline uint64_t row_block_all(const struct row_block *b)
{
	return ~UINT64_C(0) >> (ROW_BLOCK_NROWS - b->nrows);
}

/* The row's ends[0]; its record begins after ends[-1]. */
static inline const uint32_t *row_block_ends(const struct row_block *b, unsigned row)
{
	return b->ends + row * b->stride;
}

/* One record as it is printed, with as many fields as the first: text[begin .. end), nlacking delimiters, and its
 * line end, text[line_end .. next). */
struct row_record {
	uint32_t begin, end, line_end, next, nlacking;
};

/* The record whose first separator is ends[0] and whose LF is ends[stride - 1]. nfields: those of the first
 * record. escape: the dialect's. */
static inline struct row_record row_record_at(const char *text, const uint32_t *ends, size_t stride,
					      uint32_t nfields, char escape)
{
	struct row_record r = {ends[-1] + 1, 0, ends[stride - 1], ends[stride - 1] + 1, 0};

	r.line_end -= (uint32_t)field_cr_nbytes(text, r.begin, r.line_end, escape);
	r.end = stride > nfields ? ends[nfields - 1] : r.line_end;
	r.nlacking = stride < nfields ? nfields - (uint32_t)stride : 0;
	return r;
}

/* The nfields of row_record_at: with --whitespace a blank at a line's end is no field, so a short record is whole. */
static inline uint32_t row_block_nfields(const struct row_block *b)
{
	uint32_t nfields = b->plan->ragged.nfields;

	return b->plan->dialect.whitespace && b->stride < nfields ? (uint32_t)b->stride : nfields;
}

/* The fields that the block's rows lack, all together. */
static inline size_t row_block_nlacking(const struct row_block *b)
{
	uint32_t nfields = row_block_nfields(b);

	return b->stride < nfields ? b->nrows * (nfields - b->stride) : 0;
}

/* Where faults in the value of column c in a row are said to be: its field, or that of the record's
 * first one if it was computed. */
size_t row_block_offset(const struct row_block *b, size_t c, unsigned row);

/* The same for a field of the row. */
size_t row_block_offset_of(const struct row_block *b, struct field_span field, unsigned row);

/* The raw field of the plan's column c in a row; if it is not there, no byte at the record's end. */
struct field_span row_block_field(const struct row_block *b, size_t c, unsigned row);

struct row_text {
	const char *text;
	size_t nbytes;
};

/* The same of rows[0 .. n), for a column that is not computed, as they are printed: fields[k] is that of row rows[k], without the
 * blanks around it that the dialect trims. */
void row_block_fields(const struct row_block *b, size_t c, const unsigned *rows, unsigned n, struct row_text *fields);

/* Sets values[row] of those of some rows that have a value in the plan's column c which is bytes of the text, and returns these rows.
 * None if the column is computed, or the dialect has escapes or blanks around fields. */
uint64_t row_block_plain_values(const struct row_block *b, size_t c, uint64_t rows, struct row_text values[ROW_BLOCK_NROWS]);

/* The numbers of the plan's column c; none if a number may mean "missing". */
const struct simd_numbers *row_block_numbers(struct row_block *b, size_t c);

/* The raw field of the plan's column c in a row, and what its bytes do not say. */
struct raw_field row_block_raw(const struct row_block *b, size_t c, unsigned row);

/* Reads the value of column c in a row, as value_read does. v->text is in the field, in the
 * scratch, or, of a computed number that was rounded, what quotient_write wrote. A computed value that is wrong is
 * neither a number nor missing, whatever its field looks like. */
enum status row_block_read(const struct row_block *b, size_t c, unsigned row, bool parses,
			   struct scratch *scratch, struct value *v);

/* Whether the value of a column that is not computed, without quotes, is missing. */
static inline bool row_block_is_missing(const struct row_block *b, const char *value, size_t nbytes)
{
	return nbytes == 0 || (b->may_be_missing[(unsigned char)*value] && value_is_missing(b->plan, 0, value, nbytes));
}

/* The result of row_block_value. ROW_QUOTED: bytes must be taken out of the field's midst, or it is a computed value that
 * is wrong. */
enum row_value { ROW_MISSING, ROW_PRESENT, ROW_QUOTED };

/* Classifies the field of column c in a row. At ROW_PRESENT sets *text and *nbytes to its value. */
enum row_value row_block_value(const struct row_block *b, size_t c, unsigned row,
			       const char **text, size_t *nbytes);
