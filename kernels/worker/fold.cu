/* SPDX-License-Identifier: MIT
 *
 * fold.cu - the GPU worker folds the chunk that it has mapped.
 *
 *     column_fold                                            -> summary, tallies, bins
 *
 * or, if each record's values are needed (to print it, or to evaluate conditions), or if there are
 * more columns than column_fold takes:
 *
 *     records_ends, fields, reduce_codes, reduce_values      -> summary, tallies, bins
 *
 * or, with --by, of which all values stay on the device (groups.cu):
 *
 *     records_ends, fields, reduce_codes, group_find, group_add  -> summary, tallies
 *
 * or, where records are printed as well, the same, and the groups of the chunk come back with it (running.cu).
 *
 * The list of exceptions comes back, too, and the CPU folds them in input order. The CPU folds the
 * whole chunk if it does not fit (too many records for the memory, too many exceptions for their
 * list), if a condition depends on a field that the device cannot parse, or if the text may be at
 * fault (NUL bytes, text behind a closing quote): the CPU then decides which byte is.
 */
#include <stdlib.h>

extern "C" {
#include "csv/rows.h"
#include "simd/simd.h"
}

#include "kernels/worker/worker.cuh"

/* ---- before the entry is known ---- */

/* In most chunks the entry no longer matters after a few records: in a chunk with quotes, from the
 * place on where their positions show which of them open a field (csv/rows.h); in one without quotes,
 * from its first LF on, unless it is entered in quotes. The CPU searches the chunk's beginning in
 * pinned memory for that place. The records up to it are the chunk's head, which the seam (total.h)
 * folds; the device folds the records behind it. */

#define HEAD_NWORDS 64 /* 4 KiB: the longest head */
static_assert(HEAD_NWORDS * SIMD_WORD_NBYTES <= WORKER_ENDS_NBYTES, "the head is in the buffer");

/* The first bit set in words [begin, end), counted from bit 0 of bits; SIZE_MAX: none. */
static size_t first_bit(const uint64_t *bits, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (bits[i] != 0)
			return i * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(bits[i]);
	return SIZE_MAX;
}

/* Finds the first record end behind which the entry does not matter. Returns false if it always matters. */
static bool find_head(const struct chunk *chunk, const struct csv_dialect *dialect,
		      struct early_fold *early)
{
	uint64_t separators[HEAD_NWORDS], newlines[HEAD_NWORDS], quotes[HEAD_NWORDS];
	const struct dialect_bits bits = {{separators, newlines, quotes}, NULL, NULL, NULL};
	size_t nwords = chunk->nbytes / SIMD_WORD_NBYTES, resolved = 0, first;

	nwords = nwords < HEAD_NWORDS ? nwords : HEAD_NWORDS;
	struct simd_counts counts = simd()->classify(chunk->data, nwords, dialect->delimiter,
						     dialect->quote, bits.simd);
	bool strays;

	early->dependence = counts.nquotes ? CHUNK_INDEPENDENT : CHUNK_GUESSES;
	if (counts.nquotes)
		(void)quotes_map(dialect, &bits, nwords * SIMD_WORD_NBYTES, true, &resolved, &strays);
	first = first_bit(newlines, resolved, nwords);
	early->state = CSV_UNQUOTED;
	early->head_nbytes = first + 1;
	return first != SIZE_MAX;
}

bool early_fold_plan(struct worker *w, const struct chunk *chunk)
{
	if (chunk->plan)
		return false;
	if (!chunk->first_of_file)
		return find_head(chunk, &w->plan->dialect, &w->early);
	w->early.dependence = CHUNK_INDEPENDENT;
	w->early.state = CSV_FIELD_START;
	w->early.head_nbytes = 0;
	return true;
}

static bool early_fold_matches(const struct worker *w, const struct chunk *chunk, struct chunk_entry entry)
{
	size_t head_nbytes = w->early.head_nbytes;

	if (entry.unknown || head_nbytes == 0)
		return entry.unknown || (entry.state == CSV_FIELD_START && !entry.inside_record);
	/* The early fold holds if the head is the rest of one record. */
	for (size_t i = 0; i < head_nbytes; i++) {
		enum csv_class c = csv_dialect_classify(&w->plan->dialect, chunk->data[i]);
		if (c == CSV_NEWLINE && csv_outside_quotes(entry.state))
			return entry.inside_record && i + 1 == head_nbytes;
		entry.state = csv_step(entry.state, c);
	}
	return false;
}

/* ---- memory ---- */

/* A record with all its fields has at least a byte for each, and a field takes 9 bytes of the
 * table: that much is always granted, and as much for each predicate and key. Only chunks of blank or short
 * records, or of many quoted LFs, need more. */
#define FIELD_NBYTES (sizeof(int64_t) + sizeof(uint8_t))
#define TABLE_SLACK_NBYTES ((size_t)64 << 20)

