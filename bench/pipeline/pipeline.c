/* SPDX-License-Identifier: MIT
 *
 * pipeline.c - see pipeline.h.
 *
 * The run uses gpustat's own code, from the options to the engine; only its workers are wrapped
 * (traced_worker.h). Together: the whole run, several times without spans for its time and once
 * with spans. Apart: lockstep.h, for CPUs with all threads; for a GPU with all threads for reading
 * and with one for the rest, so that one stream has the device and the bus to itself. Compressed
 * input has no figures apart: threads that decode sections wait for each other, not for a barrier.
 */
#include "bench/pipeline/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "engine/engine.h"
#include "fold/groups.h"
#include "io/input.h"
#include "bench/pipeline/lockstep.h"
#include "query/query.h"
#include "bench/pipeline/read_ceiling.h"
#include "run/device_choice.h"
#include "bench/ladder/timing.h"
#include "engine/total.h"
#include "bench/pipeline/traced_worker.h"
#ifdef HAVE_CUDA
#include "bench/ladder/ceilings.h"
#include "kernels/worker/gpu.h"
#endif

#define APART_NBYTES ((uint64_t)1 << 30) /* of input that the stages process apart */

/* What one pass over the input owns. */
struct pass {
	struct input *input;
	struct query query;
	struct device_choice choice;
	struct total total;
};

/* ---- one pass ---- */

static bool is_gpu(const struct worker_pool *s)
{
	return strcmp(s->ops->name, worker_cpu.name) != 0;
}

/* Removes the pools of GPUs that the driver does not have. The run waits for the others. */
static void settle_choice(struct device_choice *choice)
{
	size_t n = 0;

	for (size_t i = 0; i < choice->npools; i++) {
#ifdef HAVE_CUDA
		if (choice->pools[i].optional && choice->pools[i].setup.device >= gpu_count())
			continue;
#endif
		choice->pools[n] = choice->pools[i];
		choice->pools[n++].optional = false;
	}
	choice->npools = n;
}

static enum status refuse_input(struct fault *fault)
{
	return fault_set_usage(fault, "pipeline reads its input several times: name files");
}

static enum status pass_open(struct pass *p, struct options *o, struct fault *fault)
{
	enum status status = input_open(&p->input, o->paths, o->npaths, o->nthreads, fault);

	if (status == STATUS_OK && (o->nthreads ? o->nthreads : cores_count()) > 1)
		status = input_share_decoding(p->input);
	if (status == STATUS_OK)
		status = query_make(&p->query, o, p->input, fault);
	if (status == STATUS_OK && !input_is_repeatable(p->input))
		status = refuse_input(fault);
	if (status == STATUS_OK)
		status = devices_choose(&p->choice, o, &p->query, p->input, fault);
	if (status == STATUS_OK)
		devices_set_up_input(&p->choice, &p->query.plan, p->input);
	if (status == STATUS_OK && groups_plan(&p->query.plan, 0) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK && total_init(&p->total, &p->query.plan) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	settle_choice(&p->choice);
	return status;
}

static void pass_close(struct pass *p)
{
	total_free(&p->total);
	group_store_free(p->query.plan.groups);
	query_free(&p->query);
	input_close(p->input);
}

enum status output_redirect(const char *path, int flags, int *saved, struct fault *fault)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	bool redirected;

	*saved = fd >= 0 && fflush(stdout) == 0 ? dup(STDOUT_FILENO) : -1;
	redirected = *saved >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
	if (!redirected) {
		fault_set(fault, STATUS_OPEN, errno, NULL);
		fault->file = path;
	}
	if (fd >= 0)
		close(fd);
	return redirected ? STATUS_OK : STATUS_OPEN;
}

void output_restore(int saved)
{
	(void)dup2(saved, STDOUT_FILENO);
	close(saved);
}

/* ---- together ---- */

static int count_workers(const struct device_choice *choice)
{
	int n = 0;

	for (size_t i = 0; i < choice->npools; i++)
		n += choice->pools[i].nthreads * (choice->pools[i].reads_ahead ? 2 : 1);
	return n;
}

/* Refuses a run in which CPUs did the work of a failed GPU. */
static enum status check_pools(const struct device_choice *choice, struct fault *fault)
{
	for (size_t i = 0; i < choice->npools; i++) {
		if (choice->pools[i].work_fault.status == STATUS_OK)
			continue;
		*fault = choice->pools[i].work_fault;
		return fault->status;
	}
	return STATUS_OK;
}

static enum status run_engine(struct pass *p, struct trace *trace, bool spans, bool may_guess,
			      bool *all_ended, struct fault *fault)
{
	struct device_choice *choice = &p->choice;
	enum status status = trace_init(trace, (size_t)count_workers(choice));

	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	if (spans)
		input_watch_sections(p->input, traced_section);
	for (size_t i = 0; i < choice->npools; i++)
		choice->pools[i].ops = traced_ops(choice->pools[i].ops);
	traced_begin(trace, count_workers(choice), spans);
	status = engine_run(&p->query.plan, p->input, choice->pools, choice->npools, &p->total,
			    may_guess, all_ended, fault);
	return status == STATUS_OK ? check_pools(choice, fault) : status;
}

