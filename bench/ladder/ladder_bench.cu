/* SPDX-License-Identifier: MIT
 *
 * ladder_bench.cu - see ladder_bench.h. ladder_select selects rungs, check.cuh validates them,
 * ladder_time times them.
 */
#include "bench/ladder/ladder_bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/ladder/check.cuh"
#include "kernels/worker/gpu.h"
#include "bench/ladder/gpu_fault.cuh"
#include "bench/ladder/ladder_select.cuh"
#include "bench/ladder/ladder_time.cuh"
#include "bench/ladder/sweep.cuh"

#define DEFAULT_NBYTES ((uint64_t)2 << 30)
#define HOST_POOL_NBYTES ((size_t)512 << 20) /* more than a CPU's caches hold */
#define HOST_ALIGN ((size_t)2 << 20)         /* of huge pages */

/* The rungs that do one operation on one type, and their validation. */
struct fold_rungs {
	size_t nrungs;
	const struct ladder_rung *rungs[LADDER_NRUNGS_MAX];
	struct ladder_verdict verdicts[LADDER_NRUNGS_MAX];
};

struct session {
	const struct ladder_request *request;
	struct ladder_selection selection;
	struct fold_rungs affine;              /* whether they keep the order */
	struct fold_rungs folds[BENCH_NFOLDS]; /* of the current type */
	struct bench_run *run;
	uint64_t n; /* of the current type */
};

/* ---- validation ---- */

/* Sets *some to those of the selection that do the operation on the type. */
static void gather(const struct session *s, enum bench_type type, enum bench_fold fold,
		   struct fold_rungs *some)
{
	memset(some, 0, sizeof *some);
	for (size_t i = 0; i < s->selection.nrungs; i++) {
		const struct ladder_rung *rung = s->selection.rungs[i];
		if ((rung->types >> type & 1) != 0 && (rung->folds >> fold & 1) != 0)
			some->rungs[some->nrungs++] = rung;
	}
}

/* Validates them at awkward sizes, and at n > 0. */
static enum status validate(const struct session *s, enum bench_type type, enum bench_fold fold,
			    uint64_t n, struct fold_rungs *some, struct fault *fault)
{
	const char *what;
	cudaError_t error;

	gather(s, type, fold, some);
	struct ladder_check check = {s->run->ladder, type,        fold,
				     some->nrungs,   some->rungs, some->verdicts};
	error = ladder_check_sizes(&check, LADDER_SIZES_ALL, &what);
	if (error == cudaSuccess && n > 0)
		error = ladder_check_at(&check, n, &what);
	return gpu_fault_of(fault, what, error);
}

/* ---- figures ---- */

static struct bench_figure *figure_add(struct session *s)
{
	return &s->run->figures[s->run->nfigures++];
}

/* Adds the checks of whether the rung keeps the order. */
static void figure_add_affine(const struct session *s, const struct ladder_rung *rung,
			      struct bench_figure *figure)
{
	for (size_t i = 0; i < s->affine.nrungs; i++) {
		if (s->affine.rungs[i] != rung)
			continue;
		figure->nchecks += s->affine.verdicts[i].nchecks;
		figure->is_right = figure->is_right && s->affine.verdicts[i].nwrong == 0;
	}
}

static enum status measure_rung(struct session *s, const struct ladder_pool *pool,
				enum bench_fold fold, size_t i, struct fault *fault)
{
	const struct ladder_rung *rung = s->folds[fold].rungs[i];
	const struct ladder_verdict *verdict = &s->folds[fold].verdicts[i];
	uint64_t n = rung->n_max > 0 && rung->n_max < s->n ? rung->n_max : s->n;
	uint64_t value_nbytes = bench_type_nbytes(pool->type);
	struct bench_figure figure = {};

	figure.rung = rung->name;
	figure.idea = rung->idea;
	figure.type = pool->type;
	figure.fold = fold;
	figure.n = n;
	figure.nbytes = s->run->ladder == BENCH_REDUCE ? n * value_nbytes : 2 * n * value_nbytes;
	figure.is_right = verdict->nwrong == 0;
	figure.nchecks = verdict->nchecks;
	figure_add_affine(s, rung, &figure);
	if (!verdict->is_refused) {
		cudaError_t error =
			ladder_time(rung, fold, n, pool, s->request->repeat, &figure.time);
		if (error == cudaSuccess)
			*figure_add(s) = figure;
		return gpu_fault_of(fault, rung->name, error);
	}
	if (s->request->nrungs > 0)
		return gpu_fault_of(fault, rung->name, cudaErrorNotSupported);
	return STATUS_OK;
}

