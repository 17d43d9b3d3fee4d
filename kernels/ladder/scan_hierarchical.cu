/* SPDX-License-Identifier: MIT
 *
 * scan_hierarchical.cu - from sections to any n, in three kernels.
 *
 * The sections of coarsened_three_phase lack only the fold of what precedes them. So:
 *  1. scan the sections, and write the total of each into an array of totals;
 *  2. scan that array: it then holds the fold of all sections up to each;
 *  3. add to every section what precedes it.
 * The end of a kernel is the barrier between blocks, the only one that CUDA offers for any number
 * of them. The cost: step 3 reads and writes everything once more, so that device memory moves 4 n
 * values where 2 n would be enough. The single-pass rungs avoid that.
 *
 * Source: the book, section 11.6. There one block does step 2, which is right as long as the totals
 * fit in one section. Here step 2 is the whole procedure again, on an array thousands of times
 * shorter, to any depth; at 9216 values a section, n beyond 85 million takes two rounds of it.
 */
#include "scan.cuh"

/* Step 1. in may be out: a block reads its section before it writes it. */
template <class F, bool EXCLUSIVE>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
hierarchical_scan(const typename F::value *in, typename F::value *out, uint64_t n,
		  typename F::value *totals)
{
	__shared__ struct scan_section<typename F::value> s;
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
template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
hierarchical_add(typename F::value *out, uint64_t n, const typename F::value *totals)
{
	const unsigned nthreads = scan_nthreads<typename F::value>();
	uint64_t begin = ((uint64_t)blockIdx.x + 1) * nthreads * SCAN_FACTOR;
	typename F::value prefix = totals[blockIdx.x], loaded[SCAN_FACTOR];

#pragma unroll
	for (unsigned row = 0; row < SCAN_FACTOR; row++) {
		uint64_t i = begin + row * nthreads + threadIdx.x;
		loaded[row] = i < n ? out[i] : F::identity();
	}
#pragma unroll
	for (unsigned row = 0; row < SCAN_FACTOR; row++) {
		uint64_t i = begin + row * nthreads + threadIdx.x;
		if (i < n)
			out[i] = F::combine(prefix, loaded[row]);
	}
}

/* All three. totals: room for the totals of n values, for the totals of these, and so on down to
 * one. */
template <class F, bool EXCLUSIVE, class T>
static cudaError_t hierarchical_start(const T *in, T *out, uint64_t n, T *totals)
{
	const unsigned nthreads = scan_nthreads<T>();
	unsigned nsections = (unsigned)ladder_ntiles(n, nthreads * SCAN_FACTOR);
	cudaError_t error;

	hierarchical_scan<F, EXCLUSIVE><<<nsections, nthreads>>>(in, out, n, totals);
	error = cudaGetLastError();
	if (error != cudaSuccess || nsections == 1)
		return error;
	/* Always inclusive: section b + 1 needs the total up to and including section b. */
	error = hierarchical_start<F, false>((const T *)totals, totals, nsections,
					     totals + nsections);
	if (error != cudaSuccess)
		return error;
	hierarchical_add<F><<<nsections - 1, nthreads>>>(out, n, (const T *)totals);
	return cudaGetLastError();
}

/* Values of scratch for hierarchical_start, and how often it calls itself. */
static uint64_t hierarchical_ntotals(const struct ladder_run *run, uint64_t *nlevels)
{
	uint64_t ntotals = 0, n = run->n > 0 ? run->n : 1;

	*nlevels = 0;
	do {
		n = ladder_ntiles(n, SCAN_SECTION_NBYTES / bench_type_nbytes(run->type));
		ntotals += n;
		++*nlevels;
	} while (n > 1);
	return ntotals;
}

template <bool EXCLUSIVE> struct scan_in_three_kernels : scan_rung {
	static const bool exclusive = EXCLUSIVE;

	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		uint64_t nlevels;

		return ladder_scratch(run, sizeof(typename F::value) *
						   hierarchical_ntotals(run, &nlevels));
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return hierarchical_start<F, EXCLUSIVE>(in, out, run->n, (T *)run->scratch);
	}

	/* On each level up, a section without its phase 3; on each level down, step 3, which is one
	 * addition; at the top, phase 3. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nlevels;

		hierarchical_ntotals(run, &nlevels);
		return nlevels * section_depth(run);
	}
};

typedef scan_in_three_kernels<false> scan_hierarchical_rung;
typedef scan_in_three_kernels<true> scan_hierarchical_exclusive_rung;
LADDER_RUNG(scan, hierarchical, "sections, then their totals, then both added: any n")
LADDER_RUNG(scan, hierarchical_exclusive, "shifted by one in shared memory, after the scan")
