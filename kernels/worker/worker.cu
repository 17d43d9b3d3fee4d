/* SPDX-License-Identifier: MIT
 *
 * worker.cu - a stream of a GPU as a worker: see src/engine/worker.h.
 *
 * The chunk's text is copied to the device once; map, fold and emit work on the copy. Only results are copied to the host.
 *
 *     read:  read.cu                -> text in pinned memory
 *     begin: the copy to the device, records_map, and usually column_fold, before the entry is known: fold.cu
 *     map:   waits                  -> summary
 *     fold:  fold.cu                -> summary, tallies, bins
 *     emit:  emit.cu                -> the text to print
 *
 * Chunks that the device cannot hold or parse are done on the CPU, with the same result.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "kernels/worker/gpu.h"
#include "kernels/worker/worker.cuh"

#define POLL_S 2e-3
#define LIKELY_FIELD_NBYTES 8 /* fields of most files are at least as long */

/* ---- errors ---- */

enum status gpu_fault(struct fault *fault, enum status status, const char *what,
		      cudaError_t error)
{
	char words[FAULT_DETAIL_NBYTES];

	(void)cudaGetLastError(); /* reported here: clear it */
	snprintf(words, sizeof words, "%s: %s", what, cudaGetErrorString(error));
	return fault_set(fault, status, 0, words);
}

extern "C" long gpu_nchecked;
long gpu_nchecked;

cudaError_t gpu_checked(cudaError_t error)
{
	const char *wanted = getenv("GPUSTAT_GPU_FAULT");
	char *end;
	long first, now;

	if (!wanted)
		return error;
	first = strtol(wanted, &end, 10);
	now = __atomic_add_fetch(&gpu_nchecked, 1, __ATOMIC_RELAXED);
	return now == first || (*end == '+' && now > first) ? cudaErrorUnknown : error;
}

/* Work on a chunk takes a fraction of a millisecond, and sleeping until the device's interrupt
 * takes half a millisecond more (a virtual machine, H200, 2026-11-21). So this polls first,
 * yielding the core to other threads, and sleeps after POLL_S. */
static cudaError_t wait_idle(cudaEvent_t idle)
{
	double end_s = clock_s() + POLL_S;
	cudaError_t error = cudaEventQuery(idle);

	while (error == cudaErrorNotReady) {
		(void)cudaGetLastError(); /* not an error, but recorded like one */
		if (clock_s() > end_s)
			return cudaEventSynchronize(idle);
		sched_yield();
		error = cudaEventQuery(idle);
	}
	return error;
}

enum status worker_wait(struct worker *w, const char *what, struct fault *fault)
{
	GPU_TRY(what, cudaEventRecord(w->idle, w->stream));
	GPU_TRY(what, wait_idle(w->idle));
	return STATUS_OK;
}

/* ---- small copies ---- */

#define SMALL_NTHREADS 256

__global__ static void __launch_bounds__(SMALL_NTHREADS)
copy_small(uint4 *__restrict__ to, const uint4 *__restrict__ from, uint32_t n)
{
	for (uint32_t i = threadIdx.x; i < n; i += SMALL_NTHREADS)
		to[i] = from[i];
}

cudaError_t worker_copy_small(struct worker *w, void *to, const void *from, size_t nbytes)
{
	uint32_t n = (uint32_t)((nbytes + sizeof(uint4) - 1) / sizeof(uint4));

	if (n == 0)
		return cudaSuccess;
	copy_small<<<1, SMALL_NTHREADS, 0, w->stream>>>((uint4 *)to, (const uint4 *)from, n);
	return cudaGetLastError();
}

/* ---- open and close ---- */

/* The same layout in both memories, so that all results come back in one copy. */
static void results_cut(const struct worker *w, struct arena *a, struct chunk_summary **summary,
			struct column_tally **tally, struct decimal_bin **bins, uint128 **squares,
			struct keep_result **kept)
{
	size_t ncolumns = table_ncolumns(w->plan);

	*summary = arena_cut<struct chunk_summary>(a, 1);
	*tally = arena_cut<struct column_tally>(a, ncolumns);
	*bins = arena_cut<struct decimal_bin>(a, ncolumns * DECIMAL_NSCALES);
	*squares = w->squares_numbers ? arena_cut<uint128>(a, ncolumns * DECIMAL_NSCALES) : NULL;
	*kept = w->keeping.wanted ? arena_cut<struct keep_result>(a, KEEP_NFORMS * w->plan->ncolumns) : NULL;
}

