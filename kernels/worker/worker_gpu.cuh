/* SPDX-License-Identifier: MIT
 *
 * worker_gpu.cuh - what the parts of the GPU worker share: worker_gpu.cu opens, maps and
 * closes, worker_gpu_plan.cu takes the plan up, worker_gpu_read.cu reads chunks and takes them up,
 * worker_gpu_ahead.cu sees what can be folded ahead, worker_gpu_fold.cu folds, and
 * worker_gpu_emit.cu prints. Nobody else includes this, but tests and the benchmark that look
 * inside.
 */
#ifndef GPUSTAT_WORKER_GPU_CUH
#define GPUSTAT_WORKER_GPU_CUH

#include <cuda_runtime.h>

extern "C" {
#include "simd/nibbles.h"
#include "emit/cpu_folder.h"
#include "engine/stage.h"
#include "engine/worker.h"
extern const struct worker_ops worker_gpu;
}

#include "kernels/fold/column_fold.cuh"
#include "kernels/emit/emission.cuh"
#include "kernels/level/gpu_memory.cuh"
#include "kernels/fold/reduce.cuh"

#define EXCEPTIONS_CAPACITY ((uint32_t)1 << 16)

/* A fold that is launched with the map, before it is known how the chunk is entered. */
struct worker_ahead {
	bool launched;
	enum chunk_dependence dependence; /* of the result */
	enum csv_state state; /* how the chunk is taken to be entered */
	size_t head_nbytes;   /* where the first record begins that is folded; 0: the chunk begins
			       * a file, and its first record counts */
};

/* The plan's arrays, as fields_plan points to them, in either memory. */
struct plan_arrays {
	uint32_t *field;
	uint8_t *parses;
	char *missing;
	uint32_t *missing_end;
	/* Of conditions; those of all predicates one after the other. */
	uint8_t *folds, *span_of;
	struct expr *exprs;
	struct expr_test *tests;
	char *literals;
	uint32_t *places;
};

/* A chunk's text as nibbles, half of what the bus would carry. It is packed piece by piece as it is
 * read: the first and the last stay in the buffer, and those between are read to where the second
 * would be, one over the other, in a core's own cache. So they are nowhere but here. */
struct worker_nibbles {
	bool wanted;
	struct nibble_letters letters;
	size_t piece_nbytes; /* a multiple of 64; at least WORKER_ENDS_NBYTES */
	struct pinned_buffer pinned;
	unsigned char *device;

	/* The chunk in hand. */
	bool tried, packs; /* packing; so far, all of it could be packed */
	bool restored;     /* what is packed is in the buffer, too */
	size_t nbytes;     /* of text that are packed */
	struct room piece; /* being read */
	unsigned npauses;      /* chunks still to be left as they are ... */
	unsigned npauses_next; /* ... and how many after the next that does not pay */
};

/* Who wants to know what a worker's stream does, and when: gpustat-bench's pipeline. */
struct worker_watch {
	/* What was put into the stream since the mark before is this stage; STAGE_BEGINS: a stage
	 * begins here, behind work of the host. */
	void (*mark)(struct worker_watch *watch, enum stage stage, cudaStream_t stream);
};

struct worker {
	struct worker_watch *watch; /* NULL: nobody. Not owned. */
	const struct plan *plan;
	size_t chunk_nbytes;
	int device;
	cudaStream_t stream;
	cudaEvent_t idle; /* recorded behind all work, to wait for */

	/* The chunk in hand. */
	bool begun;      /* text and map are on their way; map is next */
	uint32_t nlines; /* once mapped */
	struct worker_ahead ahead; /* once mapped */
	bool on_device;  /* once folded: the field table and the record ends are valid, if
			  * there are any */
	struct field_table table;
	struct record_table records;
	bool printed; /* once emitted: by the device, for tests to see */
	unsigned nagain; /* chunks so far that were written twice, likewise */

	struct worker_nibbles nibbles;

	/* Pinned memory. */
	struct pinned_buffer buffer; /* for the chunk's text, and ARENA_ALIGN bytes on either side */
	struct arena pinned;
	struct chunk_summary *summary;
	struct column_tally *tally;
	struct decimal_bin *bins;
	struct field_exception *exceptions;
	struct plan_arrays plan_pinned;
	struct emission_column *columns; /* plan->nnew_columns */
	uint64_t *output_nbytes;
	struct pinned_buffer output_memory;
	struct text_buffer output_pinned; /* what is printed of a chunk; grows. Not owned. */
	double output_share; /* bytes printed of a chunk's byte, the last time */

	/* Device memory. */
	struct arena arena;
	char *text;
	csv_map *tile_prefix;
	struct chunk_summary *device_summary;
	struct grid_domino domino;
	struct exception_list exception_list;
	struct reduce_memory reduce;
	struct column_fold_memory column_fold;
	struct plan_arrays plan_device;
	struct emission_scans scans;
	char *scans_data;
	size_t scans_nbytes;
	struct emission_column *device_columns;
	uint64_t *device_output_nbytes;
	struct gpu_buffer ends, significands, codes; /* of a fold */
	struct gpu_buffer totals, output;            /* of an emission */

