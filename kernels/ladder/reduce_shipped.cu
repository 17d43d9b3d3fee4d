/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce_shipped.cu - the top rung: reduce_array.cuh, the kernel that gpustat runs,
 * over an array of values.
 *
 * What shuffle_pack still wasted: a thread had one load of 16 bytes on its way, and waited
 * for it; and the partials took a second launch. Here there are four, from a strip that the
 * whole block reads together, and the last block to finish folds the partials itself.
 */
#include "kernels/ladder/reduce.cuh"
#include "kernels/fold/reduce_array.cuh"

/* Blocks beyond the strips that there are would only add partials. */
template <class F> static cudaError_t shipped_open(struct ladder_run *run)
{
	const size_t strip = REDUCE_ARRAY_NTHREADS * REDUCE_ARRAY_NLOADS *
			     reduce_array_items<F>::nvalues;
	cudaError_t error = reduce_array_nblocks<F>(&run->nblocks);

	if (error != cudaSuccess)
		return error;
	uint64_t nuseful = ladder_nblocks(run->n, strip);
	if (run->nblocks > nuseful)
		run->nblocks = (uint32_t)nuseful;
	/* The partials, and the count of blocks behind them. */
	return ladder_scratch(run, run->nblocks * sizeof(typename F::value) + sizeof(uint32_t));
}

template <class F>
static cudaError_t shipped_launch(const struct ladder_run *run, const void *in, void *out)
{
	typedef typename F::value value;
	value *partials = (value *)run->scratch;

	reduce_array<F><<<run->nblocks, REDUCE_ARRAY_NTHREADS>>>(
		(const value *)in, run->n, partials, (uint32_t *)(partials + run->nblocks),
		(value *)out);
	return cudaGetLastError();
}

cudaError_t reduce_shipped_open(struct ladder_run *run)
{
	return REDUCE_WITH_FOLD(shipped, run, shipped_open<F>(run));
}

cudaError_t reduce_shipped_launch(struct ladder_run *run, void *in, void *out)
{
	return REDUCE_WITH_FOLD(shipped, run, shipped_launch<F>(run, in, out));
}

/* A thread's share, at most a strip more than the even one, and less than a load's values
 * behind it; then a block's tree, 5 levels in the warps and 4 over them; then the last block
 * likewise over the partials. */
uint64_t reduce_shipped_depth(const struct ladder_run *run)
{
	uint64_t nthreads = (uint64_t)run->nblocks * REDUCE_ARRAY_NTHREADS;
	uint64_t nload = REDUCE_ARRAY_ALIGN / bench_type_nbytes(run->type);

	return run->n / nthreads + (REDUCE_ARRAY_NLOADS + 2) * nload + 9 +
	       ladder_nblocks(run->nblocks, REDUCE_ARRAY_NTHREADS) + 9;
}
