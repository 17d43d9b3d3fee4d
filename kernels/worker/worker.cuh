/* SPDX-License-Identifier: MIT
 *
 * worker.cuh - what the parts of the GPU worker share: worker.cu opens, maps and closes, plan.cu
 * copies the plan up, read.cu reads chunks and copies them up, fold.cu folds, kept.cu keeps numbers, groups.cu groups, emit.cu prints, running.cu totals by
 * group. Only these include it, and tests and the benchmark.
 */
#pragma once

#include <cuda_runtime.h>

extern "C" {
#include "codec/gzip.h"
#include "simd/simd.h"
#include "emit/cpu_folder.h"
#include "engine/stage.h"
#include "engine/worker.h"
extern const struct worker_ops worker_gpu;
}

#include "kernels/codec/inflate.cuh"
#include "kernels/fold/column_fold.cuh"
#include "kernels/fold/keep.cuh"
#include "kernels/group/group_table.cuh"
#include "kernels/emit/emission.cuh"
#include "kernels/level/gpu_memory.cuh"
#include "kernels/fold/reduce.cuh"

#define EXCEPTIONS_CAPACITY ((uint32_t)1 << 16)

/* A speculative fold, launched with the map before the chunk's entry is known. */
struct early_fold {
	bool launched;
	enum chunk_dependence dependence; /* of the result */
	enum csv_state state; /* the entry that the fold assumes */
	size_t head_nbytes;   /* the first record that is folded begins here; 0: the chunk begins a
			       * file, and its first record is folded */
};

/* The arrays to which fields_plan points, in pinned or device memory. */
struct plan_arrays {
	uint32_t *field;
	uint8_t *parses, *keeps_keys;
	char *missing, *sought;
	uint32_t *missing_end;
	/* Of conditions: the arrays of all predicates one after the other. */
	uint8_t *folds, *span_of;
	char *literals;
	uint32_t *program_end;
	struct step *steps; /* the last */
};

/* A chunk's text as nibbles (src/simd/simd.h), half of what the bus would carry. It is packed
 * piece by piece as it is read. The first and the last piece stay in the buffer. All others are
 * read to the place of the second one, each over the one before, and so stay in a core's cache. */
struct packing {
	bool wanted;
	struct nibble_letters letters;
	size_t piece_nbytes; /* a multiple of 64; at least WORKER_ENDS_NBYTES */
	struct pinned_buffer pinned;
	unsigned char *device;

	/* The current chunk. */
	bool tried, packs; /* packing was tried; all of the text so far could be packed */
	bool loaded;       /* the packed text has been unpacked into the buffer */
	size_t nbytes;     /* of text that are packed */
	unsigned npauses;      /* chunks left for which packing is not tried */
	unsigned npauses_next; /* the next pause, if the next packed chunk has to be unpacked */
};

/* Watches a worker's stream: gpustat-bench's pipeline. */
struct worker_watch {
	/* What was put into the stream since the previous mark is this stage. STAGE_BEGINS: a stage
	 * begins here, after work of the host. */
	void (*mark)(struct worker_watch *watch, enum stage stage, cudaStream_t stream);
};

/* A chunk of BGZF blocks, decoded on the device; or one of text that is on a device. */
struct unpacking {
	bool wanted;
	struct deflate *deflate; /* owned */
	struct pinned_buffer pinned; /* the packed bytes, with their headers */
	struct inflate_stream *streams; /* these three: pinned */
	uint32_t *ndamaged;
	char *ends; /* of the text: 2 x WORKER_ENDS_NBYTES */
	struct inflate_job job;

	/* The current chunk. */
	size_t packed_nbytes, nbytes; /* of the text that is on the device; 0: none */
	bool loaded;                  /* and in the buffer as well */
	int fd; /* -1: it is of blocks. Otherwise of a member, and decoded again from here on: */
	struct member_place place;
	uint64_t skip;
};

#define KEEP_NFORMS 2 /* values and keys */

