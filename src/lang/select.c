/* SPDX-License-Identifier: MIT
 *
 * select.c - see select.h.
 */
#include "lang/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "number/decimal.h"

#define BLIND_RANGE_LIMIT 4096 /* the most columns of a range if the input is empty */

/* ---- the list ---- */

const char *selector_unquote(const char *text, char *to)
{
	for (text++; *text; text++) {
		if (*text == '"' && *++text != '"') {
			*to = '\0';
			return text;
		}
		*to++ = *text;
	}
	return NULL;
}

/* Reads the item at p into s. Returns its end, or NULL if it is malformed. */
static const char *parse_item(const char *p, struct selector *s)
{
	size_t nbytes = strcspn(p, ",");

	s->quoted = *p == '"';
	if (s->quoted) {
		p = selector_unquote(p, s->text);
		return p && (*p == ',' || !*p) ? p : NULL;
	}
	memcpy(s->text, p, nbytes);
	s->text[nbytes] = '\0';
	return nbytes ? p + nbytes : NULL;
}

enum status selection_parse(const char *cols, struct selection *out, struct fault *fault)
{
	for (const char *p = cols;; p++) {
		size_t plain = strcspn(p, ",\"");
		struct selector *s = ARRAY_ADD(out->selectors, out->nselectors);
		NEED(s);
		NEED(s->text = malloc((p[plain] == '"' ? strlen(p) : plain) + 1));
		out->nselectors++;
		p = parse_item(p, s);
		if (!p)
			return option_fault(fault, "'%.128s' is not a list of columns: %s", cols,
					    s->quoted ? "a quote does not close its item" : "an item is empty");
		if (!*p)
			return STATUS_OK;
	}
}

void selection_free(struct selection *s)
{
	for (size_t i = 0; i < s->nselectors; i++)
		free(s->selectors[i].text);
	free(s->selectors);
	memset(s, 0, sizeof *s);
}

/* ---- positions ---- */

/* Reads a field's number, counted from 1. Returns what follows, or NULL. */
static const char *parse_field(const char *p, uint32_t *field)
{
	uint32_t number = 0;

	if (!decimal_is_digit(*p))
		return NULL;
	for (; decimal_is_digit(*p); p++)
		if (number <= FIELD_LIMIT)
			number = number * 10 + (uint32_t)(*p - '0');
	*field = number - 1;
	return number >= 1 && number <= FIELD_LIMIT ? p : NULL;
}

/* N-M, N- or -M. */
static bool parse_range(const char *p, size_t nfields, struct field_range *out)
{
	out->first = 0;
	if (*p != '-' && !(p = parse_field(p, &out->first)))
		return false;
	if (*p++ != '-')
		return false;
	out->last = nfields ? (uint32_t)nfields - 1 : out->first;
	if (!*p)
		return out->first <= out->last;
	p = parse_field(p, &out->last);
	return p && !*p && out->first <= out->last;
}

bool selector_by_position(const struct selector *s, size_t nfields, struct field_range *out)
{
	const char *p = s->text, *end;

	out->star = !strcmp(p, "*");
	out->first = out->last = 0;
	if (s->quoted || out->star)
		return out->star && !s->quoted;
	end = parse_field(*p == ':' ? p + 1 : !strncmp(p, "col", 3) ? p + 3 : p, &out->first);
	out->last = out->first;
	if ((!end || *end) && (!strcmp(p, "-") || !parse_range(p, nfields, out)))
		return false;
	return nfields == 0 || out->last < nfields;
}

/* ---- names ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct name_entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->field > y->field) - (x->field < y->field);
}

enum status name_index_init(struct name_index *index, size_t n)
{
	index->nentries = 0;
	index->entries = malloc((n + 1) * sizeof *index->entries);
	return index->entries ? STATUS_OK : STATUS_NO_MEMORY;
}

void name_index_free(struct name_index *index)
{
	free(index->entries);
	memset(index, 0, sizeof *index);
}

void name_index_add(struct name_index *index, const char *name, size_t field)
{
	index->entries[index->nentries++] = (struct name_entry){name, (uint32_t)field};
}

void name_index_sort(struct name_index *index)
{
	qsort(index->entries, index->nentries, sizeof *index->entries, compare_entries);
}

enum status name_index_make(struct name_index *index, const void *first, size_t each_nbytes, size_t n)
{
	TRY(name_index_init(index, n));
	for (size_t i = 0; i < n; i++) {
		const char *name = *(const char *const *)((const char *)first + i * each_nbytes);
		if (name)
			name_index_add(index, name, i);
	}
	name_index_sort(index);
	return STATUS_OK;
}

const struct name_entry *name_index_find(const struct name_index *index, const char *name,
					 size_t *n)
{
	size_t first = 0, end = index->nentries;

	while (first < end) { /* the entries before `first` are less, those from `end` on not */
		size_t middle = first + (end - first) / 2;
		if (strcmp(index->entries[middle].name, name) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (*n = 0; first + *n < index->nentries; ++*n)
		if (strcmp(index->entries[first + *n].name, name))
			break;
	return *n ? index->entries + first : NULL;
}

/* Returns how many columns have the name; *field: the last of them without an index, else the first. */
static size_t find_name(const struct name_index *index, char *const *names, size_t nfields, const char *name, uint32_t *field)
{
	const struct name_entry *found = NULL;
	size_t nfound = 0;

	if (index && index->entries) {
		found = name_index_find(index, name, &nfound);
		*field = found ? found->field : 0;
		return nfound;
	}
	for (size_t i = 0; i < nfields; i++) {
		if (!names[i] || strcmp(names[i], name))
			continue;
		nfound++;
		*field = (uint32_t)i;
	}
	return nfound;
}

bool selector_is_position(const struct selector *s)
{
	size_t ndigits = strspn(s->text, "0123456789");

	return !s->quoted && (*s->text == ':' || (ndigits && !s->text[ndigits]));
}

/* Whether the selector is a position, of columns that the input may have. */
static bool resolve_position(const struct selector *s, size_t nfields, struct field_range *out)
{
	return selector_by_position(s, nfields, out) &&
	       out->last - out->first < BLIND_RANGE_LIMIT + nfields;
}

enum status selector_resolve(const struct selector *s, const struct name_index *index, char *const *names, size_t nfields,
			     struct field_range *out, struct fault *fault)
{
	bool is_position = selector_is_position(s);
	uint32_t field = 0;
	size_t nfound;

	if (is_position && resolve_position(s, nfields, out))
		return STATUS_OK;
	nfound = find_name(index, names, nfields, s->text, &field);
	if (nfound > 1 && !is_position)
		return option_fault(fault, "%zu columns are called '%.64s': say which with :N", nfound,
				    s->text);
	if (nfound == 1 && !is_position) {
		*out = (struct field_range){field, field, false};
		return STATUS_OK;
	}
	if (!is_position && resolve_position(s, nfields, out))
		return STATUS_OK;
	fault_set_value(fault, STATUS_UNKNOWN_COLUMN, s->text, strlen(s->text));
	if (nfound)
		snprintf(fault->remedy, sizeof fault->remedy, "the name in quotes: '\"%.64s\"'", s->text);
	return STATUS_UNKNOWN_COLUMN;
}
