/* SPDX-License-Identifier: MIT
 *
 * worker.h - the interface of everything that folds chunks.
 *
 * A worker is one thread's means of computing: a CPU core (worker_cpu.c), or a stream of a GPU with
 * its buffers (kernels/worker/worker.cu). Several threads, each with a stream, keep one GPU busy.
 * The engine drives every worker in the same way, in the worker's own thread:
 *
 *     open
 *     for each chunk, in input order: read, begin, map, fold, then (if the plan emits) emit
 *     close
 *     finish, once for each pool of workers, in the thread that runs the engine
 *
 * map needs the chunk's bytes only, so all workers map at once. fold is called when the maps of all
 * earlier chunks have determined this chunk's entry. If map reports that the fold depends little on
 * the entry, fold may be called before that, and again if the first result is not valid. emit is
 * called when the total before the chunk is known.
 */
#pragma once

#include "csv/chunk.h"
#include "fold/column.h"
#include "csv/dfa.h"
#include "base/array.h"
#include "io/reader.h"
#include "query/plan.h"
#include "base/status.h"

struct worker;

/* What a chunk does to the automaton, for every entry state. */
struct chunk_map {
	csv_full_map map;
	uint64_t nlines; /* LF bytes, quoted or not: for line numbers in messages */
	enum chunk_dependence dependence;
};

struct worker_setup {
	size_t chunk_nbytes; /* the longest chunk */
	int device;          /* number of the GPU, from 0; a CPU ignores it */
	bool packs;          /* text is packed on its way to the device, where it can be: plain files */
	bool unpacks;        /* the device decodes compressed input: its blocks, or for all workers its members */
	uint64_t input_nbytes; /* of all of the input's text, or about so many; 0: not known */
	uint64_t nrecords;     /* there, likewise */
};

/* The first and the last bytes of a chunk's text that are always in the buffer. */
#define WORKER_ENDS_NBYTES 4096

/* How a device's groups are finished. */
struct worker_finish {
	int device;
	int nthreads; /* that may work at once */
	bool wanted;  /* false: the run has failed, and they are only forgotten */
};

/* Where a device can fail, the result may be STATUS_GPU. */
struct worker_ops {
	const char *name; /* "cpu", "gpu": for --verbose */

	/* Makes the device's context, for which open would otherwise wait: 0.2 s or more. NULL
	 * for a worker without a context. Errors: STATUS_NO_GPU, STATUS_GPU. */
	enum status (*wake)(int device, struct fault *fault);

	/* Makes a worker. Called in the thread that will use it. The plan outlives the worker. */
	enum status (*open)(struct worker **out, const struct plan *plan,
			    const struct worker_setup *setup, struct fault *fault);

	/* Returns the buffer for the next chunk: chunk_nbytes bytes, with SIMD_PAD_NBYTES readable
	 * ones on either side, owned by the worker. */
	char *(*buffer)(struct worker *w);

	/* Reads the chunk from a plain file, beginning at position. Only its ends need be in the
	 * buffer then. NULL: the caller reads it into the buffer. Errors: file_read_range's. */
	enum status (*read)(struct worker *w, int fd, off_t position, const struct chunk *chunk,
			    struct fault *fault);

	/* Reads blocks that are left in a file, and decodes them to the chunk. Only its ends need be in the
	 * buffer then. Sets *decoded, unless the caller must do all of it. NULL: it must. Errors:
	 * file_read_range's. */
	enum status (*read_blocks)(struct worker *w, const struct block_batch *batch,
				   const struct chunk *chunk, bool *decoded, struct fault *fault);

	/* Takes the chunk's text from a device. Only its ends need be in the buffer then. Returns false if the
	 * caller must copy it. NULL: it must. */
	bool (*read_text)(struct worker *w, const struct device_text *text, const struct chunk *chunk);

	/* Completes the chunk's text in the buffer. Idempotent. NULL: it always is complete. */
	void (*load_text)(struct worker *w);

	/* Starts work on a chunk that has been read, and does not wait for it; map is called next.
	 * NULL: map does all of it. */
	enum status (*begin)(struct worker *w, const struct chunk *chunk, struct fault *fault);

	/* Computes the transition map of the chunk. An empty chunk has the identity. */
	enum status (*map)(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			   struct fault *fault);

	/* Folds the complete records of the chunk that was mapped into out, which the caller has
	 * cleared: the columns, nrecords, nragged, head_nbytes and tail_offset. entry may be
	 * CHUNK_UNKNOWN unless map reported CHUNK_DEPENDS; if the fold needs it after all,
	 * needs_entry of out is set and the rest of out is undefined. */
	enum status (*fold)(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    struct partial *out, struct fault *fault);

	/* Prints the records of the chunk that was folded. before: the fold of all earlier records.
	 * *out: the text, owned by the worker, valid until the next emit or close. Called only if
	 * the plan emits. */
	enum status (*emit)(struct worker *w, const struct chunk *chunk, struct chunk_entry entry,
			    const struct partial *before, struct text_buffer **out,
			    struct fault *fault);

	void (*close)(struct worker *w);

	/* Called before and after the chunk's output is written. NULL: not needed. */
	void (*writes)(struct worker *w, bool begins);

	/* Adds to the plan's store the groups that the device has kept, of all chunks that its workers folded, and
	 * forgets them. Called once for each pool, when its workers have been closed; by one thread at a time. NULL:
	 * all groups come back with their chunks. Errors: STATUS_GPU; STATUS_NO_MEMORY, STATUS_MANY_GROUPS. */
	enum status (*finish)(const struct plan *plan, const struct worker_finish *how, struct fault *fault);
};

static inline void worker_load_text(const struct worker_ops *ops, struct worker *w)
{
	if (ops->load_text)
		ops->load_text(w);
}

extern const struct worker_ops worker_cpu;
#ifdef HAVE_CUDA
extern const struct worker_ops worker_gpu;
#endif
