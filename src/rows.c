/* SPDX-License-Identifier: MIT
 *
 * rows.c - see rows.h.
 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>


#define WINDOW_NWORDS 256 /* 16 KiB of text: with its positions in a first-level cache */
#define WINDOW_NBYTES (WINDOW_NWORDS * SIMD_WORD_NBYTES)
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
	struct decimal ignored;

	memset(r, 0, sizeof *r);
	r->plan = plan;
	for (size_t i = 0; i < plan->nmissing; i++)
		r->missing_is_number |= decimal_parse(plan->missing[i], strlen(plan->missing[i]),
						      &ignored) != DECIMAL_INVALID;
	r->bits.separators = calloc(nwords + 1, sizeof(uint64_t));
	r->bits.newlines = calloc(nwords + 1, sizeof(uint64_t));
	r->bits.quotes = calloc(nwords + 1, sizeof(uint64_t));
	r->hints = calloc(plan->ncolumns + 1, sizeof *r->hints);
	if (!r->bits.separators || !r->bits.newlines || !r->bits.quotes || !r->hints)
		return STATUS_NO_MEMORY;
	return reserve(r, WINDOW_NBYTES);
}

void rows_free(struct rows *r)
{
	free(r->bits.separators);
	free(r->bits.newlines);
	free(r->bits.quotes);
	free(r->hints);
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

csv_map rows_scan(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines)
{
	size_t nwords = nwords_of(nbytes), whole = nbytes / SIMD_WORD_NBYTES;
	struct simd_counts counts = simd()->scan(text, whole, r->plan->delimiter, r->bits);

	if (whole < nwords) { /* bytes behind the text are not the text's */
		struct simd_bits last = {r->bits.separators + whole, r->bits.newlines + whole,
					 r->bits.quotes + whole};
		uint64_t valid = (UINT64_C(1) << nbytes % SIMD_WORD_NBYTES) - 1;
		simd()->scan(text + whole * SIMD_WORD_NBYTES, 1, r->plan->delimiter, last);
		*last.separators &= valid;
		*last.newlines &= valid;
		*last.quotes &= valid;
		counts.nlines += (uint64_t)__builtin_popcountll(*last.newlines);
		counts.nquotes |= *last.quotes;
	}
	r->counts = counts;
	*nlines = counts.nlines;
	r->nwords = r->resolved.begin = r->resolved.end = nwords;
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

/* Sees to the quotes in words [at->word, end). Returns false where parity does not tell. */
static bool resolve(struct rows *r, size_t end, struct place *at)
{
	size_t begin = at->word;

	if (r->counts.nquotes == 0 && !at->quotes.inside)
		return true;
	if (end > r->resolved.end && r->resolved.begin < r->nwords)
		return false;
	end = end < r->resolved.begin ? end : r->resolved.begin;
	return begin >= end || quotes_resolve(r->bits, begin, end, &at->quotes);
}

/* Appends the positions of the window at `at`, and goes on. *regular: whether it could. */
static enum status next_window(struct rows *r, struct place *at, bool *regular)
{
	size_t end = r->nwords - at->word < WINDOW_NWORDS ? r->nwords : at->word + WINDOW_NWORDS;
	size_t n = end - at->word;
	uint32_t base = (uint32_t)(at->word * SIMD_WORD_NBYTES);

	*regular = resolve(r, end, at);
	if (!*regular)
		return STATUS_OK;
	if (reserve(r, WINDOW_NBYTES) != STATUS_OK)
		return STATUS_NO_MEMORY;
	r->nends += simd()->positions(r->bits.separators + at->word, n, base, r->ends + r->nends);
	r->nlines = simd()->count(r->bits.newlines + at->word, n);
	at->word = end;
	return STATUS_OK;
}

/* ---- folding ---- */

/* What one call of rows_fold works on. */
struct folding {
	struct rows *rows;
	const char *text;
	struct scratch *scratch;
	struct partial *out;
};

/* Rows with the same number of fields: ends[0 .. nrows x stride), ends[-1] before them. */
struct run_of_rows {
	const uint32_t *ends;
	size_t stride, nrows;
};

static struct field_span field_of(const struct folding *f, const uint32_t *end, bool drops_cr)
{
	struct field_span span = {(uint32_t)(end[-1] + 1), end[0]};

	if (drops_cr && span.end > span.begin && f->text[span.end - 1] == '\r')
		span.end--;
	return span;
}

/* Folds a field that is not a plain number. */
static enum status fold_field(const struct folding *f, size_t c, struct field_span span)
{
	return column_take(f->rows->plan, f->out, c, f->text + span.begin, span.end - span.begin,
			   span.begin, f->scratch);
}

/* At the row that a fold began with: before its first number there may be missing values. */
static void note_first_number(struct column_partial *column, size_t offset)
{
	if (column->first_number_offset == OFFSET_NONE)
		column->first_number_offset = offset;
}

/* Folds column c of the run, which all its rows have. */
static enum status fold_column(const struct folding *f, size_t c, const struct run_of_rows *some)
{
	const struct plan_column *column = &f->rows->plan->columns[c];
	struct column_partial *partial = &f->out->columns[c];
	bool drops_cr = column->field == some->stride - 1;
	const uint32_t *end = some->ends + column->field;
	size_t left = some->nrows;

	while (left > 0) {
		if (column->parses && !f->rows->missing_is_number) {
			uint64_t before = partial->fast.count;
			size_t n = simd()->fold(f->text, end, some->stride, left, drops_cr,
						&partial->fast, &partial->nmissing,
						&f->rows->hints[c]);
			if (n > 0 && partial->fast.count > before)
				note_first_number(partial, (uint32_t)(end[-1] + 1));
			end += n * some->stride;
			left -= n;
		}
		if (left > 0) {
			enum status status = fold_field(f, c, field_of(f, end, drops_cr));
			if (status != STATUS_OK)
				return status;
			end += some->stride;
			left--;
		}
	}
	return STATUS_OK;
}

static bool is_blank(const struct folding *f, const struct run_of_rows *row)
{
	struct field_span span = field_of(f, row->ends, true);

	return row->stride == 1 && span.end == span.begin && !f->rows->plan->one_column;
}

static enum status fold_run(const struct folding *f, const struct run_of_rows *some)
{
	const struct plan *plan = f->rows->plan;
	enum status status = STATUS_OK;

	if (is_blank(f, some))
		return STATUS_OK; /* it is the only one: see take_rows */
	if (plan->ncolumns > 0 && plan->columns[plan->ncolumns - 1].field >= some->stride) {
		f->out->nshort += some->nrows;
		if (f->out->first_short_offset == OFFSET_NONE)
			f->out->first_short_offset = (uint32_t)(some->ends[-1] + 1);
		return STATUS_OK;
	}
	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++)
		if (plan->columns[c].folds)
			status = fold_column(f, c, some);
	return status;
}

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

/* The first of nlines rows from ends[0] on, and those after it that have as many fields. */
static struct run_of_rows next_run(const char *text, const uint32_t *ends, size_t nlines)
{
	size_t stride = nfields_of(text, ends), nrows = 1;

	if (stride > 1) /* rows of one field may be blank lines: one at a time */
		while (nrows < nlines && nfields_of(text, ends + nrows * stride) == stride)
			nrows++;
	return (struct run_of_rows){ends, stride, nrows};
}

/* Folds the window's rows that are complete, and keeps the positions of the one that is not. */
static enum status take_rows(const struct folding *f)
{
	struct rows *r = f->rows;
	bool regular = r->stride > 1 && is_regular(f->text, r->ends, r->nends, r->nlines, r->stride);
	size_t done = 0;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && r->nlines > 0) {
		struct run_of_rows some = {r->ends, r->stride, r->nlines};
		if (!regular)
			some = next_run(f->text, r->ends + done, r->nlines);
		status = fold_run(f, &some);
		done += some.nrows * some.stride;
		r->nlines -= some.nrows;
		r->stride = some.stride;
	}
	if (done > 0) {
		f->out->tail_offset = (size_t)r->ends[done - 1] + 1;
		memmove(r->ends - 1, r->ends + done - 1, (r->nends - done + 1) * sizeof *r->ends);
		r->nends -= done;
	}
	return status;
}

