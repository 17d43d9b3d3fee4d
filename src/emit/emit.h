/* SPDX-License-Identifier: MIT
 *
 * emit.h - printing records, each with its running totals: the scan half, on the CPU.
 */
#ifndef GPUSTAT_EMIT_H
#define GPUSTAT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "query/plan.h"
#include "fold/record.h"
#include "emit/running.h"
#include "base/status.h"

/* Text that grows. Zeroed: empty. */
struct text_buffer {
	char *data; /* owned */
	size_t nbytes, capacity;
	bool in_line; /* ends in a record without a line end, even one of no bytes; whoever writes
		       * the text takes this back */
};

/* Makes room for nbytes more. Errors: STATUS_NO_MEMORY. */
enum status text_reserve(struct text_buffer *text, size_t nbytes);
void text_free(struct text_buffer *text);

/* One thread's means of printing records. */
struct emitter {
	const struct plan *plan;
	struct running *runnings;  /* plan->nnew_columns. Owned, as all below. */
	uint64_t *nmatched;        /* plan->npredicates: records so far where it holds */
	struct record_memory memory;
};

/* Errors: STATUS_NO_MEMORY; e can then be freed. */
enum status emitter_init(struct emitter *e, const struct plan *plan);
void emitter_free(struct emitter *e);

static inline bool new_column_is_running(const struct new_column *s)
{
	return s->kind != NEW_OFFSET && s->kind != NEW_BYTE_OFFSET;
}

/* Sets the totals and positions to those after the records of which before is the fold.
 * Errors: STATUS_NO_MEMORY. */
enum status emitter_begin(struct emitter *e, const struct partial *before);

/* Takes a raw field, whatever it holds, into the running total of scan i.
 * Errors: STATUS_NO_MEMORY. */
enum status emitter_add_field(struct emitter *e, size_t i, const char *field, size_t nbytes);

/* Prints the complete records of data[0 .. nbytes), as records_fold takes them, to the end
 * of out: those where plan->where holds, byte for byte, with a field for each scan before
 * their line end. before: the fold of all records before. offset_bytes: where data starts
 * in the input. Records without all fields of the plan are left out.
 * Errors: STATUS_NO_MEMORY. */
enum status records_emit(struct emitter *e, const char *data, size_t nbytes,
			 struct chunk_entry entry, bool at_end, const struct partial *before,
			 uint64_t offset_bytes, struct text_buffer *out);

/* Like records_emit, but goes on at data[from], where a record begins, from what was printed
 * last. */
enum status records_emit_from(struct emitter *e, const char *data, size_t nbytes, size_t from,
			      uint64_t offset_bytes, struct text_buffer *out);

#endif
