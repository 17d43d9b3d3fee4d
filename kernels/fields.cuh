/* SPDX-License-Identifier: MIT
 *
 * fields.cuh - from records to columns of values, on the GPU.
 *
 * Every selected field of every complete record becomes one code and one significand.
 * What the fast path cannot hold (see decimal.h), and what needs its quotes rewritten, is
 * listed as an exception, for column_take() on the CPU.
 */
#ifndef GPUSTAT_FIELDS_CUH
#define GPUSTAT_FIELDS_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "records.cuh"

/* What a field is. A code below FIELD_NCODES_NUMBER is a number's scale. */
#define FIELD_NCODES_NUMBER DECIMAL_NSCALES
enum field_code {
	FIELD_MISSING = FIELD_NCODES_NUMBER,
	FIELD_INVALID,   /* not a number; its offset stands in the significand's place */
	FIELD_EXCEPTION, /* in the exception list */
	FIELD_ABSENT,    /* not folded: a blank line, or a record that lacks a field */
};

/* The fields of a chunk, column after column: field (c, r) at [c * stride + r].
 * Device memory; stride is a multiple of FIELD_ROWS_ALIGN, at least the number of records;
 * both arrays begin at 16-byte boundaries. */
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

/* A field for the CPU: raw bytes [begin, end) of the text, quotes and all, the CR that
 * belongs to the record's end left out. */
struct field_exception {
	uint32_t begin, end, column;
};

/* Receives exceptions in any order. list: capacity elements, device memory. How many
 * there were, listed or not, is in the summary. */
struct exception_list {
	struct field_exception *list;
	uint32_t capacity;
};

/* A struct plan as the device sees it. All pointers: device memory. */
struct fields_plan {
	const uint32_t *field;       /* ncolumns positions in the record, ascending */
	const uint8_t *parses;       /* ncolumns: values must be numbers */
	const char *missing;         /* the spellings, one after the other */
	const uint32_t *missing_end; /* nmissing: where each one ends */
	uint32_t nmissing;
	bool one_column;
};

/* Fills table, and the summary's members that fields writes, from the complete records
 * of text. summary: as records_ends left it.
 * Launches one kernel on stream, a thread a record, and does not wait. Errors: the
 * launch's. */
cudaError_t fields_launch(struct text_view text, struct record_table records,
			  struct fields_plan plan, struct field_table table,
			  struct exception_list exceptions, struct chunk_summary *summary,
			  cudaStream_t stream);

#endif
