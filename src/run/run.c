/* SPDX-License-Identifier: MIT
 *
 * run.c - see run.h.
 */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/machine.h"
#include "base/fd.h"
#include "emit/sort.h"
#include "engine/engine.h"
#include "fold/aggregates.h"
#include "fold/finish.h"
#include "fold/groups.h"
#include "fold/quantile.h"
#include "fold/rank_table.h"
#include "fold/result.h"
#include "fold/values_select.h"
#include "io/message.h"
#include "io/output.h"
#include "io/picture.h"
#include "io/spool.h"
#include "io/table.h"
#include "query/remedy.h"

#define PATIENCE_MS 1000 /* with standard input, before it is said that it is waited for */

/* Whether every second column has no name, as where fields end at a delimiter twice. */
static bool has_gaps(const struct query *q)
{
	const struct header *h = &q->header;

	if (!h->present || h->nnames < 3 || h->nnames % 2 == 0 || q->guesses_delimiter ||
	    !strchr("\t|;:~, ", q->plan.dialect.delimiter) || q->plan.dialect.whitespace)
		return false;
	for (size_t i = 0; i < h->nnames; i++)
		if ((h->names[i] && *h->names[i]) == (i % 2 == 1))
			return false;
	return true;
}

/* Whether a line of units below the header counts in the results, and nothing else has said so. */
static bool takes_units(const struct query *q)
{
	if (!q->header.present || !q->header.is_above_units || (q->plan.nkeys == 0 && q->nresults == 0) ||
	    q->plan.where != PREDICATE_NONE) /* which leaves the line out, perhaps */
		return false;
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		if (q->plan.columns[c].parses && !q->plan.columns[c].takes_text)
			return false; /* its unit is an error, or was left out, with a warning */
	return true;
}

void run_report_guesses(const struct run *r)
{
	const struct header *h = &r->query.header;
	char delimiter = query_other_delimiter(&r->query);
	struct fault ordered, name;

	if (h->reason == HEADER_DOUBTFUL && !delimiter) {
		struct fault first;
		fault_set_value(&first, STATUS_DOUBTFUL_HEADER, h->line, h->end - h->begin);
		first.file = input_name(r->input, h->file);
		first.line = h->line_number;
		message_header_guessed(&first);
	}
	if (has_gaps(&r->query)) {
		char byte = r->query.plan.dialect.delimiter;
		const char *c = byte == '\t' ? "\\t" : (const char[]){byte, '\0'};
		message_note("note: every second column has no name: if fields end at '%s%s', try sed 's/%s%s/%s/g' FILE | "
			     "gpustat -d '%s'", c, c, c, c, c, c);
	}
	if (query_orders_numbers_as_text(&r->query, &ordered))
		message_say("note: column '@' has numbers, but is compared with \"@\" as text: without the quotes, numbers are "
			    "compared", ordered.column, ordered.detail);
	if (takes_units(&r->query))
		message_say("note: @:#: a line of units is taken for a record: try sed #d, which drops it",
			    input_name(r->input, h->file), r->query.plan.line_below_header, r->query.plan.line_below_header);
	if (query_takes_name_for_text(&r->query, &name))
		message_say("note: \"@\" is a text in an expression; the column of this name is written in backquotes: `@`",
			    name.detail, name.detail);
	if (r->query.summary && delimiter)
		message_note("warning: there is one column, and it holds '%s': try %s",
			     delimiter == '\t' ? "\\t" : (const char[]){delimiter, '\0'},
			     remedy_delimiter_option(delimiter));
}

/* ---- parts and states: --partial, --part, --save-state and --from-state ---- */

/* What the run's part is of: its inputs, or a range of one. */
static void run_scope(struct run *r, const char *const *names, struct part_scope *scope,
		      struct part_seam seams[2])
{
	const struct file_part *part = &r->options.part;
	const struct part_seam seam = {.input = (char *)names[0], .number = part->number, .of = part->of,
				       .size = r->range.size};

	*scope = (struct part_scope){names, r->merge.ninputs + (size_t)input_nfiles(r->input), r->merge.ninputs,
				     &seams[0], &seams[1], 0};
	seams[0] = seams[1] = seam;
	seams[0].border = r->range.begin;
	seams[0].is_quoted = part->is_quoted;
	if (part->number <= 1)
		seams[0].of = 0;
	seams[1].border = r->range.end;
	seams[1].is_quoted = r->total.keeps_head || r->total.seam.nbytes > 0;
	seams[1].is_same = part->number > 1;
	seams[1].nlines = r->total.line - 1;
	if (r->range.has_blocks) /* modulo 2^64: offsets begin at the range's place */
		seams[1].offset_bytes = r->total.end_bytes - r->range.end;
	if (part->number == part->of)
		seams[1].of = 0;
}

