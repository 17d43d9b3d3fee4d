/* SPDX-License-Identifier: MIT
 *
 * device_marks.cu - see device_marks.h.
 *
 * Each mark is an event in the worker's stream. The events of one device share a clock. A base
 * event, recorded while the stream is idle, relates it to the host's.
 */
#include "bench/pipeline/device_marks.h"

#include <stdlib.h>

#include "bench/ladder/gpu_fault.cuh"
#include "kernels/worker/worker.cuh"

extern "C" {
#include "bench/ladder/timing.h"
}

#define NTRIES 5 /* to relate the clocks; the quickest try is the most accurate */

struct mark {
	cudaEvent_t event;
	enum stage stage; /* that ends here; STAGE_BEGINS: only begins one */
};

struct device_marks {
	struct worker_watch watch; /* first: the worker has a pointer to it */
	struct worker *worker;
	struct mark *marks; /* Owned, with nevents events. */
	size_t nmarks, nevents, capacity;
	cudaEvent_t base;
	double base_ns;    /* when the stream passed it, in the host's time */
	cudaError_t error; /* of the first mark that failed */
};

static cudaError_t marks_reserve(struct device_marks *m)
{
	if (m->nmarks == m->capacity) {
		size_t capacity = 2 * m->capacity + 64;
		struct mark *marks = (struct mark *)realloc(m->marks, capacity * sizeof *marks);
		if (marks == NULL)
			return cudaErrorMemoryAllocation;
		m->marks = marks;
		m->capacity = capacity;
	}
	if (m->nmarks < m->nevents)
		return cudaSuccess;
	cudaError_t error = cudaEventCreate(&m->marks[m->nmarks].event);
	m->nevents += error == cudaSuccess;
	return error;
}

static void mark(struct worker_watch *watch, enum stage stage, cudaStream_t stream)
{
	struct device_marks *m = (struct device_marks *)watch;
	cudaError_t error = marks_reserve(m);

	if (error == cudaSuccess)
		error = cudaEventRecord(m->marks[m->nmarks].event, stream);
	if (m->error == cudaSuccess)
		m->error = error;
	if (error == cudaSuccess)
		m->marks[m->nmarks++].stage = stage;
}

/* Records the base event between two readings of the host's clock. */
static cudaError_t relate_clocks(struct device_marks *m)
{
	double quickest = 0;

	for (int i = 0; i < NTRIES; i++) {
		cudaEvent_t event;
		cudaError_t error = cudaEventCreate(&event);
		if (error != cudaSuccess)
			return error;
		double before = timing_now_ns();
		error = cudaEventRecord(event, m->worker->stream);
		if (error == cudaSuccess)
			error = cudaEventSynchronize(event);
		double after = timing_now_ns();
		if (error == cudaSuccess && (i == 0 || after - before < quickest)) {
			cudaEvent_t worse = m->base;
			quickest = after - before;
			m->base_ns = (before + after) / 2;
			m->base = event;
			event = worse;
		}
		if (event != NULL)
			(void)cudaEventDestroy(event);
		if (error != cudaSuccess)
			return error;
	}
	return cudaSuccess;
}

enum status device_marks_open(struct device_marks **out, struct worker *gpu, struct fault *fault)
{
	struct device_marks *m = (struct device_marks *)calloc(1, sizeof *m);
	cudaError_t error;

	if (m == NULL)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	m->worker = gpu;
	m->watch.mark = mark;
	error = relate_clocks(m);
	if (error == cudaSuccess) {
		gpu->watch = &m->watch;
		*out = m;
	} else {
		device_marks_close(m);
	}
	return gpu_fault_of(fault, "relate clocks", error);
}

static cudaError_t time_of(const struct device_marks *m, size_t i, double *ns)
{
	float ms = 0;
	cudaError_t error = cudaEventElapsedTime(&ms, m->base, m->marks[i].event);

	*ns = m->base_ns + 1e6 * (double)ms;
	return error;
}

enum status device_marks_move(struct device_marks *m, struct lane *lane, const struct chunk *chunk,
			      struct fault *fault)
{
	cudaError_t error = m->error;
	double begin_ns = 0, end_ns;

	if (error == cudaSuccess && m->nmarks > 0)
		error = cudaEventSynchronize(m->marks[m->nmarks - 1].event);
	for (size_t i = 0; error == cudaSuccess && i < m->nmarks; i++) {
		error = time_of(m, i, &end_ns);
		if (error == cudaSuccess && m->marks[i].stage != STAGE_BEGINS)
			lane_add(lane, m->marks[i].stage, chunk->index, chunk->nbytes, begin_ns,
				 end_ns);
		begin_ns = end_ns;
	}
	m->nmarks = 0;
	return gpu_fault_of(fault, "marks", error);
}

void device_marks_close(struct device_marks *m)
{
	m->worker->watch = NULL;
	for (size_t i = 0; i < m->nevents; i++)
		(void)cudaEventDestroy(m->marks[i].event);
	if (m->base != NULL)
		(void)cudaEventDestroy(m->base);
	(void)cudaGetLastError();
	free(m->marks);
	free(m);
}
