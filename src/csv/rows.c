/* SPDX-License-Identifier: MIT
 *
 * rows.c - see rows.h.
 */
#include "csv/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "csv/word_layout.h"

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
	TRY(ARRAY_GROW(r->ends_memory, r->ends_capacity, 1 + r->nends + more + POSITIONS_SLACK));
	r->ends = r->ends_memory + 1;
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
	bool ordinary = csv_dialect_is_ordinary(&r->dialect);
	unsigned nmaps = ordinary ? 3 : r->dialect.trim ? 6 : 5;
	uint64_t *bits;

	if (nwords > r->capacity_nwords) {
		nwords += r->capacity_nwords;
		bits = malloc(nmaps * nwords * sizeof *bits);
		NEED(bits);
		free(r->bits.simd.separators);
		r->bits.simd = (struct simd_bits){bits, bits + nwords, bits + 2 * nwords};
		r->bits.escapes = ordinary ? NULL : bits + 3 * nwords;
		r->bits.comments = ordinary ? NULL : bits + 4 * nwords;
		r->bits.blanks = r->dialect.trim ? bits + 5 * nwords : NULL;
		r->capacity_nwords = nwords;
	}
	return reserve_ends(r, nbytes < WINDOW_MIN_NBYTES ? nbytes : WINDOW_MIN_NBYTES);
}

void rows_free(struct rows *r)
{
	free(r->bits.simd.separators); /* and the others, behind them */
	free(r->ends_memory);
	free(r->below_memory);
	memset(r, 0, sizeof *r);
}

/* ---- records whose fields are separated by runs of blanks, as in ps and df ---- */

/* The last blank of a run is the separator, so a field begins at its first byte; blanks behind it
 * are cut off with its value (field.h). Runs at a line's beginning and end separate nothing. Nothing
 * quotes: every LF ends a record.
 */
#define WHITESPACE_BLANK ' ' /* the delimiter and the quote to classify with */
#define WHITESPACE_TAB '\t'

/* Leaves each run of blanks its last one; none before a line's first field and behind its last. */
static void join_runs(struct simd_bits bits, size_t nwords)
{
	const uint64_t *blanks = bits.quotes;
	uint64_t starts_line = 1; /* the word's first byte does, but for blanks */

	for (size_t k = 0; k < nwords; k++) {
		uint64_t newlines = bits.newlines[k], run = blanks[k];
		uint64_t ends = newlines | run, next = k + 1 < nwords ? bits.newlines[k + 1] | blanks[k + 1] : 0;
		/* A sum carries through the runs that begin a line. */
		uint64_t leading = run & ~(run + (run & (newlines << 1 | starts_line)));
		uint64_t last = run & ~(ends >> 1 | next << (SIMD_WORD_NBYTES - 1));
		bits.separators[k] = newlines | (last & ~leading);
		starts_line = (newlines | leading) >> (SIMD_WORD_NBYTES - 1);
	}
}

/* The separators that a row may have before its LF, from its first byte. */
static size_t nallowed(const struct csv_dialect *d, char first)
{
	if (d->comment && first == d->comment)
		return 0;
	return d->nfields ? d->nfields - 1 : SIZE_MAX;
}

/* Drops from ends[0 .. nends), the separators of rows as in rows.h, those in the last of
 * dialect->nfields columns, which takes the rest of its line, and those of comments. Returns the
 * number of those left. */
static size_t whitespace_join(const struct csv_dialect *dialect, const char *text, uint32_t *ends,
		       size_t nends)
{
	size_t left = nallowed(dialect, text[(uint32_t)(ends[-1] + 1)]), n = 0;

	for (size_t i = 0; i < nends; i++) {
		uint32_t at = ends[i];
		if (text[at] != '\n' && left == 0)
			continue;
		ends[n++] = at;
		left = text[at] == '\n' ? nallowed(dialect, text[at + 1]) : left - 1;
	}
	return n;
}

/* ---- bitmaps ---- */

/* The map of a text without quotes, nbytes > 0. */
static csv_map map_without_quotes(char last, char delimiter)
{
	enum csv_state outside = last == delimiter || last == '\n' ? CSV_FIELD_START : CSV_UNQUOTED;

	return CSV_MAP(outside, outside, CSV_QUOTED, outside);
}

