/* SPDX-License-Identifier: MIT
 *
 * simd.c - which instruction sets were compiled in, which this machine has, which one is used; and text of few letters, packed
 * with it.
 */
#include "simd/simd.h"

#include <limits.h>
#include <stdatomic.h>
#include <zlib.h>

/* Each is defined in its own file, where the architecture has it. */
extern const struct simd_ops simd_avx512, simd_avx2, simd_neon, simd_portable;

const struct simd_ops *const simd_all[] = {
#if defined(__x86_64__)
	&simd_avx512,
	&simd_avx2,
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
	&simd_neon,
#endif
	&simd_portable,
	NULL,
};

/* Checks for what the files were compiled for. */
bool simd_runs(const struct simd_ops *ops)
{
#if defined(__x86_64__)
	if (ops == &simd_avx512 || ops == &simd_avx2) {
		__builtin_cpu_init();
		if (!__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
		    !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("popcnt"))
			return false;
	}
	if (ops == &simd_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
		       __builtin_cpu_supports("vpclmulqdq");
	if (ops == &simd_avx2)
		return __builtin_cpu_supports("avx2");
#endif
	(void)ops;
	return true;
}

/* The first in simd_all that runs here and is called name, or anything for "". */
static const struct simd_ops *find(const char *name)
{
	const struct simd_ops *const *ops = simd_all;

	while (*ops && ((*name != '\0' && strcmp((*ops)->name, name) != 0) || !simd_runs(*ops)))
		ops++;
	return *ops;
}

/* Atomic: several threads may be the first to ask; all find the same. */
static _Atomic(const struct simd_ops *) chosen;

bool simd_choose(const char *name)
{
	const struct simd_ops *found = find(name ? name : "");

	if (!found)
		return false;
	atomic_store_explicit(&chosen, found, memory_order_relaxed);
	return true;
}

const struct simd_ops *simd(void)
{
	const struct simd_ops *ops = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (!ops) {
		ops = find("");
		atomic_store_explicit(&chosen, ops, memory_order_relaxed);
	}
	return ops;
}

uint32_t simd_crc(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	for (; nbytes > UINT_MAX; data += UINT_MAX, nbytes -= UINT_MAX)
		crc = (uint32_t)crc32(crc, data, UINT_MAX);
	return (uint32_t)crc32(crc, data, (unsigned)nbytes);
}

/* ---- text of few letters: the inner loop is simd_ops.pack ---- */

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
