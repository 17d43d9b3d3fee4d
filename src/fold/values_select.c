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
 *
 * Where the numbers do not fit in memory (values_search_begin), the caller makes the passes over the input. One that counts makes
 * each interval NBINS times as narrow, so a column of 64 bits is searched in up to six, and usually in two: one that counts,
 * and one that keeps what is left.
 */
#include "fold/values_select.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "base/thread.h"
#include "fold/device_run.h"

#define PLACED int128
#define PLACED_NAME(name) name##_128
#include "fold/put_in_place.h"

/* ---- intervals ---- */

#define KEY_EXPONENT_SHIFT 56
#define NBINS RANGE_NBINS

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

/* The key of a wide number: the place of its highest limb, then 56 bits of its two highest limbs,
 * whose value is below 10^18 < 2^60. A number of greater magnitude has no smaller key. */
static int64_t key_of_wide(const struct wide *x)
{
	int64_t magnitude, key;
	int i = WIDE_NLIMBS - 1;

	while (i > 0 && x->limb[i] == 0)
		i--;
	magnitude = x->limb[i] * WIDE_LIMB_BASE + (i > 0 ? x->limb[i - 1] : 0);
	key = ((int64_t)i << KEY_EXPONENT_SHIFT) + ((magnitude < 0 ? -magnitude : magnitude) >> 4);
	return magnitude < 0 ? -key : magnitude > 0 ? key : 0;
}

void values_keys_choose(struct values_keys *keys, const struct values_extent *extent, int128 *low,
			int128 *high)
{
	struct wide x;

	keys->scale = extent->scale;
	if (!exact_to_int128(extent->min, keys->scale, low) ||
	    !exact_to_int128(extent->max, keys->scale, high) ||
	    *low < -(DECIMAL_INT128_MAX / 2) || *high > DECIMAL_INT128_MAX / 2) {
		keys->kind = KEY_OF_WIDE;
		exact_to_wide(extent->min, &x);
		*low = key_of_wide(&x);
		exact_to_wide(extent->max, &x);
		*high = key_of_wide(&x);
	} else {
		keys->kind = *low < INT64_MIN || *high > INT64_MAX ? KEY_128 : KEY_64;
	}
}

/* Sets v->shift so that the interval has up to NBINS bins. */
static void interval_set_shift(struct interval *v)
{
	uint128 width = (uint128)v->high - (uint128)v->low;

	for (v->shift = 0; width >> v->shift >= NBINS;)
		v->shift++;
}

/* Adds an interval to next[0 .. *nnext) if it has wanted ranks; but if it is a single number, sets those instead. */
static void interval_add(const struct values_keys *keys, struct interval *next, size_t *nnext, const struct interval *v)
{
	if (v->nwanted == 0)
		return;
	if (v->low < v->high || keys->kind == KEY_OF_WIDE) {
		next[(*nnext)++] = *v;
		return;
	}
	for (size_t i = 0; i < v->nwanted; i++)
		wide_set_decimal(&v->wanted[i].value, v->low, keys->scale);
}

/* The bin's part of the interval, with those of its wanted ranks from `first` on. */
static struct interval bin_interval(const struct interval *v, size_t bin, uint64_t nbelow,
				    uint64_t count, size_t first)
{
	struct interval part = {.nbelow = nbelow, .count = count, .wanted = v->wanted + first};

	part.low = (int128)((uint128)v->low + ((uint128)bin << v->shift));
	part.high = (int128)((uint128)part.low + (((uint128)1 << v->shift) - 1));
	if (part.high > v->high || part.high < part.low)
		part.high = v->high;
	while (first + part.nwanted < v->nwanted &&
	       part.wanted[part.nwanted].rank - nbelow < count)
		part.nwanted++;
	return part;
}

/* Adds the intervals of v's bins that hold wanted ranks. A bin's count is the sum of ncopies counts,
 * which lie stride apart: counts[bin], counts[bin + stride], ...
 * Errors: STATUS_PART_DAMAGED if all bins have fewer numbers than that. */
