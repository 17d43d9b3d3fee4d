/* SPDX-License-Identifier: MIT
 *
 * device_segments.cu - see device_segments.cuh.
 */
#include "kernels/worker/device_segments.cuh"

#include <errno.h>
#include <unistd.h>

extern "C" {
#include "base/thread.h"
}

#include "kernels/worker/worker.cuh"

#define STAGE_NBYTES ((size_t)4 << 20) /* a part of a segment, read at once */

/* ---- memory ---- */

static cudaError_t reader_open(struct segment_reader *r)
{
	cudaError_t error = cudaStreamCreateWithFlags(&r->copies, cudaStreamNonBlocking);

	for (int i = 0; i < 2 && error == cudaSuccess; i++) {
		pinned_buffer_reserve(&r->stage[i], STAGE_NBYTES);
		error = pinned_buffer_pin(&r->stage[i]);
		if (error == cudaSuccess)
			error = cudaEventCreateWithFlags(&r->copied[i], cudaEventDisableTiming);
	}
	return error;
}

static void reader_close(struct segment_reader *r)
{
	for (int i = 0; i < 2; i++) {
		(void)pinned_buffer_free(&r->stage[i]);
		if (r->copied[i])
			(void)cudaEventDestroy(r->copied[i]);
	}
	if (r->copies)
		(void)cudaStreamDestroy(r->copies);
}

cudaError_t segments_open(struct segments *d, int device)
{
	cudaError_t error = cudaSuccess;

	d->device = device;
	for (unsigned i = 0; i < SEGMENT_NREADERS && error == cudaSuccess; i++) {
		d->readers[i].of = d;
		d->readers[i].first = i;
		error = reader_open(&d->readers[i]);
	}
	return error;
}

void segments_close(struct segments *d)
{
	for (unsigned i = 0; i < SEGMENT_NREADERS; i++)
		reader_close(&d->readers[i]);
}

/* ---- one after the other ---- */

/* Waits until segment number k may be read. False: all stops. */
static bool wait_until_free(struct segments *d, uint64_t k)
{
	bool stop;

	pthread_mutex_lock(&d->lock);
	while (!(stop = d->stop) && k >= d->nfreed + 2)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return !stop;
}

const struct segment *segments_wait(struct segments *d, int i)
{
	struct segment *s = &d->all[i];
	bool stop;

	pthread_mutex_lock(&d->lock);
	while (!(stop = d->stop) && s->nreaders < SEGMENT_NREADERS)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return stop ? NULL : s;
}

void segments_free(struct segments *d)
{
	pthread_mutex_lock(&d->lock);
	d->all[d->nfreed++ % 2].nreaders = 0;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

/* ---- a reading thread ---- */

/* A segment's place in the file. */
struct extent {
	off_t position;
	size_t nbytes;
	bool last;
};

static struct extent extent_of(const struct segments *d, uint64_t k)
{
	off_t position = d->begin + (off_t)(k * d->most_nbytes), left = d->end - position;

	if (left > (off_t)d->most_nbytes)
		return {position, d->most_nbytes, false};
	return {position, left > 0 ? (size_t)left : 0, true};
}

/* Reads nbytes of the file. False: it has fewer, or cannot be read. */
static bool read_file(int fd, char *to, size_t nbytes, off_t position)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = pread(fd, to + done, nbytes - done, position + (off_t)done);
		done += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && done < nbytes) || (n < 0 && errno == EINTR));
	return done == nbytes;
}

/* Reads the parts of a segment and copies them up: while one is copied, the next is read. */
static bool read_parts(struct segment_reader *r, unsigned char *to, const struct extent *e)
{
	cudaError_t error = cudaSuccess;
	bool is_read = true;
	int i = 0;

	for (size_t at = r->first * STAGE_NBYTES; at < e->nbytes && error == cudaSuccess && is_read;
	     at += SEGMENT_NREADERS * STAGE_NBYTES, i ^= 1) {
		size_t n = e->nbytes - at < STAGE_NBYTES ? e->nbytes - at : STAGE_NBYTES;
		error = gpu_checked(cudaEventSynchronize(r->copied[i]));
		is_read = read_file(r->of->fd, r->stage[i].data, n, e->position + (off_t)at);
		if (error == cudaSuccess && is_read)
			error = gpu_checked(cudaMemcpyAsync(to + at, r->stage[i].data, n, cudaMemcpyHostToDevice,
							    r->copies));
		if (error == cudaSuccess)
			error = gpu_checked(cudaEventRecord(r->copied[i], r->copies));
	}
	if (error == cudaSuccess)
		error = gpu_checked(cudaStreamSynchronize(r->copies));
	if (error != cudaSuccess)
		(void)cudaGetLastError(); /* handled: CPUs go on */
	return error == cudaSuccess && is_read;
}

/* The reader has read its parts. */
static void hand_over(struct segments *d, struct segment *s, const struct extent *e, bool is_read)
{
	pthread_mutex_lock(&d->lock);
	d->failed |= !is_read;
	s->nbytes = d->failed ? 0 : (uint32_t)e->nbytes;
	s->last = d->failed || e->last;
	s->nreaders++;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static void *reader_main(void *argument)
{
	struct segment_reader *r = (struct segment_reader *)argument;
	struct segments *d = r->of;
	bool can_read = cudaSetDevice(d->device) == cudaSuccess;
	struct extent e;
	uint64_t k = 0;

	do {
		struct segment *s = &d->all[k % 2];
		if (!wait_until_free(d, k))
			return NULL;
		e = extent_of(d, k++);
		hand_over(d, s, &e, can_read && read_parts(r, s->data, &e));
	} while (!e.last);
	return NULL;
}

/* ---- begin and end ---- */

bool segments_begin(struct segments *d, int fd, off_t begin, off_t end)
{
	d->fd = fd;
	d->begin = begin;
	d->end = end;
	d->stop = d->failed = false;
	d->nfreed = 0;
	d->all[0].nreaders = d->all[1].nreaders = 0;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	for (d->nstarted = 0; d->nstarted < SEGMENT_NREADERS; d->nstarted++) {
		struct segment_reader *r = &d->readers[d->nstarted];
		if (!thread_start(&r->thread, reader_main, r))
			break;
	}
	if (d->nstarted == SEGMENT_NREADERS)
		return true;
	segments_stop(d);
	segments_end(d);
	return false;
}

void segments_stop(struct segments *d)
{
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

void segments_end(struct segments *d)
{
	for (unsigned i = 0; i < d->nstarted; i++)
		pthread_join(d->readers[i].thread, NULL);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
}
