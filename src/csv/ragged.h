/* SPDX-License-Identifier: MIT
 *
 * ragged.h - records with another number of fields than the first, and what is done with them. CPU
 * threads and GPU lanes share this text.
 */
#ifndef GPUSTAT_RAGGED_H
#define GPUSTAT_RAGGED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hd.h"

enum ragged_policy {
	RAGGED_ERROR, /* none is taken */
	RAGGED_EXTRA, /* those with more fields are taken */
	RAGGED_ALLOW, /* all are taken; fields that are not there are missing */
	RAGGED_COUNT, /* like RAGGED_ALLOW, but they are counted: the summary's way */
};

struct ragged_rule {
	enum ragged_policy policy;
	uint32_t nfields;   /* of the first record; at least 1 */
	bool may_lack_end;  /* a shorter record lacks its last fields for sure: it is not ragged */
	bool last_is_empty; /* the first record's last field is: other records may lack it */
};

/* Whether a record of n fields is ragged. ends_empty: its last field has no byte, not even quotes;
 * read only if n is nfields + 1. Blank lines that are no records are not asked about. */
HD bool ragged_is(const struct ragged_rule *rule, uint32_t n, bool ends_empty)
{
	if (n == rule->nfields + 1)
		return !ends_empty; /* a delimiter at the line's end */
	return n != rule->nfields && !(rule->may_lack_end && n < rule->nfields) &&
	       !(rule->last_is_empty && n + 1 == rule->nfields);
}

/* Whether a ragged record of n fields is folded and printed. */
HD bool ragged_is_taken(const struct ragged_rule *rule, uint32_t n)
{
	return rule->policy >= RAGGED_ALLOW || (rule->policy == RAGGED_EXTRA && n > rule->nfields);
}

/* Whether a ragged record of n fields is counted in partial.nragged. */
HD bool ragged_is_counted(const struct ragged_rule *rule, uint32_t n)
{
	return rule->policy == RAGGED_COUNT || !ragged_is_taken(rule, n);
}

#endif
