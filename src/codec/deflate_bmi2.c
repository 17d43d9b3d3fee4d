/* SPDX-License-Identifier: MIT
 *
 * deflate_bmi2.c - the loops over a block's codes with BMI2, which shifts and masks by any register
 * without flags, and AVX2, which copies 16 symbols at once.
 */
#include "codec/deflate_loops.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* simd.c checks for these. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#endif

#define DEFLATE_LOW _bzhi_u64

/* Compilers make a branch of it, or compare too early for the flags to last. */
static inline __attribute__((always_inline)) uint32_t select_if(uint32_t x, uint32_t bit,
								 uint32_t yes, uint32_t no)
{
	__asm__("test %2, %1\n\tcmovnz %3, %0" : "+r"(no) : "r"(x), "i"(bit), "rm"(yes) : "cc");
	return no;
}
#define DEFLATE_SELECT select_if

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

const struct deflate_loops deflate_loops_bmi2 = {bytes_decode, symbols_decode};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
