/* SPDX-License-Identifier: MIT
 *
 * decimal_text.h - decimals to text on the CPU, eight digits a step. What is written is what
 * decimal_format() writes, which is for one lane of a GPU and every size.
 *
 * Eight digits are one word, the first in its lowest byte: a number below 10^8 is split into
 * two of four digits, all of those at once into two of two, and those into digits, each
 * time by multiplying with a reciprocal. A branch chooses how many words there are; running
 * totals grow slowly, so it is foreseen. (Hacker's Delight, 2nd ed., chapter 10.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "number/decimal.h"

#define DECIMAL_TEXT_SLACK 16 /* bytes after a text that may be written over as well */
#define DECIMAL_POWER_MAX 19

/* 10^n in 64 bits. */
static const uint64_t decimal_powers[DECIMAL_POWER_MAX + 1] = {
	1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
	10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
	1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
	10000000000000000000u,
};

/* Multiplies *x by 10^nzeros. Returns false, and changes nothing, where that does not fit. */
static inline bool decimal_lengthen_64(int64_t *x, unsigned nzeros)
{
	int64_t longer;

	if (nzeros > DECIMAL_NDIGITS || __builtin_mul_overflow(*x, (int64_t)decimal_powers[nzeros], &longer))
		return false;
	*x = longer;
	return true;
}

/* 10^n, n <= 38 */
static inline uint128 decimal_power(int n)
{
	uint128 first = decimal_powers[n < DECIMAL_POWER_MAX ? n : DECIMAL_POWER_MAX];

	return n <= DECIMAL_POWER_MAX ? first : first * decimal_powers[n - DECIMAL_POWER_MAX];
}

/* *x *= 10^n, n >= 0. Returns false where that does not fit, *x then being undefined. */
static inline bool decimal_lengthen(int128 *x, int n)
{
	if (n == 0 || *x == 0)
		return true;
	for (; n > DECIMAL_NDIGITS; n -= DECIMAL_NDIGITS)
		if (__builtin_mul_overflow(*x, (int128)decimal_powers[DECIMAL_NDIGITS], x))
			return false;
	return !__builtin_mul_overflow(*x, (int128)decimal_powers[n], x);
}

/* Bits of x; none of 0. */
static inline int decimal_nbits(uint128 x)
{
	uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

	return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* Digits of x; none of 0. A bit is 1233 / 4096 of a digit, a little more or less. */
static inline int decimal_ndigits(uint128 x)
{
	int n = decimal_nbits(x) * 1233 >> 12;

	return n + (x >= decimal_power(n));
}

static inline int decimal_ndigits_64(uint64_t x)
{
	const int n = (64 - __builtin_clzll(x | 1)) * 1233 >> 12;

	return n + (x >= decimal_powers[n]);
}

/* x / y, below 2^64, and the rest. */
static inline uint64_t decimal_divide_step(uint128 x, uint64_t y, uint64_t *rest)
{
#ifdef __x86_64__ /* one instruction where the compiler calls a function */
	uint64_t q;
	__asm__("divq %4" : "=a"(q), "=d"(*rest) : "a"((uint64_t)x), "d"((uint64_t)(x >> 64)), "r"(y) : "cc");
	return q;
#else
	*rest = (uint64_t)(x % y);
	return (uint64_t)(x / y);
#endif
}

/* x / y, and the rest. */
static inline uint128 decimal_divide(uint128 x, uint64_t y, uint64_t *rest)
{
	uint64_t high = (uint64_t)(x >> 64), first = 0;

	if (high >= y) {
		first = high / y;
		high -= first * y;
	}
	return (uint128)first << 64 | decimal_divide_step((uint128)high << 64 | (uint64_t)x, y, rest);
}

/* x / 10^ndigits, rounded half-even; 0 <= ndigits <= 38. has_rest: there is more after x, less than 1. */
static inline uint128 decimal_round_off(uint128 x, int ndigits, bool has_rest)
{
	uint128 divisor = decimal_power(ndigits), quotient, rest;
	uint64_t short_rest;

	if (ndigits <= DECIMAL_POWER_MAX) {
		quotient = decimal_divide(x, (uint64_t)divisor, &short_rest);
		rest = short_rest;
	} else {
		quotient = x / divisor;
		rest = x - quotient * divisor;
	}
	rest *= 2;
	return quotient + (rest > divisor || (rest == divisor && (has_rest || quotient % 2 == 1)));
}

/* Drops zeros at the end. Returns their number; none of 0. */
static inline int decimal_trim_zeros(uint128 *x)
{
	int ndropped = 0, n = *x ? 16 : 0;
	uint64_t low;

	for (; n > 0 && *x >> 64; n /= 2)
		for (; *x % decimal_powers[n] == 0; ndropped += n)
			*x /= decimal_powers[n];
	for (low = (uint64_t)*x; n > 0; n /= 2) /* divisions of 128 bits call a function */
		for (; low % (uint64_t)decimal_powers[n] == 0; ndropped += n)
			low /= (uint64_t)decimal_powers[n];
	*x = *x >> 64 ? *x : low;
	return ndropped;
}

/* The eight digits of x < 10^8, each 0 to 9 in its byte. */
static inline uint64_t decimal_digits_8(uint64_t x)
{
	uint64_t fours = x / 10000, twos, ones;

	fours |= (x - fours * 10000) << 32;
	twos = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f); /* a hundredth of each */
	twos |= (fours - twos * 100) << 16;
	ones = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f); /* a tenth of each */
	return ones | (twos - ones * 10) << 8;
}

