/* SPDX-License-Identifier: MIT
 *
 * rows.c - see rows.h.
 */
#include "csv/rows.h"

#include <stdlib.h>
#include <string.h>

/* A window of 32 KiB of text stays in a first-level cache, with its positions. But what is done once
 * for each column and window must pay: with 6 records of 600 columns in one, all of them took 2.7
 * times as long as with 100 (Zen 5, 2026-11-22). So it grows with the records, up to all of a CPU's
 * chunk. */
#define WINDOW_MIN_NWORDS 512
#define WINDOW_MAX_NWORDS 8192
#define WINDOW_MIN_NROWS 96
#define POSITIONS_SLACK 64 /* simd_ops.positions may write so many too many */

static size_t nwords_of(size_t nbytes)
{
	return (nbytes + SIMD_WORD_NBYTES - 1) / SIMD_WORD_NBYTES;
}

/* ---- memory ---- */

/* Makes room for `more` positions behind those there are. */
static enum status reserve(struct rows *r, size_t more)
{
	size_t wanted = r->nends + more + POSITIONS_SLACK;
	uint32_t *grown;

	if (wanted <= r->ends_capacity)
		return STATUS_OK;
	grown = realloc(r->ends_memory, (2 * wanted + 1) * sizeof *grown);
	if (!grown)
		return STATUS_NO_MEMORY;
	r->ends_memory = grown;
	r->ends = grown + 1;
	r->ends_capacity = 2 * wanted;
	return STATUS_OK;
}

enum status rows_init(struct rows *r, const struct plan *plan, size_t chunk_nbytes)
{
	size_t nwords = nwords_of(chunk_nbytes);

	memset(r, 0, sizeof *r);
	r->plan = plan;
	r->bits.separators = calloc(nwords + 1, sizeof(uint64_t));
	r->bits.newlines = calloc(nwords + 1, sizeof(uint64_t));
	r->bits.quotes = calloc(nwords + 1, sizeof(uint64_t));
	if (!r->bits.separators || !r->bits.newlines || !r->bits.quotes)
		return STATUS_NO_MEMORY;
	r->window_nwords = WINDOW_MIN_NWORDS;
	return reserve(r, WINDOW_MIN_NWORDS * SIMD_WORD_NBYTES);
}

void rows_free(struct rows *r)
{
	free(r->bits.separators);
	free(r->bits.newlines);
	free(r->bits.quotes);
	free(r->ends_memory);
	memset(r, 0, sizeof *r);
}

/* ---- scanning ---- */

/* The map of a text without quotes, nbytes > 0. */
static csv_map map_without_quotes(char last, char delimiter)
{
	enum csv_state outside = last == delimiter || last == '\n' ? CSV_FIELD_START : CSV_UNQUOTED;

	return CSV_MAP(outside, outside, CSV_QUOTED, outside);
}

csv_map rows_classify(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines)
{
	size_t nwords = nwords_of(nbytes), whole = nbytes / SIMD_WORD_NBYTES;
	struct simd_counts counts = simd()->classify(text, whole, r->plan->delimiter, r->bits);

	if (whole < nwords) { /* bytes behind the text are not the text's */
		struct simd_bits last = {r->bits.separators + whole, r->bits.newlines + whole,
					 r->bits.quotes + whole};
		uint64_t valid = (UINT64_C(1) << nbytes % SIMD_WORD_NBYTES) - 1;
		simd()->classify(text + whole * SIMD_WORD_NBYTES, 1, r->plan->delimiter, last);
		*last.separators &= valid;
		*last.newlines &= valid;
		*last.quotes &= valid;
		counts.nlines += (uint64_t)__builtin_popcountll(*last.newlines);
		counts.nquotes |= *last.quotes;
	}
	r->counts = counts;
	*nlines = counts.nlines;
	r->nwords = r->nregular = r->resolved.begin = r->resolved.end = nwords;
	r->walked = false;
	if (nbytes > 0 && counts.nquotes == 0)
		return map_without_quotes(text[nbytes - 1], r->plan->delimiter);
	return quotes_map(r->bits, nbytes, &r->resolved);
}

enum chunk_dependence rows_dependence(const struct rows *r)
{
	if (r->resolved.begin < r->nwords || r->counts.nlines == 0)
		return CHUNK_INDEPENDENT;
	return r->counts.nquotes == 0 ? CHUNK_GUESSES : CHUNK_DEPENDS;
}

/* ---- windows ---- */

/* Where the next window begins. */
struct place {
	size_t word;
	struct quotes_at quotes;
};

/* Sees to the quotes in words [at->word, end), or in those up to the first for which parity does
 * not tell. Returns where it stopped. */
static size_t resolve(const struct rows *r, size_t end, struct place *at)
{
	size_t stop = end < r->resolved.begin ? end : r->resolved.begin, done;

	if (r->walked || (r->counts.nquotes == 0 && !at->quotes.inside))
		return end;
	if (at->word < stop) {
		done = quotes_resolve(r->bits, at->word, stop, &at->quotes);
		if (done < stop)
			return done;
	}
	return end < r->resolved.end ? end : r->resolved.end;
}

/* Makes the next window as large as its rows ask for; the last one had n words. Few rows twice are
 * still too few to halve it, and half of many still enough not to double it. */
static void adapt_window(struct rows *r, size_t n)
{
	if (r->nlines < WINDOW_MIN_NROWS && n == r->window_nwords && n < WINDOW_MAX_NWORDS)
		r->window_nwords *= 2;
	else if (r->nlines > 4 * WINDOW_MIN_NROWS && r->window_nwords > WINDOW_MIN_NWORDS)
		r->window_nwords /= 2;
}

/* Appends the positions of the window at `at`, and goes on. Where parity does not tell, it is cut
 * short, and is the last. */
