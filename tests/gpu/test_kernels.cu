/* SPDX-License-Identifier: MIT
 *
 * test_kernels.cu - the levels of the GPU (warp, block, grid) and the kernels on them,
 * each against a plain loop on the host.
 *
 * The levels are tested with affine maps modulo 2^16: they compose associatively, do not
 * commute, and have no absorbing element that would hide a mistake.
 */
#include "kernel_test.cuh"

#include "kernels/fold/reduce.cuh"

#ifndef TEST_NLAUNCHES
#define TEST_NLAUNCHES 10000 /* of the domino, without a reset */
#endif
#ifndef TEST_NTILES
#define TEST_NTILES 100000 /* many more than run at once */
#endif

/* ---- folds to test the levels with ---- */

/* Random maps have odd a, so nothing absorbs what came before. */
struct affine32 : fold_affine<uint32_t> {
	static uint32_t random(void) { return (uint32_t)random_next() | 1u << 16; }
};

/* Sums whose upper halves matter. */
struct fold_wide_sum : fold_sum<int128> {
	static int128 random(void)
	{
		return (int128)((uint128)random_next() << 40 ^ random_next()) *
		       (random_below(2) ? 1 : -1);
	}
};

template <class F> static typename F::value *random_values(size_t n)
{
	typename F::value *values = (typename F::value *)malloc((n + 1) * sizeof *values);

	for (size_t i = 0; i < n; i++)
		values[i] = F::random();
	return values;
}

/* The results of one warp or block: each thread's, and the whole's. */
template <class F> struct level_results {
	typename F::value *exclusive, *inclusive, *total;
};

template <class F>
__global__ static void warp_fold(const typename F::value *in, unsigned n,
				 struct level_results<F> out)
{
	unsigned i = warp_lane();
	typename F::value x = i < n ? in[i] : F::identity();

	out.inclusive[i] = warp_inclusive<F>(x);
	out.exclusive[i] = warp_exclusive<F>(out.inclusive[i]);
	x = warp_reduce<F>(x);
	out.total[i] = warp_broadcast(x, 0);
}

template <class F, unsigned NTHREADS>
__global__ static void block_fold(const typename F::value *in, unsigned n,
				  struct level_results<F> out)
{
	unsigned i = threadIdx.x;
	typename F::value x = i < n ? in[i] : F::identity(), total, reduced;

	/* Twice: a slot of shared memory reused too early would show. */
	reduced = block_reduce<F, NTHREADS>(block_exclusive<F, NTHREADS>(x, &total));
	reduced = block_reduce<F, NTHREADS>(x);
	out.exclusive[i] = block_exclusive<F, NTHREADS>(x, &total);
	out.inclusive[i] = F::combine(out.exclusive[i], x);
	out.total[i] = i == 0 ? reduced : total;
}

template <class F>
static bool level_is_right(const typename F::value *in, unsigned n, unsigned nthreads,
			   struct level_results<F> device)
{
	typename F::value *exclusive = host_copy(device.exclusive, nthreads);
	typename F::value *inclusive = host_copy(device.inclusive, nthreads);
	typename F::value *total = host_copy(device.total, nthreads);
	typename F::value all = F::identity();
	bool right = true;

	for (unsigned i = 0; i < nthreads; i++) {
		right = right && exclusive[i] == all;
		all = F::combine(all, i < n ? in[i] : F::identity());
		right = right && inclusive[i] == all;
	}
	for (unsigned i = 0; i < nthreads; i++)
		right = right && total[i] == all;
	free(exclusive);
	free(inclusive);
	free(total);
	return right;
}

