/* SPDX-License-Identifier: MIT
 *
 * report.h - what gpustat-bench found out, on standard output.
 *
 * Each of these prints a table for eyes, or the same figures as CSV or JSON, one record a
 * rung or stage, and makes sure that all was written. Errors: STATUS_NO_MEMORY, STATUS_WRITE.
 */
#ifndef GPUSTAT_REPORT_H
#define GPUSTAT_REPORT_H

#include <stddef.h>

#include "bench/ladder/bench.h"
#include "query/options.h"
#include "base/status.h"

struct pipeline_run;

/* The rungs of a ladder, as timed; date: the day of it, "2026-11-21". */
enum status report_run(const struct bench_run *run, const char *date, enum format format,
		       struct fault *fault);

/* STATUS_WRONG_RESULT with the names of the rungs in fault's detail, if any was wrong. */
enum status report_verdict(const struct bench_run *run, struct fault *fault);

enum status report_ceilings(const struct bench_ceiling *ceilings, size_t nceilings,
			    enum format format, struct fault *fault);

/* The stages of a pipeline, and the whole of it. */
enum status report_pipeline(const struct pipeline_run *run, const char *date, enum format format,
			    struct fault *fault);

/* What the rungs of the model cost for n values, beside what is published. n: model_takes it. */
enum status report_model(unsigned n, enum format format, struct fault *fault);

#endif
