/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - a run of gpustat, its stages timed apart and together.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bench/ladder/bench.h"
#include "query/options.h"
#include "base/status.h"
#include "bench/pipeline/trace.h"

struct pipeline_request {
	struct options *options; /* of gpustat */
	const char *output;            /* the file that its standard output goes to */
	unsigned repeat;               /* untraced runs; > 0 */
};

/* A stage in all lanes of one kind of device. */
struct pipeline_stage {
	const char *device; /* "cpu", "gpu" */
	enum stage stage;
	struct stage_figure apart, together;
	double apart_gbps;    /* of input, where the stage has the machine to itself */
	double together_gbps; /* of input, over the time when a lane was in the stage */
};

/* A limit of the machine, in GB/s of input. */
struct pipeline_ceiling {
	const char *name; /* "read"; static */
	double gbps;
};

#define PIPELINE_NSTAGES_MAX (2 * STAGE_COUNT)
#define PIPELINE_NCEILINGS_MAX 4

struct pipeline_run {
	uint64_t nbytes, output_nbytes; /* of input; of printed records */
	int nthreads, nfeeders, ngpus;  /* CPU threads; threads that drive GPUs; GPUs */
	size_t cpu_chunk_nbytes, gpu_chunk_nbytes;
	bool packs;                     /* text goes to the GPU packed */
	bool compressed;                /* some of the input: no stage is timed apart */
	char gpu[256];                  /* its name; "" if the run has none */
	const char *why;                /* why these were chosen; static */
	struct bench_time wall;    /* of the whole run without its start-up, untraced */
	double traced_ns;          /* the same, traced */
	double apart_gbps;         /* pipeline_apart_gbps */
	size_t nceilings, slowest; /* ceilings[slowest] */
	struct pipeline_ceiling ceilings[PIPELINE_NCEILINGS_MAX];
	size_t nstages;
	struct pipeline_stage stages[PIPELINE_NSTAGES_MAX];
	struct trace trace; /* of the traced run */
};

/* Runs and measures. run: zeroed. Reads the input several times.
 * Errors: gpustat's own; STATUS_USAGE if the input is not files; STATUS_GPU if a GPU failed,
 * also where gpustat would go on without it. After an error threads may still be in the run: the
 * caller must free nothing that it passed, and end the process. */
enum status pipeline_measure(const struct pipeline_request *request, struct pipeline_run *run,
			     struct fault *fault);
void pipeline_run_free(struct pipeline_run *run);

/* The speed that the stages' apart_gbps would allow the whole run; 0: nothing was timed. A CPU
 * thread does one stage after the other. On a GPU, reading, copying up, the kernels and copying
 * back overlap: the slowest of the four counts. The run is no faster than its writer. */
double pipeline_apart_gbps(const struct pipeline_run *run);

/* 100 * gbps / the slowest ceiling; 0 if there is none. */
double pipeline_percent(const struct pipeline_run *run, double gbps);

/* Appends a ceiling, unless it is 0 (unknown). */
void pipeline_add_ceiling(struct pipeline_run *run, const char *name, double gbps);

/* Appends the ceilings of copying, in GB/s of input, of a run that prints ratio bytes for each byte
 * that it reads. up_gbps, back_gbps: one way alone; both_gbps: the sum of both ways at once. */
void pipeline_add_copies(struct pipeline_run *run, double up_gbps, double back_gbps,
			 double both_gbps, double ratio);

/* Redirects standard output to the file at path until output_restore(*saved). flags: O_TRUNC or
 * O_APPEND. Errors: STATUS_OPEN, with the path. */
enum status output_redirect(const char *path, int flags, int *saved, struct fault *fault);
void output_restore(int saved);
