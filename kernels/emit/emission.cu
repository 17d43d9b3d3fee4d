/* SPDX-License-Identifier: MIT
 *
 * emission.cu - see emission.cuh.
 *
 * Rows differ in length, so their places are an exclusive scan of the lengths; a row that is not
 * printed has length 0, so that one scan both compacts and places (G. Blelloch, "Prefix sums and
 * their applications", CMU-CS-90-190, 1990).
 */
#include "kernels/emit/emission.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

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

/* ---- the order ---- */

static cudaError_t sort(void *scratch, size_t *nbytes, const struct emission_order &o, uint32_t n, cudaStream_t stream)
{
	int nbits = 1; /* a pass for each 8 bits of the groups' number, so few groups take one */

	while (nbits < 32 && o.ngroups >> nbits)
		nbits++;
	return cub::DeviceRadixSort::SortPairs(scratch, *nbytes, o.groups, o.sorted, o.numbers, o.records, n, 0, nbits,
					       stream);
}

/* Numbers the groups, in their first words. */
__global__ static void __launch_bounds__(EMISSION_NTHREADS)
number_groups(const __grid_constant__ struct emission_order o)
{
	uint32_t g = thread_row();

	if (g < o.ngroups)
		o.words[o.begins[g]] = g;
}

/* Finds each record's group. */
__global__ static void __launch_bounds__(EMISSION_NTHREADS)
find_groups(struct field_table table, uint32_t nrecords, const __grid_constant__ struct emission_order o)
{
	uint32_t r = thread_row();
	size_t at = field_at(table, o.first_key, r);

	if (r >= nrecords)
		return;
	o.groups[r] = table.code[at] == FIELD_ABSENT ? o.ngroups : (uint32_t)o.words[table.significand[at] - 1];
	o.numbers[r] = r;
}

cudaError_t emission_order_launch(const struct emission &e, cudaStream_t stream)
{
	const struct emission_order &o = e.order;
	size_t nbytes = e.scratch_nbytes;
	cudaError_t error;

	if (o.ngroups > 0)
		number_groups<<<nblocks_of(o.ngroups), EMISSION_NTHREADS, 0, stream>>>(o);
	find_groups<<<nblocks_of(e.nrecords), EMISSION_NTHREADS, 0, stream>>>(e.table, e.nrecords, o);
	error = cudaGetLastError();
	return error == cudaSuccess ? sort(e.scratch, &nbytes, o, e.nrecords, stream) : error;
}

/* ---- totals ---- */

/* The i-th record in the order, and its group. */
struct record_in_order {
	const uint32_t *records;
	__host__ __device__ uint32_t operator()(uint32_t i) const { return records ? records[i] : i; }
};
struct group_in_order {
	const uint32_t *sorted;
	__host__ __device__ uint32_t operator()(uint32_t i) const { return sorted ? sorted[i] : 0; }
};
struct same_group {
	__host__ __device__ bool operator()(uint32_t a, uint32_t b) const { return a == b; }
};

/* What the i-th record in the order adds to a column: its number at the column's scale, or 1 for it; or that number's scale. */
struct value_in_order {
	struct field_table table;
	enum new_column_kind kind;
	uint32_t column;
	int scale;
	bool is_scale;
	int128 none; /* for other values than numbers */
	struct record_in_order order;

	__host__ __device__ int128 operator()(uint32_t i) const
	{
		size_t at = (size_t)column * table.stride + order(i);
		unsigned code = table.code[at];
		int128 x;

		if (code >= FIELD_NCODES_NUMBER)
			return none;
		if (is_scale || kind == NEW_COUNT || kind == NEW_OFFSET)
			return is_scale ? code : 1;
		x = table.significand[at];
		(void)decimal_rescale(&x, scale - (int)code); /* fits: see emission.cuh */
		return x;
	}
};

struct total_of {
	enum new_column_kind kind;
	__host__ __device__ int128 operator()(int128 a, int128 b) const
	{
		return kind == NEW_MIN ? (b < a ? b : a) : kind == NEW_MAX ? (b > a ? b : a) : a + b;
	}
};

/* Scans the records' values, group by group in the order, and puts the results at the records. scratch: NULL: sets *nbytes. */
template <class T>
static cudaError_t scan(void *scratch, size_t *nbytes, const struct emission &e, const struct value_in_order &of, bool exclusive,
			T *results, cudaStream_t stream)
{
	const thrust::counting_iterator<uint32_t> first(0);
	auto groups = thrust::make_transform_iterator(first, group_in_order{e.order.sorted});
	auto values = thrust::make_transform_iterator(first, of);
	auto at = thrust::make_permutation_iterator(results, thrust::make_transform_iterator(first, of.order));
	const struct total_of total = {of.is_scale ? NEW_MAX : of.kind};

	if (exclusive)
		return cub::DeviceScan::ExclusiveScanByKey(scratch, *nbytes, groups, values, at, total, of.none,
							   e.nrecords, same_group(), stream);
	return cub::DeviceScan::InclusiveScanByKey(scratch, *nbytes, groups, values, at, total, e.nrecords, same_group(),
						   stream);
}

