/* SPDX-License-Identifier: MIT
 *
 * test_ladder.cu - every rung of both ladders, with every type and operation that it takes, at
 * awkward sizes; and whether check.cuh notices rungs that are wrong.
 *
 * Any argument makes it quick, for the sanitizers: few sizes, all small.
 */
#include "kernel_test.cuh"

#include "kernels/ladder/check.cuh"

#define NRUNGS_MAX 64

static bool quick;
static const char *const ladder_names[] = {"reduce", "scan"};

static bool does(const struct ladder_rung *rung, enum bench_ladder ladder, enum bench_type type,
		 enum bench_fold fold)
{
	return rung->ladder == ladder && (rung->types >> type & rung->folds >> fold & 1) != 0;
}

/* The rungs that do an operation on a type, and their checks. */
struct checked {
	struct ladder_check check;
	const struct ladder_rung *rungs[NRUNGS_MAX];
	struct ladder_verdict verdicts[NRUNGS_MAX];
};

static void gather(struct checked *c, enum bench_ladder ladder, enum bench_type type,
		   enum bench_fold fold)
{
	memset(c, 0, sizeof *c);
	c->check.ladder = ladder;
	c->check.type = type;
	c->check.fold = fold;
	c->check.rungs = c->rungs;
	c->check.verdicts = c->verdicts;
	for (size_t i = 0; i < ladder_nrungs; i++)
		if (does(ladder_rungs[i], ladder, type, fold))
			c->rungs[c->check.nrungs++] = ladder_rungs[i];
}

/* Like ladder_check_at, or ladder_check_sizes with n 0. Ends the program on an error: a failed
 * launch leaves no usable context. */
static void must_check(const struct ladder_check *check, uint64_t n, enum ladder_sizes which)
{
	const char *what = "";
	cudaError_t error = n > 0 ? ladder_check_at(check, n, &what)
				  : ladder_check_sizes(check, which, &what);

	must(error, what);
}

/* ---- the ladders ---- */

static void report(const struct checked *c, const char *at)
{
	for (size_t i = 0; i < c->check.nrungs; i++) {
		const struct ladder_verdict *v = &c->verdicts[i];
		if (v->is_refused) {
			skip(1, "%s does not run on this device", c->rungs[i]->name);
			continue;
		}
		if (v->nchecks == 0)
			continue;
		ok(v->nwrong == 0, "%s %s: %s of %s, %s, %u checks", ladder_names[c->check.ladder],
		   c->rungs[i]->name, bench_fold_name(c->check.fold),
		   bench_type_name(c->check.type), at, v->nchecks);
		if (v->nwrong > 0)
			diag("%u wrong, the first with %llu values: %s", v->nwrong,
			     (unsigned long long)v->wrong_n, v->wrong_what);
	}
}

static void test_ladder(enum bench_ladder ladder)
{
	static struct checked c;

	for (unsigned type = 0; type < BENCH_NTYPES; type++)
		for (unsigned fold = 0; fold < BENCH_NFOLDS; fold++) {
			gather(&c, ladder, (enum bench_type)type, (enum bench_fold)fold);
			must_check(&c.check, 0, quick ? LADDER_SIZES_FEW : LADDER_SIZES_ALL);
			report(&c, "awkward sizes");
		}
}

/* More values than 32 bits count. */
static void test_large(enum bench_ladder ladder)
{
	static struct checked c;
	const uint64_t n = (UINT64_C(1) << 32) + 77;
	size_t nfree, ntotal;

	must(cudaMemGetInfo(&nfree, &ntotal), "cudaMemGetInfo");
	if (quick || nfree < n * sizeof(int32_t) * 5 / 2) {
		skip(1, quick ? "large sizes are not quick" : "too little device memory");
		return;
	}
	gather(&c, ladder, BENCH_INT32, BENCH_SUM);
	must_check(&c.check, n, LADDER_SIZES_ALL);
	report(&c, "2^32 + 77 values");
}

/* ---- wrong rungs ---- */