/* Fills bits, in which the last word's bits beyond the text are 0. */
static struct simd_counts classify(const char *text, size_t nbytes, char delimiter, char quote,
				   struct simd_bits bits)
{
	size_t whole = nbytes / SIMD_WORD_NBYTES;
	struct simd_counts counts = simd()->classify(text, whole, delimiter, quote, bits);

	if (nbytes % SIMD_WORD_NBYTES) { /* the padding is classified too, and masked away */
		struct simd_bits last = {bits.separators + whole, bits.newlines + whole,
					 bits.quotes + whole};
		uint64_t valid = (UINT64_C(1) << nbytes % SIMD_WORD_NBYTES) - 1;
		simd()->classify(text + whole * SIMD_WORD_NBYTES, 1, delimiter, quote, last);
		*last.separators &= valid;
		*last.newlines &= valid;
		*last.quotes &= valid;
		counts.nlines += (uint64_t)__builtin_popcountll(*last.newlines);
		counts.nquotes |= *last.quotes;
	}
	return counts;
}

/* Finds the marks of a dialect with an escape byte, comments or blanks that are trimmed. */
static void find_marks(struct rows *r, const char *text, size_t nbytes)
{
	const struct csv_dialect *d = &r->dialect;
	uint64_t *escapes = r->bits.escapes, *newlines = r->bits.simd.newlines, *blanks = r->bits.blanks;
	const struct simd_bits marks = {escapes, newlines, r->bits.comments};

	if (d->trim) { /* the escape bytes are not known yet: their place is the tabs' */
		classify(text, nbytes, ' ', '\t', (struct simd_bits){blanks, newlines, escapes});
		for (size_t k = 0; k < r->nwords; k++)
			blanks[k] = (blanks[k] & ~newlines[k]) | escapes[k];
	}
	classify(text, nbytes, d->escape ? d->escape : '\n', d->comment, marks);
	if (!d->quote)
		memset(r->bits.simd.quotes, 0, r->nwords * sizeof *r->bits.simd.quotes);
	quotes_prepare(d, &r->bits, r->nwords);
}

/* The map of the text, of at least a byte. */
static csv_full_map map_text(struct rows *r, const char *text, size_t nbytes)
{
	bool ordinary = csv_dialect_is_ordinary(&r->dialect), has_quotes = r->counts.nquotes != 0;

	if (ordinary && !has_quotes)
		return csv_full_map_of(map_without_quotes(text[nbytes - 1], r->dialect.delimiter));
	if (!ordinary)
		find_marks(r, text, nbytes);
	return quotes_map(&r->dialect, &r->bits, nbytes, has_quotes, &r->resolved, &r->has_strays);
}

/* The same, where blanks separate fields: nothing depends on the entry. */
static csv_full_map map_whitespace(struct rows *r, const char *text, size_t nbytes)
{
	enum csv_state exit = text[nbytes - 1] == '\n' ? CSV_RECORD_START : CSV_UNQUOTED;
	csv_full_map map = {0};
	uint64_t *blanks = r->bits.simd.quotes;

	/* spaces, tabs, and CRs before LFs: blanks has the tabs */
	for (size_t k = 0; k < r->nwords; k++) {
		blanks[k] |= r->bits.simd.separators[k] & ~r->bits.simd.newlines[k];
		for (uint64_t left = r->bits.simd.newlines[k]; left; left &= left - 1) {
			size_t at = k * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(left);
			if (at > 0 && text[at - 1] == '\r')
				blanks[(at - 1) / SIMD_WORD_NBYTES] |= UINT64_C(1)
								       << (at - 1) % SIMD_WORD_NBYTES;
		}
	}
	join_runs(r->bits.simd, r->nwords);
	r->resolved = 0;
	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		map = csv_full_map_with(map, (enum csv_state)s, exit);
	return map;
}

/* How much of a walk depends on the entry. */
static enum chunk_dependence dependence(const struct rows *r)
{
	bool quotes_matter = r->dialect.quote != 0 && !csv_dialect_is_ordinary(&r->dialect);

