/* SPDX-License-Identifier: MIT
 *
 * quotes.c - see rows.h, "quotes".
 */
#include "csv/rows.h"

#include "csv/record.h"

#define LAST (SIMD_WORD_NBYTES - 1)

/* Where parity fails at once, it will probably fail again: so many words are stepped through. */
#define NSTEPS 4

/* The bitmap form of a state, and back. There, FIELD_START and RECORD_START are the same, and an
 * escape is not seen. */
static struct simd_quotes quotes_enter(enum csv_state state)
{
	bool closed = state == CSV_QUOTE_SEEN;
	bool starts = state == CSV_FIELD_START || state == CSV_RECORD_START;

	return (struct simd_quotes){
		.inside = -(uint64_t)csv_in_quotes(state),
		.may_open = starts || closed, .closed = closed};
}

static enum csv_state quotes_state(const struct simd_quotes *at)
{
	if (at->inside)
		return CSV_QUOTED;
	if (at->closed)
		return CSV_QUOTE_SEEN;
	return at->may_open ? CSV_FIELD_START : CSV_UNQUOTED;
}

/* What the quotes of one word tell. */
struct quotes_word {
	uint64_t inside; /* the bytes that lie in quotes */
	uint64_t strays; /* those after a closing quote that are no separator, and quotes that are data */
};

/* Moves *at past a word that ends with byte `last`, quote by quote. */
static struct quotes_word quotes_step(uint64_t separators, uint64_t quotes, unsigned last,
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

/* Clears the separators and newlines that lie in quotes in words [begin, end), and replaces the quotes by the bytes that may be
 * stray; moves *at past them. */
static void quotes_clear(struct simd_bits bits, size_t begin, size_t end, struct simd_quotes *at)
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

/* ---- escape bytes, comments, and blanks that are trimmed ---- */

/* The escaped bytes of a word follow from its escape bytes with a few operations. Without them, what
 * is left is a text for parity. Blanks that begin a field are separators then, so that a quote
 * after them opens the field. A comment begins where a record does, with a sign that comes right
 * behind an LF: a word that has such a sign, or begins inside a comment, goes through the automaton
 * of dfa.h from one byte of interest to the next.
 */

void quotes_prepare(const struct csv_dialect *dialect, const struct dialect_bits *bits, size_t nwords)
{
	uint64_t behind_lf = 1, comments = -(uint64_t)(dialect->comment != 0);

	for (size_t k = 0; k < nwords; k++) {
		uint64_t newlines = bits->simd.newlines[k];
		bits->escapes[k] &= ~newlines;
		bits->comments[k] &= (newlines << 1 | behind_lf) & comments;
		if (dialect->trim)
			bits->blanks[k] &= ~(bits->simd.separators[k] | bits->simd.quotes[k] |
					     bits->escapes[k] | bits->comments[k]);
		behind_lf = newlines >> LAST;
	}
}

/* Word k of a bitmap, or 0 if the dialect has none of that kind. */
static uint64_t word_of(const uint64_t *bits, size_t k)
{
	return bits ? bits[k] : 0;
}

/* ---- one word ---- */

/* The bytes that are data because an escape byte comes before them. *pending: whether the byte
 * before the word escapes the word's first byte; set for the byte behind byte `last`. In each run of
 * escape bytes, the first, third ... are active: a subtraction borrows through runs that begin at
 * odd places, which turns their places even.
 * (J. Keiser, D. Lemire, simdjson, json_escape_scanner.h.) */
static uint64_t find_escaped(uint64_t escapes, unsigned last, uint64_t *pending)
{
	const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);
	uint64_t perhaps = escapes & ~*pending;
	uint64_t active_and_behind = (((perhaps << 1) | odd) - perhaps) ^ odd;
	uint64_t escaped = active_and_behind ^ (escapes | *pending);

	*pending = (active_and_behind & escapes) >> last & 1;
	return escaped;
}

/* Whether a blank right after the text that led to *at begins a field. */
static uint64_t starts_field(const struct simd_quotes *at)
{
	return at->may_open & ~at->closed;
}

/* The blanks of a word with which fields begin; starts_field: its first byte may be one of them. The
 * sum carries through the runs of blanks that come right after a separator. Of a quoted field, what
 * comes after a separator in it counts as well: there it has no effect. */
static uint64_t find_leading(uint64_t separators, uint64_t blanks, uint64_t starts_field)
{
	return blanks & ~(blanks + (blanks & (separators << 1 | starts_field)));
}

static bool is_pending(enum csv_state state)
{
	return state == CSV_ESCAPED || state == CSV_ESCAPED_QUOTED;
}

/* The state behind a word, whose last byte is an LF if ends_line. */
static enum csv_state state_behind(const struct simd_quotes *at, bool pending, bool ends_line)
{
	enum csv_state state = quotes_state(at);

	if (pending)
		return at->inside ? CSV_ESCAPED_QUOTED : CSV_ESCAPED;
	return state == CSV_FIELD_START && ends_line ? CSV_RECORD_START : state;
}

