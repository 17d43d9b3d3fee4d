/* SPDX-License-Identifier: MIT
 *
 * test_nibbles.c - text packed and unpacked, and text that cannot be, by every instruction set.
 * That nothing beside it is read or written is in test_simd.c.
 */
#include "simd/simd.h"
#include "simd_test.h"

#define NBYTES_MAX 300

static const char delimiters[] = {',', ';', '\t', '|', ' ', ':', '\xac'};

/* Whether unpacking restores the packed text, and neither call writes past its end. */
static bool comes_back(const char *text, size_t nbytes, struct nibble_letters letters)
{
	unsigned char packed[NBYTES_MAX + 1];
	char back[NBYTES_MAX + 1];

	memset(packed, 0x5a, sizeof packed);
	memset(back, 0x5a, sizeof back);
	if (!nibbles_pack(text, nbytes, letters, packed))
		return false;
	nibbles_unpack(packed, nbytes, letters, back);
	return !memcmp(back, text, nbytes) && back[nbytes] == 0x5a &&
	       packed[nibbles_nbytes(nbytes)] == 0x5a;
}

static void test_lengths(const char *set)
{
	char text[NBYTES_MAX];
	bool right = true;

	for (size_t i = 0; i < COUNT(delimiters) && right; i++) {
		struct nibble_letters letters = nibble_letters(delimiters[i]);
		for (size_t nbytes = 0; nbytes <= NBYTES_MAX && right; nbytes++) {
			for (size_t j = 0; j < nbytes; j++)
				text[j] = (char)letters.of[random_below(16)];
			right = comes_back(text, nbytes, letters);
		}
	}
	ok(right, "%s: 0 to %d letters come back, with every delimiter", set, NBYTES_MAX);
}

/* Every byte at every place of a text that is otherwise fit. */
static void test_bytes(const char *set)
{
	struct nibble_letters letters = nibble_letters(';');
	unsigned char packed[NBYTES_MAX];
	char text[150];
	bool right = true;

	for (size_t at = 0; at < sizeof text; at++)
		for (int byte = 0; byte < 256; byte++) {
			bool is_letter = letters.of[byte & 15] == byte;
			memset(text, '7', sizeof text);
			text[at] = (char)byte;
			right = right &&
				nibbles_pack(text, sizeof text, letters, packed) == is_letter;
		}
	ok(right, "%s: packs letters, and no other byte, wherever it is", set);
}

int main(void)
{
	struct nibble_letters letters = nibble_letters(';');
	size_t nletters = 0;

	plan_lazy();
	for (size_t i = 0; i < 16; i++)
		nletters += (letters.of[i] & 15u) == i;
	ok(nletters == 16, "letters are told apart by their low halves");
	ok(memchr(letters.of, ';', 16) && memchr(letters.of, ',', 16) &&
	   memchr(letters.of, '-', 16) && memchr(letters.of, '\n', 16), "delimiter and signs");
	ok(nibbles_nbytes(0) == 0 && nibbles_nbytes(1) == 32 && nibbles_nbytes(65) == 64,
	   "half a byte each, up to 32 bytes");
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		if (simd_choose((*ops)->name)) {
			test_lengths((*ops)->name);
			test_bytes((*ops)->name);
		}
	return done();
}
