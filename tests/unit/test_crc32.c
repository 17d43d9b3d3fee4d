/* SPDX-License-Identifier: MIT
 *
 * test_crc32.c - crc32.h against zlib, every instruction set that runs here.
 */
#include "codec/crc32.h"

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
static void check_lengths(const struct crc32_ops *ops, struct arena arena)
{
	unsigned nwrong = 0;

	for (size_t n = 0; n <= NBYTES_MAX; n++) {
		const unsigned char *data = (const unsigned char *)arena.end - n;
		nwrong += ops->run(0, data, n) != wanted(0, data, n);
		nwrong += ops->run(0xdeadbeef, data, n) != wanted(0xdeadbeef, data, n);
	}
	is_uint(0, nwrong, "%s: 0 to %d bytes", ops->name, NBYTES_MAX);
}

static void check_offsets(const struct crc32_ops *ops)
{
	unsigned nwrong = 0;

	for (size_t offset = 0; offset < 64; offset++)
		for (size_t n = 200; n < 600; n += 7)
			nwrong += ops->run(1, text + offset, n) != wanted(1, text + offset, n);
	is_uint(0, nwrong, "%s: 64 offsets", ops->name);
	is_uint(wanted(0, text, LONG_NBYTES), ops->run(0, text, LONG_NBYTES), "%s: a long text",
		ops->name);
}

static void check_splits(const struct crc32_ops *ops)
{
	uint32_t whole = wanted(0, text, NBYTES_MAX);
	unsigned nwrong = 0, nwrong_joins = 0;

	for (size_t at = 0; at <= NBYTES_MAX; at++) {
		uint32_t earlier = ops->run(0, text, at);
		nwrong += ops->run(earlier, text + at, NBYTES_MAX - at) != whole;
		nwrong_joins += crc32_join(earlier, ops->run(0, text + at, NBYTES_MAX - at),
					   NBYTES_MAX - at) != whole;
	}
	is_uint(0, nwrong, "%s: continued at each byte", ops->name);
	is_uint(0, nwrong_joins, "%s: joined at each byte", ops->name);
}

static void check_joins(void)
{
	unsigned nwrong = 0;

	for (unsigned k = 0; k < 20000; k++) {
		uint32_t a = random_below(UINT32_MAX), b = random_below(UINT32_MAX);
		uint32_t n = random_below(0x7fffffff) >> random_below(31);
		nwrong += crc32_join(a, b, n) != (uint32_t)crc32_combine(a, b, (z_off_t)n);
	}
	is_uint(0, nwrong, "joins as zlib does");
	/* x^(2^32 - 1) is 1. */
	is_uint(crc32_join(77, 5, 12345), crc32_join(77, 5, 12345 + (UINT64_C(0xffffffff) << 30)),
		"joins a text beyond 2^32 bytes");
}

int main(void)
{
	struct arena arena = arena_of(NBYTES_MAX);

	plan_lazy();
	for (size_t i = 0; i < LONG_NBYTES; i++)
		text[i] = (unsigned char)random_below(256);
	memcpy(arena.end - NBYTES_MAX, text, NBYTES_MAX);
	for (const struct crc32_ops *ops = crc32_all; ops->name; ops++) {
		if (!ops->runs()) {
			skip(5, "%s: not on this machine", ops->name);
			continue;
		}
		check_lengths(ops, arena);
		check_offsets(ops);
		check_splits(ops);
	}
	check_joins();
	is_uint(0xcbf43926, crc32_continue(0, (const unsigned char *)"123456789", 9),
		"the CRC of 123456789");
	return done();
}
