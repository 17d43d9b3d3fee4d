/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce_series.cu - the nine rungs of the best known series on reducing, from 2007
 * to today's chips. No atomics: each block leaves a partial.
 *
 * Source: M. Harris, "Optimizing parallel reduction in CUDA", NVIDIA, 2007, for the first
 * seven, with his names shortened; the last two carry it on as OneFlow's reduction does. The
 * slides take it that n is a power of two and fits the grid, that an index fits 32 bits, and
 * that a warp's lanes go in step without being told; these are right for every n, and on
 * chips whose lanes do not.
 */
#include "kernels/ladder/reduce.cuh"

static_assert(LADDER_NTHREADS >= 2 * WARP_NLANES, "the last warp has 2 values a lane");

/* ---- a partial a block, in rounds until one is left ---- */

/* interleaved_modulo: blocks cannot wait for each other, but a launch waits for the one
 * before; so each block leaves one partial, and the same kernel is launched on the partials
 * until there is one. Within a block it is the rung `simple`, in shared memory. It wastes what
 * that does, warps that run for few threads, and on top of it a remainder for every thread in
 * every step, which the hardware has no instruction for. It keeps the order. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
interleaved_modulo(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
		__syncthreads(); /* others have written what this step reads */
		if (t % (2 * stride) == 0)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0) /* who wrote it, too: no barrier */
		out[blockIdx.x] = part[0];
}

/* interleaved_index: the same additions, by other threads: the k-th addition of a step goes to
 * thread k, which computes the position. No remainder, and the threads at work are the first
 * ones, so warps retire whole. But now lane k of a warp asks for word 2 stride k: at stride 16
 * all 32 lanes want the same bank of shared memory, which serves one at a time.
 * It keeps the order. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
interleaved_index(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
		unsigned i = 2 * stride * t;
		__syncthreads(); /* others have written what this step reads */
		if (i < blockDim.x)
			part[i] = F::combine(part[i], part[i + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

/* sequential: thread t adds positions t and t + stride, the stride shrinking: neighbouring
 * lanes touch neighbouring words, which lie in different banks, so no lane waits for
 * another's. (The rung `convergent`, in shared memory.) What is left to waste: half of the
 * threads load a value, and then never do anything again.
 * From here on no rung keeps the order: the fold must commute. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
sequential(const typename F::value *in, uint64_t n, typename F::value *out)
{
	__shared__ typename F::value part[LADDER_NTHREADS];
	unsigned t = threadIdx.x;

	part[t] = ladder_value<F>(in, n, (uint64_t)blockIdx.x * LADDER_NTHREADS + t);
	for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
		__syncthreads(); /* others have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

/* add_on_load: the first addition is done on the way in. Each thread loads two values, so
 * half as many blocks do, and no thread is idle before its second addition. The slides load
 * the second value without looking whether there is one. What is left to waste: 8 steps,
 * each with a barrier and a loop around it, for 2 values a thread. */
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
		__syncthreads(); /* others have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

/* The last 6 steps, over part[0 .. 64), which all threads have written. One whole warp, the
 * block's first, calls it; valid in lane 0. All lanes take part in all steps: those beyond
 * the stride add what nobody reads, which is cheaper than to ask. */
template <class F>
static __device__ inline typename F::value last_warp_tree(typename F::value *part)
{
	typename F::value x = part[threadIdx.x];

#pragma unroll
	for (unsigned stride = WARP_NLANES; stride > 0; stride /= 2) {
		x = F::combine(x, part[threadIdx.x + stride]);
		__syncwarp(); /* all lanes have read, before one writes there */
		part[threadIdx.x] = x;
		__syncwarp(); /* all have written, before the next step reads */
	}
	return x;
}

/* unroll_last_warp: from stride 32 on one warp is left, and a barrier for the whole block is
 * too much: it waits for warps that have nothing to say. So the loop ends there, and the last
 * 6 steps are written out for one warp. In 2007 they needed nothing between them, and the
 * slides have nothing (a volatile pointer keeps the compiler from reordering): lanes went in
 * step. Since 2017 (Volta) each lane has a program counter of its own, and that is a race; a
 * __syncwarp before and after each write makes it right. */
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
		__syncthreads(); /* others have written what this step reads */
		if (t < stride)
			part[t] = F::combine(part[t], part[t + stride]);
	}
	__syncthreads(); /* the second warp has written its half of what is left */
	if (t >= WARP_NLANES)
		return;
	typename F::value x = last_warp_tree<F>(part);
	if (t == 0)
		out[blockIdx.x] = x;
}

