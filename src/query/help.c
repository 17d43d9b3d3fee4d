/* SPDX-License-Identifier: MIT
 *
 * help.c - see help.h.
 */
#include "query/help.h"

#include <stdio.h>

#include "query/options.h"

#define NAMES_WIDTH 20

/* The rows of options_table: first the operations, then the options. */
enum {
#define OPERATION(id, ...) ROW_##id,
#include "query/options.def"
#define OPTION(id, ...) ROW_##id,
#include "query/options.def"
	NROWS
};

/* The lines of --help in the order of options.def: a group's title and example, or a row. */
static const struct help_line {
	const char *title, *example; /* NULL: a row */
	size_t row;
} lines[] = {
#define GROUP(title, example) {title, example, 0},
#define OPERATION(id, ...) {NULL, NULL, ROW_##id},
#define OPTION(id, ...) {NULL, NULL, ROW_##id},
#include "query/options.def"
};

/* The rows of -h. */
static const size_t brief[] = {
	ROW_SUM, ROW_MEAN, ROW_MIN, ROW_MAX, ROW_COUNT, ROW_STDDEV, ROW_PERCENTILE, ROW_COUNT_DISTINCT,
	ROW_RUNNING_SUM, ROW_WHERE, ROW_BY, ROW_DELIMITER, ROW_HEADER, ROW_INVALID, ROW_FORMAT,
};

static void print_row(size_t row)
{
	option_print_row(&options_table.rows[row], NAMES_WIDTH);
	putchar('\n');
}

static void print_line(const struct help_line *line)
{
	if (line->title)
		printf("\n%s\n  $ %s\n", line->title, line->example);
	else
		print_row(line->row);
}

void help_print(void)
{
	printf("Usage: gpustat [OPTION]... [FILE]...\n"
	       "Exact results, running totals and filters of columns of CSV. With no FILE, or\n"
	       "when FILE is -, read standard input; compressed files are recognised. With no\n"
	       "operation, summarise every column.\n");
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		print_line(&lines[i]);
	printf("\nAbout the program\n");
	for (size_t row = NROWS; row < options_table.nrows; row++)
		print_row(row);
	printf("\nCOLS is a comma-separated list of header names, numbers (3), colN, :N, ranges\n"
	       "(2-4, 2-, -4), or * for every numeric column; \"a,b\" quotes a name.\n"
	       "PAIRS is a list of two columns each, with a colon between: x:y,2:3.\n"
	       "EXPR: status >= 500 and not (method = \"GET\" or seconds is missing)\n"
	       "\nExit status: 0 done, 1 bad data or failed input or output, 2 usage error.\n"
	       "Not the GPU monitor of the same name. Full manual: man gpustat\n");
}

void help_print_brief(void)
{
	printf("Usage: gpustat [OPTION]... [FILE]...\n"
	       "Exact results, running totals and filters of columns of CSV.\n"
	       "  $ gpustat log.csv\n"
	       "  $ gpustat --sum bytes --p99 seconds --by host log.csv.gz\n"
	       "  $ gpustat --where 'status >= 500' log.csv > errors.csv\n"
	       "\n");
	for (size_t i = 0; i < sizeof brief / sizeof *brief; i++)
		print_row(brief[i]);
	printf("\nCOLS is a list of names or numbers: bytes,3. All options: gpustat --help\n"
	       "Manual: man gpustat\n");
}
