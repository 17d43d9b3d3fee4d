/* SPDX-License-Identifier: MIT
 *
 * worker_gpu.cu - a stream of a GPU as a worker: see src/worker.h.
 *
 * The chunk's text goes up once; map and fold then work on the copy. Only results come
 * back: the summary, a tally and the bins of each column, and the list of exceptions,
 * which the CPU folds in the order of the input.
 *
 *     map:   text up, records_map                                   -> summary
 *     fold:  records_ends, fields, reduce_codes, reduce_values      -> summary, tallies, bins
 *
 * The answer never depends on the device: a chunk that does not fit (too many records for
 * the memory there is, too many exceptions for their list) is folded on the CPU instead.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "record.h"
#include "worker.h"
extern const struct worker_ops worker_gpu;
}

#include "gpu.h"
#include "gpu_memory.cuh"
#include "reduce.cuh"

#define EXCEPTIONS_CAPACITY ((uint32_t)1 << 16)
/* A record with all its fields has at least a byte for each, and a field takes 9 bytes of
 * the table: that much is always granted. Only chunks of blank or short records, or of
 * many quoted LFs, can ask for more. */
#define FIELD_NBYTES (sizeof(int64_t) + sizeof(uint8_t))
#define TABLE_SLACK_NBYTES ((size_t)64 << 20)

/* The plan's arrays, as fields_plan points to them, in either memory. */
struct plan_arrays {
	uint32_t *field;
	uint8_t *parses;
	char *missing;
	uint32_t *missing_end;
};

struct worker {
	const struct plan *plan;
	size_t chunk_nbytes;
	int device;
	uint32_t nlines; /* of the chunk last mapped */
	cudaStream_t stream;
	cudaEvent_t idle; /* recorded behind all work, to wait for without spinning */

	/* Pinned memory. */
	struct arena pinned;
	char *buffer;
	struct chunk_summary *summary;
	struct column_tally *tally;
	struct decimal_bin *bins;
	struct field_exception *exceptions;
	struct plan_arrays plan_pinned;

	/* Device memory. */
	struct arena arena;
	char *text;
	csv_map *tile_prefix;
	struct chunk_summary *device_summary;
	struct grid_domino domino;
	struct exception_list exception_list;
	struct reduce_memory reduce;
	struct plan_arrays plan_device;
	struct gpu_buffer ends, significands, codes;
};

/* ---- errors ---- */

static enum status gpu_fault(struct fault *fault, enum status status, const char *what,
			     cudaError_t error)
{
	char words[FAULT_DETAIL_NBYTES];

	(void)cudaGetLastError(); /* reported here: the next call starts clean */
	snprintf(words, sizeof words, "%s: %s", what, cudaGetErrorString(error));
	return fault_set(fault, status, 0, words);
}

/* Leaves the function with STATUS_GPU if call fails. */
#define TRY(what, call)                                                       \
	do {                                                                  \
		cudaError_t error_ = (call);                                  \
		if (error_ != cudaSuccess)                                    \
			return gpu_fault(fault, STATUS_GPU, what, error_);    \
	} while (0)

/* Waits until the stream is idle. Errors of kernels and copies surface here. */
static enum status worker_wait(struct worker *w, const char *what, struct fault *fault)
{
	TRY(what, cudaEventRecord(w->idle, w->stream));
	TRY(what, cudaEventSynchronize(w->idle));
	return STATUS_OK;
}

/* ---- open and close ---- */

static size_t missing_nbytes(const struct plan *plan)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < plan->nmissing; i++)
		nbytes += strlen(plan->missing[i]);
	return nbytes;
}

static void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan)
{
	a->field = arena_cut<uint32_t>(arena, plan->ncolumns);
	a->parses = arena_cut<uint8_t>(arena, plan->ncolumns);
	a->missing = arena_cut<char>(arena, missing_nbytes(plan));
	a->missing_end = arena_cut<uint32_t>(arena, plan->nmissing);
}

static void pinned_cut(struct worker *w, struct arena *a)
{
	size_t ncolumns = w->plan->ncolumns;

	w->buffer = arena_cut<char>(a, w->chunk_nbytes);
	w->summary = arena_cut<struct chunk_summary>(a, 1);
	w->tally = arena_cut<struct column_tally>(a, ncolumns);
	w->bins = arena_cut<struct decimal_bin>(a, ncolumns * DECIMAL_NSCALES);
	w->exceptions = arena_cut<struct field_exception>(a, EXCEPTIONS_CAPACITY);
	plan_arrays_cut(&w->plan_pinned, a, w->plan);
}

