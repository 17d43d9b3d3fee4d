/* SPDX-License-Identifier: MIT
 *
 * pair.c - see pair.h.
 *
 * The numbers of each column are gathered once a block, with zeros for rows that have none. They are
 * written with the largest of their scales, so that 1.5 and 2 beside 1.25 do not slow a column down.
 * Then a pair costs one sum of 64 products, in 64 bits where the numbers are small. Where a product
 * has no number on one side, the zero adds nothing to the sum, and the number on the other side is
 * noted as one without a partner.
 */
#include "fold/pair.h"

#include <stdlib.h>
#include <string.h>

#include "fold/moment_rows.h"
#include "number/decimal_text.h"
#include "query/value.h"

/* ---- a pair ---- */

enum status pair_add_long_products(struct pair *p, const struct exact *products, struct key_arena *arena)
{
	struct exact sum = p->products;

	if (exact_is_zero(products))
		return STATUS_OK;
	TRY(group_exact_add(&sum, products, arena));
	p->products = sum;
	return STATUS_OK;
}

enum status pair_add_products(struct pair *p, int128 products, int scale, struct key_arena *arena)
{
	const struct exact later = {.value = products, .scale = scale};
	struct exact sum = p->products;

	sum.scale = sum.is_long || sum.value || sum.scale > scale ? sum.scale : scale;
	if (sum.is_long || sum.scale < scale || !decimal_lengthen(&products, sum.scale - scale) ||
	    __builtin_add_overflow(sum.value, products, &sum.value))
		return pair_add_long_products(p, &later, arena);
	p->products = sum;
	return STATUS_OK;
}

/* Makes the cells of values without a partner. */
static enum status need_alone(struct pair *p, struct key_arena *arena)
{
	void *memory = p->alone;

	if (!memory)
		TRY(key_arena_take_zeros(arena, PAIR_NSIDES * sizeof *p->alone, &memory));
	p->alone = memory;
	return STATUS_OK;
}

enum status pair_add_alone_sums(struct pair *p, int side, const struct group_sums *sums, struct key_arena *arena)
{
	TRY(need_alone(p, arena));
	return group_cell_add(&p->alone[side], PAIR_ALONE_MOMENTS, sums, arena);
}

enum status pair_add_alone(struct pair *p, int side, const int64_t *value, const uint8_t *scale, uint64_t rows,
			   struct key_arena *arena)
{
	while (rows) {
		uint64_t left = moment_rows_alike(scale, rows);
		struct group_cell some = {.count_scale = (uint64_t)scale[lowest(left)] << GROUP_COUNT_BITS};
		int128 squares = 0;
		int64_t sum;
		for (; left && !__builtin_add_overflow(some.sum, value[lowest(left)], &sum); left &= left - 1) {
			squares += (int128)value[lowest(left)] * value[lowest(left)];
			some.sum = sum;
			some.count_scale++;
			rows &= ~(left & -left);
		}
		group_split(some.squares, (uint128)squares);
		TRY(need_alone(p, arena));
		TRY(group_cell_combine(&p->alone[side], &some, PAIR_ALONE_MOMENTS, arena));
	}
	return STATUS_OK;
}

const struct group_sums *pair_alone(const struct pair *p, int side, struct group_sums *room)
{
	static const struct group_sums none;

	if (!p->alone)
		return &none;
	group_cell_read(&p->alone[side], PAIR_ALONE_MOMENTS, room);
	return room;
}

bool pair_is_empty(const struct pair *p)
{
	const struct exact products = p->products;

	return exact_is_zero(&products) && (!p->alone || (group_cell_count(&p->alone[PAIR_X]) == 0 && group_cell_count(&p->alone[PAIR_Y]) == 0));
}

enum status pair_combine(struct pair *p, const struct pair *later, struct key_arena *arena)
{
	const struct exact products = later->products;

	if (products.is_long)
		TRY(pair_add_long_products(p, &products, arena));
	else
		TRY(pair_add_products(p, products.value, products.scale, arena));
	TRY(later->alone ? need_alone(p, arena) : STATUS_OK);
	for (int side = 0; later->alone && side < PAIR_NSIDES; side++)
		TRY(group_cell_combine(&p->alone[side], &later->alone[side], PAIR_ALONE_MOMENTS, arena));
	return STATUS_OK;
}

/* ---- blocks ---- */

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
	uint64_t kept;
	struct scratch *scratch;
	struct key_arena *arena; /* of the pairs */
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

/* Gathers the numbers of column c in the kept rows. shares_scale: they may get the largest of their scales, which makes sums of many
 * of them faster; then they may have more digits after the point than the numbers of some of the rows. */
static enum status gather(const struct pair_fold *m, size_t c, bool shares_scale)
{
	struct pair_values *values = &m->b->values[c];
	const struct simd_numbers *x = row_block_numbers(m->rows, c);
	uint64_t kept = m->kept, numbers = kept & x->numbers, others = kept & ~(x->numbers | x->empty);
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

/* Gathers those of all columns of pairs. */
static enum status gather_all(const struct pair_fold *m, bool shares_scales)
{
	for (size_t c = 0; c < m->rows->plan->ncolumns; c++)
		if (m->b->is_paired[c])
			TRY(gather(m, c, shares_scales));
	return STATUS_OK;
}

/* ---- products ---- */

static int128 sum_large(const int64_t *x, const int64_t *y)
{
	int128 sum = 0;

	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++)
		sum += (int128)x[row] * y[row];
	return sum;
}

