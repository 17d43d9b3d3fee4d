/* SPDX-License-Identifier: MIT
 *
 * fuzz_records.c - text to records to columns, and to printed records, in two ways: the automaton a
 * byte at a time (dfa.h), and the CPU worker with every instruction set of this machine (simd.h,
 * rows.h). Both must agree.
 *
 * Input: five bytes that make the plan, the entry, the dialect and the rule for ragged records; then
 * text.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fold/column.h"
#include "csv/dfa.h"
#include "emit/running.h"
#include "fuzz.h"
#include "query/value.h"
#include "simd/simd.h"
#include "engine/worker.h"

#define MAX_TEXT_NBYTES 20000
#define NHEAD 5 /* bytes before the text */

/* What one way has made of the text. */
struct outcome {
	struct partial partial;
	struct text_buffer text;
};

static const char *const missing[] = {"NA", "-"};
static struct plan_column columns[3];
static struct new_column scans[] = {{NEW_SUM, 0, PREDICATE_NONE}, {NEW_MAX, 0, PREDICATE_NONE},
				   {NEW_BYTE_OFFSET, 0, PREDICATE_NONE},
				   {NEW_COUNT, 1, PREDICATE_NONE}};

static struct csv_dialect make_dialect(const uint8_t *bytes)
{
	static const char delimiters[] = {',', ';', '\t', '|'}, quotes[] = {'"', '\'', '\0', '"'};
	struct csv_dialect d = {.delimiter = delimiters[bytes[0] & 3],
				.quote = quotes[bytes[3] & 3],
				.escape = bytes[3] & 4 ? '\\' : '\0',
				.comment = bytes[3] & 8 ? '#' : '\0',
				.whitespace = bytes[3] & 16,
				.one_column = bytes[0] & 4};

	if (d.whitespace) {
		d.delimiter = ' ';
		d.quote = d.escape = '\0';
		d.nfields = d.one_column ? 1 : bytes[3] >> 5;
		d.one_column = d.nfields == 1;
	}
	return d;
}

static struct plan make_plan(const uint8_t *bytes)
{
	struct plan plan = {.dialect = make_dialect(bytes),
			    .notation = {.decimal = '.'},
			    .ragged = {.policy = (enum ragged_policy)(bytes[4] & 3),
				       .last_is_empty = bytes[4] & 4,
				       .nfields = 1 + (bytes[4] >> 3 & 7)},
			    .bad_record = bytes[0] & 8 ? INVALID_SKIP : INVALID_ERROR,
			    .emits = bytes[0] & 16,
			    .only = bytes[0] & 32,
			    .exclusive = bytes[0] & 64,
			    .ncolumns = 1 + bytes[1] % 3,
			    .columns = columns,
			    .where = PREDICATE_NONE,
			    .nmissing = bytes[1] & 128 ? 2 : 0,
			    .missing = missing};
	uint32_t field = plan.dialect.one_column ? 0 : bytes[1] >> 2 & 3;

	if (plan.dialect.one_column)
		plan.ncolumns = plan.ragged.nfields = 1;
	for (size_t c = 0; c < plan.ncolumns; c++) {
		bool parses = bytes[1] >> (4 + c) & 1 || c == 0;
		columns[c] = (struct plan_column){field, "x", MOMENTS_FUSED, parses, false,
						  c == 1 ? INVALID_TEXT : INVALID_SKIP};
		field += 1 + (bytes[2] >> (2 + 2 * c) & 3);
	}
	plan.new_columns = scans;
	plan.nnew_columns = plan.ncolumns > 1 ? 4 : 3;
	return plan;
}

/* Whether a text can be entered in this state. */
static bool has_state(const struct csv_dialect *d, enum csv_state state)
{
	if (d->whitespace)
		return state == CSV_RECORD_START || state == CSV_UNQUOTED;
	if (state == CSV_QUOTED || state == CSV_QUOTE_SEEN)
		return d->quote;
	if (state == CSV_COMMENT)
		return d->comment;
	if (state == CSV_ESCAPED || state == CSV_ESCAPED_QUOTED)
		return d->escape && (d->quote || state == CSV_ESCAPED);
	return true;
}

