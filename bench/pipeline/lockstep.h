/* SPDX-License-Identifier: MIT
 *
 * lockstep.h - the stages of the pipeline apart: all workers do the same stage at the same time,
 * each with a chunk of its own, and then all do the next.
 *
 * The work, the chunks and the order of what depends on order are the engine's; but nobody
 * reads while others compute, so that a stage has the machine to itself.
 */
#ifndef GPUSTAT_LOCKSTEP_H
#define GPUSTAT_LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "bench/pipeline/trace.h"

struct lockstep_request {
	const struct plan *plan;
	struct input *input;       /* at its first record */
	const struct worker_pool *squad; /* whose workers; of kind worker_cpu or worker_gpu */
	int nthreads;
	uint64_t nbytes;           /* of input at least, if there is so much */
	bool reads_only;           /* chunks are read, and no more */
};

/* Does the stages on the input and writes spans into trace, which has room for nthreads lanes. What
 * is printed goes to standard output; records that chunk borders cut are left out.
 * Errors: STATUS_NO_MEMORY, also where no thread can be started; the input's and the workers'. */
enum status lockstep_run(const struct lockstep_request *request, struct trace *trace,
			 struct fault *fault);

#endif
