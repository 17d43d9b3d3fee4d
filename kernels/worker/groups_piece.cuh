/* SPDX-License-Identifier: MIT
 *
 * groups_piece.cuh - what groups are copied through, piece by piece, on their way between a table, the host and the table
 * of another GPU.
 */
#ifndef GPUSTAT_WORKER_GROUPS_PIECE_CUH
#define GPUSTAT_WORKER_GROUPS_PIECE_CUH

#include "kernels/level/gpu_memory.cuh"
#include "kernels/worker/groups.cuh"

/* One thread's memory of the host, and the stream that copies there, or from there. Zeroed: nothing. */
struct host_piece {
	cudaStream_t stream;
	struct pinned_buffer memory;
};

/* Selects the device, and allocates. Errors: STATUS_GPU. Close p in any case. */
enum status host_piece_open(struct host_piece *p, int device, size_t nbytes, struct fault *fault);

/* Copies words of the device to the beginning of the memory, and waits. Errors: STATUS_GPU. */
enum status host_piece_read(struct host_piece *p, const uint64_t *words, uint64_t nwords, struct fault *fault);

void host_piece_close(struct host_piece *p);

/* Allocates memory of the current device. *made: false: it has not so much. Errors: STATUS_GPU. */
enum status groups_allocate(void **memory, size_t nbytes, bool *made, struct fault *fault);

/* Groups that a kernel adds to a table: memory of the table's device, owned. Zeroed: nothing. */
struct device_piece {
	uint64_t *words, *begins;
	unsigned long long *nleft; /* groups that the table had no room for */
};

/* Allocates on the current device, for nwords of up to ngroups groups, and clears *nleft in the stream, in which groups are
 * then merged. *made: false: the device has no memory for it. Errors: STATUS_GPU. Close p in any case. */
enum status device_piece_open(struct device_piece *p, size_t nwords, size_t ngroups, cudaStream_t stream, bool *made,
			      struct fault *fault);

/* Waits for the stream. Errors: STATUS_GPU, also where the table had no room for a group: whoever sends groups finds out before
 * whether there is room, and now some of them are in it. */
enum status device_piece_end(const struct device_piece *p, cudaStream_t stream, struct fault *fault);

void device_piece_close(struct device_piece *p);

#endif
