/* SPDX-License-Identifier: MIT
 *
 * group_print.c - see group_print.h.
 *
 * Rows are not made into a table first, and the results that a group's cells hold are written straight from them. Any
 * other result is made as without groups, from the group's partial. Each thread makes the text of one block of rows
 * after the other; they are written in turn.
 */
#include "fold/group_print.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "base/text_buffer.h"
#include "fold/group_source.h"
#include "fold/quantile.h"
#include "fold/result.h"
#include "io/output.h"

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
	const char *text;
	size_t nbytes;
	char *end;
	enum status status;

	if (group_find_text(g, &p->rows->q->plan, r, &text, &nbytes))
		return append_value(p, text, nbytes, behind);
	if (text_reserve(&p->text, GROUP_RESULT_NBYTES + 1) != STATUS_OK)
		return STATUS_NO_MEMORY;
	end = group_write_quickly(g, p->rows->q, r, p->text.data + p->text.nbytes);
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

#define BLOCK_NROWS ((size_t)4096) /* of a list */

/* The rows of a list or a source, which threads print block after block. */
struct row_queue {
	const struct group_list *list; /* NULL: they are the source's */
	size_t n, block_nrows;
	const struct printing *first; /* all printings are like it */
	pthread_mutex_t lock;
	pthread_cond_t passed;
	size_t next, written; /* blocks: the next to be made, and how many are written */
	enum status status;   /* of the first that failed; STATUS_GPU: fault has more */
	struct fault fault;
};

static size_t count_blocks(const struct row_queue *q)
{
	return (q->n + q->block_nrows - 1) / q->block_nrows;
}

/* Takes the next block; false when none is left. */
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

static enum status append_listed(struct printing *p, const struct group_list *list, size_t begin, size_t end)
{
	enum status status = STATUS_OK;

	for (size_t i = begin; i < end && status == STATUS_OK; i++) {
		if (i + 8 < end)
			group_prefetch(group_list_at(list, i + 8));
		status = append_row(p, group_list_at(list, i));
	}
	return status;
}

static enum status append_group(void *context, struct group *group)
{
	return append_row(context, group);
}

static enum status append_block(struct printing *p, const struct row_queue *q, struct group_reading *r, size_t block)
{
	size_t begin = block * q->block_nrows;
	size_t end = q->n - begin < q->block_nrows ? q->n : begin + q->block_nrows;

	p->text.nbytes = 0;
	return q->list ? append_listed(p, q->list, begin, end) : group_reading_visit(r, block, end - begin, append_group, p);
}

/* Writes a block when those before it are written. fault: of STATUS_GPU. */
static void write_block(struct row_queue *q, const struct printing *p, size_t block, enum status status,
			const struct fault *fault)
{
	pthread_mutex_lock(&q->lock);
	while (q->written < block)
		pthread_cond_wait(&q->passed, &q->lock);
	if (q->status == STATUS_OK && status == STATUS_GPU)
		q->fault = *fault;
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
	struct group_reading reading = {.reader = NULL};
	enum status status = group_rows_init(&rows, p.rows->q, p.rows->total, p.rows->nthreads);
	size_t block;

	if (status == STATUS_OK && !q->list)
		status = group_reading_begin(&reading, &rows.q->plan);
	p.rows = &rows;
	p.text = (struct text_buffer){.data = NULL};
	while (take_block(q, &block)) {
		enum status made = status == STATUS_OK ? append_block(&p, q, &reading, block) : status;
		write_block(q, &p, block, made, &reading.fault);
	}
	group_reading_end(&reading);
	text_free(&p.text);
	group_rows_free(&rows);
	return NULL;
}

/* Prints the rows in as many threads as there is work for, the caller's among them. */
static enum status print_rows(const struct printing *p, struct row_queue *q, struct fault *fault)
{
	size_t nthreads = (size_t)p->rows->nthreads, nblocks = count_blocks(q);

	q->first = p;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->passed, NULL);
	team_run(nthreads < nblocks / 2 + 1 ? nthreads : nblocks / 2 + 1, print_blocks, q);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->passed);
	if (q->status == STATUS_GPU)
		*fault = q->fault;
	return q->status == STATUS_OK || q->status == STATUS_GPU ? q->status : fault_set(fault, q->status, 0, NULL);
}

static struct row_queue queue_of(const struct group_list *list, const struct plan *plan, uint64_t nmost)
{
	uint64_t n = list ? list->n : group_store_source(plan->groups)->ngroups;

	return (struct row_queue){.list = list, .n = (size_t)(n < nmost ? n : nmost),
				  .block_nrows = list ? BLOCK_NROWS : GROUP_SOURCE_NGROUPS};
}

enum status group_print_text(struct group_rows *rows, const struct group_list *list, uint64_t nmost,
			     enum format format, struct fault *fault)
{
	struct printing p = {.rows = rows, .separator = format == FORMAT_TSV ? '\t' : ',',
			     .append = format == FORMAT_TSV ? append_tsv : append_csv};
	struct row_queue q = queue_of(list, &rows->q->plan, nmost);
	enum status status = append_names(&p);

	if (status == STATUS_OK) {
		fwrite(p.text.data, 1, p.text.nbytes, output_stream());
		status = print_rows(&p, &q, fault);
	} else {
		status = fault_set(fault, status, 0, NULL);
	}
	text_free(&p.text);
	return status == STATUS_OK ? output_flush(fault) : status;
}
