/* SPDX-License-Identifier: MIT
 *
 * group_bench.cu - see group_bench.h.
 *
 * The host knows each record's group by its number, so results are compared without looking at a key. gpustat's table
 * takes parsed chunks (kernels/group/group_table.cuh): one of one number and one key is made of the same records.
 */
#include "bench/ladder/group_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ladder/event_timer.cuh"
#include "bench/ladder/gpu_fault.cuh"
#include "kernels/group/group_table.cuh"
#include "kernels/ladder/group_rung.cuh"
#include "kernels/worker/gpu.h"

#define DEFAULT_N ((uint64_t)16 << 20)
#define N_MAX ((uint64_t)64 << 20)
#define KEY_NBYTES_MAX 24u
#define TEXT_PAD_NBYTES 16
#define SHIPPED_CELL (sizeof(struct group) / sizeof(uint64_t)) /* a count and a sum; its excess follows */
#define SHIPPED_NWORDS (SHIPPED_CELL + 3)
#define SHIPPED_KEY_NWORDS 3
#define SHIPPED_NVAIN ((uint64_t)1 << 19) /* groups made in vain: as many as there are threads at once, all with one key */
#define SHIPPED_CAPACITY 1024 /* of the list of exceptions, which stays empty */

static const struct group_rung *const rungs[] = {&group_simple, &group_warp, &group_shared, &group_sorted};

/* Records in the host's memory, and the group of each. */
struct records {
	char *text;
	uint32_t *ends, *group_of, n, ngroups, nbytes;
	int64_t *values;
};

/* What a rung found of a group: one of its records, counted from 1. */
struct found {
	uint64_t n;
	struct group_slot *groups; /* owned */
};

struct session {
	const struct group_request *request;
	struct work_run *run;
	struct records records;
	struct group_run job; /* on the device */
};

/* Leaves the function if call fails. */
#define CHECK(call)                                \
	do {                                       \
		cudaError_t error_ = call;         \
		if (error_ != cudaSuccess)         \
			return error_;             \
	} while (0)

template <class T> static cudaError_t device_array(T **out, size_t n)
{
	return cudaMalloc((void **)out, (n > 0 ? n : 1) * sizeof **out);
}

template <class T> static cudaError_t device_copy(T **out, const T *from, size_t n)
{
	CHECK(device_array(out, n));
	return cudaMemcpy((void *)*out, from, n * sizeof *from, cudaMemcpyHostToDevice);
}

/* ---- records ---- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 32;
}

static void records_free(struct records *r)
{
	free(r->text);
	free(r->ends);
	free(r->group_of);
	free(r->values);
	*r = {};
}

/* Makes n records of ngroups groups. False: no memory. */
static bool records_make(struct records *r, uint32_t n, uint32_t ngroups)
{
	uint64_t state = ngroups;

	*r = {};
	r->n = n;
	r->ngroups = ngroups;
	r->text = (char *)malloc((size_t)n * KEY_NBYTES_MAX + TEXT_PAD_NBYTES);
	r->ends = (uint32_t *)malloc(n * sizeof *r->ends);
	r->group_of = (uint32_t *)malloc(n * sizeof *r->group_of);
	r->values = (int64_t *)malloc(n * sizeof *r->values);
	if (!r->text || !r->ends || !r->group_of || !r->values)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		r->group_of[i] = (uint32_t)(next_random(&state) % ngroups);
		r->values[i] = (int64_t)next_random(&state) - INT64_C(0x7fffffff);
		r->nbytes += (uint32_t)snprintf(r->text + r->nbytes, KEY_NBYTES_MAX, "/item/%u\n", r->group_of[i]);
		r->ends[i] = r->nbytes;
	}
	memset(r->text + r->nbytes, 0, TEXT_PAD_NBYTES);
	return true;
}

/* Whether each group was found once, with its count and sum. */
static bool found_is_right(const struct found *found, const struct records *r)
{
	struct group_slot *want = (struct group_slot *)calloc(r->ngroups, sizeof *want);
	bool right = want != NULL;

	for (uint32_t i = 0; right && i < r->n; i++) {
		want[r->group_of[i]].count++;
		want[r->group_of[i]].sum += (unsigned long long)r->values[i];
	}
	for (uint64_t k = 0; right && k < found->n; k++) {
		const struct group_slot *g = &found->groups[k];
		struct group_slot *w = &want[r->group_of[g->record - 1]];
		right = g->count > 0 && g->count == w->count && g->sum == w->sum;
		*w = {0, 0, 0};
	}
	for (uint32_t g = 0; right && g < r->ngroups; g++)
		right = want[g].count == 0;
	free(want);
	return right;
}

/* ---- rungs with slots ---- */

