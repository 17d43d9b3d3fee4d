/* SPDX-License-Identifier: MIT
 *
 * functions.c - see functions.h.
 *
 * Characters are those of UTF-8: a byte that does not continue a character begins one, whatever follows it.
 */
#include "lang/functions.h"

#include <string.h>

#include "base/array.h"
#include "lang/time.h"

#define TEXT_NBYTES_MAX ((int64_t)1 << 28)

char *call_room(struct call *call, size_t nbytes)
{
	return ARRAY_GROW(call->room->data, call->room->nbytes, nbytes) == STATUS_OK ? call->room->data : NULL;
}

static enum status return_text(struct call *call, const char *text, size_t nbytes)
{
	call->result = CALL_TEXT;
	call->text = text;
	call->nbytes = nbytes;
	return STATUS_OK;
}

static enum status return_integer(struct call *call, int64_t n)
{
	call->result = CALL_NUMBER;
	call->number = (struct decimal){n, 0};
	return STATUS_OK;
}

/* ---- characters ---- */

static bool begins_character(char byte)
{
	return (byte & 0xc0) != 0x80;
}

static int64_t count_characters(const char *text, size_t nbytes)
{
	int64_t n = 0;

	for (size_t i = 0; i < nbytes; i++)
		n += begins_character(text[i]);
	return n;
}

/* The byte at which the n-th character begins, from 0; where there is none, nbytes. */
static size_t character_at(const char *text, size_t nbytes, int64_t n)
{
	size_t i = 0;

	if (n <= 0)
		return 0;
	for (; i < nbytes; i++)
		if (begins_character(text[i]) && n-- == 0)
			break;
	return i;
}

/* The characters from `first` on, n of them, as far as there are any. */
static enum status return_characters(struct call *call, int64_t first, int64_t n)
{
	const struct argument *t = &call->value[0];
	size_t begin = character_at(t->text, t->nbytes, first);

	return return_text(call, t->text + begin, n > 0 ? character_at(t->text + begin, t->nbytes - begin, n) : 0);
}

enum status call_text(struct call *call)
{
	return return_text(call, call->value[0].text, call->value[0].nbytes);
}

enum status call_length(struct call *call)
{
	return return_integer(call, count_characters(call->value[0].text, call->value[0].nbytes));
}

enum status call_substr(struct call *call)
{
	int64_t first = call->value[1].integer, n = call->nvalues > 2 ? call->value[2].integer : INT64_MAX;

	if (first < 0)
		first += count_characters(call->value[0].text, call->value[0].nbytes) + 1;
	if (first < 1) { /* before the text: n counts from there */
		n = n == INT64_MAX ? n : n + first - 1;
		first = 1;
	}
	return return_characters(call, first - 1, n);
}

enum status call_left(struct call *call)
{
	int64_t n = call->value[1].integer;

	return return_characters(call, 0, n < 0 ? n + count_characters(call->value[0].text, call->value[0].nbytes) : n);
}

enum status call_right(struct call *call)
{
	int64_t n = call->value[1].integer;

	return return_characters(call, n < 0 ? -n : count_characters(call->value[0].text, call->value[0].nbytes) - n,
				 n == 0 ? 0 : INT64_MAX);
}

enum status call_pad(struct call *call)
{
	const struct argument *t = &call->value[0];
	const char *fill = call->nvalues > 2 ? call->value[2].text : " ";
	const size_t fill_nbytes = call->nvalues > 2 ? call->value[2].nbytes : 1;
	const bool to_right = call->value[1].integer < 0;
	int64_t n = to_right ? -call->value[1].integer : call->value[1].integer;
	int64_t nmissing = n - count_characters(t->text, t->nbytes), nfill = count_characters(fill, fill_nbytes);
	size_t rest, nbytes;
	char *to;

	if (nmissing <= 0)
		return return_text(call, t->text, t->nbytes);
	if (nmissing > TEXT_NBYTES_MAX || nfill == 0)
		return STATUS_NO_MEMORY;
	rest = character_at(fill, fill_nbytes, nmissing % nfill);
	nbytes = (size_t)(nmissing / nfill) * fill_nbytes + rest;
	to = call_room(call, nbytes + t->nbytes);
	NEED(to);
	for (size_t i = 0; i < nbytes; i += fill_nbytes)
		memcpy(to + (to_right ? t->nbytes : 0) + i, fill, nbytes - i < fill_nbytes ? rest : fill_nbytes);
	memcpy(to + (to_right ? 0 : nbytes), t->text, t->nbytes);
	return return_text(call, to, nbytes + t->nbytes);
}

/* ---- parts of texts ---- */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

