/* SPDX-License-Identifier: MIT
 *
 * keep.cu - see keep.cuh.
 *
 * Order does not matter to numbers that are kept, so a warp takes the place of what it has with one atomic
 * for 256 rows. Counting is that of a radix selection (src/fold/values_select.c): a block counts in shared
 * memory, and adds its counts to the others' at the end.
 */
#include "kernels/fold/keep.cuh"

#include <cub/device/device_radix_sort.cuh>

extern "C" {
#include "fold/device_run.h"
}

#include "kernels/level/grid.cuh"

#define KEEP_NTHREADS 256
#define KEEP_NROWS 8 /* a lane has in flight */
#define KEEP_WARP_NROWS (KEEP_NROWS * WARP_NLANES)
#define COUNT_NTHREADS 512
#define COUNT_NBLOCKS_EACH 4 /* of a multiprocessor: 2048 threads, 64 KiB of counts */

/* 10^n; n < DECIMAL_NSCALES: at most 10^18 is asked for. */
static __device__ int64_t power_of_ten(unsigned n)
{
	int64_t power = 1;

	for (; n > 0; n--)
		power *= 10;
	return power;
}

/* Multiplies *x by 10^n. Returns false where that is beyond 64 bits. */
static __device__ bool lift(int64_t *x, unsigned n)
{
	int64_t unit;

	if (n == 0 || *x == 0)
		return true;
	if (n > DECIMAL_NDIGITS)
		return false;
	unit = power_of_ten(n);
	if (*x > INT64_MAX / unit || *x < -(INT64_MAX / unit))
		return false;
	*x *= unit;
	return true;
}

/* The rows first, first + 32, ... of one lane. */
struct lane_rows {
	int64_t number[KEEP_NROWS];
	uint32_t is_number; /* bit i: number[i] is one */
};

template <enum keep_form FORM>
static __device__ struct lane_rows rows_load(const int64_t *significand, const uint8_t *code,
					     uint32_t first, uint32_t nrows, unsigned scale,
					     uint32_t *nbeyond)
{
	struct lane_rows rows = {{0}, 0};

#pragma unroll
	for (unsigned i = 0; i < KEEP_NROWS; i++) {
		uint32_t row = first + i * WARP_NLANES;
		unsigned own = row < nrows ? code[row] : FIELD_ABSENT;
		if (own >= FIELD_NCODES_NUMBER)
			continue;
		rows.number[i] = significand[row];
		rows.is_number |= 1u << i;
		if (FORM == KEEP_KEYS)
			rows.number[i] = rows.number[i] * (1 << KEY_NUMBER_SCALE_BITS) + own;
		else
			*nbeyond += !lift(&rows.number[i], scale - own);
	}
	return rows;
}

/* Writes a warp's rows where no other warp writes. */
static __device__ void rows_write(const struct lane_rows &rows, int64_t *to, uint32_t *nkept)
{
	uint32_t n = (uint32_t)__popc(rows.is_number), place = 0;
	uint32_t within = warp_inclusive<fold_sum<uint32_t>>(n);

	if (warp_lane() == WARP_NLANES - 1 && within > 0)
		place = atomicAdd(nkept, within);
	place = warp_broadcast(place, WARP_NLANES - 1) + within - n;
#pragma unroll
	for (unsigned i = 0; i < KEEP_NROWS; i++)
		if (rows.is_number >> i & 1)
			to[place++] = rows.number[i];
}

template <enum keep_form FORM>
__global__ static void __launch_bounds__(KEEP_NTHREADS)
keep(const int64_t *significand, const uint8_t *code, const uint32_t *nrecords,
     const struct column_tally *tally, int64_t *to, struct keep_result *result)
{
	uint32_t nrows = *nrecords, scales = tally->scales, nbeyond = 0;
	unsigned scale = scales ? 31 - (unsigned)__clz((int)scales) : 0;
	uint64_t warp = (uint64_t)blockIdx.x * (KEEP_NTHREADS / WARP_NLANES) + warp_index();
	uint64_t nwarps = (uint64_t)gridDim.x * (KEEP_NTHREADS / WARP_NLANES);

	for (uint64_t first = warp * KEEP_WARP_NROWS; first < nrows; first += nwarps * KEEP_WARP_NROWS) {
		struct lane_rows rows = rows_load<FORM>(significand, code, (uint32_t)first + warp_lane(),
							nrows, scale, &nbeyond);
		rows_write(rows, to, &result->nkept);
	}
	if (nbeyond > 0)
		atomicAdd(&result->nbeyond, nbeyond);
}

