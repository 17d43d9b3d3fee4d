/* SPDX-License-Identifier: MIT
 *
 * merge.c - reading parts. See part.h.
 *
 * One thread reads the files in order, line by line: heads, notes, and records that the parts' ends cut. Memory holds what the
 * result needs, and some blocks of lines. The columns of a part without records and without a header are only assumed:
 * such a part adds nothing but its length.
 *
 * Nearly all of a part are lines of columns and of groups, which hold folds (fold/partial_text.h). That thread adds them to a
 * queue, in input order, a run of lines at a time; others take the runs and read them. Where order does not show in the results,
 * each thread reads into a partial of its own, whose groups move to the plan's store once they are many, and all partials are
 * joined at the end. Otherwise each run is read by itself, and added to the total in its turn. Threads are started only when
 * there is work for them, and the thread that adds runs takes one if too many wait. The first error in input order is
 * reported: runs are taken in that order, so all before it are read to their ends.
 */
#include "cluster/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "base/thread.h"
#include "csv/record.h"
#include "fold/groups.h"
#include "fold/result.h"
#include "fold/values_select.h"
#include "io/source.h"
#include "query/options.h"
#include "lang/select.h"
#include "simd/simd.h"

/* ---- lines of a file ---- */

#define READ_NBYTES ((size_t)1 << 18) /* of lines: about half a millisecond's work of one thread */

/* Tests read as much at once as a chunk has. */
static size_t read_nbytes(const struct options *o)
{
	return o->chunk_nbytes ? o->chunk_nbytes : READ_NBYTES;
}

/* A text that is open. Zeroed: none. */
struct part_text {
	const char *name; /* for messages; NULL: it is no file */
	struct part_source from;
	size_t ntaken; /* of from.text */
	struct source file;
	size_t read_nbytes; /* how much is read at once */
	char *data;         /* owned */
	size_t begin, end, capacity; /* behind the line, in data */
	bool is_at_end;     /* all has been read */
	const char *line;   /* with its LF; only the last line of the file may lack it */
	size_t nbytes;      /* of the line; 0: there is no more */
	uint64_t nlines;    /* so far, with this */
};

/* Opens a text. Errors, in fault, with the file's name: STATUS_OPEN, STATUS_READ, STATUS_NO_MEMORY. Free with part_text_close in
 * any case. */
static enum status part_text_open(struct part_text *t, const struct part_source *from, size_t read_nbytes, struct fault *fault)
{
	*t = (struct part_text){.from = *from, .read_nbytes = read_nbytes};
	if (!from->name)
		return STATUS_OK;
	t->file = (struct source){.path = from->name, .nthreads = 1, .is_raw = true};
	t->name = source_name(&t->file);
	return source_open(&t->file, fault);
}

static void part_text_close(struct part_text *t)
{
	free(t->data);
	source_close(&t->file);
}

/* Reads on, behind what is left of data, which moves to the front. */
static enum status read_more(struct part_text *t, struct fault *fault)
{
	size_t left = t->end - t->begin, n = 0;
	ssize_t nread;

	if (left && t->begin)
		memmove(t->data, t->data + t->begin, left);
	t->begin = 0;
	t->end = left;
	TRY(ARRAY_GROW(t->data, t->capacity, left + t->read_nbytes));
	if (t->name) {
		TRY(source_take(&t->file, t->data + left, t->capacity - left, &n, fault));
	} else if (t->from.text) {
		n = t->from.text->nbytes - t->ntaken;
		n = n < t->capacity - left ? n : t->capacity - left;
		memcpy(t->data + left, t->from.text->data + t->ntaken, n);
		t->ntaken += n;
	} else {
		nread = t->from.read(t->from.context, t->data + left, t->capacity - left);
		if (nread < 0)
			return fault_set(fault, STATUS_READ, errno, NULL);
		n = (size_t)nread;
	}
	t->end += n;
	t->is_at_end = n == 0;
	return STATUS_OK;
}

/* Goes to the next line. Errors: STATUS_READ, STATUS_NO_MEMORY, those of a codec. */
static enum status part_text_next(struct part_text *t, struct fault *fault)
{
	size_t nsearched = 0;

	for (;;) {
		size_t left = t->end - t->begin;
		const char *end = left > nsearched ? memchr(t->data + t->begin + nsearched, '\n', left - nsearched) : NULL;
		t->line = t->data + t->begin;
		if (end || t->is_at_end) {
			t->nbytes = end ? (size_t)(end - t->line) + 1 : left;
			t->begin += t->nbytes;
			t->nlines += t->nbytes > 0;
			return STATUS_OK;
		}
		nsearched = left;
		TRY(read_more(t, fault));
	}
}

/* ---- maps ---- */

/* Where a part's columns are in the plan. Freed by whoever uses it last. */
struct part_map {
	atomic_uint nusers;
	struct partial_map map; /* owned */
};

/* Makes one with a use and an empty map. NULL: no memory. */
static struct part_map *part_map_new(void)
{
	struct part_map *map = calloc(1, sizeof *map);

	if (map)
		atomic_init(&map->nusers, 1);
	return map;
}

static void part_map_release(struct part_map *map)
{
	if (!map || atomic_fetch_sub_explicit(&map->nusers, 1, memory_order_acq_rel) != 1)
		return;
	free(map->map.of->at);
	free(map->map.are_swapped);
	free(map);
}

/* ---- runs of lines ---- */

/* Some lines of a part, copied out of its text. Its memory is used again. */
struct line_run {
	struct text_buffer text; /* whole lines */
	struct part_map *map;
	const char *name; /* of the file. Not owned, and valid to the end. */
	uint64_t nlines;  /* of the file, before the run */
};

#define WAITING_NRUNS 4 /* for each thread */

/* What a thread reads with. */
struct line_reader {
	struct part_lines *of;
	struct partial partial; /* what it has read, and not added to the total or the store */
	struct partial blank;   /* the identity */
	struct json_text json;
	struct fault fault;
};

