/* SPDX-License-Identifier: MIT
 *
 * inflate.cu - see inflate.cuh.
 *
 * A stream is decoded in order: where a symbol begins is known only when the one before it has been
 * decoded. So the device is filled with streams, one a warp. All lanes of a warp do the same until a match is
 * copied, a byte a lane: 31 of 32 lanes idle in between, but they cost nothing where the warps' instructions
 * wait for each other. Several streams a warp were slower the more they were, since each goes its own way (H100,
 * 64 KiB of logs, GB/s of text with 1, 2, 4, 8, 16 streams a warp: 56, 37, 21, 11, 4; 2026-11-23).
 */
#include "kernels/codec/inflate.cuh"

#include "kernels/codec/inflate_blocks.cuh"
#include "kernels/level/grid.cuh"
#include "kernels/level/warp.cuh"

#define INFLATE_NTHREADS 128
#define INFLATE_NWARPS (INFLATE_NTHREADS / WARP_NLANES)

/* Decodes a stream. */
static __device__ bool inflate_stream(const struct inflate_job &job, const struct inflate_stream &stream,
				      struct inflate_tables *t)
{
	struct inflater<char> f = {};
	bool last = false;

	f.data = job.data;
	f.data_offset = stream.data_offset;
	f.nbytes = stream.nbytes;
	f.text = job.text + stream.text_offset;
	f.room = stream.text_nbytes;
	inflate_seek(&f, 0);
	while (!last)
		if (inflate_overran(f) || !inflate_block(&f, t, &last))
			return false;
	return !inflate_overran(f) && f.at == f.room;
}

/* ---- the kernel ---- */

/* The warp's next stream. */
static __device__ uint32_t next_stream(const struct inflate_job &job)
{
	return warp_broadcast(warp_lane() == 0 ? atomicAdd(job.ticket, 1) : 0, 0);
}

/* Blocks a multiprocessor: all the threads it has room for, by its compute capability. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define INFLATE_NRESIDENT 16
#elif __CUDA_ARCH__ >= 800
#define INFLATE_NRESIDENT 12
#else
#define INFLATE_NRESIDENT 8
#endif

__global__ static void __launch_bounds__(INFLATE_NTHREADS, INFLATE_NRESIDENT)
inflate(struct inflate_job job)
{
	__shared__ struct inflate_tables tables[INFLATE_NWARPS];

	for (uint32_t i; (i = next_stream(job)) < job.nstreams;) {
		struct inflate_stream stream = job.streams[i];
		if (!inflate_stream(job, stream, &tables[warp_index()]) && warp_lane() == 0)
			atomicAdd(job.ndamaged, 1);
	}
}

cudaError_t inflate_launch(struct inflate_job job, cudaStream_t stream)
{
	uint32_t nresident, nblocks = (job.nstreams + INFLATE_NWARPS - 1) / INFLATE_NWARPS;
	cudaError_t error = grid_nresident(inflate, INFLATE_NTHREADS, 0, &nresident);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	inflate<<<nblocks < nresident ? nblocks : nresident, INFLATE_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}
