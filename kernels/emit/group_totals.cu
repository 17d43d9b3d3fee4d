/* SPDX-License-Identifier: MIT
 *
 * group_totals.cu - see group_totals.cuh.
 *
 * Sorting is CUB's, as in kernels/fold/keep.cu: a pass for each 8 bits of the groups' number, so few groups take one.
 */
#include "kernels/emit/group_totals.cuh"

#include <cub/device/device_radix_sort.cuh>

#define TOTALS_NTHREADS 256
#define SCALE_BITS 6 /* of a scale; the group is in those above */
static_assert(DECIMAL_NSCALES <= 1 << SCALE_BITS && GROUP_TOTALS_NGROUPS_MAX < 1u << (31 - SCALE_BITS),
	      "a group and a scale fit an int32_t");

static __device__ uint32_t thread_item(void)
{
	return blockIdx.x * TOTALS_NTHREADS + threadIdx.x;
}

static uint32_t nblocks_of(uint32_t n)
{
	return n / TOTALS_NTHREADS + (n % TOTALS_NTHREADS != 0);
}

/* ---- the order ---- */

static cudaError_t sort(void *scratch, size_t *nbytes, const struct group_order &o, uint32_t n, cudaStream_t stream)
{
	int nbits = 1;

	while (nbits < 32 && o.ngroups >> nbits)
		nbits++;
	return cub::DeviceRadixSort::SortPairs(scratch, *nbytes, o.groups, o.sorted, o.numbers, o.records, n, 0, nbits,
					       stream);
}

size_t group_order_scratch_nbytes(uint32_t n)
{
	struct group_order most = {};
	size_t nbytes = 0;

	most.ngroups = UINT32_MAX;
	return sort(NULL, &nbytes, most, n, NULL) == cudaSuccess ? nbytes : SIZE_MAX;
}

/* Numbers the groups, in their first words. */
__global__ static void __launch_bounds__(TOTALS_NTHREADS)
number_groups(const __grid_constant__ struct group_order o)
{
	uint32_t g = thread_item();

	if (g < o.ngroups)
		o.words[o.begins[g]] = g;
}

/* Finds each record's group. */
__global__ static void __launch_bounds__(TOTALS_NTHREADS)
find_groups(struct field_table table, uint32_t nrecords, const __grid_constant__ struct group_order o)
{
	uint32_t r = thread_item();
	size_t at = field_at(table, o.first_key, r);

	if (r >= nrecords)
		return;
	o.groups[r] = table.code[at] == FIELD_ABSENT ? o.ngroups : (uint32_t)o.words[table.significand[at] - 1];
	o.numbers[r] = r;
}

cudaError_t group_order_launch(const struct emission &e, const struct group_order &o, cudaStream_t stream)
{
	size_t nbytes = group_order_scratch_nbytes(e.nrecords);
	cudaError_t error;

	if (nbytes == SIZE_MAX)
		return cudaGetLastError();
	if (o.ngroups > 0)
		number_groups<<<nblocks_of(o.ngroups), TOTALS_NTHREADS, 0, stream>>>(o);
	find_groups<<<nblocks_of(e.nrecords), TOTALS_NTHREADS, 0, stream>>>(e.table, e.nrecords, o);
	error = cudaGetLastError();
	return error == cudaSuccess ? sort(o.scratch, &nbytes, o, e.nrecords, stream) : error;
}

/* ---- totals ---- */

/* What a thread adds at place i of the order: the number of that record, or with `exclusive` of the one before. */
struct placed {
	uint32_t record;
	bool begins; /* its group */
	bool counts; /* it has a number to add */
};

static __device__ struct placed placed_at(const struct field_table &table, const struct emission_column &c,
					  const struct group_order &o, uint32_t i)
{
	bool begins = i == 0 || o.sorted[i - 1] != o.sorted[i];
	uint32_t r = o.records[c.exclusive && !begins ? i - 1 : i];
	unsigned code = table.code[field_at(table, c.column, r)];

	return {r, begins, code < FIELD_NCODES_NUMBER && o.sorted[i] < o.ngroups && !(c.exclusive && begins)};
}

/* Brings the column's numbers into the order, rescaled to one scale; other values become F's identity. */
template <class F>
__global__ static void __launch_bounds__(TOTALS_NTHREADS)
place_numbers(struct field_table table, uint32_t n, const __grid_constant__ struct emission_column c,
	      const __grid_constant__ struct group_order o)
{
	uint32_t i = thread_item();

	if (i >= n)
		return;
	struct placed p = placed_at(table, c, o, i);
	size_t at = field_at(table, c.column, p.record);
	int128 x = F::unpack(F::identity());
	if (p.counts) {
		x = c.kind == NEW_COUNT ? 1 : table.significand[at];
		if (c.kind != NEW_COUNT)
			(void)decimal_rescale(&x, c.scale - (int)table.code[at]); /* fits: see group_totals.cuh */
	}
	o.values[i] = F::pack(x, p.begins);
}

