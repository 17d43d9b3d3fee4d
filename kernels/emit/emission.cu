/* SPDX-License-Identifier: MIT
 *
 * emission.cu - see emission.cuh.
 *
 * Rows differ in length, so their places are an exclusive scan of the lengths; a row that is not
 * printed has length 0, so that one scan both compacts and places (G. Blelloch, "Prefix sums and
 * their applications", CMU-CS-90-190, 1990).
 */
#include "kernels/emit/emission.cuh"
#include "kernels/csv/number_text.cuh"

#define EMISSION_NTHREADS 256

static __device__ uint32_t thread_row(void)
{
	return blockIdx.x * EMISSION_NTHREADS + threadIdx.x;
}

static uint32_t nblocks_of(uint32_t nrecords)
{
	return nrecords / EMISSION_NTHREADS + (nrecords % EMISSION_NTHREADS != 0);
}

/* ---- totals ---- */

/* Rescales every number to one scale; other values become the identity. */
__global__ static void __launch_bounds__(EMISSION_NTHREADS)
lift_numbers(struct field_table table, uint32_t nrecords, struct emission_column column,
	     int128 identity)
{
	uint32_t r = thread_row();

	if (r >= nrecords)
		return;
	unsigned code = table.code[field_at(table, column.column, r)];
	bool is_number = code < FIELD_NCODES_NUMBER;
	int128 x = table.significand[field_at(table, column.column, r)];
	if (is_number)
		(void)decimal_rescale(&x, column.scale - (int)code); /* fits: see emission.cuh */
	column.totals[r] = is_number ? x : identity;
	if (column.scales)
		column.scales[r] = is_number ? (int32_t)code : 0;
}

/* 1 for every number. */
__global__ static void __launch_bounds__(EMISSION_NTHREADS)
flag_numbers(struct field_table table, uint32_t nrecords, struct emission_column column)
{
	uint32_t r = thread_row();

	if (r < nrecords)
		column.counts[r] = table.code[field_at(table, column.column, r)] <
				   FIELD_NCODES_NUMBER;
}

/* Scans an array where it is. */
template <class F>
static cudaError_t scan_in_place(const struct scan_shape *shape, struct scan_memory *memory,
				 typename F::value *values, uint32_t n, bool exclusive,
				 cudaStream_t stream)
{
	return scan_launch<F>(shape, memory, {values, values, n, NULL, NULL, exclusive}, stream);
}

int128 emission_identity(enum new_column_kind kind)
{
	if (kind == NEW_MIN)
		return scan_min_i128::identity();
	return kind == NEW_MAX ? scan_max_i128::identity() : 0;
}

static cudaError_t scan_totals(const struct emission_column &c, struct emission_scans *scans,
			       uint32_t n, cudaStream_t stream)
{
	if (c.kind == NEW_MIN)
		return scan_in_place<scan_min_i128>(&scans->min_i128, &scans->memory, c.totals, n,
						    c.exclusive, stream);
	if (c.kind == NEW_MAX)
		return scan_in_place<scan_max_i128>(&scans->max_i128, &scans->memory, c.totals, n,
						    c.exclusive, stream);
	return scan_in_place<scan_sum_i128>(&scans->sum_i128, &scans->memory, c.totals, n,
					    c.exclusive, stream);
}

cudaError_t emission_total_launch(const struct emission &e, const struct emission_column &c,
				  struct emission_scans *scans, cudaStream_t stream)
{
	uint32_t n = e.nrecords;
	cudaError_t error;

	if (c.kind == NEW_BYTE_OFFSET || n == 0)
		return cudaSuccess;
	if (c.kind == NEW_COUNT || c.kind == NEW_OFFSET) {
		flag_numbers<<<nblocks_of(n), EMISSION_NTHREADS, 0, stream>>>(e.table, n, c);
		error = cudaGetLastError();
		return error != cudaSuccess ? error
					    : scan_in_place<scan_sum_u32>(&scans->sum_u32,
									  &scans->memory, c.counts,
									  n, c.exclusive, stream);
	}
	lift_numbers<<<nblocks_of(n), EMISSION_NTHREADS, 0, stream>>>(e.table, n, c,
								     emission_identity(c.kind));
	error = cudaGetLastError();
	if (error == cudaSuccess)
		error = scan_totals(c, scans, n, stream);
	/* The identity INT32_MIN, the exclusive maximum of no numbers, is below scale_before. */
	if (error == cudaSuccess && c.scales)
		error = scan_in_place<scan_max_i32>(&scans->max_i32, &scans->memory, c.scales, n,
						    c.exclusive, stream);
	return error;
}

