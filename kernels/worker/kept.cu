/* SPDX-License-Identifier: MIT
 *
 * kept.cu - the numbers that the GPU worker leaves on the device: what order statistics and counts of different
 * values are made of.
 *
 * A fold writes a column's numbers behind those of the chunks before, in a slab of the worker's. They outlive
 * it: a run (src/fold/device_run.h) holds its slab, and the last one frees it. A chunk for which there is no
 * slab, or whose numbers do not fit in 64 bits at one scale, is folded on the CPU.
 */
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "fold/moment.h"
#include "fold/device_run.h"
}

#include "kernels/fold/keep.cuh"
#include "kernels/worker/worker.cuh"

#define SLAB_NBYTES ((size_t)256 << 20)
#define SPARE_SHARE 8 /* so much of the device's memory is left to others */
#define SORT_NSHARES 6 /* ... or so many times as much, where two copies are sorted at the end */
#define KEEP_ALIGN 32 /* numbers: 256 bytes */

static_assert(KEEP_NBINS == RANGE_NBINS, "a device's counts are added to the host's");

struct kept_slab {
	int device, nholders;
	int64_t *numbers;
	size_t nnumbers, nused;
};

struct kept_run {
	struct device_run run;
	struct kept_slab *slab;
	const int64_t *numbers;
};

/* ---- slabs ---- */

