/* SPDX-License-Identifier: MIT
 *
 * profile_rungs.cu - launches each rung of the reductions that takes float32 once, over n
 * values (default 256), so that a profiler sees nothing else. Not a test and not installed.
 *
 *     ncu --metrics ... profile_rungs [N]
 *
 * docs/ladder.md holds the counters against `gpustat-bench model`.
 */
#include "kernel_test.cuh"
#include "kernels/ladder/ladder.cuh"

/* Values whose sum is exact: what it comes to is printed, so that nobody profiles a failure. */
static void profile(const struct ladder_rung *rung, uint64_t n)
{
	float *values = (float *)malloc(n * sizeof *values);
	struct ladder_run run = {};

	for (uint64_t i = 0; i < n; i++)
		values[i] = (float)(i % 7);
	float *in = device_copy(values, n), *out = device_filled<float>(1, POISON);
	run.type = BENCH_FLOAT32;
	run.fold = BENCH_SUM;
	run.n = n;
	must(rung->open(&run), rung->name);
	must(rung->launch(&run, in, out), rung->name);
	float *sum = host_copy(out, 1);
	printf("%s: %g\n", rung->name, *sum);
	ladder_close(&run);
	free(sum);
	free(values);
	device_free(in);
	device_free(out);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 256;

	for (size_t i = 0; i < reduce_ladder_nrungs; i++) {
		const struct ladder_rung *rung = &reduce_ladder[i];
		if ((rung->types >> BENCH_FLOAT32 & 1) != 0 && (rung->n_max == 0 || n <= rung->n_max))
			profile(rung, n);
	}
	return 0;
}
