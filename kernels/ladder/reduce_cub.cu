/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce_cub.cu - the rung that the others are held against: NVIDIA's CUB, as it comes
 * with the toolkit.
 *
 * Called as its manual says, its temporary storage allocated once and beforehand. n goes to
 * it as a 32-bit number where it fits, since CUB tunes for that.
 */
#include <cub/device/device_reduce.cuh>
#include <cuda/functional>

#include "kernels/ladder/reduce.cuh"

/* What CUB adds: a signed integer may not overflow in C++, and these sums are modulo 2^bits. */
static inline float *cub_summands(float *x)
{
	return x;
}

static inline uint32_t *cub_summands(int32_t *x)
{
	return (uint32_t *)x;
}

static inline uint64_t *cub_summands(int64_t *x)
{
	return (uint64_t *)x;
}

static inline uint128 *cub_summands(int128 *x)
{
	return (uint128 *)x;
}

/* One call of CUB's. temporary NULL: only finds *nbytes, of storage. Minima and maxima begin
 * with the fold's identity: CUB's own begin with the greatest finite float, which is neither
 * the minimum of nothing nor that of infinities. COUNT: n's type. */
template <class CHOICE, class COUNT>
static cudaError_t cub_reduce(void *temporary, size_t *nbytes,
			      typename CHOICE::type::value *in,
			      typename CHOICE::type::value *out, COUNT n)
{
	typedef typename CHOICE::type F;

	if constexpr (CHOICE::fold == BENCH_SUM)
		return cub::DeviceReduce::Sum(temporary, *nbytes, cub_summands(in),
					      cub_summands(out), n);
	else if constexpr (CHOICE::fold == BENCH_MIN)
		return cub::DeviceReduce::Reduce(temporary, *nbytes, in, out, n,
						 ::cuda::minimum<>(), F::identity());
	else
		return cub::DeviceReduce::Reduce(temporary, *nbytes, in, out, n,
						 ::cuda::maximum<>(), F::identity());
}

/* The call for run. */
static cudaError_t cub_call(const struct ladder_run *run, void *temporary, size_t *nbytes,
			    void *in, void *out)
{
	return ladder_choose<reduce_cub_types, reduce_cub_folds>(run, [=](auto choice) {
		typedef decltype(choice) CHOICE;
		typedef typename CHOICE::type::value value;
		value *x = (value *)in, *y = (value *)out;

		if (run->n <= INT32_MAX)
			return cub_reduce<CHOICE>(temporary, nbytes, x, y, (int32_t)run->n);
		return cub_reduce<CHOICE>(temporary, nbytes, x, y, (int64_t)run->n);
	});
}

/* nblocks: one a multiprocessor, the least that CUB has at work. */
cudaError_t reduce_cub_open(struct ladder_run *run)
{
	int device, nprocessors;
	size_t nbytes = 0;
	cudaError_t error = cudaGetDevice(&device);

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&nprocessors, cudaDevAttrMultiProcessorCount,
					       device);
	if (error != cudaSuccess)
		return error;
	run->nblocks = (uint32_t)nprocessors;
	error = cub_call(run, NULL, &nbytes, NULL, NULL);
	return error == cudaSuccess ? ladder_scratch(run, nbytes) : error;
}

cudaError_t reduce_cub_launch(struct ladder_run *run, void *in, void *out)
{
	size_t nbytes = run->scratch_nbytes;
	cudaError_t error = cub_call(run, run->scratch, &nbytes, in, out);

	return error == cudaSuccess ? cudaGetLastError() : error;
}

/* CUB promises nothing; its source (CCCL 3.0) bounds it. Blocks of 256 threads or more take
 * tiles of up to 20 values a thread in turns, so that a thread has 40 at most beyond its even
 * share, and joins them in a chain at worst. A block folds in at most 10 levels, and leaves a
 * partial; there are at most 160 a multiprocessor, which one more block folds; and there is an
 * initial value. */
uint64_t reduce_cub_depth(const struct ladder_run *run)
{
	uint64_t nshare = run->n / (256 * (uint64_t)run->nblocks) + 40;

	return nshare + 10 + run->nblocks + 40 + 10 + 1;
}
