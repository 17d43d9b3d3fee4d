/* SPDX-License-Identifier: MIT
 *
 * test_timeline.c - what spans come to, and the percentages made from that; and the timeline: a bar
 * for each span, in well-formed XML.
 */
#include "bench/pipeline/pipeline.h"
#include "bench/report/report.h"
#include "svg_test.h"
#include "tap.h"
#include "bench/report/timeline.h"

#define MS 1e6

static bool near(double a, double b)
{
	return a > b ? !(a - b > 1e-9 * a) : !(b - a > 1e-9 * b);
}

/* ---- lanes and figures ---- */

static struct lane *lane_of(struct trace *t, const char *device)
{
	struct lane *lane = trace_lane(t, device);

	if (!lane)
		bail("no lane");
	return lane;
}

static struct stage_figure figure(const struct trace *t, const char *device, enum stage stage)
{
	struct stage_figure f;

	is_int(STATUS_OK, trace_figure(t, device, stage, &f), "%s of %s", stage_name(stage),
	       device);
	return f;
}

static void test_figures(void)
{
	struct trace t;
	struct stage_figure f;

	if (trace_init(&t, 3) != STATUS_OK)
		bail("out of memory");
	struct lane *a = lane_of(&t, "cpu"), *b = lane_of(&t, "cpu"), *g = lane_of(&t, "gpu");
	ok(!trace_lane(&t, "cpu"), "no more lanes than asked for");
	is_int(1, b->number, "the second lane of a device");
	is_int(0, g->number, "the first of another");

	lane_add(a, STAGE_MAP, 0, 100, 0, 10);
	lane_add(a, STAGE_MAP, 2, 300, 30, 50);
	lane_add(a, STAGE_FOLD, 2, 300, 50, 60);
	lane_add(b, STAGE_MAP, 1, 100, 5, 35);
	lane_add(b, STAGE_MAP, 1, 100, 40, 45); /* once more, within a's */
	lane_add(g, STAGE_MAP, 3, 100, 0, 1000);

	f = figure(&t, "cpu", STAGE_MAP);
	is_uint(4, f.nspans, "spans are counted");
	is_uint(500, f.nbytes, "a chunk's bytes count once in a stage");
	ok(near(f.sum_ns, 65), "the sum of all spans");
	ok(near(f.busy_ns, 50), "what overlaps counts once, and so does what lies within another");
	ok(near(f.median_ns, 15), "of four, the mean of the middle two");
	ok(near(f.lanes_gbps, 400. / 30 + 100. / 35), "the lanes' own speeds add up");
	f = figure(&t, "cpu", STAGE_FOLD);
	is_uint(300, f.nbytes, "another stage of the chunk has the bytes, too");
	ok(near(f.busy_ns, 10) && near(f.median_ns, 10), "one span");
	f = figure(&t, "gpu", STAGE_MAP);
	ok(f.nspans == 1 && near(f.busy_ns, 1000), "devices are apart");
	f = figure(&t, "cpu", STAGE_WRITE);
	ok(f.nspans == 0 && !(f.busy_ns > 0) && !(f.median_ns > 0), "nothing at all");
	a->lacks_memory = true;
	is_int(STATUS_NO_MEMORY, trace_figure(&t, "cpu", STAGE_MAP, &f), "a lost span is told");
	trace_free(&t);
}

static void test_gap(void)
{
	struct trace t;

	if (trace_init(&t, 1) != STATUS_OK)
		bail("out of memory");
	struct lane *lane = lane_of(&t, "cpu");
	for (int i = 0; i < 5000; i++) /* more than are made room for at first */
		lane_add(lane, STAGE_READ, (uint64_t)i, 7, 10. * i, 10. * i + 4);
	struct stage_figure f = figure(&t, "cpu", STAGE_READ);
	ok(f.nspans == 5000 && f.nbytes == 35000 && near(f.busy_ns, 20000) && near(f.sum_ns, 20000),
	   "gaps do not count");
	trace_free(&t);
}

/* ---- percentages ---- */

