/* SPDX-License-Identifier: MIT
 *
 * scan_test.cuh - folds to test scans with, random values for them, and checks that run
 * on the GPU, where the values are.
 */
#ifndef GPUSTAT_SCAN_TEST_CUH
#define GPUSTAT_SCAN_TEST_CUH

#include "kernel_test.cuh"

#include "scan_launch.cuh"

/* 128 random bits for number i (the finaliser of splitmix64: G. Steele, D. Lea and
 * C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
HD uint128 random_bits(uint64_t seed, uint64_t i)
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

/* x -> a x + b modulo 2^(half of T's bits), a in the upper half of the value: associative,
 * not commutative. Random maps have odd a, so nothing absorbs what came before. */
template <class T, class UNSIGNED = T> struct fold_affine_of {
	typedef T value;
	static const unsigned half = sizeof(T) * 4;
	static const UNSIGNED mask = ((UNSIGNED)1 << half) - 1;
	HD T identity(void) { return (T)((UNSIGNED)1 << half); }
	HD T combine(T earlier, T later)
	{
		UNSIGNED e = (UNSIGNED)earlier, l = (UNSIGNED)later, a = l >> half;
		return (T)((a * (e >> half) & mask) << half |
			   ((a * (e & mask) + (l & mask)) & mask));
	}
	HD T random(uint128 bits) { return (T)((UNSIGNED)bits | (UNSIGNED)1 << half); }
};
typedef fold_affine_of<uint8_t> affine8;
typedef fold_affine_of<uint16_t> affine16;
typedef fold_affine_of<uint32_t> affine32;
typedef fold_affine_of<uint64_t> affine64;
typedef fold_affine_of<int128, uint128> affine128;

/* A shipped fold, with any bits for values. */
template <class F> struct fold_bits : F {
	HD typename F::value random(uint128 bits) { return (typename F::value)bits; }
};

/* The maps of one byte each, which is what occurs. */
struct fold_bytes : fold_csv_map {
	HD csv_map random(uint128 bits) { return csv_map_of((enum csv_class)((unsigned)bits & 3)); }
};

template <class F>
__global__ static void random_fill(typename F::value *out, uint64_t n, uint64_t seed)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		out[i] = F::random(random_bits(seed, i));
}

#define CHECK_NBLOCKS 64
#define CHECK_NTHREADS 256

/* n random values in device memory. Freed by device_free. */
template <class F> static typename F::value *device_random(uint64_t n)
{
	typename F::value *out = device_filled<typename F::value>(n, POISON);

	random_fill<F><<<CHECK_NBLOCKS, CHECK_NTHREADS>>>(out, n, random_next());
	must(cudaGetLastError(), "random_fill");
	return out;
}

/* Counts into *nwrong the results that do not follow from the one before; none means that
 * all are right. carry_in: as the job had it; carry_out: the job's, or NULL. */
template <class F>
__global__ static void check_steps(struct scan_job<typename F::value> job, unsigned *nwrong)
{
	typedef typename F::value T;
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;
	T carry = job.carry_in != NULL ? *job.carry_in : F::identity();

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.n; i += step) {
		T inclusive, wanted;
		if (job.exclusive)
			wanted = i == 0 ? carry : F::combine(job.out[i - 1], job.in[i - 1]);
		else
			wanted = F::combine(i == 0 ? carry : job.out[i - 1], job.in[i]);
		if (job.out[i] != wanted)
			atomicAdd(nwrong, 1);
		inclusive = job.exclusive ? F::combine(job.out[i], job.in[i]) : job.out[i];
		if (i == job.n - 1 && job.carry_out != NULL && *job.carry_out != inclusive)
			atomicAdd(nwrong, 1);
	}
}

template <class F>
static void check_launch(const struct scan_job<typename F::value> &job, unsigned *nwrong)
{
	check_steps<F><<<CHECK_NBLOCKS, CHECK_NTHREADS>>>(job, nwrong);
	must(cudaGetLastError(), "check_steps");
}

/* The count, which is cleared. */
static unsigned check_take(unsigned *nwrong)
{
	unsigned *host = host_copy(nwrong, 1), seen = *host;

	must(cudaMemset(nwrong, 0, sizeof *nwrong), "clear");
	free(host);
	return seen;
}

/* Memory for scans of up to n values. Freed by device_free(slots). */
struct scan_slots {
	void *slots;
	struct scan_memory memory;
};

static struct scan_slots scan_slots_open(size_t nbytes)
{
	struct scan_slots s;

	s.slots = device_filled<char>(nbytes, POISON);
	must(scan_memory_open(&s.memory, s.slots, nbytes, 0), "scan_memory_open");
	return s;
}

#endif