static enum csv_class class_of(const struct dialect_bits *b, size_t k, uint64_t bit)
{
	if (b->simd.newlines[k] & bit)
		return CSV_NEWLINE;
	if (b->simd.separators[k] & bit)
		return CSV_DELIMITER;
	if (b->simd.quotes[k] & bit)
		return CSV_QUOTE;
	if (b->escapes[k] & bit)
		return CSV_ESCAPE;
	return b->comments[k] & bit ? CSV_COMMENT_SIGN : CSV_BLANK;
}

/* Moves the state past the byte at `bit`, of class c. */
static void step_event(enum csv_state *state, uint64_t bit, enum csv_class c,
		       struct quotes_word *out)
{
	enum csv_state before = *state;

	*state = csv_full_step(before, c);
	if (c == CSV_DELIMITER || c == CSV_NEWLINE) {
		if (*state != CSV_FIELD_START && *state != CSV_RECORD_START)
			out->inside |= bit;
	} else if (c == CSV_QUOTE ? before == CSV_UNQUOTED : before == CSV_QUOTE_SEEN) {
		out->strays |= bit;
	}
}

/* Like step_word, from byte to byte that is not CSV_OTHER. In a comment only LFs are of interest. */
static enum csv_state step_events(const struct dialect_bits *b, size_t k, unsigned last,
				  enum csv_state state, struct quotes_word *out)
{
	uint64_t newlines = b->simd.newlines[k], separators = b->simd.separators[k];
	uint64_t all = separators | b->simd.quotes[k] | b->escapes[k] | b->comments[k] |
		       word_of(b->blanks, k);
	uint64_t left = ~UINT64_C(0); /* the bytes from here on */

	*out = (struct quotes_word){0, 0};
	while (left) {
		uint64_t events = (state == CSV_COMMENT ? newlines : all) & left;
		uint64_t bit = events & -events, first = left & -left;
		uint64_t passed = left & (bit - 1); /* all of them where there is no event */
		if (state == CSV_COMMENT)
			out->inside |= separators & passed;
		else if (passed && first <= UINT64_C(1) << last) {
			if (state == CSV_QUOTE_SEEN)
				out->strays |= first;
			state = csv_full_step(state, CSV_OTHER); /* the others change nothing */
		}
		if (bit)
			step_event(&state, bit, class_of(b, k, bit), out);
		left &= -(bit << 1);
	}
	return state;
}

/* Moves the state past word k, which ends with byte `last`. out->inside: the separators that are
 * data, among other bytes. */
static enum csv_state step_word(const struct dialect_bits *b, size_t k, unsigned last,
				enum csv_state state, struct quotes_word *out)
{
	struct simd_quotes at = quotes_enter(state);
	uint64_t pending = is_pending(state), escaped, separators;

	if (state == CSV_COMMENT || word_of(b->comments, k))
		return step_events(b, k, last, state, out);
	escaped = find_escaped(word_of(b->escapes, k), last, &pending);
	separators = b->simd.separators[k] & ~escaped;
	if (b->blanks)
		separators |= find_leading(separators, b->blanks[k], starts_field(&at));
	*out = quotes_step(separators, b->simd.quotes[k] & ~escaped, last, &at);
	out->inside |= escaped;
	return state_behind(&at, pending, b->simd.newlines[k] >> last & 1);
}

static enum csv_state clear_dialect_word(const struct dialect_bits *b, size_t k, unsigned last,
				 enum csv_state state, uint64_t *strays)
{
	struct quotes_word w;

	state = step_word(b, k, last, state, &w);
	b->simd.separators[k] &= ~w.inside;
	b->simd.newlines[k] &= ~w.inside;
	b->simd.quotes[k] = w.strays;
	*strays |= w.strays;
	return state;
}

/* ---- many words ---- */

/* Clears escaped bytes in words [begin, end) up to the first that has a comment sign. Returns that
 * word, or end. */
static size_t clear_escaped(const struct dialect_bits *b, size_t begin, size_t end,
			    uint64_t *pending)
{
	size_t k;

	for (k = begin; k < end && b->comments[k] == 0; k++) {
		uint64_t data;
		if ((b->escapes[k] | *pending) == 0)
			continue;
		data = find_escaped(b->escapes[k], LAST, pending);
		b->simd.separators[k] &= ~data;
		b->simd.newlines[k] &= ~data;
		b->simd.quotes[k] &= ~data;
	}
	return k;
}

/* Adds the blanks that begin fields to the separators of words [begin, end), and keeps them in
 * b->blanks. */
static void add_leading(const struct dialect_bits *b, size_t begin, size_t end, uint64_t starts_field)
{
	for (size_t k = begin; k < end; k++) {
		b->blanks[k] = find_leading(b->simd.separators[k], b->blanks[k], starts_field);
		b->simd.separators[k] |= b->blanks[k];
		starts_field = b->simd.separators[k] >> LAST;
	}
}

