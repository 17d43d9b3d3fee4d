/* SPDX-License-Identifier: MIT
 *
 * read_ceiling.h - how fast files in the page cache can be read, by threads that do nothing else.
 */
#ifndef GPUSTAT_READ_CEILING_H
#define GPUSTAT_READ_CEILING_H

#include <stddef.h>
#include <stdint.h>

#include "bench/ladder/bench.h"
#include "base/status.h"

/* Reads all of the files with pread, in pieces of piece_nbytes, by nthreads threads, each into a
 * buffer of its own, which it has touched before; first once so that they are cached, then nrepeats
 * times. *nbytes: of all files. Errors: STATUS_OPEN, STATUS_READ, with the file and the cause;
 * STATUS_SHRANK; STATUS_NO_MEMORY, also where no thread can be started. */
enum status read_ceiling(const char *const *paths, int npaths, int nthreads, size_t piece_nbytes,
			 unsigned nrepeats, struct bench_time *time, uint64_t *nbytes,
			 struct fault *fault);

#endif
