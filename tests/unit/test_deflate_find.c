/* SPDX-License-Identifier: MIT
 *
 * test_deflate_find.c - deflate_find against zlib, which reads the header at any bit that it is
 * asked about, and says where the blocks of its own streams begin.
 */
#include "codec/deflate.h"

#include <zlib.h>

#include "unit/simd_test.h"

#define PAD_NBYTES 64
#define TEXT_NBYTES 300000
#define NBYTES_MAX (TEXT_NBYTES + 4096)
#define NSTARTS_MAX 4096
#define NONE UINT64_MAX

static unsigned char text[TEXT_NBYTES];
static unsigned char stream[NBYTES_MAX + PAD_NBYTES];
static uint64_t starts[NSTARTS_MAX];

static unsigned bits_of(const unsigned char *in, uint64_t bit, unsigned n)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < n; i++)
		bits |= (in[(bit + i) >> 3] >> ((bit + i) & 7) & 1u) << i;
	return bits;
}

/* Whether the first 17 bits are those of a block that is looked for. */
static bool is_looked_for(const unsigned char *in, size_t nbytes, uint64_t bit)
{
	return bit + 17 <= (uint64_t)nbytes * 8 && bits_of(in, bit, 3) == 4 &&
	       bits_of(in, bit + 13, 4) >= 8;
}

/* Whether zlib reads a dynamic block's header there. */
static bool zlib_reads(z_stream *z, const unsigned char *in, size_t nbytes, uint64_t bit)
{
	unsigned char out[1];
	unsigned skip = bit & 7;

	if (!is_looked_for(in, nbytes, bit))
		return false;
	inflateReset(z);
	if (skip)
		inflatePrime(z, (int)(8 - skip), in[bit >> 3] >> skip);
	z->next_in = (unsigned char *)in + (bit + 7) / 8;
	z->avail_in = (unsigned)(nbytes - (size_t)((bit + 7) / 8));
	z->next_out = out;
	z->avail_out = sizeof out;
	return inflate(z, Z_TREES) == Z_OK && (z->data_type & 256) != 0;
}

static void open_raw(z_stream *z)
{
	*z = (z_stream){0};
	if (inflateInit2(z, -15) != Z_OK)
		bail("zlib does not inflate");
}

static void make_text(void)
{
	size_t n = 0;

	while (n + 64 < TEXT_NBYTES)
		n += (size_t)snprintf((char *)text + n, 64, "%u,%s,%u.%02u,%c\n", random_below(100000),
				      random_below(3) ? "north" : "south-east", random_below(500),
				      random_below(100), (int)('a' + random_below(26)));
	memset(text + n, 'x', TEXT_NBYTES - n);
}

static size_t compress_text(size_t nbytes, int level, int memory, int strategy)
{
	z_stream z = {0};

	if (deflateInit2(&z, level, Z_DEFLATED, -15, memory, strategy) != Z_OK)
		bail("zlib does not deflate");
	z.next_in = text;
	z.avail_in = (unsigned)nbytes;
	z.next_out = stream;
	z.avail_out = NBYTES_MAX;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("the stream is too long");
	deflateEnd(&z);
	for (size_t i = 0; i < PAD_NBYTES; i++)
		stream[z.total_out + i] = (unsigned char)random_below(256);
	return z.total_out;
}

/* Writes down where the blocks that are looked for begin, as zlib's inflate passes them. */
static size_t list_starts(size_t nbytes)
{
	static unsigned char out[TEXT_NBYTES + 1]; /* zlib wants room left at the end */
	z_stream z;
	uint64_t bit = 0;
	size_t n = 0;
	int result = Z_OK;

	open_raw(&z);
	z.next_in = stream;
	z.avail_in = (unsigned)nbytes;
	z.next_out = out;
	z.avail_out = sizeof out;
	while (result == Z_OK && n < NSTARTS_MAX) {
		if (is_looked_for(stream, nbytes, bit))
			starts[n++] = bit;
		result = inflate(&z, Z_BLOCK);
		bit = (uint64_t)z.total_in * 8 - (unsigned)(z.data_type & 63);
	}
	if (result != Z_STREAM_END)
		bail("zlib does not read its own stream");
	inflateEnd(&z);
	return n;
}

/* All of a stream, and nothing else. */
static void check_stream(int level, int memory, int strategy)
{
	size_t nbytes = compress_text(TEXT_NBYTES, level, memory, strategy);
	size_t n = list_starts(nbytes), k = 0;
	uint64_t bit = 0;
	bool right = true;

	for (; right && (bit = deflate_find(stream, nbytes, bit, NONE)) != NONE; bit++)
		right = k < n && starts[k++] == bit;
	ok(n > 0 && right && k == n, "level %d, memory %d, strategy %d: %zu blocks", level, memory,
	   strategy, n);
}

