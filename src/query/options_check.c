/* SPDX-License-Identifier: MIT
 *
 * options_check.c - which options go together.
 */
#include "query/options_check.h"

#include <stdlib.h>
#include <string.h>

#include "number/decimal.h"
#include "query/operation_argument.h"
#include "query/options_ahead.h"
#include "query/options_choice.h"

/* ---- the dialect and the notation ---- */

/* Whether a byte can be part of a number, which is read without a look at quotes and escapes. */
static bool is_of_number(const struct options *o, char byte)
{
	return decimal_is_digit(byte) || (byte && strchr("+-.eE", byte)) ||
	       byte == o->notation.decimal || byte == *o->notation.thousands;
}

static bool is_line_end(char byte)
{
	return byte == '\r' || byte == '\n';
}

/* With --whitespace. */
static enum status check_words(struct options *o, struct fault *fault)
{
	const char *other = o->has_delimiter	? "delimiter"
			    : o->has_quote	? "quote"
			    : o->dialect.escape ? "escape"
			    : o->dialect.trim	? "trim"
						: NULL;

	if (other)
		return option_fault(fault, "--whitespace: fields end at blanks and nothing quotes them: "
				    "--%s has no meaning then", other);
	if (decimal_is_blank(o->dialect.comment))
		return option_fault(fault, "--comment: a blank separates fields");
	o->dialect.delimiter = ' ';
	o->dialect.quote = '\0';
	return STATUS_OK;
}

/* Checks that the bytes of the dialect can be told apart. */
static enum status check_dialect(struct options *o, struct fault *fault)
{
	const struct csv_dialect *d = &o->dialect;
	const struct {
		const char *name;
		char byte;
		bool in_fields;
	} bytes[] = {{"delimiter", d->delimiter, false}, {"quote", d->quote, true},
		     {"escape", d->escape, true}, {"comment", d->comment, false}};

	if (is_line_end(d->delimiter) || d->delimiter == d->quote)
		return option_fault(fault, "--delimiter: a quote or a line end cannot separate fields");
	if (d->whitespace)
		return check_words(o, fault);
	if (d->trim && d->delimiter == ' ')
		return option_fault(fault, "--trim: a blank separates fields: say --whitespace if a run of "
				    "blanks does");
	for (size_t i = 1; i < sizeof bytes / sizeof *bytes; i++) {
		if (bytes[i].byte == '\0')
			continue;
		if (d->trim && decimal_is_blank(bytes[i].byte))
			return option_fault(fault, "--%s: with --trim, a blank is no part of a field",
					    bytes[i].name);
		if (is_line_end(bytes[i].byte))
			return option_fault(fault, "--%s: a line end has a meaning already", bytes[i].name);
		if (bytes[i].in_fields && is_of_number(o, bytes[i].byte))
			return option_fault(fault, "--%s: '%c' can be part of a number", bytes[i].name,
					    bytes[i].byte);
		for (size_t j = 0; j < i; j++)
			if (bytes[i].byte == bytes[j].byte)
				return option_fault(fault, "--%s and --%s are the same byte",
						    bytes[j].name, bytes[i].name);
	}
	return STATUS_OK;
}

/* Checks that numbers can be written in the notation, and in the dialect. */
static enum status check_notation(const struct options *o, struct fault *fault)
{
	const struct csv_dialect *d = &o->dialect;

	if (notation_fault(&o->notation))
		return option_fault(fault, "%s", notation_fault(&o->notation));
	if (o->notation.decimal == d->delimiter && !d->quote && !d->escape && !d->whitespace)
		return option_fault(fault, "the delimiter '%c' is the decimal point as well, and with --quote none "
				    "no field can hold it: another --decimal, or a --quote", d->delimiter);
	if (o->split_number && (o->notation.decimal == ',' || !strcmp(o->notation.thousands, ","))) {
		const char *number = o->split_number + strspn(o->split_number, " \t");
		size_t whole = strcspn(number, ","), nbytes = whole + 1 + strcspn(number + whole + 1, ",");
		int shown = nbytes < 32 ? (int)nbytes : 32;
		return option_fault(fault, "--missing: '%.*s' is one number with --%s , (write '\"%.*s\"', or a blank after the comma for "
				    "two)", shown, number, o->notation.decimal == ',' ? "decimal" : "thousands", shown, number);
	}
	return STATUS_OK;
}

