/* SPDX-License-Identifier: MIT
 *
 * deflate_tables.h - the tables by which a block's codes are decoded.
 *
 * A table of n bits is indexed by the next n bits of input and has an entry for what begins there.
 * A longer code leads to a subtable, behind the table. For literals and lengths there are two
 * tables. `single` has one code an entry. `several` has what these bits hold at once: up to two
 * literals, and then a length. In a log most lengths follow one or two literals.
 *
 * An entry of `single` and `several`:
 *    0 ..  5  how many bits it takes, with the extra bits of a length
 *    8 .. 13  how many bits the codes alone take
 *   14 .. 15  the number of literals
 *   16 .. 28  single: the literal, the base of the length, or the place of the subtable;
 *             several: the base of the length, or 0
 *   30        it has no length
 *   31        exceptional: a subtable, or, with bit 30, the end of the block (base 1), or no code
 *   32 .. 63  several: the literals, as bytes or as symbols of 16 bits, the first one lowest
 *
 * An entry of `distance`:
 *    0 ..  5  how many bits it takes, with the extra bits
 *    8 .. 13  how many bits the code takes
 *   14        with bit 15: a subtable
 *   15        exceptional: a subtable, or no code
 *   16 .. 31  the base of the distance, or the place of the subtable
 */
#ifndef GPUSTAT_DEFLATE_TABLES_H
#define GPUSTAT_DEFLATE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/deflate_header.h"

#define DEFLATE_BITS 10       /* of the table of a block that has lengths */
#define DEFLATE_HEAVY_BITS 12 /* of one that is mostly literals */
#define DEFLATE_DISTANCE_BITS 8

#define DEFLATE_NO_LENGTH (UINT32_C(1) << 30)
#define DEFLATE_EXCEPTIONAL (UINT32_C(1) << 31)
#define DEFLATE_END_OF_BLOCK (DEFLATE_EXCEPTIONAL | DEFLATE_NO_LENGTH | UINT32_C(1) << 16)
#define DEFLATE_DISTANCE_SUBTABLE (UINT32_C(1) << 14)
#define DEFLATE_DISTANCE_EXCEPTIONAL (UINT32_C(1) << 15)

/* Codes have up to 15 bits. A complete code has two or more symbols in each subtable. */
#define DEFLATE_SINGLE_ROOM ((1 << DEFLATE_BITS) + 143 * 32)
#define DEFLATE_DISTANCE_ROOM ((1 << DEFLATE_DISTANCE_BITS) + 15 * 128)

struct deflate_tables {
	uint8_t bits; /* of single and several */
	uint8_t subtable_bits, distance_subtable_bits;
	uint8_t symbol_bits; /* of the literals in several: 8 or 16 */
	bool fixed;          /* made by deflate_tables_fixed */
	uint32_t single[DEFLATE_SINGLE_ROOM];
	uint32_t distance[DEFLATE_DISTANCE_ROOM];
	uint64_t several[1 << DEFLATE_HEAVY_BITS];
};

/* Whether the block is mostly literals: decoded with a branch for each, not for each match. */
static inline bool deflate_is_heavy(const struct deflate_tables *t)
{
	return t->bits == DEFLATE_HEAVY_BITS;
}

/* Makes the tables of a dynamic block, for literals of symbol_bits. Returns NULL, or, as zlib says
 * it, which code is over-subscribed or incomplete. */
const char *deflate_tables_make(struct deflate_tables *t, const struct deflate_lengths *lengths,
				unsigned symbol_bits);

/* Makes those of a block with fixed codes, unless they are made. */
void deflate_tables_fixed(struct deflate_tables *t, unsigned symbol_bits);

/* Changes the literals in the tables to symbol_bits. */
void deflate_tables_widen(struct deflate_tables *t, unsigned symbol_bits);

#endif