/* Numbers that stay on the device. */
struct keeping {
	bool wanted; /* a column's are */
	struct kept_slab *slab;              /* to which the next chunk's are added; NULL: none yet */
	struct keep_result *results; /* of each column's values, then of each one's keys; pinned */
	struct keep_result *device_results;
};
struct gpu_groups; /* of a run, on a device: groups.cu */

/* The groups of one chunk whose records are printed with totals by group. */
struct running_groups {
	bool wanted;
	struct group_table table; /* of one part */
	struct group_control *control; /* pinned: the table's, come down */
	struct pinned_buffer words;    /* the groups, come down: as many as control says */
	struct pinned_buffer before;   /* what goes up: where the groups begin, then the carries of each new column */
	uint32_t ngroups;
};

struct worker {
	struct worker_watch *watch; /* NULL: none. Not owned. */
	const struct plan *plan;
	size_t chunk_nbytes;
	int device;
	cudaStream_t stream;
	cudaEvent_t idle; /* recorded after all work, to wait for */

	/* The current chunk. */
	bool begun;      /* text and map are launched; map is called next */
	uint32_t nlines; /* valid once mapped, as early is */
	struct early_fold early;
	bool on_device;  /* once folded: the device did it, and the field table and the record ends,
			  * if the plan needs them, are valid */
	struct field_table table;
	struct record_table records;
	bool printed;    /* once emitted: the device did it; for tests */
	unsigned nagain; /* chunks so far that were written twice; for tests */

	struct packing packing;
	struct unpacking unpacking;
	struct keeping keeping;

	/* Pinned memory. */
	struct pinned_buffer buffer; /* the text, with ARENA_ALIGN bytes on either side */
	struct arena pinned;
	struct chunk_summary *summary;
	struct column_tally *tally;
	struct decimal_bin *bins;
	uint128 *squares; /* NULL: no column needs them */
	struct field_exception *exceptions;
	struct plan_arrays plan_pinned;
	struct emission_column *columns; /* plan->nnew_columns */
	uint64_t *output_nbytes;
	struct pinned_buffer output_memory;
	struct text_buffer output_pinned; /* what is printed of a chunk, in output_memory */
	double output_share; /* bytes printed for each byte of the previous chunk */

	/* Device memory. */
	struct arena arena;
	char *text;
	csv_map *tile_prefix;
	uint16_t *tile_nseparators;
	struct chunk_summary *device_summary;
	struct grid_domino domino;
	struct exception_list exception_list;
	struct reduce_memory reduce;
	struct column_fold_memory column_fold;
	struct plan_arrays plan_device;
	struct emission_column *device_columns;
	struct gpu_buffer ends, nseparators, significands, codes; /* of a fold */
	struct gpu_buffer totals, output;            /* of an emission */

	const struct group_table *group_table; /* of a plan with keys: one of these */
	struct gpu_groups *groups; /* shared with the device's other workers; NULL: none */
	struct running_groups running;
	struct group_control *empty_groups; /* pinned */

	bool folds_columns; /* column_fold suffices: nothing needs each record's values */
	bool squares_numbers; /* a column needs the sum of squares */
	bool filters;       /* the device can evaluate all of the plan's predicates */
	struct cpu_folder on_cpu; /* for what the CPU finishes */
	struct partial ignored;   /* what the CPU folds only to print */
	struct text_buffer output_pageable; /* what the CPU prints of a chunk */
};

/* ---- errors ---- */

/* Sets fault to what was tried and the reason of the CUDA runtime; returns status. */
enum status gpu_fault(struct fault *fault, enum status status, const char *what,
		      cudaError_t error);

/* Returns error; or, for tests, another: GPUSTAT_GPU_FAULT=K makes the K-th call of the process
 * fail, K+ all from then on. gpu_nchecked (C linkage): how many there were. */
cudaError_t gpu_checked(cudaError_t error);

/* Leaves the function with STATUS_GPU if call fails. */
#define GPU_TRY(what, call)                                                   \
	do {                                                                  \
		cudaError_t error_ = gpu_checked(call);                       \
		if (error_ != cudaSuccess)                                    \
			return gpu_fault(fault, STATUS_GPU, what, error_);    \
	} while (0)