struct part_lines {
	const struct plan *plan;
	struct partial *total;
	bool in_order;
	int nthreads;
	struct line_reader *readers; /* nthreads; the first is that of the thread that adds runs */
	struct team team;            /* of the other readers */
	atomic_size_t nreaders;      /* that threads have taken, the first included */
	struct ordered_queue queue;
	struct line_run *runs; /* by number modulo capacity: those in the queue, and the next one */
	size_t capacity;
	uint64_t nadded;
	struct line_run *open; /* the next one, which has lines; NULL: it has none yet */
};

/* ---- a run ---- */

static enum status fail_line(struct line_reader *r, const struct line_run *run, uint64_t line, enum status status)
{
	if (status == STATUS_MANY_KEYS)
		return partial_fault(&r->partial, r->of->plan, status, &r->fault);
	fault_set(&r->fault, status == STATUS_DAMAGED ? STATUS_PART_DAMAGED : status, 0, NULL);
	r->fault.file = run->name;
	r->fault.line = line;
	return r->fault.status;
}

/* Reads the lines into the reader's partial. */
static enum status read_run(struct line_reader *r, const struct line_run *run)
{
	uint64_t line = run->nlines;

	if (partial_need(&r->partial, r->of->plan) != STATUS_OK || partial_need(&r->blank, r->of->plan) != STATUS_OK)
		return fail_line(r, run, line, STATUS_NO_MEMORY);
	for (const char *at = run->text.data, *end = at + run->text.nbytes; at < end; at = r->json.end + 1) {
		r->json.at = at;
		r->json.end = memchr(at, '\n', (size_t)(end - at));
		r->json.status = STATUS_OK;
		r->json.reads = true;
		line++;
		partial_read_line(&r->partial, r->of->plan, &run->map->map, &r->blank, &r->json);
		if (r->json.status != STATUS_OK)
			return fail_line(r, run, line, r->json.status);
	}
	return STATUS_OK;
}

/* Adds the reader's partial to the total, in the run's turn or, where order does not show, only moves groups on, once they are too
 * many for a thread's cache. */
static enum status add_partial(struct line_reader *r, uint64_t number)
{
	struct part_lines *l = r->of;
	struct groups *groups = r->partial.groups;
	enum status status = STATUS_OK;

	if (l->in_order && !ordered_queue_await(&l->queue, number, number))
		return STATUS_OK;
	if (l->in_order) {
		status = partial_combine(l->total, &r->partial);
		partial_clear(&r->partial);
	} else if (groups && groups->ngroups > GROUPS_FEW) {
		status = groups_store(groups);
	}
	return partial_fault(l->in_order ? l->total : &r->partial, l->plan, status, &r->fault);
}

/* Takes the next run and reads it. waits: for one to be added; else false is returned if no run is waiting. */
static bool do_run(struct line_reader *r, bool waits)
{
	struct part_lines *l = r->of;
	enum status status = STATUS_OK;
	struct line_run *run;
	uint64_t number;

	if (!ordered_queue_take(&l->queue, waits, &number))
		return false;
	run = &l->runs[number % l->capacity];
	if (!ordered_queue_is_void(&l->queue, number)) {
		status = read_run(r, run);
		THEN(status, add_partial(r, number));
	}
	part_map_release(run->map);
	ordered_queue_finish(&l->queue, number, status, &r->fault);
	return true;
}

/* ---- threads that read runs ---- */

static void *thread_main(void *lines)
{
	struct part_lines *l = lines;
	struct line_reader *r = &l->readers[atomic_fetch_add(&l->nreaders, 1)];

	while (do_run(r, true))
		;
	return NULL;
}

/* Adds the run that is open. Returns STATUS_OK, or that of an error in a run before: part_lines_wait has the
 * error. */
static enum status part_lines_add(struct part_lines *l)
{
	struct fault ignored;

	l->open = NULL;
	ordered_queue_put(&l->queue);
	if (l->nadded++ > l->queue.turn && l->team.nthreads + 1 < (size_t)l->nthreads) /* one is being read, or waits */
		team_start(&l->team, l->team.nthreads + 1, thread_main, l);
	/* Room for the next one. A single thread reads at once. */
	while (l->nadded - l->queue.turn >= (l->nthreads == 1 ? 1 : l->capacity))
		if (!do_run(&l->readers[0], false))
			ordered_queue_await(&l->queue, l->nadded - l->capacity + 1, l->nadded - l->capacity + 1);
	return ordered_queue_status(&l->queue, &ignored);
}

/* Adds a line of a text to the open run. Errors: STATUS_NO_MEMORY. */
static enum status part_lines_put(struct part_lines *l, const struct part_text *t, struct part_map *map)
{
	struct line_run *run = &l->runs[l->nadded % l->capacity];

	if (!l->open) {
		run->text.nbytes = 0;
		run->map = map;
		run->name = t->name;
		run->nlines = t->nlines - 1;
		atomic_fetch_add_explicit(&map->nusers, 1, memory_order_relaxed);
		l->open = run;
	}
	return text_append(&run->text, t->line, t->nbytes);
}

/* Waits until all runs have been read. Errors, the first in input order: STATUS_PART_DAMAGED, with file and line;
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_MANY_GROUPS. */
static enum status part_lines_wait(struct part_lines *l, struct fault *fault)
{
	if (l->open) /* what was read before an error */
		part_lines_add(l);
	while (do_run(&l->readers[0], false))
		;
	ordered_queue_await(&l->queue, l->nadded, l->nadded);
	return ordered_queue_status(&l->queue, fault);
}

/* ---- the end of runs ---- */

/* Joins what the readers have. */
static enum status join_readers(struct part_lines *l, struct fault *fault)
{
	struct partial **partials = calloc((size_t)l->nthreads, sizeof *partials);
	enum status status = STATUS_OK;
	size_t n = 0;

	NEED(partials);
	for (int i = 0; i < l->nthreads; i++)
		if (l->readers[i].partial.columns)
			partials[n++] = &l->readers[i].partial;
	if (!l->in_order)
		status = total_join(l->total, partials, n, l->plan, l->nthreads, fault);
	free(partials);
	if (status != STATUS_OK || !l->total->groups)
		return status;
	status = groups_store(l->total->groups);
	return status == STATUS_OK ? status : partial_fault(l->total, l->plan, status, fault);
}

