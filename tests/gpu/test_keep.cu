/* SPDX-License-Identifier: MIT
 *
 * test_keep.cu - the kernels that keep a column's numbers and pass over them (kernels/fold/keep.cu),
 * against plain loops on the host.
 */
#include <algorithm>
#include <vector>

#include "kernel_test.cuh"
#include "kernels/fold/keep.cuh"

/* ---- keeping ---- */

/* One column of a field table, and what the kernel makes of it. */
struct column_test {
	std::vector<int64_t> significand;
	std::vector<uint8_t> code;
	std::vector<int64_t> kept; /* what must be kept, sorted */
	uint32_t nbeyond;
};

/* Numbers of up to ndigits digits and of scales below nscales, between fields that are none. */
static struct column_test column_make(uint32_t nrows, unsigned ndigits, unsigned nscales, unsigned others)
{
	struct column_test t = {};
	uint64_t limit = 1;

	while (ndigits-- > 0)
		limit *= 10;
	for (uint32_t r = 0; r < nrows; r++) {
		bool is_number = random_below(100) >= others;
		int64_t x = (int64_t)(random_next() % (2 * limit - 1)) - (int64_t)(limit - 1);
		t.significand.push_back(x);
		t.code.push_back((uint8_t)(is_number ? random_below(nscales)
						     : FIELD_MISSING + random_below(4)));
	}
	return t;
}

/* The set of the scales that occur; fills what must be kept. */
static uint32_t column_expect(struct column_test *t)
{
	uint32_t scales = 0;

	for (uint8_t code : t->code)
		scales |= code < FIELD_NCODES_NUMBER ? 1u << code : 0;
	for (size_t r = 0; r < t->code.size(); r++) {
		int128 x = t->significand[r];
		if (t->code[r] >= FIELD_NCODES_NUMBER)
			continue;
		for (unsigned s = t->code[r]; scales >> (s + 1); s++)
			x = x > INT64_MAX || x < -INT64_MAX ? x : x * 10;
		t->nbeyond += x > INT64_MAX || x < -INT64_MAX;
		t->kept.push_back((int64_t)x);
	}
	std::sort(t->kept.begin(), t->kept.end());
	return scales;
}

static void test_keep(uint32_t nrows, unsigned ndigits, unsigned nscales, unsigned others)
{
	struct column_test t = column_make(nrows, ndigits, nscales, others);
	struct column_tally tally = {};
	struct keep_result zero = {};
	size_t stride = (nrows + FIELD_ROWS_ALIGN - 1) / FIELD_ROWS_ALIGN * FIELD_ROWS_ALIGN;

	tally.scales = column_expect(&t);
	/* the table's second column; the first is poison */
	int64_t *significand = device_filled<int64_t>(2 * stride, POISON);
	uint8_t *code = device_filled<uint8_t>(2 * stride, 0);
	must(cudaMemcpy(significand + stride, t.significand.data(), nrows * sizeof(int64_t), cudaMemcpyDefault), "copy");
	must(cudaMemcpy(code + stride, t.code.data(), nrows, cudaMemcpyDefault), "copy");
	uint32_t *nrecords = device_copy(&nrows, 1);
	struct column_tally *device_tally = device_copy(&tally, 1);
	struct keep_result *result = device_copy(&zero, 1);
	int64_t *to = device_filled<int64_t>(nrows + 64, POISON);
	struct record_table records = {};

	records.nrecords = nrecords;
	records.nrecords_at_most = nrows;
	must(keep_launch(KEEP_VALUES, {significand, code, stride, 2}, 1, records, device_tally, to, result, 0), "launch keep");
	struct keep_result *got = host_copy(result, 1);
	int64_t *numbers = host_copy(to, nrows);
	size_t n = got->nkept;
	std::sort(numbers, numbers + (n <= nrows ? n : 0));
	ok(n == t.kept.size() && got->nbeyond == t.nbeyond &&
	   (t.nbeyond > 0 || std::equal(t.kept.begin(), t.kept.end(), numbers)) &&
	   device_untouched(to + n, nrows + 64 - n),
	   "%u rows of %u digits and %u scales, %u %% others: %zu kept, %u beyond", nrows, ndigits, nscales,
	   others, n, got->nbeyond);
	free(got);
	free(numbers);
	void *owned[] = {significand, code, nrecords, device_tally, result, to};
	for (void *memory : owned)
		device_free(memory);
}

