/* SPDX-License-Identifier: MIT
 *
 * reduce_convergent.cu - simple with the strides reversed: n / 2 down to 1.
 *
 * The steps are as many, but the active threads are now the first ones, side by side: whole warps
 * retire, and only the last five steps run a warp for some of its threads. A warp's loads are
 * adjacent: a few sectors instead of one a thread. What is left to waste: every step still goes to
 * device memory, twice to read and once to write. It adds x[t] and x[t + stride] before the values
 * between them: the fold must commute.
 */
#include "reduce.cuh"

template <class F>
__global__ static void __launch_bounds__(REDUCE_BLOCK_NTHREADS_MAX)
convergent(typename F::value *x, unsigned n, typename F::value *out)
{
	for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
		struct ladder_step step = convergent_step(threadIdx.x, stride);
		if (step.active && step.from < n)
			x[step.to] = F::combine(x[step.to], x[step.from]);
		__syncthreads(); /* the next step reads what other threads wrote in this one */
	}
	if (threadIdx.x == 0)
		*out = n > 0 ? x[0] : F::identity();
}

struct reduce_convergent_rung : reduce_one_block<reduce_convergent_rung> {
	static const bool spoils_input = true;
	template <class F> static auto kernel(void) { return convergent<F>; }
};
LADDER_RUNG(reduce, convergent, "the stride shrinks: whole warps drop out")
