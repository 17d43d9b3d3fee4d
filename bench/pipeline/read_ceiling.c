/* SPDX-License-Identifier: MIT
 *
 * read_ceiling.c - see read_ceiling.h.
 */
#include "bench/pipeline/read_ceiling.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ladder/timing.h"
#include "io/input.h"

struct reading {
	struct input *input;
	size_t chunk_nbytes;
	atomic_int nready;
	atomic_bool go, failed;
	pthread_mutex_t lock; /* of fault */
	struct fault fault;
};

static void fail(struct reading *r, const struct fault *fault)
{
	pthread_mutex_lock(&r->lock);
	if (!r->failed)
		r->fault = *fault;
	r->failed = true;
	pthread_mutex_unlock(&r->lock);
}

static void *reader_main(void *argument)
{
	struct reading *r = argument;
	char *buffer = malloc(r->chunk_nbytes);
	const struct reader reader = {.buffer = buffer, .nbytes = r->chunk_nbytes};
	struct chunk chunk;
	struct fault fault = {0};
	enum status status = STATUS_OK;

	if (buffer)
		memset(buffer, 1, r->chunk_nbytes); /* page faults are not timed */
	else
		status = fault_set(&fault, STATUS_NO_MEMORY, 0, NULL);
	r->nready++;
	while (!r->go)
		sched_yield();
	while (status == STATUS_OK && input_read_chunk(r->input, &reader, &chunk, &status, &fault))
		;
	if (status != STATUS_OK)
		fail(r, &fault);
	free(buffer);
	return NULL;
}

/* Reads the input once. Returns the time without that of starting the threads. */
static double read_all(struct reading *r, int nthreads)
{
	const struct fault no_thread = {.status = STATUS_NO_MEMORY};
	pthread_t threads[nthreads];
	int n = 0;
	double begin_ns;

	r->nready = 0;
	r->go = false;
	while (n < nthreads && !pthread_create(&threads[n], NULL, reader_main, r))
		n++;
	while (r->nready < n)
		sched_yield();
	if (n == 0)
		fail(r, &no_thread);
	begin_ns = timing_now_ns();
	r->go = true;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return timing_now_ns() - begin_ns;
}

enum status read_ceiling(const char *const *paths, int npaths, int nthreads, size_t chunk_nbytes,
			 unsigned nrepeats, double *least_ns, uint64_t *nbytes,
			 struct fault *fault)
{
	struct reading r = {.chunk_nbytes = chunk_nbytes, .lock = PTHREAD_MUTEX_INITIALIZER};

	for (unsigned i = 0; i < nrepeats + 1; i++) {
		enum status status = input_open(&r.input, paths, npaths, nthreads, fault);
		if (status != STATUS_OK)
			return status;
		*nbytes = input_nbytes_left(r.input);
		double ns = read_all(&r, nthreads);
		input_close(r.input);
		if (r.failed) {
			*fault = r.fault;
			return fault->status;
		}
		if (i == 1 || (i > 1 && ns < *least_ns)) /* run 0 fills the page cache */
			*least_ns = ns;
	}
	return STATUS_OK;
}