/* A wrong rung does a right one's work, and damage. */
enum damage {
	DAMAGE_NONE,
	DAMAGE_VALUE,   /* the lowest bit of the last result is flipped */
	DAMAGE_DROPPED, /* nothing is written */
	DAMAGE_BEHIND,  /* the byte after the output is changed */
	DAMAGE_AHEAD,   /* the byte after the input is changed */
	DAMAGE_INPUT,   /* a value of the input is changed */
	DAMAGE_ORDER,   /* the first two operands change places */
	DAMAGE_SECOND,  /* only the first launch is right */
};
static const struct ladder_rung *right_rung;
static enum damage damage;
static enum bench_ladder damage_ladder;

__global__ static void flip(unsigned char *byte)
{
	*byte ^= 1;
}

__global__ static void swap_two(unsigned char *values, unsigned nbytes)
{
	for (unsigned i = 0; i < nbytes; i++) {
		unsigned char first = values[i];
		values[i] = values[nbytes + i];
		values[nbytes + i] = first;
	}
}

static cudaError_t launch_flip(void *data, uint64_t offset)
{
	flip<<<1, 1>>>((unsigned char *)data + offset);
	return cudaGetLastError();
}

static cudaError_t damaged_open(struct ladder_run *run)
{
	return right_rung->open(run);
}

/* The right rung between two swaps, so that the input is restored. */
static cudaError_t launch_swapped(struct ladder_run *run, void *in, void *out)
{
	unsigned nbytes = (unsigned)bench_type_nbytes(run->type);
	cudaError_t error;

	if (run->n < 2)
		return right_rung->launch(run, in, out);
	swap_two<<<1, 1>>>((unsigned char *)in, nbytes);
	error = right_rung->launch(run, in, out);
	swap_two<<<1, 1>>>((unsigned char *)in, nbytes);
	return error != cudaSuccess ? error : cudaGetLastError();
}

static cudaError_t damaged_launch(struct ladder_run *run, void *in, void *out)
{
	static unsigned nlaunches;
	uint64_t value_nbytes = bench_type_nbytes(run->type);
	uint64_t nout = damage_ladder == BENCH_REDUCE ? 1 : run->n;
	bool is_second = nlaunches++ % 2 == 1;
	cudaError_t error;

	if (damage == DAMAGE_DROPPED)
		return cudaSuccess;
	if (damage == DAMAGE_ORDER)
		return launch_swapped(run, in, out);
	error = right_rung->launch(run, in, out);
	if (error != cudaSuccess || damage == DAMAGE_NONE)
		return error;
	if (damage == DAMAGE_BEHIND)
		return launch_flip(out, nout * value_nbytes);
	if (damage == DAMAGE_AHEAD)
		return launch_flip(in, run->n * value_nbytes);
	if (damage == DAMAGE_INPUT && run->n > 0)
		return launch_flip(in, (run->n - 1) * value_nbytes);
	if ((damage == DAMAGE_VALUE || (damage == DAMAGE_SECOND && is_second)) && nout > 0)
		return launch_flip(out, (nout - 1) * value_nbytes);
	return cudaSuccess;
}

/* `found`: what the check must report; NULL: nothing. */
struct damage_case {
	enum damage damage;
	const char *what, *found;
};
static const struct damage_case damage_cases[] = {
	{DAMAGE_NONE, "no fault in a right rung", NULL},
	{DAMAGE_VALUE, "one bit of one result", "a value of the output"},
	{DAMAGE_DROPPED, "results that are never written", "a value of the output"},
	{DAMAGE_BEHIND, "one byte behind the output", "the memory behind the output"},
	{DAMAGE_AHEAD, "one byte behind the input", "the memory behind the input"},
	{DAMAGE_INPUT, "one bit of the input", "the input, which was changed"},
	{DAMAGE_SECOND, "a second launch", "a value of the output"},
};

/* A rung of the ladder that does inclusive sums of the type over the whole array, at any n. */
static const struct ladder_rung *find_right(enum bench_ladder ladder, enum bench_type type)
{
	for (size_t i = 0; i < ladder_nrungs; i++) {
		const struct ladder_rung *rung = ladder_rungs[i];
		if (does(rung, ladder, type, BENCH_SUM) && rung->n_max == 0 &&
		    rung->section_nbytes == 0 && !rung->exclusive && !rung->spoils_input)
			return rung;
	}
	bail("no rung of the ladder takes any n");
}

