/* SPDX-License-Identifier: MIT
 *
 * table_plot.h - a table as bars of characters.
 */
#ifndef GPUSTAT_TABLE_PLOT_H
#define GPUSTAT_TABLE_PLOT_H

#include <stdio.h>

#include "io/table.h"
#include "io/terminal.h"

/* Prints, for each column of t behind its labels, a block: a line of names, and for each row its labels, a bar
 * and the value as it is. Bars are drawn in eighths of a column, to the left of a line in halves, or in whole
 * columns of # without UTF-8; what is not 0 has some bar. Labels that take more than half of the width are cut,
 * values never. Errors: STATUS_NO_MEMORY. */
enum status table_plot(const struct table *t, const struct terminal *terminal, FILE *out);

#endif
