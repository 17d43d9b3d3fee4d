/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan.cuh - the rungs of the scan, one line each, and how a rung becomes a row of
 * the table scan_ladder (kernels/ladder/scan.cu).
 *
 * The way up. A section in shared memory: kogge_stone, kogge_stone_double_buffer,
 * kogge_stone_exclusive, brent_kung, coarsened_three_phase (ladder_scan_section). Any n in
 * three kernels: hierarchical, hierarchical_exclusive (ladder_scan_hierarchical). Any n in
 * one: domino (ladder_scan_domino), lookback, persistent (ladder_scan_persistent), shipped,
 * shipped_exclusive; and cub (ladder_scan_cub) to hold against them.
 * Source of the first seven and of domino: W. Hwu, D. Kirk, I. El Hajj, "Programming
 * Massively Parallel Processors", 4th ed., 2022, chapter 11: "the book" in what follows.
 *
 * Each rung is right at any n and keeps the order of the operands.
 */
#ifndef GPUSTAT_LADDER_SCAN_CUH
#define GPUSTAT_LADDER_SCAN_CUH

#include "kernels/ladder/fold.cuh"

/* Blocks of the textbook rungs have a thread for each value in so many bytes: 1024 threads
 * for values of 4 bytes, 512 for 8, 256 for 16. Then sections have as many bytes
 * whatever the type. */
#define SCAN_THREADS_NBYTES 4096
/* coarsened_three_phase and up: values a thread. Odd, and so free of bank conflicts, see
 * kernels/ladder/scan_section.cuh. */
#define SCAN_FACTOR 9

/* The rungs: (name, bytes of a section or 0, exclusive, idea). */
#define SCAN_RUNGS(RUNG)                                                                         \
	RUNG(kogge_stone, SCAN_THREADS_NBYTES, false,                                            \
	     "log2(n) steps, each adds what lies twice as far back")                             \
	RUNG(kogge_stone_double_buffer, SCAN_THREADS_NBYTES, false,                              \
	     "read one buffer, write the other: half the barriers")                              \
	RUNG(kogge_stone_exclusive, SCAN_THREADS_NBYTES, true,                                   \
	     "shifted by one on load: results without their own value")                          \
	RUNG(brent_kung, 2 * SCAN_THREADS_NBYTES, false,                                         \
	     "up a tree and down: 2 n additions, not n log2(n)")                                 \
	RUNG(coarsened_three_phase, SCAN_FACTOR * SCAN_THREADS_NBYTES, false,                    \
	     "a thread adds up its own run, only the ends are shared")                           \
	RUNG(hierarchical, 0, false, "sections, then their totals, then both added: any n")      \
	RUNG(hierarchical_exclusive, 0, true, "shifted by one in shared memory, after the scan") \
	RUNG(domino, 0, false, "one kernel: each block waits for its neighbour's prefix")        \
	RUNG(lookback, 0, false, "totals published early, a warp reads 32 at a time")            \
	RUNG(persistent, 0, false, "blocks stay, fetch a tile ahead, but publish it late")       \
	RUNG(shipped, 0, false, "what is fetched ahead is published ahead")                      \
	RUNG(shipped_exclusive, 0, true, "the same, results without their own value")            \
	RUNG(cub, 0, false, "NVIDIA's: cub::DeviceScan::InclusiveSum")

/* A rung NAME is a class scan_rung_NAME with
 *     open<F>(run)             makes run ready, F being the fold of run's type
 *     launch<F>(run, in, out)  launches; n is at least 1
 *     depth(run)               as in ladder.cuh
 * SCAN_RUNG_DEFINE makes of it the three functions of its row. */
#define SCAN_RUNG_DECLARE(name, section_nbytes, exclusive, idea)                       \
	cudaError_t scan_##name##_open(struct ladder_run *run);                        \
	cudaError_t scan_##name##_launch(struct ladder_run *run, void *in, void *out); \
	uint64_t scan_##name##_depth(const struct ladder_run *run);
SCAN_RUNGS(SCAN_RUNG_DECLARE)
#undef SCAN_RUNG_DECLARE

#define SCAN_RUNG_DEFINE(name)                                                        \
	cudaError_t scan_##name##_open(struct ladder_run *run)                        \
	{                                                                             \
		return scan_rung_open<scan_rung_##name>(run);                         \
	}                                                                             \
	cudaError_t scan_##name##_launch(struct ladder_run *run, void *in, void *out) \
	{                                                                             \
		return scan_rung_launch<scan_rung_##name>(run, in, out);              \
	}                                                                             \
	uint64_t scan_##name##_depth(const struct ladder_run *run)                    \
	{                                                                             \
		return scan_rung_##name::depth(run);                                  \
	}

/* From the type, known at run time, to the fold, known to the compiler. */
template <class RUNG> static cudaError_t scan_rung_open(struct ladder_run *run)
{
	switch (run->type) {
#define BENCH_TYPE(id, name, nbytes) \
	case BENCH_##id:             \
		return RUNG::template open<typename ladder_fold<BENCH_##id, BENCH_SUM>::type>(run);
		BENCH_TYPE_TABLE(BENCH_TYPE)
#undef BENCH_TYPE
	default:
		return cudaErrorInvalidValue;
	}
}

template <class RUNG, class F>
static cudaError_t scan_rung_start(struct ladder_run *run, void *in, void *out)
{
	typedef typename F::value T;

	return RUNG::template launch<F>(run, (const T *)in, (T *)out);
}

template <class RUNG>
static cudaError_t scan_rung_launch(struct ladder_run *run, void *in, void *out)
{
	if (run->n == 0) /* a grid of no blocks would be an error */
		return cudaSuccess;
	switch (run->type) {
#define BENCH_TYPE(id, name, nbytes)                                                             \
	case BENCH_##id:                                                                         \
		return scan_rung_start<RUNG, typename ladder_fold<BENCH_##id, BENCH_SUM>::type>( \
			run, in, out);
		BENCH_TYPE_TABLE(BENCH_TYPE)
#undef BENCH_TYPE
	default:
		return cudaErrorInvalidValue;
	}
}

/* Tiles or sections of so many values in n. */
static inline uint64_t scan_ntiles_of(uint64_t n, uint64_t tile_nvalues)
{
	return n / tile_nvalues + (n % tile_nvalues != 0);
}

/* Slots for the tiles of run->shape. Whoever calls it includes kernels/scan/launch.cuh. */
template <class F> static cudaError_t scan_rung_slots(struct ladder_run *run)
{
	size_t nbytes = scan_memory_nbytes<F>(&run->shape, run->n);
	cudaError_t error = ladder_scratch(run, nbytes);

	if (error != cudaSuccess)
		return error;
	return scan_memory_open(&run->memory, run->scratch, nbytes, 0);
}

/* The depth where tiles of least to most values hand on their totals, in whatever pattern. A
 * result is a tree of additions: its leaves are totals of tiles and values of its own
 * tile, a total is a tree of the tile's values, and no tree is deeper than it has leaves. */
static inline uint64_t scan_tiles_depth(uint64_t n, uint64_t least, uint64_t most)
{
	uint64_t depth = 2 * most + scan_ntiles_of(n, least);

	return depth < n ? depth : n; /* all in all no more leaves than values */
}

/* Likewise, with the tiles of run->shape. */
static inline uint64_t scan_shape_depth(const struct ladder_run *run)
{
	return scan_tiles_depth(run->n, run->shape.tile_nvalues, run->shape.tile_nvalues);
}

#endif
