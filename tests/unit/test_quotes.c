/* SPDX-License-Identifier: MIT
 *
 * test_quotes.c - quotes worked out on bitmaps, against the automaton, byte by byte.
 */
#include "csv/dfa.h"
#include "csv/rows.h"
#include "tap.h"

#define NWORDS 16
#define NBYTES_MAX (NWORDS * SIMD_WORD_NBYTES)
#define NTEXTS 300000

static uint64_t random_state = 20261121;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* A text and its bitmaps, made a byte at a time. */
struct sample {
	char text[NBYTES_MAX];
	size_t nbytes;
	uint64_t separators[NWORDS], newlines[NWORDS], quotes[NWORDS];
};

static void sample_scan(struct sample *s)
{
	memset(s->separators, 0, sizeof s->separators);
	memset(s->newlines, 0, sizeof s->newlines);
	memset(s->quotes, 0, sizeof s->quotes);
	for (size_t i = 0; i < s->nbytes; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;
		enum csv_class c = csv_classify((unsigned char)s->text[i], ',', '"');
		if (c == CSV_DELIMITER || c == CSV_NEWLINE)
			s->separators[i / 64] |= bit;
		if (c == CSV_NEWLINE)
			s->newlines[i / 64] |= bit;
		if (c == CSV_QUOTE)
			s->quotes[i / 64] |= bit;
	}
}

/* Random text of 6 byte values. A greater rarity gives fewer quotes and longer quoted parts. */
static void sample_random(struct sample *s, size_t nbytes_max)
{
	static const char bytes[] = {',', '\n', 'a', 'b', ' '};
	uint32_t rarity = 1 + random_below(30);

	s->nbytes = random_below((uint32_t)nbytes_max + 1);
	for (size_t i = 0; i < s->nbytes; i++)
		s->text[i] = random_below(rarity) < 2 ? '"' : bytes[random_below(sizeof bytes)];
	sample_scan(s);
}

/* Valid records, cut at both ends. Quoted fields hold delimiters, LFs and quotes. */
static void sample_regular(struct sample *s, size_t nbytes_max)
{
	static const char *const fields[] = {"1", "", "\"a,b\"", "\"\"", "\"x\"\"y\"", "\"\n\"",
		"\"\"\"\"", "abc", "\",\"\"\n\""};
	char text[2 * NBYTES_MAX];
	size_t n = 0, begin;

	while (n < NBYTES_MAX + 64) {
		n += (size_t)sprintf(text + n, "%s", fields[random_below(9)]);
		text[n++] = random_below(4) ? ',' : '\n';
	}
	begin = random_below(64);
	s->nbytes = random_below((uint32_t)nbytes_max + 1);
	memcpy(s->text, text + begin, s->nbytes);
	sample_scan(s);
}

static const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};

static struct dialect_bits bits_of(struct sample *s)
{
	return (struct dialect_bits){{s->separators, s->newlines, s->quotes}, NULL, NULL, NULL};
}

static csv_map map_of(const struct sample *s)
{
	csv_map map = CSV_MAP_IDENTITY;

	for (size_t i = 0; i < s->nbytes; i++)
		map = csv_map_compose(map, csv_map_of(csv_classify((unsigned char)s->text[i], ',', '"')));
	return map;
}

/* Whether words [begin, end) keep exactly the separators outside quotes, and have in quotes exactly
 * the bytes that may be stray, for a text entered in `state`. before: the sample before any were cleared. */
static bool resolved(const struct sample *s, const struct sample *before, enum csv_state state,
		     size_t begin, size_t end)
{
	for (size_t i = 0; i < s->nbytes; i++) {
		bool was = before->separators[i / 64] >> i % 64 & 1;
		bool is = s->separators[i / 64] >> i % 64 & 1;
		enum csv_class c = csv_classify((unsigned char)s->text[i], ',', '"');
		bool stray = (state == CSV_QUOTE_SEEN && c == CSV_OTHER) ||
			     (state == CSV_UNQUOTED && c == CSV_QUOTE);
		if (i / 64 >= begin && i / 64 < end &&
		    (is != (was && csv_outside_quotes(state)) ||
		     stray != (s->quotes[i / 64] >> i % 64 & 1)))
			return false;
		state = csv_step(state, c);
	}
	return true;
}

/* Whether words [begin, end) of the quotes have a bit set. */
static bool has_bits(const struct sample *s, size_t begin, size_t end)
{
	for (size_t k = begin; k < end; k++)
		if (s->quotes[k])
			return true;
	return false;
}

