/* SPDX-License-Identifier: MIT
 *
 * json_text.c - see json_text.h.
 */
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- writing ---- */

void json_put_bytes(struct json_writer *w, const char *text, size_t nbytes)
{
	if (w->status != STATUS_OK)
		return;
	if (text_reserve(&w->text, nbytes) != STATUS_OK) {
		w->status = STATUS_NO_MEMORY;
		return;
	}
	if (nbytes)
		memcpy(w->text.data + w->text.nbytes, text, nbytes);
	w->text.nbytes += nbytes;
}

void json_put_number(struct json_writer *w, uint64_t number)
{
	char digits[20], *at = digits + sizeof digits;

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	json_put_bytes(w, at, (size_t)(digits + sizeof digits - at));
}

/* The length of the bytes that stand for themselves. */
static size_t plain_nbytes(const char *text, size_t nbytes)
{
	size_t n = 0;

	while (n < nbytes && (unsigned char)text[n] - 0x20u < 0x5f && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

static void put_escape(struct json_writer *w, unsigned code)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[] = {'\\', 'u', digits[code >> 12 & 15], digits[code >> 8 & 15],
			       digits[code >> 4 & 15], digits[code & 15]};

	json_put_bytes(w, escape, sizeof escape);
}

void json_put_string(struct json_writer *w, const char *text, size_t nbytes)
{
	const char *end = text + nbytes;

	json_put(w, "\"");
	while (text < end) {
		size_t n = plain_nbytes(text, (size_t)(end - text));
		unsigned char c;
		json_put_bytes(w, text, n);
		text += n;
		if (text == end)
			break;
		c = (unsigned char)*text;
		n = c < 0x80 ? 0 : utf8_length(text, (size_t)(end - text));
		if (n > 0)
			json_put_bytes(w, text, n);
		else
			put_escape(w, c < 0x80 ? c : 0xdc00u + c);
		text += n ? n : 1;
	}
	json_put(w, "\"");
}

enum status json_flush(struct json_writer *w)
{
	if (w->status == STATUS_OK && w->flush) {
		w->status = w->flush(w->context, w->text.data, w->text.nbytes);
		w->text.nbytes = w->line_begin = 0;
	}
	return w->status;
}

void json_end_line(struct json_writer *w)
{
	json_put(w, "\n");
	w->line_begin = w->text.nbytes;
	if (w->text.nbytes >= JSON_LINE_NBYTES)
		json_flush(w);
}

bool json_is_long(const struct json_writer *w)
{
	return w->prefix && w->text.nbytes - w->line_begin >= JSON_LINE_NBYTES;
}

void json_break(struct json_writer *w, const char *end, const char *begin)
{
	json_put(w, end);
	json_end_line(w);
	json_put(w, w->prefix);
	json_put(w, begin);
}

/* ---- reading ---- */

void json_fail(struct json_reader *r, enum status status)
{
	if (r->status == STATUS_OK)
		r->status = status;
	r->at = r->end;
}

uint64_t json_number(struct json_reader *r)
{
	const char *begin = r->at;
	uint64_t number = 0;

	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
		if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*r->at - '0'), &number)) {
			json_fail(r, STATUS_DAMAGED);
			return 0;
		}
	if (r->at == begin)
		json_fail(r, STATUS_DAMAGED);
	return r->status == STATUS_OK ? number : 0;
}

/* Skips a string. */
static void skip_string(struct json_reader *r)
{
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++)
		r->at += *r->at == '\\' && r->at + 1 < r->end;
	json_expect(r, "\"");
}

void json_skip(struct json_reader *r)
{
	size_t depth = 0;

	do {
		char c = r->at < r->end ? *r->at : '\0';
		if (c == '"') {
			skip_string(r);
			continue;
		}
		if (!c || (depth == 0 && (c == ',' || c == ']' || c == '}'))) {
			if (!c)
				json_fail(r, STATUS_DAMAGED);
			return;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		r->at++;
	} while (r->status == STATUS_OK && (depth > 0 || (r->at[-1] != '}' && r->at[-1] != ']')));
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads \uXXXX, as json_put_string writes it, to a byte. */
static char read_escape(struct json_reader *r)
{
	unsigned code = 0;

	json_expect(r, "\\u");
	for (int i = 0; i < 4; i++) {
		int digit = r->at < r->end ? hex_digit(*r->at++) : -1;
		if (digit < 0) {
			json_fail(r, STATUS_DAMAGED);
			return 0;
		}
		code = code << 4 | (unsigned)digit;
	}
	if (code >= 0x80 && code - 0xdc80u >= 0x80)
		json_fail(r, STATUS_DAMAGED);
	return (char)(code & 0xff);
}

/* Reads the rest of a string that has an escape: its bytes so far are in the line. */
static const char *unescape(struct json_reader *r, const char *begin, size_t *nbytes)
{
	struct text_buffer *s = &r->scratch;

	s->nbytes = 0;
	for (;;) {
		size_t n = (size_t)(r->at - begin);
		if (text_reserve(s, n + 1) != STATUS_OK) {
			json_fail(r, STATUS_NO_MEMORY);
			return NULL;
		}
		memcpy(s->data + s->nbytes, begin, n);
		s->nbytes += n;
		if (json_try(r, "\""))
			break;
		s->data[s->nbytes++] = read_escape(r);
		if (r->status != STATUS_OK)
			return NULL;
		for (begin = r->at; r->at < r->end && *r->at != '"' && *r->at != '\\';)
			r->at++;
	}
	*nbytes = s->nbytes;
	return s->data;
}

const char *json_string(struct json_reader *r, size_t *nbytes)
{
	const char *begin;

	json_expect(r, "\"");
	for (begin = r->at; r->at < r->end && *r->at != '"' && *r->at != '\\';)
		r->at++;
	if (r->at == r->end)
		json_fail(r, STATUS_DAMAGED);
	if (r->status != STATUS_OK)
		return NULL;
	if (*r->at == '\\')
		return unescape(r, begin, nbytes);
	*nbytes = (size_t)(r->at++ - begin);
	return begin;
}

char *json_copy_string(struct json_reader *r)
{
	size_t nbytes;
	const char *text = json_string(r, &nbytes);
	char *copy;

	if (!text)
		return NULL;
	if (memchr(text, '\0', nbytes)) {
		json_fail(r, STATUS_DAMAGED);
		return NULL;
	}
	copy = strndup(text, nbytes);
	if (!copy)
		json_fail(r, STATUS_NO_MEMORY);
	return copy;
}
