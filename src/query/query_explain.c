/* SPDX-License-Identifier: MIT
 *
 * query_explain.c - what a fault's message suggests, from what the query knows of the input.
 */
#include "query/query.h"

#include <stdio.h>
#include <string.h>

#include "query/remedy.h"
#include "query/value.h"

char query_other_delimiter(const struct query *q)
{
	return q->guesses_delimiter ? q->header.other_delimiter : '\0';
}

void query_explain(const struct query *q, struct fault *fault)
{
	char delimiter = query_other_delimiter(q);

	switch (fault->status) {
	case STATUS_NOT_A_NUMBER:
		if (!delimiter && q->guesses_delimiter && q->header.nfields == 1)
			delimiter = remedy_delimiter(fault->detail, fault->detail_nbytes);
		break;
	case STATUS_RAGGED:
		if (delimiter) /* the better remedy */
			fault->detail_nbytes = strcspn(fault->detail, ":");
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
	if (delimiter)
		snprintf(fault->remedy, sizeof fault->remedy, "%s",
			 remedy_delimiter_option(delimiter));
	else if (fault->status != STATUS_UNKNOWN_COLUMN && fault->status != STATUS_DOUBTFUL_HEADER &&
		 remedy_is_no_value(fault->detail, fault->detail_nbytes) &&
		 !value_is_missing(&q->plan, 0, fault->detail, fault->detail_nbytes))
		snprintf(fault->remedy, sizeof fault->remedy, "--missing '%.16s'",
			 fault->detail);
}
