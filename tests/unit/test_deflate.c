/* SPDX-License-Identifier: MIT
 *
 * test_deflate.c - the deflate decoder against zlib: the same bytes, the same verdict in the same
 * words, and before damage the same text, wherever input and output are cut.
 */
#include "codec/deflate.h"
#include "deflate_case.h"
#include "simd/simd.h"
#include "tap.h"

/* ---- ours ---- */

/* What is decoded to: bytes, symbols, or symbols up to place `turn` and then bytes. */
enum way { BYTES, SYMBOLS, SYMBOLS_THEN_BYTES };

static struct deflate decoder;
static enum way way;
static size_t turn;
static unsigned char bytes[WINDOW + OUT_MAX + 2 * DEFLATE_SLACK], *byte_out;
static uint16_t symbols[WINDOW + OUT_MAX + DEFLATE_SLACK], *symbol_out;

#define UNTOUCHED 0xa5

static size_t place(void)
{
	return (way == BYTES ? (size_t)(byte_out - bytes) : (size_t)(symbol_out - symbols)) - WINDOW;
}

/* Resolves the symbols so far, one by one, behind the window. */
static void turn_to_bytes(void)
{
	size_t n = place();

	for (size_t i = 0; i < n; i++) {
		uint16_t s = symbols[WINDOW + i];
		bytes[WINDOW + i] = s & DEFLATE_MARKER ? window[s & (WINDOW - 1)] : (unsigned char)s;
	}
	byte_out = bytes + WINDOW + n;
	way = BYTES;
}

static enum deflate_result decode_to(size_t limit)
{
	if (way == SYMBOLS_THEN_BYTES && place() >= turn)
		turn_to_bytes();
	if (way == BYTES)
		return deflate_bytes(&decoder, &byte_out, bytes + WINDOW + limit,
				     bytes + (with_window ? 0 : WINDOW), UINT64_MAX);
	return deflate_symbols(&decoder, &symbol_out, symbols + WINDOW + limit, symbols, UINT64_MAX);
}

static void reset_output(void)
{
	memcpy(bytes, window, WINDOW);
	memset(bytes + WINDOW, UNTOUCHED, wanted.text_nbytes + 2 * DEFLATE_SLACK);
	byte_out = bytes + WINDOW;
	for (unsigned i = 0; i < WINDOW; i++)
		symbols[i] = (uint16_t)(DEFLATE_MARKER + i);
	symbol_out = symbols + WINDOW;
}

/* Whether bytes behind the slack behind limit are as they were. */
static bool slack_is_kept(size_t limit)
{
	size_t end = wanted.text_nbytes + 2 * DEFLATE_SLACK;

	for (size_t i = limit + DEFLATE_SLACK; i < limit + 2 * DEFLATE_SLACK && i < end; i++)
		if (way == BYTES && bytes[WINDOW + i] != UNTOUCHED)
			return false;
	return place() < limit + DEFLATE_SLACK;
}

/* How input and output are cut: pieces of 1 to so many bytes; 0: not at all. */
struct cuts {
	uint32_t in_max, out_max;
};

static size_t next_cut(uint32_t max, size_t at, size_t end)
{
	size_t n = max ? 1 + random_below(max) : end - at;

	return n < end - at ? at + n : end;
}

static size_t fed_from; /* where in `packed` the decoder's input begins */

/* Moves the unused bytes before `to` elsewhere, with a misleading pad and nothing behind it, and
 * continues there. */
static void feed(size_t to)
{
	static unsigned char *before;
	uint64_t bit = deflate_bit(&decoder);

	fed_from += (size_t)(bit >> 3);
	unsigned char *there = malloc(to - fed_from + DEFLATE_PAD_NBYTES);
	if (!there)
		bail("malloc");
	free(before);
	before = there;
	memcpy(there, packed + fed_from, to - fed_from);
	fill_pad(there + (to - fed_from));
	deflate_continue(&decoder, there, to - fed_from, bit & 7);
}

static enum deflate_result decode(struct cuts cuts)
{
	size_t to = next_cut(cuts.in_max, 0, packed_nbytes), limit = next_cut(cuts.out_max, 0, OUT_MAX);
	enum deflate_result result;

	reset_output();
	deflate_begin(&decoder, NULL, 0, 0);
	fed_from = 0;
	feed(to);
	for (;;) {
		result = decode_to(limit);
		if (!slack_is_kept(limit) || (result == DEFLATE_FULL && place() < limit))
			return DEFLATE_BOUNDARY;
		if (result == DEFLATE_FULL && place() < OUT_MAX)
			limit = next_cut(cuts.out_max, place(), OUT_MAX);
		else if (result == DEFLATE_STARVES && to < packed_nbytes)
			feed(to = next_cut(cuts.in_max, to, packed_nbytes));
		else
			return result;
	}
}