	if (r->counts.nlines == 0)
		return CHUNK_INDEPENDENT;
	if (r->resolved < r->nwords)
		return r->counts.nquotes == 0 && quotes_matter ? CHUNK_GUESSES : CHUNK_INDEPENDENT;
	return r->counts.nquotes == 0 && csv_dialect_is_ordinary(&r->dialect) ? CHUNK_GUESSES
									      : CHUNK_DEPENDS;
}

csv_full_map rows_classify(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines)
{
	const struct csv_dialect *d = &r->dialect;
	char delimiter = d->whitespace ? WHITESPACE_BLANK : d->delimiter;
	char quote = d->whitespace ? WHITESPACE_TAB : d->quote;

	r->counts = classify(text, nbytes, delimiter, quote, r->bits.simd);
	if (!d->quote)
		r->counts.nquotes = 0;
	*nlines = r->counts.nlines;
	r->nwords = r->resolved = nwords_of(nbytes);
	r->head_resolved = r->has_strays = false;
	r->map = nbytes == 0	 ? csv_full_map_identity()
		 : d->whitespace ? map_whitespace(r, text, nbytes)
				 : map_text(r, text, nbytes);
	r->dependence = dependence(r);
	return r->map;
}

/* Resolves the words whose quotes rows_classify has left. */
static void resolve_head(struct rows *r, struct chunk_entry entry)
{
	bool any_quotes = r->counts.nquotes != 0;

	if (r->dialect.whitespace)
		return;
	if (csv_in_quotes(entry.state) && !any_quotes) { /* all is data, in words that are resolved as well */
		memset(r->bits.simd.separators, 0, r->nwords * sizeof *r->bits.simd.separators);
		memset(r->bits.simd.newlines, 0, r->nwords * sizeof *r->bits.simd.newlines);
	} else if (any_quotes || !csv_dialect_is_ordinary(&r->dialect)) {
		r->has_strays |= quotes_resolve(&r->bits, r->resolved, chunk_entry_state(entry));
	}
}

/* Returns the word at which a walk begins, and resolves the quotes that rows_classify left. If the
 * entry is unknown, that is where it no longer matters; if that is nowhere, there are no quotes or
 * no records, and it is the text's beginning. */
static size_t enter(struct rows *r, struct chunk_entry entry)
{
	if (entry.unknown)
		return r->resolved < r->nwords ? r->resolved : 0;
	if (!r->head_resolved)
		resolve_head(r, entry);
	r->head_resolved = true;
	return 0;
}

/* ---- windows ---- */

/* Bounds the memory for an unfinished record: joins fields that are not read. */
static void join_fields(struct rows *r)
{
	size_t kept = r->nfields < UNFINISHED_MAX_NFIELDS ? UNFINISHED_MAX_NFIELDS : r->nfields;

	if (r->nends <= kept)
		return;
	r->ends[kept] = r->ends[r->nends - 1];
	r->nends = kept + 1;
}

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

/* Cuts the row of words text[begin .. end) into positions at `to`, no more than it has bytes. Returns their number. */
static size_t cut_row(struct rows *r, const char *text, size_t begin, size_t end, uint32_t *to)
{
	struct word_line line = {text + begin, end - begin - field_cr_nbytes(text, begin, end, '\0')};
	size_t n = 1, nbytes = line.nbytes;

	decimal_trim(line.text, &nbytes);
	if (nbytes > 0 && !(r->dialect.comment && *line.text == r->dialect.comment)) {
		n = word_layout_cut(&r->dialect, line, to);
		if (n == 0 && r->unaligned == SIZE_MAX)
			r->unaligned = begin;
		n += n == 0;
	}
	for (size_t i = 0; i + 1 < n; i++)
		to[i] += (uint32_t)begin;
	to[n - 1] = (uint32_t)end;
	return n;
}

/* Cuts the rows of words below a header that is known. passes_head: the first began before the text. */
static enum status cut_rows(struct rows *r, const char *text, bool passes_head)
{
	size_t nlines = r->nlines, done = 0, nbelow = 0, capacity = r->ends_capacity;
	uint32_t *memory = r->ends_memory, *ends = r->ends;
	uint32_t nbytes = nlines ? r->ends[r->nends - 1] - r->ends[-1] : 0; /* as many positions, or fewer */

