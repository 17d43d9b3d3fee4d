/* SPDX-License-Identifier: MIT
 *
 * traced_worker.h - workers that wrap others and record when each of their steps begins and ends.
 *
 * The engine drives them like the wrapped ones: the program itself is timed. The engine asks a
 * worker for its buffer just before it reads a chunk, and calls begin or map just after:
 * STAGE_READ is between the two.
 */
#pragma once

#include <stdbool.h>

#include "bench/pipeline/trace.h"
#include "codec/gzip.h"
#include "engine/worker.h"

/* Begins a run: traced workers that are opened from now on belong to trace. One run at a time.
 * nworkers: how many will be opened. Each waits before its first chunk until all are open, so that
 * no worker's start-up is in another's spans. Then trace->begin_ns is set; trace->end_ns is set
 * when the last worker is closed. spans: false: record only these two times. */
void traced_begin(struct trace *trace, int nworkers, bool spans);

/* Returns the traced kind of worker_cpu or worker_gpu. */
const struct worker_ops *traced_ops(const struct worker_ops *ops);

/* Records a stage of a section that this thread decodes, a part of its STAGE_READ. For
 * input_watch_sections. */
section_watcher traced_section;

/* Ends STAGE_READ now, for a caller that does not call begin or map at once. */
void traced_has_read(struct worker *w, const struct chunk *chunk);
