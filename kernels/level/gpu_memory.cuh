/* SPDX-License-Identifier: MIT
 *
 * gpu_memory.cuh - three kinds of memory: arenas, whose layout is known when they are made, device
 * buffers that grow, and large pinned buffers of the host.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

/* One allocation, cut into arrays. The same code lays it out twice: first with base NULL, to
 * measure the size, then in the allocated memory. */
struct arena {
	char *base;
	size_t nbytes; /* cut off so far */
};
#define ARENA_ALIGN 256 /* as cudaMalloc aligns */

/* Cuts off an array of n T, aligned for any type. NULL if base is. */
template <class T> static inline T *arena_cut(struct arena *a, size_t n)
{
	T *array = a->base ? (T *)(a->base + a->nbytes) : NULL;

	a->nbytes += (n * sizeof(T) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	return array;
}

/* Device memory that grows. Zeroed: empty. */
struct gpu_buffer {
	void *data;
	size_t nbytes;
};

/* Reserves nbytes; growing loses the contents. It waits for the device, so a quarter more is
 * allocated. New memory is cleared in stream, since a 16-byte load of the last items reads what is
 * behind them. Errors: cudaMalloc's; the buffer is then empty. */
static inline cudaError_t gpu_buffer_reserve(struct gpu_buffer *b, size_t nbytes,
					     cudaStream_t stream)
{
	cudaError_t error;

	if (nbytes <= b->nbytes)
		return cudaSuccess;
	error = cudaFree(b->data);
	b->data = NULL;
	b->nbytes = 0;
	if (error == cudaSuccess)
		error = cudaMalloc(&b->data, nbytes + nbytes / 4);
	if (error == cudaSuccess)
		b->nbytes = nbytes + nbytes / 4;
	if (error == cudaSuccess)
		error = cudaMemsetAsync(b->data, 0, b->nbytes, stream);
	return error;
}

/* Pinned memory of the host for the device's copy engines; kernels do not access it. It is ordinary
 * memory, of large pages if the system has them, and registered, since cudaMallocHost takes 8 ms
 * for 21 MB, one thread after the other, while the device is idle (H200, 2026-11-21). If
 * registering fails, and for small sizes, it is cudaMallocHost's. Zeroed: empty. */
struct pinned_buffer {
	char *data;
	size_t nbytes;
	bool reserved, registered; /* malloc's memory, pinned; else it is cudaMallocHost's */
};

/* Reserves nbytes, not pinned yet, for an empty buffer. Needs no device, so it can run while one
 * wakes. */
void pinned_buffer_reserve(struct pinned_buffer *b, size_t nbytes);

/* Pins the reserved memory. Errors: cudaMallocHost's; then only b->nbytes is valid. */
cudaError_t pinned_buffer_pin(struct pinned_buffer *b);

/* Makes it a pinned one of nbytes; growing loses the contents, and waits for the device, so a quarter more is reserved. Errors:
 * pinned_buffer_pin's, pinned_buffer_free's. */
cudaError_t pinned_buffer_need(struct pinned_buffer *b, size_t nbytes);

/* Empties the buffer, in any state. Errors: those of earlier work of the device. */
cudaError_t pinned_buffer_free(struct pinned_buffer *b);
