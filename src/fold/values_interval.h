/* SPDX-License-Identifier: MIT
 *
 * values_interval.h - the intervals in which wanted ranks are looked for, and how one pass over the
 * numbers narrows them: values_select.c has the idea, values_search.c does it by reading files again.
 */
#ifndef GPUSTAT_VALUES_INTERVAL_H
#define GPUSTAT_VALUES_INTERVAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fold/device_run.h"
#include "fold/values_select.h"

#define NBINS RANGE_NBINS

/* What the numbers are taken for: integers at the largest scale, or keys in the same order. */
enum key_kind { KEY_64, KEY_128, KEY_OF_WIDE };
struct values_keys {
	enum key_kind kind;
	int scale;
};

/* The numbers from low to high, and the wanted ranks among them. */
struct interval {
	int128 low, high;
	uint64_t nbelow, count; /* numbers below it, and in it */
	struct ranked *wanted;
	size_t nwanted;
	int shift;       /* a bin is 2^shift wide */
	bool gathers;
	size_t slot;     /* if it gathers, of the gathered, else of the counts */
	_Atomic uint64_t ngathered;
	int128 *gathered;           /* count of them; owned */
	struct wide *gathered_wide; /* for KEY_OF_WIDE */
};

/* The key of a wide number: a number of greater magnitude has no smaller key. */
int64_t key_of_wide(const struct wide *x);

/* Chooses the keys of a column, and sets the keys of its least and its greatest number. */
void values_keys_choose(struct values_keys *keys, const struct values_extent *extent, int128 *low,
			int128 *high);

/* Sets a wanted number to the integer x of a scale. */
void ranked_set(struct ranked *r, int128 x, int scale);

/* Sets v->shift so that the interval has up to NBINS bins. */
void interval_set_shift(struct interval *v);

/* Adds an interval to next[0 .. *nnext) if it has wanted ranks; but if it is a single number, sets
 * those instead. */
void interval_add(const struct values_keys *keys, struct interval *next, size_t *nnext,
		  const struct interval *v);

/* Adds the intervals of v's bins that hold wanted ranks. A bin's count is the sum of ncopies counts,
 * which lie stride apart: counts[bin], counts[bin + stride], ...
 * Errors: STATUS_PART_DAMAGED if all bins have fewer numbers than that. */
enum status interval_split(const struct values_keys *keys, const struct interval *v,
			   const uint64_t *counts, size_t ncopies, size_t stride, struct interval *next,
			   size_t *nnext);

#endif
