/* SPDX-License-Identifier: MIT
 *
 * group_bench.h - validates the rungs of adding up by key and measures them, on GPU 0.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"
#include "bench/ladder/bench.h"

#define GROUP_NGROUPS_MAX ((uint64_t)16 << 20)

/* What to measure. */
struct group_request {
	size_t nrungs;
	const char *const *rungs; /* by name; none: every rung */
	uint64_t n;               /* records; 0: 16 Mi; at most 64 Mi */
	uint64_t ngroups;         /* 0: 8, 4 Ki and 4 Mi, in turn */
	unsigned repeat;          /* 0: timing_nrepeats chooses */
};

/* For each rung asked for: counts and adds up n records with a text as key and a whole number, compares every group's
 * count and sum with what the host knows, and times it. Each group's records are at random places.
 * Errors: STATUS_USAGE, with the whole sentence in fault's detail, for a name that no rung has and for too many records;
 * STATUS_NO_GPU; STATUS_GPU, with the rung's name and CUDA's words; STATUS_NO_MEMORY.
 * Cost: some 100 bytes of device memory a record, and 50 of the host's. */
enum status group_bench(const struct group_request *request, struct work_run *run, struct fault *fault);

#ifdef __cplusplus
}
#endif
