/* SPDX-License-Identifier: MIT
 *
 * pipeline_limits.c - see pipeline.h: the speed that the machine, and that the stages apart, would
 * allow the whole run.
 */
#include <string.h>

#include "bench/pipeline/pipeline.h"
#include "engine/worker.h"

/* ---- the machine ---- */

void pipeline_add_ceiling(struct pipeline_run *run, const char *name, double gbps)
{
	if (gbps <= 0 || run->nceilings == PIPELINE_NCEILINGS_MAX)
		return;
	run->ceilings[run->nceilings] = (struct pipeline_ceiling){name, gbps};
	if (gbps < run->ceilings[run->slowest].gbps)
		run->slowest = run->nceilings;
	run->nceilings++;
}

void pipeline_add_copies(struct pipeline_run *run, double up_gbps, double back_gbps,
			 double both_gbps, double ratio)
{
	pipeline_add_ceiling(run, "copy up", up_gbps);
	if (ratio <= 0)
		return;
	pipeline_add_ceiling(run, "copy back", back_gbps / ratio);
	pipeline_add_ceiling(run, "copy both ways", both_gbps / (1 + ratio));
}

double pipeline_percent(const struct pipeline_run *run, double gbps)
{
	return run->nceilings ? 100 * gbps / run->ceilings[run->slowest].gbps : 0;
}

/* ---- the stages ---- */

/* The time of all CPU threads for one byte. */
static double cpu_ns_per_byte(const struct pipeline_run *run)
{
	double ns = 0;

	for (size_t i = 0; i < run->nstages; i++) {
		const struct pipeline_stage *s = &run->stages[i];
		bool writes = s->stage == STAGE_WRITE;
		if (!strcmp(s->device, worker_cpu.name) && s->apart_gbps > 0)
			ns += 1 / s->apart_gbps / (writes ? run->nthreads : 1);
	}
	return ns;
}

/* The time of the GPUs' threads or streams in one place for one byte. The calls of a worker do not
 * count: they wait for the other stages. */
static double gpu_ns_per_byte(const struct pipeline_run *run, enum stage_place place)
{
	double ns = 0;

	for (size_t i = 0; i < run->nstages; i++) {
		const struct pipeline_stage *s = &run->stages[i];
		bool counts = stage_place(s->stage) == place &&
			      (place != STAGE_HOST || s->stage == STAGE_READ);
		if (strcmp(s->device, worker_cpu.name) && counts && s->apart_gbps > 0)
			ns += 1 / s->apart_gbps / (place == STAGE_HOST ? 1 : run->ngpus);
	}
	return ns;
}

/* The speed of the slowest writer; 0: nothing is written. */
static double write_gbps(const struct pipeline_run *run)
{
	double least = 0;

	for (size_t i = 0; i < run->nstages; i++) {
		const struct pipeline_stage *s = &run->stages[i];
		if (s->stage == STAGE_WRITE && (least <= 0 || s->apart_gbps < least))
			least = s->apart_gbps;
	}
	return least;
}

double pipeline_apart_gbps(const struct pipeline_run *run)
{
	double cpu = cpu_ns_per_byte(run), gpu = 0, in_turns = write_gbps(run), gbps;

	for (int place = 0; place < STAGE_NPLACES; place++) {
		double ns = gpu_ns_per_byte(run, (enum stage_place)place);
		gpu = ns > gpu ? ns : gpu;
	}
	gbps = (cpu > 0 ? 1 / cpu : 0) + (gpu > 0 ? 1 / gpu : 0);
	return in_turns > 0 && in_turns < gbps ? in_turns : gbps;
}
