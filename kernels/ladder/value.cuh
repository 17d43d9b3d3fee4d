/* SPDX-License-Identifier: MIT
 *
 * value.cuh - arrays of sample values in device memory, of a type that is known at run time: writes
 * them, checks them, folds them. All on the default stream.
 */
#pragma once

#include <stdlib.h>

#include "fold.cuh"
#include "sample.cuh"

/* A value begins a segment with a chance of 1 in MEAN, a power of two. */
template <unsigned MEAN> struct sample_segmented : ladder_segmented_sum {
	HD uint64_t random(uint128 bits)
	{
		bool begins = ((uint64_t)(bits >> 64) & (MEAN - 1)) == 0;
		return ((uint64_t)bits & ~head) | (begins ? head : 0);
	}
};

extern "C" {
#include "reference.h"
}

/* Which values an array holds; see sample.cuh. */
enum value_sample {
	VALUE_ANY,   /* float32: uniform in [-1, 1); SEGMENTED: segments of 4096 values on average;
		      * AFFINE: a is odd; others: any bits */
	VALUE_EXACT, /* float32: odd numbers, whose sums do not round; SEGMENTED: segments of 4
		      * values on average; others: as VALUE_ANY */
};

#define VALUE_NBLOCKS 1024
#define VALUE_NTHREADS 256
#define VALUE_NPARTS ((uint64_t)65536) /* that value_reference cuts an array into */

/* Returns act(S()), S being the class of the sample. */
template <class ACT>
static inline cudaError_t value_choose(enum bench_type type, enum value_sample sample, ACT act)
{
	switch (type) {
	case BENCH_FLOAT32:
		return sample == VALUE_EXACT ? act(sample_f32_odd()) : act(sample_f32());
	case BENCH_INT32:
		return act(sample_any<ladder_fold<BENCH_INT32, BENCH_SUM>>());
	case BENCH_INT64:
		return act(sample_any<ladder_fold<BENCH_INT64, BENCH_SUM>>());
	case BENCH_INT128:
		return act(sample_any<ladder_fold<BENCH_INT128, BENCH_SUM>>());
	case BENCH_SEGMENTED:
		return sample == VALUE_EXACT ? act(sample_segmented<4>())
					     : act(sample_segmented<4096>());
	default:
		return act(sample_affine<uint64_t>());
	}
}

/* Writes values [0, n) of the sample to out. Errors: the launch's. */
static inline cudaError_t value_fill(enum bench_type type, enum value_sample sample, void *out,
				     uint64_t n, uint64_t seed)
{
	return value_choose(type, sample, [=](auto s) {
		typedef decltype(s) S;
		typename S::value *x = (typename S::value *)out;
		sample_fill<S><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(x, n, seed);
		return cudaGetLastError();
	});
}

template <class S>
__global__ static void count_changed(const typename S::value *in, uint64_t n, uint64_t seed,
				     unsigned *nwrong)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		if (!(in[i] == S::random(sample_bits(seed, i))))
			atomicAdd(nwrong, 1);
}

/* Adds to *nwrong, in device memory, how many of in[0 .. n) differ from what value_fill wrote.
 * Errors: the launch's. */
static inline cudaError_t value_count_changed(enum bench_type type, enum value_sample sample,
					      const void *in, uint64_t n, uint64_t seed,
					      unsigned *nwrong)
{
	return value_choose(type, sample, [=](auto s) {
		typedef decltype(s) S;
		const typename S::value *x = (const typename S::value *)in;
		count_changed<S><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(x, n, seed, nwrong);
		return cudaGetLastError();
	});
}

/* A scan to check: of sections of section_nvalues values; 0: of the whole array. */
struct value_scan {
	const void *in, *out;
	uint64_t n, section_nvalues;
	bool exclusive;
};

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
		if (!(out[i] == wanted)) /* true of NaN, too */
			atomicAdd(nwrong, 1);
	}
}

/* Adds to *nwrong, in device memory, how many of out[0 .. n) do not follow from their predecessor,
 * as sums; 0: the whole scan is right. float32: exact, so for VALUE_EXACT only.
 * Errors: the launch's. */
static inline cudaError_t value_count_missteps(enum bench_type type, struct value_scan scan,
					       unsigned *nwrong)
{
	return value_choose(type, VALUE_EXACT, [=](auto s) {
		count_missteps<decltype(s)><<<VALUE_NBLOCKS, VALUE_NTHREADS>>>(scan, nwrong);
		return cudaGetLastError();
	});
}

/* Part p is values [p * each, (p + 1) * each), as far as there are any. */
__global__ static void reference_parts(enum bench_type type, enum bench_fold fold, const void *in,
				       uint64_t n, uint64_t each, struct reference *parts)
{
	uint64_t p = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, begin = p * each;

	if (begin < n)
		parts[p] = reference_of_range(type, fold, in, begin,
					      begin + each < n ? begin + each : n);
}

/* Sets *whole to the fold of in[0 .. n), n values in device memory: a plain loop over each of
 * VALUE_NPARTS parts on the device, then over the parts on the host. Waits.
 * Errors: memory, the launch. */
static inline cudaError_t value_reference(enum bench_type type, enum bench_fold fold,
					  const void *in, uint64_t n, struct reference *whole)
{
	uint64_t each = n / VALUE_NPARTS + 1, nparts = (n + each - 1) / each;
	size_t nbytes = nparts * sizeof(struct reference);
	struct reference *device = NULL, *host = (struct reference *)malloc(nbytes + 1);
	cudaError_t error = host != NULL ? cudaMalloc(&device, nbytes + 1)
					 : cudaErrorMemoryAllocation;

	*whole = reference_empty(type, fold);
	if (error == cudaSuccess) {
		reference_parts<<<VALUE_NPARTS / VALUE_NTHREADS, VALUE_NTHREADS>>>(
			type, fold, in, n, each, device);
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