/* Waits, makes the total that of all runs, with its groups in the plan's store, and frees l; NULL: does nothing.
 * Errors: as above; fault is left alone without one. */
static enum status part_lines_end(struct part_lines *l, struct fault *fault)
{
	enum status status;

	if (!l)
		return STATUS_OK;
	status = l->nthreads ? part_lines_wait(l, fault) : STATUS_OK;
	ordered_queue_end(&l->queue);
	team_join(&l->team);
	if (status == STATUS_OK && l->nthreads)
		status = join_readers(l, fault);
	for (int i = 0; i < l->nthreads; i++) {
		partial_free(&l->readers[i].partial);
		partial_free(&l->readers[i].blank);
		text_free(&l->readers[i].json.scratch);
		text_free(&l->readers[i].json.joined);
	}
	for (size_t i = 0; l->runs && i < l->capacity; i++)
		text_free(&l->runs[i].text);
	free(l->readers);
	free(l->runs);
	ordered_queue_destroy(&l->queue);
	free(l);
	return status;
}

/* Begins to merge lines into a plan's total, which is the caller's to use until part_lines_end, but for its partial where
 * plan_is_ordered: then only after part_lines_wait. NULL: no memory. */
static struct part_lines *part_lines_begin(const struct plan *plan, struct partial *total, const struct options *o)
{
	struct part_lines *l = calloc(1, sizeof *l);
	size_t n = (size_t)(o->nthreads ? o->nthreads : cores_count());

	if (!l)
		return NULL;
	n = n < TEAM_NTHREADS_MAX ? n : TEAM_NTHREADS_MAX;
	*l = (struct part_lines){.plan = plan, .total = total, .in_order = plan_is_ordered(plan),
				 .nthreads = (int)n, .nreaders = 1, .capacity = n * WAITING_NRUNS};
	l->readers = calloc(n, sizeof *l->readers);
	l->runs = calloc(l->capacity, sizeof *l->runs);
	ordered_queue_init(&l->queue, l->capacity, 0, false);
	for (size_t i = 0; l->readers && i < n; i++)
		l->readers[i].of = l;
	if (l->readers && l->runs)
		return l;
	l->nthreads = 0;
	part_lines_end(l, &(struct fault){.status = STATUS_OK});
	return NULL;
}

/* ---- merging ---- */

/* A file of parts. */
struct part_file {
	struct part_text text;
	uint64_t begin;   /* lines before the current part */
	uint32_t crc;     /* of the current part so far */
	bool is_inside;   /* a part has begun and not ended */
	bool is_skipped;  /* it has no records */
	size_t ninputs;   /* of the parts before, less one where the part goes on with the last */
	uint64_t offset_bytes;  /* of the part in the input */
	uint64_t nlines_before; /* of the file in the midst of which the part begins */
	bool ends_within;       /* a file, of which the next part goes on */
	struct part_map *map;
	const struct plan *plan; /* for records that the part's ends cut: its columns are where they are in the
				  * part's inputs */
};

/* ---- the order of parts ----
 *
 * Parts of one file behind each other must be whole and in order, and each must begin as the one before ended. A border of two
 * parts lies after an LF. A part is written as if a record began there, which is wrong where the LF is one in a quoted field.
 * The part before knows: it has ended inside quotes. Then the part after it must be written again as one that begins in them.
 */

__attribute__((format(printf, 2, 3))) static enum status fail_order(struct fault *fault, const char *format, ...)
{
	char words[FAULT_DETAIL_NBYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	return fault_set(fault, STATUS_PART_ORDER, 0, words);
}

/* Names a part of a file. */
#define PART_WORDS "part %" PRIu64 "/%" PRIu64 " of %.100s"

/* Part `number` of the file is not where it must be. */
static enum status fail_missing(const struct part_seam *of, uint64_t number, struct fault *fault)
{
	return fail_order(fault, PART_WORDS " is missing before this", number, of->of, of->input);
}

/* Checks that a part follows another, of which right is the end, of == 0: it ends with a file. is_first: no part comes before;
 * then is_piece says whether the part may begin in the midst of a file. */
static enum status check_order(const struct part_seam *right, const struct part_seam *left, bool is_first,
			       bool is_piece, struct fault *fault)
{
	if (right->of && (left->of == 0 || strcmp(left->input, right->input)))
		return fail_missing(right, right->number + 1, fault);
	if (left->of == 0 || (is_first && is_piece))
		return STATUS_OK;
	if (right->of == 0)
		return fail_missing(left, is_first ? 1 : left->number - 1, fault);
	if (left->size != right->size)
		return fail_order(fault, "%.100s had %" PRIu64 " bytes for part %" PRIu64 ", and %" PRIu64 " for this: write its "
				  "parts again", right->input, right->size, right->number, left->size);
	if (left->of != right->of)
		return fail_order(fault, "part %" PRIu64 "/%" PRIu64 " behind part %" PRIu64 "/%" PRIu64 " of %.100s",
				  left->number, left->of, right->number, right->of, right->input);
	if (left->number != right->number + 1 || left->border != right->border)
		return fail_missing(right, right->number + 1, fault);
	if (right->is_quoted == left->is_quoted)
		return STATUS_OK;
	return fail_order(fault, PART_WORDS " begins %s a quoted field: write it again with --part %" PRIu64 "/%" PRIu64 "%s",
			  left->number, left->of, left->input, right->is_quoted ? "inside" : "outside", left->number, left->of,
			  right->is_quoted ? ",quoted" : "");
}

/* Checks that the last part ends with a file. */
static enum status check_end(const struct part_seam *right, struct fault *fault)
{
	if (right->of == 0)
		return STATUS_OK;
	return fail_order(fault, PART_WORDS " is missing behind these", right->number + 1, right->of, right->input);
}

/* *to = a copy, whose name it owns. */
static enum status copy_seam(struct part_seam *to, const struct part_seam *from)
{
	char *input = from->input ? strdup(from->input) : NULL;

	if (from->input && !input)
		return STATUS_NO_MEMORY;
	free(to->input);
	*to = *from;
	to->input = input;
	return STATUS_OK;
}

/* ---- the query ---- */

/* Sets how results are printed, and with what, to what the command line says. */
static void set_given(struct options *o, struct options *given)
{
	o->renames = given->renames; /* they have a new owner */
	o->nrenames = given->nrenames;
	given->renames = NULL;
	given->nrenames = 0;
	o->style = given->style;
	o->sort = given->sort;
	o->top = given->top;
	o->picture = given->picture;
	o->partial = given->partial;
	o->memory_nbytes = given->memory_nbytes;
	o->nthreads = given->nthreads;
	o->verbose = given->verbose;
	o->device = DEVICE_CPU;
}

/* A column that '*' leaves out because its first value is a text: one run would not have read its numbers. What other operations
 * ask of it they take as text. */
static void take_unfit_as_text(struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		if (!column->if_numeric || !column->begins_as_text || column->invalid == INVALID_TEXT)
			continue;
		column->if_numeric = false;
		column->takes_text = true;
	}
}

