/* SPDX-License-Identifier: MIT
 *
 * chart.h - a ladder as a bar chart, in SVG.
 */
#ifndef GPUSTAT_CHART_H
#define GPUSTAT_CHART_H

#include "bench/ladder/bench.h"
#include "base/status.h"

/* Draws run as horizontal bars of GB/s, a panel for each type, and writes it to path, in the
 * place of what was there (svg.h). date: the day of the run. Errors: STATUS_OPEN, STATUS_WRITE, with
 * the path and its cause. */
enum status chart_write(const struct bench_run *run, const char *date, const char *path,
			struct fault *fault);

#endif
