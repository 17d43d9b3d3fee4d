/* SPDX-License-Identifier: MIT
 *
 * pair_block.c - see pair_block.h.
 *
 * The numbers of each column are gathered once a block, with zeros for rows that have none. They are
 * written with the largest of their scales, so that 1.5 and 2 beside 1.25 do not slow a column down.
 * Then a pair costs one sum of 64 products, in 64 bits where the numbers are small. Where a product
 * has no number on one side, the zero adds nothing to the sum, and the number on the other side is
 * noted as one without a partner (pair.h).
 */
#include "fold/pair_block.h"

#include <stdlib.h>
#include <string.h>

#include "fold/pair.h"
#include "number/decimal_text.h"
#include "query/value.h"

#define SIGNIFICAND_NBITS 60 /* of a fast number: it is below 10^18 */
/* Of small numbers: each fits in 32 bits, and 64 products in 64. */
#define SMALL_NBITS_EACH 31
#define SMALL_NBITS 56 /* of two factors together */

enum status pair_block_init(struct pair_block *b, const struct plan *plan)
{
	memset(b, 0, sizeof *b);
	if (plan->npairs == 0)
		return STATUS_OK;
	b->is_paired = calloc(plan->ncolumns, sizeof *b->is_paired);
	b->values = calloc(plan->ncolumns, sizeof *b->values);
	NEED(b->is_paired && b->values);
	for (size_t i = 0; i < plan->npairs; i++)
		b->is_paired[plan->pairs[i].x] = b->is_paired[plan->pairs[i].y] = true;
	return STATUS_OK;
}

void pair_block_free(struct pair_block *b)
{
	free(b->is_paired);
	free(b->values);
	memset(b, 0, sizeof *b);
}

/* What is done with a block. */
struct pair_fold {
	struct pair_block *b;
	struct row_block *rows;
	struct scratch *scratch;
};

/* ---- the numbers of a column ---- */

/* Reads the field of column c in a row. Errors: STATUS_NO_MEMORY. */
static enum status read_field(const struct pair_fold *m, size_t c, unsigned row, struct value *v)
{
	return row_block_read(m->rows, c, row, true, m->scratch, v);
}

/* Reads the fields in some rows that are no plain numbers. */
static enum status read_others(const struct pair_fold *m, size_t c, uint64_t rows)
{
	struct pair_values *values = &m->b->values[c];

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct value v;
		TRY(read_field(m, c, row, &v));
		if (v.kind == DECIMAL_NUMBER) {
			values->value[row] = v.number.significand;
			values->scale[row] = (uint8_t)v.number.scale;
			values->present |= rows & -rows;
		} else if (v.kind == DECIMAL_WIDE && exact_is_number(v.text, v.nbytes)) {
			values->present |= rows & -rows;
			values->wide |= rows & -rows;
		}
	}
	return STATUS_OK;
}

/* Sets nbits and one_scale; returns the largest scale. */
static unsigned measure(struct pair_values *values)
{
	uint64_t magnitudes = 0;
	unsigned largest = 0, least = DECIMAL_NSCALES;

	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++) {
		int64_t value = values->value[row];
		magnitudes |= (uint64_t)(value ^ value >> 63); /* |value|, or one less */
		largest = values->scale[row] > largest ? values->scale[row] : largest;
		least = values->scale[row] < least ? values->scale[row] : least;
	}
	values->nbits = magnitudes ? (uint8_t)(64 - __builtin_clzll(magnitudes)) : 0;
	values->one_scale = largest == least;
	return largest;
}

/* Writes all numbers with that scale, their largest, if they fit. */
static void rescale(struct pair_values *values, unsigned scale)
{
	int64_t value[ROW_BLOCK_NROWS];

	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++) {
		unsigned nzeros = scale - values->scale[row];
		int64_t power = nzeros < DECIMAL_NDIGITS ? (int64_t)decimal_powers[nzeros] : INT64_MAX;
		if (__builtin_mul_overflow(values->value[row], power, &value[row]) ||
		    value[row] >> SIGNIFICAND_NBITS != value[row] >> 63)
			return;
	}
	memcpy(values->value, value, sizeof value);
	memset(values->scale, (int)scale, sizeof values->scale);
	measure(values);
}

/* Gathers the numbers of column c in the kept rows. shares_scale: they may get the largest of their scales. */
static enum status gather(const struct pair_fold *m, size_t c, bool shares_scale)
{
	struct pair_values *values = &m->b->values[c];
	const struct simd_numbers *x = row_block_numbers(m->rows, c);
	uint64_t kept = m->b->kept, numbers = kept & x->numbers, others = kept & ~(x->numbers | x->empty);
	uint8_t scale = numbers ? x->scale[lowest(numbers)] : 0;
	unsigned largest;

	values->present = numbers;
	values->wide = 0;
	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++) {
		bool has = numbers >> row & 1;
		values->value[row] = x->significand[row] & -(int64_t)has;
		values->scale[row] = has ? x->scale[row] : scale;
	}
	if (others && read_others(m, c, others) != STATUS_OK)
		return STATUS_NO_MEMORY;
	largest = measure(values);
	if (!values->one_scale && shares_scale)
		rescale(values, largest);
	return STATUS_OK;
}

/* ---- products ---- */

static enum status add_sum(struct pair_partial *pair, unsigned scale, int128 sum)
{
	return exact_add_scaled(&pair->products, sum, (int)scale);
}

static int128 sum_large(const int64_t *x, const int64_t *y)
{
	int128 sum = 0;

	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++)
		sum += (int128)x[row] * y[row];
	return sum;
}

