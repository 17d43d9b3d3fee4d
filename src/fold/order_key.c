/* SPDX-License-Identifier: MIT
 *
 * order_key.c - see order_key.h.
 */
#include "fold/order_key.h"

#include <stdlib.h>

#include "number/decimal_compare.h"

enum status order_key_add_number(struct text_buffer *key, const char *text, size_t nbytes, bool *is_number)
{
	const char *end;
	struct decimal_syntax s;
	size_t last;
	int64_t power;

	text = decimal_trim(text, &nbytes);
	end = text + nbytes;
	*is_number = nbytes > 0 && decimal_tokenize(text, nbytes, &s);
	power = *is_number ? s.ndigits - s.nfraction + s.exponent : 0;
	*is_number &= power >= -ORDER_KEY_POWER_MOST && power <= ORDER_KEY_POWER_MOST;
	if (!*is_number)
		return STATUS_OK;
	if (s.ndigits == 0)
		return order_key_add_decimal(key, 0, 0);
	TRY(text_reserve(key, ORDER_KEY_NUMBER_NBYTES + (size_t)s.ndigits));
	last = key->nbytes = (size_t)(order_key_put_power(key->data + key->nbytes, s.negative, (int)power) - key->data);
	for (text += strspn(text, "+-0."); s.ndigits > 0; s.ndigits -= DECIMAL_NDIGITS) {
		uint64_t word = 0;
		for (int i = 0; i < DECIMAL_NDIGITS; i++)
			word = 10 * word + (uint64_t)decimal_next_digit(&text, end);
		last = word ? key->nbytes : last;
		order_key_put_digits(key->data + key->nbytes, s.negative, word, true);
		key->nbytes += sizeof word;
	}
	key->data[last + 7] ^= 1; /* behind it there are only zeros */
	key->nbytes = last + 8;
	return STATUS_OK;
}

enum status order_key_add_text(struct text_buffer *key, const char *text, size_t nbytes)
{
	char *to;

	TRY(text_reserve(key, 2 * nbytes + 2));
	to = key->data + key->nbytes;
	*to++ = (char)ORDER_KEY_TEXT;
	for (size_t i = 0; i < nbytes; i++) {
		if ((unsigned char)text[i] > 1) {
			*to++ = text[i];
			continue;
		}
		*to++ = 1;
		*to++ = (char)(text[i] + 1);
	}
	*to++ = 0;
	key->nbytes = (size_t)(to - key->data);
	return STATUS_OK;
}

enum status order_key_add_missing(struct text_buffer *key)
{
	TRY(text_reserve(key, 1));
	key->data[key->nbytes++] = (char)ORDER_KEY_MISSING;
	return STATUS_OK;
}

/* Adds the key of a value in decimal.h's syntax, or of a text. */
static enum status add_plain(struct text_buffer *key, const char *text, size_t nbytes)
{
	struct decimal number;
	bool is_number = true;

	if (decimal_parse(text, nbytes, &number) == DECIMAL_NUMBER)
		return order_key_add_decimal(key, number.significand, number.scale);
	TRY(order_key_add_number(key, text, nbytes, &is_number));
	return is_number ? STATUS_OK : order_key_add_text(key, text, nbytes);
}

enum status order_key_add(struct text_buffer *key, const char *text, size_t nbytes, const struct number_notation *notation)
{
	size_t plain_nbytes;
	enum status status;
	char *plain;

	if (nbytes == 0)
		return order_key_add_missing(key);
	if (!notation || notation_is_plain(notation))
		return add_plain(key, text, nbytes);
	NEED(plain = malloc(nbytes + NOTATION_ROOM));
	plain_nbytes = notation_to_plain(notation, text, nbytes, plain);
	status = plain_nbytes > 0 ? add_plain(key, plain, plain_nbytes) : order_key_add_text(key, text, nbytes);
	free(plain);
	return status;
}