static struct chunk_entry make_entry(const struct csv_dialect *d, const uint8_t *bytes)
{
	enum csv_state state = (enum csv_state)((bytes[2] & 3) | (bytes[3] >> 3 & 4));

	if (state == CSV_RECORD_START || !has_state(d, state))
		state = CSV_FIELD_START;
	return (struct chunk_entry){state, state != CSV_FIELD_START || bytes[0] & 128, false};
}

static void outcome_init(struct outcome *o, const struct plan *plan)
{
	memset(o, 0, sizeof *o);
	FUZZ_CHECK(partial_init(&o->partial, plan) == STATUS_OK);
	partial_clear(&o->partial);
}

static void outcome_free(struct outcome *o)
{
	partial_free(&o->partial);
	text_free(&o->text);
}

/* ---- a byte at a time ---- */

#define NSPANS 8

/* A walk over the text, and the record that it is in. */
struct reference {
	const struct plan *plan;
	const char *text;
	size_t record_begin, field_begin;
	size_t head_min; /* records that end up to here belong to the head */
	bool stray;      /* the record has text behind a closing quote */
	struct field_span spans[NSPANS]; /* of the plan's columns */
	uint32_t field;
	size_t nfound;
	bool last_is_empty; /* the field that ended last */
	struct running runnings[4];
	struct scratch scratch;
	struct outcome *out;
};

static void append(struct text_buffer *out, const char *text, size_t nbytes)
{
	FUZZ_CHECK(text_reserve(out, nbytes + 1) == STATUS_OK);
	memcpy(out->data + out->nbytes, text, nbytes);
	out->nbytes += nbytes;
}

static void add_to_running(struct reference *r, size_t i)
{
	size_t c = r->plan->new_columns[i].column;
	struct field_span span = r->spans[c];
	struct value v;

	FUZZ_CHECK(value_read(r->plan, r->plan->columns[c].parses, r->text + span.begin,
			      span.end - span.begin, &r->scratch, &v) == STATUS_OK);
	FUZZ_CHECK(running_add_value(&r->runnings[i], &v) == STATUS_OK);
}

static void print_field(struct reference *r, size_t i)
{
	char text[WIDE_TEXT_NBYTES];
	size_t nbytes;

	if (i > 0 || !r->plan->only)
		append(&r->out->text, &r->plan->dialect.delimiter, 1);
	if (r->plan->new_columns[i].kind == NEW_BYTE_OFFSET) {
		append(&r->out->text, text,
		       (size_t)(decimal_write_u64(text, 1000 + r->record_begin) - text));
		return;
	}
	if (!r->plan->exclusive)
		add_to_running(r, i);
	nbytes = (size_t)(running_write(&r->runnings[i], text) - text);
	append(&r->out->text, text, nbytes);
	if (r->plan->exclusive)
		add_to_running(r, i);
}

static void end_field(struct reference *r, size_t end)
{
	if (r->nfound < r->plan->ncolumns && r->plan->columns[r->nfound].field == r->field)
		r->spans[r->nfound++] = (struct field_span){r->field_begin, end};
	r->last_is_empty = end == r->field_begin;
	r->field++;
	r->field_begin = end + 1;
}