/* Writes the part that a later merge reads to standard output, or saves the state. */
static enum status write_part(struct run *r, struct fault *fault)
{
	size_t nbefore = r->merge.ninputs, nfiles = r->input ? (size_t)input_nfiles(r->input) : 0;
	const char **names = calloc(nbefore + nfiles + 1, sizeof *names);
	struct part_scope scope;
	struct part_seam seams[2];
	enum status status;

	progress_end();
	NEED(names);
	status = r->input && r->options.part.of ? total_end_range(&r->total, fault) : STATUS_OK;
	if (status != STATUS_OK) {
		fault->file = fault->line ? input_name(r->input, 0) : NULL;
		free(names);
		return status;
	}
	for (size_t i = 0; i < nbefore + nfiles; i++)
		names[i] = i < nbefore ? r->merge.inputs[i] : input_name(r->input, (int)(i - nbefore));
	if (r->input)
		run_scope(r, names, &scope, seams);
	else
		merge_scope(&r->merge, &scope);
	status = r->options.partial
			 ? part_write(&r->options, &r->query, &r->total, &scope, part_sink_stream(output_stream()), fault)
			 : state_save(&r->options, &r->query, &r->total, &scope, fault);
	free(names);
	return status;
}

/* Before the input is folded: adds a state of earlier records to the total, that of --from-state or of the records before a
 * slice. state: NULL: there is none, as with --save-state alone. */
static enum status begin_with_state(struct run *r, const struct part_source *state, struct fault *fault)
{
	const struct merge *m = &r->merge;
	bool is_slice = state && state == r->slice_state;

	r->query.plan.counts_records = true;
	r->query.plan.guesses_texts = false;
	if (!is_slice && r->query.star)
		return option_fault(fault, "--%s: name the columns: '*' may mean others in the next input",
				    r->options.from_state ? "from-state" : "save-state");
	if (state)
		TRY(state_read(&r->merge, &r->options, &r->query, &r->total, state, fault));
	if (is_slice || !r->query.plan.emits)
		input_begin_at(r->input, is_slice && m->right.of ? m->right.offset_bytes : m->offset_bytes);
	if (is_slice && m->right.of)
		input_count_slice_from(r->input, m->right.nlines);
	return STATUS_OK;
}

/* Of a fault in such a range, counts the lines before the range, and says what else may be wrong. */
static void explain_part(struct run *r, struct fault *fault)
{
	const struct file_part *part = &r->options.part;
	struct fault ignored;

	if (part->number <= 1 || fault->line == 0 || !fault->file || r->range.begin == 0 ||
	    input_count_before(r->input, &r->range, &ignored) != STATUS_OK)
		return;
	fault->line += r->range.nlines_before;
	if (!*fault->remedy && !part->is_quoted)
		snprintf(fault->remedy, sizeof fault->remedy, "--part %" PRIu64 "/%" PRIu64 ",quoted, if a "
			 "quoted field goes on where the part begins", part->number, part->of);
}

/* ---- results ---- */

/* Makes the format of printed records, if they are not printed as they came. */
static enum status prepare_format(struct run *r)
{
	struct query *q = &r->query;
	struct style style = r->options.style;
	size_t n;
	char **names;
	enum status status;

	if (!q->plan.formats)
		return STATUS_OK;
	if (style.format == FORMAT_AUTO) { /* --union: as they came, but for their columns */
		style.format = FORMAT_CSV;
		style.delimiter = q->plan.dialect.whitespace ? ',' : q->plan.dialect.delimiter;
	}
	NEED(names = result_printed_names(q, style.format, &n));
	status = row_format_init(&r->row_format, style, (const char *const *)names, n);
	result_names_free(names, n);
	q->plan.row_format = &r->row_format;
	q->plan.inside_line = false;
	return status;
}

/* Ends the records: prints them, if they are a table's, or what comes after the last one. */
static enum status end_rows(struct run *r, struct fault *fault)
{
	const struct row_format *f = r->query.plan.row_format;
	size_t n;
	char **names;
	enum status status;

