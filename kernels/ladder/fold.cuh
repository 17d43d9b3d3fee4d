/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/fold.cuh - the folds that the ladders run on: one for each type and operation of
 * bench.h. See fold.cuh for what a fold is.
 */
#ifndef GPUSTAT_LADDER_FOLD_CUH
#define GPUSTAT_LADDER_FOLD_CUH

#include <math.h>

#include "kernels/level/fold.cuh"
#include "kernels/ladder/ladder.cuh"

/* Signed integers that add modulo 2^bits. */
template <class T, class UNSIGNED> struct ladder_wrapping_sum {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return (T)((UNSIGNED)earlier + (UNSIGNED)later); }
};

/* A template takes no float: no fold_min<float, INFINITY>. */
struct ladder_min_f32 {
	typedef float value;
	HD float identity(void) { return INFINITY; }
	HD float combine(float earlier, float later) { return later < earlier ? later : earlier; }
};
struct ladder_max_f32 {
	typedef float value;
	HD float identity(void) { return -INFINITY; }
	HD float combine(float earlier, float later) { return later > earlier ? later : earlier; }
};

/* ladder_fold<TYPE, FOLD>::type is the fold; TYPE is an enum bench_type. */
template <enum bench_type TYPE, enum bench_fold FOLD> struct ladder_fold;
#define LADDER_FOLD(TYPE_ID, FOLD_ID, ...)                              \
	template <> struct ladder_fold<TYPE_ID, FOLD_ID> { \
		typedef __VA_ARGS__ type;                  \
	};
LADDER_FOLD(BENCH_FLOAT32, BENCH_SUM, fold_sum<float>)
LADDER_FOLD(BENCH_FLOAT32, BENCH_MIN, ladder_min_f32)
LADDER_FOLD(BENCH_FLOAT32, BENCH_MAX, ladder_max_f32)
LADDER_FOLD(BENCH_INT32, BENCH_SUM, ladder_wrapping_sum<int32_t, uint32_t>)
LADDER_FOLD(BENCH_INT32, BENCH_MIN, fold_min<int32_t, INT32_MAX>)
LADDER_FOLD(BENCH_INT32, BENCH_MAX, fold_max<int32_t, INT32_MIN>)
LADDER_FOLD(BENCH_INT64, BENCH_SUM, ladder_wrapping_sum<int64_t, uint64_t>)
LADDER_FOLD(BENCH_INT64, BENCH_MIN, fold_min<int64_t, INT64_MAX>)
LADDER_FOLD(BENCH_INT64, BENCH_MAX, fold_max<int64_t, INT64_MIN>)
LADDER_FOLD(BENCH_INT128, BENCH_SUM, ladder_wrapping_sum<int128, uint128>)
LADDER_FOLD(BENCH_INT128, BENCH_MIN, scan_min_i128)
LADDER_FOLD(BENCH_INT128, BENCH_MAX, scan_max_i128)
LADDER_FOLD(BENCH_AFFINE, BENCH_SUM, fold_affine<uint64_t>)
#undef LADDER_FOLD

#endif
