/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan_domino.cu - any n in one kernel, each value read once and written once: the
 * domino, adjacent synchronisation.
 *
 * hierarchical ends its kernel only to learn what precedes a section. Here a block asks the
 * block before it: waits for its flag, takes its prefix, adds its own total, and sets a
 * flag for the next. One domino topples the next while the blocks behind still load.
 *
 * What it takes to be right:
 *  - Block b + 1 must not keep a multiprocessor from block b while it waits for it, and
 *    nothing says that CUDA starts blocks in the order of blockIdx. So a block draws its
 *    number from a counter once it runs: whoever has a lower one is running, too.
 *  - The prefix is another word than the flag. A release store of the flag, and an acquire
 *    load, make what was written before the one visible after the other. The book, section
 *    11.7, has the fence in front of the store but none after the load, and reads the
 *    prefix as any other memory: allowed to come back older than the flag.
 *  - Flags must be clear at the start. A memset in front of the kernel does that, counted
 *    in the rung's time; look-back's epochs (grid.cuh) do without.
 *
 * What it costs: the chain. A hop is a store that reaches the L2 cache, a load that finds
 * it there, and another for the prefix, most of a microsecond; and hops do not overlap.
 * However wide the memory is, it scans no more than one tile's bytes a hop.
 */
#include "kernels/ladder/scan_section.cuh"

/* What blocks hand on. The counter comes right before the flags: one memset for both. */
template <class T> struct domino_chain {
	T *prefix;        /* a tile: the fold of all tiles up to and with it */
	uint32_t *ndrawn; /* the next tile's number */
	uint32_t *is_set; /* a tile: its prefix is there */
};

template <class T>
static struct domino_chain<T> domino_chain_at(void *scratch, uint64_t ntiles)
{
	T *prefix = (T *)scratch;
	uint32_t *ndrawn = (uint32_t *)(prefix + ntiles);

	return {prefix, ndrawn, ndrawn + 1};
}

static size_t domino_flags_nbytes(uint64_t ntiles)
{
	return (1 + ntiles) * sizeof(uint32_t);
}

/* Hands on the prefix: the fold of the tiles before `tile`, whose own is total. One thread
 * of the block calls it. */
template <class F>
static __device__ inline typename F::value
domino_pass(const struct domino_chain<typename F::value> &chain, uint32_t tile,
	    typename F::value total)
{
	typename F::value before = F::identity();

	if (tile > 0) {
		grid_atomic<uint32_t> is_set(chain.is_set[tile - 1]);
		while (!is_set.load(cuda::memory_order_acquire))
			; /* its block runs, and waits for none but lower ones */
		before = chain.prefix[tile - 1];
	}
	chain.prefix[tile] = F::combine(before, total);
	grid_atomic<uint32_t>(chain.is_set[tile]).store(1, cuda::memory_order_release);
	return before;
}

template <class F, unsigned FACTOR>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
domino(const typename F::value *in, typename F::value *out, uint64_t n,
       struct domino_chain<typename F::value> chain)
{
	__shared__ struct scan_section<typename F::value, FACTOR> s;
	__shared__ typename F::value before;
	__shared__ uint32_t drawn;

	/* 1. The number. */
	if (threadIdx.x == 0)
		drawn = atomicAdd(chain.ndrawn, 1);
	__syncthreads(); /* it is drawn */
	uint64_t begin = (uint64_t)drawn * s.nvalues;

	/* 2. The tile: all of this goes on in many blocks at once. */
	section_load<F>(s, in, n, begin);
	section_scan_runs<F>(s);
	typename F::value total = section_scan_last<F>(s);

	/* 3. The chain: this goes on in one block at a time. */
	if (threadIdx.x == 0)
		before = domino_pass<F>(chain, drawn, total);
	__syncthreads(); /* what precedes the tile is there */

	/* 4. Phase 3 adds it together with what precedes the run. */
	section_distribute<F, false>(s, before);
	section_store(s, out, n, begin);
}

struct scan_rung_domino {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		uint64_t ntiles = section_count(run);

		return ladder_scratch(run, ntiles * sizeof(typename F::value) +
						   domino_flags_nbytes(ntiles));
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		uint64_t ntiles = section_count(run);
		struct domino_chain<T> chain = domino_chain_at<T>(run->scratch, ntiles);
		cudaError_t error = cudaMemsetAsync(chain.ndrawn, 0, domino_flags_nbytes(ntiles));

		if (error != cudaSuccess)
			return error;
		domino<F, SCAN_FACTOR><<<(unsigned)ntiles, scan_nthreads<T>()>>>(in, out, run->n,
										  chain);
		return cudaGetLastError();
	}

	/* A section, and one addition a tile of the chain. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return section_depth(run) + section_count(run);
	}
};
SCAN_RUNG_DEFINE(domino)
