/* SPDX-License-Identifier: MIT
 *
 * test_device_forecast.c - whether a GPU alone surely ends sooner, told from the plan, the sizes and the text's beginning.
 */
#include "run/device_forecast.h"

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

int main(void)
{
	plan_lazy();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct expected *e = &all[i];
		struct plan_column column = {.needs = e->needs};
		struct plan plan = {.ncolumns = 1, .columns = &column, .nkeys = e->nkeys};
		struct forecast f = {&plan, e->text_gb * GB, e->packed_gb * GB, !strstr(e->what, "member"), e->sample,
				     strlen(e->sample), e->ncores, e->gpu_s};
		ok(forecast_gpu_alone(&f) == e->alone, "%s: %s", e->what, e->alone ? "a GPU alone" : "not surely");
	}
	return done();
}
