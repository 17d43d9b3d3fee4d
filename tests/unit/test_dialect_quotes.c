/* SPDX-License-Identifier: MIT
 *
 * test_dialect_quotes.c - escapes, comments, blanks and quotes worked out on bitmaps, against the automaton
 * of all states, byte by byte; and the laws of its maps.
 */
#include "csv/dfa.h"
#include "csv/rows.h"
#include "tap.h"

#define NWORDS 16
#define NBYTES_MAX (NWORDS * SIMD_WORD_NBYTES)
#define NTEXTS 40000

static uint64_t random_state = 20261121;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static const struct csv_dialect dialects[] = {
	{.delimiter = ',', .quote = '"', .escape = '\\'},
	{.delimiter = ',', .quote = '"', .comment = '#'},
	{.delimiter = ',', .quote = '\'', .escape = '^', .comment = '%'},
	{.delimiter = '\t', .escape = '\\'},
	{.delimiter = ';', .comment = '#'},
	{.delimiter = '|', .escape = '\\', .comment = '/'},
	{.delimiter = ',', .quote = '"', .trim = true},
	{.delimiter = '\t', .quote = '"', .escape = '\\', .comment = '#', .trim = true},
	{.delimiter = ',', .trim = true},
};
#define NDIALECTS (sizeof dialects / sizeof *dialects)

/* Whether a text in the dialect can be entered in this state. */
static bool has_state(const struct csv_dialect *d, enum csv_state state)
{
	switch (state) {
	case CSV_QUOTED:
	case CSV_QUOTE_SEEN:
		return d->quote;
	case CSV_COMMENT:
		return d->comment;
	case CSV_ESCAPED:
		return d->escape;
	case CSV_ESCAPED_QUOTED:
		return d->quote && d->escape;
	default:
		return true;
	}
}

/* A text and its bitmaps, as rows.c makes them, a byte at a time. */
struct sample {
	const struct csv_dialect *dialect;
	char text[NBYTES_MAX];
	size_t nbytes;
	bool has_quotes;
	uint64_t separators[NWORDS], newlines[NWORDS], quotes[NWORDS], escapes[NWORDS];
	uint64_t comments[NWORDS], blanks[NWORDS];
};

static struct dialect_bits bits_of(struct sample *s)
{
	return (struct dialect_bits){{s->separators, s->newlines, s->quotes}, s->escapes,
				     s->comments, s->dialect->trim ? s->blanks : NULL};
}

static enum csv_class class_at(const struct sample *s, size_t i)
{
	return csv_dialect_classify(s->dialect, s->text[i]);
}

static void sample_scan(struct sample *s)
{
	size_t begin = offsetof(struct sample, separators);
	struct dialect_bits bits = bits_of(s);

	memset((char *)s + begin, 0, sizeof *s - begin);
	s->has_quotes = false;
	for (size_t i = 0; i < s->nbytes; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;
		enum csv_class c = class_at(s, i);
		s->separators[i / 64] |= c == CSV_DELIMITER || c == CSV_NEWLINE ? bit : 0;
		s->newlines[i / 64] |= c == CSV_NEWLINE ? bit : 0;
		s->quotes[i / 64] |= c == CSV_QUOTE ? bit : 0;
		s->escapes[i / 64] |= c == CSV_ESCAPE || c == CSV_NEWLINE ? bit : 0;
		s->comments[i / 64] |= c == CSV_COMMENT_SIGN ? bit : 0;
		s->blanks[i / 64] |= c == CSV_BLANK ? bit : 0;
		s->has_quotes |= c == CSV_QUOTE;
	}
	quotes_prepare(s->dialect, &bits, NWORDS);
}

/* Random text. Each byte of interest has a rarity of its own, and runs of one are common. */
static void sample_random(struct sample *s, size_t nbytes_max)
{
	const struct csv_dialect *d = s->dialect;
	const char bytes[] = {d->delimiter, '\n', d->quote, d->escape, d->comment, 'a', '\r',
			      d->trim ? ' ' : 'b'};
	uint32_t weights[sizeof bytes], all = 0;

	for (size_t i = 0; i < sizeof bytes; i++)
		all += weights[i] = random_below(4) ? 1 + random_below(12) : 0;
	weights[5] += 1 + random_below(60);
	s->nbytes = random_below((uint32_t)nbytes_max + 1);
	for (size_t i = 0; i < s->nbytes;) {
		uint32_t at = random_below(all + weights[5]), n = 1, k = 0;
		while (k + 1 < sizeof bytes && at >= weights[k])
			at -= weights[k++];
		if (random_below(6) == 0)
			n = 1 + random_below(5) * random_below(30);
		for (; n > 0 && i < s->nbytes; n--)
			s->text[i++] = bytes[k];
	}
	sample_scan(s);
}

/* The map of `earlier`'s text followed by `later`'s. */
static csv_full_map compose_maps(csv_full_map earlier, csv_full_map later)
{
	csv_full_map map = {0};

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		map = csv_full_map_with(map, (enum csv_state)s,
					csv_full_map_apply(later, csv_full_map_apply(
									  earlier, (enum csv_state)s)));
	return map;
}

static csv_full_map map_of(const struct sample *s)
{
	csv_full_map map = csv_full_map_identity();

	for (size_t i = 0; i < s->nbytes; i++) {
		csv_full_map one = csv_full_map_identity();
		for (unsigned state = 0; state < CSV_NSTATES_FULL; state++)
			one = csv_full_map_with(one, (enum csv_state)state,
						csv_full_step((enum csv_state)state, class_at(s, i)));
		map = compose_maps(map, one);
	}
	return map;
}

