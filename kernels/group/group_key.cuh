/* SPDX-License-Identifier: MIT
 *
 * group_key.cuh - a record's key, as a thread reads it from the text: words of 8 bytes, the values of its columns
 * with a NUL between two of them. Hashed as src/fold/key.h does it, with the same seed, so that the device and
 * the host agree on the part of the store to which a key belongs.
 */
#ifndef GPUSTAT_GROUP_KEY_CUH
#define GPUSTAT_GROUP_KEY_CUH

#include <stddef.h>
#include <stdint.h>

#define GROUP_KEY_INLINE_NBYTES 15 /* KEY_INLINE_NBYTES */
#define GROUP_KEY_ODD UINT64_C(0x9e3779b97f4a7c15) /* KEY_ODD */

/* A key of up to N values. text: 8-byte aligned device memory, readable up to the next multiple of 8 behind the
 * last value. */
template <unsigned N> struct group_key {
	const char *text;
	uint32_t nvalues, nbytes;
	uint32_t begin[N], end[N]; /* of each value in the text */
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

/* The hash of the key: key_make's. seed: key_seed_get's words. */
template <unsigned N>
static __device__ inline uint64_t group_key_hash(const struct group_key<N> &key, uint64_t seed0, uint64_t seed1)
{
	uint32_t n = key.nbytes;
	uint64_t hash = seed0 ^ n;

	if (n <= GROUP_KEY_INLINE_NBYTES)
		return group_key_mix(group_key_word(key, 0) ^ seed0,
				     (group_key_word(key, 8) | (uint64_t)(n + 1) << 56) ^ seed1) *
		       GROUP_KEY_ODD;
	for (uint32_t i = 0; i < n - 16; i += 16)
		hash = group_key_mix(group_key_word(key, i) ^ hash, group_key_word(key, i + 8) ^ seed1);
	hash = group_key_mix(group_key_word(key, n - 16) ^ hash, group_key_word(key, n - 8) ^ seed1);
	return (hash * GROUP_KEY_ODD) >> 32 << 32;
}

#endif
