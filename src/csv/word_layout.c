/* SPDX-License-Identifier: MIT
 *
 * word_layout.c - see word_layout.h.
 */
#include "csv/word_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "number/decimal.h"

/* ---- words ---- */

/* One word of a line, in bytes and in columns. */
struct word {
	size_t begin, end;
	uint32_t left, right;
	bool follows_odd; /* the columns are not certain */
	/* Of a header's: */
	bool has_below; /* a word stands below this one alone */
	bool is_joined; /* a word stands below this one and the next */
};

/* A walk over the words of a line. Zeroed but for the line: before the first. */
struct word_walk {
	struct word_line line;
	size_t at;
	uint32_t column;
	bool is_odd; /* a character before `at` is not one column wide */
};

/* Moves by one character. */
static void step(struct word_walk *w)
{
	const char *c = w->line.text + w->at;
	size_t length = 1;

	if (*c == '\t')
		w->column |= 7;
	else if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
		w->is_odd |= utf8_next_width(c, w->line.nbytes - w->at, &length) != 1;
	w->at += length;
	w->column++;
}

static bool next_word(struct word_walk *w, struct word *out)
{
	while (w->at < w->line.nbytes && decimal_is_blank(w->line.text[w->at]))
		step(w);
	*out = (struct word){.begin = w->at, .left = w->column, .follows_odd = w->is_odd};
	while (w->at < w->line.nbytes && !decimal_is_blank(w->line.text[w->at]))
		step(w);
	out->end = w->at;
	out->right = w->column;
	return out->end > out->begin;
}

static bool meets(const struct word *w, struct word_name n)
{
	return w->left < n.end && w->right > n.begin;
}

/* Whether columns [left, right) stand below a name. */
static bool stands_below(uint32_t left, uint32_t right, struct word_name n)
{
	return left == n.begin || right == n.end || (left > n.begin && right < n.end);
}

/* ---- below the names ---- */

/* A cut that goes on. Words with one blank between them are a cluster: one value, or a value below each of several names. */
struct below {
	const struct word_layout *layout;
	uint32_t *ends;
	size_t nfields; /* so far, empty ones too */
	size_t end;     /* of the last value, in bytes */
	size_t name;    /* the first that words to come may meet */
	struct word_walk start; /* of the cluster: before its first word */
	struct word whole;      /* all of it */
	size_t nwords, first, last; /* its words, and the names that they meet */
	bool floats;            /* some meet none */
};

/* Adds a value that begins at a byte. The names passed over have no value: their fields are blanks before it. */
static bool add_field(struct below *b, size_t name, size_t begin)
{
	size_t nseparators = name - b->nfields + (b->nfields > 0);

	if (name < b->nfields || begin - b->end < nseparators)
		return false;
	for (size_t i = 0; i < nseparators; i++)
		b->ends[name - nseparators + i] = (uint32_t)(begin - nseparators + i);
	b->nfields = name + 1;
	return true;
}

static bool add_value(struct below *b, size_t name, const struct word *value)
{
	if (!stands_below(value->left, value->right, b->layout->names[name]) || !add_field(b, name, value->begin))
		return false;
	b->end = value->end;
	return true;
}

/* Adds the cluster's values, and begins the next one. */
static bool end_cluster(struct below *b)
{
	const struct word_name *names = b->layout->names;
	struct word_walk walk = b->start;
	struct word w, value = {0};
	size_t n = b->nwords, name = b->first;
	bool adds = true, is_several = false;

	b->nwords = 0;
	if (n == 0)
		return true;
	if (b->first == SIZE_MAX)
		return false;
	if (b->first == b->last)
		return add_value(b, b->first, &b->whole);
	if (b->floats)
		return false;
	for (size_t i = 0; i <= n && adds; i++) {
		bool is_next = i == n || (next_word(&walk, &w) && !meets(&w, names[name]));
		if (is_next) {
			/* Several words are a value where they stand below all of a name, as those of the header itself. */
			bool fills = value.left == names[name].begin && value.right == names[name].end;
			adds = (!is_several || fills) && add_value(b, name, &value);
			value = (struct word){0};
			while (i < n && !meets(&w, names[name]))
				name++;
		}
		is_several = value.end > 0;
		value = is_several ? (struct word){.begin = value.begin, .end = w.end, .left = value.left, .right = w.right} : w;
	}
	return adds;
}

