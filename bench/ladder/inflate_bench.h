/* SPDX-License-Identifier: MIT
 *
 * inflate_bench.h - validates the rungs of inflating and measures them, on GPU 0.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"
#include "bench/ladder/bench.h"

#define INFLATE_BLOCK_NBYTES_MIN 1024
#define INFLATE_BLOCK_NBYTES_MAX (16 << 20)

/* What to measure. */
struct inflate_request {
	size_t nrungs;
	const char *const *rungs; /* by name; none: every rung */
	uint64_t text_nbytes;     /* 0: 1 GiB, or less where the device has less memory */
	uint64_t block_nbytes;    /* of text: INFLATE_BLOCK_NBYTES_MIN ... _MAX; 0: 64 KiB */
	unsigned repeat;          /* 0: timing_nrepeats chooses */
};

/* Packs a text of log lines with zlib, level 6, in blocks; then, for each rung asked for: decodes all of them and
 * compares every byte, decodes them with a bit of each block flipped, which must be found, and times it. zlib on one
 * thread of the CPU comes first.
 * Errors: STATUS_USAGE, with the whole sentence in fault's detail, for a name that no rung has; STATUS_NO_GPU; STATUS_GPU, with the
 * rung's name and CUDA's words; STATUS_NO_MEMORY.
 * Cost: of device memory 1.4 times the text; of the host's 64 MiB. */
enum status inflate_bench(const struct inflate_request *request, struct work_run *run, struct fault *fault);

#ifdef __cplusplus
}
#endif
