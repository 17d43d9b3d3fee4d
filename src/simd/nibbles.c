/* SPDX-License-Identifier: MIT
 *
 * nibbles.c - see nibbles.h. The inner loop is simd_ops.pack.
 */
#include "simd/nibbles.h"

#include <string.h>

#include "simd/simd.h"

struct nibble_letters nibble_letters(char delimiter)
{
	struct nibble_letters letters;

	memcpy(letters.of, "0123456789\n+,-./", sizeof letters.of);
	letters.of[(unsigned char)delimiter & 15] = (unsigned char)delimiter;
	return letters;
}

size_t nibbles_nbytes(size_t nbytes)
{
	return (nbytes + SIMD_WORD_NBYTES - 1) / SIMD_WORD_NBYTES * (SIMD_WORD_NBYTES / 2);
}

bool nibbles_pack(const char *text, size_t nbytes, struct nibble_letters letters,
		  unsigned char *out)
{
	size_t nwords = nbytes / SIMD_WORD_NBYTES, done = nwords * SIMD_WORD_NBYTES;
	char last[SIMD_WORD_NBYTES];

	if (!simd()->pack(text, nwords, letters.of, out))
		return false;
	if (done == nbytes)
		return true;
	memset(last, letters.of[0], sizeof last);
	memcpy(last, text + done, nbytes - done);
	return simd()->pack(last, 1, letters.of, out + done / 2);
}

void nibbles_unpack(const unsigned char *packed, size_t nbytes, struct nibble_letters letters,
		    char *text)
{
	unsigned char pairs[256][2];

	for (unsigned i = 0; i < 256; i++) {
		pairs[i][0] = letters.of[i & 15];
		pairs[i][1] = letters.of[i >> 4];
	}
	for (size_t i = 0; i < nbytes / 2; i++)
		memcpy(text + 2 * i, pairs[packed[i]], 2);
	if (nbytes % 2)
		text[nbytes - 1] = (char)pairs[packed[nbytes / 2]][0];
}
