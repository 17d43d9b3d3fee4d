/* SPDX-License-Identifier: MIT
 *
 * aggregated.c - a run whose expressions have aggregates (sum(x)): the input is read twice.
 *
 * What is asked is compiled first, which tells the aggregates. Then a first pass is made as if the command line asked for these
 * results, of the same records and by the same groups: --sum x --by k. The pass that prints looks them up (fold/aggregates.h).
 *
 * The first pass may need one before it: sum(x / sum(x)).
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

/* A pass that computes aggregates. */
struct pass {
	struct pass *before; /* which computes those that its own expressions have; NULL: they have none */
	struct command command; /* the options point to it */
	struct run *opened, *run; /* run: that has read the input; opened: with such expressions, that has told of them; else NULL */
	struct aggregates made;
};

static bool pass_has_ended(const struct pass *p)
{
	return !p || (p->run->all_ended && pass_has_ended(p->before));
}

static void pass_free(struct pass *p)
{
	if (!p)
		return;
	aggregates_free(&p->made);
	if (p->opened)
		p->opened->options = (struct options){.npaths = 0}; /* they are the other one's */
	for (int i = 0; i < 2; i++) {
		struct run *run = i ? p->run : p->opened;
		if (run)
			run_free(run);
		free(run);
	}
	command_free(&p->command);
	pass_free(p->before);
	free(p);
}

/* Computes the aggregates of r, which has been opened. */
static enum status find_aggregates(const struct run *r, struct pass **out, struct fault *fault)
{
	struct pass *p = calloc(1, sizeof *p);
	struct run *run = calloc(1, sizeof *run);

	NEED(p && run);
	*out = p;
	p->run = run;
	run_begin_pass(run, r);
	TRY(make_options(r, &p->command, &run->options, fault));
	TRY(explain_unknown(r, run_open_input(run, fault), fault));
	if (run->query.naggregates > 0) {
		TRY(find_aggregates(run, &p->before, fault));
		p->opened = run;
		NEED(p->run = calloc(1, sizeof *run));
		run_begin_pass(p->run, p->before->run);
		p->run->options = run->options;
		p->run->aggregates = &p->before->made;
		run = p->run;
		TRY(run_open_input(run, fault));
	}
	TRY(run_fold_input(run, fault));
	TRY(left_out_check(run, fault));
	if (run->query.plan.nkeys == 0)
		TRY(run_find_ranks(run, fault));
	progress_pass_end();
	TRY(aggregates_make(&p->made, &run->query, &run->total.partial, run->ranks));
	left_out_report(run);
	return STATUS_OK;
}

enum status run_aggregated(struct run *r, struct fault *fault)
{
	struct run *last = calloc(1, sizeof *last);
	struct pass *pass;
	enum status status;

	NEED(last);
	if (r->options.verbose)
		message_note("the input is read twice: aggregates need all records before the first");
	TRY(find_aggregates(r, &pass, fault));
	run_begin_pass(last, pass->run);
	last->options = r->options;
	last->aggregates = &pass->made;
	status = run_process(last, fault);
	r->all_ended = pass_has_ended(pass) && last->all_ended;
	if (status != STATUS_OK || !r->all_ended)
		return status; /* the process ends */
	pass_free(pass);
	last->options = (struct options){.npaths = 0}; /* they are r's */
	run_free(last);
	free(last);
	return STATUS_OK;
}