static inline void decimal_store_8(char *to, uint64_t digits)
{
	digits |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(to, &digits, sizeof digits);
}

/* Writes x < 10^8 without leading zeros. Returns the text's end. */
static inline char *decimal_write_first(char *to, uint64_t x)
{
	uint64_t digits = decimal_digits_8(x);
	unsigned nzeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;

	decimal_store_8(to, digits >> 8 * nzeros);
	return to + 8 - nzeros;
}

/* Writes x < 10^n with all of n digits, n <= 19. Returns the text's end. */
static inline char *decimal_write_padded(char *to, uint64_t x, int n)
{
	if (n > 16) {
		uint64_t top = x / decimal_powers[16];
		decimal_store_8(to, decimal_digits_8(top) >> 8 * (24 - n));
		x -= top * decimal_powers[16];
		to += n - 16;
		n = 16;
	}
	if (n > 8) {
		uint64_t top = x / decimal_powers[8];
		decimal_store_8(to, decimal_digits_8(top) >> 8 * (16 - n));
		x -= top * decimal_powers[8];
		to += n - 8;
		n = 8;
	}
	if (n > 0)
		decimal_store_8(to, decimal_digits_8(x) >> 8 * (8 - n));
	return to + n;
}

/* Writes x. Returns the text's end, which is up to 20 bytes on. */
static inline char *decimal_write_u64(char *to, uint64_t x)
{
	uint64_t top = x / decimal_powers[8];

	if (top == 0)
		return decimal_write_first(to, x);
	if (top < decimal_powers[8])
		to = decimal_write_first(to, top);
	else
		to = decimal_write_padded(decimal_write_first(to, top / decimal_powers[8]),
					  top % decimal_powers[8], 8);
	return decimal_write_padded(to, x % decimal_powers[8], 8);
}

/* Writes x. Returns the text's end. */
static inline char *decimal_write_u128(char *to, uint128 x)
{
	if (x >> 64 == 0)
		return decimal_write_u64(to, (uint64_t)x);
	to = decimal_write_u128(to, x / decimal_powers[16]);
	return decimal_write_padded(to, (uint64_t)(x % decimal_powers[16]), 16);
}

/* Writes significand x 10^-scale as decimal_format() does. Returns the text's end. There is room
 * for DECIMAL_TEXT_SLACK bytes more than the text has. */
