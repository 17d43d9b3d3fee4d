/* SPDX-License-Identifier: MIT
 *
 * fields.cuh - from records to columns of values, on the GPU.
 *
 * Every selected field of every complete record becomes a code and a significand. Fields that the
 * fast path cannot hold (decimal.h), or whose quotes must be rewritten, are listed as exceptions,
 * for column_add_field() on the CPU.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "lang/program.h"
}

#include "kernels/csv/records.cuh"

/* A field's code; below FIELD_NCODES_NUMBER: a number's scale. */
#define FIELD_NCODES_NUMBER DECIMAL_NSCALES
enum field_code {
	FIELD_MISSING = FIELD_NCODES_NUMBER,
	FIELD_INVALID,   /* not a number; its offset replaces the significand */
	FIELD_EXCEPTION, /* in the exception list */
	FIELD_ABSENT,    /* not folded: a blank line, or a ragged record that is not taken */
};

/* The fields of a chunk, column after column: field (c, r) at [c * stride + r]. After the plan's
 * columns comes one for each predicate: 0 in records where it is true, FIELD_MISSING in others. Then
 * comes one for each key: 0, and where its value lies in the text, the begin in the low half and the
 * end in the high.
 * Records that the plan's condition drops are FIELD_ABSENT in all columns. Device memory; stride is
 * a multiple of FIELD_ROWS_ALIGN, at least the number of records; both arrays begin at 16-byte
 * boundaries. */
struct field_table {
	int64_t *significand;
	uint8_t *code;
	size_t stride;
	uint32_t ncolumns;
};
#define FIELD_ROWS_ALIGN 16

static __device__ inline size_t field_at(const struct field_table &t, uint32_t c, uint32_t r)
{
	return (size_t)c * t.stride + r;
}

/* A field for the CPU: bytes [begin, end) of the text, with quotes, without the CR of the record's
 * end. Of a plan with keys, all of a record with its line end: nothing of it is in the table, or its fields
 * are in it, but are not to be added to a group. */
struct field_exception {
	uint32_t begin, end, column;
};
#define EXCEPTION_RECORD UINT32_MAX
#define EXCEPTION_TALLIED (UINT32_MAX - 1)

/* Receives exceptions in any order. list: capacity elements, device memory. The summary has the
 * number of all exceptions, listed or not. */
struct exception_list {
	struct field_exception *list;
	uint32_t capacity;
};

/* Counts an exception, and lists it if there is room. */
static __device__ inline void exception_add(const struct exception_list &exceptions, struct chunk_summary *summary,
					    struct field_exception exception)
{
	uint32_t i = atomicAdd(&summary->nexceptions, 1);

	if (i < exceptions.capacity)
		exceptions.list[i] = exception;
}

/* A plan's programs as the device sees them: npredicates conditions, then nlets computed columns, which are the last ones of the
 * table. All pointers: device memory. */
struct fields_programs {
	const struct step *steps; /* of all of them, one after the other; the index of a STEP_LOAD: if it is LOAD_TEST, the place
				   * of a span, else a column of the table */
	const uint32_t *end;      /* npredicates + nlets: where the steps of each end */
	const char *literals;
	uint32_t npredicates, nlets;
	uint32_t where;           /* the one that drops records, or FIELDS_NO_WHERE */
	const uint8_t *folds;     /* ncolumns: values are folded */
	const uint8_t *span_of;   /* ncolumns: the place of its span, if a test looks at it,
				   * or FIELDS_NO_SPAN */
	bool has_choices; /* a column has an if(): one without an answer is a fault even in a record that is dropped */
};
#define FIELDS_NO_WHERE UINT32_MAX
#define FIELDS_NO_SPAN UINT8_MAX
#define FIELDS_NSPANS_MAX 16 /* places for spans */
#define FIELDS_NKEYS_MAX 8

/* A struct plan as the device sees it. All pointers: device memory. */
struct fields_plan {
	const uint32_t *field;       /* ncolumns positions in the record, ascending */
	const uint8_t *parses;       /* ncolumns: values must be numbers */
	const uint8_t *keeps_keys;   /* ncolumns: of numbers, those that are no key numbers
				      * (src/fold/device_run.h) are exceptions */
	const char *missing;         /* the spellings, one after the other */
	const uint32_t *missing_end; /* nmissing: where each one ends */
	uint32_t nmissing;
	bool missing_is_number;      /* a spelling that could pass for a number */
	char quote;                  /* as in text_view */
	struct ragged_rule ragged;   /* blank lines are records if it has one field */
	struct sought_header sought; /* if a record is it, the CPU must fold the chunk */
	uint32_t ncolumns;           /* table has this many, and programs.npredicates, and nkeys */
	struct fields_programs programs; /* field, parses and programs.folds are of columns that are not computed */
	uint32_t nkeys;
	uint32_t key[FIELDS_NKEYS_MAX]; /* columns whose values are wanted as they are, in any order */
};

/* Fills table, and the members of the summary that fields writes, from the complete records of
 * text. summary: as records_ends left it. If it then counts undecided records, or more exceptions
 * than the list holds, the CPU must fold the chunk. Launches one kernel on stream, a thread a
 * record, and does not wait. Errors: the launch's. */
cudaError_t fields_launch(struct text_view text, struct record_table records,
			  struct fields_plan plan, struct field_table table,
			  struct exception_list exceptions, struct chunk_summary *summary,
			  cudaStream_t stream);
