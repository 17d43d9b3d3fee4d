/* SPDX-License-Identifier: MIT
 *
 * bench.h - what all parts of gpustat-bench share: what was measured. No CUDA: `gpustat-bench
 * model` runs where there is none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/ladder/types.h"

/* How long one run took, over all timed runs. */
struct bench_time {
	double median_ns, least_ns, greatest_ns;
};

/* One rung, as measured. */
struct bench_figure {
	const char *rung; /* "warp_shuffle"; static */
	const char *idea; /* one line: what is new in it; static */
	enum bench_type type;
	enum bench_fold fold;
	uint64_t n;
	uint64_t nbytes; /* read and written, each value once */
	bool on_cpu;
	bool is_right;    /* all nchecks checks passed */
	unsigned nchecks;
	struct bench_time time;
	size_t first;    /* figures[first]: the first rung of this size and type */
	size_t cpu, cub; /* the figures of one CPU thread, and of CUB; BENCH_NONE: not measured */
};
#define BENCH_NONE SIZE_MAX

/* A run of a ladder. */
struct bench_run {
	enum bench_ladder ladder;
	char gpu[256], versions[128]; /* "NVIDIA H200"; "CUDA 13.0, driver 13.0" */
	double peak_gbps;    /* the datasheet's, clock x bus width; 0: not reported */
	double ceiling_gbps; /* measured in this run: a read (reduce) or a copy (scan) */
	size_t nfigures;
	struct bench_figure *figures; /* figures of one type are adjacent */
};

/* One rung of a ladder whose work is not n values of a type: blocks to inflate, records to group. */
struct work_figure {
	const char *rung; /* "simple"; static */
	const char *idea; /* static */
	bool on_cpu;
	bool is_right;       /* all nchecks checks passed */
	unsigned nchecks;
	uint64_t nbytes;     /* of text in a run, or of keys and values */
	uint64_t n, ngroups; /* records, and their groups; 0: there are none */
	struct bench_time time;
};

/* A run of such a ladder. */
#define WORK_NFIGURES_MAX 24
struct work_run {
	const char *ladder; /* "inflate"; static */
	const char *speed;  /* the heading of nbytes a second: "GB/s of text"; static */
	char gpu[256], versions[128];
	char about[160]; /* one line: the input */
	size_t nfigures;
	struct work_figure figures[WORK_NFIGURES_MAX]; /* those of the same ngroups are adjacent */
};

/* A limit of the machine, as measured. */
struct bench_ceiling {
	const char *name;               /* "read"; static */
	const char *unit;               /* of value: "GB/s", "us"; static */
	const char *what;               /* one line: how it was measured; static */
	struct bench_time time_or_zero; /* of one such measurement; zero: there is none */
	double value;
};

/* The speed of a rung in GB/s (10^9 bytes a second); 0 if it was not timed. */
double bench_gbps(const struct bench_figure *figure);

/* Writes n with a binary suffix where it has one, "512Mi" or "1000", into text, BENCH_N_NBYTES
 * long. Returns text. */
#define BENCH_N_NBYTES 24
const char *bench_n_text(uint64_t n, char *text);