/* Reserves the record ends and the field table of the chunk. *fits: whether there is memory. */
static enum status fold_reserve(struct worker *w, bool *fits, struct fault *fault)
{
	size_t stride = ((size_t)w->nlines + FIELD_ROWS_ALIGN - 1) / FIELD_ROWS_ALIGN *
			FIELD_ROWS_ALIGN;
	size_t ncolumns = fields_ncolumns(w->plan), nfields = stride * ncolumns;
	size_t granted = w->chunk_nbytes * (1 + w->plan->npredicates + w->plan->nkeys);
	cudaError_t error;

	*fits = nfields <= granted + TABLE_SLACK_NBYTES / FIELD_NBYTES;
	if (!*fits)
		return STATUS_OK;
	error = gpu_buffer_reserve(&w->ends, w->nlines * sizeof(uint32_t), w->stream);
	if (error == cudaSuccess)
		error = gpu_buffer_reserve(&w->nseparators, w->nlines * sizeof(uint16_t),
					   w->stream);
	if (error == cudaSuccess)
		error = gpu_buffer_reserve(&w->significands, nfields * sizeof(int64_t), w->stream);
	if (error == cudaSuccess)
		error = gpu_buffer_reserve(&w->codes, nfields * sizeof(uint8_t), w->stream);
	if (error == cudaErrorMemoryAllocation) {
		(void)cudaGetLastError(); /* handled: the CPU has memory */
		*fits = false;
		return STATUS_OK;
	}
	GPU_TRY("allocate field table", error);
	w->table = {(int64_t *)w->significands.data, (uint8_t *)w->codes.data, stride,
		    (uint32_t)ncolumns};
	return STATUS_OK;
}

enum status fold_reserve_likely(struct worker *w, struct fault *fault)
{
	enum status status;
	bool fits;

	w->nlines = (uint32_t)worker_likely_nrecords(w);
	status = fold_reserve(w, &fits, fault);
	w->nlines = 0;
	return status;
}

/* Launches what folds the field table. */
static enum status launch_folds(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	struct field_table tallied = w->table;

	tallied.ncolumns = (uint32_t)table_ncolumns(w->plan);
	if (w->group_table && tallied.ncolumns > 0)
		GPU_TRY("launch reduce_codes", reduce_codes_launch(tallied, w->records, w->reduce, w->stream));
	else if (tallied.ncolumns > 0)
		GPU_TRY("launch reduce", reduce_launch(tallied, w->records, w->reduce, w->stream));
	worker_mark(w, STAGE_REDUCE);
	if (w->running.wanted)
		return running_launch_groups(w, chunk, fault);
	if (w->group_table)
		return worker_launch_groups(w, chunk, fault);
	return w->keeping.wanted ? kept_launch(w, fault) : STATUS_OK;
}

/* Launches what fills the field table, and what folds it. */
static enum status launch_table(struct worker *w, const struct chunk *chunk,
				struct chunk_entry entry, struct fault *fault)
{
	struct text_view text = text_of(w, chunk);
	uint32_t *ends = (uint32_t *)w->ends.data;
	uint16_t *nseparators = (uint16_t *)w->nseparators.data;

	w->records = {ends, nseparators, w->tile_nseparators, &w->device_summary->nrecords,
		      entry.inside_record, w->nlines};
	GPU_TRY("advance domino", grid_domino_advance(&w->domino, w->stream));
	GPU_TRY("launch records_ends",
	    records_ends_launch(text, w->domino, w->tile_prefix, entry.state, w->records.nheads,
				ends, nseparators, w->tile_nseparators, w->device_summary,
				w->stream));
	worker_mark(w, STAGE_RECORDS);
	GPU_TRY("launch fields", fields_launch(text, w->records, fields_plan_of(w), w->table,
					   w->exception_list, w->device_summary, w->stream));
	worker_mark(w, STAGE_FIELDS);
	return launch_folds(w, chunk, fault);
}

enum status worker_launch_columns(struct worker *w, const struct chunk *chunk,
				  struct chunk_entry entry, size_t head_nbytes,
				  struct fault *fault)
{
	struct window_entry from = {w->tile_prefix, entry.state, entry.inside_record,
				    (uint32_t)head_nbytes};

	GPU_TRY("launch column_fold",
	    column_fold_launch(text_of(w, chunk), from, fields_plan_of(w), w->column_fold,
			       w->reduce, w->exception_list, w->device_summary, w->stream));
	worker_mark(w, STAGE_COLUMN_FOLD);
	return STATUS_OK;
}

/* Launches the fold, and the copies of its results. */
static enum status fold_launch(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct fault *fault)
{
	enum status status = STATUS_OK;

