/* SPDX-License-Identifier: MIT
 *
 * device_segments.cu - see device_segments.cuh.
 */
#include "kernels/worker/device_segments.cuh"

#include <errno.h>
#include <unistd.h>

#include "kernels/worker/worker.cuh"

#define STAGE_NBYTES ((size_t)8 << 20) /* read at once */

/* ---- memory ---- */

cudaError_t segments_open(struct segments *d, int device)
{
	cudaError_t error = cudaStreamCreateWithFlags(&d->copies, cudaStreamNonBlocking);

	d->device = device;
	for (int i = 0; i < 2 && error == cudaSuccess; i++) {
		pinned_buffer_reserve(&d->stage[i], STAGE_NBYTES);
		error = pinned_buffer_pin(&d->stage[i]);
		if (error == cudaSuccess)
			error = cudaEventCreateWithFlags(&d->copied[i], cudaEventDisableTiming);
	}
	return error;
}

void segments_close(struct segments *d)
{
	for (int i = 0; i < 2; i++) {
		(void)pinned_buffer_free(&d->stage[i]);
		if (d->copied[i])
			(void)cudaEventDestroy(d->copied[i]);
	}
	if (d->copies)
		(void)cudaStreamDestroy(d->copies);
}

/* ---- one after the other ---- */

/* Waits until a segment is free, or full, as asked. False: all stops. */
static bool wait_for(struct segments *d, const struct segment *s, bool full)
{
	bool stop;

	pthread_mutex_lock(&d->lock);
	while (!(stop = d->stop) && s->full != full)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return !stop;
}

static void set_full(struct segments *d, struct segment *s, bool full)
{
	pthread_mutex_lock(&d->lock);
	s->full = full;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

const struct segment *segments_wait(struct segments *d, int i)
{
	return wait_for(d, &d->all[i], true) ? &d->all[i] : NULL;
}

void segments_free(struct segments *d, int i)
{
	set_full(d, &d->all[i], false);
}

/* ---- the reading thread ---- */

/* Reads up to nbytes of the file; fewer: its end, or an error, which the CPUs will find again. */
static size_t read_file(int fd, char *to, size_t nbytes, off_t position)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = pread(fd, to + done, nbytes - done, position + (off_t)done);
		done += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && done < nbytes) || (n < 0 && errno == EINTR));
	return done;
}

/* Reads a segment and copies it up: while a part is copied, the next is read. */
static void read_segment(struct segments *d, struct segment *s, off_t position)
{
	cudaError_t error = cudaSuccess;

	s->nbytes = 0;
	s->last = false;
	for (int i = 0; s->nbytes < d->most_nbytes && !s->last; i ^= 1) {
		size_t want = d->most_nbytes - s->nbytes, n;
		want = want < STAGE_NBYTES ? want : STAGE_NBYTES;
		error = gpu_checked(cudaEventSynchronize(d->copied[i]));
		if (error == cudaSuccess) {
			n = read_file(d->fd, d->stage[i].data, want, position + s->nbytes);
			s->last = n < want;
			error = gpu_checked(cudaMemcpyAsync(s->data + s->nbytes, d->stage[i].data, n,
							    cudaMemcpyHostToDevice, d->copies));
			s->nbytes += (uint32_t)n;
		}
		if (error == cudaSuccess)
			error = gpu_checked(cudaEventRecord(d->copied[i], d->copies));
		if (error != cudaSuccess)
			s->last = true;
	}
	if (error == cudaSuccess)
		error = gpu_checked(cudaStreamSynchronize(d->copies));
	if (error != cudaSuccess) {
		(void)cudaGetLastError();
		s->nbytes = 0;
		s->last = true;
	}
}

static void *reader_main(void *argument)
{
	struct segments *d = (struct segments *)argument;
	off_t position = d->begin;
	bool last = cudaSetDevice(d->device) != cudaSuccess;

	for (int i = 0;; i ^= 1) {
		struct segment *s = &d->all[i];
		if (!wait_for(d, s, false))
			return NULL;
		if (!last)
			read_segment(d, s, position);
		else
			s->nbytes = 0, s->last = true;
		position += s->nbytes;
		last = s->last;
		set_full(d, s, true);
		if (last)
			return NULL;
	}
}

/* ---- begin and end ---- */

bool segments_begin(struct segments *d, int fd, off_t position)
{
	d->fd = fd;
	d->begin = position;
	d->stop = d->all[0].full = d->all[1].full = false;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	if (pthread_create(&d->reader, NULL, reader_main, d) == 0)
		return true;
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
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
	pthread_join(d->reader, NULL);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
}
