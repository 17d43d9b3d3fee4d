/* SPDX-License-Identifier: MIT
 *
 * scan_test.cuh - folds to test scans with, arrays of random values for them, and checks
 * that run on the GPU, where the values are.
 */
#pragma once

#include "kernel_test.cuh"

#include "kernels/csv/map_fold.cuh"
#include "kernels/ladder/sample.cuh"
#include "kernels/ladder/scan_launch.cuh"

typedef sample_affine<uint8_t> affine8;
typedef sample_affine<uint16_t> affine16;
typedef sample_affine<uint32_t> affine32;
typedef sample_affine<uint64_t> affine64;
typedef sample_affine<int128, uint128> affine128;

/* A shipped fold, with any bits for values. */
template <class F> using fold_bits = sample_any<F>;

/* Transition maps of adjacent texts; the values are the maps of one byte each. */
struct fold_bytes {
	typedef csv_map value;
	HD csv_map identity(void) { return CSV_MAP_IDENTITY; }
	HD csv_map combine(csv_map earlier, csv_map later)
	{
		return csv_map_compose(earlier, later);
	}
	HD csv_map random(uint128 bits) { return csv_map_of((enum csv_class)((unsigned)bits & 3)); }
};

#define CHECK_NBLOCKS 64
#define CHECK_NTHREADS 256

/* n random values in device memory. Freed by device_free. */
template <class F> static typename F::value *device_random(uint64_t n)
{
	typename F::value *out = device_filled<typename F::value>(n, POISON);

	sample_fill<F><<<CHECK_NBLOCKS, CHECK_NTHREADS>>>(out, n, random_next());
	must(cudaGetLastError(), "sample_fill");
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
static unsigned check_count(unsigned *nwrong)
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
