/* SPDX-License-Identifier: MIT
 *
 * lockstep.h - runs the stages of the pipeline apart: all workers do the same stage at the same
 * time, each with its own chunk, and then the next stage.
 *
 * Workers, chunks and their order are the same as in the engine. But no thread reads while another
 * computes: each stage has the machine to itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "bench/pipeline/trace.h"

struct lockstep_request {
	const struct plan *plan;
	struct input *input; /* at its first record */
	const struct worker_pool *pool; /* its ops: worker_cpu or worker_gpu */
	int nthreads;
	uint64_t nbytes; /* to process, at least; or all, if the input is shorter */
	bool reads_only; /* do STAGE_READ alone */
};

/* Runs the stages on the input and adds their spans to trace, which has room for nthreads lanes.
 * Records are printed to standard output, except those cut by a chunk border.
 * Errors: STATUS_NO_MEMORY, also where no thread can be started; the input's and the workers'. */
enum status lockstep_run(const struct lockstep_request *request, struct trace *trace,
			 struct fault *fault);