/* Counts the record if it is ragged. Returns whether it is left out. */
static bool is_omitted(struct reference *r)
{
	const struct ragged_rule *rule = &r->plan->ragged;
	struct partial *out = &r->out->partial;
	bool more = r->field > rule->nfields, taken = rule->policy != RAGGED_ERROR;

	if (r->field == rule->nfields || (r->field == rule->nfields + 1 && r->last_is_empty) ||
	    (rule->last_is_empty && r->field + 1 == rule->nfields))
		return false;
	if (rule->policy == RAGGED_EXTRA)
		taken = more;
	if (taken && rule->policy != RAGGED_COUNT)
		return false;
	if (out->nragged++ == 0)
		out->first_ragged_offset = r->record_begin;
	return !taken;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Finds the fields of a record in text[record_begin .. end) that end at blanks. Returns whether there
 * are any. */
static bool end_words(struct reference *r, size_t end)
{
	size_t at = r->record_begin, nfields = r->plan->dialect.nfields;
	bool any = false;

	while (end > at && is_blank(r->text[end - 1]))
		end--;
	for (;;) {
		while (at < end && is_blank(r->text[at]))
			at++;
		if (at == end)
			break;
		r->field_begin = at;
		any = true;
		while (at < end && (r->field + 1 == nfields || !is_blank(r->text[at])))
			at++;
		end_field(r, at);
	}
	if (!any && r->plan->dialect.one_column)
		end_field(r, end);
	return any || r->plan->dialect.one_column;
}

/* Ends the last field of a record that is text[record_begin .. end). Returns whether the record is
 * one, not a blank line. */
static bool end_fields(struct reference *r, size_t end)
{
	if (r->plan->dialect.whitespace)
		return end_words(r, end);
	if (end == r->record_begin && !r->plan->dialect.one_column)
		return false;
	end_field(r, end);
	return true;
}

/* Whether text[at] comes behind an odd number of escape bytes. */
static bool is_escaped(const struct reference *r, size_t at)
{
	char escape = r->plan->dialect.escape;
	size_t n = 0;

	while (escape && at - n > r->record_begin && r->text[at - n - 1] == escape)
		n++;
	return n % 2;
}

/* The record's LF is at text[at]. */
static void end_record(struct reference *r, size_t at)
{
	size_t end = at > r->record_begin && r->text[at - 1] == '\r' ? at - 1 : at;
	struct partial *out = &r->out->partial;

	if (r->stray && out->first_stray_offset == OFFSET_NONE)
		out->first_stray_offset = r->record_begin;
	if (!end_fields(r, end))
		return;
	if (end < at && is_escaped(r, end))
		end = at; /* that CR is data */
	if (is_omitted(r))
		return;
	out->nrecords++;
	while (r->nfound < r->plan->ncolumns) /* what is not there is missing */
		r->spans[r->nfound++] = (struct field_span){end, end};
	for (size_t c = 0; c < r->plan->ncolumns; c++)
		FUZZ_CHECK(column_add_field(r->plan, out, c, r->text + r->spans[c].begin,
					    r->spans[c].end - r->spans[c].begin, r->spans[c].begin,
					    &r->scratch) == STATUS_OK);
	if (!r->plan->emits)
		return;
	if (!r->plan->only)
		append(&r->out->text, r->text + r->record_begin, end - r->record_begin);
	for (size_t i = 0; i < r->plan->nnew_columns; i++)
		print_field(r, i);
	append(&r->out->text, r->text + end, at + 1 - end);
}

static void begin_record(struct reference *r, size_t at)
{
	r->record_begin = r->field_begin = r->out->partial.tail_offset = at;
	r->field = 0;
	r->nfound = 0;
	r->stray = false;
}

/* Ends the record at text[at], if it is not the one that began before the text, and no comment. */
static void end_line(struct reference *r, size_t at, bool is_comment, bool *in_head)
{
	struct partial *out = &r->out->partial;

	if (*in_head)
		out->head_nbytes = at + 1;
	else if (!is_comment)
		end_record(r, at);
	out->head_ends |= *in_head && at + 1 >= r->head_min;
	*in_head = *in_head && at + 1 < r->head_min;
	begin_record(r, at + 1);
}

/* Whether text[i], of class c, is text behind a closing quote, if a quote comes before it. */
static bool is_stray(const char *text, size_t nbytes, size_t i, enum csv_class c)
{
	bool ends_line = text[i] == '\r' && i + 1 < nbytes && text[i + 1] == '\n';

	return c != CSV_DELIMITER && c != CSV_NEWLINE && c != CSV_QUOTE && !ends_line;
}

/* Goes past text[i]. */
static void go_by_byte(struct reference *r, size_t nbytes, size_t i, enum csv_state *state,
		       bool *in_head)
{
	enum csv_class c = csv_dialect_classify(&r->plan->dialect, r->text[i]);
	enum csv_state before = *state;

	if (r->plan->dialect.whitespace) { /* only LFs and comments have a meaning here */
		bool is_comment = c == CSV_COMMENT_SIGN && before == CSV_RECORD_START;
		c = c == CSV_NEWLINE ? c : is_comment ? CSV_COMMENT_SIGN : CSV_OTHER;
	}
	*state = csv_full_step(before, c);
	if (*state == CSV_RECORD_START)
		end_line(r, i, before == CSV_COMMENT, in_head);
	else if (*state == CSV_FIELD_START)
		end_field(r, i);
	r->stray |= before == CSV_QUOTE_SEEN && is_stray(r->text, nbytes, i, c);
}

static void go_by_bytes(const struct plan *plan, const char *text, size_t nbytes,
			struct chunk_entry entry, const struct partial *before, size_t head_min,
			struct outcome *out)
{
	struct reference r = {.plan = plan, .text = text, .head_min = head_min, .out = out};
	enum csv_state state = chunk_entry_state(entry);
	bool in_head = entry.inside_record || head_min > 0;

	for (size_t i = 0; i < plan->nnew_columns; i++)
		FUZZ_CHECK(running_begin(&r.runnings[i], scans[i].kind, &plan->columns[scans[i].column],
					 &before->columns[scans[i].column]) == STATUS_OK);
	begin_record(&r, 0);
	for (size_t i = 0; i < nbytes; i++)
		go_by_byte(&r, nbytes, i, &state, &in_head);
	if (in_head)
		out->partial.head_nbytes = out->partial.tail_offset = nbytes;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		running_free(&r.runnings[i]);
	free(r.scratch.data);
}

/* ---- the worker ---- */

/* The state in which a text that is entered in `state` is left. */
static enum csv_state walk_automaton(const struct csv_dialect *d, const uint8_t *text,
				     size_t nbytes, enum csv_state state)
{
	for (size_t i = 0; i < nbytes; i++)
		state = csv_full_step(state, csv_dialect_classify(d, (char)text[i]));
	if (d->whitespace && nbytes > 0)
		return text[nbytes - 1] == '\n' ? CSV_RECORD_START : CSV_UNQUOTED;
	return state;
}

/* Checks the text's map. In ordinary dialects it does not have CSV_RECORD_START, but for entries. */
static void check_map(const struct csv_dialect *d, const uint8_t *text, size_t nbytes,
		      const struct chunk_map *map)
{
	uint64_t nlines = 0;

	for (size_t i = 0; i < nbytes; i++)
		nlines += text[i] == '\n';
	FUZZ_CHECK(map->nlines == nlines);
	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++) {
		enum csv_state state = (enum csv_state)s, exit;
		if (!has_state(d, state))
			continue;
		exit = walk_automaton(d, text, nbytes, state);
		if (csv_dialect_is_ordinary(d) && exit == CSV_RECORD_START && nbytes > 0)
			exit = CSV_FIELD_START;
		FUZZ_CHECK(csv_full_map_apply(map->map, state) == exit);
	}
}

