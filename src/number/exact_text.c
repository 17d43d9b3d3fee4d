/* SPDX-License-Identifier: MIT
 *
 * exact_text.c - see exact_text.h.
 */
#include "number/exact_text.h"

#include <stdio.h>
#include <string.h>

#include "number/decimal_text.h"

#define STEP_NDIGITS 18 /* digits that a step adds or takes away */

/* ---- words ---- */

static void negate(uint64_t *word, int nwords)
{
	uint64_t carry = 1;

	for (int i = 0; i < nwords; i++) {
		word[i] = ~word[i] + carry;
		carry = carry && word[i] == 0;
	}
}

/* word = word x factor + more. Returns false where that does not fit. */
static bool multiply(uint64_t *word, int nwords, uint64_t factor, uint64_t more)
{
	for (int i = 0; i < nwords; i++) {
		uint128 product = (uint128)word[i] * factor + more;
		word[i] = (uint64_t)product;
		more = (uint64_t)(product >> 64);
	}
	return more == 0;
}

static bool is_zero(const uint64_t *word, int nwords)
{
	for (int i = 0; i < nwords; i++)
		if (word[i])
			return false;
	return true;
}

static void put_words(struct json_text *j, const uint64_t *word, int nwords)
{
	char digits[INTEGER_NDIGITS] = "0";
	struct integer x;
	int n;

	integer_set_words(&x, word, nwords);
	n = integer_digits(&x, digits);
	json_put(j, x.negative ? "\"-" : "\"");
	json_put_bytes(j, digits, n ? (size_t)n : 1);
	json_put(j, "\"");
}

/* Reads a two's complement without quotes. */
static void get_words(struct json_text *j, uint64_t *word, int nwords)
{
	bool negative = json_try(j, "-"), fits = true;
	const char *begin = j->at;

	memset(word, 0, (size_t)nwords * sizeof *word);
	while (fits && j->at < j->end && decimal_is_digit(*j->at)) {
		uint64_t x = 0;
		int n = 0;
		for (; n < STEP_NDIGITS && j->at < j->end && decimal_is_digit(*j->at); n++)
			x = x * 10 + (uint64_t)(*j->at++ - '0');
		fits = multiply(word, nwords, decimal_powers[n], x);
	}
	fits = fits && j->at > begin;
	if (negative)
		negate(word, nwords);
	if (!fits || (word[nwords - 1] >> 63) != (negative && !is_zero(word, nwords)))
		json_fail(j, STATUS_DAMAGED);
}

void exact_words(struct json_text *j, uint64_t *word, int nwords)
{
	if (!j->reads) {
		put_words(j, word, nwords);
		return;
	}
	json_mark(j, "\"");
	get_words(j, word, nwords);
	json_mark(j, "\"");
}

#define SHORT_NDIGITS 19 /* of any number below 2^64 */

/* Reads an integer in quotes, of up to SHORT_NDIGITS digits. Returns false and reads nothing if no integer follows. */
static inline bool get_short(struct json_text *j, int128 *x)
{
	const char *at = j->at + 1, *digits, *end = j->end - j->at > SHORT_NDIGITS + 3 ? at + SHORT_NDIGITS + 2 : j->end;
	bool negative;
	uint64_t number = 0;

	if (j->at == j->end || *j->at != '"' || at == j->end)
		return false;
	negative = *at == '-';
	digits = at += negative;
	for (; at < end && decimal_is_digit(*at); at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at == end || *at != '"' || at == digits || at - digits > SHORT_NDIGITS)
		return false;
	*x = negative ? -(int128)number : (int128)number;
	j->at = at + 1;
	return true;
}

void exact_int128(struct json_text *j, int128 *x)
{
	uint64_t word[] = {(uint64_t)*x, (uint64_t)((uint128)*x >> 64)};

	if (j->reads && get_short(j, x))
		return;
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
	uint64_t word;

	get_words(j, &word, 1);
	return (int64_t)word;
}

