/* SPDX-License-Identifier: MIT
 *
 * query_plan.c - from what is asked of each field to the plan. See query_making.h.
 */
#include "query/query_making.h"

#include <stdlib.h>

#include "csv/word_layout.h"
#include "query/query_header.h"
#include "query/query_lets.h"
#include "query/query_pairs.h"
#include "query/summary.h"

static enum status no_memory(struct making *m)
{
	return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
}

static enum status plan_column(struct making *m, size_t field)
{
	struct plan_column *c = &m->q->plan.columns[m->q->plan.ncolumns];

	c->field = (uint32_t)field;
	c->name = header_column_name(&m->q->header, field);
	c->begins_as_text = query_starts_unfit(m->q, m->options, (uint32_t)field);
	query_plan_column(m, &m->demands[field], c);
	return c->name ? STATUS_OK : no_memory(m);
}

void query_plan_column(struct making *m, struct demand *d, struct plan_column *c)
{
	c->needs = d->needs;
	c->takes_text = (d->needs & MOMENT_ENDS) && !d->number && !d->star;
	c->parses = d->number || d->star || c->takes_text;
	c->if_numeric = m->q->summary || (d->star && !d->number);
	c->counts_text = d->counts_text;
	c->invalid = m->q->summary ? INVALID_TEXT : m->options->invalid;
	c->nkeys_most = m->q->summary ? SUMMARY_NKEYS_MOST : 0;
	c->is_key = d->is_key;
	c->takes_text |= d->is_key && !d->needs; /* text is no error, but for a NUL */
	d->column = m->q->plan.ncolumns++;
}

static enum status plan_columns(struct making *m)
{
	struct query *q = m->q;
	enum status status = STATUS_OK;

	q->plan.columns = calloc(m->ndemands + q->nlets + 1, sizeof *q->plan.columns);
	if (!q->plan.columns)
		return no_memory(m);
	for (size_t i = 0; status == STATUS_OK && i < m->ndemands; i++)
		if (m->demands[i].selected)
			status = plan_column(m, i);
	if (status == STATUS_OK)
		status = query_plan_lets(m);
	for (size_t i = 0; status == STATUS_OK && i < q->nresults; i++) {
		struct result *r = &q->results[i];
		if (operation_has_columns(r->operation) || operation_kind(r->operation) == OPERATION_LET)
			r->column = making_demand(m, r->column)->column;
		if (operation_kind(r->operation) == OPERATION_PAIR)
			r->other = (uint32_t)making_demand(m, r->other)->column;
	}
	return status;
}

/* The keys, as columns of the plan. */
static enum status plan_keys(struct making *m)
{
	struct plan *plan = &m->q->plan;

	plan->keys = calloc(m->nkeys + 1, sizeof *plan->keys);
	if (!plan->keys)
		return no_memory(m);
	for (; plan->nkeys < m->nkeys; plan->nkeys++)
		plan->keys[plan->nkeys] = making_demand(m, m->keys[plan->nkeys])->column;
	return STATUS_OK;
}

/* The conditions, their columns now those of the plan. */
static enum status plan_predicates(struct making *m)
{
	struct plan *plan = &m->q->plan;

	plan->predicates = calloc(m->q->nconditions + 1, sizeof *plan->predicates);
	if (!plan->predicates)
		return no_memory(m);
	plan->npredicates = m->q->nconditions;
	plan->where = m->options->where ? 0 : PREDICATE_NONE;
	for (size_t i = 0; i < plan->npredicates; i++) {
		struct expr_request *r = &m->q->conditions[i];
		for (size_t j = 0; j < r->columns.nselectors; j++)
			r->expr.columns[j] = (uint32_t)making_demand(m, r->fields[j])->column;
		plan->predicates[i] = &r->expr;
	}
	return STATUS_OK;
}

