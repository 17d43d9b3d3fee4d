/* SPDX-License-Identifier: MIT
 *
 * bench.h - the words that every part of gpustat-bench has in common: types of values, and
 * what was measured. No CUDA: `gpustat-bench model` runs where there is none.
 */
#ifndef GPUSTAT_BENCH_H
#define GPUSTAT_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The types of values: (id, name, bytes). int32, int64 and int128 add modulo 2^bits. AFFINE,
 * maps x -> a x + b, whose combine does not commute, is the canary of validation: it is
 * never timed and has no name to ask for it by. */
#define BENCH_TYPE_TABLE(TYPE) \
	TYPE(FLOAT32, "float32", 4) \
	TYPE(INT32, "int32", 4) \
	TYPE(INT64, "int64", 8) \
	TYPE(INT128, "int128", 16) \
	TYPE(AFFINE, "affine", 8)

enum bench_type {
#define BENCH_TYPE(id, name, nbytes) BENCH_##id,
	BENCH_TYPE_TABLE(BENCH_TYPE)
#undef BENCH_TYPE
	BENCH_NTYPES
};
#define BENCH_NTYPES_TIMED BENCH_AFFINE

enum bench_fold { BENCH_SUM, BENCH_MIN, BENCH_MAX, BENCH_NFOLDS };

/* The two ladders. */
enum bench_ladder { BENCH_REDUCE, BENCH_SCAN };

/* How long something took: over all timed runs of it. */
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
	bool is_right; /* every validation passed */
	unsigned nchecks; /* so many of them */
	struct bench_time time;
	size_t first;        /* figures[first]: the first rung of this size and type */
	size_t cpu, cub;     /* likewise one CPU thread, and CUB; BENCH_NONE: not measured */
};
#define BENCH_NONE SIZE_MAX

/* A run of a ladder. */
struct bench_run {
	enum bench_ladder ladder;
	char gpu[256], versions[128]; /* "NVIDIA H200"; "CUDA 13.0, driver 13.0" */
	double peak_gbps;    /* the datasheet's: clock x bus width; 0: the driver will not say */
	double ceiling_gbps; /* measured in this run: a read (reduce) or a copy (scan) */
	size_t nfigures;
	struct bench_figure *figures; /* those of one type stand together */
};

/* A limit of the machine, as measured. */
struct bench_ceiling {
	const char *name;               /* "read"; static */
	const char *unit;               /* of value: "GB/s", "us"; static */
	const char *what;               /* one line: what was done to find out; static */
	struct bench_time time_or_zero; /* of one such measurement; zero: there is none */
	double value;
};

/* The name of a type or a fold: "int32", "sum". */
const char *bench_type_name(enum bench_type type);
const char *bench_fold_name(enum bench_fold fold);
size_t bench_type_nbytes(enum bench_type type);

/* The speed of a rung in GB/s (10^9 bytes a second); 0 if it was not timed. */
double bench_gbps(const struct bench_figure *figure);

/* Writes n as people write sizes, "512Mi" or "1000", into text, BENCH_N_NBYTES long. Returns
 * text. */
#define BENCH_N_NBYTES 24
const char *bench_n_text(uint64_t n, char *text);

#endif