/* Adds a word to the cluster. */
static bool add_word(struct below *b, const struct word *w)
{
	const struct word_layout *l = b->layout;

	if (b->nwords++ == 0) {
		b->whole = *w;
		b->first = b->last = SIZE_MAX;
		b->floats = false;
	}
	b->whole.end = w->end;
	b->whole.right = w->right;
	while (b->name < l->nnames && l->names[b->name].end <= w->left)
		b->name++;
	if (b->name == l->nnames || !meets(w, l->names[b->name])) {
		b->floats = true;
		return true;
	}
	b->last = b->name;
	if (b->first == SIZE_MAX)
		b->first = b->name;
	return b->name + 1 == l->nnames || !meets(w, l->names[b->name + 1]);
}

/* Cuts a line below the names. Returns the number of fields, or 0. */
static size_t cut_below(const struct word_layout *l, struct word_line line, uint32_t *ends)
{
	struct below b = {.layout = l, .ends = ends};
	struct word_walk walk = {.line = line}, before = walk;
	struct word w;
	uint32_t right = 0; /* of the word before */

	for (; next_word(&walk, &w); before = walk, right = w.right) {
		bool is_rest = w.left == l->names[l->nnames - 1].begin && !w.follows_odd;
		if ((is_rest || w.left - right > 1) && !end_cluster(&b))
			return 0;
		if (is_rest && add_field(&b, l->nnames - 1, w.begin)) {
			ends[l->nnames - 1] = (uint32_t)line.nbytes;
			return l->nnames;
		}
		if (b.nwords == 0)
			b.start = before;
		if (is_rest || walk.is_odd || !add_word(&b, &w))
			return 0;
	}
	if (!end_cluster(&b) || b.nfields == 0)
		return 0;
	ends[b.nfields - 1] = (uint32_t)line.nbytes;
	return b.nfields;
}

/* ---- at blanks ---- */

size_t word_layout_cut_words(struct word_line line, size_t n, uint32_t *ends)
{
	size_t nwords = 0, at = 0;

	for (;;) {
		while (at < line.nbytes && decimal_is_blank(line.text[at]))
			at++;
		if (at == line.nbytes || nwords == n)
			break;
		if (nwords > 0)
			ends[nwords - 1] = (uint32_t)at - 1;
		nwords++;
		while (at < line.nbytes && !decimal_is_blank(line.text[at]))
			at++;
	}
	if (nwords > 0)
		ends[nwords - 1] = (uint32_t)line.nbytes;
	return nwords + (at < line.nbytes);
}

size_t word_layout_cut(const struct csv_dialect *dialect, struct word_line line, uint32_t *ends)
{
	const struct word_layout *l = dialect->layout;
	size_t n = dialect->nfields, nwords, nfields;

	if (!l->by_words)
		return cut_below(l, line, ends);
	nwords = word_layout_cut_words(line, n, ends);
	if (nwords == n && !word_layout_is_shifted(l, line))
		return n;
	nfields = l->by_columns ? cut_below(l, line, ends) : 0;
	if (nfields || nwords == n)
		return nfields;
	if (nwords < n ? l->shorter_fails : !l->takes_rest || !word_layout_is_pushed(l, line))
		return 0;
	return word_layout_cut_words(line, n, ends) < n ? nwords : n;
}

