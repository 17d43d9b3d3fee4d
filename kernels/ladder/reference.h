/* SPDX-License-Identifier: MIT
 *
 * reference.h - the expected fold of an array: a plain loop over its values, in arithmetic that
 * does not round. Every rung is checked against it.
 *
 * Integers: 128 bits, of which the type's own are compared, so sums wrap as the type does. float32:
 * double, which adds the samples of sample.cuh exactly, and beside it the sum of the absolute
 * values, which bounds the rounding: if no value goes through more than d additions, the computed
 * sum s' of x_i is off by at most
 *     |s' - s| <= gamma_d sum |x_i|,   gamma_d = d u / (1 - d u),   u = 2^-24
 * in any order (N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002,
 * chapters 3 and 4). Both compilers compile this text: arrays in device memory are folded there.
 */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../src/base/hd.h"
#include "types.h"

struct reference {
	enum bench_type type;
	enum bench_fold fold;
	double sum, magnitude; /* float32: the sum of the values, and of their absolute values */
	float extreme;         /* float32: the minimum or maximum */
	int128 bits;           /* integers; SEGMENTED: bit 63: a segment begins, the sum below;
				* AFFINE: a in bits 32 to 63, b below */
};

/* Value i of an array, as an integer. */
HD int128 reference_integer(enum bench_type type, const void *values, uint64_t i)
{
	switch (type) {
	case BENCH_INT32:
		return ((const int32_t *)values)[i];
	case BENCH_INT64:
		return ((const int64_t *)values)[i];
	case BENCH_INT128:
		return ((const int128 *)values)[i];
	default:
		return (int128)((const uint64_t *)values)[i];
	}
}

/* The number of bits of an integer of the type. */
HD unsigned reference_nbits(enum bench_type type)
{
	return type == BENCH_INT32 ? 32 : type == BENCH_INT128 ? 128 : 64;
}

/* The fold of nothing. */
HD struct reference reference_empty(enum bench_type type, enum bench_fold fold)
{
	struct reference r = {type, fold, 0, 0, 0, 0};
	int128 greatest = (int128)(~(uint128)0 >> (129 - reference_nbits(type)));

	if (type == BENCH_AFFINE)
		r.bits = (int128)1 << 32;
	else if (fold == BENCH_MIN)
		r.extreme = INFINITY, r.bits = greatest;
	else if (fold == BENCH_MAX)
		r.extreme = -INFINITY, r.bits = -greatest - 1;
	return r;
}

/* The fold of value i alone. */
HD struct reference reference_of(enum bench_type type, enum bench_fold fold, const void *values,
				 uint64_t i)
{
	struct reference r = {type, fold, 0, 0, 0, 0};

	if (type == BENCH_FLOAT32) {
		r.extreme = ((const float *)values)[i];
		r.sum = r.extreme;
		r.magnitude = fabs(r.sum);
	} else {
		r.bits = reference_integer(type, values, i);
	}
	return r;
}

/* The map x -> a x + b modulo 2^32 that is `earlier` followed by `later`. */
HD int128 reference_affine(int128 earlier, int128 later)
{
	uint32_t a = (uint32_t)(later >> 32);
	uint32_t b = (uint32_t)later;

	return (int128)((uint64_t)(a * (uint32_t)(earlier >> 32)) << 32 |
			(uint32_t)(a * (uint32_t)earlier + b));
}

/* A segment's sum modulo 2^63 goes on, or starts again where `later` begins one. */
HD int128 reference_segmented(int128 earlier, int128 later)
{
	const int128 limit = (int128)1 << 63;

	if (later >= limit)
		return later;
	return (earlier >= limit ? limit : 0) + (earlier % limit + later) % limit;
}

/* The fold of earlier's values followed by later's. Both are of the same type and operation. */
HD struct reference reference_join(struct reference earlier, struct reference later)
{
	struct reference r = earlier;
	bool is_less = later.bits < earlier.bits;

	r.sum += later.sum;
	r.magnitude += later.magnitude;
	if (r.type == BENCH_AFFINE)
		r.bits = reference_affine(earlier.bits, later.bits);
	else if (r.type == BENCH_SEGMENTED)
		r.bits = reference_segmented(earlier.bits, later.bits);
	else if (r.fold == BENCH_SUM)
		r.bits = (int128)((uint128)earlier.bits + (uint128)later.bits);
	else
		r.bits = (r.fold == BENCH_MIN) == is_less ? later.bits : earlier.bits;
	if (r.fold == BENCH_MIN ? later.extreme < r.extreme : later.extreme > r.extreme)
		r.extreme = later.extreme;
	return r;
}

/* The fold of values[begin .. end). */
HD struct reference reference_of_range(enum bench_type type, enum bench_fold fold,
				       const void *values, uint64_t begin, uint64_t end)
{
	struct reference r = reference_empty(type, fold);

	for (uint64_t i = begin; i < end; i++)
		r = reference_join(r, reference_of(type, fold, values, i));
	return r;
}

/* Whether value i of an array equals r; a float32 sum may differ by gamma_depth.
 * depth: the most additions that a value goes through; 0: the sum must be exact. */
HD bool reference_agrees(const struct reference *r, const void *values, uint64_t i,
			 uint64_t depth)
{
	double du = (double)depth * 0x1p-24, bound;

	if (r->type != BENCH_FLOAT32) {
		uint128 off = (uint128)reference_integer(r->type, values, i) - (uint128)r->bits;
		return off << (128 - reference_nbits(r->type)) == 0;
	}
	if (r->fold != BENCH_SUM)
		return ((const float *)values)[i] == r->extreme;
	/* Beyond 1 / u additions any number is within the bound. */
	bound = du < 1 ? du / (1 - du) * r->magnitude : DBL_MAX;
	return fabs(((const float *)values)[i] - r->sum) <= bound; /* NaN does not pass */
}