	if (!f || f->format != FORMAT_TABLE) {
		fputs(f ? row_closing(f) : "", output_stream());
		return STATUS_OK;
	}
	NEED(names = result_printed_names(&r->query, f->format, &n));
	status = table_rows_print(&r->rows, (const char *const *)names, n, r->options.style, fault);
	result_names_free(names, n);
	return status;
}

/* Prints what is left of the records: those that have been chosen, or a picture. The engine has printed others. */
static enum status print_records(struct run *r, struct fault *fault)
{
	const struct plan *plan = &r->query.plan;
	struct writer writer = {.owes_newline = plan->inside_line, .format = plan->row_format, .rows = r->total.rows,
				.curve = r->total.curve};
	enum status status;
	char *name;

	if (plan->sorter)
		TRY(sorter_choose(plan->sorter, (size_t)ranks_nthreads(&r->query)));
	if (plan->sorter && !plan->draws)
		TRY(result_heading(&r->query, fault));
	if (plan->sorter)
		TRY(sorter_write(plan->sorter, (size_t)ranks_nthreads(&r->query), &writer, fault));
	if (!plan->draws)
		return end_rows(r, fault);
	NEED(name = result_name(&r->query, &r->query.results[0]));
	status = picture_print_curve(&r->options.picture, &r->curve, name, fault);
	free(name);
	return status;
}

static enum status print_result(struct run *r, struct fault *fault)
{
	bool emits = r->query.plan.emits;
	enum status status = emits || r->query.plan.nkeys ? STATUS_OK : run_find_ranks(r, fault);

	progress_end();
	TRY(status);
	if (emits)
		return print_records(r, fault);
	status = group_result_print(&r->query, &r->total.partial, r->ranks, &r->groups, fault);
	return status == STATUS_GPU ? devices_lose(&r->devices, fault) : status;
}

enum status run_finish(struct run *r, struct fault *fault)
{
	bool emits = r->query.plan.emits && !r->query.plan.draws && !r->query.plan.sorter && !r->total.rows;

	if (r->options.partial) { /* what is too much to be left out, the merge finds */
		TRY(write_part(r, fault));
		return output_close(fault);
	}
	if (!emits)
		TRY(left_out_check(r, fault));
	TRY(print_result(r, fault));
	TRY(output_close(fault));
	if (emits)
		TRY(left_out_check(r, fault));
	if (r->options.save_state)
		TRY(write_part(r, fault));
	left_out_report(r);
	run_report_guesses(r);
	for (const struct run *each = r; each; each = each->before)
		devices_report_failures(&each->devices);
	return STATUS_OK;
}

/* What compressed data cost all threads together. */
static void report_sections(const struct run *r)
{
	struct section_totals totals = input_sections(r->input);
	const double *s = totals.stage_s;
	uint64_t nbytes = input_device_nbytes(r->input);

	if (nbytes)
		message_note("gzip: %llu bytes of text decoded by a GPU", (unsigned long long)nbytes);
	if (totals.nsections)
		message_note("gzip: sections %llu, begun ahead of their turn %llu; seconds of all threads: "
			     "find %.3f, symbols %.3f, wait %.3f, bytes %.3f, again %.3f, resolve %.3f",
			     (unsigned long long)totals.nsections, (unsigned long long)totals.nright,
			     s[SECTION_FIND], s[SECTION_GUESS], s[SECTION_WAIT], s[SECTION_GO_ON],
			     s[SECTION_REDO], s[SECTION_RESOLVE]);
}

/* Sets what is done with values that do not fit in memory: for a table, they are not searched in several passes. A later pass
 * reads the values of one column only. */
static void prepare_values(struct run *r)
{
	const struct query *q = &r->query;
	bool prints_table = q->nresults > 0 && operation_kind(q->results[0].operation) == OPERATION_TABLE;

	r->is_repeatable = input_is_repeatable(r->input);
	if (!r->searches)
		values_may_drop(r->is_repeatable && !prints_table && q->plan.nkeys == 0 && !q->plan.is_saved &&
				!r->options.from_state && q->plan.nranks == 0);
	for (size_t c = 0; r->searches && c < q->plan.ncolumns; c++)
		if (c != r->searched)
			q->plan.columns[c].needs &= ~(unsigned)MOMENT_VALUES;
}

