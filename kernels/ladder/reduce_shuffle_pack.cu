/* SPDX-License-Identifier: MIT
 *
 * reduce_shuffle_pack.cu - warp_shuffle with loads of 16 bytes, as OneFlow's reduction has them.
 *
 * Reading is all that is left, and a load of 4 bytes a lane requests 128 bytes a warp where it
 * could request 512. So the array is read in packs of 16 bytes: a quarter of the instructions, and
 * four times the bytes in flight. A running sum for each place of a pack makes four short chains of
 * additions out of one long one. The values behind the last whole pack, at most 3, go to the grid's
 * first threads.
 */
#include "reduce.cuh"

/* 16 bytes, which one load instruction fetches. */
#define PACK_NBYTES 16
template <class T> struct alignas(PACK_NBYTES) pack {
	static const unsigned nvalues = PACK_NBYTES / sizeof(T);
	T value[nvalues];
};

/* The fold of x's values. */
template <class F>
static __device__ inline typename F::value pack_fold(const pack<typename F::value> &x)
{
	typename F::value all = x.value[0];

#pragma unroll
	for (unsigned v = 1; v < x.nvalues; v++)
		all = F::combine(all, x.value[v]);
	return all;
}

template <class F>
__global__ static void __launch_bounds__(LADDER_NTHREADS)
shuffle_pack(const typename F::value *in, uint64_t n, typename F::value *out)
{
	typedef pack<typename F::value> pack_t;
	const pack_t *packs = (const pack_t *)in;
	uint64_t npacks = n / pack_t::nvalues, step = (uint64_t)gridDim.x * LADDER_NTHREADS;
	uint64_t first = (uint64_t)blockIdx.x * LADDER_NTHREADS + threadIdx.x;
	pack_t sums;

#pragma unroll
	for (unsigned v = 0; v < pack_t::nvalues; v++)
		sums.value[v] = F::identity();
	for (uint64_t i = first; i < npacks; i += step) {
		pack_t x = packs[i];
#pragma unroll
		for (unsigned v = 0; v < pack_t::nvalues; v++)
			sums.value[v] = F::combine(sums.value[v], x.value[v]);
	}
	typename F::value x = pack_fold<F>(sums);
	if (first < n % pack_t::nvalues)
		x = F::combine(x, in[npacks * pack_t::nvalues + first]);
	x = block_reduce<F, LADDER_NTHREADS>(x);
	if (threadIdx.x == 0)
		out[blockIdx.x] = x;
}

struct reduce_shuffle_pack_rung : reduce_fitting_grid<reduce_shuffle_pack_rung> {
	template <class F> static auto kernel(void) { return shuffle_pack<F>; }
};
LADDER_RUNG(reduce, shuffle_pack, "16 bytes a load, a running sum for each value of a pack")
