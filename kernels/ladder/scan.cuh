/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan.cuh - what rungs of the scan share: sections of an array in the shared memory
 * of a block.
 *
 * A section is scanned by one block, apart from the others. section_kogge_stone is the whole of the
 * rung kogge_stone; larger scans call it for the small scan inside. The three phases of
 * coarsened_three_phase are here as well: hierarchical and domino differ from it only between and
 * after them. Source of kogge_stone ... domino: W. Hwu, D. Kirk, I. El Hajj, "Programming Massively
 * Parallel Processors", 4th ed., 2022, chapter 11: "the book" in these files.
 *
 * Every rung of the scan is right at any n and keeps the order of the operands.
 */
#pragma once

#include "rung.cuh"

extern "C" {
#include "index.h"
}

/* A block has a thread for each value in so many bytes: 1024 threads for values of 4 bytes, 512 for
 * 8, 256 for 16. So sections have the same size in bytes whatever the type. */
#define SCAN_THREADS_NBYTES 4096
/* coarsened_three_phase and up: values a thread. Odd, and so free of bank conflicts, see
 * scan_section. */
#define SCAN_FACTOR 9
#define SCAN_SECTION_NBYTES (SCAN_FACTOR * SCAN_THREADS_NBYTES)

/* Threads of a block that scans values of type T. A power of two. */
template <class T> static constexpr __host__ __device__ inline unsigned scan_nthreads(void)
{
	return SCAN_THREADS_NBYTES / sizeof(T);
}

/* Scans x[0 .. N), N being the number of threads: after the step of stride s, x[i] is the fold of
 * the 2 s values up to and including i, or of all there are. All threads call it after writing
 * x[threadIdx.x]; on return all threads see all of x. A step has two barriers, one more than Kogge
 * and Stone's circuit: there all adders read at once and write at once. Here warps are not in step,
 * and one that wrote early would give its neighbour a value of the next step. */
template <class F, unsigned N>
static __device__ inline void section_kogge_stone(typename F::value *x)
{
	for (unsigned stride = 1; stride < N; stride *= 2) {
		struct ladder_step step = kogge_stone_step(threadIdx.x, stride);
		typename F::value sum;

		__syncthreads(); /* all results of the last step are written */
		if (step.active)
			sum = F::combine(x[step.from], x[step.to]);
		__syncthreads(); /* all threads have read them: they may be overwritten */
		if (step.active)
			x[step.to] = sum;
	}
	__syncthreads(); /* the results are written */
}

/* A section whose threads have SCAN_FACTOR consecutive values each: their runs. SCAN_FACTOR is odd:
 * a warp reads word i of 32 runs in 32 different banks, since it has no factor in common with 32.
 * With 8 it would be 4 banks, 8 times each. (Values of 8 and 16 bytes are read by half and quarter
 * warps: the same.) */
template <class T> struct scan_section {
	static const unsigned nthreads = scan_nthreads<T>(), nvalues = nthreads * SCAN_FACTOR;
	static_assert(SCAN_FACTOR % 2 == 1, "see above");
	T x[nvalues];
	T last[nthreads]; /* [t]: the fold of runs 0 .. t, after phase 2 */
};

/* Loads in[begin .. begin + nvalues), and the identity beyond n. A warp's loads are adjacent;
 * loaded run by run they would touch SCAN_FACTOR times as many lines. */
template <class F>
static __device__ inline void section_load(struct scan_section<typename F::value> &s,
					   const typename F::value *in, uint64_t n, uint64_t begin)
{
	typename F::value loaded[SCAN_FACTOR]; /* all in flight before one is waited for */

#pragma unroll
	for (unsigned row = 0; row < SCAN_FACTOR; row++) {
		uint64_t i = begin + row * s.nthreads + threadIdx.x;
		loaded[row] = i < n ? in[i] : F::identity();
	}
#pragma unroll
	for (unsigned row = 0; row < SCAN_FACTOR; row++)
		s.x[row * s.nthreads + threadIdx.x] = loaded[row];
	__syncthreads(); /* a run was loaded by other threads than its owner */
}

/* Phase 1: each thread scans its run, alone. */
template <class F>
static __device__ inline void section_scan_runs(struct scan_section<typename F::value> &s)
{
	typename F::value *run = s.x + threadIdx.x * SCAN_FACTOR;

#pragma unroll
	for (unsigned i = 1; i < SCAN_FACTOR; i++)
		run[i] = F::combine(run[i - 1], run[i]);
	s.last[threadIdx.x] = run[SCAN_FACTOR - 1];
}

/* Phase 2: the block scans the last values of the runs. Returns the fold of the section, in all
 * threads. */
