/* SPDX-License-Identifier: MIT
 *
 * result_heading.c - the names of results and of columns, and the header of printed records. See
 * result.h.
 */
#include "fold/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "io/output.h"
#include "io/row_format.h"

/* The field of a column, as --rename has it. */
static uint32_t column_field(const struct query *q, const struct plan_column *column)
{
	return column->let ? FIELD_COMPUTED + (uint32_t)(column->let - q->lets) : column->field;
}

/* The name of a field of the input: the new one, or that of the header. NULL: it has none. */
static const char *field_name(const struct query *q, size_t field)
{
	const char *name = query_new_name(q, (uint32_t)field);

	return name || field >= q->header.nnames ? name : q->header.names[field];
}

/* The name of a column that is printed. */
static char *column_title(const struct query *q, const struct plan_column *column)
{
	const char *name = field_name(q, column_field(q, column));

	return strdup(name ? name : column->let ? column->name : "");
}

/* The title of a result: that of its operation, the percentile as it was typed, or what the use says. To
 * be freed; NULL: no memory. */
static char *result_title(const struct query *q, const struct result *r)
{
	const struct operation_use *use = &q->uses[r->use];

	if (operation_kind(r->operation) == OPERATION_LET || operation_kind(r->operation) == OPERATION_FIELDS)
		return column_title(q, &q->plan.columns[r->column]);
	if (operation_kind(r->operation) == OPERATION_EXPR)
		return strdup(q->finishers[r->other].name);
	if (r->operation == OPERATION_PERCENTILE)
		return strdup(use->name);
	return strdup(use->title ? use->title : operation_title(r->operation));
}

/* Whether an item of COLS has given the result a name: NAME=COLUMN, NAME=EXPR. */
static bool is_named(const struct query *q, const struct result *r)
{
	const struct program *let;

	if (!operation_has_columns(r->operation) || operation_kind(r->operation) == OPERATION_PAIR)
		return false;
	let = q->plan.columns[r->column].let;
	return let && let->is_named && let >= q->lets + q->nlets;
}

char *result_name(const struct query *q, const struct result *r)
{
	bool is_pair = operation_kind(r->operation) == OPERATION_PAIR;
	const struct plan_column *columns = q->plan.columns;
	const struct operation_use *use = &q->uses[r->use];
	char *title = is_named(q, r) ? NULL : result_title(q, r), *name;

	if (is_named(q, r))
		return strdup(columns[r->column].name);
	if (!title || !operation_has_columns(r->operation) ||
	    operation_kind(r->operation) == OPERATION_FIELDS)
		return title;
	if (asprintf(&name, "%s(%s%s%s%s)", title, use->is_descending ? "-" : "", columns[r->column].name,
		     is_pair ? ":" : use->suffix ? use->suffix : "",
		     is_pair ? columns[r->other].name : "") < 0)
		name = NULL;
	free(title);
	return name;
}

char *result_heading_of(const struct query *q, char *name)
{
	for (size_t i = q->nrenames; name && i-- > 0;)
		if (q->renames[i].field == RENAME_HEADING && !strcmp(q->renames[i].old, name)) {
			free(name);
			return strdup(q->renames[i].name);
		}
	return name;
}

enum status result_renames_check(const struct query *q, struct fault *fault)
{
	const size_t nkeys = q->plan.emits ? 0 : q->plan.nkeys, n = nkeys + (q->plan.emits ? q->nresults : q->nshown);
	char list[FAULT_DETAIL_NBYTES];

