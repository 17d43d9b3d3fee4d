/* SPDX-License-Identifier: MIT
 *
 * query_making.h - the state of making a query (query.c), and the making of its plan (query_plan.c).
 */
#ifndef GPUSTAT_QUERY_MAKING_H
#define GPUSTAT_QUERY_MAKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "query/options.h"
#include "query/query.h"
#include "query/select.h"

/* What is asked of one field. */
struct demand {
	bool selected;        /* at all */
	unsigned needs;       /* the moments that operations need; 0: only a condition reads it */
	bool number;          /* named in COLS of an operation that needs numbers */
	bool counts_text;     /* named in COLS of an operation that takes text */
	bool star;            /* included by '*' */
	bool is_key;          /* named by --by */
	bool is_dropped;      /* named by --drop */
	size_t column;        /* its place in the plan */
};

/* The state of making a query. */
struct making {
	struct query *q;
	const struct options *options;
	struct selection *selections; /* one an operation, --by's, and one for each --rename */
	size_t nselections, keys_selection; /* keys_selection: --by's */
	struct demand *demands;       /* by field */
	size_t ndemands;
	struct demand *let_demands;   /* of computed columns */
	size_t nkeys;
	uint32_t *keys;               /* fields, as --by names them. Owned. */
	struct name_index index; /* if there are many selectors */
	struct expr_names names; /* the input's, of those with signs; its array owned */
	bool waits_for_names;    /* the first record has not been read: an expression may mean its names */
	bool needs_names;        /* and one does, or it is an error */
	struct fault *fault;
};

/* Takes the status of parsing an expression of an option: waits for names where these may mend it, or says what to type
 * instead. Returns the status that counts. */
enum status making_parsed(struct making *m, enum status status, const char *option, const char *text,
			  const struct expr_request *r);

/* What is asked of a field, made if need be. NULL: no memory, as m->fault says. */
struct demand *making_demand(struct making *m, size_t field);

/* Asks for what operation needs of one field. star: '*' includes it. Errors: STATUS_NO_MEMORY. */
enum status making_demand_values(struct making *m, enum operation operation, uint32_t field, bool star);

/* Appends a result, or a new column. Until the plan is made, its column is the field. Errors:
 * STATUS_NO_MEMORY. */
enum status making_add_result(struct making *m, struct result result);

/* Sets the plan's next column, which has its name and its field, to what is demanded of it. */
void query_plan_column(struct making *m, struct demand *d, struct plan_column *c);

/* Copies what the options say of every record to q->plan, before the first record is read. */
void query_begin_plan(struct query *q, const struct options *options);

/* Makes the plan's columns, keys, pairs, predicates and new columns from the demands. Errors, in
 * m->fault: STATUS_NO_MEMORY, STATUS_USAGE. */
enum status query_make_plan(struct making *m);

#endif