static void device_cut(struct worker *w, struct arena *a)
{
	struct reduce_memory *r = &w->reduce;
	size_t ncolumns = w->plan->ncolumns;

	/* Every array is padded to 256 bytes, and so is text, as lane_load asks. */
	w->text = arena_cut<char>(a, w->chunk_nbytes);
	w->domino.nslots = records_ntiles(w->chunk_nbytes);
	w->domino.slots = arena_cut<uint64_t>(a, w->domino.nslots);
	w->domino.ticket = arena_cut<uint32_t>(a, 1);
	w->tile_prefix = arena_cut<csv_map>(a, w->domino.nslots);
	w->device_summary = arena_cut<struct chunk_summary>(a, 1);
	w->exception_list.capacity = EXCEPTIONS_CAPACITY;
	w->exception_list.list = arena_cut<struct field_exception>(a, EXCEPTIONS_CAPACITY);
	r->tally = arena_cut<struct column_tally>(a, ncolumns);
	r->bins = arena_cut<struct decimal_bin>(a, ncolumns * DECIMAL_NSCALES);
	r->partial_tallies = arena_cut<struct column_tally>(a, r->npartials);
	r->partial_bins = arena_cut<struct decimal_bin>(a, (size_t)r->npartials * DECIMAL_NSCALES);
	r->ndone = arena_cut<uint32_t>(a, ncolumns);
	plan_arrays_cut(&w->plan_device, a, w->plan);
}

static enum status open_device(struct worker *w, struct fault *fault)
{
	cudaError_t error;

	if (w->device >= gpu_count())
		return fault_set(fault, STATUS_NO_GPU, 0, "no GPU of that number");
	error = cudaSetDevice(w->device);
	if (error != cudaSuccess)
		return gpu_fault(fault, STATUS_NO_GPU, "select GPU", error);
	TRY("create stream", cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	TRY("create event", cudaEventCreateWithFlags(&w->idle, cudaEventBlockingSync |
								       cudaEventDisableTiming));
	/* The first question about a kernel: it fails where the build has none for this GPU. */
	TRY("find kernels",
	    reduce_npartials((uint32_t)w->plan->ncolumns, &w->reduce.npartials));
	return STATUS_OK;
}

static enum status open_memory(struct worker *w, struct fault *fault)
{
	struct arena measure = {NULL, 0};

	pinned_cut(w, &measure);
	TRY("allocate pinned memory", cudaMallocHost((void **)&w->pinned.base, measure.nbytes));
	pinned_cut(w, &w->pinned);

	measure.nbytes = 0;
	device_cut(w, &measure);
	TRY("allocate device memory", cudaMalloc((void **)&w->arena.base, measure.nbytes));
	device_cut(w, &w->arena);
	TRY("clear device memory",
	    cudaMemsetAsync(w->arena.base, 0, w->arena.nbytes, w->stream));
	return STATUS_OK;
}

static void plan_flatten(const struct plan *plan, const struct plan_arrays *to)
{
	uint32_t end = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		to->field[c] = plan->columns[c].field;
		to->parses[c] = plan->columns[c].parses;
	}
	for (size_t i = 0; i < plan->nmissing; i++) {
		size_t nbytes = strlen(plan->missing[i]);
		memcpy(to->missing + end, plan->missing[i], nbytes);
		end += (uint32_t)nbytes;
		to->missing_end[i] = end;
	}
}

/* Copies n T up. */
template <class T>
static cudaError_t copy_up(struct worker *w, T *to, const T *from, size_t n)
{
	return cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, w->stream);
}

/* Copies n T back. */
template <class T>
static cudaError_t copy_back(struct worker *w, T *to, const T *from, size_t n)
{
	return cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, w->stream);
}

static enum status open_plan(struct worker *w, struct fault *fault)
{
	const struct plan_arrays *from = &w->plan_pinned, *to = &w->plan_device;
	const struct plan *plan = w->plan;

	plan_flatten(plan, from);
	TRY("copy plan", copy_up(w, to->field, from->field, plan->ncolumns));
	TRY("copy plan", copy_up(w, to->parses, from->parses, plan->ncolumns));
	TRY("copy plan", copy_up(w, to->missing, from->missing, missing_nbytes(plan)));
	TRY("copy plan", copy_up(w, to->missing_end, from->missing_end, plan->nmissing));
	return worker_wait(w, "open", fault);
}

/* Takes what gpu_open has made, all or some. Nothing is left to report to. */
static void gpu_close(struct worker *w)
{
	if (w->stream)
		(void)cudaStreamSynchronize(w->stream);
	(void)cudaFree(w->codes.data);
	(void)cudaFree(w->significands.data);
	(void)cudaFree(w->ends.data);
	(void)cudaFree(w->arena.base);
	(void)cudaFreeHost(w->pinned.base);
	if (w->idle)
		(void)cudaEventDestroy(w->idle);
	if (w->stream)
		(void)cudaStreamDestroy(w->stream);
	(void)cudaGetLastError();
	free(w);
}

