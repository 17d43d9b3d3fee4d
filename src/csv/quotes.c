/* SPDX-License-Identifier: MIT
 *
 * quotes.c - see quotes.h.
 */
#include "csv/quotes.h"

#define LAST (SIMD_WORD_NBYTES - 1)

/* The bitmap form of a state. FIELD_START and QUOTE_SEEN have the same: in both, a quote that comes
 * next begins quoted text. */
static struct simd_quotes enter(enum csv_state state)
{
	return (struct simd_quotes){-(uint64_t)(state == CSV_QUOTED),
				    state == CSV_FIELD_START || state == CSV_QUOTE_SEEN};
}

/* Moves *at past a word that ends with byte `last`, quote by quote. Returns the bytes that lie in
 * quotes. */
static uint64_t step_word(struct simd_bits bits, size_t word, unsigned last, struct simd_quotes *at)
{
	uint64_t separators = bits.separators[word], inside = at->inside, closed = 0;

	for (uint64_t left = bits.quotes[word]; left; left &= left - 1) {
		uint64_t quote = left & -left;
		if (inside & quote)
			closed |= quote;
		else if (!(((separators | closed) << 1 | at->may_open) & quote))
			continue;
		inside ^= -quote;
	}
	at->inside = -(inside >> LAST);
	at->may_open = (separators | closed) >> last & 1;
	return inside;
}

static void clear_word(struct simd_bits bits, size_t word, unsigned last, struct simd_quotes *at)
{
	uint64_t inside = step_word(bits, word, last, at);

	bits.separators[word] &= ~inside;
	bits.newlines[word] &= ~inside;
}

/* Moves *at past words [begin, end), and clears what lies in quotes there. */
static void resolve(struct simd_bits bits, size_t begin, size_t end, struct simd_quotes *at)
{
	while (begin < end) {
		struct simd_bits from = {bits.separators + begin, bits.newlines + begin,
					 bits.quotes + begin};
		begin += simd()->clear_quoted(from, end - begin, at);
		if (begin < end)
			clear_word(bits, begin++, LAST, at);
	}
}

void quotes_resolve(struct simd_bits bits, size_t nwords, enum csv_state state)
{
	struct simd_quotes at = enter(state);

	resolve(bits, 0, nwords, &at);
}

/* The state behind a text. ends_field: its last byte is a separator. */
static enum csv_state state_of(struct simd_quotes at, uint64_t ends_field)
{
	if (at.inside)
		return CSV_QUOTED;
	if (!at.may_open)
		return CSV_UNQUOTED;
	return ends_field ? CSV_FIELD_START : CSV_QUOTE_SEEN;
}

/* Three walks at once, one for each entry state that can differ. They soon reach the same state: in
 * text that one walk takes as quoted, another one finds quotes that cannot open a field. */
enum { FROM_OUTSIDE, FROM_UNQUOTED, FROM_QUOTED, NWALKS };

static int have_met(const struct simd_quotes at[NWALKS])
{
	return at[0].inside == at[1].inside && at[0].inside == at[2].inside &&
	       at[0].may_open == at[1].may_open && at[0].may_open == at[2].may_open;
}

csv_map quotes_map(struct simd_bits bits, size_t nbytes, size_t *resolved)
{
	struct simd_quotes at[NWALKS] = {enter(CSV_FIELD_START), enter(CSV_UNQUOTED),
					 enter(CSV_QUOTED)};
	size_t nwords = (nbytes + LAST) / SIMD_WORD_NBYTES, word = 0;
	unsigned last = (unsigned)((nbytes + LAST) % SIMD_WORD_NBYTES); /* in the last word */
	uint64_t ends_field;

	*resolved = 0;
	if (nbytes == 0)
		return CSV_MAP_IDENTITY;
	for (; word < nwords && !have_met(at); word++)
		for (int walk = 0; walk < NWALKS; walk++)
			step_word(bits, word, word + 1 < nwords ? LAST : last, &at[walk]);
	*resolved = word;
	if (word < nwords) {
		resolve(bits, word, nwords - 1, &at[0]);
		clear_word(bits, nwords - 1, last, &at[0]);
		at[FROM_UNQUOTED] = at[FROM_QUOTED] = at[FROM_OUTSIDE];
	}
	ends_field = bits.separators[nwords - 1] >> last & 1;
	return CSV_MAP(state_of(at[FROM_OUTSIDE], ends_field),
		       state_of(at[FROM_UNQUOTED], ends_field),
		       state_of(at[FROM_QUOTED], ends_field),
		       state_of(at[FROM_OUTSIDE], ends_field));
}
