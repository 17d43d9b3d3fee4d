/* SPDX-License-Identifier: MIT
 *
 * test_simd.c - every instruction set against loops over bytes, between pages that trap.
 *
 * What a function may not touch lies on a page without access, so that one byte too many
 * ends the program. What it may read but must not heed is filled with what would mislead it.
 */
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decimal.h"
#include "simd.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NWORDS_MAX 257
#define NBYTES_MAX (NWORDS_MAX * SIMD_WORD_NBYTES)
static uint64_t random_state = 20261121;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static uint64_t random_word(void)
{
	return (uint64_t)random_below(1 << 22) << 44 | (uint64_t)random_below(1 << 22) << 22 |
	       random_below(1 << 22);
}

/* Memory with a page that traps before and behind it. */
struct arena { char *begin, *end; };

static struct arena arena_of(size_t nbytes_min)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t nbytes = (nbytes_min + page - 1) / page * page;
	char *all = mmap(NULL, nbytes + 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) != 0 ||
	    mprotect(all + page + nbytes, page, PROT_NONE) != 0)
		bail("no memory with pages that trap");
	return (struct arena){all + page, all + page + nbytes};
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

/* Whether ops->scan finds in text what a loop finds, and writes no word more. */
static bool scans(const struct simd_ops *ops, const char *text, size_t nwords, char delimiter)
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
	struct simd_counts counts = ops->scan(text, nwords, delimiter,
					      (struct simd_bits){separators, newlines, quotes});
	for (size_t k = 0; k < nwords; k++, text += SIMD_WORD_NBYTES) {
		same = same && separators[k] == plain_match(text, delimiter, '\n') &&
		       newlines[k] == plain_match(text, '\n', '\n') &&
		       quotes[k] == plain_match(text, '"', '"');
		nlines += (uint64_t)__builtin_popcountll(newlines[k]);
		any_quotes |= quotes[k];
	}
	return same && counts.nlines == nlines && (counts.nquotes != 0) == (any_quotes != 0) &&
	       separators[nwords] == poison && newlines[nwords] == poison &&
	       quotes[nwords] == poison;
}

/* As scans, of a text that lies `shift` bytes from either end of texts, less its padding. */
static bool scans_at_ends(const struct simd_ops *ops, size_t nwords, size_t shift, char delimiter)
{
	size_t nbytes = nwords * SIMD_WORD_NBYTES;

	if (scans(ops, texts.begin + SIMD_PAD_NBYTES + shift, nwords, delimiter) &&
	    scans(ops, texts.end - SIMD_PAD_NBYTES - shift - nbytes, nwords, delimiter))
		return true;
	diag("%zu words, shifted by %zu, delimiter 0x%02x", nwords, shift,
	     (unsigned char)delimiter);
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
						delimiters[nwords % COUNT(delimiters)]);
		for (size_t i = 0; i < 64 * 10 * COUNT(delimiters) && alignments; i++)
			alignments = scans_at_ends(ops, i / 64 % 10, i % 64, delimiters[i / 640]);
	}
	for (char *c = texts.begin; c < texts.end; c++)
		*c = (char)(c - texts.begin);
	for (int delimiter = 0; delimiter < 256 && bytes; delimiter++)
		bytes = scans_at_ends(ops, 4, 0, (char)delimiter);
	ok(lengths, "%s: scans 0 to %d words", ops->name, NWORDS_MAX);
	ok(alignments, "%s: scans a text at every alignment", ops->name);
	ok(bytes, "%s: scans for each byte among all bytes", ops->name);
}

/* ---- positions ---- */

/* A word with about one bit in 2^sparsity, or, below 0, all but so many. */
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

/* ---- fold ---- */

/* What a column comes to. */
struct column {
	struct decimal_fold fold;
	uint64_t nmissing;
};

static void clear(struct column *c)
{
	decimal_fold_clear(&c->fold);
	c->nmissing = 0;
}

static bool same(const struct column *a, const struct column *b)
{
	if (a->fold.count != b->fold.count || a->fold.scales != b->fold.scales ||
	    a->nmissing != b->nmissing)
		return false;
	for (unsigned s = 0; s < DECIMAL_NSCALES; s++)
		if ((a->fold.scales >> s & 1) != 0 &&
		    (a->fold.bin[s].sum != b->fold.bin[s].sum || a->fold.bin[s].min != b->fold.bin[s].min ||
		     a->fold.bin[s].max != b->fold.bin[s].max))
			return false;
	return true;
}

static bool has_only(const char *field, size_t nbytes, const char *others)
{
	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(field[i]) && !memchr(others, field[i], strlen(others)))
			return false;
	return true;
}

/* Folds a field into c. Returns false where that cannot be done; *must: whether ops->fold has
 * to do it as well. */
