/* SPDX-License-Identifier: MIT
 *
 * deflate.h - raw deflate data (RFC 1951), decoded to bytes or, where the 32 KiB before the first
 * byte are not known, to symbols. What is damage and what is said of it is as in zlib.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_WINDOW_NBYTES 32768
#define DEFLATE_PAD_NBYTES 64 /* readable bytes behind the input, of any value */
#define DEFLATE_SLACK 512     /* bytes or symbols behind `limit` that may be written */
#define DEFLATE_MARKER 0x8000 /* a symbol that stands for a byte of the unknown window */

enum deflate_result {
	DEFLATE_GOES_ON,  /* of a stream: all room is used, or all input but for the part of a code or of a header, which
			   * must be given again with what follows it */
	DEFLATE_FULL,     /* *out >= limit */
	DEFLATE_STARVES,  /* the input ends within the next code or header */
	DEFLATE_BOUNDARY, /* at a block's header, at or behind stop_bit */
	DEFLATE_ENDED,    /* behind the last block */
	DEFLATE_DAMAGED,  /* words has what zlib says; *out is behind the text that zlib gives */
};

enum deflate_place { DEFLATE_AT_HEADER, DEFLATE_IN_STORED, DEFLATE_IN_CODES, DEFLATE_AT_END, DEFLATE_AT_DAMAGE };

#define DEFLATE_BITS 10       /* of the table of a block that has lengths */
#define DEFLATE_HEAVY_BITS 12 /* of one that is mostly literals */
#define DEFLATE_DISTANCE_BITS 8

/* Codes have up to 15 bits. A complete code has two or more symbols in each subtable. */
#define DEFLATE_SINGLE_ROOM ((1 << DEFLATE_BITS) + 143 * 32)
#define DEFLATE_DISTANCE_ROOM ((1 << DEFLATE_DISTANCE_BITS) + 15 * 128)

/* The tables by which a block's codes are decoded: see deflate.c. */
struct deflate_tables {
	uint8_t bits; /* of single and several */
	uint8_t subtable_bits, distance_subtable_bits;
	uint8_t symbol_bits; /* of the literals in several: 8 or 16 */
	bool fixed;          /* of a block with fixed codes */
	uint32_t single[DEFLATE_SINGLE_ROOM];
	uint32_t distance[DEFLATE_DISTANCE_ROOM];
	uint64_t several[1 << DEFLATE_HEAVY_BITS];
};

/* A decoder in the midst of deflate data. It may be copied: its only pointers are into the
 * input. */
struct deflate {
	const unsigned char *in;
	size_t in_nbytes;
	uint64_t bit; /* the next one of in */
	enum deflate_place place;
	bool last;            /* the current block is the last one */
	size_t stored_nbytes; /* in a stored block: what is left of it */
	const char *words;    /* what is wrong, of static storage */
	struct deflate_tables tables;
};

/* Starts at a block's header, at bit `bit` of in[0 .. in_nbytes); DEFLATE_PAD_NBYTES are readable
 * behind them. The input is not owned. */
void deflate_begin(struct deflate *d, const unsigned char *in, size_t in_nbytes, uint64_t bit);

/* Continues the same data in other memory, or with more input behind it. bit: where the bit
 * deflate_bit() is now. */
void deflate_continue(struct deflate *d, const unsigned char *in, size_t in_nbytes, uint64_t bit);

/* The bit of the input that will be decoded next. */
static inline uint64_t deflate_bit(const struct deflate *d)
{
	return d->bit;
}

/* Decodes to bytes at *out and moves it forward, until it is at or behind limit, by less than
 * DEFLATE_SLACK. floor: the first byte that exists before *out; a distance that reaches before it
 * is damage. stop_bit: returns DEFLATE_BOUNDARY at the first header at or behind it; UINT64_MAX:
 * never. After DEFLATE_DAMAGED every further call returns the same. */
