/* SPDX-License-Identifier: MIT
 *
 * exact_text.c - see exact_text.h.
 */
#include "number/exact_text.h"

#include <string.h>

#include "number/decimal_text.h"

#define WHOLE_NDIGITS 441 /* before the point, of a sum of 2^64 numbers and more */
#define INTEGER_NZEROS 18 /* fewer zeros are written out */
#define SHORT_NDIGITS 19 /* of any number below 2^63 */

/* ---- writing ---- */

/* digits: room for INTEGER_NZEROS more. */
static void put_text(struct json_text *j, bool negative, char *digits, size_t ndigits, int exponent)
{
	for (; exponent > 0 && exponent < INTEGER_NZEROS; exponent--)
		digits[ndigits++] = '0';
	json_put(j, negative ? "\"-" : "\"");
	json_put_bytes(j, digits, ndigits);
	if (exponent) {
		json_put(j, exponent < 0 ? "e-" : "e");
		json_put_number(j, (uint64_t)(exponent < 0 ? -exponent : exponent));
	}
	json_put(j, "\"");
}

void exact_put(struct json_text *j, const struct exact *x)
{
	char digits[INTEGER_NDIGITS + INTEGER_NZEROS];
	uint128 magnitude = (uint128)(x->value < 0 ? -x->value : x->value);
	struct integer n;
	int nzeros = 0, ndigits;

	if (exact_is_zero(x)) {
		json_put(j, "\"0\"");
	} else if (!x->is_long) {
		nzeros = decimal_trim_zeros(&magnitude);
		put_text(j, x->value < 0, digits, (size_t)(decimal_write_u128(digits, magnitude) - digits), nzeros - x->scale);
	} else {
		exact_to_integer(x, x->scale, &n);
		for (ndigits = integer_digits(&n, digits); digits[ndigits - 1] == '0'; ndigits--)
			nzeros++;
		put_text(j, n.negative, digits, (size_t)ndigits, nzeros - x->scale);
	}
}

void exact_put_int64(struct json_text *j, int64_t x)
{
	if (x < 0)
		json_put(j, "-");
	json_put_number(j, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

/* ---- reading ---- */

/* Reads an integer of up to ndigits <= SHORT_NDIGITS digits. Returns false and reads nothing if none follows. */
static inline bool get_short(struct json_text *j, int ndigits, int128 *x)
{
	const char *at = j->at, *digits, *end = j->end - at > ndigits + 1 ? at + ndigits + 2 : j->end;
	const bool negative = at < end && *at == '-';
	uint64_t number = 0;

	for (digits = at += negative; at < end && decimal_is_digit(*at); at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at == digits || at - digits > ndigits)
		return false;
	*x = negative ? -(int128)number : (int128)number;
	j->at = at;
	return true;
}

int64_t exact_get_int64(struct json_text *j)
{
	int128 x = 0;

	if (!get_short(j, DECIMAL_NDIGITS, &x))
		json_fail(j, STATUS_DAMAGED);
	return (int64_t)x;
}

/* Reads digits of any number. */
static void get_integer(struct json_text *j, struct integer *n)
{
	const bool negative = json_try(j, "-");
	const char *digits = j->at;
	bool fits;

	while (j->at < j->end && decimal_is_digit(*j->at))
		j->at++;
	fits = j->at > digits && j->at - digits <= INTEGER_NDIGITS;
	integer_set_digits(n, digits, fits ? (size_t)(j->at - digits) : 0);
	n->negative = negative;
	if (!fits)
		json_fail(j, STATUS_DAMAGED);
}

static int get_exponent(struct json_text *j)
{
	const bool negative = json_try(j, "-");
	uint64_t n = json_get_number(j);

	if (n > INTEGER_NDIGITS)
		json_fail(j, STATUS_DAMAGED);
	return n > INTEGER_NDIGITS ? 0 : negative ? -(int)n : (int)n;
}

void exact_get(struct json_text *j, struct exact *x, int power)
{
	struct exact number;
	struct integer n;
	int exponent = 0;
	int128 value;

	json_mark(j, "\"");
	if (get_short(j, SHORT_NDIGITS, &value))
		integer_set_signed(&n, value);
	else
		get_integer(j, &n);
	if (json_try(j, "e"))
		exponent = get_exponent(j);
	json_mark(j, "\"");
	if (-exponent > power * EXACT_NPLACES_MAX || integer_ndigits(&n) + exponent > power * WHOLE_NDIGITS)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return;
	integer_shift(&n, exponent);
	number = exact_view(&n, exponent > 0 ? 0 : -exponent);
	if (exact_add(x, &number) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

/* ---- both ---- */

void exact_text(struct json_text *j, struct exact *x, int power)
{
	if (j->reads)
		exact_get(j, x, power);
	else
		exact_put(j, x);
}

void exact_int128(struct json_text *j, int128 *x)
{
	struct exact number = {.value = j->reads ? 0 : *x};

	exact_text(j, &number, 1);
	if (!exact_to_int128(&number, 0, x) || number.scale > 0)
		json_fail(j, STATUS_DAMAGED);
	exact_free(&number);
}

void exact_scale(struct json_text *j, int *scale, int nscales)
{
	uint64_t number = (uint64_t)*scale;

	json_number(j, &number);
	if (number >= (uint64_t)nscales)
		json_fail(j, STATUS_DAMAGED);
	*scale = number < (uint64_t)nscales ? (int)number : 0;
}
