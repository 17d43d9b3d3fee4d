/* SPDX-License-Identifier: MIT
 *
 * reduce_coarsened.cu - more values a thread, before the tree.
 *
 * A GPU runs some hundreds of blocks at once; the other blocks of segmented_atomic only queue, and
 * each pays for parallelism that is not there. Here each thread first adds 2 x COARSENED_FACTOR
 * values in a register: no barrier, no idle thread, and loads that do not wait for each other;
 * there are fewer trees and atomics by COARSENED_FACTOR. Neighbouring threads still read
 * neighbouring values, a block's width apart from round to round. The sum begins with the segment's
 * first value and the loop with its second round; printed versions leave out that first load, and
 * the sum lacks it. The order is that of segmented_atomic.
 */
#include "reduce.cuh"

#define COARSENED_FACTOR 4 /* 2 x 4 values a thread */

template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
coarsened(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	uint64_t segment = (uint64_t)blockIdx.x * 2 * COARSENED_FACTOR * LADDER_NTHREADS;
	uint64_t i = segment + threadIdx.x;
	typename F::value x = ladder_value<F>(in, n, i);

#pragma unroll
	for (unsigned round = 1; round < 2 * COARSENED_FACTOR; round++)
		x = F::combine(x, ladder_value<F>(in, n, i + round * LADDER_NTHREADS));
	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		add_to(out, x);
}

struct reduce_coarsened_rung : reduce_atomic<reduce_coarsened_rung, 2 * COARSENED_FACTOR> {
	template <class F> static auto kernel(void) { return coarsened<F>; }
};
LADDER_RUNG(reduce, coarsened, "more values a thread, in a register, before the tree")
