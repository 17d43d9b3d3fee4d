/* SPDX-License-Identifier: MIT
 *
 * report_work.c - see report.h: the rungs of inflating and of grouping.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/report.h"
#include "bench/report/sheet.h"

static double per_ns(uint64_t amount, const struct work_figure *f)
{
	return f->time.median_ns > 0 ? (double)amount / f->time.median_ns : 0;
}

/* The speed of the GPU's first rung at the same work. */
static double first_gbps(const struct work_run *run, const struct work_figure *f)
{
	for (const struct work_figure *o = run->figures; o < run->figures + run->nfigures; o++)
		if (!o->on_cpu && o->ngroups == f->ngroups)
			return per_ns(o->nbytes, o);
	return 0;
}

/* The records and their groups, if there are any. */
static void add_records(struct sheet *s, const struct work_figure *f)
{
	char n[BENCH_N_NBYTES], ngroups[BENCH_N_NBYTES];

	if (f->n == 0)
		return;
	sheet_cell(s, "n", NULL, true, "%" PRIu64, f->n);
	sheet_cell(s, NULL, "n", true, "%s", bench_n_text(f->n, n));
	sheet_cell(s, "ngroups", NULL, true, "%" PRIu64, f->ngroups);
	sheet_cell(s, NULL, "groups", true, "%s", bench_n_text(f->ngroups, ngroups));
	sheet_gbps(s, "grecords_per_s", "G records/s", per_ns(f->n, f));
}

static void add_figure(struct sheet *s, const struct work_run *run, const struct work_figure *f, const char *date)
{
	double first = first_gbps(run, f), gbps = per_ns(f->nbytes, f);

	sheet_record(s);
	sheet_text(s, "ladder", NULL, run->ladder);
	sheet_text(s, "rung", "rung", f->rung);
	sheet_text(s, "device", NULL, f->on_cpu ? "cpu" : "gpu");
	sheet_cell(s, "nbytes", NULL, true, "%" PRIu64, f->nbytes);
	sheet_number(s, "median_us", "time us", f->time.median_ns / 1e3, 1);
	sheet_number(s, "least_us", NULL, f->time.least_ns / 1e3, 1);
	sheet_number(s, "greatest_us", NULL, f->time.greatest_ns / 1e3, 1);
	add_records(s, f);
	sheet_gbps(s, "gbps", run->speed, gbps);
	sheet_number(s, "times_first", "x first", first > 0 ? gbps / first : 0, 2);
	sheet_cell(s, "nchecks", NULL, true, "%u", f->nchecks);
	sheet_cell(s, "is_right", NULL, true, "%s", f->is_right ? "true" : "false");
	sheet_cell(s, NULL, "checks", true, f->is_right ? "%u" : "WRONG", f->nchecks);
	sheet_text(s, "idea", "idea", f->idea);
	sheet_text(s, "about", NULL, run->about);
	sheet_text(s, "gpu", NULL, run->gpu);
	sheet_cell(s, "versions", NULL, false, "%s, gpustat-bench " PACKAGE_VERSION, run->versions);
	sheet_text(s, "date", NULL, date);
}

enum status report_work(const struct work_run *run, const char *date, enum format format, struct fault *fault)
{
	struct sheet sheet;

	if (format == FORMAT_TABLE)
		printf("%s, %s, %s, %s\n%s\n", run->ladder, run->gpu, run->versions, date, run->about);
	sheet_init(&sheet, format, run->nfigures);
	for (size_t i = 0; i < run->nfigures; i++)
		add_figure(&sheet, run, &run->figures[i], date);
	return sheet_print(&sheet, fault);
}

enum status report_work_verdict(const struct work_run *run, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES] = "rungs:";
	bool is_right = true;

	for (const struct work_figure *f = run->figures; f < run->figures + run->nfigures; f++) {
		size_t nused = strlen(words);
		if (!f->is_right)
			snprintf(words + nused, sizeof words - nused, " %s", f->rung);
		is_right = is_right && f->is_right;
	}
	return is_right ? STATUS_OK : fault_set(fault, STATUS_WRONG_RESULT, 0, words);
}
