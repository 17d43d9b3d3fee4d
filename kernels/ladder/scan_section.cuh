/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan_section.cuh - a section of values in the shared memory of one block: what
 * the textbook rungs of the scan have in common.
 *
 * Two things are here. section_kogge_stone, the whole of the rung kogge_stone, since
 * others call it for the small scan inside a larger one. And the three phases of
 * coarsened_three_phase, since hierarchical and domino differ from it only in what they do
 * between and after them.
 */
#ifndef GPUSTAT_LADDER_SCAN_SECTION_CUH
#define GPUSTAT_LADDER_SCAN_SECTION_CUH

#include "kernels/ladder/scan.cuh"

extern "C" {
#include "kernels/ladder/index.h"
}

/* Threads of a block that scans values of type T. A power of two. */
template <class T> static constexpr __host__ __device__ inline unsigned scan_nthreads(void)
{
	return SCAN_THREADS_NBYTES / sizeof(T);
}

/* Scans x[0 .. N), N the number of threads: after the step of stride s, x[i] is the fold of
 * the 2 s values up to and with i, or of all there are. All threads call it, each having
 * written x[threadIdx.x]; on return all of x is there for all.
 * The two barriers of a step are one more than Kogge and Stone's circuit has: there all
 * adders read at once and write at once. Here warps run apart, and one that wrote early
 * would give its neighbour a value of the next step. */
template <class F, unsigned N>
static __device__ inline void section_kogge_stone(typename F::value *x)
{
	for (unsigned stride = 1; stride < N; stride *= 2) {
		struct ladder_step step = kogge_stone_step(threadIdx.x, stride);
		typename F::value sum;

		__syncthreads(); /* all of the last step's results are there */
		if (step.active)
			sum = F::combine(x[step.from], x[step.to]);
		__syncthreads(); /* all have read: they may be overwritten */
		if (step.active)
			x[step.to] = sum;
	}
	__syncthreads(); /* the results are there */
}

/* A section whose threads have FACTOR values in a row each: their runs.
 * FACTOR is odd: a warp reads word i of 32 runs in 32 different banks, since FACTOR has no
 * factor in common with 32. With 8 it would be 4 banks, 8 times each. (Values of 8 and 16
 * bytes are read by half and quarter warps: the same.) */
template <class T, unsigned FACTOR> struct scan_section {
	static const unsigned nthreads = scan_nthreads<T>(), nvalues = nthreads * FACTOR;
	static_assert(FACTOR % 2 == 1, "see above");
	T x[nvalues];
	T last[nthreads]; /* thread t's: the fold of runs 0 .. t, after phase 2 */
};

/* Loads in[begin .. begin + nvalues), the identity beyond n. What a warp loads at once lies
 * side by side; in runs it would touch FACTOR times as many lines. */
template <class F, unsigned FACTOR>
static __device__ inline void section_load(struct scan_section<typename F::value, FACTOR> &s,
					   const typename F::value *in, uint64_t n, uint64_t begin)
{
	typename F::value loaded[FACTOR]; /* all are on their way before one is waited for */

#pragma unroll
	for (unsigned row = 0; row < FACTOR; row++) {
		uint64_t i = begin + row * s.nthreads + threadIdx.x;
		loaded[row] = i < n ? in[i] : F::identity();
	}
#pragma unroll
	for (unsigned row = 0; row < FACTOR; row++)
		s.x[row * s.nthreads + threadIdx.x] = loaded[row];
	__syncthreads(); /* a run was loaded by others than its owner */
}

/* Phase 1: each thread scans its run, alone. */
template <class F, unsigned FACTOR>
static __device__ inline void section_scan_runs(struct scan_section<typename F::value, FACTOR> &s)
{
	typename F::value *run = s.x + threadIdx.x * FACTOR;

#pragma unroll
	for (unsigned i = 1; i < FACTOR; i++)
		run[i] = F::combine(run[i - 1], run[i]);
	s.last[threadIdx.x] = run[FACTOR - 1];
}

/* Phase 2: the block scans what the runs end in. The fold of the section, in all threads. */
template <class F, unsigned FACTOR>
static __device__ inline typename F::value
section_scan_last(struct scan_section<typename F::value, FACTOR> &s)
{
	section_kogge_stone<F, scan_section<typename F::value, FACTOR>::nthreads>(s.last);
	return s.last[s.nthreads - 1];
}

/* Phase 3: each thread puts before its run what comes before it: prefix, and the runs of
 * lower threads. Exclusive results move up by one, so the run is done from its end. */
template <class F, bool EXCLUSIVE, unsigned FACTOR>
static __device__ inline void
section_distribute(struct scan_section<typename F::value, FACTOR> &s, typename F::value prefix)
{
	typename F::value *run = s.x + threadIdx.x * FACTOR, before = prefix;

	if (threadIdx.x > 0)
		before = F::combine(prefix, s.last[threadIdx.x - 1]);
#pragma unroll
	for (unsigned i = FACTOR; i-- > 0;) {
		if (!EXCLUSIVE)
			run[i] = F::combine(before, run[i]);
		else
			run[i] = i == 0 ? before : F::combine(before, run[i - 1]);
	}
	__syncthreads(); /* others than its owner will store the run */
}

/* Stores the section, coalesced as it was loaded, and nothing beyond out[n - 1]. */
template <class T, unsigned FACTOR>
static __device__ inline void section_store(const struct scan_section<T, FACTOR> &s, T *out,
					    uint64_t n, uint64_t begin)
{
#pragma unroll
	for (unsigned row = 0; row < FACTOR; row++) {
		unsigned i = row * s.nthreads + threadIdx.x;
		if (begin + i < n)
			out[begin + i] = s.x[i];
	}
}

/* Values of a section of so many bytes. */
static inline uint64_t section_nvalues(const struct ladder_run *run, uint64_t nbytes)
{
	return nbytes / bench_type_nbytes(run->type);
}

/* Kogge-Stone adds once a step: log2 of the section's values. */
static inline uint64_t section_nsteps(uint64_t nvalues)
{
	uint64_t nsteps = 0;

	for (uint64_t stride = 1; stride < nvalues; stride *= 2)
		nsteps++;
	return nsteps;
}

/* A section of three phases: SCAN_FACTOR - 1 additions in the run, the steps over the
 * threads, and one in phase 3. */
static inline uint64_t section_depth(const struct ladder_run *run)
{
	return SCAN_FACTOR - 1 + section_nsteps(section_nvalues(run, SCAN_THREADS_NBYTES)) + 1;
}

/* Sections of three phases in run's array. */
static inline uint64_t section_count(const struct ladder_run *run)
{
	return scan_ntiles_of(run->n, section_nvalues(run, SCAN_FACTOR * SCAN_THREADS_NBYTES));
}

#endif
