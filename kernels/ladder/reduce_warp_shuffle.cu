/* SPDX-License-Identifier: MIT
 *
 * reduce_warp_shuffle.cu - multi_add with the tree in registers.
 *
 * Partials went through shared memory only because lanes could not read each other's registers.
 * With shuffles they can: 5 shuffles fold a warp, without memory and without a barrier between
 * them; one word a warp goes through shared memory; and 5 more shuffles fold these words. That is
 * block_reduce of kernels/level/block.cuh, which gpustat's kernels call: 2 barriers and 8 words,
 * where multi_add has 3 barriers, 12 within the last warp, and 256 words.
 */
#include "reduce.cuh"

template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
warp_shuffle(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typename F::value x = block_reduce<F, LADDER_NTHREADS>(fold_share<F>(in, n));

	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

struct reduce_warp_shuffle_rung : reduce_fitting_grid<reduce_warp_shuffle_rung> {
	template <class F> static auto kernel(void) { return warp_shuffle<F>; }
};
LADDER_RUNG(reduce, warp_shuffle, "the tree in registers, by shuffles")
