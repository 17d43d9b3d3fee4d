/* SPDX-License-Identifier: MIT
 *
 * test_model.c - gpustat-bench model: the counts, against figures in print and against
 * closed forms, which the program itself does not count with.
 */
#include "bench/ladder/model.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Worked out by hand, iteration by iteration; requests are those in print. */
static const struct {
	enum model_rung rung;
	unsigned n;
	uint64_t nactive, nissued, nrequests;
} cases[] = {
	{MODEL_SIMPLE, 256, 255, 864, 141},
	{MODEL_CONVERGENT, 256, 255, 384, 36},
	{MODEL_SHARED_MEMORY, 256, 255, 384, 9},
	{MODEL_SIMPLE, 2048, 2047, 7136, 1149},
	{MODEL_CONVERGENT, 2048, 2047, 2176, 204},
	{MODEL_SHARED_MEMORY, 2048, 2047, 2176, 65},
	{MODEL_SIMPLE, 2, 1, 32, 3},
	{MODEL_CONVERGENT, 4, 3, 64, 6},
	{MODEL_SHARED_MEMORY, 4, 3, 64, 3},
	{MODEL_KOGGE_STONE, 8, 17, 96, 0},
	{MODEL_BRENT_KUNG, 8, 11, 160, 0},
};

static void test_cases(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct model_cost cost = model_count(cases[i].rung, cases[i].n);
		const char *name = model_name(cases[i].rung);

		is_uint(cases[i].nactive, cost.nactive, "%s, n = %u: additions", name, cases[i].n);
		is_uint(cases[i].nissued, cost.nissued, "%s, n = %u: lanes", name, cases[i].n);
		is_uint(cases[i].nrequests, cost.nrequests, "%s, n = %u: requests", name,
			cases[i].n);
	}
}

/* Every tree adds n - 1 times; the scans as often as their formulas say. */
static void test_every_n(void)
{
	unsigned log2_n = 1;

	for (unsigned n = MODEL_LEAST_N; n <= MODEL_GREATEST_N; n *= 2, log2_n++) {
		for (int rung = MODEL_SIMPLE; rung <= MODEL_SHARED_MEMORY; rung++)
			is_uint(n - 1, model_count((enum model_rung)rung, n).nactive,
				"%s, n = %u: n - 1 additions", model_name((enum model_rung)rung), n);
		is_uint(n * log2_n - (n - 1), model_count(MODEL_KOGGE_STONE, n).nactive,
			"kogge_stone, n = %u: n log2 n - (n - 1)", n);
		is_uint(2 * n - 2 - log2_n, model_count(MODEL_BRENT_KUNG, n).nactive,
			"brent_kung, n = %u: 2 n - 2 - log2 n", n);
		is_uint(log2_n, model_count(MODEL_KOGGE_STONE, n).niterations,
			"kogge_stone, n = %u: log2 n iterations", n);
		is_uint(2 * log2_n - 1, model_count(MODEL_BRENT_KUNG, n).niterations,
			"brent_kung, n = %u: 2 log2 n - 1 iterations", n);
	}
}

/* Each published figure equals the count, or model_published() gives the reason in `why`. */
static void test_published(void)
{
	for (int rung = 0; rung < MODEL_NRUNGS; rung++)
		for (unsigned n = MODEL_LEAST_N; n <= MODEL_GREATEST_N; n *= 2) {
			struct model_cost c = model_count((enum model_rung)rung, n);
			struct model_published p = model_published((enum model_rung)rung, n);
			bool differs = (p.nactive && p.nactive != c.nactive) ||
				       (p.nissued && p.nissued != c.nissued) ||
				       (p.nrequests && p.nrequests != c.nrequests);

			ok(differs == (p.why != NULL), "%s, n = %u: as published, or with its why",
			   model_name((enum model_rung)rung), n);
		}
	is_uint(736, model_published(MODEL_SIMPLE, 256).nissued, "the figure that is not counted");
	is_uint(0, model_published(MODEL_SIMPLE, 512).nissued, "is for n = 256 only");
}

static void test_takes(void)
{
	static const uint64_t wrong[] = {0, 1, 3, 255, 257, 4096, UINT64_C(1) << 32};

	for (size_t i = 0; i < COUNT(wrong); i++)
		ok(!model_takes(wrong[i]), "n = %ju is not taken", (uintmax_t)wrong[i]);
	ok(model_takes(2) && model_takes(MODEL_DEFAULT_N) && model_takes(2048), "2 to 2048 are");
}

int main(void)
{
	plan_lazy();
	test_cases();
	test_every_n();
	test_published();
	test_takes();
	return done();
}
