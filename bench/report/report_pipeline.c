/* SPDX-License-Identifier: MIT
 *
 * report_pipeline.c - see report.h: the stages of a pipeline, apart and together, and its trace.
 */
#include "bench/report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/pipeline/pipeline.h"
#include "bench/report/sheet.h"
#include "io/output.h"

/* ---- records ---- */

static void add_speeds(struct sheet *s, const struct pipeline_run *run,
		       const struct pipeline_stage *stage)
{
	double apart = pipeline_percent(run, stage->apart_gbps);
	double together = pipeline_percent(run, stage->together_gbps);

	sheet_gbps(s, "apart_gbps", "apart GB/s", stage->apart_gbps);
	sheet_number(s, "apart_percent_of_ceiling", "% ceiling", apart, 1);
	sheet_gbps(s, "gbps", "together GB/s", stage->together_gbps);
	sheet_number(s, "percent_of_ceiling", "% ceiling", together, 1);
}

/* Adds a stage's spans in the traced run. The whole run has none. at_once: how many lanes were in the
 * stage, on average over the time when at least one was. */
static void add_spans(struct sheet *s, const struct pipeline_run *run, const struct stage_figure *f,
		      bool is_whole)
{
	double busy_percent = is_whole ? 0 : 100 * f->busy_ns / run->traced_ns;

	sheet_number(s, "busy_ms", "busy ms", f->busy_ns / 1e6, 3);
	sheet_number(s, "percent_busy", "% busy", busy_percent, 1);
	sheet_number(s, "at_once", "at once", f->busy_ns > 0 ? f->sum_ns / f->busy_ns : 0, 1);
	if (is_whole)
		sheet_number(s, "nspans", "n", 0, 0);
	else
		sheet_cell(s, "nspans", "n", true, "%zu", f->nspans);
	sheet_number(s, "median_us", "us each", f->median_ns / 1e3, 1);
	sheet_cell(s, "nbytes", NULL, true, "%" PRIu64, f->nbytes);
}

static void add_run(struct sheet *s, const struct pipeline_run *run)
{
	const struct pipeline_ceiling none = {"", 0};
	const struct pipeline_ceiling *slowest =
		run->nceilings ? &run->ceilings[run->slowest] : &none;

	sheet_cell(s, "output_nbytes", NULL, true, "%" PRIu64, run->output_nbytes);
	sheet_number(s, "wall_ms", NULL, run->wall.median_ns / 1e6, 3);
	sheet_number(s, "least_wall_ms", NULL, run->wall.least_ns / 1e6, 3);
	sheet_number(s, "greatest_wall_ms", NULL, run->wall.greatest_ns / 1e6, 3);
	sheet_text(s, "slowest_ceiling", NULL, slowest->name);
	sheet_gbps(s, "ceiling_gbps", NULL, slowest->gbps);
}

/* Adds a record. name NULL: the whole run, as if it were a stage. */
static void add_record(struct sheet *s, const struct pipeline_run *run,
		       const struct pipeline_stage *stage, const char *name, const char *date)
{
	sheet_record(s);
	sheet_text(s, "device", "device", stage->device);
	sheet_text(s, "stage", "stage", name ? name : "whole");
	add_speeds(s, run, stage);
	add_spans(s, run, &stage->together, !name);
	add_run(s, run);
	sheet_text(s, "what", "what",
		   name ? stage_what(stage->stage)
			: "from all workers being open to the last one's end");
	sheet_text(s, "gpu", NULL, run->gpu);
	sheet_text(s, "date", NULL, date);
}

/* ---- a run ---- */

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
	if (!run->nceilings) {
		puts("ceilings: none; compressed input has no figures of stages apart");
		return;
	}
	printf("ceilings, GB/s of input:");
	for (size_t i = 0; i < run->nceilings; i++)
		printf("%s %s %.1f", i ? "," : "", run->ceilings[i].name, run->ceilings[i].gbps);
	printf("; slowest: %s\n", run->ceilings[run->slowest].name);
}

static void print_whole(const struct pipeline_run *run)
{
	double gbps = trace_gbps(run->nbytes, run->wall.median_ns);

	printf("whole run: %.2f ms (%.2f to %.2f; with spans noted %.2f): %.2f GB/s",
	       run->wall.median_ns / 1e6, run->wall.least_ns / 1e6, run->wall.greatest_ns / 1e6,
	       run->traced_ns / 1e6, gbps);
	if (run->nceilings)
		printf(", %.1f %% of the slowest ceiling", pipeline_percent(run, gbps));
	if (run->apart_gbps > 0)
		printf(", %.1f %% of what the stages apart allow", 100 * gbps / run->apart_gbps);
	puts("\n");
}

enum status report_pipeline(const struct pipeline_run *run, const char *date, enum format format,
			    struct fault *fault)
{
	const struct pipeline_stage whole = {
		.device = "all",
		.apart_gbps = run->apart_gbps,
		.together_gbps = trace_gbps(run->nbytes, run->wall.median_ns),
		.together = {.busy_ns = run->traced_ns, .nbytes = run->nbytes},
	};
	struct sheet sheet;

	if (format == FORMAT_TABLE) {
		print_team(run, date);
		print_ceilings(run);
		print_whole(run);
	}
	sheet_init(&sheet, format, run->nstages + 1);
	for (size_t i = 0; i < run->nstages; i++)
		add_record(&sheet, run, &run->stages[i], stage_name(run->stages[i].stage), date);
	add_record(&sheet, run, &whole, NULL, date);
	return sheet_print(&sheet, fault);
}

/* ---- its trace ---- */

static void print_span(const struct lane *lane, const struct span *s, double begin_ns)
{
	static const char *const places[] = {"host", "up", "kernels", "back"};
	_Static_assert(sizeof places / sizeof *places == STAGE_NPLACES, "a name for each place");

	printf("%s,%d,%s,%s,%" PRIu64 ",%" PRIu64 ",%.3f,%.3f,,,,,,\n", lane->device, lane->number,
	       places[stage_place(s->stage)], stage_name(s->stage), s->chunk, s->nbytes,
	       (s->begin_ns - begin_ns) / 1e3, (s->end_ns - begin_ns) / 1e3);
}

enum status report_trace(const struct pipeline_run *run, const char *date, struct fault *fault)
{
	const struct trace *t = &run->trace;

	puts("device,lane,place,stage,chunk,nbytes,begin_us,end_us,threads,gpus,streams,gpu,"
	     "versions,date");
	printf("all,,,whole,,%" PRIu64 ",0.000,%.3f,%d,%d,%d,", run->nbytes,
	       (t->end_ns - t->begin_ns) / 1e3, run->nthreads, run->ngpus, run->nfeeders);
	output_field(stdout, run->gpu, &(const struct csv_dialect){.delimiter = ',', .quote = '"'}, false);
	printf(",gpustat-bench " PACKAGE_VERSION ",%s\n", date);
	for (const struct lane *lane = t->lanes; lane < t->lanes + t->nlanes; lane++)
		for (size_t i = 0; i < lane->nspans; i++)
			print_span(lane, &lane->spans[i], t->begin_ns);
	return output_flush(fault);
}