static bool plain_field(const char *field, size_t nbytes, bool drops_cr, struct column *c,
			bool *must)
{
	struct decimal x;

	nbytes -= drops_cr && nbytes > 0 && field[nbytes - 1] == '\r';
	*must = has_only(field, nbytes, "+-.") && nbytes <= 16;
	if (nbytes == 0) {
		c->nmissing++;
		return true;
	}
	if (!has_only(field, nbytes, "+-.eE") || decimal_parse(field, nbytes, &x) != DECIMAL_NUMBER)
		return false;
	decimal_fold_add(&c->fold, x);
	return true;
}

/* Whether ops->fold was right to do `seen` of nrows rows, folded into c. */
static bool right_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
		       bool drops_cr, size_t seen, struct column *c)
{
	struct column refused = {.nmissing = 0};
	bool must;

	for (size_t r = 0; r < seen && seen <= nrows; r++)
		if (!plain_field(text + (uint32_t)(ends[r * stride - 1] + 1),
				 ends[r * stride] - (uint32_t)(ends[r * stride - 1] + 1), drops_cr, c, &must))
			return false;
	if (seen >= nrows)
		return seen == nrows;
	ends += seen * stride;
	return !plain_field(text + (uint32_t)(ends[-1] + 1), ends[0] - (uint32_t)(ends[-1] + 1),
			    drops_cr, &refused, &must) || !must;
}

/* Whether ops->fold does with a field, alone in its text at either end of texts, what it
 * should: as the first, and after a number of scale 2. */
static bool folds_field(const struct simd_ops *ops, const char *field, size_t nbytes)
{
	const uint32_t ends[] = {UINT32_MAX, (uint32_t)nbytes};
	char *const places[] = {texts.begin + SIMD_PAD_NBYTES,
				texts.end - SIMD_PAD_NBYTES - nbytes};

	for (unsigned i = 0; i < 8; i++) {
		char *text = places[i & 1], saved[32];
		bool drops_cr = i & 2, right;
		struct column wanted, seen;
		clear(&wanted);
		clear(&seen);
		if (i & 4) {
			decimal_fold_add(&wanted.fold, (struct decimal){150, 2});
			decimal_fold_add(&seen.fold, (struct decimal){150, 2});
		}
		memcpy(saved, text, nbytes);
		memcpy(text, field, nbytes);
		size_t n = ops->fold(text, ends + 1, 1, 1, drops_cr, &seen.fold, &seen.nmissing);
		right = right_rows(text, ends + 1, 1, 1, drops_cr, n, &wanted) && same(&wanted, &seen);
		memcpy(text, saved, nbytes);
		if (!right) {
			diag("'%.*s' (%s CR, %s): rows %zu", (int)nbytes, field,
			     drops_cr ? "without" : "with", i & 4 ? "scale 2" : "first", n);
			return false;
		}
	}
	return true;
}

/* Every field of up to 5 bytes of an alphabet. */
static bool folds_short_fields(const struct simd_ops *ops)
{
	static const char alphabet[] = "+-.09e \"\r";
	const unsigned nletters = sizeof alphabet - 1;
	unsigned nfields = 1;

	for (size_t nbytes = 0; nbytes <= 5; nbytes++, nfields *= nletters)
		for (unsigned k = 0; k < nfields; k++) {
			char field[8];
			for (unsigned i = 0, rest = k; i < nbytes; i++, rest /= nletters)
				field[i] = alphabet[rest % nletters];
			if (!folds_field(ops, field, nbytes))
				return false;
		}
	return true;
}

/* Digits of every length up to 22, after each sign or none, with any byte at any place. */
static bool folds_long_fields(const struct simd_ops *ops)
{
	for (unsigned k = 0; k < 3 * 22 * 22 * 256; k++) {
		size_t nbytes = 1 + k / 256 / 22 % 22, at = k / 256 % 22;
		char field[22];
		if (at >= nbytes)
			continue;
		for (size_t i = 0; i < nbytes; i++)
			field[i] = (char)('0' + (k + 7 * i) % 10);
		field[0] = k / 256 / 22 / 22 == 0 ? field[0] : k / 256 / 22 / 22 == 1 ? '-' : '+';
		field[at] = (char)(k % 256);
		if (!folds_field(ops, field, nbytes))
			return false;
	}
	return true;
}

/* Writes a field of the given scale, but for one in `nth` another one. Returns its length. */
static size_t random_field(char *field, unsigned scale, uint32_t nth)
{
	static const char *const others[] = {"", "\r", " 1", "1 ", "1e2", "abc", "\"1\"", "+", "-",
		".", "1.", ".5", "1.2.3", "--1", "1-", "12345678901234567", "-123456789012345.6",
		"-1.234567890123456789",
		"1.648475732e-04", "1E2", "1e+3", "12e-40", "123456789012345678", "5e", "e5",
		"1\r\r", "1.5\r", "0.000", "-0", "nan", "0x1", "\xb1", "1,2", "1\n2",
		"9999999999999999"};
	static const char *const formats[] = {"%.*f", "%+.*f", "%08.*f", "%.*f\r"};
	double number = (double)random_below(200000) - 100000;

	if (random_below(nth) == 0)
		return (size_t)sprintf(field, "%s", others[random_below(COUNT(others))]);
	return (size_t)sprintf(field, formats[random_below(COUNT(formats))], (int)scale,
			       number / 7);
}