enum status call_trim(struct call *call)
{
	const char *begin = call->value[0].text, *end = begin + call->value[0].nbytes;

	while (begin < end && is_space(*begin))
		begin++;
	while (begin < end && is_space(end[-1]))
		end--;
	return return_text(call, begin, (size_t)(end - begin));
}

enum status call_concat(struct call *call)
{
	size_t nbytes = 0;
	char *to;

	for (unsigned i = 0; i < call->nvalues; i++)
		nbytes += call->value[i].nbytes;
	to = call_room(call, nbytes + 1);
	NEED(to);
	nbytes = 0;
	for (unsigned i = 0; i < call->nvalues; nbytes += call->value[i++].nbytes)
		if (call->value[i].nbytes)
			memcpy(to + nbytes, call->value[i].text, call->value[i].nbytes);
	return return_text(call, to, nbytes);
}

/* Where the text has the part next, from byte `from` on; NULL: nowhere. */
static const char *find_part(const struct argument *text, size_t from, const struct argument *part)
{
	return part->nbytes == 0 || from > text->nbytes ? NULL : memmem(text->text + from, text->nbytes - from, part->text, part->nbytes);
}

enum status call_replace(struct call *call)
{
	const struct argument *t = &call->value[0], *old = &call->value[1], *new = &call->value[2];
	size_t nbytes = t->nbytes, from = 0;
	const char *at;
	char *to, *end;

	for (; (at = find_part(t, from, old)); from = (size_t)(at - t->text) + old->nbytes)
		nbytes += new->nbytes - old->nbytes; /* modulo 2^64 */
	end = to = call_room(call, nbytes + 1);
	NEED(to);
	for (from = 0; (at = find_part(t, from, old)); from = (size_t)(at - t->text) + old->nbytes) {
		size_t before = (size_t)(at - t->text) - from;
		memcpy(end, t->text + from, before);
		end += before;
		if (new->nbytes)
			memcpy(end, new->text, new->nbytes);
		end += new->nbytes;
	}
	memcpy(end, t->text + from, t->nbytes - from);
	return return_text(call, to, nbytes);
}

enum status call_split(struct call *call)
{
	const struct argument *t = &call->value[0], *separator = &call->value[1];
	int64_t n = call->value[2].integer;
	size_t from = 0, end;
	const char *at;

	if (n < 0) {
		int64_t nparts = 1;
		for (; (at = find_part(t, from, separator)); from = (size_t)(at - t->text) + separator->nbytes)
			nparts++;
		n += nparts + 1;
		from = 0;
	}
	if (n < 1)
		return STATUS_OK;
	for (; (at = find_part(t, from, separator)) && n > 1; n--)
		from = (size_t)(at - t->text) + separator->nbytes;
	end = at ? (size_t)(at - t->text) : t->nbytes;
	return n > 1 ? STATUS_OK : return_text(call, t->text + from, end - from);
}

enum status call_extract(struct call *call)
{
	const struct argument *t = &call->value[0];
	size_t begin, end;
	int found = pattern_find(call->pattern, call->match, t->text, t->nbytes, call->index, &begin, &end);

	if (found < 0)
		return STATUS_TOO_COSTLY;
	return found ? return_text(call, t->text + begin, end - begin) : STATUS_OK;
}

/* ---- times ---- */

/* Returns significand x 10^-scale. */
static enum status return_number(struct call *call, int128 significand, int scale)
{
	call->result = CALL_LONG;
	call->exact = (struct exact){.value = significand, .scale = scale};
	return STATUS_OK;
}

enum status call_epoch(struct call *call)
{
	int128 significand;
	const int scale = time_to_epoch(&call->value[0].time, &significand);

	return return_number(call, significand, scale);
}

/* Returns a time as text. */
static enum status return_time(struct call *call, const struct instant *x)
{
	char *to = call_room(call, TIME_TEXT_NBYTES);

	NEED(to);
	if (!time_is_in_range(call->times, x))
		return STATUS_OUT_OF_RANGE;
	return return_text(call, to, time_write(call->times, x, to));
}

/* The time of value[0] x 10^-nplaces seconds. */
static enum status return_from_epoch(struct call *call, int nplaces)
{
	const struct argument *v = &call->value[0];
	struct decimal_syntax syntax;
	struct instant x;
	int128 significand = v->number.significand;
	int64_t scale = v->number.scale;

