/* SPDX-License-Identifier: MIT
 *
 * report.c - see report.h: the rungs of a ladder, and the machine's ceilings.
 */
#include "bench/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/table.h"
#include "bench/report/sheet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const ladder_names[] = {[BENCH_REDUCE] = "reduce", [BENCH_SCAN] = "scan"};

/* What the rows of a run's sheet are. */
struct run_rows {
	const struct bench_run *run;
	const char *date;
};

static const struct bench_run *run_of(const void *rows)
{
	return ((const struct run_rows *)rows)->run;
}

static const struct bench_figure *figure_of(const void *rows, size_t row)
{
	return &run_of(rows)->figures[row];
}

static void put(char *text, const char *words)
{
	snprintf(text, SHEET_CELL_NBYTES, "%s", words);
}

/* A figure with ndigits behind its point; nothing for one that was not measured. */
static void put_number(char *text, double number, int ndigits)
{
	if (number > 0)
		snprintf(text, SHEET_CELL_NBYTES, "%.*f", ndigits, number);
}

/* ---- cells: what was run ---- */

static void write_ladder(const void *rows, size_t row, char *text)
{
	(void)row;
	put(text, ladder_names[run_of(rows)->ladder]);
}

static void write_type(const void *rows, size_t row, char *text)
{
	put(text, bench_type_name(figure_of(rows, row)->type));
}

static void write_fold(const void *rows, size_t row, char *text)
{
	put(text, bench_fold_name(figure_of(rows, row)->fold));
}

static void write_rung(const void *rows, size_t row, char *text)
{
	put(text, figure_of(rows, row)->rung);
}

/* "shipped", or "shipped, min": the sum is what most rungs do, and needs no word. */
static void write_label(const void *rows, size_t row, char *text)
{
	const struct bench_figure *f = figure_of(rows, row);

	put(text, f->rung);
	if (f->fold != BENCH_SUM)
		snprintf(text, SHEET_CELL_NBYTES, "%s, %s", f->rung, bench_fold_name(f->fold));
}

static void write_idea(const void *rows, size_t row, char *text)
{
	put(text, figure_of(rows, row)->idea);
}

static void write_device(const void *rows, size_t row, char *text)
{
	put(text, figure_of(rows, row)->on_cpu ? "cpu" : "gpu");
}

static void write_n(const void *rows, size_t row, char *text)
{
	snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64, figure_of(rows, row)->n);
}

static void write_short_n(const void *rows, size_t row, char *text)
{
	bench_n_text(figure_of(rows, row)->n, text);
}

static void write_nbytes(const void *rows, size_t row, char *text)
{
	snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64, figure_of(rows, row)->nbytes);
}

static void write_gpu(const void *rows, size_t row, char *text)
{
	(void)row;
	put(text, run_of(rows)->gpu);
}

static void write_versions(const void *rows, size_t row, char *text)
{
	(void)row;
	put(text, run_of(rows)->versions);
}

static void write_date(const void *rows, size_t row, char *text)
{
	(void)row;
	put(text, ((const struct run_rows *)rows)->date);
}

/* ---- cells: how fast it was ---- */

static void write_median(const void *rows, size_t row, char *text)
{
	put_number(text, figure_of(rows, row)->time.median_ns / 1e3, 3);
}

static void write_least(const void *rows, size_t row, char *text)
{
	put_number(text, figure_of(rows, row)->time.least_ns / 1e3, 3);
}

static void write_greatest(const void *rows, size_t row, char *text)
{
	put_number(text, figure_of(rows, row)->time.greatest_ns / 1e3, 3);
}

static void write_short_median(const void *rows, size_t row, char *text)
{
	put_number(text, figure_of(rows, row)->time.median_ns / 1e3, 1);
}

/* From the fastest to the slowest run, as part of the median. */
static void write_spread(const void *rows, size_t row, char *text)
{
	const struct bench_time *t = &figure_of(rows, row)->time;

	if (t->median_ns > 0)
		snprintf(text, SHEET_CELL_NBYTES, "%.1f%%",
			 100 * (t->greatest_ns - t->least_ns) / t->median_ns);
}

