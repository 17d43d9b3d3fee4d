/* SPDX-License-Identifier: MIT
 *
 * plain.c - see plain.h.
 */
#include "number/plain.h"

#include <string.h>

#include "number/decimal_compare.h"

static const char *skip_digits(const char *text)
{
	while (decimal_is_digit(*text))
		text++;
	return text;
}

static struct decimal_syntax syntax_of(const char *text)
{
	struct decimal_syntax s;

	decimal_tokenize(text, strlen(text), &s);
	return s;
}

bool plain_is(const char *text)
{
	const char *begin = text + (*text == '-'), *end = skip_digits(begin);

	if (end > begin && *end == '.') {
		begin = end + 1;
		end = skip_digits(begin);
	}
	return end > begin && !*end;
}

int plain_top(const char *text)
{
	struct decimal_syntax s = syntax_of(text);

	return s.ndigits > 0 ? (int)(s.ndigits - s.nfraction) - 1 : PLAIN_NO_TOP;
}

int plain_nplaces(const char *text)
{
	return (int)syntax_of(text).nfraction;
}

int128 plain_window(const char *text, int top)
{
	const char *digit = text + strspn(text, "-0."), *end = text + strlen(text);
	const int first = plain_top(text);
	int128 window = 0;

	for (int i = 0; i < PLAIN_NDIGITS; i++)
		window = window * 10 + (top - i <= first ? decimal_next_digit(&digit, end) : 0);
	return *text == '-' ? -window : window;
}

int plain_compare(const char *a, const char *b)
{
	return decimal_compare_texts(a, strlen(a), b, strlen(b));
}
