/* SPDX-License-Identifier: MIT
 *
 * lead.h - records that are printed with fields of later records (--lead).
 *
 * Those of a text are gathered with gaps in the place of these fields, and with their own fields for those before them
 * (lead_rows). Once all are there, the gaps that can be filled are, in parallel with other texts. What is left waits for the next
 * text in the queue, in the order of the input: the serial part, in the turn of the write chain.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "emit/new_fields.h"
#include "fold/group.h"
#include "fold/row_block.h"
#include "query/plan.h"

struct writer; /* io/output.h */

struct lead_row {
	size_t begin;   /* in the gathered bytes */
	uint32_t group; /* of the text's */
	uint32_t place; /* in `order` */
};

/* A field that is shown by an earlier record: bytes[begin .. begin + nbytes), in the place of the one that its own record shows. */
struct lead_cell {
	size_t begin;
	uint32_t nbytes;
};

/* One of the text's groups, whose records are order[begin .. end). */
struct lead_rows_group {
	const void *home; /* which of the run's groups it is; NULL: all records are one */
	uint32_t begin, end;
};

/* One thread's. Zeroed but for the plan: without records. All owned. */
struct lead_rows {
	const struct plan *plan;
	struct text_buffer bytes; /* records with their own fields */
	struct text_buffer firsts; /* fields of first rows, on their way to the queue */
	struct lead_cell *cells;  /* plan->nleads for each row */
	struct lead_row *rows;
	uint32_t *order;          /* the rows, group by group */
	struct lead_rows_group *groups;
	struct scratch scratch;
	size_t n, ngroups, cells_capacity, rows_capacity, order_capacity, groups_capacity;
};

void lead_rows_free(struct lead_rows *r);

/* Adds the rows of a block for which new_fields_write has written fields. groups: as there. Errors:
 * STATUS_NO_MEMORY. */
enum status lead_rows_add(struct lead_rows *r, const struct row_block *b, struct new_fields *fields,
			  struct group *const *groups);

/* Appends all records to out in a form that the queue takes, once, and forgets them; without records, appends nothing. Errors:
 * STATUS_NO_MEMORY. */
enum status lead_rows_write(struct lead_rows *r, struct text_buffer *out);

/* Leaves out the line end of the last record that lead_rows_write wrote to out->data + offset: the file lacks it. */
void lead_rows_end_in_line(struct text_buffer *out, size_t offset);

struct lead_field;
struct lead_block;

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
	struct lead_block *first, *last; /* blocks of records that wait */
	struct lead_group *groups;       /* a table of nslots, a power of 2; a slot whose `at` is NULL is empty */
	size_t nslots, ngroups;
	struct text_buffer ready; /* complete, and not written yet */
};

void lead_queue_free(struct lead_queue *q);

/* Writes the records of text, which holds what lead_rows_write wrote if the plan has nleads, and those before that they
 * complete; the others wait. Errors: STATUS_WRITE, STATUS_NO_MEMORY; STATUS_MEMORY_LIMIT:
 * too many wait. */
enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer,
			     struct fault *fault);

/* Writes the records that wait: what they lack is empty. Errors: as above. */
enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault);
