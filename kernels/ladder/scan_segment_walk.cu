/* SPDX-License-Identifier: MIT
 *
 * scan_segment_walk.cu - the sums of segments, a thread for each segment.
 *
 * Segments do not depend on each other, so this needs no scan at all: a thread looks at one value,
 * and if a segment begins there, it walks to the end of the segment and adds up as it goes. All
 * other threads end at once. Three things make it slow:
 *  - a walk is serial: each sum waits for the load of the next value, so the longest segment
 *    bounds the kernel, however many processors there are (one segment: one thread works);
 *  - lanes of a warp that walk are in different segments, so a request of a warp touches a line
 *    for each lane, and a warp is busy until its longest segment ends;
 *  - with long segments most lanes have nothing to do: 1 in 4096 walks on this sample.
 * A scan by ladder_segmented_sum (fold.cuh) has none of these limits: the work is cut into equal
 * tiles, wherever segments begin. hierarchical carries sums over the borders of tiles in two
 * passes, lookback and shipped in one.
 */
#include "scan.cuh"

#define SEGMENT_WALK_NTHREADS 256

template <class F>
__global__ static void __launch_bounds__(SEGMENT_WALK_NTHREADS)
segment_walk(const typename F::value *in, typename F::value *out, uint64_t n)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	typename F::value sum;

	if (i >= n || (i > 0 && (in[i] & F::head) == 0))
		return;
	/* The values before the first beginning are the walk of thread 0. */
	out[i] = sum = in[i];
	while (++i < n && (in[i] & F::head) == 0)
		out[i] = sum = F::combine(sum, in[i]);
	/* Flags: a sum tells whether any segment began before. Behind value 0 every walk began with
	 * a flag, so only values before the first beginning have none, which is what a scan says. */
}

struct scan_segment_walk_rung : scan_rung {
	static const unsigned types = 1u << BENCH_SEGMENTED;

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		unsigned nblocks = (unsigned)ladder_ntiles(run->n, SEGMENT_WALK_NTHREADS);

		segment_walk<F><<<nblocks, SEGMENT_WALK_NTHREADS>>>(in, out, run->n);
		return cudaGetLastError();
	}

	/* Integers do not round. */
	static uint64_t depth(const struct ladder_run *run) { return run->n; }
};
LADDER_RUNG(scan, segment_walk, "a thread walks each segment from its beginning")
