/* SPDX-License-Identifier: MIT
 *
 * group_result.c - see group_result.h.
 *
 * A result that a group's states hold is written straight from them. Any other is made as without groups, from a partial to which they
 * are added. Rows of text, of which there may be millions, are not made into a table first: each thread makes the text of one
 * block of rows after the other; they are written in turn.
 */
#include "fold/group_result.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "base/array.h"
#include "fold/finish.h"
#include "fold/group_lists.h"
#include "fold/pair.h"
#include "fold/quantile.h"
#include "fold/result.h"
#include "fold/statistic.h"
#include "io/output.h"
#include "number/decimal_text.h"

enum status group_rows_init(struct group_rows *rows, const struct query *q, const struct partial *total, int nthreads)
{
	memset(rows, 0, offsetof(struct group_rows, room));
	rows->q = q;
	rows->total = total;
	rows->nthreads = nthreads;
	rows->results = calloc(q->nshown + 1, sizeof *rows->results);
	NEED(rows->results);
	for (size_t i = 0; i < q->nshown; i++)
		if (!result_is_dropped(total, &q->results[i]))
			rows->results[rows->nresults++] = &q->results[i];
	return STATUS_OK;
}

void group_rows_free(struct group_rows *rows)
{
	free(rows->results);
	text_free(&rows->shown);
	partial_free(&rows->blank);
	memset(rows, 0, offsetof(struct group_rows, room));
}

/* ---- one result of a group, by its states ---- */

/* The moments of a column, as formulas take them. */
struct cell_moments {
	struct column_moments m;
	struct group_sums sums;
	struct integer rooms[QUOTIENT_NSUMS + 1]; /* with quotients */
	alignas(16) unsigned char read[GROUP_NSTATES][GROUP_READ_NBYTES];
};

static void set_moment(struct column_moments *m, int cell, const void *x)
{
	switch (cell) {
#define CELL(id, type, ops, name) case CELL_##id: m->name = x; break;
		MOMENT_CELLS(CELL)
#undef CELL
	}
}

static bool has_quotients(struct group *g, const struct plan_column *column)
{
	return group_keeps_quotients(column) && group_quotients(g, column)->count > 0;
}

static void read_cell(struct group *g, const struct plan_column *column, struct cell_moments *out)
{
	group_cell_read(group_cell(g, column), column->needs, &out->sums);
	if (has_quotients(g, column)) {
		const struct group_sums quotients = {.numbers = quotient_fold_sums(group_quotients(g, column), out->rooms)};
		group_sums_add(&out->sums, &quotients, 0, &out->rooms[QUOTIENT_NSUMS]);
	}
	out->m = (struct column_moments){.numbers = out->sums.numbers};
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (column->needs & group_power_moment(i))
			set_moment(&out->m, CELL_SQUARES + i, &out->sums.powers[i]);
	for (unsigned left = column->states & ~(1u << GROUP_NUMBERS); left; left &= left - 1) {
		const int state = __builtin_ctz(left);
		if (!group_states[state]->read)
			continue;
		group_states[state]->read(g, column, out->read[state]);
		set_moment(&out->m, group_states[state]->cell, out->read[state]);
	}
}

/* A result of numbers. */
static char *write_statistic(struct group *g, const struct plan_column *column, enum operation operation, char *to)
{
	struct cell_moments moments;

	read_cell(g, column, &moments);
	return statistic_format(operation, &moments.m, to);
}

/* A result of numbers of a cell that is not long, without the way through the formulas' form. NULL: it is another result. */
static char *write_short(const struct group_cell *cell, enum operation operation, char *to)
{
	const int scale = (int)group_cell_scale(cell);

	switch (operation) {
	case OPERATION_SUM:
		return decimal_write(to, cell->sum, scale);
	case OPERATION_MIN:
	case OPERATION_MAX:
		return group_cell_count(cell) == 0 ? to : decimal_write(to, cell->extremes[operation == OPERATION_MAX], scale);
	case OPERATION_RANGE:
		return group_cell_count(cell) == 0 ? to : decimal_write(to, (int128)cell->extremes[1] - cell->extremes[0], scale);
	case OPERATION_MEAN:
		return exact_write_mean(&(struct exact){.value = cell->sum, .scale = scale}, scale, group_cell_count(cell), to);
	default:
		return NULL;
	}
}

