/* SPDX-License-Identifier: MIT
 *
 * test_scan.cu - both scan engines, every fold that is shipped and affine maps of every
 * width, against a plain loop on the host; large ones are checked step by step on the GPU.
 *
 * An argument, any, makes it quick: fewer launches, nothing large. For the sanitizers.
 */
#include "scan_test.cuh"

#ifndef TEST_NLAUNCHES
#define TEST_NLAUNCHES 10000 /* without a reset */
#endif
#ifndef TEST_NTILES
#define TEST_NTILES 20000 /* many more than run at once */
#endif

static bool quick;
static const char *const engine_names[] = {"look-back", "look-ahead"};

/* ---- one scan, against the host ---- */

enum carry_case { CARRY_NONE, CARRY_APART, CARRY_SAME };

template <class F>
static bool scan_is_right(const struct scan_job<typename F::value> &job,
			  const typename F::value *in, typename F::value carry)
{
	typedef typename F::value T;
	T *out = host_copy(job.out, job.n), *carry_out = NULL, all = carry;
	bool right = device_untouched(job.out + job.n, SCAN_ALIGN);

	for (uint64_t i = 0; i < job.n; i++) {
		T before = all;
		all = F::combine(all, in[i]);
		right = right && out[i] == (job.exclusive ? before : all);
	}
	if (job.carry_out != NULL) {
		carry_out = host_copy(job.carry_out, 1);
		right = right && *carry_out == all;
	}
	free(out);
	free(carry_out);
	return right;
}

/* Scans n random values, whichever way, and says whether all came out right. */
template <class F>
static bool scan_once(const struct scan_shape *shape, struct scan_memory *memory, uint64_t n,
		      bool exclusive, enum carry_case carry_case, bool in_place)
{
	typedef typename F::value T;
	T *device_in = device_random<F>(n), *in = host_copy(device_in, n);
	T *out = device_filled<T>(n + SCAN_ALIGN, POISON), *carries = device_random<F>(2);
	T *carry = host_copy(carries, 1);
	struct scan_job<T> job = {device_in, out, n, NULL, NULL, exclusive};
	bool right;

	if (carry_case != CARRY_NONE) {
		job.carry_in = carries;
		job.carry_out = carry_case == CARRY_SAME ? carries : carries + 1;
	}
	if (in_place) {
		must(cudaMemcpy(out, device_in, n * sizeof(T), cudaMemcpyDeviceToDevice), "copy");
		job.in = out;
	}
	must(scan_launch<F>(shape, memory, job, 0), "scan_launch");
	must(cudaDeviceSynchronize(), "scan");
	right = scan_is_right<F>(job, in, carry_case == CARRY_NONE ? F::identity() : *carry);
	free(in);
	free(carry);
	device_free(device_in);
	device_free(out);
	device_free(carries);
	return right;
}

/* Every size at which something changes, each in every way. */
template <class F> static void test_fold(const char *name, enum scan_engine engine)
{
	struct scan_shape shape;
	cudaError_t error = scan_shape_of<F>(engine, &shape);

	if (error == cudaErrorNotSupported) {
		skip(3, "no %s on this device", engine_names[engine]);
		return;
	}
	must(error, "scan_shape_of");
	const uint64_t tile = shape.tile_nvalues, pack = SCAN_ALIGN / sizeof(typename F::value);
	const uint64_t block = 256 * pack;
	const uint64_t sizes[] = {0,         1,        pack - 1,     pack,        pack + 1,
				  31,        32,       33,           block - 1,   block,
				  block + 1, tile - 1, tile,         tile + 1,    2 * tile,
				  3 * tile - pack,     5 * tile + 1, 33 * tile - 1, 40 * tile + 7};
	struct scan_slots s = scan_slots_open(scan_memory_nbytes<F>(&shape, 41 * tile));
	bool right[3] = {true, true, true};

	for (uint64_t n : sizes)
		for (unsigned c = CARRY_NONE; c <= CARRY_SAME; c++)
			for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
				bool in_place = c == CARRY_NONE && n > 0;
				if (!scan_once<F>(&shape, &s.memory, n, exclusive,
						  (enum carry_case)c, in_place)) {
					diag("%s: %llu values, carry %u, exclusive %u", name,
					     (unsigned long long)n, c, exclusive);
					right[c] = false;
				}
			}
	ok(right[CARRY_NONE], "%s scans %s in place", engine_names[engine], name);
	ok(right[CARRY_APART], "%s scans %s, carry in and out", engine_names[engine], name);
	ok(right[CARRY_SAME], "%s scans %s, carry renewed", engine_names[engine], name);
	device_free(s.slots);
}

