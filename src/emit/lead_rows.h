/* SPDX-License-Identifier: MIT
 *
 * lead_rows.h - the records of one text that are printed with fields of later records (--lead).
 *
 * They are gathered with gaps in the place of these fields, and with their own fields for those before
 * them. Once all are there, the gaps that can be filled are, in parallel with other texts; the rest waits in
 * lead_queue.h for the next text.
 */
#ifndef GPUSTAT_LEAD_ROWS_H
#define GPUSTAT_LEAD_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text_buffer.h"
#include "emit/new_fields.h"
#include "fold/group.h"
#include "fold/row_block.h"
#include "query/plan.h"

struct lead_row {
	size_t begin;   /* in the gathered bytes, of its parts */
	uint32_t group; /* of the text's */
	uint32_t place; /* in `order` */
};

/* One of the text's groups, whose records are order[begin .. end). */
struct lead_rows_group {
	const void *home;
	uint32_t begin, end;
};

/* All owned. */
struct lead_rows {
	const struct plan *plan;
	size_t nparts;            /* of a record: 2 * plan->nleads + 1 */
	uint64_t nahead_max;      /* of the plan's columns */
	struct text_buffer bytes; /* piece, own field, piece, own field, ... piece */
	uint32_t *part_nbytes;    /* nparts for each row */
	struct lead_row *rows;
	uint32_t *order;          /* the rows, group by group */
	size_t n, capacity;
	struct lead_rows_group *groups;
	size_t ngroups, groups_capacity;
};

void lead_rows_init(struct lead_rows *r, const struct plan *plan);
void lead_rows_free(struct lead_rows *r);

/* Forgets all records. Keeps memory. */
void lead_rows_clear(struct lead_rows *r);

/* Adds the rows of a block for which new_fields_write has written fields. groups: as there. Errors:
 * STATUS_NO_MEMORY. */
enum status lead_rows_add(struct lead_rows *r, const struct row_block *b, struct new_fields *fields,
			  struct group *const *groups);

/* Appends all records to out as a lead_frame; without records, appends nothing. Errors: STATUS_NO_MEMORY. */
enum status lead_rows_write(struct lead_rows *r, struct text_buffer *out);

#endif
