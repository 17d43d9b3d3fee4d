/* SPDX-License-Identifier: MIT
 *
 * key.h - a byte string in 16 bytes, and its hash: what tables of keys compare.
 *
 * Up to KEY_INLINE_NBYTES bytes are the key's own: two words compare all of them. A longer key has its
 * length and some bits of its hash instead, and its bytes lie elsewhere. Most fields are short, so
 * most comparisons are of two words, and no pointer is followed.
 *
 * The hash multiplies 64 x 64 bits to 128 and folds the halves, as wyhash does (Wang Yi,
 * github.com/wangyi-fudan/wyhash): one multiplication for a key in line, one for each 16 bytes of a
 * longer one. A last multiplication by a constant makes the highest bits, which say where a key is, depend
 * on all others: without it, probes among integers of seven digits were up to 1.4 times as long. It is
 * inlined where keys are made, which a library's hash cannot be. The seed differs from process to
 * process, so that no input can be made to collide; results do not depend on it.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hd.h"
#include "simd/simd.h"

#define KEY_INLINE_NBYTES 15
#define KEY_SHORT_NBYTES 7     /* a key of up to these fits in a word: see key_word; */
#define KEY_DIGITS_NBYTES 14   /* ... and one of up to these, of digits and + , - . / : */
#define KEY_LONG 0xff          /* the highest byte of `high`, where the key is not in line */
#define KEY_LENGTH_BITS 29     /* of the length of a long key: records have up to 2^28 bytes */
#define KEY_MAX_NBYTES (((size_t)1 << KEY_LENGTH_BITS) - 1)
#define KEY_LONG_HASH_BITS 32  /* the highest, which a long key's hash has; the others are 0 */
#define KEY_ODD 0x9e3779b97f4a7c15 /* 2^64 / the golden ratio */
#define KEY_HELD_HASH_BITS 27  /* the lowest of them: a long key holds these */

static_assert(KEY_HELD_HASH_BITS + KEY_LENGTH_BITS == 56, "they fill a word but for a byte");

/* All bits 0: no key. Little-endian, as every machine that this is built for. */
struct key {
	union {
		uint64_t low;     /* in line: bytes 0 to 7, those after the key 0 */
		const char *text; /* long: all bytes; who owns them is the holder's affair */
	};
	uint64_t high; /* in line: bytes 8 to 14, and 1 + the length as the highest byte; long:
			* KEY_LONG, bits of the hash, and the length */
};

/* Two words without which no one can make keys collide. */
struct key_seed {
	uint64_t word[2];
};

/* Has the process use a seed that others have as well. Before the first key is made. */
void key_seed_set(struct key_seed seed);

/* Returns the process's seed. Any thread may call it. */
struct key_seed key_seed_get(void);

