/* SPDX-License-Identifier: MIT
 *
 * crc32.c - CRC-32 by products of polynomials without carries.
 *
 * The CRC of a text is its polynomial over GF(2), modulo P (Gopal and others, "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). So 16 bytes need not be
 * divided where they stand: H x^64 + L may be moved D bits on, where H (x^(D+64) mod P) + L (x^D mod P) is
 * congruent to them and fits into 16 bytes again, there to be added to those that stand there. What
 * is left in the end is a short text of the same CRC, which zlib divides.
 *
 * Bits are the other way round here: bit 0 of a word is its highest power. A product of two such
 * words of 64 bits is one bit too low for 128, and the constants have one power of x less for that.
 *
 * ns a byte from the second cache, AMD EPYC with AVX-512, its other thread busy (2026-11-22):
 *
 *     bytes a call    512   4096  65536
 *     VPCLMULQDQ     0.12   0.03   0.02
 *     PCLMULQDQ      0.15   0.09   0.08
 *     zlib 1.2.13    0.58   0.30   0.31
 */
#include "codec/crc32.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#define NOTHING_YET UINT32_C(0xffffffff) /* the CRC whose remainder is 0 */

/* ---- any machine: zlib ---- */

static bool runs_anywhere(void)
{
	return true;
}

static uint32_t run_zlib(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	for (; nbytes > UINT_MAX; data += UINT_MAX, nbytes -= UINT_MAX)
		crc = (uint32_t)crc32(crc, data, UINT_MAX);
	return (uint32_t)crc32(crc, data, (unsigned)nbytes);
}

#if defined(__x86_64__)

#include <immintrin.h>

/* x^(D+63) and x^(D-1) modulo P, for moves by D bits. */
#define BY_128 0x65673b4600000000, 0x9ba54c6f00000000
#define BY_512 0x653d982200000000, 0xcad38e8f00000000
#define BY_2048 0x7cc8e1e700000000, 0x03f9f86300000000

/* ---- PCLMULQDQ: four times 16 bytes ---- */

#define PCLMUL __attribute__((target("pclmul")))
#define FOUR_NBYTES 64

static bool runs_pclmul(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("pclmul");
}

static inline __m128i pair_of(uint64_t low, uint64_t high)
{
	return _mm_set_epi64x((long long)high, (long long)low);
}

static inline __m128i load_16(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* x, moved by what `by` is for, plus what stands there. */
PCLMUL static inline __m128i moved(__m128i x, __m128i by, __m128i there)
{
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00),
					   _mm_clmulepi64_si128(x, by, 0x11)), there);
}

PCLMUL static uint32_t run_pclmul(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	const __m128i by_128 = pair_of(BY_128), by_512 = pair_of(BY_512);
	unsigned char left[16];
	__m128i a, b, c, d;

	if (nbytes < FOUR_NBYTES)
		return run_zlib(crc, data, nbytes);
	a = _mm_xor_si128(load_16(data), _mm_cvtsi32_si128((int)~crc));
	b = load_16(data + 16);
	c = load_16(data + 32);
	d = load_16(data + 48);
	for (;;) {
		data += FOUR_NBYTES;
		nbytes -= FOUR_NBYTES;
		if (nbytes < FOUR_NBYTES)
			break;
		a = moved(a, by_512, load_16(data));
		b = moved(b, by_512, load_16(data + 16));
		c = moved(c, by_512, load_16(data + 32));
		d = moved(d, by_512, load_16(data + 48));
	}
	d = moved(moved(moved(a, by_128, b), by_128, c), by_128, d);
	_mm_storeu_si128((__m128i *)(void *)left, d);
	return run_zlib(run_zlib(NOTHING_YET, left, sizeof left), data, nbytes);
}

/* ---- VPCLMULQDQ: four times 64 bytes ---- */

#define VPCLMUL __attribute__((target("avx512f,vpclmulqdq")))
#define FOUR_WIDE_NBYTES 256

static bool runs_vpclmul(void)
{
	return runs_pclmul() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("vpclmulqdq");
}

VPCLMUL static inline __m512i moved_wide(__m512i x, __m512i by, __m512i there)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, by, 0x00),
					 _mm512_clmulepi64_epi128(x, by, 0x11), there, 0x96);
}

VPCLMUL static uint32_t run_vpclmul(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	const __m512i by_512 = _mm512_broadcast_i32x4(pair_of(BY_512));
	const __m512i by_2048 = _mm512_broadcast_i32x4(pair_of(BY_2048));
	unsigned char left[64];
	__m512i a, b, c, d;

	if (nbytes < FOUR_WIDE_NBYTES)
		return run_pclmul(crc, data, nbytes);
	a = _mm512_xor_si512(_mm512_loadu_si512(data),
			     _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
	b = _mm512_loadu_si512(data + 64);
	c = _mm512_loadu_si512(data + 128);
	d = _mm512_loadu_si512(data + 192);
	for (;;) {
		data += FOUR_WIDE_NBYTES;
		nbytes -= FOUR_WIDE_NBYTES;
		if (nbytes < FOUR_WIDE_NBYTES)
			break;
		a = moved_wide(a, by_2048, _mm512_loadu_si512(data));
		b = moved_wide(b, by_2048, _mm512_loadu_si512(data + 64));
		c = moved_wide(c, by_2048, _mm512_loadu_si512(data + 128));
		d = moved_wide(d, by_2048, _mm512_loadu_si512(data + 192));
	}
	d = moved_wide(moved_wide(moved_wide(a, by_512, b), by_512, c), by_512, d);
	_mm512_storeu_si512(left, d);
	return run_pclmul(run_pclmul(NOTHING_YET, left, sizeof left), data, nbytes);
}

#elif defined(__aarch64__) && !defined(__AARCH64EB__) && defined(__linux__)

#include <sys/auxv.h>

/* ---- CRC32X: eight bytes an instruction ---- */

#define CRC32_CAPABILITY (1 << 7) /* HWCAP_CRC32 of asm/hwcap.h */

static bool runs_crc32x(void)
{
	return (getauxval(AT_HWCAP) & CRC32_CAPABILITY) != 0;
}

static uint32_t run_crc32x(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	uint32_t remainder = ~crc;

	for (; nbytes >= 8; data += 8, nbytes -= 8) {
		uint64_t word;
		memcpy(&word, data, sizeof word);
		__asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(remainder) : "r"(word));
	}
	return run_zlib(~remainder, data, nbytes);
}

#endif

/* ---- the choice ---- */

const struct crc32_ops crc32_all[] = {
#if defined(__x86_64__)
	{"vpclmul", runs_vpclmul, run_vpclmul},
	{"pclmul", runs_pclmul, run_pclmul},
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && defined(__linux__)
	{"crc32x", runs_crc32x, run_crc32x},
#endif
	{"zlib", runs_anywhere, run_zlib},
	{NULL, NULL, NULL},
};

/* Atomic: several threads may be the first to ask; all find the same. */
static _Atomic(const struct crc32_ops *) chosen;

uint32_t crc32_continue(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	const struct crc32_ops *ops = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (!ops) {
		for (ops = crc32_all; !ops->runs();)
			ops++;
		atomic_store_explicit(&chosen, ops, memory_order_relaxed);
	}
	return ops->run(crc, data, nbytes);
}

uint32_t crc32_join(uint32_t earlier, uint32_t later, uint64_t later_nbytes)
{
	return (uint32_t)crc32_combine(earlier, later, (z_off_t)later_nbytes);
}
