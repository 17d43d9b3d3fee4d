/* SPDX-License-Identifier: MIT
 *
 * cpu_ladder.c - see cpu_ladder.h.
 *
 * One accumulator would wait for its own last addition, 4 cycles in float32. Several lanes of
 * accumulators run side by side, in vector registers where the compiler recognises them. gcc
 * unrolls the loop over lanes at -O3 only (in the cache, float32: 15 GB/s at -O2, 62 at -O3; gcc
 * 12.2, Zen 5, 2026-11-21), so this file asks for it, whatever the rest is built with: the
 * comparison should be fair to the CPU.
 */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif
#include "bench/ladder/cpu_ladder.h"

#include <pthread.h>
#include <string.h>

#include "base/machine.h"
#include "bench/ladder/timing.h"
#include "kernels/ladder/reference.h"

#define CPU_LANES_NBYTES 128
#define CPU_NLANES(T) (CPU_LANES_NBYTES / sizeof(T))
#define CPU_NTHREADS_MAX 1024
#define POISON_BYTE 0xff /* NaN in float32 */
#define NREPEATS_MAX 1000

/* Unsigned types: they wrap, with the same bits as signed ones. */
#define CPU_TYPES(TYPE) \
	TYPE(FLOAT32, float) \
	TYPE(INT32, uint32_t) \
	TYPE(INT64, uint64_t) \
	TYPE(INT128, uint128)

#define CPU_SUM(ID, T)                                                       \
	static void sum_##ID(const void *in, uint64_t n, void *out)          \
	{                                                                    \
		const unsigned nlanes = CPU_NLANES(T);                       \
		const T *x = in;                                             \
		T lane[CPU_NLANES(T)] = {0}, sum = 0;                        \
		uint64_t i = 0;                                              \
                                                                             \
		for (; i + nlanes <= n; i += nlanes)                         \
			for (unsigned k = 0; k < nlanes; k++)                \
				lane[k] += x[i + k];                         \
		for (unsigned k = 0; i + k < n; k++)                         \
			lane[k] += x[i + k];                                 \
		for (unsigned k = 0; k < nlanes; k++)                        \
			sum += lane[k];                                      \
		*(T *)out = sum;                                             \
	}
CPU_TYPES(CPU_SUM)

#define CPU_SCAN(ID, T)                                                      \
	static void scan_##ID(const void *in, uint64_t n, void *out)         \
	{                                                                    \
		const T *x = in;                                             \
		T *y = out, sum = 0;                                         \
                                                                             \
		for (uint64_t i = 0; i < n; i++)                             \
			y[i] = sum += x[i];                                  \
	}
CPU_TYPES(CPU_SCAN)

/* Sums that start again where the highest bit says so; ladder_segmented_sum in C. */
static void scan_SEGMENTED(const void *in, uint64_t n, void *out)
{
	const uint64_t head = UINT64_C(1) << 63, *x = in;
	uint64_t *y = out, sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t joined = (sum & head) | ((sum + x[i]) & ~head);
		y[i] = sum = x[i] & head ? x[i] : joined;
	}
}

typedef void cpu_loop(const void *in, uint64_t n, void *out);

static cpu_loop *const sums[] = {
#define CPU_ROW(ID, T) [BENCH_##ID] = sum_##ID,
	CPU_TYPES(CPU_ROW)
#undef CPU_ROW
};
static cpu_loop *const scans[] = {
#define CPU_ROW(ID, T) [BENCH_##ID] = scan_##ID,
	CPU_TYPES(CPU_ROW)
#undef CPU_ROW
	[BENCH_SEGMENTED] = scan_SEGMENTED,
};

/* One thread's part of a sum. */
struct part {
	pthread_t thread;
	bool started;
	enum bench_type type;
	const char *in;
	uint64_t n;
	uint128 sum; /* room for any type's */
};

static void *sum_part(void *argument)
{
	struct part *part = argument;

	sums[part->type](part->in, part->n, &part->sum);
	return NULL;
}

static void part_begin(struct part *part, enum bench_type type, const void *in, uint64_t begin,
		       uint64_t end)
{
	part->type = type;
	part->in = (const char *)in + begin * bench_type_nbytes(type);
	part->n = end - begin;
	part->started = pthread_create(&part->thread, NULL, sum_part, part) == 0;
}

static void part_end(struct part *part)
{
	if (part->started)
		pthread_join(part->thread, NULL);
	else
		sum_part(part);
}

/* Sets *out to the sum of the parts' sums. */
static void parts_sum(enum bench_type type, const struct part *parts, unsigned nparts, void *out)
{
	uint128 packed[CPU_NTHREADS_MAX];
	size_t nbytes = bench_type_nbytes(type);

	for (unsigned i = 0; i < nparts; i++)
		for (size_t k = 0; k < nbytes; k++)
			((char *)packed)[i * nbytes + k] = ((const char *)&parts[i].sum)[k];
	sums[type](packed, nparts, out);
}

static unsigned clamp_nthreads(unsigned nthreads)
{
	return nthreads < CPU_NTHREADS_MAX ? nthreads : CPU_NTHREADS_MAX;
}

/* Writes the sum of in[0 .. n) to out[0]. nthreads > 0 threads take equal parts; the caller is one
 * of them, and does the part of a thread that cannot be started. The time includes starting and
 * joining them. */
static void cpu_reduce(enum bench_type type, const void *in, uint64_t n, unsigned nthreads,
		       void *out)
{
	struct part parts[CPU_NTHREADS_MAX];
	unsigned nparts = clamp_nthreads(nthreads);
	uint64_t each = n / nparts;

	if (nparts == 1) {
		sums[type](in, n, out);
		return;
	}
	for (unsigned i = 1; i < nparts; i++)
		part_begin(&parts[i], type, in, i * each, i + 1 < nparts ? (i + 1) * each : n);
	sums[type](in, each, &parts[0].sum);
	for (unsigned i = 1; i < nparts; i++)
		part_end(&parts[i]);
	parts_sum(type, parts, nparts, out);
}

/* The additions that a value goes through: in a lane, then from lane to lane. float32's, since only
 * float32 needs a depth. */
static uint64_t sum_depth(uint64_t n)
{
	return n / CPU_NLANES(float) + 1 + CPU_NLANES(float);
}

/* At most: in a part, then in the sum of the parts' sums. */
static uint64_t cpu_reduce_depth(uint64_t n, unsigned nthreads)
{
	uint64_t nparts = clamp_nthreads(nthreads), longest = n / nparts + nparts - 1;

	return nparts == 1 ? sum_depth(n) : sum_depth(longest) + sum_depth(nparts);
}

/* ---- rungs ---- */

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
		scans[a->type](in, n, a->out);
}

/* The index of the result that all n values go into. */
static uint64_t last_of(const struct cpu_rung *rung, uint64_t n)
{
	return rung->ladder == BENCH_REDUCE ? 0 : n - 1;
}

static uint64_t rung_depth(const struct cpu_rung *rung, uint64_t n)
{
	return rung->ladder == BENCH_REDUCE ? cpu_reduce_depth(n, rung_nthreads(rung)) : n;
}

/* Whether every result for the first n values of the first array is right. */
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