static void test_folds(enum scan_engine engine)
{
	test_fold<affine8>("affine maps of 8 bits", engine);
	test_fold<affine16>("affine maps of 16 bits", engine);
	test_fold<affine32>("affine maps of 32 bits", engine);
	test_fold<affine64>("affine maps of 64 bits", engine);
	test_fold<affine128>("affine maps of 128 bits", engine);
	test_fold<fold_bytes>("csv maps", engine);
	test_fold<fold_bits<scan_sum_u32>>("32-bit sums", engine);
	test_fold<fold_bits<scan_sum_u64>>("64-bit sums", engine);
	test_fold<fold_bits<fold_min<int32_t, INT32_MAX>>>("32-bit minima", engine);
	test_fold<fold_bits<scan_max_i32>>("32-bit maxima", engine);
	test_fold<fold_bits<fold_min<int64_t, INT64_MAX>>>("64-bit minima", engine);
	test_fold<fold_bits<fold_max<int64_t, INT64_MIN>>>("64-bit maxima", engine);
	test_fold<fold_bits<scan_sum_i128>>("128-bit sums", engine);
	test_fold<fold_bits<scan_min_i128>>("128-bit minima", engine);
	test_fold<fold_bits<scan_max_i128>>("128-bit maxima", engine);
}

/* ---- many tiles, many blocks, other shapes: checked on the GPU ---- */

/* Scans n values; the number of wrong steps. launch(job): launches. */
template <class F, class LAUNCH> static unsigned scan_checked(uint64_t n, LAUNCH launch)
{
	typedef typename F::value T;
	T *in = device_random<F>(n), *out = device_filled<T>(n, POISON);
	T *carries = device_random<F>(2);
	unsigned *nwrong = device_filled<unsigned>(1, 0), seen;
	struct scan_job<T> job = {in, out, n, carries, carries + 1, random_below(2) != 0};

	must(launch(job), "launch");
	check_launch<F>(job, nwrong);
	seen = check_count(nwrong);
	device_free(in);
	device_free(out);
	device_free(carries);
	device_free(nwrong);
	return seen;
}

/* Small tiles, so that there are many; grids from one block to more than run at once. */
template <class F, unsigned NGROUPS, unsigned NWARPS, unsigned NPACKS>
static void test_lookahead_shape(void)
{
	const unsigned ntiles_all = quick ? TEST_NTILES / 20 : TEST_NTILES;
	struct scan_shape shape;
	unsigned nwrong = 0;

	for (unsigned nstages = NGROUPS + 1; nstages <= 3 * NGROUPS; nstages++) {
		if (lookahead_size_of(NGROUPS, nstages).nstages != nstages)
			continue; /* too many turns */
		cudaError_t error = lookahead_shape<F, NGROUPS, NWARPS, NPACKS>(nstages, &shape);
		if (error == cudaErrorNotSupported) {
			skip(1, "no look-ahead on this device");
			return;
		}
		must(error, "lookahead_shape");
		struct scan_slots s = scan_slots_open(scan_memory_nbytes<F>(
			&shape, (uint64_t)ntiles_all * shape.tile_nvalues));
		for (uint32_t nblocks : {1u, 2u, 3u, shape.nblocks, 20 * shape.nblocks}) {
			uint64_t ntiles = nblocks == 1 ? ntiles_all / 16 : ntiles_all;
			uint64_t n = ntiles * shape.tile_nvalues - random_below(shape.tile_nvalues);
			shape.nblocks = nblocks;
			nwrong += scan_checked<F>(n, [&](const struct scan_job<typename F::value> &job) {
				return lookahead_launch<F, NGROUPS, NWARPS, NPACKS>(
					&shape, &s.memory, job, 0);
			});
		}
		device_free(s.slots);
	}
	is_uint(0, nwrong, "look-ahead with %u groups of %u warps, tiles of %u bytes, any grid",
		NGROUPS, NWARPS, NWARPS * WARP_NLANES * NPACKS * SCAN_PACK_NBYTES);
}

template <class F, unsigned NTHREADS, unsigned NPACKS> static void test_lookback_shape(void)
{
	struct scan_shape shape;

	must((lookback_shape<F, NTHREADS, NPACKS>(&shape)), "lookback_shape");
	const unsigned ntiles = quick ? TEST_NTILES / 20 : TEST_NTILES;
	uint64_t n = (uint64_t)ntiles * shape.tile_nvalues - random_below(shape.tile_nvalues);
	struct scan_slots s = scan_slots_open(scan_memory_nbytes<F>(&shape, n));
	unsigned nwrong = scan_checked<F>(n, [&](const struct scan_job<typename F::value> &job) {
		return lookback_launch<F, NTHREADS, NPACKS>(&shape, &s.memory, job, 0);
	});
	is_uint(0, nwrong, "look-back over %u tiles of %u values", ntiles, shape.tile_nvalues);
	device_free(s.slots);
}

