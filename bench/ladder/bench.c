/* SPDX-License-Identifier: MIT
 *
 * bench.c - see bench.h: names and sizes of the types and folds, and of what was measured.
 */
#include "bench/ladder/bench.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *name;
	size_t nbytes;
} types[] = {
#define BENCH_TYPE(id, name, nbytes) [BENCH_##id] = {name, nbytes},
	BENCH_TYPE_TABLE(BENCH_TYPE)
#undef BENCH_TYPE
};

static const char *const folds[BENCH_NFOLDS] = {
	[BENCH_SUM] = "sum",
	[BENCH_MIN] = "min",
	[BENCH_MAX] = "max",
};

const char *bench_type_name(enum bench_type type)
{
	return types[type].name;
}

const char *bench_fold_name(enum bench_fold fold)
{
	return folds[fold];
}

size_t bench_type_nbytes(enum bench_type type)
{
	return types[type].nbytes;
}

double bench_gbps(const struct bench_figure *figure)
{
	return figure->time.median_ns > 0 ? (double)figure->nbytes / figure->time.median_ns : 0;
}

const char *bench_n_text(uint64_t n, char *text)
{
	static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
	size_t i = 0;

	for (; n && n % 1024 == 0 && i + 1 < sizeof suffixes / sizeof *suffixes; i++)
		n /= 1024;
	snprintf(text, BENCH_N_NBYTES, "%" PRIu64 "%s", n, suffixes[i]);
	return text;
}
