/* SPDX-License-Identifier: MIT
 *
 * deflate.h - raw deflate data (RFC 1951), decoded to bytes or, where the 32 KiB before the first
 * byte are not known, to symbols. What is damage and what is said of it is as in zlib.
 *
 * deflate.c decodes blocks, deflate_header.c reads a dynamic block's code lengths,
 * deflate_tables.c makes tables of them, and deflate_loop.h decodes codes with these tables.
 */
#ifndef GPUSTAT_DEFLATE_H
#define GPUSTAT_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/deflate_tables.h"

#define DEFLATE_WINDOW_NBYTES 32768
#define DEFLATE_PAD_NBYTES 64 /* readable bytes behind the input, of any value */
#define DEFLATE_SLACK 512     /* bytes or symbols behind `limit` that may be written */
#define DEFLATE_MARKER 0x8000 /* a symbol that stands for a byte of the unknown window */

/* A block's header is read at once: the most bytes that starving leaves unused. */
#define DEFLATE_HEADER_NBYTES_MAX 320

enum deflate_result {
	DEFLATE_FULL,     /* *out >= limit */
	DEFLATE_STARVES,  /* the input ends within the next code or header */
	DEFLATE_BOUNDARY, /* at a block's header, at or behind stop_bit */
	DEFLATE_ENDED,    /* behind the last block */
	DEFLATE_DAMAGED,  /* words has what zlib says; *out is behind the text that zlib gives */
};

enum deflate_place { DEFLATE_AT_HEADER, DEFLATE_IN_STORED, DEFLATE_IN_CODES, DEFLATE_AT_END, DEFLATE_AT_DAMAGE };

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

/* Like deflate_bytes, but never writes at or behind limit. Returns DEFLATE_FULL where the next
 * code's text has no room. Slower. */
enum deflate_result deflate_bytes_exact(struct deflate *d, unsigned char **out, unsigned char *limit,
					const unsigned char *floor);

/* Like deflate_bytes, but decodes to symbols: a byte, or DEFLATE_MARKER + a place in the unknown
 * window. The caller has put the DEFLATE_WINDOW_NBYTES symbols DEFLATE_MARKER + i at floor, before
 * the first symbol. May be followed by deflate_bytes in the midst of a block, and vice versa. */
enum deflate_result deflate_symbols(struct deflate *d, uint16_t **out, uint16_t *limit,
				    const uint16_t *floor, uint64_t stop_bit);

#endif
