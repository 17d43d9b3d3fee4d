/* SPDX-License-Identifier: MIT
 *
 * simd/convert.h - the body of simd_ops.convert, compiled by each instruction set's file. Where
 * simd/groups.h was included before, rows of the learned format are converted in groups, the
 * others one by one; elsewhere all are converted one by one.
 */
#pragma once

#include "simd/numbers.h"

/* Converts the rows in `rows`; leaves other rows of *out unchanged. */
SIMD_INLINE void simd_convert_some(const char *text, const uint32_t *ends, size_t stride,
				   uint64_t rows, bool drops_cr, char decimal,
				   struct simd_numbers *out)
{
	const struct simd_constants k = simd_constants(decimal);
	uint64_t numbers = 0, empty = 0;

	for (; rows; rows &= rows - 1) {
		unsigned r = (unsigned)__builtin_ctzll(rows);
		const uint32_t *at = ends + r * stride;
		uint32_t begin = at[-1] + 1, end = at[0];
		struct decimal x = {0, SIMD_NO_NUMBER};

		if (drops_cr)
			end -= end != begin && text[end - 1] == '\r';
		if (end != begin)
			x = simd_convert(&k, text, begin, end);
		empty |= (uint64_t)(end == begin) << r;
		numbers |= (uint64_t)(x.scale != SIMD_NO_NUMBER) << r;
		out->significand[r] = x.significand;
		out->scale[r] = (uint8_t)(x.scale & (DECIMAL_NSCALES - 1));
	}
	out->numbers |= numbers;
	out->empty |= empty;
}

/* Like simd_convert_some: the loops of simd_fold_rows. */
static __attribute__((noinline)) void simd_convert_others(const char *text, const uint32_t *ends,
							  size_t stride, uint64_t rows,
							  bool drops_cr, char decimal,
							  struct simd_numbers *out)
{
	if (decimal != '.')
		simd_convert_some(text, ends, stride, rows, drops_cr, decimal, out);
	else if (drops_cr)
		simd_convert_some(text, ends, stride, rows, true, '.', out);
	else
		simd_convert_some(text, ends, stride, rows, false, '.', out);
}

/* Folds converted numbers one by one. */
static void simd_fold_singles(const struct simd_numbers *x, uint64_t rows,
			      struct decimal_fold *fold)
{
	for (; rows; rows &= rows - 1) {
		unsigned r = (unsigned)__builtin_ctzll(rows);
		decimal_fold_add(fold, (struct decimal){x->significand[r], x->scale[r]});
	}
}

#ifdef GROUP_NROWS

/* Converts the rows that have the format, and returns them. *out is undefined for others. */
SIMD_INLINE uint64_t simd_convert_groups(const struct simd_format *format, const char *text,
					 const uint32_t *ends, size_t stride, size_t nrows,
					 bool is_long, struct simd_numbers *out)
{
	uint64_t matches = 0;

	for (size_t r = 0; r < nrows; r += GROUP_NROWS) {
		unsigned n = nrows - r < GROUP_NROWS ? (unsigned)(nrows - r) : GROUP_NROWS;
		struct simd_rows rows = {text, ends + r * stride, stride};
		struct simd_few few;
		struct simd_group g;
		if (n < GROUP_NROWS)
			rows = few_rows(&few, rows, n);
		g = convert_rows(format, rows, is_long);
		memcpy(&out->significand[r], &g.whole, sizeof g.whole);
		matches |= (uint64_t)(g.matches & ((1u << n) - 1)) << r;
	}
	return matches;
}

/* Learns the number format from the last of the rows, which have numbers. */
static void simd_convert_learn(const char *text, const uint32_t *ends, size_t stride,
			       uint64_t rows, bool drops_cr, struct simd_hint *hint)
{
	const uint32_t *at;
	bool has_cr;

	if (rows == 0)
		return;
	at = ends + (63 - (unsigned)__builtin_clzll(rows)) * stride;
	has_cr = drops_cr && text[at[0] - 1] == '\r';
	format_learn(hint, text, at[-1] + 1, at[0], has_cr);
}

