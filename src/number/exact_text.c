/* SPDX-License-Identifier: MIT
 *
 * exact_text.c - see exact_text.h.
 */
#include "number/exact_text.h"

#include "number/decimal_text.h"

/* Writes a sign and digits; 0 has none. */
static void put_digits(struct json_text *j, bool negative, const char *digits, int n)
{
	json_put(j, negative && n > 0 ? "\"-" : "\"");
	json_put_bytes(j, n > 0 ? digits : "0", n > 0 ? (size_t)n : 1);
}

/* Reads an integer without quotes; it fails where no digit follows, or too many. */
static void get_integer(struct json_text *j, struct integer *x)
{
	const bool negative = json_try(j, "-");
	const char *digits = j->at;
	bool fits;

	while (j->at < j->end && decimal_is_digit(*j->at))
		j->at++;
	fits = j->at > digits && j->at - digits <= INTEGER_NDIGITS;
	integer_set_digits(x, digits, fits ? (size_t)(j->at - digits) : 0);
	x->negative = negative;
	if (!fits)
		json_fail(j, STATUS_DAMAGED);
}

#define SHORT_NDIGITS 19 /* of any number below 2^64: an identity of extremes has as many */

/* Reads one of up to ndigits <= SHORT_NDIGITS digits. Returns false and reads nothing if none follows. */
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

/* ---- words ---- */

void exact_words(struct json_text *j, uint64_t *word, int nwords)
{
	char digits[INTEGER_NDIGITS];
	struct integer x;

	if (!j->reads) {
		integer_set_words(&x, word, nwords);
		put_digits(j, x.negative, digits, integer_digits(&x, digits));
		json_put(j, "\"");
		return;
	}
	json_mark(j, "\"");
	get_integer(j, &x);
	json_mark(j, "\"");
	if (!integer_to_words(&x, word, nwords))
		json_fail(j, STATUS_DAMAGED);
}

void exact_int128(struct json_text *j, int128 *x)
{
	uint64_t word[] = {(uint64_t)*x, (uint64_t)((uint128)*x >> 64)};
	const char *begin = j->at;

	if (j->reads && json_try(j, "\"") && get_short(j, SHORT_NDIGITS, x) && json_try(j, "\""))
		return;
	j->at = begin;
	if (!j->reads && *x == (int64_t)*x) {
		json_put(j, "\"");
		exact_put_int64(j, (int64_t)*x);
		json_put(j, "\"");
		return;
	}
	exact_words(j, word, 2);
	*x = (int128)((uint128)word[1] << 64 | word[0]);
}

void exact_sum192(struct json_text *j, struct sum192 *sum)
{
	uint64_t word[] = {(uint64_t)sum->low, (uint64_t)(sum->low >> 64), sum->high};

	exact_words(j, word, 3);
	*sum = (struct sum192){(uint128)word[1] << 64 | word[0], word[2]};
}