enum status worker_copy_results(struct worker *w, struct fault *fault)
{
	size_t nbins = table_ncolumns(w->plan) * DECIMAL_NSCALES;
	const void *end = w->keeping.results ? (void *)(w->keeping.results + KEEP_NFORMS * w->plan->ncolumns)
			  : w->squares	     ? (void *)(w->squares + nbins)
					     : (void *)(w->bins + nbins);
	size_t nbytes = (size_t)((const char *)end - (const char *)w->summary);

	GPU_TRY("copy results", worker_copy_small(w, w->summary, w->device_summary, nbytes));
	worker_mark(w, STAGE_COPY_BACK);
	return STATUS_OK;
}

static void pinned_cut(struct worker *w, struct arena *a)
{
	results_cut(w, a, &w->summary, &w->tally, &w->bins, &w->squares, &w->keeping.results);
	w->exceptions = arena_cut<struct field_exception>(a, EXCEPTIONS_CAPACITY);
	plan_arrays_cut(&w->plan_pinned, a, w->plan);
	unpacking_cut_pinned(w, a);
	w->empty_groups = arena_cut<struct group_control>(a, 1);
	if (!w->plan->emits)
		return;
	w->running.control = arena_cut<struct group_control>(a, 1);
	w->columns = arena_cut<struct emission_column>(a, w->plan->nnew_columns);
	w->output_nbytes = arena_cut<uint64_t>(a, 1);
}

static void device_cut(struct worker *w, struct arena *a)
{
	struct reduce_memory *r = &w->reduce;
	size_t ncolumns = table_ncolumns(w->plan);

	/* Every array is padded to 256 bytes, and so is text, as lane_load requires. */
	w->text = arena_cut<char>(a, w->chunk_nbytes);
	if (w->packing.wanted)
		w->packing.device =
			arena_cut<unsigned char>(a, nibbles_nbytes(w->chunk_nbytes));
	w->domino.nslots = records_ntiles(w->chunk_nbytes);
	w->domino.slots = arena_cut<uint64_t>(a, w->domino.nslots);
	w->domino.ticket = arena_cut<uint32_t>(a, 1);
	w->tile_prefix = arena_cut<csv_map>(a, w->domino.nslots);
	w->tile_nseparators = arena_cut<uint16_t>(a, w->domino.nslots);
	results_cut(w, a, &w->device_summary, &r->tally, &r->bins, &r->squares,
		    &w->keeping.device_results);
	w->exception_list.capacity = EXCEPTIONS_CAPACITY;
	w->exception_list.list = arena_cut<struct field_exception>(a, EXCEPTIONS_CAPACITY);
	r->partial_tallies = arena_cut<struct column_tally>(a, r->npartials);
	r->partial_bins = arena_cut<struct decimal_bin>(a, (size_t)r->npartials * DECIMAL_NSCALES);
	r->ndone = arena_cut<uint32_t>(a, ncolumns);
	plan_arrays_cut(&w->plan_device, a, w->plan);
	unpacking_cut_device(w, a);
	if (w->folds_columns) {
		struct column_fold_memory *f = &w->column_fold;
		f->counts = arena_cut<struct column_counts>(a, ncolumns);
		f->bins = arena_cut<struct column_bin>(a, ncolumns * DECIMAL_NSCALES);
		f->ends = arena_cut<struct column_fold_ends>(a, 1);
		f->ndone = arena_cut<uint32_t>(a, 1);
	}
	if (!w->plan->emits)
		return;
	w->device_columns = arena_cut<struct emission_column>(a, w->plan->nnew_columns);
}

/* Opens what needs no device: another thread may be waking it meanwhile. */
static enum status open_host(struct worker *w, const struct worker_setup *setup,
			     struct fault *fault)
{
	enum status status = cpu_folder_init(&w->on_cpu, w->plan);

	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	pinned_buffer_reserve(&w->buffer, w->chunk_nbytes + 2 * ARENA_ALIGN);
	packing_init(w, setup);
	unpacking_init(w, setup);
	if (w->plan->emits)
		pinned_buffer_reserve(&w->output_memory, worker_likely_output(w, w->chunk_nbytes));
	return STATUS_OK;
}

