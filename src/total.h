/* SPDX-License-Identifier: MIT
 *
 * total.h - combining chunks' partials in input order, and the records between chunks.
 */
#ifndef GPUSTAT_TOTAL_H
#define GPUSTAT_TOTAL_H

#include <stddef.h>
#include <stdint.h>

#include "chunk.h"
#include "column.h"
#include "emit.h"
#include "plan.h"
#include "record.h"
#include "status.h"

/* A record that chunk borders cut belongs to no chunk's partial. Its pieces, the tail of
 * one chunk, perhaps whole chunks, and the head of the next, are joined here and folded
 * when the record is complete. So a chunk may be one byte long, and a record longer than
 * any buffer. */
struct seam {
	char *data; /* owned */
	size_t nbytes, capacity;
	uint64_t line;         /* of data[0] */
	uint64_t offset_bytes; /* of data[0] in the input */
	struct partial partial;
	struct record_memory memory;
};

/* What a chunk's turn leaves to be printed. Zeroed: nothing. */
struct emission {
	struct partial before;           /* the fold of all records before the chunk's own */
	size_t good_nbytes;              /* bytes of the chunk before its first fault */
	struct text_buffer head, tail;   /* the record that ends in the chunk, as text; the one
					  * that the file's end completes */
};

/* The fold of all chunks so far. */
struct total {
	const struct plan *plan;
	struct partial partial;
	struct seam seam;
	struct emitter emitter; /* for records in the seam */
	uint64_t line; /* of the next chunk's first byte */
	size_t fault_offset; /* where in a text its first fault was found */
};

/* Makes the total of no chunks. Errors: STATUS_NO_MEMORY. */
enum status total_init(struct total *t, const struct plan *plan);
void total_free(struct total *t);

/* Errors: STATUS_NO_MEMORY. */
enum status emission_init(struct emission *e, const struct plan *plan);
void emission_free(struct emission *e);

/* Folds the next chunk into t. To be called in input order, by one thread at a time.
 * later: the chunk's partial; nlines: LFs in the chunk. emission: if the plan emits, filled
 * with what surrounds the chunk's own output.
 * Errors: STATUS_NO_MEMORY, and what the plan holds for one: STATUS_NOT_A_NUMBER,
 * STATUS_OUT_OF_RANGE, STATUS_SHORT_RECORD, STATUS_OPEN_QUOTE; fault then has the line,
 * column and value of the first in input order, but not the file. */
enum status total_add(struct total *t, const struct chunk *chunk, uint64_t nlines,
		      const struct partial *later, struct emission *emission,
		      struct fault *fault);

#endif