/* The tree over a block of NTHREADS threads, each bringing x. Valid in thread 0. */
template <class F, unsigned NTHREADS>
static __device__ inline typename F::value unrolled_tree(typename F::value x)
{
	__shared__ typename F::value part[NTHREADS];

	part[threadIdx.x] = x;
#pragma unroll
	for (unsigned stride = NTHREADS / 2; stride > WARP_NLANES; stride /= 2) {
		__syncthreads(); /* others have written what this step reads */
		if (threadIdx.x < stride)
			part[threadIdx.x] = F::combine(part[threadIdx.x],
						       part[threadIdx.x + stride]);
	}
	__syncthreads(); /* the second warp has written its half of what is left */
	return threadIdx.x < WARP_NLANES ? last_warp_tree<F>(part) : x;
}

/* unroll_all: a loop up to blockDim.x has a counter and a branch in every step, since blockDim.x
 * is known only when launched. As a template's argument it is known to the compiler, which
 * writes the steps one after the other. The slides do so by hand, an `if` for each block size
 * up to 512; today the loop stays in the source and a pragma asks for the same. */
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

/* nvalues, here and below: a block's. There is room for the partials of two rounds: a block
 * that wrote among those it reads could overtake one that has yet to read them. */
static cudaError_t rounds_open(struct ladder_run *run, uint64_t nvalues)
{
	cudaError_t error = ladder_choose_nblocks(run, nvalues);
	uint64_t npartials = run->nblocks + ladder_nblocks(run->nblocks, nvalues);

	if (error != cudaSuccess)
		return error;
	return ladder_scratch(run, npartials * bench_type_nbytes(run->type));
}

/* Launches the kernel until one partial is left, which is the result. */
template <class F, class KERNEL>
static cudaError_t rounds_launch(KERNEL kernel, const struct ladder_run *run, const void *in,
				 void *out, uint64_t nvalues)
{
	typedef typename F::value value;
	value *room[2] = {(value *)run->scratch, (value *)run->scratch + run->nblocks};
	const value *from = (const value *)in;

	for (uint64_t n = run->n, round = 0;; round++) {
		uint32_t nblocks = (uint32_t)ladder_nblocks(n, nvalues);
		value *to = nblocks == 1 ? (value *)out : room[round % 2];

		kernel<<<nblocks, LADDER_NTHREADS>>>(from, n, to);
		cudaError_t error = cudaGetLastError();
		if (error != cudaSuccess || nblocks == 1)
			return error;
		from = to;
		n = nblocks;
	}
}

/* A value goes through at most one addition a level of the tree, in each round. */
static uint64_t rounds_depth(const struct ladder_run *run, uint64_t nvalues)
{
	uint64_t nlevels = 0, nrounds = 1;

	while ((uint64_t)1 << nlevels < nvalues)
		nlevels++;
	for (uint64_t n = ladder_nblocks(run->n, nvalues); n > 1; n = ladder_nblocks(n, nvalues))
		nrounds++;
	return nrounds * nlevels;
}

