/* SPDX-License-Identifier: MIT
 *
 * rows.c - see rows.h.
 */
#include "csv/rows.h"

#include <stdlib.h>
#include <string.h>

#include "csv/quotes.h"

/* A window of 32 KiB of text stays in a first-level cache, with its positions. But each window
 * costs a fixed time for each column: with 6 records of 600 columns in a window, a run took 2.7
 * times as long as with 100 (Zen 5, 2026-11-22). So windows of long records are larger, up to all
 * of a CPU's chunk. */
#define WINDOW_MIN_NWORDS 512
#define WINDOW_MIN_NBYTES ((size_t)WINDOW_MIN_NWORDS * SIMD_WORD_NBYTES)
#define WINDOW_MAX_NWORDS 8192
#define WINDOW_MIN_NROWS 96
#define UNFINISHED_MAX_NFIELDS 65536
#define POSITIONS_SLACK 64 /* elements that simd_ops.positions may write beyond its result */

static size_t nwords_of(size_t nbytes)
{
	return (nbytes + SIMD_WORD_NBYTES - 1) / SIMD_WORD_NBYTES;
}

/* ---- memory ---- */

/* Makes room for `more` positions behind those there are. */
static enum status reserve_ends(struct rows *r, size_t more)
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

void rows_init(struct rows *r, struct csv_dialect dialect, size_t nfields)
{
	memset(r, 0, sizeof *r);
	r->dialect = dialect;
	r->nfields = nfields;
	r->window_nwords = WINDOW_MIN_NWORDS;
}

enum status rows_reserve(struct rows *r, size_t nbytes)
{
	size_t nwords = nwords_of(nbytes) + 1;
	uint64_t *bits;

	if (nwords > r->capacity_nwords) {
		nwords += r->capacity_nwords;
		bits = malloc(3 * nwords * sizeof *bits);
		if (!bits)
			return STATUS_NO_MEMORY;
		free(r->bits.separators);
		r->bits = (struct simd_bits){bits, bits + nwords, bits + 2 * nwords};
		r->capacity_nwords = nwords;
	}
	return reserve_ends(r, nbytes < WINDOW_MIN_NBYTES ? nbytes : WINDOW_MIN_NBYTES);
}

void rows_free(struct rows *r)
{
	free(r->bits.separators); /* and the others, behind them */
	free(r->ends_memory);
	memset(r, 0, sizeof *r);
}

/* ---- bitmaps ---- */

/* The map of a text without quotes, nbytes > 0. */
static csv_map map_without_quotes(char last, char delimiter)
{
	enum csv_state outside = last == delimiter || last == '\n' ? CSV_FIELD_START : CSV_UNQUOTED;

	return CSV_MAP(outside, outside, CSV_QUOTED, outside);
}

/* Fills r->bits. Without a quote byte, its zeros count as no quotes. */
static struct simd_counts classify(const struct rows *r, const char *text, size_t nbytes)
{
	size_t whole = nbytes / SIMD_WORD_NBYTES;
	char delimiter = r->dialect.delimiter, quote = r->dialect.quote;
	struct simd_counts counts = simd()->classify(text, whole, delimiter, quote, r->bits);

	if (nbytes % SIMD_WORD_NBYTES) { /* the padding is classified too, and masked away */
		struct simd_bits last = {r->bits.separators + whole, r->bits.newlines + whole,
					 r->bits.quotes + whole};
		uint64_t valid = (UINT64_C(1) << nbytes % SIMD_WORD_NBYTES) - 1;
		simd()->classify(text + whole * SIMD_WORD_NBYTES, 1, delimiter, quote, last);
		*last.separators &= valid;
		*last.newlines &= valid;
		*last.quotes &= valid;
		counts.nlines += (uint64_t)__builtin_popcountll(*last.newlines);
		counts.nquotes |= *last.quotes;
	}
	if (quote == 0)
		counts.nquotes = 0;
	return counts;
}

