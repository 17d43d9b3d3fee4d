/* SPDX-License-Identifier: MIT
 *
 * report_inflate.c - see report.h: the rungs of inflating.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/ladder/inflate_bench.h"
#include "bench/report/report.h"
#include "bench/report/sheet.h"

static double gbps(const struct inflate_figure *f)
{
	return f->time.median_ns > 0 ? (double)f->text_nbytes / f->time.median_ns : 0;
}

/* The first rung of the GPU, by whose speed the others' are told. */
static double first_gbps(const struct inflate_run *run)
{
	for (size_t i = 0; i < run->nfigures; i++)
		if (!run->figures[i].on_cpu)
			return gbps(&run->figures[i]);
	return 0;
}

static void add_figure(struct sheet *s, const struct inflate_run *run, const struct inflate_figure *f, const char *date)
{
	double first = first_gbps(run);

	sheet_record(s);
	sheet_text(s, "ladder", NULL, "inflate");
	sheet_text(s, "rung", "rung", f->rung);
	sheet_text(s, "idea", NULL, f->idea);
	sheet_text(s, "device", NULL, f->on_cpu ? "cpu" : "gpu");
	sheet_cell(s, "block_nbytes", NULL, true, "%" PRIu64, run->block_nbytes);
	sheet_cell(s, "text_nbytes", NULL, true, "%" PRIu64, f->text_nbytes);
	sheet_number(s, "median_us", "time us", f->time.median_ns / 1e3, 1);
	sheet_number(s, "least_us", NULL, f->time.least_ns / 1e3, 1);
	sheet_number(s, "greatest_us", NULL, f->time.greatest_ns / 1e3, 1);
	sheet_gbps(s, "gbps", "GB/s of text", gbps(f));
	sheet_number(s, "times_first", "x first", first > 0 ? gbps(f) / first : 0, 2);
	sheet_cell(s, "nchecks", NULL, true, "%u", f->nchecks);
	sheet_cell(s, "is_right", NULL, true, "%s", f->is_right ? "true" : "false");
	sheet_cell(s, NULL, "checks", true, f->is_right ? "%u" : "WRONG", f->nchecks);
	sheet_text(s, NULL, "idea", f->idea);
	sheet_text(s, "gpu", NULL, run->gpu);
	sheet_cell(s, "versions", NULL, false, "%s, gpustat-bench " PACKAGE_VERSION, run->versions);
	sheet_text(s, "date", NULL, date);
}

static void print_heading(const struct inflate_run *run, const char *date)
{
	char text[BENCH_N_NBYTES], block[BENCH_N_NBYTES];

	printf("inflate, %s, %s, %s\n", run->gpu, run->versions, date);
	printf("%s bytes of log lines in blocks of %s, packed %.2f times by zlib's level 6\n",
	       bench_n_text(run->text_nbytes, text), bench_n_text(run->block_nbytes, block),
	       (double)run->text_nbytes / (double)run->packed_nbytes);
}

enum status report_inflate(const struct inflate_run *run, const char *date, enum format format, struct fault *fault)
{
	struct sheet sheet;

	if (format == FORMAT_TABLE)
		print_heading(run, date);
	sheet_init(&sheet, format, run->nfigures);
	for (size_t i = 0; i < run->nfigures; i++)
		add_figure(&sheet, run, &run->figures[i], date);
	return sheet_print(&sheet, fault);
}

enum status report_inflate_verdict(const struct inflate_run *run, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES] = "rungs of inflate:";
	bool is_right = true;

	for (size_t i = 0; i < run->nfigures; i++) {
		const struct inflate_figure *f = &run->figures[i];
		size_t nused = strlen(words);
		if (!f->is_right)
			snprintf(words + nused, sizeof words - nused, " %s", f->rung);
		is_right = is_right && f->is_right;
	}
	return is_right ? STATUS_OK : fault_set(fault, STATUS_WRONG_RESULT, 0, words);
}
