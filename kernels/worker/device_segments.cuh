/* SPDX-License-Identifier: MIT
 *
 * device_segments.cuh - the bytes of a plain file, read and copied to a device by a thread of their own, one segment
 * ahead of who works on them. Only device_inflate.cu includes it.
 */
#ifndef GPUSTAT_DEVICE_SEGMENTS_CUH
#define GPUSTAT_DEVICE_SEGMENTS_CUH

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels/level/gpu_memory.cuh"

struct segment {
	unsigned char *data; /* device memory, the caller's */
	uint32_t nbytes;
	bool full, last; /* read; nothing follows, or it cannot be read, which a CPU will find again */
};

/* All 0 to begin with, but for all[].data and most_nbytes. */
struct segments {
	struct segment all[2]; /* taken in turns */
	size_t most_nbytes;
	int device;
	cudaStream_t copies;
	cudaEvent_t copied[2];
	struct pinned_buffer stage[2];
	pthread_t reader;
	int fd; /* not owned */
	off_t begin;

	pthread_mutex_t lock; /* guards stop, and full of both */
	pthread_cond_t changed;
	bool stop;
};

/* Reserves pinned memory, for the current device, whose number is given. Errors: the runtime's; segments_close is to be called
 * then, too. */
cudaError_t segments_open(struct segments *s, int device);
void segments_close(struct segments *s);

/* Starts the thread, which reads from the position on. False: there is no thread. */
bool segments_begin(struct segments *s, int fd, off_t position);

/* Waits for segment i, 0 first and then in turns. NULL: all stops. */
const struct segment *segments_wait(struct segments *s, int i);

/* Segment i is not used any more. */
void segments_free(struct segments *s, int i);

/* Has the thread end, and whoever waits return: any thread. Then, when nobody waits: segments_end. */
void segments_stop(struct segments *s);
void segments_end(struct segments *s);

#endif