/* Has records drawn instead of printed, if a picture is asked for. */
static enum status prepare_curve(struct run *r, struct fault *fault)
{
	struct query *q = &r->query;

	if (!picture_is_asked(&r->options.picture) || !q->plan.emits)
		return STATUS_OK;
	if (q->nresults != 1)
		return option_fault(fault, "--%s draws one running column: here are %zu",
				    r->options.picture.plots ? "plot" : "svg", q->nresults);
	q->plan.draws = true;
	return STATUS_OK;
}

/* Says how groups are printed. */
static enum status prepare_printing(struct run *r, struct fault *fault)
{
	const bool of_records = r->options.sorts || r->options.unique;

	TRY(result_renames_check(&r->query, fault));
	r->groups.top = r->options.top;
	r->groups.style = r->options.style;
	r->groups.pivots = r->options.pivot;
	r->groups.picture = r->options.picture;
	return finishing_make(&r->query.finishing, &r->groups.sort, &r->query, of_records ? NULL : r->options.sort,
			      of_records ? 0 : r->options.top, fault);
}

static void free_printing(struct run *r)
{
	finishing_free(r->query.finishing);
	group_sort_free(&r->groups.sort);
}

/* Where an option took a file's name, standard input is what is left to read. Says so if it has to be waited for. */
static void wait_taken(const struct options *o)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	if (o->taken.file && o->is_default_input && poll(&p, 1, PATIENCE_MS) == 0)
		message_note("note: waiting for standard input: --%s took a file's name for its %s", o->taken.name,
			     o->taken.argument);
}

/* An empty input is the error then. */
static enum status check_taken(struct run *r, struct fault *fault)
{
	const char *data;
	size_t nbytes = 0;
	bool at_end = false;

	if (!r->options.taken.file || !r->options.is_default_input)
		return STATUS_OK;
	TRY(input_peek(r->input, 0, &data, &nbytes, &at_end, fault));
	return at_end && nbytes == 0 ? options_fail_taken(&r->options, fault) : STATUS_OK;
}

/* Says what is typed where a column, or a file, is not found: an option may have taken what was meant as a file. */
static void explain_taken(const struct options *o, struct fault *fault)
{
	const struct taken_file *taken = &o->taken;

	if (fault->status == STATUS_OPEN)
		remedy_open(fault);
	if (!taken->file || *fault->remedy || strlen(taken->file) > 48)
		return;
	if (fault->status == STATUS_UNKNOWN_COLUMN && o->is_default_input && !strcmp(fault->detail, taken->file))
		snprintf(fault->remedy, sizeof fault->remedy, "--%s %s '%s': it is a file", taken->name,
			 taken->argument, taken->file);
	if (fault->status == STATUS_OPEN && fault->error_number == ENOENT && fault->file && strlen(fault->file) <= 48)
		snprintf(fault->remedy, sizeof fault->remedy, "--%s '%s' '%s': the file was taken for %s",
			 taken->name, fault->file, taken->file, taken->argument);
}

enum status run_open_input(struct run *r, struct fault *fault)
{
	struct options *o = &r->options;
	struct query *q = &r->query;

	wait_taken(o);
	TRY(input_open(&r->input, o->paths, o->npaths, o->nthreads, fault));
	TRY(check_taken(r, fault));
	if ((o->nthreads ? o->nthreads : cores_count()) > 1)
		TRY(input_share_decoding(r->input));
	TRY(query_make(q, o, r->input, fault));
	if (r->aggregates)
		TRY(aggregates_use(r->aggregates, q));
	if (o->part.of) /* only a range of the file is read */
		TRY(input_cut_range(r->input, o->part.number, o->part.of, o->part.is_quoted, &q->plan.dialect, &r->range, fault));
	TRY(prepare_printing(r, fault));
	if (q->plan.nsort_keys > 0 || q->plan.group_top > 0 || q->plan.choice)
		NEED(q->plan.sorter = sorter_new(&q->plan, ranks_nthreads(q)));
	TRY(prepare_curve(r, fault));
	return fault_complete(fault, prepare_format(r));
}

enum status run_fold_input(struct run *r, struct fault *fault)
{
	const struct options *o = &r->options;
	struct query *q = &r->query;

