/* SPDX-License-Identifier: MIT
 *
 * text_rows.c - see text_rows.h.
 */
#include "fold/text_rows.h"

#include <stdlib.h>
#include <string.h>

#include "fold/keys.h"
#include "number/decimal.h"

/* ---- classes ---- */

/* Whether no number in the notation, another one than decimal.h's, begins with this byte. */
static bool begins_no_number(const struct number_notation *n, unsigned char byte)
{
	if (byte == 'P' && n->durations) /* PT1H */
		return false;
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z' && !n->money);
}

static enum text_class class_of(const struct plan *plan, unsigned char byte, bool parses)
{
	const struct number_notation *n = &plan->notation;

	if (byte == 0 || decimal_is_blank((char)byte))
		return TEXT_UNSURE;
	if (byte == (unsigned char)plan->dialect.quote)
		return TEXT_QUOTE;
	if (!parses)
		return TEXT_SURE;
	if (!notation_is_plain(n))
		return begins_no_number(n, byte) ? TEXT_SURE : TEXT_UNSURE;
	return decimal_is_digit((char)byte) || strchr("+-.", byte) ? TEXT_DIGITS : TEXT_SURE;
}

static void text_classes_init(struct text_classes *k, const struct plan *plan)
{
	memset(k, TEXT_UNSURE, sizeof *k);
	k->quote = plan->dialect.quote;
	if (plan->dialect.escape)
		return;
	for (unsigned byte = 0; byte < 256; byte++) {
		k->parsed[byte] = (unsigned char)class_of(plan, (unsigned char)byte, true);
		k->plain[byte] = (unsigned char)class_of(plan, (unsigned char)byte, false);
	}
	for (size_t i = 0; i < plan->nmissing; i++) {
		unsigned char first = (unsigned char)*plan->missing[i];
		k->parsed[first] = k->plain[first] = TEXT_UNSURE;
	}
}

/* Whether the first 8 bytes have two points, as an IPv4 address does: no number has. */
static inline bool has_two_points(const char *text)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
	uint64_t x = key_load(text) ^ UINT64_C(0x2e2e2e2e2e2e2e2e);
	uint64_t points = ~(((x & low) + low) | x | low); /* the top bit of each byte that was one */

	return (points & (points - 1)) != 0;
}

/* Whether text[0 .. nbytes), which begins with a digit, a sign or a point, surely is no number. */
static bool is_no_number(const char *text, uint32_t nbytes)
{
	unsigned npoints = *text == '.';

	if (nbytes >= 8 && has_two_points(text))
		return true;
	for (uint32_t i = 1; i < nbytes; i++) {
		char c = text[i];
		if (decimal_is_digit(c))
			continue;
		if (c == '.' && ++npoints < 2)
			continue;
		if ((c | 0x20) == 'e' || decimal_is_blank(c))
			return false; /* an exponent, or the number's end: unsure */
		return true;
	}
	return false;
}

bool text_is_no_number(const struct text_folder *f, const char *text, size_t nbytes)
{
	enum text_class class = nbytes ? (enum text_class)f->classes.parsed[(unsigned char)*text] : TEXT_UNSURE;

	return class == TEXT_SURE || (class == TEXT_DIGITS && is_no_number(text, (uint32_t)nbytes));
}

/* ---- rows ---- */

/* The value of row r's field, quotes and all. */
static inline struct text_at field_at(const struct text_rows *fields, unsigned row)
{
	const uint32_t *end = fields->ends + row * fields->stride;
	uint32_t begin = end[-1] + 1, nbytes = end[0] - begin;

	if (fields->drops_cr && nbytes > 0 && fields->text[begin + nbytes - 1] == '\r')
		nbytes--;
	return (struct text_at){fields->text + begin, nbytes, 0};
}

/* Takes the quotes off a quoted field. Returns false where bytes must be taken out of its midst. */
static inline bool unquote(struct text_at *x, char quote)
{
	if (x->nbytes < 2 || x->text[x->nbytes - 1] != quote)
		return false;
	x->text++;
	x->nbytes -= 2;
	return !memchr(x->text, quote, x->nbytes);
}

/* Adds a value unless it may be missing or a number. */
static inline bool take(const unsigned char *classes, bool parses, const struct text_at *x,
			struct text_run *run)
{
	enum text_class class = (enum text_class)classes[(unsigned char)*x->text];
	enum time_form form = TIME_NONE;