static void test_shapes(void)
{
	test_lookback_shape<affine8, 64, 1>();
	test_lookback_shape<affine32, 64, 1>();
	test_lookback_shape<affine64, 96, 3>();
	test_lookback_shape<affine128, 64, 1>();
	test_lookahead_shape<affine8, 4, 2, 1>();
	test_lookahead_shape<affine32, 1, 1, 1>();
	test_lookahead_shape<affine64, 3, 3, 3>();
	test_lookahead_shape<affine128, 2, 4, 1>();
}

/* ---- many launches ---- */

#define RELAUNCH_NTILES 60

/* What random launches of fold F work on. */
template <class F> struct relaunch {
	typedef typename F::value T;
	struct scan_shape shape[2];
	bool has[2];
	T *in, *out, *carries;
	uint64_t nvalues_max;
	size_t slots_nbytes;

	void open(void)
	{
		nvalues_max = 0;
		slots_nbytes = 0;
		for (unsigned e = 0; e < 2; e++) {
			has[e] = scan_shape_of<F>((enum scan_engine)e, &shape[e]) == cudaSuccess;
			if (!has[e])
				continue;
			uint64_t n = (uint64_t)RELAUNCH_NTILES * shape[e].tile_nvalues;
			size_t nbytes = scan_memory_nbytes<F>(&shape[e], n);
			nvalues_max = n > nvalues_max ? n : nvalues_max;
			slots_nbytes = nbytes > slots_nbytes ? nbytes : slots_nbytes;
		}
		in = device_random<F>(2 * nvalues_max); /* a launch takes some part of it */
		out = device_filled<T>(nvalues_max, POISON);
		carries = device_random<F>(2);
	}
	void launch(struct scan_memory *memory, unsigned *nwrong)
	{
		unsigned e = random_below(1u + has[SCAN_LOOKAHEAD]);
		const uint64_t pack = SCAN_ALIGN / sizeof(T);
		uint64_t n = random_below(RELAUNCH_NTILES * shape[e].tile_nvalues);
		uint64_t at = random_below((unsigned)(nvalues_max / pack)) * pack;
		struct scan_job<T> job = {in + at,	  out, n, carries, carries + 1,
					  random_below(2) != 0};

		must(scan_launch<F>(&shape[e], memory, job, 0), "scan_launch");
		check_launch<F>(job, nwrong);
	}
	void close(void)
	{
		device_free(in);
		device_free(out);
		device_free(carries);
	}
};

/* Launches of different folds, engines and sizes share one memory, which is never reset. */
static void test_relaunches(void)
{
	const unsigned nlaunches = quick ? TEST_NLAUNCHES / 100 : TEST_NLAUNCHES;
	relaunch<affine8> of8;
	relaunch<affine32> of32;
	relaunch<affine64> of64;
	relaunch<affine128> of128;
	unsigned *nwrong = device_filled<unsigned>(1, 0);

	of8.open(), of32.open(), of64.open(), of128.open();
	/* Affine maps of 128 bits want four words a tile. */
	struct scan_slots s = scan_slots_open(of128.slots_nbytes);
	for (unsigned i = 0; i < nlaunches; i++)
		switch (random_below(4)) {
		case 0: of8.launch(&s.memory, nwrong); break;
		case 1: of32.launch(&s.memory, nwrong); break;
		case 2: of64.launch(&s.memory, nwrong); break;
		default: of128.launch(&s.memory, nwrong);
		}
	is_uint(0, check_count(nwrong), "%u launches without a reset", nlaunches);
	s.memory.domino.epoch = GRID_EPOCH_MAX - 3;
	for (unsigned i = 0; i < 8; i++)
		of128.launch(&s.memory, nwrong), of32.launch(&s.memory, nwrong);
	is_uint(0, check_count(nwrong), "the end of the epochs passes unnoticed");
	of8.close(), of32.close(), of64.close(), of128.close();
	device_free(s.slots);
	device_free(nwrong);
}

/* ---- chunks ---- */