	worker_mark(w, STAGE_BEGINS);
	if (!w->folds_columns) {
		status = launch_table(w, chunk, entry, fault);
	} else {
		if (w->early.launched) /* map again: the early fold has changed the summary */
			status = worker_launch_map(w, chunk, fault);
		THEN(status, worker_launch_columns(w, chunk, entry, 0, fault));
	}
	return status == STATUS_OK ? worker_copy_results(w, fault) : status;
}

static int exception_compare(const void *a, const void *b)
{
	uint32_t x = ((const struct field_exception *)a)->begin;
	uint32_t y = ((const struct field_exception *)b)->begin;

	return (x > y) - (x < y);
}

static enum status add_exception(struct worker *w, const struct chunk *chunk, struct field_exception e,
				 struct partial *out)
{
	if (w->group_table)
		return groups_add_record(w, chunk, e, out);
	out->nrecords += w->folds_columns && w->plan->counts_records && e.column == 0;
	return column_add_field(w->plan, out, e.column, chunk->data + e.begin, e.end - e.begin, e.begin,
				&w->on_cpu.folder.scratch);
}

/* Folds the exceptions on the CPU, in input order. */
static enum status add_exceptions(struct worker *w, const struct chunk *chunk,
				   struct partial *out, struct fault *fault)
{
	size_t n = w->summary->nexceptions;
	enum status status;

	if (n == 0)
		return STATUS_OK;
	gpu_load_text(w);
	GPU_TRY("copy exceptions", copy_back(w, w->exceptions, w->exception_list.list, n));
	status = worker_wait(w, "copy exceptions", fault);
	qsort(w->exceptions, status == STATUS_OK ? n : 0, sizeof *w->exceptions,
	      exception_compare);
	for (size_t i = 0; status == STATUS_OK && i < n; i++) {
		status = add_exception(w, chunk, w->exceptions[i], out);
		if (status != STATUS_OK)
			partial_fault(out, w->plan, status, fault);
	}
	return status;
}

/* *first becomes the minimum of itself and an offset from the device. */
static void note_first(size_t *first, uint32_t offset)
{
	if (offset != UINT32_MAX && offset < *first)
		*first = offset;
}

