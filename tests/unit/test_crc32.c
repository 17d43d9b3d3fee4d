/* SPDX-License-Identifier: MIT
 *
 * test_crc32.c - simd_ops.crc against zlib, every instruction set that runs here.
 */
#include <zlib.h>

#include "unit/simd_test.h"

#define NBYTES_MAX 2000
#define LONG_NBYTES 1000003

static unsigned char text[LONG_NBYTES];

static uint32_t wanted(uint32_t crc, const unsigned char *data, size_t nbytes)
{
	return (uint32_t)crc32(crc, data, (unsigned)nbytes);
}

/* The text ends before a page that traps; with each length its alignment is another. */
static void check_lengths(const struct simd_ops *ops, struct arena arena)
{
	unsigned nwrong = 0;

	for (size_t n = 0; n <= NBYTES_MAX; n++) {
		const unsigned char *data = (const unsigned char *)arena.end - n;
		nwrong += ops->crc(0, data, n) != wanted(0, data, n);
		nwrong += ops->crc(0xdeadbeef, data, n) != wanted(0xdeadbeef, data, n);
	}
	is_uint(0, nwrong, "%s: 0 to %d bytes", ops->name, NBYTES_MAX);
}

static void check_offsets(const struct simd_ops *ops)
{
	unsigned nwrong = 0;

	for (size_t offset = 0; offset < 64; offset++)
		for (size_t n = 200; n < 600; n += 7)
			nwrong += ops->crc(1, text + offset, n) != wanted(1, text + offset, n);
	is_uint(0, nwrong, "%s: 64 offsets", ops->name);
	is_uint(wanted(0, text, LONG_NBYTES), ops->crc(0, text, LONG_NBYTES), "%s: a long text",
		ops->name);
}

static void check_splits(const struct simd_ops *ops)
{
	uint32_t whole = wanted(0, text, NBYTES_MAX);
	unsigned nwrong = 0;

	for (size_t at = 0; at <= NBYTES_MAX; at++) {
		uint32_t earlier = ops->crc(0, text, at);
		nwrong += ops->crc(earlier, text + at, NBYTES_MAX - at) != whole;
	}
	is_uint(0, nwrong, "%s: continued at each byte", ops->name);
}

int main(void)
{
	struct arena arena = arena_of(NBYTES_MAX);

	plan_lazy();
	for (size_t i = 0; i < LONG_NBYTES; i++)
		text[i] = (unsigned char)random_below(256);
	memcpy(arena.end - NBYTES_MAX, text, NBYTES_MAX);
	for (const struct simd_ops *const *all = simd_all; *all; all++) {
		const struct simd_ops *ops = *all;
		if (!simd_runs(ops)) {
			skip(4, "%s: not on this machine", ops->name);
			continue;
		}
		check_lengths(ops, arena);
		check_offsets(ops);
		check_splits(ops);
	}
	is_uint(0xcbf43926, simd()->crc(0, (const unsigned char *)"123456789", 9),
		"the CRC of 123456789");
	return done();
}
