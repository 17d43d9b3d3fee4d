/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - a run of gpustat, its stages timed apart and together.
 */
#ifndef GPUSTAT_PIPELINE_H
#define GPUSTAT_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#include "bench/ladder/bench.h"
#include "query/options.h"
#include "base/status.h"
#include "bench/pipeline/trace.h"

struct pipeline_request {
	const struct options *options; /* of gpustat: what is run */
	const char *output;            /* where its standard output goes: a path */
	unsigned repeat;               /* untraced runs; > 0 */
};

/* A stage on a kind of device, by all its lanes. */
struct pipeline_stage {
	const char *device; /* "cpu", "gpu" */
	enum stage stage;
	struct stage_figure apart, together;
	double apart_gbps;    /* of input, the stage having the machine to itself */
	double together_gbps; /* of input, while it was at work in the whole run */
};

/* A limit of the machine, in GB/s of input. */
struct pipeline_ceiling {
	const char *name; /* "read"; static */
	double gbps;
};

#define PIPELINE_NSTAGES_MAX (2 * STAGE_COUNT)
#define PIPELINE_NCEILINGS_MAX 4

struct pipeline_run {
	uint64_t nbytes, output_nbytes; /* of input; printed, for all of it */
	int nthreads, nfeeders, ngpus;  /* CPU threads; threads that drive GPUs; GPUs */
	size_t cpu_chunk_nbytes, gpu_chunk_nbytes;
	bool packs;                     /* text goes to the GPU packed */
	char gpu[256];                  /* its name; "" if there is none in the run */
	const char *why;                /* the choice of these, in words; static */
	struct bench_time wall; /* of the whole run without its start-up, untraced */
	double traced_ns;       /* the same, traced */
	double apart_gbps;      /* what the stages, timed apart, would let the whole do */
	size_t nceilings, slowest; /* ceilings[slowest] */
	struct pipeline_ceiling ceilings[PIPELINE_NCEILINGS_MAX];
	size_t nstages;
	struct pipeline_stage stages[PIPELINE_NSTAGES_MAX];
	struct trace trace; /* of the traced run */
};

/* Runs and measures. run: zeroed. The input is read several times, from plain files.
 * Errors: gpustat's own; STATUS_USAGE for what is no plain file; STATUS_GPU if one failed, even
 * where gpustat would go on without it. After an error threads may be left inside the run: the
 * process must end soon, and nothing that was passed in be freed. */
enum status pipeline_measure(const struct pipeline_request *request, struct pipeline_run *run,
			     struct fault *fault);
void pipeline_run_free(struct pipeline_run *run);

/* From the stages' apart_gbps: a CPU's thread does one stage after the other. Of a GPU, reading,
 * copying up, the kernels, and copying back overlap: the slowest of these four counts. Writing is
 * done in turns, and the whole is no faster. 0: nothing was timed. */
double pipeline_apart_gbps(const struct pipeline_run *run);

/* 100 * gbps / the slowest ceiling; 0 if there is none. */
double pipeline_percent(const struct pipeline_run *run, double gbps);

/* Appends a ceiling, unless it is 0: not known. */
void pipeline_add_ceiling(struct pipeline_run *run, const char *name, double gbps);

/* The ceilings of copying, in GB/s of input, for a run that prints ratio bytes for each that it
 * reads: up_gbps and back_gbps alone, both_gbps the sum of both at once. Appends them to run's. */
void pipeline_add_copies(struct pipeline_run *run, double up_gbps, double back_gbps,
			 double both_gbps, double ratio);

/* Redirects standard output to the file at path until output_restore(*saved). flags: O_TRUNC or
 * O_APPEND. Errors: STATUS_OPEN, with the path. */
enum status output_redirect(const char *path, int flags, int *saved, struct fault *fault);
void output_restore(int saved);

#endif
