/* SPDX-License-Identifier: MIT
 *
 * deflate_resolve.c - 16-bit symbols to bytes.
 *
 * A table of all symbols needs no branch: bytes stand for themselves in its beginning, and its
 * upper half is the window. With AVX2, 32 symbols are narrowed at once, and a few markers among them
 * are put right one by one; the table is for those with many. Markers hardly ever die out: of 32
 * symbols in gzipped CSV, 1 to 8 are markers in 0 to 74 % of all cases, and more in the others.
 *
 * ns a symbol, on one core of an AMD EPYC with AVX-512, both threads of it busy (2026-11-22):
 *
 *     of 100 symbols, markers    0     1     3     10    30    100
 *     AVX2, and the table       0.04  0.04  0.06  0.11  0.27  0.30
 *     the table alone           0.23  0.24  0.24  0.24  0.25  0.26
 *     a gather of AVX-512       0.04  0.13  0.28  0.43  0.44  0.44
 *
 * So the gather is left out.
 */
#include "codec/deflate_resolve.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "simd/simd.h"

#define WINDOW_NBYTES 32768
#define NFEW_SYMBOLS 4096 /* to make a table would take longer than to do without */

static void resolve_by_table(unsigned char *to, const uint16_t *symbols, size_t n,
			     const unsigned char *table)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		uint32_t bytes = table[symbols[i]] | (uint32_t)table[symbols[i + 1]] << 8 |
				 (uint32_t)table[symbols[i + 2]] << 16 |
				 (uint32_t)table[symbols[i + 3]] << 24;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		bytes = __builtin_bswap32(bytes);
#endif
		memcpy(to + i, &bytes, sizeof bytes);
	}
	for (; i < n; i++)
		to[i] = table[symbols[i]];
}

#if defined(__x86_64__)

#include <immintrin.h>

#define NFEW_MARKERS 8 /* of 32 symbols: with more, the table is faster */

__attribute__((target("avx2,popcnt"))) static void
resolve_avx2(unsigned char *to, const uint16_t *symbols, size_t n, const unsigned char *table)
{
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i *at = (const __m256i *)(const void *)(symbols + i);
		__m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
		/* Signed saturation: a marker, being negative, stays so; a byte never becomes so. */
		__m256i signs = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
		__m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
		unsigned markers = (unsigned)_mm256_movemask_epi8(signs);
		if (__builtin_popcount(markers) > NFEW_MARKERS) {
			resolve_by_table(to + i, symbols + i, 32, table);
			continue;
		}
		_mm256_storeu_si256((__m256i *)(void *)(to + i), bytes);
		for (; markers; markers &= markers - 1) {
			size_t k = i + (unsigned)__builtin_ctz(markers);
			to[k] = table[symbols[k]];
		}
	}
	resolve_by_table(to + i, symbols + i, n - i, table);
}

/* With gathers. On a Xeon, all 16 threads busy, 0.51 ns a byte of gzipped logs, and 0.69 by the table;
 * on an EPYC, where a gather is many loads, up to 0.43, and 0.27 (2026-11-22). */
__attribute__((target("avx512f,avx512bw,avx512vl"))) static void
resolve_avx512(unsigned char *to, const uint16_t *symbols, size_t n, const unsigned char *table)
{
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		__m512i v = _mm512_loadu_si512(symbols + i);
		__mmask32 markers = _mm512_movepi16_mask(v);
		__m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(v));
		__m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1));
		low = _mm512_mask_i32gather_epi32(low, (__mmask16)markers, low, table, 1);
		high = _mm512_mask_i32gather_epi32(high, (__mmask16)(markers >> 16), high, table, 1);
		_mm_storeu_si128((__m128i *)(void *)(to + i), _mm512_cvtepi32_epi8(low));
		_mm_storeu_si128((__m128i *)(void *)(to + i + 16), _mm512_cvtepi32_epi8(high));
	}
	resolve_by_table(to + i, symbols + i, n - i, table);
}

#endif

/* ---- the choice ---- */

const struct deflate_resolver deflate_resolvers[] = {
#if defined(__x86_64__)
	{"avx512", resolve_avx512},
	{"avx2", resolve_avx2},
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
	{"neon", resolve_by_table},
#endif
	{"portable", resolve_by_table},
	{NULL, NULL},
};

/* Atomic: several threads may be the first to ask; all find the same. */
static _Atomic(const struct deflate_resolver *) chosen;

/* Whether the first resolver is faster than the second. */
static bool has_fast_gathers(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_is("intel");
#else
	return true;
#endif
}

static const struct deflate_resolver *resolver(void)
{
	const struct deflate_resolver *r = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (r)
		return r;
	for (r = deflate_resolvers; strcmp(r->simd_name, simd()->name) != 0;)
		r++;
	if (r->simd_name == deflate_resolvers[0].simd_name && !has_fast_gathers())
		r++;
	atomic_store_explicit(&chosen, r, memory_order_relaxed);
	return r;
}

static void resolve_few(unsigned char *to, const uint16_t *symbols, size_t n,
			const unsigned char *window)
{
	for (size_t i = 0; i < n; i++)
		to[i] = symbols[i] & DEFLATE_MARKER ? window[symbols[i] & (WINDOW_NBYTES - 1)]
						    : (unsigned char)symbols[i];
}

void deflate_resolve(unsigned char *to, const uint16_t *symbols, size_t n,
		     const unsigned char *window)
{
	unsigned char table[DEFLATE_MARKER + WINDOW_NBYTES + 4]; /* a gather loads 4 bytes */

	if (n < NFEW_SYMBOLS) {
		resolve_few(to, symbols, n, window);
		return;
	}
	for (unsigned i = 0; i < 256; i++)
		table[i] = (unsigned char)i;
	memcpy(table + DEFLATE_MARKER, window, WINDOW_NBYTES);
	resolver()->resolve(to, symbols, n, table);
}
