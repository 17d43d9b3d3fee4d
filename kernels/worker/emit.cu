/* SPDX-License-Identifier: MIT
 *
 * emit.cu - the GPU worker prints the chunk that it has folded.
 *
 * Text, record ends and field table are still on the device. The total before the chunk and the
 * tallies of the fold tell whether all totals fit 128 bits at one scale. If so:
 *
 *     emission_total_launch, for each new column; emission_place_launch    -> the output's length
 *     emission_write_launch                                                -> the output
 *
 * With --by the totals are running.cu's.
 *
 * All of it is launched at once, with room for the likely length. Otherwise, or if the chunk has a
 * number that the fast path cannot hold, or if there is no memory for the totals, the CPU prints
 * it.
 */
#include <string.h>

#include "kernels/worker/worker.cuh"

#define OUTPUT_SLACK 1.03 /* room for 3 % more than is likely */

static enum status emit_on_cpu(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, const struct partial *before,
			       struct text_buffer *out, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (w->on_device) { /* the CPU has not folded it */
		status = partial_need(&w->ignored, w->plan);
		if (status == STATUS_OK) {
			partial_clear(&w->ignored);
			status = cpu_folder_fold(&w->on_cpu, chunk->data, chunk->nbytes, entry,
						 &w->ignored);
		}
	}
	THEN(status, cpu_folder_emit(&w->on_cpu, chunk->data, chunk->nbytes, entry, before,
				     chunk->offset_bytes, out));
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* ---- what comes before ---- */

static int largest_scale(uint32_t scales)
{
	int scale = -1;

	for (; scales; scales >>= 1)
		scale++;
	return scale;
}

/* Whether no total of a column can overflow 128 bits, or reach the identities there, even if all
 * numbers of each scale were as far from 0 as its farthest. */
static bool totals_fit(int128 carry, int scale, const struct column_tally *t,
		       const struct decimal_bin bins[DECIMAL_NSCALES])
{
	const int128 most = DECIMAL_INT128_MAX;
	int128 bound = carry < 0 ? -carry : carry;

	for (int s = 0; s < DECIMAL_NSCALES; s++) {
		if (!(t->scales >> s & 1))
			continue;
		int128 farthest = -(int128)bins[s].min > bins[s].max ? -(int128)bins[s].min
								      : bins[s].max;
		if (!decimal_rescale(&farthest, scale - s) || farthest > most / t->nnumbers ||
		    bound > most - farthest * t->nnumbers)
			return false;
		bound += farthest * t->nnumbers;
	}
	return bound < most;
}

/* Prepares the column of a sum, minimum or maximum. Returns false if the CPU must print it. */
static bool prepare_total(const struct worker *w, const struct number_sums *before,
			  struct emission_column *c)
{
	const struct column_tally *t = &w->tally[c->column];
	int finest = largest_scale(t->scales);
	int128 carry = 0;

	if (before->count > 0 &&
	    !exact_to_int128(numbers_total(c->kind, before), before->scale, &carry))
		return false;
	c->scale = finest > before->scale ? finest : before->scale;
	if (carry < -DECIMAL_INT128_MAX || !decimal_rescale(&carry, c->scale - before->scale) ||
	    !totals_fit(carry, c->scale, t, &w->bins[(size_t)c->column * DECIMAL_NSCALES]))
		return false;
	c->carry = {before->count > 0 ? carry : emission_identity(c->kind), before->scale};
	return true;
}

/* Prepares one new column. Returns false if the CPU must print it. */
static bool prepare_column(const struct worker *w, const struct new_column *s,
			   const struct chunk *chunk, const struct partial *before,
			   struct emission_column *c)
{
	const struct plan *plan = w->plan;
	struct number_sums numbers;

	memset(c, 0, sizeof *c);
	c->kind = s->kind;
	c->exclusive = plan->exclusive || s->kind == NEW_OFFSET;
	if (s->kind == NEW_BYTE_OFFSET) {
		c->carry.total = chunk->offset_bytes;
		return true;
	}
	if (s->kind == NEW_OFFSET) {
		c->column = (uint32_t)(plan->ncolumns + s->predicate);
		c->carry.total = before->nmatched[s->predicate];
		return true;
	}
	c->column = (uint32_t)s->column;
	if (plan->nkeys)
		return true; /* running_prepare does the rest */
	numbers_get(&before->columns[s->column].numbers, &numbers);
	if (s->kind != NEW_COUNT)
		return prepare_total(w, &numbers, c);
	c->carry.total = numbers.count;
	return true;
}

/* Prepares all of them. *fits: false if the CPU must print the chunk. */
static enum status prepare_columns(struct worker *w, const struct chunk *chunk, const struct partial *before,
				   bool *fits, struct fault *fault)
{
	for (size_t i = 0; i < w->plan->nnew_columns && *fits; i++)
		*fits = prepare_column(w, &w->plan->new_columns[i], chunk, before, &w->columns[i]);
	return *fits && w->running.wanted ? running_prepare(w, before, fits, fault) : STATUS_OK;
}

/* ---- memory ---- */

/* Reserves nbytes. *fits: whether there is memory. */
static enum status reserve(struct worker *w, struct gpu_buffer *buffer, size_t nbytes, bool *fits,
			   struct fault *fault)
{
	cudaError_t error = gpu_buffer_reserve(buffer, nbytes, w->stream);

	*fits = error != cudaErrorMemoryAllocation;
	if (!*fits)
		(void)cudaGetLastError(); /* handled: the CPU has memory */
	else
		GPU_TRY("allocate output", error);
	return STATUS_OK;
}

/* Lays out the totals of e's records: sets pointers of e and of the columns, and *places. The last place, the end of all
 * rows, is at a multiple of 16 bytes, since it is copied alone. */
static void totals_cut(struct worker *w, struct arena *a, struct emission *e, uint64_t **places)
{
	size_t n = e->nrecords;

	*places = arena_cut<uint64_t>(a, n + 2) + n % 2;
	e->scratch = arena_cut<char>(a, e->scratch_nbytes);
	for (size_t i = 0; i < w->plan->nnew_columns; i++) {
		struct emission_column *c = &w->columns[i];
		if (c->kind != NEW_BYTE_OFFSET)
			c->totals = arena_cut<int128>(a, n);
		if (c->scale > c->carry.scale)
			c->scales = arena_cut<int32_t>(a, n);
	}
	if (w->plan->nkeys)
		running_cut(w, a, e);
}

static enum status totals_reserve(struct worker *w, struct emission *e, uint64_t **places, bool *fits, struct fault *fault)
{
	struct arena arena = {NULL, 0};

	e->scratch_nbytes = emission_scratch_nbytes(e->nrecords);
	if (e->scratch_nbytes == SIZE_MAX)
		return gpu_fault(fault, STATUS_GPU, "measure scans", cudaGetLastError());
	totals_cut(w, &arena, e, places);
	TRY(reserve(w, &w->totals, arena.nbytes, fits, fault));
	arena = {(char *)w->totals.data, 0};
	if (*fits)
		totals_cut(w, &arena, e, places);
	return STATUS_OK;
}

/* ---- the emission ---- */

/* The column of the field table that marks the records that are printed. */
static uint32_t kept_column(const struct plan *plan)
{
	if (plan->npredicates == 0)
		return plan->ncolumns ? 0 : EMISSION_KEEPS;
	return (uint32_t)(plan->ncolumns + (plan->where == PREDICATE_NONE ? 0 : plan->where));
}

static struct emission emission_of(const struct worker *w, const struct chunk *chunk)
{
	struct emission e = {};

	e.text = text_of(w, chunk);
	e.records = w->records;
	e.table = w->table;
	e.nrecords = w->summary->nrecords;
	e.columns = w->device_columns;
	e.ncolumns = (uint32_t)w->plan->nnew_columns;
	e.kept_column = kept_column(w->plan);
	e.only = w->plan->only;
	e.ragged = w->plan->ragged;
	return e;
}

/* Launches the kernels that find every row's place, and the output's length. */
static enum status place(struct worker *w, const struct emission &e, uint64_t *places,
			 struct fault *fault)
{
	worker_mark(w, STAGE_BEGINS);
	GPU_TRY("copy columns", worker_copy_small(w, w->device_columns, w->columns,
					      e.ncolumns * sizeof *w->columns));
	if (e.order.records)
		TRY(running_launch_order(w, e, fault));
	for (uint32_t i = 0; i < e.ncolumns; i++)
		GPU_TRY("launch totals", emission_total_launch(e, w->columns[i], w->stream));
	GPU_TRY("launch places", emission_place_launch(e, places, w->stream));
	GPU_TRY("copy length", worker_copy_small(w, w->output_nbytes, places + e.nrecords, sizeof *w->output_nbytes));
	worker_mark(w, STAGE_SCAN);
	return STATUS_OK;
}

/* Reserves nbytes of output on the device and the host. *fits: whether there is memory. */
static enum status output_reserve(struct worker *w, size_t nbytes, bool *fits, struct fault *fault)
{
	cudaError_t error;

	TRY(reserve(w, &w->output, nbytes, fits, fault));
	if (!*fits)
		return STATUS_OK;
	error = pinned_buffer_need(&w->output_memory, nbytes);
	*fits = error != cudaErrorMemoryAllocation;
	if (!*fits)
		return (void)cudaGetLastError(), STATUS_OK; /* the CPU has pageable memory */
	GPU_TRY("allocate output", error);
	w->output_pinned.data = w->output_memory.data;
	w->output_pinned.capacity = w->output_memory.nbytes;
	return STATUS_OK;
}

size_t worker_likely_output(const struct worker *w, size_t nbytes)
{
	return (size_t)((double)nbytes * w->output_share * OUTPUT_SLACK) + 256;
}

enum status emit_reserve_likely(struct worker *w, struct fault *fault)
{
	size_t row_nbytes = 2 * sizeof(uint64_t) + w->plan->nnew_columns * sizeof(int128);
	bool fits;

	if (w->plan->nkeys) /* the order, and a sort's scratch */
		row_nbytes += w->plan->nnew_columns * sizeof(int32_t) + 8 * sizeof(uint32_t);
	TRY(reserve(w, &w->totals, worker_likely_nrecords(w) * row_nbytes, &fits, fault));
	return output_reserve(w, worker_likely_output(w, w->chunk_nbytes), &fits, fault);
}

/* Launches the kernel that writes the output, and the copy of its first nbytes, for which there is
 * room. If it is longer, the copy is incomplete or undefined. */
static enum status write_output(struct worker *w, const struct emission &e,
				const uint64_t *places, size_t nbytes, struct fault *fault)
{
	char *output = (char *)w->output.data;

	GPU_TRY("launch output", emission_write_launch(e, places, output, w->output.nbytes, w->stream));
	worker_mark(w, STAGE_FORMAT);
	GPU_TRY("copy output", copy_back(w, w->output_pinned.data, (const char *)output, nbytes));
	worker_mark(w, STAGE_COPY_BACK);
	return STATUS_OK;
}

/* Prints the chunk. Expects as many bytes of output for each byte of text as in the previous chunk,
 * and a few more, so that the host waits once. If there are more, writes the output again. */
static enum status print(struct worker *w, const struct emission &e, uint64_t *places, bool *fits,
			 struct fault *fault)
{
	size_t likely = worker_likely_output(w, e.text.nbytes);

	TRY(output_reserve(w, likely, fits, fault));
	if (!*fits)
		return STATUS_OK;
	TRY(place(w, e, places, fault));
	TRY(write_output(w, e, places, likely, fault));
	TRY(worker_wait(w, "print", fault));
	w->output_share = (double)*w->output_nbytes / (double)e.text.nbytes;
	if (*w->output_nbytes > likely) {
		w->nagain++;
		TRY(output_reserve(w, *w->output_nbytes, fits, fault));
		worker_mark(w, STAGE_BEGINS);
		if (*fits)
			TRY(write_output(w, e, places, *w->output_nbytes, fault));
		TRY(worker_wait(w, "print again", fault));
	}
	w->output_pinned.nbytes = *w->output_nbytes;
	return STATUS_OK;
}

/* Prints the chunk on the GPU. *fits: false, and nothing is printed, if the CPU must. */
static enum status emit_on_gpu(struct worker *w, const struct chunk *chunk,
			       const struct partial *before, bool *fits, struct fault *fault)
{
	struct emission e = emission_of(w, chunk);
	uint64_t *places;

	w->output_pinned.nbytes = 0;
	*fits = w->summary->nexceptions == 0 && !new_fields_need_quotes(w->plan);
	TRY(prepare_columns(w, chunk, before, fits, fault));
	if (!*fits || e.nrecords == 0)
		return STATUS_OK;
	TRY(totals_reserve(w, &e, &places, fits, fault));
	if (!*fits)
		return STATUS_OK;
	return print(w, e, places, fits, fault);
}

enum status gpu_emit(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     const struct partial *before, struct text_buffer **out, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool fits = false;

	w->printed = false;
	w->output_pageable.nbytes = 0;
	*out = &w->output_pageable;
	if (w->nlines == 0) /* no record ends here */
		return STATUS_OK;
	if (w->on_device)
		status = emit_on_gpu(w, chunk, before, &fits, fault);
	w->printed = fits;
	if (fits)
		*out = &w->output_pinned;
	if (status == STATUS_OK && !fits)
		status = emit_on_cpu(w, chunk, entry, before, &w->output_pageable, fault);
	return status;
}