static enum status gpu_open(struct worker **out, const struct plan *plan, size_t chunk_nbytes,
			    int device, struct fault *fault)
{
	struct worker *w = (struct worker *)calloc(1, sizeof *w);
	enum status status;

	if (!w)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	w->plan = plan;
	w->chunk_nbytes = chunk_nbytes;
	w->device = device;
	status = open_device(w, fault);
	if (status == STATUS_OK)
		status = open_memory(w, fault);
	if (status == STATUS_OK)
		status = open_plan(w, fault);
	if (status == STATUS_OK)
		*out = w;
	else
		gpu_close(w);
	return status;
}

static char *gpu_buffer(struct worker *w)
{
	return w->buffer;
}

/* ---- map ---- */

static struct text_view text_of(const struct worker *w, const struct chunk *chunk)
{
	return {w->text, chunk->nbytes, w->plan->delimiter};
}

static enum status gpu_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			   struct fault *fault)
{
	enum status status;

	out->map = CSV_MAP_IDENTITY;
	out->nlines = w->nlines = 0;
	if (chunk->nbytes == 0)
		return STATUS_OK;
	TRY("copy chunk", copy_up(w, w->text, chunk->data, chunk->nbytes));
	TRY("clear summary",
	    cudaMemsetAsync(w->device_summary, 0, sizeof *w->device_summary, w->stream));
	TRY("advance domino", grid_domino_advance(&w->domino, w->stream));
	TRY("launch records_map", records_map_launch(text_of(w, chunk), w->domino, w->tile_prefix,
						     w->device_summary, w->stream));
	TRY("copy summary", copy_back(w, w->summary, w->device_summary, 1));
	status = worker_wait(w, "map", fault);
	if (status != STATUS_OK)
		return status;
	out->map = (csv_map)w->summary->map;
	out->nlines = w->nlines = w->summary->nlines;
	return STATUS_OK;
}

/* ---- fold ---- */

/* Makes room for the ends and the field table of the chunk; *table is the latter.
 * *fits: whether there was room. */
static enum status fold_reserve(struct worker *w, struct field_table *table, bool *fits,
				struct fault *fault)
{
	size_t stride = ((size_t)w->nlines + FIELD_ROWS_ALIGN - 1) / FIELD_ROWS_ALIGN *
			FIELD_ROWS_ALIGN;
	size_t nfields = stride * w->plan->ncolumns;
	cudaError_t error;

	*fits = nfields <= w->chunk_nbytes + TABLE_SLACK_NBYTES / FIELD_NBYTES;
	if (!*fits)
		return STATUS_OK;
	error = gpu_buffer_reserve(&w->ends, w->nlines * sizeof(uint32_t), w->stream);
	if (error == cudaSuccess)
		error = gpu_buffer_reserve(&w->significands, nfields * sizeof(int64_t), w->stream);
	if (error == cudaSuccess)
		error = gpu_buffer_reserve(&w->codes, nfields * sizeof(uint8_t), w->stream);
	if (error == cudaErrorMemoryAllocation) {
		(void)cudaGetLastError(); /* dealt with: the CPU has memory */
		*fits = false;
		return STATUS_OK;
	}
	TRY("allocate field table", error);
	*table = {(int64_t *)w->significands.data, (uint8_t *)w->codes.data, stride,
		  (uint32_t)w->plan->ncolumns};
	return STATUS_OK;
}

static struct fields_plan fields_plan_of(const struct worker *w)
{
	const struct plan_arrays *a = &w->plan_device;

	return {a->field,       a->parses, a->missing,
		a->missing_end, (uint32_t)w->plan->nmissing, w->plan->one_column};
}

/* Launches all that a fold consists of, and the copies of its results. */
static enum status fold_launch(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct field_table table,
			       struct fault *fault)
{
	struct text_view text = text_of(w, chunk);
	uint32_t *ends = (uint32_t *)w->ends.data;
	struct record_table records = {ends, &w->device_summary->nrecords, entry.inside_record,
				       w->nlines};

