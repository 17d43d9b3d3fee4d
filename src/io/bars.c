/* SPDX-License-Identifier: MIT
 *
 * bars.c - see bars.h.
 */
#include "io/bars.h"

#include "base/utf8.h"

bool bars_has(const struct cell *cell)
{
	return cell->is_number && plain_is(cell_number(cell));
}

void bars_measure(struct bars *b, const struct table *t, size_t column, size_t nrows)
{
	const char *low = "0", *high = "0";
	int nplaces = 0;

	b->value_width = 0;
	for (size_t i = 0; i < nrows; i++) {
		const struct cell *cell = bars_cell(t, i, column);
		const char *number = cell_number(cell);
		size_t width = utf8_width(cell->text);
		b->value_width = width > b->value_width ? width : b->value_width;
		if (!bars_has(cell))
			continue;
		low = plain_compare(number, low) < 0 ? number : low;
		high = plain_compare(number, high) > 0 ? number : high;
		nplaces = plain_nplaces(number) > nplaces ? plain_nplaces(number) : nplaces;
	}
	axis_set(&b->axis, low, high, nplaces);
	b->has_negative = b->axis.low < 0;
}
