/* SPDX-License-Identifier: MIT
 *
 * aggregated.c - a run whose expressions have aggregates (sum(x)): the input is read twice.
 *
 * What is asked is compiled first, which tells the aggregates. Then a first pass is made as if the command line asked for these
 * results, of the same records and by the same groups: --sum x --by k. The pass that prints looks them up (fold/aggregates.h).
 *
 * The records are those that --where takes, unless it has an aggregate itself, or a column that has one. --having is for the results of
 * the second pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/aggregates.h"
#include "io/message.h"
#include "run/run.h"

/* The command line of the first pass. All owned. */
struct command {
	char **argv;
	int argc;
};

static void command_free(struct command *c)
{
	for (int i = 0; i < c->argc; i++)
		free(c->argv[i]);
	free(c->argv);
}

/* Adds an argument, which becomes the command's. NULL: no memory. */
static enum status add_argument(struct command *c, char *argument)
{
	NEED(argument);
	c->argv[c->argc++] = argument;
	return STATUS_OK;
}

/* A text in quotes, to be freed. NULL: no memory. */
static char *quote(const char *text, size_t nbytes)
{
	char *quoted = malloc(2 * nbytes + 3), *to = quoted;

	if (!quoted)
		return NULL;
	*to++ = '"';
	for (size_t i = 0; i < nbytes; i++) {
		*to++ = text[i];
		if (text[i] == '"')
			*to++ = '"';
	}
	strcpy(to, "\"");
	return quoted;
}

/* Whether a program has an aggregate, or a computed column that has one. */
static bool needs_aggregates(const struct query *q, const struct program *p)
{
	for (const struct selector *s = p->names.selectors; s < p->names.selectors + p->names.nselectors; s++)
		if (s->is_aggregate || (s->computed && needs_aggregates(q, &q->lets[s->computed - 1])))
			return true;
	return false;
}

static bool is_name(const struct query *q, const char *text, size_t nbytes)
{
	for (size_t k = 0; k < q->nlets; k++)
		if (strlen(q->lets[k].name) == nbytes && !memcmp(q->lets[k].name, text, nbytes))
			return true;
	return header_names_column(&q->header, text, nbytes);
}

/* An expression in as many parentheses as make it no column's name, to be freed. NULL: no memory. */
static char *in_parentheses(const struct query *q, const char *text, size_t nbytes)
{
	char *item, *longer;

	if (asprintf(&item, "(%.*s)", (int)nbytes, text) < 0)
		return NULL;
	if (!is_name(q, item, nbytes + 2))
		return item;
	longer = in_parentheses(q, item, nbytes + 2);
	free(item);
	return longer;
}

/* The item of COLS that an aggregate's argument is, to be freed. NULL: no memory. */
static char *write_item(const struct query *q, const char *argument, size_t nbytes)
{
	const struct token token = token_at(argument, 0, NULL);
	const bool is_number = token.kind == TOKEN_NUMBER && token.nbytes == nbytes, is_known = !is_number && is_name(q, argument, nbytes);
	char *name, *item;

	if (!is_known && (token.kind != TOKEN_COLUMN || token.nbytes != nbytes))
		return in_parentheses(q, argument, nbytes);
	name = strndup(argument, nbytes);
	if (!name || (!is_known && *argument != '`'))
		return name;
	item = quote(name, is_known ? nbytes : token_unquote(argument, nbytes, name));
	free(name);
	return item;
}

/* Adds an aggregate as an option. */
static enum status add_aggregate(struct command *c, const struct query *q, size_t k)
{
	const char *text = q->lets[k].name, *argument;
	size_t nbefore, nbytes = aggregate_argument(text, &argument, &nbefore);
	char *item, *option;

	if (nbytes == 0)
		return add_argument(c, strdup("--count-records"));
	NEED(item = write_item(q, argument, nbytes));
	if (asprintf(&option, "--%.*s=%s", (int)nbefore, text, item) < 0)
		option = NULL;
	free(item);
	for (size_t i = 0; option && i < nbefore; i++)
		option[i + 2] = option[i + 2] == '_' ? '-' : option[i + 2];
	return add_argument(c, option);
}

static bool begins_with(const char *text, const char *option)
{
	return !strncmp(text, option, strlen(option));
}

