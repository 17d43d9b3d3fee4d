/* SPDX-License-Identifier: MIT
 *
 * lead.h - records that are printed with fields of later records (--lead).
 *
 * Those of a text are gathered with their own fields in the place of the later ones. Records that need nothing of later texts are
 * then written with the fields of those after them, in parallel with other texts. The text as it was gathered goes to the
 * queue, by its address: there its last records wait for the fields of the next texts, in the order of the input. That is the
 * serial part, in the turn of the write chain.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "emit/new_fields.h"
#include "fold/group.h"
#include "fold/row_block.h"
#include "query/plan.h"

struct writer; /* io/output.h */

/* A field that is shown by an earlier record, in the place of the one that its own record shows: at bytes.data[begin]. */
struct lead_cell {
	size_t begin;
	uint32_t nbytes;
};

/* The same, of a later text. */
struct lead_field {
	const char *text; /* NULL: not there yet */
	uint32_t nbytes;
};

struct lead_row {
	size_t begin;   /* in the gathered bytes */
	uint32_t group; /* of the text's */
	uint32_t place; /* in `order` */
};

/* One of the text's groups, whose records are order[begin .. end). */
struct lead_text_group {
	const void *home; /* which of the run's groups it is; NULL: all records are one */
	uint32_t begin, end;
};

/* The records of a text. All owned. */
struct lead_text {
	struct lead_text *next; /* in the queue */
	struct text_buffer bytes; /* records with their own fields */
	struct lead_cell *cells;  /* plan->nleads for each row */
	struct lead_row *rows;
	uint32_t *order;          /* the rows, group by group */
	struct lead_text_group *groups;
	size_t n, ngroups, cells_capacity, rows_capacity, order_capacity, groups_capacity;
	struct lead_field
		*fields; /* plan->nleads for each row from first_open on: what they lack */
	size_t first_open, nwritten; /* rows */
	size_t taken_nbytes; /* of the memory limit */
	bool in_line; /* the last record's line end is not to be printed */
};

/* Adds the rows of a block for which new_fields_write has written fields to *text, which is made if it is NULL. groups: as there.
 * text_nbytes: of the whole text. Errors: STATUS_NO_MEMORY. */
enum status lead_text_add(struct lead_text **text, const struct row_block *b,
			  struct new_fields *fields, struct group *const *groups,
			  size_t text_nbytes, struct scratch *scratch);
void lead_text_free(struct lead_text *text);

/* Appends *text to out in a form that the queue takes, once, which owns it then, and sets it to NULL; of NULL, appends nothing.
 * Errors: STATUS_NO_MEMORY. */
enum status lead_text_write(struct lead_text **text, const struct plan *plan,
			    struct text_buffer *out);

/* Leaves out the line end of the last record that lead_text_write wrote to out->data + offset: the file lacks it. */
void lead_text_end_in_line(struct text_buffer *out, size_t offset);

/* The last records of a group, which may lack fields: at[begin .. end). */
struct lead_group {
	const void *home; /* as above */
	struct lead_field **at; /* the fields of each; owned */
	size_t begin, end, capacity;
};

/* Without keys, only as many records wait as the largest N. With keys, all wait after the first that lacks a
 * field, as they are printed in their order. What waits counts towards --memory. Zeroed but for the plan: nothing waits. All owned. */
struct lead_queue {
	const struct plan *plan; /* if it has no nleads, records are written as they come */
	struct lead_text *first, *last; /* texts with records that wait */
	struct lead_group *groups;       /* a table of nslots, a power of 2; a slot whose `at` is NULL is empty */
	size_t nslots, ngroups;
	struct text_buffer ready; /* complete, and not written yet */
};

void lead_queue_free(struct lead_queue *q);

/* Writes the records of text, which holds what lead_text_write wrote if the plan has nleads, and those before that they
 * complete; the others wait. Errors: STATUS_WRITE, STATUS_NO_MEMORY; STATUS_MEMORY_LIMIT:
 * too many wait. */
enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer,
			     struct fault *fault);

/* Writes the records that wait: what they lack is empty. Errors: as above. */
enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault);