/* ---- operations ---- */

/* Whether a number can hold the delimiter. */
static bool separates_numbers(const struct options *o)
{
	char d = o->dialect.delimiter;

	return d == '-' || d == o->notation.decimal || decimal_is_digit(d);
}

static bool is_let(const struct options *o, size_t i)
{
	return operation_kind(o->uses[i].operation) == OPERATION_LET;
}

static size_t count_lets(const struct options *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nuses; i++)
		n += is_let(o, i);
	return n;
}

/* The n-th use, from 0, that is not --let; NULL: there are not so many. */
static const struct operation_use *nth_operation(const struct options *o, size_t n)
{
	for (size_t i = 0; i < o->nuses; i++)
		if (!is_let(o, i) && n-- == 0)
			return &o->uses[i];
	return NULL;
}

/* The name of the first operation that is not the i-th, nor --let. */
static const char *other_name(const struct options *o, size_t i)
{
	size_t other = 0;

	while (other == i || is_let(o, other))
		other++;
	return o->uses[other].name;
}

/* What is asked of the records. Names are those of options; NULL: none. */
struct asked_operations {
	size_t noperations; /* without --let */
	const char *reduce, *column; /* the last that prints a result, that prints records */
	const char *change, *window; /* the last of --delta and --ratio, that looks back */
	bool running, selects, drops;
	bool writes; /* a number as a field */
};

static void note_operation(struct asked_operations *a, const struct operation_use *use)
{
	enum operation operation = use->operation;
	enum operation_kind kind = operation_kind(operation);
	const char *name = use->name;
	bool emits = kind == OPERATION_RUNNING || kind == OPERATION_OFFSET || kind == OPERATION_FIELDS;

	*(emits ? &a->column : &a->reduce) = name;
	a->writes |= emits && kind != OPERATION_FIELDS;
	a->drops |= operation == OPERATION_DROP;
	a->selects |= operation == OPERATION_SELECT;
	a->running |= kind == OPERATION_RUNNING || operation == OPERATION_ROW_NUMBER;
	if (operation == OPERATION_DELTA || operation == OPERATION_RATIO)
		a->change = name;
	if (operation_is_window(operation))
		a->window = name;
}

static struct asked_operations find_asked(struct options *o)
{
	size_t nlets = count_lets(o);
	struct asked_operations a = {.noperations = o->nuses - nlets,
				     .writes = nlets > 0}; /* it may be a key, or in a condition, as a field */

	for (size_t i = 0; i < o->nuses; i++) {
		o->selects |= operation_kind(o->uses[i].operation) == OPERATION_FIELDS;
		if (!is_let(o, i))
			note_operation(&a, &o->uses[i]);
	}
	if (!a.reduce && !a.column)
		a.column = nlets > 0 ? "let" : o->nrenames > 0 ? "rename" : options_choice_name(o);
	return a;
}

/* Checks matrices and tables, beside which nothing is printed. */
static enum status check_alone(const struct options *o, const struct asked_operations *a, struct fault *fault)
{
	for (size_t i = 0; i < o->nuses; i++) {
		const char *name = o->uses[i].name;
		if (!operation_use_is_matrix(&o->uses[i]))
			continue;
		if (o->uses[i].operation == OPERATION_WMEAN)
			return option_fault(fault, "--%s: '*' is not a pair of columns: x:w", name);
		if (a->noperations > 1)
			return option_fault(fault, "--%s '*' prints a matrix: no other result fits beside it", name);
	}
	for (size_t i = 0; i < o->nuses; i++)
		if (operation_kind(o->uses[i].operation) == OPERATION_TABLE && a->noperations > 1)
			return option_fault(fault, "--%s prints a table of its own: it cannot go with --%s",
					    o->uses[i].name, other_name(o, i));
	return STATUS_OK;
}

