/* SPDX-License-Identifier: MIT
 *
 * device_forecast.c - see device_forecast.h.
 */
#include "run/device_forecast.h"

/* Seconds of a core (Xeon with AVX-512, 16 threads, 900 million numbers in 16 GB, and 4.4 GB of packed logs,
 * 2026-11-23: docs/speed.md): to read and fold a byte of text; to decode a packed byte, and fold its text; to keep a
 * number and search it; to keep a number's text and tell how many differ. */
#define READ_S 0.5e-9
#define DECODE_S 7.5e-9
#define VALUE_S 18e-9
#define KEY_S 36e-9

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
	size_t nlines = 0;

	for (size_t i = 0; i < f->sample_nbytes; i++)
		nlines += f->sample[i] == '\n';
	return f->sample_nbytes ? (double)nlines / (double)f->sample_nbytes : 0;
}

bool forecast_gpu_alone(const struct forecast *f)
{
	double kept = f->plan->nkeys ? 0 : seconds_kept(f->plan) * records_per_byte(f); /* a byte */
	double nbytes = f->nbytes_packed > 0 ? f->nbytes_packed * FORECAST_TEXT_RATIO : f->nbytes;
	double read = f->nbytes_packed > 0 ? f->nbytes_packed * DECODE_S : f->nbytes * READ_S;

	if (kept <= 0 && f->can_share)
		return false; /* the run will show its speed */
	return (read + nbytes * kept) / f->ncores > f->gpu_s * SURE;
}
