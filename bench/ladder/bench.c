/* SPDX-License-Identifier: MIT
 *
 * bench.c - see bench.h.
 */
#include "bench/ladder/bench.h"

#include <inttypes.h>
#include <stdio.h>

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
