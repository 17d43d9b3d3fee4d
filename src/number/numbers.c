/* SPDX-License-Identifier: MIT
 *
 * numbers.c - see numbers.h.
 */
#include "number/numbers.h"

#include <stdlib.h>
#include <string.h>

void numbers_free_sums(struct numbers *n)
{
	for (int i = 0; i < NUMBERS_NSUMS; i++)
		exact_free(&n->sums[i]);
	free(n->sums);
}

/* Multiplies by 10^nzeros. Returns false where one does not fit. */
static bool lengthen(struct decimal_bin *bin, int nzeros)
{
	const int64_t power = (int64_t)decimal_powers[nzeros < DECIMAL_NDIGITS ? nzeros : DECIMAL_NDIGITS];

	return nzeros == 0 || (nzeros <= DECIMAL_NDIGITS && !__builtin_mul_overflow(bin->sum, (int128)power, &bin->sum) &&
			       !__builtin_mul_overflow(bin->min, power, &bin->min) && !__builtin_mul_overflow(bin->max, power, &bin->max));
}

/* Adds a bin to one, or none, at the larger scale. Returns false, and changes nothing, where that does not fit. */
static bool add_to_bin(struct numbers *n, int scale, const struct decimal_bin *added)
{
	struct decimal_bin bin = n->bin, later = *added;
	int larger = scale > n->scale ? scale : n->scale;

	if (n->form == NUMBERS_NONE) {
		n->bin = later;
		n->scale = scale;
		n->form = NUMBERS_BIN;
		return true;
	}
	if (!lengthen(&bin, larger - n->scale) || !lengthen(&later, larger - scale) ||
	    __builtin_add_overflow(bin.sum, later.sum, &bin.sum))
		return false;
	bin.min = later.min < bin.min ? later.min : bin.min;
	bin.max = later.max > bin.max ? later.max : bin.max;
	n->bin = bin;
	n->scale = larger;
	return true;
}

enum status numbers_add_bin(struct numbers *n, int scale, const struct decimal_bin *later)
{
	if (n->form != NUMBERS_LONG && add_to_bin(n, scale, later))
		return STATUS_OK;
	return numbers_add_sums(n, &(struct number_sums){.scale = scale,
							 .sum = {.value = later->sum, .scale = scale},
							 .min = {.value = later->min, .scale = scale},
							 .max = {.value = later->max, .scale = scale}});
}

enum status numbers_add_fold(struct numbers *n, const struct decimal_fold *later)
{
	n->count += later->count;
	for (uint32_t left = later->scales; left; left &= left - 1)
		TRY(numbers_add_bin(n, __builtin_ctz(left), &later->bin[__builtin_ctz(left)]));
	return STATUS_OK;
}

/* Whether a bin holds them. */
static bool fits_bin(const struct number_sums *x, struct decimal_bin *bin)
{
	int128 min, max;

	if (x->scale >= DECIMAL_NSCALES || !exact_to_int128(&x->sum, x->scale, &bin->sum) || !exact_to_int128(&x->min, x->scale, &min) ||
	    !exact_to_int128(&x->max, x->scale, &max))
		return false;
	bin->min = (int64_t)min;
	bin->max = (int64_t)max;
	return bin->min == min && bin->max == max;
}

/* Makes them three exact numbers. *first: whether they are of none. */
static enum status need_sums(struct numbers *n, bool *first)
{
	struct number_sums all;
	struct exact *sums;

	*first = n->form == NUMBERS_NONE;
	if (n->form == NUMBERS_LONG)
		return STATUS_OK;
	sums = calloc(NUMBERS_NSUMS, sizeof *sums);
	NEED(sums);
	numbers_get(n, &all);
	sums[NUMBERS_SUM] = all.sum;
	sums[NUMBERS_MIN] = all.min;
	sums[NUMBERS_MAX] = all.max;
	n->sums = sums;
	n->form = NUMBERS_LONG;
	return STATUS_OK;
}

enum status numbers_add_sums(struct numbers *n, const struct number_sums *later)
{
	struct decimal_bin bin;
	bool first;

	n->count += later->count;
	if (n->form != NUMBERS_LONG && fits_bin(later, &bin) && add_to_bin(n, later->scale, &bin))
		return STATUS_OK;
	TRY(need_sums(n, &first));
	n->scale = later->scale > n->scale ? later->scale : n->scale;
	TRY(exact_add(&n->sums[NUMBERS_SUM], &later->sum));
	if (first || exact_compare(&later->min, &n->sums[NUMBERS_MIN]) < 0)
		TRY(exact_copy(&n->sums[NUMBERS_MIN], &later->min));
	if (first || exact_compare(&later->max, &n->sums[NUMBERS_MAX]) > 0)
		TRY(exact_copy(&n->sums[NUMBERS_MAX], &later->max));
	return STATUS_OK;
}

struct number_sums quotient_fold_sums(const struct quotient_fold *x, struct integer room[QUOTIENT_NSUMS])
{
	const bool is_plain = x->least_scale == QUOTIENT_SCALE_NONE;
	struct number_sums numbers = {.count = x->count, .scale = is_plain ? x->scale : EXACT_SCALE_ROUNDED - x->least_scale};
	struct exact *sums[QUOTIENT_NSUMS] = {&numbers.sum, &numbers.min, &numbers.max};

	for (int i = 0; i < QUOTIENT_NSUMS; i++) {
		integer_set_words(&room[i], x->sums[i], QUOTIENT_NWORDS);
		*sums[i] = exact_view(&room[i], x->scale);
	}
	return numbers;
}

enum status numbers_add_quotients(struct numbers *n, const struct quotient_fold *x)
{
	struct integer room[QUOTIENT_NSUMS];
	const struct number_sums numbers = quotient_fold_sums(x, room);

	return numbers_add_sums(n, &numbers);
}

enum status numbers_add_quotient_bins(struct numbers *n, const struct quotient_bins *bins)
{
	n->count += bins->count;
	for (uint64_t scales = bins->scales; scales; scales &= scales - 1) {
		const struct quotient_fold fold = quotient_bins_fold(bins, __builtin_ctzll(scales));
		TRY(numbers_add_quotients(n, &fold));
	}
	return STATUS_OK;
}

enum status numbers_combine(struct numbers *n, const struct numbers *later)
{
	struct number_sums sums;

	if (later->form == NUMBERS_LONG) {
		numbers_get(later, &sums);
		return numbers_add_sums(n, &sums);
	}
	n->count += later->count;
	return later->form == NUMBERS_BIN ? numbers_add_bin(n, later->scale, &later->bin) : STATUS_OK;
}

void numbers_get(const struct numbers *n, struct number_sums *out)
{
	*out = (struct number_sums){.count = n->count, .scale = n->scale};
	if (n->form == NUMBERS_BIN) {
		out->sum = (struct exact){.value = n->bin.sum, .scale = n->scale};
		out->min = (struct exact){.value = n->bin.min, .scale = n->scale};
		out->max = (struct exact){.value = n->bin.max, .scale = n->scale};
	} else if (n->form == NUMBERS_LONG) {
		out->sum = n->sums[NUMBERS_SUM];
		out->min = n->sums[NUMBERS_MIN];
		out->max = n->sums[NUMBERS_MAX];
	}
}