/* A result of a pair. */
static char *write_pair(struct group *g, const struct plan *plan, const struct plan_pair *pair, enum operation operation, char *to)
{
	struct cell_moments x, y;

	read_cell(g, &plan->columns[pair->x], &x);
	read_cell(g, &plan->columns[pair->y], &y);
	return pair_statistic_format(operation, (const struct column_moments[]){x.m, y.m}, group_pair(g, pair), to);
}

#define SHORT_NVALUES 512

/* NULL: some are long, or there is no memory for a copy of the numbers. */
static char *write_quantile(const struct values_list *v, const struct group_cell *cell, enum operation operation, struct percentile p,
			    char *to)
{
	const uint64_t n = group_cell_count(cell);
	const unsigned scale = group_cell_scale(cell);
	int64_t few[SHORT_NVALUES], *x;

	if (group_cell_is_long(cell))
		return NULL;
	x = n <= SHORT_NVALUES ? few : malloc(n * sizeof *x);
	if (n)
		to = x && values_list_get(v, scale, x) ? quantile_write_short(operation, p, x, n, (int)scale, to) : NULL;
	if (x != few)
		free(x);
	return to;
}

/* has_texts: as of those below. */
static char *write_entropy(struct group *g, const struct plan_column *column, bool has_texts, char *to)
{
	struct entropy e = {.count = 0};

	group_keys_each(g, column, has_texts, entropy_add, &e);
	return entropy_write(&e, to);
}

/* Whether a column has values that are no numbers, which count. */
static bool counts_texts(const struct query *q, const struct partial *total, size_t c)
{
	return q->plan.columns[c].states >> GROUP_TEXT_COUNT & 1 && result_counts_texts(&q->plan.columns[c], &total->columns[c]);
}

/* Writes a result that the group's states hold, up to GROUP_RESULT_NBYTES; returns its end, or NULL if they do not hold it. */
static char *write_quickly(struct group *g, const struct query *q, const struct partial *total, const struct result *r, char *to)
{
	const struct plan_column *column = &q->plan.columns[r->column];
	const struct group_cell *cell = group_cell(g, column);
	uint64_t count;
	char *end;

	if (r->operation == OPERATION_COUNT_RECORDS)
		return decimal_write_u64(to, g->nrecords);
	if (!column->states)
		return NULL;
	if (operation_kind(r->operation) == OPERATION_PAIR)
		return write_pair(g, &q->plan, &q->plan.pairs[r->pair], r->operation, to);
	if (!group_cell_is_long(cell) && !has_quotients(g, column) && (end = write_short(cell, r->operation, to)))
		return end;
	switch (r->operation) {
	case OPERATION_COUNT:
		count = group_cell_count(cell) + (has_quotients(g, column) ? group_quotients(g, column)->count : 0);
		return decimal_write_u64(to, counts_texts(q, total, r->column) ? count + *group_text_count(g, column) : count);
	case OPERATION_COUNT_DISTINCT:
		count = group_keys(g, column)->n;
		return decimal_write_u64(to, counts_texts(q, total, r->column) ? count + group_text_keys(g, column)->n : count);
	case OPERATION_ENTROPY:
		return write_entropy(g, column, counts_texts(q, total, r->column), to);
	default:
		if (operation_kind(r->operation) != OPERATION_REDUCE || operation_needs(r->operation) & MOMENT_ENDS)
			return NULL;
		if (operation_needs(r->operation) & MOMENT_VALUES)
			return write_quantile(group_values(g, column), cell, r->operation, q->uses[r->use].percentile, to);
		return write_statistic(g, column, r->operation, to);
	}
}

/* Finds the first, last, smallest, largest, most or least frequent value of a group if the result is one of these; it has no bytes if
 * the group has no value. It belongs to the groups. as_spelled: a first or last one may be a number. Returns false for another result,
 * and where states do not hold all of it. */