/* Adds sums of squares, by scale, of those in a set of scales. Errors: STATUS_NO_MEMORY. */
static enum status column_add_squares(struct column_partial *out, uint32_t scales,
				      const uint128 squares[DECIMAL_NSCALES])
{
	struct exact *cell = (struct exact *)moments_need(&out->moments, CELL_SQUARES);

	for (; cell && scales; scales &= scales - 1) {
		int s = __builtin_ctz(scales);
		const unsigned long limb[] = {(unsigned long)squares[s], (unsigned long)(squares[s] >> 64)};
		TRY(exact_add_limbs(cell, limb, 2, false, 2 * s));
	}
	return cell ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Adds what the kernels found in one column. bins: NULL with --by. Errors: STATUS_NO_MEMORY. */
static enum status column_add(struct column_partial *out, bool parses, const struct column_tally *t,
		       const struct decimal_bin *bins)
{
	out->numbers.count += t->nnumbers;
	out->nmissing += t->nmissing;
	out->ninvalid += t->ninvalid;
	if (!parses)
		return STATUS_OK;
	note_first(&out->first_number_offset, t->first_number);
	note_first(&out->first_invalid_offset, t->first_invalid);
	for (int s = 0; bins && s < DECIMAL_NSCALES; s++)
		if (t->scales >> s & 1)
			TRY(numbers_add_bin(&out->numbers, s, &bins[s]));
	return STATUS_OK;
}

/* Sets the range of the chunk's complete records; first_end, last_end: 0 if no record ends. */
static void place_records(struct partial *out, size_t nbytes, bool inside_record,
			  size_t first_end, size_t last_end)
{
	out->head_ends = inside_record && first_end > 0;
	out->head_nbytes = !inside_record ? 0 : first_end > 0 ? first_end : nbytes;
	out->tail_offset = last_end > 0 ? last_end : out->head_nbytes;
}

static enum status fold_on_cpu(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct partial *out,
			       struct fault *fault)
{
	enum status status;

	gpu_load_text(w);
	status = cpu_folder_fold(&w->on_cpu, chunk->data, chunk->nbytes, entry, out);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* The number of records that were folded, but those of which column_fold lists the first column's
 * field as an exception: each of the others adds to one count of that column. */
static uint64_t nrecords_taken(const struct worker *w)
{
	const struct column_tally *t = &w->tally[0];

	if (!w->folds_columns)
		return w->summary->nrecords - w->summary->nomitted;
	return (uint64_t)t->nnumbers + t->nmissing + t->ninvalid;
}

/* Adds the device's results. Errors: STATUS_NO_MEMORY. */
static enum status partial_add(const struct worker *w, const struct chunk *chunk,
			struct chunk_entry entry, struct partial *out)
{
	const struct chunk_summary *summary = w->summary;
	const struct plan *plan = w->plan;

	place_records(out, chunk->nbytes, entry.inside_record, summary->first_end,
		      summary->last_end);
	if (plan->counts_records)
		out->nrecords += nrecords_taken(w);
	out->nragged += summary->nragged;
	note_first(&out->first_ragged_offset, summary->first_ragged);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		size_t bin = c * DECIMAL_NSCALES;
		if (column->needs && column_add(&out->columns[c], column->parses, &w->tally[c],
						w->group_table ? NULL : &w->bins[bin]) != STATUS_OK)
			return STATUS_NO_MEMORY;
		if (column->needs & MOMENT_SQUARES && !w->group_table && w->tally[c].scales &&
		    column_add_squares(&out->columns[c], w->tally[c].scales, &w->squares[bin]) != STATUS_OK)
			return STATUS_NO_MEMORY;
	}
	for (size_t p = 0; p < plan->npredicates; p++)
		out->nmatched[p] += w->tally[plan->ncolumns + p].nnumbers;
	return STATUS_OK;
}

/* Whether a column whose texts are needed, or kept as keys, has values that are no numbers: no kernel folds
 * texts. */
static bool has_texts(const struct worker *w)
{
	const struct plan *plan = w->plan;

	for (size_t c = 0; c < plan->ncolumns; c++)
		if ((plan_column_has_texts(&plan->columns[c]) || plan->columns[c].needs & MOMENT_KEYS) &&
		    w->tally[c].ninvalid > 0)
			return true;
	return false;
}

/* Adds the results that have come back to out, and sets w->on_device, unless the CPU must fold. */
static enum status add_results(struct worker *w, const struct chunk *chunk,
				struct chunk_entry entry, struct partial *out,
				struct fault *fault)
{
	const struct chunk_summary *s = w->summary;

	w->on_device = !s->has_nul && !s->has_stray && s->nundecided == 0 &&
		       s->nexceptions <= EXCEPTIONS_CAPACITY && !has_texts(w) &&
		       (!w->keeping.wanted || kept_all(w)) && !(w->group_table && group_summary_refuses(*s)) &&
		       !(w->running.wanted && s->nexceptions > 0) && !(w->plan->emits && s->has_uneven);
	if (!w->on_device)
		return STATUS_OK;
	if (partial_add(w, chunk, entry, out) != STATUS_OK ||
	    (w->keeping.wanted && kept_add(w, out) != STATUS_OK))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (w->running.wanted)
		return running_add_groups(w, out, fault);
	return add_exceptions(w, chunk, out, fault);
}

/* Folds the chunk on the GPU, which has room for it; waits for the results. */
static enum status fold_on_gpu(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct partial *out,
			       struct fault *fault)
{
	enum status status = fold_launch(w, chunk, entry, fault);

	w->early.launched = false; /* its results are overwritten */
	THEN(status, worker_wait(w, "fold", fault));
	return status == STATUS_OK ? add_results(w, chunk, entry, out, fault) : status;
}

/* Adds the results of the early fold. */
static enum status add_early_results(struct worker *w, const struct chunk *chunk,
				    struct partial *out, struct fault *fault)
{
	bool has_head = w->early.head_nbytes > 0;

	if (has_head) /* found on the CPU: the device does not know the head's end */
		w->summary->first_end = (uint32_t)w->early.head_nbytes;
	return add_results(w, chunk, {w->early.state, has_head, false}, out, fault);
}

enum status gpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     struct partial *out, struct fault *fault)
{
	enum status status;
	bool fits;

	w->on_device = false;
	out->offset_bytes = chunk->offset_bytes;
	cpu_folder_use(&w->on_cpu, chunk_plan(chunk, w->plan));
	if (w->nlines == 0) { /* no record ends here */
		place_records(out, chunk->nbytes, entry.inside_record, 0, 0);
		return STATUS_OK;
	}
	if (!w->filters || chunk->plan) /* the device has the run's plan only */
		return fold_on_cpu(w, chunk, entry, out, fault);
	if (w->early.launched && early_fold_matches(w, chunk, entry)) {
		status = add_early_results(w, chunk, out, fault);
	} else {
		fits = w->folds_columns;
		status = fits ? STATUS_OK : fold_reserve(w, &fits, fault);
		fits = fits && (!w->keeping.wanted || kept_reserve(w, kept_nnumbers(w))) &&
		       (!w->group_table || groups_have_room(w));
		if (status == STATUS_OK && fits)
			status = fold_on_gpu(w, chunk, entry, out, fault);
	}
	if (status != STATUS_OK || w->on_device)
		return status;
	out->needs_entry = entry.unknown;
	return entry.unknown ? STATUS_OK : fold_on_cpu(w, chunk, entry, out, fault);
}
