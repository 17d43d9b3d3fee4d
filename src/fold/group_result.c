/* SPDX-License-Identifier: MIT
 *
 * group_result.c - see group_result.h.
 *
 * Millions of rows may be printed, so those of CSV and TSV are not made into a table first, and the
 * results that a group's cells hold are written straight from them. Any other result is made as without
 * groups, from the group's partial.
 */
#include "fold/group_result.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "base/text_buffer.h"
#include "fold/group_list.h"
#include "fold/group_order.h"
#include "fold/quantile.h"
#include "fold/result.h"
#include "io/output.h"
#include "number/decimal_text.h"
#include "number/natural.h"

enum status group_rows_init(struct group_rows *rows, const struct query *q, const struct partial *total)
{
	*rows = (struct group_rows){.q = q, .total = total,
				    .results = calloc(q->nresults + 1, sizeof *rows->results)};
	if (!rows->results || partial_init(&rows->blank, &q->plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < q->nresults; i++)
		if (!result_is_dropped(total, &q->results[i]))
			rows->results[rows->nresults++] = &q->results[i];
	return STATUS_OK;
}

void group_rows_free(struct group_rows *rows)
{
	free(rows->results);
	partial_free(&rows->blank);
	memset(rows, 0, sizeof *rows);
}

/* ---- one result ---- */

/* NULL: it is too long to be written so. */
static char *write_mean(const struct group_cell *cell, char *to)
{
	bool negative = cell->sum < 0;
	uint128 sum = negative ? -(uint128)cell->sum : (uint128)cell->sum;
	size_t nbytes = ratio_format_short(negative, sum, group_cell_count(cell),
					   (int)group_cell_scale(cell), to);

	return nbytes ? to + nbytes : NULL;
}

char *group_write_quickly(const struct group *g, const struct plan *plan, const struct result *r, char *to)
{
	const struct plan_column *column = &plan->columns[r->column];
	const struct group_cell *cell = group_cell((struct group *)g, column);

	if (r->operation == OPERATION_COUNT_RECORDS)
		return decimal_write_u64(to, g->nrecords);
	if (g->rest || !plan_column_has_cell(column))
		return NULL;
	switch (r->operation) {
	case OPERATION_SUM:
		return decimal_write(to, cell->sum, (int)group_cell_scale(cell));
	case OPERATION_COUNT:
		return decimal_write_u64(to, group_cell_count(cell));
	case OPERATION_MIN:
	case OPERATION_MAX:
		return group_cell_count(cell) == 0
			       ? to
			       : decimal_write(to, cell->extremes[r->operation == OPERATION_MAX],
					       (int)group_cell_scale(cell));
	case OPERATION_MEAN:
		return group_cell_count(cell) == 0 ? to : write_mean(cell, to);
	default:
		return NULL;
	}
}

/* Begins with a group whose results are made from its partial. */
static enum status begin_group(struct group_rows *rows, struct group *g, struct group_row *row)
{
	const struct plan *plan = &rows->q->plan;
	enum status status;

