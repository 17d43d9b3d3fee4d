/* SPDX-License-Identifier: MIT
 *
 * row_format.c - see row_format.h. JSON by RFC 8259, CSV by RFC 4180.
 */
#include "io/row_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- values ---- */

static char *put(char *to, const char *text, size_t nbytes)
{
	return nbytes ? (char *)memcpy(to, text, nbytes) + nbytes : to;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* A word whose high bits say which bytes of `word` are 0; those above the lowest of them may be wrong. */
static inline uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE) & ~word & EACH_BYTE << 7;
}

/* Whether eight bytes hold one that is written otherwise. */
static inline bool has_special(const struct row_format *f, uint64_t word)
{
	uint64_t found = 0;

	if (row_has_strings(f)) /* below 0x20, above 0x7e, quotes and backslashes; 0 to 0x1f borrow from the bit above */
		return (word | (word - EACH_BYTE * 0x20) | (word + EACH_BYTE) | zero_bytes(word ^ EACH_BYTE * '"') |
			zero_bytes(word ^ EACH_BYTE * '\\')) & EACH_BYTE << 7;
	if (f->above_special && !((word - f->above_special) & ~word & EACH_BYTE << 7)) /* most have no byte as small */
		return false;
	for (int i = 0; i < 4; i++)
		found |= zero_bytes(word ^ f->special[i]);
	return found != 0;
}

/* Whether a text is printed as it is, quotes of JSON aside. */
static bool is_plain(const struct row_format *f, const char *text, size_t nbytes)
{
	uint64_t word = f->filler;

	if (nbytes < sizeof word) {
		memcpy(&word, text, nbytes);
		return !has_special(f, word);
	}
	for (size_t i = 0; i + sizeof word < nbytes; i += sizeof word) {
		memcpy(&word, text + i, sizeof word);
		if (has_special(f, word))
			return false;
	}
	memcpy(&word, text + nbytes - sizeof word, sizeof word);
	return !has_special(f, word);
}

static char *put_csv(char *to, const char *text, size_t nbytes)
{
	*to++ = '"';
	for (size_t i = 0; i < nbytes; i++) {
		if (text[i] == '"')
			*to++ = '"';
		*to++ = text[i];
	}
	*to++ = '"';
	return to;
}

/* Tabs and line ends as \t, \n, \r, and \ as \\. */
static char *put_tsv(char *to, const char *text, size_t nbytes)
{
	static const char special[] = "\t\n\r\\";

	for (size_t i = 0; i < nbytes; i++) {
		const char *at = text[i] ? strchr(special, text[i]) : NULL;
		if (at)
			*to++ = '\\';
		*to++ = at ? "tnr\\"[at - special] : text[i];
	}
	return to;
}

/* As it stands between the quotes. */
static char *put_json(char *to, const char *text, size_t nbytes)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0, n = 1; i < nbytes; i += n) {
		unsigned char c = (unsigned char)text[i];
		n = 1;
		if (c >= 0x20 && c < 0x7f) {
			if (c == '"' || c == '\\')
				*to++ = '\\';
			*to++ = (char)c;
		} else if (c < 0x80) {
			to = put(to, "\\u00", 4);
			*to++ = digits[c >> 4];
			*to++ = digits[c & 15];
		} else if ((n = utf8_length(text + i, nbytes - i))) {
			to = put(to, text + i, n);
		} else {
			to = put(to, "\\ufffd", 6);
			n = 1;
		}
	}
	return to;
}

/* For table_rows_print: whether it is a string, the text without NULs, and a NUL. */
static char *put_cell(char *to, const char *text, size_t nbytes, bool is_string)
{
	*to++ = is_string ? 's' : 'n';
	for (size_t i = 0; i < nbytes; i++) {
		if (text[i])
			*to++ = text[i];
		else
			to = put(to, "\\x00", 4);
	}
	*to++ = '\0';
	return to;
}