/* Resolves words [begin, end), entered in `state`. Returns the state behind them. */
static enum csv_state clear_words(const struct dialect_bits *b, size_t begin, size_t end,
				  enum csv_state state, uint64_t *strays)
{
	while (begin < end) {
		struct simd_quotes at = quotes_enter(state);
		uint64_t pending = is_pending(state);
		size_t stop;
		if (state == CSV_COMMENT || word_of(b->comments, begin)) {
			state = clear_dialect_word(b, begin++, LAST, state, strays);
			continue;
		}
		stop = b->escapes ? clear_escaped(b, begin, end, &pending) : end;
		if (b->blanks)
			add_leading(b, begin, stop, starts_field(&at));
		quotes_clear(b->simd, begin, stop, &at);
		for (size_t k = begin; k < stop && b->blanks; k++)
			b->simd.separators[k] &= ~b->blanks[k];
		*strays |= at.strays;
		state = state_behind(&at, pending, b->simd.newlines[stop - 1] >> LAST);
		begin = stop;
	}
	return state;
}

bool quotes_resolve(const struct dialect_bits *bits, size_t nwords, enum csv_state state)
{
	uint64_t strays = 0;

	clear_words(bits, 0, nwords, state, &strays);
	return strays != 0;
}

/* ---- the map ---- */

/* The states that walks from all entry states are in. They soon reach the same one: in text that one walk takes as quoted,
 * another one finds quotes that cannot open a field. */
struct walks {
	enum csv_state at[CSV_NSTATES_FULL];
};

/* The entry states. One that the dialect does not have is taken as another one. */
static struct walks walks_begin(const struct csv_dialect *d)
{
	struct walks w;

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		w.at[s] = (enum csv_state)s;
	if (!d->escape) {
		w.at[CSV_ESCAPED] = CSV_UNQUOTED;
		w.at[CSV_ESCAPED_QUOTED] = CSV_QUOTED;
	}
	if (!d->quote) {
		w.at[CSV_QUOTED] = w.at[CSV_QUOTE_SEEN] = CSV_UNQUOTED;
		w.at[CSV_ESCAPED_QUOTED] = w.at[CSV_ESCAPED];
	}
	if (!d->comment) {
		w.at[CSV_COMMENT] = CSV_UNQUOTED;
		w.at[CSV_RECORD_START] = CSV_FIELD_START;
	}
	return w;
}

/* Whether the walks are all in one state; with outside: those from outside quotes. */
static bool walks_have_met(const struct walks *w, bool outside)
{
	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		if (w->at[s] != w->at[CSV_FIELD_START] && !(outside && csv_in_quotes((enum csv_state)s)))
			return false;
	return true;
}

/* Moves all walks past word k, one for those in the same state. */
static void walks_step(struct walks *w, const struct dialect_bits *b, size_t k, unsigned last)
{
	enum csv_state next[CSV_NSTATES_FULL];
	struct quotes_word ignored;
	unsigned known = 0;

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++) {
		enum csv_state from = w->at[s];
		if (!(known >> from & 1))
			next[from] = step_word(b, k, last, from, &ignored);
		known |= 1u << from;
		w->at[s] = next[from];
	}
}

/* The state behind a text without quotes that is entered in quotes. Only its last bytes matter: a
 * run of escape bytes; if that is all of the text, the entry matters, too. */
static enum csv_state quoted_exit(const struct dialect_bits *b, size_t nbytes, enum csv_state entry)
{
	size_t nescapes = 0;

	while (nescapes < nbytes && (word_of(b->escapes, (nbytes - 1 - nescapes) / SIMD_WORD_NBYTES) >>
				     (nbytes - 1 - nescapes) % SIMD_WORD_NBYTES & 1))
		nescapes++;
	if (nescapes == nbytes && entry == CSV_ESCAPED_QUOTED)
		nescapes--;
	return nescapes % 2 ? CSV_ESCAPED_QUOTED : CSV_QUOTED;
}

csv_full_map quotes_map(const struct csv_dialect *dialect, const struct dialect_bits *bits,
			size_t nbytes, bool has_quotes, size_t *resolved, bool *strays)
{
	size_t nwords = (nbytes + LAST) / SIMD_WORD_NBYTES, word = 0;
	unsigned last = (unsigned)((nbytes + LAST) % SIMD_WORD_NBYTES); /* in the last word */
	struct walks w = walks_begin(dialect);
	csv_full_map map = csv_full_map_identity();
	uint64_t behind = 0;

	*resolved = 0;
	*strays = false;
	if (nbytes == 0)
		return map;
	for (; word < nwords && !walks_have_met(&w, !has_quotes); word++)
		walks_step(&w, bits, word, word + 1 < nwords ? LAST : last);
	*resolved = word;
	if (word < nwords) {
		enum csv_state state = clear_words(bits, word, nwords - 1, w.at[0], &behind);
		state = clear_dialect_word(bits, nwords - 1, last, state, &behind);
		for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
			w.at[s] = state;
	}
	*strays = behind != 0;
	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++) {
		enum csv_state entry = (enum csv_state)s, exit = w.at[s];
		if (csv_in_quotes(entry) && !has_quotes && dialect->quote)
			exit = quoted_exit(bits, nbytes, entry);
		else if (exit == CSV_RECORD_START && csv_dialect_is_ordinary(dialect))
			exit = CSV_FIELD_START;
		map = csv_full_map_with(map, entry, exit);
	}
	return map;
}
