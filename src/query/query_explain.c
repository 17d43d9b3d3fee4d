/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a fault's message suggests, from what the query knows of the input.
 */
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
}
