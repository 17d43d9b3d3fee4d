/* SPDX-License-Identifier: MIT
 *
 * moment_powers.c - the exact sums of the third and fourth powers of a column's numbers. See
 * moment.h; the squares are in moment_squares.c.
 *
 * A significand is below 10^18 < 2^60, its fourth power below 2^240, and the sum of 2^64 of them
 * below 2^304: a sum has 320 bits, in two's complement because cubes have signs. There is one sum
 * for each scale up to the largest. While all significands of a block are below 2^30, which those
 * of most columns are, 64 fourth powers add up to less than 2^126, so a block is summed in 128 bits.
 *
 * The powers of wide numbers are added as they are; those of negative numbers are kept apart from the others.
 */
#include <stdlib.h>
#include <string.h>

#include "fold/moment.h"
#include "fold/moment_rows.h"
#include "number/big_decimal.h"
#include "number/exact_text.h"

#define SUM_NWORDS 5
#define SMALL_NBITS 30

/* Two's complement, the least significant word first. */
struct power_sum {
	uint64_t word[SUM_NWORDS];
};

struct powers {
	int nscales;
	struct power_sum *sums;   /* by scale, below nscales. Owned. */
	struct big_decimal *wide[2]; /* of wide numbers that are not negative, and of the others without their sign; NULL: 0. Owned. */
};

static void powers_clear(void *cell)
{
	struct powers *p = cell;

	if (p->nscales > 0)
		memset(p->sums, 0, (size_t)p->nscales * sizeof *p->sums);
	for (int i = 0; i < 2; i++)
		if (p->wide[i])
			big_decimal_set(p->wide[i], (struct decimal){0, 0});
}

static void powers_free(void *cell)
{
	struct powers *p = cell;

	free(p->sums);
	free(p->wide[0]);
	free(p->wide[1]);
}

/* The sum of a scale, which is made 0 if it is not there. NULL: out of memory. */
static struct power_sum *need_sum(struct powers *p, int scale)
{
	struct power_sum *grown;

	if (scale < p->nscales)
		return &p->sums[scale];
	grown = realloc(p->sums, (size_t)(scale + 1) * sizeof *grown);
	if (!grown)
		return NULL;
	memset(grown + p->nscales, 0, (size_t)(scale + 1 - p->nscales) * sizeof *grown);
	p->sums = grown;
	p->nscales = scale + 1;
	return &p->sums[scale];
}

/* ---- sums ---- */

static void add_words(struct power_sum *to, const struct power_sum *x)
{
	uint64_t carry = 0;

	for (int i = 0; i < SUM_NWORDS; i++) {
		uint128 word = (uint128)to->word[i] + x->word[i] + carry;
		to->word[i] = (uint64_t)word;
		carry = (uint64_t)(word >> 64);
	}
}

static void negate(struct power_sum *x)
{
	uint64_t carry = 1;

	for (int i = 0; i < SUM_NWORDS; i++) {
		x->word[i] = ~x->word[i] + carry;
		carry = carry && x->word[i] == 0;
	}
}

static struct power_sum words_of(int128 x)
{
	uint64_t sign = x < 0 ? UINT64_MAX : 0;

	return (struct power_sum){{(uint64_t)x, (uint64_t)((uint128)x >> 64), sign, sign, sign}};
}

enum status powers_add_sum(struct powers *p, int scale, int128 sum)
{
	const struct power_sum words = words_of(sum);
	struct power_sum *to = need_sum(p, scale);

	NEED(to);
	add_words(to, &words);
	return STATUS_OK;
}

/* to += a x b, or to -= a x b */
static void add_product(struct power_sum *to, uint128 a, uint128 b, bool subtracts)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b,
		 b1 = (uint64_t)(b >> 64);
	uint128 low = (uint128)a0 * b0, high = (uint128)a1 * b1, left = (uint128)a0 * b1,
		right = (uint128)a1 * b0;
	uint128 middle = (low >> 64) + (uint64_t)left + (uint64_t)right;
	struct power_sum product = {{(uint64_t)low, (uint64_t)middle}};

	high += (left >> 64) + (right >> 64) + (middle >> 64);
	product.word[2] = (uint64_t)high;
	product.word[3] = (uint64_t)(high >> 64);
	if (subtracts)
		negate(&product);
	add_words(to, &product);
}

