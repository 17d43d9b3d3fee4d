/* SPDX-License-Identifier: MIT
 *
 * by_scale.h - what a column keeps for each scale that its numbers have: a bin of decimal.h, or a
 * sum of squares.
 *
 * A number has one of 32 scales, but most columns have one or two. The values are therefore packed,
 * in ascending order of their scales: one value in the structure itself, more in an array that
 * grows. An empty or one-valued structure takes 48 bytes, and two values take 64 more; the dense
 * struct decimal_fold takes 1040. Inner loops and kernels fold into dense bins, which are added to
 * these once a fold.
 */
#ifndef GPUSTAT_BY_SCALE_H
#define GPUSTAT_BY_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/integer.h"

/* A sum of 192 bits; of numbers of both signs, in two's complement. */
struct sum192 {
	uint128 low;
	uint64_t high;
};

static inline struct sum192 sum192_of(int128 x)
{
	return (struct sum192){(uint128)x, x < 0 ? UINT64_MAX : 0};
}

/* *to += x, modulo 2^192 */
static inline void sum192_add(struct sum192 *to, struct sum192 x)
{
	to->low += x.low;
	to->high += x.high + (to->low < x.low);
}

static inline struct sum192 sum192_negated(struct sum192 x)
{
	struct sum192 out = {~x.low, ~x.high};

	sum192_add(&out, (struct sum192){1, 0});
	return out;
}

static inline bool sum192_is_negative(struct sum192 x)
{
	return x.high >> 63;
}

/* x /= n, of a sum that is not negative, rounded down. Returns the remainder. */
static inline uint64_t sum192_divide(struct sum192 *x, uint64_t n)
{
	uint128 middle = (uint128)(x->high % n) << 64 | (uint64_t)(x->low >> 64);
	uint128 low = middle % n << 64 | (uint64_t)x->low;

	*x = (struct sum192){middle / n << 64 | low / n, x->high / n};
	return (uint64_t)(low % n);
}

/* *to += x 10^ndigits */
static inline void sum192_add_to(struct integer *to, struct sum192 x, int ndigits)
{
	const uint64_t word[] = {(uint64_t)x.low, (uint64_t)(x.low >> 64), x.high};

	integer_add_words(to, word, 3, ndigits);
}

union scale_value {
	struct decimal_bin bin;
	struct sum192 square;
};

/* Like a bin, for numbers beyond 64 bits. */
struct decimal_total {
	int128 sum, min, max;
};

/* Zeroed: no value, which is the identity. */
struct by_scale {
	uint64_t count;    /* of the numbers, for the owner */
	uint32_t scales;   /* bit s: scale s has a value */
	uint32_t capacity; /* of many; 0: there is at most one value, in `one` */
	union {
		union scale_value one;
		union scale_value *many; /* owned */
	};
};

void by_scale_free(struct by_scale *b);

/* Removes all values. Keeps the memory. */
static inline void by_scale_clear(struct by_scale *b)
{
	b->count = 0;
	b->scales = 0;
}

/* The values, in ascending order of their scales. */
static inline const union scale_value *by_scale_values(const struct by_scale *b)
{
	return b->capacity ? b->many : &b->one;
}

/* Gives each of a set of scales, which have none yet, a copy of a value. Errors: STATUS_NO_MEMORY;
 * some may have theirs then. */
enum status by_scale_insert(struct by_scale *b, uint32_t scales, const union scale_value *value);

/* Gives each of a set of scales a value: *identity if it has none yet. Errors: as above. */
static inline enum status by_scale_need(struct by_scale *b, uint32_t scales,
					const union scale_value *identity)
{
	scales &= ~b->scales;
	return scales ? by_scale_insert(b, scales, identity) : STATUS_OK;
}

/* The value of a scale that has one. */
static inline union scale_value *by_scale_at(struct by_scale *b, int scale)
{
	uint32_t below = b->scales & (((uint32_t)1 << scale) - 1);
	union scale_value *values = b->capacity ? b->many : &b->one;

	return below ? values + __builtin_popcount(below) : values;
}

/* ---- bins ---- */

/* These change b like the functions of decimal.h change a dense fold. Errors: STATUS_NO_MEMORY; b
 * is then valid, but lacks numbers. */
enum status by_scale_add_bin(struct by_scale *b, int scale, const struct decimal_bin *later);
enum status by_scale_add(struct by_scale *b, struct decimal x);
enum status by_scale_add_fold(struct by_scale *b, const struct decimal_fold *later);
enum status by_scale_combine(struct by_scale *b, const struct by_scale *later);

/* Sets *out to the fold of all bins at the largest of their scales, *scale; to 0 without a bin.
 * Returns false where that does not fit in 128 bits. */
bool by_scale_total(const struct by_scale *b, struct decimal_total *out, int *scale);

#endif
