/* SPDX-License-Identifier: MIT
 *
 * report.c - see report.h: the rungs of a ladder, and the machine's ceilings.
 */
#include "bench/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/sheet.h"

static const char *const ladder_names[] = {[BENCH_REDUCE] = "reduce", [BENCH_SCAN] = "scan"};

/* ---- a rung ---- */

static void add_work(struct sheet *s, const struct bench_run *run, const struct bench_figure *f)
{
	const char *fold = bench_fold_name(f->fold);
	char n_text[BENCH_N_NBYTES];

	sheet_text(s, "ladder", NULL, ladder_names[run->ladder]);
	sheet_text(s, "type", NULL, bench_type_name(f->type));
	sheet_text(s, "fold", NULL, fold);
	if (f->fold == BENCH_SUM)
		sheet_text(s, NULL, "rung", f->rung);
	else
		sheet_cell(s, NULL, "rung", false, "%s, %s", f->rung, fold);
	sheet_text(s, "rung", NULL, f->rung);
	sheet_text(s, "idea", NULL, f->idea);
	sheet_text(s, "device", NULL, f->on_cpu ? "cpu" : "gpu");
	sheet_cell(s, "n", NULL, true, "%" PRIu64, f->n);
	sheet_cell(s, NULL, "n", true, "%s", bench_n_text(f->n, n_text));
	sheet_cell(s, "nbytes", NULL, true, "%" PRIu64, f->nbytes);
}

static void add_times(struct sheet *s, const struct bench_time *t)
{
	sheet_number(s, "median_us", NULL, t->median_ns / 1e3, 3);
	sheet_number(s, "least_us", NULL, t->least_ns / 1e3, 3);
	sheet_number(s, "greatest_us", NULL, t->greatest_ns / 1e3, 3);
}

/* Adds gbps in percent of limit_gbps. The limits are those of the GPU's memory: a CPU has none. */
static void add_percent(struct sheet *s, const char *name, const char *heading,
			const struct bench_figure *f, double limit_gbps)
{
	bool known = limit_gbps > 0 && !f->on_cpu;

	sheet_number(s, name, heading, known ? 100 * bench_gbps(f) / limit_gbps : 0, 1);
}

/* Adds the speedup of f over figures[other]; unknown where their n differ. */
static void add_speedup(struct sheet *s, const char *name, const char *heading,
			const struct bench_run *run, const struct bench_figure *f, size_t other)
{
	const struct bench_figure *o = other == BENCH_NONE ? NULL : &run->figures[other];
	bool known = o && f->n == o->n && f->time.median_ns > 0;

	sheet_number(s, name, heading, known ? o->time.median_ns / f->time.median_ns : 0, 2);
}

static void add_speed(struct sheet *s, const struct bench_run *run, const struct bench_figure *f)
{
	const struct bench_time *t = &f->time;

	add_times(s, t);
	sheet_number(s, NULL, "time us", t->median_ns / 1e3, 1);
	if (t->median_ns > 0)
		sheet_cell(s, NULL, "spread", true, "%.1f%%",
			   100 * (t->greatest_ns - t->least_ns) / t->median_ns);
	else
		sheet_cell(s, NULL, "spread", true, "%s", "");
	sheet_gbps(s, "gbps", "GB/s", bench_gbps(f));
	add_percent(s, "percent_of_peak", "% peak", f, run->peak_gbps);
	add_percent(s, "percent_of_ceiling", "% ceiling", f, run->ceiling_gbps);
	add_speedup(s, "times_first", "x first", run, f, f->first);
	add_speedup(s, "times_cpu", "x CPU", run, f, f->cpu);
	add_speedup(s, "times_cub", "x CUB", run, f, f->cub);
}

