/* SPDX-License-Identifier: MIT
 *
 * engine.h - the ordered fold over the input, by a team of workers.
 */
#ifndef GPUSTAT_ENGINE_H
#define GPUSTAT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"
#include "plan.h"
#include "status.h"
#include "total.h"
#include "worker.h"

/* Workers of one kind on one device: nthreads threads, each with a worker of its own. */
struct squad {
	const struct worker_ops *ops;
	int device;
	int nthreads;
	size_t chunk_nbytes;
	bool optional; /* if a worker cannot be opened, the others do without it */

	/* What came of it, for --verbose. */
	uint64_t nbytes, nchunks;
	struct fault open_fault; /* why a worker could not be opened, or STATUS_OK */
};

/* Folds all of the input into total, which the caller has initialised. Every worker takes
 * chunks, folds them, and adds them to total when its turn has come: total, and the first
 * fault, are those of one pass in input order, whoever did what.
 * squads: nsquads of them. A single worker runs in the calling thread.
 * Errors: the first in input order, with file, line, column and value in fault. Other
 * threads may then still be inside the input: the process must end soon, and nothing that
 * was passed in may be freed. */
enum status engine_run(const struct plan *plan, struct input *input, struct squad *squads,
		       size_t nsquads, struct total *total, struct fault *fault);

#endif
