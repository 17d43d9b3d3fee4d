/* SPDX-License-Identifier: MIT
 *
 * deflate_case.h - deflate data for tests, and what zlib makes of it.
 */
#pragma once

#include <zlib.h>

#include "codec/deflate.h"
#include "tap.h"

#define TEXT_MAX 200000
#define PACKED_MAX (TEXT_MAX + 65536)
#define OUT_MAX (TEXT_MAX + 70000) /* of text that is looked at */
#define WINDOW DEFLATE_WINDOW_NBYTES

static uint64_t random_state = 20261122;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % n);
}

/* ---- texts ---- */

static unsigned char text[TEXT_MAX];

static void fill_random_letters(size_t n)
{
	uint32_t nletters = 2 + random_below(60);

	for (size_t i = 0; i < n; i++)
		text[i] = (unsigned char)('A' + random_below(nletters));
}

static void fill_csv(size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (unsigned char)(i % 23 == 22 ? '\n' : i % 6 == 5 ? ',' : '0' + random_below(10));
}

/* Phrases from before, of all lengths and distances, and runs of short periods. */
static void fill_repeats(size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t length = 1 + random_below(random_below(4) ? 20 : 600), distance;
		distance = 1 + random_below(random_below(2) ? 20 : 33000);
		for (; length && i < n; length--, i++)
			text[i] = i >= distance && length > 1 ? text[i - distance]
							      : (unsigned char)random_below(256);
	}
}

static void fill_zeros(size_t n)
{
	memset(text, 0, n);
}

static void fill_noise(size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (unsigned char)random_below(256);
}

/* Few bytes often, many seldom: codes of up to 15 bits. */
static void fill_skewed(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t x = random_below(1 << 20), k = 0;
		while (x & 1) {
			x >>= 1;
			k++;
		}
		text[i] = (unsigned char)(k < 8 ? k : random_below(256));
	}
}

static void (*const fills[])(size_t) = {fill_random_letters, fill_csv, fill_repeats,
					fill_zeros, fill_noise, fill_skewed};
#define NFILLS (sizeof fills / sizeof fills[0])

/* ---- packed ---- */

/* What the text follows: nothing, or a window that only some know. */
static bool with_window;
static unsigned char window[WINDOW];

static unsigned char packed[PACKED_MAX + DEFLATE_PAD_NBYTES];
static size_t packed_nbytes;

static void fill_pad(unsigned char *at)
{
	for (size_t i = 0; i < DEFLATE_PAD_NBYTES; i++)
		at[i] = (unsigned char)random_below(256);
}

/* Packs text[0 .. n), with a flush here and there. */
static void pack(size_t n, int level, int strategy, int flush)
{
	z_stream z = {0};
	size_t at = 0;

	if (deflateInit2(&z, level, Z_DEFLATED, -15, 1 + (int)random_below(9), strategy) != Z_OK ||
	    (with_window && deflateSetDictionary(&z, window, WINDOW) != Z_OK))
		bail("deflateInit2");
	z.next_out = packed;
	z.avail_out = PACKED_MAX;
	while (at < n) {
		size_t more = flush == Z_NO_FLUSH ? n : n / 8 + random_below((uint32_t)n);
		more = more < n - at ? more + 1 : n - at;
		z.next_in = text + at;
		z.avail_in = (unsigned)more;
		at += more;
		deflate(&z, flush);
	}
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("deflate");
	packed_nbytes = PACKED_MAX - z.avail_out;
	deflateEnd(&z);
	fill_pad(packed + packed_nbytes);
}

/* ---- made bit by bit ---- */

static void put_bits(unsigned value, unsigned nbits)
{
	static unsigned used; /* of the last byte */

	if (packed_nbytes == 0)
		used = 8;
	for (unsigned i = 0; i < nbits; i++, used++) {
		if (used == 8) {
			packed[packed_nbytes++] = 0;
			used = 0;
		}
		packed[packed_nbytes - 1] |= (unsigned char)((value >> i & 1) << used);
	}
}

/* Gives nused of n symbols, among them `sure`, the lengths of a complete code: leaves of a tree, of
 * which one after the other is split. */
static void make_code(uint8_t *lengths, unsigned n, unsigned nused, unsigned sure)
{
	uint8_t leaves[300] = {0};

	for (unsigned k = 1, at; k < nused; k++) {
		do
			at = random_below(random_below(2) ? k : 1 + k / 8);
		while (leaves[at] == 15);
		leaves[k] = ++leaves[at];
	}
	memset(lengths, 0, n);
	lengths[sure] = leaves[0];
	for (unsigned k = 1, s; k < nused; k++) {
		do
			s = random_below(n);
		while (lengths[s]);
		lengths[s] = leaves[k];
	}
}

/* A dynamic block of odd codes: with few symbols or one, now and then incomplete or too full, and
 * any bits behind it. */
static void pack_odd_block(void)
{
	static const uint8_t order_of_code[19] = {0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
	unsigned nliterals = 257 + random_below(30), ndistances = 1 + random_below(30);
	uint8_t lengths[286 + 30];

	make_code(lengths, nliterals, random_below(3) ? 2 + random_below(nliterals - 2) : 2, 256);
	make_code(lengths + nliterals, ndistances, 1 + random_below(ndistances), 0);
	if (random_below(2)) {
		memset(lengths + nliterals, 0, ndistances);
		lengths[nliterals + random_below(ndistances)] = (uint8_t)(random_below(8) % 3);
	}
	if (random_below(10) == 0) {
		memset(lengths, 0, 256);
		memset(lengths + 257, 0, nliterals - 257);
		lengths[256] = (uint8_t)(1 + random_below(8) / 7);
	}
	if (random_below(10) == 0)
		lengths[random_below(nliterals + ndistances)] = (uint8_t)random_below(16);
	packed_nbytes = 0;
	put_bits(4 | random_below(2), 3);
	put_bits((nliterals - 257) | (ndistances - 1) << 5 | 15 << 10, 14);
	for (unsigned i = 0; i < 19; i++)
		put_bits(order_of_code[i], 3);
	for (unsigned i = 0; i < nliterals + ndistances; i++)
		for (unsigned bit = 4; bit; bit--) /* the code of a length is that number */
			put_bits(lengths[i] >> (bit - 1) & 1, 1);
	for (unsigned n = random_below(random_below(2) ? 30 : 300); n; n--)
		put_bits(random_below(256), 8);
}

/* ---- zlib's verdict ---- */

static struct {
	enum deflate_result result;
	const char *words;
	size_t text_nbytes, in_nbytes; /* in_nbytes: where the stream ended */
	unsigned char text[OUT_MAX];
} wanted;

static void ask_zlib(void)
{
	static z_stream z;
	int result;

	if (z.state ? inflateReset(&z) : inflateInit2(&z, -15))
		bail("inflateInit2");
	if (with_window && inflateSetDictionary(&z, window, WINDOW) != Z_OK)
		bail("inflateSetDictionary");
	z.next_in = packed;
	z.avail_in = (unsigned)packed_nbytes;
	z.next_out = wanted.text;
	z.avail_out = OUT_MAX;
	z.msg = NULL;
	while ((result = inflate(&z, Z_NO_FLUSH)) == Z_OK)
		;
	wanted.result = result == Z_STREAM_END ? DEFLATE_ENDED :
			result == Z_DATA_ERROR ? DEFLATE_DAMAGED :
			z.avail_out == 0       ? DEFLATE_FULL : DEFLATE_STARVES;
	wanted.words = z.msg;
	wanted.text_nbytes = OUT_MAX - z.avail_out;
	wanted.in_nbytes = packed_nbytes - z.avail_in;
}