	if (r->careful)
		q->plan.guesses_texts = false;
	if (o->partial)
		plan_as_part(&q->plan);
	TRY(devices_peek(o, q, r->input, fault));
	TRY(devices_choose(&r->devices, o, q, r->input, fault));
	devices_set_up_input(&r->devices, &q->plan, r->input);
	TRY(groups_plan(&q->plan, o->chunk_nbytes));
	TRY(total_init(&r->total, &q->plan));
	r->total.curve = q->plan.draws ? &r->curve : NULL;
	r->total.rows = q->plan.row_format && q->plan.row_format->format == FORMAT_TABLE ? &r->rows : NULL;
	if (o->part.is_quoted)
		total_begin_quoted(&r->total);
	if (o->from_state || o->save_state)
		TRY(begin_with_state(r, o->from_state ? &(struct part_source){.name = o->from_state} : NULL, fault));
	if (r->slice_state)
		TRY(begin_with_state(r, r->slice_state, fault));
	if (q->plan.emits) {
		fd_widen_pipe(STDOUT_FILENO);
		if (!q->plan.draws && !q->plan.sorter && !r->lacks_heading)
			TRY(result_heading(q, fault));
	}
	prepare_values(r);
	message_progress(&engine_nbytes_begun, input_nbytes_left(r->input));
	progress_pass(input_nbytes_stored(r->input), &r->devices);
	TRY(engine_run(&q->plan, r->input, r->devices.pools, r->devices.npools, &r->total,
		       !r->careful && r->is_repeatable, &r->all_ended, fault));
	if (r->stamp && r->stamp != spool_stamp(o->paths, o->npaths))
		return fault_set(fault, STATUS_CHANGED, 0, NULL);
	return result_lacks_texts(q, &r->total.partial) ? (fault->status = STATUS_MISGUESSED) : STATUS_OK;
}

/* Merges the parts that the options name, and prints what one run over all their inputs would print. */
static enum status merge(struct run *r, struct fault *fault)
{
	r->merge.options = &r->options;
	r->merge.query = &r->query;
	r->merge.total = &r->total;
	r->all_ended = true;
	TRY(merge_parts(&r->merge, fault));
	if (!r->options.partial)
		TRY(merge_check(&r->merge, fault));
	TRY(prepare_printing(r, fault));
	return run_finish(r, fault);
}

/* Says what would be done with the input, which has been opened. */
static enum status explain(struct run *r, struct fault *fault)
{
	TRY(devices_peek(&r->options, &r->query, r->input, fault));
	TRY(devices_choose(&r->devices, &r->options, &r->query, r->input, fault));
	TRY(explain_print(r));
	return output_close(fault);
}

void run_begin_pass(struct run *r, const struct run *before)
{
	r->options = before->options;
	r->stdin_offset = before->stdin_offset;
	r->stamp = before->stamp;
	r->careful = before->careful;
	r->aggregates = before->aggregates;
	r->all_ended = true;
	if (before->input) /* a run that ended early may still read ahead of its chunks, and would take input of this one */
		input_end(before->input);
	if (before->stdin_offset >= 0)
		lseek(STDIN_FILENO, before->stdin_offset, SEEK_SET);
	engine_nbytes_begun = fd_nbytes_read = 0;
}

/* ---- ranks of records ---- */

/* Makes the plan one that keeps the ranked columns' numbers, of all records that --where takes: the second pass folds windows, and
 * looks whether their times rise. */
static void plan_keeping(struct plan *plan)
{
	plan->emits = false;
	plan->head = plan->group_head = 0;
	plan->nwindows = plan->first_timed = 0;
	plan->draws = false;
	plan->counts_records = true;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (new_column_has(plan->new_columns[i].kind, NEW_RANKS))
			plan->columns[plan->new_columns[i].column].needs |= MOMENT_VALUES;
}

/* Prints the records. */
static enum status print_pass(struct run *r, const struct run *first, const struct rank_tables *tables,
			      struct fault *fault)
{
	run_begin_pass(r, first);
	TRY(run_open_input(r, fault));
	r->query.plan.ranks = tables;
	TRY(run_fold_input(r, fault));
	return run_finish(r, fault);
}

/* Prints records with their ranks (--rank and its like): keeps the numbers of the ranked columns in a first pass, which is that of a result,
 * sorts them, and prints the records in a second. r has opened the input. Errors: of both. */
static enum status run_ranked(struct run *r, struct fault *fault)
{
	struct rank_tables tables;
	enum status status;
	struct run *second;