	bool folds_columns; /* nobody needs the values: column_fold does for this plan */
	bool judges; /* the device can ask all of the plan's predicates, if there are any */
	struct cpu_folder on_cpu; /* for what the CPU finishes */
	struct partial ignored; /* what the CPU folds only to print */
	struct text_buffer output_pageable; /* what the CPU prints of a chunk */
};

/* ---- errors ---- */

/* Fills fault with what was done and the device's reason; returns status. */
enum status gpu_fault(struct fault *fault, enum status status, const char *what,
		      cudaError_t error);

/* What a call has returned; or, for tests, an error instead: GPUSTAT_GPU_FAULT=K makes the K-th
 * call of the process fail, K+ all from then on. */
cudaError_t gpu_checked(cudaError_t error);

/* Leaves the function with STATUS_GPU if call fails. */
#define TRY(what, call)                                                       \
	do {                                                                  \
		cudaError_t error_ = gpu_checked(call);                       \
		if (error_ != cudaSuccess)                                    \
			return gpu_fault(fault, STATUS_GPU, what, error_);    \
	} while (0)

/* Waits until the stream is idle. Errors of kernels and copies surface here. */
enum status worker_wait(struct worker *w, const char *what, struct fault *fault);

/* ---- memory ---- */

/* Columns of the field table: the plan's, and one for each predicate. */
static inline size_t table_ncolumns(const struct plan *plan)
{
	return plan->ncolumns + plan->npredicates;
}

/* Where a chunk's text goes. */
static inline char *worker_buffer(const struct worker *w)
{
	static_assert(ARENA_ALIGN >= SIMD_PAD_NBYTES, "the CPU reads beside the text");
	return w->buffer.data + ARENA_ALIGN;
}

static inline struct text_view text_of(const struct worker *w, const struct chunk *chunk)
{
	return {w->text, chunk->nbytes, w->plan->dialect.delimiter};
}

/* Copies n T up. */
template <class T>
static inline cudaError_t copy_up(struct worker *w, T *to, const T *from, size_t n)
{
	return cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, w->stream);
}

/* Copies n T back. */
template <class T>
static inline cudaError_t copy_back(struct worker *w, T *to, const T *from, size_t n)
{
	return cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, w->stream);
}

/* Copies nbytes from one memory to the other by a kernel, between arrays of arenas: on the engines
 * that copy, it would wait behind the texts of other streams. Launches it on the worker's stream,
 * and does not wait. Errors: the launch's. */
cudaError_t worker_copy_small(struct worker *w, void *to, const void *from, size_t nbytes);

static inline void worker_mark(struct worker *w, enum stage stage)
{
	if (w->watch != NULL)
		w->watch->mark(w->watch, stage, w->stream);
}

/* ---- a chunk's way to the device: worker_gpu_read.cu ---- */

/* Takes memory for nibbles, if the setup asks for them; needs no device. */
void worker_nibbles_take(struct worker *w, const struct worker_setup *setup);

/* A new chunk is about to be read. */
void worker_nibbles_begin(struct worker *w);

/* Launches what takes the text to the device, packed or as it is. */
enum status worker_text_up(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* ---- the plan on the device: worker_gpu_plan.cu ---- */

/* Whether the device can ask the plan's predicates: they may be too large for it. */
bool plan_judges(const struct plan *plan);
void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan);

/* Copies the plan up. To be waited for. */
enum status plan_copy_up(struct worker *w, struct fault *fault);
struct fields_plan fields_plan_of(const struct worker *w);

/* ---- memory that grows, for a chunk as it may be expected ---- */

/* Records of a chunk that is full, or a few more than there are likely to be. */
size_t worker_likely_nrecords(const struct worker *w);

/* Bytes that are likely to be printed of nbytes of text, and a few more. */
size_t worker_likely_output(const struct worker *w, size_t nbytes);

/* To grow waits for the device, and for all others that do, so that is done when the worker
 * opens. Errors: STATUS_GPU; that there is no memory is none. */
enum status fold_reserve_likely(struct worker *w, struct fault *fault);
enum status emit_reserve_likely(struct worker *w, struct fault *fault);

/* ---- what map and fold both launch ---- */

enum status worker_launch_map(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* For a plan that needs no values. head_nbytes: see window_entry. */
enum status worker_launch_columns(struct worker *w, const struct chunk *chunk,
				  struct chunk_entry entry, size_t head_nbytes,
				  struct fault *fault);

/* Summary, tallies and bins. */
enum status worker_copy_results(struct worker *w, struct fault *fault);

/* ---- folding ahead: worker_gpu_ahead.cu ---- */

/* Sets w->ahead, but for launched, if the chunk can be folded ahead; returns whether. */
bool ahead_plan(struct worker *w, const struct chunk *chunk);

/* Whether what was folded ahead is what an entry asks for. */
bool ahead_serves(const struct worker *w, const struct chunk *chunk, struct chunk_entry entry);

/* ---- members of worker_gpu ---- */

struct room gpu_next(struct worker *w, const struct chunk *chunk, size_t done);
void gpu_restore(struct worker *w);

enum status gpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     struct partial *out, struct fault *fault);
enum status gpu_emit(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     const struct partial *before, struct text_buffer **out,
		     struct fault *fault);

#endif
