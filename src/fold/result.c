/* SPDX-License-Identifier: MIT
 *
 * result.c - see result.h.
 */
#include "fold/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/histogram.h"
#include "fold/quantile.h"
#include "fold/statistic.h"
#include "number/decimal_text.h"
#include "query/query.h"

uint64_t result_nnumbers(const struct column_partial *column)
{
	return column->numbers.count;
}

/* In the summary a column is text if more than a tenth of its values are no numbers: fewer are taken
 * for slips. So is one whose numbers do not add up. */
static bool is_text_column(const struct plan_column *plan, const struct column_partial *column)
{
	if (plan->invalid == INVALID_TEXT)
		return column->is_mixed || column->ninvalid > (result_nnumbers(column) + column->ninvalid) / 10;
	return plan->if_numeric && column_kind(column) == COLUMN_TEXT;
}

uint64_t result_nleft_out(const struct plan_column *plan, const struct column_partial *column)
{
	if (plan->takes_text)
		return column->nnuls;
	if (!is_text_column(plan, column))
		return column->ninvalid;
	return plan->counts_text ? column->nnuls : 0;
}

uint64_t result_nrecords(const struct plan *plan, const struct partial *total)
{
	return plan->where == PREDICATE_NONE ? total->nrecords : total->nmatched[plan->where];
}

bool result_counts_texts(const struct plan_column *plan, const struct column_partial *column)
{
	return is_text_column(plan, column) || plan->takes_text;
}

static void read_moments(const struct plan_column *plan, const struct column_partial *column,
			 struct column_moments *out)
{
	uint64_t ntexts = column->ninvalid - result_nleft_out(plan, column);

	statistic_moments(column, result_nnumbers(column) + ntexts,
			  result_counts_texts(plan, column), out);
}

char *result_shown(enum operation operation, const char *text, size_t nbytes)
{
	struct text_buffer shown = {.data = NULL};

	if (!number_shown)
		return strndup(text, nbytes);
	if (number_show(number_shown, operation_counts(operation), text, nbytes, &shown) ==
		    STATUS_OK &&
	    text_append(&shown, "", 1) == STATUS_OK)
		return shown.data;
	text_free(&shown);
	return NULL;
}

enum status result_copy(const struct result_value *v, struct cell *cell)
{
	const size_t number_nbytes = v->number ? strlen(v->number) + 1 : 0;

	*cell = (struct cell){.text = malloc(v->nbytes + 1 + number_nbytes), .is_number = v->is_number, .is_spelled = v->number,
			      .is_quoted = v->is_quoted};
	NEED(cell->text);
	memcpy(cell->text, v->text, v->nbytes);
	cell->text[v->nbytes] = '\0';
	if (v->number)
		memcpy(cell->text + v->nbytes + 1, v->number, number_nbytes);
	return STATUS_OK;
}

/* ---- one result ---- */

bool result_holds_text(const struct plan_column *plan, const struct column_partial *column)
{
	return is_text_column(plan, column) ||
	       (plan->takes_text && column->ninvalid > column->nnuls);
}

static void set_number(struct result_value *v, const char *text, const char *end)
{
	*v = (struct result_value){.text = text, .nbytes = (size_t)(end - text), .is_number = true};
}

/* Finds one of the column's texts. */
static void find_text(enum operation operation, struct column_moments *moments, struct result_value *v)
{
	struct key_found found;

	*v = (struct result_value){.text = "", .is_number = true};
	if (!statistic_text(operation, moments, &found))
		return;
	v->key = found.key;
	v->text = key_text(&v->key);
	v->nbytes = key_nbytes(&v->key);
	v->is_number = false;
}

/* Finds the first or last value of a column, which is no text if it is a number: as it is spelled. */
static void find_end(enum operation operation, struct column_moments *moments, bool is_text, char *to, struct result_value *v)
{
	const char *spelled = statistic_end_text(operation, moments, is_text), *end;

	*v = (struct result_value){.text = spelled ? spelled : "", .nbytes = spelled ? strlen(spelled) : 0,
				   .is_number = !spelled || !is_text};
	if (!spelled || is_text)
		return;
	end = statistic_format(operation, moments, to);
	if ((number_shown && number_style_is_set(number_shown)) || !strcmp(to, spelled))
		set_number(v, to, end);
	else
		v->number = to;
}

/* Finds the result of an operation of a column. */
static void find_statistic(enum operation operation, struct column_moments *moments, char *to, struct result_value *v)
{
	if (operation_kind(operation) == OPERATION_TEXT)
		find_text(operation, moments, v);
	else
		set_number(v, to, statistic_format(operation, moments, to));
}

void result_find(const struct query *q, const struct partial *total, const struct ranks *ranks, const struct result *r, char *to,
		 struct result_value *out)
{
	const struct plan_column *column = &q->plan.columns[r->column];
	struct column_moments moments;