/* Significands below 2^SMALL_NBITS. */
static int128 small_sum(const struct moment_block *b, int power)
{
	int128 sum = 0;

	for (int i = 0; i < SIMD_NUMBERS_NROWS; i++) {
		int64_t x = b->significand[i], square = x * x;
		sum += (int128)square * (power == 3 ? x : square);
	}
	return sum;
}

static void add_large(struct power_sum *to, const struct moment_block *b, int power)
{
	for (int i = 0; i < SIMD_NUMBERS_NROWS; i++) {
		int64_t x = b->significand[i];
		uint64_t magnitude = x < 0 ? -(uint64_t)x : (uint64_t)x;
		uint128 square = (uint128)magnitude * magnitude;
		if (x != 0)
			add_product(to, square, power == 3 ? magnitude : square, power == 3 && x < 0);
	}
}

static enum status powers_add(struct powers *p, int power, const int64_t *significand,
			      const uint8_t *scale, uint64_t rows)
{
	while (rows) {
		uint64_t alike = moment_rows_alike(scale, rows);
		int of_first = scale[__builtin_ctzll(rows)];
		struct moment_block block;
		moment_block_set(&block, significand, alike);
		if (powers_add_sum(p, of_first, block.bound >> SMALL_NBITS ? 0 : small_sum(&block, power)) != STATUS_OK)
			return STATUS_NO_MEMORY;
		if (block.bound >> SMALL_NBITS)
			add_large(&p->sums[of_first], &block, power);
		rows &= ~alike;
	}
	return STATUS_OK;
}

/* ---- wide numbers ---- */

static enum status powers_add_wide(struct powers *p, int power, const struct wide *x, int scale)
{
	struct big_decimal value, square, product;
	bool negative;

	big_decimal_set_wide(&value, x, scale);
	big_decimal_multiply(&square, &value, &value);
	big_decimal_multiply(&product, &square, power == 3 ? &value : &square);
	negative = product.n.negative;
	product.n.negative = false;
	return big_decimal_sum_up(&p->wide[negative], &product);
}

static enum status powers_combine(void *cell, void *later_cell)
{
	struct powers *p = cell;
	const struct powers *later = later_cell;

	if (later->nscales > 0 && !need_sum(p, later->nscales - 1))
		return STATUS_NO_MEMORY;
	for (int scale = 0; scale < later->nscales; scale++)
		add_words(&p->sums[scale], &later->sums[scale]);
	for (int i = 0; i < 2; i++)
		if (later->wide[i] && big_decimal_sum_up(&p->wide[i], later->wide[i]) != STATUS_OK)
			return STATUS_NO_MEMORY;
	return STATUS_OK;
}

/* ---- text ---- */

static bool is_zero(const struct power_sum *sum)
{
	for (int i = 0; i < SUM_NWORDS; i++)
		if (sum->word[i])
			return false;
	return true;
}

static bool has_wide(const struct powers *p)
{
	return big_decimal_has(p->wide[0]) || big_decimal_has(p->wide[1]);
}

static bool powers_is_empty(const void *cell)
{
	const struct powers *p = cell;

	for (int scale = 0; scale < p->nscales; scale++)
		if (!is_zero(&p->sums[scale]))
			return false;
	return !has_wide(p);
}

/* The total of the sums: at most one for each scale, in the order of scales. */
static void put_sums(const struct powers *p, int power, struct json_text *j)
{
	struct exact_sum total;
	int scale = 0;

	exact_sum_begin(&total, power, p->nscales > 0 ? p->nscales - 1 : 0);
	for (int i = 0; i < p->nscales; i++)
		exact_sum_add(&total, p->sums[i].word, SUM_NWORDS, i);
	exact_sum_end(&total, SUM_NWORDS);
	for (int i = 0; i < total.npieces; i++, scale++) {
		for (; scale < total.pieces[i].scale; scale++)
			json_put(json_next(j), "\"0\"");
		exact_put_piece(json_next(j), &total, &total.pieces[i]);
	}
}

