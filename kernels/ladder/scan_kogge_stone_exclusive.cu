/* SPDX-License-Identifier: MIT
 *
 * scan_kogge_stone_exclusive.cu - kogge_stone of results without their own value.
 *
 * Where a result must not include its own value (offsets, places to write to), the scan itself need
 * not change: position i is loaded with the value before it, position 0 with the identity. To scan
 * inclusively and then subtract the value works only for folds with an inverse; maximum, and
 * rounding sums, have none.
 */
#include "scan.cuh"

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
kogge_stone_exclusive(const typename F::value *in, typename F::value *out, uint64_t n)
{
	const unsigned nvalues = scan_nthreads<typename F::value>();
	__shared__ typename F::value x[nvalues];
	uint64_t i = (uint64_t)blockIdx.x * nvalues + threadIdx.x;

	x[threadIdx.x] = threadIdx.x > 0 && i < n ? in[i - 1] : F::identity();
	section_kogge_stone<F, nvalues>(x);
	if (i < n)
		out[i] = x[threadIdx.x];
}

struct scan_kogge_stone_exclusive_rung
    : scan_sections<scan_kogge_stone_exclusive_rung, SCAN_THREADS_NBYTES> {
	static const bool exclusive = true;
	template <class F> static auto kernel(void) { return kogge_stone_exclusive<F>; }
};
LADDER_RUNG(scan, kogge_stone_exclusive, "shifted by one on load: results without their own value")
