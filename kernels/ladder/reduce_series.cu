/* SPDX-License-Identifier: MIT
 *
 * reduce_series.cu - the seven kernels of the best known series on reductions. No atomics: each
 * block leaves a partial.
 *
 * Source: M. Harris, "Optimizing parallel reduction in CUDA", NVIDIA, 2007, with the names
 * shortened. The slides assume that n is a power of two and fits the grid, that an index fits 32
 * bits, and that a warp's lanes execute in lockstep; these kernels are right for every n, and on
 * GPUs whose lanes do not. warp_shuffle and shuffle_pack continue the series.
 */
#include "reduce.cuh"

static_assert(LADDER_NTHREADS >= 2 * WARP_NLANES, "the last warp has 2 values a lane");

/* ---- a partial a block, in rounds until one is left ---- */

/* kernel<F>(): void (const T *in, uint64_t n, T *partials), for blocks of LADDER_NTHREADS threads,
 * each of which reduces NVALUES values. */
template <class RUNG, unsigned NVALUES> struct reduce_rounds : reduce_rung {
	/* Scratch: the partials of two rounds. A block that wrote among those that it reads could
	 * overtake one that has yet to read them. */
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		cudaError_t error = ladder_choose_nblocks(run, NVALUES);
		uint64_t npartials = run->nblocks + ladder_nblocks(run->nblocks, NVALUES);

		if (error != cudaSuccess)
			return error;
		return ladder_scratch(run, npartials * sizeof(typename F::value));
	}

	/* Launches the kernel until one partial is left: the result. */
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		auto kernel = RUNG::template kernel<F>();
		T *room[2] = {(T *)run->scratch, (T *)run->scratch + run->nblocks};

		for (uint64_t n = run->n, round = 0;; round++) {
			uint32_t nblocks = (uint32_t)ladder_nblocks(n, NVALUES);
			T *to = nblocks == 1 ? out : room[round % 2];

			kernel<<<nblocks, LADDER_NTHREADS>>>(in, n, to);
			cudaError_t error = cudaGetLastError();
			if (error != cudaSuccess || nblocks == 1)
				return error;
			in = to;
			n = nblocks;
		}
	}

	/* At most one addition a level of the tree, in each round. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nlevels = 0, nrounds = 1;

		while ((uint64_t)1 << nlevels < NVALUES)
			nlevels++;
		for (uint64_t n = ladder_nblocks(run->n, NVALUES); n > 1;
		     n = ladder_nblocks(n, NVALUES))
			nrounds++;
		return nrounds * nlevels;
	}
};

/* interleaved_modulo: blocks cannot wait for each other, but a launch waits for the one before. So
 * each block leaves one partial, and the same kernel is launched on the partials until there is
 * one. Within a block it is the rung `simple`, in shared memory. It wastes what that wastes, warps
 * that run for few threads, and also a remainder for every thread in every step, which the hardware
 * has no instruction for. It keeps the order. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
interleaved_modulo(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		if (t % (2 * stride) == 0)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0) /* wrote it as well: no barrier */
		out[blockIdx.x] = part[0];
}

struct reduce_interleaved_modulo_rung
    : reduce_rounds<reduce_interleaved_modulo_rung, LADDER_NTHREADS> {
	static const unsigned types = LADDER_TYPES_ORDERED;
	template <class F> static auto kernel(void) { return interleaved_modulo<F>; }
};
LADDER_RUNG(reduce, interleaved_modulo, "a partial a block, launched again on the partials")