static bool find_text(struct group *g, const struct group_rows *rows, const struct result *r, bool as_spelled, struct result_value *out)
{
	const struct plan_column *column = &rows->q->plan.columns[r->column];

	if (!column->states)
		return false;
	switch (r->operation) {
	case OPERATION_MODE:
	case OPERATION_ANTIMODE:
		group_keys_find(g, column, counts_texts(rows->q, rows->total, r->column),
				r->operation == OPERATION_MODE ? KEYS_MOST_FREQUENT : KEYS_LEAST_FREQUENT, &out->key);
		out->text = key_text(&out->key);
		out->nbytes = key_nbytes(&out->key);
		break;
	case OPERATION_TEXT_MIN:
	case OPERATION_TEXT_MAX:
		out->text = kept_text_bytes(r->operation == OPERATION_TEXT_MIN ? &group_texts(g, column)->least
									      : &group_texts(g, column)->greatest, &out->nbytes);
		break;
	case OPERATION_FIRST:
	case OPERATION_LAST:
		if (column->if_numeric || !as_spelled)
			return false;
		out->text = kept_text_bytes(&group_ends(g, column)[r->operation == OPERATION_LAST], &out->nbytes);
		break;
	default:
		return false;
	}
	out->is_number = out->nbytes == 0;
	return true;
}

/* ---- one result ---- */

/* Begins with a row whose results are made from a partial: a group's is made for that. */
static enum status begin_partial(struct group_rows *rows, struct group_row *row)
{
	const struct plan *plan = &rows->q->plan;

	if (!row->group)
		row->partial = rows->total;
	if (row->partial)
		return STATUS_OK;
	TRY(partial_need(&rows->blank, plan));
	partial_clear(&rows->blank);
	TRY(group_add_to(row->group, plan, &rows->blank));
	row->partial = &rows->blank;
	for (size_t c = 0; c < plan->ncolumns; c++)
		rows->blank.columns[c].kind = column_kind(&rows->total->columns[c]);
	TRY(ranks_list(rows->q, row->partial, &row->ranks));
	return ranks_find(rows->q, row->partial, rows->nthreads, row->ranks);
}

/* Writes a number in the style that is shown. */
static enum status show(struct group_rows *rows, bool is_count, struct result_value *v)
{
	if (!v->is_number || v->number || v->nbytes == 0)
		return STATUS_OK;
	rows->shown.nbytes = 0;
	TRY(number_show(number_shown, is_count, v->text, v->nbytes, &rows->shown));
	v->text = rows->shown.data;
	v->nbytes = rows->shown.nbytes;
	return STATUS_OK;
}

/* Finds a result that is not written quickly. */
static __attribute__((noinline)) enum status find_slowly(struct group_rows *rows, struct group_row *row, const struct result *r, char *to,
							 struct result_value *out)
{
	const struct query *q = rows->q;

	if (row->group && find_text(row->group, rows, r, false, out))
		return STATUS_OK;
	TRY(begin_partial(rows, row));
	result_find(q, row->partial, row->group ? row->ranks : rows->ranks, r, to, out);
	out->is_quoted = (r->operation == OPERATION_FIRST || r->operation == OPERATION_LAST) &&
			 result_holds_text(&q->plan.columns[r->column], &rows->total->columns[r->column]);
	return STATUS_OK;
}

enum status group_row_find(struct group_rows *rows, struct group_row *row, const struct result *r, char *to, struct result_value *out)
{
	char *end;

	out->number = NULL;
	out->is_number = true;
	out->is_quoted = false;
	to = to ? to : rows->room;
	end = row->group ? write_quickly(row->group, rows->q, rows->total, r, to) : NULL;
	out->text = to;
	out->nbytes = end ? (size_t)(end - to) : 0;
	if (!end)
		TRY(find_slowly(rows, row, r, to, out));
	return number_shown ? show(rows, operation_counts(r->operation), out) : STATUS_OK;
}

/* Finds a result that is computed of others. Errors: those of finisher_value. */
static enum status find_computed(struct group_rows *rows, const struct group_row *row, const struct result *r, struct result_value *out,
				 struct fault *fault)
{
	const uint32_t column = rows->q->finishing->columns[r - rows->q->results];