/* What the check reports of the damaged rung; n 0: at small awkward sizes. */
static const char *found_at(enum bench_ladder ladder, enum bench_type type, enum damage what,
			    uint64_t n)
{
	struct ladder_rung damaged = *(right_rung = find_right(ladder, type));
	const struct ladder_rung *rungs[] = {&damaged};
	struct ladder_verdict verdict = {};
	struct ladder_check check = {ladder, type, BENCH_SUM, 1, rungs, &verdict};

	damage = what;
	damage_ladder = ladder;
	damaged.open = damaged_open;
	damaged.launch = damaged_launch;
	must_check(&check, n, LADDER_SIZES_FEW);
	return verdict.nwrong > 0 ? verdict.wrong_what : NULL;
}

/* Each kind of damage, for types that are compared differently, checked on the host and (a large
 * scan) on the device. */
static void test_damage(enum bench_ladder ladder)
{
	static const enum bench_type types[] = {BENCH_FLOAT32, BENCH_INT32, BENCH_INT64,
						BENCH_INT128, BENCH_SEGMENTED};

	for (enum bench_type type : types)
		for (const struct damage_case &c : damage_cases) {
			if ((bench_types_timed(ladder) >> type & 1) == 0)
				continue;
			is_string(c.found, found_at(ladder, type, c.damage, 0),
				  "%s of %s: finds out %s", ladder_names[ladder],
				  bench_type_name(type), c.what);
			if (!quick)
				is_string(c.found, found_at(ladder, type, c.damage, 3000001),
					  "%s of 3000001 %s: finds out %s", ladder_names[ladder],
					  bench_type_name(type), c.what);
		}
}

/* Sums do not depend on the order of their operands; compositions of affine maps do. */
static void test_order(void)
{
	is_string(NULL, found_at(BENCH_REDUCE, BENCH_INT32, DAMAGE_ORDER, 0),
		  "int32 sums are the same in another order");
	is_string("a value of the output", found_at(BENCH_REDUCE, BENCH_AFFINE, DAMAGE_ORDER, 0),
		  "affine maps are not: reduce");
	is_string("a value of the output", found_at(BENCH_SCAN, BENCH_AFFINE, DAMAGE_ORDER, 0),
		  "affine maps are not: scan");
}

/* What every level relies on, for all triples of sums with and without a beginning, and sums that
 * overflow; at least one pair must not commute, or the order would not be tested. */
static void test_segmented_laws(void)
{
	typedef ladder_segmented_sum F;
	const uint64_t most = F::head - 1, x[] = {0, 1, 5, most, F::head, F::head | 7, ~(uint64_t)0};
	unsigned nidentity = 0, nassociative = 0, ncommuting = 0, count = 0;

	for (uint64_t a : x)
		for (uint64_t b : x)
			for (uint64_t c : x) {
				uint64_t left = F::combine(F::combine(a, b), c);
				uint64_t right = F::combine(a, F::combine(b, c));
				count++;
				nassociative += left == right;
				nidentity += F::combine(F::identity(), a) == a &&
					     F::combine(a, F::identity()) == a;
				ncommuting += F::combine(a, b) == F::combine(b, a);
			}
	ok(nidentity == count, "segmented sums: the identity is neutral on both sides");
	ok(nassociative == count, "segmented sums are associative");
	ok(ncommuting < count, "segmented sums do not commute");
	ok(F::combine(most, 2) == 1 && F::combine(F::head | most, 2) == (F::head | 1),
	   "segmented sums wrap below the flag");
	ok(F::combine(9, F::head | 2) == (F::head | 2), "a beginning hides what precedes it");
}

int main(int argc, char **argv)
{
	int ndevices = 0;

	(void)argv;
	quick = argc > 1;
	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	for (enum bench_ladder ladder : {BENCH_REDUCE, BENCH_SCAN}) {
		test_damage(ladder);
		test_ladder(ladder);
		test_large(ladder);
	}
	test_order();
	test_segmented_laws();
	return done();
}
