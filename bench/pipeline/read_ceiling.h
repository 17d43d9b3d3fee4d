/* SPDX-License-Identifier: MIT
 *
 * read_ceiling.h - how fast threads that only read can read files in the page cache.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Reads plain files as a run of gpustat does (io/input.h), in chunks of chunk_nbytes, by nthreads
 * threads, each into a buffer of its own: once to fill the page cache, then nrepeats times (> 0).
 * *least_ns: the fastest of these; *nbytes: of all files. paths outlive the fault.
 * Errors: the input's; STATUS_NO_MEMORY, also where no thread can be started. */
enum status read_ceiling(const char *const *paths, int npaths, int nthreads, size_t chunk_nbytes,
			 unsigned nrepeats, double *least_ns, uint64_t *nbytes,
			 struct fault *fault);
