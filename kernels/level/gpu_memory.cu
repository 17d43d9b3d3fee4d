/* SPDX-License-Identifier: MIT
 *
 * gpu_memory.cu - see gpu_memory.cuh.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/level/gpu_memory.cuh"

#define LARGE_PAGE_NBYTES ((size_t)2 << 20)

void pinned_buffer_reserve(struct pinned_buffer *b, size_t nbytes)
{
	size_t page_nbytes = (size_t)sysconf(_SC_PAGESIZE);
	void *data;

	b->nbytes = nbytes;
	if (nbytes < LARGE_PAGE_NBYTES || posix_memalign(&data, LARGE_PAGE_NBYTES, nbytes) != 0)
		return;
	(void)madvise(data, nbytes, MADV_HUGEPAGE); /* if it fails, small pages do */
	for (size_t at = 0; at < nbytes; at += page_nbytes)
		((volatile char *)data)[at] = 0;
	b->data = (char *)data;
	b->reserved = true;
}

cudaError_t pinned_buffer_pin(struct pinned_buffer *b)
{
	if (b->reserved) {
		b->registered = cudaHostRegister(b->data, b->nbytes, cudaHostRegisterDefault) ==
				cudaSuccess;
		if (b->registered)
			return cudaSuccess;
		(void)cudaGetLastError(); /* handled: cudaMallocHost may succeed */
		free(b->data);
		b->data = NULL;
		b->reserved = false;
	}
	return cudaMallocHost((void **)&b->data, b->nbytes);
}

cudaError_t pinned_buffer_need(struct pinned_buffer *b, size_t nbytes)
{
	bool is_pinned = b->registered || (b->data && !b->reserved);
	cudaError_t error = cudaSuccess;

	if (is_pinned && b->nbytes >= nbytes)
		return cudaSuccess;
	if (b->nbytes < nbytes) {
		error = pinned_buffer_free(b);
		pinned_buffer_reserve(b, nbytes + nbytes / 4);
	}
	return error == cudaSuccess ? pinned_buffer_pin(b) : error;
}

cudaError_t pinned_buffer_free(struct pinned_buffer *b)
{
	cudaError_t error = cudaSuccess;

	if (b->registered)
		error = cudaHostUnregister(b->data);
	if (b->reserved)
		free(b->data);
	else if (b->data)
		error = cudaFreeHost(b->data);
	*b = {NULL, 0, false, false};
	return error;
}
