/* SPDX-License-Identifier: MIT
 *
 * time_scan.cu - both scan engines and CUB side by side: types x sizes x tile sizes x
 * stages. Not a test and not installed.
 *
 *     time_scan [TYPE [MIB]]      TYPE: int32 float int64 int128; default: all, 128 and 2048
 *
 * One table: median of NTIMES by CUDA events, after warm-up, rotating between NBUFFERS
 * pairs of buffers; GB/s counts what is read and written. CUB's integers are checked step
 * by step on the GPU, and everyone else's results compared with CUB's.
 */
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "scan_test.cuh"

#define NTIMES 21
#define NWARMUPS 3
#define NBUFFERS 2

/* ---- what is scanned ---- */

typedef fold_bits<scan_sum_u32> time_i32;
typedef fold_bits<scan_sum_u64> time_i64;
typedef fold_bits<scan_sum_i128> time_i128;
struct time_f32 : fold_sum<float> {
	HD float random(uint128 bits) { return (float)((uint32_t)bits >> 8) * 0x1p-24f; }
};

/* Whether seen is what was wanted: floats within what the partials' order may change. All
 * terms are positive, so the bound is relative. */
template <class T> static __device__ bool follows(T wanted, T seen)
{
	return wanted == seen;
}
static __device__ bool follows(float wanted, float seen)
{
	return fabsf(wanted - seen) <= 1e-4f * wanted + 1e-3f;
}

template <class F>
__global__ static void compare(const typename F::value *wanted, const typename F::value *seen,
			       uint64_t n, unsigned *nwrong)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		if (!follows(wanted[i], seen[i]))
			atomicAdd(nwrong, 1);
}

/* ---- timing ---- */

template <class F> struct bench {
	const char *type;
	uint64_t n;
	typename F::value *in[NBUFFERS], *out[NBUFFERS], *wanted; /* wanted: CUB's, of in[0] */
	unsigned *nwrong;
	double cub_gbps;
	struct scan_memory memory;
};

/* Whether launch(in, out) makes of in[0] what CUB made of it; and warms up. */
template <class F, class LAUNCH> static bool bench_check(struct bench<F> *b, LAUNCH launch)
{
	must(cudaMemset(b->out[0], POISON, b->n * sizeof *b->wanted), "poison");
	must(launch(b->in[0], b->out[0]), "launch");
	compare<F><<<1024, 256>>>(b->wanted, b->out[0], b->n, b->nwrong);
	must(cudaGetLastError(), "compare");
	return check_count(b->nwrong) == 0;
}

/* Times launch(in, out) and prints a line. */
template <class F, class LAUNCH>
static void bench_time(struct bench<F> *b, const char *what, LAUNCH launch)
{
	bool right = bench_check(b, launch);
	double nbytes = (double)(b->n * sizeof *b->wanted);
	float ms[NWARMUPS + NTIMES];
	cudaEvent_t begin, end;

	must(cudaEventCreate(&begin), "event");
	must(cudaEventCreate(&end), "event");
	for (unsigned i = 0; i < NWARMUPS + NTIMES; i++) {
		must(cudaEventRecord(begin), "record");
		must(launch(b->in[i % NBUFFERS], b->out[i % NBUFFERS]), what);
		must(cudaEventRecord(end), "record");
		must(cudaEventSynchronize(end), what);
		must(cudaEventElapsedTime(&ms[i], begin, end), "elapsed");
	}
	must(cudaEventDestroy(begin), "event");
	must(cudaEventDestroy(end), "event");
	std::sort(ms + NWARMUPS, ms + NWARMUPS + NTIMES);
	const float *timed = ms + NWARMUPS;
	double gbps = 2e-6 * nbytes / timed[NTIMES / 2];
	if (b->cub_gbps == 0)
		b->cub_gbps = gbps;
	printf("%-7s %5.0f  %-38s %9.1f %7.0f %6.2f  +%.1f%%%s\n", b->type, nbytes / (1 << 20), what,
	       timed[NTIMES / 2] * 1e3, gbps, gbps / b->cub_gbps,
	       (timed[NTIMES - 1] / timed[0] - 1) * 100, right ? "" : "  WRONG");
	fflush(stdout);
}

template <class F, unsigned NTHREADS, unsigned NPACKS>
static void time_lookback(struct bench<F> *b)
{
	typedef typename F::value T;
	struct scan_shape shape;
	char what[64];

	must((lookback_shape<F, NTHREADS, NPACKS>(&shape)), "lookback_shape");
	snprintf(what, sizeof what, "look-back, %u warps, %u KiB", NTHREADS / WARP_NLANES,
		 NTHREADS * NPACKS * SCAN_PACK_NBYTES / 1024);
	bench_time(b, what, [&](const T *in, T *out) {
		struct scan_job<T> job = {in, out, b->n, NULL, NULL, false};
		return lookback_launch<F, NTHREADS, NPACKS>(&shape, &b->memory, job, 0);
	});
}