/* What a rung of rounds has beside its kernel. */
#define ROUNDS_RUNG(name, nvalues)                                                            \
	cudaError_t reduce_##name##_open(struct ladder_run *run)                              \
	{                                                                                     \
		return rounds_open(run, nvalues);                                             \
	}                                                                                     \
	cudaError_t reduce_##name##_launch(struct ladder_run *run, void *in, void *out)       \
	{                                                                                     \
		return REDUCE_WITH_FOLD(name, run,                                            \
					rounds_launch<F>(name<F>, run, in, out, nvalues));    \
	}                                                                                     \
	uint64_t reduce_##name##_depth(const struct ladder_run *run)                          \
	{                                                                                     \
		return rounds_depth(run, nvalues);                                            \
	}

ROUNDS_RUNG(interleaved_modulo, LADDER_NTHREADS)
ROUNDS_RUNG(interleaved_index, LADDER_NTHREADS)
ROUNDS_RUNG(sequential, LADDER_NTHREADS)
ROUNDS_RUNG(add_on_load, 2 * LADDER_NTHREADS)
ROUNDS_RUNG(unroll_last_warp, 2 * LADDER_NTHREADS)
ROUNDS_RUNG(unroll_all, 2 * LADDER_NTHREADS)

/* ---- a grid that fits the GPU, in two launches ---- */

/* The fold of the thread's share of in[0 .. n): two values from every stretch of the block's,
 * and stretches of all blocks alternate, so that the grid goes through memory side by side. */
template <class F>
static __device__ inline typename F::value fold_share(const typename F::value *in, uint64_t n)
{
	uint64_t step = (uint64_t)gridDim.x * 2 * LADDER_NTHREADS;
	uint64_t i = (uint64_t)blockIdx.x * 2 * LADDER_NTHREADS + threadIdx.x;
	typename F::value x = F::identity();

	for (; i < n; i += step)
		x = F::combine(x, F::combine(in[i], ladder_value<F>(in, n, i + LADDER_NTHREADS)));
	return x;
}

/* multi_add: so far, twice the values meant twice the blocks, each with its tree. Here the grid
 * is chosen once, as many blocks as run at a time, and each thread adds its share of the array
 * in a register, however large: the tree is paid for once a block and spread over thousands of
 * values, and a second launch, of one block, does the partials. (Brent's theorem: p processors,
 * n / p steps each, and then log p.) In the slides the second value of the last stretch is
 * loaded without looking whether there is one. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
multi_add(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typename F::value x = unrolled_tree<F, LADDER_NTHREADS>(fold_share<F>(in, n));

	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

/* warp_shuffle: the tree's partials go through shared memory only because lanes could not see
 * each other's registers. Now they can: 5 shuffles fold a warp, with no memory and no barrier
 * between them, one word a warp goes through shared memory, and 5 more shuffles fold the
 * words. That is block_reduce of block.cuh, which gpustat's kernels use: 2 barriers and 8
 * words in place of 3, 12 within the last warp, and 256. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
warp_shuffle(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typename F::value x = block_reduce<F, LADDER_NTHREADS>(fold_share<F>(in, n));

	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

/* 16 bytes, which one load instruction fetches. */
#define PACK_NBYTES 16
template <class T> struct alignas(PACK_NBYTES) pack {
	static const unsigned nvalues = PACK_NBYTES / sizeof(T);
	T value[nvalues];
};

/* The fold of x's values. */
template <class F>
static __device__ inline typename F::value pack_fold(const pack<typename F::value> &x)
{
	typename F::value all = x.value[0];

#pragma unroll
	for (unsigned v = 1; v < x.nvalues; v++)
		all = F::combine(all, x.value[v]);
	return all;
}

/* shuffle_pack: what is left is reading, and a load of 4 bytes a lane asks for 128 bytes a warp
 * where it could ask for 512. So the array is taken in packs of 16 bytes: a quarter of the
 * instructions, and four times the bytes on their way at any time. A running sum for each
 * place of a pack makes four short chains of additions in place of one long one. The values
 * behind the last whole pack, at most 3, go to the grid's first threads. */