/* ---- passes ---- */

/* Runs on the device, and all their numbers as integers. */
struct runs_test {
	std::vector<struct keep_run> runs;
	std::vector<int64_t> numbers;
	uint64_t ntiles;
};

static void runs_add(struct runs_test *t, size_t n, int64_t unit, uint64_t most)
{
	std::vector<int64_t> own;

	for (size_t i = 0; i < n; i++) {
		own.push_back((int64_t)(random_next() % most) - (int64_t)(most / 3));
		t->numbers.push_back(own[i] * unit);
	}
	t->runs.push_back({device_copy(own.data(), n), unit, n, t->ntiles});
	t->ntiles += (n + KEEP_TILE - 1) / KEEP_TILE;
}

static void test_interval(const struct runs_test *t, const struct keep_run *runs, int64_t low, int64_t high)
{
	struct keep_interval interval = {low, (uint64_t)high - (uint64_t)low};
	std::vector<unsigned long long> counts(KEEP_NBINS);
	std::vector<int64_t> inside;
	int shift = 0;

	while (interval.width >> shift >= KEEP_NBINS)
		shift++;
	for (int64_t x : t->numbers)
		if (x >= low && x <= high) {
			counts[((uint64_t)x - (uint64_t)low) >> shift]++;
			inside.push_back(x);
		}
	std::sort(inside.begin(), inside.end());
	unsigned long long *device_counts = device_filled<unsigned long long>(KEEP_NBINS, 0);
	unsigned long long *nlisted = device_filled<unsigned long long>(1, 0);
	size_t room = inside.size() - inside.size() / 3; /* the rest must not be written */
	int64_t *list = device_filled<int64_t>(inside.size() + 64, POISON);

	must(keep_count_launch(runs, (uint32_t)t->runs.size(), t->ntiles, interval, shift, device_counts, 0), "launch");
	unsigned long long *got = host_copy(device_counts, KEEP_NBINS);
	bool same = std::equal(counts.begin(), counts.end(), got);
	free(got);
	must(keep_list_launch(runs, (uint32_t)t->runs.size(), t->ntiles, interval, list, room, nlisted, 0), "launch");
	got = host_copy(nlisted, 1);
	same = same && *got == inside.size() && device_untouched(list + room, inside.size() + 64 - room);
	must(cudaMemset(nlisted, 0, sizeof *nlisted), "clear");
	must(keep_list_launch(runs, (uint32_t)t->runs.size(), t->ntiles, interval, list, inside.size(), nlisted, 0),
	     "launch");
	int64_t *listed = host_copy(list, inside.size());
	std::sort(listed, listed + inside.size());
	ok(same && std::equal(inside.begin(), inside.end(), listed), "%zu of %zu numbers, shift %d", inside.size(),
	   t->numbers.size(), shift);
	free(got);
	free(listed);
	device_free(device_counts);
	device_free(nlisted);
	device_free(list);
}

static void test_passes(void)
{
	static const size_t sizes[] = {1, 31, 16383, 16384, 16385, 3, 50000, 257, 40000};
	struct runs_test t = {};

	for (size_t n : sizes)
		runs_add(&t, n, n % 2 ? 1 : 100, n % 3 ? 1000 : 1000000007);
	runs_add(&t, 5000, 0, 1000); /* numbers that would not fit: all are 0 */
	runs_add(&t, 5000, 1, (uint64_t)3 << 61);
	struct keep_run *runs = device_copy(t.runs.data(), t.runs.size());
	test_interval(&t, runs, INT64_MIN, INT64_MAX);
	test_interval(&t, runs, 0, 0);
	test_interval(&t, runs, -333, 666);
	test_interval(&t, runs, INT64_MIN, -1);
	test_interval(&t, runs, 12345, INT64_MAX);
	for (unsigned i = 0; i < 12; i++) {
		int64_t low = t.numbers[random_below((unsigned)t.numbers.size())];
		int64_t high = t.numbers[random_below((unsigned)t.numbers.size())];
		test_interval(&t, runs, low < high ? low : high, low < high ? high : low);
	}
	for (const struct keep_run &run : t.runs)
		device_free((void *)run.numbers);
	device_free(runs);
}

