/* SPDX-License-Identifier: MIT
 *
 * engine.h - the ordered fold over the input, by a team of workers.
 */
#ifndef GPUSTAT_ENGINE_H
#define GPUSTAT_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/input.h"
#include "query/plan.h"
#include "base/status.h"
#include "engine/total.h"
#include "engine/worker.h"

/* Workers of one kind on one device: nthreads threads, each with a worker of its own. */
struct worker_pool {
	const struct worker_ops *ops;
	struct worker_setup setup;
	int nthreads;
	bool optional; /* the others do without a worker that cannot be opened, or not in time */
	bool reads_ahead; /* each has two workers, and reads for one while the other's GPU works */
	bool replaces; /* each thread, once its device is awake, takes the place of one that ... */
	bool retires;  /* ... belongs to a pool that says so */
	bool has_core; /* but the first has the core already on which it wakes the device */

	/* What came of it, for --verbose. */
	uint64_t nbytes, nchunks;
	struct fault open_fault; /* why a worker could not be opened, or STATUS_OK */
	struct fault work_fault; /* what failed first in a GPU, whose work CPUs have done since */
};

/* Bytes of the chunks that this process has begun with, for who wants to know how far it is: any
 * thread, or a signal's handler. */
extern _Atomic uint64_t engine_nbytes_begun;

/* Folds all of the input into total, which the caller has initialised. Every worker takes
 * chunks, folds them, and adds them to total when its turn has come: total, and the first
 * fault, are those of one pass in input order, whoever did what.
 * pools: npools of them. A single worker runs in the calling thread.
 * may_guess: if the input can be read again, chunks may be folded before it is known whether they
 * begin in quotes, as if they did not wherever there is no quote in them.
 * *all_ended: false if there are threads left, inside the input after a fault, or inside a driver:
 * then the process must end soon, and nothing that was passed in may be freed.
 * Errors: the first in input order, with file, line, column and value in fault;
 * STATUS_MISGUESSED: a guess was wrong, and nothing is known; run again without. */
enum status engine_run(const struct plan *plan, struct input *input, struct worker_pool *pools,
		       size_t npools, struct total *total, bool may_guess, bool *all_ended,
		       struct fault *fault);

#endif
