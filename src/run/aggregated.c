/* SPDX-License-Identifier: MIT
 *
 * aggregated.c - a run whose expressions have aggregates (sum(x)): the input is read twice.
 *
 * What is asked is compiled first, which tells the aggregates. Then a first pass is made as if the command line asked for these
 * results, of the same records and by the same groups: --sum x --by k. The pass that prints looks them up (fold/aggregates.h).
 *
 * The records are those that --where takes, unless it has an aggregate itself, or a column that has one. --having is a condition of the
 * second pass: it leaves out the records of groups.
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

/* Adds before, text with each quote doubled, and after. */
static enum status add_argument(struct command *c, const char *before, const char *text, size_t nbytes, char quote, const char *after)
{
	char *to = malloc(strlen(before) + 2 * nbytes + strlen(after) + 1);

	NEED(to);
	c->argv[c->argc++] = to;
	to = stpcpy(to, before);
	for (size_t i = 0; i < nbytes; i++) {
		*to++ = text[i];
		if (quote && text[i] == quote)
			*to++ = quote;
	}
	strcpy(to, after);
	return STATUS_OK;
}

/* Whether a program has an aggregate, or a computed column that has one. */
static bool needs_aggregates(const struct query *q, const struct program *p)
{
	for (const struct selector *s = p->names.selectors; s < p->names.selectors + p->names.nselectors; s++)
		if (s->is_aggregate || (s->computed && needs_aggregates(q, &q->lets[s->computed - 1])))
			return true;
	return false;
}

/* Adds an aggregate as an option: of a column, or of an expression, which is made one of the same name. */
static enum status add_aggregate(struct command *c, const struct query *q, size_t k)
{
	const char *text = q->lets[k].name, *argument;
	size_t nbefore, nbytes = aggregate_argument(text, &argument, &nbefore);
	const struct token token = token_at(argument, 0, NULL);
	char option[64], name[256];
	bool is_column = header_names_column(&q->header, argument, nbytes), is_known = is_column;

	snprintf(option, sizeof option, "--%.*s=", nbefore < 32 ? (int)nbefore : 32, text);
	for (char *p = option; *p; p++)
		*p = *p == '_' ? '-' : *p;
	if (nbytes == 0)
		return add_argument(c, "--count-records", "", 0, 0, "");
	if (!is_column && token.kind == TOKEN_COLUMN && token.nbytes == nbytes) {
		if (*argument != '`')
			return add_argument(c, option, argument, nbytes, 0, "");
		if (nbytes < sizeof name) {
			nbytes = token_unquote(argument, nbytes, name);
			argument = name;
			is_known = true;
		}
	}
	for (size_t i = q->ncomputed - q->naggregates; i < k && !is_known; i++) {
		const char *other;
		size_t other_nbytes = aggregate_argument(q->lets[i].name, &other, &nbefore);
		is_known = other_nbytes == nbytes && !memcmp(other, argument, nbytes);
	}
	if (!is_known) {
		char *as;
		TRY(add_argument(c, "--let=`", argument, nbytes, '`', "`="));
		as = realloc(c->argv[c->argc - 1], strlen(c->argv[c->argc - 1]) + nbytes + 1);
		NEED(as);
		c->argv[c->argc - 1] = strncat(as, argument, nbytes);
	}
	strcat(option, "\"");
	return add_argument(c, option, argument, nbytes, '"', "\"");
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
	c->argv = calloc(asked->n + 2 * q->naggregates + 2, sizeof *c->argv);
	NEED(c->argv);
	TRY(add_argument(c, "gpustat", "", 0, 0, ""));
	for (size_t i = 0; i < asked->noperations; i++)
		if (begins_with(asked->at[i], "--let=") && !needs_aggregates(q, &q->lets[nlets++]))
			TRY(add_argument(c, asked->at[i], "", 0, 0, ""));
	for (size_t k = q->ncomputed - q->naggregates; k < q->ncomputed; k++)
		TRY(add_aggregate(c, q, k));
	for (size_t i = asked->noperations; i < asked->n; i++) {
		const char *option = asked->at[i];
		if (strcmp(option, "--only") && strcmp(option, "--exclusive") && !begins_with(option, "--having=") &&
		    (has_where || !begins_with(option, "--where=")))
			TRY(add_argument(c, option, "", 0, 0, ""));
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
