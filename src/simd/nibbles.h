/* SPDX-License-Identifier: MIT
 *
 * nibbles.h - text of few letters, in half a byte each.
 *
 * The bus that takes text to a GPU is slower than the cores that read it. Columns of numbers are
 * made of ten digits and a handful of signs, and the low half of a byte tells those apart: text of
 * no other bytes takes half the bus. All other text stays as it is: letters, quotes, blanks, CR
 * (which would be -), exponents; and with a tab for a delimiter, whatever has a 9.
 *
 * Packed, byte k has the low half of text[2 k] in its low half, and that of text[2 k + 1] above it.
 */
#ifndef GPUSTAT_NIBBLES_H
#define GPUSTAT_NIBBLES_H

#include <stdbool.h>
#include <stddef.h>

/* The byte that each low half stands for; its own low half is that. */
struct nibble_letters {
	unsigned char of[16];
};

/* Digits, LF, + , - . / and the delimiter, which may be in the place of one of them. */
struct nibble_letters nibble_letters(char delimiter);

/* Bytes that nbytes of text take: packed, and what is written beyond. A multiple of 32. */
size_t nibbles_nbytes(size_t nbytes);

/* Packs text into out, of nibbles_nbytes(nbytes) bytes; reads nothing beside the text. Returns
 * whether it has letters only; otherwise out holds anything. */
bool nibbles_pack(const char *text, size_t nbytes, struct nibble_letters letters,
		  unsigned char *out);

/* Writes the nbytes of text that were packed, and no more. */
void nibbles_unpack(const unsigned char *packed, size_t nbytes, struct nibble_letters letters,
		    char *text);

#endif