/* Brings the totals back to their records. identity: emission_identity's. */
template <class F>
__global__ static void __launch_bounds__(TOTALS_NTHREADS)
return_totals(uint32_t n, const __grid_constant__ struct emission_column c,
	      const __grid_constant__ struct group_order o, int128 identity)
{
	uint32_t i = thread_item();

	if (i >= n)
		return;
	int128 x = F::unpack(o.values[i]);
	c.totals[o.records[i]] = x == F::unpack(F::identity()) ? identity : x;
}

template <class F>
static cudaError_t scan_numbers(const struct emission &e, const struct emission_column &c, const struct group_order &o,
				const struct scan_shape *shape, struct emission_scans *scans, cudaStream_t stream)
{
	uint32_t n = e.nrecords;
	cudaError_t error;

	place_numbers<F><<<nblocks_of(n), TOTALS_NTHREADS, 0, stream>>>(e.table, n, c, o);
	error = cudaGetLastError();
	if (error == cudaSuccess)
		error = scan_launch<F>(shape, &scans->memory, {o.values, o.values, n, NULL, NULL, false}, stream);
	if (error != cudaSuccess)
		return error;
	return_totals<F><<<nblocks_of(n), TOTALS_NTHREADS, 0, stream>>>(n, c, o, emission_identity(c.kind));
	return cudaGetLastError();
}

/* ---- scales ---- */

/* Brings the numbers' scales into the order. Groups ascend there, so with a group in front of each scale the greatest
 * so far is one of the record's own group. */
__global__ static void __launch_bounds__(TOTALS_NTHREADS)
place_scales(struct field_table table, uint32_t n, const __grid_constant__ struct emission_column c,
	     const __grid_constant__ struct group_order o, int32_t *scales)
{
	uint32_t i = thread_item();

	if (i >= n)
		return;
	struct placed p = placed_at(table, c, o, i);
	unsigned scale = p.counts ? table.code[field_at(table, c.column, p.record)] : 0;
	scales[i] = (int32_t)(o.sorted[i] << SCALE_BITS | scale);
}

__global__ static void __launch_bounds__(TOTALS_NTHREADS)
return_scales(uint32_t n, const __grid_constant__ struct emission_column c,
	      const __grid_constant__ struct group_order o, const int32_t *scales)
{
	uint32_t i = thread_item();

	if (i < n)
		c.scales[o.records[i]] = scales[i] & ((1 << SCALE_BITS) - 1);
}

static cudaError_t scan_scales(const struct emission &e, const struct emission_column &c, const struct group_order &o,
			       struct emission_scans *scans, cudaStream_t stream)
{
	int32_t *placed = (int32_t *)o.values; /* the totals have left them */
	uint32_t n = e.nrecords;
	cudaError_t error;

	place_scales<<<nblocks_of(n), TOTALS_NTHREADS, 0, stream>>>(e.table, n, c, o, placed);
	error = cudaGetLastError();
	if (error == cudaSuccess)
		error = scan_launch<scan_max_i32>(&scans->max_i32, &scans->memory,
						  {placed, placed, n, NULL, NULL, false}, stream);
	if (error != cudaSuccess)
		return error;
	return_scales<<<nblocks_of(n), TOTALS_NTHREADS, 0, stream>>>(n, c, o, placed);
	return cudaGetLastError();
}

/* ---- one column ---- */

cudaError_t group_total_launch(const struct emission &e, const struct emission_column &c, const struct group_order &o,
			       struct emission_scans *scans, cudaStream_t stream)
{
	cudaError_t error;

	if (c.kind == NEW_BYTE_OFFSET || e.nrecords == 0)
		return cudaSuccess;
	if (c.kind == NEW_MIN)
		error = scan_numbers<scan_segmented_min>(e, c, o, &scans->segmented_min, scans, stream);
	else if (c.kind == NEW_MAX)
		error = scan_numbers<scan_segmented_max>(e, c, o, &scans->segmented_max, scans, stream);
	else
		error = scan_numbers<scan_segmented_sum>(e, c, o, &scans->segmented_sum, scans, stream);
	return error == cudaSuccess && c.scales ? scan_scales(e, c, o, scans, stream) : error;
}
