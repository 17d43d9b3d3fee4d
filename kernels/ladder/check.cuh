/* SPDX-License-Identifier: MIT
 *
 * check.cuh - whether rungs are right: before gpustat-bench times one, in tests, and in a rung that
 * is compiled alone.
 */
#pragma once

#include <string.h>

#include "ladder.cuh"
#include "value.cuh"

#define GUARD_NBYTES 256
#define GUARD_BYTE 0xa5
#define POISON_BYTE 0xff          /* NaN in float32: a value that was not written never passes */
#define HOST_NVALUES_MAX (1u << 21) /* larger scans are checked in device memory */
#define NLAUNCHES 2
#define MANY_TILES_NBYTES ((uint64_t)128 << 20)
#define NSIZES_MAX 400 /* 16 rungs, each with a section and a tile of its own, have 240 */

/* The checks of a rung; zeroed: none yet. A check is one launch, and a look at its result, at the
 * bytes behind it, and at the input. */
struct ladder_verdict {
	unsigned nchecks, nwrong;
	bool is_refused;        /* open refused this GPU: nothing was checked */
	uint64_t wrong_n;       /* the n of the first check that failed */
	const char *wrong_what; /* what was wrong with it; static */
};

/* Which rungs to check, and on what. */
struct ladder_check {
	enum bench_ladder ladder;
	enum bench_type type;
	enum bench_fold fold;
	size_t nrungs;
	const struct ladder_rung *const *rungs; /* all allow type and fold */
	struct ladder_verdict *verdicts;        /* one for each; checks are added */
};

/* ---- one array, for all rungs ---- */

struct trial {
	const struct ladder_check *check;
	uint64_t n, seed;
	enum value_sample sample;
	size_t nbytes, out_nbytes; /* of the input and the output, without guards */
	char *in, *out;            /* device memory, GUARD_NBYTES more */
	char *host_in, *host_out;  /* the same on the host; of a large array, only the guard */
	unsigned *nwrong;          /* device memory: one count */
	struct reference whole;    /* reductions: the expected result */
};

/* Whether results are compared on the host, one by one. */
static inline bool trial_is_small(const struct trial *t)
{
	return t->n <= HOST_NVALUES_MAX;
}

