/* SPDX-License-Identifier: MIT
 *
 * options_check.c - which options go together.
 */
#include "query/options_check.h"

#include <stdlib.h>
#include <string.h>

#include "number/decimal.h"

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
	for (size_t i = 1; i < sizeof bytes / sizeof *bytes; i++) {
		if (bytes[i].byte == '\0')
			continue;
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
		return option_fault(fault, "--decimal: '%c' is the delimiter, and with --quote none "
				    "no field can hold it", d->delimiter);
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
	return operation_name(o->uses[other].operation);
}

/* Checks that the operations and the other options go together, and sets o->emits. */
static enum status check_operations(struct options *o, struct fault *fault)
{
	const char *reduce = NULL, *column = NULL;
	const char *change = NULL;
	bool running = false, writes = false, selects = false, drops = false;
	size_t nlets = count_lets(o), n = o->nuses - nlets; /* n: operations beside them */

	for (size_t i = 0; i < o->nuses; i++) {
		enum operation_kind kind = operation_kind(o->uses[i].operation);
		const char *name = operation_name(o->uses[i].operation);
		if (operation_use_is_matrix(&o->uses[i]) && o->uses[i].operation == OPERATION_WMEAN)
			return option_fault(fault, "--%s: '*' is not a pair of columns: x:w", name);
		if (kind == OPERATION_LET)
			continue;
		if (operation_use_is_matrix(&o->uses[i]) && n > 1)
			return option_fault(fault, "--%s '*' prints a matrix: no other result fits "
					    "beside it", name);
		bool emits = kind == OPERATION_RUNNING || kind == OPERATION_OFFSET ||
			     kind == OPERATION_FIELDS;
		o->selects |= kind == OPERATION_FIELDS;
		writes |= emits && kind != OPERATION_FIELDS;
		drops |= o->uses[i].operation == OPERATION_DROP;
		selects |= o->uses[i].operation == OPERATION_SELECT;
		*(emits ? &column : &reduce) = operation_name(o->uses[i].operation);
		if (o->uses[i].operation == OPERATION_DELTA || o->uses[i].operation == OPERATION_RATIO)
			change = name;
		running |= kind == OPERATION_RUNNING || o->uses[i].operation == OPERATION_ROW_NUMBER;
	}
	for (size_t i = 0; i < o->nuses; i++)
		if (operation_kind(o->uses[i].operation) == OPERATION_TABLE && n > 1)
			return option_fault(fault, "--%s prints a table of its own: it cannot go with --%s",
					    operation_name(o->uses[i].operation), other_name(o, i));
	if (nlets > 0 && !reduce && !column)
		column = "let";
	writes |= nlets > 0; /* a number may be a key, or in a condition, as a field */
	if (o->nrenames > 0 && !reduce && !column)
		column = "rename";
	if (o->head > 0 && !reduce && !column)
		column = "head";
	if (o->head > 0 && reduce)
		return option_fault(fault, "--head is for printed records: --%s prints a result", reduce);
	if (selects && drops)
		return option_fault(fault, "--select says which columns are printed, --drop which are "
				    "not: not both");
	if (o->nrenames > 0 && reduce)
		return option_fault(fault, "--rename is for printed records: --%s prints a result", reduce);
	if (o->only && o->selects)
		return option_fault(fault, "--only: --%s says already what is printed",
				    selects ? "select" : "drop");
	o->emits = column || (o->where && !reduce);
	if (reduce && column)
		return option_fault(fault, "--%s prints one value and --%s prints every record: not both",
			     reduce, column);
	if (o->all && (reduce || o->emits))
		return option_fault(fault, "--all is for the summary: --%s asks for something else",
				    reduce ? reduce : column ? column : "where");
	if (o->only && !column)
		return option_fault(fault, "--only: there is no new column to print");
	if (o->exclusive && change)
		return option_fault(fault, "--exclusive: --%s has no value before the record's own", change);
	if (o->exclusive && !running)
		return option_fault(fault, "--exclusive: there is no running total");
	if (o->max_invalid.text && o->invalid != INVALID_SKIP)
		return option_fault(fault, "--max-invalid: nothing is left out without --invalid skip");
	if (o->emits && (o->sort || o->top))
		return option_fault(fault, "--%s is for results: --%s prints records as they came",
				    o->sort ? "sort" : "top", column ? column : "where");
	if (o->emits && o->format != FORMAT_AUTO)
		return option_fault(fault, "--format is for results: --%s prints records as they came",
				    column ? column : "where");
	if (writes && !o->dialect.quote && separates_numbers(o))
		return option_fault(fault, "--quote none: the numbers of a new column can hold the "
				    "delimiter '%c': nothing can quote them", o->dialect.delimiter);
	return STATUS_OK;
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
				    first ? operation_name(first->operation) : o->where ? "where" : "let");
	if (second)
		return option_fault(fault, "--%s draws one running column: not --%s and --%s", picture_name(o),
				    operation_name(first->operation), operation_name(second->operation));
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
			    first ? operation_name(first->operation) : "");
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
	o->uses[o->nuses++] = (struct operation_use){.operation = OPERATION_COUNT_RECORDS, .title = "count"};
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
					    operation_name(operation));
	}
	return count_groups(o, fault);
}

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
	if (o->partial || o->merge)
		return option_fault(fault, "--%s: --%s keeps all that a state would", name,
				    o->partial ? "partial" : "merge");
	if (o->columns || o->explain)
		return option_fault(fault, "--%s: --%s prints no result", o->columns ? "columns" : "explain",
				    name);
	if (o->head > 0)
		return option_fault(fault, "--%s: with --head, not all records are read: leave it out", name);
	for (size_t i = 0; i < o->nuses; i++)
		if (operation_kind(o->uses[i].operation) == OPERATION_OFFSET &&
		    o->uses[i].operation != OPERATION_ROW_NUMBER)
			return option_fault(fault, "--%s: --%s counts in one input: leave it out", name,
					    operation_name(o->uses[i].operation));
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
		status = check_groups(o, fault);
	if (status == STATUS_OK)
		status = check_operations(o, fault);
	if (status == STATUS_OK)
		status = check_state(o, fault);
	if (status == STATUS_OK)
		status = check_parts(o, fault);

	return status == STATUS_OK ? check_picture(o, fault) : status;
}