/* simd_ops.convert. Learns another format if fewer than half of the rows had this one. */
static void simd_convert_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			      bool drops_cr, struct simd_numbers *out, struct simd_hint *hint)
{
	uint64_t all = ~UINT64_C(0) >> (64 - nrows);
	struct simd_format format;

	hint_forget_cr(hint, drops_cr);
	format_make(&format, hint);
	out->numbers = hint->is_long
		? simd_convert_groups(&format, text, ends, stride, nrows, true, out)
		: simd_convert_groups(&format, text, ends, stride, nrows, false, out);
	out->empty = 0;
	memset(out->scale, hint->scale, sizeof out->scale);
	if (out->numbers == all)
		return;
	all &= ~out->numbers;
	simd_convert_others(text, ends, stride, all, drops_cr, simd_decimal(hint), out);
	if ((size_t)_mm_popcnt_u64(all) > nrows / 2)
		simd_convert_learn(text, ends, stride, all & out->numbers, drops_cr, hint);
}

/* ---- folding converted numbers ---- */

/* The rows in `rows` whose number has the scale. */
static inline uint64_t simd_rows_of_scale(const struct simd_numbers *x, uint64_t rows,
					  uint8_t scale)
{
	uint64_t same = 0;

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r += 8) {
		uint64_t differing, equal;
		memcpy(&differing, &x->scale[r], sizeof differing);
		differing ^= SIMD_EACH * scale; /* less than 0x80 in each byte */
		equal = ~(differing + SIMD_EACH * 0x7f) & SIMD_TOPS;
		same |= ((equal >> 7) * UINT64_C(0x0102040810204080) >> 56) << r;
	}
	return same & rows;
}

/* Adds sums of numbers below 2^56 to the bin of their scale: they fit in 64 bits. */
SIMD_INLINE void simd_flush_short(const struct simd_sums *s, int scale, struct decimal_fold *fold)
{
	int64_t low[GROUP_NROWS], min[GROUP_NROWS], max[GROUP_NROWS];
	struct decimal_bin bin = {0, INT64_MAX, INT64_MIN};
	int64_t sum = 0;

	memcpy(low, &s->low, sizeof low);
	memcpy(min, &s->min, sizeof min);
	memcpy(max, &s->max, sizeof max);
	for (unsigned i = 0; i < GROUP_NROWS; i++) {
		sum += low[i];
		bin.min = min[i] < bin.min ? min[i] : bin.min;
		bin.max = max[i] > bin.max ? max[i] : bin.max;
	}
	bin.sum = sum;
	decimal_bin_combine(simd_bin(fold, scale), &bin);
	fold->count += s->nrows;
}

/* Folds rows of one scale. Numbers from 2^56 on are folded one by one: their sum may not fit. */
static void simd_fold_scale(const struct simd_numbers *x, uint64_t rows, struct decimal_fold *fold)
{
	const lanes limit = LANES_64(INT64_C(1) << 56);
	struct simd_sums sums = sums_none(true);
	lanes large = LANES_64(0);

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r += GROUP_NROWS) {
		unsigned in = rows >> r & GROUP_ALL;
		struct simd_group g;
		memcpy(&g.whole, &x->significand[r], sizeof g.whole);
		g.low = g.whole = lanes_only(g.whole, in);
		large = LANES_BITS(or)(large,
				       LANES(srli_epi64)(LANES(add_epi64)(g.low, limit), 57));
		sums_add(&sums, &g, false, in);
	}
	if (lanes_zeros(large) == GROUP_ALL)
		simd_flush_short(&sums, x->scale[__builtin_ctzll(rows)], fold);
	else
		simd_fold_singles(x, rows, fold);
}

/* simd_ops.fold_numbers */
static void simd_fold_numbers(const struct simd_numbers *x, uint64_t rows,
			      struct decimal_fold *fold)
{
	if (rows == ~UINT64_C(0) && simd_scales_alike(x->scale)) {
		simd_fold_scale(x, rows, fold);
		return;
	}
	while (rows) {
		uint64_t same = simd_rows_of_scale(x, rows, x->scale[__builtin_ctzll(rows)]);
		simd_fold_scale(x, same, fold);
		rows &= ~same;
	}
}

