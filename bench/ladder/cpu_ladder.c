/* SPDX-License-Identifier: MIT
 *
 * cpu_ladder.c - see cpu_ladder.h.
 *
 * One accumulator would wait for its own last addition, 4 cycles in float32; several lanes
 * of them run side by side, in vector registers where the compiler sees that they can. gcc
 * unrolls the loop over lanes at -O3 only (in the cache, float32: 15 GB/s at -O2, 62 at
 * -O3; gcc 12.2, Zen 5, 2026-11-21): this file asks for that whatever the rest is built
 * with, so that the CPU is given its due.
 */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif
#include "bench/ladder/cpu_ladder.h"

#include <pthread.h>

#include "number/decimal.h"

#define CPU_LANES_NBYTES 128
#define CPU_NLANES(T) (CPU_LANES_NBYTES / sizeof(T))
#define CPU_NTHREADS_MAX 1024

/* Unsigned types: they wrap, and have the bits that the signed ones want. */
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

typedef void cpu_rung(const void *in, uint64_t n, void *out);

static cpu_rung *const sums[] = {
#define CPU_ROW(ID, T) [BENCH_##ID] = sum_##ID,
	CPU_TYPES(CPU_ROW)
#undef CPU_ROW
};
static cpu_rung *const scans[] = {
#define CPU_ROW(ID, T) [BENCH_##ID] = scan_##ID,
	CPU_TYPES(CPU_ROW)
#undef CPU_ROW
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

/* Adds up the parts' sums, the one value of each. */
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

void cpu_reduce(enum bench_type type, const void *in, uint64_t n, unsigned nthreads, void *out)
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

/* In a lane, and then from lane to lane; and so again for the parts' sums. float32's, since
 * it is float32 that asks. */
static uint64_t sum_depth(uint64_t n)
{
	return n / CPU_NLANES(float) + 1 + CPU_NLANES(float);
}

uint64_t cpu_reduce_depth(uint64_t n, unsigned nthreads)
{
	uint64_t nparts = clamp_nthreads(nthreads), longest = n / nparts + nparts - 1;

	return nparts == 1 ? sum_depth(n) : sum_depth(longest) + sum_depth(nparts);
}

void cpu_scan(enum bench_type type, const void *in, uint64_t n, void *out)
{
	scans[type](in, n, out);
}
