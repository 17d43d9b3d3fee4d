/* SPDX-License-Identifier: MIT
 *
 * scan_brent_kung.cu - Brent-Kung: up a tree and down again, with O(n) additions.
 *
 * kogge_stone does n log2(n) additions where one thread alone does n - 1; once there are more
 * values than adders, that costs time. This one does 2 n - 2 - log2(n): first up a tree, which
 * leaves sums of 2, 4, 8 ... values at its nodes, then down again, where finished positions
 * complete those halfway to the next. n / 2 threads are enough for n values. The price: twice as
 * many steps, few active threads in most of them, and at large strides these access the same banks.
 * Source: R. Brent and H. T. Kung, IEEE Transactions on Computers C-31(3), 1982; in the book,
 * section 11.4, which leaves positions beyond the end of the array unset and adds them up, though
 * no result depends on them.
 */
#include "scan.cuh"

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
brent_kung(const typename F::value *in, typename F::value *out, uint64_t n)
{
	const unsigned nvalues = 2 * scan_nthreads<typename F::value>();
	__shared__ typename F::value x[nvalues];
	uint64_t begin = (uint64_t)blockIdx.x * nvalues;

	/* 1. Two values a thread, half a section apart: coalesced both. */
	for (unsigned i = threadIdx.x; i < nvalues; i += nvalues / 2)
		x[i] = begin + i < n ? in[begin + i] : F::identity();

	/* 2. Up. In a step no thread reads what another one writes: one barrier is enough. */
	for (unsigned stride = 1; stride < nvalues; stride *= 2) {
		struct ladder_step step = brent_kung_up_step(threadIdx.x, stride, nvalues);

		__syncthreads(); /* the last step's sums, or the values, are written */
		if (step.active)
			x[step.to] = F::combine(x[step.from], x[step.to]);
	}

	/* 3. Down. */
	for (unsigned stride = nvalues / 4; stride > 0; stride /= 2) {
		struct ladder_step step = brent_kung_down_step(threadIdx.x, stride, nvalues);

		__syncthreads(); /* what the last step finished is written */
		if (step.active)
			x[step.to] = F::combine(x[step.from], x[step.to]);
	}
	__syncthreads(); /* all is finished */
	for (unsigned i = threadIdx.x; i < nvalues; i += nvalues / 2)
		if (begin + i < n)
			out[begin + i] = x[i];
}

struct scan_brent_kung_rung : scan_sections<scan_brent_kung_rung, 2 * SCAN_THREADS_NBYTES> {
	/* At most one addition a step: log2(n) steps up, log2(n) - 1 down. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return 2 * section_nsteps(run, section_nbytes) - 1;
	}
	template <class F> static auto kernel(void) { return brent_kung<F>; }
};
LADDER_RUNG(scan, brent_kung, "up a tree and down: 2 n additions, not n log2(n)")