bool word_layout_is_pushed(const struct word_layout *l, struct word_line line)
{
	struct word_walk walk = {.line = line};
	uint32_t pushed = 0;
	struct word w;

	for (size_t i = 0; i < l->nnames; i++) {
		struct word_name n = l->names[i];
		bool is_last = i + 1 == l->nnames;
		if (!next_word(&walk, &w) || w.follows_odd)
			return false;
		if (is_last ? w.left < n.begin || w.left > n.begin + pushed
			    : !stands_below(w.left, w.right, n) &&
				      (w.right <= n.end || w.left >= n.end + pushed || (i > 0 && w.left < l->names[i - 1].end)))
			return false;
		if (w.right > n.end && w.right - n.end > pushed)
			pushed = w.right - n.end;
	}
	return true;
}

/* ---- finding the names ---- */

/* A header's words, and what records' words say of them. */
struct header_words {
	const char *text;
	size_t n;
	struct word *words; /* owned */
	uint32_t lead_begin, lead_end; /* columns of the words left of all; equal if no word stands there */
	bool is_odd;
};

static bool split_header(struct word_line header, struct header_words *h)
{
	struct word_walk walk = {.line = header};
	struct word w;
	size_t n = 0;

	*h = (struct header_words){.text = header.text};
	while (next_word(&walk, &w))
		h->n++;
	h->words = malloc((h->n + 1) * sizeof *h->words);
	h->is_odd = walk.is_odd;
	walk = (struct word_walk){.line = header};
	while (h->words && n < h->n)
		next_word(&walk, &h->words[n++]);
	return h->words != NULL;
}

/* Whether one blank stands between header words i and i + 1. */
static bool is_close(const struct header_words *h, size_t i)
{
	return h->words[i + 1].left - h->words[i].right == 1;
}

/* Whether header words i and i + 1 are one name: "Mounted on" goes on in lower case. */
static bool is_one_name(const struct header_words *h, size_t i)
{
	char first = h->text[h->words[i].begin], next = h->text[h->words[i + 1].begin];

	return is_close(h, i) && (h->words[i].is_joined || !h->words[i].has_below || !h->words[i + 1].has_below ||
				  (first >= 'A' && first <= 'Z' && next >= 'a' && next <= 'z'));
}

/* Whether something shows that the names are aligned with what is below. */
static bool is_padded(const struct header_words *h)
{
	bool padded = h->n > 0 && h->words[0].left > 0;

	for (size_t i = 0; i + 1 < h->n && !padded; i++)
		padded = !is_close(h, i);
	return padded;
}

/* Takes in a record. Returns whether it may stand below the names. */
static bool look_at(struct header_words *h, struct word_line record)
{
	struct word_walk walk = {.line = record};
	struct word w, lead = {0};
	size_t i = 0;

	while (next_word(&walk, &w) && !walk.is_odd) {
		struct word_name name;
		while (i + 1 < h->n && h->words[i].right <= w.left)
			i++;
		name = (struct word_name){h->words[i].left, h->words[i].right};
		if (w.right <= h->words[0].left) { /* left of all */
			if (lead.right == 0)
				lead.left = w.left;
			lead.right = w.right;
			continue;
		}
		if (lead.right && w.left - lead.right > 1) {
			bool is_first = h->lead_end == 0;
			h->lead_begin = is_first || lead.left < h->lead_begin ? lead.left : h->lead_begin;
			h->lead_end = lead.right > h->lead_end ? lead.right : h->lead_end;
		}
		lead.right = 0;
		if (i + 1 == h->n && w.left == name.begin) {
			h->words[i].has_below = true;
			return true;
		}
		if (i + 1 == h->n || !meets(&w, (struct word_name){h->words[i + 1].left, h->words[i + 1].right})) {
			h->words[i].has_below |= meets(&w, name) && stands_below(w.left, w.right, name);
			continue;
		}
		for (size_t k = i; k + 1 < h->n && w.right > h->words[k + 1].left; k++) {
			if (!is_close(h, k))
				return false;
			h->words[k].is_joined = true;
		}
	}
	return !walk.is_odd;
}