void exact_put_int64(struct json_text *j, int64_t x)
{
	if (x < 0)
		json_put(j, "-");
	json_put_number(j, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

int64_t exact_get_int64(struct json_text *j)
{
	int128 x = 0;

	if (!get_short(j, DECIMAL_NDIGITS, &x))
		json_fail(j, STATUS_DAMAGED);
	return (int64_t)x;
}

/* ---- integers with an exponent ---- */

/* Writes x x 10^nzeros. */
static void put_integer(struct json_text *j, const struct integer *x, int nzeros)
{
	char digits[INTEGER_NDIGITS + WIDE_LIMB_DIGITS];
	int n = integer_digits(x, digits);

	for (; n > 0 && digits[n - 1] == '0'; n--)
		nzeros++;
	for (nzeros = n > 0 ? nzeros : 0; nzeros % WIDE_LIMB_DIGITS; nzeros--)
		digits[n++] = '0';
	put_digits(j, x->negative, digits, n);
	if (nzeros > 0) {
		json_put(j, "e");
		json_put_number(j, (uint64_t)nzeros);
	}
	json_put(j, "\"");
}

/* Reads that. Returns the number of zeros, where all has up to ndigits_max digits; else x is 0. */
static int get_with_zeros(struct json_text *j, struct integer *x, int ndigits_max)
{
	uint64_t exponent = 0;

	json_mark(j, "\"");
	get_integer(j, x);
	if (json_try(j, "e"))
		exponent = json_get_number(j);
	json_mark(j, "\"");
	if (exponent % WIDE_LIMB_DIGITS || exponent > (uint64_t)ndigits_max || integer_ndigits(x) > ndigits_max - (int)exponent)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		integer_set(x, 0);
	return j->status == STATUS_OK ? (int)exponent : 0;
}

void exact_wide(struct json_text *j, struct wide *x)
{
	struct integer significant;
	int low = 0;

	if (j->reads) {
		low = get_with_zeros(j, &significant, WIDE_NLIMBS * WIDE_LIMB_DIGITS);
		wide_set_integer(x, &significant, WIDE_POINT * WIDE_LIMB_DIGITS - low);
		return;
	}
	while (low < WIDE_NLIMBS && x->limb[low] == 0)
		low++;
	integer_set_limbs(&significant, x->limb, WIDE_NLIMBS, low * WIDE_LIMB_DIGITS);
	put_integer(j, &significant, low * WIDE_LIMB_DIGITS);
}

void exact_big(struct json_text *j, struct big_decimal *x, int nplaces, int ndigits_max)
{
	if (!j->reads) {
		put_integer(j, &x->n, nplaces - x->scale);
		return;
	}
	integer_shift(&x->n, get_with_zeros(j, &x->n, ndigits_max));
	x->scale = nplaces;
	x->is_rounded = false;
	if (x->n.negative)
		json_fail(j, STATUS_DAMAGED);
}

/* ---- sums by scale ---- */

void exact_scale(struct json_text *j, int *scale, int nscales)
{
	uint64_t number = (uint64_t)*scale;

	json_number(j, &number);
	if (number >= (uint64_t)nscales)
		json_fail(j, STATUS_DAMAGED);
	*scale = number < (uint64_t)nscales ? (int)number : 0;
}

/* The most digits of a sum that is not cut; so many fit in the words and, of two, in the limit of a single number. */
static int digits_of(int nwords)
{
	return nwords == EXACT_NWORDS_MAX ? 96 : nwords == 3 ? 57 : 18;
}

void exact_sum_begin(struct exact_sum *s, int power, int scale)
{
	integer_set(&s->sum, 0);
	s->power = power;
	s->scale = scale;
}

void exact_sum_add(struct exact_sum *s, const uint64_t *word, int nwords, int scale)
{
	integer_add_words(&s->sum, word, nwords, s->power * (s->scale - scale));
}

void exact_sum_add_scales(struct exact_sum *s, const struct by_scale *sums, int first)
{
	const union scale_value *value = by_scale_values(sums);

	for (uint32_t left = sums->scales; left; left &= left - 1, value++) {
		const struct sum192 *sum = &value->square;
		const uint64_t word[] = {(uint64_t)sum->low, (uint64_t)(sum->low >> 64), sum->high};
		exact_sum_add(s, word, 3, first + __builtin_ctz(left));
	}
}

/* Appends the piece digits[0 .. n) unless it is 0. */
static void add_piece(struct exact_sum *s, int scale, const char *digits, int n)
{
	for (; n > 0 && *digits == '0'; n--)
		digits++;
	if (n > 0)
		s->pieces[s->npieces++] = (struct exact_piece){scale, (size_t)n, digits};
}

void exact_sum_end(struct exact_sum *s, int nwords)
{
	int nmost = digits_of(nwords), scale = s->scale, nzeros = 0, ndigits = integer_digits(&s->sum, s->digits), done = 0;

	s->npieces = 0;
	if (ndigits == 0)
		return;
	while (s->digits[ndigits - 1 - nzeros] == '0')
		nzeros++;
	nzeros = nzeros / s->power < scale ? nzeros / s->power : scale;
	scale -= nzeros;
	ndigits -= nzeros * s->power;
	for (int border = 0; ndigits > nmost && border < scale; border += nmost / s->power) {
		int next = ndigits - s->power * (scale - border);
		if (next <= done)
			continue;
		add_piece(s, border, s->digits + done, next - done);
		done = next;
	}
	add_piece(s, scale, s->digits + done, ndigits - done);
}

void exact_put_piece(struct json_text *j, const struct exact_sum *s, const struct exact_piece *piece)
{
	put_digits(j, s->sum.negative, piece->digits, (int)piece->ndigits);
	json_put(j, "\"");
}

void exact_put_pieces(struct json_text *j, const struct exact_sum *s, int first, int end)
{
	json_put(j, "[");
	for (int i = 0; i < s->npieces; i++) {
		if (s->pieces[i].scale < first || s->pieces[i].scale >= end)
			continue;
		json_put(json_next(j), "[");
		json_put_number(j, (uint64_t)(s->pieces[i].scale - first));
		exact_put_piece(json_next(j), s, &s->pieces[i]);
		json_put(j, "]");
	}
	json_put(j, "]");
}

void exact_get_pieces(struct json_text *j, exact_add add, void *to)
{
	json_mark(j, "[");
	while (json_item(j, true)) {
		struct sum192 sum = {0, 0};
		int scale = 0;
		json_mark(j, "[");
		exact_scale(j, &scale, DECIMAL_NSCALES);
		exact_sum192(json_next(j), &sum);
		json_mark(j, "]");
		if (j->status == STATUS_OK && add(to, scale, sum) != STATUS_OK)
			json_fail(j, STATUS_NO_MEMORY);
	}
	json_mark(j, "]");
}

void exact_sums(struct json_text *j, const struct by_scale *sums, int power, exact_add add, void *to)
{
	struct exact_sum total;

	if (j->reads) {
		exact_get_pieces(j, add, to);
		return;
	}
	exact_sum_begin(&total, power, sums->scales ? 31 - __builtin_clz(sums->scales) : 0);
	exact_sum_add_scales(&total, sums, 0);
	exact_sum_end(&total, 3);
	exact_put_pieces(j, &total, 0, DECIMAL_NSCALES);
}