/* Adds the products of some rows, of any scales. */
static enum status add_scales(struct pair_partial *pair, const struct pair_values *x,
			      const struct pair_values *y, uint64_t rows)
{
	int128 sums[2 * DECIMAL_NSCALES] = {0};
	uint64_t scales = 0;

	if (rows && (rows & (rows - 1)) == 0)
		return add_sum(pair, x->scale[lowest(rows)] + y->scale[lowest(rows)],
					 (int128)x->value[lowest(rows)] * y->value[lowest(rows)]);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows), scale = x->scale[row] + y->scale[row];
		sums[scale] += (int128)x->value[row] * y->value[row];
		scales |= UINT64_C(1) << scale;
	}
	for (; scales; scales &= scales - 1)
		TRY(add_sum(pair, lowest(scales), sums[lowest(scales)]));
	return STATUS_OK;
}

static enum status add_products(struct pair_partial *pair, const struct pair_values *x,
				const struct pair_values *y)
{
	unsigned scale = x->scale[0] + y->scale[0];

	if (!x->one_scale || !y->one_scale)
		return add_scales(pair, x, y, x->present & y->present);
	if (x->nbits <= SMALL_NBITS_EACH && y->nbits <= SMALL_NBITS_EACH &&
	    x->nbits + y->nbits <= SMALL_NBITS)
		return add_sum(pair, scale, simd()->sum_products(x->value, y->value));
	return add_sum(pair, scale, sum_large(x->value, y->value));
}

/* ---- numbers beyond the fast path ---- */

/* Reads the number of column c in a row that has one; its limbs are in the room. */
static enum status read_number(const struct pair_fold *m, size_t c, unsigned row, struct integer *room, struct exact *x)
{
	const struct pair_values *values = &m->b->values[c];
	struct value v;

	if (!(values->wide >> row & 1)) {
		*x = (struct exact){.value = values->value[row], .scale = values->scale[row]};
		return STATUS_OK;
	}
	TRY(read_field(m, c, row, &v));
	return exact_parse(v.text, v.nbytes, room, x);
}

static enum status add_long_products(const struct pair_fold *m, const struct plan_pair *plan, struct pair_partial *pair, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		struct integer x_room, y_room, room;
		struct exact x, y, product;
		TRY(read_number(m, plan->x, lowest(rows), &x_room, &x));
		TRY(read_number(m, plan->y, lowest(rows), &y_room, &y));
		x.is_rounded = y.is_rounded = false; /* the product is not rounded in its turn */
		product = exact_product(&x, &y, &room);
		TRY(exact_add(&pair->products, &product));
	}
	return STATUS_OK;
}

/* ---- values without a partner ---- */

/* Adds the values of a side in rows where its partner has none. */
static enum status add_alone(const struct pair_fold *m, const struct plan_pair *plan, int side, struct pair_partial *pair,
			     uint64_t rows)
{
	size_t c = side == PAIR_X ? plan->x : plan->y;
	const struct pair_values *x = &m->b->values[c];
	struct column_partial *alone;

	if (rows & ~x->wide)
		TRY(pair_add_alone(pair, side, plan->needs, x->value, x->scale, rows & ~x->wide));
	rows &= x->wide;
	alone = rows ? pair_alone(pair, side) : NULL;
	if (rows && !alone)
		return STATUS_NO_MEMORY;
	for (; rows; rows &= rows - 1) {
		struct integer room;
		struct exact number;
		TRY(read_number(m, c, lowest(rows), &room, &number));
		TRY(column_add_long(alone, plan->needs, &number));
	}
	return STATUS_OK;
}

/* ---- a pair ---- */

static enum status fold_pair(const struct pair_fold *m, size_t i, uint64_t rows, struct pair_partial *pair)
{
	const struct plan_pair *plan = &m->rows->plan->pairs[i];
	const struct pair_values *x = &m->b->values[plan->x], *y = &m->b->values[plan->y];
	uint64_t x_alone = rows & x->present & ~y->present, y_alone = rows & y->present & ~x->present;
	uint64_t both = rows & x->present & y->present, wide = both & (x->wide | y->wide);

	TRY(rows == m->b->kept ? add_products(pair, x, y) : add_scales(pair, x, y, both));
	if (wide)
		TRY(add_long_products(m, plan, pair, wide));
	if (x_alone)
		TRY(add_alone(m, plan, PAIR_X, pair, x_alone));
	if (y_alone)
		TRY(add_alone(m, plan, PAIR_Y, pair, y_alone));
	return STATUS_OK;
}

enum status pair_block_take(struct pair_block *b, struct row_block *rows, uint64_t kept, bool shares_scales,
			    struct scratch *scratch)
{
	const struct pair_fold m = {b, rows, scratch};

	b->kept = kept;
	for (size_t c = 0; c < rows->plan->ncolumns; c++)
		if (b->is_paired[c])
			TRY(gather(&m, c, shares_scales));
	return STATUS_OK;
}

enum status pair_block_fold_rows(struct pair_block *b, struct row_block *rows, size_t i, uint64_t some, struct scratch *scratch,
				 struct pair_partial *out)
{
	const struct pair_fold m = {b, rows, scratch};

	return fold_pair(&m, i, some, out);
}

enum status pair_block_fold(struct pair_block *b, struct row_block *rows, uint64_t kept, struct scratch *scratch,
			    struct partial *out)
{
	TRY(pair_block_take(b, rows, kept, true, scratch));
	for (size_t i = 0; i < rows->plan->npairs; i++)
		TRY(pair_block_fold_rows(b, rows, i, kept, scratch, &out->pairs[i]));
	return STATUS_OK;
}
