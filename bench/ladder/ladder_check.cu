/* SPDX-License-Identifier: MIT
 *
 * ladder_check.cu - see ladder_check.cuh.
 */
#include "bench/ladder/ladder_check.cuh"

#include <stdlib.h>
#include <string.h>

#include "bench/ladder/gpu_fault.cuh"
#include "bench/ladder/ladder_value.cuh"

#define GUARD_NBYTES 256
#define GUARD_BYTE 0xa5
#define POISON_BYTE 0xff          /* NaN in float32: what is not written never passes */
#define HOST_NVALUES_MAX (1u << 21) /* larger scans are checked where they lie */
#define NLAUNCHES 2
#define MANY_TILES_NBYTES ((uint64_t)128 << 20)
#define NSIZES_MAX 400 /* with 16 rungs, each with a section and a tile of its own: 240 */

/* ---- one array, for all rungs ---- */

struct trial {
	const struct ladder_check *check;
	uint64_t n, seed;
	enum value_sample sample;
	size_t nbytes, out_nbytes; /* of the input and the output, guards not counted */
	char *in, *out;            /* device memory, GUARD_NBYTES more */
	char *host_in, *host_out;  /* likewise; NULL: too large to be looked at here */
	unsigned *nwrong;          /* device memory: one count */
	struct reference whole;    /* reductions: what must come out */
};

/* Whether results are compared on the host, one by one. */
static bool trial_is_small(const struct trial *t)
{
	return t->n <= HOST_NVALUES_MAX;
}

static enum status trial_allocate(struct trial *t, struct fault *fault)
{
	bool small_out = trial_is_small(t) || t->check->ladder == BENCH_REDUCE;
	cudaError_t error = cudaMalloc(&t->in, t->nbytes + GUARD_NBYTES);

	if (error == cudaSuccess)
		error = cudaMalloc(&t->out, t->out_nbytes + GUARD_NBYTES);
	if (error == cudaSuccess)
		error = cudaMalloc(&t->nwrong, sizeof *t->nwrong);
	if (error != cudaSuccess)
		return gpu_fault_of(fault, "validation", error);
	t->host_in = (char *)malloc(trial_is_small(t) ? t->nbytes + GUARD_NBYTES : GUARD_NBYTES);
	t->host_out = (char *)malloc(small_out ? t->out_nbytes + GUARD_NBYTES : GUARD_NBYTES);
	if (t->host_in == NULL || t->host_out == NULL)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

static void trial_close(struct trial *t)
{
	(void)cudaFree(t->in);
	(void)cudaFree(t->out);
	(void)cudaFree(t->nwrong);
	free(t->host_in);
	free(t->host_out);
}

/* Writes the input, and behind it what nobody may take for a value. */
static cudaError_t trial_fill(const struct trial *t)
{
	cudaError_t error = cudaMemset(t->in + t->nbytes, POISON_BYTE, GUARD_NBYTES);

	if (error == cudaSuccess)
		error = value_fill(t->check->type, t->sample, t->in, t->n, t->seed);
	return error;
}

/* Finds out what must come out: of small arrays on the host, where it is as plain as can
 * be; scans' results are found while they are compared. */
static cudaError_t trial_refer(struct trial *t)
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

static enum status trial_open(struct trial *t, const struct ladder_check *check, uint64_t n,
			      enum value_sample sample, struct fault *fault)
{
	size_t value_nbytes = bench_type_nbytes(check->type);
	enum status status;
	cudaError_t error;

