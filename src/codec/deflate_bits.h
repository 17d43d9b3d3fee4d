/* SPDX-License-Identifier: MIT
 *
 * deflate_bits.h - deflate data as bits, the lowest of each byte first (RFC 1951, section 3.1.1).
 *
 * A register holds up to 63 bits. It is filled by eight bytes at once: those that do not fit whole
 * are loaded again next time, so that the bits above `nbits` are either 0 or right already.
 */
#ifndef GPUSTAT_DEFLATE_BITS_H
#define GPUSTAT_DEFLATE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEFLATE_INLINE static inline __attribute__((always_inline))
#define DEFLATE_LIKELY(x) __builtin_expect(!!(x), 1)
#define DEFLATE_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct deflate_bits {
	const unsigned char *in;  /* the next byte that the register lacks */
	const unsigned char *end; /* of the input; bits behind it may be taken, but mean nothing */
	uint64_t hold;
	uint32_t nbits; /* of hold */
};

DEFLATE_INLINE uint64_t deflate_load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* The lowest n % 64 bits of x. */
DEFLATE_INLINE uint64_t deflate_low(uint64_t x, uint32_t n)
{
	return x & ((UINT64_C(1) << (n & 63)) - 1);
}

/* At least 56 bits are in the register then. Reads 8 bytes at b->in. */
DEFLATE_INLINE void deflate_refill(struct deflate_bits *b)
{
	b->hold |= deflate_load64(b->in) << (b->nbits & 63);
	b->in += (63 - (b->nbits & 63)) >> 3;
	b->nbits |= 56;
}

DEFLATE_INLINE void deflate_drop(struct deflate_bits *b, uint32_t n)
{
	b->hold >>= n & 63;
	b->nbits -= n;
}

/* Takes n bits, of those in the register. */
DEFLATE_INLINE unsigned deflate_take(struct deflate_bits *b, uint32_t n)
{
	unsigned bits = (unsigned)deflate_low(b->hold, n);

	deflate_drop(b, n);
	return bits;
}

/* Whether bits behind the input's end have been taken. */
DEFLATE_INLINE bool deflate_is_beyond(const struct deflate_bits *b)
{
	return b->in - (b->nbits >> 3) > b->end;
}

/* Goes to bit `bit` of in[0 .. in_nbytes), behind which 8 bytes are readable. */
DEFLATE_INLINE struct deflate_bits deflate_bits_at(const unsigned char *in, size_t in_nbytes,
						   uint64_t bit)
{
	struct deflate_bits b = {in + (bit >> 3), in + in_nbytes, 0, 0};

	deflate_refill(&b);
	deflate_drop(&b, bit & 7);
	return b;
}

/* The next bit, counted from in. */
DEFLATE_INLINE uint64_t deflate_bits_position(const struct deflate_bits *b, const unsigned char *in)
{
	return (uint64_t)(b->in - in) * 8 - b->nbits;
}

#endif
