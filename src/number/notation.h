/* SPDX-License-Identifier: MIT
 *
 * notation.h - how an input writes numbers, where that is not decimal.h's syntax, and the plain
 * text of such numbers. All other code reads plain text only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NOTATION_THOUSANDS_NBYTES 4

/* What K, KB, M, MB, ... are; KiB is 1024 bytes in both. */
enum size_units { SIZES_NONE, SIZES_IEC /* 1024 */, SIZES_SI /* 1000 */ };

struct number_notation {
	char decimal;                               /* the decimal point */
	char thousands[NOTATION_THOUSANDS_NBYTES + 1]; /* one character of UTF-8, or "": none */
	bool money;                                 /* currency signs, (5), 5- */
	bool percent;                               /* 12% is 0.12 */
	bool durations;                             /* 1h30m, 01:30:15, 10:00 are seconds */
	enum size_units sizes;                      /* 1.5K, 2GiB are bytes */
};

/* Whether numbers are decimal.h's: then no function below is needed. */
static inline bool notation_is_plain(const struct number_notation *n)
{
	return n->decimal == '.' && !n->thousands[0] && !n->money && !n->percent && !n->durations &&
	       n->sizes == SIZES_NONE;
}

/* Bytes by which a plain text may be longer than the value: an exponent, what a unit multiplies. */
#define NOTATION_ROOM 40

/* Rewrites the value text[0 .. nbytes), unquoted, blanks around it allowed, as decimal.h's
 * [+-]digits[.digits][e[+-]digits]; 12% becomes 12e-2, 1.5h 5400.
 * to: nbytes + NOTATION_ROOM bytes, which do not overlap the text; NULL: the value is only checked.
 * Returns the plain text's length, or 0 where the value is no number. Whether the number is in
 * range is for exact_parse to say. */
size_t notation_to_plain(const struct number_notation *n, const char *text, size_t nbytes, char *to);

/* Returns the currency that the value text[0 .. nbytes), blanks around it allowed, is written with: its sign or its
 * three letters, *currency_nbytes bytes of the text. Whether the rest is a number is not checked. NULL: it has no currency. */
#define NOTATION_CURRENCY_NBYTES 4
const char *notation_currency(const struct number_notation *n, const char *text, size_t nbytes, size_t *currency_nbytes);

/* Whether the value would be a number with some --decimal, --thousands, --money and --percent, or
 * in a program's notation (0x10, 1_000): no name of a column looks like that. True for plain
 * numbers as well, whatever their range. */
bool notation_resembles_number(const char *text, size_t nbytes);

/* Longest text of notation_suggest. */
#define NOTATION_SUGGESTION_NBYTES 96

/* Writes the options, as for a shell, with which a value that is no number in notation n would be
 * one: the fewest that suffice; of equally many, at most two choices, joined by " or ". Writes ""
 * where none helps. NUL-terminated. */
void notation_suggest(const struct number_notation *n, const char *text, size_t nbytes,
		      char suggestion[NOTATION_SUGGESTION_NBYTES]);

/* Returns what is wrong with the options, for a message, or NULL. */
const char *notation_fault(const struct number_notation *n);