/* Allocates nbytes of host memory, in huge pages if the system has them. Freed by free. */
static char *host_array(size_t nbytes)
{
	void *data = NULL;

	if (posix_memalign(&data, HOST_ALIGN, nbytes) != 0)
		return NULL;
	(void)madvise(data, nbytes, MADV_HUGEPAGE);
	return (char *)data;
}

/* Measures the CPU's rungs on a copy of the pool. */
static enum status measure_cpu(struct session *s, const struct ladder_pool *pool,
			       struct fault *fault)
{
	size_t nbytes = s->n * bench_type_nbytes(pool->type);
	struct ladder_slots slots = ladder_slots_of(pool, nbytes);
	size_t nslots = HOST_POOL_NBYTES / slots.nbytes + 1;
	struct reference whole;
	cudaError_t error;

	nslots = nslots < slots.nslots ? nslots : slots.nslots;
	char *in = host_array(nslots * slots.nbytes), *out = host_array(slots.nbytes);
	if (in == NULL || out == NULL) {
		free(in);
		free(out);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	error = cudaMemcpy(in, pool->in, nslots * slots.nbytes, cudaMemcpyDeviceToHost);
	if (error == cudaSuccess)
		error = value_reference(pool->type, BENCH_SUM, pool->in, s->n, &whole);
	struct cpu_arrays arrays = {pool->type, in, out, s->n, slots.nbytes, nslots, &whole};
	for (size_t i = 0; i < s->selection.ncpu_rungs && error == cudaSuccess; i++)
		cpu_measure(s->selection.cpu_rungs[i], &arrays, s->request->repeat, figure_add(s));
	free(in);
	free(out);
	return gpu_fault_of(fault, "cpu", error);
}

/* Measures the ceiling on the pool. The run keeps the highest of all types. */
static enum status measure_ceiling(struct session *s, const struct ladder_pool *pool,
				   struct fault *fault)
{
	size_t nbytes = s->n * bench_type_nbytes(pool->type);
	struct ladder_slots slots = ladder_slots_of(pool, nbytes);
	bool is_scan = s->run->ladder == BENCH_SCAN;
	struct sweep_arrays arrays = {pool->in,      pool->out,    nbytes,
				      slots.nbytes,  slots.nslots, is_scan ? slots.nbytes : 0};
	struct bench_time time;
	double gbps[2] = {0, 0};
	cudaError_t error = sweep_measure(is_scan ? SWEEP_COPY : SWEEP_READ, &arrays, &time,
					  &gbps[0]);

	if (error == cudaSuccess && is_scan)
		error = sweep_measure(SWEEP_MEMCPY, &arrays, &time, &gbps[1]);
	for (double seen : gbps)
		if (seen > s->run->ceiling_gbps)
			s->run->ceiling_gbps = seen;
	return gpu_fault_of(fault, is_scan ? "copy" : "read", error);
}

/* ---- one type ---- */

/* Sets *n to 2 GiB of values, or less if the free memory does not allow that. */
static cudaError_t default_n(enum bench_ladder ladder, enum bench_type type, uint64_t *n)
{
	const uint64_t ncopies = ladder == BENCH_REDUCE ? 3 : 5; /* pool, and scratch */
	size_t nfree = 0, ntotal = 0;
	cudaError_t error = cudaMemGetInfo(&nfree, &ntotal);
	uint64_t nbytes = DEFAULT_NBYTES;

	while (nbytes > 1 << 20 && nbytes * ncopies > nfree)
		nbytes /= 2;
	*n = nbytes / bench_type_nbytes(type);
	return error;
}

static enum status measure_on(struct session *s, const struct ladder_pool *pool,
			      struct fault *fault)
{
	enum status status = measure_ceiling(s, pool, fault);

	if (status == STATUS_OK && s->selection.ncpu_rungs > 0)
		status = measure_cpu(s, pool, fault);
	for (unsigned fold = 0; fold < BENCH_NFOLDS; fold++)
		for (size_t i = 0; i < s->folds[fold].nrungs && status == STATUS_OK; i++)
			status = measure_rung(s, pool, (enum bench_fold)fold, i, fault);
	return status;
}

static enum status measure_type(struct session *s, enum bench_type type, struct fault *fault)
{
	struct ladder_pool pool;
	enum status status = STATUS_OK;
	cudaError_t error = cudaSuccess;