cudaError_t keep_launch(enum keep_form form, struct field_table table, uint32_t c, struct record_table records,
			const struct column_tally *tally, int64_t *to, struct keep_result *result,
			cudaStream_t stream)
{
	const uint32_t nrows = KEEP_NTHREADS / WARP_NLANES * KEEP_WARP_NROWS;
	uint32_t nblocks = (records.nrecords_at_most + nrows - 1) / nrows;
	size_t first = c * table.stride;

	if (nblocks == 0)
		return cudaSuccess;
	if (form == KEEP_KEYS)
		keep<KEEP_KEYS><<<nblocks, KEEP_NTHREADS, 0, stream>>>(
			table.significand + first, table.code + first, records.nrecords, tally, to, result);
	else
		keep<KEEP_VALUES><<<nblocks, KEEP_NTHREADS, 0, stream>>>(
			table.significand + first, table.code + first, records.nrecords, tally, to, result);
	return cudaGetLastError();
}

/* ---- passes ---- */

/* The run of a tile: the last that does not begin behind it. */
static __device__ uint32_t run_of(const struct keep_run *runs, uint32_t nruns, uint64_t tile)
{
	uint32_t low = 0, high = nruns - 1;

	while (low < high) {
		uint32_t middle = (low + high + 1) / 2;
		if (runs[middle].first_tile <= tile)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Calls visit(distance) for each number of a tile that is in the interval, with its distance from low. */
template <class V>
static __device__ void tile_each(const struct keep_run &run, uint64_t tile,
				 struct keep_interval interval, V visit)
{
	uint64_t begin = (tile - run.first_tile) * KEEP_TILE, end = begin + KEEP_TILE;

	end = end < run.n ? end : run.n;
	for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
		uint64_t distance = (uint64_t)(run.numbers[i] * run.unit) - (uint64_t)interval.low;
		if (distance <= interval.width)
			visit(distance);
	}
}

__global__ static void __launch_bounds__(COUNT_NTHREADS)
keep_count(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles, struct keep_interval interval,
	   int shift, unsigned long long *counts)
{
	__shared__ uint32_t own[KEEP_NBINS]; /* a block has fewer than 2^32 numbers: see keep_nblocks */

	for (unsigned i = threadIdx.x; i < KEEP_NBINS; i += COUNT_NTHREADS)
		own[i] = 0;
	__syncthreads(); /* all are 0 */
	for (uint64_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x)
		tile_each(runs[run_of(runs, nruns, tile)], tile, interval,
			  [&](uint64_t distance) { atomicAdd(&own[distance >> shift], 1u); });
	__syncthreads(); /* all have counted */
	for (unsigned i = threadIdx.x; i < KEEP_NBINS; i += COUNT_NTHREADS)
		if (own[i] > 0)
			atomicAdd(&counts[i], (unsigned long long)own[i]);
}

__global__ static void __launch_bounds__(COUNT_NTHREADS)
keep_list(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles, struct keep_interval interval,
	  int64_t *list, uint64_t nmost, unsigned long long *nlisted)
{
	for (uint64_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x)
		tile_each(runs[run_of(runs, nruns, tile)], tile, interval, [&](uint64_t distance) {
			unsigned long long place = atomicAdd(nlisted, 1ull);
			if (place < nmost)
				list[place] = (int64_t)((uint64_t)interval.low + distance);
		});
}

/* As many blocks as run at once; more tiles than 2^31 of a block would have more than 2^32 numbers. */
static cudaError_t keep_nblocks(uint64_t ntiles, uint32_t *nblocks)
{
	int device, nmultiprocessors;
	cudaError_t error = cudaGetDevice(&device);
	uint64_t n;

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&nmultiprocessors, cudaDevAttrMultiProcessorCount,
					       device);
	if (error != cudaSuccess)
		return error;
	n = (uint64_t)nmultiprocessors * COUNT_NBLOCKS_EACH;
	if (n < ntiles >> 17) /* 2^17 tiles of 2^14 numbers */
		n = ntiles >> 17;
	*nblocks = (uint32_t)(n < ntiles ? n : ntiles);
	return cudaSuccess;
}

