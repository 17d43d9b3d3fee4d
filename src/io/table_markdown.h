/* SPDX-License-Identifier: MIT
 *
 * table_markdown.h - a table as Markdown.
 */
#ifndef GPUSTAT_TABLE_MARKDOWN_H
#define GPUSTAT_TABLE_MARKDOWN_H

#include <stdio.h>

#include "io/table.h"

/* Prints t as a table of GitHub Flavored Markdown: a line of names, a rule that aligns numbers right and
 * text left, and a line a row. */
void table_print_markdown(const struct table *t, FILE *out);

#endif