/* ---- limbs ---- */

static void put_limbs(struct json_text *j, const int64_t *limb, int nlimbs)
{
	int low = 0, high = nlimbs - 1;
	char digits[24];
	bool negative;

	while (high > 0 && limb[high] == 0)
		high--;
	while (low < high && limb[low] == 0)
		low++;
	negative = limb[high] < 0;
	json_put(j, negative ? "\"-" : "\"");
	for (int i = high; i >= low; i--) {
		snprintf(digits, sizeof digits, i == high ? "%lld" : "%09lld",
			 (long long)(negative ? -limb[i] : limb[i]));
		json_put(j, digits);
	}
	if (low > 0) {
		json_put(j, "e");
		json_put_number(j, (uint64_t)low * WIDE_LIMB_DIGITS);
	}
	json_put(j, "\"");
}

/* Sets limbs from `low` on to digits[0 .. n). Returns false where they do not fit. */
static bool set_limbs(int64_t *limb, int nlimbs, uint64_t low, const char *digits, size_t n, int sign)
{
	for (; n > 0 && low < (uint64_t)nlimbs; low++) {
		size_t step = n < WIDE_LIMB_DIGITS ? n : WIDE_LIMB_DIGITS;
		int64_t x = 0;
		for (size_t i = n - step; i < n; i++)
			x = x * 10 + (digits[i] - '0');
		limb[low] = sign * x;
		n -= step;
	}
	return n == 0;
}

void exact_limbs(struct json_text *j, int64_t *limb, int nlimbs)
{
	uint64_t exponent = 0;
	const char *digits, *end;
	bool negative;

	if (!j->reads) {
		put_limbs(j, limb, nlimbs);
		return;
	}
	memset(limb, 0, (size_t)nlimbs * sizeof *limb);
	json_mark(j, "\"");
	negative = json_try(j, "-");
	for (digits = j->at; j->at < j->end && decimal_is_digit(*j->at);)
		j->at++;
	end = j->at;
	if (json_try(j, "e"))
		exponent = json_get_number(j);
	json_mark(j, "\"");
	if (j->status == STATUS_OK &&
	    (end == digits || exponent % WIDE_LIMB_DIGITS ||
	     !set_limbs(limb, nlimbs, exponent / WIDE_LIMB_DIGITS, digits, (size_t)(end - digits),
			negative ? -1 : 1)))
		json_fail(j, STATUS_DAMAGED);
}

bool exact_has_limbs(const int64_t *limb, int nlimbs)
{
	for (int i = 0; limb && i < nlimbs; i++)
		if (limb[i])
			return true;
	return false;
}

void exact_integer(struct json_text *j, struct integer *x, int nmore, int nlimbs_max)
{
	int64_t limb[4 * WIDE_NLIMBS + 3];
	char digits[INTEGER_NDIGITS + WIDE_LIMB_DIGITS] = "0";
	int n, nzeros;

	if (j->reads) {
		exact_limbs(j, limb, nlimbs_max);
		integer_set_limbs(x, limb, nlimbs_max, 0);
		if (x->negative)
			json_fail(j, STATUS_DAMAGED);
		return;
	}
	n = integer_digits(x, digits);
	nzeros = n > 0 ? nmore : 0;
	for (; n > 0 && digits[n - 1] == '0'; n--)
		nzeros++;
	for (; nzeros % WIDE_LIMB_DIGITS; nzeros--)
		digits[n++] = '0';
	json_put(j, x->negative && n > 0 ? "\"-" : "\"");
	json_put_bytes(j, digits, n > 0 ? (size_t)n : 1);
	if (nzeros > 0) {
		json_put(j, "e");
		json_put_number(j, (uint64_t)nzeros);
	}
	json_put(j, "\"");
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
	json_put(j, s->sum.negative ? "\"-" : "\"");
	json_put_bytes(j, piece->digits, piece->ndigits);
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
