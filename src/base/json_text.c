/* SPDX-License-Identifier: MIT
 *
 * json_text.c - see json_text.h.
 */
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void json_fail(struct json_text *j, enum status status)
{
	THEN(j->status, status);
	j->at = j->end;
}

/* ---- writing ---- */

void json_put_bytes(struct json_text *j, const char *text, size_t nbytes)
{
	if (j->status != STATUS_OK)
		return;
	if (text_reserve(&j->text, nbytes) != STATUS_OK) {
		j->status = STATUS_NO_MEMORY;
		return;
	}
	if (nbytes)
		memcpy(j->text.data + j->text.nbytes, text, nbytes);
	j->text.nbytes += nbytes;
}

void json_put_number(struct json_text *j, uint64_t number)
{
	char digits[20], *at = digits + sizeof digits;

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	json_put_bytes(j, at, (size_t)(digits + sizeof digits - at));
}

static void put_escape(struct json_text *j, unsigned code)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[] = {'\\', 'u', digits[code >> 12 & 15], digits[code >> 8 & 15],
			       digits[code >> 4 & 15], digits[code & 15]};

	json_put_bytes(j, escape, sizeof escape);
}

void json_put_string(struct json_text *j, const char *text, size_t nbytes)
{
	const char *end = text + nbytes;

	json_put(j, "\"");
	while (text < end) {
		size_t n = 0, nbytes_left = (size_t)(end - text);
		unsigned char c;
		while (n < nbytes_left && (unsigned char)text[n] - 0x20u < 0x5f && text[n] != '"' && text[n] != '\\')
			n++; /* bytes that stand for themselves */
		json_put_bytes(j, text, n);
		text += n;
		if (text == end)
			break;
		c = (unsigned char)*text;
		n = c < 0x80 ? 0 : utf8_length(text, (size_t)(end - text));
		if (n > 0)
			json_put_bytes(j, text, n);
		else
			put_escape(j, c < 0x80 ? c : 0xdc00u + c);
		text += n ? n : 1;
	}
	json_put(j, "\"");
}

enum status json_flush(struct json_text *j)
{
	if (j->status == STATUS_OK && j->flush) {
		j->status = j->flush(j->context, j->text.data, j->text.nbytes);
		j->text.nbytes = j->line_begin = 0;
	}
	return j->status;
}

void json_end_line(struct json_text *j)
{
	json_put(j, "\n");
	j->line_begin = j->text.nbytes;
	if (j->text.nbytes >= JSON_LINE_NBYTES)
		json_flush(j);
}

void json_break(struct json_text *j, const char *end, const char *begin)
{
	if (!j->prefix || j->text.nbytes - j->line_begin < JSON_LINE_NBYTES)
		return;
	json_put(j, end);
	json_end_line(j);
	json_put(j, j->prefix);
	json_put(j, j->member);
	json_put(j, begin);
}

/* ---- reading ---- */

uint64_t json_get_number(struct json_text *j)
{
	const char *begin = j->at;
	uint64_t number = 0;

	for (; j->at < j->end && *j->at >= '0' && *j->at <= '9'; j->at++)
		if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*j->at - '0'), &number)) {
			json_fail(j, STATUS_DAMAGED);
			return 0;
		}
	if (j->at == begin)
		json_fail(j, STATUS_DAMAGED);
	return j->status == STATUS_OK ? number : 0;
}

