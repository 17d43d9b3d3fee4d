/* SPDX-License-Identifier: MIT
 *
 * fold.cuh - what a fold is, to the levels above: an identity and a combine.
 *
 * A fold F is a type with
 *     F::value              its partial result, an integer
 *     F::identity()         the result of folding nothing
 *     F::combine(a, b)      the result of a's items followed by b's
 * combine is associative and identity() is neutral on both sides. It need not be
 * commutative: lane, warp, block and grid all keep the earlier operand first.
 * fold_affine and fold_csv_map, which do not commute, are the canaries that they do.
 */
#ifndef GPUSTAT_FOLD_CUH
#define GPUSTAT_FOLD_CUH

#include <stdint.h>

extern "C" {
#include "csv/dfa.h"
}

template <class T> struct fold_sum {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return earlier + later; }
};

template <class T> struct fold_or {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return earlier | later; }
};

/* GREATEST: the largest T, which no minimum is above. */
template <class T, T GREATEST> struct fold_min {
	typedef T value;
	HD T identity(void) { return GREATEST; }
	HD T combine(T earlier, T later) { return later < earlier ? later : earlier; }
};

/* LEAST: the smallest T, which no maximum is below. */
template <class T, T LEAST> struct fold_max {
	typedef T value;
	HD T identity(void) { return LEAST; }
	HD T combine(T earlier, T later) { return later > earlier ? later : earlier; }
};

/* Maps x -> a x + b modulo 2^(half of T's bits), one after the other; a in the upper half of
 * the value. It does not commute, and every bit counts: what tests hold against a level
 * that claims to keep the order. UNSIGNED: T without a sign. */
template <class T, class UNSIGNED = T> struct fold_affine {
	typedef T value;
	static const unsigned half = sizeof(T) * 4;
	static const UNSIGNED mask = ((UNSIGNED)1 << half) - 1;
	HD T identity(void) { return (T)((UNSIGNED)1 << half); }
	HD T combine(T earlier, T later)
	{
		UNSIGNED e = (UNSIGNED)earlier, l = (UNSIGNED)later, a = l >> half;
		return (T)((a * (e >> half) & mask) << half |
			   ((a * (e & mask) + (l & mask)) & mask));
	}
};

/* Transition maps of adjacent texts. */
struct fold_csv_map {
	typedef csv_map value;
	HD csv_map identity(void) { return CSV_MAP_IDENTITY; }
	HD csv_map combine(csv_map earlier, csv_map later)
	{
		return csv_map_compose(earlier, later);
	}
};

/* A transition map with a byte for each state: entry s at bits 8s. */
static __device__ inline uint32_t csv_states_of(uint32_t from_start, uint32_t from_unquoted,
						uint32_t from_quoted, uint32_t from_quote_seen)
{
	return from_start | from_unquoted << 8 | from_quoted << 16 | from_quote_seen << 24;
}

static __device__ inline enum csv_state csv_states_apply(uint32_t states, enum csv_state state)
{
	return (enum csv_state)(states >> (8 * state) & 3);
}

static __device__ inline csv_map csv_states_map(uint32_t states)
{
	return (csv_map)((states & 3) | (states >> 6 & 0xc) | (states >> 12 & 0x30) |
			 (states >> 18 & 0xc0));
}

/* Like fold_csv_map, but in four instructions: the byte permutation looks up all four
 * states at once, if the earlier map's bytes are packed to nibbles. */
struct fold_csv_states {
	typedef uint32_t value;
	static __device__ inline uint32_t identity(void) { return 0x03020100u; }
	static __device__ inline uint32_t combine(uint32_t earlier, uint32_t later)
	{
		uint32_t pairs = (earlier | earlier >> 4) & 0x00ff00ffu;

		return __byte_perm(later, 0, (pairs | pairs >> 8) & 0xffffu);
	}
};

/* A text's map, and in the upper half a count, or several that do not reach each other. */
struct fold_csv_counts {
	typedef uint64_t value;
	static __device__ inline uint64_t identity(void) { return fold_csv_states::identity(); }
	static __device__ inline uint64_t combine(uint64_t earlier, uint64_t later)
	{
		uint32_t counts = (uint32_t)(earlier >> 32) + (uint32_t)(later >> 32);

		return (uint64_t)counts << 32 |
		       fold_csv_states::combine((uint32_t)earlier, (uint32_t)later);
	}
};

#endif