/* ---- products ---- */

/* simd_ops.sum_products: the low halves of 64 bits, which are all of x and y, are multiplied. */
static int64_t simd_sum_products(const int64_t *x, const int64_t *y)
{
	lanes sums[2] = {LANES_64(0), LANES_64(0)};
	int64_t sum[GROUP_NROWS], all = 0;

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r += 2 * GROUP_NROWS)
		for (unsigned i = 0; i < 2; i++) {
			lanes a, b;
			memcpy(&a, x + r + i * GROUP_NROWS, sizeof a);
			memcpy(&b, y + r + i * GROUP_NROWS, sizeof b);
			sums[i] = LANES(add_epi64)(sums[i], LANES(mul_epi32)(a, b));
		}
	sums[0] = LANES(add_epi64)(sums[0], sums[1]);
	memcpy(sum, sums, sizeof sum);
	for (unsigned i = 0; i < GROUP_NROWS; i++)
		all += sum[i];
	return all;
}

/* ---- squares ---- */

/* Numbers below 2^30 have squares below 2^60. Eight of them fit in 63 bits, which is why every lane
 * has two sums of up to eight rows. */

/* Adds the squares of a group's rows to *sum, and to *beyond the bits that no number has which is in
 * -2^30 ... 2^30 - 1. */
SIMD_INLINE void squares_add_group(const int64_t *significand, unsigned rows, lanes *sum,
				   lanes *beyond)
{
	const lanes limit = LANES_64(INT64_C(1) << 30);
	lanes x;

	memcpy(&x, significand, sizeof x);
	if (rows != GROUP_ALL)
		x = lanes_only(x, rows);
	*sum = LANES(add_epi64)(*sum, LANES(mul_epi32)(x, x));
	*beyond = LANES_BITS(or)(*beyond, LANES(srli_epi64)(LANES(add_epi64)(x, limit), 31));
}

static bool simd_sum_squares(const int64_t *significand, uint64_t rows, uint128 *sum)
{
	lanes even = LANES_64(0), odd = LANES_64(0), beyond = LANES_64(0);
	uint64_t sums[2][GROUP_NROWS];

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r += 2 * GROUP_NROWS) {
		squares_add_group(significand + r, (unsigned)(rows >> r) & GROUP_ALL, &even,
				  &beyond);
		squares_add_group(significand + r + GROUP_NROWS,
				  (unsigned)(rows >> r >> GROUP_NROWS) & GROUP_ALL, &odd, &beyond);
	}
	if (lanes_zeros(beyond) != GROUP_ALL)
		return false;
	memcpy(sums[0], &even, sizeof even);
	memcpy(sums[1], &odd, sizeof odd);
	*sum = 0;
	for (unsigned i = 0; i < GROUP_NROWS; i++)
		*sum += (uint128)sums[0][i] + sums[1][i];
	return true;
}

#else

static void simd_convert_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			      bool drops_cr, struct simd_numbers *out, struct simd_hint *hint)
{
	out->numbers = out->empty = 0;
	simd_convert_others(text, ends, stride, ~UINT64_C(0) >> (64 - nrows), drops_cr,
			    simd_decimal(hint), out);
}

/* simd_ops.sum_products where there is no wider register. */
static int64_t simd_sum_products(const int64_t *x, const int64_t *y)
{
	int64_t sum = 0;

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++)
		sum += x[r] * y[r];
	return sum;
}

static bool simd_sum_squares(const int64_t *significand, uint64_t rows, uint128 *sum)
{
	uint64_t beyond = 0, sums[8] = {0};

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++) {
		int64_t x = significand[r] & -(int64_t)(rows >> r & 1);
		beyond |= ((uint64_t)x + (UINT64_C(1) << 30)) >> 31;
		sums[r % 8] += (uint64_t)x * (uint64_t)x;
	}
	*sum = 0;
	for (unsigned i = 0; i < 8; i++)
		*sum += sums[i];
	return beyond == 0;
}

#endif
