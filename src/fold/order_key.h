/* SPDX-License-Identifier: MIT
 *
 * order_key.h - the order of values: a key is a text of bytes that has it. Of two keys the one with the lesser text comes first, so all
 * kinds of values, and several of them one after the other, are compared alike:
 *
 *   a number    its sign and its power of ten, 16 bits, then its digits, 18 in 60 bits and a bit whether more follow. 1.5, 1.50
 *               and 15e-1 have one text, and numbers of any length are exact.
 *   a text      a byte above those of numbers, then its own bytes, and 0. A byte 0 or 1 of it is 1 and a byte more.
 *   missing     the largest byte: it comes last
 *
 * Descending, all bits of a key that is not missing are turned around. No text begins another one.
 */
#pragma once

#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "number/notation.h"

/* The first bytes, from which kinds of values are told. */
#define ORDER_KEY_NEGATIVE 0x2000 /* minus the power: 10^(power - 1) <= |x| < 10^power */
#define ORDER_KEY_ZERO 0x4000
#define ORDER_KEY_POSITIVE 0x6000 /* and the power */
#define ORDER_KEY_POWER_MOST 7000 /* numbers beyond it are texts */
#define ORDER_KEY_TEXT 0x80
#define ORDER_KEY_MISSING 0xff
#define ORDER_KEY_NUMBER_NBYTES 10 /* of up to 18 digits */

/* The first bytes of a key, the first one highest; after its end zeros. */
#define ORDER_KEY_NWORDS 2

static inline bool order_key_is_above(const uint64_t a[ORDER_KEY_NWORDS], const uint64_t b[ORDER_KEY_NWORDS])
{
	return a[0] > b[0] || (a[0] == b[0] && a[1] > b[1]);
}

static inline char *order_key_put_word(char *to, uint64_t word)
{
	word = __builtin_bswap64(word);
	memcpy(to, &word, sizeof word);
	return to + sizeof word;
}

static inline uint64_t order_key_get_word(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof word);
	return __builtin_bswap64(word);
}

static inline char *order_key_put_power(char *to, bool negative, int power)
{
	unsigned word = (unsigned)(negative ? ORDER_KEY_NEGATIVE - power : ORDER_KEY_POSITIVE + power);

	*to++ = (char)(word >> 8);
	*to++ = (char)word;
	return to;
}

/* Writes digits, left-aligned to 18 of them. */
static inline char *order_key_put_digits(char *to, bool negative, uint64_t digits, bool more)
{
	uint64_t word = digits << 4 | more;

	return order_key_put_word(to, negative ? ~word : word);
}

/* Adds the key of a number of the fast path. Errors: STATUS_NO_MEMORY, as of those below. */
static inline enum status order_key_add_decimal(struct text_buffer *key, int64_t significand, int scale)
{
	const bool negative = significand < 0;
	const uint64_t magnitude = negative ? -(uint64_t)significand : (uint64_t)significand;
	const int ndigits = decimal_ndigits(magnitude);
	char *to;

	TRY(text_reserve(key, ORDER_KEY_NUMBER_NBYTES));
	to = key->data + key->nbytes;
	if (magnitude == 0) {
		*to++ = (char)(ORDER_KEY_ZERO >> 8);
		*to++ = (char)(ORDER_KEY_ZERO & 0xff);
	} else {
		to = order_key_put_power(to, negative, ndigits - scale);
		to = order_key_put_digits(to, negative, magnitude * decimal_powers[DECIMAL_NDIGITS - ndigits], false);
	}
	key->nbytes = (size_t)(to - key->data);
	return STATUS_OK;
}

/* Adds the key of any number's text, in decimal.h's syntax. *is_number: it is one. */
enum status order_key_add_number(struct text_buffer *key, const char *text, size_t nbytes, bool *is_number);
enum status order_key_add_text(struct text_buffer *key, const char *text, size_t nbytes);
enum status order_key_add_missing(struct text_buffer *key);

/* Adds the key of a value: missing where it has no bytes. notation: in which it is a number if it is one; NULL: decimal.h's. */
enum status order_key_add(struct text_buffer *key, const char *text, size_t nbytes, const struct number_notation *notation);

/* Turns the value's key around that begins there. */
static inline void order_key_descend(struct text_buffer *key, size_t begin)
{
	if ((unsigned char)key->data[begin] == ORDER_KEY_MISSING)
		return;
	for (; begin < key->nbytes; begin++)
		key->data[begin] = (char)~key->data[begin];
}

/* Sets the words of the key that begins there, and ends where the text does. */
static inline enum status order_key_words(struct text_buffer *key, size_t begin, uint64_t words[ORDER_KEY_NWORDS])
{
	TRY(text_reserve(key, ORDER_KEY_NWORDS * sizeof *words));
	memset(key->data + key->nbytes, 0, ORDER_KEY_NWORDS * sizeof *words);
	for (size_t i = 0; i < ORDER_KEY_NWORDS; i++)
		words[i] = order_key_get_word(key->data + begin + i * sizeof *words);
	return STATUS_OK;
}
