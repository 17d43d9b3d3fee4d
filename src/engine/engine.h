/* SPDX-License-Identifier: MIT
 *
 * engine.h - the ordered fold over the input, by pools of worker threads.
 */
#pragma once

#include <stdatomic.h>

#include "io/input.h"
#include "query/plan.h"
#include "base/status.h"
#include "engine/total.h"
#include "engine/worker.h"

/* A device that may join a run. */
struct device_offer {
	double speed;  /* bytes of input a second, once it is awake; 0: it joins without being asked */
	double wake_s; /* until then */
	double end_s;  /* that the process takes longer to end */
};

/* nthreads threads, each with a worker of the same kind and device. */
struct worker_pool {
	const struct worker_ops *ops;
	struct worker_setup setup;
	int nthreads;
	bool optional;    /* workers may fail to open, or open too late: the other pools suffice */
	bool forgives;    /* nobody is told of a device that cannot be opened: it was not asked for */
	bool reads_ahead; /* a thread has two workers: it reads for one while the other computes */
	bool retires;     /* its threads may end early, to leave their cores to others */
	bool replaces;    /* a thread whose device is awake makes one of a retiring pool end */
	bool needs_core;  /* its first thread makes one of a retiring pool end before it wakes the device */
	struct device_offer offer; /* of an optional pool: it joins the run once that gains time */
	const char *note; /* for --verbose, after the number of threads; NULL: none */

	/* While it runs; may be read by any thread. */
	atomic_int nworking; /* threads whose workers are open */
	atomic_bool failed;  /* a GPU failed or was not there: a CPU works in its place */

	/* Results, for --verbose. */
	uint64_t nbytes, nchunks;
	double called_s, others_speed; /* of an offer that was taken: when, in seconds since the run's
					* beginning, and the speed of the run, in bytes a second; else 0 */
	struct fault open_fault; /* why a worker could not be opened, or STATUS_OK */
	struct fault work_fault; /* the first failure of a GPU, whose work CPUs then did */
};

/* Bytes of the chunks that this process has begun to fold: its progress. May be read by any thread
 * or signal handler. */
extern _Atomic uint64_t engine_nbytes_begun;

/* Folds all of the input into total, which the caller has initialised. Every worker reads chunks,
 * folds them, and adds them to total in input order: total, and the first fault, are those of one
 * pass in input order, whatever the number of workers. pools: npools of them. A single worker runs
 * in the calling thread. may_guess: the input can be read again, so that a chunk without quotes may
 * be folded as if it were entered outside quotes, before its entry is known. *all_ended: false if
 * threads are left, inside the input after a fault, or inside a driver. Then the process must end
 * soon, and nothing that was passed in may be freed. Errors: the first in input order, with file,
 * line, column and value in fault; STATUS_MISGUESSED: a guess was wrong and total is undefined; run
 * again without; STATUS_GPU_LOST: a GPU failed with groups that it kept; run again without GPUs. */
enum status engine_run(const struct plan *plan, struct input *input, struct worker_pool *pools,
		       size_t npools, struct total *total, bool may_guess, bool *all_ended,
		       struct fault *fault);