	out->number = NULL;
	out->is_quoted = false;
	TRY(finisher_value(rows->finisher, row->number, column, &out->text, &out->nbytes, &out->is_number, fault));
	return number_shown ? show(rows, finisher_counts(rows->finisher, column), out) : STATUS_OK;
}

void group_row_end(struct group_rows *rows, struct group_row *row)
{
	if (row->group && row->partial)
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

/* What is printed as text. */
struct printing {
	struct group_rows *rows;
	const struct row_format *format;
	struct text_buffer text;
	struct fault *fault;
};

/* Appends a value that is not printed as it is, and lies after what is appended. */
static __attribute__((noinline)) enum status append_moved(struct printing *p, size_t column, const struct result_value *v)
{
	char text[GROUP_RESULT_NBYTES];

	return row_append(&p->text, p->format, column, memcpy(text, v->text, v->nbytes), v->nbytes, result_is_string(v));
}

/* Appends the value of a column of the row. */
static inline enum status append_result(struct printing *p, struct group_row *row, size_t column, const struct result *r)
{
	const struct row_format *f = p->format;
	struct result_value v;
	char *number;

	if (p->rows->finisher && operation_is_computed(r->operation)) {
		TRY(find_computed(p->rows, row, r, &v, p->fault));
		return row_append(&p->text, f, column, v.text, v.nbytes, !v.is_number);
	}
	TRY(text_reserve(&p->text, GROUP_RESULT_NBYTES + row_value_nbytes_most(f, column, 0)));
	number = row_put_lead(f, column, p->text.data + p->text.nbytes); /* where most values are at once */
	if (p->rows->as_spelled && find_text(row->group, p->rows, r, true, &v))
		return row_append(&p->text, f, column, v.text, v.nbytes, !v.is_number);
	TRY(group_row_find(p->rows, row, r, number, &v));
	if (v.text == number && !v.is_quoted && f->takes_numbers && (v.nbytes || !row_has_strings(f))) {
		p->text.nbytes = (size_t)(row_put_end(f, column, number + v.nbytes) - p->text.data);
		return STATUS_OK;
	}
	if (v.text == number && v.nbytes)
		return append_moved(p, column, &v);
	return row_append(&p->text, f, column, v.text, v.nbytes, result_is_string(&v));
}

static enum status append_row(struct printing *p, struct group *g, size_t number)
{
	const size_t nkeys = p->rows->q->plan.nkeys;
	struct group_row row = {.group = g, .number = number};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < nkeys && status == STATUS_OK; i++) {
		size_t nbytes;
		const char *value = group_key_value(g, i, &nbytes);
		status = row_append(&p->text, p->format, i, value, nbytes, true);
	}
	number_shown = p->rows->q->plan.shown;
	for (size_t i = 0; i < p->rows->nresults && status == STATUS_OK; i++)
		status = append_result(p, &row, nkeys + i, p->rows->results[i]);
	number_shown = NULL;
	group_row_end(p->rows, &row);
	return status;
}

/* ---- many rows at once ---- */

#define BLOCK_NROWS ((size_t)4096) /* of a list */

/* The rows of a list or a source, which threads print block after block. */
struct row_queue {
	const struct group_list *list; /* NULL: they are the source's */
	size_t n, block_nrows;
	const struct printing *first; /* all printings are like it */
	struct ordered_queue blocks;
};

/* Computes what is computed of the results of groups [begin, end) of the list, up to ROW_BLOCK_NROWS; list: NULL: of all records. */
static enum status finish_groups(struct group_rows *rows, const struct group_list *list, size_t begin, size_t end)
{
	if (!rows->finisher)
		return STATUS_OK;
	finisher_clear(rows->finisher);
	for (size_t i = begin; i < end; i++)
		TRY(finisher_add(rows->finisher, rows, list ? group_list_at(list, i) : NULL));
	return finisher_run(rows->finisher);
}

static enum status append_listed(struct printing *p, const struct group_list *list, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const size_t number = (i - begin) % ROW_BLOCK_NROWS;
		if (number == 0)
			TRY(finish_groups(p->rows, list, i, end - i < ROW_BLOCK_NROWS ? end : i + ROW_BLOCK_NROWS));
		if (i + 8 < end)
			group_prefetch(group_list_at(list, i + 8), &p->rows->q->plan);
		if (i + 4 < end)
			group_values_prefetch(group_list_at(list, i + 4), &p->rows->q->plan);
		TRY(append_row(p, group_list_at(list, i), number));
	}
	return STATUS_OK;
}