/* Checks what says which fields are printed. */
static enum status check_fields(const struct options *o, const struct asked_operations *a, struct fault *fault)
{
	if (a->selects && a->drops)
		return option_fault(fault, "--select says which columns are printed, --drop which are not: not both");
	if (o->nrenames > 0 && a->reduce)
		return option_fault(fault, "--rename is for printed records: --%s prints %s", o->by ? "by" : a->reduce,
				    o->by ? "groups" : "a result");
	if (o->only && o->selects)
		return option_fault(fault, "--only: --%s says already what is printed", a->selects ? "select" : "drop");
	return STATUS_OK;
}

/* Checks that either results are printed or records, and --all and --only. */
static enum status check_results(const struct options *o, const struct asked_operations *a, struct fault *fault)
{
	if (a->reduce && a->column)
		return option_fault(fault, "--%s prints one value and --%s prints every record: not both", a->reduce,
				    a->column);
	if (o->all && (a->reduce || o->emits))
		return option_fault(fault, "--all is for the summary: --%s asks for something else",
				    a->reduce ? a->reduce : a->column ? a->column : "where");
	if (o->only && !(a->column && a->writes))
		return option_fault(fault, "--only: there is no new column to print");
	return STATUS_OK;
}

static enum status check_exclusive(const struct asked_operations *a, struct fault *fault)
{
	if (a->change)
		return option_fault(fault, "--exclusive: --%s has no value before the record's own", a->change);
	if (a->window)
		return option_fault(fault, "--exclusive is for running totals: --%s says itself which records "
				    "it looks back on", a->window);
	if (!a->running)
		return option_fault(fault, "--exclusive: there is no running total");
	return STATUS_OK;
}

/* Whether a new column is one of groups. */
static bool has_groups(const struct options *o)
{
	for (size_t i = 0; i < o->nuses; i++) {
		enum operation_kind kind = operation_kind(o->uses[i].operation);
		if (kind == OPERATION_RUNNING || kind == OPERATION_OFFSET)
			return true;
	}
	return false;
}

/* Checks the options that are for results where records are printed. */
static enum status check_records(const struct options *o, const struct asked_operations *a, struct fault *fault)
{
	const char *name = a->column ? a->column : "where";

	if (o->sort || o->top)
		return option_fault(fault, "--%s is for results: --%s prints records as they came", o->sort ? "sort" : "top",
				    name);
	if (o->by && !has_groups(o))
		return option_fault(fault, "--by is for results and running columns: --%s prints records as they came: leave out "
				    "--by", name);
	if (o->format != FORMAT_AUTO)
		return option_fault(fault, "--format is for results: --%s prints records as they came", name);
	if (o->dialect.whitespace && o->ragged == RAGGED_ALLOW)
		return option_fault(fault, "--whitespace: a field that a record lacks cannot be printed between blanks: "
				    "--ragged allow is for results then, not for --%s", name);
	return STATUS_OK;
}

/* Checks that the operations and the other options go together, and sets o->emits. The first that does not is told. */
static enum status check_operations(struct options *o, struct fault *fault)
{
	const struct asked_operations a = find_asked(o);
	enum status status = check_alone(o, &a, fault);

	if (status == STATUS_OK)
		status = options_check_choice(o, a.reduce, fault);
	if (status == STATUS_OK)
		status = check_fields(o, &a, fault);
	o->emits = a.column || (o->where && !a.reduce);
	if (status == STATUS_OK)
		status = check_results(o, &a, fault);
	if (status == STATUS_OK && o->exclusive)
		status = check_exclusive(&a, fault);
	if (status == STATUS_OK && o->max_invalid.text && o->invalid != INVALID_SKIP)
		status = option_fault(fault, "--max-invalid: nothing is left out without --invalid skip");
	if (status == STATUS_OK && o->emits)
		status = check_records(o, &a, fault);
	if (status == STATUS_OK && a.writes && !o->dialect.quote && separates_numbers(o))
		status = option_fault(fault, "--quote none: the numbers of a new column can hold the "
				      "delimiter '%c': nothing can quote them", o->dialect.delimiter);
	return status;
}

/* ---- pictures ---- */

static const char *picture_name(const struct options *o)
{
	return o->picture.plots ? "plot" : "svg";
}

