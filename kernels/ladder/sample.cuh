/* SPDX-License-Identifier: MIT
 *
 * sample.cuh - random values for folds, by index, on the host and on the device: the input of tests
 * and benchmarks. gpustat itself does not include it.
 *
 * Value i of a sample depends on the seed and on i alone, so whether an array still holds its
 * sample can be checked without a copy.
 */
#pragma once

#include "../level/fold.cuh"

/* 128 random bits for number i (the finaliser of splitmix64: G. Steele, D. Lea and
 * C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
HD uint128 sample_bits(uint64_t seed, uint64_t i)
{
	uint128 bits = 0;

	for (unsigned half = 0; half < 2; half++) {
		uint64_t z = (2 * i + half + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed;
		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		bits = bits << 64 | (z ^ z >> 31);
	}
	return bits;
}

/* A sample is a fold with one more function, random(bits): a value made of random bits. */

/* Values of any bits. */
template <class F> struct sample_any : F {
	HD typename F::value random(uint128 bits) { return (typename F::value)bits; }
};

/* Maps with odd a: no map makes the result independent of the maps before it. */
template <class T, class UNSIGNED = T> struct sample_affine : fold_affine<T, UNSIGNED> {
	HD T random(uint128 bits)
	{
		return (T)((UNSIGNED)bits | (UNSIGNED)1 << fold_affine<T, UNSIGNED>::half);
	}
};

/* Uniform in [-1, 1), in steps of 2^-23. Signs and exponents vary, so that the rounding of a sum
 * depends on the order; yet double adds 2^29 of them without rounding. */
struct sample_f32 : fold_sum<float> {
	HD float random(uint128 bits) { return (float)((int32_t)bits >> 8) * 0x1p-23f; }
};

/* Odd numbers, -15 ... 15, of mean 0. float32 adds them without rounding, in any order, while sums
 * stay below 2^24; the sum of 2^32 of them exceeds that only 27 standard deviations out. So a
 * single value that is lost, doubled or misplaced changes the result. */
struct sample_f32_odd : fold_sum<float> {
	HD float random(uint128 bits) { return (float)(2 * ((int32_t)bits >> 28) + 1); }
};

/* Writes values [0, n) of sample S to out[0 .. n). Any grid does. */
template <class S>
__global__ static void sample_fill(typename S::value *out, uint64_t n, uint64_t seed)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		out[i] = S::random(sample_bits(seed, i));
}
