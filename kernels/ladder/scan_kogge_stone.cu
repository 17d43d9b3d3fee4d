/* SPDX-License-Identifier: MIT
 *
 * scan_kogge_stone.cu - Kogge-Stone: each thread adds what lies 1, 2, 4 ... positions before its
 * value.
 *
 * The naive scan adds up everything before each value: n^2 / 2 additions. Here threads share what
 * they have added: one thread a value, and at stride 1, 2, 4 ... each adds the sum that ends stride
 * positions before its own, which already spans stride values. log2(n) steps, n log2(n) - (n - 1)
 * additions. Like the next four rungs it scans sections, one a block and apart from each other;
 * they read and write device memory once, side by side, and differ in shared memory: barriers,
 * additions, and active threads. Source: P. Kogge and H. Stone, IEEE Transactions on Computers
 * C-22(8), 1973; in the book, section 11.2. Its older editions, and many copies of them, have one
 * barrier a step and read what another warp is just writing: section_kogge_stone (scan.cuh) says
 * why it takes two.
 */
#include "scan.cuh"

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
kogge_stone(const typename F::value *in, typename F::value *out, uint64_t n)
{
	const unsigned nvalues = scan_nthreads<typename F::value>();
	__shared__ typename F::value x[nvalues];
	uint64_t i = (uint64_t)blockIdx.x * nvalues + threadIdx.x;

	x[threadIdx.x] = i < n ? in[i] : F::identity();
	section_kogge_stone<F, nvalues>(x);
	if (i < n)
		out[i] = x[threadIdx.x];
}

struct scan_kogge_stone_rung : scan_sections<scan_kogge_stone_rung, SCAN_THREADS_NBYTES> {
	template <class F> static auto kernel(void) { return kogge_stone<F>; }
};
LADDER_RUNG(scan, kogge_stone, "log2(n) steps, each adds what lies twice as far back")
