/* SPDX-License-Identifier: MIT
 *
 * emission.cuh - printing a chunk's records with their running totals, on the GPU.
 *
 * The CPU prints block by block (src/emit/cpu_folder.h); this prints all records of a chunk at
 * once, by scans: of values, for the totals; of scales, since a row prints with the largest scale
 * so far; and of the lengths of the rows, for their places.
 *
 *     emission_total_launch    for each new column: fields  -> totals up to each record
 *     emission_place_launch    record, totals               -> where each row begins
 *     emission_write_launch    record, totals, places       -> the text
 *
 * Totals have 128 bits, at one scale for the whole chunk. The caller must know that they fit.
 */
#ifndef GPUSTAT_EMISSION_CUH
#define GPUSTAT_EMISSION_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "query/plan.h"
}

#include "kernels/csv/fields.cuh"
#include "kernels/scan/scan.cuh"

/* The total of a group before the chunk. */
struct emission_carry {
	int128 total; /* at the column's scale; or the identity */
	int32_t scale; /* the largest so far */
};

/* One new column. n: the chunk's records. All pointers: device memory, 16-byte aligned; NULL if not
 * needed. */
struct emission_column {
	enum new_column_kind kind;
	uint32_t column; /* of the field table; not for NEW_BYTE_OFFSET */
	bool exclusive;
	int scale;       /* of carry and of totals: the largest of carry and chunk */
	int scale_before; /* of the total before the chunk */
	int128 carry;    /* the total before the chunk, or the identity. NEW_BYTE_OFFSET: the
			  * chunk's offset in the input. */
	const struct emission_carry *carries; /* by group, in place of carry and scale_before; NULL: no groups */
	int128 *totals;   /* n, for NEW_SUM, NEW_MIN, NEW_MAX, by group NEW_COUNT: without carry */
	int32_t *scales;  /* n, for the first three, if scale > scale_before, or by group > 0: the largest in the
			   * chunk */
	uint32_t *counts; /* n, for NEW_COUNT, NEW_OFFSET: without carry */
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
	const uint32_t *groups; /* nrecords: of carries; NULL: no groups */
};
#define EMISSION_KEEPS UINT32_MAX

/* The shapes of the scans on the device, and their memory. */
struct emission_scans {
#define SHAPE(fold) struct scan_shape fold;
	SCAN_FOLDS(SHAPE)
#undef SHAPE
	struct scan_memory memory;
};

/* Chooses the shapes for the current device. Errors: scan_shape_choose's. */
cudaError_t emission_scans_choose(struct emission_scans *scans);

/* Bytes that scan_memory_open wants for chunks of up to nrecords records. */
size_t emission_scans_nbytes(const struct emission_scans *scans, uint64_t nrecords);

/* The identity of NEW_MIN's or NEW_MAX's totals, as carry; 0 for the others. */
int128 emission_identity(enum new_column_kind kind);

/* Computes the totals of one new column, given in host memory; e.columns is not used. Launches up
 * to three kernels on stream, and does not wait. Errors: theirs. */
cudaError_t emission_total_launch(const struct emission &e, const struct emission_column &column,
				  struct emission_scans *scans, cudaStream_t stream);

/* Finds the rows' places. places: nrecords offsets in the output, device memory, 16-byte aligned;
 * *output_nbytes: the output's length, device memory.
 * Launches two kernels on stream, and does not wait. Errors: theirs. */
cudaError_t emission_place_launch(const struct emission &e, struct emission_scans *scans,
				  uint64_t *places, uint64_t *output_nbytes, cudaStream_t stream);

/* Writes the rows to output, device memory, or none of them if *output_nbytes > room_nbytes.
 * places, output_nbytes: as above.
 * Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t emission_write_launch(const struct emission &e, const uint64_t *places,
				  const uint64_t *output_nbytes, char *output,
				  uint64_t room_nbytes, cudaStream_t stream);

#endif
