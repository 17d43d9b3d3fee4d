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

/* Groups that a kernel adds to a table: memory of the table's device, owned. Zeroed: nothing. */
struct device_piece {
	uint64_t *words, *begins;
	unsigned long long *nleft; /* groups that the table had no room for */
};

/* Allocates on the current device, for nwords of up to ngroups groups. Errors: STATUS_GPU. Close p in any case. */
enum status device_piece_open(struct device_piece *p, size_t nwords, size_t ngroups, cudaStream_t stream,
			      struct fault *fault);

/* Waits for all pieces in the stream. That the table had no room, which is found out before the first is sent, is a failure: some
 * groups are in it. Errors: STATUS_GPU. */
enum status device_piece_end(const struct device_piece *p, cudaStream_t stream, struct fault *fault);

void device_piece_close(struct device_piece *p);

#endif