/* Makes the layout of what is known. */
static bool make_layout(const struct header_words *h, bool joins, struct word_layout **out)
{
	struct word_layout *l = calloc(1, sizeof *l + (h->n + 1) * sizeof *l->names);

	if (!l)
		return false;
	if (joins && h->lead_end)
		l->names[l->nnames++] = (struct word_name){h->lead_begin, h->lead_end};
	for (size_t i = 0; i < h->n; i++) {
		if (joins && i > 0 && is_one_name(h, i - 1))
			l->names[l->nnames - 1].end = h->words[i].right;
		else
			l->names[l->nnames++] = (struct word_name){h->words[i].left, h->words[i].right};
	}
	*out = l;
	return true;
}

bool word_layout_find(const struct word_line *lines, size_t nlines, struct word_layout **out)
{
	struct header_words h;
	bool has_memory = split_header(lines[0], &h), fits = has_memory && !h.is_odd && is_padded(&h);
	uint32_t *ends = NULL;

	*out = NULL;
	for (size_t i = 1; i < nlines && fits; i++)
		fits = look_at(&h, lines[i]);
	if (fits) {
		ends = malloc((h.n + 1) * sizeof *ends);
		has_memory = ends && make_layout(&h, true, out);
	}
	if (has_memory && *out) {
		(*out)->by_columns = (*out)->takes_rest = true;
		fits = (*out)->nnames >= 2;
		for (size_t i = 0; i < nlines && fits; i++)
			fits = cut_below(*out, lines[i], ends) > 0;
		if (!fits) {
			free(*out);
			*out = NULL;
		}
	}
	free(ends);
	free(h.words);
	return has_memory;
}

bool word_layout_of_words(struct word_line header, struct word_layout **out)
{
	struct header_words h;
	bool has_memory = split_header(header, &h) && make_layout(&h, false, out);

	if (has_memory) {
		(*out)->by_words = true;
		(*out)->takes_rest = is_padded(&h);
	}
	free(h.words);
	return has_memory;
}

bool word_layout_agrees(const struct word_layout *l, const struct word_line *records, size_t nrecords, bool *agrees)
{
	uint32_t *ends = malloc(2 * l->nnames * sizeof *ends), *words = ends + l->nnames;

	*agrees = nrecords > 0;
	for (size_t i = 0; i < nrecords && ends && *agrees; i++)
		*agrees = cut_below(l, records[i], ends) == l->nnames &&
			  word_layout_cut_words(records[i], l->nnames, words) >= l->nnames &&
			  !memcmp(ends, words, l->nnames * sizeof *ends);
	free(ends);
	return ends != NULL;
}

bool word_layout_is_shifted(const struct word_layout *l, struct word_line line)
{
	struct word_walk walk = {.line = line};
	struct word w;
	bool meets_any = false;

	if (l->names[0].begin == 0 || !next_word(&walk, &w) || meets(&w, l->names[0]))
		return false;
	do {
		for (size_t i = 0; i < l->nnames && !meets_any; i++)
			meets_any = meets(&w, l->names[i]);
	} while (!meets_any && next_word(&walk, &w));
	return meets_any;
}

bool word_layout_suffices(const struct word_layout *l, const struct word_line *records, size_t nrecords)
{
	bool all = true;

	for (size_t i = 0; i < nrecords && all; i++) {
		struct word_walk walk = {.line = records[i]};
		struct word w;
		size_t nwords = 0;
		while (nwords <= l->nnames && next_word(&walk, &w))
			nwords++;
		all = nwords == l->nnames && !word_layout_is_shifted(l, records[i]);
	}
	return all;
}

bool word_layout_is_same(const struct word_layout *a, const struct word_layout *b)
{
	if (!a || !b || a->nnames != b->nnames)
		return a == b;
	return a->by_words == b->by_words && a->by_columns == b->by_columns && a->takes_rest == b->takes_rest &&
	       !memcmp(a->names, b->names, a->nnames * sizeof *a->names);
}
