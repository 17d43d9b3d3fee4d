/* SPDX-License-Identifier: MIT
 *
 * group_key.cuh - a record's key, as a thread reads it from the text: the values of its columns with a NUL between two of
 * them. Its two words and its hash are those of src/fold/key.h, with the same seed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "fold/key.h"
}

/* A key of up to N values. text: 8-byte aligned device memory, readable up to the next multiple of 8 behind the
 * last value. */
template <unsigned N> struct group_key {
	const char *text;
	uint32_t nvalues, nbytes;
	uint32_t begin[N], end[N]; /* of each value in the text */
	uint64_t low, high;        /* struct key's, but of a long key without its text */
	uint64_t hash;
};

/* Bytes [at, at + 8) of the text, those from `end` on zero; at < end. Reads no word that has none of them. */
static __device__ inline uint64_t group_text_word(const char *text, uint32_t at, uint32_t end)
{
	const uint64_t *words = (const uint64_t *)text + at / 8;
	unsigned shift = at % 8 * 8;
	uint64_t word = words[0] >> shift;

	if (shift > 0 && at - at % 8 + 8 < end)
		word |= words[1] << (64 - shift);
	return end - at < 8 ? word & ((UINT64_C(1) << 8 * (end - at)) - 1) : word;
}

/* Bytes [at, at + 8) of the key, those behind it zero. */
static __device__ inline uint64_t group_key_word(const struct group_key<1> &key, uint32_t at)
{
	return at < key.nbytes ? group_text_word(key.text, key.begin[0] + at, key.end[0]) : 0;
}

template <unsigned N>
static __device__ inline uint64_t group_key_word(const struct group_key<N> &key, uint32_t at)
{
	uint64_t word = 0;
	uint32_t begin = 0; /* of the value, in the key */

	for (uint32_t i = 0; i < key.nvalues && begin < at + 8; i++) {
		uint32_t nbytes = key.end[i] - key.begin[i], first = at > begin ? at - begin : 0;
		if (first < nbytes) {
			uint64_t part = group_text_word(key.text, key.begin[i] + first, key.end[i]);
			word |= begin > at ? part << 8 * (begin - at) : part;
		}
		begin += nbytes + 1; /* and a NUL */
	}
	return word;
}

static __device__ inline uint64_t group_key_mix(uint64_t a, uint64_t b)
{
	return (a * b) ^ __umul64hi(a, b);
}

/* Sets the key's words and hash, as key_make does. seed: key_seed_get's words. */
template <unsigned N>
static __device__ inline void group_key_make(struct group_key<N> *key, const uint64_t seed[2])
{
	uint32_t n = key->nbytes;
	uint64_t hash = seed[0] ^ n;

	if (n <= KEY_INLINE_NBYTES) {
		key->low = group_key_word(*key, 0);
		key->high = group_key_word(*key, 8) | (uint64_t)(n + 1) << 56;
		key->hash = group_key_mix(key->low ^ seed[0], key->high ^ seed[1]) * KEY_ODD;
		return;
	}
	for (uint32_t i = 0; i < n - 16; i += 16)
		hash = group_key_mix(group_key_word(*key, i) ^ hash, group_key_word(*key, i + 8) ^ seed[1]);
	hash = group_key_mix(group_key_word(*key, n - 16) ^ hash, group_key_word(*key, n - 8) ^ seed[1]);
	key->hash = (hash * KEY_ODD) >> 32 << 32;
	key->low = 0;
	key->high = (uint64_t)KEY_LONG << 56 | n |
		    (key->hash >> 32 << KEY_LENGTH_BITS & ((UINT64_C(1) << 56) - 1));
}