cudaError_t keep_count_launch(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles,
			      struct keep_interval interval, int shift, unsigned long long *counts,
			      cudaStream_t stream)
{
	uint32_t nblocks;
	cudaError_t error = keep_nblocks(ntiles, &nblocks);

	if (error != cudaSuccess)
		return error;
	keep_count<<<nblocks, COUNT_NTHREADS, 0, stream>>>(runs, nruns, ntiles, interval, shift, counts);
	return cudaGetLastError();
}

cudaError_t keep_list_launch(const struct keep_run *runs, uint32_t nruns, uint64_t ntiles,
			     struct keep_interval interval, int64_t *list, uint64_t nmost,
			     unsigned long long *nlisted, cudaStream_t stream)
{
	uint32_t nblocks;
	cudaError_t error = keep_nblocks(ntiles, &nblocks);

	if (error != cudaSuccess)
		return error;
	keep_list<<<nblocks, COUNT_NTHREADS, 0, stream>>>(runs, nruns, ntiles, interval, list, nmost,
							  nlisted);
	return cudaGetLastError();
}

/* ---- different ones ---- */

/* Sorting is CUB's: nothing of ours would be faster (D. Merrill and M. Garland, "Single-pass parallel prefix
 * scan with decoupled look-back", 2016, and A. Adinets and D. Merrill, "Onesweep", 2022). */
static cudaError_t sort(void *memory, size_t *nbytes, cub::DoubleBuffer<int64_t> *numbers, uint64_t n,
			cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortKeys(memory, *nbytes, *numbers, n, 0, 64, stream);
}

size_t keep_different_nbytes(uint64_t n)
{
	cub::DoubleBuffer<int64_t> numbers(NULL, NULL);
	size_t nbytes = 0;

	return sort(NULL, &nbytes, &numbers, n, NULL) == cudaSuccess ? nbytes : SIZE_MAX;
}

/* Counts the numbers that are not the one before. */
__global__ static void __launch_bounds__(COUNT_NTHREADS)
count_first(const int64_t *sorted, uint64_t n, unsigned long long *count)
{
	uint64_t thread = (uint64_t)blockIdx.x * COUNT_NTHREADS + threadIdx.x;
	unsigned long long nfirst = 0;

	for (uint64_t i = thread; i < n; i += (uint64_t)gridDim.x * COUNT_NTHREADS)
		nfirst += i == 0 || sorted[i] != sorted[i - 1];
	nfirst = block_reduce<fold_sum<unsigned long long>, COUNT_NTHREADS>(nfirst);
	if (threadIdx.x == 0 && nfirst > 0)
		atomicAdd(count, nfirst);
}

cudaError_t keep_different_launch(int64_t *numbers, int64_t *spare, uint64_t n, void *memory,
				  unsigned long long *count, cudaStream_t stream)
{
	cub::DoubleBuffer<int64_t> both(numbers, spare);
	size_t nbytes = keep_different_nbytes(n);
	uint32_t nblocks;
	cudaError_t error = sort(memory, &nbytes, &both, n, stream);

	if (error == cudaSuccess)
		error = keep_nblocks((n + KEEP_TILE - 1) / KEEP_TILE, &nblocks);
	if (error != cudaSuccess)
		return error;
	count_first<<<nblocks, COUNT_NTHREADS, 0, stream>>>(both.Current(), n, count);
	return cudaGetLastError();
}
