/* SPDX-License-Identifier: MIT
 *
 * device_run.h - numbers of a column that lie in a device's memory: what order statistics and counts of
 * distinct values are made of.
 *
 * A device's fold leaves a column's numbers where they are, as a run beside what the host keeps.
 * Selecting (values_select.h) passes over them two or three times, and counting distinct ones
 * (keys_settle) sorts them, at the speed of that memory: only counts and a few numbers are copied to the host. Whatever
 * else reads kept numbers calls values_bring_down before. The memory is no part of --memory, which is the
 * host's.
 */
#pragma once

#include "base/status.h"

#define RANGE_BIN_BITS 12
#define RANGE_NBINS (1 << RANGE_BIN_BITS) /* a pass narrows an interval so many times */

struct device_run_ops;

/* Numbers of one scale, as integers. Made by the device, and released by it. */
struct device_run {
	struct device_run *next;
	const struct device_run_ops *ops;
	uint64_t nnumbers;
	int scale;
};

/* What a pass does with the numbers from low to high, both included, as integers of its scale: counts
 * those of each bin, which is 2^shift wide and begins at low, or lists them, in any order. */
struct device_range {
	int64_t low, high;
	int shift;
	uint64_t *counts; /* RANGE_NBINS, to which it adds; NULL: it lists */
	int64_t *listed;  /* room for nlisted_most */
	uint64_t nlisted, nlisted_most; /* nlisted: of all runs of the list; may be beyond its room */
};

/* What a kind of device does. Runs are a list, of several devices of that kind. Any thread may call these,
 * one at a time. */
struct device_run_ops {
	/* Passes over all runs for each range. Every number is an integer of that scale that fits in 64
	 * bits. Errors: STATUS_GPU, STATUS_NO_MEMORY. */
	enum status (*pass)(const struct device_run *runs, int scale, struct device_range *ranges,
			    size_t nranges);

	/* Counts the different integers of all runs and of more[0 .. nmore), whatever their scales. Errors:
	 * STATUS_GPU, STATUS_NO_MEMORY: also the device's. */
	enum status (*count_different)(const struct device_run *runs, const int64_t *more, size_t nmore,
				       uint64_t *count);

	/* Copies integers [first, first + n) of a run to the host. Errors: STATUS_GPU. */
	enum status (*copy)(const struct device_run *run, uint64_t first, uint64_t n, int64_t *to);

	/* Frees the run, and the memory after the last one. */
	void (*release)(struct device_run *run);
};

/* Moves all runs of a list to another, and releases all. */
void device_runs_take(struct device_run **runs, struct device_run **later);
void device_runs_release(struct device_run **runs);

#define DEVICE_RUN_BATCH 4096

/* Calls add for all integers of a run, up to DEVICE_RUN_BATCH at a time, until it fails; returns its status.
 * Errors: STATUS_GPU. */
typedef enum status (*device_run_adder)(void *context, const int64_t *x, size_t n, int scale);
enum status device_run_each(const struct device_run *run, device_run_adder add, void *context);

/* ---- of values (values.h) ---- */

struct values;

/* Adds a run to the cell, which owns it then. Numbers are dropped where others are (values_select.h). */
void values_add_run(struct values *v, struct device_run *run);

/* Makes blocks of all runs. v may be NULL. Errors: STATUS_NO_MEMORY, STATUS_GPU. */
enum status values_bring_down(struct values *v);

/* ---- of keys (keys.h) ---- */

struct keys;
struct keys_wanted;

/* A key that is the plain text of a number, as an integer: its significand, and its scale in the lowest
 * bits. "5", "-0.50" and "0" are plain; "+5", ".5", "05", "5." and "-0" are not. Numbers of more bits are no
 * such keys. */
#define KEY_NUMBER_SCALE_BITS 5
#define KEY_NUMBER_BITS (63 - KEY_NUMBER_SCALE_BITS) /* of a significand without its sign */

/* Adds a run of such keys, whose scale means nothing, to the cell, which owns it then. */
void keys_add_run(struct keys *k, struct device_run *run);

/* Counts the keys of the runs that are not among the others, once all cells have been joined to this
 * one. Where the device fails, they are added to the others, if they can be copied to the host. k may be NULL. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_GPU. */
enum status keys_settle(struct keys *k, const struct keys_wanted *wanted);
