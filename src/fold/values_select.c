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
#include "fold/values_pass.h"

#define BIN_BITS 12
#define NBINS (1 << BIN_BITS)
#define FEW 16384 /* so many numbers of an interval are gathered */

/* What the numbers are taken for. */
enum key_kind { KEY_64, KEY_128, KEY_OF_WIDE };

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

struct selection {
	struct values_blocks blocks; /* owned */
	enum key_kind kind;
	int scale;
	struct interval *intervals; /* owned */
	size_t nintervals, ncounts; /* ncounts: of those that do not gather */
	int nthreads;
	uint64_t *counts; /* nthreads x ncounts x NBINS; owned */
};

/* ---- keys ---- */

#define KEY_EXPONENT_SHIFT 56

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

	if (p->s->kind == KEY_128) {
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
		if (p->s->kind == KEY_OF_WIDE)
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
		else if (s->kind == KEY_128)
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
		if (p->s->kind == KEY_64)
			p->n = values_next64(&at, p->s->scale, p->x64);
		else if (p->s->kind == KEY_128)
			p->n = values_next128(&at, p->s->scale, p->x128);
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
	p->wide = s->kind == KEY_OF_WIDE ? malloc(VALUES_BATCH * sizeof *p->wide) : NULL;
	if (p->x64 && p->x128 && (p->wide || s->kind != KEY_OF_WIDE))
		return STATUS_OK;
	return STATUS_NO_MEMORY;
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
	if (v->gathered_wide)
		memory_give(v->count * sizeof *v->gathered_wide);
}

/* Sets a wanted number to the integer x of the column's scale. */
static void set_value(struct ranked *r, int128 x, int scale)
{
	wide_clear(&r->value);
	wide_add_decimal(&r->value, x, scale);
}

static int compare128(const void *a, const void *b)
{
	int128 x = *(const int128 *)a, y = *(const int128 *)b;

	return (x > y) - (x < y);
}

static int compare_wide(const void *a, const void *b)
{
	return wide_compare(a, b);
}

/* Sorts what was gathered, and sets the wanted numbers. */
static void finish_gathered(const struct selection *s, struct interval *v)
{
	bool is_wide = s->kind == KEY_OF_WIDE;

	if (is_wide)
		qsort(v->gathered_wide, v->count, sizeof *v->gathered_wide, compare_wide);
	else
		qsort(v->gathered, v->count, sizeof *v->gathered, compare128);
	for (size_t i = 0; i < v->nwanted; i++) {
		uint64_t at = v->wanted[i].rank - v->nbelow;
		if (is_wide)
			v->wanted[i].value = v->gathered_wide[at];
		else
			set_value(&v->wanted[i], v->gathered[at], s->scale);
	}
}

/* Sets v->shift so that the interval has up to NBINS bins. */
static void set_shift(struct interval *v)
{
	uint128 width = (uint128)v->high - (uint128)v->low;

	for (v->shift = 0; width >> v->shift >= NBINS;)
		v->shift++;
}

/* Decides what the next pass does about an interval, which is not a single number's. */
static enum status prepare(struct selection *s, struct interval *v)
{
	bool is_wide = s->kind == KEY_OF_WIDE;

	v->gathers = v->count <= FEW || (is_wide && v->low == v->high);
	if (!v->gathers) {
		set_shift(v);
		v->slot = s->ncounts++;
		return STATUS_OK;
	}
	if (!is_wide) {
		v->gathered = malloc(v->count * sizeof *v->gathered);
		return v->gathered ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (!memory_take(v->count * sizeof *v->gathered_wide))
		return STATUS_NO_MEMORY;
	v->gathered_wide = malloc(v->count * sizeof *v->gathered_wide);
	if (!v->gathered_wide)
		memory_give(v->count * sizeof *v->gathered_wide);
	return v->gathered_wide ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Adds an interval to the next ones, unless it is a single number: then sets the wanted ones. */
static void add_interval(const struct selection *s, struct interval *next, size_t *nnext,
			 const struct interval *v)
{
	if (v->nwanted == 0)
		return;
	if (v->low < v->high || s->kind == KEY_OF_WIDE) {
		next[(*nnext)++] = *v;
		return;
	}
	for (size_t i = 0; i < v->nwanted; i++)
		set_value(&v->wanted[i], v->low, s->scale);
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

/* Adds the intervals of the bins that hold wanted ranks. */
static void split(const struct selection *s, const struct interval *v, struct interval *next,
		  size_t *nnext)
{
	uint64_t nbelow = v->nbelow;
	size_t first = 0;

	for (size_t bin = 0; bin < NBINS && first < v->nwanted; bin++) {
		struct interval part;
		uint64_t count = 0;
		for (int i = 0; i < s->nthreads; i++)
			count += s->counts[((size_t)i * s->ncounts + v->slot) * NBINS + bin];
		if (v->wanted[first].rank - nbelow < count) {
			part = bin_interval(v, bin, nbelow, count, first);
			first += part.nwanted;
			add_interval(s, next, nnext, &part);
		}
		nbelow += count;
	}
}

/* Replaces the intervals of a pass by those of the next. next: room for as many as ranks. */
static void next_intervals(struct selection *s, struct interval *next)
{
	struct interval *done = s->intervals;
	size_t nnext = 0;

	for (size_t i = 0; i < s->nintervals; i++) {
		if (done[i].gathers)
			finish_gathered(s, &done[i]);
		else
			split(s, &done[i], next, &nnext);
		interval_free(&done[i]);
	}
	memcpy(done, next, nnext * sizeof *next);
	s->nintervals = nnext;
}

/* ---- a selection ---- */

/* Chooses the keys, and sets the least and the greatest one. */
static void choose_keys(struct selection *s, const struct values_extent *extent, int128 *low,
			int128 *high)
{
	s->scale = extent->scale;
	if (!wide_to_int128(extent->min, s->scale, low) ||
	    !wide_to_int128(extent->max, s->scale, high) ||
	    *low < -(DECIMAL_INT128_MAX / 2) || *high > DECIMAL_INT128_MAX / 2) {
		s->kind = KEY_OF_WIDE;
		*low = key_of_wide(extent->min);
		*high = key_of_wide(extent->max);
	} else {
		s->kind = *low < INT64_MIN || *high > INT64_MAX ? KEY_128 : KEY_64;
	}
}

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
			next_intervals(s, next);
	}
	for (size_t i = 0; i < s->nintervals; i++)
		interval_free(&s->intervals[i]);
	free(next);
	return status;
}

enum status values_select(const struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted)
{
	struct selection s = {.intervals = calloc(nwanted + 1, sizeof *s.intervals)};
	struct interval all = {.count = extent->count, .wanted = wanted, .nwanted = nwanted};
	enum status status = values_blocks_list(v, &s.blocks);

	s.nthreads = values_pass_nthreads(&s.blocks, nthreads);
	if (!s.intervals)
		status = STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		choose_keys(&s, extent, &all.low, &all.high);
		add_interval(&s, s.intervals, &s.nintervals, &all);
		status = selection_run(&s, nwanted);
	}
	values_blocks_free(&s.blocks);
	free(s.intervals);
	free(s.counts);
	return status;
}
