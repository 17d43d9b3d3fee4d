/* SPDX-License-Identifier: MIT
 *
 * device_segments.cuh - the bytes of a plain file, read and copied to a device by threads of their own, one segment
 * ahead of who works on them. Only device_inflate.cu includes it.
 */
#ifndef GPUSTAT_DEVICE_SEGMENTS_CUH
#define GPUSTAT_DEVICE_SEGMENTS_CUH

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels/level/gpu_memory.cuh"

/* One thread copies 6 to 7 GB/s out of the page cache; a member of logs is decoded at 5 GB/s of packed bytes. */
#define SEGMENT_NREADERS 3

struct segment {
	unsigned char *data; /* device memory, the caller's */
	uint32_t nbytes;
	bool last; /* nothing follows, or it cannot be read, which a CPU will find again */
	unsigned nreaders; /* that have read their parts: it is full once all have */
};

/* Reads every SEGMENT_NREADERS-th part of each segment. */
struct segment_reader {
	struct segments *of;
	unsigned first;
	pthread_t thread;
	cudaStream_t copies;
	cudaEvent_t copied[2];
	struct pinned_buffer stage[2];
};

/* All 0 to begin with, but for all[].data and most_nbytes. */
struct segments {
	struct segment all[2]; /* taken in turns */
	size_t most_nbytes;
	int device;
	struct segment_reader readers[SEGMENT_NREADERS];
	unsigned nstarted;
	int fd; /* not owned */
	off_t begin, end;

	pthread_mutex_t lock; /* guards all below, and nreaders of both */
	pthread_cond_t changed;
	uint64_t nfreed;
	bool stop, failed;
};

/* Reserves pinned memory, for the current device, whose number is given. Errors: the runtime's; segments_close is to be called
 * then, too. */
cudaError_t segments_open(struct segments *s, int device);
void segments_close(struct segments *s);

/* Starts the threads, which read the bytes of the file between two positions. False: there is no thread. */
bool segments_begin(struct segments *s, int fd, off_t begin, off_t end);

/* Waits for segment i, 0 first and then in turns. NULL: all stops. */
const struct segment *segments_wait(struct segments *s, int i);

/* The first segment that has not been freed yet is not used any more. */
void segments_free(struct segments *s);

/* Has the threads end, and whoever waits return: any thread. Then, when nobody waits: segments_end. */
void segments_stop(struct segments *s);
void segments_end(struct segments *s);

#endif
