/* SPDX-License-Identifier: MIT
 *
 * values_select.c - see values_select.h.
 *
 * Selection by digits, from the highest (radix selection: Alabi et al., "Fast k-Selection Algorithms
 * for Graphics Processing Units", 2012), but of the distance from the least number instead of the
 * bits themselves: no number of an interval is then far from all others for want of common bits.
 *
 * All wanted ranks begin in one interval, from the least number to the greatest. A pass over all
 * numbers counts those of each interval in NBINS bins of equal width. A rank's bin is its next
 * interval. An interval of few numbers is gathered and sorted; one of a single number needs no more.
 * The numbers of a pass are shared by all threads, block by block, and each has counts of its own.
 *
 * Numbers are integers at the column's largest scale: of 64 bits where the extremes fit, otherwise of
 * 128 bits. Where 128 do not suffice, keys of 64 bits stand for the numbers, in the same order, but
 * different numbers may have one key: the numbers of the last interval are then gathered as they are.
 */
#include "fold/values_select.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "fold/device_run.h"
#include "fold/values_interval.h"
#include "fold/values_pass.h"

#define PLACED int128
#define PLACED_NAME(name) name##_128
#include "fold/put_in_place.h"

#define FEW 16384     /* so many numbers of an interval are gathered */
#define FEW_WIDE 1024 /* of wide ones: 0.8 MB */

struct selection {
	struct values_blocks blocks; /* owned */
	const struct device_run *runs; /* numbers on devices, beside the blocks: with KEY_64 only */
	struct values_keys keys;
	struct interval *intervals; /* owned */
	size_t nintervals, ncounts; /* ncounts: of those that do not gather */
	int nthreads;
	uint64_t *counts; /* nthreads x ncounts x NBINS; owned */
};

static size_t next_keys_of_wide(struct values_cursor *at, int64_t *keys, struct wide *wide)
{
	size_t n = values_next_wide(at, wide);

	for (size_t i = 0; i < n; i++)
		keys[i] = key_of_wide(&wide[i]);
	return n;
}

/* ---- one thread's share of a pass ---- */

/* One thread of a pass, with a batch of numbers. */
struct pass {
	struct selection *s;
	uint64_t *counts;
	size_t n;
	int64_t *x64; /* VALUES_BATCH each; owned */
	int128 *x128;
	struct wide *wide;
};

static void count64(const int64_t *x, size_t n, const struct interval *v, uint64_t *counts)
{
	uint64_t low = (uint64_t)(int64_t)v->low, width = (uint64_t)(int64_t)v->high - low;

	for (size_t i = 0; i < n; i++) {
		uint64_t distance = (uint64_t)x[i] - low;
		if (distance <= width)
			counts[distance >> v->shift]++;
	}
}

static void count128(const int128 *x, size_t n, const struct interval *v, uint64_t *counts)
{
	uint128 low = (uint128)v->low, width = (uint128)v->high - low;

	for (size_t i = 0; i < n; i++) {
		uint128 distance = (uint128)x[i] - low;
		if (distance <= width)
			counts[(size_t)(distance >> v->shift)]++;
	}
}

/* Appends the batch's numbers that lie in the interval. */
static void gather(const struct pass *p, struct interval *v)
{
	uint64_t low = (uint64_t)(int64_t)v->low, width = (uint64_t)(int64_t)v->high - low;

	if (p->s->keys.kind == KEY_128) {
		for (size_t i = 0; i < p->n; i++)
			if (p->x128[i] >= v->low && p->x128[i] <= v->high)
				v->gathered[atomic_fetch_add(&v->ngathered, 1)] = p->x128[i];
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		uint64_t at;
		if ((uint64_t)p->x64[i] - low > width)
			continue;
		at = atomic_fetch_add(&v->ngathered, 1);
		if (p->s->keys.kind == KEY_OF_WIDE)
			v->gathered_wide[at] = p->wide[i];
		else
			v->gathered[at] = p->x64[i];
	}
}

static void pass_batch(const struct pass *p)
{
	struct selection *s = p->s;

	for (size_t i = 0; i < s->nintervals; i++) {
		struct interval *v = &s->intervals[i];
		if (v->gathers)
			gather(p, v);
		else if (s->keys.kind == KEY_128)
			count128(p->x128, p->n, v, p->counts + v->slot * NBINS);
		else
			count64(p->x64, p->n, v, p->counts + v->slot * NBINS);
	}
}

static void pass_block(void *context, const struct values_block *block)
{
	struct pass *p = context;
	struct values_cursor at = {.block = block};

	do {
		if (p->s->keys.kind == KEY_64)
			p->n = values_next64(&at, p->s->keys.scale, p->x64);
		else if (p->s->keys.kind == KEY_128)
			p->n = values_next128(&at, p->s->keys.scale, p->x128);
		else
			p->n = next_keys_of_wide(&at, p->x64, p->wide);
		pass_batch(p);
	} while (p->n > 0);
}

