/* SPDX-License-Identifier: MIT
 *
 * numbers.h - count, sum and extremes of a column's numbers, at the largest of their scales: a bin (decimal.h) while that
 * holds them, which takes 48 bytes, because an input may have 300,000 columns; then three exact numbers.
 *
 * Inner loops and kernels fold into dense bins, one for each scale, which are added to these once a fold.
 */
#pragma once

#include "base/status.h"
#include "number/decimal.h"
#include "number/exact.h"
#include "number/quotient.h"

enum { NUMBERS_SUM, NUMBERS_MIN, NUMBERS_MAX, NUMBERS_NSUMS };

enum numbers_form { NUMBERS_NONE, NUMBERS_BIN, NUMBERS_LONG };

/* Zeroed: no numbers, which is the identity. */
struct numbers {
	uint64_t count; /* of the numbers; for the owner, also of other values */
	int32_t scale;  /* the largest of theirs; that of one that was rounded is above all others (exact.h) */
	enum numbers_form form;
	union {
		struct decimal_bin bin;
		struct exact *sums; /* NUMBERS_NSUMS; owned */
	};
};

/* The same, to be read: the limbs are those of struct numbers. */
struct number_sums {
	uint64_t count;
	int scale;
	struct exact sum, min, max;
};

/* Makes n the fold of no numbers, and frees what it owns. */
void numbers_free_sums(struct numbers *n);

static inline void numbers_free(struct numbers *n)
{
	if (n->form == NUMBERS_LONG)
		numbers_free_sums(n);
	n->count = 0;
	n->scale = 0;
	n->form = NUMBERS_NONE;
}

/* Adds the numbers of a bin, but not their count. Errors of this function and those below: STATUS_NO_MEMORY; n is then valid, but
 * lacks numbers. */
enum status numbers_add_bin(struct numbers *n, int scale, const struct decimal_bin *later);

/* Adds a number. */
static inline enum status numbers_add(struct numbers *n, struct decimal x)
{
	const struct decimal_bin one = {x.significand, x.significand, x.significand};

	n->count++;
	if (n->form == NUMBERS_BIN && n->scale == x.scale && !__builtin_add_overflow(n->bin.sum, one.sum, &n->bin.sum)) {
		n->bin.min = one.min < n->bin.min ? one.min : n->bin.min;
		n->bin.max = one.max > n->bin.max ? one.max : n->bin.max;
		return STATUS_OK;
	}
	return numbers_add_bin(n, x.scale, &one);
}

enum status numbers_add_fold(struct numbers *n, const struct decimal_fold *later);

/* Adds `later`, whatever holds its limbs. */
enum status numbers_add_sums(struct numbers *n, const struct number_sums *later);

/* Reads rounded numbers, whose limbs are in the room; and adds them, and perhaps plain ones: at least one. */
struct number_sums quotient_fold_sums(const struct quotient_fold *x, struct integer room[QUOTIENT_NSUMS]);
enum status numbers_add_quotients(struct numbers *n, const struct quotient_fold *x);
enum status numbers_add_quotient_bins(struct numbers *n, const struct quotient_bins *bins);

enum status numbers_combine(struct numbers *n, const struct numbers *later);

/* Reads n. Of no numbers, all is 0. */
void numbers_get(const struct numbers *n, struct number_sums *out);