static enum status append_group(void *context, struct group *group)
{
	return append_row(context, group, 0);
}

static enum status append_block(struct printing *p, const struct row_queue *q, struct group_reading *r, size_t block)
{
	size_t begin = block * q->block_nrows;
	size_t end = q->n - begin < q->block_nrows ? q->n : begin + q->block_nrows;

	p->text.nbytes = 0;
	if (p->rows->finisher)
		TRY(finisher_begin(p->rows->finisher, block));
	return q->list ? append_listed(p, q->list, begin, end) : group_reading_visit(r, block, end - begin, append_group, p);
}

/* Prints the text, from some byte on. */
static void print_made(const struct printing *p, size_t begin)
{
	if (p->text.nbytes > begin)
		fwrite(p->text.data + begin, 1, p->text.nbytes - begin, output_stream());
}

static void *print_blocks(void *queue)
{
	struct row_queue *q = queue;
	struct group_rows rows;
	struct printing p = *q->first;
	struct group_reading reading = {.reader = NULL};
	struct finisher finisher = {.finish = NULL};
	enum status status = group_rows_init(&rows, p.rows->q, p.rows->total, p.rows->nthreads);
	uint64_t block;

	if (status == STATUS_OK)
		status = finisher_init(&finisher, rows.q, finishing_printed(rows.q));
	rows.finisher = finisher.finish ? &finisher : NULL;
	rows.as_spelled = !row_has_strings(p.format) && !p.rows->q->plan.shown;
	p.fault = &reading.fault;
	if (status == STATUS_OK && !q->list)
		status = group_reading_begin(&reading, &rows.q->plan);
	p.rows = &rows;
	p.text = (struct text_buffer){.data = NULL};
	while (ordered_queue_take(&q->blocks, true, &block)) {
		enum status made = status;
		if (made == STATUS_OK && !ordered_queue_is_void(&q->blocks, block))
			made = append_block(&p, q, &reading, (size_t)block);
		if (ordered_queue_await(&q->blocks, block, block) && made == STATUS_OK) {
			if (block == 0)
				print_made(q->first, 0);
			print_made(&p, block == 0 ? p.format->nfirst_less : 0);
		}
		if (made != STATUS_OK && made != STATUS_GPU)
			fault_complete(&reading.fault, made);
		ordered_queue_finish(&q->blocks, block, made, &reading.fault);
	}
	group_reading_end(&reading);
	text_free(&p.text);
	finisher_free(&finisher);
	group_rows_free(&rows);
	return NULL;
}

/* Prints what p has, the names, and the rows in as many threads as there is work for, the caller's among them. The names wait
 * for the first rows: if these cannot be made, nothing is printed. */
static enum status print_rows(const struct printing *p, struct row_queue *q, struct fault *fault)
{
	size_t nthreads = (size_t)p->rows->nthreads, nblocks = (q->n + q->block_nrows - 1) / q->block_nrows;
	enum status status;

	if (nblocks == 0)
		print_made(p, 0);
	q->first = p;
	ordered_queue_init(&q->blocks, ORDERED_QUEUE_MOST, nblocks, false);
	ordered_queue_end(&q->blocks);
	team_run(nthreads < nblocks / 2 + 1 ? nthreads : nblocks / 2 + 1, print_blocks, q);
	status = ordered_queue_status(&q->blocks, fault);
	ordered_queue_destroy(&q->blocks);
	return status;
}

static struct row_queue queue_of(const struct group_list *list, const struct plan *plan, uint64_t nmost)
{
	uint64_t n = list ? list->n : group_store_source(plan->groups)->ngroups;

	return (struct row_queue){.list = list, .n = (size_t)(n < nmost ? n : nmost),
				  .block_nrows = list ? BLOCK_NROWS : GROUP_SOURCE_NGROUPS};
}