static inline char *decimal_write(char *to, int128 significand, int scale)
{
	uint128 all = significand < 0 ? -(uint128)significand : (uint128)significand;

	if (scale > DECIMAL_POWER_MAX)
		return to + decimal_format(significand, scale, to);
	*to = '-';
	to += significand < 0;
	if (scale == 0)
		return decimal_write_u128(to, all);
	if (all >> 64 == 0) {
		to = decimal_write_u64(to, (uint64_t)all / decimal_powers[scale]);
		all = (uint64_t)all % decimal_powers[scale];
	} else {
		to = decimal_write_u128(to, all / decimal_powers[scale]);
		all %= decimal_powers[scale];
	}
	*to = '.';
	return decimal_write_padded(to + 1, (uint64_t)all, scale);
}

/* Writes x 10^-16, below 1, without its 0 before the point and without zeros at the end: nothing of 0.
 * Returns the text's end. */
static inline char *decimal_write_fraction(char *to, uint64_t x)
{
	const uint64_t high = x / decimal_powers[8], low = x - high * decimal_powers[8];
	const uint64_t digits_of_high = decimal_digits_8(high), digits_of_low = decimal_digits_8(low);

	if (x == 0)
		return to;
	*to = '.';
	decimal_store_8(to + 1, digits_of_high);
	decimal_store_8(to + 9, digits_of_low);
	return low ? to + 17 - __builtin_clzll(digits_of_low) / 8 : to + 9 - __builtin_clzll(digits_of_high) / 8;
}

/* Writes x 10^-scale, scale <= DECIMAL_POWER_MAX, without zeros at the end of what is after the point.
 * Returns the text's end. */
static inline char *decimal_write_trimmed(char *to, uint64_t x, int scale)
{
	const uint64_t integer = x / decimal_powers[scale], rest = x - integer * decimal_powers[scale];

	to = decimal_write_u64(to, integer);
	if (scale <= 16)
		return decimal_write_fraction(to, rest * decimal_powers[16 - scale]);
	*to = '.';
	to = decimal_write_padded(to + 1, rest, scale);
	while (to[-1] == '0')
		to--;
	return to - (to[-1] == '.');
}

/* ---- many numbers in a row ----
 *
 * The higher digits of a running total seldom change from one to the next, so their text is
 * kept. The digits after the point are split off by multiplying with a reciprocal of the divisor d, which is 10^scale,
 * rounded up: with 2^(n - 1) < d <= 2^n, x 2^(63 + n) / d is right for x < 2^63.
 * (Hacker's Delight, 2nd ed., section 10-9.)
 */

/* Zeroed: for numbers of scale 0. */
struct decimal_writer {
	int scale;
	uint64_t count;   /* what numbers are divided by, of means; 0: by nothing, as by 1 */
	uint64_t divisor; /* count 10^scale, or 0 as 1 */
	uint64_t reciprocal;
	unsigned shift;
	uint64_t top; /* of the number written last, or of its integer part: / 10^8 */
	char text[16]; /* of that, if it is not 0 */
	unsigned text_nbytes;
};

/* Sets what is written next: numbers x 10^-scale, or their means, of count numbers. Returns false, and changes nothing, where count
 * 10^scale is not below 2^63, or is 10^DECIMAL_POWER_MAX. */
static inline bool decimal_writer_set(struct decimal_writer *w, int scale, uint64_t count)
{
	uint64_t divisor, rest;
	unsigned nbits;

	if (scale > DECIMAL_POWER_MAX || __builtin_mul_overflow(decimal_powers[scale], count, &divisor) ||
	    (divisor >> 63 && divisor != decimal_powers[DECIMAL_POWER_MAX]))
		return false;
	w->scale = scale;
	w->count = count;
	w->divisor = divisor;
	nbits = divisor == 1 ? 0 : 64 - (unsigned)__builtin_clzll(divisor - 1);
	w->shift = nbits == 0 ? 0 : nbits - 1;
	w->reciprocal = nbits == 0 ? 0 : decimal_divide_step((uint128)1 << (63 + nbits), divisor, &rest) + 1;
	return true;
}

