/* SPDX-License-Identifier: MIT
 *
 * test_device_forecast.c - whether a GPU alone surely ends sooner, told from the plan, the sizes and the text's beginning.
 */
#include "run/device_choice.h"

#include <string.h>

#include "tap.h"

#define NARROW "id,value,flag\n1,17.25,0\n2,-3.5,1\n" /* 10 bytes a record */
#define GB 1e9
#define GPU_S(gb) (0.4 + (gb)*0.036)

struct expected {
	const char *what;
	unsigned needs;
	uint32_t nkeys;
	double text_gb, packed_gb;
	const char *sample;
	int ncores;
	double gpu_s;
	bool alone;
};

static const struct expected all[] = {
	{"a sum: the run shows its speed", MOMENT_SUM, 0, 100, 0, NARROW, 1, 1, false},
	{"a median of many numbers", MOMENT_SUM | MOMENT_VALUES, 0, 16, 0, NARROW, 16, GPU_S(16), true},
	{"of few", MOMENT_VALUES, 0, 1, 0, NARROW, 16, GPU_S(1), false},
	{"on one core fewer are enough", MOMENT_VALUES, 0, 1, 0, NARROW, 1, GPU_S(1), true},
	{"on many cores more are needed", MOMENT_VALUES, 0, 16, 0, NARROW, 128, GPU_S(16), false},
	{"of long records", MOMENT_VALUES, 0, 16, 0,
	 "time,host,method,path,status,bytes,seconds,more,and,more,and,more,and,more,and,more,and,more,and,more,and,more\n", 16,
	 GPU_S(16), false},
	{"of text that has not been seen", MOMENT_VALUES, 0, 16, 0, "", 16, GPU_S(16), false},
	{"different texts take longer", MOMENT_KEYS, 0, 6, 0, NARROW, 16, GPU_S(6), true},
	{"than numbers", MOMENT_VALUES, 0, 6, 0, NARROW, 16, GPU_S(6) + 0.1, false},
	{"by group", MOMENT_VALUES, 1, 16, 0, NARROW, 16, GPU_S(16), false},
	{"a median of blocks", MOMENT_VALUES, 0, 0, 1.2, NARROW, 16, 0.53, true},
	{"a sum of blocks: the run shows its speed", MOMENT_SUM, 0, 0, 12, NARROW, 16, 1, false},
	{"a long member", MOMENT_SUM, 0, 0, 4.4, NARROW, 16, 1.3, true},
	{"a shorter member", MOMENT_SUM, 0, 0, 1, NARROW, 16, 0.6, false},
};

/* ---- groups ---- */

#define NRECORDS 50000
#define RECORD_NBYTES_MAX 64

/* A text whose second field is one of nkeys keys, some of them in quotes that hide a delimiter and an LF. */
static size_t write_sample(char *text, uint64_t nkeys)
{
	uint64_t x = 88172645463325252;
	size_t at = 0;

	for (int i = 0; i < NRECORDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at += (size_t)sprintf(text + at, x % nkeys % 2 ? "%d,k%llu,\"a,\nb\",7\n" : "%d,\"k,\n%llu\",,7\n", i,
				      (unsigned long long)(x % nkeys));
	}
	return at;
}

/* Records of that text by their second field. */
static void test_groups(const char *what, uint64_t nkeys, double gb, bool alone)
{
	char *text = malloc(NRECORDS * RECORD_NBYTES_MAX);
	size_t key = 0;
	struct plan_column column = {.field = 1};
	struct plan plan = {.ncolumns = 1, .columns = &column, .nkeys = 1, .keys = &key, .where = PREDICATE_NONE,
			    .dialect = {.delimiter = ',', .quote = '"'}};
	struct forecast f = {&plan, gb * GB, 0, true, text, write_sample(text, nkeys), 16, 0.4 + gb * 0.02, {0, false}};

	f.groups = forecast_groups_of(&f);
	ok(forecast_gpu_alone(&f) == alone, "%s: %s, %.0f groups are likely", what, alone ? "a GPU alone" : "not", f.groups.n);
	if (alone)
		ok(f.groups.n > (double)nkeys / 2 && f.groups.n < (double)nkeys * 2, "their number is about right");
	plan.where = 0;
	f.groups = forecast_groups_of(&f);
	ok(!forecast_gpu_alone(&f), "%s, with a condition: the run shows its speed", what);
	free(text);
}

int main(void)
{
	plan_lazy();
	test_groups("by a few keys", 5, 12, false);
	test_groups("by thousands of keys", 5000, 12, false);
	test_groups("by millions of keys", 10000000, 12, true);
	test_groups("by tens of millions of keys", 40000000, 12, true);
	test_groups("by as many, of few records", 40000000, 0.2, false);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct expected *e = &all[i];
		struct plan_column column = {.needs = e->needs};
		struct plan plan = {.ncolumns = 1, .columns = &column, .nkeys = e->nkeys};
		struct forecast f = {&plan, e->text_gb * GB, e->packed_gb * GB, !strstr(e->what, "member"), e->sample,
				     strlen(e->sample), e->ncores, e->gpu_s, {0, false}};
		ok(forecast_gpu_alone(&f) == e->alone, "%s: %s", e->what, e->alone ? "a GPU alone" : "not surely");
	}
	is_int(1, forecast_ngpus(0, 0.2), "nothing to do is for one GPU");
	is_int(1, forecast_ngpus(0.39, 0.2), "a second one is to save what it takes to wake");
	is_int(2, forecast_ngpus(0.41, 0.2), "and then it is called");
	is_int(4, forecast_ngpus(2.5, 0.2), "four save 0.208 s more than three, five 0.125 more than four");
	return done();
}