/* Forgets the columns that no result shows, once all parts have been read. */
static void forget_unasked(struct merge *m)
{
	const struct query *q = m->query;
	bool *is_asked = calloc(q->plan.ncolumns + 1, sizeof *is_asked);

	for (size_t i = 0; is_asked && i < q->nresults; i++) {
		is_asked[q->results[i].column] = true;
		is_asked[q->results[i].other] = true;
	}
	for (size_t c = 0; is_asked && c < q->plan.ncolumns; c++)
		if (!is_asked[c] && !q->plan.columns[c].is_key)
			column_clear(&m->total->partial.columns[c]);
	free(is_asked);
}

/* Makes the query that the part of m->first answers, with what the command line says of printing, and the total of
 * no records. Errors, in m->fault: STATUS_USAGE, STATUS_UNKNOWN_COLUMN, STATUS_NO_MEMORY. */
static enum status begin_merge(struct merge *m)
{
	enum status status;

	TRY(asked_parse(&m->first.asked, m->options, m->fault));
	set_given(m->options, &m->given);
	status = options_check(m->options, m->fault); /* what is printed goes with the parts' query */
	m->options->merge = true;
	if (m->options->emits && status != STATUS_NO_MEMORY) /* results are what a part is of */
		return fault_set(m->fault, m->options->nuses ? STATUS_PART_RECORDS : STATUS_PART_DAMAGED, 0, NULL);
	TRY(status);
	TRY(query_make_again(m->query, m->options, &m->first.header, m->fault));
	if (m->query->header.present)
		plan_use_header(&m->query->plan, m->query->header.line, m->query->header.line_nbytes, m->first.seeks_header);
	m->query->plan.counts_records = true;
	if (m->options->partial)
		plan_as_part(&m->query->plan);
	else
		take_unfit_as_text(&m->query->plan);
	values_may_drop(false);
	m->has_begun = true;
	TRY(groups_plan(&m->query->plan, 0));
	TRY(total_init(m->total, &m->query->plan));
	m->lines = part_lines_begin(&m->query->plan, &m->total->partial, m->options);
	NEED(m->lines);
	return STATUS_OK;
}

/* Whether something was left out of which no part has a note: the parts are damaged. */
static bool lacks_note(const struct merge *m)
{
	const struct plan *plan = &m->query->plan;
	const struct partial *p = &m->total->partial;

	for (size_t c = 0; c < plan->ncolumns; c++)
		if (result_nleft_out(&plan->columns[c], &p->columns[c]) > 0 && !total_note_of_values(m->total, c))
			return true;
	return (p->nragged > 0 && !m->total->notes[NOTE_RAGGED]) ||
	       (p->nheaders > 0 && !m->total->notes[NOTE_HEADERS]) ||
	       (p->nundecided > 0 && !m->total->notes[NOTE_UNDECIDED]);
}

enum status merge_check(const struct merge *m, struct fault *fault)
{
	const struct plan *plan = &m->query->plan;
	const struct note *first = NULL;

	if (lacks_note(m))
		return fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct column_partial *column = &m->total->partial.columns[c];
		const struct note *note = total_note_of_values(m->total, c);
		if (!plan->columns[c].if_numeric || plan->columns[c].invalid != INVALID_ERROR ||
		    column_kind(column) != COLUMN_NUMBER || column->ninvalid == 0 || !note)
			continue;
		if (!first || note->file < first->file || (note->file == first->file && note->line < first->line))
			first = note;
	}
	if (!first)
		return STATUS_OK;
	note_read(first, fault);
	fault->file = m->inputs[first->file];
	return fault->status;
}

/* ---- where its columns are ---- */

/* Maps a part's columns to the plan's by name. Of several columns with one name, the first is the first. */
static enum status map_columns(struct fold_map *map, const struct part_head *head, const struct plan *plan)
{
	struct name_index part = {NULL, 0}, whole = {NULL, 0};
	enum status status = name_index_make(&part, head->columns, sizeof *head->columns, head->ncolumns);
	size_t i = 0, k = 0;

	THEN(status, name_index_make(&whole, &plan->columns->name, sizeof *plan->columns, plan->ncolumns));
	while (status == STATUS_OK && i < part.nentries) {
		int order = k < whole.nentries ? strcmp(part.entries[i].name, whole.entries[k].name) : -1;
		if (order == 0)
			map->at[part.entries[i].field] = whole.entries[k].field;
		i += order <= 0;
		k += order >= 0;
	}
	name_index_free(&part);
	name_index_free(&whole);
	return status;
}

/* Like map_columns; both lists are in the order of fields, and have computed columns behind them, in the query's order. */
static void map_fields(struct fold_map *map, const struct part_head *head, const struct plan *plan)
{
	size_t nfields = plan->ncolumns - plan->nlets;

	for (size_t i = 0, c = 0; i < head->nfields; i++) {
		while (c < nfields && plan->columns[c].field < head->fields[i])
			c++;
		if (c < nfields && plan->columns[c].field == head->fields[i])
			map->at[i] = c;
	}
	for (size_t i = head->nfields, let = nfields; i < head->ncolumns; i++) {
		size_t c = let;
		while (c < plan->ncolumns && strcmp(plan->columns[c].name, head->columns[i]))
			c++;
		if (c == plan->ncolumns)
			continue;
		map->at[i] = c;
		let = c + 1;
	}
}