static enum status interval_split(const struct values_keys *keys, const struct interval *v,
			   const uint64_t *counts, size_t ncopies, size_t stride, struct interval *next,
			   size_t *nnext)
{
	uint64_t nbelow = v->nbelow;
	size_t first = 0;

	for (size_t bin = 0; bin < NBINS && first < v->nwanted; bin++) {
		struct interval part;
		uint64_t count = 0;
		for (size_t i = 0; i < ncopies; i++)
			count += counts[i * stride + bin];
		if (v->wanted[first].rank - nbelow < count) {
			part = bin_interval(v, bin, nbelow, count, first);
			first += part.nwanted;
			interval_add(keys, next, nnext, &part);
		}
		nbelow += count;
	}
	return first == v->nwanted ? STATUS_OK : STATUS_PART_DAMAGED;
}

/* ---- a pass over blocks ---- */

#define BLOCKS_AT_ONCE 8
#define BLOCKS_A_THREAD 32 /* for fewer, a thread is not worth its start */

static void count_one(void *context, const struct values_block *block)
{
	(void)block;
	++*(size_t *)context;
}

static void add_one(void *context, const struct values_block *block)
{
	struct values_blocks *blocks = context;

	blocks->at[blocks->n++] = block;
}

enum status values_blocks_list(const struct values *v, struct values_blocks *out)
{
	size_t nblocks = 0;

	out->n = 0;
	if (v)
		values_each_block(v, count_one, &nblocks);
	out->at = calloc(nblocks + 1, sizeof(const struct values_block *));
	NEED(out->at);
	if (v)
		values_each_block(v, add_one, out);
	return STATUS_OK;
}

void values_blocks_free(struct values_blocks *blocks)
{
	free(blocks->at);
}

int values_pass_nthreads(const struct values_blocks *blocks, int nmost)
{
	size_t nuseful = blocks->n / BLOCKS_A_THREAD + 1;

	return nuseful < (size_t)nmost ? (int)nuseful : nmost;
}

struct blocks_pass {
	const struct values_blocks *blocks;
	void (*visit)(void *context, const struct values_block *block);
	char *contexts;
	size_t context_nbytes;
	atomic_size_t nthreads, next; /* threads that have begun; the first block that none has taken */
};

static void *visit_blocks(void *pass)
{
	struct blocks_pass *p = pass;
	char *context = p->contexts + atomic_fetch_add(&p->nthreads, 1) * p->context_nbytes;
	size_t first;

	while ((first = atomic_fetch_add(&p->next, BLOCKS_AT_ONCE)) < p->blocks->n)
		for (size_t i = first; i < first + BLOCKS_AT_ONCE && i < p->blocks->n; i++)
			p->visit(context, p->blocks->at[i]);
	return NULL;
}

void values_pass(const struct values_blocks *blocks, int nthreads,
		 void (*visit)(void *context, const struct values_block *block), void *contexts, size_t context_nbytes)
{
	team_run((size_t)nthreads, visit_blocks,
		 &(struct blocks_pass){.blocks = blocks, .visit = visit, .contexts = contexts, .context_nbytes = context_nbytes});
}

/* ---- a selection ---- */

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
	for (size_t i = 0; i < s->nintervals; i++) {
		ranges[i] = range_of(s, &s->intervals[i]);
		if (!s->intervals[i].gathers)
			continue;
		ranges[i].nlisted_most = s->intervals[i].count;
		ranges[i].listed = malloc(s->intervals[i].count * sizeof *ranges[i].listed);
		NEED(ranges[i].listed);
	}
	TRY(s->runs->ops->pass(s->runs, s->keys.scale, ranges, s->nintervals));
	for (size_t i = 0; i < s->nintervals; i++)
		if (s->intervals[i].gathers && !take_listed(&s->intervals[i], &ranges[i]))
			return STATUS_GPU;
	return STATUS_OK;
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
			wide_set_decimal(&v->wanted[i].value, v->gathered[at], s->keys.scale);
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

/* ---- sums between two ranks ---- */

/*
 * What is kept within two of the numbers is one of them for each number beyond, so the sum of all less those is the sum of the
 * numbers between. Nobody has to know how many are equal to them.
 */

/* One thread's share. */
struct clamped {
	struct values_keys keys;
	int128 low, high;          /* KEY_64 */
	struct values_clamp clamp; /* otherwise */
	int128 sum;
	struct wide wide;
};

