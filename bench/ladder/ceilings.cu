/* SPDX-License-Identifier: MIT
 *
 * ceilings.cu - see ceilings.h.
 */
#include "bench/ladder/ceilings.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/ladder/sample.cuh"
#include "kernels/level/grid.cuh"
#include "bench/ladder/event_timer.cuh"
#include "bench/ladder/gpu_fault.cuh"
#include "bench/ladder/sweep.cuh"

#define DEVICE_NBYTES ((size_t)2 << 30) /* each of two arrays */
#define HOST_NBYTES ((size_t)256 << 20)
#define NREPEATS 15
#define NLAUNCHES 500 /* queued one behind the other */
#define HOP_NTILES 65536

/* The ceilings measured so far, and the arrays to measure with. */
struct survey {
	struct bench_ceiling *ceilings;
	size_t nroom, count;
	char *in, *out; /* device memory, nbytes each */
	size_t nbytes;
	char *pinned[2], *pageable; /* host memory, HOST_NBYTES each */
	cudaStream_t streams[2];
};

static void survey_add(struct survey *s, struct bench_ceiling ceiling)
{
	if (s->count < s->nroom)
		s->ceilings[s->count++] = ceiling;
}

/* Adds a ceiling: the speed of moving nbytes in time. */
static void survey_add_speed(struct survey *s, const char *name, const char *what, double nbytes,
			     struct bench_time time)
{
	survey_add(s, {name, "GB/s", what, time, nbytes / time.median_ns});
}

/* Times launch() by the host's clock, from an idle device until it is idle again. */
template <class LAUNCH>
static cudaError_t time_by_host(LAUNCH launch, struct bench_time *time)
{
	double ns[NREPEATS + 1];
	cudaError_t error = cudaSuccess;

	for (unsigned i = 0; i <= NREPEATS && error == cudaSuccess; i++)
		error = event_timer_once([](void) { return cudaSuccess; }, launch, &ns[i]);
	if (error == cudaSuccess)
		*time = timing_summary(ns + 1, NREPEATS); /* the first one warmed up */
	return error;
}

/* ---- start-up and launches ---- */

static cudaError_t measure_context(struct survey *s)
{
	double begin_ns = timing_now_ns(), ns;
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error == cudaSuccess && count == 0)
		error = cudaErrorNoDevice;
	if (error == cudaSuccess)
		error = cudaSetDevice(0);
	if (error == cudaSuccess)
		error = cudaFree(NULL);
	ns = timing_now_ns() - begin_ns;
	survey_add(s, {"context", "ms", "the first calls of this process: driver and context start",
		       {ns, ns, ns}, ns * 1e-6});
	return error;
}

__global__ static void nothing(void)
{
}

static cudaError_t launch_nothing(void)
{
	nothing<<<1, 32>>>();
	return cudaGetLastError();
}

static cudaError_t launch_many(void)
{
	cudaError_t error = cudaSuccess;

	for (unsigned i = 0; i < NLAUNCHES && error == cudaSuccess; i++)
		error = launch_nothing();
	return error;
}

static cudaError_t measure_launches(struct survey *s)
{
	struct bench_time many, single;
	cudaError_t error = time_by_host(launch_many, &many);

	if (error == cudaSuccess)
		error = time_by_host(launch_nothing, &single);
	if (error != cudaSuccess)
		return error;
	survey_add(s, {"launch", "us", "an empty kernel, of 500 queued one behind the other", many,
		       many.median_ns * 1e-3 / NLAUNCHES});
	survey_add(s, {"launch_and_wait", "us", "an empty kernel, launched and waited for", single,
		       single.median_ns * 1e-3});
	return error;
}

/* ---- device memory ---- */