static void check_same(const struct outcome *a, const struct outcome *b);

/* Folds the chunk before its entry is known, if that is allowed, and checks the result against the
 * records behind the head that the fold has chosen. */
static void check_unknown(struct worker *w, const struct plan *plan, const struct chunk *chunk,
			  enum chunk_dependence dependence, struct chunk_entry entry,
			  const struct partial *before)
{
	bool in_quotes = entry.state == CSV_QUOTED || entry.state == CSV_ESCAPED_QUOTED;
	struct plan silent = *plan;
	struct outcome seen, wanted;
	struct fault fault;

	if (dependence == CHUNK_DEPENDS || (dependence == CHUNK_GUESSES && in_quotes))
		return;
	silent.emits = false;
	outcome_init(&seen, plan);
	outcome_init(&wanted, plan);
	FUZZ_CHECK(worker_cpu.fold(w, chunk, CHUNK_UNKNOWN, &seen.partial, &fault) == STATUS_OK);
	FUZZ_CHECK(!seen.partial.needs_entry);
	go_by_bytes(&silent, chunk->data, chunk->nbytes, entry, before,
		    seen.partial.head_ends ? seen.partial.head_nbytes : SIZE_MAX, &wanted);
	check_same(&wanted, &seen);
	outcome_free(&seen);
	outcome_free(&wanted);
}

static void go_by_worker(const struct plan *plan, const uint8_t *text, size_t nbytes,
			 struct chunk_entry entry, const struct partial *before,
			 struct outcome *out)
{
	const struct worker_setup setup = {.chunk_nbytes = nbytes};
	struct chunk chunk = {.nbytes = nbytes, .offset_bytes = 1000};
	struct chunk_map map;
	struct fault fault;
	struct text_buffer *printed;
	struct worker *w;

