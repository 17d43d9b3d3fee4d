/* SPDX-License-Identifier: MIT
 *
 * pair.c - see pair.h.
 */
#include "fold/pair.h"

#include <stdlib.h>
#include <string.h>

void pair_free(struct pair_partial *p)
{
	exact_free(&p->products);
	for (int i = 0; i < PAIR_NSIDES; i++) {
		if (p->alone[i])
			column_free(p->alone[i]);
		free(p->alone[i]);
	}
	memset(p, 0, sizeof *p);
}

void pair_clear(struct pair_partial *p)
{
	exact_free(&p->products);
	for (int i = 0; i < PAIR_NSIDES; i++)
		if (p->alone[i])
			column_clear(p->alone[i]);
}

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
	alone->numbers.count += (uint64_t)__builtin_popcountll(rows);
	for (uint64_t left = rows; left;) {
		int of_first = scale[__builtin_ctzll(left)];
		struct decimal_bin bin = {0, 0, 0}; /* nobody asks for the extremes */
		for (; left && scale[__builtin_ctzll(left)] == of_first; left &= left - 1)
			bin.sum += value[__builtin_ctzll(left)];
		TRY(numbers_add_bin(&alone->numbers, of_first, &bin));
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

enum status pair_combine(struct pair_partial *p, const struct pair_partial *later)
{
	TRY(exact_add(&p->products, &later->products));
	TRY(combine_alone(p, later, PAIR_X));
	return combine_alone(p, later, PAIR_Y);
}