	if (nlines == 0)
		return STATUS_OK;
	TRY(ARRAY_GROW(r->below_memory, r->below_capacity, 1 + (size_t)nbytes + r->nends + POSITIONS_SLACK));
	r->below = r->below_memory + 1;
	r->below[-1] = r->ends[-1];
	for (; nlines > 0; nlines--, passes_head = false) {
		size_t stride = nfields_of(text, r->ends + done), begin = (uint32_t)(r->ends[(ptrdiff_t)done - 1] + 1);
		if (passes_head)
			r->below[nbelow++] = r->ends[done + stride - 1];
		else
			nbelow += cut_row(r, text, begin, r->ends[done + stride - 1], r->below + nbelow);
		done += stride;
	}
	memcpy(r->below + nbelow, r->ends + done, (r->nends - done) * sizeof *r->ends);
	r->nends = nbelow + r->nends - done;
	r->ends = r->below;
	r->ends_memory = r->below_memory;
	r->ends_capacity = r->below_capacity;
	r->below = ends;
	r->below_memory = memory;
	r->below_capacity = capacity;
	return STATUS_OK;
}

/* Whether any of the rows of nfields words, but the head if passes_head, does not stand below the header. */
static bool any_is_shifted(const struct rows *r, const char *text, size_t nfields, bool passes_head)
{
	const struct word_layout *l = r->dialect.layout;
	bool any = false;

	if (!l || l->names[0].begin == 0)
		return false;
	for (size_t i = passes_head; i < r->nlines && !any; i++) {
		uint32_t begin = r->ends[(ptrdiff_t)(i * nfields) - 1] + 1, end = r->ends[(i + 1) * nfields - 1];
		any = word_layout_is_shifted(l, (struct word_line){text + begin, end - begin});
	}
	return any;
}

/* With --whitespace: cuts rows below the header, or joins the fields of the last column. Most often there is nothing to do. */
static enum status join_words(struct rows *r, const char *text, bool passes_head)
{
	const struct word_layout *l = r->dialect.layout;
	size_t nfields = r->dialect.nfields;

	if (nfields > 1 && !r->dialect.comment && (!l || l->by_words) &&
	    is_regular(text, r->ends, r->nends, r->nlines, nfields) &&
	    !any_is_shifted(r, text, nfields, passes_head))
		return STATUS_OK;
	if (l)
		return cut_rows(r, text, passes_head);
	r->nends = whitespace_join(&r->dialect, text, r->ends, r->nends);
	return STATUS_OK;
}

/* Appends the positions of the window that begins at *word, and moves *word behind it. passes_head: the first row began
 * before the text. */
static enum status next_window(struct rows *r, const char *text, size_t *word, bool passes_head)
{
	enum status status = STATUS_OK;
	size_t left = r->nwords - *word, n = left < r->window_nwords ? left : r->window_nwords;
	uint32_t base = (uint32_t)(*word * SIMD_WORD_NBYTES);

	join_fields(r);
	TRY(reserve_ends(r, n * SIMD_WORD_NBYTES));
	r->nends += simd()->positions(r->bits.simd.separators + *word, n, base, r->ends + r->nends);
	r->nlines = simd()->count(r->bits.simd.newlines + *word, n);
	if (r->dialect.whitespace)
		status = join_words(r, text, passes_head);
	*word += n;
	/* The next window's size goes by the rows in this one, of n words. The thresholds are far enough
	 * apart that it does not alternate. */
	if (r->nlines < WINDOW_MIN_NROWS && n == r->window_nwords && n < WINDOW_MAX_NWORDS)
		r->window_nwords *= 2;
	else if (r->nlines > 4 * WINDOW_MIN_NROWS && r->window_nwords > WINDOW_MIN_NWORDS)
		r->window_nwords /= 2;
	return status;
}

/* ---- rows ---- */

/* Whether rows of `stride` fields form runs: no such row is a blank line, or blank lines are
 * records. */
static bool makes_runs(const struct rows *r, size_t stride)
{
	return stride > 1 || (stride == 1 && r->dialect.one_column);
}

