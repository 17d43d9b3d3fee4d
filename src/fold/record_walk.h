/* SPDX-License-Identifier: MIT
 *
 * record_walk.h - the automaton over bitmaps, and records cut at what it finds.
 *
 * For record.c, which folds records, and emit.c, which prints them: both walk a text the
 * same way, and what is done with a record is compiled into the walk.
 *
 * Only separators (delimiters and LFs) and quotes are looked at; every other byte is
 * passed over 64 at a time. The cursor is the automaton of dfa.h, with "at a field's
 * start" and "right after a quote" told by comparing positions.
 */
#ifndef GPUSTAT_RECORD_WALK_H
#define GPUSTAT_RECORD_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "query/plan.h"
#include "fold/record.h"
#include "csv/structure.h"

#define NOWHERE SIZE_MAX /* 1 before position 0 */

struct cursor {
	const char *data;
	size_t nbytes;
	char delimiter;
	enum csv_state state; /* UNQUOTED (also for FIELD_START), QUOTED or QUOTE_SEEN */
	size_t field_begin;   /* of the field in hand; NOWHERE if it began earlier */
	size_t quote_at;      /* with QUOTE_SEEN: the quote */
	size_t block;         /* where the bitmaps below begin */
	uint64_t separators, quotes; /* what is left of the block */
};

static inline void cursor_load(struct cursor *k)
{
	size_t left = k->nbytes - k->block;
	struct structure s = structure_classify(k->data + k->block,
					    left < STRUCTURE_NBYTES ? left : STRUCTURE_NBYTES,
					    k->delimiter);

	k->separators = s.delimiter | s.newline;
	k->quotes = s.quote;
}

static inline struct cursor cursor_at(const char *data, size_t nbytes, char delimiter,
			       enum csv_state state)
{
	struct cursor k = {.data = data, .nbytes = nbytes, .delimiter = delimiter, .state = state};

	k.field_begin = state == CSV_FIELD_START ? 0 : NOWHERE;
	k.quote_at = NOWHERE;
	if (state == CSV_FIELD_START)
		k.state = CSV_UNQUOTED;
	if (nbytes)
		cursor_load(&k);
	return k;
}

/* The automaton's step at a quote. */
static inline void cursor_quote(struct cursor *k, size_t at)
{
	if (k->state == CSV_QUOTED) {
		k->state = CSV_QUOTE_SEEN;
		k->quote_at = at;
	} else if (k->state == CSV_QUOTE_SEEN && at == k->quote_at + 1) {
		k->state = CSV_QUOTED; /* "" */
	} else {
		k->state = at == k->field_begin ? CSV_QUOTED : CSV_UNQUOTED;
	}
}

/* The position of the next separator outside quotes, or nbytes. The caller sets
 * field_begin when it has dealt with the field. */
static inline size_t cursor_next(struct cursor *k)
{
	for (;;) {
		uint64_t special = k->separators | k->quotes;
		uint64_t lowest = special & -special;
		size_t at;
		if (!special) {
			if (k->nbytes - k->block <= STRUCTURE_NBYTES)
				return k->nbytes;
			k->block += STRUCTURE_NBYTES;
			cursor_load(k);
			continue;
		}
		at = k->block + (unsigned)__builtin_ctzll(special);
		if (k->quotes & lowest) {
			k->quotes ^= lowest;
			cursor_quote(k, at);
			continue;
		}
		k->separators ^= lowest;
		if (k->state == CSV_QUOTED)
			continue;
		k->state = CSV_UNQUOTED;
		return at;
	}
}

/* ---- records ---- */

/* One record: data[begin .. end) without its line end, which is data[end .. next). */
struct record_view {
	const char *data;
	size_t begin, end, next;
	const struct field_span *spans; /* the plan's columns; NULL: it has not all of them */
};

/* What the plan's predicates say of a record. */
enum verdict {
	RECORD_KEPT,
	RECORD_DROPPED,   /* the plan's condition does not hold */
	RECORD_UNDECIDED, /* a predicate compares text with a number */
};

/* Asks the predicates about a record that has all fields; m->holds has their answers if
 * it is kept. RECORD_UNDECIDED: *culprit is the column of the plan whose value is no
 * number. Errors: STATUS_NO_MEMORY. */
static inline enum status record_filter(struct record_memory *m, const struct record_view *r,
				       enum verdict *verdict, uint32_t *culprit)
{
	const struct plan *plan = m->plan;

	*verdict = RECORD_KEPT;
	for (size_t p = 0; p < plan->npredicates && *verdict == RECORD_KEPT; p++) {
		enum expr_truth truth;
		enum status why, status = expr_row_eval(&m->rows[p], plan->predicates[p], plan,
							r->data, r->spans, &truth, culprit, &why);
		if (status != STATUS_OK)
			return status;
		m->holds[p] = truth == EXPR_TRUE;
		if (truth == EXPR_INVALID)
			*verdict = RECORD_UNDECIDED;
		else if (p == plan->where && truth != EXPR_TRUE)
			*verdict = RECORD_DROPPED;
	}
	return STATUS_OK;
}