static void check_edges(void)
{
	size_t nbytes = compress_text(TEXT_NBYTES, 6, 6, Z_DEFAULT_STRATEGY), n = list_starts(nbytes);
	unsigned nwrong = 0;

	for (size_t k = 1; k < n; k++)
		for (uint64_t back = 0; back < 600 && starts[k - 1] < starts[k] - back; back++) {
			uint64_t from = starts[k] - back;
			nwrong += deflate_find(stream, nbytes, from, starts[k] + 1) != starts[k];
			nwrong += deflate_find(stream, nbytes, from, starts[k] + 99) != starts[k];
			nwrong += deflate_find(stream, nbytes, from, starts[k]) != NONE;
			nwrong += deflate_find(stream, nbytes, starts[k] + 1, starts[k] + back) != NONE;
		}
	is_uint(0, nwrong, "from and to, bit by bit before %zu blocks", n);
	is_uint(NONE, deflate_find(stream, nbytes, starts[0] + 1, starts[0]), "to before from");
	is_uint(NONE, deflate_find(stream, 0, 0, NONE), "no input");
	is_uint(NONE, deflate_find(stream, nbytes, (uint64_t)nbytes * 8, NONE), "from at the end");
	is_uint(NONE, deflate_find(stream, nbytes, NONE - 9, NONE), "from far behind the end");
}

/* Streams cut at each byte, their pad before a page that traps. What is in the pad does not count:
 * a header is found exactly if zlib can read all of it. */
static void check_cuts(void)
{
	size_t nbytes = compress_text(9000, 6, 1, Z_DEFAULT_STRATEGY);
	size_t ncut = nbytes < 1500 ? nbytes : 1500;
	struct arena arena = arena_of(ncut + PAD_NBYTES);
	z_stream z;
	unsigned nwrong = 0;

	open_raw(&z);
	list_starts(nbytes);
	for (size_t n = 0; n <= ncut; n++) {
		unsigned char *in = (unsigned char *)arena.end - PAD_NBYTES - n;
		memcpy(in, stream, n);
		for (unsigned fill = 0; fill < 3; fill++) {
			if (fill == 2) /* what really follows */
				memcpy(in + n, stream + n, PAD_NBYTES);
			else
				memset(in + n, fill ? 0xff : 0, PAD_NBYTES);
			uint64_t first = zlib_reads(&z, in, n, starts[0]) ? starts[0] : NONE;
			nwrong += deflate_find(in, n, 0, starts[0] + 1) != first;
			uint64_t second = zlib_reads(&z, in, n, starts[1]) ? starts[1] : NONE;
			nwrong += deflate_find(in, n, starts[0] + 1, NONE) != second && starts[2] > n * 8;
			deflate_find(in, n, 17, NONE);
			deflate_find(in, n, (uint64_t)n * 8 - (n ? 5 : 0), NONE);
		}
	}
	is_uint(0, nwrong, "cut at each byte");
	nwrong = 0;
	for (unsigned k = 0; k < 10; k++)
		for (size_t n = 4; n < 120; n++) {
			unsigned char *in = (unsigned char *)arena.end - PAD_NBYTES - n;
			uint64_t bit = starts[k] & 7;
			memcpy(in, stream + (starts[k] >> 3), n + PAD_NBYTES);
			nwrong += deflate_find(in, n, bit, bit + 1) !=
				  (zlib_reads(&z, in, n, bit) ? bit : NONE);
		}
	is_uint(0, nwrong, "headers cut at each byte");
	inflateEnd(&z);
}

/* Headers with one to three bits turned over. */
static void check_turned_bits(void)
{
	size_t nbytes = compress_text(TEXT_NBYTES, 6, 7, Z_DEFAULT_STRATEGY), n = list_starts(nbytes);
	z_stream z;
	unsigned nwrong = 0, nvalid = 0;

	open_raw(&z);
	for (unsigned k = 0; k < 60000; k++) {
		unsigned char in[800 + PAD_NBYTES];
		uint64_t start = starts[random_below((uint32_t)n)], bit = start & 7;
		memcpy(in, stream + (start >> 3), sizeof in);
		for (unsigned i = 1 + random_below(3); i > 0; i--) {
			uint64_t at = bit + random_below(random_below(2) ? 80 : 700);
			in[at >> 3] ^= (unsigned char)(1u << (at & 7));
		}
		bool valid = zlib_reads(&z, in, 800, bit);
		nvalid += valid;
		nwrong += deflate_find(in, 800, bit, bit + 1) != (valid ? bit : NONE);
	}
	is_uint(0, nwrong, "bits turned over: as zlib says");
	ok(nvalid > 500, "%u of those headers are valid", nvalid);
	inflateEnd(&z);
}

static void check_random(void)
{
	static unsigned char noise[(1 << 20) + PAD_NBYTES];
	unsigned nfound = 0;

	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (unsigned char)random_below(256);
	for (uint64_t bit = 0; (bit = deflate_find(noise, 1 << 20, bit, NONE)) != NONE; bit++)
		nfound++;
	ok(nfound <= 1, "2^23 random bits: %u taken for a beginning", nfound);
}

/* ---- headers written here ---- */

struct writer {
	unsigned char in[100 + PAD_NBYTES];
	unsigned bit;
};

static void put(struct writer *w, unsigned value, unsigned nbits)
{
	for (unsigned i = 0; i < nbits; i++, w->bit++)
		w->in[w->bit >> 3] |= (unsigned char)((value >> i & 1) << (w->bit & 7));
}

