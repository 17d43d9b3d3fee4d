/* SPDX-License-Identifier: MIT
 *
 * test_device_run.c - numbers on a device beside those that the host keeps: values_select against a sorted
 * list, values_bring_down, keys_settle. The device is memory of this test.
 */
#include "fold/device_run.h"

#include "fold/keys.h"
#include "fold/moment.h"
#include "fold/values.h"
#include "fold/values_select.h"
#include "tap.h"

#define NMOST 60000
#define NWANTED 9

/* ---- a device ---- */

struct test_run {
	struct device_run run;
	int64_t numbers[];
};

static int nruns; /* that are not released */
static bool is_broken;

static void run_pass(const struct test_run *r, int scale, struct device_range *range)
{
	for (uint64_t i = 0; i < r->run.nnumbers; i++) {
		int64_t x = decimal_shift(r->numbers[i], scale - r->run.scale);
		if (x < range->low || x > range->high)
			continue;
		if (range->counts)
			range->counts[((uint64_t)x - (uint64_t)range->low) >> range->shift]++;
		else if (range->nlisted++ < range->nlisted_most)
			range->listed[range->nlisted - 1] = x;
	}
}

static enum status test_pass(const struct device_run *runs, int scale, struct device_range *ranges,
			     size_t nranges)
{
	for (const struct device_run *run = runs; run; run = run->next)
		for (size_t i = 0; i < nranges; i++)
			run_pass((const struct test_run *)run, scale, &ranges[i]);
	return is_broken ? STATUS_GPU : STATUS_OK;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static enum status test_count(const struct device_run *runs, const int64_t *more, size_t nmore, uint64_t *count)
{
	static int64_t all[2 * NMOST];
	size_t n = 0;

	for (const struct device_run *run = runs; run; run = run->next)
		for (uint64_t i = 0; i < run->nnumbers; i++)
			all[n++] = ((const struct test_run *)run)->numbers[i];
	for (size_t i = 0; i < nmore; i++)
		all[n++] = more[i];
	qsort(all, n, sizeof *all, compare);
	*count = 0;
	for (size_t i = 0; i < n; i++)
		*count += i == 0 || all[i] != all[i - 1];
	return is_broken ? STATUS_GPU : STATUS_OK;
}

static enum status test_copy(const struct device_run *run, uint64_t first, uint64_t n, int64_t *to)
{
	memcpy(to, ((const struct test_run *)run)->numbers + first, n * sizeof *to);
	return STATUS_OK;
}

static void test_release(struct device_run *run)
{
	nruns--;
	free(run);
}

static const struct device_run_ops device = {test_pass, test_count, test_copy, test_release};

/* ---- a column ---- */

struct column {
	struct values cells[2]; /* of records, and of later ones */
	int64_t sorted[NMOST];  /* all numbers, at `scale` */
	size_t n;
	int scale;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A number of up to that many bits. */
static int64_t random_number(int nbits)
{
	return (int64_t)(random_next() >> (64 - nbits)) - (int64_t)((uint64_t)1 << nbits >> 2);
}

static void note(struct column *c, int64_t x, int scale)
{
	c->sorted[c->n++] = decimal_shift(x, c->scale - scale);
}

static void add_to_run(struct column *c, struct values *cell, size_t n, int scale, int nbits)
{
	struct test_run *r = calloc(1, sizeof *r + n * sizeof *r->numbers);

	if (!r)
		bail("no memory");
	r->run = (struct device_run){.ops = &device, .nnumbers = n, .scale = scale};
	for (size_t i = 0; i < n; i++)
		note(c, r->numbers[i] = random_number(nbits), scale);
	nruns++;
	values_add_run(cell, &r->run);
}

static void add_to_blocks(struct column *c, struct values *cell, size_t n, int scale, int nbits)
{
	for (size_t i = 0; i < n; i++) {
		int64_t x = random_number(nbits);
		uint8_t its_scale = (uint8_t)scale;
		note(c, x, scale);
		if (moment_table[CELL_VALUES]->add(cell, &x, &its_scale, 1) != STATUS_OK)
			bail("no memory");
	}
}

/* Numbers of up to nbits bits at up to c->scale digits, some in blocks and some in runs of both cells, which
 * are then combined. */
static void fill(struct column *c, int scale, int nbits)
{
	memset(c, 0, sizeof *c);
	c->scale = scale;
	for (int i = 0; i < 6; i++) {
		struct values *cell = &c->cells[i / 3];
		add_to_run(c, cell, (size_t)(random_next() % 5000) + 1, i % (scale + 1), nbits);
		add_to_blocks(c, cell, (size_t)(random_next() % 5000), scale - i % (scale + 1), nbits);
	}
	if (moment_table[CELL_VALUES]->combine(&c->cells[0], &c->cells[1]) != STATUS_OK)
		bail("no memory");
	moment_table[CELL_VALUES]->free(&c->cells[1]);
	qsort(c->sorted, c->n, sizeof *c->sorted, compare);
}

/* Selects some ranks. Returns the status; *right: all were. */
static enum status select_some(struct column *c, const struct exact *min, const struct exact *max, bool *right)
{
	struct values_extent extent = {c->n, c->scale, min, max, NULL};
	struct ranked wanted[NWANTED] = {{0}};
	enum status status;

	for (size_t i = 0; i < NWANTED; i++)
		wanted[i].rank = i * (c->n - 1) / (NWANTED - 1);
	status = values_select(&c->cells[0], &extent, 3, wanted, NWANTED);
	*right = true;
	for (size_t i = 0; i < NWANTED && status == STATUS_OK; i++) {
		const struct exact x = {.value = c->sorted[wanted[i].rank], .scale = c->scale};
		*right = *right && exact_compare(&x, &wanted[i].value) == 0;
	}
	return status;
}

static void bounds(const struct column *c, struct exact *min, struct exact *max)
{
	*min = (struct exact){.value = c->sorted[0], .scale = c->scale};
	*max = (struct exact){.value = c->sorted[c->n - 1], .scale = c->scale};
}

static void test_select(int scale, int nbits)
{
	static struct column c;
	struct exact min, max;
	bool right;

	fill(&c, scale, nbits);
	bounds(&c, &min, &max);
	is_int(STATUS_OK, select_some(&c, &min, &max, &right), "%d bits, scale %d: %zu numbers", nbits, scale, c.n);
	ok(right, "... and the ranks' numbers");
	is_int(6, nruns, "... and the runs are left where they are");
	is_broken = true;
	is_int(STATUS_GPU, select_some(&c, &min, &max, &right), "... and a device that fails is not believed");
	is_broken = false;
	is_int(STATUS_OK, values_bring_down(&c.cells[0]), "... brought down");
	is_int(0, nruns, "... all of them");
	is_int(STATUS_OK, select_some(&c, &min, &max, &right), "... selected again");
	ok(right, "... with the same numbers");
	moment_table[CELL_VALUES]->free(&c.cells[0]);
}

/* Numbers of which some are beyond 64 bits at the largest scale: no device passes over them. */
static void test_beyond(void)
{
	static struct column c;
	const int128 most = (int128)INT64_MAX * 1000;
	struct exact min, max;
	struct ranked last = {0};

	fill(&c, 3, 40);
	bounds(&c, &min, &max);
	max = (struct exact){.value = most, .scale = 3};
	if (moment_table[CELL_VALUES]->add_long(&c.cells[0], &max) != STATUS_OK)
		bail("no memory");
	last.rank = c.n;
	is_int(STATUS_OK, values_select(&c.cells[0], &(struct values_extent){c.n + 1, 3, &min, &max, NULL}, 2, &last, 1),
	       "beyond 64 bits");
	ok(exact_compare(&last.value, &max) == 0 && nruns == 0, "... is found on the host");
	moment_table[CELL_VALUES]->free(&c.cells[0]);
}

static void test_cells(void)
{
	static struct column c;

	memset(&c, 0, sizeof c);
	add_to_run(&c, &c.cells[0], 10, 0, 20);
	ok(values_have_any(&c.cells[0]), "a run alone is numbers");
	moment_table[CELL_VALUES]->clear(&c.cells[0]);
	ok(!values_have_any(&c.cells[0]) && nruns == 0, "cleared");
	add_to_run(&c, &c.cells[0], 10, 0, 20);
	moment_table[CELL_VALUES]->free(&c.cells[0]);
	is_int(0, nruns, "freed");
	is_int(STATUS_OK, values_bring_down(NULL), "no cell has none");
}

/* ---- keys ---- */

static void add_key_run(struct keys *k, const int64_t *significand, const int *scale, size_t n)
{
	struct test_run *r = calloc(1, sizeof *r + n * sizeof *r->numbers);

	if (!r)
		bail("no memory");
	r->run = (struct device_run){.ops = &device, .nnumbers = n};
	for (size_t i = 0; i < n; i++)
		r->numbers[i] = significand[i] * (1 << KEY_NUMBER_SCALE_BITS) + scale[i];
	nruns++;
	keys_add_run(k, &r->run);
}

/* Texts on the host, and key numbers on the device, of which some are the same: 0, 1.0, 1.00, -5, 0.001 and
 * some large ones. */
static void test_keys(void)
{
	static const char *const texts[] = {"0", "-0", "1.0", "1", "1.00", "01", "+5", "-5", "five", "", ".5",
					    "288230376151711743", "288230376151711744", "0.0000000000000000000001"};
	static const int64_t significands[] = {0, 10, 100, -5, 1, 288230376151711743, -288230376151711743, 1, -5};
	static const int scales[] = {0, 1, 2, 0, 3, 0, 0, 22, 0};
	const struct keys_wanted wanted = {0};
	const size_t ndifferent = sizeof texts / sizeof *texts + 2; /* 0.001 and -288230376151711743 */

	for (int broken = 0; broken < 2; broken++) {
		struct keys k = {0}, later = {0};
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			if (keys_add(&k, wanted, texts[i], strlen(texts[i]), i) != STATUS_OK)
				bail("no memory");
		add_key_run(&k, significands, scales, 4);
		add_key_run(&later, significands + 3, scales + 3, sizeof scales / sizeof *scales - 3);
		is_int(STATUS_OK, moment_table[CELL_KEYS]->combine(&k, &later), "combined");
		is_broken = broken;
		is_int(STATUS_OK, keys_settle(&k, &wanted), "settled, the device %s", broken ? "fails" : "counts");
		is_broken = false;
		is_uint(ndifferent, keys_count(&k), "... different keys");
		is_int(0, nruns, "... and no run is left");
		moment_table[CELL_KEYS]->free(&later);
		moment_table[CELL_KEYS]->free(&k);
	}
}

int main(void)
{
	for (int scale = 0; scale < 6; scale += 2)
		for (int nbits = 2; nbits < 64 - 4 * scale; nbits += 13)
			test_select(scale, nbits);
	test_beyond();
	test_cells();
	test_keys();
	return done();
}
