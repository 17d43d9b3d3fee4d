/* SPDX-License-Identifier: MIT
 *
 * axis.h - where exact numbers lie on an axis of a picture. A place is computed in 128 bits from the leading
 * 30 digits of the numbers, so that it is the same on every machine; with up to 30 digits it is exact but for
 * its one rounding.
 */
#ifndef GPUSTAT_AXIS_H
#define GPUSTAT_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "number/plain.h"

#define AXIS_NUNITS_MAX 10000000 /* the longest axis, in units of a place */
#define AXIS_TICK_NBYTES 512

/* From low to high, in units of 10^(top - PLAIN_NDIGITS + 1). */
struct axis {
	int top;
	int128 low, high;
	int nplaces; /* a tick has no more digits after the point */
};

/* Sets the axis from one number to another that is not less. nplaces: the most digits after the point of what
 * is drawn on it. */
void axis_set(struct axis *a, const char *low, const char *high, int nplaces);

/* Where a number between low and high lies, from 0 to nunits, rounded half up. In the middle if low is high. */
int64_t axis_place(const struct axis *a, const char *number, int64_t nunits);

/* How long a bar from 0 to the number is on an axis on which 0 lies, rounded half up; 0 if low is high. */
int64_t axis_length(const struct axis *a, const char *number, int64_t nunits);

/* Ticks at multiples of digit x 10^power, which are first, first + 1, ... last times it. */
struct axis_ticks {
	int digit, power;
	int128 step; /* in the axis' units */
	int128 first, last;
};

/* Sets the closest ticks, 1, 2 or 5 times a power of ten apart, that make at most nmax intervals. */
void axis_ticks_set(struct axis_ticks *t, const struct axis *a, int nmax);

/* Writes the i-th multiple: in plain decimal, or as 5e20 beyond 15 digits. Returns its place. */
int64_t axis_tick(const struct axis_ticks *t, const struct axis *a, int128 i, int64_t nunits,
		  char text[AXIS_TICK_NBYTES]);

#endif
