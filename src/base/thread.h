/* SPDX-License-Identifier: MIT
 *
 * thread.h - threads beside the program's own.
 */
#ifndef GPUSTAT_THREAD_H
#define GPUSTAT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked, since they are the program's own threads': a handler must not wait for what the
 * thread holds. False: the system has no more. */
bool thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

#endif
