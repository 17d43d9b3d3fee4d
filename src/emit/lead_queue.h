/* SPDX-License-Identifier: MIT
 *
 * lead_queue.h - printed records that wait for fields of later records (--lead), in the order of the input:
 * the serial part of it, in the turn of the write chain.
 *
 * Without keys, only as many records wait as the largest N. With keys, all wait behind the first that lacks a
 * field, as they are printed in their order. What waits counts towards --memory.
 */
#ifndef GPUSTAT_LEAD_QUEUE_H
#define GPUSTAT_LEAD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text_buffer.h"
#include "io/writer.h"
#include "query/plan.h"

/* A field of a record that waits. */
struct lead_gap {
	const char *text; /* in a block that is freed after the record's */
	uint32_t nbytes;  /* or LEAD_OPEN */
};

struct lead_block;

/* The last records of a group, whose gaps may be open: at[begin .. end), of each its plan->nleads gaps. */
struct lead_group {
	const void *home; /* which group it is; NULL: all records are one */
	struct lead_gap **at; /* owned */
	size_t begin, end, capacity;
};

/* All owned. */
struct lead_queue {
	const struct plan *plan;
	uint64_t nahead_max;
	uint64_t *nahead;                /* plan->nleads; NULL until needed */
	struct lead_block *first, *last; /* blocks of records that wait */
	struct lead_group *groups;       /* a table of nslots, a power of 2; a slot whose `at` is NULL is empty */
	size_t nslots, ngroups;
	struct text_buffer ready; /* complete, and not written yet */
};

/* plan: if it has no nleads, records are written as they come. */
void lead_queue_init(struct lead_queue *q, const struct plan *plan);
void lead_queue_free(struct lead_queue *q);

/* Writes the records of text, which holds lead_frames if the plan has nleads, and those before that they
 * complete; the others wait. Errors: STATUS_WRITE, STATUS_NO_MEMORY; STATUS_MEMORY_LIMIT:
 * too many wait. */
enum status lead_queue_write(struct lead_queue *q, struct text_buffer *text, struct writer *writer,
			     struct fault *fault);

/* Writes the records that wait: what they lack is empty. Errors: as above. */
enum status lead_queue_end(struct lead_queue *q, struct writer *writer, struct fault *fault);

#endif
