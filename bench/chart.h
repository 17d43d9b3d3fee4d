/* SPDX-License-Identifier: MIT
 *
 * chart.h - a ladder as a bar chart, in SVG.
 */
#ifndef GPUSTAT_CHART_H
#define GPUSTAT_CHART_H

#include "bench.h"
#include "status.h"

/* Whether a chart can be written to path: to be asked before measuring for minutes. What is
 * in the file stays. Errors: STATUS_OPEN, with the path and its cause. */
enum status chart_try(const char *path, struct fault *fault);

/* Draws run as horizontal bars of GB/s, a panel for each type, and writes it to path, in the
 * place of what was there. date: the day of the run. The picture brings its own background, so
 * it can be read on a light and on a dark page, and asks for no font, script or other file.
 * Errors: STATUS_OPEN, STATUS_WRITE, with the path and its cause. */
enum status chart_write(const struct bench_run *run, const char *date, const char *path,
			struct fault *fault);

#endif
