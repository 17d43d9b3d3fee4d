/* SPDX-License-Identifier: MIT
 *
 * simd/neon.c - NEON, which every AArch64 has: 64 bytes are four registers.
 *
 * NEON has no instruction that turns a comparison into bits. Each byte keeps the bit of its place
 * among eight, and three rounds of pairwise additions leave eight bytes of eight bits each.
 */
#include "simd/simd.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__)

#include <arm_neon.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#include "simd/convert.h"

/* Of simd/plain.h. */
static inline uint64_t simd_match(const char *text, char byte)
{
	const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
	const uint8x16_t byte_16 = vdupq_n_u8((uint8_t)byte);
	const uint8_t *at = (const uint8_t *)text;
	uint8x16_t a = vandq_u8(vceqq_u8(vld1q_u8(at), byte_16), places);
	uint8x16_t b = vandq_u8(vceqq_u8(vld1q_u8(at + 16), byte_16), places);
	uint8x16_t c = vandq_u8(vceqq_u8(vld1q_u8(at + 32), byte_16), places);
	uint8x16_t d = vandq_u8(vceqq_u8(vld1q_u8(at + 48), byte_16), places);
	uint8x16_t sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

#ifdef __linux__
#define CRC32_CAPABILITY (1 << 7) /* HWCAP_CRC32 of asm/hwcap.h */

/* simd_ops.crc: eight bytes an instruction, where the machine has it. */
static uint32_t crc32x(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	uint32_t remainder = ~crc;

	if (!(getauxval(AT_HWCAP) & CRC32_CAPABILITY))
		return simd_crc(crc, data, nbytes);
	for (; nbytes >= 8; data += 8, nbytes -= 8) {
		uint64_t word;
		memcpy(&word, data, sizeof word);
		__asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(remainder) : "r"(word));
	}
	return simd_crc(~remainder, data, nbytes);
}
#else
#define crc32x simd_crc
#endif

const struct simd_ops simd_neon = {
	.name = "neon",
	.classify = simd_classify_words,
	.pack = simd_pack,
	.positions = simd_positions,
	.clear_quoted = simd_clear_quoted,
	.count = simd_count,
	.fold = simd_fold_rows,
	.convert = simd_convert_rows,
	.short_texts = simd_short_texts,
	.fold_numbers = simd_fold_singles,
	.sum_products = simd_sum_products,
	.crc = crc32x,
	.resolve = simd_resolve,
	.sum_squares = simd_sum_squares,
};

#endif