	for (size_t i = 0; i < q->nrenames; i++) {
		bool found = q->renames[i].field != RENAME_HEADING;
		size_t nbytes = 0;
		for (size_t k = 0; k < n && !found; k++) {
			char *name = k < nkeys ? strdup(q->plan.columns[q->plan.keys[k]].name) : result_name(q, &q->results[k - nkeys]);
			NEED(name);
			found = !strcmp(name, q->renames[i].old);
			if (nbytes < sizeof list)
				nbytes += (size_t)snprintf(list + nbytes, sizeof list - nbytes, "%s%s", k ? ", " : "", name);
			free(name);
		}
		if (!found)
			return option_fault(fault, "--rename: '%.64s' is none of the columns that are printed: %.150s", q->renames[i].old,
					    n ? list : "");
	}
	return STATUS_OK;
}

void result_names_free(char **names, size_t nnames)
{
	for (size_t i = 0; names && i < nnames; i++)
		free(names[i]);
	free(names);
}

/* The names of the first nfields fields and of the new columns, to be freed with result_names_free. is_bare: a field without a name has
 * none. NULL: out of memory. */
static char **make_names(const struct query *q, size_t nfields, bool is_bare)
{
	const size_t n = nfields + q->nresults;
	char **names = calloc(n + 1, sizeof *names);

	for (size_t i = 0; names && i < n; i++) {
		const char *name = i < nfields ? field_name(q, i) : NULL;
		if (i >= nfields)
			names[i] = result_heading_of(q, result_name(q, &q->results[i - nfields]));
		else if (is_bare || (name && *name))
			names[i] = strdup(name ? name : "");
		else if (asprintf(&names[i], "col%zu", i + 1) < 0)
			names[i] = NULL;
		if (names[i])
			continue;
		result_names_free(names, i);
		return NULL;
	}
	return names;
}

/* Prints the header, nbytes without its line end, with the new names. */
static enum status print_renamed(const struct query *q, size_t nbytes, FILE *out)
{
	const struct header *h = &q->header;
	struct record r;
	enum status status = record_split(h->line, nbytes, &q->plan.dialect, true, &r);

	for (size_t i = 0; status == STATUS_OK && i < r.nfields; i++) {
		const char *name = query_new_name(q, (uint32_t)i);
		if (i > 0)
			putc(q->plan.dialect.delimiter, out);
		if (name)
			output_field(out, name, &q->plan.dialect, i == 0);
		else
			fwrite(h->line + r.fields[i].begin, 1, r.fields[i].end - r.fields[i].begin, out);
	}
	record_free(&r);
	return status;
}

static enum status print_heading(const struct query *q, char **names)
{
	enum status status = STATUS_OK;
	const struct header *h = &q->header;
	size_t nbytes = h->end - h->begin; /* without the line end */
	FILE *out = output_stream();

	if (!q->plan.only && q->nrenames > 0)
		status = print_renamed(q, nbytes, out);
	else if (!q->plan.only)
		fwrite(h->line, 1, nbytes, out);
	for (size_t i = 0; i < q->nresults; i++) {
		if (i || !q->plan.only)
			putc(q->plan.dialect.delimiter, out);
		output_field(out, names[i], &q->plan.dialect, i == 0 && q->plan.only);
	}
	fwrite(h->line + nbytes, 1, h->line_nbytes - nbytes, out);
	return status;
}

/* Whether a name can be printed in the input's dialect. is_first: of its line. */
static enum status check_name(const struct query *q, const char *name, bool is_first, struct fault *fault)
{
	const struct csv_dialect *d = &q->plan.dialect;
	char words[FAULT_DETAIL_NBYTES];

	if (output_field_fits(name, d, is_first))
		return STATUS_OK;
	snprintf(words, sizeof words, "--quote none: the name of the new column '%.128s' %s: nothing can quote it", name,
		 output_field_fits(name, d, false) ? "would begin a comment" : "holds the delimiter");
	return fault_set_usage(fault, words);
}

/* Whether every name can. */
static enum status check_names(const struct query *q, char **names, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < q->nresults && status == STATUS_OK; i++)
		status = check_name(q, names[i], i == 0 && q->plan.only, fault);
	for (size_t i = 0; i < q->nrenames && status == STATUS_OK && !q->plan.only; i++)
		if (q->renames[i].field < q->header.nfields)
			status = check_name(q, q->renames[i].name, q->renames[i].field == 0, fault);
	return status;
}

