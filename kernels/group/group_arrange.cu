/* SPDX-License-Identifier: MIT
 *
 * group_arrange.cu - see group_arrange.cuh.
 */
#include "kernels/group/group_arrange.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

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

	return index != 0 && ((const struct group *)(t.words + index))->nrecords > 0 ? index : 0;
}

/* Counts the groups with records, a warp's at a time, and lists them if LISTS. The number of slots is a multiple of a
 * warp's lanes. */
template <bool LISTS>
__global__ static void __launch_bounds__(ARRANGE_NTHREADS)
visit_slots(const __grid_constant__ struct group_table t, uint64_t nslots, struct group_places p)
{
	struct group_census *census = &t.control->census;
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
		uint64_t first = ((const struct group *)(t.words + index))->first;
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
static cudaError_t visit_launch(const struct group_table &t, const struct group_places &p, cudaStream_t stream)
{
	cudaError_t error = cudaMemsetAsync(&t.control->census, 0, sizeof t.control->census, stream);

	if (error != cudaSuccess)
		return error;
	visit_slots<LISTS><<<nblocks_of(nslots_of(t)), ARRANGE_NTHREADS, 0, stream>>>(t, nslots_of(t), p);
	return cudaGetLastError();
}

cudaError_t group_count_launch(const struct group_table &table, cudaStream_t stream)
{
	return visit_launch<false>(table, {}, stream);
}

cudaError_t group_place_launch(const struct group_table &table, const struct group_places &places, cudaStream_t stream)
{
	return visit_launch<true>(table, places, stream);
}

/* ---- CUB's: scratch: NULL: sets *nbytes ---- */

static cudaError_t sort(void *scratch, size_t *nbytes, cub::DoubleBuffer<uint64_t> *first,
			cub::DoubleBuffer<uint64_t> *index, uint64_t n, int nbits, cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortPairs(scratch, *nbytes, *first, *index, n, 0, nbits, stream);
}

/* The words of group i of n; none of the n-th. */
struct words_of {
	const uint64_t *words, *index;
	uint64_t n, nwords; /* of a group without the bytes of its key */
	__host__ __device__ uint64_t operator()(uint64_t i) const
	{
		return i < n ? nwords + group_words_of_key(((const struct group *)(words + index[i]))->key.high) : 0;
	}
};

static cudaError_t add_up(void *scratch, size_t *nbytes, const struct words_of &of, uint64_t *begins, cudaStream_t stream)
{
	auto nwords = thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0), of);

	return cub::DeviceScan::ExclusiveSum(scratch, *nbytes, nwords, begins, of.n + 1, stream);
}

void group_places_cut(struct group_places *p, struct arena *a, uint64_t n)
{
	cub::DoubleBuffer<uint64_t> first(NULL, NULL), index(NULL, NULL);
	size_t sorting = 0, adding = 0;

	/* A failure shows again when they are launched. */
	(void)sort(NULL, &sorting, &first, &index, n, 64, NULL);
	(void)add_up(NULL, &adding, {NULL, NULL, n, 0}, NULL, NULL);
	p->n = n;
	for (int i = 0; i < 2; i++) {
		p->first[i] = arena_cut<uint64_t>(a, n + 1);
		p->index[i] = arena_cut<uint64_t>(a, n);
	}
	p->scratch_nbytes = sorting > adding ? sorting : adding;
	p->scratch = arena_cut<char>(a, p->scratch_nbytes);
}

cudaError_t group_sort_launch(const struct group_places &places, uint64_t last, int *sorted, cudaStream_t stream)
{
	cub::DoubleBuffer<uint64_t> first(places.first[0], places.first[1]), index(places.index[0], places.index[1]);
	size_t nbytes = places.scratch_nbytes;
	int nbits = 1;
	cudaError_t error;

	while (nbits < 64 && last >> nbits)
		nbits++;
	error = sort(places.scratch, &nbytes, &first, &index, places.n, nbits, stream);
	*sorted = index.selector;
	return error;
}

cudaError_t group_begins_launch(const struct group_table &table, const struct group_places &places, int sorted,
				uint64_t *begins, cudaStream_t stream)
{
	size_t nbytes = places.scratch_nbytes;

	return add_up(places.scratch, &nbytes, {table.words, places.index[sorted], places.n, table.layout.nwords}, begins,
		      stream);
}

/* ---- gathering ---- */

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

cudaError_t group_gather_launch(const struct group_table &table, const struct group_places &places, int sorted,
				const uint64_t *begins, uint64_t *words, cudaStream_t stream)
{
	if (places.n == 0)
		return cudaSuccess;
	gather<<<nblocks_of(places.n * GATHER_NLANES), ARRANGE_NTHREADS, 0, stream>>>(
		table.words, places.index[sorted], begins, places.n, words);
	return cudaGetLastError();
}
