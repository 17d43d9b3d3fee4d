/* SPDX-License-Identifier: MIT
 *
 * group_sorted.cu - sorted by hash first: records of one group come one behind the other.
 *
 * Then a warp has one group, or two, and nothing is contended for. But the radix sort reads and writes hash and record
 * number eight times, and the values are then read all over memory: more than the additions cost that it saves.
 */
#include <cub/device/device_radix_sort.cuh>

#include "group_rung.cuh"

#define SORTED_NTHREADS 256
#define SORTED_ALIGN 256

struct sorted_arrays {
	uint64_t *hash, *sorted_hash;
	uint32_t *record, *sorted_record;
	void *sort;
	size_t sort_nbytes;
};

static size_t rounded(size_t nbytes)
{
	return (nbytes + SORTED_ALIGN - 1) / SORTED_ALIGN * SORTED_ALIGN;
}

static size_t sort_nbytes(uint32_t n)
{
	size_t nbytes = 0;

	(void)cub::DeviceRadixSort::SortPairs(NULL, nbytes, (const uint64_t *)NULL, (uint64_t *)NULL, (const uint32_t *)NULL,
					      (uint32_t *)NULL, n);
	return nbytes;
}

static size_t sorted_nbytes(uint32_t n)
{
	return 2 * rounded(n * sizeof(uint64_t)) + 2 * rounded(n * sizeof(uint32_t)) + sort_nbytes(n);
}

static struct sorted_arrays sorted_cut(const struct group_run &run)
{
	size_t nhash = rounded(run.n * sizeof(uint64_t)), nrecord = rounded(run.n * sizeof(uint32_t));
	char *at = (char *)run.scratch;

	return {(uint64_t *)at, (uint64_t *)(at + nhash), (uint32_t *)(at + 2 * nhash), (uint32_t *)(at + 2 * nhash + nrecord),
		at + 2 * nhash + 2 * nrecord, run.scratch_nbytes - 2 * nhash - 2 * nrecord};
}

__global__ static void __launch_bounds__(SORTED_NTHREADS) hashes(struct group_run run, struct sorted_arrays a)
{
	uint32_t i = blockIdx.x * SORTED_NTHREADS + threadIdx.x;

	if (i >= run.n)
		return;
	a.hash[i] = key_hash(run, i);
	a.record[i] = i;
}

__global__ static void __launch_bounds__(SORTED_NTHREADS) add(struct group_run run, struct sorted_arrays a)
{
	uint32_t k = blockIdx.x * SORTED_NTHREADS + threadIdx.x;
	bool valid = k < run.n;

	table_add_warp(run, valid, valid ? a.sorted_record[k] : 0, valid ? a.sorted_hash[k] : 0);
}

static cudaError_t sorted_launch(const struct group_run &run, cudaStream_t stream)
{
	uint32_t nblocks = (run.n + SORTED_NTHREADS - 1) / SORTED_NTHREADS;
	struct sorted_arrays a = sorted_cut(run);
	cudaError_t error;

	if (run.n == 0)
		return cudaSuccess;
	hashes<<<nblocks, SORTED_NTHREADS, 0, stream>>>(run, a);
	error = cub::DeviceRadixSort::SortPairs(a.sort, a.sort_nbytes, (const uint64_t *)a.hash, a.sorted_hash,
						(const uint32_t *)a.record, a.sorted_record, run.n, 0, 64, stream);
	if (error == cudaSuccess)
		add<<<nblocks, SORTED_NTHREADS, 0, stream>>>(run, a);
	return error == cudaSuccess ? cudaGetLastError() : error;
}

GROUP_RUNG(sorted, "sorted by hash before", sorted_launch, sorted_nbytes)
