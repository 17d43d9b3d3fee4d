/* SPDX-License-Identifier: MIT
 *
 * reduce_shipped.cu - the top rung: several packs in flight, and one launch.
 *
 * A thread of shuffle_pack had one load of 16 bytes in flight and waited for it, and the partials
 * took a second launch. Here a thread has four loads in flight, from a strip that the whole block
 * reads together, and the last block to finish folds the partials.
 *
 * Where gpustat runs this: its arrays are columns of significands with a code for each, so not this
 * kernel but reduce_codes and reduce_values of kernels/fold/reduce.cu, which consist of the same
 * parts (lane_reduce, block_reduce, grid_is_last_block). They run where each record's values are
 * needed: to ask conditions, to print records, and for more columns than column_fold takes. All
 * other results come from column_fold (kernels/fold/column_fold.cu), one kernel from the text to
 * one bin a column.
 *
 * Sizes: 512 threads with 4 loads of 16 bytes each, as many blocks as run at once: the best for all
 * types, at 2 GiB and at 128 MiB, of 35 tried on an H200 (2026-11-21; 256 to 1024 threads, 4 to 16
 * loads, caching hints, bulk copies into shared memory): docs/ladder.md.
 */
#include "../level/lane.cuh"
#include "reduce.cuh"

#define SHIPPED_NTHREADS 512
#define SHIPPED_NLOADS 4

/* The whole loads of an array, for lane_reduce. */
template <class F> struct shipped_items {
	typedef typename F::value value;
	typedef uint4 load;
	static const unsigned nvalues = sizeof(load) / sizeof(value);
	const value *in;
	uint64_t n;

	__device__ uint64_t nloads(void) const { return n / nvalues; }
	__device__ load get(uint64_t i) const { return ((const load *)in)[i]; }
	__device__ void add(value *all, const load &pack) const
	{
		value x[nvalues];

		memcpy(x, &pack, sizeof x);
#pragma unroll
		for (unsigned i = 0; i < nvalues; i++)
			*all = F::combine(*all, x[i]);
	}
};

/* Sets *out to the fold of in[0 .. n). partials: gridDim.x values; ndone: 0, and left 0. F
 * commutes. */
template <class F>
__global__ static void __launch_bounds__(SHIPPED_NTHREADS)
shipped(const typename F::value *in, uint64_t n, typename F::value *partials, uint32_t *ndone,
	typename F::value *out)
{
	typedef typename F::value T;
	const struct shipped_items<F> items = {in, n};
	T all = F::identity();

	/* 1. The thread's share; the first thread adds what does not fill a load. */
	lane_reduce<SHIPPED_NTHREADS, SHIPPED_NLOADS>(items, &all);
	if (blockIdx.x == 0 && threadIdx.x == 0)
		for (uint64_t i = items.nloads() * items.nvalues; i < n; i++)
			all = F::combine(all, in[i]);

	/* 2. The block's partial. */
	all = block_reduce<F, SHIPPED_NTHREADS>(all);
	if (threadIdx.x == 0)
		partials[blockIdx.x] = all;

	/* 3. The last block folds them. */
	if (!grid_is_last_block(ndone, gridDim.x))
		return;
	all = F::identity();
	for (uint32_t i = threadIdx.x; i < gridDim.x; i += SHIPPED_NTHREADS)
		all = F::combine(all, partials[i]);
	all = block_reduce<F, SHIPPED_NTHREADS>(all);
	if (threadIdx.x == 0)
		*out = all;
}

struct reduce_shipped_rung : reduce_rung {
	static const unsigned folds = LADDER_FOLDS;

	/* Scratch: the partials, and the count of blocks behind them. No more blocks than
	 * strips. */
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		const unsigned strip = SHIPPED_NTHREADS * SHIPPED_NLOADS *
				       shipped_items<F>::nvalues;
		uint64_t nuseful = ladder_nblocks(run->n, strip);
		cudaError_t error = grid_nresident(shipped<F>, SHIPPED_NTHREADS, 0, &run->nblocks);

		if (error != cudaSuccess)
			return error;
		if (run->nblocks > nuseful)
			run->nblocks = (uint32_t)nuseful;
		return ladder_scratch(run, run->nblocks * sizeof(typename F::value) +
						   sizeof(uint32_t));
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		T *partials = (T *)run->scratch;
		uint32_t *ndone = (uint32_t *)(partials + run->nblocks);

		shipped<F><<<run->nblocks, SHIPPED_NTHREADS>>>(in, run->n, partials, ndone, out);
		return cudaGetLastError();
	}

	/* A thread's share, at most a strip more than the even one, and less than a load's values
	 * behind it; then a block's tree, 5 levels in the warps and 4 over them; then the same in
	 * the last block, over the partials. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nthreads = (uint64_t)run->nblocks * SHIPPED_NTHREADS;
		uint64_t nload = sizeof(uint4) / bench_type_nbytes(run->type);

		return run->n / nthreads + (SHIPPED_NLOADS + 2) * nload + 9 +
		       ladder_nblocks(run->nblocks, SHIPPED_NTHREADS) + 9;
	}
};
LADDER_RUNG(reduce, shipped, "4 such loads in flight; the last block folds the partials")