/* Lengths of a literal's code: 0 254 times, the three given, 0 nzeros times; then the distances'.
 * Each in 0..2. The code of code lengths is 00, 01, 10 for these and 11 for a run of zeros (18), all of
 * two bits. */
static struct writer header_of(const unsigned *literals, unsigned nzeros, const unsigned *distances,
			       unsigned ndistances)
{
	static const unsigned code_bits[] = {0, 2, 1}; /* 00, 01, 10: the first bit is the lowest */
	static const unsigned lengths[18] = {[2] = 2, [3] = 2, [15] = 2, [17] = 2};
	struct writer w = {{0}, 3};

	put(&w, 4, 3);
	put(&w, nzeros, 5);
	put(&w, ndistances - 1, 5);
	put(&w, 18 - 4, 4);
	for (unsigned i = 0; i < 18; i++)
		put(&w, lengths[i], 3);
	put(&w, 3, 2);
	put(&w, 127, 7);
	put(&w, 3, 2);
	put(&w, 116 - 11, 7);
	for (unsigned i = 0; i < 3; i++)
		put(&w, code_bits[literals[i]], 2);
	if (nzeros) {
		put(&w, 3, 2);
		put(&w, nzeros - 11, 7);
	}
	for (unsigned i = 0; i < ndistances; i++)
		put(&w, code_bits[distances[i]], 2);
	return w;
}

static void check_codes(void)
{
	static const struct {
		unsigned literals[3], nzeros, distances[4], ndistances;
		bool valid;
		const char *name;
	} cases[] = {
		{{0, 1, 1}, 0, {1, 1}, 2, true, "two distances"},
		{{1, 2, 2}, 0, {2, 2, 2, 2}, 4, true, "four distances"},
		{{0, 1, 1}, 0, {0}, 1, true, "no distance"},
		{{0, 1, 1}, 0, {0, 1, 0}, 3, true, "one distance of one bit"},
		{{0, 1, 1}, 0, {0, 2}, 2, false, "one distance of two bits"},
		{{0, 1, 1}, 0, {2, 2}, 2, false, "two distances of two bits"},
		{{0, 1, 1}, 0, {1, 1, 1}, 3, false, "too many distances"},
		{{1, 1, 0}, 0, {1, 1}, 2, false, "no end of block"},
		{{1, 1, 1}, 0, {1, 1}, 2, false, "too many literals"},
		{{0, 2, 2}, 0, {1, 1}, 2, false, "too few literals"},
		{{0, 0, 1}, 0, {0}, 1, false, "nothing but an end of block"},
		{{0, 1, 1}, 29, {1, 1}, 2, true, "286 literals"},
		{{0, 1, 1}, 30, {1, 1}, 2, false, "287 literals"},
		{{0, 1, 1}, 31, {1, 1}, 2, false, "288 literals"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct writer w = header_of(cases[i].literals, cases[i].nzeros,
					     cases[i].distances, cases[i].ndistances);
		size_t nbytes = (w.bit + 7) / 8;
		is_uint(cases[i].valid ? 3 : NONE, deflate_find(w.in, nbytes, 0, 8), "%s",
			cases[i].name);
		is_uint(NONE, deflate_find(w.in, nbytes - 1, 0, 8), "%s, cut", cases[i].name);
	}
}

/* The code of code lengths has 16, a repeat, in place of 2. nbefore: how many zeros precede it. */
static void check_repeat(unsigned nbefore)
{
	static const unsigned lengths[18] = {[0] = 2, [2] = 2, [3] = 2, [17] = 2};
	struct writer w = {{0}, 3};

	put(&w, 4, 3);
	put(&w, 0, 10);
	put(&w, 18 - 4, 4);
	for (unsigned i = 0; i < 18; i++)
		put(&w, lengths[i], 3);
	put(&w, 0, 2 * nbefore);
	put(&w, 1, 2); /* 10: three times the one before */
	put(&w, 0, 2);
	put(&w, 3, 2); /* 11: zeros */
	put(&w, 127, 7);
	put(&w, 3, 2);
	put(&w, 255 - 138 - 3 - nbefore - 11, 7);
	put(&w, 2, 2); /* 01: the length 1 */
	put(&w, 2, 2);
	put(&w, 0, 2);
	is_uint(nbefore ? 3 : NONE, deflate_find(w.in, (w.bit + 7) / 8, 0, 8),
		"a repeat behind %u lengths", nbefore);
}

int main(void)
{
	plan_lazy();
	make_text();
	for (int memory = 1; memory <= 9; memory += 2)
		check_stream(6, memory, Z_DEFAULT_STRATEGY);
	check_stream(1, 4, Z_DEFAULT_STRATEGY);
	check_stream(9, 4, Z_DEFAULT_STRATEGY);
	check_stream(6, 4, Z_HUFFMAN_ONLY);
	check_stream(6, 4, Z_RLE);
	check_stream(6, 4, Z_FILTERED);
	check_edges();
	check_cuts();
	check_turned_bits();
	check_codes();
	check_repeat(0);
	check_repeat(1);
	check_random();
	return done();
}