static const struct wide *clamp(const struct values_clamp *c, const struct wide *x)
{
	return wide_compare(x, c->low) < 0 ? c->low : wide_compare(x, c->high) > 0 ? c->high : x;
}

static void sum_block(void *context, const struct values_block *block)
{
	struct clamped *c = context;
	struct values_cursor at = {.block = block};
	const int64_t low = (int64_t)c->low, high = (int64_t)c->high;
	struct wide wide[VALUES_BATCH];
	int64_t x[VALUES_BATCH];
	size_t n;

	if (c->keys.kind == KEY_64)
		while ((n = values_next64(&at, c->keys.scale, x)) > 0)
			for (size_t i = 0; i < n; i++)
				c->sum += x[i] < low ? low : x[i] > high ? high : x[i];
	else
		while ((n = values_next_wide(&at, wide)) > 0)
			for (size_t i = 0; i < n; i++)
				wide_add(&c->wide, clamp(&c->clamp, &wide[i]));
}

/* The number of the rank that is as far from the last of count as r's from the first; it is among those behind r. */
static const struct ranked *mirror_of(const struct ranked *r, uint64_t count)
{
	const struct ranked *other = r;

	while (other->rank != count - 1 - r->rank)
		other++;
	return other;
}

/* Sets r->trimmed. sum: of all numbers, kept within r's and the other's. */
static void set_trimmed(struct ranked *r, const struct wide *other, const struct wide *sum, int scale)
{
	const int places = wide_places(scale);
	struct integer ends, high;
	struct wide beyond;

	wide_to_integer(&r->value, places, &ends);
	wide_to_integer(other, places, &high);
	integer_add(&ends, &high, false);
	integer_multiply_short(&ends, r->rank);
	ends.negative = !ends.negative;
	wide_set_integer(&beyond, &ends, places);
	r->trimmed = *sum;
	wide_add(&r->trimmed, &beyond);
}

/* Sets the sums that are asked for, once all values are known. */
static enum status sum_wanted(const struct selection *s, uint64_t count, struct ranked *wanted, size_t nwanted)
{
	struct clamped *all = calloc((size_t)s->nthreads, sizeof *all);

	NEED(all);
	for (size_t i = 0; i < nwanted; i++) {
		const struct ranked *other;
		struct clamped one = {.keys = s->keys};
		if (!wanted[i].trims)
			continue;
		other = mirror_of(&wanted[i], count);
		one.clamp = (struct values_clamp){&wanted[i].value, &other->value};
		wide_to_int128(&wanted[i].value, s->keys.scale, &one.low);
		wide_to_int128(&other->value, s->keys.scale, &one.high);
		for (int k = 0; k < s->nthreads; k++)
			all[k] = one;
		values_pass(&s->blocks, s->nthreads, sum_block, all, sizeof *all);
		for (int k = 0; k < s->nthreads; k++) {
			wide_add_decimal(&one.wide, all[k].sum, s->keys.scale);
			wide_add(&one.wide, &all[k].wide);
		}
		set_trimmed(&wanted[i], &other->value, &one.wide, s->keys.scale);
	}
	free(all);
	return STATUS_OK;
}

static bool has_sums(const struct ranked *wanted, size_t nwanted)
{
	for (size_t i = 0; i < nwanted; i++)
		if (wanted[i].trims)
			return true;
	return false;
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
	if (status == STATUS_OK && (s.keys.kind != KEY_64 || has_sums(wanted, nwanted)))
		status = values_bring_down(v);
	if (status == STATUS_OK)
		status = values_blocks_list(v, &s.blocks);
	s.nthreads = values_pass_nthreads(&s.blocks, nthreads);
	s.runs = v ? v->runs : NULL;
	if (status == STATUS_OK)
		status = extent_fits(&s, &all) ? STATUS_OK : STATUS_PART_DAMAGED;
	if (status == STATUS_OK) {
		interval_add(&s.keys, s.intervals, &s.nintervals, &all);
		status = selection_run(&s, nwanted);
	}
	if (status == STATUS_OK && has_sums(wanted, nwanted))
		status = sum_wanted(&s, extent->count, wanted, nwanted);
	values_blocks_free(&s.blocks);
	free(s.intervals);
	free(s.counts);
	return status;
}