/* Runs one warp (NTHREADS 0) or one block over n random items. */
template <class F, unsigned NTHREADS> static void test_level(const char *name, unsigned n)
{
	unsigned nthreads = NTHREADS ? NTHREADS : WARP_NLANES;
	typename F::value *in = random_values<F>(n), *device_in = device_copy(in, n);
	struct level_results<F> out = {device_filled<typename F::value>(nthreads, POISON),
				       device_filled<typename F::value>(nthreads, POISON),
				       device_filled<typename F::value>(nthreads, POISON)};

	if constexpr (NTHREADS == 0)
		warp_fold<F><<<1, WARP_NLANES>>>(device_in, n, out);
	else
		block_fold<F, NTHREADS><<<1, NTHREADS>>>(device_in, n, out);
	must(cudaGetLastError(), "launch");
	ok(level_is_right<F>(in, n, nthreads, out), "%s of %u threads folds %u items", name,
	   nthreads, n);
	device_free(out.exclusive);
	device_free(out.inclusive);
	device_free(out.total);
	device_free(device_in);
	free(in);
}

template <unsigned NTHREADS> static void test_block(void)
{
	const unsigned sizes[] = {0, 1, 31, 32, 33, NTHREADS - 1, NTHREADS};

	for (unsigned n : sizes)
		if (n <= NTHREADS)
			test_level<affine32, NTHREADS>("block", n);
}

static void test_levels(void)
{
	for (unsigned n : {0u, 1u, 31u, 32u}) {
		test_level<affine32, 0>("warp", n);
		test_level<fold_wide_sum, 0>("int128 warp", n);
	}
	test_block<32>();
	test_block<64>();
	test_block<256>();
	test_block<1024>();
	test_level<fold_wide_sum, 256>("int128 block", 255);
}

/* ---- the domino ---- */

#define DOMINO_NTHREADS 64 /* and items a tile */

/* Scans in[0 .. n) and counts the items whose prefix is not as wanted. late: tile 0 comes
 * last, so that every other tile looks back over all before it; all must be running. */
__global__ static void domino_scan(const uint32_t *in, const uint32_t *wanted, uint32_t n,
				   bool late, struct grid_domino domino, uint32_t *nwrong,
				   uint32_t *nright)
{
	uint32_t tile = grid_draw_tile(domino), i = tile * DOMINO_NTHREADS + threadIdx.x;
	uint32_t x = i < n ? in[i] : affine32::identity(), total;
	uint32_t before = block_exclusive<affine32, DOMINO_NTHREADS>(x, &total);

	for (uint32_t i = 1; late && tile == 0 && i < gridDim.x; i++)
		grid_await(domino, i);
	before = affine32::combine(grid_exclusive<affine32>(domino, tile, total), before);
	if (i < n)
		atomicAdd(before == wanted[i] ? nright : nwrong, 1);
}

struct domino_test {
	uint32_t *in, *wanted, *nwrong, *nright; /* device memory */
	struct grid_domino domino;
};

static struct domino_test domino_open(uint32_t ntiles)
{
	uint32_t n = ntiles * DOMINO_NTHREADS;
	uint32_t *in = random_values<affine32>(n), *wanted = random_values<affine32>(n);
	struct domino_test t;

	for (uint32_t i = 0, all = affine32::identity(); i < n; i++) {
		wanted[i] = all;
		all = affine32::combine(all, in[i]);
	}
	t.in = device_copy(in, n);
	t.wanted = device_copy(wanted, n);
	t.nwrong = device_filled<uint32_t>(1, 0);
	t.nright = device_filled<uint32_t>(1, 0);
	t.domino = {device_filled<uint64_t>(ntiles, 0), device_filled<uint32_t>(1, 0), ntiles, 0};
	free(in);
	free(wanted);
	return t;
}

static void domino_launch(struct domino_test *t, uint32_t n, bool late)
{
	uint32_t ntiles = (n + DOMINO_NTHREADS - 1) / DOMINO_NTHREADS;

	must(grid_domino_advance(&t->domino, 0), "advance");
	domino_scan<<<ntiles, DOMINO_NTHREADS>>>(t->in, t->wanted, n, late, t->domino,
						 t->nwrong, t->nright);
	must(cudaGetLastError(), "launch domino_scan");
}

/* Checks the launches since the last call: n items in all, none wrong. */
static void domino_check(struct domino_test *t, uint32_t n, const char *words, unsigned number)
{
	uint32_t *nwrong = host_copy(t->nwrong, 1), *nright = host_copy(t->nright, 1);

	ok(*nwrong == 0 && *nright == n, words, number);
	must(cudaMemset(t->nwrong, 0, sizeof *nwrong), "clear");
	must(cudaMemset(t->nright, 0, sizeof *nright), "clear");
	free(nwrong);
	free(nright);
}