static void powers_text(struct powers *p, int power, struct json_text *j)
{
	const int most = (power * WIDE_NLIMBS + 3) * WIDE_LIMB_DIGITS; /* of 2^64 powers */
	struct power_sum sums[DECIMAL_NSCALES];
	struct big_decimal wide[2];
	struct powers later = {.sums = sums};

	json_mark(j, "{");
	json_mark(json_member(j, "sums"), "[");
	if (!j->reads)
		put_sums(p, power, j);
	else
		while (later.nscales < DECIMAL_NSCALES && json_item(j, true))
			exact_words(j, sums[later.nscales++].word, SUM_NWORDS);
	json_mark(j, "]");
	if (json_may(j, has_wide(p), "wide")) {
		json_mark(j, "[");
		for (int i = 0; i < 2; i++) {
			struct big_decimal *x = j->reads || !p->wide[i] ? &wide[i] : p->wide[i];
			big_decimal_set(&wide[i], (struct decimal){0, 0});
			exact_big(json_next(j), x, power * WIDE_POINT * WIDE_LIMB_DIGITS, most);
			later.wide[i] = &wide[i];
		}
		json_mark(j, "]");
	}
	json_mark(j, "}");
	if (json_has_read(j) && powers_combine(p, &later) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

/* ---- the result ---- */

/* *out = the sum of the powers x 10^(power scale), an integer. p: NULL: of no numbers, as of a part with a wrong count. */
static void powers_sum(const struct powers *p, int power, int scale, struct integer *out)
{
	struct integer wide;

	integer_set(out, 0);
	for (int i = 0; p && i < 2; i++) {
		if (!p->wide[i])
			continue;
		big_decimal_to_integer(p->wide[i], power * scale, &wide);
		integer_add(out, &wide, i == 1);
	}
	for (int s = 0; p && s < p->nscales && s <= scale; s++)
		integer_add_words(out, p->sums[s].word, SUM_NWORDS, power * (scale - s));
}

static bool powers_total(const struct powers *p, int power, int scale, int128 *out)
{
	*out = 0;
	for (int s = 0; p && s < p->nscales; s++) {
		const struct power_sum *sum = &p->sums[s];
		int128 x = (int128)((uint128)sum->word[1] << 64 | sum->word[0]);
		const struct power_sum short_sum = words_of(x);
		if (memcmp(sum, &short_sum, sizeof *sum) != 0 || (x != 0 && s > scale) || !decimal_rescale(&x, power * (scale - s)) ||
		    __builtin_add_overflow(*out, x, out))
			return false;
	}
	return !p || !has_wide(p);
}

/* ---- the two moments ---- */

#define MOMENT_OF_POWERS(name, id, power) \
	static enum status name##_add(void *cell, const int64_t *significand, const uint8_t *scale, uint64_t rows) \
	{ \
		return powers_add(cell, power, significand, scale, rows); \
	} \
	static enum status name##_add_wide(void *cell, const struct wide *x, int scale) \
	{ \
		return powers_add_wide(cell, power, x, scale); \
	} \
	static void name##_text(void *cell, struct json_text *j, const struct moment_source *source) \
	{ \
		(void)source; \
		powers_text(cell, power, j); \
	} \
	void name##_sum(const struct powers *p, int scale, struct integer *out) \
	{ \
		powers_sum(p, power, scale, out); \
	} \
	bool name##_total(const struct powers *p, int scale, int128 *out) \
	{ \
		return powers_total(p, power, scale, out); \
	} \
	const struct moment_ops moment_##name = { \
		.moment = id, .cell_nbytes = sizeof(struct powers), .clear = powers_clear, .add = name##_add, \
		.add_wide = name##_add_wide, .combine = powers_combine, .free = powers_free, .is_empty = powers_is_empty, \
		.text = name##_text, \
	};

MOMENT_OF_POWERS(cubes, MOMENT_CUBES, 3)
MOMENT_OF_POWERS(fourths, MOMENT_FOURTHS, 4)
