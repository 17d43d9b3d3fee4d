/* SPDX-License-Identifier: MIT
 *
 * percentile.h - the number of --pNN.
 */
#ifndef GPUSTAT_PERCENTILE_H
#define GPUSTAT_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERCENTILE_NPLACES 15 /* digits after the point, at most */

/* numerator / 10^nplaces percent, 0 to 100. */
struct percentile {
	uint64_t numerator;
	int nplaces;
};

/* Reads DIGITS or DIGITS.DIGITS. Returns false where it is neither, or beyond 100 or
 * PERCENTILE_NPLACES. */
bool percentile_parse(const char *text, size_t nbytes, struct percentile *out);

#endif