static void domino_close(struct domino_test *t)
{
	device_free(t->in);
	device_free(t->wanted);
	device_free(t->nwrong);
	device_free(t->nright);
	device_free(t->domino.slots);
	device_free(t->domino.ticket);
}

static void test_domino(void)
{
	const uint32_t tile = DOMINO_NTHREADS, whole = TEST_NTILES * tile;
	const uint32_t sizes[] = {1,         31,        32,        33,        tile - 1,
				  tile,      tile + 1,  31 * tile, 32 * tile, 32 * tile + 1,
				  33 * tile, 64 * tile, 65 * tile, whole - 1, whole};
	struct domino_test t = domino_open(TEST_NTILES);
	uint32_t nitems = 0;

	for (uint32_t n : sizes) {
		domino_launch(&t, n, false);
		domino_check(&t, n, "domino scans %u items", n);
	}
	for (uint32_t i = 0; i < TEST_NLAUNCHES; i++) {
		uint32_t n = 1 + random_below(100 * tile);
		domino_launch(&t, n, false);
		nitems += n;
	}
	domino_check(&t, nitems, "domino scans right in %u launches without reset",
		     TEST_NLAUNCHES);
	t.domino.epoch = GRID_EPOCH_MAX - 3;
	nitems = 0;
	for (uint32_t i = 0; i < 7; i++, nitems += 100 * tile)
		domino_launch(&t, 100 * tile, false);
	domino_check(&t, nitems, "domino survives the end of its %u epochs", GRID_EPOCH_MAX);
	for (uint32_t ntiles : {2, 32, 33, 64, 65, 100}) {
		domino_launch(&t, ntiles * tile, true);
		domino_check(&t, ntiles * tile, "domino looks back over all of %u tiles", ntiles);
	}
	domino_close(&t);
}

/* ---- reduce ---- */

#define LARGEST INT64_C(999999999999999999) /* DECIMAL_NDIGITS digits */

/* Random codes and values, in host memory: numbers of scales below nscales. Large tables hold no
 * extreme values, since every block would see one. */
static void random_fields(const struct field_table *table, uint32_t nrows, unsigned nscales)
{
	for (size_t i = 0; i < table->ncolumns * table->stride; i++) {
		unsigned r = random_below(20);
		int64_t x = (int64_t)(random_next() % (2 * (uint64_t)LARGEST + 1)) - LARGEST;
		/* Rows from nrows on hold numbers that the kernel must ignore. */
		bool is_number = i % table->stride >= nrows || r > 3;
		table->code[i] = (uint8_t)(is_number ? random_below(nscales) : FIELD_MISSING + r);
		table->significand[i] = nrows > 5000 || r < 8 ? x : r < 12 ? LARGEST : -LARGEST;
		if (table->code[i] == FIELD_INVALID)
			table->significand[i] = 7 * (int64_t)(i % table->stride);
	}
}

/* The fold of one column by a plain loop. */
static void reduce_plainly(const struct field_table *table, uint32_t c, uint32_t nrows,
			   const uint32_t *begins, struct column_tally *t, struct decimal_fold *f)
{
	*t = {0, 0, 0, 0, UINT32_MAX, UINT32_MAX};
	decimal_fold_clear(f);
	for (uint32_t r = 0; r < nrows; r++) {
		unsigned code = table->code[c * table->stride + r];
		int64_t x = table->significand[c * table->stride + r];
		if (code < DECIMAL_NSCALES) {
			decimal_fold_add(f, {x, (int32_t)code});
			t->first_number = t->nnumbers++ ? t->first_number : begins[r];
		}
		t->nmissing += code == FIELD_MISSING;
		if (code == FIELD_INVALID)
			t->first_invalid = t->ninvalid++ ? t->first_invalid : (uint32_t)x;
	}
	t->scales = f->scales;
}

static bool bins_equal(const struct decimal_fold *f, const struct decimal_bin *bins)
{
	for (int s = 0; s < DECIMAL_NSCALES; s++)
		if (f->scales >> s & 1 && memcmp(&f->bin[s], &bins[s], sizeof *bins) != 0)
			return false;
	return true;
}