	if (operation_kind(r->operation) == OPERATION_PAIR) {
		set_number(out, to, pair_statistic_format_total(r->operation, &q->plan, total, r->pair, to));
		return;
	}
	if (!operation_has_columns(r->operation)) {
		set_number(out, to, decimal_write_u64(to, result_nrecords(&q->plan, total)));
		return;
	}
	read_moments(column, &total->columns[r->column], &moments);
	moments.ranks = ranks ? &ranks[r->column] : NULL;
	moments.percentile = q->uses[r->use].percentile;
	if (r->operation == OPERATION_FIRST || r->operation == OPERATION_LAST)
		find_end(r->operation, &moments, result_holds_text(column, &total->columns[r->column]), to, out);
	else
		find_statistic(r->operation, &moments, to, out);
}

bool result_is_dropped(const struct partial *total, const struct result *r)
{
	return r->if_numeric && column_kind(&total->columns[r->column]) != COLUMN_NUMBER;
}

/* ---- cells of tables ---- */

static bool set_cell(struct cell *cell, const char *text, bool is_number)
{
	*cell = (struct cell){.text = strdup(text), .is_number = is_number};
	return cell->text != NULL;
}

/* Sets the cell to a number as it is shown. */
static bool set_number_cell(struct cell *cell, enum operation operation, const char *text)
{
	*cell = (struct cell){.text = result_shown(operation, text, strlen(text)), .is_number = true};
	return cell->text != NULL;
}

static bool set_count(struct cell *cell, uint64_t count)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, count);
	return set_number_cell(cell, OPERATION_COUNT, text);
}

static bool set_statistic(enum operation operation, struct column_moments *moments, struct cell *cell)
{
	char text[STATISTIC_TEXT_NBYTES];
	struct result_value v;

	find_statistic(operation, moments, text, &v);
	return v.is_number ? set_number_cell(cell, operation, v.text) : result_copy(&v, cell) == STATUS_OK;
}

static enum status no_memory(struct table *t, struct fault *fault)
{
	table_free(t);
	return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
}

/* ---- a matrix ---- */

/* The results that are kept. */
struct matrix {
	const struct query *q;
	const struct partial *total;
	size_t n;
	size_t *results; /* n indices of q->results */
};

/* Of a column and itself: the variance, or where that is not 0 a correlation of 1. */
static void matrix_diagonal(const struct matrix *m, size_t i, char *text)
{
	const struct result *r = &m->q->results[m->results[i]];
	struct column_moments moments;

	read_moments(&m->q->plan.columns[r->column], &m->total->columns[r->column], &moments);
	statistic_format(r->operation == OPERATION_COV_POP ? OPERATION_VAR_POP : OPERATION_VAR, &moments, text);
	if (r->operation == OPERATION_CORR && *text)
		strcpy(text, strcmp(text, "0") ? "1" : "");
}

/* Sets the cells of columns i and j, both ways. */
static bool set_matrix_cells(const struct matrix *m, struct table *t, size_t i, size_t j)
{
	size_t a = m->results[i], b = m->results[j];
	struct cell *cell = &t->cells[i * t->ncolumns + j + 1];
	char text[STATISTIC_TEXT_NBYTES];

	if (i == j) {
		matrix_diagonal(m, i, text);
		return set_number_cell(cell, m->q->results[a].operation, text);
	}
	pair_statistic_format_total(m->q->results[a].operation, &m->q->plan, m->total,
			      query_matrix_pair(m->q->nresults, a, b), text);
	return set_number_cell(cell, m->q->results[a].operation, text) &&
	       set_number_cell(&t->cells[j * t->ncolumns + i + 1], m->q->results[a].operation, text);
}

/* A row and a column for each column of numbers, and their names before them. */
static bool set_matrix(const struct matrix *m, struct table *t)
{
	bool ok = set_cell(&t->names[0], "column", false);

	for (size_t i = 0; ok && i < m->n; i++) {
		const struct result *r = &m->q->results[m->results[i]];
		const char *name = m->q->plan.columns[r->column].name;
		ok = set_cell(&t->names[i + 1], name, true) &&
		     set_cell(&t->cells[i * t->ncolumns], name, false);
		for (size_t j = i; ok && j < m->n; j++)
			ok = set_matrix_cells(m, t, i, j);
	}
	return ok;
}

static enum status matrix(const struct query *q, const struct partial *total, struct table *t,
			  struct fault *fault)
{
	struct matrix m = {q, total, 0, calloc(q->nresults + 1, sizeof(size_t))};
	enum status status = STATUS_OK;