static void pass_free(struct pass *p)
{
	free(p->x64);
	free(p->x128);
	free(p->wide);
}

static enum status pass_init(struct pass *p, struct selection *s, int thread)
{
	p->s = s;
	p->counts = s->counts + (size_t)thread * s->ncounts * NBINS;
	p->x64 = malloc(VALUES_BATCH * sizeof *p->x64);
	p->x128 = malloc(VALUES_BATCH * sizeof *p->x128);
	p->wide = s->keys.kind == KEY_OF_WIDE ? malloc(VALUES_BATCH * sizeof *p->wide) : NULL;
	if (p->x64 && p->x128 && (p->wide || s->keys.kind != KEY_OF_WIDE))
		return STATUS_OK;
	return STATUS_NO_MEMORY;
}

/* ---- the devices' share of a pass ---- */

/* What a device does about an interval: like count64 and gather. */
static struct device_range range_of(const struct selection *s, const struct interval *v)
{
	struct device_range range = {.low = (int64_t)v->low, .high = (int64_t)v->high};

	if (!v->gathers) {
		range.shift = v->shift;
		range.counts = s->counts + v->slot * NBINS;
	}
	return range;
}

/* Takes over what devices have listed; false if it is more than there were. */
static bool take_listed(struct interval *v, const struct device_range *range)
{
	if (range->nlisted > v->count - v->ngathered)
		return false;
	for (uint64_t i = 0; i < range->nlisted; i++)
		v->gathered[v->ngathered++] = range->listed[i];
	return true;
}

static enum status pass_ranges(struct selection *s, struct device_range *ranges)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < s->nintervals; i++) {
		ranges[i] = range_of(s, &s->intervals[i]);
		if (!s->intervals[i].gathers)
			continue;
		ranges[i].nlisted_most = s->intervals[i].count;
		ranges[i].listed = malloc(s->intervals[i].count * sizeof *ranges[i].listed);
		if (!ranges[i].listed)
			return STATUS_NO_MEMORY;
	}
	status = s->runs->ops->pass(s->runs, s->keys.scale, ranges, s->nintervals);
	for (size_t i = 0; status == STATUS_OK && i < s->nintervals; i++)
		if (s->intervals[i].gathers && !take_listed(&s->intervals[i], &ranges[i]))
			status = STATUS_GPU;
	return status;
}

static enum status pass_devices(struct selection *s)
{
	struct device_range *ranges = calloc(s->nintervals, sizeof *ranges);
	enum status status = ranges ? pass_ranges(s, ranges) : STATUS_NO_MEMORY;

	for (size_t i = 0; ranges && i < s->nintervals; i++)
		free(ranges[i].listed);
	free(ranges);
	return status;
}

/* A pass over all numbers. */
static enum status pass_all(struct selection *s)
{
	struct pass *passes = calloc((size_t)s->nthreads, sizeof *passes);
	enum status status = passes ? STATUS_OK : STATUS_NO_MEMORY;

	free(s->counts);
	s->counts = calloc((size_t)s->nthreads * s->ncounts * NBINS + 1, sizeof *s->counts);
	if (!s->counts)
		status = STATUS_NO_MEMORY;
	for (int i = 0; i < s->nthreads && status == STATUS_OK; i++)
		status = pass_init(&passes[i], s, i);
	if (status == STATUS_OK)
		values_pass(&s->blocks, s->nthreads, pass_block, passes, sizeof *passes);
	if (status == STATUS_OK && s->runs)
		status = pass_devices(s); /* adds to the first thread's counts */
	for (int i = 0; i < s->nthreads && passes; i++)
		pass_free(&passes[i]);
	free(passes);
	return status;
}

/* ---- intervals ---- */

static void interval_free(struct interval *v)
{
	free(v->gathered);
	free(v->gathered_wide);
	if (v->gathered_wide && v->count > FEW_WIDE)
		memory_give(v->count * sizeof *v->gathered_wide);
}

static int compare_wide(const void *a, const void *b)
{
	return wide_compare(a, b);
}

/* Sets the wanted numbers, of what was gathered. */
static void finish_gathered(const struct selection *s, struct interval *v)
{
	bool is_wide = s->keys.kind == KEY_OF_WIDE;
	uint64_t placed = 0; /* the place of the last one; those behind it are not less */

	if (is_wide)
		qsort(v->gathered_wide, v->count, sizeof *v->gathered_wide, compare_wide);
	for (size_t i = 0; i < v->nwanted; i++) {
		uint64_t at = v->wanted[i].rank - v->nbelow;
		if (!is_wide)
			put_in_place_128(v->gathered, at >= placed ? (ptrdiff_t)placed : 0, (ptrdiff_t)v->count - 1,
				     (ptrdiff_t)at);
		placed = at;
		if (is_wide)
			v->wanted[i].value = v->gathered_wide[at];
		else
			ranked_set(&v->wanted[i], v->gathered[at], s->keys.scale);
	}
}