	if (class != TEXT_SURE && class != TEXT_DIGITS)
		return false;
	if (!run->has_other && (class == TEXT_DIGITS || !parses))
		form = time_form_of(x->text, x->nbytes);
	if (class == TEXT_DIGITS && form == TIME_NONE && !is_no_number(x->text, x->nbytes))
		return false;
	text_run_note_date(run, form);
	text_run_add(run, x->text, x->nbytes);
	return true;
}

/* Whether two values of the same length, 8 to 24 bytes, are equal. Others may be and are not seen. */
static inline bool is_repeated(const struct text_at *x, const struct text_at *last)
{
	uint32_t n = x->nbytes;

	if (n != last->nbytes || n - 8 > 16 || key_load(x->text) != key_load(last->text))
		return false;
	return key_load(x->text + n - 8) == key_load(last->text + n - 8) &&
	       key_load(x->text + n / 2 - 4) == key_load(last->text + n / 2 - 4);
}

/* Some of 64 rows, a bit each: those whose value was added, and those whose value is missing. */
struct text_taken {
	uint64_t texts, missing;
	struct key_span *spans; /* room for the values' places; NULL: they are not needed */
};

static inline void note_span(struct text_taken *taken, const struct text_rows *fields,
			     const struct text_at *x)
{
	uint32_t begin = (uint32_t)(x->text - fields->text);

	if (taken->spans)
		*taken->spans++ = (struct key_span){begin, begin + x->nbytes};
}

/* Adds to run the values of `rows` that are surely no numbers, or, if the column does not parse,
 * surely present. The text has no NUL. */
static void fold_others(const struct text_classes *k, const struct text_rows *fields, uint64_t rows,
			struct text_run *run, struct text_taken *taken)
{
	const unsigned char *classes = fields->parses ? k->parsed : k->plain;
	struct text_at last = {NULL, 0, 0}; /* the value added last: in sorted columns, many equal it */

	for (; rows; rows &= rows - 1) {
		struct text_at x = field_at(fields, (unsigned)__builtin_ctzll(rows));
		uint64_t row = rows & -rows;
		if (x.nbytes > 0 && classes[(unsigned char)*x.text] == TEXT_QUOTE &&
		    !unquote(&x, k->quote))
			continue;
		if (x.nbytes == 0) {
			taken->missing |= row;
			continue;
		}
		if (is_repeated(&x, &last))
			run->count++;
		else if (take(classes, fields->parses, &x, run))
			last = x;
		else
			continue;
		taken->texts |= row;
		note_span(taken, fields, &x);
	}
}

static void fold_numbers(const struct text_rows *fields, uint64_t rows, struct text_run *run)
{
	if (rows)
		run->has_other = true;
	for (; rows; rows &= rows - 1) {
		struct text_at x = field_at(fields, (unsigned)__builtin_ctzll(rows));
		text_run_add(run, x.text, x.nbytes);
	}
}

/* ---- a column ---- */

#define MOSTLY(nrows, of) (4 * (nrows) > (of))
#define SHORT_NBYTES ((size_t)64 << 10)

static bool asks_texts(const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_texts(&plan->columns[c]))
			return true;
	return false;
}

enum status text_folder_init(struct text_folder *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	text_classes_init(&f->classes, plan);
	if (!asks_texts(plan))
		return STATUS_OK;
	f->states = calloc(plan->ncolumns + 1, sizeof *f->states);
	NEED(f->states);
	for (size_t c = 0; c < plan->ncolumns; c++)
		f->states[c] = (struct text_state){true, plan->columns[c].parses};
	return STATUS_OK;
}

void text_folder_free(struct text_folder *f)
{
	free(f->states);
	memset(f, 0, sizeof *f);
}

/* A short text, as the record across two chunks, is no reason to believe that a column of numbers
 * and texts has numbers only, and costs little. */
void text_folder_begin(struct text_folder *f, const char *text, size_t nbytes)
{
	f->text = text;
	f->nbytes = nbytes;
	f->has_nul = -1;
	for (size_t c = 0; f->states && c < f->plan->ncolumns; c++)
		f->states[c].numbers_too |= !f->plan->guesses_texts || nbytes < SHORT_NBYTES;
}

