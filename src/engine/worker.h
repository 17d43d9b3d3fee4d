/* SPDX-License-Identifier: MIT
 *
 * worker.h - the one interface of everything that can fold a chunk.
 *
 * A worker is one thread's means of computing: a CPU core (worker_cpu.c), or a
 * stream of a GPU with its buffers (kernels/worker/worker_gpu.cu); several threads, each
 * with a stream of its own, keep one GPU busy. The engine drives every worker
 * the same way, in the worker's own thread:
 *
 *     open
 *     for each chunk, in input order: map, then fold, then (if the plan emits) emit
 *     close
 *
 * map needs nothing but the bytes, so all workers map at once; fold is called when the maps
 * of all earlier chunks have told how this chunk is entered, or before that if it hardly
 * matters (and then again, if it did matter); emit when their folds have told the totals
 * before it.
 */
#ifndef GPUSTAT_WORKER_H
#define GPUSTAT_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/chunk.h"
#include "fold/column.h"
#include "csv/dfa.h"
#include "base/text_buffer.h"
#include "query/plan.h"
#include "base/status.h"

struct worker;

/* What a chunk does to the automaton, whatever state it is entered in. */
struct chunk_map {
	csv_map map;
	uint64_t nlines; /* LF bytes, quoted or not: for line numbers in messages */
	enum chunk_dependence dependence;
};

/* What a worker is made for. */
struct worker_setup {
	size_t chunk_nbytes; /* of the longest chunk */
	int device;          /* its number, from 0; ignored by a CPU */
	bool packs;          /* text is packed for its way to the device, where it can be */
};

/* So much of either end of a chunk's text is in the buffer in any case: see next. */
#define WORKER_ENDS_NBYTES 4096

struct worker_ops {
	const char *name; /* "cpu", "gpu": for --verbose */

	/* Wakes the device of that number, which open would wait for; that takes long. NULL: none
	 * sleeps. Errors: STATUS_NO_GPU, STATUS_GPU. */
	enum status (*wake)(int device, struct fault *fault);

	/* Makes a worker. Called in the thread that will use it. The plan outlives the worker. */
	enum status (*open)(struct worker **out, const struct plan *plan,
			    const struct worker_setup *setup, struct fault *fault);

	/* The buffer that chunks are to be read into: chunk_nbytes bytes, with
	 * SIMD_PAD_NBYTES readable ones on either side, owned by the worker, pinned where that
	 * helps. */
	char *(*buffer)(struct worker *w);

	/* A chunk is read to where this says: see struct reader. NULL: into the buffer. */
	struct room (*next)(struct worker *w, const struct chunk *chunk, size_t done);

	/* Has all of the chunk's text lie in the buffer, as it does for who has no next: otherwise,
	 * from begin on, only its ends may. Until the next chunk is read, as often as one likes.
	 * NULL: it does. */
	void (*restore)(struct worker *w);

	/* Starts on the chunk, which the worker has, and does not wait; map is next to
	 * be called, and finds work done. NULL: there is nothing to start. Errors: STATUS_GPU. */
	enum status (*begin)(struct worker *w, const struct chunk *chunk, struct fault *fault);

	/* Computes the transition map of the chunk, which the worker has.
	 * An empty chunk has the identity. */
	enum status (*map)(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			   struct fault *fault);

	/* Folds the complete records of the chunk just mapped into out, which the caller
	 * has cleared: the columns, nshort, head_nbytes and tail_offset. entry may be
	 * CHUNK_UNKNOWN unless the map said CHUNK_DEPENDS; if it turns out to be needed after
	 * all, needs_entry of out is set, and nothing else holds. */
	enum status (*fold)(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    struct partial *out, struct fault *fault);

	/* Prints the chunk just folded, as cpu_folder_emit does. before: the fold of all records
	 * before the chunk's own. *out: the text, in memory of the worker's, until the next emit
	 * or close. Called only if the plan emits. */
	enum status (*emit)(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    const struct partial *before, struct text_buffer **out,
			    struct fault *fault);

	void (*close)(struct worker *w);

	/* Told when the output of the chunk in slot begins to be written, and when it is written;
	 * NULL: not interested. */
	void (*writes)(struct worker *w, bool begins);
};

/* As ops->restore, if there is one. */
static inline void worker_restore(const struct worker_ops *ops, struct worker *w)
{
	if (ops->restore)
		ops->restore(w);
}

extern const struct worker_ops worker_cpu;
#ifdef HAVE_CUDA
extern const struct worker_ops worker_gpu;
#endif

#endif