static inline cudaError_t trial_allocate(struct trial *t)
{
	bool small_out = trial_is_small(t) || t->check->ladder == BENCH_REDUCE;
	cudaError_t error = cudaMalloc(&t->in, t->nbytes + GUARD_NBYTES);

	if (error == cudaSuccess)
		error = cudaMalloc(&t->out, t->out_nbytes + GUARD_NBYTES);
	if (error == cudaSuccess)
		error = cudaMalloc(&t->nwrong, sizeof *t->nwrong);
	if (error != cudaSuccess)
		return error;
	t->host_in = (char *)malloc((trial_is_small(t) ? t->nbytes : 0) + GUARD_NBYTES);
	t->host_out = (char *)malloc((small_out ? t->out_nbytes : 0) + GUARD_NBYTES);
	return t->host_in != NULL && t->host_out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline void trial_close(struct trial *t)
{
	(void)cudaFree(t->in);
	(void)cudaFree(t->out);
	(void)cudaFree(t->nwrong);
	free(t->host_in);
	free(t->host_out);
}

/* Writes the input, and poison behind it. */
static inline cudaError_t trial_fill(const struct trial *t)
{
	cudaError_t error = cudaMemset(t->in + t->nbytes, POISON_BYTE, GUARD_NBYTES);

	return error == cudaSuccess ? value_fill(t->check->type, t->sample, t->in, t->n, t->seed)
				    : error;
}

/* Computes the expected result of a reduction, for small arrays on the host. Results of scans are
 * computed while they are compared. */
static inline cudaError_t trial_expect(struct trial *t)
{
	const struct ladder_check *c = t->check;
	cudaError_t error = cudaSuccess;

	if (trial_is_small(t))
		error = cudaMemcpy(t->host_in, t->in, t->nbytes, cudaMemcpyDeviceToHost);
	if (error != cudaSuccess || c->ladder == BENCH_SCAN)
		return error;
	if (!trial_is_small(t))
		return value_reference(c->type, c->fold, t->in, t->n, &t->whole);
	t->whole = reference_of_range(c->type, c->fold, t->host_in, 0, t->n);
	return cudaSuccess;
}

static inline cudaError_t trial_open(struct trial *t, const struct ladder_check *check, uint64_t n,
				     enum value_sample sample)
{
	size_t value_nbytes = bench_type_nbytes(check->type);
	cudaError_t error;

	memset(t, 0, sizeof *t);
	t->check = check;
	t->n = n;
	t->sample = sample;
	t->seed = n * 5 + sample + 1;
	t->nbytes = n * value_nbytes;
	t->out_nbytes = check->ladder == BENCH_REDUCE ? value_nbytes : t->nbytes;
	error = trial_allocate(t);
	if (error == cudaSuccess)
		error = trial_fill(t);
	return error == cudaSuccess ? trial_expect(t) : error;
}

/* ---- one rung on it ---- */

static inline bool is_all(const char *bytes, unsigned char byte, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if ((unsigned char)bytes[i] != byte)
			return false;
	return true;
}

/* How many additions may have rounded. */
static inline uint64_t trial_depth(const struct trial *t, const struct ladder_rung *rung,
				   const struct ladder_run *run)
{
	return t->sample == VALUE_EXACT ? 0 : rung->depth(run);
}

/* Values that are scanned together, apart from the others; 0: all. */
static inline uint64_t rung_section_nvalues(const struct ladder_rung *rung, enum bench_type type)
{
	return rung->section_nbytes / bench_type_nbytes(type);
}

/* Whether a scan's output follows from its input, both on the host. */
static inline bool scan_is_right(const struct trial *t, const struct ladder_rung *rung,
				 uint64_t depth)
{
	const struct ladder_check *c = t->check;
	uint64_t section = rung_section_nvalues(rung, c->type);
	struct reference all = reference_empty(c->type, c->fold);

	for (uint64_t i = 0; i < t->n; i++) {
		if (section > 0 && i % section == 0)
			all = reference_empty(c->type, c->fold);
		if (rung->exclusive && !reference_agrees(&all, t->host_out, i, depth))
			return false;
		all = reference_join(all, reference_of(c->type, c->fold, t->host_in, i));
		if (!rung->exclusive && !reference_agrees(&all, t->host_out, i, depth))
			return false;
	}
	return true;
}

/* Reads the device's count of wrong values. */
static inline cudaError_t trial_count(const struct trial *t, bool *is_right)
{
	unsigned nwrong = 1;
	cudaError_t error = cudaMemcpy(&nwrong, t->nwrong, sizeof nwrong, cudaMemcpyDeviceToHost);

	*is_right = nwrong == 0;
	return error;
}

static inline cudaError_t check_large_scan(const struct trial *t, const struct ladder_rung *rung,
					   bool *is_right)
{
	uint64_t section = rung_section_nvalues(rung, t->check->type);
	struct value_scan scan = {t->in, t->out, t->n, section, rung->exclusive};
	cudaError_t error = cudaMemset(t->nwrong, 0, sizeof *t->nwrong);

	if (error == cudaSuccess && rung->spoils_input) /* the check reads it */
		error = trial_fill(t);
	if (error == cudaSuccess)
		error = value_count_missteps(t->check->type, scan, t->nwrong);
	return error == cudaSuccess ? trial_count(t, is_right) : error;
}

/* Checks the output and the bytes behind it. *wrong: what is wrong, in words. */
static inline cudaError_t check_output(const struct trial *t, const struct ladder_rung *rung,
				       const struct ladder_run *run, const char **wrong)
{
	bool is_scan = t->check->ladder == BENCH_SCAN, is_right;
	size_t skipped = is_scan && !trial_is_small(t) ? t->out_nbytes : 0;
	const char *guard = t->host_out + (t->out_nbytes - skipped);
	cudaError_t error = cudaMemcpy(t->host_out, t->out + skipped,
				       t->out_nbytes - skipped + GUARD_NBYTES,
				       cudaMemcpyDeviceToHost);

	if (error != cudaSuccess)
		return error;
	if (skipped > 0)
		error = check_large_scan(t, rung, &is_right);
	else if (is_scan)
		is_right = scan_is_right(t, rung, trial_depth(t, rung, run));
	else
		is_right = reference_agrees(&t->whole, t->host_out, 0, trial_depth(t, rung, run));
	if (error != cudaSuccess)
		return error;
	if (!is_right)
		*wrong = "a value of the output";
	else if (!is_all(guard, GUARD_BYTE, GUARD_NBYTES))
		*wrong = "the memory behind the output";
	return cudaSuccess;
}

/* Checks the input and the bytes behind it, and restores what was changed. */
static inline cudaError_t check_input(const struct trial *t, const struct ladder_rung *rung,
				      const char **wrong)
{
	bool is_intact, is_guarded;
	cudaError_t error = cudaMemset(t->nwrong, 0, sizeof *t->nwrong);

	if (error == cudaSuccess)
		error = value_count_changed(t->check->type, t->sample, t->in, t->n, t->seed,
					    t->nwrong);
	if (error == cudaSuccess)
		error = trial_count(t, &is_intact);
	if (error == cudaSuccess)
		error = cudaMemcpy(t->host_out, t->in + t->nbytes, GUARD_NBYTES,
				   cudaMemcpyDeviceToHost);
	if (error != cudaSuccess)
		return error;
	is_guarded = is_all(t->host_out, POISON_BYTE, GUARD_NBYTES);
	if (!is_guarded)
		*wrong = "the memory behind the input";
	else if (!is_intact && !rung->spoils_input)
		*wrong = "the input, which was changed";
	return is_guarded && is_intact ? cudaSuccess : trial_fill(t);
}

static inline cudaError_t trial_launch(const struct trial *t, const struct ladder_rung *rung,
				       struct ladder_run *run, const char **wrong)
{
	cudaError_t error = cudaMemset(t->out, POISON_BYTE, t->out_nbytes);

	if (error == cudaSuccess)
		error = cudaMemset(t->out + t->out_nbytes, GUARD_BYTE, GUARD_NBYTES);
	if (error == cudaSuccess)
		error = rung->launch(run, t->in, t->out);
	if (error == cudaSuccess)
		error = cudaDeviceSynchronize(); /* reports the kernel's own errors */
	if (error == cudaSuccess)
		error = check_output(t, rung, run, wrong);
	return error == cudaSuccess ? check_input(t, rung, wrong) : error;
}

static inline void verdict_add(struct ladder_verdict *v, uint64_t n, const char *wrong)
{
	v->nchecks++;
	if (wrong != NULL && v->nwrong++ == 0) {
		v->wrong_n = n;
		v->wrong_what = wrong;
	}
}

/* Opens the rung, launches it on the trial's array, and closes it. */
static inline cudaError_t trial_run(const struct trial *t, const struct ladder_rung *rung,
				    struct ladder_verdict *verdict)
{
	struct ladder_run run = {};
	cudaError_t error;

	run.type = t->check->type;
	run.fold = t->check->fold;
	run.n = t->n;
	error = rung->open(&run);
	for (unsigned i = 0; i < NLAUNCHES && error == cudaSuccess; i++) {
		const char *wrong = NULL;
		error = trial_launch(t, rung, &run, &wrong);
		if (error == cudaSuccess)
			verdict_add(verdict, t->n, wrong);
	}
	ladder_close(&run);
	if (error == cudaErrorNotSupported && verdict->nchecks == 0) {
		verdict->is_refused = true;
		(void)cudaGetLastError();
		return cudaSuccess;
	}
	return error;
}

/* Whether rung i of the check runs on n values. */
static inline bool check_reaches(const struct ladder_check *c, size_t i, uint64_t n)
{
	const struct ladder_rung *rung = c->rungs[i];

	return !c->verdicts[i].is_refused && (rung->n_max == 0 || n <= rung->n_max);
}

static inline cudaError_t check_sample(const struct ladder_check *c, uint64_t n,
				       enum value_sample sample, const char **what)
{
	struct trial t;
	cudaError_t error = trial_open(&t, c, n, sample);

	*what = "validation";
	for (size_t i = 0; i < c->nrungs && error == cudaSuccess; i++)
		if (check_reaches(c, i, n)) {
			*what = c->rungs[i]->name;
			error = trial_run(&t, c->rungs[i], &c->verdicts[i]);
		}
	trial_close(&t);
	return error;
}

/* Runs every rung that allows n on arrays of n values, each array twice after one open: the second
 * run must not depend on what the first one left behind. Outputs are poisoned first; a rung that
 * writes behind its output, or changes an input that it does not declare to spoil, is wrong.
 * Integers must agree bit for bit; float32 sums within the bound of reference.h for the rung's
 * depth, and bit for bit on values that add without rounding; segments are long, then
 * short. A wrong rung is no error. Costs
 * memory for the input and the output. Waits. Errors: CUDA's, with *what set to the rung's name or
 * "validation". */
static inline cudaError_t ladder_check_at(const struct ladder_check *c, uint64_t n,
					  const char **what)
{
	bool is_float_sum = c->type == BENCH_FLOAT32 && c->fold == BENCH_SUM, any_reaches = false;
	bool has_exact = is_float_sum || c->type == BENCH_SEGMENTED;
	/* The check of a large float32 scan has no error bound, so values must add exactly. */
	bool has_any = !is_float_sum || c->ladder == BENCH_REDUCE || n <= HOST_NVALUES_MAX;
	cudaError_t error = cudaSuccess;

	for (size_t i = 0; i < c->nrungs; i++)
		any_reaches = any_reaches || check_reaches(c, i, n);
	if (any_reaches && has_any)
		error = check_sample(c, n, VALUE_ANY, what);
	if (any_reaches && error == cudaSuccess && has_exact)
		error = check_sample(c, n, VALUE_EXACT, what);
	return error;
}

/* ---- awkward sizes ---- */

struct sizes {
	uint64_t n[NSIZES_MAX];
	size_t count;
};

/* FEW: one size of each kind, all small, for tools that slow launches down. ALL: nothing, one, a
 * warp, a block, a section, a tile, powers of two, each and its neighbours; 1000007; and 128 MiB,
 * more tiles than run at once. */
enum ladder_sizes { LADDER_SIZES_FEW, LADDER_SIZES_ALL };

static inline void sizes_add(struct sizes *s, uint64_t n)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->n[i] == n)
			return;
	if (s->count < NSIZES_MAX)
		s->n[s->count++] = n;
}

