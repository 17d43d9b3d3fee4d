/* SPDX-License-Identifier: MIT
 *
 * test_chart.c - the bar chart is well-formed XML, with a bar for each rung, whatever the
 * names; and what report.h says of a run.
 */
#include "bench/report/chart.h"
#include "bench/report/report.h"
#include "bench/report/svg.h"
#include "svg_test.h"
#include "tap.h"

#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define N (UINT64_C(1) << 29)

#define FIGURE(rung_, type_, fold_, n_, us, right)                                          \
	{.rung = rung_, .idea = "a < b && \"c\"", .type = BENCH_##type_, .fold = BENCH_##fold_, \
	 .n = n_, .nbytes = 4 * (n_), .is_right = right, .nchecks = 9,                      \
	 .time = {1e3 * (us), 0.9e3 * (us), 1.2e3 * (us)},                                  \
	 .first = 0, .cpu = BENCH_NONE, .cub = BENCH_NONE}

static struct bench_figure figures[] = {
	FIGURE("simple", FLOAT32, SUM, 2048, 7.5, true),
	FIGURE("warp_shuffle", FLOAT32, SUM, N, 480, true),
	FIGURE("shipped", FLOAT32, MIN, N, 470, true),
	FIGURE("cub", FLOAT32, SUM, N, 479, true),
	FIGURE("warp_shuffle", INT32, SUM, N, 481, false),
	FIGURE("not_timed", INT32, SUM, N, 0, true),
};

static struct bench_run run = {
	.ladder = BENCH_REDUCE,
	.gpu = "GPU <&\"'> \x01\xff \xc3\xa9",
	.versions = "CUDA & driver",
	.peak_gbps = 4814,
	.ceiling_gbps = 4600,
	.nfigures = COUNT(figures),
	.figures = figures,
};

/* ---- the chart ---- */

static enum status write_chart(const char *path, struct fault *fault)
{
	return chart_write(&run, "2026-11-21", path, fault);
}

static const char *draw(void)
{
	return svg_drawn(write_chart);
}

static void test_chart(void)
{
	const char *text = draw();

	ok(is_well_formed(text), "the chart is well-formed");
	is_uint(run.nfigures, count(text, "class=\"bar\""), "a bar for each rung");
	is_uint(2, count(text, ">warp_shuffle<"), "with its name");
	is_uint(1, count(text, ">simple, n = 2Ki<"), "and its n, where it is another");
	is_uint(1, count(text, ">shipped, min<"), "and its fold");
	is_uint(1, count(text, ">4474 GB/s, 92.9% of peak<"), "and its speed");
	is_uint(1, count(text, ">WRONG "), "one is wrong");
	is_uint(1, count(text, ">not timed<"), "one was not timed");
	is_uint(1, count(text, ">float32, n = 512Mi<"), "a panel of float32");
	is_uint(1, count(text, ">int32, n = 512Mi<"), "a panel of int32");
	is_uint(2, count(text, ">peak: 4814<"), "both with the peak");
	is_uint(2, count(text, ">read, measured: 4600<"), "and the ceiling");
	ok(strstr(text, "GPU &#60;&#38;&#34;&#39;&#62; \xef\xbf\xbd\xef\xbf\xbd \xc3\xa9") != NULL,
	   "what XML has no place for is escaped");
	ok(!strstr(text, "href") && !strstr(text, "url(") && !strstr(text, "<script") &&
		   !strstr(text, "<style"), "it asks for nothing from elsewhere");
}

static void test_without_limits(void)
{
	struct bench_run saved = run;
	const char *text;

	run.peak_gbps = run.ceiling_gbps = 0;
	text = draw();
	ok(is_well_formed(text) && !strstr(text, "peak") && !strstr(text, "nan"),
	   "without a peak nothing is said of it");
	run.nfigures = 0;
	ok(is_well_formed(draw()), "no rungs at all");
	run = saved;
}

static void test_faults(void)
{
	struct fault fault = {0};

	is_int(STATUS_OPEN, svg_try("/nonexistent/chart.svg", &fault), "no such folder");
	is_string("/nonexistent/chart.svg", fault.file, "it is named");
	is_int(STATUS_OPEN, chart_write(&run, "", "/nonexistent/chart.svg", &fault), "when writing");
	if (access("/dev/full", W_OK) != 0) {
		skip(2, "no /dev/full");
		return;
	}
	is_int(STATUS_WRITE, chart_write(&run, "", "/dev/full", &fault), "a full disk");
	is_int(ENOSPC, fault.error_number, "and its cause");
}

/* ---- the verdict ---- */

static void test_verdict(void)
{
	struct bench_run first = run;
	struct fault fault = {0};

	is_int(STATUS_WRONG_RESULT, report_verdict(&run, &fault), "a wrong rung is a fault");
	is_string("1 of 6 rungs: warp_shuffle of int32", fault.detail, "it is named");
	first.nfigures = 4;
	is_int(STATUS_OK, report_verdict(&first, &fault), "the others are right");
}

int main(void)
{
	plan_lazy();
	is_checked_xml();
	test_chart();
	test_without_limits();
	test_faults();
	test_verdict();
	return done();
}
