/* SPDX-License-Identifier: MIT
 *
 * test_simd.c - every instruction set against loops over bytes, between pages that trap: bitmaps,
 * nibbles, positions, and which set is chosen. The fold of numbers is in test_simd_fold.c.
 */
#include <inttypes.h>

#include "simd_test.h"

#define NWORDS_MAX 257
#define NBYTES_MAX (NWORDS_MAX * SIMD_WORD_NBYTES)
static uint64_t random_word(void)
{
	return (uint64_t)random_below(1 << 22) << 44 | (uint64_t)random_below(1 << 22) << 22 |
	       random_below(1 << 22);
}

static struct arena texts, words, numbers;

/* ---- scan ---- */

/* Bytes of interest and those that differ from one in a single bit. */
static const char near_bytes[] = "\n\",;\t|\r \0\x8a\xa2\xac\xbb\x89\xff\x80\x0b\x08\x23\x2d\x24";

/* Fills all of texts: bytes of any value, only bytes of interest, a few of them, one of them. */
static void fill_texts(unsigned kind)
{
	char one = near_bytes[random_below(sizeof near_bytes - 1)];

	for (char *c = texts.begin; c < texts.end; c++) {
		char near = near_bytes[random_below(sizeof near_bytes - 1)];
		*c = kind == 0 ? (char)random_below(256) : kind == 1 ? near : kind == 2 ? 'x' : one;
		if (kind == 2 && random_below(30) == 0)
			*c = near;
	}
}

/* Bit i of the result: whether text[i] is one of the two bytes. */
static uint64_t plain_match(const char *text, char one, char other)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < SIMD_WORD_NBYTES; i++)
		bits |= (uint64_t)(text[i] == one || text[i] == other) << i;
	return bits;
}

/* Whether ops->classify makes the bitmaps that a loop makes, and writes no word past them. */
static bool scans(const struct simd_ops *ops, const char *text, size_t nwords, char delimiter,
		  char quote)
{
	static uint64_t separators[NWORDS_MAX + 1], newlines[NWORDS_MAX + 1];
	static uint64_t quotes[NWORDS_MAX + 1];
	const uint64_t poison = UINT64_C(0x5eed5eed5eed5eed);
	uint64_t nlines = 0, any_quotes = 0;
	bool same = true;

	memset(separators, 0x5a, sizeof separators);
	memset(newlines, 0x5a, sizeof newlines);
	memset(quotes, 0x5a, sizeof quotes);
	separators[nwords] = newlines[nwords] = quotes[nwords] = poison;
	struct simd_counts counts = ops->classify(text, nwords, delimiter, quote,
					      (struct simd_bits){separators, newlines, quotes});
	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		same = same && separators[k] == plain_match(text, delimiter, '\n') &&
		       newlines[k] == plain_match(text, '\n', '\n') &&
		       quotes[k] == plain_match(text, quote, quote);
		nlines += (uint64_t)__builtin_popcountll(newlines[k]);
		any_quotes |= quotes[k];
	}
	return same && counts.nlines == nlines && (counts.nquotes != 0) == (any_quotes != 0) &&
	       separators[nwords] == poison && newlines[nwords] == poison &&
	       quotes[nwords] == poison;
}

/* Like scans(), for a text `shift` bytes from the padding at each end of texts. */
static bool scans_at_ends(const struct simd_ops *ops, size_t nwords, size_t shift, char delimiter,
			  char quote)
{
	size_t nbytes = nwords * SIMD_WORD_NBYTES;

	if (scans(ops, texts.begin + SIMD_PAD_NBYTES + shift, nwords, delimiter, quote) &&
	    scans(ops, texts.end - SIMD_PAD_NBYTES - shift - nbytes, nwords, delimiter,
		  quote))
		return true;
	diag("%zu words, shifted by %zu, delimiter 0x%02x, quote 0x%02x", nwords, shift,
	     (unsigned char)delimiter, (unsigned char)quote);
	return false;
}

static void test_scan(const struct simd_ops *ops)
{
	static const char delimiters[] = {',', ';', '\t', '|', '\xac', '\xff'};
	bool lengths = true, alignments = true, bytes = true;

	for (unsigned kind = 0; kind < 4; kind++) {
		fill_texts(kind);
		for (size_t nwords = 0; nwords <= NWORDS_MAX && lengths; nwords++)
			lengths = scans_at_ends(ops, nwords, 0,
						delimiters[nwords % COUNT(delimiters)], '"');
		for (size_t i = 0; i < 64 * 10 * COUNT(delimiters) && alignments; i++)
			alignments = scans_at_ends(ops, i / 64 % 10, i % 64, delimiters[i / 640],
						   "\"'\xa2"[i % 3]);
	}
	for (char *c = texts.begin; c < texts.end; c++)
		*c = (char)(c - texts.begin);
	for (int delimiter = 0; delimiter < 256 && bytes; delimiter++)
		bytes = scans_at_ends(ops, 4, 0, (char)delimiter, (char)(delimiter * 7));
	ok(lengths, "%s: scans 0 to %d words", ops->name, NWORDS_MAX);
	ok(alignments, "%s: scans a text at every alignment", ops->name);
	ok(bytes, "%s: scans for each byte among all bytes", ops->name);
}

