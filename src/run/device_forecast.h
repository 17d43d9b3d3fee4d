/* SPDX-License-Identifier: MIT
 *
 * device_forecast.h - whether GPUs alone surely end sooner than the CPUs, and how many of them, told before a run.
 *
 * --device auto measures (engine/engine.h), but not what it has not seen yet: numbers that are kept are searched or
 * sorted when all have been read, and those that CPUs keep until a GPU is awake are work for both. So are groups, where
 * nearly each record makes one, as a sample of the text shows. And one
 * member of a compressed file is decoded by the CPUs or by a GPU, not by both. Here constants tell, and so only where they
 * tell a great difference.
 */
#ifndef GPUSTAT_DEVICE_FORECAST_H
#define GPUSTAT_DEVICE_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

#include "query/plan.h"

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

/* The lines that end in text[0 .. nbytes), for each of its bytes; 0 if there is no text. */
double sample_lines_per_byte(const char *text, size_t nbytes);

/* The groups that the run is likely to have, told from the sample. */
struct forecast_groups forecast_groups_of(const struct forecast *f);

#define FORECAST_SAMPLE_NBYTES ((size_t)1 << 20) /* of a sample that shows groups, */
#define FORECAST_SAMPLED_NBYTES 500000000         /* ... of an input that has so many: some ms are little then */

/* Whether the GPU is to do all of it. Seconds are those of a Xeon's cores with AVX-512 (docs/speed.md). */
bool forecast_gpu_alone(const struct forecast *f);

/* How many GPUs are worth while, where one, once it is awake, takes work_s: each more takes more_s, and is to save that. */
int forecast_ngpus(double work_s, double more_s);

#endif
