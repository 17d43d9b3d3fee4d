/* SPDX-License-Identifier: MIT
 *
 * group_standalone.cuh - main() of a rung of adding up by key that is compiled alone:
 *
 *     nvcc -arch=native kernels/ladder/group_simple.cu -o simple && ./simple
 *
 * adds up tables of several sizes, with few groups and many, and compares each group. Prints PASS or FAIL. Exit
 * status: 0, 1, or 77 where there is no device. bench/ladder/group_bench.cu and tests/gpu/test_group_rungs.cu check more.
 * Only group_rung.cuh includes it, behind its declarations.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STANDALONE_SKIP 77
#define STANDALONE_N 5000u
#define STANDALONE_NSLOTS 16384u
#define STANDALONE_KEY_NBYTES 24u

/* Everything of a run in memory that the host sees as well. */
struct standalone_memory {
	char text[STANDALONE_N * STANDALONE_KEY_NBYTES];
	uint32_t ends[STANDALONE_N];
	int64_t values[STANDALONE_N];
	struct group_slot slots[STANDALONE_NSLOTS];
	uint32_t nlost;
};

static uint32_t standalone_group(uint32_t i, uint32_t ngroups)
{
	return (uint32_t)((uint64_t)i * 2654435761u >> 7) % ngroups;
}

static void standalone_fill(struct standalone_memory *m, uint32_t n, uint32_t ngroups)
{
	uint32_t at = 0;

	memset(m, 0, sizeof *m);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = standalone_group(i, ngroups);
		at += (uint32_t)snprintf(m->text + at, STANDALONE_KEY_NBYTES, g ? "key %u\n" : "\n", g);
		m->ends[i] = at;
		m->values[i] = (int64_t)i * 1000003 - 1000000000;
	}
}

/* Whether the slots have each group's count and sum, once. */
static bool standalone_is_right(const struct standalone_memory *m, uint32_t n, uint32_t ngroups)
{
	struct group_slot *want = (struct group_slot *)calloc(ngroups, sizeof *want);
	bool right = want && m->nlost == 0;

	for (uint32_t i = 0; right && i < n; i++) {
		struct group_slot *w = &want[standalone_group(i, ngroups)];
		w->count++;
		w->sum += (unsigned long long)m->values[i];
	}
	for (uint32_t k = 0; right && k < STANDALONE_NSLOTS; k++) {
		const struct group_slot *slot = &m->slots[k];
		if (slot->record == 0)
			continue;
		struct group_slot *w = &want[standalone_group(slot->record - 1, ngroups)];
		right = slot->count == w->count && slot->sum == w->sum && w->count > 0;
		*w = {0, 0, 0};
	}
	for (uint32_t g = 0; right && g < ngroups; g++)
		right = want[g].count == 0;
	free(want);
	return right;
}

static bool standalone_check(const struct group_rung &rung, struct standalone_memory *m, uint32_t n, uint32_t ngroups)
{
	size_t nbytes = rung.scratch_nbytes ? rung.scratch_nbytes(n) : 0;
	void *scratch = NULL;
	bool right = nbytes == 0 || cudaMalloc(&scratch, nbytes) == cudaSuccess;
	struct group_run run = {m->text, m->ends, m->values, n, m->slots, STANDALONE_NSLOTS, &m->nlost, scratch, nbytes, UINT64_MAX};

	standalone_fill(m, n, ngroups);
	right = right && rung.launch(run, 0) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess &&
		standalone_is_right(m, n, ngroups);
	printf("%s, %u records of up to %u groups: %s\n", rung.name, n, ngroups, right ? "right" : "WRONG");
	(void)cudaFree(scratch);
	return right;
}

static int group_standalone(const struct group_rung &rung)
{
	static const uint32_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, STANDALONE_N};
	struct standalone_memory *m;
	int ndevices = 0;
	bool right = true;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0) {
		puts("SKIP: no CUDA device");
		return STANDALONE_SKIP;
	}
	if (cudaMallocManaged((void **)&m, sizeof *m) != cudaSuccess)
		return 1;
	for (uint32_t n : sizes)
		for (uint32_t ngroups : {1u, 8u, 1000u, 1000000u})
			right = standalone_check(rung, m, n, ngroups) && right;
	puts(right ? "PASS" : "FAIL");
	(void)cudaFree(m);
	return right ? 0 : 1;
}