/* Of the new columns only one can be drawn, and only if it is of values. */
static enum status check_line(const struct options *o, struct fault *fault)
{
	const struct operation_use *first = nth_operation(o, 0), *second = nth_operation(o, 1);

	if (!first || operation_kind(first->operation) != OPERATION_RUNNING)
		return option_fault(fault, "--%s draws groups, a histogram or one running column: --%s prints "
				    "records", picture_name(o),
				    first ? first->name : o->where ? "where" : "let");
	if (first->operation == OPERATION_LAG || first->operation == OPERATION_FILL_DOWN)
		return option_fault(fault, "--%s draws numbers: --%s prints fields as they are", picture_name(o),
				    first->name);
	if (second)
		return option_fault(fault, "--%s draws one running column: not --%s and --%s", picture_name(o),
				    first->name, second->name);
	if (o->by)
		return option_fault(fault, "--%s draws one line, not one for each group: leave out --by",
				    picture_name(o));
	return STATUS_OK;
}

/* Checks that what is asked for can be drawn. */
static enum status check_picture(const struct options *o, struct fault *fault)
{
	const struct operation_use *first;
	bool to_stdout = o->picture.svg && !strcmp(o->picture.svg, PICTURE_STDOUT);

	if (!picture_is_asked(&o->picture))
		return STATUS_OK;
	if (o->picture.svg && !*o->picture.svg)
		return option_fault(fault, "--svg: '' is no file");
	if (to_stdout && (o->picture.plots || o->format != FORMAT_AUTO))
		return option_fault(fault, "--svg -: --%s is for standard output as well",
				    o->picture.plots ? "plot" : "format");
	if (o->emits)
		return check_line(o, fault);
	first = nth_operation(o, 0);
	if (o->by || (first && operation_kind(first->operation) == OPERATION_TABLE))
		return STATUS_OK;
	return option_fault(fault, "--%s draws groups, a histogram or one running column: there is %s%s",
			    picture_name(o), first ? "no --by beside --" : "none of them",
			    first ? first->name : "");
}

/* Without a result, groups are counted. Errors: STATUS_NO_MEMORY. */
static enum status count_groups(struct options *o, struct fault *fault)
{
	struct operation_use *grown;

	if (o->nuses > count_lets(o))
		return STATUS_OK;
	grown = realloc(o->uses, (o->nuses + 1) * sizeof *grown);
	if (!grown)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	o->uses = grown;
	o->uses[o->nuses++] = (struct operation_use){.operation = OPERATION_COUNT_RECORDS, .title = "count",
						     .name = operation_name(OPERATION_COUNT_RECORDS)};
	return STATUS_OK;
}

/* What goes with --by, and only with it. */
static enum status check_groups(struct options *o, struct fault *fault)
{
	if (!o->by && (o->sort || o->top))
		return option_fault(fault, "--%s is for groups: there is no --by",
				    o->sort ? "sort" : "top");
	if (!o->by)
		return STATUS_OK;
	if (o->all)
		return option_fault(fault, "--all is for the summary: --by asks for something else");
	for (size_t i = 0; i < o->nuses; i++) {
		enum operation operation = o->uses[i].operation;
		if (operation_kind(operation) == OPERATION_TABLE || operation_use_is_matrix(&o->uses[i]))
			return option_fault(fault, "--%s prints a table of its own: it cannot go with --by",
					    o->uses[i].name);
	}
	return count_groups(o, fault);
}

/* An option that is for printed records, though it is no operation; or NULL. */
static const char *records_option(const struct options *o)
{
	return options_choice_name(o) ? options_choice_name(o) : o->choice.has_seed ? "seed" : o->nrenames ? "rename" : NULL;
}

/* Names only: what another option would do to records or results is not done. */
static enum status check_columns(const struct options *o, struct fault *fault)
{
	if (o->explain)
		return option_fault(fault, "--columns prints names, --explain what would be done: not both");
	if (picture_is_asked(&o->picture))
		return option_fault(fault, "--columns prints names: there is nothing for --%s to draw",
				    picture_name(o));
	if (o->nuses || o->where || o->by || o->format != FORMAT_AUTO)
		return option_fault(fault, "--columns prints names, a line each: no operation and no "
				    "--format goes with it");
	if (records_option(o) || o->only || o->all)
		return option_fault(fault, "--columns prints the names in the input, a line each: leave out --%s",
				    o->only ? "only" : o->all ? "all" : records_option(o));
	return STATUS_OK;
}

