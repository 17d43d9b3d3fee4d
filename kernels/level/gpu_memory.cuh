/* SPDX-License-Identifier: MIT
 *
 * gpu_memory.cuh - the ways a GPU worker holds memory: arenas, whose layout is known when it
 * opens, buffers that grow with what the chunks bring, and large buffers of the host.
 */
#ifndef GPUSTAT_GPU_MEMORY_CUH
#define GPUSTAT_GPU_MEMORY_CUH

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

/* One allocation, cut into arrays. It is laid out twice by the same code: once with base
 * NULL, to learn the size, and once for good. */
struct arena {
	char *base;
	size_t nbytes; /* cut off so far */
};
#define ARENA_ALIGN 256 /* as cudaMalloc aligns */

/* Cuts off an array of n T, aligned for anything. NULL in the first round. */
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

/* Makes room for nbytes; what was there is lost if it has to grow. A quarter more is
 * taken then, so that chunks of a kind soon stop asking: growing waits for the device.
 * New memory is cleared in stream, since a 16-byte load of the last items takes in what
 * lies behind them. Errors: cudaMalloc's; the buffer is then empty. */
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

/* Pinned memory of the host for what is copied by the device's engines; kernels do not touch it.
 * It is the host's own, of large pages where there are such, and registered, since cudaMallocHost
 * takes 8 ms for 21 MB, one thread after the other, while the device stands still (H200,
 * 2026-11-21). Where that is refused, and where it is small, it is cudaMallocHost's. Zeroed: empty. */
struct pinned_buffer {
	char *data;
	size_t nbytes;
	bool taken, registered; /* of malloc's memory; else it is cudaMallocHost's */
};

/* Takes nbytes, not pinned yet, for an empty buffer. That asks no device, and can be done while one
 * wakes. */
void pinned_buffer_take(struct pinned_buffer *b, size_t nbytes);

/* Pins what was taken. Errors: cudaMallocHost's; nothing is there then but b->nbytes. */
cudaError_t pinned_buffer_pin(struct pinned_buffer *b);

/* Makes it empty, whatever was done with it. Errors: those of earlier work of the device. */
cudaError_t pinned_buffer_free(struct pinned_buffer *b);

#endif
