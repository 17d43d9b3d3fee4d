/* SPDX-License-Identifier: MIT
 *
 * explain.c - says what would be done instead of doing it: see run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "csv/word_layout.h"
#include "fold/result.h"
#include "io/output.h"
#include "io/source.h"

#define NSHOWN 20 /* of files, columns and results */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(output_stream(), format, arguments);
	va_end(arguments);
}

static void say_text(const char *text)
{
	utf8_print(output_stream(), text, strlen(text));
}

/* Begins an item of a list; false where the list is long enough. */
static bool say_item(size_t i)
{
	if (i < NSHOWN)
		say("%s", i ? ", " : "");
	return i < NSHOWN;
}

static void end_list(size_t n)
{
	if (n > NSHOWN)
		say(" and %zu more", n - NSHOWN);
	say("\n");
}

/* ---- the input ---- */

static void say_file(const struct run *e, int file)
{
	const struct source *source = input_source(e->input, file);
	uint64_t nbytes = source_nbytes_stored(source);
	const char *codec = source->codec ? source->codec->name : NULL;

	say("input:   ");
	say_text(input_name(e->input, file));
	if (nbytes == UINT64_MAX)
		say(codec ? ", %s of a size that is not known" : ", of a size that is not known", codec);
	else
		say(codec ? ", %" PRIu64 " bytes of %s" : ", %" PRIu64 " bytes", nbytes, codec);
	say("\n");
}

static void say_byte(const char *before, char byte, const char *after)
{
	say("%s'", before);
	utf8_print(output_stream(), &byte, 1);
	say("'%s", after);
}

static void say_dialect(const struct csv_dialect *d)
{
	say("text:    ");
	if (d->whitespace)
		say(d->layout && !d->layout->by_words ? "fields stand below the header's names" : "fields end at blanks");
	else
		say_byte("fields end at ", d->delimiter, "");
	if (d->quote)
		say_byte(", and ", d->quote, " quotes them");
	if (d->trim)
		say(", without the blanks around them");
	if (d->escape)
		say_byte(", ", d->escape, " escapes a byte");
	if (d->comment)
		say_byte(", ", d->comment, " begins a comment");
	say("\n");
}

/* ---- the columns ---- */

/* Why the first record is taken for a header, or for data. */
static void say_why(const struct run *e)
{
	static const char *const words[] = {
		[HEADER_AS_SAID] = "as --header says",
		[HEADER_ALL_NUMBERS] = "for all its values are numbers",
		[HEADER_IS_NAMED] = "for a column is asked for by name",
		[HEADER_ABOVE_NUMBER] = "for '",
		[HEADER_DOUBTFUL] = "though it may be data",
	};
	const struct header *h = &e->query.header;

	say("%s", words[h->reason]);
	if (h->reason == HEADER_ABOVE_NUMBER) {
		say_text(h->above_number->text);
		say("' is above a number");
	}
}

static void say_header(const struct run *e)
{
	const struct header *h = &e->query.header;

	if (h->nfields == 0) {
		say("header:  none, the input has no records\n");
		return;
	}
	say(h->present ? "header:  line %" PRIu64 " of " : "header:  none in line %" PRIu64 " of ",
	    h->line_number);
	say_text(input_name(e->input, h->file));
	say(", ");
	say_why(e);
	say("\n");
}

static void say_column(const struct header *h, size_t field)
{
	if (field < h->nnames && h->names[field])
		say_text(h->names[field]);
	else
		say("col%zu", field + 1);
}

static void say_columns(const struct run *e)
{
	const struct header *h = &e->query.header;

	if (h->nfields == 0)
		return;
	say("columns: %zu: ", h->nnames);
	for (size_t i = 0; i < h->nnames && say_item(i); i++)
		say_column(h, i);
	end_list(h->nnames);
}

/* What `*` leaves out. */
static void say_star(const struct run *e)
{
	const struct header *h = &e->query.header;
	size_t n = 0;

	if (!e->query.star)
		return;
	say("'*':     columns of numbers, by the first record%s; not: ",
	    h->present ? " below the header" : "");
	for (size_t i = 0; i < h->nfields; i++)
		if (query_starts_unfit(&e->query, &e->options, (uint32_t)i) && say_item(n++))
			say_column(h, i);
	if (n == 0)
		say("none");
	end_list(n);
}