/* n and its neighbours. */
static inline void sizes_add_around(struct sizes *s, uint64_t n)
{
	if (n == 0)
		return;
	sizes_add(s, n - 1);
	sizes_add(s, n);
	sizes_add(s, n + 1);
}

/* The tile size, in values, of a rung that is an engine of scan_job.cuh; 0 for other rungs. */
static inline uint64_t rung_tile_nvalues(const struct ladder_rung *rung, enum bench_type type,
					 enum bench_fold fold)
{
	struct ladder_run run = {};
	uint64_t nvalues;

	run.type = type;
	run.fold = fold;
	run.n = 1;
	nvalues = rung->open(&run) == cudaSuccess ? run.shape.tile_nvalues : 0;
	ladder_close(&run);
	(void)cudaGetLastError(); /* trial_run reports a rung that cannot be opened */
	return nvalues;
}

/* Adds the sizes for the rungs of c. */
static inline void sizes_add_all(struct sizes *s, const struct ladder_check *c,
				 enum ladder_sizes which)
{
	static const uint64_t few[] = {0, 1, 2, 31, 32, 33, 257, 1023, 2048, 2049, 10007};
	bool all = which == LADDER_SIZES_ALL;

	for (uint64_t n : few)
		sizes_add(s, n);
	for (uint64_t n = 2; all && n <= 1 << 17; n *= 2)
		sizes_add_around(s, n);
	for (size_t i = 0; i < c->nrungs; i++) {
		uint64_t section = rung_section_nvalues(c->rungs[i], c->type);
		uint64_t tile = rung_tile_nvalues(c->rungs[i], c->type, c->fold);
		sizes_add(s, section + 1);
		sizes_add(s, tile + 1);
		for (uint64_t n : {section, section * 3, tile, tile * 33}) /* look-back: 32 */
			if (all)
				sizes_add_around(s, n);
	}
	for (uint64_t n : {(uint64_t)7, (uint64_t)1000007,
			   MANY_TILES_NBYTES / bench_type_nbytes(c->type) - 4321})
		if (all)
			sizes_add(s, n);
}

/* Like ladder_check_at, at many n. */
static inline cudaError_t ladder_check_sizes(const struct ladder_check *c, enum ladder_sizes which,
					     const char **what)
{
	struct sizes s = {};
	cudaError_t error = cudaSuccess;

	sizes_add_all(&s, c, which);
	for (size_t i = 0; i < s.count && error == cudaSuccess; i++)
		error = ladder_check_at(c, s.n[i], what);
	return error;
}