/* Makes the names of the columns; to be freed, with their array. */
static enum status make_names(const struct group_rows *rows, char **names)
{
	const struct query *q = rows->q;

	for (size_t i = 0; i < q->plan.nkeys; i++)
		NEED(names[i] = result_heading_of(q, strdup(q->plan.columns[q->plan.keys[i]].name)));
	for (size_t i = 0; i < rows->nresults; i++)
		NEED(names[q->plan.nkeys + i] = result_heading_of(q, result_name(q, rows->results[i])));
	return STATUS_OK;
}

/* Prints the names of the columns, and a row for each group of the list; NULL: for each that the source of the plan's
 * store has, up to nmost. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_WRITE; of a source, STATUS_GPU. */
static enum status print_text(struct group_rows *rows, const struct group_list *list, uint64_t nmost, struct style style,
			      struct fault *fault)
{
	const size_t ncolumns = rows->q->plan.nkeys + rows->nresults;
	struct row_format format = {.leads = NULL};
	struct printing p = {.rows = rows, .format = &format};
	struct row_queue q = queue_of(list, &rows->q->plan, nmost);
	char **names = calloc(ncolumns + 1, sizeof *names);
	enum status status = names ? make_names(rows, names) : STATUS_NO_MEMORY;

	if (status == STATUS_OK)
		status = row_format_init(&format, style, (const char *const *)names, ncolumns);
	if (status == STATUS_OK)
		status = row_append_heading(&p.text, &format, (const char *const *)names);
	if (status == STATUS_OK && list && rows->q->finishing)
		status = finishing_sum_before(rows->q->finishing, rows, &(struct group_list){.pieces = list->pieces, .n = q.n}, q.block_nrows,
					      (size_t)rows->nthreads);
	status = status == STATUS_OK ? print_rows(&p, &q, fault) : fault_set(fault, status, 0, NULL);
	if (status == STATUS_OK)
		fputs(row_closing(&format), output_stream());
	for (size_t i = 0; names && i < ncolumns; i++)
		free(names[i]);
	free(names);
	row_format_free(&format);
	text_free(&p.text);
	return status == STATUS_OK ? output_flush(fault) : status;
}

/* ---- tables ---- */

static enum status set_names(const struct group_rows *rows, struct table *t)
{
	char **names = calloc(t->ncolumns + 1, sizeof *names);
	enum status status = names ? make_names(rows, names) : STATUS_NO_MEMORY;

	for (size_t i = 0; names && i < t->ncolumns; i++)
		t->names[i] = (struct cell){.text = names[i], .is_number = i >= rows->q->plan.nkeys};
	free(names);
	return status;
}

static enum status set_row(struct group_rows *rows, struct group *g, size_t number, struct cell *cells, struct fault *fault)
{
	size_t nkeys = rows->q->plan.nkeys, nbytes;
	struct group_row row = {.group = g, .number = number};
	struct result_value v;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < nkeys; i++) {
		const char *value = group_key_value(g, i, &nbytes);
		if (!(cells[i].text = strndup(value, nbytes)))
			return STATUS_NO_MEMORY;
	}
	number_shown = rows->q->plan.shown;
	for (size_t i = 0; i < rows->nresults && status == STATUS_OK; i++) {
		const struct result *r = rows->results[i];
		status = rows->finisher && operation_is_computed(r->operation) ? find_computed(rows, &row, r, &v, fault)
									       : group_row_find(rows, &row, r, NULL, &v);
		THEN(status, result_copy(&v, &cells[nkeys + i]));
	}
	number_shown = NULL;
	group_row_end(rows, &row);
	return status;
}

/* The title of a picture: the results' names, and those of the keys. */
static enum status set_title(struct table *t)
{
	char *results = table_join(t->names + t->nlabels, t->ncolumns - t->nlabels, ", "), *keys = table_join(t->names, t->nlabels, ", ");

	if (!results || !keys || asprintf(&t->title, "%s by %s", results, keys) < 0)
		t->title = NULL;
	free(results);
	free(keys);
	return t->title ? STATUS_OK : STATUS_NO_MEMORY;
}

