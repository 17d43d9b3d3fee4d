/* SPDX-License-Identifier: MIT
 *
 * worker_thread.h - one thread of a pool: it takes chunk after chunk, through the chains. Included
 * by engine.c only.
 */
#ifndef GPUSTAT_WORKER_THREAD_H
#define GPUSTAT_WORKER_THREAD_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/chain.h"
#include "emit/lead.h"
#include "engine/engine.h"
#include "io/writer.h"

/* A chunk's slot of the entry chain: the chunk's transition map, and, after its turn, its entry. */
struct entry_slot {
	csv_full_map map;
	bool first_of_file;
	bool is_empty, ends_line; /* no bytes; the last is an LF */
	struct chunk_entry entry;
	atomic_int state;      /* an enum entry_state */
	struct waiter *waiter; /* of the thread that awaits entry */
};
enum entry_state { ENTRY_UNKNOWN, ENTRY_AWAITED, ENTRY_KNOWN };

/* A chunk's slot of the total chain: the thread that waits, or what it posted. */
struct total_slot {
	struct worker_thread *thread;
	struct border border;
};

struct engine {
	const struct plan *plan;
	struct input *input;
	struct worker_thread *threads;
	int nthreads;

	struct chain entries, totals, writes;
	struct entry_slot *entry_slots; /* these three: owned */
	struct total_slot *total_slots;
	struct worker_thread **write_slots; /* the threads that wait */
	bool guesses; /* chunks may be folded before their entry is known */
	struct chunk_entry entry; /* of the next chunk; guarded by the entry chain's turn */
	struct total *total;      /* guarded by the total chain's turn */
	struct writer writer;     /* these two: guarded by the write chain's turn */
	struct lead_queue leads;
	pthread_mutex_t writing;  /* held while a chunk's output is written. Once the run has failed
				   * it stays locked: the process must not end during a write. */
	atomic_bool settled;      /* total->settled, once it is */

	atomic_int nsurplus; /* threads of retiring pools that must end */
	double begin_s;      /* clock_s, when the run began */
	uint64_t nbytes_before; /* of engine_nbytes_begun */
	uint64_t nbytes_all, nbytes_stored; /* of the input's text, and of its files; UINT64_MAX: not known */

	atomic_bool failed;
	pthread_mutex_t lock; /* guards all below, and the pools' results */
	pthread_cond_t finished;
	int nrunning;         /* threads that may still read chunks */
	bool over;            /* nrunning has fallen to 0 */
	struct fault *fault;  /* once failed: why */
};

static_assert(BORDER_NBYTES <= WORKER_ENDS_NBYTES, "a border is copied from the buffer");

/* A worker, and its chunk. */
struct work_slot {
	const struct worker_ops *ops; /* the pool's, or worker_cpu in place of a GPU that failed */
	struct worker *worker;        /* NULL: not open */
	struct chunk chunk;
	enum status status; /* of reading it and beginning with it; not reported yet */
	struct fault fault;
};

struct worker_thread {
	struct engine *engine;
	struct worker_pool *pool;
	pthread_t thread;
	bool opening;   /* its device is waking; the run does not wait for the thread */
	bool is_first;  /* of its pool */
	bool has_place; /* a core has been freed for it, so it works even if the device fails */
	struct pace_meter meter; /* of the first thread of an optional pool */
	struct waiter waiter;
	struct work_slot slots[2];
	int nslots;
	struct section_reader section;
	struct work_slot *slot;   /* the current one: all below belongs to its chunk */
	struct chunk_map map;
	struct chunk_entry entry; /* with which it was folded */
	bool guessed;             /* the fold assumed that the chunk is entered outside quotes */
	struct partial partial;   /* these four are zeroed, and their tables made when needed */
	struct partial deferred;  /* the fold of all chunks that posted only their borders */
	struct seam_folder folder;
	struct chunk_output output;
	struct text_buffer *text; /* the chunk's own output, in the worker; NULL: none */
	uint64_t nbytes, nchunks; /* of all chunks so far */
};

/* Takes chunks until the input ends, the run fails, or the thread retires. Its workers are open. */
void worker_thread_run(struct worker_thread *t);

/* Opens a CPU worker in slot, where a GPU's has failed or cannot be opened. fault: that failure,
 * which is copied to *first unless an earlier one is there. Errors: STATUS_NO_MEMORY, in fault. */
enum status worker_thread_use_cpu(struct worker_thread *t, struct work_slot *slot,
				  struct fault *first, struct fault *fault);

/* Notes that a pool's device has failed with groups that it kept. fault: of that failure; becomes STATUS_GPU_LOST, which
 * is returned. */
enum status engine_lose_device(struct engine *e, struct worker_pool *pool, struct fault *fault);

/* Ends the run; the first call's fault is the run's. */
void engine_fail(struct engine *e, const struct fault *fault);

#endif