static void write_gbps(const void *rows, size_t row, char *text)
{
	double gbps = bench_gbps(figure_of(rows, row));

	put_number(text, gbps, gbps < 10 ? 3 : 1);
}

/* Limits are the GPU's memory's: a CPU is not held against them. */
static void write_percent(const void *rows, size_t row, double limit_gbps, char *text)
{
	const struct bench_figure *f = figure_of(rows, row);

	if (limit_gbps > 0 && !f->on_cpu)
		put_number(text, 100 * bench_gbps(f) / limit_gbps, 1);
}

static void write_percent_of_peak(const void *rows, size_t row, char *text)
{
	write_percent(rows, row, run_of(rows)->peak_gbps, text);
}

static void write_percent_of_ceiling(const void *rows, size_t row, char *text)
{
	write_percent(rows, row, run_of(rows)->ceiling_gbps, text);
}

/* How many times as fast as another figure; nothing where they did not do the same work. */
static void write_times(const void *rows, size_t row, size_t other, char *text)
{
	const struct bench_figure *f = figure_of(rows, row), *o;

	if (other == BENCH_NONE)
		return;
	o = figure_of(rows, other);
	if (f->n == o->n && f->time.median_ns > 0)
		put_number(text, o->time.median_ns / f->time.median_ns, 2);
}

static void write_times_first(const void *rows, size_t row, char *text)
{
	write_times(rows, row, figure_of(rows, row)->first, text);
}

static void write_times_cpu(const void *rows, size_t row, char *text)
{
	write_times(rows, row, figure_of(rows, row)->cpu, text);
}

static void write_times_cub(const void *rows, size_t row, char *text)
{
	write_times(rows, row, figure_of(rows, row)->cub, text);
}

static void write_peak(const void *rows, size_t row, char *text)
{
	(void)row;
	put_number(text, run_of(rows)->peak_gbps, 1);
}

static void write_ceiling(const void *rows, size_t row, char *text)
{
	(void)row;
	put_number(text, run_of(rows)->ceiling_gbps, 1);
}

/* ---- cells: whether it was right ---- */

static void write_nchecks(const void *rows, size_t row, char *text)
{
	snprintf(text, SHEET_CELL_NBYTES, "%u", figure_of(rows, row)->nchecks);
}

static void write_is_right(const void *rows, size_t row, char *text)
{
	put(text, figure_of(rows, row)->is_right ? "true" : "false");
}

static void write_checks(const void *rows, size_t row, char *text)
{
	if (figure_of(rows, row)->is_right)
		write_nchecks(rows, row, text);
	else
		put(text, "WRONG");
}

/* ---- a run ---- */

static const struct sheet_column run_columns[] = {
	{"ladder", NULL, false, write_ladder},
	{"type", NULL, false, write_type},
	{"fold", NULL, false, write_fold},
	{NULL, "rung", false, write_label},
	{"rung", NULL, false, write_rung},
	{"idea", NULL, false, write_idea},
	{"device", NULL, false, write_device},
	{"n", NULL, true, write_n},
	{NULL, "n", true, write_short_n},
	{"nbytes", NULL, true, write_nbytes},
	{"median_us", NULL, true, write_median},
	{"least_us", NULL, true, write_least},
	{"greatest_us", NULL, true, write_greatest},
	{NULL, "time us", true, write_short_median},
	{NULL, "spread", true, write_spread},
	{"gbps", "GB/s", true, write_gbps},
	{"percent_of_peak", "% peak", true, write_percent_of_peak},
	{"percent_of_ceiling", "% ceiling", true, write_percent_of_ceiling},
	{"times_first", "x first", true, write_times_first},
	{"times_cpu", "x CPU", true, write_times_cpu},
	{"times_cub", "x CUB", true, write_times_cub},
	{"nchecks", NULL, true, write_nchecks},
	{"is_right", NULL, true, write_is_right},
	{NULL, "checks", true, write_checks},
	{"peak_gbps", NULL, true, write_peak},
	{"ceiling_gbps", NULL, true, write_ceiling},
	{"gpu", NULL, false, write_gpu},
	{"versions", NULL, false, write_versions},
	{"date", NULL, false, write_date},
};

