/* SPDX-License-Identifier: MIT
 *
 * exact_text.c - see exact_text.h.
 */
#include "number/exact_text.h"

#include <stdio.h>
#include <string.h>

#include "number/decimal_text.h"

#define STEP_NDIGITS 18 /* digits that a step adds or takes away */
#define WORDS_NDIGITS (20 * EXACT_NWORDS_MAX)

/* ---- words ---- */

static void negate(uint64_t *word, int nwords)
{
	uint64_t carry = 1;

	for (int i = 0; i < nwords; i++) {
		word[i] = ~word[i] + carry;
		carry = carry && word[i] == 0;
	}
}

/* word /= 10^STEP_NDIGITS. Returns the remainder. */
static uint64_t divide(uint64_t *word, int nwords)
{
	uint128 left = 0;

	for (int i = nwords - 1; i >= 0; i--) {
		left = left << 64 | word[i];
		word[i] = (uint64_t)(left / decimal_powers[STEP_NDIGITS]);
		left %= decimal_powers[STEP_NDIGITS];
	}
	return (uint64_t)left;
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

void exact_put_words(struct json_writer *w, const uint64_t *word, int nwords)
{
	uint64_t left[EXACT_NWORDS_MAX];
	char text[WORDS_NDIGITS + STEP_NDIGITS + 2], *at = text + sizeof text;
	bool negative = word[nwords - 1] >> 63;

	memcpy(left, word, (size_t)nwords * sizeof *left);
	if (negative)
		negate(left, nwords);
	do {
		uint64_t low = divide(left, nwords);
		bool last = is_zero(left, nwords);
		for (int i = 0; last ? low > 0 || i == 0 : i < STEP_NDIGITS; i++, low /= 10)
			*--at = (char)('0' + low % 10);
	} while (!is_zero(left, nwords));
	json_put(w, negative ? "\"-" : "\"");
	json_put_bytes(w, at, (size_t)(text + sizeof text - at));
	json_put(w, "\"");
}

/* Reads the digits that follow to word. Returns false if they do not fit, or no digit follows. */
static bool read_digits(struct json_reader *r, uint64_t *word, int nwords)
{
	const char *begin = r->at;
	bool fits = true;

	memset(word, 0, (size_t)nwords * sizeof *word);
	while (fits && r->at < r->end && decimal_is_digit(*r->at)) {
		uint64_t x = 0;
		int n = 0;
		for (; n < STEP_NDIGITS && r->at < r->end && decimal_is_digit(*r->at); n++)
			x = x * 10 + (uint64_t)(*r->at++ - '0');
		fits = multiply(word, nwords, decimal_powers[n], x);
	}
	return fits && r->at > begin;
}

/* Reads a two's complement without quotes. */
static void read_words(struct json_reader *r, uint64_t *word, int nwords)
{
	bool negative = json_try(r, "-"), ok = read_digits(r, word, nwords);

	if (negative)
		negate(word, nwords);
	if (!ok || (word[nwords - 1] >> 63) != (negative && !is_zero(word, nwords)))
		json_fail(r, STATUS_DAMAGED);
}

/* Reads an integer in quotes, of up to STEP_NDIGITS digits. Returns false and reads nothing if no integer follows. */
static inline bool read_short(struct json_reader *r, int64_t *x)
{
	const char *at = r->at + 1, *digits, *end = r->end - r->at > STEP_NDIGITS + 3 ? at + STEP_NDIGITS + 1 : r->end;
	bool negative;
	uint64_t number = 0;

	if (r->at == r->end || *r->at != '"' || at == r->end)
		return false;
	negative = *at == '-';
	digits = at += negative;
	for (; at < end && decimal_is_digit(*at); at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at == end || *at != '"' || at == digits || at - digits > STEP_NDIGITS)
		return false;
	*x = negative ? -(int64_t)number : (int64_t)number;
	r->at = at + 1;
	return true;
}

void exact_words(struct json_reader *r, uint64_t *word, int nwords)
{
	json_expect(r, "\"");
	read_words(r, word, nwords);
	json_expect(r, "\"");
}

void exact_put_int128(struct json_writer *w, int128 x)
{
	const uint64_t word[] = {(uint64_t)x, (uint64_t)((uint128)x >> 64)};

	if (x != (int64_t)x) {
		exact_put_words(w, word, 2);
		return;
	}
	json_put(w, "\"");
	exact_put_int64(w, (int64_t)x);
	json_put(w, "\"");
}

int128 exact_int128(struct json_reader *r)
{
	uint64_t word[2];
	int64_t x;

	if (read_short(r, &x))
		return x;
	exact_words(r, word, 2);
	return (int128)((uint128)word[1] << 64 | word[0]);
}

void exact_put_int64(struct json_writer *w, int64_t x)
{
	if (x < 0)
		json_put(w, "-");
	json_put_number(w, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

int64_t exact_int64(struct json_reader *r)
{
	uint64_t word;

	read_words(r, &word, 1);
	return (int64_t)word;
}

void exact_put_sum192(struct json_writer *w, const struct sum192 *sum)
{
	const uint64_t word[] = {(uint64_t)sum->low, (uint64_t)(sum->low >> 64), sum->high};

	exact_put_words(w, word, 3);
}

struct sum192 exact_sum192(struct json_reader *r)
{
	uint64_t word[3];

	exact_words(r, word, 3);
	return (struct sum192){(uint128)word[1] << 64 | word[0], word[2]};
}

/* ---- limbs ---- */

void exact_put_limbs(struct json_writer *w, const int64_t *limb, int nlimbs)
{
	int low = 0, high = nlimbs - 1;
	char digits[24];
	bool negative;

	while (high > 0 && limb[high] == 0)
		high--;
	while (low < high && limb[low] == 0)
		low++;
	negative = limb[high] < 0;
	json_put(w, negative ? "\"-" : "\"");
	for (int i = high; i >= low; i--) {
		snprintf(digits, sizeof digits, i == high ? "%lld" : "%09lld",
			 (long long)(negative ? -limb[i] : limb[i]));
		json_put(w, digits);
	}
	if (low > 0) {
		json_put(w, "e");
		json_put_number(w, (uint64_t)low * WIDE_LIMB_DIGITS);
	}
	json_put(w, "\"");
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

void exact_limbs(struct json_reader *r, int64_t *limb, int nlimbs)
{
	uint64_t exponent = 0;
	const char *digits, *end;
	bool negative;

	memset(limb, 0, (size_t)nlimbs * sizeof *limb);
	json_expect(r, "\"");
	negative = json_try(r, "-");
	for (digits = r->at; r->at < r->end && decimal_is_digit(*r->at);)
		r->at++;
	end = r->at;
	if (json_try(r, "e"))
		exponent = json_number(r);
	json_expect(r, "\"");
	if (r->status == STATUS_OK &&
	    (end == digits || exponent % WIDE_LIMB_DIGITS ||
	     !set_limbs(limb, nlimbs, exponent / WIDE_LIMB_DIGITS, digits, (size_t)(end - digits),
			negative ? -1 : 1)))
		json_fail(r, STATUS_DAMAGED);
}

bool exact_has_limbs(const int64_t *limb, int nlimbs)
{
	for (int i = 0; limb && i < nlimbs; i++)
		if (limb[i])
			return true;
	return false;
}

void exact_put_integer(struct json_writer *w, const struct integer *x, int nmore)
{
	char digits[INTEGER_NDIGITS + WIDE_LIMB_DIGITS] = "0";
	int n = integer_digits(x, digits), nzeros = n > 0 ? nmore : 0;

	for (; n > 0 && digits[n - 1] == '0'; n--)
		nzeros++;
	for (; nzeros % WIDE_LIMB_DIGITS; nzeros--)
		digits[n++] = '0';
	json_put(w, x->negative && n > 0 ? "\"-" : "\"");
	json_put_bytes(w, digits, n > 0 ? (size_t)n : 1);
	if (nzeros > 0) {
		json_put(w, "e");
		json_put_number(w, (uint64_t)nzeros);
	}
	json_put(w, "\"");
}

void exact_integer(struct json_reader *r, struct integer *x, int nlimbs_max)
{
	int64_t limb[4 * WIDE_NLIMBS + 3];

	exact_limbs(r, limb, nlimbs_max);
	integer_set_limbs(x, limb, nlimbs_max, 0);
	if (x->negative)
		json_fail(r, STATUS_DAMAGED);
}

/* ---- sums by scale ---- */

int exact_scale(struct json_reader *r, int nscales)
{
	uint64_t scale = json_number(r);

	if (scale < (uint64_t)nscales)
		return (int)scale;
	json_fail(r, STATUS_DAMAGED);
	return 0;
}

/* The most digits of a sum that is not cut; so many fit in the words and, of two, in the limit of a single number. */
static int digits_of(int nwords)
{
	return nwords == EXACT_NWORDS_MAX ? 96 : nwords == 3 ? 57 : 18;
}

void exact_sum_begin(struct exact_sum *s, int power, int scale)
{
	s->power = power;
	s->scale = scale;
	integer_set(&s->sum, 0);
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
	int nmost = digits_of(nwords), scale = s->scale, nzeros = 0, ndigits, done = 0;

	s->npieces = 0;
	ndigits = integer_digits(&s->sum, s->digits);
	if (ndigits == 0)
		return;
	while (s->digits[ndigits - 1 - nzeros] == '0')
		nzeros++;
	nzeros = nzeros / s->power < scale ? nzeros / s->power : scale;
	scale -= nzeros;
	ndigits -= nzeros * s->power;
	for (int border = 0; ndigits > nmost && border < scale; border += nmost / s->power) {
		int end = ndigits - s->power * (scale - border);
		if (end <= done)
			continue;
		add_piece(s, border, s->digits + done, end - done);
		done = end;
	}
	add_piece(s, scale, s->digits + done, ndigits - done);
}

void exact_put_piece(struct json_writer *w, const struct exact_sum *s, const struct exact_piece *piece)
{
	json_put(w, s->sum.negative ? "\"-" : "\"");
	json_put_bytes(w, piece->digits, piece->ndigits);
	json_put(w, "\"");
}

void exact_put_pieces(struct json_writer *w, const struct exact_sum *s, int first, int end)
{
	const char *separator = "[";

	for (int i = 0; i < s->npieces; i++) {
		if (s->pieces[i].scale < first || s->pieces[i].scale >= end)
			continue;
		json_put(w, separator);
		json_put_number(w, (uint64_t)(s->pieces[i].scale - first));
		json_put(w, ",");
		exact_put_piece(w, s, &s->pieces[i]);
		json_put(w, "]");
		separator = ",[";
	}
}

bool exact_is_final(const uint64_t *word, int nwords, int scale, int power)
{
	int128 x = (int128)((uint128)word[1] << 64 | word[0]);

	for (int i = 2; i < nwords; i++)
		if (word[i] != (x < 0 ? UINT64_MAX : 0))
			return false;
	return x != 0 && (scale == 0 || x % (int128)decimal_powers[power] != 0);
}

/* Whether one sum is all, and has its form already. */
static bool is_final(const struct by_scale *sums, int scale, int power)
{
	const struct sum192 *sum = &by_scale_values(sums)->square;
	const uint64_t word[] = {(uint64_t)sum->low, (uint64_t)(sum->low >> 64), sum->high};

	return sums->scales == (uint32_t)1 << scale && exact_is_final(word, 3, scale, power);
}

void exact_put_sums(struct json_writer *w, const struct by_scale *sums, int power)
{
	int last = sums->scales ? 31 - __builtin_clz(sums->scales) : 0;
	struct exact_sum total;

	json_put(w, "[");
	if (is_final(sums, last, power)) {
		json_put(w, "[");
		json_put_number(w, (uint64_t)last);
		json_put(w, ",");
		exact_put_sum192(w, &by_scale_values(sums)->square);
		json_put(w, "]");
	} else if (sums->scales) {
		exact_sum_begin(&total, power, last);
		exact_sum_add_scales(&total, sums, 0);
		exact_sum_end(&total, 3);
		exact_put_pieces(w, &total, 0, DECIMAL_NSCALES);
	}
	json_put(w, "]");
}

void exact_sums(struct json_reader *r, enum status (*add)(void *to, int scale, struct sum192 sum), void *to)
{
	json_expect(r, "[");
	while (json_try(r, "[") || json_try(r, ",[")) {
		int scale = exact_scale(r, DECIMAL_NSCALES);
		struct sum192 sum;
		json_expect(r, ",");
		sum = exact_sum192(r);
		json_expect(r, "]");
		if (r->status == STATUS_OK && add(to, scale, sum) != STATUS_OK)
			json_fail(r, STATUS_NO_MEMORY);
	}
	json_expect(r, "]");
}
