/* SPDX-License-Identifier: MIT
 *
 * reduce.cuh - from columns of values to one fold a column, on the GPU.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/csv/fields.cuh"

/* The fold of a column's codes. */
struct column_tally {
	uint32_t nnumbers, nmissing, ninvalid;
	uint32_t scales;        /* bit s: there is a number of scale s */
	uint32_t first_number;  /* record number of the first one, UINT32_MAX: none */
	uint32_t first_invalid; /* record number of the first one, UINT32_MAX: none */
};

/* The results, and memory for the blocks' partials. Device memory. */
struct reduce_memory {
	struct column_tally *tally;           /* ncolumns: result */
	struct decimal_bin *bins;             /* ncolumns x DECIMAL_NSCALES: result; bin s is
					       * defined where bit s of tally.scales is set */
	uint128 *squares; /* ncolumns x DECIMAL_NSCALES, like bins: column_fold's result; NULL: not wanted.
			   * Of numbers that are squared: others are exceptions. */
	struct column_tally *partial_tallies; /* npartials */
	struct decimal_bin *partial_bins;     /* npartials x DECIMAL_NSCALES */
	uint32_t *ndone;                      /* ncolumns: zeroed once, left zero */
	uint32_t npartials;                   /* at least ncolumns: see reduce_npartials */
};

/* Sets *npartials to the number that keeps the current device busy with ncolumns columns: as many
 * as blocks run at once, and at least one a column. Errors: the runtime's. */
cudaError_t reduce_npartials(uint32_t ncolumns, uint32_t *npartials);

/* Reduces the codes of table's columns over records into memory->tally, as reduce_launch does. Launches one
 * kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t reduce_codes_launch(struct field_table table, struct record_table records,
				struct reduce_memory memory, cudaStream_t stream);

/* Reduces table's columns over records into memory->tally and memory->bins. The tally's
 * first_number and first_invalid become offsets in the text: of the record's start, and
 * of the field. ncolumns > 0.
 * Launches two kernels on stream, and does not wait. Errors: the launches'. */
cudaError_t reduce_launch(struct field_table table, struct record_table records,
			  struct reduce_memory memory, cudaStream_t stream);
