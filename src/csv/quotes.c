/* SPDX-License-Identifier: MIT
 *
 * quotes.c - see quotes.h.
 */
#include "csv/quotes.h"

#include "csv/record.h"

#define LAST (SIMD_WORD_NBYTES - 1)

/* Where parity fails at once, it will probably fail again: so many words are stepped through. */
#define NSTEPS 4

struct simd_quotes quotes_enter(enum csv_state state)
{
	bool closed = state == CSV_QUOTE_SEEN;
	bool starts = state == CSV_FIELD_START || state == CSV_RECORD_START;

	return (struct simd_quotes){
		.inside = -(uint64_t)csv_in_quotes(state),
		.may_open = starts || closed, .closed = closed};
}

enum csv_state quotes_state(const struct simd_quotes *at)
{
	if (at->inside)
		return CSV_QUOTED;
	if (at->closed)
		return CSV_QUOTE_SEEN;
	return at->may_open ? CSV_FIELD_START : CSV_UNQUOTED;
}

struct quotes_word quotes_step(uint64_t separators, uint64_t quotes, unsigned last,
			       struct simd_quotes *at)
{
	uint64_t inside = at->inside, closed = 0, data = 0;
	struct quotes_word word;

	for (uint64_t left = quotes; left; left &= left - 1) {
		uint64_t quote = left & -left;
		if (inside & quote) {
			closed |= quote;
		} else if (!(((separators | closed) << 1 | at->may_open) & quote)) {
			data |= quote;
			continue;
		}
		inside ^= -quote;
	}
	word.inside = inside;
	word.strays = ((closed << 1 | at->closed) & ~(separators | quotes)) | data;
	at->inside = -(inside >> LAST);
	at->may_open = (separators | closed) >> last & 1;
	at->closed = closed >> last & 1;
	at->strays |= word.strays;
	return word;
}

static void clear_word(struct simd_bits bits, size_t word, unsigned last, struct simd_quotes *at)
{
	struct quotes_word w = quotes_step(bits.separators[word], bits.quotes[word], last, at);

	bits.separators[word] &= ~w.inside;
	bits.newlines[word] &= ~w.inside;
	bits.quotes[word] = w.strays;
}

void quotes_clear(struct simd_bits bits, size_t begin, size_t end, struct simd_quotes *at)
{
	while (begin < end) {
		struct simd_bits from = {bits.separators + begin, bits.newlines + begin,
					 bits.quotes + begin};
		size_t n = simd()->clear_quoted(from, end - begin, at);
		size_t nsteps = n == 0 ? NSTEPS : 1;
		for (begin += n; begin < end && nsteps > 0; nsteps--)
			clear_word(bits, begin++, LAST, at);
	}
}

bool quotes_resolve(struct simd_bits bits, size_t nwords, enum csv_state state)
{
	struct simd_quotes at = quotes_enter(state);

	quotes_clear(bits, 0, nwords, &at);
	return at.strays != 0;
}

/* Three walks at once, one for each entry state that can differ. They soon reach the same state: in
 * text that one walk takes as quoted, another one finds quotes that cannot open a field. */
enum { FROM_OUTSIDE, FROM_UNQUOTED, FROM_QUOTED, NWALKS };

static int have_met(const struct simd_quotes at[NWALKS])
{
	return at[0].inside == at[1].inside && at[0].inside == at[2].inside &&
	       at[0].may_open == at[1].may_open && at[0].may_open == at[2].may_open;
}

csv_map quotes_map(struct simd_bits bits, size_t nbytes, size_t *resolved, bool *strays)
{
	struct simd_quotes at[NWALKS] = {quotes_enter(CSV_FIELD_START), quotes_enter(CSV_UNQUOTED),
					 quotes_enter(CSV_QUOTED)};
	size_t nwords = (nbytes + LAST) / SIMD_WORD_NBYTES, word = 0;
	unsigned last = (unsigned)((nbytes + LAST) % SIMD_WORD_NBYTES); /* in the last word */

	*resolved = 0;
	*strays = false;
	if (nbytes == 0)
		return CSV_MAP_IDENTITY;
	for (; word < nwords && !have_met(at); word++)
		for (int walk = 0; walk < NWALKS; walk++)
			quotes_step(bits.separators[word], bits.quotes[word],
				    word + 1 < nwords ? LAST : last, &at[walk]);
	*resolved = word;
	if (word < nwords) {
		at[FROM_OUTSIDE].strays = 0;
		quotes_clear(bits, word, nwords - 1, &at[0]);
		clear_word(bits, nwords - 1, last, &at[0]);
		*strays = at[FROM_OUTSIDE].strays != 0;
		at[FROM_UNQUOTED] = at[FROM_QUOTED] = at[FROM_OUTSIDE];
	}
	return CSV_MAP(quotes_state(&at[FROM_OUTSIDE]), quotes_state(&at[FROM_UNQUOTED]),
		       quotes_state(&at[FROM_QUOTED]), quotes_state(&at[FROM_OUTSIDE]));
}

/* ---- stray text ---- */

static bool has_bit(const uint64_t *bits, size_t at)
{
	return bits[at / SIMD_WORD_NBYTES] >> at % SIMD_WORD_NBYTES & 1;
}

/* Whether text[at], a quote that is data, comes after the blanks with which a field begins. */
static bool begins_late(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			size_t begin, size_t at)
{
	size_t from = at;

	while (from > begin && csv_dialect_is_blank(dialect, text[from - 1]))
		from--;
	return from < at && (from == begin || has_bit(bits.separators, from - 1));
}

/* Whether text[at], where quotes_step has found something, is stray: no line end, no blanks before a
 * separator that the dialect trims, no quote within a field. text[begin .. end): complete records. */
static bool is_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
		     size_t begin, size_t end, size_t at)
{
	if (text[at] == dialect->quote)
		return !dialect->trim && begins_late(dialect, bits, text, begin, at) &&
		       record_quote_opens(dialect, text, end, at);
	if (dialect->trim && csv_dialect_is_blank(dialect, text[at]))
		return !record_field_ends(dialect, text, end, at);
	return text[at] != '\r' || text[at + 1] != '\n';
}

/* Returns the first such byte in [begin, end), or end. */
static size_t first_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			  size_t begin, size_t end)
{
	uint64_t in_range = ~UINT64_C(0) << begin % SIMD_WORD_NBYTES;

	for (size_t word = begin / SIMD_WORD_NBYTES; word * SIMD_WORD_NBYTES < end; word++) {
		for (uint64_t left = bits.quotes[word] & in_range; left; left &= left - 1) {
			size_t at = word * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(left);
			if (at < end && is_stray(dialect, bits, text, begin, end, at))
				return at;
		}
		in_range = ~UINT64_C(0);
	}
	return end;
}

size_t quotes_find_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			 size_t begin, size_t end)
{
	size_t at = first_stray(dialect, bits, text, begin, end);

	if (at == end)
		return SIZE_MAX;
	while (at > begin && !has_bit(bits.newlines, at - 1))
		at--;
	return at;
}