static void stage_put(struct pipeline_run *run, const char *device, enum stage stage, double gbps)
{
	struct pipeline_stage *s = &run->stages[run->nstages++];

	s->device = device;
	s->stage = stage;
	s->apart_gbps = gbps;
}

static void test_ceilings(void)
{
	struct pipeline_run run = {0};

	ok(!(pipeline_percent(&run, 10) > 0), "without ceilings there are no percentages");
	pipeline_add_copies(&run, 50, 40, 80, 0);
	is_uint(1, run.nceilings, "nothing comes back: only the way up limits");
	ok(near(pipeline_percent(&run, 25), 50), "half of it");

	run = (struct pipeline_run){0};
	pipeline_add_copies(&run, 50, 40, 80, 3); /* 3 bytes back for each */
	is_uint(3, run.nceilings, "up, back, both");
	ok(near(run.ceilings[1].gbps, 40. / 3) && near(run.ceilings[2].gbps, 20), "in input");
	is_string("copy back", run.ceilings[run.slowest].name, "the slowest");
	ok(near(pipeline_percent(&run, 40. / 3), 100), "is what percentages are of");

	run = (struct pipeline_run){0};
	pipeline_add_copies(&run, 50, 50, 60, 1);
	is_string("copy both ways", run.ceilings[run.slowest].name, "or both at once");
}

static void test_apart(void)
{
	struct pipeline_run run = {.nthreads = 4, .nfeeders = 2, .ngpus = 2};

	ok(!(pipeline_apart_gbps(&run) > 0), "nothing timed, nothing said");
	stage_put(&run, "cpu", STAGE_READ, 20);
	stage_put(&run, "cpu", STAGE_MAP, 20);
	ok(near(pipeline_apart_gbps(&run), 10), "a CPU does one after the other");
	stage_put(&run, "cpu", STAGE_WRITE, 5);
	ok(near(pipeline_apart_gbps(&run), 5), "writing is done in turns");
	run.stages[2].apart_gbps = 50;
	ok(near(pipeline_apart_gbps(&run), 1 / (0.1 + 0.02 / 4)), "and costs one thread its time");

	run.nstages = 0;
	stage_put(&run, "gpu", STAGE_READ, 45);
	stage_put(&run, "gpu", STAGE_COPY_UP, 25);
	stage_put(&run, "gpu", STAGE_MAP, 1);
	ok(near(pipeline_apart_gbps(&run), 45), "a GPU's slowest counts; each has its own bus");
	stage_put(&run, "gpu", STAGE_RECORDS, 60);
	stage_put(&run, "gpu", STAGE_FIELDS, 30);
	ok(near(pipeline_apart_gbps(&run), 40), "kernels share the device");
	stage_put(&run, "cpu", STAGE_READ, 10);
	ok(near(pipeline_apart_gbps(&run), 50), "CPUs and GPUs add up");
}

/* ---- the picture ---- */

static struct pipeline_run drawn = {
	.nbytes = 1500000,
	.nthreads = 1,
	.nfeeders = 1,
	.ngpus = 1,
	.gpu = "GPU <&\"'> \x01",
	.why = "a test",
	.wall = {20 * MS, 19 * MS, 22 * MS},
	.traced_ns = 21 * MS,
};

static enum status write_timeline(const char *path, struct fault *fault)
{
	return timeline_write(&drawn, "2026-11-21", TIMELINE_MIDDLE, path, fault);
}

/* n chunks, one after the other, from 100 ms on, of 2 ms: half read, half mapped. */
static void make_trace(struct trace *t, size_t n)
{
	if (trace_init(t, 2) != STATUS_OK)
		bail("out of memory");
	struct lane *lane = lane_of(t, "cpu");
	t->begin_ns = 100 * MS;
	for (size_t i = 0; i < n; i++) {
		double begin = 100 * MS + (double)i * 2 * MS;
		lane_add(lane, STAGE_READ, i, 10, begin, begin + MS);
		lane_add(lane, STAGE_MAP, i, 10, begin + MS, begin + 2 * MS);
	}
	t->end_ns = 100 * MS + (double)n * 2 * MS;
}