static cudaError_t measure_sweeps(struct survey *s)
{
	struct sweep_arrays arrays = {s->in, s->out, s->nbytes, 0, 1, 0};
	struct bench_time time;
	double gbps;
	cudaError_t error = sweep_measure(SWEEP_READ, &arrays, &time, &gbps);

	if (error != cudaSuccess)
		return error;
	survey_add(s, {"read", "GB/s", "the best of several kernels that only read device memory",
		       time, gbps});
	error = sweep_measure(SWEEP_COPY, &arrays, &time, &gbps);
	if (error != cudaSuccess)
		return error;
	survey_add(s, {"copy", "GB/s", "the best of several copying kernels, read plus written",
		       time, gbps});
	error = sweep_measure(SWEEP_MEMCPY, &arrays, &time, &gbps);
	if (error == cudaSuccess)
		survey_add(s, {"memcpy", "GB/s", "cudaMemcpy device to device, read plus written",
			       time, gbps});
	return error;
}

/* ---- copies to the device and back ---- */

/* A direction, and a kind of host memory. */
struct transfer {
	const char *name, *what;
	bool up, down; /* up: from stream 0's buffer; down: to stream 1's */
	bool pinned;
};
static const struct transfer transfers[] = {
	{"host_to_device", "from pinned host memory", true, false, true},
	{"device_to_host", "to pinned host memory", false, true, true},
	{"both_ways", "both at once, pinned host memory, sum of the two", true, true, true},
	{"host_to_device_pageable", "from ordinary host memory", true, false, false},
	{"device_to_host_pageable", "to ordinary host memory", false, true, false},
};

static cudaError_t transfer_launch(const struct survey *s, const struct transfer *t, size_t nbytes)
{
	cudaError_t error = cudaSuccess;

	if (t->up)
		error = cudaMemcpyAsync(s->in, t->pinned ? s->pinned[0] : s->pageable, nbytes,
					cudaMemcpyHostToDevice, s->streams[0]);
	if (error == cudaSuccess && t->down)
		error = cudaMemcpyAsync(t->pinned ? s->pinned[1] : s->pageable, s->out, nbytes,
					cudaMemcpyDeviceToHost, s->streams[1]);
	return error;
}

static cudaError_t measure_transfers(struct survey *s)
{
	size_t nbytes = s->nbytes < HOST_NBYTES ? s->nbytes : HOST_NBYTES;
	cudaError_t error = cudaSuccess;

	for (const struct transfer &t : transfers) {
		struct bench_time time;
		error = time_by_host([&](void) { return transfer_launch(s, &t, nbytes); }, &time);
		if (error != cudaSuccess)
			break;
		survey_add_speed(s, t.name, t.what, (double)nbytes * (t.up + t.down), time);
	}
	return error;
}

/* ---- from tile to tile ---- */

/* Each block waits for the word of the one before and publishes its own: only the chain that a
 * scan's tiles make, with the words that they use (grid.cuh). */
__global__ static void hop_chain(struct grid_domino domino, uint32_t *length)
{
	uint32_t tile = grid_draw_tile(domino), before = 0;

	if (threadIdx.x != 0)
		return;
	if (tile > 0)
		before = grid_slot_value(grid_await<uint32_t>(domino, tile - 1));
	grid_publish<uint32_t>(domino, tile, true, before + 1);
	if (tile == gridDim.x - 1)
		*length = before + 1;
}

/* Uses s->in, which has held values, for slots; s->out for the ticket and the length. */
static cudaError_t measure_hops(struct survey *s)
{
	struct grid_domino domino = {(uint64_t *)s->in, (uint32_t *)s->out, HOP_NTILES, 0};
	uint32_t *device_length = (uint32_t *)s->out + 1, length = 0;
	struct bench_time time;
	cudaError_t error = cudaMemset(s->in, 0, HOP_NTILES * sizeof *domino.slots);

	if (error == cudaSuccess)
		error = cudaMemset(s->out, 0, 2 * sizeof *domino.ticket);
	if (error == cudaSuccess)
		error = event_timer_warm(
			NREPEATS, [&](void) { return grid_domino_advance(&domino, 0); },
			[&](void) {
				hop_chain<<<HOP_NTILES, WARP_NLANES>>>(domino, device_length);
				return cudaGetLastError();
			},
			&time);
	if (error == cudaSuccess)
		error = cudaMemcpy(&length, device_length, sizeof length, cudaMemcpyDeviceToHost);
	if (error == cudaSuccess && length != HOP_NTILES)
		error = cudaErrorAssert; /* the chain was broken: no time to report */
	if (error == cudaSuccess)
		survey_add(s, {"hop", "ns", "from a tile to the next, in a chain of 65536 tiles",
			       time, time.median_ns / HOP_NTILES});
	return error;
}