static void print_heading(const struct run_rows *rows, enum bench_type type)
{
	const struct bench_run *run = rows->run;

	printf("%s of %s, %s, %s, %s\n", ladder_names[run->ladder], bench_type_name(type), run->gpu,
	       run->versions, rows->date);
	if (run->peak_gbps > 0)
		printf("peak by the datasheet: %.0f GB/s\n", run->peak_gbps);
	if (run->ceiling_gbps > 0)
		printf("ceiling, a %s in this run: %.0f GB/s\n",
		       run->ladder == BENCH_REDUCE ? "read" : "copy", run->ceiling_gbps);
}

/* A table for each type. */
static enum status print_tables(const struct run_rows *rows, struct fault *fault)
{
	const struct bench_run *run = rows->run;
	enum status status = STATUS_OK;

	for (size_t i = 0, end; i < run->nfigures && status == STATUS_OK; i = end) {
		enum bench_type type = run->figures[i].type;
		for (end = i; end < run->nfigures && run->figures[end].type == type;)
			end++;
		if (i)
			putchar('\n');
		print_heading(rows, type);
		status = sheet_print(run_columns, COUNT(run_columns), rows, i, end - i,
				     FORMAT_TABLE, fault);
	}
	return status;
}

enum status report_run(const struct bench_run *run, const char *date, enum format format,
		       struct fault *fault)
{
	struct run_rows rows = {run, date};

	if (format == FORMAT_TABLE)
		return print_tables(&rows, fault);
	return sheet_print(run_columns, COUNT(run_columns), &rows, 0, run->nfigures, format, fault);
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

static const struct bench_ceiling *ceiling_of(const void *rows, size_t row)
{
	return (const struct bench_ceiling *)rows + row;
}

static void write_ceiling_name(const void *rows, size_t row, char *text)
{
	put(text, ceiling_of(rows, row)->name);
}

static void write_ceiling_value(const void *rows, size_t row, char *text)
{
	double value = ceiling_of(rows, row)->value;

	put_number(text, value, value < 100 ? 2 : 1);
}

static void write_ceiling_unit(const void *rows, size_t row, char *text)
{
	put(text, ceiling_of(rows, row)->unit);
}

static void write_ceiling_what(const void *rows, size_t row, char *text)
{
	put(text, ceiling_of(rows, row)->what);
}

static void write_ceiling_median(const void *rows, size_t row, char *text)
{
	put_number(text, ceiling_of(rows, row)->time_or_zero.median_ns / 1e3, 3);
}

static void write_ceiling_least(const void *rows, size_t row, char *text)
{
	put_number(text, ceiling_of(rows, row)->time_or_zero.least_ns / 1e3, 3);
}

static void write_ceiling_greatest(const void *rows, size_t row, char *text)
{
	put_number(text, ceiling_of(rows, row)->time_or_zero.greatest_ns / 1e3, 3);
}

static const struct sheet_column ceiling_columns[] = {
	{"name", "ceiling", false, write_ceiling_name},
	{"value", "value", true, write_ceiling_value},
	{"unit", "unit", false, write_ceiling_unit},
	{"median_us", NULL, true, write_ceiling_median},
	{"least_us", NULL, true, write_ceiling_least},
	{"greatest_us", NULL, true, write_ceiling_greatest},
	{"what", "what was measured", false, write_ceiling_what},
};

enum status report_ceilings(const struct bench_ceiling *ceilings, size_t nceilings,
			    enum format format, struct fault *fault)
{
	return sheet_print(ceiling_columns, COUNT(ceiling_columns), ceilings, 0, nceilings, format,
			   fault);
}
