/* SPDX-License-Identifier: MIT
 *
 * device_forecast.c - see device_forecast.h.
 */
#include "run/device_forecast.h"

#include "run/group_sample.h"

/* Seconds of a core (Xeon with AVX-512, 16 threads, 900 million numbers in 16 GB, and 4.4 GB of packed logs,
 * 2026-11-23: docs/speed.md): to read and fold a byte of text; to decode a packed byte, and fold its text; to keep a
 * number and search it; to keep a number's text and tell how many differ. */
#define READ_S 0.5e-9
#define DECODE_S 7.5e-9
#define VALUE_S 18e-9
#define KEY_S 36e-9

/* Groups (logs, 2 to 16 GB, up to 86 million groups by path and 17 million by host; an H200 and 16 cores, 2026-11-24): for
 * the CPUs to find a record's group among many, and to make and print a new one, whose key is short (fold/key.h) or long;
 * for a GPU to find a group, which a core does not do; for a core to print what a GPU has made. */
#define FIND_S 170e-9
#define MAKE_SHORT_S 300e-9
#define MAKE_LONG_S 750e-9
#define GPU_FIND_S 1.4e-9
#define PRINT_SHORT_S 60e-9
#define PRINT_LONG_S 135e-9
#define SHORT_NBYTES 16 /* of a key and its delimiter */
#define SAMPLE_NRECORDS_MIN 4000

/* The CPUs must take so many times as long: other cores and other text are other constants. */
#define SURE 1.25

/* Seconds of a core for what a record's values leave to do when all have been read. */
static double seconds_kept(const struct plan *plan)
{
	double s = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		s += plan->columns[c].needs & MOMENT_VALUES ? VALUE_S : 0;
		s += plan->columns[c].needs & MOMENT_KEYS ? KEY_S : 0;
	}
	return s;
}

static double records_per_byte(const struct forecast *f)
{
	return sample_lines_per_byte(f->sample, f->sample_nbytes);
}

struct forecast_groups forecast_groups_of(const struct forecast *f)
{
	struct group_sample sample = {0, 0, 0};

	if (f->plan->nkeys && f->nbytes > 0 && f->plan->where == PREDICATE_NONE && !f->plan->emits)
		sample = group_sample_count(f->plan, f->sample, f->sample_nbytes);
	if (sample.nrecords < SAMPLE_NRECORDS_MIN)
		return (struct forecast_groups){0, false};
	return (struct forecast_groups){group_sample_ngroups(&sample, f->nbytes * records_per_byte(f)),
					sample.nbytes > SHORT_NBYTES * sample.nrecords};
}

/* Whether a GPU is likely to be faster, where groups are many: neither helps the other then. */
static bool groups_are_for_gpu(const struct forecast *f)
{
	double nrecords = f->nbytes * records_per_byte(f);
	double make_s = f->groups.are_long ? MAKE_LONG_S : MAKE_SHORT_S;
	double print_s = f->groups.are_long ? PRINT_LONG_S : PRINT_SHORT_S;
	double cpu_s = f->nbytes * READ_S + nrecords * FIND_S + f->groups.n * make_s; /* of a core */

	return cpu_s / f->ncores > f->gpu_s + nrecords * GPU_FIND_S + f->groups.n * print_s / f->ncores;
}

bool forecast_gpu_alone(const struct forecast *f)
{
	double kept = f->plan->nkeys ? 0 : seconds_kept(f->plan) * records_per_byte(f); /* a byte */
	double nbytes = f->nbytes_packed > 0 ? f->nbytes_packed * FORECAST_TEXT_RATIO : f->nbytes;
	double read = f->nbytes_packed > 0 ? f->nbytes_packed * DECODE_S : f->nbytes * READ_S;

	if (f->groups.n > 0)
		return groups_are_for_gpu(f);
	if (kept <= 0 && f->can_share)
		return false; /* the run will show its speed */
	return (read + nbytes * kept) / f->ncores > f->gpu_s * SURE;
}

int forecast_ngpus(double work_s, double more_s)
{
	int n = 1;

	while (work_s / n - work_s / (n + 1) > more_s)
		n++;
	return n;
}
