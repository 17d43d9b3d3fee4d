/* SPDX-License-Identifier: MIT
 *
 * reduce_segmented_atomic.cu - many blocks: each reduces a segment, and one atomic a block adds its
 * sum.
 *
 * One block leaves all multiprocessors but one idle. Here each block does what shared_memory did on
 * a segment of its own, 2 values a thread, and adds its sum to the output with one atomic: blocks
 * need not know of each other, and n is free. But all atomics go to one address, one after the
 * other, and every 512 values pay for a block's start, its tree and the idle threads in it. Blocks
 * arrive in any order: the fold must be a sum, and a float's last bits change from run to run. The
 * sum goes to output; printed versions add it to &output, the pointer.
 */
#include "reduce.cuh"

template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
segmented_atomic(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	uint64_t segment = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS;
	uint64_t i = segment + threadIdx.x;
	typename F::value x = F::combine(ladder_value<F>(in, n, i),
					 ladder_value<F>(in, n, i + LADDER_NTHREADS));

	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		add_to(out, x);
}

struct reduce_segmented_atomic_rung : reduce_atomic<reduce_segmented_atomic_rung, 2> {
	template <class F> static auto kernel(void) { return segmented_atomic<F>; }
};
LADDER_RUNG(reduce, segmented_atomic, "many blocks, 2 values a thread, one atomic a block")