static enum status next_window(struct rows *r, struct place *at)
{
	size_t left = r->nregular - at->word;
	size_t wanted = at->word + (left < r->window_nwords ? left : r->window_nwords);
	size_t end = resolve(r, wanted, at), n = end - at->word;
	uint32_t base = (uint32_t)(at->word * SIMD_WORD_NBYTES);

	if (end < wanted)
		r->nregular = end;
	if (reserve(r, n * SIMD_WORD_NBYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	r->nends += simd()->positions(r->bits.separators + at->word, n, base, r->ends + r->nends);
	r->nlines = simd()->count(r->bits.newlines + at->word, n);
	at->word = end;
	adapt_window(r, n);
	return STATUS_OK;
}

/* ---- rows ---- */

/* Whether all nlines rows from ends[0] on have stride fields: then each ends with the last of its
 * separators, and no line end is left for any between. */
static bool is_regular(const char *text, const uint32_t *ends, size_t nends, size_t nlines,
		       size_t stride)
{
	unsigned char differ = 0;

	if (nlines > nends / stride)
		return false;
	for (size_t i = stride - 1; i < nlines * stride; i += stride)
		differ |= (unsigned char)(text[ends[i]] ^ '\n');
	return differ == 0;
}

/* The number of separators up to the first that ends a record, and with it; there is one. */
static size_t nfields_of(const char *text, const uint32_t *ends)
{
	size_t n = 1;

	while (text[ends[n - 1]] != '\n')
		n++;
	return n;
}

/* Rows of so many fields may be taken many at a time: none is a blank line, or such are records. */
static bool makes_runs(const struct rows *r, size_t stride)
{
	return stride > 1 || (stride == 1 && r->plan->one_column);
}

/* The first of nlines rows from ends[0] on, and those after it that have as many fields. */
static struct row_run next_run(const struct rows *r, const char *text, const uint32_t *ends)
{
	size_t stride = nfields_of(text, ends), nrows = 1;

	if (makes_runs(r, stride))
		while (nrows < r->nlines && nfields_of(text, ends + nrows * stride) == stride)
			nrows++;
	return (struct row_run){ends, stride, nrows};
}

/* Whether the run is a blank line, which is no record. */
static bool is_blank(const struct rows *r, const char *text, const struct row_run *some)
{
	struct field_span span = row_field(text, some->ends, true);

	return some->stride == 1 && span.end == span.begin && !r->plan->one_column;
}

/* What one call of rows_walk works on. */
struct walking {
	struct rows *rows;
	const char *text;
	row_taker take;
	void *context;
	struct rows_extent *out;
};

/* Takes the window's rows that are complete, and keeps the positions of the one that is not. */
static enum status take_rows(const struct walking *w)
{
	struct rows *r = w->rows;
	bool regular = makes_runs(r, r->stride) &&
		       is_regular(w->text, r->ends, r->nends, r->nlines, r->stride);
	size_t done = 0;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && r->nlines > 0) {
		struct row_run some = {r->ends, r->stride, r->nlines};
		if (!regular)
			some = next_run(r, w->text, r->ends + done);
		if (!is_blank(r, w->text, &some))
			status = w->take(w->context, &some);
		done += some.nrows * some.stride;
		r->nlines -= some.nrows;
		r->stride = some.stride;
	}
	if (done > 0) {
		w->out->tail_offset = (size_t)r->ends[done - 1] + 1;
		memmove(r->ends - 1, r->ends + done - 1, (r->nends - done + 1) * sizeof *r->ends);
		r->nends -= done;
	}
	return status;
}

/* The first record that ends in the window began before the text: passes over it. Returns
 * whether there is one. */
static bool pass_head(const struct walking *w)
{
	struct rows *r = w->rows;
	size_t n;

	if (r->nlines == 0) {
		r->nends = 0;
		return false;
	}
	n = nfields_of(w->text, r->ends);
	w->out->head_ends = true;
	w->out->head_nbytes = w->out->tail_offset = (size_t)r->ends[n - 1] + 1;
	memmove(r->ends - 1, r->ends + n - 1, (r->nends - n + 1) * sizeof *r->ends);
	r->nends -= n;
	r->nlines--;
	return true;
}

/* Where a walk begins. If it is not known how the text is entered: where that does not matter any
 * longer; or, if that is nowhere, at the text's beginning and outside quotes. */
static struct place enter(const struct rows *r, struct chunk_entry entry)
{
	if (entry.unknown && r->resolved.begin < r->nwords)
		return (struct place){r->resolved.begin, r->resolved.at};
	return (struct place){0, quotes_enter(entry.state)};
}

static enum status walk_windows(const struct walking *w, struct chunk_entry entry, bool *in_head)
{
	struct rows *r = w->rows;
	struct place at = enter(r, entry);
	enum status status = STATUS_OK;

	while (status == STATUS_OK && at.word < r->nregular) {
		status = next_window(r, &at);
		if (status != STATUS_OK)
			break;
		if (*in_head && !pass_head(w))
			continue;
		*in_head = false;
		status = take_rows(w);
	}
	r->walked = !entry.unknown;
	return status;
}

enum status rows_walk(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      row_taker take, void *context, struct rows_extent *out)
{
	struct walking w = {r, text, take, context, out};
	bool in_head = entry.inside_record;
	enum status status;

	*out = (struct rows_extent){false, 0, 0, 0};
	r->nends = 0;
	r->ends[-1] = UINT32_MAX; /* a row begins behind it, at 0 */
	status = walk_windows(&w, entry, &in_head);
	if (in_head)
		out->head_nbytes = out->tail_offset = nbytes;
	out->left = r->nregular == r->nwords ? nbytes : in_head ? SIZE_MAX : out->tail_offset;
	return status;
}
