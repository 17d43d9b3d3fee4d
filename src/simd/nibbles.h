/* SPDX-License-Identifier: MIT
 *
 * nibbles.h - text of few letters, packed into half a byte each.
 *
 * The bus to a GPU is slower than the cores that read the text. Columns of numbers consist of ten
 * digits and a few signs, whose low halves of a byte all differ: text of these bytes alone is
 * packed to half its length. Other text is not packed: letters, quotes, blanks, exponents, CR (it
 * has the low half of -); and with a tab as delimiter, text with a 9.
 *
 * Packed byte k has the low half of text[2 k] in its low half, and that of text[2 k + 1] above it.
 */
#ifndef GPUSTAT_NIBBLES_H
#define GPUSTAT_NIBBLES_H

#include <stdbool.h>
#include <stddef.h>

/* The byte that each low half stands for. */
struct nibble_letters {
	unsigned char of[16];
};

/* Digits, LF, + , - . / and the delimiter, which may replace one of them. */
struct nibble_letters nibble_letters(char delimiter);

/* Bytes that packing nbytes of text writes, padding included. A multiple of 32. */
size_t nibbles_nbytes(size_t nbytes);

/* Packs text into out, of nibbles_nbytes(nbytes) bytes; needs no padding. Returns whether the text
 * consists of letters only; if not, out is undefined. */
bool nibbles_pack(const char *text, size_t nbytes, struct nibble_letters letters,
		  unsigned char *out);

/* Unpacks nbytes of text; writes no more than those. */
void nibbles_unpack(const unsigned char *packed, size_t nbytes, struct nibble_letters letters,
		    char *text);

#endif