void json_skip(struct json_text *j)
{
	size_t depth = 0;

	do {
		char c = j->at < j->end ? *j->at : '\0';
		if (c == '"') {
			for (j->at++; j->at < j->end && *j->at != '"'; j->at++)
				j->at += *j->at == '\\' && j->at + 1 < j->end;
			json_mark(j, "\"");
			continue;
		}
		if (!c || (depth == 0 && (c == ',' || c == ']' || c == '}'))) {
			if (!c)
				json_fail(j, STATUS_DAMAGED);
			return;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		j->at++;
	} while (j->status == STATUS_OK && (depth > 0 || (j->at[-1] != '}' && j->at[-1] != ']')));
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads \uXXXX, as json_put_string writes it, to a byte. */
static char read_escape(struct json_text *j)
{
	unsigned code = 0;

	json_mark(j, "\\u");
	for (int i = 0; i < 4; i++) {
		int digit = j->at < j->end ? hex_digit(*j->at++) : -1;
		if (digit < 0) {
			json_fail(j, STATUS_DAMAGED);
			return 0;
		}
		code = code << 4 | (unsigned)digit;
	}
	if (code >= 0x80 && code - 0xdc80u >= 0x80)
		json_fail(j, STATUS_DAMAGED);
	return (char)(code & 0xff);
}

/* Reads the rest of a string that has an escape: its bytes so far are in the line. */
static const char *unescape(struct json_text *j, const char *begin, size_t *nbytes)
{
	struct text_buffer *s = &j->scratch;

	s->nbytes = 0;
	for (;;) {
		size_t n = (size_t)(j->at - begin);
		if (text_reserve(s, n + 1) != STATUS_OK) {
			json_fail(j, STATUS_NO_MEMORY);
			return NULL;
		}
		memcpy(s->data + s->nbytes, begin, n);
		s->nbytes += n;
		if (json_try(j, "\""))
			break;
		s->data[s->nbytes++] = read_escape(j);
		if (j->status != STATUS_OK)
			return NULL;
		for (begin = j->at; j->at < j->end && *j->at != '"' && *j->at != '\\';)
			j->at++;
	}
	*nbytes = s->nbytes;
	return s->data;
}

const char *json_get_string(struct json_text *j, size_t *nbytes)
{
	const char *begin;

	json_mark(j, "\"");
	for (begin = j->at; j->at < j->end && *j->at != '"' && *j->at != '\\';)
		j->at++;
	*nbytes = 0;
	if (j->at == j->end)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return NULL;
	if (*j->at == '\\')
		return unescape(j, begin, nbytes);
	*nbytes = (size_t)(j->at++ - begin);
	return begin;
}

/* ---- both ---- */

bool json_item(struct json_text *j, bool is)
{
	bool has_begun = json_has_begun(j);

	if (j->reads)
		is = j->status == STATUS_OK && j->at < j->end && *j->at != ']';
	if (is && !has_begun)
		json_mark(j, ",");
	return is;
}

void json_number(struct json_text *j, uint64_t *number)
{
	if (j->reads)
		*number = json_get_number(j);
	else
		json_put_number(j, *number);
}

void json_bool(struct json_text *j, bool *is)
{
	if (j->reads)
		*is = json_try(j, "true");
	json_mark(j, !j->reads ? *is ? "true" : "false" : *is ? "" : "false");
}

void json_bytes(struct json_text *j, struct text_buffer *to)
{
	const char *text;
	size_t nbytes;

	if (!j->reads) {
		json_put_string(j, to->data, to->nbytes);
		return;
	}
	text = json_get_string(j, &nbytes);
	to->nbytes = 0;
	if (!text)
		return;
	if (text_reserve(to, nbytes + 1) != STATUS_OK) {
		json_fail(j, STATUS_NO_MEMORY);
		return;
	}
	memcpy(to->data, text, nbytes);
	to->data[nbytes] = '\0';
	to->nbytes = nbytes;
}

void json_string(struct json_text *j, char **text)
{
	struct text_buffer copy = {.data = NULL};

	if (!j->reads) {
		json_put_string(j, *text, strlen(*text));
		return;
	}
	json_bytes(j, &copy);
	*text = copy.data;
	if (copy.data && strlen(copy.data) < copy.nbytes)
		json_fail(j, STATUS_DAMAGED);
}

/* ---- objects, by tables of their members ---- */

/* list: the address of a char ** or of a uint64_t *. */
static void list_text(struct json_text *j, enum json_kind kind, void *list, size_t *n)
{
	char ***strings = list;
	uint64_t **numbers = list;

	json_mark(j, "[");
	for (size_t i = 0; json_item(j, i < *n); i++) {
		if (j->reads && !array_add(list, i, kind == JSON_NUMBERS ? sizeof **numbers : sizeof **strings)) {
			json_fail(j, STATUS_NO_MEMORY);
			return;
		}
		*n += j->reads;
		if (kind == JSON_NUMBERS)
			json_number(j, &(*numbers)[i]);
		else if (kind == JSON_STRINGS || !json_option(j, !(*strings)[i], "null"))
			json_string(j, &(*strings)[i]);
	}
	json_mark(j, "]");
}

/* text: the address of a char *. */
static void bytes_text(struct json_text *j, char **text, size_t *nbytes)
{
	struct text_buffer buffer = {.data = *text, .nbytes = *nbytes};

	json_bytes(j, &buffer);
	*text = buffer.data;
	*nbytes = buffer.nbytes;
}

/* Adds what is read to *count. */
static void count_text(struct json_text *j, uint64_t *count)
{
	const uint64_t earlier = j->reads ? *count : 0;

	json_number(j, count);
	*count += earlier;
}

void json_row_value(struct json_text *j, const struct json_row *row, void *value, void *n)
{
	switch (row->kind) {
	case JSON_COUNT:
		count_text(j, value);
		break;
	case JSON_FLAG:
		json_mark(j, "true");
		*(bool *)value = true;
		break;
	case JSON_BOOL:
		json_bool(j, value);
		break;
	case JSON_STRING:
		json_string(j, value);
		break;
	case JSON_BYTES:
		bytes_text(j, value, n);
		break;
	case JSON_STRINGS:
	case JSON_NAMES:
	case JSON_NUMBERS:
		list_text(j, row->kind, value, n);
		break;
	default:
		break;
	}
}

void json_members(struct json_text *j, const struct json_row *rows, void *object)
{
	size_t n = 0;

	while (rows[n].name)
		n++;
	json_first_members(j, rows, n, object);
}

void json_object(struct json_text *j, const struct json_row *rows, void *object)
{
	json_members(json_mark(j, "{"), rows, object);
	json_mark(j, "}");
}

void json_free(const struct json_row *rows, void *object)
{
	for (const struct json_row *row = rows; row->name; row++) {
		void *value = (char *)object + row->at, *owned;
		const size_t n = row->kind == JSON_STRINGS || row->kind == JSON_NAMES ? *(size_t *)((char *)object + row->n) : 0;
		if (row->kind < JSON_STRING)
			continue;
		for (size_t i = 0; i < n; i++)
			free((*(char ***)value)[i]);
		memcpy(&owned, value, sizeof owned);
		free(owned);
		memset(value, 0, sizeof owned);
	}
}