/* Checks map and resolving of one text; *nwords counts the words that need no entry. */
static bool text_is_right(struct sample *s, uint64_t *nwords)
{
	struct sample before = *s;
	size_t nall = (s->nbytes + 63) / 64, first;
	csv_map wanted = map_of(s);
	struct dialect_bits bits = bits_of(s);
	bool strays, right;
	csv_full_map map = quotes_map(&dialect, &bits, s->nbytes, true, &first, &strays);

	right = strays == has_bits(s, first, nall);

	for (unsigned state = 0; state < CSV_NSTATES && right; state++) {
		struct sample again = before, rest = *s;
		struct dialect_bits again_bits = bits_of(&again), rest_bits = bits_of(&rest);
		right = csv_full_map_apply(map, (enum csv_state)state) == csv_map_apply(wanted, (enum csv_state)state) &&
			quotes_resolve(&again_bits, nall, (enum csv_state)state) == has_bits(&again, 0, nall) &&
			quotes_resolve(&rest_bits, first, (enum csv_state)state) == has_bits(&rest, 0, first) &&
			resolved(s, &before, (enum csv_state)state, first, nall) &&
			resolved(&again, &before, (enum csv_state)state, 0, nall) &&
			resolved(&rest, &before, (enum csv_state)state, 0, nall);
	}
	*nwords += nall - first;
	return right;
}

static void test_texts(void (*make)(struct sample *, size_t), const char *what,
		       uint64_t nwords_min)
{
	static const size_t lengths[] = {3, 12, 70, 130, NBYTES_MAX};
	struct sample s;
	uint64_t nwords = 0;
	unsigned i;

	for (i = 0; i < NTEXTS; i++) {
		make(&s, lengths[i % 5]);
		if (!text_is_right(&s, &nwords))
			break;
	}
	ok(i == NTEXTS, "maps and separators of %s texts", what);
	if (i < NTEXTS)
		diag("%.*s", (int)s.nbytes, s.text);
	ok(nwords >= nwords_min, "and %llu of their words need no entry", (unsigned long long)nwords);
}

/* Random quotes and separators in words [0, NWORDS). With few quotes, parity often decides. */
static void sample_bits(struct sample *s)
{
	uint32_t rarity = 1 + random_below(40), openers = random_below(100);

	memset(s, 0, sizeof *s);
	for (unsigned i = 0; i < NBYTES_MAX; i++) {
		bool quote = random_below(rarity) == 0, separator = random_below(4) == 0;
		if (quote && i > 0 && random_below(100) < openers)
			s->separators[(i - 1) / 64] |= UINT64_C(1) << (i - 1) % 64;
		s->quotes[i / 64] |= (uint64_t)quote << i % 64;
		s->separators[i / 64] |= (uint64_t)(separator && !quote) << i % 64;
		s->newlines[i / 64] |= (uint64_t)(separator && !quote && random_below(2)) << i % 64;
	}
}

/* Like ops->clear_quoted, one bit at a time. Clears the bits in *s. */
static size_t plain_clear_quoted(struct sample *s, size_t nwords, struct simd_quotes *at)
{
	struct simd_quotes next = *at;

	for (size_t k = 0; k < nwords; k++) {
		uint64_t inside = 0, strays = 0;
		for (unsigned i = 0; i < 64; i++) {
			bool quote = s->quotes[k] >> i & 1, separator = s->separators[k] >> i & 1;
			if (quote && !next.inside && !next.may_open)
				return k;
			strays |= (next.closed && !quote && !separator ? UINT64_C(1) : 0) << i;
			next.inside ^= -(uint64_t)quote;
			next.closed = quote && !next.inside;
			next.may_open = quote || separator;
			inside |= next.inside & UINT64_C(1) << i;
		}
		s->separators[k] &= ~inside;
		s->newlines[k] &= ~inside;
		s->quotes[k] = strays;
		next.strays |= strays;
		*at = next;
	}
	return nwords;
}

/* Compares ops->clear_quoted with the plain version, for every density and entry state. */
static void test_clear_quoted(const struct simd_ops *ops)
{
	uint64_t nall = 0, nstopped = 0;
	bool right = true;

	for (unsigned i = 0; i < 60000 && right; i++) {
		struct sample seen, wanted;
		size_t nwords = random_below(NWORDS + 1), n;
		struct simd_quotes at = {.inside = -(uint64_t)(i & 1), .may_open = i >> 1 & 1,
					 .closed = (i & 7) == 6}, wanted_at = at;
		sample_bits(&seen);
		wanted = seen;
		n = ops->clear_quoted(bits_of(&seen).simd, nwords, &at);
		right = n == plain_clear_quoted(&wanted, nwords, &wanted_at) &&
			memcmp(&seen, &wanted, sizeof seen) == 0 && at.inside == wanted_at.inside &&
			at.may_open == wanted_at.may_open && at.closed == wanted_at.closed &&
			(at.strays != 0) == (wanted_at.strays != 0);
		nall += n;
		nstopped += n < nwords;
	}
	ok(right && nall > 20000 && nstopped > 5000,
	   "%s: %llu words of quotes, %llu in which one may not open a field", ops->name,
	   (unsigned long long)nall, (unsigned long long)nstopped);
}

int main(void)
{
	plan_lazy();
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		if (simd_runs(*ops))
			test_clear_quoted(*ops);
	test_texts(sample_random, "random", 1000);
	test_texts(sample_regular, "regular", NTEXTS);
	return done();
}