/* ---- comparison ---- */

static bool same_verdict(enum deflate_result result)
{
	bool same = result == wanted.result &&
		    (place() == wanted.text_nbytes || result == DEFLATE_FULL);

	if (result == DEFLATE_DAMAGED)
		same = same && wanted.words && strcmp(decoder.words, wanted.words) == 0;
	if (result == DEFLATE_ENDED)
		same = same && fed_from + (size_t)(deflate_bit(&decoder) + 7) / 8 == wanted.in_nbytes;
	if (!same)
		diag("wanted: %d %s, %zu bytes\n  seen: %d %s, %zu bytes", (int)wanted.result,
		     wanted.words ? wanted.words : "-", wanted.text_nbytes, (int)result,
		     decoder.words ? decoder.words : "-", place());
	return same;
}

/* Whether the decoder gives what zlib gives. */
static bool is_right(enum way which, struct cuts cuts)
{
	bool same;

	way = which;
	turn = random_below((uint32_t)wanted.text_nbytes + 1);
	same = same_verdict(decode(cuts));
	if (way != BYTES)
		turn_to_bytes();
	return same && memcmp(bytes + WINDOW, wanted.text, wanted.text_nbytes) == 0;
}

/* In every way that there is. */
static bool all_are_right(struct cuts cuts)
{
	return is_right(BYTES, cuts) && (!with_window || (is_right(SYMBOLS, cuts) &&
							  is_right(SYMBOLS_THEN_BYTES, cuts)));
}

/* ---- streams ---- */

/* The same through a stream, whose caller gives the unused input again. */
static bool stream_is_right(struct cuts cuts)
{
	struct inflate *stream = inflate_open();
	size_t from = 0, to = 0, at = 0;
	enum deflate_result result;
	struct inflate_span span;

	do {
		if (at == 0 || span.out_nbytes)
			to = next_cut(cuts.in_max, to, packed_nbytes);
		span = (struct inflate_span){.in = packed + from, .in_nbytes = to - from,
					     .out = bytes + at, .out_nbytes = next_cut(cuts.out_max, 0, OUT_MAX - at)};
		result = inflate_run(stream, &span);
		from = (size_t)(span.in - packed);
		at = (size_t)(span.out - bytes);
	} while (result == DEFLATE_GOES_ON && at < OUT_MAX && (to < packed_nbytes || !span.out_nbytes));
	bool same = at == wanted.text_nbytes && memcmp(bytes, wanted.text, at) == 0 &&
		    (result == DEFLATE_ENDED) == (wanted.result == DEFLATE_ENDED) &&
		    (result == DEFLATE_DAMAGED) == (wanted.result == DEFLATE_DAMAGED);
	if (result == DEFLATE_DAMAGED)
		same = same && strcmp(span.words, wanted.words) == 0;
	if (result == DEFLATE_ENDED)
		same = same && from == wanted.in_nbytes;
	free(stream);
	return same;
}

/* A whole block, and behind its slack a byte that must stay as it is. */
static bool whole_is_right(void)
{
	static struct deflate d;
	size_t n = wanted.text_nbytes;
	bool ends = wanted.result == DEFLATE_ENDED && wanted.in_nbytes == packed_nbytes;

	memset(bytes, UNTOUCHED, n + DEFLATE_SLACK + 1);
	bool same = deflate_whole(&d, packed, packed_nbytes, bytes, n) == ends &&
		    (!ends || memcmp(bytes, wanted.text, n) == 0) && bytes[n + DEFLATE_SLACK] == UNTOUCHED;
	if (ends && n)
		same = same && !deflate_whole(&d, packed, packed_nbytes, bytes, n - 1);
	return same && !deflate_whole(&d, packed, packed_nbytes, bytes, n + 1);
}

/* ---- tests ---- */

#define NSTREAMS 60 /* of each kind of text, ten levels */

static const struct cuts all_cuts[] = {{0, 0}, {1, 0}, {0, 1}, {3, 700}, {100, 5}, {5000, 40000}, {60000, 2}};

/* Cuts of one byte take long for a long text. */
static bool takes_long(struct cuts cuts, size_t n)
{
	return (cuts.in_max && cuts.in_max < 200 && packed_nbytes > 4000) ||
	       (cuts.out_max && cuts.out_max < 200 && n > 20000);
}

