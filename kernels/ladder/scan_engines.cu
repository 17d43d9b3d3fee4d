/* SPDX-License-Identifier: MIT
 *
 * scan_engines.cu - the rungs that are the ladder's own engines (scan_job.cuh): lookback, shipped,
 * shipped_exclusive.
 */
#include "scan_launch.cuh"
#include "scan.cuh"

template <class F, class T>
static cudaError_t engine_launch(struct ladder_run *run, const T *in, T *out, bool exclusive)
{
	struct scan_job<T> job = {in, out, run->n, NULL, NULL, exclusive};

	return scan_launch<F>(&run->shape, &run->memory, job, 0);
}

/* lookback: domino passes on one prefix a hop, and every block waits for all hops before its own.
 * But a tile's total is known long before its prefix. With decoupled look-back a block publishes
 * the total at once, and one of its warps reads 32 tiles back at a time: totals, until it finds a
 * prefix. So the chain is 32 times shorter and few blocks wait. Flag, payload and epoch share a
 * word: no fence, no second load, no memset. See kernels/ladder/scan_lookback.cuh and
 * kernels/level/grid.cuh. */
struct scan_lookback_rung : scan_engine_rung {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		cudaError_t error = scan_shape_of<F>(SCAN_LOOKBACK, &run->shape);

		return error != cudaSuccess ? error : open_slots<F>(run);
	}
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, false);
	}
};
LADDER_RUNG(scan, lookback, "totals published early, a warp reads 32 at a time")

/* shipped: persistent fetched a tile ahead and published its total late. Here
 * the total is published as soon as the tile has arrived, one tile before it is needed, so that
 * blocks that look back find it; and fetching, looking back and scanning have warps of their own,
 * none of which waits for another's work. See kernels/ladder/scan_lookahead.cuh. On GPUs that lack its
 * copies this is lookback. */
struct scan_shipped_rung : scan_engine_rung {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		cudaError_t error = scan_shape_choose<F>(&run->shape);

		return error != cudaSuccess ? error : open_slots<F>(run);
	}
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, false);
	}
};
LADDER_RUNG(scan, shipped, "what is fetched ahead is published ahead")

/* shipped_exclusive: the same kernel: a thread stores the sum before it adds the next value, not
 * after. That costs nothing, where a shift on load would break the 16-byte alignment. */
struct scan_shipped_exclusive_rung : scan_shipped_rung {
	static const bool exclusive = true;

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, true);
	}
};
LADDER_RUNG(scan, shipped_exclusive, "the same, results without their own value")
