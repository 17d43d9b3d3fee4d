/* SPDX-License-Identifier: MIT
 *
 * standalone.cuh - main() of a rung that is compiled alone:
 *
 *     nvcc -arch=native kernels/ladder/reduce_simple.cu -o simple && ./simple [N]
 *
 * checks the rungs of that file as gpustat-bench does before it times them (check.cuh), at N values
 * or at all awkward sizes, with every type and operation that the rung takes. Prints a line for
 * each size, then PASS or FAIL. Exit status: 0, 1, or 77 where no device can run it.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "check.cuh"

#define STANDALONE_SKIP 77

static const struct ladder_rung *standalone_rungs[16]; /* those of this file */
static unsigned standalone_nrungs;

/* Called before main by each LADDER_RUNG of the file. */
static bool standalone_add(const struct ladder_rung *rung)
{
	standalone_rungs[standalone_nrungs++] = rung;
	return true;
}

/* Calls act(check) for each type and operation that the rung takes. */
template <class ACT> static void standalone_each(const struct ladder_rung *rung, ACT act)
{
	for (unsigned type = 0; type < BENCH_NTYPES; type++)
		for (unsigned fold = 0; fold < BENCH_NFOLDS; fold++) {
			struct ladder_verdict verdict = {};
			struct ladder_check check = {rung->ladder, (enum bench_type)type,
						     (enum bench_fold)fold, 1, &rung, &verdict};
			if ((rung->types >> type & rung->folds >> fold & 1) != 0)
				act(&check);
		}
}

/* Makes one check at n values and prints what came of it. Returns the exit status. */
static int standalone_check_one(const struct ladder_check *check, uint64_t n)
{
	const struct ladder_verdict *verdict = check->verdicts;
	const char *what;
	cudaError_t error = ladder_check_at(check, n, &what);

	printf(" %s %s", bench_type_name(check->type), bench_fold_name(check->fold));
	if (error != cudaSuccess)
		printf(": %s: %s", what, cudaGetErrorString(error));
	else if (verdict->nwrong > 0)
		printf(": WRONG: %s", verdict->wrong_what);
	else if (verdict->is_refused)
		printf(": not on this GPU, or not compiled for it: nvcc -arch=native");
	else
		printf(" right,");
	if (error != cudaSuccess || verdict->nwrong > 0)
		return 1;
	return verdict->is_refused ? STANDALONE_SKIP : 0;
}

/* Checks the rung at n values and prints a line. Returns the exit status. */
static int standalone_check(const struct ladder_rung *rung, uint64_t n)
{
	int status = 0;

	if (rung->n_max > 0 && n > rung->n_max) {
		printf("%s takes %" PRIu64 " values at most\n", rung->name, rung->n_max);
		return 1;
	}
	printf("%s, %" PRIu64 " values:", rung->name, n);
	standalone_each(rung, [&](const struct ladder_check *check) {
		if (status == 0)
			status = standalone_check_one(check, n);
	});
	puts("");
	return status;
}

/* Checks the rung at all sizes. */
static int standalone_check_sizes(const struct ladder_rung *rung)
{
	struct sizes sizes = {};
	int status = 0;

	standalone_each(rung, [&](const struct ladder_check *check) {
		sizes_add_all(&sizes, check, LADDER_SIZES_ALL);
	});
	for (size_t i = 0; i < sizes.count && status == 0; i++)
		if (rung->n_max == 0 || sizes.n[i] <= rung->n_max)
			status = standalone_check(rung, sizes.n[i]);
	return status;
}

int main(int argc, char **argv)
{
	int ndevices = 0, status = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0) {
		puts("SKIP: no CUDA device");
		return STANDALONE_SKIP;
	}
	for (unsigned i = 0; i < standalone_nrungs && status == 0; i++) {
		const struct ladder_rung *rung = standalone_rungs[i];
		status = argc > 1 ? standalone_check(rung, strtoull(argv[1], NULL, 10))
				  : standalone_check_sizes(rung);
	}
	puts(status == 0 ? "PASS" : status == STANDALONE_SKIP ? "SKIP" : "FAIL");
	return status;
}