/* ---- all ---- */

/* Fills device memory with random bits. */
static cudaError_t fill(char *data, size_t nbytes, uint64_t seed)
{
	sample_fill<sample_any<fold_sum<uint64_t>>><<<1024, 256>>>((uint64_t *)data,
								   nbytes / sizeof(uint64_t), seed);
	return cudaGetLastError();
}

/* Device memory and streams. */
static cudaError_t survey_open_device(struct survey *s)
{
	size_t nfree = 0, ntotal = 0;
	cudaError_t error = cudaMemGetInfo(&nfree, &ntotal);

	s->nbytes = DEVICE_NBYTES;
	while (s->nbytes > 1 << 20 && s->nbytes > nfree / 3)
		s->nbytes /= 2;
	if (error == cudaSuccess)
		error = cudaMalloc(&s->in, s->nbytes);
	if (error == cudaSuccess)
		error = cudaMalloc(&s->out, s->nbytes);
	for (unsigned i = 0; i < 2 && error == cudaSuccess; i++)
		error = cudaStreamCreate(&s->streams[i]);
	if (error == cudaSuccess)
		error = fill(s->in, s->nbytes, 1);
	return error == cudaSuccess ? fill(s->out, s->nbytes, 2) : error;
}

/* Host memory. Every page is touched before it is timed. */
static cudaError_t survey_open_host(struct survey *s)
{
	cudaError_t error = cudaMallocHost(&s->pinned[0], HOST_NBYTES);

	if (error == cudaSuccess)
		error = cudaMallocHost(&s->pinned[1], HOST_NBYTES);
	s->pageable = (char *)malloc(HOST_NBYTES);
	if (error == cudaSuccess && s->pageable == NULL)
		error = cudaErrorMemoryAllocation;
	if (error != cudaSuccess)
		return error;
	memset(s->pinned[0], 0x5a, HOST_NBYTES);
	memset(s->pinned[1], 0x5a, HOST_NBYTES);
	memset(s->pageable, 0x5a, HOST_NBYTES);
	return cudaSuccess;
}

static void survey_close(struct survey *s)
{
	(void)cudaFree(s->in);
	(void)cudaFree(s->out);
	for (unsigned i = 0; i < 2; i++) {
		(void)cudaFreeHost(s->pinned[i]);
		if (s->streams[i] != NULL)
			(void)cudaStreamDestroy(s->streams[i]);
	}
	free(s->pageable);
}

/* The steps, in order; hops last, since they overwrite the arrays. */
struct step {
	const char *name;
	cudaError_t (*measure)(struct survey *);
};
static const struct step steps[] = {
	{"device memory", survey_open_device},
	{"host memory", survey_open_host},
	{"launch", measure_launches},
	{"sweep", measure_sweeps},
	{"transfer", measure_transfers},
	{"hop", measure_hops},
};

enum status ceilings_measure(struct bench_ceiling *ceilings, size_t *nceilings,
			     struct fault *fault)
{
	struct survey s = {};
	enum status status = STATUS_OK;

	s.ceilings = ceilings;
	s.nroom = *nceilings;
	*nceilings = 0;
	if (measure_context(&s) != cudaSuccess) {
		const char *words = cudaGetErrorString(cudaGetLastError());
		return fault_set(fault, STATUS_NO_GPU, 0, words);
	}
	for (const struct step &step : steps) {
		if (status == STATUS_OK)
			status = gpu_fault_of(fault, step.name, step.measure(&s));
	}
	survey_close(&s);
	*nceilings = s.count;
	return status;
}
