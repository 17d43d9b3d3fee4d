/* SPDX-License-Identifier: MIT
 *
 * worker_thread.h - one thread of the team: from chunk to chunk, and through the chains. Known to
 * engine.c only.
 */
#ifndef GPUSTAT_WORKER_THREAD_H
#define GPUSTAT_WORKER_THREAD_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/chain.h"
#include "engine/engine.h"
#include "io/writer.h"

/* What is at a chunk's slot of the entry chain: what the chunk does to the automaton, and, once its
 * turn has come, how it is entered. */
struct entry_slot {
	csv_map map;
	bool first_of_file;
	bool is_empty, ends_line; /* no bytes; the last is an LF */
	struct chunk_entry entry;
	atomic_int state;         /* an enum entry_state */
	struct waiter *waiter;    /* of whoever waits for entry */
};
enum entry_state { ENTRY_UNKNOWN, ENTRY_AWAITED, ENTRY_KNOWN };

/* What is at a chunk's slot of the total chain: who waits, or what was left. */
struct total_slot {
	struct worker_thread *member;
	struct border border;
};

struct engine {
	const struct plan *plan;
	struct input *input;
	struct worker_thread *threads;
	int nthreads;

	struct chain entries, totals, writes;
	struct entry_slot *entry_slots; /* Owned, as the next. */
	struct total_slot *total_slots;
	struct worker_thread **write_slots;    /* who is there */
	bool guesses; /* chunks may be folded before it is known how they are entered */
	struct chunk_entry entry; /* of the next chunk; his whose turn it is in the entry chain */
	struct total *total;      /* his whose turn it is in the total chain */
	struct writer writer;     /* his whose turn it is in the write chain */
	pthread_mutex_t writing;  /* held while a chunk's output is written, and once the run has
				   * failed, so that the process does not end within it */
	atomic_bool settled;      /* total->settled, once it is */

	atomic_int nsurplus; /* threads of pools that retire, which others have come for */

	atomic_bool failed;
	pthread_mutex_t lock; /* guards all below, and the pools' results */
	pthread_cond_t finished;
	int nrunning;         /* threads that may still take chunks */
	bool over;            /* there are none */
	struct fault *fault;  /* once failed: why */
};

static_assert(BORDER_NBYTES <= WORKER_ENDS_NBYTES, "a border is taken from what is in the buffer");

/* What a thread works with: a worker, and the chunk that it has. */
struct work_slot {
	const struct worker_ops *ops; /* the pool's, or worker_cpu in place of a GPU that failed */
	struct worker *worker;        /* NULL: not open */
	struct chunk chunk;
	enum status status; /* how reading it went, and beginning with it: not yet told to others */
	struct fault fault;
};

/* One thread. */
struct worker_thread {
	struct engine *engine;
	struct worker_pool *pool;
	pthread_t thread;
	bool opening;  /* optional, and its device is not awake yet: nobody waits for it */
	bool has_place; /* another has retired for it, or left it a core: it works, or a CPU for it */
	struct waiter waiter;
	struct work_slot slots[2];
	int nslots;
	struct work_slot *slot; /* the one at work */
	struct chunk_map map; /* of its chunk, as all below */
	struct chunk_entry entry; /* how it was folded */
	bool guessed;             /* before that was known */
	struct partial partial;
	struct partial deferred; /* of chunks that have left only their ends in the total chain */
	struct seam_folder folder;
	struct chunk_output output;
	struct text_buffer *text; /* the chunk's own output, the worker's; NULL: none */
	uint64_t nbytes, nchunks; /* of all that it had */
};

/* Takes chunks until there are no more, the run has failed, or the member is not needed any
 * longer. Its workers are open. */
void worker_thread_run(struct worker_thread *m);

/* Puts a CPU worker into a slot of the member's, where a GPU's has failed, or cannot be opened:
 * fault, the first of which is noted in *first. Errors: STATUS_NO_MEMORY, in fault. */
enum status worker_thread_use_cpu(struct worker_thread *m, struct work_slot *slot, struct fault *first,
			   struct fault *fault);

/* Ends the run; the first call's fault is the run's. */
void engine_fail(struct engine *e, const struct fault *fault);

#endif