/* npartials: 0 means as many as are right for the device. */
static void test_reduce_of(uint32_t ncolumns, uint32_t nrows, unsigned nscales,
			   uint32_t npartials)
{
	uint32_t nheads = nrows % 2, *ends;
	size_t stride = (nrows / FIELD_ROWS_ALIGN + 1) * (size_t)FIELD_ROWS_ALIGN;
	size_t nfields = ncolumns * stride;
	struct field_table host = {(int64_t *)malloc(nfields * sizeof(int64_t)),
				   (uint8_t *)malloc(nfields), stride, ncolumns};

	ends = (uint32_t *)malloc((nrows + 2) * sizeof *ends);
	ends[0] = 0; /* ends[r] is where row r begins: the device's array, without heads, is +1 */
	for (uint32_t r = 0; r <= nrows; r++)
		ends[r + 1] = ends[r] + 1 + random_below(50);
	ends[0] = nheads ? 5 : 0;
	random_fields(&host, nrows, nscales);
	if (npartials == 0)
		must(reduce_npartials(ncolumns, &npartials), "occupancy");

	struct field_table table = {device_copy(host.significand, nfields),
				    device_copy(host.code, nfields), stride, ncolumns};
	uint32_t *device_ends = device_copy(ends, nrows + 2);
	struct record_table records = {device_ends + !nheads, NULL, NULL,
				       device_copy(&nrows, 1), nheads, nrows};
	struct reduce_memory memory = {
		device_filled<struct column_tally>(ncolumns, POISON),
		device_filled<struct decimal_bin>(ncolumns * DECIMAL_NSCALES, POISON),
		NULL,
		device_filled<struct column_tally>(npartials, POISON),
		device_filled<struct decimal_bin>((size_t)npartials * DECIMAL_NSCALES, POISON),
		device_filled<uint32_t>(ncolumns, 0), npartials};
	bool right = true;
	for (unsigned again = 0; again < 2; again++) { /* the counters must be left 0 */
		must(reduce_launch(table, records, memory, 0), "launch reduce");
		struct column_tally *tally = host_copy(memory.tally, ncolumns);
		struct decimal_bin *bins = host_copy(memory.bins, ncolumns * DECIMAL_NSCALES);
		for (uint32_t c = 0; c < ncolumns; c++) {
			static struct decimal_fold wanted;
			struct column_tally t;
			reduce_plainly(&host, c, nrows, ends, &t, &wanted);
			right = right && memcmp(&t, &tally[c], sizeof t) == 0 &&
				bins_equal(&wanted, bins + (size_t)c * DECIMAL_NSCALES);
		}
		free(tally);
		free(bins);
	}
	ok(right, "reduces %u columns of %u rows, %u scales, %u partials", ncolumns, nrows,
	   nscales, npartials);

	void *owned[] = {table.significand, table.code, device_ends, (void *)records.nrecords,
			 memory.tally, memory.bins, memory.partial_tallies, memory.partial_bins,
			 memory.ndone};
	for (void *data : owned)
		device_free(data);
	free(host.significand);
	free(host.code);
	free(ends);
}

static void test_reduce(void)
{
	for (uint32_t nrows : {0, 1, 2, 15, 16, 17, 2047, 2048, 2049, 4097, 100001})
		for (unsigned nscales : {1, 3, DECIMAL_NSCALES})
			test_reduce_of(1 + random_below(5), nrows, nscales, 0);
	test_reduce_of(3, 100001, 2, 3); /* one block a column */
	test_reduce_of(1, 700001, 3, 300); /* more partials than threads to fold them */
	test_reduce_of(300, 1000, 3, 0);
	test_reduce_of(5000, 33, 2, 0); /* more columns than blocks that run at once */
	test_reduce_of(70000, 3, 2, 0); /* more than a grid is high */
	test_reduce_of(1, 5000000, 3, 0);
}

int main(void)
{
	int ndevices = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	test_levels();
	test_domino();
	test_reduce();
	return done();
}
