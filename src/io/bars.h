/* SPDX-License-Identifier: MIT
 *
 * bars.h - a column of a table as bars: what the pictures for a terminal and for a file have in common.
 */
#ifndef GPUSTAT_BARS_H
#define GPUSTAT_BARS_H

#include <stdbool.h>
#include <stddef.h>

#include "io/axis.h"
#include "io/table.h"

/* One column of numbers behind the labels of the rows. */
struct bars {
	struct axis axis;     /* holds 0, and all numbers of the rows */
	bool has_negative;
	size_t value_width;   /* of the widest value, as printed */
};

/* Measures a column over the first nrows rows. */
void bars_measure(struct bars *b, const struct table *t, size_t column, size_t nrows);

/* Whether the cell has a bar: it is a number. */
bool bars_has(const struct cell *cell);

static inline const struct cell *bars_cell(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->ncolumns + column];
}

#endif