	TRY("advance domino", grid_domino_advance(&w->domino, w->stream));
	TRY("launch records_ends",
	    records_ends_launch(text, w->domino, w->tile_prefix, entry.state, records.nheads,
				ends, w->device_summary, w->stream));
	TRY("launch fields", fields_launch(text, records, fields_plan_of(w), table,
					   w->exception_list, w->device_summary, w->stream));
	TRY("copy summary", copy_back(w, w->summary, w->device_summary, 1));
	if (table.ncolumns == 0)
		return STATUS_OK;
	TRY("launch reduce", reduce_launch(table, records, w->reduce, w->stream));
	TRY("copy tallies", copy_back(w, w->tally, w->reduce.tally, table.ncolumns));
	TRY("copy bins", copy_back(w, w->bins, w->reduce.bins,
				   (size_t)table.ncolumns * DECIMAL_NSCALES));
	return STATUS_OK;
}

static int exception_compare(const void *a, const void *b)
{
	uint32_t x = ((const struct field_exception *)a)->begin;
	uint32_t y = ((const struct field_exception *)b)->begin;

	return (x > y) - (x < y);
}

/* Folds the exceptions on the CPU, in the order of the input. */
static enum status take_exceptions(struct worker *w, const struct chunk *chunk,
				   struct partial *out, struct fault *fault)
{
	size_t n = w->summary->nexceptions;
	enum status status;

	if (n == 0)
		return STATUS_OK;
	TRY("copy exceptions", copy_back(w, w->exceptions, w->exception_list.list, n));
	status = worker_wait(w, "copy exceptions", fault);
	qsort(w->exceptions, status == STATUS_OK ? n : 0, sizeof *w->exceptions,
	      exception_compare);
	for (size_t i = 0; status == STATUS_OK && i < n; i++) {
		struct field_exception e = w->exceptions[i];
		status = column_take(w->plan, out, e.column, chunk->data + e.begin,
				     e.end - e.begin, e.begin);
		if (status != STATUS_OK)
			fault_set(fault, status, 0, NULL);
	}
	return status;
}

/* *first becomes the lesser of itself and an offset from the device. */
static void note_first(size_t *first, uint32_t offset)
{
	if (offset != UINT32_MAX && offset < *first)
		*first = offset;
}

/* Adds what the kernels found in one column. */
static void column_add(struct column_partial *out, bool parses, const struct column_tally *t,
		       const struct decimal_bin bins[DECIMAL_NSCALES])
{
	out->fast.count += t->nnumbers;
	out->nmissing += t->nmissing;
	out->ninvalid += t->ninvalid;
	if (!parses)
		return;
	for (int s = 0; s < DECIMAL_NSCALES; s++)
		if (t->scales >> s & 1)
			decimal_fold_add_bin(&out->fast, s, &bins[s]);
	note_first(&out->first_number_offset, t->first_number);
	note_first(&out->first_invalid_offset, t->first_invalid);
}

/* Says where the chunk's complete records lie; first_end, last_end: 0 if none ends. */
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
	enum status status = records_fold(w->plan, chunk->data, chunk->nbytes, entry, false, out);

	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* Folds the chunk on the GPU, which has room for table; waits for the result. *complete:
 * whether it is one: not if the exception list was too short. */
static enum status fold_on_gpu(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct field_table table,
			       struct partial *out, bool *complete, struct fault *fault)
{
	const struct chunk_summary *summary = w->summary;
	enum status status = fold_launch(w, chunk, entry, table, fault);

	if (status == STATUS_OK)
		status = worker_wait(w, "fold", fault);
	*complete = status == STATUS_OK && summary->nexceptions <= EXCEPTIONS_CAPACITY;
	if (!*complete)
		return status;
	place_records(out, chunk->nbytes, entry.inside_record, summary->first_end,
		      summary->last_end);
	out->nshort += summary->nshort;
	note_first(&out->first_short_offset, summary->first_short);
	for (size_t c = 0; c < w->plan->ncolumns; c++)
		column_add(&out->columns[c], w->plan->columns[c].parses, &w->tally[c],
			   &w->bins[c * DECIMAL_NSCALES]);
	return take_exceptions(w, chunk, out, fault);
}

static enum status gpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    struct partial *out, struct fault *fault)
{
	struct field_table table;
	bool fits, complete = false;
	enum status status;

	if (w->nlines == 0) { /* no record ends here */
		place_records(out, chunk->nbytes, entry.inside_record, 0, 0);
		return STATUS_OK;
	}
	status = fold_reserve(w, &table, &fits, fault);
	if (status == STATUS_OK && fits)
		status = fold_on_gpu(w, chunk, entry, table, out, &complete, fault);
	if (status == STATUS_OK && !complete)
		status = fold_on_cpu(w, chunk, entry, out, fault);
	return status;
}

const struct worker_ops worker_gpu = {
	"gpu", gpu_open, gpu_buffer, gpu_map, gpu_fold, gpu_close,
};