/* Does one whole run. STATUS_MISGUESSED: a guess was wrong; *may_guess is false now, run again. */
static enum status run_once(const struct pipeline_request *request, struct trace *trace, bool spans,
			    bool *may_guess, struct fault *fault)
{
	struct pass pass = {0};
	enum status status = pass_open(&pass, request->options, fault);
	bool all_ended = true;
	int saved;

	if (status == STATUS_OK)
		status = output_redirect(request->output, O_TRUNC, &saved, fault);
	if (status != STATUS_OK)
		return status;
	status = run_engine(&pass, trace, spans, *may_guess, &all_ended, fault);
	output_restore(saved);
	*may_guess &= status != STATUS_MISGUESSED;
	if (all_ended && (status == STATUS_OK || status == STATUS_MISGUESSED))
		pass_close(&pass); /* otherwise the fault points into it */
	return status;
}

static enum status run_whole(const struct pipeline_request *request, struct trace *trace,
			     bool spans, bool *may_guess, struct fault *fault)
{
	enum status status = run_once(request, trace, spans, may_guess, fault);

	return status == STATUS_MISGUESSED ? run_once(request, trace, spans, may_guess, fault)
					   : status;
}

/* Times the runs without spans. */
static enum status time_whole(const struct pipeline_request *request, struct pipeline_run *run,
			      bool *may_guess, struct fault *fault)
{
	double ns[request->repeat];
	enum status status = STATUS_OK;

	for (unsigned i = 0; i < request->repeat && status == STATUS_OK; i++) {
		struct trace trace;
		status = run_whole(request, &trace, false, may_guess, fault);
		if (status != STATUS_OK)
			return status;
		ns[i] = trace.end_ns - trace.begin_ns;
		trace_free(&trace);
	}
	run->wall = timing_summary(ns, request->repeat);
	return status;
}

/* ---- apart ---- */

/* Returns the row of a stage; adds it if there is none. */
static struct pipeline_stage *stage_of(struct pipeline_run *run, const char *device,
				       enum stage stage)
{
	struct pipeline_stage *s = run->stages;

	while (s < run->stages + run->nstages && (strcmp(s->device, device) || s->stage != stage))
		s++;
	if (s == run->stages + run->nstages) {
		run->nstages++;
		s->device = device;
		s->stage = stage;
	}
	return s;
}

/* One thread at a time writes: the lanes' speeds do not add up. */
static double speed_apart(enum stage stage, const struct stage_figure *f)
{
	return stage == STAGE_WRITE ? trace_gbps(f->nbytes, f->sum_ns) : f->lanes_gbps;
}

/* Adds the figures of one device's stages to the rows, as apart or together. */
static enum status add_figures(struct pipeline_run *run, const struct trace *trace,
				const char *device, bool apart, struct fault *fault)
{
	for (int i = 0; i < STAGE_COUNT; i++) {
		enum stage stage = (enum stage)i;
		struct stage_figure f;
		if (trace_figure(trace, device, stage, &f) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		if (f.nspans == 0)
			continue;
		struct pipeline_stage *s = stage_of(run, device, stage);
		*(apart ? &s->apart : &s->together) = f;
		if (apart)
			s->apart_gbps = speed_apart(stage, &f);
		else
			s->together_gbps = trace_gbps(f.nbytes, f.busy_ns);
	}
	return STATUS_OK;
}

static enum status run_apart(const struct pipeline_request *request, struct pipeline_run *run,
			     size_t pool, int nthreads, bool reads_only, struct fault *fault)
{
	struct pass pass = {0};
	struct trace trace = {0};
	enum status status = pass_open(&pass, request->options, fault);
	int saved;

	if (status == STATUS_OK)
		status = output_redirect(request->output, O_TRUNC, &saved, fault);
	if (status != STATUS_OK)
		return status;
	struct lockstep_request lockstep = {
		.plan = &pass.query.plan,
		.input = pass.input,
		.pool = &pass.choice.pools[pool],
		.nthreads = nthreads,
		.nbytes = APART_NBYTES,
		.reads_only = reads_only,
	};
	if (trace_init(&trace, (size_t)nthreads) != STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	else
		status = lockstep_run(&lockstep, &trace, fault);
	output_restore(saved);
	if (status == STATUS_OK)
		status = add_figures(run, &trace, lockstep.pool->ops->name, true, fault);
	trace_free(&trace);
	if (status == STATUS_OK)
		pass_close(&pass);
	return status;
}

/* Times all pools apart, but of the GPUs, which are alike, only the first. */
static enum status time_apart(const struct pipeline_request *request, struct pipeline_run *run,
			      const struct device_choice *choice, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool has_gpu = false;

	for (size_t i = 0; i < choice->npools && status == STATUS_OK; i++) {
		const struct worker_pool *s = &choice->pools[i];
		if (!is_gpu(s)) {
			status = run_apart(request, run, i, s->nthreads, false, fault);
		} else if (!has_gpu) {
			has_gpu = true;
			status = run_apart(request, run, i, 1, false, fault);
			if (status == STATUS_OK)
				status = run_apart(request, run, i, run->nfeeders, true, fault);
		}
	}
	return status;
}

/* ---- ceilings ---- */

static enum status measure_reading(const struct pipeline_request *request, struct pipeline_run *run,
				   struct fault *fault)
{
	const struct options *o = request->options;
	size_t piece = run->nthreads ? run->cpu_chunk_nbytes : run->gpu_chunk_nbytes;
	double least_ns;
	uint64_t nbytes;
	enum status status = read_ceiling(o->paths, o->npaths, run->nthreads + run->nfeeders, piece,
					  request->repeat, &least_ns, &nbytes, fault);

	if (status == STATUS_OK)
		pipeline_add_ceiling(run, "read", trace_gbps(nbytes, least_ns));
	return status;
}

#ifdef HAVE_CUDA
static double value_of(const struct bench_ceiling *ceilings, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ceilings[i].name, name))
			return ceilings[i].value;
	return 0;
}