template <class F>
static __device__ inline typename F::value
section_scan_last(struct scan_section<typename F::value> &s)
{
	section_kogge_stone<F, scan_section<typename F::value>::nthreads>(s.last);
	return s.last[s.nthreads - 1];
}

/* Phase 3: each thread combines its run with what precedes it: prefix, and the runs of lower
 * threads. Exclusive results move up by one, so the run is processed from its end. */
template <class F, bool EXCLUSIVE>
static __device__ inline void
section_distribute(struct scan_section<typename F::value> &s, typename F::value prefix)
{
	typename F::value *run = s.x + threadIdx.x * SCAN_FACTOR, before = prefix;

	if (threadIdx.x > 0)
		before = F::combine(prefix, s.last[threadIdx.x - 1]);
#pragma unroll
	for (unsigned i = SCAN_FACTOR; i-- > 0;) {
		if (!EXCLUSIVE)
			run[i] = F::combine(before, run[i]);
		else
			run[i] = i == 0 ? before : F::combine(before, run[i - 1]);
	}
	__syncthreads(); /* other threads than its owner store the run */
}

/* Stores the section as it was loaded, and nothing beyond out[n - 1]. */
template <class T>
static __device__ inline void section_store(const struct scan_section<T> &s, T *out,
					    uint64_t n, uint64_t begin)
{
#pragma unroll
	for (unsigned row = 0; row < SCAN_FACTOR; row++) {
		unsigned i = row * s.nthreads + threadIdx.x;
		if (begin + i < n)
			out[begin + i] = s.x[i];
	}
}

/* Steps of Kogge-Stone over so many bytes of values, an addition each: log2 of the values. */
static inline uint64_t section_nsteps(const struct ladder_run *run, uint64_t nbytes)
{
	uint64_t nsteps = 0, nvalues = nbytes / bench_type_nbytes(run->type);

	while ((uint64_t)1 << nsteps < nvalues)
		nsteps++;
	return nsteps;
}

/* The depth of a section of three phases: SCAN_FACTOR - 1 additions in the run, the steps over the
 * threads, and one in phase 3. */
static inline uint64_t section_depth(const struct ladder_run *run)
{
	return SCAN_FACTOR - 1 + section_nsteps(run, SCAN_THREADS_NBYTES) + 1;
}

/* Sections of three phases in run's array. */
static inline uint64_t section_count(const struct ladder_run *run)
{
	return ladder_ntiles(run->n, SCAN_SECTION_NBYTES / bench_type_nbytes(run->type));
}

/* The base of rungs that scan sections, a block each. How to join sections is the subject of the
 * others. kernel<F>(): void (const T *in, T *out, uint64_t n), for blocks of scan_nthreads<T>()
 * threads. */
template <class RUNG, uint32_t SECTION_NBYTES> struct scan_sections : scan_rung {
	static const uint32_t section_nbytes = SECTION_NBYTES;

	/* A grid has 2^31 blocks, more than any device's memory has sections. */
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		auto kernel = RUNG::template kernel<F>();
		unsigned nblocks = (unsigned)ladder_ntiles(run->n, SECTION_NBYTES / sizeof(T));

		kernel<<<nblocks, scan_nthreads<T>()>>>(in, out, run->n);
		return cudaGetLastError();
	}

	/* Kogge-Stone's. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return section_nsteps(run, SECTION_NBYTES);
	}
};

/* The depth where tiles of least to most values pass on their totals, in whatever pattern. A result
 * is a tree of additions: its leaves are totals of tiles and values of its own tile, a total is a
 * tree of the tile's values, and no tree is deeper than it has leaves. */
static inline uint64_t scan_tiles_depth(uint64_t n, uint64_t least, uint64_t most)
{
	uint64_t depth = 2 * most + ladder_ntiles(n, least);

	return depth < n ? depth : n; /* there are no more leaves than values */
}

/* The base of rungs that are engines of scan_job.cuh: their tiles are those of run->shape. */
struct scan_engine_rung : scan_rung {
	/* Allocates the tiles' slots. The caller includes kernels/ladder/scan_launch.cuh. */
	template <class F> static cudaError_t open_slots(struct ladder_run *run)
	{
		size_t nbytes = scan_memory_nbytes<F>(&run->shape, run->n);
		cudaError_t error = ladder_scratch(run, nbytes);

		if (error != cudaSuccess)
			return error;
		return scan_memory_open(&run->memory, run->scratch, nbytes, 0);
	}

	static uint64_t depth(const struct ladder_run *run)
	{
		return scan_tiles_depth(run->n, run->shape.tile_nvalues, run->shape.tile_nvalues);
	}
};