/* Adds the products of some rows, of any scales. */
static enum status add_scales(struct pair *pair, const struct pair_values *x, const struct pair_values *y, uint64_t rows,
			      struct key_arena *arena)
{
	int128 sums[2 * DECIMAL_NSCALES] = {0};
	uint64_t scales = 0;

	if (rows && (rows & (rows - 1)) == 0)
		return pair_add_products(pair, (int128)x->value[lowest(rows)] * y->value[lowest(rows)],
					 x->scale[lowest(rows)] + y->scale[lowest(rows)], arena);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows), scale = x->scale[row] + y->scale[row];
		sums[scale] += (int128)x->value[row] * y->value[row];
		scales |= UINT64_C(1) << scale;
	}
	for (; scales; scales &= scales - 1)
		TRY(pair_add_products(pair, sums[lowest(scales)], (int)lowest(scales), arena));
	return STATUS_OK;
}

/* Adds the products of all kept rows. */
static enum status add_products(struct pair *pair, const struct pair_values *x, const struct pair_values *y, struct key_arena *arena)
{
	int scale = x->scale[0] + y->scale[0];

	if (!x->one_scale || !y->one_scale)
		return add_scales(pair, x, y, x->present & y->present, arena);
	if (x->nbits <= SMALL_NBITS_EACH && y->nbits <= SMALL_NBITS_EACH &&
	    x->nbits + y->nbits <= SMALL_NBITS)
		return pair_add_products(pair, simd()->sum_products(x->value, y->value), scale, arena);
	return pair_add_products(pair, sum_large(x->value, y->value), scale, arena);
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

/* Adds the products of rows, of which one factor or both are such numbers. */
static enum status add_wide_products(const struct pair_fold *m, const struct plan_pair *plan, struct pair *pair, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		struct integer x_room, y_room, room;
		struct exact x, y, product;
		TRY(read_number(m, plan->x, lowest(rows), &x_room, &x));
		TRY(read_number(m, plan->y, lowest(rows), &y_room, &y));
		x.is_rounded = y.is_rounded = false; /* the product is not rounded in its turn */
		product = exact_product(&x, &y, &room);
		TRY(pair_add_long_products(pair, &product, m->arena));
	}
	return STATUS_OK;
}

/* Adds such numbers without a partner. */
static enum status add_wide_alone(const struct pair_fold *m, size_t c, int side, struct pair *pair, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		struct group_sums one = {.numbers = {.count = 1}};
		struct integer room, square;
		struct exact x;
		TRY(read_number(m, c, lowest(rows), &room, &x));
		one.numbers.scale = exact_kept_scale(&x);
		x.is_rounded = false; /* its square is not rounded in its turn */
		one.numbers.sum = one.numbers.min = one.numbers.max = x;
		one.powers[0] = exact_product(&x, &x, &square);
		TRY(pair_add_alone_sums(pair, side, &one, m->arena));
	}
	return STATUS_OK;
}

/* ---- rows ---- */

/* Adds some of the kept rows to a pair. */
static enum status add_rows(const struct pair_fold *m, const struct plan_pair *plan, uint64_t rows, struct pair *pair)
{
	const struct pair_values *x = &m->b->values[plan->x], *y = &m->b->values[plan->y];
	uint64_t x_alone = rows & x->present & ~y->present, y_alone = rows & y->present & ~x->present;
	uint64_t both = rows & x->present & y->present, wide = both & (x->wide | y->wide);

	TRY(rows == m->kept ? add_products(pair, x, y, m->arena) : add_scales(pair, x, y, both, m->arena));
	TRY(add_wide_products(m, plan, pair, wide));
	TRY(pair_add_alone(pair, PAIR_X, x->value, x->scale, x_alone & ~x->wide, m->arena));
	TRY(add_wide_alone(m, plan->x, PAIR_X, pair, x_alone & x->wide));
	TRY(pair_add_alone(pair, PAIR_Y, y->value, y->scale, y_alone & ~y->wide, m->arena));
	return add_wide_alone(m, plan->y, PAIR_Y, pair, y_alone & y->wide);
}

enum status pair_block_fold(struct pair_block *b, struct row_block *rows, uint64_t kept, struct scratch *scratch,
			    struct partial *out)
{
	const struct pair_fold m = {b, rows, kept, scratch, &out->memory};

	TRY(gather_all(&m, true));
	for (size_t i = 0; i < rows->plan->npairs; i++)
		NEED(add_rows(&m, &rows->plan->pairs[i], kept, &out->pairs[i]) == STATUS_OK);
	return STATUS_OK;
}

enum status pair_block_fold_groups(struct pair_block *b, struct row_block *rows, uint64_t kept, struct scratch *scratch,
				   struct group *const *groups, struct key_arena *arena)
{
	const struct pair_fold m = {b, rows, kept, scratch, arena};

	TRY(gather_all(&m, false));
	for (const struct plan_pair *plan = rows->plan->pairs; plan < rows->plan->pairs + rows->plan->npairs; plan++) {
		const struct pair_values *x = &b->values[plan->x], *y = &b->values[plan->y];
		const uint64_t plain = x->present & y->present & ~(x->wide | y->wide);
		for (uint64_t left = x->present | y->present; left; left &= left - 1) {
			const unsigned row = lowest(left);
			struct pair *pair = group_pair(groups[row], plan);
			TRY(plain >> row & 1 ? pair_add_products(pair, (int128)x->value[row] * y->value[row],
								 x->scale[row] + y->scale[row], arena)
					     : add_rows(&m, plan, left & -left, pair));
		}
	}
	return STATUS_OK;
}