	row->ranks = NULL;
	partial_clear(&rows->blank);
	row->partial = group_partial(g, plan, &rows->blank);
	if (!row->partial)
		return STATUS_NO_MEMORY;
	for (size_t c = 0; c < plan->ncolumns; c++)
		row->partial->columns[c].kind = column_kind(&rows->total->columns[c]);
	status = ranks_list(rows->q, row->partial, &row->ranks);
	return status == STATUS_OK ? ranks_select(rows->q, row->partial, row->ranks) : status;
}

enum status group_row_result(struct group_rows *rows, struct group_row *row, struct group *g,
			     const struct result *r, struct cell *out)
{
	char text[GROUP_RESULT_NBYTES], *end;
	enum status status = STATUS_OK;

	end = group_write_quickly(g, &rows->q->plan, r, text);
	if (end) {
		*out = (struct cell){strndup(text, (size_t)(end - text)), true};
		return out->text ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (!row->partial)
		status = begin_group(rows, g, row);
	if (status != STATUS_OK)
		return status;
	return result_cell(rows->q, row->partial, row->ranks, r, out) ? STATUS_OK : STATUS_NO_MEMORY;
}

void group_row_end(struct group_rows *rows, struct group_row *row)
{
	if (row->partial)
		ranks_free(row->ranks, rows->q->plan.ncolumns);
	row->partial = NULL;
	row->ranks = NULL;
}

const char *group_key_value(const struct group *g, size_t i, size_t *nbytes)
{
	const char *text = key_text(&g->key), *end = text + key_nbytes(&g->key), *next;

	for (;; text = next + 1) {
		next = memchr(text, '\0', (size_t)(end - text));
		next = next ? next : end;
		if (i-- == 0)
			break;
	}
	*nbytes = (size_t)(next - text);
	return text;
}

/* ---- rows of text ---- */

/* Appends a value to a row as CSV or TSV has it: like print_csv_cell and print_tsv_cell of table.c. There is
 * room for twice its bytes, and two more. */
static char *append_csv(char *to, const char *value, size_t nbytes)
{
	bool quoted = memchr(value, ',', nbytes) || memchr(value, '"', nbytes) ||
		      memchr(value, '\n', nbytes) || memchr(value, '\r', nbytes);

	if (!quoted)
		return (char *)memcpy(to, value, nbytes) + nbytes;
	*to++ = '"';
	for (size_t i = 0; i < nbytes; i++) {
		if (value[i] == '"')
			*to++ = '"';
		*to++ = value[i];
	}
	*to++ = '"';
	return to;
}

static char *append_tsv(char *to, const char *value, size_t nbytes)
{
	static const char special[] = "\t\n\r\\";

	for (size_t i = 0; i < nbytes; i++) {
		const char *at = value[i] ? strchr(special, value[i]) : NULL;
		if (at)
			*to++ = '\\';
		*to++ = at ? "tnr\\"[at - special] : value[i];
	}
	return to;
}

/* What is printed as text. */
struct printing {
	struct group_rows *rows;
	char separator;
	char *(*append)(char *to, const char *value, size_t nbytes);
	struct text_buffer text;
};

static enum status append_value(struct printing *p, const char *value, size_t nbytes, char behind)
{
	char *to;

	if (text_reserve(&p->text, 2 * nbytes + 3) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = p->append(p->text.data + p->text.nbytes, value, nbytes);
	*to++ = behind;
	p->text.nbytes = (size_t)(to - p->text.data);
	return STATUS_OK;
}

static enum status append_result(struct printing *p, struct group_row *row, struct group *g,
				 const struct result *r, char behind)
{
	struct cell cell;
	char *end;
	enum status status;

	if (text_reserve(&p->text, GROUP_RESULT_NBYTES + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	end = group_write_quickly(g, &p->rows->q->plan, r, p->text.data + p->text.nbytes);
	if (end) {
		*end++ = behind;
		p->text.nbytes = (size_t)(end - p->text.data);
		return STATUS_OK;
	}
	status = group_row_result(p->rows, row, g, r, &cell);
	if (status == STATUS_OK) {
		status = append_value(p, cell.text, strlen(cell.text), behind);
		free(cell.text);
	}
	return status;
}

static enum status append_row(struct printing *p, struct group *g)
{
	const struct plan *plan = &p->rows->q->plan;
	struct group_row row = {NULL, NULL};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->nkeys && status == STATUS_OK; i++) {
		size_t nbytes;
		const char *value = group_key_value(g, i, &nbytes);
		bool last = i + 1 == plan->nkeys && p->rows->nresults == 0;
		status = append_value(p, value, nbytes, last ? '\n' : p->separator);
	}
	for (size_t i = 0; i < p->rows->nresults && status == STATUS_OK; i++)
		status = append_result(p, &row, g, p->rows->results[i],
				       i + 1 == p->rows->nresults ? '\n' : p->separator);
	group_row_end(p->rows, &row);
	return status;
}

static enum status append_names(struct printing *p)
{
	const struct query *q = p->rows->q;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < q->plan.nkeys && status == STATUS_OK; i++) {
		const char *name = q->plan.columns[q->plan.keys[i]].name;
		bool last = i + 1 == q->plan.nkeys && p->rows->nresults == 0;
		status = append_value(p, name, strlen(name), last ? '\n' : p->separator);
	}
	for (size_t i = 0; i < p->rows->nresults && status == STATUS_OK; i++) {
		char *name = result_name(q, p->rows->results[i]);
		if (!name)
			return STATUS_NO_MEMORY;
		status = append_value(p, name, strlen(name),
				      i + 1 == p->rows->nresults ? '\n' : p->separator);
		free(name);
	}
	return status;
}

/* ---- many rows at once ---- */

#define BLOCK_NROWS 4096

/* The rows of a list, which threads print block after block. */
struct row_queue {
	const struct group_list *list;
	const struct printing *first; /* all printings are like it */
	pthread_mutex_t lock;
	pthread_cond_t passed;
	size_t next, written;   /* blocks: the next to be made, and how many are written */
	enum status status;     /* of the first that failed */
};

static size_t count_blocks(const struct row_queue *q)
{
	return (q->list->n + BLOCK_NROWS - 1) / BLOCK_NROWS;
}

/* Takes the next block; false if there is none. */
static bool take_block(struct row_queue *q, size_t *block)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->status == STATUS_OK && q->next < count_blocks(q);
	*block = q->next;
	q->next += is;
	pthread_mutex_unlock(&q->lock);
	return is;
}

static enum status append_block(struct printing *p, const struct group_list *list, size_t block)
{
	enum status status = STATUS_OK;

	p->text.nbytes = 0;
	for (size_t i = block * BLOCK_NROWS; i < list->n && i < (block + 1) * BLOCK_NROWS; i++) {
		if (i + 8 < list->n)
			group_prefetch(list->at[i + 8].group);
		status = append_row(p, list->at[i].group);
		if (status != STATUS_OK)
			break;
	}
	return status;
}

/* Writes a block when those before it are written. */
static void write_block(struct row_queue *q, const struct printing *p, size_t block, enum status status)
{
	pthread_mutex_lock(&q->lock);
	while (q->written < block)
		pthread_cond_wait(&q->passed, &q->lock);
	if (q->status == STATUS_OK)
		q->status = status;
	if (q->status == STATUS_OK)
		fwrite(p->text.data, 1, p->text.nbytes, output_stream());
	q->written++;
	pthread_cond_broadcast(&q->passed);
	pthread_mutex_unlock(&q->lock);
}

static void *print_blocks(void *queue)
{
	struct row_queue *q = queue;
	struct group_rows rows;
	struct printing p = *q->first;
	enum status status = group_rows_init(&rows, p.rows->q, p.rows->total);
	size_t block;

	p.rows = &rows;
	p.text = (struct text_buffer){.data = NULL};
	while (take_block(q, &block))
		write_block(q, &p, block, status == STATUS_OK ? append_block(&p, q->list, block) : status);
	text_free(&p.text);
	group_rows_free(&rows);
	return NULL;
}

/* Prints the rows in as many threads as there is work for, the caller's among them. */
static enum status print_rows(const struct printing *p, const struct group_list *list)
{
	struct row_queue q = {.list = list, .first = p, .lock = PTHREAD_MUTEX_INITIALIZER,
			      .passed = PTHREAD_COND_INITIALIZER};
	size_t nthreads = (size_t)ranks_nthreads(p->rows->q), nblocks = count_blocks(&q);

	team_run(nthreads < nblocks / 2 + 1 ? nthreads : nblocks / 2 + 1, print_blocks, &q);
	return q.status;
}

static enum status print_text(struct group_rows *rows, const struct group_list *list, enum format format,
			      struct fault *fault)
{
	struct printing p = {.rows = rows, .separator = format == FORMAT_TSV ? '\t' : ',',
			     .append = format == FORMAT_TSV ? append_tsv : append_csv};
	enum status status = append_names(&p);

	if (status == STATUS_OK) {
		fwrite(p.text.data, 1, p.text.nbytes, output_stream());
		status = print_rows(&p, list);
	}
	text_free(&p.text);
	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

/* ---- tables ---- */

static enum status set_names(const struct group_rows *rows, struct table *t)
{
	const struct query *q = rows->q;

	for (size_t i = 0; i < q->plan.nkeys; i++)
		if (!(t->names[i].text = strdup(q->plan.columns[q->plan.keys[i]].name)))
			return STATUS_NO_MEMORY;
	for (size_t i = 0; i < rows->nresults; i++) {
		struct cell *cell = &t->names[q->plan.nkeys + i];
		cell->is_number = true;
		if (!(cell->text = result_name(q, rows->results[i])))
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static enum status set_row(struct group_rows *rows, struct group *g, struct cell *cells)
{
	size_t nkeys = rows->q->plan.nkeys, nbytes;
	struct group_row row = {NULL, NULL};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < nkeys; i++) {
		const char *value = group_key_value(g, i, &nbytes);
		if (!(cells[i].text = strndup(value, nbytes)))
			return STATUS_NO_MEMORY;
	}
	for (size_t i = 0; i < rows->nresults && status == STATUS_OK; i++)
		status = group_row_result(rows, &row, g, rows->results[i], &cells[nkeys + i]);
	group_row_end(rows, &row);
	return status;
}

/* The title of a picture: the results' names, and those of the keys. */
static enum status set_title(struct table *t)
{
	size_t nbytes;
	FILE *out = open_memstream(&t->title, &nbytes);

	if (!out)
		return STATUS_NO_MEMORY;
	for (size_t i = t->nlabels; i < t->ncolumns; i++)
		fprintf(out, "%s%s", i > t->nlabels ? ", " : "", t->names[i].text);
	for (size_t i = 0; i < t->nlabels; i++)
		fprintf(out, "%s%s", i ? ", " : " by ", t->names[i].text);
	return fclose(out) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status fill_table(struct group_rows *rows, const struct group_list *list, struct table *t)
{
	enum status status = set_names(rows, t);

	t->nlabels = rows->q->plan.nkeys;
	if (status == STATUS_OK)
		status = set_title(t);
	for (size_t i = 0; i < list->n && status == STATUS_OK; i++)
		status = set_row(rows, list->at[i].group, &t->cells[i * t->ncolumns]);
	return status;
}

static enum status print_table(struct group_rows *rows, const struct group_list *list,
			       const struct group_printing *how, struct fault *fault)
{
	struct table t;
	enum status status = table_init(&t, rows->q->plan.nkeys + rows->nresults, list->n);

	if (status == STATUS_OK)
		status = fill_table(rows, list, &t);
	status = status == STATUS_OK ? picture_print_table(&how->picture, &t, how->format, fault)
				     : fault_set(fault, status, 0, NULL);
	if (t.names)
		table_free(&t);
	return status;
}

/* ---- all of it ---- */

/* Lists the groups that are printed, in their order. */
static enum status list_groups(const struct group_rows *rows, const struct group_printing *how, struct group_list *list)
{
	size_t nthreads = (size_t)ranks_nthreads(rows->q);

	if (!how->sort.is_given)
		return group_list_make(rows->q->plan.groups, nthreads, list);
	return group_list_sort(list, rows, &how->sort, how->top ? how->top : SIZE_MAX, nthreads);
}

static enum status print_list(struct group_rows *rows, const struct group_list *list,
			      const struct group_printing *how, struct fault *fault)
{
	struct group_list shown = {list->at, how->top && how->top < list->n ? how->top : list->n};
	enum format format = how->format;
	bool is_text = format == FORMAT_AUTO || format == FORMAT_CSV || format == FORMAT_TSV;

	if (is_text && !picture_is_asked(&how->picture))
		return print_text(rows, &shown, format, fault);
	return print_table(rows, &shown, how, fault);
}

/* Whether '*' is asked for, and means no column. */
static bool lacks_numbers(const struct group_rows *rows)
{
	for (size_t i = 0; i < rows->nresults; i++)
		if (rows->results[i]->if_numeric)
			return false;
	return rows->q->star;
}

/* Lists what is printed. */
static enum status prepare(const struct query *q, struct partial *total, const struct group_printing *how,
			   struct group_rows *rows, struct group_list *list)
{
	enum status status = total->groups ? groups_store(total->groups) : STATUS_OK;

	if (status == STATUS_OK)
		status = group_rows_init(rows, q, total);
	if (status == STATUS_OK && lacks_numbers(rows))
		status = STATUS_NO_NUMERIC_COLUMN;
	return status == STATUS_OK ? list_groups(rows, how, list) : status;
}

enum status group_result_print(const struct query *q, struct partial *total,
			       const struct group_printing *how, struct fault *fault)
{
	struct group_rows rows = {.q = q};
	struct group_list list = {NULL, 0};
	enum status status = prepare(q, total, how, &rows, &list);

	status = status == STATUS_OK ? print_list(&rows, &list, how, fault)
				     : partial_fault(total, &q->plan, status, fault);
	group_rows_free(&rows);
	group_list_free(&list);
	return status;
}