/* What is done with a record. Stops the walk by returning another status than OK. */
typedef enum status (*record_taker)(void *context, const struct record_view *record);

/* A walk over the records of a text. */
struct walk {
	const struct plan *plan;
	struct cursor cursor;
	struct field_span *spans; /* of the record in hand */
	size_t record_begin;
	uint32_t field; /* number of the field in hand */
	size_t nfound;  /* columns whose field has ended */
	/* What the walk has found, as struct partial has it. */
	bool head_ends;
	size_t head_nbytes, tail_offset, open_quote_offset;
};

/* The field in hand is [begin, end): notes it if the plan asks for it. */
static inline void walk_field(struct walk *w, size_t begin, size_t end)
{
	if (w->nfound < w->plan->ncolumns && w->plan->columns[w->nfound].field == w->field)
		w->spans[w->nfound++] = (struct field_span){begin, end};
	w->field++;
}

/* The record in hand ends before `end`, where its LF is, or the text's end. */
static inline enum status walk_record(struct walk *w, size_t end, size_t next, record_taker take,
				      void *context)
{
	struct record_view r = {w->cursor.data, w->record_begin, end, next, w->spans};

	if (r.end > r.begin && r.data[r.end - 1] == '\r')
		r.end--;
	if (r.end == r.begin && !w->plan->one_column)
		return STATUS_OK; /* a blank line */
	walk_field(w, w->cursor.field_begin, r.end);
	if (w->nfound < w->plan->ncolumns)
		r.spans = NULL;
	return take(context, &r);
}

static inline void walk_begin_record(struct walk *w, size_t at)
{
	w->record_begin = w->cursor.field_begin = w->tail_offset = at;
	w->field = 0;
	w->nfound = 0;
}

/* Passes over the rest of a record that began before the text. */
static inline void walk_head(struct walk *w)
{
	struct cursor *k = &w->cursor;
	size_t at;

	while ((at = cursor_next(k)) < k->nbytes && k->data[at] != '\n')
		k->field_begin = at + 1;
	w->head_ends = at < k->nbytes;
	w->head_nbytes = w->head_ends ? at + 1 : k->nbytes;
	walk_begin_record(w, w->head_nbytes);
}

/* The text ends with an unfinished record: it is one, since the file ends too. */
static inline enum status walk_last(struct walk *w, record_taker take, void *context)
{
	struct cursor *k = &w->cursor;

	if (k->state == CSV_QUOTED)
		w->open_quote_offset = k->field_begin;
	if (w->record_begin == k->nbytes || k->state == CSV_QUOTED)
		return STATUS_OK;
	w->tail_offset = k->nbytes;
	return walk_record(w, k->nbytes, k->nbytes, take, context);
}

/* The records from the walk's place on, until the text ends. */
static inline enum status walk_records(struct walk *w, record_taker take, void *context)
{
	const char *data = w->cursor.data;
	enum status status = STATUS_OK;
	size_t at;

	while (status == STATUS_OK && (at = cursor_next(&w->cursor)) < w->cursor.nbytes) {
		if (data[at] == '\n') {
			status = walk_record(w, at, at + 1, take, context);
			walk_begin_record(w, at + 1);
		} else {
			walk_field(w, w->cursor.field_begin, at);
			w->cursor.field_begin = at + 1;
		}
	}
	return status;
}

/* Like walk_text, but the records before data[from], where one begins, are left out, and what
 * is said of the head is the caller's. */
static inline enum status walk_text_from(struct walk *w, const char *data, size_t nbytes,
					 size_t from, record_taker take, void *context)
{
	w->cursor = cursor_at(data, 0, w->plan->delimiter, CSV_FIELD_START);
	w->cursor.nbytes = nbytes;
	w->cursor.block = from;
	w->open_quote_offset = OFFSET_NONE;
	walk_begin_record(w, from);
	if (from < nbytes)
		cursor_load(&w->cursor);
	return walk_records(w, take, context);
}

/* Gives every complete record of data[0 .. nbytes) to take. entry: how the text is
 * entered; at_end: the file ends here, and with it a record that lacks its LF.
 * w->plan and w->spans (plan->ncolumns) are set by the caller; the results are w's. */
static inline enum status walk_text(struct walk *w, const char *data, size_t nbytes,
				    struct chunk_entry entry, bool at_end, record_taker take,
				    void *context)
{
	enum status status;

	w->cursor = cursor_at(data, nbytes, w->plan->delimiter, entry.state);
	w->head_ends = false;
	w->head_nbytes = 0;
	w->open_quote_offset = OFFSET_NONE;
	walk_begin_record(w, 0);
	w->cursor.field_begin = entry.state == CSV_FIELD_START ? 0 : NOWHERE;
	if (entry.inside_record)
		walk_head(w);
	status = walk_records(w, take, context);
	return status == STATUS_OK && at_end ? walk_last(w, take, context) : status;
}

#endif
