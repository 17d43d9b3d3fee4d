/* SPDX-License-Identifier: MIT
 *
 * inflate_nvcomp.cu - see inflate_nvcomp.h.
 */
#include "bench/ladder/inflate_nvcomp.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_ALIGN 16 /* the library asks for 4 at least, and says that more may be faster */

/* ---- the library ---- */

struct decompress_options {
	int backend; /* 0: the default */
	int sorts;
	char reserved[56];
};

typedef int temp_nbytes_function(size_t nstreams, size_t text_nbytes_most, struct decompress_options options,
				 size_t *nbytes, size_t text_nbytes, cudaStream_t stream);
typedef int decompress_function(const void *const *data, const size_t *data_nbytes, const size_t *room_nbytes,
				size_t *text_nbytes, size_t nstreams, void *temp, size_t temp_nbytes, void *const *text,
				struct decompress_options options, int *statuses, cudaStream_t stream);

static struct {
	temp_nbytes_function *temp_nbytes;
	decompress_function *decompress;
} library;

static bool open_library(void)
{
	void *handle = dlopen("libnvcomp.so.6", RTLD_NOW | RTLD_LOCAL);

	handle = handle ? handle : dlopen("libnvcomp.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return false;
	library.decompress = (decompress_function *)dlsym(handle, "nvcompBatchedDeflateDecompressAsync");
	library.temp_nbytes = (temp_nbytes_function *)dlsym(handle, "nvcompBatchedDeflateDecompressGetTempSize");
	if (!library.temp_nbytes) /* its name in 5.0 */
		library.temp_nbytes =
			(temp_nbytes_function *)dlsym(handle, "nvcompBatchedDeflateDecompressGetTempSizeAsync");
	return library.decompress && library.temp_nbytes;
}

/* ---- a job ---- */

/* What the library wants for all streams of a job, in device memory. */
static struct {
	uint32_t nstreams; /* 0: nothing is prepared */
	const void **data;
	void **text;
	size_t *data_nbytes, *room_nbytes, *text_nbytes, temp_nbytes;
	int *statuses;
	char *aligned; /* the packed data */
	void *temp;
} batch;

void inflate_nvcomp_close(void)
{
	(void)cudaFree(batch.data);
	(void)cudaFree(batch.text);
	(void)cudaFree(batch.data_nbytes);
	(void)cudaFree(batch.room_nbytes);
	(void)cudaFree(batch.text_nbytes);
	(void)cudaFree(batch.statuses);
	(void)cudaFree(batch.aligned);
	(void)cudaFree(batch.temp);
	memset(&batch, 0, sizeof batch);
}

static size_t round_up(size_t nbytes)
{
	return (nbytes + INPUT_ALIGN - 1) / INPUT_ALIGN * INPUT_ALIGN;
}

/* Copies n T up to new memory. */
template <class T> static cudaError_t upload(T **to, const T *from, size_t n)
{
	cudaError_t error = cudaMalloc((void **)to, n * sizeof(T));

	return error == cudaSuccess ? cudaMemcpy(*to, from, n * sizeof(T), cudaMemcpyHostToDevice) : error;
}

/* The arrays of all streams, on the host. */
struct lists {
	const void **data;
	void **text;
	size_t *data_nbytes, *room_nbytes;
};

/* Lists the streams, and copies each to its new place. */
static cudaError_t place_streams(const struct inflate_job &job, const struct inflate_stream *streams,
				 const struct lists &l)
{
	cudaError_t error = cudaSuccess;
	size_t at = 0;

	for (uint32_t i = 0; i < job.nstreams && error == cudaSuccess; i++) {
		const struct inflate_stream &s = streams[i];
		l.data[i] = batch.aligned + at;
		l.text[i] = job.text + s.text_offset;
		l.data_nbytes[i] = s.nbytes;
		l.room_nbytes[i] = s.text_nbytes;
		error = cudaMemcpy(batch.aligned + at, job.data + s.data_offset, s.nbytes, cudaMemcpyDeviceToDevice);
		at += round_up(s.nbytes);
	}
	return error;
}

static cudaError_t upload_lists(const struct inflate_job &job, const struct inflate_stream *streams,
				const struct lists &l)
{
	size_t nbytes = 0, n = job.nstreams;

	for (size_t i = 0; i < n; i++)
		nbytes += round_up(streams[i].nbytes);
	cudaError_t error = cudaMalloc((void **)&batch.aligned, nbytes);
	if (error == cudaSuccess)
		error = place_streams(job, streams, l);
	if (error == cudaSuccess)
		error = upload(&batch.data, l.data, n);
	if (error == cudaSuccess)
		error = upload(&batch.text, l.text, n);
	if (error == cudaSuccess)
		error = upload(&batch.data_nbytes, l.data_nbytes, n);
	return error == cudaSuccess ? upload(&batch.room_nbytes, l.room_nbytes, n) : error;
}

/* Allocates what the library writes. */
static cudaError_t open_results(const struct inflate_stream *streams, size_t n)
{
	size_t most = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		most = streams[i].text_nbytes > most ? streams[i].text_nbytes : most;
		all += streams[i].text_nbytes;
	}
	if (library.temp_nbytes(n, most, {}, &batch.temp_nbytes, all, 0) != 0)
		return cudaErrorUnknown;
	cudaError_t error = cudaMalloc(&batch.temp, batch.temp_nbytes + 1);
	if (error == cudaSuccess)
		error = cudaMalloc((void **)&batch.text_nbytes, n * sizeof *batch.text_nbytes);
	return error == cudaSuccess ? cudaMalloc((void **)&batch.statuses, n * sizeof *batch.statuses) : error;
}