/* interleaved_index: the same additions by other threads: thread k does the k-th addition of a
 * step, and computes the position. No remainder, and the active threads are the first ones, so
 * whole warps retire. But now lane k of a warp asks for word 2 stride k: at stride 16 all 32 lanes
 * want the same bank of shared memory, which serves one at a time. It keeps the order. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
interleaved_index(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
		unsigned i = 2 * stride * t;
		__syncthreads(); /* other threads have written what this step reads */
		if (i < blockDim.x)
			part[i] = F::combine(part[i], part[i + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

struct reduce_interleaved_index_rung
    : reduce_rounds<reduce_interleaved_index_rung, LADDER_NTHREADS> {
	static const unsigned types = LADDER_TYPES_ORDERED;
	template <class F> static auto kernel(void) { return interleaved_index<F>; }
};
LADDER_RUNG(reduce, interleaved_index, "the index is computed: no modulo, no divergence")

/* sequential: thread t adds positions t and t + stride, and the stride shrinks. Neighbouring lanes
 * access neighbouring words, which lie in different banks, so no lane waits for another. (The rung
 * `convergent`, in shared memory.) What is left to waste: half of the threads load a value and then
 * do nothing more. From here on no rung keeps the order: the fold must commute. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
sequential(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

struct reduce_sequential_rung : reduce_rounds<reduce_sequential_rung, LADDER_NTHREADS> {
	template <class F> static auto kernel(void) { return sequential<F>; }
};
LADDER_RUNG(reduce, sequential, "adjacent threads, adjacent words: no bank conflicts")

/* add_on_load: the first addition is part of the load. Each thread loads two values, so half as
 * many blocks are needed, and no thread is idle before its second addition. The slides load the
 * second value without testing whether there is one. What is left to waste: 8 steps, each with a
 * barrier and a loop around it, for 2 values a thread. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
add_on_load(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;
	uint64_t i = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS + t;

	part[t] = F::combine(ladder_value<F>(in, n, i),
			     ladder_value<F>(in, n, i + LADDER_NTHREADS));
	for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

struct reduce_add_on_load_rung : reduce_rounds<reduce_add_on_load_rung, 2 * LADDER_NTHREADS> {
	template <class F> static auto kernel(void) { return add_on_load<F>; }
};
LADDER_RUNG(reduce, add_on_load, "2 values a thread: none is idle in the first step")

/* The last 6 steps, over part[0 .. 64), which all threads have written. The block's first warp
 * calls it, as a whole; valid in lane 0. All lanes take part in all steps: lanes beyond the stride
 * compute sums that are not used, which is cheaper than a test. */
template <class F>
static __device__ inline typename F::value last_warp_tree(typename F::value *part)
{
	typename F::value x = part[threadIdx.x];

#pragma unroll
	for (unsigned stride = WARP_NLANES; stride > 0; stride /= 2) {
		x = F::combine(x, part[threadIdx.x + stride]);
		__syncwarp(); /* all lanes have read before one writes there */
		part[threadIdx.x] = x;
		__syncwarp(); /* all have written before the next step reads */
	}
	return x;
}

/* unroll_last_warp: from stride 32 on one warp is left, and a barrier for the whole block makes it
 * wait for warps that have nothing to do. So the loop ends there, and one warp does the last 6
 * steps unrolled. In 2007 these needed no synchronisation, and the slides have none (a volatile
 * pointer keeps the compiler from reordering): lanes executed in lockstep. Since Volta (2017) each
 * lane has its own program counter, and that is a race; a __syncwarp before and after each write
 * makes it right. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
unroll_last_warp(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;
	uint64_t i = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS + t;

	part[t] = F::combine(ladder_value<F>(in, n, i),
			     ladder_value<F>(in, n, i + LADDER_NTHREADS));
	for (unsigned stride = blockDim.x / 2; stride > WARP_NLANES; stride /= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	__syncthreads(); /* the second warp has written its half of the 64 */
	if (t >= WARP_NLANES)
		return;
	typename F::value x = last_warp_tree<F>(part);
	if (t == 0)
		out[blockIdx.x] = x;
}

struct reduce_unroll_last_warp_rung
    : reduce_rounds<reduce_unroll_last_warp_rung, 2 * LADDER_NTHREADS> {
	template <class F> static auto kernel(void) { return unroll_last_warp<F>; }
};
LADDER_RUNG(reduce, unroll_last_warp, "the last 6 steps need one warp and no block barrier")

/* The tree over a block of NTHREADS threads, each of which contributes x. Valid in thread 0. */
template <class F, unsigned NTHREADS>
static __device__ inline typename F::value unrolled_tree(typename F::value x)
{
	__shared__ typename F::value part[NTHREADS];

	part[threadIdx.x] = x;
#pragma unroll
	for (unsigned stride = NTHREADS / 2; stride > WARP_NLANES; stride /= 2) {
		__syncthreads(); /* other threads have written what this step reads */
		if (threadIdx.x < stride)
			part[threadIdx.x] = F::combine(part[threadIdx.x],
						       part[threadIdx.x + stride]);
	}
	__syncthreads(); /* the second warp has written its half of the 64 */
	return threadIdx.x < WARP_NLANES ? last_warp_tree<F>(part) : x;
}

/* unroll_all: a loop up to blockDim.x has a counter and a branch in every step, since blockDim.x is
 * known only at the launch. A template argument is known to the compiler, which unrolls the steps.
 * The slides do so by hand, with an `if` for each block size up to 512; today the loop stays in the
 * source and a pragma asks for the same. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
unroll_all(const typename F::value *in, uint64_t n, typename F::value *out)
{
	uint64_t i = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS + threadIdx.x;
	typename F::value x = F::combine(ladder_value<F>(in, n, i),
					 ladder_value<F>(in, n, i + LADDER_NTHREADS));

	x = unrolled_tree<F, LADDER_NTHREADS>(x);
	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

struct reduce_unroll_all_rung : reduce_rounds<reduce_unroll_all_rung, 2 * LADDER_NTHREADS> {
	template <class F> static auto kernel(void) { return unroll_all<F>; }
};
LADDER_RUNG(reduce, unroll_all, "the block's size is known when compiling: no loop")

/* ---- a grid that fits the GPU, in two launches ---- */

/* multi_add: so far, twice the values meant twice the blocks, each with its tree. Here the grid is
 * chosen once, as many blocks as run at a time, and each thread adds its share of the array in a
 * register, however large: one tree a block is spread over thousands of values, and a second
 * launch, of one block, reduces the partials. (Brent's theorem: p processors, n / p steps each, and
 * then log p.) In the slides the second value of the last stretch is loaded without testing whether
 * there is one. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
multi_add(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typename F::value x = unrolled_tree<F, LADDER_NTHREADS>(fold_share<F>(in, n));

	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

struct reduce_multi_add_rung : reduce_fitting_grid<reduce_multi_add_rung> {
	template <class F> static auto kernel(void) { return multi_add<F>; }
};
LADDER_RUNG(reduce, multi_add, "a grid that fits the GPU, many values a thread")
