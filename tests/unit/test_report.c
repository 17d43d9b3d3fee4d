/* SPDX-License-Identifier: MIT
 *
 * test_report.c - what the spans of a trace amount to, the percentages made from that, and a ladder's
 * figures and a trace as CSV, which bench/report/draw.py reads (tests/cli/draw.py).
 */
#include "bench/pipeline/pipeline.h"
#include "bench/report/report.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MS 1e6

static bool near(double a, double b)
{
	return a > b ? !(a - b > 1e-9 * a) : !(b - a > 1e-9 * b);
}

/* ---- lanes and figures ---- */

static struct lane *lane_of(struct trace *t, const char *device)
{
	struct lane *lane = trace_add_lane(t, device);

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
	ok(!trace_add_lane(&t, "cpu"), "no more lanes than asked for");
	is_int(1, b->number, "the second lane of a device");
	is_int(0, g->number, "the first of another");

	lane_add(a, STAGE_MAP, 0, 100, 0, 10);
	lane_add(a, STAGE_MAP, 2, 300, 30, 50);
	lane_add(a, STAGE_FOLD, 2, 300, 50, 60);
	lane_add(b, STAGE_MAP, 1, 100, 5, 35);
	lane_add(b, STAGE_MAP, 1, 100, 40, 45); /* chunk 1 again, during a span of lane a */
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
	pipeline_add_copies(&run, 50, 40, 80, 3); /* 3 bytes of output per input byte */
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

/* ---- CSV ---- */

#define N (UINT64_C(1) << 29)
#define FIGURE(rung_, type_, fold_, n_, us, right)                                              \
	{.rung = rung_, .idea = "a < b && \"c\"", .type = BENCH_##type_, .fold = BENCH_##fold_, \
	 .n = n_, .nbytes = 4 * (n_), .is_right = right, .nchecks = 9,                          \
	 .time = {1e3 * (us), 0.9e3 * (us), 1.2e3 * (us)},                                      \
	 .first = 1, .cpu = BENCH_NONE, .cub = BENCH_NONE}

static struct bench_figure figures[] = {
	FIGURE("simple", FLOAT32, SUM, 2048, 7.5, true),
	FIGURE("shipped", FLOAT32, MIN, N, 480, true),
	FIGURE("warp_shuffle", INT32, SUM, N, 481, false),
	FIGURE("not_timed", INT32, SUM, N, 0, true),
};

static const struct bench_run ladder = {
	.ladder = BENCH_REDUCE,
	.gpu = "GPU <&\"'>, \x01\xff",
	.versions = "CUDA 13.0, driver 13.0",
	.peak_gbps = 4814,
	.ceiling_gbps = 4600,
	.nfigures = COUNT(figures),
	.figures = figures,
};

static const char ladder_csv[] =
	"ladder,type,fold,rung,idea,device,n,nbytes,median_us,least_us,greatest_us,gbps,percent_of_peak,"
	"percent_of_ceiling,times_first,times_cpu,times_cub,nchecks,is_right,peak_gbps,ceiling_gbps,gpu,"
	"versions,date\n"
#define IDEA "\"a < b && \"\"c\"\"\",gpu,"
#define MACHINE                                                                     \
	"4814.0,4600.0,\"GPU <&\"\"'>, \x01\xff\",\"CUDA 13.0, driver 13.0, " \
	"gpustat-bench " PACKAGE_VERSION "\",2026-11-21\n"
	"reduce,float32,sum,simple," IDEA
	"2048,8192,7.500,6.750,9.000,1.092,0.0,0.0,,,,9,true," MACHINE
	"reduce,float32,min,shipped," IDEA
	"536870912,2147483648,480.000,432.000,576.000,4473.9,92.9,97.3,1.00,,,9,true," MACHINE
	"reduce,int32,sum,warp_shuffle," IDEA
	"536870912,2147483648,481.000,432.900,577.200,4464.6,92.7,97.1,1.00,,,9,false," MACHINE
	"reduce,int32,sum,not_timed," IDEA "536870912,2147483648,,,,,,,,,,9,true," MACHINE;

static struct pipeline_run traced = {
	.nbytes = 1500000, .nthreads = 1, .nfeeders = 2, .ngpus = 1, .gpu = "GPU, \"x\""};

static const char trace_csv[] =
	"device,lane,place,stage,chunk,nbytes,begin_us,end_us,threads,gpus,streams,gpu,versions,date\n"
	"all,,,whole,,1500000,0.000,5000.000,1,1,2,\"GPU, \"\"x\"\"\","
	"gpustat-bench " PACKAGE_VERSION ",2026-11-21\n"
	"cpu,0,host,read,0,10,0.000,1000.000,,,,,,\n"
	"cpu,0,host,map,0,10,1000.000,1500.250,,,,,,\n"
	"gpu,0,up,copy_up,1,10,-0.500,2000.000,,,,,,\n"
	"gpu,0,kernels,records,1,10,2000.000,2000.000,,,,,,\n"
	"gpu,0,back,copy_back,1,10,2000.000,3000.000,,,,,,\n";

static enum status print_ladder(struct fault *fault)
{
	return report_run(&ladder, "2026-11-21", FORMAT_CSV, fault);
}

static enum status print_trace(struct fault *fault)
{
	return report_trace(&traced, "2026-11-21", fault);
}

/* Returns what print writes to standard output; valid until the next call. */
static const char *printed(enum status (*print)(struct fault *fault))
{
	static char text[1 << 16];
	char path[] = "/tmp/test_report.XXXXXX";
	struct fault fault = {0};
	int fd = mkstemp(path), saved;
	ssize_t nread;

	if (fd < 0 || output_redirect(path, O_TRUNC, &saved, &fault) != STATUS_OK)
		bail("no temporary file: %s", strerror(errno));
	enum status status = print(&fault);
	output_restore(saved);
	is_int(STATUS_OK, status, "it is written");
	nread = read(fd, text, sizeof text - 1);
	text[nread > 0 ? nread : 0] = '\0';
	close(fd);
	unlink(path);
	return text;
}

static void test_csv(void)
{
	is_string(ladder_csv, printed(print_ladder), "a ladder as CSV");
	if (trace_init(&traced.trace, 2) != STATUS_OK)
		bail("out of memory");
	struct lane *cpu = lane_of(&traced.trace, "cpu"), *gpu = lane_of(&traced.trace, "gpu");
	traced.trace.begin_ns = 100 * MS;
	traced.trace.end_ns = 105 * MS;
	lane_add(cpu, STAGE_READ, 0, 10, 100 * MS, 101 * MS);
	lane_add(cpu, STAGE_MAP, 0, 10, 101 * MS, 101.50025 * MS);
	lane_add(gpu, STAGE_COPY_UP, 1, 10, 99.9995 * MS, 102 * MS);
	lane_add(gpu, STAGE_RECORDS, 1, 10, 102 * MS, 102 * MS);
	lane_add(gpu, STAGE_COPY_BACK, 1, 10, 102 * MS, 103 * MS);
	is_string(trace_csv, printed(print_trace), "a trace as CSV");
	trace_free(&traced.trace);
}

static void test_redirection(void)
{
	struct fault fault = {0};
	int saved;

	is_int(STATUS_OPEN, output_redirect("/nonexistent/x.csv", O_TRUNC, &saved, &fault),
	       "no such folder");
	is_string("/nonexistent/x.csv", fault.file, "it is named");
	is_int(ENOENT, fault.error_number, "with the cause");
}

/* ---- the verdict ---- */

static void test_verdict(void)
{
	struct bench_run right = ladder;
	struct fault fault = {0};

	is_int(STATUS_WRONG_RESULT, report_verdict(&ladder, &fault), "a wrong rung is a fault");
	is_string("1 of 4 rungs: warp_shuffle of int32", fault.detail, "it is named");
	right.nfigures = 2;
	is_int(STATUS_OK, report_verdict(&right, &fault), "the others are right");
}

int main(void)
{
	plan_lazy();
	test_figures();
	test_gap();
	test_ceilings();
	test_apart();
	test_csv();
	test_redirection();
	test_verdict();
	return done();
}
