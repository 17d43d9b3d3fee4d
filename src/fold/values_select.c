/* SPDX-License-Identifier: MIT
 *
 * values_select.c - see values_select.h.
 *
 * Selection by digits, from the highest (radix selection: Alabi et al., "Fast k-Selection Algorithms
 * for Graphics Processing Units", 2012), but of the distance from the smallest number instead of the
 * bits themselves: no number of an interval is then far from all others for want of common bits.
 *
 * All wanted ranks begin in one interval, from the smallest number to the largest. A pass over all
 * numbers counts those of each interval in NBINS bins of equal width. A rank's bin is its next
 * interval. An interval of few numbers is gathered and sorted; one of a single number needs no more.
 * The numbers of a pass are shared by all threads, block by block, and each has counts of its own.
 *
 * Numbers are integers at the column's largest scale: of 64 bits where the extremes fit, otherwise of
 * 128 bits. Where 128 do not suffice, keys of 128 bits stand for the numbers, in the same order, but
 * different numbers may have one key: the numbers of the last interval are then gathered as they are.
 *
 * Where the numbers do not fit in memory, the passes are over the input: what a fold keeps of a chunk is a block like any other,
 * goes through the pass when it is combined, and is freed. A pass that counts makes each interval NBINS times as narrow, so a
 * column of 64 bits is searched in up to six, and usually in two: one that counts, and one that gathers what is left.
 */
#include "fold/values_select.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/thread.h"
#include "fold/device_run.h"

#define PLACED int128
#define PLACED_NAME(name) name##_128
#include "fold/put_in_place.h"

/* ---- intervals ---- */

#define NBINS RANGE_NBINS
#define KEY_NBITS 112 /* the highest bits of a long number in its key */

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
	int128 *gathered;            /* count of them; owned */
	struct exact *gathered_long; /* for KEY_OF_LONG; the limbs are owned, too */
};

/* x as an integer, for KEY_OF_LONG, or for a distance. */
static void set_integer(const struct values_keys *keys, const struct exact *x, struct integer *out)
{
	exact_to_integer(x, exact_places(keys->scale), out);
}

/* A number's key; that of a long one is made as a floating-point number is: how many bits the integer has, and the highest of them. */
static int128 key_of(const struct values_keys *keys, const struct exact *x)
{
	struct integer n;
	uint128 bits;
	int128 key;
	int nzeros;

	if (keys->kind != KEY_OF_LONG)
		return exact_to_int128(x, keys->scale, &key) ? key : 0;
	set_integer(keys, x, &n);
	if (integer_is_zero(&n))
		return 0;
	nzeros = __builtin_clzl(n.limb[n.nlimbs - 1]);
	bits = (uint128)n.limb[n.nlimbs - 1] << 64 | (n.nlimbs > 1 ? n.limb[n.nlimbs - 2] : 0);
	bits = bits << nzeros | (n.nlimbs > 2 && nzeros ? n.limb[n.nlimbs - 3] >> (64 - nzeros) : 0);
	key = (int128)integer_nbits(&n) << KEY_NBITS | (int128)(bits >> (128 - KEY_NBITS));
	return n.negative ? -key : key;
}

/* |2 x - center|; its limbs are in the second room. */
static struct exact distance_of(const struct exact *x, const struct exact *center, struct integer rooms[2])
{
	struct exact once = *x, less = *center, distance;

	once.is_rounded = false;
	exact_negate(&less);
	distance = exact_sum(&once, &once, &rooms[0]);
	distance = exact_sum(&distance, &less, &rooms[1]);
	if (exact_is_negative(&distance))
		exact_negate(&distance);
	return distance;
}

/* Gives the keys room for x. */
static void keys_hold(struct values_keys *keys, const struct exact *x)
{
	struct integer n;

	set_integer(keys, x, &n);
	keys->nlimbs = n.nlimbs > keys->nlimbs ? n.nlimbs : keys->nlimbs;
}

