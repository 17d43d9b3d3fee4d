/* SPDX-License-Identifier: MIT
 *
 * thread.h - starting threads beside the program's own, and joining them.
 */
#ifndef GPUSTAT_THREAD_H
#define GPUSTAT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define TEAM_NTHREADS_MAX 64

/* Threads that run one function. All 0: none. */
struct team {
	size_t nthreads;
	pthread_t threads[TEAM_NTHREADS_MAX];
};

/* Starts a thread with all signals blocked, since they are the program's own threads': a handler must not wait for what the
 * thread holds. False: the system has no more. */
bool thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

/* Starts threads as thread_start does, until the team has as many as are wanted, or the system has no more. */
void team_start(struct team *team, size_t nwanted, void *(*work)(void *context), void *context);

/* Waits for all of its threads to end. */
void team_join(struct team *team);

/* Calls work(context) in up to nthreads threads at once, of which the caller is one, and waits for all. Where
 * the system refuses threads there are fewer: the function takes its work from a queue in the context. Signals are not
 * blocked: the threads may write to standard output (io/output.h). */
void team_run(size_t nthreads, void *(*work)(void *context), void *context);

#endif
