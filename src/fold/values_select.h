/* SPDX-License-Identifier: MIT
 *
 * values_select.h - the numbers of given ranks in a column's kept numbers.
 */
#ifndef GPUSTAT_VALUES_SELECT_H
#define GPUSTAT_VALUES_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/values.h"
#include "number/wide.h"

/* A number and its rank: 0 is the least number's. */
struct ranked {
	uint64_t rank;
	struct wide value;
};

/* What the fold of a column knows of its numbers: as in struct wide_fold. */
struct values_extent {
	uint64_t count;
	int scale; /* the largest of all numbers */
	const struct wide *min, *max;
};

/* Sets the values of wanted[0 .. nwanted), whose ranks ascend, none twice, and are below
 * extent->count. v: that many numbers. nthreads: at least 1; as many threads read v.
 * Errors: STATUS_NO_MEMORY, STATUS_GPU; STATUS_PART_DAMAGED if v has other numbers than the extent says, as only a part that
 * was not written by gpustat can have.
 * Cost: two or three passes over the numbers, each shared by all threads, where the numbers differ and
 * fit in 128 bits at the largest scale. Memory: 32 KiB for each wanted number and thread. */
enum status values_select(struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted);

#endif
