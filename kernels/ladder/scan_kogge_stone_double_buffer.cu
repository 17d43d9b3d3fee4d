/* SPDX-License-Identifier: MIT
 *
 * scan_kogge_stone_double_buffer.cu - kogge_stone with two buffers, and half the barriers.
 *
 * Half of kogge_stone's barriers only keep writers from readers of the same place. With two buffers
 * there is no such place: a step reads one buffer and writes the other, then they change roles. One
 * barrier a step is left, for twice the shared memory. A thread that has nothing to add must still
 * copy its value. Left out, as in many versions of this kernel, the other buffer keeps a value of
 * two steps ago there.
 */
#include "scan.cuh"

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
kogge_stone_double_buffer(const typename F::value *in, typename F::value *out, uint64_t n)
{
	const unsigned nvalues = scan_nthreads<typename F::value>();
	__shared__ typename F::value x[2][nvalues];
	uint64_t i = (uint64_t)blockIdx.x * nvalues + threadIdx.x;
	unsigned now = 0;

	x[now][threadIdx.x] = i < n ? in[i] : F::identity();
	for (unsigned stride = 1; stride < nvalues; stride *= 2) {
		struct ladder_step step = kogge_stone_step(threadIdx.x, stride);

		/* All of x[now] is written; and all threads have read the other in the last
		 * step. */
		__syncthreads();
		x[!now][step.to] = step.active ? F::combine(x[now][step.from], x[now][step.to])
					       : x[now][step.to];
		now = !now;
	}
	if (i < n) /* the thread's own value: no barrier */
		out[i] = x[now][threadIdx.x];
}

struct scan_kogge_stone_double_buffer_rung
    : scan_sections<scan_kogge_stone_double_buffer_rung, SCAN_THREADS_NBYTES> {
	template <class F> static auto kernel(void) { return kogge_stone_double_buffer<F>; }
};
LADDER_RUNG(scan, kogge_stone_double_buffer, "read one buffer, write the other: half the barriers")