enum deflate_result deflate_bytes(struct deflate *d, unsigned char **out, unsigned char *limit,
				  const unsigned char *floor, uint64_t stop_bit);

/* Like deflate_bytes, but decodes to symbols: a byte, or DEFLATE_MARKER + a place in the unknown
 * window. The caller has put the DEFLATE_WINDOW_NBYTES symbols DEFLATE_MARKER + i at floor, before
 * the first symbol. May be followed by deflate_bytes in the midst of a block, and vice versa. */
enum deflate_result deflate_symbols(struct deflate *d, uint16_t **out, uint16_t *limit,
				    const uint16_t *floor, uint64_t stop_bit);

/* Decodes a whole stream. Returns false, with out undefined, unless it takes exactly in_nbytes and gives exactly out_nbytes, behind
 * which DEFLATE_SLACK bytes may be written. */
bool deflate_whole(struct deflate *d, const unsigned char *in, size_t in_nbytes, unsigned char *out, size_t out_nbytes);

/* ---- streams that are fed piece by piece ---- */

struct inflate;

/* NULL: no memory. Free it with free. */
struct inflate *inflate_open(void);

/* Begins at a block's header, at bit `bit` of the next input's first byte. window: the text before, at most
 * DEFLATE_WINDOW_NBYTES. */
void inflate_begin(struct inflate *s, unsigned bit, const unsigned char *window, size_t window_nbytes);

/* Input and room for output of one call, which moves the pointers forward. DEFLATE_PAD_NBYTES are readable behind any
 * input. */
struct inflate_span {
	const unsigned char *in;
	size_t in_nbytes;
	unsigned char *out;
	size_t out_nbytes;
	const char *words; /* at DEFLATE_DAMAGED: what is wrong */
};

/* Decodes as much as input and room allow. Returns DEFLATE_GOES_ON; DEFLATE_ENDED, when output is complete; or
 * DEFLATE_DAMAGED. */
enum deflate_result inflate_run(struct inflate *s, struct inflate_span *span);

/* A decoder in the midst of a member's data. */
struct deflate_trunk {
	struct deflate deflate;
	uint64_t text_nbytes; /* of the member so far, but for ... */
	size_t nunread;       /* ... so many bytes, at most DEFLATE_SLACK, which the sections give first */
	/* The text before, as far as there is any: the last bytes of the window. */
	unsigned char window[DEFLATE_WINDOW_NBYTES];
};

/* The stream's decoder, and its window. Leaves text_nbytes to the caller. */
void inflate_trunk(const struct inflate *s, struct deflate_trunk *trunk);

/* ---- data of which the beginning is not known ---- */

/* Returns the first bit in [from, to) where a dynamic block that is not the last may begin, or
 * UINT64_MAX. Bit 8 * k + i is bit i of in[k], the lowest being bit 0. The 64 bytes behind
 * in[nbytes - 1] are readable and of any content; bits from 8 * nbytes on belong to no header.
 *
 * There, 12 or more code lengths make up a complete code, in which the lengths of two codes are
 * written. The literals' code is complete and has an end of block. The distances' code is complete,
 * a single code of one bit, or empty. A block that begins otherwise is not found: stored, fixed,
 * last, 4 to 11 code lengths, an empty block of one code. Random bits are taken for a beginning
 * once in 10^10 or so; only a decoder that comes from the block before proves one. */
uint64_t deflate_find(const unsigned char *in, size_t nbytes, uint64_t from, uint64_t to);

/* Writes the bytes to[0 .. n) that symbols[0 .. n) stand for. window: the 32768 bytes before the
 * text that symbols[0] belongs to. Symbols from 256 to 0x7fff do not occur. `to` overlaps neither of the
 * others; nothing has to be aligned; nothing is read or written beyond these arrays. Takes 64 KiB
 * of stack, and 1 us a call besides the work. */
void deflate_resolve(unsigned char *to, const uint16_t *symbols, size_t n,
		     const unsigned char *window);
