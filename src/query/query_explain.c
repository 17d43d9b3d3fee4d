/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a fault's message suggests, from what the query knows of the input.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number/iso_date.h"
#include "query/remedy.h"
#include "query/value.h"

char query_other_delimiter(const struct query *q)
{
	return q->guesses_delimiter ? q->header.other_delimiter : '\0';
}

/* Whether the ragged record lies right below the header, and has one field more. */
static bool may_have_row_name(const struct query *q, const struct fault *fault)
{
	const struct header *h = &q->header;

	return h->present && !q->plan.dialect.whitespace && fault->line == q->plan.line_below_header &&
	       strtoull(fault->detail, NULL, 10) == h->nfields + 1;
}

/* Whether --min or --max asks for the column. */
static bool asks_extremes(const struct query *q, const char *column)
{
	for (size_t i = 0; i < q->nresults; i++) {
		const struct result *r = &q->results[i];
		if ((r->operation == OPERATION_MIN || r->operation == OPERATION_MAX) && column &&
		    !strcmp(q->plan.columns[r->column].name, column))
			return true;
	}
	return false;
}

/* Whether the value, which is no number, is a date whose extremes are asked for. */
static bool is_date_of_extremes(const struct query *q, const struct fault *fault)
{
	return fault->detail_nbytes == fault->value_nbytes && asks_extremes(q, fault->column) &&
	       iso_date_of(fault->detail, fault->detail_nbytes) != ISO_NONE;
}

void query_explain(const struct query *q, struct fault *fault)
{
	char delimiter = query_other_delimiter(q), sign = header_comment_sign(&q->header, &q->plan.dialect);

	switch (fault->status) {
	case STATUS_NOT_A_NUMBER:
		if (!delimiter && q->guesses_delimiter && q->header.nfields == 1)
			delimiter = remedy_delimiter(fault->detail, fault->detail_nbytes);
		break;
	case STATUS_RAGGED:
		if (delimiter || sign) /* the better remedy */
			fault->detail_nbytes = strcspn(fault->detail, ":");
		else if (may_have_row_name(q, fault))
			remedy_row_names(&q->plan.dialect, q->header.line_number,
					 "if the first column has no name, as from R and pandas", fault);
		break;
	case STATUS_UNKNOWN_COLUMN:
	case STATUS_DOUBTFUL_HEADER:
	case STATUS_NO_NUMERIC_COLUMN:
		break;
	default:
		return;
	}
	if (*fault->remedy)
		return;
	if (sign)
		snprintf(fault->remedy, sizeof fault->remedy, "--comment '%c'", sign);
	else if (delimiter)
		snprintf(fault->remedy, sizeof fault->remedy, "%s",
			 remedy_delimiter_option(delimiter));
	else if (fault->status != STATUS_UNKNOWN_COLUMN && fault->status != STATUS_DOUBTFUL_HEADER &&
		 remedy_is_no_value(fault->detail, fault->detail_nbytes) &&
		 !value_is_missing(&q->plan, 0, fault->detail, fault->detail_nbytes))
		snprintf(fault->remedy, sizeof fault->remedy, "--missing '%.16s'",
			 fault->detail);
	else if (fault->status == STATUS_NOT_A_NUMBER && is_date_of_extremes(q, fault))
		strcpy(fault->remedy, "--text-min and --text-max, which order dates");
	else if (fault->status == STATUS_NOT_A_NUMBER && !q->header.present && fault->line == 1 &&
		 !notation_resembles_number(fault->detail, fault->detail_nbytes))
		strcpy(fault->remedy, "-H, if this is the header");
	else if (fault->status == STATUS_NO_NUMERIC_COLUMN && q->header.nfields > 0)
		strcpy(fault->remedy, "gpustat without an operation, which shows what the columns hold");
}
