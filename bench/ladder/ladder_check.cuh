/* SPDX-License-Identifier: MIT
 *
 * ladder_check.cuh - whether rungs are right: before any is timed, and in tests.
 */
#ifndef GPUSTAT_LADDER_CHECK_CUH
#define GPUSTAT_LADDER_CHECK_CUH

#include "kernels/ladder/ladder.cuh"

extern "C" {
#include "base/status.h"
}

/* What was found out about a rung; zeroed: nothing yet. A check is one launch whose result,
 * the bytes behind it, and the input were looked at. */
struct ladder_verdict {
	unsigned nchecks, nwrong;
	bool is_refused;        /* open said that this GPU cannot run it: nothing was checked */
	uint64_t wrong_n;       /* the n of the first check that went wrong */
	const char *wrong_what; /* and what did, in words; static */
};

/* Which rungs to check, and on what. */
struct ladder_check {
	enum bench_ladder ladder;
	enum bench_type type;
	enum bench_fold fold;
	size_t nrungs;
	const struct ladder_rung *const *rungs; /* all allow type and fold */
	struct ladder_verdict *verdicts;        /* of each; what is found out is added */
};

/* Runs every rung that goes so far on arrays of n values, each array twice after one open:
 * what the first run left behind must not show in the second. Outputs are poisoned first;
 * one that writes behind them, or changes an input that it is not said to spoil, is wrong.
 * Integers must agree bit for bit; float32 sums within the bound of reference.h for the
 * rung's depth, and bit for bit on values that add without rounding.
 * Costs memory for the input and the output. Waits.
 * Errors: STATUS_GPU, with the rung's name; STATUS_NO_MEMORY. A wrong rung is none. */
enum status ladder_check_at(const struct ladder_check *check, uint64_t n, struct fault *fault);

/* Likewise at many n. ALL: nothing, one, a warp, a block, a section, a tile, a power of two,
 * each and its neighbours; a million and seven; and 128 MiB, more tiles than run at once.
 * FEW: one of each kind, all small, for tools that take long over a launch. */
enum ladder_sizes { LADDER_SIZES_FEW, LADDER_SIZES_ALL };
enum status ladder_check_sizes(const struct ladder_check *check, enum ladder_sizes which,
			       struct fault *fault);

#endif