cudaError_t emission_total_launch(const struct emission &e, const struct emission_column &c, cudaStream_t stream)
{
	struct value_in_order of = {e.table, c.kind, c.column, c.scale, false, emission_identity(c.kind), {e.order.records}};
	size_t nbytes = e.scratch_nbytes;
	cudaError_t error;

	if (c.kind == NEW_BYTE_OFFSET || e.nrecords == 0)
		return cudaSuccess;
	error = scan(e.scratch, &nbytes, e, of, c.exclusive, c.totals, stream);
	of.is_scale = true;
	of.none = 0; /* not larger than the scale before */
	return error == cudaSuccess && c.scales ? scan(e.scratch, &nbytes, e, of, c.exclusive, c.scales, stream) : error;
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

/* The total up to the row, at the largest scale so far: the division leaves no remainder. */
static __device__ struct shown show_total(const struct emission_column &c, const struct emission_carry &before, uint32_t r)
{
	int128 total = total_of{c.kind}(before.total, c.totals[r]);
	int scale = c.scale;

	if (c.kind != NEW_SUM && total == emission_identity(c.kind))
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
	if (c.kind == NEW_BYTE_OFFSET)
		return {c.carry.total + record_begin(e.records, r), 0, false};
	const struct emission_carry &before = c.carries ? c.carries[e.order.groups[r]] : c.carry;
	switch (c.kind) {
	case NEW_COUNT:
		return {before.total + c.totals[r], 0, false};
	case NEW_OFFSET:
		return {before.total + c.totals[r], 0,
			e.table.code[field_at(e.table, c.column, r)] >= FIELD_NCODES_NUMBER};
	default: /* sums, minima, maxima; CPUs print all else: src/run/beyond_gpus.c */
		return show_total(c, before, r);
	}
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

	if (r > e.nrecords)
		return;
	if (r < e.nrecords && row_is_kept(e, r)) {
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

/* Replaces each of n lengths by the sum of those before it. If scratch is NULL, only sets *nbytes. */
static cudaError_t add_up(void *scratch, size_t *nbytes, uint64_t *lengths, uint32_t n, cudaStream_t stream)
{
	return cub::DeviceScan::ExclusiveSum(scratch, *nbytes, lengths, lengths, n, stream);
}

cudaError_t emission_place_launch(const struct emission &e, uint64_t *places, cudaStream_t stream)
{
	size_t nbytes = e.scratch_nbytes;

	measure<<<nblocks_of(e.nrecords + 1), EMISSION_NTHREADS, 0, stream>>>(e, places);
	cudaError_t error = cudaGetLastError();
	return error == cudaSuccess ? add_up(e.scratch, &nbytes, places, e.nrecords + 1, stream) : error;
}

size_t emission_scratch_nbytes(uint32_t n)
{
	struct emission e = {};
	size_t nbytes[6] = {}, most = 0;

	e.nrecords = n;
	e.order.ngroups = UINT32_MAX;
	if (sort(NULL, &nbytes[0], e.order, n, NULL) != cudaSuccess ||
	    add_up(NULL, &nbytes[1], NULL, n + 1, NULL) != cudaSuccess)
		return SIZE_MAX;
	for (int exclusive = 0; exclusive < 2; exclusive++)
		if (scan<int128>(NULL, &nbytes[2 + exclusive], e, {}, exclusive, NULL, NULL) != cudaSuccess ||
		    scan<int32_t>(NULL, &nbytes[4 + exclusive], e, {}, exclusive, NULL, NULL) != cudaSuccess)
			return SIZE_MAX;
	for (size_t needed : nbytes)
		most = needed > most ? needed : most;
	return most;
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
write_rows(struct emission e, const uint64_t *places, char *output, uint64_t room_nbytes)
{
	uint32_t r = thread_row();
	uint32_t begin = 0, nbytes = 0;
	uint64_t place = 0;

	if (places[e.nrecords] > room_nbytes)
		return;

	/* 1. The new columns. A row that is kept has at least a byte, its LF. */
	if (r < e.nrecords) {
		place = places[r];
		if (places[r + 1] > place) {
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

cudaError_t emission_write_launch(const struct emission &e, const uint64_t *places, char *output, uint64_t room_nbytes,
				  cudaStream_t stream)
{
	write_rows<<<nblocks_of(e.nrecords), EMISSION_NTHREADS, 0, stream>>>(e, places, output, room_nbytes);
	return cudaGetLastError();
}