/* Decides what the next pass does about an interval, which is not a single number's. */
static enum status prepare(struct selection *s, struct interval *v)
{
	bool is_wide = s->keys.kind == KEY_OF_WIDE;

	v->gathers = v->count <= (is_wide ? FEW_WIDE : FEW) || (is_wide && v->low == v->high);
	if (!v->gathers) {
		interval_set_shift(v);
		v->slot = s->ncounts++;
		return STATUS_OK;
	}
	if (!is_wide) {
		v->gathered = malloc(v->count * sizeof *v->gathered);
		return v->gathered ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (v->count > FEW_WIDE && !memory_take(v->count * sizeof *v->gathered_wide))
		return STATUS_NO_MEMORY;
	v->gathered_wide = malloc(v->count * sizeof *v->gathered_wide);
	if (!v->gathered_wide && v->count > FEW_WIDE)
		memory_give(v->count * sizeof *v->gathered_wide);
	return v->gathered_wide ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Adds what the next pass does about an interval. Errors: STATUS_PART_DAMAGED. */
static enum status end_interval(struct selection *s, struct interval *v, struct interval *next, size_t *nnext)
{
	if (!v->gathers)
		return interval_split(&s->keys, v, s->counts + v->slot * NBINS, (size_t)s->nthreads,
				      s->ncounts * NBINS, next, nnext);
	if (v->ngathered != v->count)
		return STATUS_PART_DAMAGED;
	finish_gathered(s, v);
	return STATUS_OK;
}

/* Replaces the intervals of a pass by those of the next. next: room for as many as ranks. */
static enum status next_intervals(struct selection *s, struct interval *next)
{
	struct interval *done = s->intervals;
	enum status status = STATUS_OK;
	size_t nnext = 0;

	for (size_t i = 0; i < s->nintervals; i++) {
		if (status == STATUS_OK)
			status = end_interval(s, &done[i], next, &nnext);
		interval_free(&done[i]);
	}
	memcpy(done, next, nnext * sizeof *next);
	s->nintervals = nnext;
	return status;
}

/* ---- a selection ---- */

static enum status selection_run(struct selection *s, size_t nwanted)
{
	struct interval *next = calloc(nwanted + 1, sizeof *next);
	enum status status = next ? STATUS_OK : STATUS_NO_MEMORY;

	while (status == STATUS_OK && s->nintervals > 0) {
		s->ncounts = 0;
		for (size_t i = 0; i < s->nintervals && status == STATUS_OK; i++)
			status = prepare(s, &s->intervals[i]);
		if (status == STATUS_OK)
			status = pass_all(s);
		if (status == STATUS_OK)
			status = next_intervals(s, next);
	}
	for (size_t i = 0; i < s->nintervals; i++)
		interval_free(&s->intervals[i]);
	free(next);
	return status;
}

/* Whether there are as many numbers as the extent says, and its ends are in order. */
static bool extent_fits(const struct selection *s, const struct interval *all)
{
	uint64_t nvalues = 0;

	for (size_t i = 0; i < s->blocks.n; i++)
		nvalues += s->blocks.at[i]->nvalues;
	for (const struct device_run *run = s->runs; run; run = run->next)
		nvalues += run->nnumbers;
	return nvalues == all->count && all->low <= all->high;
}

enum status values_select(struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted)
{
	struct selection s = {.intervals = calloc(nwanted + 1, sizeof *s.intervals)};
	struct interval all = {.count = extent->count, .wanted = wanted, .nwanted = nwanted};
	enum status status = s.intervals ? STATUS_OK : STATUS_NO_MEMORY;

	values_keys_choose(&s.keys, extent, &all.low, &all.high);
	if (status == STATUS_OK && s.keys.kind != KEY_64)
		status = values_bring_down(v);
	if (status == STATUS_OK)
		status = values_blocks_list(v, &s.blocks);
	s.nthreads = values_pass_nthreads(&s.blocks, nthreads);
	s.runs = v ? v->runs : NULL;
	if (status == STATUS_OK) {
		status = extent_fits(&s, &all) ? STATUS_OK : STATUS_PART_DAMAGED;
	}
	if (status == STATUS_OK) {
		interval_add(&s.keys, s.intervals, &s.nintervals, &all);
		status = selection_run(&s, nwanted);
	}
	values_blocks_free(&s.blocks);
	free(s.intervals);
	free(s.counts);
	return status;
}