/* ---- one field of one row ---- */

/* The value of a new column in a row. */
struct shown {
	int128 significand;
	int scale;
	bool is_empty;
};

static __device__ int128 without_zeros(int128 x, int nzeros)
{
	int128 divisor = 1;

	for (; nzeros > 0; nzeros--)
		divisor *= 10;
	return x / divisor;
}

/* The total before the chunk: of all records, or of those of the row's group. */
static __device__ struct emission_carry carry_of(const struct emission &e, const struct emission_column &c, uint32_t r)
{
	if (c.carries)
		return c.carries[e.groups[r]];
	return {c.carry, c.scale_before};
}

/* The total up to the row, at the largest scale so far: the division leaves no remainder. */
static __device__ struct shown show_total(const struct emission &e, const struct emission_column &c, uint32_t r)
{
	struct emission_carry before = carry_of(e, c, r);
	int128 in_chunk = c.totals[r], total;
	int scale = c.scale;

	if (c.kind == NEW_SUM)
		total = before.total + in_chunk;
	else if (c.kind == NEW_MIN)
		total = scan_min_i128::combine(before.total, in_chunk);
	else
		total = scan_max_i128::combine(before.total, in_chunk);
	if ((c.kind == NEW_MIN && total == scan_min_i128::identity()) ||
	    (c.kind == NEW_MAX && total == scan_max_i128::identity()))
		return {0, 0, true};
	if (c.scales)
		scale = c.scales[r] > before.scale ? c.scales[r] : before.scale;
	if (scale < c.scale)
		total = without_zeros(total, c.scale - scale);
	return {total, scale, false};
}

static __device__ struct shown show(const struct emission &e, const struct emission_column &c,
				    uint32_t r)
{
	bool is_empty;

	switch (c.kind) {
	case NEW_BYTE_OFFSET:
		return {c.carry + record_begin(e.records, r), 0, false};
	case NEW_COUNT:
		return {carry_of(e, c, r).total + (c.totals ? c.totals[r] : c.counts[r]), 0, false};
	case NEW_OFFSET:
		is_empty = e.table.code[field_at(e.table, c.column, r)] >= FIELD_NCODES_NUMBER;
		return {c.carry + c.counts[r], 0, is_empty};
	case NEW_SUM:
	case NEW_MIN:
	case NEW_MAX:
		break;
	case NEW_MEAN: /* CPUs print these: src/run/beyond_gpus.c */
	case NEW_VAR:
	case NEW_STDDEV:
		break;
	}
	return show_total(e, c, r);
}

/* ---- places ---- */

static __device__ bool row_is_kept(const struct emission &e, uint32_t r)
{
	if (e.kept_column != EMISSION_KEEPS)
		return e.table.code[field_at(e.table, e.kept_column, r)] != FIELD_ABSENT;
	uint32_t nfields = record_nfields(e.records, r);
	enum record_kind kind =
		record_kind_of(e.text, e.ragged, record_begin(e.records, r),
			       record_text_end(e.records, e.text.data, r), nfields);
	return record_is_taken(e.ragged, kind, nfields);
}

__global__ static void __launch_bounds__(EMISSION_NTHREADS)
measure(struct emission e, uint64_t *nbytes_of_row)
{
	uint32_t r = thread_row();
	uint64_t nbytes = 0;

	if (r >= e.nrecords)
		return;
	if (row_is_kept(e, r)) {
		uint32_t begin = e.only ? record_text_end(e.records, e.text.data, r)
					: record_begin(e.records, r);
		nbytes = record_end(e.records, r) - begin;
		nbytes += e.ncolumns - (e.only && e.ncolumns > 0); /* delimiters */
		for (uint32_t i = 0; i < e.ncolumns; i++) {
			struct shown x = show(e, e.columns[i], r);
			nbytes += x.is_empty ? 0 : number_text_nbytes(x.significand, x.scale);
		}
	}
	nbytes_of_row[r] = nbytes;
}