static void test_window(void)
{
	struct trace t;
	struct timeline_window w;

	make_trace(&t, 1000);
	w = timeline_choose(&t, 2000, TIMELINE_MIDDLE);
	ok(near(w.begin_ns, t.begin_ns) && near(w.end_ns, t.end_ns), "all of it");
	w = timeline_choose(&t, 1999, TIMELINE_MIDDLE);
	ok(w.begin_ns > t.begin_ns && w.end_ns < t.end_ns, "one too many: a part");
	w = timeline_choose(&t, 200, TIMELINE_MIDDLE);
	ok(near(w.begin_ns, 1000 * MS) && near(w.end_ns, 1200 * MS), "a tenth, from the middle");
	w = timeline_choose(&t, 200, 0);
	ok(near(w.begin_ns, 100 * MS) && near(w.end_ns, 300 * MS), "from the beginning");
	w = timeline_choose(&t, 200, 1000000);
	ok(near(w.begin_ns, 1900 * MS) && near(w.end_ns, 2100 * MS), "from beyond the end: the last");
	trace_free(&t);
}

static void test_picture(void)
{
	const char *text;
	struct lane *gpu;

	make_trace(&drawn.trace, 5);
	gpu = lane_of(&drawn.trace, "gpu");
	lane_add(gpu, STAGE_READ, 5, 10, 100 * MS, 101 * MS);
	lane_add(gpu, STAGE_COPY_UP, 5, 10, 101 * MS, 102 * MS);
	lane_add(gpu, STAGE_COPY_BACK, 5, 10, 104 * MS, 104 * MS); /* of no length: shown, too */
	lane_add(gpu, STAGE_FOLD, 5, 10, 102 * MS, 105 * MS);
	text = svg_drawn(write_timeline);
	ok(is_well_formed(text), "the timeline is well-formed");
	is_uint(14, count(text, "class=\"bar\""), "a bar for each span");
	is_uint(5, count(text, "<title>map "), "with its stage");
	is_uint(1, count(text, "<title>fold 5<"), "and its chunk");
	is_uint(1, count(text, ">CPU threads<"), "lanes of CPUs");
	is_uint(1, count(text, ">streams of GPUs, copying up<"), "of streams, for each place");
	is_uint(0, count(text, ">streams of GPUs, kernels<"), "where anything was done");
	is_uint(1, count(text, ">read<"), "the legend has each stage once");
	is_uint(0, count(text, ">emit<"), "and no others");
	is_uint(1, count(text, ">10</text>"), "the axis ends at 10 ms");
	ok(strstr(text, "GPU &#60;&#38;&#34;&#39;&#62; \xef\xbf\xbd") != NULL, "names are escaped");
	ok(!strstr(text, "href") && !strstr(text, "url(") && !strstr(text, "<style"),
	   "it asks for nothing from elsewhere");
	trace_free(&drawn.trace);
}

static void test_large_picture(void)
{
	const char *text;
	size_t nbars;

	make_trace(&drawn.trace, 10 * TIMELINE_NBARS);
	text = svg_drawn(write_timeline);
	nbars = count(text, "class=\"bar\"");
	ok(is_well_formed(text), "a long one is well-formed");
	ok(nbars >= TIMELINE_NBARS && nbars <= TIMELINE_NBARS + 2, "and has no more bars: %zu",
	   nbars);
	trace_free(&drawn.trace);
	text = svg_drawn(write_timeline);
	ok(is_well_formed(text) && !strstr(text, "nan"), "nothing at all");
}

static void test_faults(void)
{
	struct fault fault = {0};

	is_int(STATUS_OPEN, write_timeline("/nonexistent/x.svg", &fault), "no folder");
	is_string("/nonexistent/x.svg", fault.file, "it is named");
	if (access("/dev/full", W_OK) != 0) {
		skip(1, "no /dev/full");
		return;
	}
	is_int(STATUS_WRITE, write_timeline("/dev/full", &fault), "a full disk");
}

int main(void)
{
	plan_lazy();
	is_checked_xml();
	test_figures();
	test_gap();
	test_ceilings();
	test_apart();
	test_window();
	test_picture();
	test_large_picture();
	test_faults();
	return done();
}
