/* SPDX-License-Identifier: MIT
 *
 * traced_worker.h - workers that do what others do, and write down when.
 *
 * The engine drives them as it drives those inside: what is timed is the program itself. A worker
 * is asked for its buffer just before a chunk is read into it, and to begin with it, or to map it,
 * just after: the reading is between these two.
 */
#ifndef GPUSTAT_TRACED_WORKER_H
#define GPUSTAT_TRACED_WORKER_H

#include <stdbool.h>

#include "bench/pipeline/trace.h"
#include "engine/worker.h"

/* Says what the traced workers opened from now on belong to, until the next call: one run at a
 * time. nworkers: so many will be opened. Each waits before its first chunk until all are, so that no
 * worker's start-up is part of another's work; then trace->begin_ns is set, and trace->end_ns when the last
 * one is closed. spans: whether there are any; false: only these two times. */
void traced_begin(struct trace *trace, int nworkers, bool spans);

/* The traced kind of worker_cpu or worker_gpu. */
const struct worker_ops *traced_ops(const struct worker_ops *ops);

/* Says that the reading ends now, if the map does not follow at once. */
void traced_has_read(struct worker *w, const struct chunk *chunk);

#endif
