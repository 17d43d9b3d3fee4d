/* SPDX-License-Identifier: MIT
 *
 * aggregated.c - a run whose expressions have aggregates (sum(x)): the input is read twice.
 *
 * What is asked is compiled first, which tells the aggregates. Then a first pass is made as if the command line asked for these
 * results, of the same records and by the same groups. The pass that prints looks them up (fold/aggregates.h).
 *
 * The first pass may need one before it: sum(x / sum(x)).
 *
 * The records are those that --where takes, unless it has an aggregate itself, or a column that has one. --having is for the results of
 * the second pass.
 */
#include <stdlib.h>
#include <string.h>

#include "fold/aggregates.h"
#include "io/message.h"
#include "run/run.h"

/* Whether a program has an aggregate, or a computed column that has one. */
static bool needs_aggregates(const struct query *q, const struct program *p)
{
	for (const struct selector *s = p->names.selectors; s < p->names.selectors + p->names.nselectors; s++)
		if (s->is_aggregate || (s->computed && needs_aggregates(q, &q->lets[s->computed - 1])))
			return true;
	return false;
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

/* Makes the options of the first pass of those of r: how records are read and chosen, computed columns and, as results, the
 * aggregates. The uses are owned; what else they point to is r's. */
static enum status make_options(const struct run *r, struct options *o)
{
	const struct query *q = &r->query;
	size_t nlets = 0;

	*o = r->options;
	o->wanted = &q->lets[q->ncomputed - q->naggregates];
	o->nwanted = q->naggregates;
	o->nuses = o->nrenames = o->top = 0;
	o->having = o->sort = o->unique = NULL;
	o->emits = o->starts_anew = o->selects = o->sorts = o->only = o->exclusive = o->verbose = false;
	o->choice = (struct record_choice){.head = 0};
	o->style = (struct style){.format = FORMAT_AUTO};
	o->picture = (struct picture){.plots = false};
	o->taken = (struct taken_file){.file = NULL};
	if (o->where && needs_aggregates(q, &q->conditions[0]))
		o->where = NULL;
	if (o->npaths == 1 && o->header == HEADER_AUTO && q->header.nfields > 0)
		o->header = q->header.present ? HEADER_YES : HEADER_NO; /* the columns that it needs may tell less */
	NEED(o->uses = calloc(r->options.nuses + 1, sizeof *o->uses));
	for (size_t i = 0; i < r->options.nuses; i++)
		if (r->options.uses[i].operation == OPERATION_LET_COLUMN && !needs_aggregates(q, &q->lets[nlets++]))
			o->uses[o->nuses++] = r->options.uses[i];
	return STATUS_OK;
}

/* A pass that computes aggregates. */
struct pass {
	struct pass *before; /* which computes those that its own expressions have; NULL: they have none */
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
	if (p->run)
		free(p->run->options.uses);
	for (int i = 0; i < 2; i++) {
		struct run *run = i ? p->run : p->opened;
		if (!run)
			continue;
		run->options = (struct options){.npaths = 0}; /* but for the uses, they are the last pass's */
		run_free(run);
		free(run);
	}
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
	TRY(make_options(r, &run->options));
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
