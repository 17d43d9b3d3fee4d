/* SPDX-License-Identifier: MIT
 *
 * timeline.h - what each worker of a pipeline did when, in SVG.
 */
#ifndef GPUSTAT_TIMELINE_H
#define GPUSTAT_TIMELINE_H

#include "bench/pipeline/pipeline.h"
#include "base/status.h"

/* As many bars as a picture is still quick to show with, more or less. */
#define TIMELINE_NBARS 4000

/* A part of the trace: spans that overlap it are drawn. */
struct timeline_window {
	double begin_ns, end_ns;
};

#define TIMELINE_MIDDLE (-1)

/* All of the trace, or where it has more than nbars spans, a part that has about so many if they
 * lie evenly: from its middle, or the one that begins from_ms after its beginning, or the last. */
struct timeline_window timeline_choose(const struct trace *t, size_t nbars, int from_ms);

/* Draws the run's trace and writes it to path, in the place of what was there (svg.h). There is a
 * lane for each worker and each place where it works (stage.h), those of one place together; each
 * span is a bar, with the stage and the chunk as its title; time is in ms since all workers were
 * open. date: the day of the run; from_ms: see above.
 * Errors: STATUS_OPEN, STATUS_WRITE, with the path and its cause. */
enum status timeline_write(const struct pipeline_run *run, const char *date, int from_ms,
			   const char *path, struct fault *fault);

#endif
