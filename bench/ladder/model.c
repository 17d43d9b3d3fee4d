/* SPDX-License-Identifier: MIT
 *
 * model.c - see model.h.
 *
 * The counts come from running the functions that the kernels run. Formulas appear only in the
 * published figures, which are printed beside the counts.
 */
#include "bench/ladder/model.h"

#include "kernels/ladder/index.h"

#define LINE_NVALUES (MODEL_LINE_NBYTES / MODEL_VALUE_NBYTES)

_Static_assert(MODEL_GREATEST_N / LINE_NVALUES <= 64, "a bit for every line fits in 64");

static const struct {
	const char *name;
	enum bench_ladder ladder;
} rungs[] = {
#define MODEL_RUNG(id, name, ladder) {name, ladder},
	MODEL_RUNG_TABLE(MODEL_RUNG)
#undef MODEL_RUNG
};

const char *model_name(enum model_rung rung)
{
	return rungs[rung].name;
}

enum bench_ladder model_ladder(enum model_rung rung)
{
	return rungs[rung].ladder;
}

bool model_takes(uint64_t n)
{
	return n >= MODEL_LEAST_N && n <= MODEL_GREATEST_N && !(n & (n - 1));
}

/* ---- one iteration ---- */

/* The step of a thread, for every rung in one form. */
typedef struct ladder_step (*step_function)(unsigned thread, unsigned stride, unsigned n);

static struct ladder_step step_simple(unsigned thread, unsigned stride, unsigned n)
{
	(void)n;
	return simple_step(thread, stride);
}

static struct ladder_step step_convergent(unsigned thread, unsigned stride, unsigned n)
{
	(void)n;
	return convergent_step(thread, stride);
}

static struct ladder_step step_kogge_stone(unsigned thread, unsigned stride, unsigned n)
{
	(void)n;
	return kogge_stone_step(thread, stride);
}

/* Which of a step's accesses, x[to] = x[to] + x[from], go to global memory. */
enum { LOADS = 1, STORES = 2 };

static uint64_t line_of(unsigned position)
{
	return UINT64_C(1) << (position / LINE_NVALUES);
}

static unsigned nlines(uint64_t lines)
{
	return (unsigned)__builtin_popcountll(lines);
}

/* Adds one warp's part in an iteration. A warp without an active thread skips it. */
static void count_warp(struct model_cost *cost, step_function step, unsigned warp, unsigned stride,
		       unsigned n, int global)
{
	uint64_t to_lines = 0, from_lines = 0;
	unsigned first = warp * MODEL_WARP_NLANES, nactive = 0;

	for (unsigned t = first; t < first + MODEL_WARP_NLANES && t < cost->nthreads; t++) {
		struct ladder_step s = step(t, stride, n);
		if (!s.active)
			continue;
		nactive++;
		to_lines |= line_of(s.to);
		from_lines |= line_of(s.from);
	}
	cost->nactive += nactive;
	cost->nissued += nactive ? MODEL_WARP_NLANES : 0;
	if (global & LOADS)
		cost->nrequests += nlines(to_lines) + nlines(from_lines);
	if (global & STORES)
		cost->nrequests += nlines(to_lines);
}

static void count_iteration(struct model_cost *cost, step_function step, unsigned stride,
			    unsigned n, int global)
{
	for (unsigned warp = 0; warp * MODEL_WARP_NLANES < cost->nthreads; warp++)
		count_warp(cost, step, warp, stride, n, global);
	cost->niterations++;
}

/* ---- the rungs: their strides, in the kernels' order ---- */

static void count_simple(struct model_cost *cost, unsigned n)
{
	cost->nthreads = n / 2;
	for (unsigned stride = 1; stride <= cost->nthreads; stride *= 2)
		count_iteration(cost, step_simple, stride, n, LOADS | STORES);
}

static void count_convergent(struct model_cost *cost, unsigned n)
{
	cost->nthreads = n / 2;
	for (unsigned stride = cost->nthreads; stride > 0; stride /= 2)
		count_iteration(cost, step_convergent, stride, n, LOADS | STORES);
}

/* The first addition loads from global memory; the others access shared memory, until one thread
 * stores the result. */
static void count_shared_memory(struct model_cost *cost, unsigned n)
{
	cost->nthreads = n / 2;
	for (unsigned stride = cost->nthreads; stride > 0; stride /= 2)
		count_iteration(cost, step_convergent, stride, n,
				stride == cost->nthreads ? LOADS : 0);
	cost->nrequests += nlines(line_of(0));
}

static void count_kogge_stone(struct model_cost *cost, unsigned n)
{
	cost->nthreads = n;
	for (unsigned stride = 1; stride < n; stride *= 2)
		count_iteration(cost, step_kogge_stone, stride, n, 0);
}

static void count_brent_kung(struct model_cost *cost, unsigned n)
{
	cost->nthreads = n / 2;
	for (unsigned stride = 1; stride < n; stride *= 2)
		count_iteration(cost, brent_kung_up_step, stride, n, 0);
	for (unsigned stride = n / 4; stride > 0; stride /= 2)
		count_iteration(cost, brent_kung_down_step, stride, n, 0);
}

struct model_cost model_count(enum model_rung rung, unsigned n)
{
	static void (*const count[MODEL_NRUNGS])(struct model_cost *, unsigned) = {
		[MODEL_SIMPLE] = count_simple,
		[MODEL_CONVERGENT] = count_convergent,
		[MODEL_SHARED_MEMORY] = count_shared_memory,
		[MODEL_KOGGE_STONE] = count_kogge_stone,
		[MODEL_BRENT_KUNG] = count_brent_kung,
	};
	struct model_cost cost = {0};

	count[rung](&cost, n);
	return cost;
}

/* ---- what is published ---- */

/* Chapter 10 works out two sizes. */
static const struct {
	enum model_rung rung;
	unsigned n;
	struct model_published published;
} figures[] = {
	{MODEL_SIMPLE, 256,
	 {255, 736, 141,
	  "the published 255/736 = 0.35 leaves out the iteration with stride 32, in which each of "
	  "the 4 warps still has one active thread and so takes part: 736 + 4 x 32 = 864"}},
	{MODEL_CONVERGENT, 256, {255, 384, 36, NULL}},
	{MODEL_SHARED_MEMORY, 256, {0, 0, 9, NULL}},
	{MODEL_SIMPLE, 2048, {0, 0, 1149, NULL}},
	{MODEL_CONVERGENT, 2048, {0, 0, 204, NULL}},
};

struct model_published model_published(enum model_rung rung, unsigned n)
{
	struct model_published published = {0};
	unsigned log2_n = (unsigned)__builtin_ctz(n);

	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		if (figures[i].rung == rung && figures[i].n == n)
			return figures[i].published;
	if (rung == MODEL_KOGGE_STONE)
		published.nactive = (uint64_t)n * log2_n - (n - 1);
	if (rung == MODEL_BRENT_KUNG)
		published.nactive = 2 * (uint64_t)n - 2 - log2_n;
	return published;
}