/* Whether ops->fold folds a column, in runs of random length, going on behind the row that
 * stopped it. */
static bool folds_column(const struct simd_ops *ops, const char *text, const uint32_t *ends,
			 size_t stride, size_t nrows, bool drops_cr)
{
	struct column wanted, seen;

	clear(&wanted);
	clear(&seen);
	for (size_t r = 0; r < nrows;) {
		size_t n = 1 + random_below((uint32_t)(nrows - r));
		const uint32_t *from = ends + r * stride;
		size_t ndone = ops->fold(text, from, stride, n, drops_cr, &seen.fold, &seen.nmissing);
		if (!right_rows(text, from, stride, n, drops_cr, ndone, &wanted) ||
		    !same(&wanted, &seen)) {
			diag("rows %zu to %zu, stride %zu: %zu done", r, r + n, stride, ndone);
			return false;
		}
		r += ndone + (ndone < n);
	}
	return true;
}

/* A table of random fields, its text starting or ending where the padding does. */
static bool folds_table(const struct simd_ops *ops, size_t stride, uint32_t nth, bool at_end)
{
	static char fields[1 << 15];
	uint32_t ends[1 + 7 * 64] = {UINT32_MAX}, nbytes = 0;
	size_t nrows = 1 + random_below(64);
	bool right = true, drops_cr = random_below(2);

	for (size_t i = 1; i <= stride * nrows; i++) {
		nbytes += (uint32_t)random_field(fields + nbytes, (unsigned)(i % stride), nth);
		ends[i] = nbytes;
		fields[nbytes++] = i % stride ? ',' : '\n';
	}
	char *text = at_end ? texts.end - SIMD_PAD_NBYTES - nbytes : texts.begin + SIMD_PAD_NBYTES;
	memcpy(text, fields, nbytes);
	for (size_t column = 0; column < stride && right; column++)
		right = folds_column(ops, text, ends + 1 + column, stride, nrows, drops_cr);
	return right;
}

/* A sum that needs more than 64 bits: 950 times 10^16 - 1. */
static bool folds_large_sum(const struct simd_ops *ops)
{
	uint32_t ends[1 + 950] = {UINT32_MAX};
	char *text = texts.begin + SIMD_PAD_NBYTES;
	struct column wanted, seen;

	clear(&wanted);
	clear(&seen);
	for (uint32_t r = 0; r < 950; r++) {
		memcpy(text + 17 * r, "9999999999999999\n", 17);
		ends[1 + r] = 17 * r + 16;
	}
	return ops->fold(text, ends + 1, 1, 950, false, &seen.fold, &seen.nmissing) == 950 &&
	       right_rows(text, ends + 1, 1, 950, false, 950, &wanted) && same(&wanted, &seen);
}

static void test_fold(const struct simd_ops *ops)
{
	static const char fills[] = {'7', '.', '-', '\r'};
	bool short_fields = true, long_fields = true, tables = true;

	for (unsigned i = 0; i < COUNT(fills); i++) {
		memset(texts.begin, fills[i], (size_t)(texts.end - texts.begin));
		short_fields = short_fields && folds_short_fields(ops);
		long_fields = long_fields && folds_long_fields(ops);
	}
	for (unsigned i = 0; i < 7 * 300 && tables; i++)
		tables = folds_table(ops, 1 + i % 7, i % 3 ? 3 : 200, i & 1);
	ok(short_fields, "%s: folds every short field of an alphabet", ops->name);
	ok(long_fields, "%s: folds long fields with any byte at any place", ops->name);
	ok(folds_large_sum(ops), "%s: folds to a sum of more than 64 bits", ops->name);
	ok(tables, "%s: folds columns of tables in runs", ops->name);
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

static const struct simd_ops *named(const char *name)
{
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	return NULL;
}

static void test_all(const char *name)
{
	const unsigned long nchecks = 9;
	const struct simd_ops *ops = named(name);

	test_choice(name, ops);
	if (!ops)
		return skip(nchecks, "%s: not of this architecture", name);
	if (!simd_runs(ops))
		return skip(nchecks, "%s: this CPU has not got it", name);
	test_scan(ops);
	test_positions(ops);
	test_fold(ops);
}

int main(void)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "portable"};

	texts = arena_of(NBYTES_MAX + 2 * SIMD_PAD_NBYTES + 64);
	words = arena_of(NWORDS_MAX * sizeof(uint64_t));
	numbers = arena_of((NWORDS_MAX * 64 + 64 + 1) * sizeof(uint32_t));
	plan(1 + COUNT(names) * 11 + 3);
	test_default();
	for (size_t i = 0; i < COUNT(names); i++)
		test_all(names[i]);
	test_best();
	return done();
}
