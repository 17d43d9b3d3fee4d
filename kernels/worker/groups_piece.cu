/* SPDX-License-Identifier: MIT
 *
 * groups_piece.cu - see groups_piece.cuh.
 */
#include "kernels/worker/groups_piece.cuh"

enum status host_piece_open(struct host_piece *p, int device, size_t nbytes, struct fault *fault)
{
	GPU_TRY("select GPU", cudaSetDevice(device));
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	pinned_buffer_reserve(&p->memory, nbytes);
	GPU_TRY("pin memory", pinned_buffer_pin(&p->memory));
	return STATUS_OK;
}

enum status host_piece_read(struct host_piece *p, const uint64_t *words, uint64_t nwords, struct fault *fault)
{
	GPU_TRY("copy groups", cudaMemcpyAsync(p->memory.data, words, nwords * sizeof *words, cudaMemcpyDeviceToHost,
					   p->stream));
	GPU_TRY("copy groups", cudaStreamSynchronize(p->stream));
	return STATUS_OK;
}

void host_piece_close(struct host_piece *p)
{
	if (p->stream)
		(void)cudaStreamSynchronize(p->stream); /* after a fault a copy may go on */
	(void)pinned_buffer_free(&p->memory);
	if (p->stream)
		(void)cudaStreamDestroy(p->stream);
	(void)cudaGetLastError();
}

enum status groups_allocate(void **memory, size_t nbytes, bool *made, struct fault *fault)
{
	cudaError_t error = gpu_checked(cudaMalloc(memory, nbytes));

	*made = error == cudaSuccess;
	if (error != cudaErrorMemoryAllocation)
		return *made ? STATUS_OK : gpu_fault(fault, STATUS_GPU, "allocate groups", error);
	(void)cudaGetLastError();
	*memory = NULL;
	return STATUS_OK;
}

enum status device_piece_open(struct device_piece *p, size_t nwords, size_t ngroups, cudaStream_t stream, bool *made,
			      struct fault *fault)
{
	enum status status = groups_allocate((void **)&p->words, nwords * sizeof *p->words, made, fault);

	if (status == STATUS_OK && *made)
		status = groups_allocate((void **)&p->begins, ngroups * sizeof *p->begins, made, fault);
	if (status == STATUS_OK && *made)
		status = groups_allocate((void **)&p->nleft, sizeof *p->nleft, made, fault);
	if (status != STATUS_OK || !*made)
		return status;
	GPU_TRY("clear groups", cudaMemsetAsync(p->nleft, 0, sizeof *p->nleft, stream));
	return STATUS_OK;
}

enum status device_piece_end(const struct device_piece *p, cudaStream_t stream, struct fault *fault)
{
	unsigned long long nleft;

	GPU_TRY("send groups", cudaMemcpyAsync(&nleft, p->nleft, sizeof nleft, cudaMemcpyDeviceToHost, stream));
	GPU_TRY("send groups", cudaStreamSynchronize(stream));
	return nleft == 0 ? STATUS_OK : fault_set(fault, STATUS_GPU, 0, "no room for groups");
}

void device_piece_close(struct device_piece *p)
{
	(void)cudaFree(p->nleft);
	(void)cudaFree(p->begins);
	(void)cudaFree(p->words);
	(void)cudaGetLastError();
}
