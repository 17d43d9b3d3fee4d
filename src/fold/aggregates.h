/* SPDX-License-Identifier: MIT
 *
 * aggregates.h - the aggregates of expressions: results of a pass over the input, which a later pass looks up for each record.
 *
 * They are exact as the results are that the first pass would print, and as long: a sum has all its digits.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/groups.h"
#include "fold/key.h"
#include "number/decimal.h"
#include "query/query.h"

enum aggregate_kind {
	AGGREGATE_MISSING, /* of no values */
	AGGREGATE_NUMBER,  /* of the fast path */
	AGGREGATE_LONG,    /* a longer one, in plain decimal */
	AGGREGATE_TEXT,    /* as the input has it, without quotes */
};

struct aggregate_value {
	union {
		int64_t significand;
		char *text; /* of LONG and TEXT: NUL-terminated, owned */
	};
	uint8_t kind, scale;
};

/* Makes *to a value as text: a number in plain decimal, or one of the input; missing if it has no bytes. Errors: STATUS_NO_MEMORY. */
enum status aggregate_value_set(struct aggregate_value *to, const char *text, size_t nbytes, bool is_number);

struct group_row;  /* group_result.h */
struct group_rows;

/* The same of a result of a row, that is not computed of others. */
enum status aggregate_value_find(struct aggregate_value *to, struct group_rows *rows, struct group_row *row, const struct result *r);
void aggregate_value_free(struct aggregate_value *v);

/* Zeroed: of none. */
struct aggregates {
	struct group_store *groups; /* of the pass that made them; NULL: without keys. Not owned. A group's state is its number */
	struct aggregate_value *at; /* n for each group, or of all records; owned, and counted towards --memory */
	size_t n, ngroups;
};

struct ranks; /* quantile.h */

/* Makes them the results of a query, of which total is the fold: n for each group, in their order. ranks: what quantiles need where
 * there are no groups. The query's groups must stay. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS; a can then be freed. */
enum status aggregates_make(struct aggregates *a, const struct query *q, struct partial *total, const struct ranks *ranks);
void aggregates_free(struct aggregates *a);

/* Has a query, which a later pass runs, use them; of all records, numbers become literals. Errors: STATUS_NO_MEMORY. */
enum status aggregates_use(const struct aggregates *a, struct query *q);

/* The n values of the key's group; NULL: there is none. Any thread. */
const struct aggregate_value *aggregates_of(const struct aggregates *a, const struct key *key, uint64_t hash);