/* list: NULL: the row of all records. */
static enum status fill_table(struct group_rows *rows, const struct group_list *list, struct table *t, struct fault *fault)
{
	TRY(set_names(rows, t));
	t->one_record = !list;
	t->nlabels = rows->q->plan.nkeys;
	if (list)
		TRY(set_title(t));
	for (size_t i = 0; i < t->nrows; i++) {
		const size_t number = i % ROW_BLOCK_NROWS;
		if (number == 0)
			TRY(finish_groups(rows, list, i, t->nrows - i < ROW_BLOCK_NROWS ? t->nrows : i + ROW_BLOCK_NROWS));
		TRY(set_row(rows, list ? group_list_at(list, i) : NULL, number, &t->cells[i * t->ncolumns], fault));
	}
	return STATUS_OK;
}

/* Makes the table of the groups of the list; NULL: of all records. */
static enum status make_table(struct group_rows *rows, const struct group_list *list, struct table *t, struct fault *fault)
{
	struct finisher finisher;
	enum status status = table_init(t, rows->q->plan.nkeys + rows->nresults, list ? list->n : 1);

	if (finisher_init(&finisher, rows->q, finishing_printed(rows->q)) != STATUS_OK)
		status = STATUS_NO_MEMORY;
	rows->finisher = finisher.finish ? &finisher : NULL;
	THEN(status, fill_table(rows, list, t, fault));
	finisher_free(&finisher);
	rows->finisher = NULL;
	return fault_complete(fault, status);
}

/* How the values of the last key are sorted. */
struct pivoting {
	const struct plan *plan;
	bool is_descending;
};

static enum status arrange_values(void *context, const char *const *values, size_t n, size_t *places)
{
	const struct pivoting *p = context;

	return group_order_texts(p->plan, values, n, p->is_descending, places);
}

/* Makes the values of the last key columns, in the order of --sort if that names it. That key may be among the others. */
static enum status pivot(const struct plan *plan, const struct group_sort *sort, struct table *t, struct fault *fault)
{
	bool *is_repeated = calloc(plan->nkeys, sizeof *is_repeated), is_sorted = false;
	struct pivoting p = {plan, false};
	enum status status;

	NEED(is_repeated);
	for (size_t i = 0; i < plan->nkeys; i++)
		is_repeated[i] = plan->keys[i] == plan->keys[plan->nkeys - 1];
	for (size_t i = 0; i < sort->n && !is_sorted; i++)
		if (sort->keys[i].kind == SORT_KEY && is_repeated[sort->keys[i].index]) {
			is_sorted = true;
			p.is_descending = sort->keys[i].is_descending;
		}
	status = table_pivot(t, plan->nkeys, is_repeated, is_sorted ? arrange_values : NULL, &p, fault);
	free(is_repeated);
	return status;
}

/* The format that FORMAT_AUTO means for a table. */
static enum format find_format(const struct query *q, const struct table *t)
{
	if (q->summary)
		return FORMAT_TABLE;
	return t->ncolumns == 1 && !q->plan.nkeys ? FORMAT_PLAIN : FORMAT_CSV; /* a matrix has two or more */
}

/* Prints a table, which has been made with a status. */
static enum status print_table(const struct query *q, struct table *t, const struct group_printing *how, enum status status,
			       struct fault *fault)
{
	struct style style = how->style;

	if (status == STATUS_OK && how->pivots)
		status = pivot(&q->plan, &how->sort, t, fault);
	if (status == STATUS_OK && style.transposed)
		status = table_transpose(t, fault);
	if (style.format == FORMAT_AUTO && !picture_is_asked(&how->picture))
		style.format = find_format(q, t);
	status = status == STATUS_OK ? picture_print_table(&how->picture, t, style, fault) : fault_complete(fault, status);
	if (t->names)
		table_free(t);
	return status;
}

/* ---- all of it ---- */

/* Lists the groups that are printed, in their order. */
static enum status list_groups(const struct group_rows *rows, const struct group_printing *how, struct group_list *list,
			       struct fault *fault)
{
	size_t nthreads = (size_t)rows->nthreads;
	struct group_sort_key first;
	struct group_sort sort = how->sort;
	struct finishing *g = rows->q->finishing;