	if (v->text) {
		if (!decimal_tokenize(v->text, v->nbytes, &syntax) || syntax.ndigits > 36)
			return STATUS_OUT_OF_RANGE;
		significand = 0;
		for (const char *p = v->text; p < v->text + v->nbytes && (*p | 0x20) != 'e'; p++)
			significand = decimal_is_digit(*p) ? 10 * significand + (*p - '0') : significand;
		significand = syntax.negative ? -significand : significand;
		scale = syntax.nfraction - syntax.exponent;
	}
	for (scale += nplaces; scale < 0 && significand < 1000000000000 && significand > -1000000000000; scale++)
		significand *= 10;
	if (scale < 0 || scale > INT16_MAX || !time_of_epoch(call->times, significand, (int)scale, &x))
		return STATUS_OUT_OF_RANGE;
	return return_time(call, &x);
}

enum status call_from_epoch(struct call *call)
{
	return return_from_epoch(call, 0);
}

enum status call_from_epoch_ms(struct call *call)
{
	return return_from_epoch(call, 3);
}

enum status call_time(struct call *call)
{
	const struct argument *v = &call->value[0];
	size_t nbytes = v->nbytes;
	const char *text = decimal_trim(v->text, &nbytes);
	struct instant x;

	if (call->constant_nbytes == 0)
		TRY(time_read(call->times, text, nbytes, &x) ? STATUS_OK : STATUS_NOT_A_DATE);
	else if (!time_read_format(call->times, call->constant, call->constant_nbytes, text, nbytes, &x))
		return STATUS_NOT_IN_FORMAT;
	return return_time(call, &x);
}

enum status call_trunc_time(struct call *call)
{
	struct instant x = call->value[0].time;

	call->same = time_span_of(call->times, &x, time_unit_step(&call->unit));
	time_truncate(call->times, &call->unit, &x);
	return return_time(call, &x);
}

enum status call_date(struct call *call)
{
	struct instant x = call->value[0].time;

	call->same = time_span_of(call->times, &x, TIME_DAY_NSECONDS);
	x.is_date = true;
	return return_time(call, &x);
}

enum status call_add_months(struct call *call)
{
	const int64_t most = 12 * 10000;
	struct instant x = call->value[0].time;

	if (call->value[1].integer < -most || call->value[1].integer > most)
		return STATUS_OUT_OF_RANGE;
	time_add_months(call->times, &x, call->value[1].integer);
	return return_time(call, &x);
}

enum status call_format(struct call *call)
{
	const struct instant *x = &call->value[0].time;
	char *to = call_room(call, TIME_FORMAT_NBYTES(call->constant_nbytes));

	NEED(to);
	if (!time_is_in_range(call->times, x))
		return STATUS_OUT_OF_RANGE;
	call->same = time_span_of(call->times, x, time_format_step(call->constant, call->constant_nbytes));
	return return_text(call, to, time_write_format(call->times, call->constant, call->constant_nbytes, x, to));
}

static enum status return_part(struct call *call, char letter)
{
	const struct instant *x = &call->value[0].time;
	int64_t part, step;

	if (!time_is_in_range(call->times, x))
		return STATUS_OUT_OF_RANGE;
	part = time_part(call->times, letter, x, &step);
	call->same = time_span_of(call->times, x, step);
	return return_integer(call, part);
}

#define PART(name, letter) \
	enum status name(struct call *call) \
	{ \
		return return_part(call, letter); \
	}
PART(call_year, 'Y')
PART(call_quarter, 'q')
PART(call_month, 'm')
PART(call_week, 'V')
PART(call_day, 'd')
PART(call_weekday, 'u')
PART(call_dayofyear, 'j')
PART(call_hour, 'H')
PART(call_minute, 'M')
PART(call_second, 'S')

/* ---- durations and sizes ---- */

/* Returns the number that a text is in a notation, or the status where it is none. */
static enum status return_noted(struct call *call, const struct number_notation *notation, enum status wrong)
{
	const struct argument *v = &call->value[0];
	char *to = call_room(call, v->nbytes + NOTATION_ROOM);
	size_t nbytes;

	NEED(to);
	nbytes = notation_to_plain(notation, v->text, v->nbytes, to);
	if (nbytes == 0)
		return wrong;
	call->result = CALL_LONG;
	return exact_parse(to, nbytes, call->limbs, &call->exact);
}

enum status call_duration(struct call *call)
{
	struct number_notation notation = *call->notation;

	notation.durations = true;
	return return_noted(call, &notation, STATUS_NOT_A_DURATION);
}

enum status call_bytes(struct call *call)
{
	struct number_notation notation = *call->notation;

	if (call->constant_nbytes > 0)
		notation.sizes = *call->constant == 'i' ? SIZES_IEC : SIZES_SI;
	else if (notation.sizes == SIZES_NONE)
		notation.sizes = SIZES_SI;
	return return_noted(call, &notation, STATUS_NOT_A_SIZE);
}