/* Adds the ceilings of the bus, unless CPUs work as well: then it limits only a part of the work.
 * Each GPU has its own bus. Packed text has half the bytes. */
static enum status measure_copies(struct pipeline_run *run, struct fault *fault)
{
	struct bench_ceiling c[CEILINGS_NMAX];
	size_t n = CEILINGS_NMAX;
	enum status status;

	if (!run->ngpus || run->nthreads)
		return STATUS_OK;
	status = ceilings_measure(c, &n, fault);
	if (status == STATUS_OK)
		pipeline_add_copies(run,
				    (run->packs ? 2 : 1) * run->ngpus * value_of(c, n, "host_to_device"),
				    run->ngpus * value_of(c, n, "device_to_host"),
				    run->ngpus * value_of(c, n, "both_ways"),
				    (double)run->output_nbytes / (double)run->nbytes);
	return status;
}
#else
static enum status measure_copies(struct pipeline_run *run, struct fault *fault)
{
	(void)run;
	(void)fault;
	return STATUS_OK;
}
#endif

/* ---- all ---- */

/* Describes the workers and their chunks. */
static void describe_choice(struct pipeline_run *run, const struct pass *pass)
{
	run->why = pass->choice.why;
	run->compressed = input_nbytes_left(pass->input) == UINT64_MAX;
	for (size_t i = 0; i < pass->choice.npools; i++) {
		const struct worker_pool *s = &pass->choice.pools[i];
		if (!is_gpu(s)) {
			run->nthreads += s->nthreads;
			run->cpu_chunk_nbytes = s->setup.chunk_nbytes;
			continue;
		}
#ifdef HAVE_CUDA
		gpu_name(s->setup.device, run->gpu, sizeof run->gpu);
		run->packs = s->setup.packs;
#endif
		run->nfeeders += s->nthreads;
		run->gpu_chunk_nbytes = s->setup.chunk_nbytes;
		run->ngpus++;
	}
}

static enum status trace_whole(const struct pipeline_request *request, struct pipeline_run *run,
			       bool *may_guess, struct fault *fault)
{
	enum status status = run_whole(request, &run->trace, true, may_guess, fault);
	const char *devices[] = {"cpu", "gpu"};

	run->traced_ns = run->trace.end_ns - run->trace.begin_ns;
	for (size_t i = 0; i < run->trace.nlanes; i++)
		run->output_nbytes += run->trace.lanes[i].output_nbytes;
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = add_figures(run, &run->trace, devices[i], false, fault);
	for (size_t i = 0; i < run->nstages; i++)
		if (run->stages[i].stage == STAGE_MAP)
			run->nbytes += run->stages[i].together.nbytes;
	if (status == STATUS_OK && run->nbytes == 0)
		return fault_set_usage(fault, "pipeline: there are no records to time");
	return status;
}

enum status pipeline_measure(const struct pipeline_request *request, struct pipeline_run *run,
			     struct fault *fault)
{
	struct pass pass = {0};
	bool may_guess = true;
	enum status status = STATUS_OK;

	for (int i = 0; i < request->options->npaths; i++)
		if (!strcmp(request->options->paths[i], "-"))
			return refuse_input(fault);
	status = pass_open(&pass, request->options, fault);
	if (status != STATUS_OK)
		return status;
	describe_choice(run, &pass);
	if (!run->compressed)
		status = measure_reading(request, run, fault);
	if (status == STATUS_OK && !run->compressed)
		status = time_apart(request, run, &pass.choice, fault);
	if (status == STATUS_OK)
		status = time_whole(request, run, &may_guess, fault);
	if (status == STATUS_OK)
		status = trace_whole(request, run, &may_guess, fault);
	if (status == STATUS_OK)
		status = measure_copies(run, fault);
	if (status == STATUS_OK)
		pass_close(&pass);
	run->apart_gbps = pipeline_apart_gbps(run);
	return status;
}

void pipeline_run_free(struct pipeline_run *run)
{
	trace_free(&run->trace);
}
