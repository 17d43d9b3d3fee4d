/* SPDX-License-Identifier: MIT
 *
 * main.c - gpustat-bench at a glance. Only a build with CUDA has the ladders and ceilings.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "bench/ladder/bench.h"
#include "bench/run/bench_options.h"
#include "io/message.h"
#include "io/output.h"
#include "io/table.h"
#include "bench/pipeline/pipeline.h"
#include "bench/report/report.h"
#ifdef HAVE_CUDA
#include "bench/ladder/ceilings.h"
#include "bench/ladder/group_bench.h"
#include "bench/ladder/inflate_bench.h"
#include "bench/ladder/ladder_bench.h"
#endif

#define PIPELINE_NREPEATS 5

static const char *today(void)
{
	static char text[16];
	time_t now = time(NULL);
	struct tm utc;

	return gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d", &utc) ? text : "";
}

#ifdef HAVE_CUDA
static enum status run_ladder(const struct bench_options *o, struct fault *fault)
{
	struct ladder_request request = {
		.ladder = o->command == COMMAND_REDUCE ? BENCH_REDUCE : BENCH_SCAN,
		.types = o->types,
		.nrungs = o->nrungs,
		.rungs = o->rungs,
		.n = o->n,
		.repeat = o->repeat,
	};
	struct bench_run run = {0};
	enum status status = ladder_bench(&request, &run, fault);

	if (status == STATUS_OK)
		status = report_run(&run, today(), o->format, fault);
	if (status == STATUS_OK)
		status = report_verdict(&run, fault);
	bench_run_free(&run);
	return status;
}

static enum status run_work(const struct bench_options *o, struct fault *fault)
{
	const struct inflate_request inflate = {o->nrungs, o->rungs, o->n, o->block_nbytes, (unsigned)o->repeat};
	const struct group_request group = {o->nrungs, o->rungs, o->n, o->ngroups, (unsigned)o->repeat};
	static struct work_run run;
	enum status status = o->command == COMMAND_INFLATE ? inflate_bench(&inflate, &run, fault)
							   : group_bench(&group, &run, fault);

	if (status == STATUS_OK)
		status = report_work(&run, today(), o->format, fault);
	return status == STATUS_OK ? report_work_verdict(&run, fault) : status;
}

static enum status run_ceilings(const struct bench_options *o, struct fault *fault)
{
	struct bench_ceiling ceilings[CEILINGS_NMAX];
	size_t nceilings = CEILINGS_NMAX;
	enum status status = ceilings_measure(ceilings, &nceilings, fault);

	return status == STATUS_OK ? report_ceilings(ceilings, nceilings, o->format, fault) : status;
}
#else
static enum status run_ladder(const struct bench_options *o, struct fault *fault)
{
	(void)o;
	return fault_set(fault, STATUS_NO_GPU, 0, "this gpustat-bench was built without CUDA");
}

static enum status run_work(const struct bench_options *o, struct fault *fault)
{
	return run_ladder(o, fault);
}

static enum status run_ceilings(const struct bench_options *o, struct fault *fault)
{
	return run_ladder(o, fault);
}
#endif

/* Whether a trace can be written to path: asked before minutes of measuring. The file's content stays. */
static enum status check_trace(const char *path, struct fault *fault)
{
	int saved;
	enum status status = output_redirect(path, O_APPEND, &saved, fault);

	if (status == STATUS_OK)
		output_restore(saved);
	return status;
}

static enum status write_trace(const struct pipeline_run *run, const char *date, const char *path,
			       struct fault *fault)
{
	int saved;
	enum status status = output_redirect(path, O_TRUNC, &saved, fault);

	if (status != STATUS_OK)
		return status;
	status = report_trace(run, date, fault);
	if (status != STATUS_OK)
		fault->file = path;
	output_restore(saved);
	return status;
}

static enum status measure_pipeline(const struct bench_options *o, struct options *gpustat,
				    struct fault *fault)
{
	struct pipeline_request request = {
		.options = gpustat,
		.output = o->output,
		.repeat = o->repeat ? o->repeat : PIPELINE_NREPEATS,
	};
	static struct pipeline_run run;
	enum status status = o->trace ? check_trace(o->trace, fault) : STATUS_OK;

	if (status == STATUS_OK)
		status = pipeline_measure(&request, &run, fault);
	if (status == STATUS_OK)
		status = report_pipeline(&run, today(), o->format, fault);
	if (status == STATUS_OK && o->trace)
		status = write_trace(&run, today(), o->trace, fault);
	pipeline_run_free(&run);
	return status;
}

static enum status run_pipeline(const struct bench_options *o, struct fault *fault)
{
	static struct options gpustat;
	enum status status = options_parse(&gpustat, o->nwords, o->words, fault);

	if (status == STATUS_OK && gpustat.about != ABOUT_NOTHING)
		status = fault_set_usage(fault, "pipeline times a run, and that is none");
	if (status == STATUS_OK)
		status = measure_pipeline(o, &gpustat, fault);
	if (status == STATUS_OK)
		options_free(&gpustat);
	return status;
}

static enum status run(struct bench_options *o, int argc, char **argv, struct fault *fault)
{
	enum status status = bench_options_parse(o, argc, argv, fault);

	if (status != STATUS_OK)
		return status;
	if (option_print_about(&bench_options_table, o->about))
		return output_flush(fault);
	if (o->command == COMMAND_MODEL)
		return report_model((unsigned)o->n, o->format, fault);
	if (o->command == COMMAND_INFLATE || o->command == COMMAND_GROUP)
		return run_work(o, fault);
	if (o->command == COMMAND_CEILINGS)
		return run_ceilings(o, fault);
	return o->command == COMMAND_PIPELINE ? run_pipeline(o, fault) : run_ladder(o, fault);
}

int main(int argc, char **argv)
{
	static struct bench_options options;
	static struct fault fault;
	int exit_status = 0;

	fd_open_standard();
	message_program(argc > 0 ? argv[0] : "gpustat-bench");
	if (fault_complete(&fault, run(&options, argc, argv, &fault)) != STATUS_OK) {
		exit_status = message_fault(&fault);
		if (options.command == COMMAND_PIPELINE)
			_exit(exit_status); /* other threads may still be running */
	}
	bench_options_free(&options);
	return exit_status;
}
