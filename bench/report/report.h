/* SPDX-License-Identifier: MIT
 *
 * report.h - the results of gpustat-bench on standard output.
 *
 * Each function prints a table, or the same figures as CSV or JSON, one record a rung or stage, and
 * checks that all was written. date: the day of the run, "2026-11-21".
 * Errors: STATUS_NO_MEMORY, STATUS_WRITE.
 */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "bench/ladder/bench.h"
#include "query/options.h"

struct pipeline_run;

/* Prints the rungs of a ladder. */
enum status report_run(const struct bench_run *run, const char *date, enum format format,
		       struct fault *fault);

/* Returns STATUS_WRONG_RESULT if a rung was wrong, with the names of all of these in fault's
 * detail. */
enum status report_verdict(const struct bench_run *run, struct fault *fault);

/* The same of a ladder of blocks or records. */
enum status report_work(const struct work_run *run, const char *date, enum format format,
			struct fault *fault);
enum status report_work_verdict(const struct work_run *run, struct fault *fault);

enum status report_ceilings(const struct bench_ceiling *ceilings, size_t nceilings,
			    enum format format, struct fault *fault);

/* Prints the stages of a pipeline and, last, the whole run. */
enum status report_pipeline(const struct pipeline_run *run, const char *date, enum format format,
			    struct fault *fault);

/* Prints the spans of a pipeline's traced run as CSV, after one record for the whole run; times are
 * microseconds after all workers were open. */
enum status report_trace(const struct pipeline_run *run, const char *date, struct fault *fault);

/* Prints the costs of the model's rungs for n values, beside the published ones. n:
 * model_takes(n). */
enum status report_model(unsigned n, enum format format, struct fault *fault);
