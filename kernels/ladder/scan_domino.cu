/* SPDX-License-Identifier: MIT
 *
 * scan_domino.cu - any n in one kernel, each value read once and written once: the book's domino, a
 * chained scan with adjacent synchronisation.
 *
 * hierarchical ends its kernel only to learn what precedes a section. Here a block waits for the
 * flag of the block before it, reads its prefix, adds its own total, and sets a flag for the next.
 * The prefix runs down the chain of blocks, as dominoes topple, while later blocks still load.
 *
 * What it takes to be right:
 *  - Block b + 1 must not keep a multiprocessor from block b while it waits for it, and CUDA
 *    does not promise to start blocks in the order of blockIdx. So a block draws its number
 *    from a counter once it runs: every block with a lower number is running, too.
 *  - The prefix is another word than the flag. A release store of the flag, and an acquire
 *    load, make what was written before the one visible after the other. The book, section
 *    11.7, has the fence before the store but none after the load, and reads the prefix with an
 *    ordinary load, which may return an older value.
 *  - Flags must be clear at the start. A memset before the kernel does that, and counts in the
 *    rung's time; the epochs of look-back (grid.cuh) need none.
 *
 * What it costs: the chain. A hop is a store that reaches the L2 cache, a load that finds it there,
 * and another for the prefix, most of a microsecond; and hops do not overlap. However fast the
 * memory is, it scans no more than one tile's bytes a hop. Decoupled look-back (scan_engines.cu)
 * shortens the chain.
 */
#include "scan.cuh"

/* What blocks pass on. The counter comes right before the flags: one memset for both. */
template <class T> struct domino_chain {
	T *prefix;        /* [tile]: the fold of all tiles up to and including it */
	uint32_t *ndrawn; /* the next tile's number */
	uint32_t *is_set; /* [tile]: its prefix is written */
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

/* Waits for the fold of the tiles before `tile`, publishes that of the tiles up to and including
 * it, and returns the former. total: the tile's own fold. One thread of the block calls it. */
template <class F>
static __device__ inline typename F::value
domino_pass(const struct domino_chain<typename F::value> &chain, uint32_t tile,
	    typename F::value total)
{
	typename F::value before = F::identity();

	if (tile > 0) {
		grid_atomic<uint32_t> is_set(chain.is_set[tile - 1]);
		while (!is_set.load(cuda::memory_order_acquire))
			; /* its block runs, and waits for lower tiles only */
		before = chain.prefix[tile - 1];
	}
	chain.prefix[tile] = F::combine(before, total);
	grid_atomic<uint32_t>(chain.is_set[tile]).store(1, cuda::memory_order_release);
	return before;
}

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
domino(const typename F::value *in, typename F::value *out, uint64_t n,
       struct domino_chain<typename F::value> chain)
{
	__shared__ struct scan_section<typename F::value> s;
	__shared__ typename F::value before;
	__shared__ uint32_t drawn;

	/* 1. The number. */
	if (threadIdx.x == 0)
		drawn = atomicAdd(chain.ndrawn, 1);
	__syncthreads(); /* the number is drawn */
	uint64_t begin = (uint64_t)drawn * s.nvalues;

	/* 2. The tile: many blocks do this at once. */
	section_load<F>(s, in, n, begin);
	section_scan_runs<F>(s);
	typename F::value total = section_scan_last<F>(s);

	/* 3. The chain: one block at a time. */
	if (threadIdx.x == 0)
		before = domino_pass<F>(chain, drawn, total);
	__syncthreads(); /* what precedes the tile is written */

	/* 4. Phase 3 adds it, together with what precedes the run. */
	section_distribute<F, false>(s, before);
	section_store(s, out, n, begin);
}

struct scan_domino_rung : scan_rung {
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
		domino<F><<<(unsigned)ntiles, scan_nthreads<T>()>>>(in, out, run->n,
										  chain);
		return cudaGetLastError();
	}

	/* A section, and one addition a tile of the chain. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return section_depth(run) + section_count(run);
	}
};
LADDER_RUNG(scan, domino, "one kernel: each block waits for its neighbour's prefix")