/* ---- pack ---- */

/* Whether ops->pack returns whether every byte is a letter, packs the text as a loop does, and
 * writes no byte past it. */
static bool packs(const struct simd_ops *ops, const char *text, size_t nwords,
		  const unsigned char letters[16])
{
	static unsigned char packed[NBYTES_MAX / 2 + 1];
	size_t nbytes = nwords * SIMD_WORD_NBYTES;
	bool all = true, same = true;

	packed[nbytes / 2] = 0x5a;
	bool said = ops->pack(text, nwords, letters, packed);
	for (size_t i = 0; i < nbytes; i++) {
		unsigned char byte = (unsigned char)text[i];
		all = all && letters[byte & 15] == byte;
		same = same && (packed[i / 2] >> i % 2 * 4 & 15) == (byte & 15);
	}
	return said == all && (same || !all) && packed[nbytes / 2] == 0x5a;
}

static void test_pack(const struct simd_ops *ops)
{
	static const unsigned char letters[17] = "@abC456\xb7\x88\xf9\n+,-./";
	bool right = true;

	for (size_t nwords = 0; nwords <= NWORDS_MAX && right; nwords++) {
		char *text = nwords % 2 ? texts.begin : texts.end - nwords * SIMD_WORD_NBYTES;
		for (size_t i = 0; i < nwords * SIMD_WORD_NBYTES; i++)
			text[i] = (char)letters[random_below(16)];
		right = packs(ops, text, nwords, letters);
		for (unsigned n = 0; n < 20 && nwords > 0 && right; n++) {
			char *at = text + random_below((uint32_t)(nwords * SIMD_WORD_NBYTES));
			char was = *at;
			*at ^= (char)(1 << random_below(8));
			right = packs(ops, text, nwords, letters);
			*at = was;
		}
	}
	ok(right, "%s: packs 0 to %d words, and sees any other byte", ops->name, NWORDS_MAX);
}

/* ---- positions ---- */

/* A word with one bit set in about 2^sparsity; if sparsity < 0, one bit clear in 2^-sparsity. */
static uint64_t random_bits(int sparsity)
{
	uint64_t bits = ~UINT64_C(0);

	for (int i = 0; i < (sparsity < 0 ? -sparsity : sparsity); i++)
		bits &= random_word();
	return sparsity < 0 ? ~bits : bits;
}

/* Whether ops->positions lists the bits of the last nwords of words. The list is given room
 * for 64 more before the page that traps; what stands before it must stay. */
static bool lists(const struct simd_ops *ops, size_t nwords, uint32_t base)
{
	const uint64_t *bits = (const uint64_t *)(void *)words.end - nwords;
	size_t wanted = 0, seen, at = 0;

	for (size_t k = 0; k < nwords; k++)
		wanted += (size_t)__builtin_popcountll(bits[k]);
	if (ops->count(bits, nwords) != wanted)
		return false;
	memset(numbers.begin, 0x5a, (size_t)(numbers.end - numbers.begin));
	uint32_t *out = (uint32_t *)(void *)numbers.end - wanted - 64;
	seen = ops->positions(bits, nwords, base, out);
	for (size_t i = 0; i < nwords * 64 && seen == wanted; i++)
		if (bits[i / 64] >> i % 64 & 1 && out[at++] != (uint32_t)(base + i))
			seen = at - 1;
	if (seen == wanted && out[-1] == 0x5a5a5a5a)
		return true;
	diag("%zu words, base %" PRIu32 ": the first %zu of %zu are right", nwords, base, seen,
	     wanted);
	return false;
}

static void test_positions(const struct simd_ops *ops)
{
	static const uint32_t bases[] = {0, 1, 64, 0x7fffffc0, 0xffffffc0, 0xffffffff};
	uint64_t *last = (uint64_t *)(void *)words.end - 1;
	bool densities = true, singles = true;

	for (int sparsity = -6; sparsity <= 8; sparsity++) {
		for (uint64_t *word = (uint64_t *)(void *)words.begin; word <= last; word++)
			*word = sparsity == 8 ? 0 : random_bits(sparsity);
		for (size_t nwords = 0; nwords <= NWORDS_MAX && densities; nwords++)
			densities = lists(ops, nwords, bases[nwords % COUNT(bases)]);
	}
	for (unsigned i = 0; i < 64 * 64 * COUNT(bases) && singles; i++) {
		last[-1] = UINT64_C(1) << i % 64;
		last[0] = last[-1] | UINT64_C(1) << i / 64 % 64;
		singles = lists(ops, 2, bases[i / 4096]);
	}
	ok(densities, "%s: lists bits of every density, 0 to %d words", ops->name, NWORDS_MAX);
	ok(singles, "%s: lists any one and any two bits of a word", ops->name);
}

/* ---- short texts ---- */