/* Makes the command line from what is asked: computed columns and the aggregates, and how records are read and chosen. */
static enum status make_command(struct command *c, const struct run *r)
{
	const struct asked *asked = &r->options.asked;
	const struct query *q = &r->query;
	const bool has_where = r->options.where && !needs_aggregates(q, &q->conditions[0]);
	size_t nlets = 0;

	c->argc = 0;
	c->argv = calloc(asked->n + q->naggregates + 2, sizeof *c->argv);
	NEED(c->argv);
	TRY(add_argument(c, strdup("gpustat")));
	for (size_t i = 0; i < asked->noperations; i++)
		if (begins_with(asked->at[i], "--let=") && !needs_aggregates(q, &q->lets[nlets++]))
			TRY(add_argument(c, strdup(asked->at[i])));
	for (size_t k = q->ncomputed - q->naggregates; k < q->ncomputed; k++)
		TRY(add_aggregate(c, q, k));
	for (size_t i = asked->noperations; i < asked->n; i++) {
		const char *option = asked->at[i];
		if (strcmp(option, "--only") && strcmp(option, "--exclusive") && !begins_with(option, "--having=") &&
		    (has_where || !begins_with(option, "--where=")))
			TRY(add_argument(c, strdup(option)));
	}
	return STATUS_OK;
}

/* Says why a column that has an aggregate is unknown to the first pass. */
static enum status explain_unknown(const struct run *r, enum status status, struct fault *fault)
{
	const struct query *q = &r->query;

	for (size_t k = 0; status == STATUS_UNKNOWN_COLUMN && k < q->nlets; k++)
		if (!strcmp(q->lets[k].name, fault->detail))
			return option_fault(fault, "'%.64s' has an aggregate, and here it is needed before: compute it in a run of its own, "
					    "gpustat ... | gpustat ...", fault->detail);
	return status;
}

static enum status make_options(const struct run *r, struct command *c, struct options *o, struct fault *fault)
{
	const struct options *all = &r->options;

	TRY(make_command(c, r));
	TRY(options_parse(o, c->argc, c->argv, fault));
	o->paths = all->paths;
	o->npaths = all->npaths;
	o->is_default_input = all->is_default_input;
	o->nthreads = all->nthreads;
	o->device = all->device;
	o->device_number = all->device_number;
	o->progress = all->progress;
	if (all->npaths == 1 && all->header == HEADER_AUTO && r->query.header.nfields > 0)
		o->header = r->query.header.present ? HEADER_YES : HEADER_NO; /* the columns that it needs may tell less */
	return STATUS_OK;
}

/* The first pass. c: its options point to it. */
static enum status fold_aggregates(struct run *first, const struct run *r, struct aggregates *a, struct command *c, struct fault *fault)
{
	TRY(make_options(r, c, &first->options, fault));
	TRY(explain_unknown(r, run_open_input(first, fault), fault));
	TRY(run_fold_input(first, fault));
	TRY(left_out_check(first, fault));
	if (first->query.plan.nkeys == 0)
		TRY(run_find_ranks(first, fault));
	progress_pass_end();
	TRY(aggregates_make(a, &first->query, &first->total.partial, first->ranks));
	left_out_report(first);
	return STATUS_OK;
}

enum status run_aggregated(struct run *r, struct fault *fault)
{
	struct aggregates *made = calloc(1, sizeof *made);
	struct run *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
	struct command command;
	enum status status;

	NEED(made && first && second);
	TRY(run_open_input(r, fault));
	if (r->options.verbose)
		message_note("the input is read twice: aggregates need all records before the first");
	run_begin_pass(first, r);
	TRY(fold_aggregates(first, r, made, &command, fault));
	run_begin_pass(second, first);
	second->options = r->options;
	second->aggregates = made;
	status = run_process(second, fault);
	r->all_ended = first->all_ended && second->all_ended;
	if (status != STATUS_OK || !r->all_ended)
		return status; /* the process ends */
	aggregates_free(made);
	free(made);
	run_free(first);
	free(first);
	command_free(&command);
	second->options = (struct options){.npaths = 0}; /* they are r's */
	run_free(second);
	free(second);
	return STATUS_OK;
}