static bool bit_at(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Whether words [begin, end) keep exactly the separators that end something, and have in quotes the
 * bytes that may be stray, for a text entered in `state`. */
static bool resolved(const struct sample *s, enum csv_state state, size_t begin, size_t end)
{
	for (size_t i = 0; i < s->nbytes; i++) {
		enum csv_class c = class_at(s, i);
		enum csv_state before = state;
		bool ends_field, ends_record, strays;
		state = csv_full_step(state, c);
		ends_record = c == CSV_NEWLINE && state == CSV_RECORD_START;
		ends_field = ends_record || (c == CSV_DELIMITER && state == CSV_FIELD_START);
		strays = c == CSV_QUOTE ? before == CSV_UNQUOTED : before == CSV_QUOTE_SEEN && !ends_field;
		if (i / 64 < begin || i / 64 >= end)
			continue;
		if (bit_at(s->separators, i) != ends_field ||
		    bit_at(s->newlines, i) != ends_record ||
		    bit_at(s->quotes, i) != strays)
			return false;
	}
	return true;
}

/* Checks map and resolving of one text; *nwords counts the words that need no entry. */
static bool text_is_right(struct sample *s, uint64_t *nwords)
{
	struct sample before = *s;
	struct dialect_bits bits = bits_of(s);
	size_t nall = (s->nbytes + 63) / 64, first;
	csv_full_map wanted = map_of(s), seen;
	bool strays, right = true;

	seen = quotes_map(s->dialect, &bits, s->nbytes, s->has_quotes, &first, &strays);
	for (unsigned i = 0; i < CSV_NSTATES_FULL && right; i++) {
		enum csv_state state = (enum csv_state)i;
		bool in_quotes = state == CSV_QUOTED || state == CSV_ESCAPED_QUOTED;
		struct sample again = before, rest = *s;
		struct dialect_bits again_bits = bits_of(&again), rest_bits = bits_of(&rest);
		if (!has_state(s->dialect, state))
			continue;
		quotes_resolve(&again_bits, nall, state);
		quotes_resolve(&rest_bits, first, state);
		right = csv_full_map_apply(seen, state) == csv_full_map_apply(wanted, state) &&
			resolved(&again, state, 0, nall) &&
			((in_quotes && !s->has_quotes) || resolved(&rest, state, 0, nall));
	}
	*nwords += nall - first;
	return right;
}

static void test_texts(const struct simd_ops *ops, size_t dialect)
{
	static const size_t lengths[] = {3, 12, 70, 130, NBYTES_MAX};
	static struct sample s;
	uint64_t nwords = 0;
	unsigned i;

	simd_choose(ops->name);
	s.dialect = &dialects[dialect];
	for (i = 0; i < NTEXTS; i++) {
		sample_random(&s, lengths[i % 5]);
		if (!text_is_right(&s, &nwords))
			break;
	}
	ok(i == NTEXTS, "%s: maps and separators in dialect %zu", ops->name, dialect);
	if (i < NTEXTS)
		diag("%.*s", (int)s.nbytes, s.text);
	ok(nwords > NTEXTS / 4, "and %llu of their words need no entry", (unsigned long long)nwords);
}

static csv_full_map random_map(void)
{
	return (csv_full_map){random_below(1 << 12) | random_below(1 << 12) << 12};
}

static void test_monoid(void)
{
	bool identity = true, associative = true, commutative = true;

	for (unsigned i = 0; i < 100000; i++) {
		csv_full_map a = random_map(), b = random_map(), c = random_map();
		csv_full_map one = csv_full_map_identity(), ab = compose_maps(a, b);
		identity &= compose_maps(one, a).exits == a.exits &&
			    compose_maps(a, one).exits == a.exits;
		commutative &= ab.exits == compose_maps(b, a).exits;
		associative &= compose_maps(ab, c).exits ==
			       compose_maps(a, compose_maps(b, c)).exits;
	}
	ok(identity, "the identity is an identity on both sides");
	ok(associative, "composition is associative");
	ok(!commutative, "and not commutative");
}

/* The automaton of all states is that of four where a text has no escape byte and no comment; there
 * a record starts as a field does. */
static void test_ordinary(void)
{
	bool same = true;

	for (unsigned s = 0; s < CSV_NSTATES; s++)
		for (unsigned c = CSV_OTHER; c <= CSV_NEWLINE; c++) {
			enum csv_state four = csv_step((enum csv_state)s, (enum csv_class)c);
			enum csv_state all = csv_full_step((enum csv_state)s, (enum csv_class)c);
			same &= four == (all == CSV_RECORD_START ? CSV_FIELD_START : all);
		}
	ok(same, "without escapes and comments, four states do");
	for (int map = 0; map < 256 && same; map++) {
		csv_full_map full = csv_full_map_of((csv_map)map);
		for (unsigned s = 0; s < CSV_NSTATES; s++)
			same &= csv_full_map_apply(full, (enum csv_state)s) ==
				csv_map_apply((csv_map)map, (enum csv_state)s);
		same &= csv_full_map_apply(full, CSV_RECORD_START) ==
			csv_map_apply((csv_map)map, CSV_FIELD_START);
	}
	ok(same, "and csv_full_map_of keeps their map");
}

int main(void)
{
	plan_lazy();
	test_monoid();
	test_ordinary();
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		for (size_t d = 0; d < NDIALECTS && simd_runs(*ops); d++)
			test_texts(*ops, d);
	return done();
}