	s->n = s->request->n;
	if (s->n == 0)
		error = default_n(s->run->ladder, type, &s->n);
	if (error != cudaSuccess)
		return gpu_fault_of(fault, "memory", error);
	for (unsigned fold = 0; fold < BENCH_NFOLDS && status == STATUS_OK; fold++)
		status = validate(s, type, (enum bench_fold)fold, s->n, &s->folds[fold], fault);
	if (status != STATUS_OK)
		return status;
	error = ladder_pool_open(&pool, s->run->ladder, type, s->n);
	status = gpu_fault_of(fault, bench_type_name(type), error);
	if (status == STATUS_OK)
		status = measure_on(s, &pool, fault);
	ladder_pool_close(&pool);
	return status;
}

/* ---- the run ---- */

static bool is_of_same(const struct bench_figure *a, const struct bench_figure *b)
{
	return a->type == b->type && a->fold == b->fold && a->n == b->n;
}

/* The first figure of the same type, operation and n as figure i that is on_cpu or not and has the
 * name (NULL: any name); BENCH_NONE: there is none. */
static size_t find_figure(const struct bench_run *run, size_t i, bool on_cpu, const char *name)
{
	for (size_t j = 0; j < run->nfigures; j++) {
		const struct bench_figure *f = &run->figures[j];
		if (is_of_same(f, &run->figures[i]) && f->on_cpu == on_cpu &&
		    (name == NULL || strcmp(f->rung, name) == 0))
			return j;
	}
	return BENCH_NONE;
}

static void link_figures(struct bench_run *run)
{
	for (size_t i = 0; i < run->nfigures; i++) {
		struct bench_figure *f = &run->figures[i];
		f->first = find_figure(run, i, false, NULL);
		if (f->first == BENCH_NONE)
			f->first = find_figure(run, i, true, NULL);
		f->cpu = find_figure(run, i, true, "cpu");
		f->cub = find_figure(run, i, false, "cub");
	}
}

/* The datasheet's memory bandwidth: both edges of the clock carry data. 0: unknown. */
static double peak_gbps(void)
{
	int clock_khz = 0, bus_nbits = 0;

	if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, 0) != cudaSuccess ||
	    cudaDeviceGetAttribute(&bus_nbits, cudaDevAttrGlobalMemoryBusWidth, 0) != cudaSuccess)
		(void)cudaGetLastError();
	return 2e-6 * clock_khz * (bus_nbits / 8);
}

static enum status session_open(struct session *s, struct fault *fault)
{
	const struct ladder_selection *chosen = &s->selection;
	size_t nfigures = (chosen->nrungs * BENCH_NFOLDS + chosen->ncpu_rungs) * BENCH_NTYPES_TIMED;

	if (gpu_count() == 0)
		return fault_set(fault, STATUS_NO_GPU, 0, NULL);
	s->run->figures = (struct bench_figure *)calloc(nfigures, sizeof *s->run->figures);
	if (s->run->figures == NULL)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	gpu_name(0, s->run->gpu, sizeof s->run->gpu);
	gpu_versions(s->run->versions, sizeof s->run->versions);
	s->run->peak_gbps = peak_gbps();
	return STATUS_OK;
}

enum status ladder_bench(const struct ladder_request *request, struct bench_run *run,
			 struct fault *fault)
{
	static struct session s; /* too large for the stack */
	enum status status;

	memset(run, 0, sizeof *run);
	memset(&s, 0, sizeof s);
	run->ladder = request->ladder;
	s.request = request;
	s.run = run;
	status = ladder_select(request, &s.selection, fault);
	if (status == STATUS_OK)
		status = session_open(&s, fault);
	if (status == STATUS_OK)
		status = validate(&s, BENCH_AFFINE, BENCH_SUM, 0, &s.affine, fault);
	for (unsigned type = 0; type < BENCH_NTYPES_TIMED && status == STATUS_OK; type++)
		if (ladder_types(request) >> type & 1)
			status = measure_type(&s, (enum bench_type)type, fault);
	link_figures(run);
	return status;
}

void bench_run_free(struct bench_run *run)
{
	free(run->figures);
	run->figures = NULL;
	run->nfigures = 0;
}