/* The plan's pair of two of its columns that no pair before took; pairs of both come in the same order. */
static size_t find_pair(const struct plan *plan, size_t x, size_t y, const bool *is_taken, bool *is_swapped)
{
	for (int swapped = 0; swapped < 2; swapped++)
		for (size_t k = 0; k < plan->npairs; k++) {
			const struct plan_pair *p = &plan->pairs[k];
			*is_swapped = swapped;
			if (!is_taken[k] && x == (swapped ? p->y : p->x) && y == (swapped ? p->x : p->y))
				return k;
		}
	return SIZE_MAX;
}

static void map_pairs(struct partial_map *map, const struct part_head *head, const struct plan *plan, bool *is_taken)
{
	for (size_t i = 0; i < head->nsides / 2; i++) {
		const size_t *sides = &head->sides[2 * i];
		size_t x = map->of[PARTIAL_COLUMNS].at[sides[0]], y = map->of[PARTIAL_COLUMNS].at[sides[1]], k = i;
		map->are_swapped[i] = false;
		if (k >= plan->npairs || is_taken[k] || plan->pairs[k].x != x || plan->pairs[k].y != y)
			k = find_pair(plan, x, y, is_taken, &map->are_swapped[i]);
		map->of[PARTIAL_PAIRS].at[i] = k;
		if (k != SIZE_MAX)
			is_taken[k] = true;
	}
}

/* Finds the columns and pairs of a part in a plan, by name, or by place where its inputs have no header. *lacks: the first
 * column of the plan that the part does not have; plan->ncolumns: none. Errors: STATUS_NO_MEMORY. */
static enum status make_map(struct partial_map *map, const struct part_head *head, const struct plan *plan,
			    size_t *lacks)
{
	const size_t npairs = head->nsides / 2, counts[PARTIAL_NKINDS] = {head->ncolumns, npairs, plan->nwindows};
	size_t *at = malloc((head->ncolumns + npairs + plan->nwindows + 1) * sizeof *at);
	bool *has = calloc(plan->ncolumns + plan->npairs + 1, sizeof *has);
	struct fold_map *columns = map->of;
	enum status status = STATUS_OK;

	map->are_swapped = calloc(npairs + 1, sizeof *map->are_swapped);
	for (int k = 0; k < PARTIAL_NKINDS; at += at ? counts[k] : 0, k++)
		map->of[k] = (struct fold_map){counts[k], at};
	for (size_t i = 0; columns->at && i < head->ncolumns; i++)
		columns->at[i] = SIZE_MAX;
	for (size_t i = 0; columns->at && i < plan->nwindows; i++)
		map->of[PARTIAL_WINDOWS].at[i] = i;
	if (!has || !columns->at || !map->are_swapped)
		status = STATUS_NO_MEMORY;
	else if (head->header.present)
		status = map_columns(columns, head, plan);
	else
		map_fields(columns, head, plan);
	for (size_t i = 0; status == STATUS_OK && i < columns->n; i++)
		if (columns->at[i] != SIZE_MAX)
			has[columns->at[i]] = true;
	for (*lacks = 0; status == STATUS_OK && *lacks < plan->ncolumns && has[*lacks];)
		++*lacks;
	if (status == STATUS_OK)
		map_pairs(map, head, plan, has + plan->ncolumns);
	free(has);
	return status;
}

/* ---- heads ---- */

/* Has m's fault name the file's current line. Returns its status. */
static enum status place_fault(struct merge *m, const struct part_file *f)
{
	m->fault->file = f->text.name;
	m->fault->line = f->text.nlines;
	return m->fault->status;
}

/* Sets m's fault to a status, words, and the file's current line. Returns status. */
static enum status fail(struct merge *m, const struct part_file *f, enum status status, const char *words)
{
	fault_set(m->fault, status, 0, words);
	return place_fault(m, f);
}

/* The first option of one list that differs from the other's. */
static const char *find_difference(const struct asked *a, const struct asked *b)
{
	size_t i = 0;

	while (i < a->n && i < b->n && !strcmp(a->at[i], b->at[i]))
		i++;
	return i < a->n ? a->at[i] : b->at[i];
}

/* Compares a part's query with the first part's, or with the command line's. */
static enum status check_query(struct merge *m, const struct part_file *f, const struct part_head *head)
{
	const struct asked *wanted = m->is_state ? &m->options->asked : &m->first.asked;

	if ((m->is_state || m->has_head) && !asked_equal(&head->asked, wanted))
		return fail(m, f, m->is_state ? STATUS_STATE_QUERY : STATUS_PART_QUERY, find_difference(&head->asked, wanted));
	if (m->given.asked.n && !asked_equal(&head->asked, &m->given.asked))
		return option_fault(m->fault, "--merge: the query is that of the parts, which differs in %.100s: "
				    "leave it out", find_difference(&m->given.asked, &head->asked));
	return STATUS_OK;
}

/* is_same: the first is the last of the parts before. */
static enum status add_inputs(struct merge *m, const char *const *inputs, size_t n, bool is_same)
{
	for (size_t i = is_same; i < n; i++) {
		TRY(ARRAY_PUSH(m->inputs, m->ninputs, strdup(inputs[i])));
		NEED(m->inputs[m->ninputs - 1]);
	}
	return STATUS_OK;
}

/* Makes the head the one from which the query is made: the first, but rather one whose input is not empty. */
static void prefer(struct merge *m, struct part_head *head)
{
	bool better = !m->has_head || (m->first.header.nfields == 0 && head->header.nfields > 0);

	if (m->has_begun || !better)
		return;
	part_head_free(&m->first);
	m->first = *head;
	memset(head, 0, sizeof *head);
	m->has_head = true;
}

static enum status map_part(struct merge *m, struct part_file *f, const struct part_head *head)
{
	size_t lacks = 0;
	enum status status;

	NEED(f->map = part_map_new());
	status = make_map(&f->map->map, head, &m->query->plan, &lacks);
	f->map->map.offset_bytes = f->offset_bytes;
	if (status == STATUS_OK && lacks == m->query->plan.ncolumns)
		return STATUS_OK;
	fail(m, f, status == STATUS_OK ? STATUS_HEADER_LACKS : status, NULL);
	if (status == STATUS_OK)
		m->fault->column = m->query->plan.columns[lacks].name;
	return m->fault->status;
}

