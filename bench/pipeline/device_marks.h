/* SPDX-License-Identifier: MIT
 *
 * device_marks.h - when a GPU's stream did what: events between the stages, on the host's clock.
 */
#ifndef GPUSTAT_DEVICE_MARKS_H
#define GPUSTAT_DEVICE_MARKS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "csv/chunk.h"
#include "base/status.h"
#include "bench/pipeline/trace.h"

struct worker;
struct device_marks;

/* Watches a worker of worker_gpu, in its thread. Errors: STATUS_NO_MEMORY, STATUS_GPU. */
enum status device_marks_open(struct device_marks **out, struct worker *gpu, struct fault *fault);

/* Moves what was marked since the last time to the lane, as spans of that chunk; waits for the
 * stream to be done with it. A span begins when the stream was done with what came before it, so
 * it includes the waiting for what streams have in common. Errors: STATUS_GPU. */
enum status device_marks_take(struct device_marks *m, struct lane *lane, const struct chunk *chunk,
			      struct fault *fault);

/* Ends the watching; the worker is still open. */
void device_marks_close(struct device_marks *m);

#ifdef __cplusplus
}
#endif

#endif