/* Prepares the job. */
static cudaError_t open_batch(const struct inflate_job &job)
{
	size_t n = job.nstreams;
	struct inflate_stream *streams = (struct inflate_stream *)malloc(n * sizeof *streams);
	struct lists l = {(const void **)malloc(n * sizeof(void *)), (void **)malloc(n * sizeof(void *)),
			  (size_t *)malloc(n * sizeof(size_t)), (size_t *)malloc(n * sizeof(size_t))};
	cudaError_t error = streams && l.data && l.text && l.data_nbytes && l.room_nbytes ? cudaSuccess
											    : cudaErrorMemoryAllocation;

	if (error == cudaSuccess)
		error = cudaMemcpy(streams, job.streams, n * sizeof *streams, cudaMemcpyDeviceToHost);
	if (error == cudaSuccess)
		error = upload_lists(job, streams, l);
	if (error == cudaSuccess)
		error = open_results(streams, n);
	batch.nstreams = error == cudaSuccess ? job.nstreams : 0;
	free(streams);
	free(l.data);
	free(l.text);
	free(l.data_nbytes);
	free(l.room_nbytes);
	return error;
}

/* ---- the rung ---- */

#define COUNT_NTHREADS 256

/* Counts the streams that the library has refused. */
__global__ static void __launch_bounds__(COUNT_NTHREADS)
count_refused(const int *statuses, uint32_t n, uint32_t *ndamaged)
{
	uint32_t i = blockIdx.x * COUNT_NTHREADS + threadIdx.x;

	if (i < n && statuses[i] != 0)
		atomicAdd(ndamaged, 1);
}

static cudaError_t nvcomp_launch(struct inflate_job job, cudaStream_t stream)
{
	cudaError_t error = batch.nstreams == job.nstreams ? cudaSuccess : open_batch(job);

	if (error != cudaSuccess)
		return error;
	if (library.decompress(batch.data, batch.data_nbytes, batch.room_nbytes, batch.text_nbytes, job.nstreams, batch.temp,
			       batch.temp_nbytes, batch.text, {}, batch.statuses, stream) != 0)
		return cudaErrorUnknown;
	count_refused<<<(job.nstreams + COUNT_NTHREADS - 1) / COUNT_NTHREADS, COUNT_NTHREADS, 0, stream>>>(
		batch.statuses, job.nstreams, job.ndamaged);
	return cudaGetLastError();
}

static const struct inflate_rung nvcomp = {"nvcomp", "NVIDIA's nvCOMP, the peer: for good data alone", nvcomp_launch};

const struct inflate_rung *inflate_nvcomp(void)
{
	return (library.decompress && library.temp_nbytes) || open_library() ? &nvcomp : NULL;
}