/* Whether the part's columns are where the run's are, in as many fields, below the same header: one that records are compared
 * with by the same bytes. */
static bool is_placed_alike(const struct merge *m, const struct part_file *f, const struct part_head *head)
{
	const struct plan *run = &m->query->plan;
	const size_t *at = f->map->map.of[PARTIAL_COLUMNS].at;

	for (size_t i = 0; i < head->nfields; i++)
		if (at[i] != SIZE_MAX && run->columns[at[i]].field != head->fields[i])
			return false;
	return head->header.nfields == 0 ||
	       (head->header.nfields == run->ragged.nfields && head->seeks_header == (run->sought.nbytes > 0) &&
		head->header.line_nbytes == run->header_nbytes &&
		(run->header_nbytes == 0 || !memcmp(head->header.line, run->header, run->header_nbytes)));
}

/* Finds the plan for the records that the part's ends cut, or makes one, which the merge owns: folders point to it. */
static enum status find_plan(struct merge *m, struct part_file *f, struct part_head *head)
{
	const struct fold_map *columns = &f->map->map.of[PARTIAL_COLUMNS];
	struct file_plan *made;

	f->plan = &m->query->plan;
	if ((head->left.of == 0 && head->right.of == 0) || is_placed_alike(m, f, head))
		return STATUS_OK;
	made = calloc(1, sizeof *made);
	if (!made || plan_of_file(&made->plan, f->plan, head->header.nfields, head->header.ends_empty) != STATUS_OK) {
		free(made);
		return STATUS_NO_MEMORY;
	}
	made->next = m->plans;
	made->header = head->header.line;
	head->header.line = NULL;
	plan_use_header(&made->plan, made->header, head->header.line_nbytes, head->seeks_header);
	for (size_t i = 0; i < head->nfields; i++)
		if (columns->at[i] != SIZE_MAX)
			made->plan.columns[columns->at[i]].field = (uint32_t)head->fields[i];
	m->plans = made;
	f->plan = &made->plan;
	return STATUS_OK;
}

/* Places the part behind those before: where it begins in the input. */
static enum status place_part(struct merge *m, struct part_file *f, const struct part_head *head)
{
	bool is_first = m->ninputs == 0;
	uint64_t nlines;
	enum status status = check_order(&m->right, &head->left, is_first, m->given.partial, m->fault);

	if (status != STATUS_OK)
		return place_fault(m, f);
	f->ends_within = head->right.of > 0;
	f->nlines_before = head->left.of ? m->right.nlines : 0;
	f->offset_bytes = head->left.of ? m->right.offset_bytes : m->offset_bytes;
	nlines = head->right.nlines + (head->right.is_same ? m->right.nlines : 0);
	if (is_first && head->left.of)
		TRY(copy_seam(&m->left, &head->left));
	TRY(copy_seam(&m->right, &head->right));
	m->is_one_file = (is_first || m->is_one_file) && head->right.is_same;
	m->right.nlines = nlines;
	m->right.offset_bytes = f->offset_bytes + head->right.offset_bytes;
	m->right.is_same = m->is_one_file;
	return STATUS_OK;
}

/* Begins with a part whose head has been read. */
static enum status begin_part(struct merge *m, struct part_file *f, struct part_head *head)
{
	uint64_t nbytes = head->nbytes;
	bool is_first = m->ninputs == 0, is_same = !is_first && head->left.of > 0;
	enum status status;

	f->is_skipped = head->nrecords == 0 && head->left.of == 0 && head->right.of == 0;
	TRY(check_query(m, f, head));
	TRY(place_part(m, f, head));
	f->ninputs = m->ninputs - is_same;
	TRY(add_inputs(m, (const char *const *)head->inputs, head->ninputs, is_same));
	prefer(m, head);
	m->offset_bytes = f->offset_bytes + nbytes;
	if (f->is_skipped)
		return STATUS_OK;
	if (!m->has_begun && (status = begin_merge(m)) != STATUS_OK)
		return status == STATUS_PART_DAMAGED ? fail(m, f, status, NULL)
		       : status == STATUS_PART_RECORDS ? fail(m, f, status, m->first.asked.at[0]) : status;
	head = head->version ? head : &m->first; /* which has taken it over */
	TRY(map_part(m, f, head));
	TRY(find_plan(m, f, head));
	if (is_first && m->left.of && m->left.is_quoted)
		total_begin_quoted(m->total);
	return STATUS_OK;
}

/* Like fail, for the status of a reader of the line. head: NULL, or the head that was read. */
static enum status fail_reading(struct merge *m, const struct part_file *f, enum status status,
			       const struct part_head *head)
{
	if (status == STATUS_DAMAGED)
		status = STATUS_PART_DAMAGED;
	if (status == STATUS_PART_VERSION)
		return fail(m, f, status, head->version);
	if (status == STATUS_MANY_KEYS && m->has_begun)
		return partial_fault(&m->total->partial, &m->query->plan, status, m->fault);
	return fail(m, f, status, NULL);
}

static enum status read_head(struct merge *m, struct part_file *f, struct json_text *r)
{
	struct part_head head;
	enum status status;

	part_head_read(&head, r);
	status = r->status == STATUS_OK ? begin_part(m, f, &head) : fail_reading(m, f, r->status, &head);
	part_head_free(&head);
	return status;
}

/* ---- lines ---- */

/* Before the record between two parts is folded: where order shows, all lines before are to be in the total. */
static enum status await_order(struct merge *m)
{
	return plan_is_ordered(&m->query->plan) ? part_lines_wait(m->lines, m->fault) : STATUS_OK;
}

/* Reads a piece of a record: the tail of the file's part before, or the head of this. */
static enum status read_ends(struct merge *m, struct part_file *f, struct json_text *r, bool is_head)
{
	struct part_piece piece = {.text = NULL};
	struct end_text text = {.plan = f->plan, .line = f->nlines_before + 1, .offset_bytes = f->offset_bytes};
	enum status status;