/* One array, scanned piece by piece, the carry staying on the device. */
template <class F> static void test_chain(enum scan_engine engine)
{
	typedef typename F::value T;
	enum { NPIECES = 60 };
	struct scan_shape shape;
	uint64_t n[NPIECES], begin[NPIECES + 1] = {0};

	if (scan_shape_of<F>(engine, &shape) != cudaSuccess) {
		skip(1, "no %s on this device", engine_names[engine]);
		return;
	}
	for (unsigned i = 0; i < NPIECES; i++) {
		n[i] = random_below(i % 4 == 0 ? 4 : 3 * shape.tile_nvalues);
		begin[i + 1] = begin[i] + (n[i] + SCAN_ALIGN) / SCAN_ALIGN * SCAN_ALIGN;
	}
	T *device_in = device_random<F>(begin[NPIECES]), *in = host_copy(device_in, begin[NPIECES]);
	T *device_out = device_filled<T>(begin[NPIECES], POISON), *carry = device_filled<T>(1, 0);
	struct scan_slots s =
		scan_slots_open(scan_memory_nbytes<F>(&shape, 3 * shape.tile_nvalues));
	for (unsigned i = 0; i < NPIECES; i++) {
		struct scan_job<T> job = {device_in + begin[i], device_out + begin[i], n[i],
					  i == 0 ? NULL : carry, carry, i % 2 != 0};
		must(scan_launch<F>(&shape, &s.memory, job, 0), "scan_launch");
	}
	T *out = host_copy(device_out, begin[NPIECES]), all = F::identity();
	bool right = true;
	for (unsigned i = 0; i < NPIECES; i++)
		for (uint64_t k = begin[i]; k < begin[i] + n[i]; k++) {
			T before = all;
			all = F::combine(all, in[k]);
			right = right && out[k] == (i % 2 != 0 ? before : all);
		}
	T *carry_out = host_copy(carry, 1);
	ok(right && *carry_out == all, "%s: a chain of %u launches is one scan",
	   engine_names[engine], NPIECES);
	free(in);
	free(out);
	free(carry_out);
	device_free(device_in);
	device_free(device_out);
	device_free(carry);
	device_free(s.slots);
}

/* ---- what is refused ---- */

static void test_refusals(void)
{
	typedef scan_sum_u32 F;
	struct scan_shape shape;
	uint32_t *in = device_filled<uint32_t>(64, 1), *out = device_filled<uint32_t>(64, POISON);
	struct scan_slots s = scan_slots_open(16);
	struct scan_job<uint32_t> job = {in + 1, out, 8, NULL, NULL, false};

	must(scan_shape_choose<F>(&shape), "scan_shape_choose");
	ok(scan_launch<F>(&shape, &s.memory, job, 0) == cudaErrorInvalidValue,
	   "refuses a misaligned input");
	job.in = in;
	job.out = out + 2;
	ok(scan_launch<F>(&shape, &s.memory, job, 0) == cudaErrorInvalidValue,
	   "refuses a misaligned output");
	job.out = out;
	job.n = shape.tile_nvalues + UINT64_C(1);
	ok(scan_launch<F>(&shape, &s.memory, job, 0) == cudaErrorInvalidValue,
	   "refuses more tiles than there are slots");
	job.n = 0;
	ok(scan_launch<F>(&shape, &s.memory, job, 0) == cudaSuccess && device_untouched(out, 64),
	   "scans nothing, writes nothing");
	ok(scan_memory_open(&s.memory, s.slots, 8, 0) == cudaErrorInvalidValue,
	   "refuses memory without a slot");
	device_free(in);
	device_free(out);
	device_free(s.slots);
}

/* ---- sizes past 32 bits ---- */

template <class F> static void test_large(const char *name, uint64_t n, enum scan_engine engine)
{
	struct scan_shape shape;
	size_t nfree, ntotal;

	must(cudaMemGetInfo(&nfree, &ntotal), "cudaMemGetInfo");
	if (quick || nfree < n * sizeof(typename F::value) * 9 / 4) {
		skip(1, quick ? "large sizes are not quick" : "too little device memory");
		return;
	}
	if (scan_shape_of<F>(engine, &shape) != cudaSuccess) {
		skip(1, "no %s on this device", engine_names[engine]);
		return;
	}
	struct scan_slots s = scan_slots_open(scan_memory_nbytes<F>(&shape, n));
	unsigned nwrong = scan_checked<F>(n, [&](const struct scan_job<typename F::value> &job) {
		return scan_launch<F>(&shape, &s.memory, job, 0);
	});
	is_uint(0, nwrong, "%s scans %llu %s", engine_names[engine], (unsigned long long)n, name);
	device_free(s.slots);
}

int main(int argc, char **argv)
{
	int ndevices = 0;

	(void)argv;
	quick = argc > 1;
	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	for (enum scan_engine engine : {SCAN_LOOKBACK, SCAN_LOOKAHEAD}) {
		test_folds(engine);
		test_chain<affine32>(engine);
		test_chain<affine128>(engine);
		test_large<fold_bytes>("csv maps", (UINT64_C(1) << 32) + 77, engine);
		test_large<affine32>("affine maps of 32 bits", (UINT64_C(1) << 30) + 12345, engine);
	}
	test_shapes();
	test_relaunches();
	test_refusals();
	return done();
}
