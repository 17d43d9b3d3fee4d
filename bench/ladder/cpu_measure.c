/* SPDX-License-Identifier: MIT
 *
 * cpu_measure.c - see cpu_measure.h.
 */
#include "bench/ladder/cpu_measure.h"

#include <string.h>

#include "base/cores.h"
#include "bench/ladder/cpu_ladder.h"
#include "bench/ladder/reference.h"
#include "bench/ladder/timing.h"

#define POISON_BYTE 0xff /* NaN in float32 */

const struct cpu_rung cpu_ladder[] = {
	{"cpu", "one CPU thread, a plain loop that the compiler vectorises", BENCH_REDUCE, false},
	{"cpu_threads", "the same on every CPU thread", BENCH_REDUCE, true},
	{"cpu", "one CPU thread, a plain loop: each sum waits for the last", BENCH_SCAN, false},
};
const size_t cpu_ladder_nrungs = sizeof cpu_ladder / sizeof *cpu_ladder;

static const uint64_t awkward[] = {0,    1,    2,    31,   32,   33,    255,   256,
				   257,  1023, 1024, 1025, 2047, 65535, 65537, 1000007};
#define NAWKWARD (sizeof awkward / sizeof *awkward)

static unsigned rung_nthreads(const struct cpu_rung *rung)
{
	return rung->all_threads ? (unsigned)cores_count() : 1;
}

static void run_rung(const struct cpu_rung *rung, const struct cpu_arrays *a, uint64_t n,
		     size_t slot)
{
	const char *in = a->in + slot * a->slot_nbytes;

	if (rung->ladder == BENCH_REDUCE)
		cpu_reduce(a->type, in, n, rung_nthreads(rung), a->out);
	else
		cpu_scan(a->type, in, n, a->out);
}

/* The value of out that all n values go into. */
static uint64_t last_of(const struct cpu_rung *rung, uint64_t n)
{
	return rung->ladder == BENCH_REDUCE ? 0 : n - 1;
}

static uint64_t rung_depth(const struct cpu_rung *rung, uint64_t n)
{
	return rung->ladder == BENCH_REDUCE ? cpu_reduce_depth(n, rung_nthreads(rung)) : n;
}

/* Whether the beginning of the first array comes out right, every value of it. */
static bool beginning_is_right(const struct cpu_rung *rung, const struct cpu_arrays *a, uint64_t n)
{
	uint64_t depth = rung_depth(rung, n);
	struct reference all = reference_empty(a->type, BENCH_SUM);
	bool right = true;

	memset(a->out, POISON_BYTE, bench_type_nbytes(a->type));
	run_rung(rung, a, n, 0);
	for (uint64_t i = 0; i < n; i++) {
		all = reference_join(all, reference_of(a->type, BENCH_SUM, a->in, i));
		if (rung->ladder == BENCH_SCAN)
			right = right && reference_agrees(&all, a->out, i, depth);
	}
	return right && (rung->ladder == BENCH_SCAN || reference_agrees(&all, a->out, 0, depth));
}

static void check(const struct cpu_rung *rung, const struct cpu_arrays *a,
		  struct bench_figure *figure)
{
	figure->is_right = true;
	for (size_t i = 0; i < NAWKWARD; i++) {
		if (awkward[i] > a->n)
			continue;
		figure->nchecks++;
		figure->is_right = figure->is_right && beginning_is_right(rung, a, awkward[i]);
	}
	if (a->n == 0)
		return;
	run_rung(rung, a, a->n, 0);
	figure->nchecks++;
	if (!reference_agrees(a->whole, a->out, last_of(rung, a->n), rung_depth(rung, a->n)))
		figure->is_right = false;
}

#define NREPEATS_MAX 1000

static struct bench_time time_rung(const struct cpu_rung *rung, const struct cpu_arrays *a,
				   unsigned nwanted)
{
	double ns[NREPEATS_MAX], begin_ns = timing_now_ns();
	unsigned nrepeats;

	run_rung(rung, a, a->n, a->nslots - 1);
	nrepeats = timing_nrepeats(nwanted, timing_now_ns() - begin_ns);
	if (nrepeats > NREPEATS_MAX)
		nrepeats = NREPEATS_MAX;
	for (unsigned i = 0; i < nrepeats; i++) {
		begin_ns = timing_now_ns();
		run_rung(rung, a, a->n, i % a->nslots);
		ns[i] = timing_now_ns() - begin_ns;
	}
	return timing_summary(ns, nrepeats);
}

void cpu_measure(const struct cpu_rung *rung, const struct cpu_arrays *a, unsigned nwanted,
		 struct bench_figure *figure)
{
	uint64_t nbytes = a->n * bench_type_nbytes(a->type);

	memset(figure, 0, sizeof *figure);
	figure->rung = rung->name;
	figure->idea = rung->idea;
	figure->type = a->type;
	figure->fold = BENCH_SUM;
	figure->n = a->n;
	figure->nbytes = rung->ladder == BENCH_REDUCE ? nbytes : 2 * nbytes;
	figure->on_cpu = true;
	check(rung, a, figure);
	figure->time = time_rung(rung, a, nwanted);
}
