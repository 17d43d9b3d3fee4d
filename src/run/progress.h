/* SPDX-License-Identifier: MIT
 *
 * progress.h - shows on standard error, from a second on, how far the run is. A thread of its own looks at
 * counters that the run keeps anyway, so it costs the run nothing.
 */
#ifndef GPUSTAT_PROGRESS_H
#define GPUSTAT_PROGRESS_H

#include <stdint.h>

#include "query/options.h"
#include "run/device_choice.h"

/* Begins, if options and what standard error is ask for it: --progress in the man page. Without a thread
 * left in the system, nothing is shown. */
void progress_begin(const struct options *options);

/* A pass over the input begins: engine_nbytes_begun and fd_nbytes_read count it. all_nbytes: what
 * fd_nbytes_read grows to; UINT64_MAX: not known. devices: whose pools work on it; not owned. */
void progress_pass(uint64_t all_nbytes, const struct device_choice *devices);

/* The pass has ended: its devices are not looked at any more. */
void progress_pass_end(void);

/* Ends it, and takes the line away. A message does so, too. */
void progress_end(void);

#endif
