/* SPDX-License-Identifier: MIT
 *
 * device_choice.h - chooses the devices for an input: how many CPU threads, which GPUs, and why.
 */
#pragma once

#include "engine/engine.h"
#include "io/input.h"
#include "query/options.h"
#include "query/query.h"
#include "base/status.h"

#define MAX_POOLS 17 /* the CPU and up to 16 GPUs */

struct device_choice {
	size_t npools;
	struct worker_pool pools[MAX_POOLS];
	const char *why; /* the choice in words, for --verbose */
};

/* Peeks at so much of the input as devices_choose should see. Errors: reading's. */
enum status devices_peek(const struct options *options, const struct query *query, struct input *input,
			 struct fault *fault);

/* Chooses the devices that options ask for. Does not touch the GPU driver unless a GPU is asked
 * for. Errors: STATUS_NO_GPU if --device asks for a GPU that is not there. */
enum status devices_choose(struct device_choice *devices, const struct options *options,
			   const struct query *query, const struct input *input,
			   struct fault *fault);

/* How many GPUs there may be, without asking the driver. */
int devices_estimate_gpus(void);

/* Writes which devices work now: `2 CPU threads, gpu:0`; nothing if none does. Any thread. */
void devices_at_work(const struct device_choice *devices, char *text, size_t nbytes);

/* Warns on stderr of each GPU that failed during the run. CPUs have done its work correctly. */
void devices_report_failures(const struct device_choice *devices);

/* Notes of the GPU that has the groups that it has failed. Returns STATUS_GPU_LOST, and makes that fault's. */
enum status devices_lose(struct device_choice *devices, struct fault *fault);

/* Has the input read as these devices and the plan need it. Before the first chunk is read. */
void devices_set_up_input(const struct device_choice *devices, const struct plan *plan,
			  struct input *input);

/* Reports on stderr what every pool did. */
void devices_report(const struct device_choice *devices, double elapsed_s);

/* ---- the forecast: device_choice.c's, and its test's ---- */

#define FORECAST_TEXT_RATIO 3 /* of text to packed files: a low one */

/* Groups, where there are many. */
struct forecast_groups {
	double n;      /* 0: few, or it cannot be told */
	bool are_long; /* their keys */
};

struct forecast {
	const struct plan *plan;
	double nbytes;        /* of text; not known where it is packed */
	double nbytes_packed; /* 0: it is not packed */
	bool can_share;       /* CPUs and GPUs may read it together: it is no single member */
	const char *sample; /* of the text, from a record's beginning on */
	size_t sample_nbytes;
	int ncores;
	double gpu_s; /* that the GPU takes, until the process has ended */
	struct forecast_groups groups; /* forecast_groups_of */
};

/* The groups that the run is likely to have, told from the sample. */
struct forecast_groups forecast_groups_of(const struct forecast *f);

#define FORECAST_SAMPLE_NBYTES ((size_t)1 << 20) /* of a sample that shows groups, */
#define FORECAST_SAMPLED_NBYTES 500000000         /* ... of an input that has so many: some ms are little then */

/* Whether the GPU is to do all of it. Seconds are those of a Xeon's cores with AVX-512 (docs/speed.md). */
bool forecast_gpu_alone(const struct forecast *f);

/* How many GPUs are worth while, where one, once it is awake, takes work_s: each more takes more_s, and is to save that. */
int forecast_ngpus(double work_s, double more_s);