char *row_put_value(const struct row_format *f, const char *text, size_t nbytes, bool is_string, char *to)
{
	const bool has_quotes = is_string && row_has_strings(f);

	if (f->format == FORMAT_TABLE)
		return put_cell(to, text, nbytes, is_string);
	if (!is_string && f->takes_numbers)
		return nbytes || !row_has_strings(f) ? put(to, text, nbytes) : put(to, "null", 4);
	*to = '"';
	to += has_quotes;
	if (is_plain(f, text, nbytes))
		to = put(to, text, nbytes);
	else
		to = has_quotes ? put_json(to, text, nbytes) : f->format == FORMAT_CSV ? put_csv(to, text, nbytes) : put_tsv(to, text, nbytes);
	*to = '"';
	return to + has_quotes;
}

enum status row_append(struct text_buffer *out, const struct row_format *f, size_t column, const char *text, size_t nbytes, bool is_string)
{
	char *to;

	TRY(text_reserve(out, row_value_nbytes_most(f, column, nbytes)));
	to = row_put_lead(f, column, out->data + out->nbytes);
	to = row_put_value(f, text, nbytes, is_string, to);
	out->nbytes = (size_t)(row_put_end(f, column, to) - out->data);
	return STATUS_OK;
}

/* ---- names ---- */

/* A column's JSON name: its first occurrence is as it is, the others have a number. */
struct key {
	char *text; /* between the quotes; owned */
	size_t column;
	unsigned long number; /* 0: none */
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = compare_texts(x, y);

	return order ? order : (x->column > y->column) - (x->column < y->column);
}

/* Whether text_number is a name of its own. */
static bool is_taken(const struct key *sorted, size_t n, const char *text, unsigned long number)
{
	struct key wanted = {0};
	bool taken;

	if (asprintf(&wanted.text, "%s_%lu", text, number) < 0)
		return false;
	taken = bsearch(&wanted, sorted, n, sizeof *sorted, compare_texts) != NULL;
	free(wanted.text);
	return taken;
}

/* Numbers the keys that are there already. Sorted by text, then by column. */
static void number_keys(struct key *sorted, size_t n)
{
	unsigned long number = 1;

	for (size_t i = 1; i < n; i++) {
		if (compare_texts(&sorted[i], &sorted[i - 1])) {
			number = 1;
			continue;
		}
		do
			number++;
		while (is_taken(sorted, n, sorted[i].text, number));
		sorted[i].number = number;
	}
}

static enum status set_key(struct key *key, size_t column, const char *name)
{
	size_t nbytes = strlen(name);
	char *text = malloc(6 * nbytes + 1);

	*key = (struct key){text, column, 0};
	NEED(text);
	*put_json(text, name, nbytes) = '\0';
	return STATUS_OK;
}

/* Sets what stands before each value of JSON. */
static enum status set_json_leads(struct row_format *f, const struct key *sorted)
{
	const char *begin = f->format == FORMAT_JSON ? ",\n {" : "{";

	for (size_t i = 0; i < f->ncolumns; i++) {
		const struct key *key = &sorted[i];
		struct row_lead *lead = &f->leads[key->column];
		char number[24] = "";
		int n;
		if (key->number)
			snprintf(number, sizeof number, "_%lu", key->number);
		n = asprintf(&lead->text, "%s\"%s%s\": ", key->column ? ", " : begin, key->text, number);
		if (n < 0)
			lead->text = NULL;
		NEED(lead->text);
		lead->nbytes = (size_t)n;
	}
	return STATUS_OK;
}

static enum status make_json_leads(struct row_format *f, const char *const *names)
{
	struct key *keys = calloc(f->ncolumns + 1, sizeof *keys);
	enum status status = keys ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; i < f->ncolumns && status == STATUS_OK; i++)
		status = set_key(&keys[i], i, names[i] ? names[i] : "");
	if (status == STATUS_OK) {
		qsort(keys, f->ncolumns, sizeof *keys, compare_keys);
		number_keys(keys, f->ncolumns);
		status = set_json_leads(f, keys);
	}
	for (size_t i = 0; keys && i < f->ncolumns; i++)
		free(keys[i].text);
	free(keys);
	return status;
}