static bool text_is_right(size_t n, int level, int strategy, int flush)
{
	pack(n, level, strategy, flush);
	ask_zlib();
	bool right = wanted.result == DEFLATE_ENDED && wanted.text_nbytes == n &&
		     (with_window || whole_is_right());
	for (size_t i = 0; i < sizeof all_cuts / sizeof *all_cuts && right; i++)
		if (!takes_long(all_cuts[i], n))
			right = all_are_right(all_cuts[i]) && (with_window || stream_is_right(all_cuts[i]));
	if (!right)
		diag("%zu bytes, level %d, strategy %d, flush %d", n, level, strategy, flush);
	return right;
}

static void test_texts(const char *set, const char *name, void (*fill)(size_t))
{
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED};
	static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
	static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 300, 1000, 3000, 33000, 70000, TEXT_MAX};
	bool right = true;

	for (unsigned i = 0; i < NSTREAMS && right; i++) {
		size_t n = sizes[i % 12];
		with_window = random_below(2);
		fill(WINDOW);
		memcpy(window, text, WINDOW);
		fill(n);
		if (n > 20 && with_window)
			memcpy(text + n / 2, window + random_below(30000), n < 2000 ? n / 4 : 500);
		right = text_is_right(n, (int)(i % 10), strategies[random_below(2) ? 0 : random_below(5)],
				      flushes[random_below(2) ? 0 : random_below(5)]);
	}
	ok(right, "%s: %d streams of %s, cut anywhere", set, NSTREAMS, name);
}

/* A short stream of several blocks. */
static void pack_short(unsigned i)
{
	static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_BLOCK};
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
	size_t n = 1 + random_below(i % 3 ? 400 : 4000);

	fills[random_below(NFILLS)](n);
	pack(n, (int)random_below(10), strategies[random_below(4)], flushes[random_below(3)]);
}

static bool damage_is_right(void)
{
	struct cuts cuts = all_cuts[random_below(4)];

	ask_zlib();
	return is_right(BYTES, (struct cuts){0, 0}) &&
	       (takes_long(cuts, wanted.text_nbytes) || all_are_right(cuts)) &&
	       (with_window || wanted.result == DEFLATE_FULL ||
		(whole_is_right() && stream_is_right((struct cuts){1000, 3000})));
}