void text_folder_end(struct text_folder *f, const struct partial *out)
{
	for (size_t c = 0; f->states && c < f->plan->ncolumns; c++)
		f->states[c].numbers_too = out->columns[c].ninvalid > 0;
}

static bool has_nul(struct text_folder *f)
{
	if (f->has_nul < 0)
		f->has_nul = memchr(f->text, '\0', f->nbytes) != NULL;
	return f->has_nul;
}

/* Counts the rows that were added. */
static void count_taken(struct column_partial *out, const struct text_rows *fields,
			const struct text_taken *taken)
{
	uint64_t ntexts = (uint64_t)__builtin_popcountll(taken->texts);
	const uint32_t *end;
	size_t begin;

	out->nmissing += (uint64_t)__builtin_popcountll(taken->missing);
	if (!fields->parses) {
		out->numbers.count += ntexts;
	} else if (ntexts > 0) {
		end = fields->ends + (size_t)__builtin_ctzll(taken->texts) * fields->stride;
		begin = (uint32_t)(end[-1] + 1);
		out->ninvalid += ntexts;
		if (begin < out->first_invalid_offset)
			out->first_invalid_offset = begin;
	}
}

/* Makes room for the keys of rows, if the column needs its texts' keys. Errors: STATUS_NO_MEMORY. */
static enum status note_keys(const struct text_folder *f, size_t c, const struct text_rows *fields,
			     uint64_t rows, struct partial *out, struct keys **keys,
			     struct key_span **spans)
{
	const struct plan_column *plan = &f->plan->columns[c];
	int cell = fields->parses ? CELL_TEXT_KEYS : CELL_KEYS;

	if (!rows || !(plan->needs & MOMENT_KEYS) ||
	    (fields->parses && !plan_column_keeps_text_keys(plan)))
		return STATUS_OK;
	*keys = moments_need(&out->columns[c].moments, cell);
	if (*keys)
		*spans = keys_note(*keys, keys_wanted_of(plan), f->text, out->offset_bytes,
				   (size_t)__builtin_popcountll(rows));
	return *keys && *spans ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Chooses how the column's next rows are folded. */
static void adapt(struct text_state *state, bool parses, uint64_t numbers, uint64_t texts,
		  uint64_t left)
{
	int nnumbers = __builtin_popcountll(numbers), ntexts = __builtin_popcountll(texts);
	int nleft = __builtin_popcountll(left);

	state->numbers_too |= ntexts > 0 || nleft > 0;
	state->converts = parses && MOSTLY(nnumbers + nleft, nnumbers + ntexts + nleft);
}

enum status text_folder_numbers(const struct text_rows *fields, size_t nrows,
				struct column_partial *out)
{
	struct texts *texts = moments_need(&out->moments, CELL_TEXTS);
	struct text_rows at = *fields;
	struct text_run run;

	NEED(texts);
	text_run_begin(&run, texts);
	for (size_t i = 0; i < nrows; i++, at.ends += at.stride) {
		struct text_at x = field_at(&at, 0);
		if (x.nbytes > 0)
			text_run_add(&run, x.text, x.nbytes);
	}
	run.has_other |= run.count > texts->count;
	return text_run_end(&run, texts, NULL, true);
}

enum status text_folder_rows(struct text_folder *f, size_t c, const struct text_rows *fields,
			     uint64_t numbers, uint64_t *others, struct partial *out)
{
	struct text_state *state = &f->states[c];
	struct column_partial *column = &out->columns[c];
	struct texts *texts = moments_need(&column->moments, CELL_TEXTS);
	struct text_taken taken = {0, 0, NULL};
	struct text_run run;
	struct keys *keys = NULL;

	if (!texts || note_keys(f, c, fields, *others, out, &keys, &taken.spans) != STATUS_OK)
		return STATUS_NO_MEMORY;
	text_run_begin(&run, texts);
	if (*others && !has_nul(f))
		fold_others(&f->classes, fields, *others, &run, &taken);
	if (keys)
		keys->log.nspans += (size_t)__builtin_popcountll(taken.texts);
	count_taken(column, fields, &taken);
	*others &= ~(taken.texts | taken.missing);
	adapt(state, fields->parses, numbers, taken.texts, *others);
	if (state->numbers_too)
		fold_numbers(fields, numbers, &run);
	return text_run_end(&run, texts, NULL, true);
}