/* Whether ops->short_texts writes a field of nrows rows of up to two fields, of up to 20 bytes, as a loop does. The first field
 * may be empty, with ends that are -1 and 0. crs: one in so many records ends with CR LF; 0: none. */
static bool shortens(const struct simd_ops *ops, size_t nrows, size_t nfields, size_t field, unsigned crs)
{
	static const char bytes[] = "ab\"\r\x80\xff";
	const uint64_t poison = UINT64_C(0x5eed5eed5eed5eed);
	uint64_t out[SIMD_NUMBERS_NROWS + 1][2], others, wanted = 0;
	uint32_t memory[2 * SIMD_NUMBERS_NROWS + 1], *ends = memory + 1, at = 0;
	char *text = texts.begin + SIMD_PAD_NBYTES;
	bool same = true, first_has_cr = false;

	ends[-1] = UINT32_MAX;
	for (size_t i = 0; i < nfields * nrows; i++) {
		bool is_last = i % nfields == nfields - 1;
		for (unsigned n = i == 0 && random_below(2) ? 0 : random_below(random_below(2) ? 4 : 21); n > 0; n--)
			text[at++] = bytes[random_below(sizeof bytes - 1)];
		if (is_last && crs && random_below(crs) == 0)
			text[at++] = '\r';
		ends[i] = at;
		text[at++] = is_last ? '\n' : ',';
	}
	out[nrows][0] = out[nrows][1] = poison;
	others = ops->short_texts(text, ends + field, nfields, nrows, field == nfields - 1, '"', out);
	for (size_t r = 0; r < nrows && same; r++) {
		char expected[16] = {0};
		const uint32_t *end = ends + nfields * r + field;
		uint32_t begin = end[-1] + 1, n = end[0] - begin;
		bool has_cr = field == nfields - 1 && n > 0 && text[begin + n - 1] == '\r', may;
		n -= has_cr;
		first_has_cr = r == 0 ? has_cr : first_has_cr;
		may = n > SIMD_SHORT_NBYTES || text[begin] == '"';
		wanted |= (uint64_t)may << r;
		if (others >> r & 1) {
			same = may || has_cr != first_has_cr;
			continue;
		}
		memcpy(expected, text + begin, n < 15 ? n : 15);
		expected[15] = (char)(n + 1);
		same = memcmp(out[r], expected, sizeof expected) == 0;
	}
	return same && (wanted & ~others) == 0 && out[nrows][0] == poison && out[nrows][1] == poison;
}

static void test_short_texts(const struct simd_ops *ops)
{
	static const unsigned crs[] = {0, 1, 2, 30};
	bool good = true;

	for (unsigned i = 0; i < 4000 && good; i++)
		good = shortens(ops, 1 + i % SIMD_NUMBERS_NROWS, 1 + i / 512 % 2, i / 512 % 2 && i / 256 % 2, crs[i / 64 % COUNT(crs)]);
	ok(good, "%s: writes texts of up to %d bytes, and finds others", ops->name, SIMD_SHORT_NBYTES);
}

/* ---- the choice ---- */

/* Before anyone has chosen. */
static void test_default(void)
{
	const struct simd_ops *const *first = simd_all;

	while (!simd_runs(*first))
		first++;
	ok(simd() == *first, "the best that runs here is used: %s", simd()->name);
}

/* Whether name is taken if and only if it can be, and otherwise what was chosen stays. */
static void test_choice(const char *name, const struct simd_ops *ops)
{
	const struct simd_ops *before = simd();
	bool runs = ops && simd_runs(ops);

	ok(simd_choose(name) == runs, "%s: %s", name, runs ? "can be chosen" : "cannot be chosen");
	ok(simd() == (runs ? ops : before), "%s: %s", name, runs ? "is used" : "is not used");
}

static void test_best(void)
{
	const struct simd_ops *best;

	ok(simd_choose(NULL), "the best can be chosen");
	best = simd();
	ok(simd_choose("portable") && simd_choose("") && simd() == best, "and again, by no name");
	ok(!simd_choose("abacus") && simd() == best, "an unknown name cannot");
}

static void test_all(const char *name)
{
	const unsigned long nchecks = 7;
	const struct simd_ops *ops = simd_named(name);

	test_choice(name, ops);
	if (!ops)
		return skip(nchecks, "%s: not of this architecture", name);
	if (!simd_runs(ops))
		return skip(nchecks, "%s: this CPU has not got it", name);
	test_scan(ops);
	test_pack(ops);
	test_positions(ops);
	test_short_texts(ops);
}

int main(void)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "portable"};

	texts = arena_of(NBYTES_MAX + 2 * SIMD_PAD_NBYTES + 64);
	words = arena_of(NWORDS_MAX * sizeof(uint64_t));
	numbers = arena_of((NWORDS_MAX * 64 + 64 + 1) * sizeof(uint32_t));
	plan(1 + COUNT(names) * 9 + 3);
	test_default();
	for (size_t i = 0; i < COUNT(names); i++)
		test_all(names[i]);
	test_best();
	return done();
}