/* Makes the device's context, unless it is there already. */
static enum status gpu_wake(int device, struct fault *fault)
{
	cudaError_t error;

	if (device >= gpu_count())
		return fault_set(fault, STATUS_NO_GPU, 0, "no GPU of that number");
	error = cudaSetDevice(device);
	if (error != cudaSuccess)
		return gpu_fault(fault, STATUS_NO_GPU, "select GPU", error);
	GPU_TRY("wake GPU", cudaFree(NULL));
	return STATUS_OK;
}

static enum status open_device(struct worker *w, struct fault *fault)
{
	TRY(gpu_wake(w->device, fault));
	gpu_keep_near(w->device);
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	GPU_TRY("create event", cudaEventCreateWithFlags(&w->idle, cudaEventBlockingSync |
								       cudaEventDisableTiming));
	/* The first call about a kernel: it fails if the build has no code for this GPU. */
	GPU_TRY("find kernels",
	    reduce_npartials((uint32_t)table_ncolumns(w->plan), &w->reduce.npartials));
	if (w->folds_columns)
		GPU_TRY("find kernels", column_fold_nblocks(&w->column_fold.nblocks));
	return STATUS_OK;
}

static enum status open_memory(struct worker *w, struct fault *fault)
{
	struct arena measure = {NULL, 0};

	if (w->unpacking.wanted)
		GPU_TRY("pin memory", pinned_buffer_pin(&w->unpacking.pinned));
	if (!w->unpacking.wanted || !w->buffer.reserved) /* else it holds hardly more than ends */
		GPU_TRY("pin memory", pinned_buffer_pin(&w->buffer));
	if (w->packing.wanted)
		GPU_TRY("pin memory", pinned_buffer_pin(&w->packing.pinned));
	pinned_cut(w, &measure);
	GPU_TRY("allocate pinned memory", cudaMallocHost((void **)&w->pinned.base, measure.nbytes));
	pinned_cut(w, &w->pinned);
	group_control_begin(w->empty_groups);

	measure.nbytes = 0;
	device_cut(w, &measure);
	GPU_TRY("allocate device memory", cudaMalloc((void **)&w->arena.base, measure.nbytes));
	device_cut(w, &w->arena);
	GPU_TRY("clear device memory",
	    cudaMemsetAsync(w->arena.base, 0, w->arena.nbytes, w->stream));
	return STATUS_OK;
}

/* Frees all or part of what gpu_open has made. Errors are ignored. */
static void gpu_close(struct worker *w)
{
	if (w->stream)
		(void)cudaStreamSynchronize(w->stream);
	kept_close(w);
	groups_leave(w);
	running_close(w);
	(void)cudaFree(w->output.data);
	(void)cudaFree(w->totals.data);
	(void)cudaFree(w->codes.data);
	(void)cudaFree(w->significands.data);
	(void)cudaFree(w->nseparators.data);
	(void)cudaFree(w->ends.data);
	(void)cudaFree(w->arena.base);
	(void)cudaFreeHost(w->pinned.base);
	(void)pinned_buffer_free(&w->buffer);
	(void)pinned_buffer_free(&w->packing.pinned);
	unpacking_free(&w->unpacking);
	(void)pinned_buffer_free(&w->output_memory);
	if (w->idle)
		(void)cudaEventDestroy(w->idle);
	if (w->stream)
		(void)cudaStreamDestroy(w->stream);
	(void)cudaGetLastError();
	cpu_folder_free(&w->on_cpu);
	partial_free(&w->ignored);
	text_free(&w->output_pageable);
	free(w);
}

