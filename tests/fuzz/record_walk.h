/* SPDX-License-Identifier: MIT
 *
 * record_walk.h - text to records to columns, and to printed records, a byte at a time: the
 * automaton (dfa.h), and the rules of the dialects. Slow and plain: what fuzz_records.c compares the
 * worker with.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "csv/chunk.h"
#include "csv/dfa.h"
#include "csv/record.h"
#include "fold/column.h"
#include "fold/window.h"
#include "fuzz.h"
#include "query/value.h"

/* What one way has made of the text. */
struct outcome {
	struct partial partial;
	struct text_buffer text;
};

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
	size_t printed_end; /* of the last field that is printed: as many as the first record has */
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
	if (v.kind == DECIMAL_NUMBER)
		FUZZ_CHECK(running_add(&r->runnings[i], false, v.number) == STATUS_OK);
	else if (v.kind == DECIMAL_WIDE && exact_is_number(v.text, v.nbytes))
		FUZZ_CHECK(running_add_long(&r->runnings[i], false, &(struct recent_value){RECENT_TEXT, .text = v.text, .nbytes = v.nbytes}) == STATUS_OK);
	else if (v.kind == DECIMAL_INVALID && !r->plan->columns[c].parses && !memchr(v.text, '\0', v.nbytes))
		r->runnings[i].numbers.count++;
}

static void print_field(struct reference *r, size_t i)
{
	char text[NEW_NUMBER_NBYTES];
	struct decimal_writer writer;
	size_t nbytes;

	decimal_writer_set(&writer, 0, 1);
	if (i > 0 || !r->plan->only)
		append(&r->out->text, &r->plan->dialect.delimiter, 1);
	if (r->plan->new_columns[i].kind == NEW_BYTE_OFFSET) {
		append(&r->out->text, text,
		       (size_t)(decimal_write_u64(text, 1000 + r->record_begin) - text));
		return;
	}
	if (!r->plan->exclusive)
		add_to_running(r, i);
	nbytes = (size_t)(running_write(&r->runnings[i], new_column_aggregate(r->plan->new_columns[i].kind), 0, &writer, text) - text);
	if (nbytes == 0 && r->plan->dialect.whitespace)
		text[nbytes++] = '_';
	append(&r->out->text, text, nbytes);
	if (r->plan->exclusive)
		add_to_running(r, i);
}

static void end_field(struct reference *r, size_t end)
{
	if (r->nfound < r->plan->ncolumns && r->plan->columns[r->nfound].field == r->field)
		r->spans[r->nfound++] = (struct field_span){r->field_begin, end};
	r->last_is_empty = end == r->field_begin;
	if (r->field < r->plan->ragged.nfields)
		r->printed_end = end;
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

/* Prints the record, which ends at text[end], with as many fields as the first: cut, or filled up, unless fields end at blanks,
 * of which one at a line's end is no field. */
static void print_record(struct reference *r, size_t end)
{
	uint32_t nfields = r->plan->ragged.nfields;

	if (r->field > nfields)
		end = r->printed_end;
	append(&r->out->text, r->text + r->record_begin, end - r->record_begin);
	for (uint32_t n = r->field; n < nfields && !r->plan->dialect.whitespace; n++)
		append(&r->out->text, &r->plan->dialect.delimiter, 1);
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
		print_record(r, end);
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

/* Whether text[i], a quote in an unquoted field, comes after nothing but blanks and seems to have opened it. */
static bool opens_late(const struct reference *r, size_t nbytes, size_t i)
{
	size_t at = r->field_begin;

	while (at < i && is_blank(r->text[at]))
		at++;
	return at == i && record_quote_opens(&r->plan->dialect, r->text, nbytes, i);
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
	r->stray |= before == CSV_QUOTE_SEEN ? is_stray(r->text, nbytes, i, c)
					     : before == CSV_UNQUOTED && c == CSV_QUOTE && opens_late(r, nbytes, i);
}

static void go_by_bytes(const struct plan *plan, const char *text, size_t nbytes,
			struct chunk_entry entry, const struct partial *before, size_t head_min,
			struct outcome *out)
{
	struct reference r = {.plan = plan, .text = text, .head_min = head_min, .out = out};
	enum csv_state state = chunk_entry_state(entry);
	bool in_head = entry.inside_record || head_min > 0;

	for (size_t i = 0; i < plan->nnew_columns; i++) {
		struct group_sums sums;
		group_sums_of(&before->columns[plan->new_columns[i].column], &sums);
		FUZZ_CHECK(running_begin(&r.runnings[i], false, &sums) == STATUS_OK);
	}
	begin_record(&r, 0);
	for (size_t i = 0; i < nbytes; i++)
		go_by_byte(&r, nbytes, i, &state, &in_head);
	if (in_head)
		out->partial.head_nbytes = out->partial.tail_offset = nbytes;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		running_free(&r.runnings[i], false);
	free(r.scratch.data);
}