	part_line_text(r, is_head ? PART_HEAD_TEXT : PART_TAIL, &piece);
	text.file = (int)(is_head ? f->ninputs : m->ninputs - 1);
	text.text = piece.text;
	text.nbytes = piece.nbytes;
	text.ends = piece.ends;
	status = r->status == STATUS_OK ? await_order(m) : fail_reading(m, f, r->status, NULL);
	if (status == STATUS_OK && !is_head) {
		text.line = m->right.nlines + 1 - count_lines(text.text, text.nbytes);
		text.offset_bytes = m->right.offset_bytes + m->right.border - text.nbytes;
	}
	if (status == STATUS_OK) {
		status = is_head ? total_add_head(m->total, &text, m->fault) : total_add_tail(m->total, &text, m->fault);
		if (fault_complete(m->fault, status) != STATUS_OK)
			m->fault->file = m->inputs[text.file];
	}
	part_line_free(PART_TAIL, &piece);
	return status;
}

/* Keeps a note that was read, unless there is an earlier one. */
static enum status keep_note(struct merge *m, const struct fold_map *columns, const struct part_note *n)
{
	const struct plan *plan = &m->query->plan;
	const size_t c = n->column < columns->n ? columns->at[n->column] : SIZE_MAX, nothers = TOTAL_NNOTES_OF_RECORDS;
	const int number = m->is_state ? -1 - (int)n->input : (int)n->input;
	struct note *_Atomic *to = &m->total->notes[n->kind < nothers ? n->kind : nothers + (n->kind - nothers) * plan->ncolumns + c];

	if ((n->kind >= nothers && c == SIZE_MAX) || (n->kind != PART_NOTE_CURRENCY && *to))
		return STATUS_OK;
	fault_set_value(m->fault, (enum status)n->status, n->value, n->detail_nbytes);
	m->fault->line = n->line;
	m->fault->value_nbytes = n->value_nbytes;
	if (n->remedy_nbytes < sizeof m->fault->remedy)
		memcpy(m->fault->remedy, n->remedy, n->remedy_nbytes + 1);
	if (c != SIZE_MAX)
		m->fault->column = plan->columns[c].name;
	m->fault->file = m->inputs[n->input];
	if (n->kind == PART_NOTE_CURRENCY)
		return total_add_currency(m->total, c, number, m->fault);
	*to = note_make(m->fault, number);
	return *to ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status read_note(struct merge *m, struct part_file *f, struct json_text *r)
{
	struct part_note n = {.kind = 0};
	enum status status = STATUS_OK;

	part_line_text(r, PART_NOTE, &n);
	n.line += n.input == 0 ? f->nlines_before : 0;
	if (n.input >= m->ninputs - f->ninputs || m->ninputs > INT32_MAX)
		json_fail(r, STATUS_DAMAGED);
	n.input += f->ninputs;
	if (r->status == STATUS_OK)
		status = keep_note(m, &f->map->map.of[PARTIAL_COLUMNS], &n);
	part_line_free(PART_NOTE, &n);
	return r->status != STATUS_OK ? fail_reading(m, f, r->status, NULL) : status == STATUS_NO_MEMORY ? fail(m, f, status, NULL) : status;
}

static enum status read_end(struct merge *m, struct part_file *f, struct json_text *r)
{
	struct part_end end = {0, 0};

	part_line_text(r, PART_END, &end);
	part_map_release(f->map);
	f->map = NULL;
	f->is_inside = false;
	if (r->status != STATUS_OK || end.nlines != f->text.nlines - 1 - f->begin || end.crc != f->crc)
		return fail(m, f, STATUS_PART_DAMAGED, NULL);
	if (f->is_skipped || f->ends_within || m->total->seam.nbytes == 0)
		return STATUS_OK;
	TRY(await_order(m));
	if (fault_complete(m->fault, total_end_file(m->total, f->plan, m->fault)) == STATUS_OK)
		return STATUS_OK;
	m->fault->file = m->inputs[m->ninputs - 1];
	return m->fault->status;
}

static void add_to_crc(struct part_file *f, const char *text, size_t nbytes)
{
	f->crc = simd()->crc(f->crc, (const unsigned char *)text, nbytes);
}

/* Adds the lines that are kept. */
static enum status add_run(struct merge *m, struct part_file *f)
{
	struct part_lines *l = m->lines;

	if (!l || !l->open)
		return STATUS_OK;
	add_to_crc(f, l->open->text.data, l->open->text.nbytes);
	return part_lines_add(l);
}

/* Keeps a line of folds, to be added with those behind it. Where order does not show in the results, the
 * threads that read lines do not know which value of a column is the first: its kind is read here. */
static enum status keep_line(struct merge *m, struct part_file *f, const struct json_text *r)
{
	if (f->is_skipped) {
		add_to_crc(f, f->text.line, f->text.nbytes);
		return STATUS_OK;
	}
	if (!plan_is_ordered(&m->query->plan))
		partial_read_kind(&m->total->partial, &f->map->map, *r);
	TRY(part_lines_put(m->lines, &f->text, f->map));
	return m->lines->open->text.nbytes < m->read_nbytes ? STATUS_OK : add_run(m, f);
}

/* Reads the line, which is no fold of a part. */
static enum status take_line(struct merge *m, struct part_file *f, enum part_line line, struct json_text *r)
{
	if (line == PART_END)
		return read_end(m, f, r);
	if (line == PART_HEAD) {
		f->is_inside = true;
		f->begin = f->text.nlines - 1;
		f->crc = 0;
	}
	add_to_crc(f, f->text.line, f->text.nbytes);
	if (line == PART_HEAD)
		return read_head(m, f, r);
	if (f->is_skipped)
		return STATUS_OK;
	return line == PART_NOTE ? read_note(m, f, r) : read_ends(m, f, r, line == PART_HEAD_TEXT);
}

/* ---- files ---- */

/* Whether a line that has no end is one of a part. */
static bool is_cut(const struct part_file *f)
{
	const struct part_text *t = &f->text;
	size_t nbytes = t->nbytes < strlen(PART_BEGIN) ? t->nbytes : strlen(PART_BEGIN);

	return t->line[t->nbytes - 1] != '\n' && (f->is_inside || !memcmp(t->line, PART_BEGIN, nbytes));
}

static enum status read_parts(struct merge *m, struct part_file *f)
{
	struct part_text *t = &f->text;
	struct json_text r = {.reads = true};
	enum part_line line;
	enum status status;

