/* SPDX-License-Identifier: MIT
 *
 * team.h - a function that several threads run at once, for work at the end of a run.
 */
#ifndef GPUSTAT_TEAM_H
#define GPUSTAT_TEAM_H

#include <stddef.h>

#define TEAM_NTHREADS_MAX 64

/* Calls work(context) in up to nthreads threads at once, of which the caller is one, and waits for all. Where
 * the system refuses threads there are fewer: the function takes its work from a queue in the context. */
void team_run(size_t nthreads, void *(*work)(void *context), void *context);

#endif
