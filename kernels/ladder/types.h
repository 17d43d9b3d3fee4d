/* SPDX-License-Identifier: MIT
 *
 * types.h - the types of values and the operations that rungs are checked and timed with. C and
 * CUDA.
 */
#pragma once

#include <stddef.h>

/* (id, name, bytes). int32, int64 and int128 add modulo 2^bits. SEGMENTED is values that say where
 * a segment begins, whose sums start again there (fold.cuh); scans only.
 * AFFINE is maps x -> a x + b, whose
 * composition does not commute: it shows whether a rung keeps the order of its operands. It is
 * never timed, and the command line does not know its name. */
#define BENCH_TYPE_TABLE(TYPE) \
	TYPE(FLOAT32, "float32", 4) \
	TYPE(INT32, "int32", 4) \
	TYPE(INT64, "int64", 8) \
	TYPE(INT128, "int128", 16) \
	TYPE(SEGMENTED, "segmented", 8) \
	TYPE(AFFINE, "affine", 8)

enum bench_type {
#define BENCH_TYPE(id, name, nbytes) BENCH_##id,
	BENCH_TYPE_TABLE(BENCH_TYPE)
#undef BENCH_TYPE
	BENCH_NTYPES
};
#define BENCH_NTYPES_TIMED BENCH_AFFINE

enum bench_fold { BENCH_SUM, BENCH_MIN, BENCH_MAX, BENCH_NFOLDS };

enum bench_ladder { BENCH_REDUCE, BENCH_SCAN };

/* A bit for each type that is timed. A reduction has no segments: all but the last are lost. */
static inline unsigned bench_types_timed(enum bench_ladder ladder)
{
	unsigned all = (1u << BENCH_NTYPES_TIMED) - 1;

	return ladder == BENCH_SCAN ? all : all & ~(1u << BENCH_SEGMENTED);
}

/* "int32" */
static inline const char *bench_type_name(enum bench_type type)
{
#define BENCH_TYPE(id, name, nbytes) name,
	static const char *const names[] = {BENCH_TYPE_TABLE(BENCH_TYPE)};
#undef BENCH_TYPE
	return names[type];
}

static inline size_t bench_type_nbytes(enum bench_type type)
{
#define BENCH_TYPE(id, name, nbytes) nbytes,
	static const size_t sizes[] = {BENCH_TYPE_TABLE(BENCH_TYPE)};
#undef BENCH_TYPE
	return sizes[type];
}

/* "sum" */
static inline const char *bench_fold_name(enum bench_fold fold)
{
	static const char *const names[] = {"sum", "min", "max"};

	return names[fold];
}
