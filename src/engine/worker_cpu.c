/* SPDX-License-Identifier: MIT
 *
 * worker_cpu.c - a CPU core as a worker: see worker.h.
 */
#include <stdlib.h>

#include "emit/cpu_folder.h"
#include "engine/worker.h"

struct worker {
	char *memory; /* the buffer, and padding on both sides */
	char *buffer;
	const struct plan *plan; /* the run's */
	struct cpu_folder folder;
	struct text_buffer text; /* what is printed of a chunk */
};

static void cpu_close(struct worker *w)
{
	text_free(&w->text);
	cpu_folder_free(&w->folder);
	free(w->memory);
	free(w);
}

static enum status cpu_open(struct worker **out, const struct plan *plan,
			    const struct worker_setup *setup, struct fault *fault)
{
	struct worker *w = calloc(1, sizeof *w);

	(void)fault;
	NEED(w);
	w->plan = plan;
	w->memory = calloc(1, setup->chunk_nbytes + 2 * SIMD_PAD_NBYTES);
	w->buffer = w->memory + SIMD_PAD_NBYTES;
	if (!w->memory || cpu_folder_init(&w->folder, plan) != STATUS_OK ||
	    rows_reserve(&w->folder.rows, setup->chunk_nbytes) != STATUS_OK) {
		cpu_close(w);
		return STATUS_NO_MEMORY;
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
	cpu_folder_use(&w->folder, chunk_plan(chunk, w->plan));
	out->map = rows_classify(&w->folder.rows, chunk->data, chunk->nbytes, &out->nlines);
	out->dependence = w->folder.rows.dependence;
	return STATUS_OK;
}

static enum status cpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    struct partial *out, struct fault *fault)
{
	out->offset_bytes = chunk->offset_bytes;
	return partial_fault(out, w->plan, cpu_folder_fold_classified(&w->folder, chunk->data, chunk->nbytes, entry, out), fault);
}

static enum status cpu_emit(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    const struct partial *before, struct text_buffer **out,
			    struct fault *fault)
{
	(void)fault;
	w->text.nbytes = 0;
	*out = &w->text;
	return cpu_folder_emit(&w->folder, chunk->data, chunk->nbytes, entry, before, chunk->offset_bytes, &w->text);
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
