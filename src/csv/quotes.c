/* SPDX-License-Identifier: MIT
 *
 * quotes.c - see quotes.h.
 */
#include "csv/quotes.h"

#define LAST (SIMD_WORD_NBYTES - 1)

struct quotes_at quotes_enter(enum csv_state state)
{
	struct quotes_at at = {state == CSV_QUOTED, state == CSV_QUOTE_SEEN,
			       state == CSV_FIELD_START};

	return at;
}

/* Where a walk is that has just passed byte `last` of a word, and nothing but zeros behind it. */
static struct quotes_at behind(uint64_t separators, uint64_t quotes, bool inside, unsigned last)
{
	struct quotes_at at = {inside, !inside && quotes >> last & 1, separators >> last & 1};

	return at;
}

/* Moves *at past words [begin, end), or those up to the first for which parity does not tell;
 * of the last of them, up to `last`. Returns where it stopped. */
static size_t unquote(struct simd_bits bits, size_t begin, size_t end, unsigned last,
		      struct quotes_at *at)
{
	struct simd_quotes quotes = {-(uint64_t)at->inside, at->separated || at->seen};
	struct simd_bits from = {bits.separators + begin, bits.newlines + begin,
				 bits.quotes + begin};
	size_t stop = begin + simd()->clear_quoted(from, end - begin, &quotes);

	if (stop > begin)
		*at = behind(bits.separators[stop - 1], bits.quotes[stop - 1], quotes.inside != 0,
			     stop < end ? LAST : last);
	return stop;
}

size_t quotes_resolve(struct simd_bits bits, size_t begin, size_t end, struct quotes_at *at)
{
	return unquote(bits, begin, end, LAST, at);
}

/* ---- maps ---- */

/* Passes a word up to its byte `last`, quote by quote. Beyond it there is none. */
static void step_word(struct quotes_at *at, uint64_t separators, uint64_t quotes, unsigned last)
{
	int seen = at->seen ? -1 : -2; /* where a quote closed */

	for (uint64_t left = quotes; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		bool separated = i > 0 ? separators >> (i - 1) & 1 : at->separated;
		if (at->inside) {
			at->inside = false;
			seen = i;
		} else {
			at->inside = separated || seen == i - 1;
		}
	}
	at->seen = seen == (int)last && !at->inside;
	at->separated = separators >> last & 1;
}

/* The same place, for what follows. */
static bool is_same(struct quotes_at a, struct quotes_at b)
{
	return a.inside == b.inside && a.seen == b.seen && a.separated == b.separated;
}

static enum csv_state state_of(struct quotes_at at)
{
	return at.inside ? CSV_QUOTED : at.seen ? CSV_QUOTE_SEEN
			 : at.separated ? CSV_FIELD_START : CSV_UNQUOTED;
}

/* Three walks at once, of the states that can differ: they soon meet, since what one takes for
 * text in quotes has quotes that the automaton passes over outside. */
enum { START_OUTSIDE, START_UNQUOTED, START_QUOTED, NSTARTS };

csv_map quotes_map(struct simd_bits bits, size_t nbytes, struct quotes_resolved *resolved)
{
	struct quotes_at at[NSTARTS] = {quotes_enter(CSV_FIELD_START), quotes_enter(CSV_UNQUOTED),
					quotes_enter(CSV_QUOTED)};
	size_t nwords = (nbytes + LAST) / SIMD_WORD_NBYTES, i = 0;
	unsigned last = (unsigned)((nbytes + LAST) % SIMD_WORD_NBYTES); /* in the last word */
	bool met = false;

	if (nbytes == 0)
		return CSV_MAP_IDENTITY;
	for (; i < nwords && !met; i++) {
		for (int s = 0; s < NSTARTS; s++)
			step_word(&at[s], bits.separators[i], bits.quotes[i],
				  i + 1 < nwords ? LAST : last);
		met = is_same(at[0], at[1]) && is_same(at[0], at[2]);
	}
	resolved->begin = i;
	resolved->at = at[0];
	resolved->end = i = unquote(bits, i, nwords, last, &at[0]);
	for (; i < nwords; i++)
		step_word(&at[0], bits.separators[i], bits.quotes[i],
			  i + 1 < nwords ? LAST : last);
	if (met)
		at[START_UNQUOTED] = at[START_QUOTED] = at[START_OUTSIDE];
	return CSV_MAP(state_of(at[START_OUTSIDE]), state_of(at[START_UNQUOTED]),
		       state_of(at[START_QUOTED]), state_of(at[START_OUTSIDE]));
}