	for (size_t i = 0; m.results && i < q->nresults; i++)
		if (!result_is_dropped(total, &q->results[i]))
			m.results[m.n++] = i;
	if (m.results && m.n == 0)
		status = fault_set(fault, STATUS_NO_NUMERIC_COLUMN, 0, NULL);
	else if (!m.results || table_init(t, m.n + 1, m.n) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	else if (!set_matrix(&m, t))
		status = no_memory(t, fault);
	free(m.results);
	return status;
}

/* ---- the summary ---- */

/* The number of values that the texts of a column hold if they hold all. */
static uint64_t count_texts(const struct column_partial *column)
{
	return result_nnumbers(column) + column->ninvalid - column->nnuls;
}

bool result_lacks_texts(const struct query *q, const struct partial *total)
{
	if (!q->plan.guesses_texts)
		return false;
	for (size_t c = 0; c < q->plan.ncolumns; c++) {
		const struct column_partial *column = &total->columns[c];
		const struct texts *texts = moments_cell(&column->moments, CELL_TEXTS);
		if (is_text_column(&q->plan.columns[c], column) &&
		    (texts ? texts->count : 0) < count_texts(column))
			return true;
	}
	return false;
}

/* What is said of one column of the input. */
struct described {
	const struct plan_column *plan;
	const struct column_partial *column;
	struct column_moments moments;
	bool is_text;
};

static const char *type_name(const struct described *d)
{
	const struct texts *texts = d->moments.texts;

	if (d->is_text && (d->column->nnuls > 0 || !texts || texts->has_other)) /* a forged part may lack the texts */
		return "text";
	if (d->is_text)
		return texts->has_time ? "datetime" : "date";
	return result_nnumbers(d->column) ? "number" : "empty";
}

/* Sets the cell to a length of a text. */
static bool set_length(struct cell *cell, const struct described *d, enum summary_value value)
{
	const struct texts *texts = d->moments.texts;

	if (!d->is_text || !texts || texts->count == 0)
		return set_cell(cell, "", true);
	return set_count(cell, value == SUMMARY_SHORTEST ? texts->shortest : texts->longest);
}

#define TEXT_OF(number) TEXT_OF_TOKEN(number)
#define TEXT_OF_TOKEN(token) #token
#define MORE_THAN_MOST ">" TEXT_OF(SUMMARY_NKEYS_MOST)

/* Whether the column has more distinct values than are counted. */
static bool has_many_keys(const struct described *d)
{
	const struct keys *keys = d->moments.keys, *text_keys = d->moments.text_keys;

	return (keys && keys->is_over) || (text_keys && text_keys->is_over);
}

static bool set_summary_cell(struct cell *cell, struct described *d,
			     const struct summary_column *s)
{
	enum operation operation = d->is_text ? s->of_texts : s->of_numbers;

	switch (s->value) {
	case SUMMARY_NAME:
		return set_cell(cell, d->plan->name, false);
	case SUMMARY_TYPE:
		return set_cell(cell, type_name(d), false);
	case SUMMARY_MISSING:
		return set_count(cell, d->column->nmissing);
	case SUMMARY_INVALID:
		return set_count(cell, d->is_text ? 0 : d->column->ninvalid);
	case SUMMARY_SHORTEST:
	case SUMMARY_LONGEST:
		return set_length(cell, d, s->value);
	case SUMMARY_DISTINCT:
		if (has_many_keys(d))
			return set_cell(cell, MORE_THAN_MOST, true);
		break;
	case SUMMARY_RESULT:
		break;
	}
	d->moments.percentile = s->percentile;
	return operation == NOPERATIONS ? set_cell(cell, "", true)
					: set_statistic(operation, &d->moments, cell);
}

/* The next column of the summary from s on; the last's name is NULL. */
static const struct summary_column *shown(const struct query *q, const struct summary_column *s)
{
	while (s->name && s->is_costly && !q->all)
		s++;
	return s;
}

static size_t count_shown(const struct query *q)
{
	size_t n = 0;

	for (const struct summary_column *s = shown(q, summary_columns); s->name;
	     s = shown(q, s + 1))
		n++;
	return n;
}

static bool set_summary_names(const struct query *q, struct cell *names)
{
	bool ok = true;

	for (const struct summary_column *s = shown(q, summary_columns); ok && s->name;
	     s = shown(q, s + 1))
		ok = set_cell(names++, s->name,
			      s->value != SUMMARY_NAME && s->value != SUMMARY_TYPE);
	return ok;
}

static bool set_summary_row(const struct query *q, const struct partial *total,
			    const struct ranks *ranks, size_t c, struct cell *row)
{
	struct described d = {&q->plan.columns[c], &total->columns[c], .is_text = false};
	bool ok = true;

	d.is_text = is_text_column(d.plan, d.column);
	read_moments(d.plan, d.column, &d.moments);
	d.moments.ranks = ranks ? &ranks[c] : NULL;
	for (const struct summary_column *s = shown(q, summary_columns); ok && s->name;
	     s = shown(q, s + 1))
		ok = set_summary_cell(row++, &d, s);
	return ok;
}

static enum status summary(const struct query *q, const struct partial *total,
			   const struct ranks *ranks, struct table *t, struct fault *fault)
{
	if (table_init(t, count_shown(q), q->plan.ncolumns) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (!set_summary_names(q, t->names))
		return no_memory(t, fault);
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		if (!set_summary_row(q, total, ranks, c, &t->cells[c * t->ncolumns]))
			return no_memory(t, fault);
	return STATUS_OK;
}

enum status result_table(const struct query *q, const struct partial *total,
			 const struct ranks *ranks, struct table *out, struct fault *fault)
{
	enum status status;

	number_shown = q->plan.shown;
	status = q->summary  ? summary(q, total, ranks, out, fault)
		 : q->matrix ? matrix(q, total, out, fault)
			     : histogram_table(q, total, out, fault);
	number_shown = NULL;
	return status;
}
