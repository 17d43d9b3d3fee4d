/* SPDX-License-Identifier: MIT
 *
 * values_device.h - kept numbers that lie in a device's memory.
 *
 * A device's fold leaves a column's numbers where they are, as a run beside the cell's blocks. Selecting
 * (values_select.h) passes over them two or three times, at the speed of that memory, and only counts
 * come down, and the few numbers of the last intervals. Whatever else reads kept numbers calls
 * values_bring_down before. Memory that a run takes is no part of --memory, which is the host's.
 */
#ifndef GPUSTAT_VALUES_DEVICE_H
#define GPUSTAT_VALUES_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define VALUES_BIN_BITS 12
#define VALUES_NBINS (1 << VALUES_BIN_BITS) /* a pass narrows an interval so many times */

struct values;
struct values_device;

/* Numbers of one scale. Made by the device, and released by it. */
struct values_run {
	struct values_run *next;
	const struct values_device *device;
	uint64_t nvalues;
	int scale;
};

/* What a pass does with the numbers from low to high, both included, as integers of its scale: counts
 * those of each bin, which is 2^shift wide and begins at low, or lists them, in any order. */
struct values_range {
	int64_t low, high;
	int shift;
	uint64_t *counts; /* VALUES_NBINS, to which it adds; NULL: it lists */
	int64_t *listed;  /* room for nlisted_most */
	uint64_t nlisted, nlisted_most; /* nlisted: of all runs of the list; may be beyond its room */
};

/* What a kind of device does. The runs are a list of several devices of that kind, and the functions may be
 * called by any thread, one at a time. */
struct values_device {
	/* Passes over all runs for each range. Every number is an integer of that scale that fits in 64
	 * bits. Errors: STATUS_GPU, STATUS_NO_MEMORY. */
	enum status (*pass)(const struct values_run *runs, int scale, struct values_range *ranges,
			    size_t nranges);

	/* Copies numbers [first, first + n) of a run to the host, as they are. Errors: STATUS_GPU. */
	enum status (*copy)(const struct values_run *run, uint64_t first, uint64_t n, int64_t *to);

	/* Frees the run, and the memory behind the last one. */
	void (*release)(struct values_run *run);
};

/* Adds a run to the cell, which owns it then. Numbers are dropped where others are (values_focus.h). */
void values_add_run(struct values *v, struct values_run *run);

/* Moves the runs of later to v. */
void values_take_runs(struct values *v, struct values *later);
void values_release_runs(struct values *v);

/* Makes blocks of all runs. v may be NULL. Errors: STATUS_NO_MEMORY, STATUS_GPU. */
enum status values_bring_down(struct values *v);

#endif