/* The first record that ends in the window began before the text: passes over it. Returns
 * whether there is one. */
static bool pass_head(const struct folding *f)
{
	struct rows *r = f->rows;
	size_t n;

	if (r->nlines == 0) {
		r->nends = 0;
		return false;
	}
	n = nfields_of(f->text, r->ends);
	f->out->head_ends = true;
	f->out->head_nbytes = f->out->tail_offset = (size_t)r->ends[n - 1] + 1;
	memmove(r->ends - 1, r->ends + n - 1, (r->nends - n + 1) * sizeof *r->ends);
	r->nends -= n;
	r->nlines--;
	return true;
}

/* Where a fold begins. If it is not known how the text is entered: where that does not matter any
 * longer; or, if that is nowhere, at the text's beginning and outside quotes. */
static struct place enter(const struct rows *r, struct chunk_entry entry)
{
	if (entry.unknown && r->resolved.begin < r->nwords)
		return (struct place){r->resolved.begin, r->resolved.at};
	return (struct place){0, quotes_enter(entry.state)};
}

static enum status fold_windows(const struct folding *f, size_t nbytes, struct chunk_entry entry,
				size_t *left)
{
	struct rows *r = f->rows;
	struct place at = enter(r, entry);
	bool in_head = entry.inside_record, regular = true;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && at.word < r->nwords) {
		status = next_window(r, &at, &regular);
		if (status != STATUS_OK || !regular)
			break;
		if (in_head && !pass_head(f))
			continue;
		in_head = false;
		status = take_rows(f);
	}
	if (in_head)
		f->out->head_nbytes = f->out->tail_offset = nbytes;
	*left = regular ? nbytes : in_head ? SIZE_MAX : f->out->tail_offset;
	return status;
}

enum status rows_fold(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      struct scratch *scratch, struct partial *out, size_t *left)
{
	struct folding f = {r, text, scratch, out};

	r->nends = 0;
	r->ends[-1] = UINT32_MAX; /* a row begins behind it, at 0 */
	return fold_windows(&f, nbytes, entry, left);
}
