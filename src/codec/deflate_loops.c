/* SPDX-License-Identifier: MIT
 *
 * deflate_loops.c - the loops for any machine, and the choice between them and others.
 */
#include "codec/deflate_loops.h"

#include "simd/simd.h"

#define DEFLATE_LOW deflate_low

/* Compiled to a conditional move where the compiler sees fit. */
#define DEFLATE_SELECT(x, bit, yes, no) ((x) & (bit) ? (yes) : (no))

#define SYMBOL unsigned char
#define ROOM struct deflate_byte_room
#define NAME(x) bytes_##x
#include "codec/deflate_loop.h"
#undef SYMBOL
#undef ROOM
#undef NAME

#define SYMBOL uint16_t
#define ROOM struct deflate_symbol_room
#define NAME(x) symbols_##x
#include "codec/deflate_loop.h"

const struct deflate_loops deflate_loops_portable = {bytes_decode, symbols_decode};

const struct deflate_loops *deflate_loops(void)
{
#if defined(__x86_64__)
	/* simd.c has checked BMI2 for these. */
	if (strncmp(simd()->name, "avx", 3) == 0)
		return &deflate_loops_bmi2;
#endif
	return &deflate_loops_portable;
}
