/* SPDX-License-Identifier: MIT
 *
 * notation_guess.c - which notation a value that is no number may have: for error messages, and to
 * tell values from names. See notation.h. Nothing is computed from a guess.
 */
#include "number/notation.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "number/decimal.h"

/* What is tried, besides what the notation has already. */
static const char decimals[] = {'.', ','};
static const char *const thousands[] = {"", ",", ".", " ", "'", "\u2019"};
#define NDECIMALS (sizeof decimals)
#define NTHOUSANDS (sizeof thousands / sizeof *thousands)

/* The codes of much-used currencies. Other three letters before a number are rather a name, as in
 * COL1, although --money takes them. */
static const char codes[][4] = {
	"AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "INR", "JPY",
	"KRW", "MXN", "NOK", "NZD", "PLN", "RON", "RUB", "SEK", "SGD", "THB", "UAH", "USD", "ZAR",
};

/* Whether text has, but for those codes, no three capital letters in succession. */
static bool has_other_code(const char *text, size_t nbytes)
{
	size_t ncapitals = 0;

	for (size_t i = 0; i < nbytes; i++) {
		bool known = false;
		ncapitals = text[i] >= 'A' && text[i] <= 'Z' ? ncapitals + 1 : 0;
		for (size_t c = 0; ncapitals == 3 && c < sizeof codes / sizeof *codes; c++)
			known |= !memcmp(&text[i - 2], codes[c], 3);
		if (ncapitals == 3 && !known)
			return true;
	}
	return false;
}

static bool is_number(const struct number_notation *n, const char *text, size_t nbytes)
{
	return notation_to_plain(n, text, nbytes, NULL) > 0;
}

/* ---- resemblance ---- */

static bool is_hexadecimal(const char *text, size_t nbytes)
{
	if (nbytes < 3 || text[0] != '0' || (text[1] | 0x20) != 'x')
		return false;
	for (size_t i = 2; i < nbytes; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* 1_000, 1.2.3, 1,00,000 */
static bool is_digits_and_marks(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(text[i]) && !(text[i] && strchr("_.,'", text[i])))
			return false;
	return nbytes > 0 && decimal_is_digit(text[0]);
}

bool notation_resembles_number(const char *text, size_t nbytes)
{
	for (size_t d = 0; d < NDECIMALS && !has_other_code(text, nbytes); d++)
		for (size_t t = 0; t < NTHOUSANDS; t++) {
			struct number_notation n = {decimals[d], "", true, true};
			if (thousands[t][0] != n.decimal)
				strcpy(n.thousands, thousands[t]);
			if (is_number(&n, text, nbytes))
				return true;
		}
	text = decimal_trim(text, &nbytes);
	if (nbytes > 0 && (*text == '+' || *text == '-')) {
		text++;
		nbytes--;
	}
	return is_hexadecimal(text, nbytes) || is_digits_and_marks(text, nbytes);
}

/* ---- suggestions ---- */

/* One combination of options: those that differ from the ones given are named. */
struct guess {
	struct number_notation notation;
	unsigned nchanges;
};

/* Makes the guess of a number; returns false where it makes no sense, or repeats another one. */
static bool guess_make(const struct number_notation *given, size_t number, struct guess *out)
{
	size_t d = number / 4 / NTHOUSANDS, t = number / 4 % NTHOUSANDS;
	bool money = number & 1, percent = number & 2;
	struct number_notation *n = &out->notation;

	*n = *given;
	if (d < NDECIMALS)
		n->decimal = decimals[d];
	if (t > 0)
		strcpy(n->thousands, thousands[t]);
	n->money |= money;
	n->percent |= percent;
	out->nchanges = (n->decimal != given->decimal) +
			(unsigned)(strcmp(n->thousands, given->thousands) != 0) +
			(n->money != given->money) + (n->percent != given->percent);
	/* Each option that is asked for must change something. */
	return out->nchanges == (unsigned)(d < NDECIMALS) + (t > 0) + money + percent &&
	       !notation_fault(n);
}
#define NGUESSES (4 * NTHOUSANDS * (NDECIMALS + 1))

/* Appends the options of the guess. */
static void guess_write(const struct guess *g, const struct number_notation *given, char *text)
{
	const struct number_notation *n = &g->notation;
	const char *quote = n->thousands[0] == '\'' ? "\"" : n->thousands[0] == ' ' ? "'" : "";
	size_t used = strlen(text), room = NOTATION_SUGGESTION_NBYTES - used;
	char decimal[16] = "", thousands_text[24] = "";

	if (n->decimal != given->decimal)
		snprintf(decimal, sizeof decimal, " --decimal %c", n->decimal);
	if (strcmp(n->thousands, given->thousands))
		snprintf(thousands_text, sizeof thousands_text, " --thousands %s%s%s", quote,
			 n->thousands, quote);
	snprintf(text + used, room, "%s%s%s%s%s", used ? " or" : "", decimal, thousands_text,
		 n->money != given->money ? " --money" : "",
		 n->percent != given->percent ? " --percent" : "");
}

void notation_suggest(const struct number_notation *n, const char *text, size_t nbytes,
		      char suggestion[NOTATION_SUGGESTION_NBYTES])
{
	unsigned nwanted = 1, nfound = 0;
	struct guess g;

	suggestion[0] = '\0';
	for (; nwanted <= 4 && nfound == 0; nwanted++)
		for (size_t i = 0; i < NGUESSES && nfound < 2; i++) {
			if (!guess_make(n, i, &g) || g.nchanges != nwanted ||
			    (!n->money && g.notation.money && has_other_code(text, nbytes)) ||
			    !is_number(&g.notation, text, nbytes))
				continue;
			guess_write(&g, n, suggestion);
			nfound++;
		}
	if (nfound)
		memmove(suggestion, suggestion + 1, strlen(suggestion));
}