csv_full_map rows_classify(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines)
{
	csv_map map;

	r->counts = classify(r, text, nbytes);
	*nlines = r->counts.nlines;
	r->nwords = r->resolved = nwords_of(nbytes);
	r->head_resolved = r->has_strays = false;
	if (nbytes > 0 && r->counts.nquotes == 0)
		map = map_without_quotes(text[nbytes - 1], r->dialect.delimiter);
	else
		map = quotes_map(r->bits, nbytes, &r->resolved, &r->has_strays);
	return r->map = csv_full_map_of(map);
}

enum chunk_dependence rows_dependence(const struct rows *r)
{
	if (r->resolved < r->nwords || r->counts.nlines == 0)
		return CHUNK_INDEPENDENT;
	return r->counts.nquotes == 0 ? CHUNK_GUESSES : CHUNK_DEPENDS;
}

/* Returns the word at which a walk begins, and resolves the quotes that rows_classify left. If the
 * entry is unknown, that is where it no longer matters; if that is nowhere, there are no quotes or
 * no records, and it is the text's beginning. */
static size_t enter(struct rows *r, struct chunk_entry entry)
{
	if (entry.unknown)
		return r->resolved < r->nwords ? r->resolved : 0;
	if (!r->head_resolved && (r->counts.nquotes != 0 || entry.state == CSV_QUOTED))
		r->has_strays |= quotes_resolve(r->bits, r->resolved, entry.state);
	r->head_resolved = true;
	return 0;
}

/* ---- windows ---- */

/* Adapts the next window's size to the rows in this one, of n words. The thresholds are far enough
 * apart that it does not alternate. */
static void adapt_window(struct rows *r, size_t n)
{
	if (r->nlines < WINDOW_MIN_NROWS && n == r->window_nwords && n < WINDOW_MAX_NWORDS)
		r->window_nwords *= 2;
	else if (r->nlines > 4 * WINDOW_MIN_NROWS && r->window_nwords > WINDOW_MIN_NWORDS)
		r->window_nwords /= 2;
}

/* Bounds the memory for an unfinished record: joins fields that are not read. */
static void join_fields(struct rows *r)
{
	size_t kept = r->nfields < UNFINISHED_MAX_NFIELDS ? UNFINISHED_MAX_NFIELDS : r->nfields;

	if (r->nends <= kept)
		return;
	r->ends[kept] = r->ends[r->nends - 1];
	r->nends = kept + 1;
}

/* Appends the positions of the window that begins at *word, and moves *word behind it. */
static enum status next_window(struct rows *r, size_t *word)
{
	size_t left = r->nwords - *word, n = left < r->window_nwords ? left : r->window_nwords;
	uint32_t base = (uint32_t)(*word * SIMD_WORD_NBYTES);

