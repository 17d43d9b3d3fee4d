/* SPDX-License-Identifier: MIT
 *
 * worker_cpu.c - a CPU core as a worker: see worker.h.
 */
#include <stdlib.h>

#include "emit/emit.h"
#include "fold/record.h"
#include "csv/rows.h"
#include "emit/rows_emit.h"
#include "fold/rows_fold.h"
#include "engine/worker.h"

struct worker {
	const struct plan *plan;
	char *memory_of_buffer; /* the buffer, and padding on both sides */
	char *buffer;
	struct rows rows;
	struct row_folder folder;
	struct record_memory memory; /* for what is folded record by record */
	struct emitter emitter;
	struct new_fields fields;
	struct text_buffer text; /* what is printed of a chunk */
};

static void cpu_close(struct worker *w)
{
	record_memory_free(&w->memory);
	emitter_free(&w->emitter);
	new_fields_free(&w->fields);
	text_free(&w->text);
	row_folder_free(&w->folder);
	rows_free(&w->rows);
	free(w->memory_of_buffer);
	free(w);
}

static enum status cpu_open(struct worker **out, const struct plan *plan,
			    const struct worker_setup *setup, struct fault *fault)
{
	struct worker *w = calloc(1, sizeof *w);

	if (!w)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	w->plan = plan;
	w->memory_of_buffer = calloc(1, setup->chunk_nbytes + 2 * SIMD_PAD_NBYTES);
	w->buffer = w->memory_of_buffer + SIMD_PAD_NBYTES;
	if (!w->memory_of_buffer || rows_init(&w->rows, plan, setup->chunk_nbytes) != STATUS_OK ||
	    row_folder_init(&w->folder, plan) != STATUS_OK ||
	    record_memory_init(&w->memory, plan) != STATUS_OK ||
	    emitter_init(&w->emitter, plan) != STATUS_OK ||
	    new_fields_init(&w->fields, plan) != STATUS_OK) {
		cpu_close(w);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	*out = w;
	return STATUS_OK;
}

static char *cpu_buffer(struct worker *w)
{
	return w->buffer;
}

static enum status cpu_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			   struct fault *fault)
{
	(void)fault;
	out->map = rows_classify(&w->rows, chunk->data, chunk->nbytes, &out->nlines);
	out->dependence = rows_dependence(&w->rows);
	return STATUS_OK;
}

static enum status cpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    struct partial *out, struct fault *fault)
{
	size_t left;
	enum status status = rows_fold(&w->folder, &w->rows, chunk->data, chunk->nbytes, entry, out,
				       &left);

	out->needs_entry = status == STATUS_OK && left == SIZE_MAX && entry.unknown;
	if (out->needs_entry)
		return STATUS_OK;
	if (status == STATUS_OK && left == SIZE_MAX)
		status = records_fold(w->plan, chunk->data, chunk->nbytes, entry, false, &w->memory,
				      out);
	else if (status == STATUS_OK && left < chunk->nbytes)
		status = records_fold_from(w->plan, chunk->data, chunk->nbytes, left, &w->memory,
					   out);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

static enum status cpu_emit(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    const struct partial *before, struct text_buffer **out,
			    struct fault *fault)
{
	enum status status;

	w->text.nbytes = 0;
	*out = &w->text;
	status = rows_emit(&w->emitter, &w->fields, &w->folder, &w->rows, chunk->data,
			   chunk->nbytes, entry, before, chunk->offset_bytes, &w->text);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

const struct worker_ops worker_cpu = {
	.name = "cpu",
	.open = cpu_open,
	.buffer = cpu_buffer,
	.map = cpu_map,
	.fold = cpu_fold,
	.emit = cpu_emit,
	.close = cpu_close,
};