static void job_close(struct group_run *job)
{
	(void)cudaFree((void *)job->text);
	(void)cudaFree((void *)job->ends);
	(void)cudaFree((void *)job->values);
	(void)cudaFree(job->slots);
	(void)cudaFree(job->nlost);
	*job = {};
}

static cudaError_t job_open(struct group_run *job, const struct records *r)
{
	*job = {};
	job->n = r->n;
	job->hash_mask = UINT64_MAX;
	for (job->nslots = 1024; job->nslots < 2 * r->ngroups; job->nslots *= 2)
		;
	CHECK(device_copy((char **)&job->text, r->text, r->nbytes + TEXT_PAD_NBYTES));
	CHECK(device_copy((uint32_t **)&job->ends, r->ends, r->n));
	CHECK(device_copy((int64_t **)&job->values, r->values, r->n));
	CHECK(device_array(&job->slots, job->nslots));
	return device_array(&job->nlost, 1);
}

static cudaError_t job_clear(const struct group_run &job)
{
	CHECK(cudaMemsetAsync(job.nlost, 0, sizeof *job.nlost, 0));
	return cudaMemsetAsync(job.slots, 0, job.nslots * sizeof *job.slots, 0);
}

/* Copies the slots that are taken. */
static cudaError_t job_found(const struct group_run &job, struct found *found)
{
	uint32_t nlost;

	found->n = 0;
	found->groups = (struct group_slot *)malloc(job.nslots * sizeof *found->groups);
	if (!found->groups)
		return cudaErrorMemoryAllocation;
	CHECK(cudaMemcpy(&nlost, job.nlost, sizeof nlost, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(found->groups, job.slots, job.nslots * sizeof *job.slots, cudaMemcpyDeviceToHost));
	for (uint32_t k = 0; k < job.nslots && nlost == 0; k++)
		if (found->groups[k].record > 0)
			found->groups[found->n++] = found->groups[k];
	return cudaSuccess;
}

static cudaError_t measure_slots(const struct session *s, const struct group_rung *rung, struct work_figure *figure)
{
	struct group_run job = s->job;
	struct found found = {};
	cudaError_t error = cudaSuccess;

	job.scratch_nbytes = rung->scratch_nbytes ? rung->scratch_nbytes(job.n) : 0;
	if (job.scratch_nbytes > 0)
		error = cudaMalloc(&job.scratch, job.scratch_nbytes);
	if (error == cudaSuccess)
		error = event_timer_warm(s->request->repeat, [=] { return job_clear(job); },
					 [=] { return rung->launch(job, 0); }, &figure->time);
	if (error == cudaSuccess) /* the last of the runs that were timed */
		error = job_found(job, &found);
	figure->is_right = error == cudaSuccess && found_is_right(&found, &s->records);
	free(found.groups);
	(void)cudaFree(job.scratch);
	return error;
}

/* ---- the shipped table ---- */

struct shipped {
	struct group_table table;
	struct group_records chunk;
	struct group_control *begin; /* pinned: what the control is before a run */
	int64_t *spans;              /* of the keys, which a run replaces */
	uint32_t *n;
};

static void shipped_close(struct shipped *p)
{
	for (void *memory : {(void *)p->table.slots, (void *)p->table.words, (void *)p->table.control,
			     (void *)p->chunk.fields.significand, (void *)p->chunk.fields.code, (void *)p->chunk.tally,
			     (void *)p->chunk.exceptions.list, (void *)p->chunk.summary, (void *)p->spans, (void *)p->n})
		(void)cudaFree(memory);
	(void)cudaFreeHost(p->begin);
}

/* An empty table with room for the groups, and for those that threads make in vain at the same time. */
static cudaError_t shipped_open_table(struct shipped *p, uint32_t ngroups)
{
	struct group_table *t = &p->table;
	uint64_t per_part = 2 * (uint64_t)ngroups / GROUP_TABLE_NPARTS;

	for (t->part_nslots = 1024; t->part_nslots < 2 * per_part; t->part_nslots *= 2)
		;
	t->part_nwords = (per_part + SHIPPED_NVAIN) * (SHIPPED_NWORDS + SHIPPED_KEY_NWORDS);
	t->hash_mask = UINT64_MAX;
	t->layout.ncolumns = t->layout.nkeys = 1;
	t->layout.nwords = SHIPPED_NWORDS;
	t->layout.columns[0] = {0, SHIPPED_CELL, SHIPPED_CELL + 2, 0, true};
	t->layout.seed[0] = UINT64_C(0x0123456789abcdef);
	t->layout.seed[1] = UINT64_C(0xfedcba9876543210);
	CHECK(device_array(&t->slots, GROUP_TABLE_NPARTS * t->part_nslots));
	CHECK(device_array(&t->words, 1 + GROUP_TABLE_NPARTS * t->part_nwords));
	CHECK(device_array(&t->control, 1));
	CHECK(cudaMallocHost((void **)&p->begin, sizeof *p->begin));
	group_control_begin(p->begin);
	return cudaSuccess;
}

/* The records as a chunk of one number and one key. */
static cudaError_t shipped_open_chunk(struct shipped *p, const struct session *s)
{
	const struct records *r = &s->records;
	size_t stride = ((size_t)r->n + FIELD_ROWS_ALIGN) / FIELD_ROWS_ALIGN * FIELD_ROWS_ALIGN;
	const struct column_tally tally = {0, 0, 0, 1, 0, 0};
	int64_t *spans = (int64_t *)malloc(stride * sizeof *spans);
	struct field_table fields = {NULL, NULL, stride, 2};
	cudaError_t error = spans ? cudaSuccess : cudaErrorMemoryAllocation;

	for (uint32_t i = 0; spans && i < r->n; i++)
		spans[i] = (int64_t)((uint64_t)(r->ends[i] - 1) << 32 | (i > 0 ? r->ends[i - 1] : 0));
	if (error == cudaSuccess)
		error = device_copy(&p->spans, spans, r->n);
	free(spans);
	CHECK(error);
	CHECK(device_array(&fields.significand, 2 * stride));
	CHECK(device_array(&fields.code, 2 * stride));
	CHECK(cudaMemset(fields.code, 0, 2 * stride)); /* numbers without digits behind the point */
	CHECK(cudaMemcpy(fields.significand, r->values, r->n * sizeof *r->values, cudaMemcpyHostToDevice));
	p->chunk.fields = fields;
	CHECK(device_copy(&p->n, &r->n, 1));
	CHECK(device_copy((struct column_tally **)&p->chunk.tally, &tally, 1));
	CHECK(device_array(&p->chunk.exceptions.list, SHIPPED_CAPACITY));
	p->chunk.exceptions.capacity = SHIPPED_CAPACITY;
	CHECK(device_array(&p->chunk.summary, 1));
	p->chunk.text = {s->job.text, r->nbytes, ',', '"'};
	p->chunk.records = {(uint32_t *)s->job.ends, NULL, NULL, p->n, 0, r->n};
	p->chunk.first_key = 1;
	return cudaSuccess;
}

static cudaError_t shipped_clear(const struct shipped &p, uint32_t n)
{
	const struct field_table &fields = p.chunk.fields;

	CHECK(cudaMemsetAsync(p.table.slots, 0, GROUP_TABLE_NPARTS * p.table.part_nslots * sizeof *p.table.slots, 0));
	CHECK(cudaMemcpyAsync(p.table.control, p.begin, sizeof *p.begin, cudaMemcpyHostToDevice, 0));
	CHECK(cudaMemsetAsync(p.chunk.summary, 0, sizeof *p.chunk.summary, 0));
	CHECK(cudaMemsetAsync(fields.code + fields.stride, 0, fields.stride, 0));
	return cudaMemcpyAsync(fields.significand + fields.stride, p.spans, n * sizeof *p.spans, cudaMemcpyDeviceToDevice, 0);
}

static cudaError_t shipped_launch(const struct shipped &p)
{
	CHECK(group_find_launch(p.table, p.chunk, 0));
	return group_add_launch(p.table, p.chunk, 0);
}

/* The record whose key begins at the offset, counted from 1. */
static uint32_t record_at(const struct records *r, uint64_t offset)
{
	uint32_t low = 0, high = r->n; /* ends[low - 1] <= offset < ends[high] */

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->ends[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1;
}

/* Copies the groups that have records: src/fold/group_words.h. */
static cudaError_t shipped_found(const struct shipped &p, const struct records *r, struct found *found)
{
	const struct group_table &t = p.table;
	uint64_t nwords = 1 + GROUP_TABLE_NPARTS * t.part_nwords, *words = (uint64_t *)malloc(nwords * sizeof *words);
	struct group_control control;
	cudaError_t error = cudaMemcpy(&control, t.control, sizeof control, cudaMemcpyDeviceToHost);

	found->n = 0;
	found->groups = (struct group_slot *)malloc(r->ngroups * sizeof *found->groups);
	if (error == cudaSuccess)
		error = words && found->groups ? cudaMemcpy(words, t.words, nwords * sizeof *words, cudaMemcpyDeviceToHost)
					       : cudaErrorMemoryAllocation;
	for (uint32_t part = 0; error == cudaSuccess && part < GROUP_TABLE_NPARTS; part++) {
		const uint64_t *at = words + (group_part_words(t, part) - t.words);
		const uint64_t *end = at + group_part_nwords(t, control, part);
		for (; at < end && found->n < r->ngroups; at += group_words_count(&t.layout, (const struct group *)at)) {
			const struct group *g = (const struct group *)at;
			const struct group_cell *cell = (const struct group_cell *)(at + SHIPPED_CELL);
			if (g->nrecords > 0)
				found->groups[found->n++] = {record_at(r, g->first), (uint32_t)cell->count_scale,
							     (uint64_t)cell->sum};
		}
	}
	free(words);
	return error;
}

static cudaError_t measure_shipped(const struct session *s, struct work_figure *figure)
{
	uint32_t n = s->records.n;
	struct shipped p = {};
	struct found found = {};
	cudaError_t error = shipped_open_table(&p, s->records.ngroups);

	if (error == cudaSuccess)
		error = shipped_open_chunk(&p, s);
	if (error == cudaSuccess)
		error = event_timer_warm(s->request->repeat, [=] { return shipped_clear(p, n); },
					 [=] { return shipped_launch(p); }, &figure->time);
	if (error == cudaSuccess)
		error = shipped_found(p, &s->records, &found);
	figure->is_right = error == cudaSuccess && found_is_right(&found, &s->records);
	free(found.groups);
	shipped_close(&p);
	return error;
}

/* ---- the run ---- */

static bool is_asked(const struct group_request *request, const char *name)
{
	for (size_t i = 0; i < request->nrungs; i++)
		if (strcmp(request->rungs[i], name) == 0)
			return true;
	return request->nrungs == 0;
}

static enum status check_request(const struct group_request *request, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	if (request->n > N_MAX)
		return fault_set(fault, STATUS_USAGE, 0, "--n: group takes 64Mi records at most");
	for (size_t i = 0; i < request->nrungs; i++) {
		bool is_known = strcmp(request->rungs[i], "shipped") == 0;
		for (const struct group_rung *rung : rungs)
			is_known |= strcmp(request->rungs[i], rung->name) == 0;
		if (is_known)
			continue;
		snprintf(words, sizeof words, "no rung '%.64s' of group; there are simple, warp, shared, sorted, shipped",
			 request->rungs[i]);
		return fault_set(fault, STATUS_USAGE, 0, words);
	}
	return STATUS_OK;
}

/* rung: NULL: the shipped table. */
static enum status measure(struct session *s, const struct group_rung *rung, struct fault *fault)
{
	const struct records *r = &s->records;
	struct work_figure *f = &s->run->figures[s->run->nfigures];
	cudaError_t error;

	*f = {};
	f->rung = rung ? rung->name : "shipped";
	f->idea = rung ? rung->idea : "two kernels over parsed fields; groups are words, and keep their keys";
	f->nbytes = r->nbytes + r->n * sizeof *r->values;
	f->n = r->n;
	f->ngroups = r->ngroups;
	f->nchecks = 1;
	if (!is_asked(s->request, f->rung))
		return STATUS_OK;
	error = rung ? measure_slots(s, rung, f) : measure_shipped(s, f);
	s->run->nfigures += error == cudaSuccess;
	return gpu_fault_of(fault, f->rung, error);
}

static enum status measure_groups(struct session *s, uint32_t n, uint32_t ngroups, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (!records_make(&s->records, n, ngroups))
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK)
		status = gpu_fault_of(fault, "memory", job_open(&s->job, &s->records));
	for (const struct group_rung *rung : rungs)
		if (status == STATUS_OK)
			status = measure(s, rung, fault);
	if (status == STATUS_OK)
		status = measure(s, NULL, fault);
	job_close(&s->job);
	records_free(&s->records);
	return status;
}

enum status group_bench(const struct group_request *request, struct work_run *run, struct fault *fault)
{
	static const uint32_t usual[] = {8, 4 << 10, 4 << 20};
	uint32_t n = (uint32_t)(request->n ? request->n : DEFAULT_N);
	struct session s = {request, run, {}, {}};
	enum status status = check_request(request, fault);

	memset(run, 0, sizeof *run);
	run->ladder = "group";
	run->speed = "GB/s of keys and values";
	if (status == STATUS_OK && gpu_count() == 0)
		status = fault_set(fault, STATUS_NO_GPU, 0, NULL);
	if (status != STATUS_OK)
		return status;
	gpu_name(0, run->gpu, sizeof run->gpu);
	gpu_versions(run->versions, sizeof run->versions);
	snprintf(run->about, sizeof run->about, "count and sum of whole numbers by texts such as /item/4711, at random places");
	if (request->ngroups > 0)
		return measure_groups(&s, n, (uint32_t)request->ngroups, fault);
	for (uint32_t ngroups : usual)
		if (status == STATUS_OK)
			status = measure_groups(&s, n, ngroups, fault);
	return status;
}