template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
shuffle_pack(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typedef pack<typename F::value> pack_t;
	const pack_t *packs = (const pack_t *)in;
	uint64_t npacks = n / pack_t::nvalues, step = (uint64_t)gridDim.x * LADDER_NTHREADS;
	uint64_t first = (uint64_t)blockIdx.x * LADDER_NTHREADS + threadIdx.x;
	pack_t sums;

#pragma unroll
	for (unsigned v = 0; v < pack_t::nvalues; v++)
		sums.value[v] = F::identity();
	for (uint64_t i = first; i < npacks; i += step) {
		pack_t x = packs[i];
#pragma unroll
		for (unsigned v = 0; v < pack_t::nvalues; v++)
			sums.value[v] = F::combine(sums.value[v], x.value[v]);
	}
	typename F::value x = pack_fold<F>(sums);
	if (first < n % pack_t::nvalues)
		x = F::combine(x, in[npacks * pack_t::nvalues + first]);
	x = block_reduce<F, LADDER_NTHREADS>(x);
	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

/* Blocks: what the multiprocessors hold at once of this kernel, but at least a value a
 * thread. */
template <class KERNEL> static cudaError_t grid_open(KERNEL kernel, struct ladder_run *run)
{
	int device, nprocessors, nblocks;
	cudaError_t error = cudaGetDevice(&device);

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&nprocessors, cudaDevAttrMultiProcessorCount,
					       device);
	if (error == cudaSuccess)
		error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nblocks, kernel,
								      LADDER_NTHREADS, 0);
	if (error != cudaSuccess)
		return error;
	uint64_t nrunning = (uint64_t)nprocessors * (uint64_t)nblocks;
	uint64_t nuseful = ladder_nblocks(run->n, LADDER_NTHREADS);
	run->nblocks = (uint32_t)(nrunning < nuseful ? nrunning : nuseful);
	return ladder_scratch(run, run->nblocks * bench_type_nbytes(run->type));
}

template <class F, class KERNEL>
static cudaError_t grid_launch(KERNEL kernel, const struct ladder_run *run, const void *in,
			       void *out)
{
	typedef typename F::value value;
	value *partials = (value *)run->scratch;

	kernel<<<run->nblocks, LADDER_NTHREADS>>>((const value *)in, run->n, partials);
	cudaError_t error = cudaGetLastError();
	if (error != cudaSuccess)
		return error;
	kernel<<<1, LADDER_NTHREADS>>>(partials, run->nblocks, (value *)out);
	return cudaGetLastError();
}

/* In either launch a value goes through its thread's additions, a value each and one for the
 * pair, or a pack each, 3 for its places and one for the values behind; and the tree. */
static uint64_t grid_depth(const struct ladder_run *run)
{
	uint64_t nthreads = (uint64_t)run->nblocks * LADDER_NTHREADS;

	return ladder_nblocks(run->n, nthreads) + 4 + LADDER_NTHREADS_LOG2 +
	       ladder_nblocks(run->nblocks, LADDER_NTHREADS) + 4 + LADDER_NTHREADS_LOG2;
}

/* What a rung of a fitting grid has beside its kernel. */
#define GRID_RUNG(name)                                                                       \
	cudaError_t reduce_##name##_open(struct ladder_run *run)                              \
	{                                                                                     \
		return REDUCE_WITH_FOLD(name, run, grid_open(name<F>, run));                  \
	}                                                                                     \
	cudaError_t reduce_##name##_launch(struct ladder_run *run, void *in, void *out)       \
	{                                                                                     \
		return REDUCE_WITH_FOLD(name, run, grid_launch<F>(name<F>, run, in, out));    \
	}                                                                                     \
	uint64_t reduce_##name##_depth(const struct ladder_run *run)                          \
	{                                                                                     \
		return grid_depth(run);                                                       \
	}

GRID_RUNG(multi_add)
GRID_RUNG(warp_shuffle)
GRID_RUNG(shuffle_pack)