/* ---- keys ---- */

static void test_keys(uint32_t nrows)
{
	struct column_test t = column_make(nrows, 17, 7, 10);
	struct column_tally tally = {};
	struct keep_result zero = {};
	std::vector<int64_t> keys;
	size_t stride = (nrows + FIELD_ROWS_ALIGN - 1) / FIELD_ROWS_ALIGN * FIELD_ROWS_ALIGN;
	struct record_table records = {};

	for (uint32_t r = 0; r < nrows; r++)
		if (t.code[r] < FIELD_NCODES_NUMBER)
			keys.push_back(t.significand[r] * 32 + t.code[r]);
	std::sort(keys.begin(), keys.end());
	int64_t *significand = device_copy(t.significand.data(), nrows);
	uint8_t *code = device_copy(t.code.data(), nrows);
	uint32_t *nrecords = device_copy(&nrows, 1);
	struct column_tally *device_tally = device_copy(&tally, 1);
	struct keep_result *result = device_copy(&zero, 1);
	int64_t *to = device_filled<int64_t>(nrows, POISON);

	records.nrecords = nrecords;
	records.nrecords_at_most = nrows;
	must(keep_launch(KEEP_KEYS, {significand, code, stride, 1}, 0, records, device_tally, to, result, 0),
	     "launch keep");
	struct keep_result *got = host_copy(result, 1);
	int64_t *numbers = host_copy(to, keys.size());
	std::sort(numbers, numbers + keys.size());
	ok(got->nkept == keys.size() && got->nbeyond == 0 && std::equal(keys.begin(), keys.end(), numbers),
	   "%u rows: %zu keys", nrows, keys.size());
	free(got);
	free(numbers);
	void *owned[] = {significand, code, nrecords, device_tally, result, to};
	for (void *memory : owned)
		device_free(memory);
}

static void test_different(size_t n, uint64_t most)
{
	std::vector<int64_t> numbers(n);
	unsigned long long zero = 0;

	for (int64_t &x : numbers)
		x = (int64_t)(random_next() % most) - (int64_t)(most / 2);
	int64_t *from = device_copy(numbers.data(), n), *spare = device_filled<int64_t>(n, POISON);
	char *memory = device_filled<char>(keep_different_nbytes(n), POISON);
	unsigned long long *count = device_copy(&zero, 1);
	must(keep_different_launch(from, spare, n, memory, count, 0), "launch different");
	unsigned long long *got = host_copy(count, 1);
	std::sort(numbers.begin(), numbers.end());
	size_t want = (size_t)(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
	ok(*got == want, "%zu different ones of %zu numbers", want, n);
	free(got);
	void *owned[] = {from, spare, memory, count};
	for (void *one : owned)
		device_free(one);
}

int main(void)
{
	int ndevices;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	for (uint32_t nrows : {0u, 1u, 31u, 32u, 33u, 255u, 256u, 257u, 2047u, 2048u, 2049u, 100001u}) {
		test_keep(nrows, 6, 1, 0);
		test_keep(nrows, 9, 4, 20);
		test_keep(nrows, 18, 1, 5);
		test_keep(nrows, 18, 3, 50);
		test_keep(nrows, 3, 31, 97);
		test_keep(nrows, 6, 2, 100);
	}
	random_state += asked("GPUSTAT_TEST_SEED", 0);
	for (unsigned i = asked("GPUSTAT_TEST_CASES", 60); i > 0; i--)
		test_keep(random_below(5000), 1 + random_below(18), 1 + random_below(31), random_below(101));
	for (uint32_t nrows : {0u, 1u, 31u, 257u, 5000u})
		test_keys(nrows);
	test_passes();
	for (size_t n : {1u, 2u, 31u, 1000u, 300000u})
		for (uint64_t most : {UINT64_C(1), UINT64_C(10), UINT64_C(100000), UINT64_C(1) << 63})
			test_different(n, most);
	return done();
}