	FUZZ_CHECK(worker_cpu.open(&w, plan, &setup, &fault) == STATUS_OK);
	chunk.data = worker_cpu.buffer(w);
	memcpy(chunk.data, text, nbytes);
	FUZZ_CHECK(worker_cpu.map(w, &chunk, &map, &fault) == STATUS_OK);
	check_map(&plan->dialect, text, nbytes, &map);
	check_unknown(w, plan, &chunk, map.dependence, entry, before);
	FUZZ_CHECK(worker_cpu.fold(w, &chunk, entry, &out->partial, &fault) == STATUS_OK);
	FUZZ_CHECK(!out->partial.needs_entry);
	if (plan->emits) {
		FUZZ_CHECK(worker_cpu.emit(w, &chunk, entry, before, &printed, &fault) == STATUS_OK);
		FUZZ_CHECK(text_reserve(&out->text, printed->nbytes) == STATUS_OK);
		if (printed->nbytes)
			memcpy(out->text.data, printed->data, printed->nbytes);
		out->text.nbytes = printed->nbytes;
	}
	worker_cpu.close(w);
}

/* ---- the comparison ---- */

static void check_numbers(const struct column_partial *a, const struct column_partial *b)
{
	static struct wide_fold x, y;

	memset(&x, 0, sizeof x);
	memset(&y, 0, sizeof y);
	column_numbers(a, &x);
	column_numbers(b, &y);
	FUZZ_CHECK(x.count == y.count);
	if (x.count == 0)
		return;
	FUZZ_CHECK(x.scale == y.scale);
	FUZZ_CHECK(!wide_compare(&x.sum, &y.sum) && !wide_compare(&x.min, &y.min) &&
		   !wide_compare(&x.max, &y.max));
}

static void check_columns(const struct column_partial *a, const struct column_partial *b)
{
	FUZZ_CHECK(a->nmissing == b->nmissing && a->ninvalid == b->ninvalid);
	FUZZ_CHECK(column_kind(a) == column_kind(b));
	FUZZ_CHECK(a->first_invalid_offset == b->first_invalid_offset);
	FUZZ_CHECK(a->first_out_of_range_offset == b->first_out_of_range_offset);
	check_numbers(a, b);
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
	const struct partial *p = &a->partial, *q = &b->partial;

	FUZZ_CHECK(p->head_ends == q->head_ends && p->head_nbytes == q->head_nbytes);
	FUZZ_CHECK(p->tail_offset == q->tail_offset);
	FUZZ_CHECK(p->nrecords == q->nrecords);
	FUZZ_CHECK(p->first_stray_offset == q->first_stray_offset);
	FUZZ_CHECK(p->nragged == q->nragged && p->first_ragged_offset == q->first_ragged_offset);
	for (size_t c = 0; c < p->ncolumns; c++)
		check_columns(&p->columns[c], &q->columns[c]);
	FUZZ_CHECK(a->text.nbytes == b->text.nbytes);
	FUZZ_CHECK(a->text.nbytes == 0 || !memcmp(a->text.data, b->text.data, a->text.nbytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct plan plan;
	struct chunk_entry entry;
	struct outcome bytes, rows;
	struct partial before;

	if (nbytes < NHEAD + 1 || nbytes > MAX_TEXT_NBYTES)
		return 0;
	plan = make_plan(data);
	entry = make_entry(&plan.dialect, data);
	FUZZ_CHECK(partial_init(&before, &plan) == STATUS_OK);
	partial_clear(&before);
	outcome_init(&bytes, &plan);
	go_by_bytes(&plan, (const char *)data + NHEAD, nbytes - NHEAD, entry, &before, 0, &bytes);
	for (size_t i = 0; simd_all[i]; i++) {
		if (!simd_choose(simd_all[i]->name))
			continue;
		outcome_init(&rows, &plan);
		go_by_worker(&plan, data + NHEAD, nbytes - NHEAD, entry, &before, &rows);
		check_same(&bytes, &rows);
		outcome_free(&rows);
	}
	outcome_free(&bytes);
	partial_free(&before);
	return 0;
}