/* ---- the focus of the process's cells ---- */

static const struct values_focus *current;
static bool dropping_allowed;
static atomic_bool dropped;

void values_focus_set(const struct values_focus *focus, bool may_drop)
{
	current = focus;
	dropping_allowed = may_drop;
	dropped = false;
}

const struct values_focus *values_focus(void)
{
	return current;
}

bool values_are_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}

void values_note_refusal(void)
{
	if (dropping_allowed)
		dropped = true;
}

int128 values_focus_key_of_wide(const struct values_focus *f, const struct wide *x)
{
	int128 key = 0;

	if (f->keys.kind == KEY_OF_WIDE)
		return key_of_wide(x);
	wide_to_int128(x, f->keys.scale, &key);
	return key;
}

int128 values_focus_key(const struct values_focus *f, int64_t significand, int scale)
{
	struct wide x;

	if (f->keys.kind != KEY_OF_WIDE)
		return values_lift(significand, scale, f->keys.scale);
	wide_set_decimal(&x, significand, scale);
	return key_of_wide(&x);
}

static size_t ncounts(void)
{
	return current && current->counts ? current->nintervals * NBINS : 0;
}

/* Makes v's counts unless they are there. */
static enum status need_counts(struct values *v)
{
	if (!v->counts)
		v->counts = calloc(ncounts(), sizeof *v->counts);
	return v->counts ? STATUS_OK : STATUS_NO_MEMORY;
}

bool values_focus_find(const struct values_focus *f, struct values *v, int128 key,
		       enum status *status)
{
	size_t i = 0;

	while (i < f->nintervals && (key < f->intervals[i].low || key > f->intervals[i].high))
		i++;
	if (i == f->nintervals || !f->counts)
		return i < f->nintervals;
	*status = need_counts(v);
	if (*status == STATUS_OK) {
		const struct interval *interval = &f->intervals[i];
		uint128 distance = (uint128)key - (uint128)interval->low;
		v->counts[i * NBINS + (size_t)(distance >> interval->shift)]++;
	}
	return false;
}

enum status values_focus_sum(const struct values_focus *f, struct values *v, const struct wide *x)
{
	if (!v->sum)
		v->sum = calloc(1, sizeof *v->sum);
	NEED(v->sum);
	wide_add(v->sum, clamp(&f->clamp, x));
	return STATUS_OK;
}

enum status values_focus_combine(struct values *v, const struct values *later)
{
	if (later->sum && !v->sum)
		NEED(v->sum = calloc(1, sizeof *v->sum));
	if (later->sum)
		wide_add(v->sum, later->sum);
	if (!later->counts)
		return STATUS_OK;
	TRY(need_counts(v));
	for (size_t i = 0; i < ncounts(); i++)
		v->counts[i] += later->counts[i];
	return STATUS_OK;
}

void values_focus_clear(struct values *v)
{
	if (v->counts)
		memset(v->counts, 0, ncounts() * sizeof *v->counts);
	if (v->sum)
		wide_clear(v->sum);
}

/* ---- a search ---- */

/* Memory for a kept number, by enum key_kind, and twice as much for blocks that are not full. */
static const uint64_t nbytes_each[] = {[KEY_64] = 18, [KEY_128] = 80, [KEY_OF_WIDE] = 100};

enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted)
{
	struct interval all = {.count = extent->count, .wanted = wanted, .nwanted = nwanted};

	*s = (struct values_search){.extent = *extent, .wanted = wanted, .nwanted = nwanted};
	s->intervals = calloc(nwanted + 1, sizeof *s->intervals);
	s->next = calloc(nwanted + 1, sizeof *s->next);
	s->kept = calloc(nwanted + 1, sizeof *s->kept);
	NEED(s->intervals && s->next && s->kept);
	values_keys_choose(&s->focus.keys, extent, &all.low, &all.high);
	s->nkept_most = memory_limit_nbytes() / nbytes_each[s->focus.keys.kind];
	interval_add(&s->focus.keys, s->intervals, &s->nintervals, &all);
	return STATUS_OK;
}

