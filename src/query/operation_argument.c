/* SPDX-License-Identifier: MIT
 *
 * operation_argument.c - see operation_argument.h.
 */
#include "query/operation_argument.h"

#include <string.h>

#include "number/decimal.h"
#include "query/option_table.h"

/* Reads NN of --pNN. */
static enum status read_percentile(struct operation_use *use, struct fault *fault)
{
	if (percentile_parse(use->name + 1, strlen(use->name + 1), &use->percentile))
		return STATUS_OK;
	return option_fault(fault, "--%.64s: percentiles are --p0 to --p100, such as --p99.9, with up to %d "
			    "places", use->name, PERCENTILE_NPLACES);
}

/* Reads COL:WIDTH. A column's name may have colons. */
static enum status read_bins(struct operation_use *use, struct fault *fault)
{
	const char *colon = strrchr(use->argument, ':'), *width = colon ? colon + 1 : "";

	if (decimal_parse(width, strlen(width), &use->width) != DECIMAL_NUMBER || use->width.significand <= 0)
		return option_fault(fault, "--hist: '%.64s' is not COL:WIDTH, WIDTH a number above 0 with up to "
				    "%d digits", use->argument, DECIMAL_NDIGITS);
	use->column = strndup(use->argument, (size_t)(colon - use->argument));
	use->argument = use->column;
	return use->column ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* ---- windows, and fields of later records ---- */

#define NROWS_MAX UINT64_C(1000000000000)

bool operation_is_window(enum operation operation)
{
	switch (operation) {
	case OPERATION_LAG: case OPERATION_FILL_DOWN: case OPERATION_ROLLING_SUM: case OPERATION_ROLLING_MEAN:
	case OPERATION_ROLLING_MIN: case OPERATION_ROLLING_MAX: case OPERATION_EWMA:
		return true;
	default:
		return false;
	}
}

/* Returns the last colon that has a column before it: not that of a position, as in "a,:3", nor one in
 * quotes. NULL if the argument has no such colon. */
static const char *find_suffix(const char *argument)
{
	const char *colon = strrchr(argument, ':');

	if (!colon || colon == argument || colon[-1] == ',' || strchr(colon, ',') || strchr(colon, '"'))
		return NULL;
	return colon;
}

/* The length of the columns before the suffix, for a message. */
static int columns_nbytes(const struct operation_use *use, const char *suffix)
{
	size_t nbytes = suffix ? (size_t)(suffix - use->argument) : strlen(use->argument);

	return nbytes < 32 ? (int)nbytes : 32;
}

/* Makes what stands before the suffix the columns. */
static enum status cut_suffix(struct operation_use *use, const char *suffix, struct fault *fault)
{
	use->column = strndup(use->argument, (size_t)(suffix - use->argument));
	use->suffix = suffix;
	use->argument = use->column;
	return use->column ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Reads COLS:A. */
static enum status read_weight(struct operation_use *use, struct fault *fault)
{
	const char *suffix = find_suffix(use->argument);

	if (!suffix || !ewma_weight_parse(suffix + 1, strlen(suffix + 1), &use->weight))
		return option_fault(fault, "--ewma: '%.64s' is not COLS:A, A the weight of the new value: above 0, "
				    "at most 1, such as %.*s:0.1", use->argument,
				    columns_nbytes(use, suffix), use->argument);
	return cut_suffix(use, suffix, fault);
}

/* Reads COLS:N; of --lag and --lead also COLS alone, and then a colon may be one of a name. */
static enum status read_nrows(struct operation_use *use, struct fault *fault)
{
	bool may_lack_n = use->operation == OPERATION_LAG || use->operation == OPERATION_LEAD;
	const char *suffix = find_suffix(use->argument);
	const char *end = suffix ? option_digits(suffix + 1, NROWS_MAX, &use->nrows) : NULL;

	if (end && !*end && use->nrows > 0)
		return cut_suffix(use, suffix, fault);
	if (may_lack_n && !(end && !*end)) {
		use->nrows = 1;
		return STATUS_OK;
	}
	return option_fault(fault, "--%s: '%.64s' is not COLS:N, N a number of records above 0, such as %.*s:%s",
			    operation_name(use->operation), use->argument, columns_nbytes(use, suffix),
			    use->argument, may_lack_n ? "1" : "10");
}

/* Reads [-]COLS. */
static void read_order(struct operation_use *use)
{
	use->is_descending = *use->argument == '-';
	use->argument += use->is_descending;
}

enum status operation_read_argument(struct operation_use *use, struct fault *fault)
{
	switch (use->operation) {
	case OPERATION_PERCENTILE:
		return read_percentile(use, fault);
	case OPERATION_HIST:
		return read_bins(use, fault);
	case OPERATION_EWMA:
		return read_weight(use, fault);
	case OPERATION_LEAD:
		return read_nrows(use, fault);
	case OPERATION_RANK:
		read_order(use);
		return STATUS_OK;
	case OPERATION_FILL_DOWN:
		return STATUS_OK;
	default:
		return operation_is_window(use->operation) ? read_nrows(use, fault) : STATUS_OK;
	}
}