	memset(t, 0, sizeof *t);
	t->check = check;
	t->n = n;
	t->sample = sample;
	t->seed = n * 5 + sample + 1;
	t->nbytes = n * value_nbytes;
	t->out_nbytes = check->ladder == BENCH_REDUCE ? value_nbytes : t->nbytes;
	status = trial_allocate(t, fault);
	if (status != STATUS_OK)
		return status;
	error = trial_fill(t);
	if (error == cudaSuccess)
		error = trial_refer(t);
	return gpu_fault_of(fault, "validation", error);
}

/* ---- one rung on it ---- */

static bool is_all(const char *bytes, unsigned char byte, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if ((unsigned char)bytes[i] != byte)
			return false;
	return true;
}

/* How many additions may have rounded. */
static uint64_t trial_depth(const struct trial *t, const struct ladder_rung *rung,
			    const struct ladder_run *run)
{
	return t->sample == VALUE_EXACT ? 0 : rung->depth(run);
}

static uint64_t section_nvalues(const struct ladder_rung *rung, enum bench_type type)
{
	return rung->section_nbytes / bench_type_nbytes(type);
}

/* Whether a scan's output follows from its input, both on the host. */
static bool scan_is_right(const struct trial *t, const struct ladder_rung *rung, uint64_t depth)
{
	const struct ladder_check *c = t->check;
	uint64_t section = section_nvalues(rung, c->type);
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

/* Takes the device's count. */
static cudaError_t trial_count(const struct trial *t, bool *is_right)
{
	unsigned nwrong;
	cudaError_t error = cudaMemcpy(&nwrong, t->nwrong, sizeof nwrong, cudaMemcpyDeviceToHost);

	*is_right = error == cudaSuccess && nwrong == 0;
	return error;
}

static cudaError_t judge_large_scan(const struct trial *t, const struct ladder_rung *rung,
				    bool *is_right)
{
	struct value_scan scan = {t->in, t->out, t->n, section_nvalues(rung, t->check->type),
				  rung->exclusive};
	cudaError_t error = cudaMemset(t->nwrong, 0, sizeof *t->nwrong);

	if (error == cudaSuccess && rung->spoils_input) /* the steps are taken from it */
		error = trial_fill(t);
	if (error == cudaSuccess)
		error = value_count_missteps(t->check->type, scan, t->nwrong);
	return error == cudaSuccess ? trial_count(t, is_right) : error;
}

/* Looks at the output and the bytes behind it. *wrong: what is wrong, in words. */
static cudaError_t judge_output(const struct trial *t, const struct ladder_rung *rung,
				const struct ladder_run *run, const char **wrong)
{
	bool is_large_scan = t->check->ladder == BENCH_SCAN && !trial_is_small(t), is_right;
	size_t skipped = is_large_scan ? t->out_nbytes : 0;
	const char *guard = t->host_out + (t->out_nbytes - skipped);
	cudaError_t error = cudaMemcpy(t->host_out, t->out + skipped,
				       t->out_nbytes - skipped + GUARD_NBYTES,
				       cudaMemcpyDeviceToHost);

	if (error == cudaSuccess && is_large_scan)
		error = judge_large_scan(t, rung, &is_right);
	else if (t->check->ladder == BENCH_SCAN)
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

/* Looks at the input and the bytes behind it, and sets right what was changed. */
static cudaError_t judge_input(const struct trial *t, const struct ladder_rung *rung,
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

static cudaError_t trial_launch(const struct trial *t, const struct ladder_rung *rung,
				struct ladder_run *run, const char **wrong)
{
	cudaError_t error = cudaMemset(t->out, POISON_BYTE, t->out_nbytes);

	if (error == cudaSuccess)
		error = cudaMemset(t->out + t->out_nbytes, GUARD_BYTE, GUARD_NBYTES);
	if (error == cudaSuccess)
		error = rung->launch(run, t->in, t->out);
	if (error == cudaSuccess)
		error = cudaDeviceSynchronize(); /* what a kernel did wrong surfaces here */
	if (error == cudaSuccess)
		error = judge_output(t, rung, run, wrong);
	if (error == cudaSuccess)
		error = judge_input(t, rung, wrong);
	return error;
}

static void verdict_add(struct ladder_verdict *v, uint64_t n, const char *wrong)
{
	v->nchecks++;
	if (wrong != NULL && v->nwrong++ == 0) {
		v->wrong_n = n;
		v->wrong_what = wrong;
	}
}

/* Opens the rung, launches it on the trial's array, and closes it. */
static cudaError_t trial_run(const struct trial *t, const struct ladder_rung *rung,
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

/* Whether rung i of the check is run on n values. */
static bool reaches(const struct ladder_check *c, size_t i, uint64_t n)
{
	const struct ladder_rung *rung = c->rungs[i];

	return !c->verdicts[i].is_refused && (rung->n_max == 0 || n <= rung->n_max);
}

static enum status check_sample(const struct ladder_check *c, uint64_t n,
				enum value_sample sample, struct fault *fault)
{
	struct trial t;
	enum status status = trial_open(&t, c, n, sample, fault);

	for (size_t i = 0; i < c->nrungs && status == STATUS_OK; i++)
		if (reaches(c, i, n))
			status = gpu_fault_of(fault, c->rungs[i]->name,
					      trial_run(&t, c->rungs[i], &c->verdicts[i]));
	trial_close(&t);
	return status;
}

/* Whether any rung goes as far as n. */
static bool any_reaches(const struct ladder_check *c, uint64_t n)
{
	for (size_t i = 0; i < c->nrungs; i++)
		if (reaches(c, i, n))
			return true;
	return false;
}

enum status ladder_check_at(const struct ladder_check *c, uint64_t n, struct fault *fault)
{
	bool is_float_sum = c->type == BENCH_FLOAT32 && c->fold == BENCH_SUM;
	/* Steps of a large scan are compared without a bound. */
	bool has_any = !is_float_sum || c->ladder == BENCH_REDUCE || n <= HOST_NVALUES_MAX;
	enum status status = STATUS_OK;

	if (!any_reaches(c, n))
		return STATUS_OK;
	if (has_any)
		status = check_sample(c, n, VALUE_ANY, fault);
	if (status == STATUS_OK && is_float_sum)
		status = check_sample(c, n, VALUE_EXACT, fault);
	return status;
}

/* ---- awkward sizes ---- */

struct sizes {
	uint64_t n[NSIZES_MAX];
	size_t count;
};

static void sizes_add(struct sizes *s, uint64_t n)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->n[i] == n)
			return;
	if (s->count < NSIZES_MAX)
		s->n[s->count++] = n;
}

/* n and its neighbours. */
static void sizes_add_around(struct sizes *s, uint64_t n)
{
	if (n == 0)
		return;
	sizes_add(s, n - 1);
	sizes_add(s, n);
	sizes_add(s, n + 1);
}

/* The tile of a rung that is an engine of scan.cuh; 0: it is none. */
static uint64_t tile_nvalues(const struct ladder_rung *rung, enum bench_type type,
			     enum bench_fold fold)
{
	struct ladder_run run = {};
	uint64_t nvalues;

	run.type = type;
	run.fold = fold;
	run.n = 1;
	nvalues = rung->open(&run) == cudaSuccess ? run.shape.tile_nvalues : 0;
	ladder_close(&run);
	(void)cudaGetLastError(); /* who cannot be opened is told so by trial_run */
	return nvalues;
}

static void sizes_add_few(struct sizes *s, const struct ladder_check *c)
{
	static const uint64_t few[] = {0, 1, 2, 31, 32, 33, 257, 1023, 2048, 2049, 10007};

	for (uint64_t n : few)
		sizes_add(s, n);
	for (size_t i = 0; i < c->nrungs; i++) {
		sizes_add(s, section_nvalues(c->rungs[i], c->type) + 1);
		sizes_add(s, tile_nvalues(c->rungs[i], c->type, c->fold) + 1);
	}
}

static void sizes_add_all(struct sizes *s, const struct ladder_check *c)
{
	sizes_add(s, 7);
	sizes_add(s, 1000007);
	for (uint64_t n = 2; n <= 1 << 17; n *= 2)
		sizes_add_around(s, n);
	for (size_t i = 0; i < c->nrungs; i++) {
		uint64_t section = section_nvalues(c->rungs[i], c->type);
		uint64_t tile = tile_nvalues(c->rungs[i], c->type, c->fold);
		sizes_add_around(s, section);
		sizes_add_around(s, section * 3);
		sizes_add_around(s, tile);
		sizes_add_around(s, tile * 33); /* one more than a warp looks back at */
	}
	sizes_add(s, MANY_TILES_NBYTES / bench_type_nbytes(c->type) - 4321);
}

enum status ladder_check_sizes(const struct ladder_check *c, enum ladder_sizes which,
			       struct fault *fault)
{
	struct sizes s = {};
	enum status status = STATUS_OK;

	sizes_add_few(&s, c);
	if (which == LADDER_SIZES_ALL)
		sizes_add_all(&s, c);
	for (size_t i = 0; i < s.count && status == STATUS_OK; i++)
		status = ladder_check_at(c, s.n[i], fault);
	return status;
}