	second = calloc(1, sizeof *second);
	NEED(second);
	plan_keeping(&r->query.plan);
	TRY(run_fold_input(r, fault));
	progress_pass_end();
	TRY(rank_tables_make(&tables, &r->query.plan, &r->total.partial, ranks_nthreads(&r->query)));
	status = print_pass(second, r, &tables, fault);
	r->all_ended &= second->all_ended;
	if (status != STATUS_OK || !r->all_ended)
		return status; /* the process ends */
	rank_tables_free(&tables);
	second->options = (struct options){.npaths = 0}; /* they are the first's */
	run_free(second);
	free(second);
	return STATUS_OK;
}

/* ---- all of it ---- */

/* Whether the run makes two passes over the input, and another one has not made the first. */
static bool reads_twice(const struct run *r)
{
	bool ranks = false;

	for (size_t i = 0; i < r->options.nuses; i++)
		ranks |= operation_ranks(r->options.uses[i].operation);
	return (ranks || r->options.aggregates) && !r->aggregates && !r->options.explain && !r->options.columns;
}

enum status run_process(struct run *r, struct fault *fault)
{
	double begin_s = clock_s();

	if (r->options.merge)
		return merge(r, fault);
	if (reads_twice(r)) {
		TRY(spool_pipes(r->options.paths, r->options.npaths, fault));
		r->stdin_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
		r->stamp = spool_stamp(r->options.paths, r->options.npaths);
	}
	TRY(run_open_input(r, fault));
	if (reads_twice(r) && r->query.naggregates > 0)
		return run_aggregated(r, fault);
	if (r->options.columns) {
		progress_end();
		result_columns(&r->query);
		TRY(output_close(fault));
		run_report_guesses(r);
		return STATUS_OK;
	}
	if (r->options.explain) {
		progress_end();
		return explain(r, fault);
	}
	if (r->query.plan.nranks > 0) {
		TRY(run_ranked(r, fault));
	} else {
		/* Groups are printed, and nothing else is done with them. */
		r->query.plan.reads_groups_once = !r->options.partial && !r->options.from_state && !r->options.save_state &&
						  group_printing_reads_once(&r->groups, &r->query);
		TRY(run_fold_input(r, fault));
		TRY(run_finish(r, fault));
	}
	if (r->options.verbose) {
		report_sections(r);
		devices_report(&r->devices, clock_s() - begin_s);
	}
	return STATUS_OK;
}

/* ---- values that do not fit in memory ---- */

/* Finds the numbers of a column's ranks by passes over the input. No chunk is folded on a guess: the threads of a pass
 * that fails would go on for a while, with the focus of the next. */
static enum status search_column(const struct run *first, size_t c, struct ranks *ranks,
				 struct fault *fault)
{
	struct values_search search;
	bool is_needed;
	struct values_extent extent;
	struct number_sums numbers;
	enum status status;

	numbers_get(&first->total.partial.columns[c].numbers, &numbers);
	ranks_extent(ranks, &numbers, &extent);
	status = values_search_begin(&search, &extent, ranks->wanted, ranks->nwanted);
	while (status == STATUS_OK && (status = values_search_begin_pass(&search, &is_needed)) == STATUS_OK && is_needed) {
		struct run *r = calloc(1, sizeof *r);
		NEED(r);
		run_begin_pass(r, first);
		r->searches = r->careful = true;
		r->searched = c;
		TRY(run_open_input(r, fault)); /* where that fails, the process ends */
		TRY(run_fold_input(r, fault));
		status = values_search_end_pass(&search, moments_cell(&r->total.partial.columns[c].moments, CELL_VALUES));
		progress_pass_end();
		total_free(&r->total);
		free_printing(r);
		query_free(&r->query);
		input_close(r->input);
		free(r);
	}
	values_search_end(&search);
	return status;
}

enum status run_find_ranks(struct run *r, struct fault *fault)
{
	enum status status = ranks_list(&r->query, &r->total.partial, &r->ranks);
	bool dropped = values_are_dropped();

	if (status == STATUS_OK && !dropped)
		status = ranks_find(&r->query, &r->total.partial, ranks_nthreads(&r->query), r->ranks);
	if ((status == STATUS_GPU || values_are_dropped()) && r->is_repeatable) {
		dropped = true; /* with the GPU, on which they were */
		status = STATUS_OK;
	}
	TRY(status);
	while (dropped && r->ranks) {
		for (size_t c = 0; c < r->query.plan.ncolumns; c++)
			if (r->ranks[c].nwanted)
				TRY(search_column(r, c, &r->ranks[c], fault));
		TRY(ranks_advance(r->ranks, &r->total.partial, &dropped));
	}
	return STATUS_OK;
}