	if (g)
		TRY(finishing_sum(g, rows, nthreads));
	if (sort.n == 0) {
		TRY(group_list_make(rows->q->plan.groups, nthreads, list));
		if (g && g->listed.plan.npredicates)
			TRY(group_list_choose(list, rows, nthreads));
	} else {
		if (sort.keys[0].kind == SORT_FIRST) {
			const bool is_computed = operation_is_computed(rows->results[0]->operation);
			first = (struct group_sort_key){is_computed ? SORT_COMPUTED : SORT_RESULT, sort.keys[0].is_descending,
							is_computed ? sort.keys[0].index : (size_t)(rows->results[0] - rows->q->results)};
			sort.keys = &first;
		}
		TRY(group_list_sort(list, rows, &sort, how->top ? how->top : SIZE_MAX, nthreads, fault));
	}
	if (!g || g->fault_first == UINT64_MAX)
		return STATUS_OK;
	*fault = g->fault;
	return fault->status;
}

/* Whether the groups are printed as rows of text. */
static bool is_text(const struct group_printing *how)
{
	const enum format format = how->style.format;

	return !how->pivots && !how->style.transposed && format != FORMAT_TABLE && format != FORMAT_MARKDOWN && !picture_is_asked(&how->picture);
}

bool group_printing_reads_once(const struct group_printing *how, const struct query *q)
{
	if (q->finishing)
		return false;
	return how->sort.n ? how->top > 0 && how->top <= GROUPS_FEW : is_text(how);
}

static enum status print_list(struct group_rows *rows, const struct group_list *list,
			      const struct group_printing *how, struct fault *fault)
{
	struct group_list shown = {.pieces = list->pieces, .n = how->top && how->top < list->n ? how->top : list->n};
	struct table t = {.names = NULL};

	if (is_text(how))
		return print_text(rows, &shown, SIZE_MAX, how->style, fault);
	return print_table(rows->q, &t, how, make_table(rows, &shown, &t, fault), fault);
}

/* Whether '*' is asked for, and means no column. */
static bool lacks_numbers(const struct group_rows *rows)
{
	for (size_t i = 0; i < rows->nresults; i++)
		if (rows->results[i]->if_numeric)
			return false;
	return rows->q->star;
}

/* Begins with what is printed. */
static enum status prepare(const struct query *q, struct partial *total, struct group_rows *rows)
{
	enum status status = total->groups ? groups_store(total->groups) : STATUS_OK;

	THEN(status, group_rows_init(rows, q, total, ranks_nthreads(q)));
	return status == STATUS_OK && lacks_numbers(rows) ? STATUS_NO_NUMERIC_COLUMN : status;
}

/* Prints the groups of the run. */
static enum status print_groups(struct group_rows *rows, const struct group_printing *how, struct fault *fault)
{
	const bool is_listed = how->sort.n || !group_store_source(rows->q->plan.groups);
	struct group_list list = {.pieces = NULL};
	enum status status = is_listed ? list_groups(rows, how, &list, fault) : STATUS_OK;

	if (status == STATUS_OK && is_listed)
		status = print_list(rows, &list, how, fault);
	else if (status == STATUS_OK)
		status = print_text(rows, NULL, how->top ? how->top : UINT64_MAX, how->style, fault);
	group_list_free(&list);
	return status;
}

enum status group_result_print(const struct query *q, struct partial *total, const struct ranks *ranks,
			       const struct group_printing *how, struct fault *fault)
{
	struct group_rows rows = {.q = q};
	struct table t = {.names = NULL};
	enum status status;

	if (result_is_table(q))
		return print_table(q, &t, how, result_table(q, total, ranks, &t, fault), fault);
	status = prepare(q, total, &rows);
	rows.ranks = ranks;
	if (status == STATUS_OK && q->plan.nkeys)
		status = print_groups(&rows, how, fault);
	else if (status == STATUS_OK)
		status = print_table(q, &t, how, make_table(&rows, NULL, &t, fault), fault);
	group_rows_free(&rows);
	if (status != STATUS_OK && status != STATUS_GPU && fault->status != status)
		partial_fault(total, &q->plan, status, fault);
	return status == STATUS_OK ? status : fault->status;
}
