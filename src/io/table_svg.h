/* SPDX-License-Identifier: MIT
 *
 * table_svg.h - a table as a bar chart in SVG.
 */
#ifndef GPUSTAT_TABLE_SVG_H
#define GPUSTAT_TABLE_SVG_H

#include <stdio.h>

#include "io/table.h"

#define TABLE_SVG_NROWS_MAX 10000 /* more make a picture that no viewer shows; the words below the heading say so */

/* Prints, for each column of t behind its labels, a panel: its name, a bar for each row with the value as it is,
 * and an axis with ticks at round numbers. Errors: STATUS_NO_MEMORY. */
enum status table_svg(const struct table *t, FILE *out);

#endif