static inline uint64_t key_mix(uint64_t a, uint64_t b)
{
	uint128 product = (uint128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t key_load(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return word;
}

static inline bool key_is_long(const struct key *key)
{
	return key->high >> 56 == KEY_LONG;
}

#define KEY_FIRST_DIGIT 0x2b /* '+': the sixteen characters from there on are + , - . / 0 ... 9 : */

/* Sets *packed to a word's bytes in 32 bits, 4 each. Returns false where a byte is not one of the sixteen. */
static inline bool key_pack_digits(uint64_t bytes, uint64_t *packed)
{
	uint64_t x = (bytes | SIMD_TOPS) - SIMD_EACH * KEY_FIRST_DIGIT; /* no byte takes from the next */
	bool are = !(bytes & SIMD_TOPS) && (x & SIMD_EACH * 0xf0) == SIMD_TOPS;

	x &= SIMD_EACH * 0x0f;
	x = (x | x >> 4) & 0x00ff00ff00ff00ff;
	x = (x | x >> 8) & 0x0000ffff0000ffff;
	*packed = (x | x >> 16) & 0xffffffff;
	return are;
}

static inline uint64_t key_unpack_digits(uint64_t packed)
{
	uint64_t x = packed;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & SIMD_EACH * 0x0f;
	return x + SIMD_EACH * KEY_FIRST_DIGIT;
}

/* The bits of a word's first n < 8 bytes. */
static inline uint64_t key_first_bytes(uint64_t n)
{
	return ((uint64_t)1 << 8 * n) - 1;
}

/* A key as a word: its first byte from above is 1 + its length, the others are its bytes, or, of a longer one, 4 bits for each of
 * its characters. 0: it is no such key. And back. */
static inline uint64_t key_word(const struct key *key)
{
	uint64_t n = (key->high >> 56) - 1, low, high, others;

	if (n <= KEY_SHORT_NBYTES)
		return key->low | key->high;
	if (n > KEY_DIGITS_NBYTES)
		return 0;
	others = ~key_first_bytes(n - 8);
	if (!key_pack_digits(key->low, &low) ||
	    !key_pack_digits((key->high & ~others) | (SIMD_EACH * KEY_FIRST_DIGIT & others), &high))
		return 0;
	return low | high << 32 | (n + 1) << 56;
}

/* The hash of a word. */
static inline uint64_t key_word_hash(uint64_t word, struct key_seed seed)
{
	return key_mix(word ^ seed.word[1], seed.word[0] | 1) * KEY_ODD;
}

static inline struct key key_of_word(uint64_t word)
{
	uint64_t n = (word >> 56) - 1, length = word >> 56 << 56;

	if (word == 0 || n <= KEY_SHORT_NBYTES)
		return (struct key){.low = word ^ length, .high = length};
	return (struct key){.low = key_unpack_digits(word & 0xffffffff),
			    .high = (key_unpack_digits(word >> 32 & 0xffffff) & key_first_bytes(n - 8)) | length};
}

static inline size_t key_nbytes(const struct key *key)
{
	return key_is_long(key) ? key->high & KEY_MAX_NBYTES : (key->high >> 56) - 1;
}

/* The key's bytes, which lie in *key or elsewhere. */
static inline const char *key_text(const struct key *key)
{
	return key_is_long(key) ? key->text : (const char *)key;
}

/* The hash of a key in line. */
static inline uint64_t key_hash_inline(const struct key *key, struct key_seed seed)
{
	return key_mix(key->low ^ seed.word[0], key->high ^ seed.word[1]) * KEY_ODD;
}

/* The hash of n > KEY_INLINE_NBYTES bytes, without the bits that a long key does not have. */
static inline uint64_t key_hash_long(const char *text, size_t n, struct key_seed seed)
{
	uint64_t hash = seed.word[0] ^ n;

	for (size_t i = 0; i < n - 16; i += 16)
		hash = key_mix(key_load(text + i) ^ hash, key_load(text + i + 8) ^ seed.word[1]);
	hash = key_mix(key_load(text + n - 16) ^ hash, key_load(text + n - 8) ^ seed.word[1]);
	return (hash * KEY_ODD) >> (64 - KEY_LONG_HASH_BITS) << (64 - KEY_LONG_HASH_BITS);
}

/* The hash of a key as far as it holds it: that of a long one lacks the highest bits, which are 0. */
static inline uint64_t key_held_hash(const struct key *key, struct key_seed seed)
{
	const uint64_t held = ((uint64_t)1 << KEY_HELD_HASH_BITS) - 1;

	return key_is_long(key) ? (key->high >> KEY_LENGTH_BITS & held) << (64 - KEY_LONG_HASH_BITS) : key_hash_inline(key, seed);
}

/* Makes the key of text[0 .. n), n <= KEY_MAX_NBYTES, and returns its hash. A long key points to text.
 * is_padded: 16 bytes from text on may be read, whatever n is. */
static inline uint64_t key_make(const char *text, size_t n, bool is_padded, struct key_seed seed,
				struct key *key)
{
	uint64_t words[2];
	char copy[16];
	uint64_t hash;

	if (n > KEY_INLINE_NBYTES) {
		hash = key_hash_long(text, n, seed);
		key->text = text;
		key->high = (uint64_t)KEY_LONG << 56 | n |
			    (hash >> (64 - KEY_LONG_HASH_BITS) << KEY_LENGTH_BITS &
			     (((uint64_t)1 << 56) - 1));
		return hash;
	}
	if (!is_padded)
		text = (const char *)memcpy(copy, text, n);
	simd_first_bytes(text, n, words);
	*key = (struct key){.low = words[0], .high = words[1] | (uint64_t)(n + 1) << 56};
	return key_hash_inline(key, seed);
}

/* Whether n bytes, n > KEY_INLINE_NBYTES, are the same. */
static inline bool key_texts_equal(const char *a, const char *b, size_t n)
{
	if (n > 32)
		return memcmp(a, b, n) == 0;
	return ((key_load(a) ^ key_load(b)) | (key_load(a + 8) ^ key_load(b + 8)) |
		(key_load(a + n - 16) ^ key_load(b + n - 16)) | (key_load(a + n - 8) ^ key_load(b + n - 8))) == 0;
}

/* Whether two keys, of the same seed, are the same bytes. */
static inline bool key_equals(const struct key *a, const struct key *b)
{
	if (a->high != b->high)
		return false;
	return a->low == b->low || (key_is_long(a) && key_texts_equal(a->text, b->text, key_nbytes(a)));
}

/* Less than, equal to or greater than 0 as the bytes of x come before, are, or come after those of y. */
static inline int key_order(const struct key *x, const struct key *y)
{
	const size_t nx = key_nbytes(x), ny = key_nbytes(y);
	const int order = memcmp(key_text(x), key_text(y), nx < ny ? nx : ny);

	return order ? order : (nx > ny) - (nx < ny);
}
