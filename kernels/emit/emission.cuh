/* SPDX-License-Identifier: MIT
 *
 * emission.cuh - printing a chunk's records with their running totals, on the GPU.
 *
 * The CPU prints block by block (src/emit/cpu_folder.h); this prints all records of a chunk at
 * once, by scans: of values, for the totals; of scales, since a row prints with the largest scale
 * so far; and of the lengths of the rows, for their places.
 *
 *     emission_order_launch    with groups: those that the fold found  -> the records, sorted by group
 *     emission_total_launch    for each new column: fields             -> totals up to each record, in its group
 *     emission_place_launch    record, totals                          -> where each row begins
 *     emission_write_launch    record, totals, places                  -> the text
 *
 * Totals have 128 bits, at one scale for the whole chunk. The caller must know that they fit. Records without groups are one
 * group. The scans and the sort are CUB's: the bus bounds a run that prints (docs/pipeline.md).
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "query/plan.h"
}

#include "kernels/csv/fields.cuh"

/* The total before the chunk, of all records or of a group's. */
struct emission_carry {
	int128 total; /* at the column's scale; or the identity. NEW_BYTE_OFFSET: the chunk's offset in the input */
	int32_t scale; /* the largest so far */
};

/* One new column. n: the chunk's records. All pointers: device memory; NULL if not needed. */
struct emission_column {
	enum new_column_kind kind;
	uint32_t column; /* of the field table; not for NEW_BYTE_OFFSET */
	bool exclusive;
	int scale; /* of carry and of totals: the largest of carry and chunk */
	struct emission_carry carry;
	const struct emission_carry *carries; /* by group, in place of carry, but for NEW_BYTE_OFFSET; NULL: no groups */
	int128 *totals;  /* n, but for NEW_BYTE_OFFSET: without carry */
	int32_t *scales; /* n, for NEW_SUM, NEW_MIN, NEW_MAX, if scale is larger than before: the largest in the chunk */
};

/* The records by group. All pointers: device memory; NULL: no groups. */
struct emission_order {
	const uint32_t *begins; /* ngroups: where the words of each group begin, the first of which is overwritten */
	uint64_t *words;        /* of the chunk's groups: src/fold/group_words.h */
	uint32_t first_key;     /* column of the field table, of which group_find has made such places, from 1 on */
	uint32_t ngroups;
	uint32_t *groups;  /* n: each record's group; ngroups: it has none, and is not printed */
	uint32_t *sorted;  /* n: the same, ascending */
	uint32_t *numbers; /* n: for the sort */
	uint32_t *records; /* n: the records in that order, those of a group in the input's */
};

/* A chunk that is printed. */
struct emission {
	struct text_view text;
	struct record_table records;
	struct field_table table;
	uint32_t nrecords;
	const struct emission_column *columns; /* ncolumns, device memory */
	uint32_t ncolumns;
	uint32_t kept_column; /* of table: FIELD_ABSENT in records that are not printed; or
			       * EMISSION_KEEPS: `ragged` alone decides */
	struct ragged_rule ragged;
	bool only;            /* without the record's own text */
	struct emission_order order;
	void *scratch; /* device memory, of scratch_nbytes */
	size_t scratch_nbytes;
};
#define EMISSION_KEEPS UINT32_MAX

/* Bytes of scratch for n records; SIZE_MAX: the runtime's failure. */
size_t emission_scratch_nbytes(uint32_t n);

/* The identity of NEW_MIN's or NEW_MAX's totals, as carry; 0 for the others. */
HD int128 emission_identity(enum new_column_kind kind)
{
	if (kind == NEW_MIN)
		return (int128)(~(uint128)0 >> 1);
	return kind == NEW_MAX ? (int128)((uint128)1 << 127) : 0;
}

/* Sorts the records by group. Launches some kernels on stream, and does not wait. Errors: theirs. */
cudaError_t emission_order_launch(const struct emission &e, cudaStream_t stream);

/* Computes the totals of one new column, given in host memory; e.columns is not used. Launches some kernels on stream, and
 * does not wait. Errors: theirs. */
cudaError_t emission_total_launch(const struct emission &e, const struct emission_column &column, cudaStream_t stream);

/* Finds the rows' places. places: nrecords + 1 offsets in the output, device memory; the last is its length. Launches some
 * kernels on stream, and does not wait. Errors: theirs. */
cudaError_t emission_place_launch(const struct emission &e, uint64_t *places, cudaStream_t stream);

/* Writes the rows to output, device memory, or none of them if the output is longer than room_nbytes. places: as above.
 * Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t emission_write_launch(const struct emission &e, const uint64_t *places, char *output, uint64_t room_nbytes,
				  cudaStream_t stream);