/* All numbers of stages that fit. */
template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS>
static void time_lookahead(struct bench<F> *b)
{
	typedef typename F::value T;

	for (uint32_t nstages = NGROUPS + 2;; nstages++) {
		struct scan_shape shape;
		char what[64];
		cudaError_t error =
			lookahead_shape<F, NGROUPS, NWARPS, NPACKS>(nstages, &shape);
		if (error == cudaErrorNotSupported || shape.nstages != nstages)
			return;
		must(error, "lookahead_shape");
		snprintf(what, sizeof what, "look-ahead, %u x %u warps, %u KiB x %u", NGROUPS,
			 NWARPS, NWARPS * WARP_NLANES * NPACKS * SCAN_PACK_NBYTES / 1024, nstages);
		bench_time(b, what, [&](const T *in, T *out) {
			struct scan_job<T> job = {in, out, b->n, NULL, NULL, false};
			return lookahead_launch<F, NGROUPS, NWARPS, NPACKS>(&shape, &b->memory, job,
									    0);
		});
	}
}

/* Makes b->wanted, and times. */
template <class F> static void time_cub(struct bench<F> *b)
{
	typedef typename F::value T;
	size_t nbytes = 0;
	void *temporary;
	struct scan_job<T> job = {b->in[0], b->wanted, b->n, NULL, NULL, false};

	must(cub::DeviceScan::InclusiveSum(NULL, nbytes, b->in[0], b->out[0], b->n), "CUB");
	must(cudaMalloc(&temporary, nbytes), "cudaMalloc");
	must(cub::DeviceScan::InclusiveSum(temporary, nbytes, b->in[0], b->wanted, b->n), "CUB");
	if (!std::is_same<T, float>::value)
		check_launch<F>(job, b->nwrong);
	if (check_count(b->nwrong) != 0)
		printf("CUB is WRONG\n");
	bench_time(b, "CUB", [&](const T *in, T *out) {
		return cub::DeviceScan::InclusiveSum(temporary, nbytes, in, out, b->n);
	});
	must(cudaFree(temporary), "cudaFree");
}

template <class F> static void time_type(const char *type, uint64_t nbytes)
{
	typedef typename F::value T;
	struct bench<F> b = {};
	/* Slots for the smallest tiles tried, 8 KiB. */
	struct scan_slots s = scan_slots_open((nbytes / 8192 + 2) * 4 * sizeof(uint64_t));

	b.type = type;
	b.n = nbytes / sizeof(T);
	b.memory = s.memory;
	b.wanted = device_filled<T>(b.n, POISON);
	b.nwrong = device_filled<unsigned>(1, 0);
	for (unsigned i = 0; i < NBUFFERS; i++) {
		b.in[i] = device_random<F>(b.n);
		b.out[i] = device_filled<T>(b.n, POISON);
	}
	time_cub(&b);
	time_lookback<F, 256, 3>(&b);
	time_lookback<F, 256, 5>(&b);
	time_lookback<F, 512, 5>(&b);
	time_lookahead<F, 1, 12, 9>(&b);
	time_lookahead<F, 2, 8, 9>(&b);
	time_lookahead<F, 2, 8, 11>(&b);
	time_lookahead<F, 2, 8, 13>(&b);
	time_lookahead<F, 2, 12, 5>(&b);
	time_lookahead<F, 2, 12, 9>(&b);
	time_lookahead<F, 2, 14, 7>(&b);
	time_lookahead<F, 3, 6, 9>(&b);
	time_lookahead<F, 3, 8, 7>(&b);
	time_lookahead<F, 3, 8, 9>(&b);
	time_lookahead<F, 4, 4, 9>(&b);
	time_lookahead<F, 4, 6, 7>(&b);
	time_lookahead<F, 4, 6, 9>(&b);
	time_lookahead<F, 4, 4, 13>(&b);
	for (unsigned i = 0; i < NBUFFERS; i++) {
		device_free(b.in[i]);
		device_free(b.out[i]);
	}
	device_free(b.wanted);
	device_free(b.nwrong);
	device_free(s.slots);
}

int main(int argc, char **argv)
{
	const char *type = argc > 1 ? argv[1] : "all";
	uint64_t sizes[] = {128, 2048}; /* MiB */
	unsigned nsizes = 2;

	if (argc > 2) {
		sizes[0] = strtoull(argv[2], NULL, 10);
		nsizes = 1;
	}
	printf("%-7s %5s  %-38s %9s %7s %6s  %s\n", "type", "MiB", "scan", "us", "GB/s", "x CUB",
	       "spread");
	for (unsigned i = 0; i < nsizes; i++) {
		bool all = strcmp(type, "all") == 0;
		if (all || strcmp(type, "int32") == 0)
			time_type<time_i32>("int32", sizes[i] << 20);
		if (all || strcmp(type, "float") == 0)
			time_type<time_f32>("float", sizes[i] << 20);
		if (all || strcmp(type, "int64") == 0)
			time_type<time_i64>("int64", sizes[i] << 20);
		if (all || strcmp(type, "int128") == 0)
			time_type<time_i128>("int128", sizes[i] << 20);
	}
	return 0;
}