/* How many numbers the intervals hold. */
static uint64_t count_left(const struct values_search *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nintervals; i++)
		n += s->intervals[i].count;
	return n;
}

/* Whether counting makes no interval narrower: all are keys that many numbers share. */
static bool is_stuck(const struct values_search *s)
{
	for (size_t i = 0; i < s->nintervals; i++)
		if (s->intervals[i].low < s->intervals[i].high)
			return false;
	return true;
}

bool values_search_focus(struct values_search *s)
{
	bool is_wanted;

	for (size_t i = 0; i < s->nintervals; i++)
		interval_set_shift(&s->intervals[i]);
	s->focus.intervals = s->intervals;
	s->focus.nintervals = s->nintervals;
	s->focus.counts = count_left(s) > s->nkept_most && !is_stuck(s);
	while (s->nsummed < s->nwanted && !s->wanted[s->nsummed].trims)
		s->nsummed++;
	if (s->nintervals == 0 && s->nsummed < s->nwanted) /* all values are known */
		s->focus.clamp = (struct values_clamp){&s->wanted[s->nsummed].value,
						       &mirror_of(&s->wanted[s->nsummed], s->extent.count)->value};
	is_wanted = s->nintervals > 0 || s->nsummed < s->nwanted;
	values_focus_set(is_wanted ? &s->focus : NULL, s->nintervals > 0);
	return is_wanted;
}

static enum status end_counting(struct values_search *s, const struct values *cell)
{
	size_t nnext = 0;

	for (size_t i = 0; i < s->nintervals; i++) {
		const uint64_t *counts = cell && cell->counts ? cell->counts + i * NBINS : NULL;
		uint64_t count = 0;
		for (size_t bin = 0; counts && bin < NBINS; bin++)
			count += counts[bin];
		if (count != s->intervals[i].count)
			return STATUS_CHANGED;
		TRY(interval_split(&s->focus.keys, &s->intervals[i], counts, 1, 0, s->next, &nnext));
	}
	memcpy(s->intervals, s->next, nnext * sizeof *s->next);
	s->nintervals = nnext;
	return STATUS_OK;
}

static void count_numbers(void *context, const struct values_block *block)
{
	*(uint64_t *)context += block->nvalues;
}

/* Selects among the kept numbers: those of all intervals, one behind the other. */
static enum status select_kept(struct values_search *s, struct values *cell, int nthreads)
{
	struct values_extent extent = s->extent;
	uint64_t nbefore = 0, nkept = 0;
	size_t n = 0;

	extent.count = count_left(s);
	if (cell)
		values_each_block(cell, count_numbers, &nkept);
	if (nkept != extent.count)
		return STATUS_CHANGED;
	for (size_t i = 0; i < s->nintervals; nbefore += s->intervals[i++].count)
		for (size_t k = 0; k < s->intervals[i].nwanted; k++)
			s->kept[n++].rank = s->intervals[i].wanted[k].rank -
					    s->intervals[i].nbelow + nbefore;
	TRY(values_select(cell, &extent, nthreads, s->kept, n));
	n = 0;
	for (size_t i = 0; i < s->nintervals; i++)
		for (size_t k = 0; k < s->intervals[i].nwanted; k++)
			s->intervals[i].wanted[k].value = s->kept[n++].value;
	s->nintervals = 0;
	return STATUS_OK;
}

enum status values_search_end_pass(struct values_search *s, struct values *cell, int nthreads)
{
	if (s->focus.clamp.low) {
		if (!cell || !cell->sum)
			return STATUS_CHANGED;
		set_trimmed(&s->wanted[s->nsummed++], s->focus.clamp.high, cell->sum, s->extent.scale);
		return STATUS_OK;
	}
	if (s->focus.counts)
		return end_counting(s, cell);
	if (!values_are_dropped())
		return select_kept(s, cell, nthreads);
	s->nkept_most = count_left(s) / 8; /* blocks that are not full took too much */
	return is_stuck(s) ? STATUS_NO_MEMORY : STATUS_OK;
}

void values_search_end(struct values_search *s)
{
	free(s->intervals);
	free(s->next);
	free(s->kept);
	values_focus_set(NULL, false);
}