void values_keys_choose(struct values_keys *keys, const struct values_extent *extent, int128 *low,
			int128 *high)
{
	const int nspare = extent->center ? 8 : 1; /* so many times a number, a distance fits */
	struct integer rooms[2][2];
	struct exact least = *extent->min, most = *extent->max;

	*keys = (struct values_keys){.scale = extent->scale, .nlimbs = 2};
	if (!exact_to_int128(extent->min, keys->scale, low) ||
	    !exact_to_int128(extent->max, keys->scale, high) ||
	    *low < -(DECIMAL_INT128_MAX / 2 / nspare) || *high > DECIMAL_INT128_MAX / 2 / nspare)
		keys->kind = KEY_OF_LONG;
	else
		keys->kind = *low < INT64_MIN / nspare || *high > INT64_MAX / nspare ? KEY_128 : KEY_64;
	if (extent->center) {
		least = distance_of(&least, extent->center, rooms[0]);
		most = distance_of(&most, extent->center, rooms[1]);
	}
	if (keys->kind == KEY_OF_LONG) {
		keys_hold(keys, &least);
		keys_hold(keys, &most);
	}
	*low = key_of(keys, &least);
	*high = key_of(keys, &most);
	if (extent->center) {
		*high = *low > *high ? *low : *high;
		*low = 0;
	}
}

/* Sets a wanted number, whose limbs are handed over. */
static void set_value(struct ranked *wanted, struct exact value)
{
	exact_free(&wanted->value); /* that of a search that was given up */
	wanted->value = value;
}