	join_fields(r);
	if (reserve_ends(r, n * SIMD_WORD_NBYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	r->nends += simd()->positions(r->bits.separators + *word, n, base, r->ends + r->nends);
	r->nlines = simd()->count(r->bits.newlines + *word, n);
	*word += n;
	adapt_window(r, n);
	return STATUS_OK;
}

/* ---- rows ---- */

/* Whether all nlines rows from ends[0] on have stride fields: if nlines separators at steps of
 * stride are LFs, no other separator among them is one. */
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

/* The number of separators up to and including the first that ends a record; there is one. */
static size_t nfields_of(const char *text, const uint32_t *ends)
{
	size_t n = 1;

	while (text[ends[n - 1]] != '\n')
		n++;
	return n;
}

/* Whether rows of `stride` fields form runs: no such row is a blank line, or blank lines are
 * records. */
static bool makes_runs(const struct rows *r, size_t stride)
{
	return stride > 1 || (stride == 1 && r->dialect.one_column);
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
static bool is_blank(const struct rows *r, const char *text, const struct row_run *run)
{
	struct field_span span = row_field(text, run->ends, true);

	return run->stride == 1 && span.end == span.begin && !r->dialect.one_column;
}

/* One call of rows_walk. */
struct walk {
	struct rows *rows;
	const char *text;
	row_visitor visit;
	void *context;
	struct rows_extent *out;
};

/* Drops the first n positions, which end with a record's. */
static void drop_rows(const struct walk *w, size_t n)
{
	struct rows *r = w->rows;

	if (n == 0)
		return;
	w->out->tail_offset = (size_t)r->ends[n - 1] + 1;
	memmove(r->ends - 1, r->ends + n - 1, (r->nends - n + 1) * sizeof *r->ends);
	r->nends -= n;
}

/* Visits the window's complete rows, and keeps the positions of the unfinished one. */
static enum status visit_rows(const struct walk *w)
{
	struct rows *r = w->rows;
	bool regular = makes_runs(r, r->stride) &&
		       is_regular(w->text, r->ends, r->nends, r->nlines, r->stride);
	size_t done = 0;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && r->nlines > 0) {
		struct row_run run = {r->ends, r->stride, r->nlines};
		if (!regular)
			run = next_run(r, w->text, r->ends + done);
		if (!is_blank(r, w->text, &run))
			status = w->visit(w->context, &run);
		done += run.nrows * run.stride;
		r->nlines -= run.nrows;
		r->stride = run.stride;
	}
	drop_rows(w, done);
	return status;
}

/* Passes over the record that began before the text. Returns whether it ends in the window. */
static bool pass_head(const struct walk *w)
{
	struct rows *r = w->rows;

	if (r->nlines == 0) {
		r->nends = 0;
		return false;
	}
	drop_rows(w, nfields_of(w->text, r->ends));
	r->nlines--;
	w->out->head_ends = true;
	w->out->head_nbytes = w->out->tail_offset;
	return true;
}

/* ---- text behind a closing quote ---- */

/* Whether text[at], behind a closing quote, belongs to no line end. Complete records go on. */
static bool is_stray(const char *text, size_t at)
{
	return text[at] != '\r' || text[at + 1] != '\n';
}

/* Returns the first byte of text behind a closing quote in [begin, end), or end. */
static size_t first_stray(const struct rows *r, const char *text, size_t begin, size_t end)
{
	uint64_t in_range = ~UINT64_C(0) << begin % SIMD_WORD_NBYTES;

	for (size_t word = begin / SIMD_WORD_NBYTES; word * SIMD_WORD_NBYTES < end; word++) {
		for (uint64_t left = r->bits.quotes[word] & in_range; left; left &= left - 1) {
			size_t at = word * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(left);
			if (at < end && is_stray(text, at))
				return at;
		}
		in_range = ~UINT64_C(0);
	}
	return end;
}

/* Returns where the record around text[at] begins, in [begin, at]. */
static size_t record_begin(const struct rows *r, size_t begin, size_t at)
{
	while (at > begin && !(r->bits.newlines[(at - 1) / SIMD_WORD_NBYTES] >>
			       (at - 1) % SIMD_WORD_NBYTES & 1))
		at--;
	return at;
}

/* Finds the first of the complete records that has text behind a closing quote. */
static void find_stray(const struct rows *r, const char *text, struct rows_extent *out)
{
	size_t at = first_stray(r, text, out->head_nbytes, out->tail_offset);

	if (at < out->tail_offset)
		out->stray = record_begin(r, out->head_nbytes, at);
}

enum status rows_walk(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      row_visitor visit, void *context, struct rows_extent *out)
{
	struct walk w = {r, text, visit, context, out};
	bool in_head = entry.inside_record;
	size_t word = enter(r, entry);
	enum status status = STATUS_OK;

	*out = (struct rows_extent){.stray = SIZE_MAX};
	r->nends = 0;
	r->ends[-1] = UINT32_MAX; /* the first row begins behind it, at 0 */
	while (status == STATUS_OK && word < r->nwords) {
		status = next_window(r, &word);
		if (status != STATUS_OK || (in_head && !pass_head(&w)))
			continue;
		in_head = false;
		status = visit_rows(&w);
	}
	if (in_head)
		out->head_nbytes = out->tail_offset = nbytes;
	out->open_quote = csv_full_map_apply(r->map, chunk_entry_state(entry)) == CSV_QUOTED
				  ? (uint32_t)(r->ends[(ptrdiff_t)r->nends - 1] + 1) : SIZE_MAX;
	if (status == STATUS_OK && r->has_strays)
		find_stray(r, text, out);
	return status;
}