/* Whether the row, of one field, is a comment. */
static bool is_comment(const struct rows *r, const char *text, const uint32_t *ends)
{
	return r->dialect.comment && text[(uint32_t)(ends[-1] + 1)] == r->dialect.comment;
}

/* The first of nlines rows from ends[0] on, and those after it that have as many fields. A comment
 * is a run of its own. */
static struct row_run next_run(const struct rows *r, const char *text, const uint32_t *ends)
{
	size_t stride = nfields_of(text, ends), nrows = 1;
	struct row_run run = {ends, stride, 1};

	if (!makes_runs(r, stride) || (stride == 1 && is_comment(r, text, ends)))
		return run;
	for (; nrows < r->nlines; nrows++) {
		const uint32_t *next = ends + nrows * stride;
		if (nfields_of(text, next) != stride || (stride == 1 && is_comment(r, text, next)))
			break;
	}
	run.nrows = nrows;
	return run;
}

/* Whether the run is a blank line or a comment, which is no record. */
static bool is_no_record(const struct rows *r, const char *text, const struct row_run *run)
{
	struct field_span span;
	size_t nbytes;

	if (run->stride != 1)
		return false;
	if (is_comment(r, text, run->ends))
		return true;
	span = row_field(text, run->ends, true);
	nbytes = span.end - span.begin;
	if (csv_dialect_trims(&r->dialect))
		field_trim(&r->dialect, text + span.begin, &nbytes);
	return nbytes == 0 && !r->dialect.one_column;
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
	bool regular = makes_runs(r, r->stride) && (r->stride > 1 || !r->dialect.comment) &&
		       is_regular(w->text, r->ends, r->nends, r->nlines, r->stride);
	size_t done = 0;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && r->nlines > 0) {
		struct row_run run = {r->ends, r->stride, r->nlines};
		if (!regular)
			run = next_run(r, w->text, r->ends + done);
		if (!is_no_record(r, w->text, &run))
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

void rows_trim(const struct csv_dialect *dialect, const char *text, const uint32_t *ends, size_t stride,
	       size_t nrows, bool drops_cr, uint32_t *pairs)
{
	for (size_t row = 0; row < nrows; row++, ends += stride, pairs += 2) {
		struct field_span span = row_field(text, ends, drops_cr);
		size_t nbytes = span.end - span.begin;
		const char *value = field_trim(dialect, text + span.begin, &nbytes);
		pairs[0] = (uint32_t)(value - text) - 1;
		pairs[1] = pairs[0] + 1 + (uint32_t)nbytes;
	}
}

/* Whether the text ends inside quotes, or with an LF that is escaped. */
static bool is_open(const struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry)
{
	enum csv_state exit = csv_full_map_apply(r->map, chunk_entry_state(entry));

	if (csv_in_quotes(exit))
		return true;
	return exit == CSV_UNQUOTED && r->dialect.escape && nbytes > 0 && text[nbytes - 1] == '\n';
}

enum status rows_walk(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      row_visitor visit, void *context, struct rows_extent *out)
{
	struct walk w = {r, text, visit, context, out};
	bool in_head = entry.inside_record;
	size_t word = enter(r, entry);
	enum status status = STATUS_OK;

	*out = (struct rows_extent){.stray = SIZE_MAX, .open_field = SIZE_MAX};
	r->nends = 0;
	r->unaligned = SIZE_MAX;
	r->ends[-1] = UINT32_MAX; /* the first row begins behind it, at 0 */
	while (status == STATUS_OK && word < r->nwords) {
		status = next_window(r, text, &word, in_head);
		if (status != STATUS_OK || (in_head && !pass_head(&w)))
			continue;
		in_head = false;
		status = visit_rows(&w);
	}
	if (in_head)
		out->head_nbytes = out->tail_offset = nbytes;
	if (is_open(r, text, nbytes, entry))
		out->open_field = (uint32_t)(r->ends[(ptrdiff_t)r->nends - 1] + 1);
	if (r->unaligned != SIZE_MAX)
		out->stray = r->unaligned;
	if (status == STATUS_OK && r->has_strays)
		out->stray = quotes_find_stray(&r->dialect, r->bits.simd, text, out->head_nbytes, out->tail_offset);
	return status;
}