/* What a new column shows, by operation. */
static const enum new_column_kind new_column_kinds[NOPERATIONS] = {
#define KIND_REDUCE(formula) 0
#define KIND_TABLE(formula) 0
#define KIND_PAIR(formula) 0
#define KIND_TEXT(formula) 0
#define KIND_RECORDS(formula) 0
#define KIND_RUNNING(new_column) new_column
#define KIND_OFFSET(new_column) new_column
#define KIND_LET(new_column) new_column
#define KIND_FIELDS(new_column) new_column
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	[OPERATION_##id] = KIND_##kind(value),
#include "query/options.def"
};

/* Gives a new column its window. There is room for one each. */
static void plan_window(struct plan *plan, struct new_column *column, const struct operation_use *use)
{
	if (!new_column_has_window(column))
		return;
	column->window = plan->nwindows++;
	plan->windows[column->window] = (struct plan_window){column->kind, column->column, use->nrows, use->weight, 0, 0, false};
}

/* The new columns, in the order of the command line. */
static enum status plan_new_columns(struct making *m)
{
	struct plan *plan = &m->q->plan;
	const struct header *h = &m->q->header;
	size_t predicate = plan->where == PREDICATE_NONE ? 0 : 1;

	plan->emits = m->options->emits;
	plan->head = m->options->choice.head;
	plan->only = m->options->only || m->options->selects || picture_is_asked(&m->options->picture);
	plan->shares_header = plan->emits && !plan->only;
	plan->exclusive = m->options->exclusive;
	plan->inside_line = h->present && h->line[h->line_nbytes - 1] != '\n';
	if (!plan->emits)
		return STATUS_OK;
	plan->new_columns = calloc(m->q->nresults + 1, sizeof *plan->new_columns);
	plan->windows = calloc(m->q->nresults + 1, sizeof *plan->windows);
	if (!plan->new_columns || !plan->windows)
		return no_memory(m);
	for (; plan->nnew_columns < m->q->nresults; plan->nnew_columns++) {
		const struct result *r = &m->q->results[plan->nnew_columns];
		struct new_column *s = &plan->new_columns[plan->nnew_columns];
		s->kind = new_column_kinds[r->operation];
		s->column = r->column;
		s->predicate = s->kind == NEW_OFFSET ? predicate++ : 0;
		plan_window(plan, s, &m->q->uses[r->use]);
		s->nahead = m->q->uses[r->use].nrows;
		s->is_descending = m->q->uses[r->use].is_descending;
		s->rank = plan->nranks;
		plan->nleads += s->kind == NEW_LEAD;
		plan->nranks += s->kind == NEW_RANK;
	}
	return STATUS_OK;
}

/* Whether a new column may have values that begin with a byte: fields of the input's first column cannot begin with
 * that of comments, unless blanks before it are dropped. */
static bool may_begin_with(const struct plan *plan, const struct new_column *column, char byte)
{
	const struct plan_column *of = &plan->columns[column->column];

	if (!new_column_is_copied(column))
		return decimal_is_digit(byte) || byte == '-' || byte == plan->notation.decimal;
	return of->let || of->field > 0 || plan->dialect.trim;
}

/* Checks that no line that is printed has to begin with the byte of comments. */
static enum status check_comments(struct making *m)
{
	const struct plan *plan = &m->q->plan;
	const struct csv_dialect *d = &plan->dialect;

	if (!d->comment || d->quote || d->escape || d->whitespace || !plan->only || plan->nnew_columns == 0 ||
	    !may_begin_with(plan, &plan->new_columns[0], d->comment))
		return STATUS_OK;
	return option_fault(m->fault, "--quote none: a line that is printed could begin with '%c', the byte of "
			    "--comment, and nothing can quote it: try --escape '\\', or the input's first column "
			    "first", d->comment);
}

void query_begin_plan(struct query *q, const struct options *options)
{
	q->plan.dialect = options->dialect;
	q->plan.notation = options->notation;
	q->plan.bad_record = options->invalid;
	q->plan.nmissing = options->nmissing;
	q->plan.missing = options->missing;
	q->guesses_delimiter = !options->has_delimiter && !options->dialect.whitespace;
	q->uses = options->uses;
	q->nthreads = options->nthreads;
	q->summary = options->nuses == 0 && !options->where && options->nrenames == 0 &&
		     !options_choice_name(options);
	q->all = options->all;
	q->plan.ragged.policy = q->summary && !options->has_ragged ? RAGGED_COUNT : options->ragged;
	q->plan.counts_records = options->invalid == INVALID_SKIP;
	q->plan.is_saved = options->partial || options->save_state;
	for (size_t i = 0; i < options->nuses; i++) {
		q->plan.counts_records |= options->uses[i].operation == OPERATION_COUNT_RECORDS;
		q->matrix |= operation_use_is_matrix(&options->uses[i]);
	}
}

/* Marks the columns whose numbers meet in a result or a computed column: what a condition alone reads need not share a
 * currency. */
static void plan_currencies(struct plan *plan)
{
	for (size_t c = 0; plan->notation.money && c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		const struct let *let = column->let;
		column->has_currency |= !let && column->parses && column->needs && !column->takes_text;
		for (size_t i = 0; let && i < let->nsteps; i++)
			if (let->steps[i].code == LET_LOAD && let->steps[i].load == LET_LOAD_NUMBER)
				plan->columns[let->request.expr.columns[let->steps[i].index]].has_currency = true;
	}
	for (size_t c = 0; plan->nlets && c < plan->ncolumns; c++)
		plan->columns[c].has_currency &= !plan->columns[c].let;
}

enum status query_make_plan(struct making *m)
{
	enum status status = plan_columns(m);

	if (status == STATUS_OK)
		plan_currencies(&m->q->plan);

	if (status == STATUS_OK)
		status = plan_keys(m);
	if (status == STATUS_OK)
		status = query_plan_pairs(m->q, m->fault);
	if (status == STATUS_OK)
		status = plan_predicates(m);
	if (status == STATUS_OK)
		status = plan_new_columns(m);
	return status == STATUS_OK ? check_comments(m) : status;
}

/* ---- the header again ---- */

/* Whether the header's field of a column is a value that is no number. */
static bool is_name(const struct query *q, const struct plan_column *c)
{
	const struct first_record *first = &q->header.record[0];

	return !c->let && c->field < first->nfields && !first->values[c->field].is_number &&
	       !first->values[c->field].is_missing;
}

/* What a value of an expression is in a record that is the header. */
enum in_header {
	IN_HEADER_ANY,
	IN_HEADER_NUMBER, /* one of the expression, not 0 */
	IN_HEADER_NAME,
	IN_HEADER_WRONG, /* an operation on a name, which is no number */
};

/* The result of an operation on a and b. */
static enum in_header operate_in_header(enum let_code code, enum in_header a, enum in_header b)
{
	bool calculates = code >= LET_ADD && code <= LET_DIVIDE;

	return calculates && a && b && (a >= IN_HEADER_NAME || b >= IN_HEADER_NAME) ? IN_HEADER_WRONG : IN_HEADER_ANY;
}

/* lets: of those of --let, as far as they are known. */
static enum in_header load_in_header(const struct query *q, const struct plan_column *c, const enum in_header *lets)
{
	if (c->let)
		return lets[c->let - q->lets];
	return is_name(q, c) ? IN_HEADER_NAME : IN_HEADER_ANY;
}

/* Runs the expression on the header, as far as names and numbers alone say what comes out. lets: of those before it. */
static enum in_header let_in_header(const struct query *q, const struct let *let, const enum in_header *lets)
{
	enum in_header stack[LET_DEPTH_MAX];
	size_t n = 0;

	for (const struct let_step *step = let->steps; step < let->steps + let->nsteps; step++) {
		switch ((enum let_code)step->code) {
		case LET_LOAD:
			stack[n++] = load_in_header(q, &q->plan.columns[let->request.expr.columns[step->index]],
						    lets);
			break;
		case LET_NUMBER:
			stack[n++] = step->number.significand ? IN_HEADER_NUMBER : IN_HEADER_ANY;
			break;
		case LET_LITERAL:
			stack[n++] = IN_HEADER_ANY;
			break;
		case LET_NEGATE:
		case LET_ABS:
		case LET_ROUND:
		case LET_LOWER:
		case LET_UPPER:
		case LET_LENGTH:
		case LET_EPOCH:
			stack[n - 1] = IN_HEADER_ANY;
			break;
		default:
			n--;
			stack[n - 1] = operate_in_header(step->code, stack[n - 1], stack[n]);
		}
	}
	return stack[0];
}

/* Whether in every record that is the header the column has a value that is an error. */
static bool shows_header(const struct query *q, const struct plan_column *c, const enum in_header *lets, bool is_part)
{
	const struct first_record *second = &q->header.record[1];
	bool is_number = q->header.has_second && c->field < second->nfields && second->values[c->field].is_number;

	if (!c->parses || c->takes_text || !c->needs || c->invalid != INVALID_ERROR || q->plan.where != PREDICATE_NONE)
		return false;
	return c->let ? !c->if_numeric && load_in_header(q, c, lets) == IN_HEADER_WRONG
		      : is_name(q, c) && (!c->if_numeric || (is_number && !is_part));
}

static bool some_column_shows_header(const struct query *q, bool is_part)
{
	enum in_header *lets = calloc(q->nlets + 1, sizeof *lets);
	bool shows = false;

	for (size_t c = 0; lets && c < q->plan.ncolumns && !shows; c++) {
		const struct let *let = q->plan.columns[c].let; /* those that it takes come before it */
		if (let)
			lets[let - q->lets] = let_in_header(q, let, lets);
		shows = shows_header(q, &q->plan.columns[c], lets, is_part);
	}
	free(lets);
	return shows; /* false without memory: to seek it is never wrong */
}

/* Whether the condition of --where compares only one column, with a number. */
static bool condition_shows_header(const struct query *q)
{
	const struct expr *e = q->plan.where == PREDICATE_NONE ? NULL : q->plan.predicates[q->plan.where];

	return e && e->ntests == 1 && e->tests[0].kind == EXPR_TEST_NUMBER && q->plan.bad_record == INVALID_ERROR &&
	       is_name(q, &q->plan.columns[e->columns[e->tests[0].left]]);
}

void query_seek_header(struct query *q, bool is_part)
{
	const struct header *h = &q->header;
	bool has_name = false;

	for (size_t i = 0; h->present && i < h->record[0].nfields; i++)
		has_name |= !h->record[0].values[i].is_missing;
	if (!has_name)
		return; /* none, or records of empty fields are no headers */
	if (condition_shows_header(q))
		return;
	if (some_column_shows_header(q, is_part))
		return;
	q->plan.sought = sought_header_of(q->plan.header, q->plan.header_nbytes, &q->plan.dialect);
}

enum status plan_use_layout(struct plan *plan, struct word_layout *layout)
{
	bool widens = plan_widens_records(plan);

	plan->dialect.layout = layout;
	plan->ragged.may_lack_end = false;
	if (widens && !layout)
		plan->dialect.nfields = 0; /* the last value takes no rest: what follows it could not be told from it */
	if (!layout)
		return STATUS_OK;
	if (widens && !layout->by_words)
		return STATUS_ALIGNED_ONLY;
	layout->by_columns &= !widens;
	layout->takes_rest &= !widens;
	if (layout->by_columns)
		plan->ragged.may_lack_end = !layout->by_words || (plan->ragged.policy == RAGGED_ERROR &&
								  plan->bad_record == INVALID_ERROR);
	layout->shorter_fails = plan->ragged.may_lack_end;
	return STATUS_OK;
}
