/* SPDX-License-Identifier: MIT
 *
 * device_marks.h - when a GPU's stream was in which stage: CUDA events between the stages, in the
 * host's time.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "csv/chunk.h"
#include "base/status.h"
#include "bench/pipeline/trace.h"

struct worker;
struct device_marks;

/* Records an event at each mark of a worker of worker_gpu from now on. Only for the worker's
 * thread. Errors: STATUS_NO_MEMORY, STATUS_GPU. */
enum status device_marks_open(struct device_marks **out, struct worker *gpu, struct fault *fault);

/* Waits for the stream to pass the last mark, and moves all marks to the lane, as spans of that
 * chunk. A span begins where the one before ends, so it includes the waiting for resources that
 * other streams use. Errors: STATUS_GPU. */
enum status device_marks_move(struct device_marks *m, struct lane *lane, const struct chunk *chunk,
			      struct fault *fault);

/* Stops recording. The worker is still open. */
void device_marks_close(struct device_marks *m);

#ifdef __cplusplus
}
#endif
