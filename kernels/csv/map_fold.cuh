/* SPDX-License-Identifier: MIT
 *
 * map_fold.cuh - transition maps of the CSV automaton as folds.
 */
#pragma once

#include <stdint.h>

extern "C" {
#include "csv/dfa.h"
}

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

/* Composes maps of adjacent texts, in four instructions: once the earlier map's bytes are packed to
 * nibbles, one byte permutation looks up all four states. */
struct fold_csv_states {
	typedef uint32_t value;
	static __device__ inline uint32_t identity(void) { return 0x03020100u; }
	static __device__ inline uint32_t combine(uint32_t earlier, uint32_t later)
	{
		uint32_t pairs = (earlier | earlier >> 4) & 0x00ff00ffu;

		return __byte_perm(later, 0, (pairs | pairs >> 8) & 0xffffu);
	}
};

/* A text's map, and in the upper half a count, or several that do not overflow into each other. */
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
