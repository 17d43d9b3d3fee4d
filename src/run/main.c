/* SPDX-License-Identifier: MIT
 *
 * main.c - the whole program: options, input, query, devices, engine, result.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/fd.h"
#include "engine/engine.h"
#include "engine/total.h"
#include "fold/result.h"
#include "io/input.h"
#include "io/message.h"
#include "io/output.h"
#include "io/table.h"
#include "query/options.h"
#include "query/query.h"
#include "query/remedy.h"
#include "run/device_choice.h"
#include "run/left_out.h"

/* What one pass over the input owns. */
struct run {
	struct options options;
	off_t stdin_offset; /* of standard input at the start; -1: it cannot seek */
	struct input *input;
	struct query query;
	struct device_choice devices;
	struct total total;
	bool careful;   /* fold no chunk on a guess: the pass before guessed wrong */
	bool all_ended; /* every thread of the engine has ended */
};

/* Says what was guessed, where a guess may be wrong. */
static void report_guesses(const struct run *r)
{
	const struct header *h = &r->query.header;
	char delimiter = query_other_delimiter(&r->query);

	if (header_may_be_data(h))
		message_name_guessed(input_name(r->input, h->file), h->line_number, h->guess->text);
	if (r->query.summary && delimiter)
		message_note("warning: there is one column, and it holds '%s': try %s",
			     delimiter == '\t' ? "\\t" : (const char[]){delimiter, '\0'},
			     remedy_delimiter_option(delimiter));
}

static enum status print_result(const struct run *r, struct fault *fault)
{
	struct table table;
	enum status status;

	if (r->query.plan.emits)
		return STATUS_OK; /* the engine has printed the records */
	status = result_table(&r->query, &r->total.partial, &table, fault);
	if (status != STATUS_OK)
		return status;
	status = table_print(&table, result_format(&r->query, &table, r->options.format), fault);
	table_free(&table);
	return status;
}

/* Prints the result, and what was left out for it. If that is too much, no result is printed;
 * records have been printed before. */
static enum status finish(const struct run *r, struct fault *fault)
{
	const struct left_out left_out = {&r->options, &r->query, r->input, &r->total};
	bool emits = r->query.plan.emits;
	enum status status = emits ? STATUS_OK : left_out_check(&left_out, fault);

	if (status == STATUS_OK)
		status = print_result(r, fault);
	if (status == STATUS_OK)
		status = output_close(fault);
	if (status == STATUS_OK && emits)
		status = left_out_check(&left_out, fault);
	if (status == STATUS_OK) {
		left_out_report(&left_out);
		report_guesses(r);
		devices_report_failures(&r->devices);
	}
	return status;
}

/* What compressed data cost all threads together. */
static void report_sections(const struct run *r)
{
	struct section_totals totals = input_sections(r->input);
	const double *s = totals.stage_s;

	if (totals.nsections)
		message_note("gzip: sections %llu, begun ahead of their turn %llu; seconds of all threads: "
			     "find %.3f, symbols %.3f, wait %.3f, bytes %.3f, again %.3f, resolve %.3f",
			     (unsigned long long)totals.nsections, (unsigned long long)totals.nright,
			     s[SECTION_FIND], s[SECTION_GUESS], s[SECTION_WAIT], s[SECTION_GO_ON],
			     s[SECTION_REDO], s[SECTION_RESOLVE]);
}

/* Folds the input as the query says, and prints the result. */
static enum status compute(struct run *r, struct fault *fault)
{
	enum status status = devices_choose(&r->devices, &r->options, &r->query, r->input, fault);

	if (status == STATUS_OK)
		devices_set_up_input(&r->devices, &r->query.plan, r->input);
	if (status == STATUS_OK && total_init(&r->total, &r->query.plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK && r->query.plan.emits) {
		fd_widen_pipe(STDOUT_FILENO);
		status = result_heading(&r->query, fault);
	}
	if (status == STATUS_OK) {
		message_progress(&engine_nbytes_begun, input_nbytes_left(r->input));
		status = engine_run(&r->query.plan, r->input, r->devices.pools, r->devices.npools,
				    &r->total, !r->careful && input_is_repeatable(r->input), &r->all_ended,
				    fault);
	}
	return status == STATUS_OK ? finish(r, fault) : status;
}

static enum status process(struct run *r, struct fault *fault)
{
	double begin_s = clock_s();
	enum status status = input_open(&r->input, r->options.paths, r->options.npaths,
					 r->options.nthreads, fault);

	if (status == STATUS_OK && (r->options.nthreads ? r->options.nthreads : cores_count()) > 1)
		status = input_share_decoding(r->input, fault);
	if (status == STATUS_OK)
		status = query_make(&r->query, &r->options, r->input, fault);
	if (status == STATUS_OK && r->options.columns) {
		result_columns(&r->query);
		return output_close(fault);
	}
	if (status == STATUS_OK)
		status = compute(r, fault);
	if (status == STATUS_OK && r->options.verbose) {
		report_sections(r);
		devices_report(&r->devices, clock_s() - begin_s);
	}
	return status;
}

/* Returns whether there is nothing to do: no operation, no file, and a terminal as input. */
static bool is_idle(const struct options *o)
{
	return o->nuses == 0 && !o->where && o->npaths == 1 && !strcmp(o->paths[0], "-") &&
	       isatty(STDIN_FILENO);
}

static enum status run(struct run *r, int argc, char **argv, struct fault *fault)
{
	enum status status = options_parse(&r->options, argc, argv, fault);

	if (status != STATUS_OK)
		return status;
	if (option_print_about(&options_table, r->options.about))
		return output_close(fault);
	if (is_idle(&r->options))
		return fault_set(fault, STATUS_USAGE, 0, "usage: gpustat [OPTION]... [FILE]...: "
							 "no operation, and nothing to read");
	r->stdin_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return process(r, fault);
}

/* Makes a second pass without guesses. It has a struct run of its own, because threads of the first
 * pass may still use theirs. */
static enum status run_again(struct run *r, const struct run *before, struct fault *fault)
{
	r->options = before->options;
	r->careful = true;
	if (before->stdin_offset >= 0)
		lseek(STDIN_FILENO, before->stdin_offset, SEEK_SET);
	memset(fault, 0, sizeof *fault);
	engine_nbytes_begun = 0;
	return process(r, fault);
}

int main(int argc, char **argv)
{
	static struct run runs[2] = {{.all_ended = true}, {.all_ended = true}};
	static struct fault fault;
	struct run *r = &runs[0];
	enum status status;

	message_progress(&engine_nbytes_begun, UINT64_MAX);
	status = run(r, argc, argv, &fault);

	if (status == STATUS_MISGUESSED) {
		r = &runs[1];
		status = run_again(r, &runs[0], &fault);
	}
	if (status != STATUS_OK) {
		int exit_status;
		query_explain(&r->query, &fault);
		exit_status = message_fault(&fault);
		if (fault.status == STATUS_UNKNOWN_COLUMN)
			message_columns(r->query.header.names, r->query.header.nfields,
					fault.detail);
		_exit(exit_status); /* other threads may still be inside a library */
	}
	if (!runs[0].all_ended || !runs[1].all_ended)
		_exit(fflush(stdout) ? 1 : 0); /* a thread is still opening a GPU that is not needed */
	total_free(&r->total);
	query_free(&r->query);
	input_close(r->input);
	options_free(&r->options);
	return 0;
}
