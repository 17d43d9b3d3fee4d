/* SPDX-License-Identifier: MIT
 *
 * pair.c - see pair.h.
 *
 * A significand is below 10^18 < 2^60, a product below 2^120: 64 of them fit in 127 bits and a sign,
 * and 2^64 of them in 192. Products with a wide number have two sums, one for each sign.
 */
#include "fold/pair.h"

#include <stdlib.h>
#include <string.h>

static const union scale_value no_products = {.square = {0, 0}};

void pair_free(struct pair_partial *p)
{
	for (int i = 0; i < 2; i++) {
		by_scale_free(&p->products[i]);
		free(p->wide[i]);
		if (p->alone[i])
			column_free(p->alone[i]);
		free(p->alone[i]);
	}
	memset(p, 0, sizeof *p);
}

void pair_clear(struct pair_partial *p)
{
	for (int i = 0; i < 2; i++) {
		by_scale_clear(&p->products[i]);
		if (p->wide[i])
			big_decimal_set(p->wide[i], (struct decimal){0, 0});
		if (p->alone[i])
			column_clear(p->alone[i]);
	}
}

/* ---- numbers of the fast path ---- */

enum status pair_add_sum(struct pair_partial *p, unsigned scale, struct sum192 sum)
{
	struct by_scale *products = &p->products[scale / DECIMAL_NSCALES];

	scale %= DECIMAL_NSCALES;
	if (by_scale_need(products, (uint32_t)1 << scale, &no_products) != STATUS_OK)
		return STATUS_NO_MEMORY;
	sum192_add(&by_scale_at(products, (int)scale)->square, sum);
	return STATUS_OK;
}

enum status pair_add_products(struct pair_partial *p, unsigned scale, int128 sum)
{
	return pair_add_sum(p, scale, sum192_of(sum));
}

/* ---- wide numbers ---- */

enum status pair_add_wide(struct pair_partial *p, const struct big_decimal *x, const struct big_decimal *y)
{
	struct big_decimal product;
	bool negative;

	big_decimal_multiply(&product, x, y);
	negative = product.n.negative;
	product.n.negative = false;
	return big_decimal_sum_up(&p->wide[negative], &product);
}

/* ---- values without a partner ---- */

struct column_partial *pair_alone(struct pair_partial *p, int side)
{
	if (!p->alone[side]) {
		p->alone[side] = calloc(1, sizeof *p->alone[side]);
		if (p->alone[side])
			column_clear(p->alone[side]);
	}
	return p->alone[side];
}

enum status pair_add_alone(struct pair_partial *p, int side, unsigned needs, const int64_t *value, const uint8_t *scale,
			   uint64_t rows)
{
	struct column_partial *alone = pair_alone(p, side);

	NEED(alone);
	alone->fast.count += (uint64_t)__builtin_popcountll(rows);
	for (uint64_t left = rows; left;) {
		int of_first = scale[__builtin_ctzll(left)];
		struct decimal_bin bin = {0, 0, 0}; /* nobody asks for the extremes */
		for (; left && scale[__builtin_ctzll(left)] == of_first; left &= left - 1)
			bin.sum += value[__builtin_ctzll(left)];
		TRY(by_scale_add_bin(&alone->fast, of_first, &bin));
	}
	return moments_add(&alone->moments, needs, value, scale, rows);
}

static enum status combine_alone(struct pair_partial *p, const struct pair_partial *later, int side)
{
	if (!later->alone[side])
		return STATUS_OK;
	NEED(pair_alone(p, side));
	return column_combine(p->alone[side], later->alone[side]);
}

/* ---- both ---- */

static enum status combine_products(struct pair_partial *p, const struct pair_partial *later, int i)
{
	const struct by_scale *products = &later->products[i];
	const union scale_value *value = by_scale_values(products);

	for (uint32_t left = products->scales; left; left &= left - 1)
		TRY(pair_add_sum(p, (unsigned)(i * DECIMAL_NSCALES + __builtin_ctz(left)),
				 value++->square));
	return STATUS_OK;
}

enum status pair_combine(struct pair_partial *p, const struct pair_partial *later)
{
	for (int i = 0; i < 2; i++) {
		TRY(combine_products(p, later, i));
		if (later->wide[i])
			TRY(big_decimal_sum_up(&p->wide[i], later->wide[i]));
		TRY(combine_alone(p, later, i));
	}
	return STATUS_OK;
}

void pair_products(const struct pair_partial *p, int scale, struct integer *out)
{
	struct integer wide;

	integer_set(out, 0);
	for (int i = 0; i < 2; i++) {
		const union scale_value *value = by_scale_values(&p->products[i]);
		if (p->wide[i]) {
			big_decimal_to_integer(p->wide[i], scale, &wide);
			integer_add(out, &wide, i == 1);
		}
		for (uint32_t left = p->products[i].scales; left; left &= left - 1)
			sum192_add_to(out, value++->square, scale - i * DECIMAL_NSCALES - __builtin_ctz(left));
	}
}
