/* SPDX-License-Identifier: MIT
 *
 * event_timer.cuh - times work on the default stream by CUDA's events.
 *
 * All runs are queued behind a kernel that idles, and the host has queued them all when it ends: so
 * between a run's two events the device waits for nothing, and the time is that of the run without
 * its launch. (Work of less than a few microseconds catches up with the host if it is repeated
 * often; it is then timed with its launch.)
 */
#pragma once

#include <cuda_runtime.h>
#include <stdlib.h>

extern "C" {
#include "bench/ladder/timing.h"
}

#define EVENT_HOLD_NS 20000    /* more than the host takes to queue one run */
#define EVENT_HOLD_NS_MAX 5e6
#define EVENT_CYCLES_PER_NS 2  /* no GPU's clock is faster: so the hold is no shorter */

__global__ static void event_hold(long long ncycles)
{
	long long begin = clock64();

	while (clock64() - begin < ncycles)
		;
}

/* Two events a run: one before, one after. */
struct event_pairs {
	unsigned n;
	cudaEvent_t *events; /* 2n; NULL from the first on that was not created */
	double *ns;
};

static inline cudaError_t event_pairs_open(struct event_pairs *p, unsigned n)
{
	cudaError_t error = cudaSuccess;

	p->n = n;
	p->events = (cudaEvent_t *)calloc(2 * (size_t)n, sizeof *p->events);
	p->ns = (double *)calloc(n, sizeof *p->ns);
	if (p->events == NULL || p->ns == NULL)
		return cudaErrorMemoryAllocation;
	for (unsigned i = 0; i < 2 * n && error == cudaSuccess; i++)
		error = cudaEventCreate(&p->events[i]);
	return error;
}

static inline void event_pairs_close(struct event_pairs *p)
{
	for (unsigned i = 0; p->events != NULL && i < 2 * p->n; i++)
		if (p->events[i] != NULL)
			(void)cudaEventDestroy(p->events[i]);
	free(p->events);
	free(p->ns);
}

/* Waits, and reads the events. */
static inline cudaError_t event_pairs_read(struct event_pairs *p)
{
	cudaError_t error = cudaDeviceSynchronize();

	for (unsigned i = 0; i < p->n && error == cudaSuccess; i++) {
		float ms = 0;
		error = cudaEventElapsedTime(&ms, p->events[2 * i], p->events[2 * i + 1]);
		p->ns[i] = (double)ms * 1e6;
	}
	return error;
}

/* Times nrepeats > 0 runs of launch(); prepare() before each is not timed. Both return a
 * cudaError_t, and do not wait. Waits. Errors: theirs, and the runs'. */
template <class PREPARE, class LAUNCH>
static cudaError_t event_timer_run(unsigned nrepeats, PREPARE prepare, LAUNCH launch,
				   struct bench_time *time)
{
	double hold_ns = (double)nrepeats * EVENT_HOLD_NS;
	struct event_pairs pairs;
	cudaError_t error = event_pairs_open(&pairs, nrepeats);

	if (error == cudaSuccess) {
		hold_ns = hold_ns < EVENT_HOLD_NS_MAX ? hold_ns : EVENT_HOLD_NS_MAX;
		event_hold<<<1, 1>>>((long long)(hold_ns * EVENT_CYCLES_PER_NS));
		error = cudaGetLastError();
	}
	for (unsigned i = 0; i < nrepeats && error == cudaSuccess; i++) {
		error = prepare();
		if (error == cudaSuccess)
			error = cudaEventRecord(pairs.events[2 * i]);
		if (error == cudaSuccess)
			error = launch();
		if (error == cudaSuccess)
			error = cudaEventRecord(pairs.events[2 * i + 1]);
	}
	if (error == cudaSuccess)
		error = event_pairs_read(&pairs);
	if (error == cudaSuccess)
		*time = timing_summary(pairs.ns, nrepeats);
	event_pairs_close(&pairs);
	return error;
}

/* Runs once and waits. *ns: the time it took, by the host's clock. */
template <class PREPARE, class LAUNCH>
static cudaError_t event_timer_once(PREPARE prepare, LAUNCH launch, double *ns)
{
	cudaError_t error = prepare();
	double begin_ns;

	if (error == cudaSuccess)
		error = cudaDeviceSynchronize();
	begin_ns = timing_now_ns();
	if (error == cudaSuccess)
		error = launch();
	if (error == cudaSuccess)
		error = cudaDeviceSynchronize();
	*ns = timing_now_ns() - begin_ns;
	return error;
}

/* Warms up, then times as often as timing_nrepeats allows. */
template <class PREPARE, class LAUNCH>
static cudaError_t event_timer_warm(unsigned nwanted, PREPARE prepare, LAUNCH launch,
				    struct bench_time *time)
{
	double once_ns = 0;
	cudaError_t error = event_timer_once(prepare, launch, &once_ns); /* loads the code */

	/* Slow work is not run a second time only to measure how slow it is. */
	if (error == cudaSuccess && once_ns < TIMING_BUDGET_NS / TIMING_NREPEATS_MIN)
		error = event_timer_once(prepare, launch, &once_ns);
	if (error != cudaSuccess)
		return error;
	return event_timer_run(timing_nrepeats(nwanted, once_ns), prepare, launch, time);
}