/* What a column's values are taken for, if not for numbers. */
static const char *use_of(const struct plan *plan, size_t at)
{
	const struct plan_column *c = &plan->columns[at];

	if (plan->first_timed < plan->nwindows && plan->over == at)
		return " (times)";
	if (c->let)
		return " (computed)";
	if (c->needs)
		return c->parses && !c->takes_text ? "" : " (as text)";
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_FIELD && plan->new_columns[i].column == at)
			return " (to print)";
	if (c->is_key)
		return " (for the groups)";
	for (size_t i = 0; i < plan->nsort_keys; i++)
		if (plan->sort_keys[i].column == at)
			return " (to sort by)";
	for (size_t i = 0; i < plan->nsort_groups; i++)
		if (plan->sort_groups[i] == at)
			return " (for the first records)";
	for (size_t p = 0; p < plan->npredicates; p++)
		for (size_t i = 0; i < plan->predicates[p]->names.nselectors; i++)
			if (plan->predicates[p]->columns[i] == at)
				return " (for a condition)";
	return " (for a computed column)";
}

static void say_read(const struct run *e)
{
	const struct plan *plan = &e->query.plan;

	say("reads:   ");
	for (size_t c = 0; c < plan->ncolumns && say_item(c); c++) {
		if (plan->columns[c].let)
			say_text(plan->columns[c].name);
		else
			say_column(&e->query.header, plan->columns[c].field);
		say("%s", use_of(plan, c));
	}
	if (plan->ncolumns == 0)
		say("no column");
	if (plan->nranks > 0)
		say(" (the input is read twice: a rank needs all values before the first record)");
	else if (e->query.naggregates > 0)
		say(" (the input is read twice: aggregates need all records before the first)");
	end_list(plan->ncolumns);
}

/* ---- what is printed ---- */

/* Says what was given as an option's argument, if it was. */
static void say_given(const char *before, const char *argument)
{
	if (!argument)
		return;
	say("%s", before);
	say_text(argument);
	say("\n");
}

static enum status say_results(const struct run *e)
{
	const struct query *q = &e->query;

	say(picture_is_asked(&e->options.picture) ? "draws:   " : "prints:  ");
	if (q->summary || q->matrix) {
		say("a line about each column%s%s\n", q->matrix ? ", a matrix of " : "",
		    q->matrix ? operation_name(q->uses[0].operation) : "");
		return STATUS_OK;
	}
	if (q->plan.emits && !q->plan.only)
		say("each record%s%s", q->plan.nsort_keys ? ", sorted" : "", q->nresults ? ", and " : "");
	for (size_t i = 0; i < q->nshown && say_item(i); i++) {
		char *name = result_name(q, &q->results[i]);
		NEED(name);
		say_text(name);
		free(name);
	}
	end_list(q->nshown);
	return STATUS_OK;
}

static void say_devices(const struct device_choice *devices)
{
	say("devices: ");
	say_text(devices->why);
	for (size_t i = 0; i < devices->npools; i++) {
		const struct worker_pool *p = &devices->pools[i];
		say(i ? ", " : "; ");
		if (p->ops == &worker_cpu)
			say("%d CPU thread%s", p->nthreads, p->nthreads == 1 ? "" : "s");
		else
			say("gpu:%d", p->setup.device);
	}
	say("\n");
}

enum status explain_print(const struct run *e)
{
	int nfiles = input_nfiles(e->input);

	for (int i = 0; i < nfiles && i < NSHOWN; i++)
		say_file(e, i);
	if (nfiles > NSHOWN)
		say("input:   and %d more\n", nfiles - NSHOWN);
	say_dialect(&e->query.plan.dialect);
	say_header(e);
	say_columns(e);
	say_star(e);
	say_read(e);
	say_given("records: those where ", e->options.where);
	say_given(e->options.runs ? "groups:  of neighbours with equal " : "groups:  of equal ", e->options.by);
	say_given("         having ", e->options.having);
	TRY(say_results(e));
	say_devices(&e->devices);
	return STATUS_OK;
}