static void slab_drop(struct kept_slab *s)
{
	if (!s || __atomic_sub_fetch(&s->nholders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	(void)cudaSetDevice(s->device);
	(void)cudaFree(s->numbers);
	(void)cudaGetLastError();
	free(s);
}

/* Makes a slab that has room for nnumbers; NULL where the device has no memory to spare. */
static struct kept_slab *slab_new(int device, size_t nnumbers, bool sorts)
{
	struct kept_slab *s = (struct kept_slab *)calloc(1, sizeof *s);
	size_t nfree, nall;

	if (!s)
		return NULL;
	s->device = device;
	s->nholders = 1;
	s->nnumbers = nnumbers > SLAB_NBYTES / sizeof(int64_t) ? nnumbers : SLAB_NBYTES / sizeof(int64_t);
	if (gpu_checked(cudaMemGetInfo(&nfree, &nall)) == cudaSuccess &&
	    s->nnumbers * sizeof(int64_t) + nall / SPARE_SHARE * (sorts ? SORT_NSHARES : 1) <= nfree &&
	    gpu_checked(cudaMalloc((void **)&s->numbers, s->nnumbers * sizeof(int64_t))) == cudaSuccess)
		return s;
	(void)cudaGetLastError(); /* handled: the CPU folds */
	free(s);
	return NULL;
}

bool kept_reserve(struct worker *w, size_t nnumbers)
{
	struct keeping *k = &w->keeping;

	if (k->slab && k->slab->nnumbers - k->slab->nused >= nnumbers)
		return true;
	slab_drop(k->slab);
	k->slab = slab_new(w->device, nnumbers, plan_needs(w->plan, MOMENT_KEYS));
	return k->slab != NULL;
}

void kept_close(struct worker *w)
{
	slab_drop(w->keeping.slab);
}

/* ---- passes: in any thread, when the worker may be closed ---- */

/* The runs of one device, and memory there for what a pass needs and finds. */
struct kept_pass {
	struct keep_run *runs; /* nruns; owned */
	uint32_t nruns;
	uint64_t ntiles;
	struct arena memory; /* owned, has these: */
	struct keep_run *device_runs;
	char *found; /* counts or a list */
	unsigned long long *nlisted;
};

static int64_t unit_of(int from, int scale)
{
	int64_t unit = 1;

	for (; from < scale; from++)
		if (__builtin_mul_overflow(unit, 10, &unit))
			return 0; /* the only number that still fits is 0 */
	return unit;
}

static int run_device(const struct device_run *run)
{
	return ((const struct kept_run *)run)->slab->device;
}

/* Lists the device's runs of the list. */
static enum status pass_list_runs(struct kept_pass *p, const struct device_run *runs, int device, int scale)
{
	uint32_t n = 0;

	for (const struct device_run *run = runs; run; run = run->next)
		n += run_device(run) == device;
	p->runs = (struct keep_run *)calloc(n + 1, sizeof *p->runs);
	NEED(p->runs);
	for (const struct device_run *run = runs; run; run = run->next) {
		if (run_device(run) != device)
			continue;
		p->runs[p->nruns++] = {((const struct kept_run *)run)->numbers, unit_of(run->scale, scale),
				       run->nnumbers, p->ntiles};
		p->ntiles += (run->nnumbers + KEEP_TILE - 1) / KEEP_TILE;
	}
	return STATUS_OK;
}

/* The bytes that a range's result takes on the device. */
static size_t found_nbytes(const struct device_range *range)
{
	return range->counts ? RANGE_NBINS * sizeof(unsigned long long) : range->nlisted_most * sizeof(int64_t);
}

static void pass_cut(struct kept_pass *p, struct arena *a, size_t found_nbytes)
{
	p->device_runs = arena_cut<struct keep_run>(a, p->nruns);
	p->found = arena_cut<char>(a, found_nbytes);
	p->nlisted = arena_cut<unsigned long long>(a, 1);
}

static enum status pass_open(struct kept_pass *p, const struct device_range *ranges, size_t nranges,
			     struct fault *fault)
{
	struct arena measure = {NULL, 0};
	size_t most = 0;

	for (size_t i = 0; i < nranges; i++)
		most = found_nbytes(&ranges[i]) > most ? found_nbytes(&ranges[i]) : most;
	pass_cut(p, &measure, most);
	GPU_TRY("allocate pass", cudaMalloc((void **)&p->memory.base, measure.nbytes));
	pass_cut(p, &p->memory, most);
	GPU_TRY("copy runs", cudaMemcpy(p->device_runs, p->runs, p->nruns * sizeof *p->runs,
				    cudaMemcpyHostToDevice));
	return STATUS_OK;
}

static enum status pass_count(const struct kept_pass *p, const struct device_range *range, struct fault *fault)
{
	unsigned long long counts[RANGE_NBINS];
	struct keep_interval interval = {range->low, (uint64_t)range->high - (uint64_t)range->low};

	GPU_TRY("clear counts", cudaMemset(p->found, 0, sizeof counts));
	GPU_TRY("launch count", keep_count_launch(p->device_runs, p->nruns, p->ntiles, interval, range->shift,
					      (unsigned long long *)p->found, NULL));
	GPU_TRY("copy counts", cudaMemcpy(counts, p->found, sizeof counts, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < RANGE_NBINS; i++)
		range->counts[i] += counts[i];
	return STATUS_OK;
}

static enum status pass_list(const struct kept_pass *p, struct device_range *range, struct fault *fault)
{
	uint64_t room = range->nlisted < range->nlisted_most ? range->nlisted_most - range->nlisted : 0;
	struct keep_interval interval = {range->low, (uint64_t)range->high - (uint64_t)range->low};
	unsigned long long n;

	GPU_TRY("clear count", cudaMemset(p->nlisted, 0, sizeof n));
	GPU_TRY("launch list", keep_list_launch(p->device_runs, p->nruns, p->ntiles, interval, (int64_t *)p->found,
					    room, p->nlisted, NULL));
	GPU_TRY("copy count", cudaMemcpy(&n, p->nlisted, sizeof n, cudaMemcpyDeviceToHost));
	if (room > 0)
		GPU_TRY("copy list", cudaMemcpy(range->listed + range->nlisted, p->found,
					    (n < room ? n : room) * sizeof(int64_t), cudaMemcpyDeviceToHost));
	range->nlisted += n;
	return STATUS_OK;
}

static enum status pass_device(const struct device_run *runs, int device, int scale,
			       struct device_range *ranges, size_t nranges)
{
	struct kept_pass p = {};
	struct fault ignored; /* whoever reads the input again is told that the device has failed */
	enum status status = pass_list_runs(&p, runs, device, scale);

	if (status == STATUS_OK && gpu_checked(cudaSetDevice(device)) != cudaSuccess)
		status = STATUS_GPU;
	THEN(status, pass_open(&p, ranges, nranges, &ignored));
	for (size_t i = 0; i < nranges && status == STATUS_OK; i++)
		status = ranges[i].counts ? pass_count(&p, &ranges[i], &ignored)
					  : pass_list(&p, &ranges[i], &ignored);
	(void)cudaFree(p.memory.base);
	(void)cudaGetLastError();
	free(p.runs);
	return status;
}

/* Each device once: where the first of its runs is. */
static enum status kept_pass_all(const struct device_run *runs, int scale, struct device_range *ranges,
				 size_t nranges)
{
	enum status status = STATUS_OK;

	for (const struct device_run *run = runs; run && status == STATUS_OK; run = run->next) {
		const struct device_run *first = runs;
		while (run_device(first) != run_device(run))
			first = first->next;
		if (first == run)
			status = pass_device(runs, run_device(run), scale, ranges, nranges);
	}
	return status;
}

/* ---- different ones ---- */

/* Device memory for n numbers, and to sort them. */
struct kept_sort {
	uint64_t n;
	struct arena memory; /* owned, has these: */
	int64_t *numbers, *spare;
	char *scratch;
	unsigned long long *count;
};

static void sort_cut(struct kept_sort *s, struct arena *a)
{
	s->numbers = arena_cut<int64_t>(a, s->n);
	s->spare = arena_cut<int64_t>(a, s->n);
	s->scratch = arena_cut<char>(a, keep_different_nbytes(s->n));
	s->count = arena_cut<unsigned long long>(a, 1);
}

/* Copies all numbers together, from other devices as well, sorts them, and counts those that differ. */
static enum status sort_and_count(struct kept_sort *s, const struct device_run *runs, const int64_t *more, size_t nmore,
				  uint64_t *count, struct fault *fault)
{
	struct arena measure = {NULL, 0};
	unsigned long long n;
	uint64_t at = 0;

	sort_cut(s, &measure);
	GPU_TRY("allocate numbers", cudaMalloc((void **)&s->memory.base, measure.nbytes));
	sort_cut(s, &s->memory);
	for (const struct device_run *run = runs; run; at += run->nnumbers, run = run->next)
		GPU_TRY("gather numbers", cudaMemcpyAsync(s->numbers + at, ((const struct kept_run *)run)->numbers,
						      run->nnumbers * sizeof *s->numbers, cudaMemcpyDefault, NULL));
	GPU_TRY("copy numbers", cudaMemcpyAsync(s->numbers + at, more, nmore * sizeof *more, cudaMemcpyDefault, NULL));
	GPU_TRY("clear count", cudaMemsetAsync(s->count, 0, sizeof *s->count, NULL));
	GPU_TRY("launch sort", keep_different_launch(s->numbers, s->spare, s->n, s->scratch, s->count, NULL));
	GPU_TRY("copy count", cudaMemcpy(&n, s->count, sizeof n, cudaMemcpyDeviceToHost));
	*count = n;
	return STATUS_OK;
}

/* On the first run's device. */
static enum status kept_count_different(const struct device_run *runs, const int64_t *more, size_t nmore,
					uint64_t *count)
{
	struct kept_sort s = {};
	struct fault ignored; /* the host counts instead */
	enum status status = STATUS_GPU;

	s.n = nmore;
	for (const struct device_run *run = runs; run; run = run->next)
		s.n += run->nnumbers;
	if (gpu_checked(cudaSetDevice(run_device(runs))) == cudaSuccess)
		status = sort_and_count(&s, runs, more, nmore, count, &ignored);
	(void)cudaFree(s.memory.base);
	(void)cudaGetLastError();
	return status;
}

static enum status kept_copy(const struct device_run *run, uint64_t first, uint64_t n, int64_t *to)
{
	const struct kept_run *r = (const struct kept_run *)run;
	cudaError_t error = cudaSetDevice(r->slab->device);

	if (error == cudaSuccess)
		error = cudaMemcpy(to, r->numbers + first, n * sizeof *to, cudaMemcpyDeviceToHost);
	return gpu_checked(error) == cudaSuccess ? STATUS_OK : STATUS_GPU;
}

static void kept_release(struct device_run *run)
{
	slab_drop(((struct kept_run *)run)->slab);
	free(run);
}

static const struct device_run_ops kept_ops = {kept_pass_all, kept_count_different, kept_copy, kept_release};

/* ---- a fold ---- */

/* The moments that are kept so. */
static const unsigned form_moment[KEEP_NFORMS] = {MOMENT_VALUES, MOMENT_KEYS};

static bool column_keeps(const struct plan *plan, size_t c, int form)
{
	return (plan->columns[c].needs & form_moment[form]) != 0;
}

/* The number of columns, times that of the forms in which they are kept. */
static size_t count_kept(const struct plan *plan)
{
	size_t n = 0;

	for (size_t c = 0; c < plan->ncolumns; c++)
		for (int form = 0; form < KEEP_NFORMS; form++)
			n += column_keeps(plan, c, form);
	return n;
}

/* Numbers between those of two columns of a chunk. */
static size_t kept_stride(const struct worker *w)
{
	return ((size_t)w->nlines + KEEP_ALIGN - 1) / KEEP_ALIGN * KEEP_ALIGN;
}

size_t kept_nnumbers(const struct worker *w)
{
	return count_kept(w->plan) * kept_stride(w);
}

enum status kept_launch(struct worker *w, struct fault *fault)
{
	struct keeping *k = &w->keeping;
	size_t at = k->slab->nused, ncolumns = w->plan->ncolumns;

	GPU_TRY("clear results", cudaMemsetAsync(k->device_results, 0,
					     KEEP_NFORMS * ncolumns * sizeof *k->device_results, w->stream));
	for (size_t i = 0; i < KEEP_NFORMS * ncolumns; i++) {
		size_t c = i % ncolumns;
		if (!column_keeps(w->plan, c, (int)(i / ncolumns)))
			continue;
		GPU_TRY("launch keep", keep_launch((enum keep_form)(i / ncolumns), w->table, (uint32_t)c, w->records,
					       &w->reduce.tally[c], k->slab->numbers + at,
					       &k->device_results[i], w->stream));
		at += kept_stride(w);
	}
	worker_mark(w, STAGE_KEEP);
	return STATUS_OK;
}

bool kept_all(const struct worker *w)
{
	for (size_t c = 0; c < w->plan->ncolumns; c++)
		if (column_keeps(w->plan, c, KEEP_VALUES) && w->keeping.results[c].nbeyond > 0)
			return false;
	return true;
}

/* Makes a run of numbers of the worker's slab. NULL: no memory. */
static struct device_run *run_new(struct worker *w, const int64_t *numbers, uint32_t n, int scale)
{
	struct kept_run *r = (struct kept_run *)calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->run.ops = &kept_ops;
	r->run.nnumbers = n;
	r->run.scale = scale;
	r->slab = w->keeping.slab;
	r->numbers = numbers;
	__atomic_add_fetch(&r->slab->nholders, 1, __ATOMIC_RELAXED);
	return &r->run;
}

/* Adds n > 0 numbers from `numbers` on to column c. */
static enum status add_run(struct worker *w, struct partial *out, size_t c, int form, const int64_t *numbers,
			   uint32_t n)
{
	int scale = form == KEEP_VALUES ? 31 - __builtin_clz(w->tally[c].scales) : 0;
	void *cell = moments_need(&out->columns[c].moments, form == KEEP_VALUES ? CELL_VALUES : CELL_KEYS);
	struct device_run *run = cell ? run_new(w, numbers, n, scale) : NULL;

	NEED(run);
	if (form == KEEP_VALUES)
		values_add_run((struct values *)cell, run);
	else
		keys_add_run((struct keys *)cell, run);
	return STATUS_OK;
}

enum status kept_add(struct worker *w, struct partial *out)
{
	struct keeping *k = &w->keeping;
	size_t at = k->slab->nused, ncolumns = w->plan->ncolumns;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < KEEP_NFORMS * ncolumns && status == STATUS_OK; i++) {
		uint32_t n = k->results[i].nkept;
		if (!column_keeps(w->plan, i % ncolumns, (int)(i / ncolumns)))
			continue;
		if (n > 0)
			status = add_run(w, out, i % ncolumns, (int)(i / ncolumns), k->slab->numbers + at, n);
		k->slab->nused = at + (n + KEEP_ALIGN - 1) / KEEP_ALIGN * KEEP_ALIGN;
		at += kept_stride(w);
	}
	return status;
}