/* The integer part of x / count 10^-scale; x < 2^63 */
static inline uint64_t decimal_writer_integer(const struct decimal_writer *w, uint64_t x)
{
	return w->divisor <= 1 ? x : (uint64_t)((uint128)x * w->reciprocal >> 64) >> w->shift;
}

/* Writes the digits of a number before its last eight, which are not 0. Returns the text's end. */
static inline __attribute__((always_inline)) char *decimal_writer_top(struct decimal_writer *w,
								      char *to, uint64_t top)
{
	if (top != w->top) {
		w->top = top;
		w->text_nbytes = (unsigned)(decimal_write_u64(w->text, top) - w->text);
	}
	memcpy(to, w->text, sizeof w->text);
	return to + w->text_nbytes;
}

/* Writes x. Returns the text's end. */
static inline __attribute__((always_inline)) char *decimal_writer_u64(struct decimal_writer *w, char *to, uint64_t x)
{
	uint64_t top = x / decimal_powers[8];

	if (top == 0)
		return decimal_write_first(to, x);
	to = decimal_writer_top(w, to, top);
	decimal_store_8(to, decimal_digits_8(x - top * decimal_powers[8]));
	return to + 8;
}

/* Writes x, |x| < 2^63, times 10^-scale, of a count of 1. Returns the text's end. The last eight digits are made at once, and
 * stored twice: as if there were no point, and again one byte on, from the point on. */
static inline char *decimal_writer_i64(struct decimal_writer *w, char *to, int64_t x)
{
	const uint64_t all = x < 0 ? -(uint64_t)x : (uint64_t)x, top = all / decimal_powers[8];
	const unsigned scale = (unsigned)w->scale, ninteger_most = 8 - scale;
	uint64_t digits, integer;
	unsigned ninteger;

	*to = '-';
	to += x < 0;
	if (scale > 7) {
		integer = decimal_writer_integer(w, all);
		to = decimal_writer_u64(w, to, integer);
		*to = '.';
		return decimal_write_padded(to + 1, all - integer * decimal_powers[w->scale],
					    w->scale);
	}
	digits = decimal_digits_8(all - top * decimal_powers[8]);
	ninteger = ninteger_most;
	if (top) {
		to = decimal_writer_top(w, to, top);
	} else { /* without zeros before it, but for one that stands alone */
		const unsigned nzeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
		ninteger -= nzeros < ninteger_most - 1 ? nzeros : ninteger_most - 1;
	}
	decimal_store_8(to, digits >> 8 * (ninteger_most - ninteger));
	to += ninteger;
	if (scale == 0)
		return to;
	*to = '.';
	decimal_store_8(to + 1, digits >> 8 * ninteger_most);
	return to + 1 + scale;
}

/* Writes x / count 10^-scale, |x| < 2^63, rounded half-even to 17 digits, as ratio_format() does. Returns the text's end, or
 * NULL where that has no digit other than 0 before the point, or more than 16 of them. */
static inline char *decimal_writer_mean(struct decimal_writer *w, char *to, int64_t x)
{
	const uint64_t all = x < 0 ? -(uint64_t)x : (uint64_t)x, divisor = w->divisor;
	uint64_t integer = decimal_writer_integer(w, all), rest, fraction;
	int n;

	if (integer - 1 >= decimal_powers[16] - 1)
		return NULL;
	n = 17 - decimal_ndigits_64(integer);
	fraction = decimal_divide_step((uint128)(all - integer * divisor) * decimal_powers[n], divisor, &rest);
	fraction += (rest > divisor - rest) | ((rest == divisor - rest) & (fraction & 1));
	if (__builtin_expect(fraction == decimal_powers[n], 0)) {
		fraction = 0;
		integer++;
	}
	*to = '-';
	to = decimal_writer_u64(w, to + (x < 0), integer);
	return decimal_write_fraction(to, fraction * decimal_powers[16 - n]);
}