/* Explains that memory ran out because of the limit, if it did. */
static void explain_memory(const struct run *r, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (fault->status != STATUS_NO_MEMORY || !memory_was_refused())
		return;
	snprintf(words, sizeof words, "%" PRIu64 " bytes", memory_limit_nbytes());
	fault_set(fault, STATUS_MEMORY_LIMIT, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy, "--memory SIZE with more%s",
		 r->query.plan.sorter || r->total.rows ? ", or fewer records"
		 : r->is_repeatable   ? ""
				      : ", or a file instead of a pipe");
}

bool run_is_repeated(enum status status, int npasses)
{
	return npasses < 3 && (status == STATUS_MISGUESSED || status == STATUS_GPU_LOST);
}

/* Makes another pass without guesses, and without GPUs if fault is STATUS_GPU_LOST. */
static enum status process_again(struct run *r, const struct run *before, struct fault *fault)
{
	run_begin_pass(r, before);
	r->before = before;
	r->careful = true;
	if (fault->status == STATUS_GPU_LOST) {
		r->options.device = DEVICE_CPU;
		output_repeat(); /* some groups may have been printed */
	}
	memset(fault, 0, sizeof *fault);
	return run_process(r, fault);
}

enum status run_whole(struct run **r, struct fault *fault)
{
	enum status status;

	(*r)->stdin_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
	status = fault_complete(fault, run_process(*r, fault));
	for (int npasses = 1; run_is_repeated(status, npasses); npasses++) {
		struct run *again = calloc(1, sizeof *again);
		if (!again)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		status = fault_complete(fault, process_again(again, *r, fault));
		*r = again;
	}
	return status;
}

bool run_has_ended(const struct run *r)
{
	while (r && r->all_ended)
		r = r->before;
	return !r;
}

void run_explain_fault(struct run *r, struct fault *fault)
{
	const char *remedy;

	explain_memory(r, fault);
	explain_taken(&r->options, fault);
	query_explain(&r->query, fault);
	explain_part(r, fault);
	remedy = status_remedy(fault->status); /* where no better one is known; not --invalid skip if it is given already */
	if (!*fault->remedy && !(r->options.invalid == INVALID_SKIP && strstr(remedy, "--invalid skip")))
		strcpy(fault->remedy, remedy);
}

/* Lists the columns there are. A first record with text that was not taken for a header says more than col1, col2. */
static void list_columns(const struct run *r, const char *unknown)
{
	const struct header *h = &r->query.header;
	const struct first_record *first = &h->record[0];
	const size_t n = h->nnames > h->nfields ? h->nnames : h->nfields; /* with --union, more than the first file has */
	char **texts = calloc(n + 1, sizeof *texts);
	const char **computed = calloc(r->query.nlets + 1, sizeof *computed);
	bool has_text = false;

	for (size_t i = 0; texts && i < first->nfields && i < h->nfields; i++) {
		texts[i] = *first->values[i].text && !first->values[i].has_nul ? first->values[i].text : NULL;
		has_text |= !first->values[i].is_missing && !first->values[i].is_number;
	}
	for (size_t k = 0; computed && k < r->query.nlets; k++)
		computed[k] = r->query.lets[k].name;
	message_columns(!h->present && r->options.header == HEADER_AUTO && has_text ? texts : h->names, n, computed,
			computed ? r->query.nlets : 0, unknown);
	free(computed);
	free(texts);
}

int run_message_fault(const struct run *r, const struct fault *fault)
{
	int exit_status = message_fault(fault);

	if (fault->status == STATUS_UNKNOWN_COLUMN)
		list_columns(r, fault->detail);
	return exit_status;
}

void run_close(struct run *r)
{
	if (r->input)
		input_close(r->input);
	r->input = NULL;
}

void run_free(struct run *r)
{
	ranks_free(r->ranks, r->query.plan.ncolumns);
	total_free(&r->total);
	group_store_free(r->query.plan.groups);
	sorter_free(r->query.plan.sorter);
	free_printing(r);
	query_free(&r->query);
	run_close(r);
	merge_free(&r->merge);
	curve_free(&r->curve);
	row_format_free(&r->row_format);
	table_rows_free(&r->rows);
	options_free(&r->options);
}