/* ---- a format ---- */

enum status row_format_init(struct row_format *f, struct style style, const char *const *names, size_t ncolumns)
{
	const bool is_table = style.format == FORMAT_TABLE || style.format == FORMAT_MARKDOWN;
	const bool is_csv = style.format == FORMAT_AUTO || style.format == FORMAT_CSV;
	const char delimiter = style.delimiter ? style.delimiter : is_csv ? ',' : '\t';
	unsigned char most = 0;
	const unsigned char special[] = {is_csv ? (unsigned char)delimiter : '\t', '\n', '\r', is_csv ? '"' : '\\'};

	*f = (struct row_format){.format = style.format, .ncolumns = ncolumns, .end = is_table ? "\0" : "\n"};
	if (is_table || is_csv)
		f->format = is_table ? FORMAT_TABLE : FORMAT_CSV;
	f->takes_numbers = !is_table && !(is_csv && (strchr("+-.0123456789Ee", delimiter) ||
						     number_style_has(&style.numbers, delimiter)));
	for (int i = 0; i < 4; i++) {
		f->special[i] = EACH_BYTE * special[i];
		most = special[i] > most ? special[i] : most;
	}
	f->above_special = most < 0x7f ? EACH_BYTE * (most + 1u) : 0;
	f->filler = EACH_BYTE * (special[0] == 'x' ? 'y' : 'x');
	f->leads = calloc(ncolumns + 1, sizeof *f->leads);
	NEED(f->leads);
	if (row_has_strings(f)) {
		f->end = f->format == FORMAT_JSON ? "}" : "}\n";
		f->nfirst_less = f->format == FORMAT_JSON ? strlen(",\n ") : 0;
		TRY(make_json_leads(f, names));
	}
	for (size_t i = 1; i < ncolumns && !is_table && !row_has_strings(f); i++)
		f->leads[i] = (struct row_lead){NULL, 1, delimiter};
	f->end_nbytes = strlen(f->end);
	return STATUS_OK;
}

void row_format_free(struct row_format *f)
{
	for (size_t i = 0; f->leads && i < f->ncolumns; i++)
		free(f->leads[i].text);
	free(f->leads);
	memset(f, 0, sizeof *f);
}

enum status row_append_heading(struct text_buffer *out, const struct row_format *f, const char *const *names)
{
	if (f->format == FORMAT_JSON)
		TRY(text_append(out, "[", 1));
	for (size_t i = 0; (f->format == FORMAT_CSV || f->format == FORMAT_TSV) && i < f->ncolumns; i++)
		TRY(row_append(out, f, i, names[i] ? names[i] : "", names[i] ? strlen(names[i]) : 0, true));
	return STATUS_OK;
}

const char *row_closing(const struct row_format *f)
{
	return f->format == FORMAT_JSON ? "]\n" : "";
}

/* ---- numbers ---- */

/* Skips one or more digits. Returns NULL where the text does not begin with a digit. */
static const char *skip_digits(const char *text, const char *end)
{
	const char *begin = text;

	while (text < end && *text >= '0' && *text <= '9')
		text++;
	return text > begin ? text : NULL;
}

bool row_is_json_number(const char *text, size_t nbytes)
{
	const char *end = text + nbytes, *digits = text + (nbytes > 0 && *text == '-'), *p = skip_digits(digits, end);

	if (!p || (*digits == '0' && p > digits + 1))
		return false;
	if (p < end && *p == '.' && !(p = skip_digits(p + 1, end)))
		return false;
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		p = skip_digits(p, end);
	}
	return p == end;
}