/* Waits until the stream is idle. Errors of kernels and copies surface here. */
enum status worker_wait(struct worker *w, const char *what, struct fault *fault);

/* ---- memory ---- */

/* Columns that are tallied: the plan's, and one for each predicate. */
static inline size_t table_ncolumns(const struct plan *plan)
{
	return plan->ncolumns + plan->npredicates;
}

/* Columns of the field table: these, and one for each key. */
static inline size_t fields_ncolumns(const struct plan *plan)
{
	return table_ncolumns(plan) + plan->nkeys;
}

/* The buffer for a chunk's text. */
static inline char *worker_buffer(const struct worker *w)
{
	static_assert(ARENA_ALIGN >= SIMD_PAD_NBYTES, "the CPU reads beside the text");
	return w->buffer.data + ARENA_ALIGN;
}

/* The kernels' quote byte: see text_view. */
static inline char device_quote(const struct plan *plan)
{
	return plan->dialect.quote ? plan->dialect.quote : plan->dialect.delimiter;
}

static inline struct text_view text_of(const struct worker *w, const struct chunk *chunk)
{
	return {w->text, chunk->nbytes, w->plan->dialect.delimiter, device_quote(w->plan)};
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

/* Copies nbytes between arrays of arenas, in pinned and device memory, by a kernel: in a copy
 * engine's queue it would wait for the texts of other streams. Launches it on the worker's stream,
 * and does not wait. Errors: the launch's. */
cudaError_t worker_copy_small(struct worker *w, void *to, const void *from, size_t nbytes);

static inline void worker_mark(struct worker *w, enum stage stage)
{
	if (w->watch != NULL)
		w->watch->mark(w->watch, stage, w->stream);
}

/* ---- reading a chunk: read.cu ---- */

/* Decides whether the worker packs text, and reserves the memory; needs no device. */
void packing_init(struct worker *w, const struct worker_setup *setup);

/* Prepares for the next chunk. */
void packing_begin(struct packing *p);

/* Launches the copy of the text to the device, packed or unpacked, unless it is there. */
enum status worker_text_up(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* ---- blocks of a compressed file: read.cu ---- */

/* Decides whether the worker decodes blocks, and reserves the memory; needs no device. */
void unpacking_init(struct worker *w, const struct worker_setup *setup);
void unpacking_free(struct unpacking *u);
void unpacking_cut_pinned(struct worker *w, struct arena *a);
void unpacking_cut_device(struct worker *w, struct arena *a);

/* ---- numbers that stay: kept.cu ---- */

/* How many numbers the mapped chunk may have, in all columns that keep them. */
size_t kept_nnumbers(const struct worker *w);

/* Makes room for so many; returns false where the device has none. */
bool kept_reserve(struct worker *w, size_t nnumbers);

/* Launches what keeps the folded chunk's numbers, behind reduce. */
enum status kept_launch(struct worker *w, struct fault *fault);

/* Whether all have been kept, once the results have come back. */
bool kept_all(const struct worker *w);

/* Adds them to out's columns, which own them then. Errors: STATUS_NO_MEMORY. */
enum status kept_add(struct worker *w, struct partial *out);
void kept_close(struct worker *w);

/* ---- the plan on the device: plan.cu ---- */

/* Whether the device can evaluate the plan's conditions: not if they read too many columns. */
bool plan_filters_on_device(const struct plan *plan);
void plan_arrays_cut(struct plan_arrays *a, struct arena *arena, const struct plan *plan);

/* Launches the copies of the plan; worker_wait must follow. */
enum status plan_copy_up(struct worker *w, struct fault *fault);
struct fields_plan fields_plan_of(const struct worker *w);

/* ---- memory that grows, as a typical chunk needs it ---- */

/* The likely number of records of a full chunk, and a few more. */
size_t worker_likely_nrecords(const struct worker *w);

/* The likely number of bytes printed of nbytes of text, and a few more. */
size_t worker_likely_output(const struct worker *w, size_t nbytes);

/* Reserve that memory when the worker opens: growing later would make all streams of the device
 * wait. Errors: STATUS_GPU; not that there is too little memory. */
enum status fold_reserve_likely(struct worker *w, struct fault *fault);
enum status emit_reserve_likely(struct worker *w, struct fault *fault);

/* ---- what map and fold launch ---- */

enum status worker_launch_map(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* Launches column_fold. head_nbytes: see window_entry. */
enum status worker_launch_columns(struct worker *w, const struct chunk *chunk,
				  struct chunk_entry entry, size_t head_nbytes,
				  struct fault *fault);

/* Launches the copy of summary, tallies and bins to pinned memory. */
enum status worker_copy_results(struct worker *w, struct fault *fault);

/* ---- folding before the entry is known: fold.cu ---- */

/* Sets w->early, except launched, and returns true if the chunk can be folded early. */
bool early_fold_plan(struct worker *w, const struct chunk *chunk);

/* ---- groups of a run: groups.cu ---- */

/* Sets w->groups to those of the plan and the device, which the first worker makes, as large as its setup's input may
 * need. Errors: STATUS_NO_MEMORY, STATUS_GPU. */
enum status groups_join(struct worker *w, const struct worker_setup *setup, struct fault *fault);

/* Ends that. The groups stay until gpu_finish. */
void groups_leave(struct worker *w);

/* Whether the sums of the groups cannot overflow with the records of the chunk that has been mapped, which
 * counts them. False: the CPU must fold it. */
bool groups_have_room(struct worker *w);

/* Launches what adds the chunk's records to the groups, behind its fields and their codes' tallies. */
enum status worker_launch_groups(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* Folds a record that the device has listed on the CPU, into out's groups; and into all else of out if it is an
 * EXCEPTION_RECORD. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status groups_add_record(struct worker *w, const struct chunk *chunk, struct field_exception record,
			      struct partial *out);

/* Allocates a table's memory, of nparts parts, with so many bytes for groups, and slots for those of up to nrecords records;
 * 0: their number is not known. t is zeroed. Errors: STATUS_GPU; it can be freed then. */
enum status worker_group_table_open(struct worker *w, struct group_table *t, uint32_t nparts, uint64_t nbytes,
				    uint64_t nrecords, struct fault *fault);

/* Launches what empties it. */
enum status worker_group_table_clear(struct worker *w, const struct group_table *t, uint32_t nparts,
				     struct fault *fault);
void worker_group_table_free(struct group_table *t);

/* ---- totals by group: running.cu ---- */

/* Gives the worker a table for the groups of one chunk. Errors: STATUS_GPU. */
enum status running_open(struct worker *w, struct fault *fault);
void running_close(struct worker *w);

/* Launches what finds the groups of the chunk. */
enum status running_launch_groups(struct worker *w, const struct chunk *chunk, struct fault *fault);

/* Adds the chunk's groups to out, which has none. Waits. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_GPU. */
enum status running_add_groups(struct worker *w, struct partial *out, struct fault *fault);

/* Sets the new columns' scales, and what each group had before the chunk. *fits: false if the CPU must print it.
 * Errors: STATUS_GPU. */
enum status running_prepare(struct worker *w, const struct partial *before, bool *fits, struct fault *fault);

/* Cuts what totals by group need from the memory for totals: sets e->order, and the columns' carries. */
void running_cut(struct worker *w, struct arena *a, struct emission *e);

/* Launches the copy of what the groups had before, and the sort by group. */
enum status running_launch_order(struct worker *w, const struct emission &e, struct fault *fault);

/* ---- members of worker_gpu ---- */

enum status gpu_finish(const struct plan *plan, const struct worker_finish *how, struct fault *fault);

enum status gpu_read(struct worker *w, int fd, off_t position, const struct chunk *chunk,
		     struct fault *fault);
void gpu_load_text(struct worker *w);
enum status gpu_read_blocks(struct worker *w, const struct block_batch *batch, const struct chunk *chunk,
			    bool *decoded, struct fault *fault);
bool gpu_read_text(struct worker *w, const struct device_text *text, const struct chunk *chunk);

enum status gpu_fold(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     struct partial *out, struct fault *fault);
enum status gpu_emit(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
		     const struct partial *before, struct text_buffer **out,
		     struct fault *fault);
