/* SPDX-License-Identifier: MIT
 *
 * group_arrange.cu - see group_arrange.cuh.
 */
#include "kernels/group/group_arrange.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "kernels/level/warp.cuh"

#define ARRANGE_NTHREADS 256
#define ARRANGE_NBLOCKS 4096 /* at most: each strides over all slots, or groups */
#define GATHER_NLANES 8      /* to a group: most have 8 to 16 words */

typedef unsigned long long word64; /* what CUDA's atomics take */

static unsigned nblocks_of(uint64_t nthreads)
{
	uint64_t nblocks = (nthreads + ARRANGE_NTHREADS - 1) / ARRANGE_NTHREADS;

	return (unsigned)(nblocks < ARRANGE_NBLOCKS ? nblocks : ARRANGE_NBLOCKS);
}

static __device__ uint64_t thread_first(void)
{
	return (uint64_t)blockIdx.x * ARRANGE_NTHREADS + threadIdx.x;
}

static __device__ uint64_t thread_stride(void)
{
	return (uint64_t)gridDim.x * ARRANGE_NTHREADS;
}

/* ---- visiting ---- */

/* The place of the group in slot i, if it has records; 0 if the slot is empty. */
static __device__ uint64_t slot_group(const struct group_table &t, uint64_t i)
{
	uint64_t index = t.slots[i] & GROUP_INDEX_MASK;

	return index != 0 && (uint32_t)t.words[index + 1] > 0 ? index : 0;
}

/* Counts the groups with records, a warp's at a time, and lists them if LISTS. The number of slots is a multiple of a
 * warp's lanes. */
template <bool LISTS>
__global__ static void __launch_bounds__(ARRANGE_NTHREADS)
visit_slots(const __grid_constant__ struct group_table t, uint64_t nslots, struct group_places p,
	    struct group_census *census)
{
	uint64_t last = 0;

	for (uint64_t i = thread_first(); i < nslots; i += thread_stride()) {
		uint64_t index = slot_group(t, i);
		unsigned having = __ballot_sync(WARP_ALL, index != 0), before = having & ((1u << warp_lane()) - 1);
		word64 base = 0;
		if (warp_lane() == 0 && having)
			base = atomicAdd(&census->n, (word64)__popc(having));
		uint64_t at = warp_broadcast((uint64_t)base, 0) + (unsigned)__popc(before);
		if (index == 0)
			continue;
		uint64_t first = t.words[index];
		last = first > last ? first : last;
		if (LISTS) {
			p.first[0][at] = first;
			p.index[0][at] = index;
		}
	}
	if (last > 0)
		atomicMax(&census->last, (word64)last);
}

static uint64_t nslots_of(const struct group_table &t)
{
	static_assert(GROUP_TABLE_NPARTS % WARP_NLANES == 0, "all lanes of a warp have a slot, or none");
	return GROUP_TABLE_NPARTS * t.part_nslots;
}

template <bool LISTS>
static cudaError_t visit_launch(const struct group_table &t, const struct group_places &p, struct group_census *census,
				cudaStream_t stream)
{
	cudaError_t error = cudaMemsetAsync(census, 0, sizeof *census, stream);

	if (error != cudaSuccess)
		return error;
	visit_slots<LISTS><<<nblocks_of(nslots_of(t)), ARRANGE_NTHREADS, 0, stream>>>(t, nslots_of(t), p, census);
	return cudaGetLastError();
}

cudaError_t group_count_launch(const struct group_table &table, struct group_census *census, cudaStream_t stream)
{
	return visit_launch<false>(table, {}, census, stream);
}

cudaError_t group_place_launch(const struct group_table &table, const struct group_places &places,
			       struct group_census *census, cudaStream_t stream)
{
	return visit_launch<true>(table, places, census, stream);
}

/* ---- sorting ---- */

static cudaError_t sort(void *scratch, size_t *nbytes, cub::DoubleBuffer<uint64_t> *first,
			cub::DoubleBuffer<uint64_t> *index, uint64_t n, int nbits, cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortPairs(scratch, *nbytes, *first, *index, n, 0, nbits, stream);
}

size_t group_sort_scratch_nbytes(uint64_t n)
{
	cub::DoubleBuffer<uint64_t> first(NULL, NULL), index(NULL, NULL);
	size_t nbytes = 0;

	return sort(NULL, &nbytes, &first, &index, n, 64, NULL) == cudaSuccess ? nbytes : SIZE_MAX;
}

cudaError_t group_sort_launch(const struct group_places &places, uint64_t last, void *scratch, int *sorted,
			      cudaStream_t stream)
{
	cub::DoubleBuffer<uint64_t> first(places.first[0], places.first[1]), index(places.index[0], places.index[1]);
	size_t nbytes = group_sort_scratch_nbytes(places.n);
	int nbits = 1;
	cudaError_t error;

	if (nbytes == SIZE_MAX)
		return cudaGetLastError();
	while (nbits < 64 && last >> nbits)
		nbits++;
	error = sort(scratch, &nbytes, &first, &index, places.n, nbits, stream);
	*sorted = index.selector;
	return error;
}

/* ---- gathering ---- */

__global__ static void __launch_bounds__(ARRANGE_NTHREADS)
measure(const __grid_constant__ struct group_table t, const uint64_t *index, uint64_t n, uint64_t *nwords)
{
	for (uint64_t i = thread_first(); i <= n; i += thread_stride())
		nwords[i] = i < n ? t.layout.nwords + ((t.words[index[i] + 1] >> 32) + 7) / 8 : 0;
}

cudaError_t group_measure_launch(const struct group_table &table, const uint64_t *index, uint64_t n, uint64_t *nwords,
				 cudaStream_t stream)
{
	measure<<<nblocks_of(n + 1), ARRANGE_NTHREADS, 0, stream>>>(table, index, n, nwords);
	return cudaGetLastError();
}

__global__ static void __launch_bounds__(ARRANGE_NTHREADS)
gather(const uint64_t *from, const uint64_t *index, const uint64_t *begins, uint64_t n, uint64_t *words)
{
	uint64_t lane = threadIdx.x % GATHER_NLANES;

	for (uint64_t i = thread_first() / GATHER_NLANES; i < n; i += thread_stride() / GATHER_NLANES) {
		uint64_t begin = begins[i], nwords = begins[i + 1] - begin, at = index[i];
		for (uint64_t w = lane; w < nwords; w += GATHER_NLANES)
			words[begin + w] = from[at + w];
	}
}

cudaError_t group_gather_launch(const struct group_table &table, const uint64_t *index, const uint64_t *begins, uint64_t n,
				uint64_t *words, cudaStream_t stream)
{
	if (n == 0)
		return cudaSuccess;
	gather<<<nblocks_of(n * GATHER_NLANES), ARRANGE_NTHREADS, 0, stream>>>(table.words, index, begins, n, words);
	return cudaGetLastError();
}
