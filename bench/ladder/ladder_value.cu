/* SPDX-License-Identifier: MIT
 *
 * ladder_value.cu - see ladder_value.cuh.
 */
#include "bench/ladder/ladder_value.cuh"

#include <stdlib.h>

#include "kernels/ladder/fold.cuh"
#include "kernels/ladder/sample.cuh"

#define VALUE_NBLOCKS 1024
#define VALUE_NTHREADS 256
#define PARTS_NBLOCKS 256
#define VALUE_NPARTS ((uint64_t)PARTS_NBLOCKS * VALUE_NTHREADS)

/* ---- one type ---- */

/* The samples of a type: any, and such as add without rounding. */
template <enum bench_type TYPE> struct value_samples {
	typedef sample_any<typename ladder_fold<TYPE, BENCH_SUM>::type> any, exact;
};
template <> struct value_samples<BENCH_FLOAT32> {
	typedef sample_f32 any;
	typedef sample_f32_odd exact;
};
template <> struct value_samples<BENCH_AFFINE> {
	typedef sample_affine<uint64_t> any, exact;
};

template <class S>
__global__ static void count_changed(const typename S::value *in, uint64_t n, uint64_t seed,
				     unsigned *nwrong)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		if (!(in[i] == S::random(sample_bits(seed, i))))
			atomicAdd(nwrong, 1);
}

template <class F> __global__ static void count_missteps(struct value_scan scan, unsigned *nwrong)
{
	typedef typename F::value T;
	const T *in = (const T *)scan.in, *out = (const T *)scan.out;
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;
	uint64_t section = scan.section_nvalues > 0 ? scan.section_nvalues : scan.n;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < scan.n; i += step) {
		T before = i % section == 0 ? F::identity() : out[i - 1], wanted;
		if (scan.exclusive)
			wanted = i % section == 0 ? before : F::combine(before, in[i - 1]);
		else
			wanted = F::combine(before, in[i]);
		if (!(out[i] == wanted)) /* nor does NaN follow */
			atomicAdd(nwrong, 1);
	}
}

/* What is done with a type. */
struct value_ops {
	cudaError_t (*fill)(enum value_sample, void *, uint64_t, uint64_t);
	cudaError_t (*count_changed)(enum value_sample, const void *, uint64_t, uint64_t,
				     unsigned *);
	cudaError_t (*count_missteps)(struct value_scan, unsigned *);
};

template <enum bench_type TYPE> struct value_of {
	typedef typename value_samples<TYPE>::any any;
	typedef typename value_samples<TYPE>::exact exact;
	typedef typename ladder_fold<TYPE, BENCH_SUM>::type sum;
	typedef typename sum::value T;

	static cudaError_t fill(enum value_sample sample, void *out, uint64_t n, uint64_t seed)
	{
		if (sample == VALUE_ANY)
			sample_fill<any><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>((T *)out, n, seed);
		else
			sample_fill<exact><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>((T *)out, n, seed);
		return cudaGetLastError();
	}

	static cudaError_t changed(enum value_sample sample, const void *in, uint64_t n,
				   uint64_t seed, unsigned *nwrong)
	{
		const T *x = (const T *)in;

		if (sample == VALUE_ANY)
			count_changed<any><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(x, n, seed, nwrong);
		else
			count_changed<exact><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(x, n, seed, nwrong);
		return cudaGetLastError();
	}

	static cudaError_t missteps(struct value_scan scan, unsigned *nwrong)
	{
		count_missteps<sum><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(scan, nwrong);
		return cudaGetLastError();
	}
};

static const struct value_ops ops[BENCH_NTYPES] = {
#define VALUE_ROW(ID, name, nbytes)                                                      \
	{value_of<BENCH_##ID>::fill, value_of<BENCH_##ID>::changed,                      \
	 value_of<BENCH_##ID>::missteps},
	BENCH_TYPE_TABLE(VALUE_ROW)
#undef VALUE_ROW
};

cudaError_t value_fill(enum bench_type type, enum value_sample sample, void *out, uint64_t n,
		       uint64_t seed)
{
	return ops[type].fill(sample, out, n, seed);
}

cudaError_t value_count_changed(enum bench_type type, enum value_sample sample, const void *in,
				uint64_t n, uint64_t seed, unsigned *nwrong)
{
	return ops[type].count_changed(sample, in, n, seed, nwrong);
}

cudaError_t value_count_missteps(enum bench_type type, struct value_scan scan, unsigned *nwrong)
{
	return ops[type].count_missteps(scan, nwrong);
}

/* ---- references ---- */

/* Part p of so many is the values from p * each on. */
__global__ static void reference_parts(enum bench_type type, enum bench_fold fold,
				       const void *in, uint64_t n, uint64_t each,
				       struct reference *parts)
{
	uint64_t p = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, begin = p * each;

	if (begin < n)
		parts[p] = reference_of_range(type, fold, in, begin,
					      begin + each < n ? begin + each : n);
}

cudaError_t value_reference(enum bench_type type, enum bench_fold fold, const void *in,
			    uint64_t n, struct reference *whole)
{
	uint64_t each = n / VALUE_NPARTS + 1;
	uint64_t nparts = (n + each - 1) / each;
	size_t nbytes = nparts * sizeof(struct reference);
	struct reference *device = NULL, *host = (struct reference *)malloc(nbytes + 1);
	cudaError_t error = host != NULL ? cudaMalloc(&device, nbytes + 1)
					 : cudaErrorMemoryAllocation;

	*whole = reference_empty(type, fold);
	if (error == cudaSuccess) {
		reference_parts<<<PARTS_NBLOCKS, VALUE_NTHREADS>>>(type, fold, in, n, each, device);
		error = cudaGetLastError();
	}
	if (error == cudaSuccess)
		error = cudaMemcpy(host, device, nbytes, cudaMemcpyDeviceToHost);
	for (uint64_t p = 0; p < nparts && error == cudaSuccess; p++)
		*whole = reference_join(*whole, host[p]);
	(void)cudaFree(device);
	free(host);
	return error;
}