static void test_flips(const char *set)
{
	unsigned nflips = 0;
	bool right = true;

	for (unsigned i = 0; i < 8 && right; i++) {
		with_window = i & 1;
		fills[i % NFILLS](90);
		pack(90, 1 + (int)i % 9, i < 3 ? Z_FIXED : Z_DEFAULT_STRATEGY, i & 4 ? Z_SYNC_FLUSH : 0);
		for (size_t bit = 0; bit < packed_nbytes * 8 && right; bit++, nflips++) {
			packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
			right = damage_is_right();
			packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
	}
	ok(right, "%s: every bit of 8 streams flipped, %u in all", set, nflips);
}

/* Words that were not met would be words that are not tested. */
static const char *const all_words[] = {
	"invalid block type", "invalid stored block lengths", "too many length or distance symbols",
	"invalid code lengths set", "invalid bit length repeat",
	"invalid code -- missing end-of-block", "invalid literal/lengths set",
	"invalid distances set", "invalid literal/length code", "invalid distance code",
	"invalid distance too far back"};
#define NWORDS (sizeof all_words / sizeof *all_words)
static unsigned nmet[NWORDS];

static void note_words(void)
{
	for (size_t i = 0; i < NWORDS && wanted.result == DEFLATE_DAMAGED; i++)
		nmet[i] += strcmp(wanted.words, all_words[i]) == 0;
}

/* Changes some bytes, or the header, or cuts the end off. */
static void damage(void)
{
	if (packed_nbytes > 3 && random_below(3) == 0)
		packed[random_below(packed_nbytes < 60 ? (uint32_t)packed_nbytes : 60)] =
			(unsigned char)random_below(256);
	for (uint32_t n = random_below(4); n; n--)
		packed[random_below((uint32_t)packed_nbytes)] ^= (unsigned char)(1 << random_below(8));
	if (random_below(4) == 0)
		packed_nbytes = random_below((uint32_t)packed_nbytes) + 1;
}

static void test_damage(const char *set, unsigned nstreams)
{
	bool right = true;

	for (unsigned i = 0; i < nstreams && right; i++) {
		with_window = random_below(3) == 0;
		pack_short(i);
		for (unsigned k = 0; k < 8 && right; k++) {
			damage();
			right = damage_is_right();
			note_words();
		}
	}
	ok(right, "%s: %u damaged streams", set, 8 * nstreams);
}

/* Any bytes as blocks of each type. */
static void test_noise(const char *set, unsigned n)
{
	bool right = true;

	for (unsigned i = 0; i < n && right; i++) {
		with_window = i & 1;
		packed_nbytes = 1 + random_below(400);
		for (size_t k = 0; k < packed_nbytes; k++)
			packed[k] = (unsigned char)random_below(random_below(3) ? 256 : 4);
		packed[0] = (unsigned char)((packed[0] & ~7u) | i % 8);
		right = damage_is_right();
		note_words();
	}
	ok(right, "%s: %u blocks of noise", set, n);
}

/* Blocks of odd codes, cut behind every byte of the last 5. */
static void test_odd_blocks(const char *set, unsigned n)
{
	bool right = true;

	for (unsigned i = 0; i < n && right; i++) {
		with_window = i & 1;
		pack_odd_block();
		for (unsigned k = 0; k < 5 && packed_nbytes && right; k++, packed_nbytes--) {
			right = damage_is_right();
			note_words();
		}
	}
	ok(right, "%s: %u blocks of odd codes", set, n);
}

/* Matches with a window that is not there. */
static void test_forgotten_window(const char *set)
{
	unsigned nfar = 0;
	bool right = true;

	for (unsigned i = 0; i < 30 && right; i++) {
		size_t at = random_below(40000);
		fill_noise(WINDOW);
		memcpy(window, text, WINDOW);
		fill_csv(45000);
		memcpy(text + at, window + random_below(WINDOW - 300), 300);
		with_window = true;
		pack(45000, 9, Z_DEFAULT_STRATEGY, Z_NO_FLUSH);
		with_window = false;
		ask_zlib();
		right = is_right(BYTES, (struct cuts){0, 0}) && is_right(BYTES, (struct cuts){9000, 9000}) &&
			stream_is_right((struct cuts){9000, 9000});
		nfar += wanted.result == DEFLATE_DAMAGED && wanted.text_nbytes > 3000;
	}
	ok(right && nfar > 3, "%s: the window is missing, %u times late", set, nfar);
}

/* Stops at each block's header, and only there. */
static void test_boundaries(const char *set)
{
	uint64_t stop_bit = 0, at = 0;
	unsigned nblocks = 0;
	enum deflate_result result;

	with_window = false;
	fill_csv(TEXT_MAX);
	pack(TEXT_MAX, 6, Z_DEFAULT_STRATEGY, Z_FULL_FLUSH);
	ask_zlib();
	reset_output();
	deflate_begin(&decoder, packed, packed_nbytes, 0);
	do {
		at = deflate_bit(&decoder);
		result = deflate_bytes(&decoder, &byte_out, bytes + sizeof bytes - DEFLATE_SLACK,
				       bytes + WINDOW, stop_bit);
		stop_bit = deflate_bit(&decoder) + 1;
		if (result == DEFLATE_BOUNDARY) { /* another decoder can go on from here */
			nblocks++;
			deflate_begin(&decoder, packed, packed_nbytes, deflate_bit(&decoder));
		}
	} while (result == DEFLATE_BOUNDARY && (nblocks == 1 || deflate_bit(&decoder) > at));
	ok(result == DEFLATE_ENDED && nblocks > 5 &&
		   (size_t)(byte_out - bytes) - WINDOW == wanted.text_nbytes &&
		   memcmp(bytes + WINDOW, wanted.text, wanted.text_nbytes) == 0,
	   "%s: stops at each of %u blocks", set, nblocks);
}

static void test_all(const char *set)
{
	static const char *const names[NFILLS] = {"letters", "CSV", "repeats", "zeros", "noise", "a skewed code"};

	for (size_t i = 0; i < NFILLS; i++)
		test_texts(set, names[i], fills[i]);
	test_boundaries(set);
	test_flips(set);
	test_damage(set, 300);
	test_noise(set, 3000);
	test_odd_blocks(set, 600);
	test_forgotten_window(set);
}

int main(void)
{
	plan_lazy();
	simd_choose(NULL);
	const struct simd_ops *best = simd();
	test_all(best->name);
	simd_choose("portable");
	if (simd() != best)
		test_all("portable");
	for (size_t i = 0; i < NWORDS; i++)
		ok(nmet[i] > 0, "%s: met %u times", all_words[i], nmet[i]);
	return done();
}