/* Adds an interval to next[0 .. *nnext) if it has wanted ranks; but if it is a single number, sets those instead. */
static void interval_add(const struct values_keys *keys, struct interval *next, size_t *nnext, const struct interval *v)
{
	if (v->nwanted == 0)
		return;
	if (v->low < v->high || keys->kind == KEY_OF_LONG) {
		next[(*nnext)++] = *v;
		return;
	}
	for (size_t i = 0; i < v->nwanted; i++)
		set_value(&v->wanted[i], (struct exact){.value = v->low, .scale = keys->scale});
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

/* Adds the intervals of v's bins that hold wanted ranks. Returns false if the bins do not hold as many numbers as the interval. */
static bool interval_split(const struct values_keys *keys, const struct interval *v, const uint64_t *counts, struct interval *next,
			   size_t *nnext)
{
	uint64_t nbelow = v->nbelow;
	size_t first = 0;

	for (size_t bin = 0; bin < NBINS; bin++) {
		if (first < v->nwanted && v->wanted[first].rank - nbelow < counts[bin]) {
			struct interval part = bin_interval(v, bin, nbelow, counts[bin], first);
			first += part.nwanted;
			interval_add(keys, next, nnext, &part);
		}
		nbelow += counts[bin];
	}
	return nbelow == v->nbelow + v->count;
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

/* ---- a pass ---- */

#define FEW 16384     /* so many numbers of an interval in memory are gathered */
#define FEW_LONG 1024 /* of long ones, which do not count towards --memory */

/* What a thread has of a pass while it visits a block. */
struct values_pass {
	struct values_pass *next; /* of those that no thread has */
	struct exact sum;         /* where numbers are summed; owned */
	bool lacks_memory;
	uint64_t counts[]; /* NBINS for each interval that does not gather */
};

static pthread_mutex_t passes_lock = PTHREAD_MUTEX_INITIALIZER;

static struct values_pass *pass_new(const struct values_search *s)
{
	struct values_pass *p = calloc(1, sizeof *p + s->ncounts * NBINS * sizeof *p->counts);

	if (p && s->keys.kind == KEY_64)
		p->sum.scale = s->keys.scale;
	return p;
}

/* Takes one that no thread has, or a new one. NULL: no memory, which the pass has failed for. */
static struct values_pass *pass_take(struct values_search *s)
{
	struct values_pass *p;

	pthread_mutex_lock(&passes_lock);
	p = s->passes;
	if (p)
		s->passes = p->next;
	else
		p = pass_new(s);
	s->lacks_memory |= !p;
	pthread_mutex_unlock(&passes_lock);
	return p;
}

static void pass_give(struct values_search *s, struct values_pass *p)
{
	pthread_mutex_lock(&passes_lock);
	p->next = s->passes;
	s->passes = p;
	s->lacks_memory |= p->lacks_memory;
	pthread_mutex_unlock(&passes_lock);
}

static void count64(const int64_t *x, size_t n, const struct interval *v, uint64_t *counts)
{
	uint64_t low = (uint64_t)(int64_t)v->low, width = (uint64_t)(int64_t)v->high - low;

	for (size_t i = 0; i < n; i++) {
		uint64_t distance = (uint64_t)x[i] - low;
		if (distance <= width)
			counts[distance >> v->shift]++;
	}
}

/* Appends a number with that key if it lies in the interval. One too many, of an input that has changed, is counted. */
static inline void gather(struct values_pass *p, struct interval *v, int128 key, const struct exact *x)
{
	uint64_t at;

	if (key < v->low || key > v->high)
		return;
	at = atomic_fetch_add(&v->ngathered, 1);
	if (at >= v->count)
		return;
	if (!x)
		v->gathered[at] = key;
	else if (exact_copy(&v->gathered_long[at], x) != STATUS_OK)
		p->lacks_memory = true;
}

static void pass64(const struct values_search *s, const int64_t *x, size_t n, struct values_pass *p)
{
	for (size_t k = 0; k < s->nintervals; k++) {
		struct interval *v = &s->intervals[k];
		const uint64_t low = (uint64_t)(int64_t)v->low, width = (uint64_t)(int64_t)v->high - low;
		if (!v->gathers)
			count64(x, n, v, p->counts + v->slot * NBINS);
		for (size_t i = 0; v->gathers && i < n; i++)
			if ((uint64_t)x[i] - low <= width)
				gather(p, v, x[i], NULL);
	}
}

static void pass_long(const struct values_search *s, struct values_cursor *at, struct values_pass *p)
{
	struct integer rooms[2];
	struct exact x;
	int128 key;

	while (values_next_exact(at, &x)) {
		if (s->extent.center)
			x = distance_of(&x, s->extent.center, rooms);
		x.is_rounded = false;
		key = key_of(&s->keys, &x);
		for (size_t k = 0; k < s->nintervals; k++) {
			struct interval *v = &s->intervals[k];
			if (v->gathers)
				gather(p, v, key, s->keys.kind == KEY_OF_LONG ? &x : NULL);
			else if (key >= v->low && key <= v->high)
				p->counts[v->slot * NBINS + (size_t)(((uint128)key - (uint128)v->low) >> v->shift)]++;
		}
	}
}

/* What is kept within two of the numbers is one of them for each number beyond, so the sum of all minus those is the sum of the
 * numbers between. Nobody has to know how many are equal to them. */
static void sum64(const int64_t *x, size_t n, const struct values_search *s, int128 *sum)
{
	const int64_t low = (int64_t)s->low, high = (int64_t)s->high;

	for (size_t i = 0; i < n; i++)
		*sum += x[i] < low ? low : x[i] > high ? high : x[i];
}

static void sum_long(const struct values_search *s, struct values_cursor *at, struct values_pass *p)
{
	struct exact x;

	while (values_next_exact(at, &x))
		if (exact_add(&p->sum, exact_compare(&x, s->low_end) < 0    ? s->low_end
				   : exact_compare(&x, s->high_end) > 0 ? s->high_end
									: &x) != STATUS_OK)
			p->lacks_memory = true;
}

static void pass_block64(const struct values_search *s, struct values_cursor *at, struct values_pass *p)
{
	const int64_t center = (int64_t)s->center;
	int64_t x[VALUES_BATCH];
	size_t n;

	while ((n = values_next64(at, s->keys.scale, x)) > 0) {
		for (size_t i = 0; s->extent.center && i < n; i++)
			x[i] = 2 * x[i] < center ? center - 2 * x[i] : 2 * x[i] - center;
		if (s->low_end)
			sum64(x, n, s, &p->sum.value);
		else
			pass64(s, x, n, p);
	}
}

static void pass_block(void *search, const struct values_block *block)
{
	struct values_search *s = search;
	struct values_cursor at = {.block = block};
	struct values_pass *p = pass_take(s);

	if (!p)
		return;
	if (s->keys.kind == KEY_64)
		pass_block64(s, &at, p);
	else if (s->low_end)
		sum_long(s, &at, p);
	else
		pass_long(s, &at, p);
	pass_give(s, p);
}

/* ---- the devices' share of a pass ---- */

/* What a device does about an interval: like count64 and gather. */
static struct device_range range_of(const struct interval *v, uint64_t *counts)
{
	struct device_range range = {.low = (int64_t)v->low, .high = (int64_t)v->high};

	if (!v->gathers) {
		range.shift = v->shift;
		range.counts = counts + v->slot * NBINS;
	}
	return range;
}

static enum status pass_ranges(struct values_search *s, const struct device_run *runs, struct device_range *ranges, struct values_pass *p)
{
	for (size_t i = 0; i < s->nintervals; i++) {
		ranges[i] = range_of(&s->intervals[i], p->counts);
		if (!s->intervals[i].gathers)
			continue;
		ranges[i].nlisted_most = s->intervals[i].count;
		ranges[i].listed = malloc(s->intervals[i].count * sizeof *ranges[i].listed);
		NEED(ranges[i].listed);
	}
	TRY(runs->ops->pass(runs, s->keys.scale, ranges, s->nintervals));
	for (size_t i = 0; i < s->nintervals; i++) {
		if (s->intervals[i].gathers && ranges[i].nlisted > s->intervals[i].count - s->intervals[i].ngathered)
			return STATUS_GPU;
		for (uint64_t k = 0; s->intervals[i].gathers && k < ranges[i].nlisted; k++)
			gather(p, &s->intervals[i], ranges[i].listed[k], NULL);
	}
	return STATUS_OK;
}

static enum status pass_devices(struct values_search *s, const struct device_run *runs)
{
	struct device_range *ranges = calloc(s->nintervals, sizeof *ranges);
	struct values_pass *p = pass_take(s);
	enum status status = ranges && p ? pass_ranges(s, runs, ranges, p) : STATUS_NO_MEMORY;

	for (size_t i = 0; ranges && i < s->nintervals; i++)
		free(ranges[i].listed);
	free(ranges);
	if (p)
		pass_give(s, p);
	return status;
}

/* ---- intervals ---- */

/* The memory of a number that is gathered, at most. */
static size_t gathered_nbytes(const struct values_keys *keys)
{
	return keys->kind == KEY_OF_LONG ? sizeof(struct exact) + (size_t)keys->nlimbs * sizeof(unsigned long) : sizeof(int128);
}

static void interval_free(const struct values_keys *keys, struct interval *v)
{
	free(v->gathered);
	for (size_t i = 0; v->gathered_long && i < v->count; i++)
		exact_free(&v->gathered_long[i]);
	free(v->gathered_long);
	if (v->gathered_long && v->count > FEW_LONG)
		memory_give(v->count * gathered_nbytes(keys));
	v->gathered = NULL;
	v->gathered_long = NULL;
}

/* Sets the wanted numbers, of what was gathered. */
static void finish_gathered(const struct values_search *s, struct interval *v)
{
	const bool is_long = s->keys.kind == KEY_OF_LONG;
	uint64_t placed = 0; /* the place of the last one; those after it are not less */

	if (is_long)
		qsort(v->gathered_long, v->count, sizeof *v->gathered_long, exact_order);
	for (size_t i = 0; i < v->nwanted; i++) {
		uint64_t at = v->wanted[i].rank - v->nbelow;
		if (!is_long)
			put_in_place_128(v->gathered, at >= placed ? (ptrdiff_t)placed : 0, (ptrdiff_t)v->count - 1,
				     (ptrdiff_t)at);
		placed = at;
		set_value(&v->wanted[i], is_long ? v->gathered_long[at] : (struct exact){.value = v->gathered[at], .scale = s->keys.scale});
		if (is_long)
			v->gathered_long[at] = (struct exact){.scale = 0};
	}
}

/* Decides what the next pass does about an interval, which is not a single number's. */
static enum status prepare(struct values_search *s, struct interval *v)
{
	const bool is_long = s->keys.kind == KEY_OF_LONG;

	v->gathers = v->count <= s->nfew / s->nintervals || (is_long && v->low == v->high);
	if (!v->gathers) {
		uint128 width = (uint128)v->high - (uint128)v->low;
		/* Sets v->shift so that the interval has up to NBINS bins. */
		for (v->shift = 0; width >> v->shift >= NBINS;)
			v->shift++;
		v->slot = s->ncounts++;
		return STATUS_OK;
	}
	if (!is_long) {
		v->gathered = malloc(v->count * sizeof *v->gathered);
		return v->gathered ? STATUS_OK : STATUS_NO_MEMORY;
	}
	if (v->count > FEW_LONG && !memory_take(v->count * gathered_nbytes(&s->keys)))
		return STATUS_NO_MEMORY;
	v->gathered_long = calloc(v->count, sizeof *v->gathered_long);
	if (!v->gathered_long && v->count > FEW_LONG)
		memory_give(v->count * gathered_nbytes(&s->keys));
	return v->gathered_long ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- a search ---- */

/* The rank that is as far from the last one as r's from the first; it is among those after r. */
static const struct ranked *mirror_of(const struct ranked *r, uint64_t count)
{
	const struct ranked *other = r;

	while (other->rank != count - 1 - r->rank)
		other++;
	return other;
}

static bool has_sums(const struct ranked *wanted, size_t nwanted)
{
	for (size_t i = 0; i < nwanted; i++)
		if (wanted[i].trims)
			return true;
	return false;
}

/* Has the next pass sum the numbers, each kept within those of two ranks, whose values are known; or not, if no sum is left. */
static void prepare_sum(struct values_search *s)
{
	struct ranked *r = &s->wanted[s->nsummed];

	s->low_end = NULL;
	for (; s->nsummed < s->nwanted && !r->trims; r++)
		s->nsummed++;
	if (s->nsummed == s->nwanted)
		return;
	s->low_end = &r->value;
	s->high_end = &mirror_of(r, s->extent.count)->value;
	exact_to_int128(s->low_end, s->keys.scale, &s->low);
	exact_to_int128(s->high_end, s->keys.scale, &s->high);
}

static void free_passes(struct values_search *s)
{
	for (struct values_pass *p = s->passes, *next; p; p = next) {
		next = p->next;
		exact_free(&p->sum);
		free(p);
	}
	s->passes = NULL;
}

/* Prepares a pass. Returns STATUS_OK and sets *is_needed to whether one is needed. */
static enum status begin_pass(struct values_search *s, bool *is_needed)
{
	s->ncounts = 0;
	s->lacks_memory = false;
	for (size_t i = 0; i < s->nintervals; i++)
		TRY(prepare(s, &s->intervals[i]));
	if (s->nintervals == 0)
		prepare_sum(s);
	*is_needed = s->nintervals > 0 || s->low_end;
	return STATUS_OK;
}

/* Sets the sum that was asked for: what all threads have, minus the ends for each number beyond. Errors: STATUS_NO_MEMORY. */
static enum status end_sum(struct values_search *s)
{
	struct ranked *r = &s->wanted[s->nsummed++];
	const struct exact nbeyond = {.value = -(int128)r->rank};
	struct integer room, product_room;
	struct exact beyond = exact_sum(s->low_end, s->high_end, &room);

	beyond = exact_product(&beyond, &nbeyond, &product_room);
	exact_free(&r->trimmed);
	TRY(exact_add(&r->trimmed, &beyond));
	for (const struct values_pass *p = s->passes; p; p = p->next)
		TRY(exact_add(&r->trimmed, &p->sum));
	return STATUS_OK;
}

/* Narrows the search by what all threads have counted and gathered. Returns false if that is not what there must be. */
static bool end_counts(struct values_search *s, struct values_pass *all)
{
	size_t nnext = 0;
	bool fits = true;

	for (const struct values_pass *p = all->next; p; p = p->next)
		for (size_t i = 0; i < s->ncounts * NBINS; i++)
			all->counts[i] += p->counts[i];
	for (size_t i = 0; i < s->nintervals && fits; i++) {
		struct interval *v = &s->intervals[i];
		fits = v->gathers ? v->ngathered == v->count
				  : interval_split(&s->keys, v, all->counts + v->slot * NBINS, s->next, &nnext);
		if (fits && v->gathers)
			finish_gathered(s, v);
		interval_free(&s->keys, v);
	}
	if (!fits)
		return false;
	memcpy(s->intervals, s->next, nnext * sizeof *s->next);
	s->nintervals = nnext;
	return true;
}

/* Errors: STATUS_NO_MEMORY; `otherwise` where the numbers are not those that there must be. */
static enum status end_pass(struct values_search *s, enum status otherwise)
{
	struct values_pass *all = pass_take(s); /* there is none if no number came */
	bool fits = true;

	if (!all || s->lacks_memory)
		return STATUS_NO_MEMORY;
	pass_give(s, all);
	if (s->low_end)
		TRY(end_sum(s));
	else
		fits = end_counts(s, all);
	free_passes(s);
	return fits ? STATUS_OK : otherwise;
}

static enum status search_begin(struct values_search *s, const struct values_extent *extent, struct ranked *wanted, size_t nwanted)
{
	struct interval all = {.count = extent->count, .wanted = wanted, .nwanted = nwanted};

	*s = (struct values_search){.extent = *extent, .wanted = wanted, .nwanted = nwanted,
				    .intervals = calloc(nwanted + 1, sizeof *s->intervals),
				    .next = calloc(nwanted + 1, sizeof *s->next)};
	NEED(s->intervals && s->next);
	values_keys_choose(&s->keys, extent, &all.low, &all.high);
	s->low = all.low;
	s->high = all.high;
	if (extent->center)
		exact_to_int128(extent->center, s->keys.scale, &s->center);
	interval_add(&s->keys, s->intervals, &s->nintervals, &all);
	return STATUS_OK;
}

static void search_free(struct values_search *s)
{
	for (size_t i = 0; i < s->nintervals; i++)
		interval_free(&s->keys, &s->intervals[i]);
	free_passes(s);
	free(s->intervals);
	free(s->next);
}

/* ---- ... of numbers in memory ---- */

/* Whether there are as many numbers as the extent says, and its ends are in order. */
static bool extent_fits(const struct values_search *s, const struct values_blocks *blocks, const struct device_run *runs)
{
	uint64_t nvalues = 0;

	for (size_t i = 0; i < blocks->n; i++)
		nvalues += blocks->at[i]->nvalues;
	for (; runs; runs = runs->next)
		nvalues += runs->nnumbers;
	return nvalues == s->extent.count && s->low <= s->high;
}

static enum status select_in(struct values_search *s, struct values *v, int nthreads, struct values_blocks *blocks)
{
	const struct device_run *runs;
	bool is_needed;

	if (s->keys.kind != KEY_64 || s->extent.center || has_sums(s->wanted, s->nwanted))
		TRY(values_bring_down(v));
	TRY(values_blocks_list(v, blocks));
	runs = v ? v->runs : NULL;
	if (!extent_fits(s, blocks, runs))
		return STATUS_PART_DAMAGED;
	nthreads = values_pass_nthreads(blocks, nthreads);
	for (;;) {
		s->nfew = (s->keys.kind == KEY_OF_LONG ? FEW_LONG : FEW) * s->nintervals;
		TRY(begin_pass(s, &is_needed));
		if (!is_needed)
			return STATUS_OK;
		values_pass(blocks, nthreads, pass_block, s, 0);
		if (runs)
			TRY(pass_devices(s, runs));
		TRY(end_pass(s, STATUS_PART_DAMAGED));
	}
}

enum status values_select(struct values *v, const struct values_extent *extent, int nthreads,
			  struct ranked *wanted, size_t nwanted)
{
	struct values_search s;
	struct values_blocks blocks = {.at = NULL};
	enum status status = search_begin(&s, extent, wanted, nwanted);

	THEN(status, select_in(&s, v, nthreads, &blocks));
	values_blocks_free(&blocks);
	search_free(&s);
	return status;
}

/* ---- ... by passes over an input ---- */

static struct values_search *current;
static bool dropping_allowed;
static atomic_bool dropped;

void values_may_drop(bool may)
{
	dropping_allowed = may;
	dropped = false;
}

bool values_are_searched(void)
{
	return current != NULL;
}

void values_search_block(const struct values_block *block)
{
	pass_block(current, block);
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

enum status values_search_begin(struct values_search *s, const struct values_extent *extent,
				struct ranked *wanted, size_t nwanted)
{
	values_may_drop(false);
	TRY(search_begin(s, extent, wanted, nwanted));
	s->nfew = memory_limit_nbytes() / gathered_nbytes(&s->keys);
	return STATUS_OK;
}

enum status values_search_begin_pass(struct values_search *s, bool *is_needed)
{
	TRY(begin_pass(s, is_needed));
	current = *is_needed ? s : NULL;
	return STATUS_OK;
}

enum status values_search_end_pass(struct values_search *s, const struct values *cell)
{
	if (cell)
		values_each_block(cell, pass_block, s);
	return end_pass(s, STATUS_CHANGED);
}

void values_search_end(struct values_search *s)
{
	search_free(s);
	current = NULL;
}