/* ---- two columns of one name ---- */

/* The columns that are printed: those of the input, unless there are only new ones, and the new ones. */
static size_t ncolumns_printed(const struct query *q)
{
	return q->nresults + (q->plan.only ? 0 : q->header.nnames);
}

/* The name and the field of a column that is printed; FIELD_COMPUTED + K: of the K-th of --let, SIZE_MAX: of neither. */
static const char *printed_name(const struct query *q, char **names, size_t i, size_t *field)
{
	const struct result *r;

	*field = i;
	if (!q->plan.only && i < q->header.nnames)
		return field_name(q, i);
	i -= q->plan.only ? 0 : q->header.nnames;
	r = &q->results[i];
	*field = SIZE_MAX;
	if (operation_kind(r->operation) == OPERATION_LET || operation_kind(r->operation) == OPERATION_FIELDS)
		*field = column_field(q, &q->plan.columns[r->column]);
	return names[i];
}

/* Checks that no other column that is printed has the name of a renamed one. */
static enum status check_rename(const struct query *q, char **names, const struct rename *rename, struct fault *fault)
{
	bool is_printed = false, has_other = false;
	char words[FAULT_DETAIL_NBYTES];

	for (size_t i = 0; i < ncolumns_printed(q); i++) {
		size_t field;
		const char *name = printed_name(q, names, i, &field);
		if (!name || strcmp(name, rename->name))
			continue;
		is_printed |= field == rename->field;
		has_other |= field != rename->field;
	}
	if (!is_printed || !has_other)
		return STATUS_OK;
	snprintf(words, sizeof words, "--rename: there would be two columns '%.128s'", rename->name);
	fault_set_usage(fault, words);
	strcpy(fault->remedy, q->plan.only ? "another name" : "another name, or --drop for the other column");
	return STATUS_USAGE;
}

/* ---- records in a format of their own ---- */

char **result_printed_names(const struct query *q, enum format format, size_t *n)
{
	const size_t nfields = q->plan.only ? 0 : plan_nprinted(&q->plan);

	*n = nfields + q->nresults;
	return make_names(q, nfields, format == FORMAT_CSV || format == FORMAT_TSV);
}

static enum status print_formatted(const struct query *q)
{
	const struct row_format *f = q->plan.row_format;
	struct text_buffer text = {.data = NULL};
	size_t n;
	char **names = result_printed_names(q, f->format, &n);
	enum status status = STATUS_NO_MEMORY;

	if (names && (q->header.present || row_has_kinds(f)))
		status = row_append_heading(&text, f, (const char *const *)names);
	else if (names)
		status = STATUS_OK;
	if (status == STATUS_OK && text.nbytes)
		fwrite(text.data, 1, text.nbytes, output_stream());
	text_free(&text);
	result_names_free(names, n);
	return status;
}

enum status result_heading(const struct query *q, struct fault *fault)
{
	char **names = make_names(q, 0, false); /* all, before the first is printed */
	enum status status = names ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; q->header.present && i < q->nrenames && status == STATUS_OK; i++)
		status = check_rename(q, names, &q->renames[i], fault);
	if (status == STATUS_OK && q->plan.row_format) {
		status = print_formatted(q);
	} else if (status == STATUS_OK && q->header.present) {
		status = check_names(q, names, fault);
		THEN(status, print_heading(q, names));
	}
	result_names_free(names, q->nresults);
	return status == STATUS_OK ? output_flush(fault) : fault_complete(fault, status);
}

void result_columns(const struct query *q)
{
	for (size_t c = 0; c < q->plan.ncolumns; c++) {
		output_field(output_stream(), q->plan.columns[c].name, &q->plan.dialect, true);
		putc('\n', output_stream());
	}
}