	for (;;) {
		TRY(part_text_next(t, m->fault));
		if (t->nbytes == 0)
			break;
		if (is_cut(f))
			return fail(m, f, STATUS_PART_TRUNCATED, NULL);
		r.at = t->line;
		r.end = t->line + t->nbytes - 1;
		line = part_line_of(&r);
		if (f->is_inside && line == PART_NLINES) {
			TRY(keep_line(m, f, &r));
			continue;
		}
		TRY(add_run(m, f));
		if (f->is_inside == (line == PART_HEAD))
			return fail(m, f, f->is_inside ? STATUS_PART_DAMAGED : STATUS_PART_FOREIGN, NULL);
		status = take_line(m, f, line, &r);
		text_free(&r.scratch);
		TRY(status);
	}
	if (t->nlines == 0)
		return fail(m, f, STATUS_PART_EMPTY, NULL);
	return f->is_inside ? fail(m, f, STATUS_PART_TRUNCATED, NULL) : STATUS_OK;
}

/* After reading has ended with a status: waits for the lines, of which an error comes before. */
static enum status settle(struct merge *m, enum status status)
{
	struct fault earlier;

	if (!m->lines || part_lines_wait(m->lines, &earlier) == STATUS_OK)
		return status;
	*m->fault = earlier;
	return earlier.status;
}

static enum status read_source(struct merge *m, const struct part_source *from)
{
	struct part_file f = {.map = NULL};
	enum status status = part_text_open(&f.text, from, m->read_nbytes, m->fault);

	THEN(status, read_parts(m, &f));
	part_map_release(f.map);
	part_text_close(&f.text);
	return status;
}

static enum status end_lines(struct merge *m)
{
	struct part_lines *lines = m->lines;

	m->lines = NULL;
	return part_lines_end(lines, m->fault);
}

enum status merge_end(struct merge *m)
{
	m->total->end_bytes = m->offset_bytes;
	return end_lines(m);
}

enum status merge_parts(struct merge *m, struct fault *fault)
{
	enum status status = STATUS_OK;

	m->fault = fault;
	m->read_nbytes = read_nbytes(m->options);
	m->given = *m->options;
	memset(m->options, 0, sizeof *m->options);
	for (int i = 0; i < m->given.npaths && status == STATUS_OK; i++)
		status = read_source(m, &(struct part_source){.name = m->given.paths[i]});
	TRY(settle(m, status));
	if (!m->given.partial)
		TRY(check_end(&m->right, fault));
	if (!m->has_begun)
		TRY(begin_merge(m));
	TRY(merge_end(m));
	if (!m->options->partial)
		forget_unasked(m);
	return STATUS_OK;
}

/* Makes a fault of reading parts that of a state. */
static enum status state_fault(const char *path, struct fault *fault)
{
	static const struct {
		enum status of_part, of_state;
	} pairs[] = {{STATUS_PART_VERSION, STATUS_STATE_VERSION}, {STATUS_PART_FOREIGN, STATUS_STATE_FOREIGN},
		     {STATUS_PART_EMPTY, STATUS_STATE_EMPTY}, {STATUS_PART_DAMAGED, STATUS_STATE_DAMAGED},
		     {STATUS_PART_TRUNCATED, STATUS_STATE_TRUNCATED}};

	if (fault->status == STATUS_PART_ORDER) {
		fault->file = path;
		strcpy(fault->remedy, "--merge --partial of all parts, which writes what is a state, too");
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (fault->status == pairs[i].of_part)
			return fault->status = pairs[i].of_state;
	return fault->status;
}

enum status merge_behind(struct merge *m, struct options *options, struct query *query, struct total *total,
			 const struct part_scope *scope, struct fault *fault)
{
	*m = (struct merge){.options = options, .query = query, .total = total, .given = {.partial = scope != NULL}, .has_begun = true,
			    .offset_bytes = total->end_bytes, .fault = fault, .read_nbytes = read_nbytes(options)};
	NEED(m->lines = part_lines_begin(&query->plan, &total->partial, options));
	if (!scope)
		return STATUS_OK;
	TRY(add_inputs(m, scope->inputs, scope->ninputs, false));
	m->is_one_file = scope->right->is_same;
	TRY(copy_seam(&m->left, scope->left));
	return copy_seam(&m->right, scope->right);
}

enum status merge_next(struct merge *m, const struct part_source *from)
{
	enum status status = read_source(m, from);

	return status == STATUS_OK ? status : settle(m, status);
}

enum status state_read(struct merge *m, struct options *options, struct query *query, struct total *total,
		       const struct part_source *from, struct fault *fault)
{
	enum status status = merge_behind(m, options, query, total, NULL, fault);

	m->is_state = true;
	THEN(status, merge_next(m, from));
	THEN(status, end_lines(m));
	if (status == STATUS_OK && options->from_state) /* else that of a slice, which may end within a file */
		status = check_end(&m->right, fault);
	if (status == STATUS_OK && lacks_note(m)) {
		status = fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
		fault->file = from->name;
	}
	return fault_complete(fault, status) != STATUS_OK && options->from_state ? state_fault(from->name, fault) : status;
}

void merge_scope(const struct merge *m, struct part_scope *scope)
{
	*scope = (struct part_scope){(const char *const *)m->inputs, m->ninputs, 0, &m->left, &m->right, 0};
}

void merge_free(struct merge *m)
{
	for (struct file_plan *p = m->plans, *next; p; p = next) {
		next = p->next;
		free(p->plan.columns);
		free(p->header);
		free(p);
	}
	free(m->left.input);
	free(m->right.input);
	for (size_t i = 0; i < m->ninputs; i++)
		free(m->inputs[i]);
	free(m->inputs);
	part_lines_end(m->lines, &(struct fault){.status = STATUS_OK});
	part_head_free(&m->first);
	options_free(&m->given);
	memset(m, 0, sizeof *m);
}