/* Whether a running column, or the number of a record, goes on from record to record. */
static bool has_running(const struct options *o)
{
	for (size_t i = 0; i < o->nuses; i++)
		if (operation_kind(o->uses[i].operation) == OPERATION_RUNNING ||
		    o->uses[i].operation == OPERATION_ROW_NUMBER)
			return true;
	return false;
}

/* --save-state and --from-state. */
static enum status check_state(const struct options *o, struct fault *fault)
{
	const char *name = o->save_state ? "save-state" : o->from_state ? "from-state" : NULL;

	if (!name)
		return STATUS_OK;
	if (o->save_state && !*o->save_state)
		return option_fault(fault, "--save-state: '' is no file");
	if (o->save_state && !strcmp(o->save_state, "-"))
		return option_fault(fault, "--save-state: '-' is standard output, which has the results: name a file, or ./- for one of "
				    "that name");
	if (o->partial || o->merge)
		return option_fault(fault, "--%s: --%s keeps all that a state would", name,
				    o->partial ? "partial" : "merge");
	if (o->columns || o->explain)
		return option_fault(fault, "--%s: --%s prints no result", name,
				    o->columns ? "columns" : "explain");
	if (o->choice.head > 0)
		return option_fault(fault, "--%s: with --head, not all records are read: leave it out", name);
	for (size_t i = 0; i < o->nuses; i++)
		if (operation_kind(o->uses[i].operation) == OPERATION_OFFSET &&
		    o->uses[i].operation != OPERATION_ROW_NUMBER)
			return option_fault(fault, "--%s: --%s counts in one input: leave it out", name,
					    o->uses[i].name);
	if (o->emits && !has_running(o))
		return option_fault(fault, "--%s: there is no running total, and no result", name);
	return STATUS_OK;
}

/* --partial, and --merge, whose query is that of the parts. */
static enum status check_parts(const struct options *o, struct fault *fault)
{
	const char *printing = o->format != FORMAT_AUTO		? "format"
			       : o->sort			? "sort"
			       : o->top				? "top"
			       : picture_is_asked(&o->picture)	? picture_name(o)
								: NULL;

	if ((o->partial || o->merge) && (o->columns || o->explain))
		return option_fault(fault, "--%s: --%s prints no result", o->columns ? "columns" : "explain",
				    o->partial ? "partial" : "merge");
	if (o->merge && records_option(o))
		return option_fault(fault, "--%s is for printed records, and --merge prints results: leave it out",
				    records_option(o));
	if (o->part.of && !o->partial)
		return option_fault(fault, "--part: a part of a file is written with --partial");
	if (o->part.of && o->npaths != 1)
		return option_fault(fault, "--part is of one file, and here are %d", o->npaths);
	if (o->partial && o->emits)
		return option_fault(fault, "--partial is for results: records are printed as they came");
	if (o->partial && printing)
		return option_fault(fault, "--%s is for what is printed: give it to --merge", printing);
	return STATUS_OK;
}

enum status options_check(struct options *o, struct fault *fault)
{
	enum status status = check_notation(o, fault);

	if (status == STATUS_OK)
		status = check_dialect(o, fault);
	if (status == STATUS_OK && o->columns)
		status = check_columns(o, fault);
	if (status == STATUS_OK && o->merge)
		status = check_state(o, fault);
	if (status == STATUS_OK && o->merge)
		return check_parts(o, fault);
	if (status == STATUS_OK)
		status = options_check_ahead(o, fault);
	if (status == STATUS_OK)
		status = check_groups(o, fault);
	if (status == STATUS_OK)
		status = check_operations(o, fault);
	if (status == STATUS_OK)
		status = check_state(o, fault);
	if (status == STATUS_OK)
		status = check_parts(o, fault);

	return status == STATUS_OK ? check_picture(o, fault) : status;
}
