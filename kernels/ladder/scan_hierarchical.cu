/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan_hierarchical.cu - from sections to any n, in three kernels.
 *
 * The sections of coarsened_three_phase, taken apart from each other, are each right but
 * for what comes before them. So:
 *  1. scan the sections, and put the total of each into an array of their own;
 *  2. scan that array: then it holds the fold of all sections up to each;
 *  3. add to every section what precedes it.
 * The end of a kernel is the barrier between blocks, the only one that CUDA offers for
 * any number of them. The cost: step 3 reads and writes everything once more, so that
 * device memory moves 4 n values where 2 n would do. The single-pass rungs are about that.
 *
 * Source: the book, section 11.6. There one block does step 2, which is right as long as
 * the totals fit in one section. Here step 2 is the whole procedure again, on an
 * array thousands of times shorter, and so to any depth; at 9216 values a section, n beyond
 * 85 million takes two rounds of it.
 */
#include "kernels/ladder/scan_section.cuh"

/* Step 1. in may be out: a block reads its section before it writes it. */
template <class F, bool EXCLUSIVE, unsigned FACTOR>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
hierarchical_scan(const typename F::value *in, typename F::value *out, uint64_t n,
		  typename F::value *totals)
{
	__shared__ struct scan_section<typename F::value, FACTOR> s;
	uint64_t begin = (uint64_t)blockIdx.x * s.nvalues;

	section_load<F>(s, in, n, begin);
	section_scan_runs<F>(s);
	typename F::value total = section_scan_last<F>(s);
	if (threadIdx.x == 0)
		totals[blockIdx.x] = total;
	section_distribute<F, EXCLUSIVE>(s, F::identity());
	section_store(s, out, n, begin);
}

/* Step 3: block b adds totals[b], the fold of sections 0 .. b, to section b + 1. */
template <class F, unsigned FACTOR>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
hierarchical_add(typename F::value *out, uint64_t n, const typename F::value *totals)
{
	const unsigned nthreads = scan_nthreads<typename F::value>();
	uint64_t begin = ((uint64_t)blockIdx.x + 1) * nthreads * FACTOR;
	typename F::value prefix = totals[blockIdx.x], loaded[FACTOR];

#pragma unroll
	for (unsigned row = 0; row < FACTOR; row++) {
		uint64_t i = begin + row * nthreads + threadIdx.x;
		loaded[row] = i < n ? out[i] : F::identity();
	}
#pragma unroll
	for (unsigned row = 0; row < FACTOR; row++) {
		uint64_t i = begin + row * nthreads + threadIdx.x;
		if (i < n)
			out[i] = F::combine(prefix, loaded[row]);
	}
}

/* All three. totals: room for the totals of n values, and for those of the totals, and so
 * on down to one. */
template <class F, bool EXCLUSIVE, class T>
static cudaError_t hierarchical_start(const T *in, T *out, uint64_t n, T *totals)
{
	const unsigned nthreads = scan_nthreads<T>();
	unsigned nsections = (unsigned)scan_ntiles_of(n, nthreads * SCAN_FACTOR);
	cudaError_t error;

	hierarchical_scan<F, EXCLUSIVE, SCAN_FACTOR><<<nsections, nthreads>>>(in, out, n, totals);
	error = cudaGetLastError();
	if (error != cudaSuccess || nsections == 1)
		return error;
	/* Inclusive whatever the results are: section b + 1 wants section b's total. */
	error = hierarchical_start<F, false>((const T *)totals, totals, nsections,
					     totals + nsections);
	if (error != cudaSuccess)
		return error;
	hierarchical_add<F, SCAN_FACTOR><<<nsections - 1, nthreads>>>(out, n, (const T *)totals);
	return cudaGetLastError();
}

/* Values of scratch for hierarchical_start, and how often it calls itself. */
static uint64_t hierarchical_ntotals(uint64_t n, uint64_t section_nvalues, uint64_t *nlevels)
{
	uint64_t ntotals = 0;

	*nlevels = 0;
	do {
		n = scan_ntiles_of(n, section_nvalues);
		ntotals += n;
		++*nlevels;
	} while (n > 1);
	return ntotals;
}

/* ---- rows ---- */

template <bool EXCLUSIVE> struct scan_rung_hierarchical_of {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		typedef typename F::value T;
		uint64_t nlevels, n = run->n > 0 ? run->n : 1;

		return ladder_scratch(run, sizeof(T) * hierarchical_ntotals(
				n, scan_nthreads<T>() * SCAN_FACTOR, &nlevels));
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return hierarchical_start<F, EXCLUSIVE>(in, out, run->n, (T *)run->scratch);
	}

	/* Up the levels a value goes through a section but for its phase 3, down again
	 * through step 3, one addition; at the top through phase 3 instead. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nbytes = SCAN_FACTOR * SCAN_THREADS_NBYTES, nlevels;

		hierarchical_ntotals(run->n, section_nvalues(run, nbytes), &nlevels);
		return nlevels * section_depth(run);
	}
};

typedef scan_rung_hierarchical_of<false> scan_rung_hierarchical;
typedef scan_rung_hierarchical_of<true> scan_rung_hierarchical_exclusive;
SCAN_RUNG_DEFINE(hierarchical)
SCAN_RUNG_DEFINE(hierarchical_exclusive)
