/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan.cu - the table of the scan's ladder, and its rungs that are engines of
 * scan.cuh.
 */
#include "kernels/ladder/scan.cuh"
#include "kernels/scan/launch.cuh"

template <class F, class T>
static cudaError_t engine_launch(struct ladder_run *run, const T *in, T *out, bool exclusive)
{
	struct scan_job<T> job = {in, out, run->n, NULL, NULL, exclusive};

	return scan_launch<F>(&run->shape, &run->memory, job, 0);
}

/* ---- lookback ----
 * domino hands on one prefix a hop, and everyone waits for all hops before. But a tile's
 * total is known long before its prefix. Here a block publishes the total at once, and one
 * of its warps reads 32 tiles back at a time: totals, until there is a prefix. So the
 * chain is 32 times shorter and hardly anybody waits in it. Flag, payload and epoch share
 * a word: no fence, no second load, no memset. See kernels/scan/lookback.cuh and grid.cuh. */
struct scan_rung_lookback {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		cudaError_t error = scan_shape_of<F>(SCAN_LOOKBACK, &run->shape);

		return error != cudaSuccess ? error : scan_rung_slots<F>(run);
	}
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, false);
	}
	static uint64_t depth(const struct ladder_run *run) { return scan_shape_depth(run); }
};

/* ---- shipped ----
 * What gpustat runs. persistent fetched a tile ahead and kept its total to itself. Here
 * the total is published as soon as the tile has come, one tile before it is needed, so
 * that whoever looks back finds all there is; and fetching, looking back and
 * scanning are done by warps of their own, none of which waits for another's work. See
 * kernels/scan/lookahead.cuh. On GPUs that lack its copies this is lookback. */
struct scan_rung_shipped {
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		cudaError_t error = scan_shape_choose<F>(&run->shape);

		return error != cudaSuccess ? error : scan_rung_slots<F>(run);
	}
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, false);
	}
	static uint64_t depth(const struct ladder_run *run) { return scan_shape_depth(run); }
};

/* ---- shipped_exclusive ----
 * The same kernel: a thread puts down what it has before it adds the next value, not
 * after. It costs nothing, where a shift on load would break the 16-byte alignment. */
struct scan_rung_shipped_exclusive : scan_rung_shipped {
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		return engine_launch<F>(run, in, out, true);
	}
};

SCAN_RUNG_DEFINE(lookback)
SCAN_RUNG_DEFINE(shipped)
SCAN_RUNG_DEFINE(shipped_exclusive)

/* ---- the ladder ---- */

/* All rungs take any n and every type, AFFINE among them: they keep the order. */
#define SCAN_RUNG_ROW(name, section_nbytes, exclusive, idea)                               \
	{#name, idea, 0, (1u << BENCH_NTYPES) - 1, 1u << BENCH_SUM, false, exclusive,      \
	 section_nbytes, scan_##name##_depth, scan_##name##_open, scan_##name##_launch},
const struct ladder_rung scan_ladder[] = {SCAN_RUNGS(SCAN_RUNG_ROW)};
const size_t scan_ladder_nrungs = sizeof scan_ladder / sizeof *scan_ladder;
