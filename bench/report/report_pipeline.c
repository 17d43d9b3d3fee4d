/* SPDX-License-Identifier: MIT
 *
 * report_pipeline.c - see report.h: the stages of a pipeline, apart and together.
 */
#include "bench/report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/pipeline/pipeline.h"
#include "bench/report/sheet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the rows of a run's sheet are: the stages, and behind them the whole. */
struct pipeline_rows {
	const struct pipeline_run *run;
	const char *date;
};

static const struct pipeline_run *run_of(const void *rows)
{
	return ((const struct pipeline_rows *)rows)->run;
}

/* The row's stage; NULL: the row is of the whole run. */
static const struct pipeline_stage *stage_of(const void *rows, size_t row)
{
	const struct pipeline_run *run = run_of(rows);

	return row < run->nstages ? &run->stages[row] : NULL;
}

/* A figure with ndigits behind its point; nothing for one that was not measured. */
static void put_number(char *text, double number, int ndigits)
{
	if (number > 0)
		snprintf(text, SHEET_CELL_NBYTES, "%.*f", ndigits, number);
}

static void put_gbps(char *text, double gbps)
{
	put_number(text, gbps, gbps < 10 ? 3 : 1);
}

/* ---- cells ---- */

static void write_device(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	snprintf(text, SHEET_CELL_NBYTES, "%s", s ? s->device : "all");
}

static void write_stage(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	snprintf(text, SHEET_CELL_NBYTES, "%s", s ? stage_name(s->stage) : "whole");
}

static void write_what(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	snprintf(text, SHEET_CELL_NBYTES, "%s",
		 s ? stage_what(s->stage) : "from all workers being open to the last one's end");
}

static double apart_gbps(const void *rows, size_t row)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	return s ? s->apart_gbps : run_of(rows)->apart_gbps;
}

static double together_gbps(const void *rows, size_t row)
{
	const struct pipeline_stage *s = stage_of(rows, row);
	const struct pipeline_run *run = run_of(rows);

	return s ? s->together_gbps : trace_gbps(run->nbytes, run->wall.median_ns);
}

static void write_apart_gbps(const void *rows, size_t row, char *text)
{
	put_gbps(text, apart_gbps(rows, row));
}

static void write_apart_percent(const void *rows, size_t row, char *text)
{
	put_number(text, pipeline_percent(run_of(rows), apart_gbps(rows, row)), 1);
}

static void write_together_gbps(const void *rows, size_t row, char *text)
{
	put_gbps(text, together_gbps(rows, row));
}

static void write_together_percent(const void *rows, size_t row, char *text)
{
	put_number(text, pipeline_percent(run_of(rows), together_gbps(rows, row)), 1);
}

static void write_nspans(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	if (s)
		snprintf(text, SHEET_CELL_NBYTES, "%zu", s->together.nspans);
}

static void write_span_us(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	if (s)
		put_number(text, s->together.median_ns / 1e3, 1);
}

static void write_busy_ms(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	put_number(text, (s ? s->together.busy_ns : run_of(rows)->traced_ns) / 1e6, 3);
}

static void write_busy_percent(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	if (s)
		put_number(text, 100 * s->together.busy_ns / run_of(rows)->traced_ns, 1);
}

/* How many lanes were in the stage while any was. */
static void write_at_once(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	if (s && s->together.busy_ns > 0)
		put_number(text, s->together.sum_ns / s->together.busy_ns, 1);
}

static void write_nbytes(const void *rows, size_t row, char *text)
{
	const struct pipeline_stage *s = stage_of(rows, row);

	snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64,
		 s ? s->together.nbytes : run_of(rows)->nbytes);
}

static void write_output_nbytes(const void *rows, size_t row, char *text)
{
	(void)row;
	snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64, run_of(rows)->output_nbytes);
}

static void write_wall_ms(const void *rows, size_t row, char *text)
{
	(void)row;
	put_number(text, run_of(rows)->wall.median_ns / 1e6, 3);
}

static void write_least_ms(const void *rows, size_t row, char *text)
{
	(void)row;
	put_number(text, run_of(rows)->wall.least_ns / 1e6, 3);
}

static void write_greatest_ms(const void *rows, size_t row, char *text)
{
	(void)row;
	put_number(text, run_of(rows)->wall.greatest_ns / 1e6, 3);
}

