/* SPDX-License-Identifier: MIT
 *
 * trace.c - see trace.h.
 */
#include "bench/pipeline/trace.h"

#include <stdlib.h>
#include <string.h>

#define SPANS_NMIN 1024

static const struct {
	const char *name, *what;
	enum stage_place place;
} stages[STAGE_COUNT] = {
#define STAGE(id, name, place, what) [STAGE_##id] = {name, what, STAGE_##place},
	STAGE_TABLE(STAGE)
#undef STAGE
};

const char *stage_name(enum stage stage)
{
	return stages[stage].name;
}

const char *stage_what(enum stage stage)
{
	return stages[stage].what;
}

enum stage_place stage_place(enum stage stage)
{
	return stages[stage].place;
}

double trace_gbps(uint64_t nbytes, double ns)
{
	return ns > 0 ? (double)nbytes / ns : 0;
}

/* ---- lanes ---- */

enum status trace_init(struct trace *t, size_t nlanes)
{
	memset(t, 0, sizeof *t);
	t->lanes = calloc(nlanes + 1, sizeof *t->lanes);
	t->capacity = t->lanes ? nlanes : 0;
	return t->lanes ? STATUS_OK : STATUS_NO_MEMORY;
}

void trace_free(struct trace *t)
{
	for (size_t i = 0; i < t->nlanes; i++)
		free(t->lanes[i].spans);
	free(t->lanes);
	memset(t, 0, sizeof *t);
}

struct lane *trace_add_lane(struct trace *t, const char *device)
{
	struct lane *lane = &t->lanes[t->nlanes];

	if (t->nlanes == t->capacity)
		return NULL;
	lane->device = device;
	for (size_t i = 0; i < t->nlanes; i++)
		lane->number += !strcmp(t->lanes[i].device, device);
	t->nlanes++;
	return lane;
}

static bool lane_reserve(struct lane *lane)
{
	size_t capacity = lane->capacity ? 2 * lane->capacity : SPANS_NMIN;
	struct span *spans;

	if (lane->nspans < lane->capacity)
		return true;
	spans = realloc(lane->spans, capacity * sizeof *spans);
	lane->lacks_memory |= !spans;
	if (!spans)
		return false;
	lane->spans = spans;
	lane->capacity = capacity;
	return true;
}

void lane_append(struct lane *lane, struct span span)
{
	if (lane_reserve(lane))
		lane->spans[lane->nspans++] = span;
}

void lane_add(struct lane *lane, enum stage stage, uint64_t chunk, uint64_t nbytes, double begin_ns,
	      double end_ns)
{
	bool again = lane->nchunks_seen[stage] == chunk + 1;

	lane->nchunks_seen[stage] = chunk + 1;
	lane_append(lane, (struct span){stage, chunk, again ? 0 : nbytes, begin_ns, end_ns});
}

/* ---- figures ---- */

static int compare_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int compare_length(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	double p = x->end_ns - x->begin_ns, q = y->end_ns - y->begin_ns;

	return (p > q) - (p < q);
}

/* The length of the spans' union. Sorts them. */
static double busy_time(struct span *spans, size_t n)
{
	double busy = 0, end = 0;

	qsort(spans, n, sizeof *spans, compare_begin);
	for (size_t i = 0; i < n; i++) {
		double begin = i && spans[i].begin_ns < end ? end : spans[i].begin_ns;
		if (spans[i].end_ns <= begin)
			continue;
		busy += spans[i].end_ns - begin;
		end = spans[i].end_ns;
	}
	return busy;
}

/* The median of the spans' lengths. Sorts them. */
static double median_time(struct span *spans, size_t n)
{
	struct span a, b;

	if (n == 0)
		return 0;
	qsort(spans, n, sizeof *spans, compare_length);
	a = spans[(n - 1) / 2];
	b = spans[n / 2];
	return (a.end_ns - a.begin_ns + b.end_ns - b.begin_ns) / 2;
}

/* Adds one lane's part in a stage, and appends its spans to spans. */
static void figure_add(struct stage_figure *f, const struct lane *lane, enum stage stage,
		       struct span *spans)
{
	uint64_t nbytes = 0;
	double ns = 0;

	for (size_t i = 0; i < lane->nspans; i++) {
		const struct span *s = &lane->spans[i];
		if (s->stage != stage)
			continue;
		spans[f->nspans++] = *s;
		nbytes += s->nbytes;
		ns += s->end_ns - s->begin_ns;
	}
	f->nbytes += nbytes;
	f->sum_ns += ns;
	f->lanes_gbps += trace_gbps(nbytes, ns);
}

enum status trace_figure(const struct trace *t, const char *device, enum stage stage,
			 struct stage_figure *out)
{
	struct span *spans;
	size_t n = 0;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < t->nlanes; i++) {
		if (t->lanes[i].lacks_memory)
			return STATUS_NO_MEMORY;
		n += t->lanes[i].nspans;
	}
	spans = malloc((n + 1) * sizeof *spans);
	if (!spans)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < t->nlanes; i++)
		if (!strcmp(t->lanes[i].device, device))
			figure_add(out, &t->lanes[i], stage, spans);
	out->busy_ns = busy_time(spans, out->nspans);
	out->median_ns = median_time(spans, out->nspans);
	free(spans);
	return STATUS_OK;
}
