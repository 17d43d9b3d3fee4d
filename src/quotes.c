/* SPDX-License-Identifier: MIT
 *
 * quotes.c - see quotes.h.
 */
#include "quotes.h"

#define LAST (SIMD_WORD_NBYTES - 1)

struct quotes_at quotes_enter(enum csv_state state)
{
	struct quotes_at at = {state == CSV_QUOTED, state == CSV_QUOTE_SEEN,
			       state == CSV_FIELD_START};

	return at;
}

/* Finds which bytes of a word lie in quotes, the opening quote with them, the closing one
 * not. Returns whether parity tells. */
static inline bool find_inside(struct simd_bits bits, size_t i, struct quotes_at at,
			       uint64_t *inside)
{
	uint64_t may_open = (bits.separators[i] | bits.quotes[i]) << 1 | (at.separated | at.seen);

	*inside = bits.parity[i] ^ -(uint64_t)at.inside;
	return (bits.quotes[i] & *inside & ~may_open) == 0;
}

/* Moves on to behind byte `last` of a word for which parity told. */
static inline void pass_word(struct quotes_at *at, uint64_t separators, uint64_t quotes,
			     uint64_t inside, unsigned last)
{
	at->inside = inside >> last & 1;
	at->seen = (quotes & ~inside) >> last & 1;
	at->separated = separators >> last & 1;
}

static bool resolve_word(struct simd_bits bits, size_t i, struct quotes_at *at, unsigned last)
{
	uint64_t inside, separators = bits.separators[i];

	if (!find_inside(bits, i, *at, &inside))
		return false;
	bits.separators[i] &= ~inside;
	bits.newlines[i] &= ~inside;
	pass_word(at, separators, bits.quotes[i], inside, last);
	return true;
}

bool quotes_resolve(struct simd_bits bits, size_t begin, size_t end, struct quotes_at *at)
{
	for (size_t i = begin; i < end; i++)
		if (!resolve_word(bits, i, at, LAST))
			return false;
	return true;
}

/* ---- maps ---- */

/* The same, quote by quote. Beyond `last` there is none. */
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

static inline void move_on(struct simd_bits bits, size_t i, struct quotes_at *at, unsigned last)
{
	uint64_t inside;

	if (find_inside(bits, i, *at, &inside))
		pass_word(at, bits.separators[i], bits.quotes[i], inside, last);
	else
		step_word(at, bits.separators[i], bits.quotes[i], last);
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

csv_map quotes_map(struct simd_bits bits, size_t nbytes, size_t *begin, size_t *end)
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
			move_on(bits, i, &at[s], i + 1 < nwords ? LAST : last);
		met = is_same(at[0], at[1]) && is_same(at[0], at[2]);
	}
	*begin = i;
	while (i < nwords && resolve_word(bits, i, &at[0], i + 1 < nwords ? LAST : last))
		i++;
	*end = i;
	for (; i < nwords; i++)
		move_on(bits, i, &at[0], i + 1 < nwords ? LAST : last);
	if (met)
		at[START_UNQUOTED] = at[START_QUOTED] = at[START_OUTSIDE];
	return CSV_MAP(state_of(at[START_OUTSIDE]), state_of(at[START_UNQUOTED]),
		       state_of(at[START_QUOTED]), state_of(at[START_OUTSIDE]));
}
