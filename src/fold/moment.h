/* SPDX-License-Identifier: MIT
 *
 * moment.h - what is kept of a column's numbers beyond count, sum and extremes.
 *
 * A moment is an ordered fold: an identity, numbers that are added, and an associative
 * combine(cell, later). Statistics are formulas over moments (statistic.h). Count, sum and
 * extremes are fused into one fold on every device (number/decimal.h), which is several times
 * as fast as three; every other moment is a file that defines one struct moment_ops, a bit of
 * enum moment (query/plan.h), and a row of the table in moment.c.
 */
#ifndef GPUSTAT_MOMENT_H
#define GPUSTAT_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/natural.h"
#include "number/wide.h"
#include "query/plan.h"
#include "simd/simd.h"

struct moment_ops {
	enum moment moment;
	size_t cell_nbytes; /* a cell whose bytes are all 0 is the identity */

	/* Makes the cell the identity. Keeps its memory. */
	void (*clear)(void *cell);

	/* Adds the numbers significand[i] x 10^-scale[i] for each bit i that is set in rows.
	 * NULL: the moment is one of texts. Errors: STATUS_NO_MEMORY. */
	enum status (*add)(void *cell, const int64_t *significand, const uint8_t *scale,
			   uint64_t rows);

	/* Adds a number that does not fit the fast path. NULL where add is. Errors:
	 * STATUS_NO_MEMORY. */
	enum status (*add_wide)(void *cell, const struct wide *x);

	/* cell becomes the moment of cell's numbers followed by later's. Errors: STATUS_NO_MEMORY,
	 * and what the moment's file says. */
	enum status (*combine)(void *cell, const void *later);

	/* Frees what the cell owns, but not the cell. */
	void (*free)(void *cell);
};

enum {
	CELL_SQUARES,
	CELL_KEYS,      /* of the column's values; if it parses, of its numbers */
	CELL_TEXT_KEYS, /* if it parses, of the values that are no numbers */
	NCELLS
};

/* By cell. */
extern const struct moment_ops *const moment_table[NCELLS];

/* A column's cells. A cell is allocated for its first number; NULL: the identity. Owned. */
struct moment_cells {
	void *cell[NCELLS];
};

void moments_free(struct moment_cells *m);
void moments_clear(struct moment_cells *m);

/* These call the function of that name for every cell in `needs`, a set of enum moment.
 * Errors: STATUS_NO_MEMORY. */
enum status moments_add(struct moment_cells *m, unsigned needs, const int64_t *significand,
			const uint8_t *scale, uint64_t rows);
enum status moments_add_wide(struct moment_cells *m, unsigned needs, const struct wide *x);

/* Makes cell i, unless it is there, and returns it; NULL: no memory. */
void *moments_need(struct moment_cells *m, int i);

/* m becomes the moments of m's numbers followed by later's. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status moments_combine(struct moment_cells *m, const struct moment_cells *later);

/* ---- squares (moment_squares.c) ---- */

struct squares;

/* *out = the sum of the squares x 10^(2 scale), which is an integer: no number added had
 * more than scale digits after the point. scale is a multiple of NATURAL_LIMB_DIGITS, at most
 * WIDE_POINT x WIDE_LIMB_DIGITS. */
void squares_sum(const struct squares *s, int scale, struct natural *out);

/* *to += sum x 10^ndigits; sum: not negative. */
void sum192_add_to(struct natural *to, const struct sum192 *sum, int ndigits);

#endif
