/* SPDX-License-Identifier: MIT
 *
 * fuzz_decimal.c - a field's text to a number and back, against a slow reference: the grammar
 * walked a byte at a time, the digits moved as text.
 *
 * Input: the text of one field, without quotes.
 */
#include <stdbool.h>
#include <string.h>

#include "number/decimal.h"
#include "fuzz.h"
#include "number/exact.h"

#define MAX_NBYTES 2000
#define RANGE 400 /* |x| < 10^RANGE, scale <= RANGE */

/* sign, digits x 10^exponent; digits without leading zeros. */
struct slow {
	bool number, negative;
	char digits[MAX_NBYTES + 1];
	long ndigits, nfraction;
	long exponent; /* as written, cut at a million */
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static size_t slow_digits(struct slow *s, const uint8_t *text, size_t nbytes, size_t at)
{
	for (; at < nbytes && is_digit(text[at]); at++)
		if (s->ndigits || text[at] != '0')
			s->digits[s->ndigits++] = (char)text[at];
	return at;
}

/* Reads "[eE][+-]digits" if that is all there is; false otherwise. */
static bool slow_exponent(struct slow *s, const uint8_t *text, size_t nbytes, size_t at)
{
	bool negative;

	if (at == nbytes)
		return true;
	if ((text[at] | 32) != 'e' || ++at == nbytes)
		return false;
	negative = text[at] == '-';
	at += text[at] == '-' || text[at] == '+';
	if (at == nbytes)
		return false;
	for (; at < nbytes; at++) {
		if (!is_digit(text[at]))
			return false;
		s->exponent = s->exponent * 10 + (text[at] - '0');
		if (s->exponent > 1000000)
			s->exponent = 1000000;
	}
	if (negative)
		s->exponent = -s->exponent;
	return true;
}

static void slow_read(struct slow *s, const uint8_t *text, size_t nbytes)
{
	size_t at = 0, begin, whole;

	memset(s, 0, sizeof *s);
	while (nbytes && (text[nbytes - 1] == ' ' || text[nbytes - 1] == '\t'))
		nbytes--;
	while (at < nbytes && (text[at] == ' ' || text[at] == '\t'))
		at++;
	if (at < nbytes && (text[at] == '+' || text[at] == '-'))
		s->negative = text[at++] == '-';
	begin = at;
	at = slow_digits(s, text, nbytes, at);
	whole = at - begin;
	if (at < nbytes && text[at] == '.') {
		begin = ++at;
		at = slow_digits(s, text, nbytes, at);
		s->nfraction = (long)(at - begin);
	}
	s->number = whole + (size_t)s->nfraction > 0 && slow_exponent(s, text, nbytes, at);
}

static long slow_scale(const struct slow *s)
{
	return s->exponent < s->nfraction ? s->nfraction - s->exponent : 0;
}

static char digit_at(const struct slow *s, long i)
{
	return i >= 0 && i < s->ndigits ? s->digits[i] : '0';
}

/* The number in plain decimal with slow_scale() digits after the point. */
static void slow_print(const struct slow *s, char *out)
{
	long scale = slow_scale(s);
	long nzeros = s->exponent > s->nfraction ? s->exponent - s->nfraction : 0;
	long ndigits = s->ndigits ? s->ndigits + nzeros : 0, whole = ndigits - scale;

	if (s->negative && s->ndigits)
		*out++ = '-';
	if (whole <= 0)
		*out++ = '0';
	for (long i = 0; i < whole; i++)
		*out++ = digit_at(s, i);
	if (scale)
		*out++ = '.';
	for (long i = whole; scale && i < ndigits; i++)
		*out++ = digit_at(s, i);
	*out = '\0';
}

static bool is_beyond(const struct slow *s)
{
	long size = s->ndigits - s->nfraction + s->exponent;

	return slow_scale(s) > RANGE || (s->ndigits && size > RANGE);
}

static void check_fast(const struct slow *s, const char *text, size_t nbytes, const char *want)
{
	struct decimal d;
	char got[DECIMAL_NSCALES + 64];
	enum decimal_kind kind = decimal_parse(text, nbytes, &d);

	FUZZ_CHECK((kind == DECIMAL_NUMBER || kind == DECIMAL_WIDE) == s->number);
	if (kind != DECIMAL_NUMBER)
		return;
	FUZZ_CHECK(d.scale == slow_scale(s));
	got[decimal_format(d.significand, d.scale, got)] = '\0';
	FUZZ_CHECK(!strcmp(got, want));
}

static void check_wide(const struct slow *s, const char *text, size_t nbytes, const char *want)
{
	char got[EXACT_TEXT_NBYTES];
	struct integer room;
	struct exact x;
	enum status status = exact_parse(text, nbytes, &room, &x);

	if (!s->number)
		FUZZ_CHECK(status == STATUS_NOT_A_NUMBER);
	else
		FUZZ_CHECK(status == (is_beyond(s) ? STATUS_OUT_OF_RANGE : STATUS_OK));
	if (status != STATUS_OK)
		return;
	FUZZ_CHECK(x.scale == slow_scale(s));
	*exact_write(&x, x.scale, got) = '\0';
	FUZZ_CHECK(!strcmp(got, want));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static char want[2 * MAX_NBYTES + 2 * RANGE + 8];
	static struct slow s;
	size_t trimmed = nbytes;
	const char *text = decimal_trim((const char *)data, &trimmed);

	if (nbytes > MAX_NBYTES)
		return 0;
	slow_read(&s, data, nbytes);
	want[0] = '\0';
	if (s.number && !is_beyond(&s))
		slow_print(&s, want);
	check_fast(&s, (const char *)data, nbytes, want);
	if (trimmed)
		check_wide(&s, text, trimmed, want);
	return 0;
}
