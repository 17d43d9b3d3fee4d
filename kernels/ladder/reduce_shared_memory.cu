/* SPDX-License-Identifier: MIT
 *
 * reduce_shared_memory.cu - convergent, with its partial sums in shared memory.
 *
 * Only the first step needs device memory. Each thread loads its two values and adds them in a
 * register; from there on partial sums live in shared memory, on the multiprocessor itself. 2 loads
 * a thread and 1 store a block are left, and the input is unchanged. Threads without values
 * contribute the identity; in the book they read what lies beyond the array. The limit is the
 * block: 2048 values, on one of many multiprocessors. The fold must commute.
 */
#include "reduce.cuh"

template <class F>
__global__ static void __launch_bounds__(REDUCE_BLOCK_NTHREADS_MAX)
shared_memory(const typename F::value *in, unsigned n, typename F::value *out)
{
	__shared__ typename F::value part[REDUCE_BLOCK_NTHREADS_MAX];
	struct ladder_step step = convergent_step(threadIdx.x, blockDim.x);
	typename F::value x = ladder_value<F>(in, n, step.to);

	if (step.from < n)
		x = F::combine(x, in[step.from]);
	x = convergent_tree<F>(part, x);
	if (threadIdx.x == 0)
		*out = x;
}

struct reduce_shared_memory_rung : reduce_one_block<reduce_shared_memory_rung> {
	template <class F> static auto kernel(void) { return shared_memory<F>; }
};
LADDER_RUNG(reduce, shared_memory, "each value is read once; the tree is in shared memory")