static enum status gpu_open(struct worker **out, const struct plan *plan,
			    const struct worker_setup *setup, struct fault *fault)
{
	struct worker *w = (struct worker *)calloc(1, sizeof *w);
	enum status status;

	NEED(w);
	w->plan = plan;
	w->output_share = 2; /* for the first chunk */
	w->chunk_nbytes = setup->chunk_nbytes;
	w->device = setup->device;
	w->filters = plan_filters_on_device(plan);
	w->folds_columns = plan_folds_columns(plan);
	w->squares_numbers = plan_needs(plan, MOMENT_SQUARES);
	w->keeping.wanted = plan_needs(plan, MOMENT_VALUES | MOMENT_KEYS);
	status = open_host(w, setup, fault);
	THEN(status, open_device(w, fault));
	THEN(status, open_memory(w, fault));
	if (status == STATUS_OK && w->filters && !w->folds_columns)
		status = fold_reserve_likely(w, fault);
	if (status == STATUS_OK && plan->emits)
		status = emit_reserve_likely(w, fault);
	if (status == STATUS_OK && plan->nkeys > 0)
		status = plan->emits ? running_open(w, fault) : groups_join(w, setup, fault);
	THEN(status, plan_copy_up(w, fault));
	THEN(status, worker_wait(w, "open", fault));
	if (status == STATUS_OK)
		*out = w;
	else
		gpu_close(w);
	return status;
}

size_t worker_likely_nrecords(const struct worker *w)
{
	const struct plan *plan = w->plan;
	size_t nread = plan->ncolumns - plan->nlets;
	size_t nfields = nread ? plan->columns[nread - 1].field + 1 : 1;

	return w->chunk_nbytes / (nfields * LIKELY_FIELD_NBYTES);
}

static char *gpu_buffer(struct worker *w)
{
	packing_begin(&w->packing);
	w->unpacking.nbytes = 0;
	return worker_buffer(w);
}

/* ---- map ---- */

enum status worker_launch_map(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	GPU_TRY("clear summary",
	    cudaMemsetAsync(w->device_summary, 0, sizeof *w->device_summary, w->stream));
	GPU_TRY("advance domino", grid_domino_advance(&w->domino, w->stream));
	GPU_TRY("launch records_map", records_map_launch(text_of(w, chunk), w->domino, w->tile_prefix,
						     w->device_summary, w->stream));
	worker_mark(w, STAGE_RECORDS);
	return STATUS_OK;
}

/* Launches the map, and behind it the early fold if there can be one: then the host waits once for
 * the chunk. */
static enum status launch_all(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	TRY(worker_launch_map(w, chunk, fault));
	w->early.launched = w->folds_columns && early_fold_plan(w, chunk);
	if (!w->early.launched) {
		GPU_TRY("copy summary", worker_copy_small(w, w->summary, w->device_summary,
						      sizeof *w->summary));
		worker_mark(w, STAGE_COPY_BACK);
		return STATUS_OK;
	}
	TRY(worker_launch_columns(w, chunk, {w->early.state, w->early.head_nbytes > 0, false}, w->early.head_nbytes, fault));
	return worker_copy_results(w, fault);
}

static enum status gpu_begin(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	w->on_device = w->early.launched = false;
	w->begun = true;
	if (chunk->nbytes == 0)
		return STATUS_OK;
	worker_mark(w, STAGE_BEGINS);
	TRY(worker_text_up(w, chunk, fault));
	return launch_all(w, chunk, fault);
}

static enum status gpu_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			   struct fault *fault)
{
	enum status status = w->begun ? STATUS_OK : gpu_begin(w, chunk, fault);

	w->begun = false;
	out->map = csv_full_map_identity();
	out->nlines = w->nlines = 0;
	out->dependence = CHUNK_DEPENDS;
	if (chunk->nbytes == 0)
		return STATUS_OK;
	THEN(status, worker_wait(w, "map", fault));
	TRY(status);
	out->map = csv_full_map_of((csv_map)w->summary->map);
	out->nlines = w->nlines = w->summary->nlines;
	/* A guess does not hold if there are quotes after all, beyond the part that was
	 * searched. */
	if (w->early.launched && !(w->early.dependence == CHUNK_GUESSES && w->summary->has_quotes))
		out->dependence = w->early.dependence;
	return STATUS_OK;
}

const struct worker_ops worker_gpu = {
	"gpu",
	gpu_wake,
	gpu_open,
	gpu_buffer,
	gpu_read,
	gpu_read_blocks,
	gpu_read_text,
	gpu_load_text,
	gpu_begin,
	gpu_map,
	gpu_fold,
	gpu_emit,
	gpu_close,
	NULL,
	gpu_finish,
};
