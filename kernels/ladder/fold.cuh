/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/fold.cuh - the folds that the ladders run on: one for each type and operation of
 * types.h. kernels/level/fold.cuh says what a fold is.
 */
#pragma once

#include <math.h>

#include "scan_job.cuh"

extern "C" {
#include "types.h"
}

/* Signed integers that add modulo 2^bits. */
template <class T, class UNSIGNED> struct ladder_wrapping_sum {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return (T)((UNSIGNED)earlier + (UNSIGNED)later); }
};

/* fold_min and fold_max take their identity as a template argument, which cannot be a float. */
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

/* Sums that start again at each segment. A value is 63 bits and, in the highest bit, whether a
 * segment begins with it; a partial result is the sum since the last beginning, modulo 2^63, and
 * whether there was one. A beginning in `later` hides all of `earlier`: that is why sums of
 * different segments need no border between blocks, and why the operands do not commute.
 * Source: G. Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990, section 1.5. */
struct ladder_segmented_sum {
	typedef uint64_t value;
	static const uint64_t head = UINT64_C(1) << 63;
	HD uint64_t identity(void) { return 0; }
	HD uint64_t combine(uint64_t earlier, uint64_t later)
	{
		uint64_t joined = (earlier & head) | ((earlier + later) & ~head);
		return (later & head) != 0 ? later : joined;
	}
};

/* The fold of a type and an operation, and the operation itself. */
template <enum bench_type TYPE, enum bench_fold FOLD> struct ladder_fold;
#define LADDER_FOLD(TYPE, FOLD, ...)                                                \
	template <> struct ladder_fold<BENCH_##TYPE, BENCH_##FOLD> : __VA_ARGS__ {   \
		static const enum bench_fold fold = BENCH_##FOLD;                    \
	};
LADDER_FOLD(FLOAT32, SUM, fold_sum<float>)
LADDER_FOLD(FLOAT32, MIN, ladder_min_f32)
LADDER_FOLD(FLOAT32, MAX, ladder_max_f32)
LADDER_FOLD(INT32, SUM, ladder_wrapping_sum<int32_t, uint32_t>)
LADDER_FOLD(INT32, MIN, fold_min<int32_t, INT32_MAX>)
LADDER_FOLD(INT32, MAX, fold_max<int32_t, INT32_MIN>)
LADDER_FOLD(INT64, SUM, ladder_wrapping_sum<int64_t, uint64_t>)
LADDER_FOLD(INT64, MIN, fold_min<int64_t, INT64_MAX>)
LADDER_FOLD(INT64, MAX, fold_max<int64_t, INT64_MIN>)
LADDER_FOLD(INT128, SUM, ladder_wrapping_sum<int128, uint128>)
LADDER_FOLD(INT128, MIN, scan_min_i128)
LADDER_FOLD(INT128, MAX, scan_max_i128)
LADDER_FOLD(SEGMENTED, SUM, ladder_segmented_sum)
LADDER_FOLD(AFFINE, SUM, fold_affine<uint64_t>)
#undef LADDER_FOLD
