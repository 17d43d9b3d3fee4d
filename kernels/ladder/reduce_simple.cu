/* SPDX-License-Identifier: MIT
 *
 * reduce_simple.cu - the textbook's first reduction: a tree of one block, in device memory.
 *
 * A sum needs every value once, but not one after the other: pairs, then pairs of pairs, log2 n
 * steps in all. Thread t owns position 2t, and in each step every other active thread drops out.
 * Nearly all of the hardware is wasted: up to stride 32 every warp still runs, for fewer and fewer
 * threads, in the end for one; and as the gaps widen, a warp's loads touch more sectors for fewer
 * values. It works in x itself, in device memory. It keeps the order.
 *
 * Source of this rung and of convergent, shared_memory, segmented_atomic and coarsened: W. Hwu, D.
 * Kirk, I. El Hajj, "Programming Massively Parallel Processors", 4th ed., 2022, chapter 10. The
 * book's kernels assume that n fits their blocks exactly and that the output was zeroed; these are
 * right for every n. index.h has the indices, and `gpustat-bench model` counts them.
 */
#include "reduce.cuh"

template <class F>
__global__ static void __launch_bounds__(REDUCE_BLOCK_NTHREADS_MAX)
simple(typename F::value *x, unsigned n, typename F::value *out)
{
	for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
		struct ladder_step step = simple_step(threadIdx.x, stride);
		if (step.active && step.from < n)
			x[step.to] = F::combine(x[step.to], x[step.from]);
		__syncthreads(); /* the next step reads what other threads wrote in this one */
	}
	if (threadIdx.x == 0)
		*out = n > 0 ? x[0] : F::identity();
}

struct reduce_simple_rung : reduce_one_block<reduce_simple_rung> {
	static const unsigned types = LADDER_TYPES_ORDERED;
	static const bool spoils_input = true;
	template <class F> static auto kernel(void) { return simple<F>; }
};
LADDER_RUNG(reduce, simple, "a tree; the stride grows, every other thread drops out")