static void write_ceiling(const void *rows, size_t row, char *text)
{
	const struct pipeline_run *run = run_of(rows);

	(void)row;
	if (run->nceilings)
		snprintf(text, SHEET_CELL_NBYTES, "%s", run->ceilings[run->slowest].name);
}

static void write_ceiling_gbps(const void *rows, size_t row, char *text)
{
	const struct pipeline_run *run = run_of(rows);

	(void)row;
	if (run->nceilings)
		put_gbps(text, run->ceilings[run->slowest].gbps);
}

static void write_gpu(const void *rows, size_t row, char *text)
{
	(void)row;
	snprintf(text, SHEET_CELL_NBYTES, "%.255s", run_of(rows)->gpu);
}

static void write_date(const void *rows, size_t row, char *text)
{
	(void)row;
	snprintf(text, SHEET_CELL_NBYTES, "%s", ((const struct pipeline_rows *)rows)->date);
}

/* ---- a run ---- */

static const struct sheet_column pipeline_columns[] = {
	{"device", "device", false, write_device},
	{"stage", "stage", false, write_stage},
	{"apart_gbps", "apart GB/s", true, write_apart_gbps},
	{"apart_percent_of_ceiling", "% ceiling", true, write_apart_percent},
	{"gbps", "together GB/s", true, write_together_gbps},
	{"percent_of_ceiling", "% ceiling", true, write_together_percent},
	{"busy_ms", "busy ms", true, write_busy_ms},
	{"percent_busy", "% busy", true, write_busy_percent},
	{"at_once", "at once", true, write_at_once},
	{"nspans", "n", true, write_nspans},
	{"median_us", "us each", true, write_span_us},
	{"nbytes", NULL, true, write_nbytes},
	{"output_nbytes", NULL, true, write_output_nbytes},
	{"wall_ms", NULL, true, write_wall_ms},
	{"least_wall_ms", NULL, true, write_least_ms},
	{"greatest_wall_ms", NULL, true, write_greatest_ms},
	{"slowest_ceiling", NULL, false, write_ceiling},
	{"ceiling_gbps", NULL, true, write_ceiling_gbps},
	{"what", "what", false, write_what},
	{"gpu", NULL, false, write_gpu},
	{"date", NULL, false, write_date},
};

static void print_team(const struct pipeline_run *run, const char *date)
{
	printf("pipeline of %.1f MB, %s, %s\n", (double)run->nbytes / 1e6, run->why, date);
	if (run->nthreads)
		printf("CPU: threads %d, chunks of %zu KiB\n", run->nthreads,
		       run->cpu_chunk_nbytes >> 10);
	if (run->ngpus)
		printf("%s: GPUs %d, threads and streams %d, chunks of %zu KiB%s\n", run->gpu,
		       run->ngpus, run->nfeeders, run->gpu_chunk_nbytes >> 10,
		       run->packs ? ", packed" : "");
	if (run->output_nbytes)
		printf("output: %.1f MB\n", (double)run->output_nbytes / 1e6);
}

static void print_ceilings(const struct pipeline_run *run)
{
	printf("ceilings, GB/s of input:");
	for (size_t i = 0; i < run->nceilings; i++)
		printf("%s %s %.1f", i ? "," : "", run->ceilings[i].name, run->ceilings[i].gbps);
	printf("; slowest: %s\n", run->nceilings ? run->ceilings[run->slowest].name : "none");
}

static void print_whole(const struct pipeline_run *run)
{
	double gbps = trace_gbps(run->nbytes, run->wall.median_ns);

	printf("whole run: %.2f ms (%.2f to %.2f; with spans noted %.2f): %.2f GB/s, "
	       "%.1f %% of the slowest ceiling",
	       run->wall.median_ns / 1e6, run->wall.least_ns / 1e6, run->wall.greatest_ns / 1e6,
	       run->traced_ns / 1e6, gbps, pipeline_percent(run, gbps));
	if (run->apart_gbps > 0)
		printf(", %.1f %% of what the stages apart allow", 100 * gbps / run->apart_gbps);
	puts("\n");
}

enum status report_pipeline(const struct pipeline_run *run, const char *date, enum format format,
			    struct fault *fault)
{
	struct pipeline_rows rows = {run, date};

	if (format == FORMAT_TABLE) {
		print_team(run, date);
		print_ceilings(run);
		print_whole(run);
	}
	return sheet_print(pipeline_columns, COUNT(pipeline_columns), &rows, 0, run->nstages + 1,
			   format, fault);
}