cudaError_t emission_place_launch(const struct emission &e, struct emission_scans *scans,
				  uint64_t *places, uint64_t *output_nbytes, cudaStream_t stream)
{
	measure<<<nblocks_of(e.nrecords), EMISSION_NTHREADS, 0, stream>>>(e, places);
	cudaError_t error = cudaGetLastError();

	if (error != cudaSuccess)
		return error;
	return scan_launch<scan_sum_u64>(&scans->sum_u64, &scans->memory,
					 {places, places, e.nrecords, NULL, output_nbytes, true},
					 stream);
}

/* ---- text ---- */

/* Writes to `to` what follows the record's own text: the new columns and the line end. */
static __device__ void write_columns(const struct emission &e, uint32_t r, uint32_t text_end,
				     char *to)
{
	for (uint32_t i = 0; i < e.ncolumns; i++) {
		struct shown x = show(e, e.columns[i], r);
		if (i > 0 || !e.only)
			*to++ = e.text.delimiter;
		if (!x.is_empty)
			to += decimal_format(x.significand, x.scale, to);
	}
	for (uint32_t end = record_end(e.records, r); text_end < end; text_end++)
		*to++ = e.text.data[text_end];
}

/* The warp copies nbytes bytes, neighbouring lanes neighbouring bytes. */
static __device__ void warp_copy(char *__restrict__ to, const char *__restrict__ from,
				 uint32_t nbytes)
{
#pragma unroll 4
	for (uint32_t i = warp_lane(); i < nbytes; i += WARP_NLANES)
		to[i] = from[i];
}

/* A thread writes the new columns of a row; the warp then copies its 32 records, one after the
 * other. */
__global__ static void __launch_bounds__(EMISSION_NTHREADS)
write_rows(struct emission e, const uint64_t *places, const uint64_t *output_nbytes, char *output,
	   uint64_t room_nbytes)
{
	uint32_t r = thread_row();
	uint32_t begin = 0, nbytes = 0;
	uint64_t place = 0;

	if (*output_nbytes > room_nbytes)
		return;

	/* 1. The new columns. A row that is kept has at least a byte, its LF. */
	if (r < e.nrecords) {
		place = places[r];
		uint64_t next = r + 1 < e.nrecords ? places[r + 1] : *output_nbytes;
		if (next > place) {
			uint32_t text_end = record_text_end(e.records, e.text.data, r);
			begin = record_begin(e.records, r);
			nbytes = e.only ? 0 : text_end - begin;
			write_columns(e, r, text_end, output + place + nbytes);
		}
	}

	/* 2. The records' own text. */
	for (unsigned left = __ballot_sync(WARP_ALL, nbytes > 0); left; left &= left - 1) {
		unsigned lane = (unsigned)__ffs((int)left) - 1;
		warp_copy(output + warp_broadcast(place, lane),
			  e.text.data + warp_broadcast(begin, lane), warp_broadcast(nbytes, lane));
	}
}

cudaError_t emission_write_launch(const struct emission &e, const uint64_t *places,
				  const uint64_t *output_nbytes, char *output,
				  uint64_t room_nbytes, cudaStream_t stream)
{
	write_rows<<<nblocks_of(e.nrecords), EMISSION_NTHREADS, 0, stream>>>(
		e, places, output_nbytes, output, room_nbytes);
	return cudaGetLastError();
}

/* ---- the scans ---- */

cudaError_t emission_scans_choose(struct emission_scans *s)
{
	cudaError_t error = cudaSuccess;

#define CHOOSE(fold)                                                   \
	if (error == cudaSuccess)                                      \
		error = scan_shape_choose<scan_##fold>(&s->fold);
	SCAN_FOLDS(CHOOSE)
	return error;
}

size_t emission_scans_nbytes(const struct emission_scans *s, uint64_t n)
{
#define NEEDED(fold) scan_memory_nbytes<scan_##fold>(&s->fold, n),
	const size_t needed[] = {SCAN_FOLDS(NEEDED)};
	size_t most = 0;

	for (size_t nbytes : needed)
		most = nbytes > most ? nbytes : most;
	return most;
}
