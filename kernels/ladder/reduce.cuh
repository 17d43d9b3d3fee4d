/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce.cuh - the rungs of the reduction: which there are, and what their files
 * share. For ladder_reduce*.cu only; everyone else sees the table in ladder.cuh.
 *
 * A kernel is a template on its fold; a rung is called with a type's and a fold's number.
 * ladder_choose goes from these to the instance.
 */
#ifndef GPUSTAT_LADDER_REDUCE_CUH
#define GPUSTAT_LADDER_REDUCE_CUH

#include "kernels/ladder/fold.cuh"

#define LADDER_NTHREADS 256 /* threads a block, wherever a rung does not choose them */
#define LADDER_NTHREADS_LOG2 8
static_assert(1u << LADDER_NTHREADS_LOG2 == LADDER_NTHREADS, "trees halve the threads");

#define REDUCE_BLOCK_NMAX 2048 /* values that one block of 1024 threads reduces */

/* What a rung allows. ORDERED: it keeps the order of its operands as well. */
#define REDUCE_TYPES \
	(1u << BENCH_FLOAT32 | 1u << BENCH_INT32 | 1u << BENCH_INT64 | 1u << BENCH_INT128)
#define REDUCE_TYPES_ORDERED (REDUCE_TYPES | 1u << BENCH_AFFINE)
#define REDUCE_TYPES_ATOMIC (REDUCE_TYPES & ~(1u << BENCH_INT128)) /* no 128-bit atomicAdd */
#define REDUCE_SUM (1u << BENCH_SUM)
#define REDUCE_FOLDS ((1u << BENCH_NFOLDS) - 1)

/* The rungs, naive to shipped, then CUB: (name, types, folds, largest n, whether it spoils
 * its input, idea). Each has reduce_NAME_open, _launch and _depth. */
#define REDUCE_RUNG_TABLE(RUNG)                                                               \
	RUNG(simple, REDUCE_TYPES_ORDERED, REDUCE_SUM, REDUCE_BLOCK_NMAX, true,               \
	     "a tree; the stride grows, every other thread drops out")                        \
	RUNG(convergent, REDUCE_TYPES, REDUCE_SUM, REDUCE_BLOCK_NMAX, true,                   \
	     "the stride shrinks: whole warps drop out")                                      \
	RUNG(shared_memory, REDUCE_TYPES, REDUCE_SUM, REDUCE_BLOCK_NMAX, false,               \
	     "each value is read once; the tree is in shared memory")                         \
	RUNG(segmented_atomic, REDUCE_TYPES_ATOMIC, REDUCE_SUM, 0, false,                     \
	     "many blocks, 2 values a thread, one atomic a block")                            \
	RUNG(coarsened, REDUCE_TYPES_ATOMIC, REDUCE_SUM, 0, false,                            \
	     "more values a thread, in a register, before the tree")                          \
	RUNG(interleaved_modulo, REDUCE_TYPES_ORDERED, REDUCE_SUM, 0, false,                  \
	     "a partial a block, launched again on the partials")                             \
	RUNG(interleaved_index, REDUCE_TYPES_ORDERED, REDUCE_SUM, 0, false,                   \
	     "the index is computed: no modulo, no divergence")                               \
	RUNG(sequential, REDUCE_TYPES, REDUCE_SUM, 0, false,                                  \
	     "adjacent threads, adjacent words: no bank conflicts")                           \
	RUNG(add_on_load, REDUCE_TYPES, REDUCE_SUM, 0, false,                                 \
	     "2 values a thread: none is idle in the first step")                             \
	RUNG(unroll_last_warp, REDUCE_TYPES, REDUCE_SUM, 0, false,                            \
	     "the last 6 steps need one warp and no block barrier")                           \
	RUNG(unroll_all, REDUCE_TYPES, REDUCE_SUM, 0, false,                                  \
	     "the block's size is known when compiling: no loop")                             \
	RUNG(multi_add, REDUCE_TYPES, REDUCE_SUM, 0, false,                                   \
	     "a grid that fits the GPU, many values a thread")                                \
	RUNG(warp_shuffle, REDUCE_TYPES, REDUCE_SUM, 0, false,                                \
	     "the tree in registers, by shuffles")                                            \
	RUNG(shuffle_pack, REDUCE_TYPES, REDUCE_SUM, 0, false,                                \
	     "16 bytes a load, a running sum for each value of a pack")                       \
	RUNG(shipped, REDUCE_TYPES, REDUCE_FOLDS, 0, false,                                   \
	     "the kernel that gpustat runs")                                                  \
	RUNG(cub, REDUCE_TYPES, REDUCE_FOLDS, 0, false,                                       \
	     "cub::DeviceReduce of the CUDA toolkit")

#define REDUCE_DECLARE(name, types, folds, n_max, spoils_input, idea)                         \
	enum { reduce_##name##_types = (types), reduce_##name##_folds = (folds) };            \
	cudaError_t reduce_##name##_open(struct ladder_run *run);                             \
	cudaError_t reduce_##name##_launch(struct ladder_run *run, void *in, void *out);      \
	uint64_t reduce_##name##_depth(const struct ladder_run *run);
REDUCE_RUNG_TABLE(REDUCE_DECLARE)
#undef REDUCE_DECLARE

/* A fold with its number. */
template <enum bench_type TYPE, enum bench_fold FOLD>
struct ladder_choice : ladder_fold<TYPE, FOLD> {
	static const enum bench_fold fold = FOLD;
};

/* Returns act(choice), of run's type and fold; cudaErrorInvalidValue if they are not in TYPES
 * and FOLDS, which also say what is compiled. ID counts through all there are. */
template <unsigned TYPES, unsigned FOLDS, unsigned ID = 0, class ACT>
static inline cudaError_t ladder_choose(const struct ladder_run *run, ACT act)
{
	constexpr enum bench_type type = (enum bench_type)(ID / BENCH_NFOLDS);
	constexpr enum bench_fold fold = (enum bench_fold)(ID % BENCH_NFOLDS);

	if constexpr (type < BENCH_NTYPES) {
		if constexpr ((TYPES >> type & FOLDS >> fold & 1) != 0) {
			if (run->type == type && run->fold == fold)
				return act(ladder_choice<type, fold>());
		}
		return ladder_choose<TYPES, FOLDS, ID + 1>(run, act);
	}
	return cudaErrorInvalidValue;
}

/* The value of an expression that names the fold F, for the fold that run asks rung NAME
 * for. */
#define REDUCE_WITH_FOLD(name, run, ...)                                                      \
	ladder_choose<reduce_##name##_types, reduce_##name##_folds>(run, [=](auto choice) {   \
		typedef typename decltype(choice)::type F;                                    \
		return __VA_ARGS__;                                                           \
	})

/* in[i], as far as there is one. */
template <class F>
static __device__ inline typename F::value ladder_value(const typename F::value *in, uint64_t n,
							uint64_t i)
{
	return i < n ? in[i] : F::identity();
}

/* Blocks that n values take, at nvalues a block; no values take one, to say what they are. */
static inline uint64_t ladder_nblocks(uint64_t n, uint64_t nvalues)
{
	return n == 0 ? 1 : (n - 1) / nvalues + 1;
}

/* Sets run->nblocks. Error: more than a grid may have. */
static inline cudaError_t ladder_choose_nblocks(struct ladder_run *run, uint64_t nvalues)
{
	uint64_t nblocks = ladder_nblocks(run->n, nvalues);

	if (nblocks > INT32_MAX)
		return cudaErrorInvalidValue;
	run->nblocks = (uint32_t)nblocks;
	return cudaSuccess;
}

#endif