static void add_figure(struct sheet *s, const struct bench_run *run, const struct bench_figure *f,
		       const char *date)
{
	sheet_record(s);
	add_work(s, run, f);
	add_speed(s, run, f);
	sheet_cell(s, "nchecks", NULL, true, "%u", f->nchecks);
	sheet_cell(s, "is_right", NULL, true, "%s", f->is_right ? "true" : "false");
	if (f->is_right)
		sheet_cell(s, NULL, "checks", true, "%u", f->nchecks);
	else
		sheet_cell(s, NULL, "checks", true, "WRONG");
	sheet_number(s, "peak_gbps", NULL, run->peak_gbps, 1);
	sheet_number(s, "ceiling_gbps", NULL, run->ceiling_gbps, 1);
	sheet_text(s, "gpu", NULL, run->gpu);
	sheet_cell(s, "versions", NULL, false, "%s, gpustat-bench " PACKAGE_VERSION, run->versions);
	sheet_text(s, "date", NULL, date);
}

/* ---- a run ---- */

static void print_heading(const struct bench_run *run, enum bench_type type, const char *date)
{
	printf("%s of %s, %s, %s, %s\n", ladder_names[run->ladder], bench_type_name(type), run->gpu,
	       run->versions, date);
	if (run->peak_gbps > 0)
		printf("peak by the datasheet: %.0f GB/s\n", run->peak_gbps);
	if (run->ceiling_gbps > 0)
		printf("ceiling, a %s in this run: %.0f GB/s\n",
		       run->ladder == BENCH_REDUCE ? "read" : "copy", run->ceiling_gbps);
}

static enum status print_figures(const struct bench_run *run, size_t begin, size_t end,
				 const char *date, enum format format, struct fault *fault)
{
	struct sheet sheet;

	sheet_init(&sheet, format, end - begin);
	for (size_t i = begin; i < end; i++)
		add_figure(&sheet, run, &run->figures[i], date);
	return sheet_print(&sheet, fault);
}

/* Prints a table for each type. */
static enum status print_tables(const struct bench_run *run, const char *date, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0, end; i < run->nfigures && status == STATUS_OK; i = end) {
		enum bench_type type = run->figures[i].type;
		for (end = i; end < run->nfigures && run->figures[end].type == type;)
			end++;
		if (i)
			putchar('\n');
		print_heading(run, type, date);
		status = print_figures(run, i, end, date, FORMAT_TABLE, fault);
	}
	return status;
}

enum status report_run(const struct bench_run *run, const char *date, enum format format,
		       struct fault *fault)
{
	if (format == FORMAT_TABLE)
		return print_tables(run, date, fault);
	return print_figures(run, 0, run->nfigures, date, format, fault);
}

enum status report_verdict(const struct bench_run *run, struct fault *fault)
{
	char names[FAULT_DETAIL_NBYTES] = "", words[2 * FAULT_DETAIL_NBYTES];
	size_t nwrong = 0;

	for (size_t i = 0; i < run->nfigures; i++) {
		const struct bench_figure *f = &run->figures[i];
		size_t nused = strlen(names);
		if (f->is_right)
			continue;
		nwrong++;
		snprintf(names + nused, sizeof names - nused, "%s%s of %s", nused ? ", " : "", f->rung,
			 bench_type_name(f->type));
	}
	if (!nwrong)
		return STATUS_OK;
	/* The count comes first, for the names may not all fit. */
	snprintf(words, sizeof words, "%zu of %zu rungs: %s", nwrong, run->nfigures, names);
	return fault_set(fault, STATUS_WRONG_RESULT, 0, words);
}

/* ---- ceilings ---- */

enum status report_ceilings(const struct bench_ceiling *ceilings, size_t nceilings,
			    enum format format, struct fault *fault)
{
	struct sheet s;

	sheet_init(&s, format, nceilings);
	for (const struct bench_ceiling *c = ceilings; c < ceilings + nceilings; c++) {
		sheet_record(&s);
		sheet_text(&s, "name", "ceiling", c->name);
		sheet_number(&s, "value", "value", c->value, c->value < 100 ? 2 : 1);
		sheet_text(&s, "unit", "unit", c->unit);
		add_times(&s, &c->time_or_zero);
		sheet_text(&s, "what", "what was measured", c->what);
	}
	return sheet_print(&s, fault);
}
