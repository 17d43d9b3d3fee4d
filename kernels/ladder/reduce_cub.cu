/* SPDX-License-Identifier: MIT
 *
 * reduce_cub.cu - the rung that the others are compared with: NVIDIA's CUB, which comes with the
 * toolkit.
 *
 * Called as its manual says, with its temporary storage allocated beforehand. n is passed as a
 * 32-bit number where it fits, since CUB is tuned for that.
 */
#include <cub/device/device_reduce.cuh>
#include <cuda/functional>

#include "reduce.cuh"

/* What CUB adds: signed integers may not overflow in C++, and these sums wrap. */
static inline float *cub_summands(float *x) { return x; }
static inline uint32_t *cub_summands(int32_t *x) { return (uint32_t *)x; }
static inline uint64_t *cub_summands(int64_t *x) { return (uint64_t *)x; }
static inline uint128 *cub_summands(int128 *x) { return (uint128 *)x; }

/* temporary NULL: only sets *nbytes, of temporary storage. Minima and maxima begin with the fold's
 * identity: CUB's own begin with the greatest finite float, which is neither the minimum of nothing
 * nor that of infinities. COUNT: n's type. */
template <class F, class T, class COUNT>
static cudaError_t cub_reduce(void *temporary, size_t *nbytes, T *in, T *out, COUNT n)
{
	if constexpr (F::fold == BENCH_SUM)
		return cub::DeviceReduce::Sum(temporary, *nbytes, cub_summands(in),
					      cub_summands(out), n);
	else if constexpr (F::fold == BENCH_MIN)
		return cub::DeviceReduce::Reduce(temporary, *nbytes, in, out, n,
						 ::cuda::minimum<>(), F::identity());
	else
		return cub::DeviceReduce::Reduce(temporary, *nbytes, in, out, n,
						 ::cuda::maximum<>(), F::identity());
}

struct reduce_cub_rung : reduce_rung {
	static const unsigned folds = LADDER_FOLDS;

	template <class F, class T>
	static cudaError_t call(struct ladder_run *run, void *temporary, size_t *nbytes, T *in,
				T *out)
	{
		if (run->n <= INT32_MAX)
			return cub_reduce<F>(temporary, nbytes, in, out, (int32_t)run->n);
		return cub_reduce<F>(temporary, nbytes, in, out, (int64_t)run->n);
	}

	/* nblocks: one a multiprocessor, the least that CUB has at work. */
	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		typename F::value *none = NULL;
		int device, nprocessors;
		size_t nbytes = 0;
		cudaError_t error = cudaGetDevice(&device);

		if (error == cudaSuccess)
			error = cudaDeviceGetAttribute(&nprocessors, cudaDevAttrMultiProcessorCount,
						       device);
		if (error != cudaSuccess)
			return error;
		run->nblocks = (uint32_t)nprocessors;
		error = call<F>(run, NULL, &nbytes, none, none);
		return error == cudaSuccess ? ladder_scratch(run, nbytes) : error;
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, T *in, T *out)
	{
		size_t nbytes = run->scratch_nbytes;
		cudaError_t error = call<F>(run, run->scratch, &nbytes, in, out);

		return error == cudaSuccess ? cudaGetLastError() : error;
	}

	/* CUB promises nothing; its source (CCCL 3.0) bounds it. Blocks of 256 threads or more read
	 * tiles of up to 20 values a thread in turns, so a thread has at most 40 beyond its even
	 * share, and joins them in a chain at worst. A block folds in at most 10 levels and leaves
	 * a partial; there are at most 160 a multiprocessor, which one more block folds; and there
	 * is an initial value. */
	static uint64_t depth(const struct ladder_run *run)
	{
		uint64_t nshare = run->n / (256 * (uint64_t)run->nblocks) + 40;

		return nshare + 10 + run->nblocks + 40 + 10 + 1;
	}
};
LADDER_RUNG(reduce, cub, "cub::DeviceReduce of the CUDA toolkit")
