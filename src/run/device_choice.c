/* SPDX-License-Identifier: MIT
 *
 * device_choice.c - see device_choice.h.
 *
 * Making a CUDA context takes as long as a few cores take to fold a gigabyte. --device auto therefore
 * begins with the CPUs alone. A GPU is an offer (engine/engine.h): once the CPUs have shown their speed at
 * this plan and this input, it is woken if the run then ends sooner, and each of its threads replaces a
 * CPU's. The driver is not touched before that. Only where it is sure beforehand that GPUs alone are faster
 * (device_forecast.h), CPUs do not begin.
 */
#include "run/device_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/cores.h"
#include "io/message.h"
#include "run/beyond_gpus.h"
#include "run/device_forecast.h"
#include "simd/simd.h"
#ifdef HAVE_CUDA
#include "kernels/worker/gpu.h"
#endif

#define CPU_CHUNK_NBYTES ((size_t)512 << 10) /* with its bitmaps in a second-level cache */
/* Of sections of compressed data whose chunks wait for one another: the text of a section, so that
 * a thread waits once for each. 16 threads printed all records of gzipped logs at 5.1 GB/s, and
 * with chunks of 512 KiB, of which a section made several, at 2.0 (2026-11-22). */
#define ORDERED_CHUNK_NBYTES ((size_t)1 << 20)
/* Of records as long as chunks, one of which is cut by each chunk's end and folded alone: for that, and for combining,
 * each column costs as much as some fields. The sums of 100,000 columns of 500 KB records took 0.9 s of CPU with chunks of
 * 512 KiB, and take 0.55 with 4 MiB (2026-11-25). */
#define CHUNK_NRECORDS_LEAST 8
#define LONG_CHUNK_NBYTES ((size_t)4 << 20)
#define FIELD_NBYTES ((size_t)4) /* with its separator, where no header says more */
#define GPU_CHUNK_NBYTES ((size_t)4 << 20)
#define GPU_UNPACKED_CHUNK_NBYTES ((size_t)32 << 20) /* of text: a warp has a block of 64 KiB */
/* Of that many packed bytes, in blocks: some 5 of 16 workers' chunks are decoded at once, and 1024 warps of each fill a GPU
 * better than 512. 32 GB of logs took 1.23 s, and take 1.09; 12 GB 0.72 and 0.69 (H200, 2026-11-24). */
#define LONG_PACKED_NBYTES ((uint64_t)1 << 30)
#define GPU_LONG_UNPACKED_CHUNK_NBYTES ((size_t)64 << 20)
#define GPU_PRINTED_CHUNK_NBYTES ((size_t)8 << 20) /* more kernels, which larger chunks keep busy */

/* What --device auto counts with (Xeon with AVX-512, 16 threads, H100 and H200: docs/speed.md). A GPU wakes in
 * 0.2 s, its workers open in 0.03, and beside CPUs that work both take somewhat longer. A process that has
 * woken one takes 0.1 s longer to end, or more if it ends before all workers are open. Several GPUs wake one
 * after the other. */
#define WAKE_S 0.26
#define WAKE_S_EACH_MORE 0.2
/* What each further GPU takes where groups are many: they go to one GPU (two H100s, 16 and 64 GB by host, 2026-11-24). */
#define CROSS_S 0.2
#define END_S 0.15
#define CORES_MANY 12
#define LIKELY_RATIO 8 /* of text to packed files */
#define MEMBER_S_PER_BYTE 0.2e-9 /* of packed bytes, one member on a GPU */
#define MEMBER_NBYTES_LONG ((uint64_t)512 << 20) /* packed: of shorter ones some begin and end while others wait */

/* An input that a thread folds in less time than a GPU takes to wake, even at this speed, in bytes a
 * second: no GPU is offered, and no thread started for it. */
#define SLOW_SPEED 0.2e9

struct job {
	const struct options *options;
	const struct query *query;
	const struct input *input;
	uint64_t nbytes; /* of the input; UINT64_MAX: not known */
	bool gpus_alone; /* no CPU worker is beside them */
	int ngpus_most;  /* 0: all */
};

/* The number of threads asked for (0: one for each core), but no more than there are chunks. For a
 * single chunk the cores are not counted: that and a thread's start would take longer. */
static int count_threads(int nasked, size_t chunk_nbytes, uint64_t input_nbytes)
{
	uint64_t nfull = input_nbytes / chunk_nbytes;
	int nthreads;

	if (nfull == 0)
		return 1;
	nthreads = nasked ? nasked : cores_count();
	return nfull < (uint64_t)nthreads ? (int)nfull + 1 : nthreads;
}

/* Whether a column needs memory of its own in each thread. */
static bool has_moments(const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_moments(&plan->columns[c]) || plan_column_has_texts(&plan->columns[c]))
			return true;
	return false;
}

static size_t cpu_chunk_nbytes(const struct job *job)
{
	const struct plan *plan = &job->query->plan;
	bool ordered = plan->emits || !input_is_repeatable(job->input);
	size_t usual = ordered && input_has_sections(job->input) ? ORDERED_CHUNK_NBYTES : CPU_CHUNK_NBYTES;
	size_t record = FIELD_NBYTES * plan->ragged.nfields, wanted;

	record = plan->header_nbytes > record ? plan->header_nbytes : record;
	wanted = CHUNK_NRECORDS_LEAST * record;
	wanted = wanted < LONG_CHUNK_NBYTES ? wanted : LONG_CHUNK_NBYTES;
	return wanted > usual && !has_moments(plan) ? wanted : usual;
}

/* decoding: the input has a decoding thread, which counts as one of --threads. */
static void add_cpu(struct device_choice *devices, const struct job *job, bool decoding)
{
	const struct options *o = job->options;
	struct worker_pool *p = &devices->pools[devices->npools++];

	*p = (struct worker_pool){.ops = &worker_cpu, .retires = true};
	p->setup.chunk_nbytes = o->chunk_nbytes ? o->chunk_nbytes : cpu_chunk_nbytes(job);
	p->nthreads = count_threads(o->nthreads, p->setup.chunk_nbytes, job->nbytes);
	p->nthreads -= decoding && p->nthreads > 1;
}

#ifdef HAVE_CUDA
/* Whether GPUs decode the input: blocks; members only where all workers are on GPUs. */
static bool unpacks(const struct job *job)
{
	return input_leaves_blocks(job->input) || (job->gpus_alone && input_has_long_member(job->input));
}

static bool is_long_packed(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);

	return stored != UINT64_MAX && stored >= LONG_PACKED_NBYTES;
}

static size_t gpu_chunk_nbytes(const struct job *job)
{
	if (job->options->chunk_nbytes)
		return job->options->chunk_nbytes;
	if (input_leaves_blocks(job->input) && is_long_packed(job))
		return GPU_LONG_UNPACKED_CHUNK_NBYTES;
	if (unpacks(job))
		return GPU_UNPACKED_CHUNK_NBYTES;
	return job->query->plan.emits ? GPU_PRINTED_CHUNK_NBYTES : GPU_CHUNK_NBYTES;
}

/* The bytes of all text; of packed files, as they mostly turn out; 0: not known. */
static uint64_t likely_nbytes(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);

	if (job->nbytes != UINT64_MAX)
		return job->nbytes;
	return stored == UINT64_MAX ? 0 : stored * LIKELY_RATIO;
}

/* The records in so many bytes of text, as those are that were peeked at; 0: not known. */
static uint64_t likely_nrecords(const struct job *job, uint64_t nbytes)
{
	size_t nsampled;
	const char *sample = input_peeked(job->input, &nsampled);

	return (uint64_t)((double)nbytes * sample_lines_per_byte(sample, nsampled));
}

/* Makes the pool, the last one behind that of the CPUs, wait until it pays. */
static void make_offer(const struct device_choice *devices, const struct plan *plan, struct worker_pool *p)
{
	double nbefore = (double)(p - &devices->pools[1]);

	p->optional = true;
	p->offer = (struct device_offer){gpu_speed(plan, p), WAKE_S + nbefore * WAKE_S_EACH_MORE, END_S};
	/* To wake a GPU while every core was busy took 245 ms instead of 200 (H200, 2026-11-22). */
	p->needs_core = devices->pools[0].nthreads >= CORES_MANY;
}

/* Adds the pool of one of ngpus. */
static void add_gpu(struct device_choice *devices, const struct job *job, int device, int ngpus,
		    bool optional)
{
	const struct plan *plan = &job->query->plan;
	int nasked = job->options->nthreads, wanted;
	struct gpu_work work = {.plan = plan, .input_nbytes = job->nbytes, .ngpus = ngpus,
				.ncores = (nasked ? nasked : cores_count()) / ngpus,
				.unpacks = unpacks(job),
				.beside_cpus = devices->pools[0].retires};
	struct worker_pool *p = &devices->pools[devices->npools++];

	work.sample = input_peeked(job->input, &work.sample_nbytes);
	wanted = gpu_nthreads(&work);
	p->ops = &worker_gpu;
	p->setup.device = device;
	p->setup.input_nbytes = likely_nbytes(job);
	p->setup.nrecords = likely_nrecords(job, p->setup.input_nbytes);
	p->setup.unpacks = work.unpacks;
	p->setup.chunk_nbytes = gpu_chunk_nbytes(job);
	p->replaces = work.beside_cpus;
	p->nthreads = count_threads(wanted, p->setup.chunk_nbytes, job->nbytes);
	p->reads_ahead = gpu_reads_ahead(&work) &&
			 job->nbytes / p->setup.chunk_nbytes >= (uint64_t)wanted;
	p->setup.nreaders = job->nbytes == UINT64_MAX ? 0 : p->nthreads;
	p->note = gpu_packs(plan, &p->setup) ? " that pack" : NULL;
	p->forgives = job->options->device == DEVICE_AUTO;
	if (optional)
		make_offer(devices, plan, p);
}

/* Adds the GPU that was asked for by number, or all; returns how many. optional: the driver, which
 * would take long, is not asked for their number. */
static int add_gpus(struct device_choice *devices, const struct job *job, bool optional)
{
	int ngpus = optional ? gpu_estimate() : gpu_count(), first = 0, end = ngpus;
	size_t before = devices->npools;

	if (job->options->device_number >= 0) {
		first = job->options->device_number;
		end = first < ngpus ? first + 1 : first;
	}
	if (job->ngpus_most && end > first + job->ngpus_most)
		end = first + job->ngpus_most;
	for (int i = first; i < end && devices->npools < MAX_POOLS; i++)
		add_gpu(devices, job, i, end - first, optional);
	return (int)(devices->npools - before);
}

/* Whether all files may have one long member. */
static bool has_long_members(const struct job *job)
{
	for (int i = 0; i < input_nfiles(job->input); i++)
		if (input_file_nbytes_stored(job->input, i) < MEMBER_NBYTES_LONG)
			return false;
	return input_has_long_member(job->input);
}

/* The bytes of compressed files that a GPU may decode; 0 if it cannot decode them. */
static uint64_t nbytes_packed(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);

	if (stored == UINT64_MAX || (!input_leaves_blocks(job->input) && !has_long_members(job)))
		return 0;
	return stored;
}

/* What is known of the run before it begins. */
static struct forecast forecast_of(const struct device_choice *devices, const struct job *job)
{
	double nbytes = job->nbytes == UINT64_MAX ? 0 : (double)job->nbytes;
	struct forecast f = {.plan = &job->query->plan, .nbytes = nbytes,
			     .nbytes_packed = nbytes > 0 ? 0 : (double)nbytes_packed(job),
			     .can_share = nbytes > 0 || input_leaves_blocks(job->input),
			     .ncores = devices->pools[0].nthreads, .gpu_s = WAKE_S + END_S};

	f.sample = input_peeked(job->input, &f.sample_nbytes);
	f.groups = forecast_groups_of(&f);
	return f;
}

/* The seconds in which a GPU reads and folds all, at a speed in bytes of text a second. */
static double gpu_s(const struct forecast *f, double speed)
{
	double nbytes = f->nbytes_packed > 0 ? f->nbytes_packed * FORECAST_TEXT_RATIO : f->nbytes;

	return f->can_share ? nbytes / speed : f->nbytes_packed * MEMBER_S_PER_BYTE;
}

/* How many GPUs are to do all of it, if they are there, which the system is not asked for; 0: it is not sure that they end
 * sooner. One member is decoded by one GPU. */
static int count_gpus_preferred(const struct device_choice *devices, const struct job *job, struct forecast f)
{
	struct device_choice offered = *devices;
	struct job with_one = *job;
	double work_s;

	with_one.ngpus_most = 1;
	if (!forecast_gpu_alone(&f) || !add_gpus(&offered, &with_one, true))
		return 0;
	work_s = gpu_s(&f, offered.pools[1].offer.speed);
	f.gpu_s += work_s;
	if (!forecast_gpu_alone(&f))
		return 0;
	return f.can_share ? forecast_ngpus(work_s, WAKE_S_EACH_MORE + (f.groups.n > 0 ? CROSS_S : 0)) : 1;
}

/* Chooses up to so many GPUs alone, if they are there. */
static bool add_gpus_alone(struct device_choice *devices, const struct job *job, int ngpus_most)
{
	struct device_choice alone = {.npools = 0};
	struct job changed = *job;

	changed.gpus_alone = true;
	changed.ngpus_most = ngpus_most;
	if (!add_gpus(&alone, &changed, false))
		return false;
	*devices = alone;
	return true;
}

/* Chooses what a forecast tells; returns what is to be said of it; NULL: the run will show its speed. */
static const char *add_as_forecast(struct device_choice *devices, const struct job *job)
{
	struct forecast f = forecast_of(devices, job);
	int ngpus = count_gpus_preferred(devices, job, f);

	if (ngpus > 0)
		return add_gpus_alone(devices, job, ngpus)
			       ? "GPUs, as many as pay: the CPUs would surely take longer" : "CPU only: no GPU";
	return f.groups.n > 0 ? "CPU only: too few records for so many groups on GPUs" : NULL;
}

#else
static int add_gpus(struct device_choice *devices, const struct job *job, bool optional)
{
	(void)devices;
	(void)job;
	(void)optional;
	return 0;
}

static const char *add_as_forecast(struct device_choice *devices, const struct job *job)
{
	(void)devices;
	(void)job;
	return NULL;
}
#endif

static enum status no_gpu(const struct options *o, struct fault *fault)
{
	char words[64];

	if (o->device_number < 0)
		return fault_set(fault, STATUS_NO_GPU, 0, NULL);
	snprintf(words, sizeof words, "gpu:%d", o->device_number);
	return fault_set(fault, STATUS_NO_GPU, 0, words);
}

/* --device auto: offers GPUs to the CPUs; returns what is to be said of it. */
static const char *offer_gpus(struct device_choice *devices, const struct job *job)
{
	uint64_t nbytes = input_leaves_blocks(job->input) ? input_nbytes_stored(job->input) : job->nbytes;

	const char *forecast = add_as_forecast(devices, job);

	if (forecast)
		return forecast;
	if (nbytes == UINT64_MAX)
		return "CPU only: how large the input is cannot be known";
	/* Decided before the system is asked for GPUs: */
	if ((double)nbytes < (WAKE_S + END_S) * devices->pools[0].nthreads * SLOW_SPEED)
		return "CPU only: the input is too small for GPUs to pay";
	if (!add_gpus(devices, job, true))
		return "CPU only: no GPU";
	return "CPUs, and GPUs if the run then ends sooner";
}

/* Chooses GPUs beside the CPUs, or CPUs alone; says why. */
static const char *add_cpus_and_gpus(struct device_choice *devices, const struct job *job)
{
	add_cpu(devices, job, input_has_thread(job->input));
	if (job->options->device == DEVICE_CPU)
		return "CPU only, as asked";
	if (beyond_gpus(&job->query->plan, job->input))
		return beyond_gpus(&job->query->plan, job->input);
	if (job->options->device == DEVICE_AUTO)
		return offer_gpus(devices, job);
	return add_gpus(devices, job, false) ? "every device, as asked"
					     : "every device, as asked: no GPU";
}

enum status devices_peek(const struct options *options, const struct query *query, struct input *input,
			 struct fault *fault)
{
	const struct plan *plan = &query->plan;
	uint64_t nbytes = input_nbytes_left(input);

	if (options->device != DEVICE_AUTO || plan->nkeys == 0 || plan->emits || nbytes == UINT64_MAX ||
	    nbytes < FORECAST_SAMPLED_NBYTES || devices_estimate_gpus() == 0 || beyond_gpus(plan, input))
		return STATUS_OK;
	return input_peek_further(input, FORECAST_SAMPLE_NBYTES, fault);
}

enum status devices_choose(struct device_choice *devices, const struct options *options,
			   const struct query *query, const struct input *input,
			   struct fault *fault)
{
	const struct job job = {options, query, input, input_nbytes_left(input), options->device == DEVICE_GPU, 0};

	memset(devices, 0, sizeof *devices);
	if (options->device == DEVICE_GPU && !add_gpus(devices, &job, false))
		return no_gpu(options, fault);
	if (options->device == DEVICE_GPU && !beyond_gpus(&query->plan, input)) {
		devices->why = "GPU only, as asked";
		return STATUS_OK;
	}
	devices->npools = 0; /* GPUs that were asked for are there, but cannot do the work */
	devices->why = add_cpus_and_gpus(devices, &job);
	return STATUS_OK;
}

int devices_estimate_gpus(void)
{
#ifdef HAVE_CUDA
	return gpu_estimate();
#else
	return 0;
#endif
}

/* Whether a thread of any pool reads a chunk before it has finished the last one. */
static bool any_reads_ahead(const struct device_choice *devices)
{
	for (size_t i = 0; i < devices->npools; i++)
		if (devices->pools[i].reads_ahead)
			return true;
	return false;
}

void devices_set_up_input(const struct device_choice *devices, const struct plan *plan,
			  struct input *input)
{
	struct input_setup setup = {.decodes_alone = any_reads_ahead(devices), .is_prompt = plan->emits && !plan->choice,
				    .is_ordered = plan->emits || !input_is_repeatable(input)};

#ifdef HAVE_CUDA
	if (devices->npools && devices->pools[0].ops == &worker_gpu && !setup.decodes_alone && input_has_long_member(input)) {
		setup.device_ops = &device_inflate_gpu;
		setup.device = devices->pools[0].setup.device;
	}
#endif
	input_set_up(input, &setup);
}

static const char *device_name(const struct worker_pool *p, char *text, size_t nbytes)
{
	snprintf(text, nbytes, "cpu");
#ifdef HAVE_CUDA
	if (p->ops == &worker_gpu) {
		int used = snprintf(text, nbytes, "gpu:%d ", p->setup.device);
		gpu_name(p->setup.device, text + used, nbytes - (size_t)used);
	}
#else
	(void)p;
#endif
	return text;
}

/* Whether CPUs do the pool's work: perhaps in place of a GPU that has failed. */
static bool is_of_cpus(const struct worker_pool *p)
{
	return p->ops == &worker_cpu || p->failed;
}

void devices_at_work(const struct device_choice *devices, char *text, size_t nbytes)
{
	const struct worker_pool *end = devices->pools + devices->npools;
	size_t used = 0;
	int ncpus = 0;

	for (const struct worker_pool *p = devices->pools; p < end; p++)
		ncpus += is_of_cpus(p) ? p->nworking : 0;
	if (ncpus)
		used = (size_t)snprintf(text, nbytes, "%d CPU thread%s", ncpus, ncpus == 1 ? "" : "s");
	for (const struct worker_pool *p = devices->pools; p < end; p++)
		if (!is_of_cpus(p) && p->nworking && used < nbytes)
			used += (size_t)snprintf(text + used, nbytes - used, "%sgpu:%d",
						 used ? ", " : "", p->setup.device);
}

enum status devices_lose(struct device_choice *devices, struct fault *fault)
{
	for (size_t i = 0; i < devices->npools; i++) {
		struct worker_pool *p = &devices->pools[i];
		if (is_of_cpus(p) || p->nchunks == 0)
			continue;
		p->work_fault = *fault;
		p->failed = true;
	}
	return fault->status = STATUS_GPU_LOST;
}

void devices_report_failures(const struct device_choice *devices)
{
	char name[128];

	for (size_t i = 0; i < devices->npools; i++) {
		const struct worker_pool *p = &devices->pools[i];
		if (p->work_fault.status == STATUS_OK)
			continue;
		message_note("warning: %s failed: %s; the CPU has done its work",
			     device_name(p, name, sizeof name), p->work_fault.detail);
	}
}

void devices_report(const struct device_choice *devices, double elapsed_s)
{
	char name[128];
	uint64_t nbytes = 0;

	message_note("%s", devices->why);
	message_note("instruction set of the CPU: %s", simd()->name);
	for (size_t i = 0; i < devices->npools; i++) {
		const struct worker_pool *p = &devices->pools[i];
		nbytes += p->nbytes;
		if (p->offer.speed > 0 && p->called_s == 0) {
			message_note("gpu:%d: not woken: that would not have shortened the run",
				     p->setup.device);
			continue;
		}
		device_name(p, name, sizeof name);
		message_note("%s: threads %d%s, chunks %llu, bytes %llu", name, p->nthreads,
			     p->note ? p->note : "", (unsigned long long)p->nchunks,
			     (unsigned long long)p->nbytes);
		if (p->called_s > 0)
			message_note("%s: called after %.3f s, when the run did %.2f GB/s", name,
				     p->called_s, p->others_speed / 1e9);
		if (p->open_fault.status != STATUS_OK)
			message_fault(&p->open_fault);
	}
	message_note("%llu bytes in %.3f s: %.2f GB/s", (unsigned long long)nbytes, elapsed_s,
		     elapsed_s > 0 ? (double)nbytes / elapsed_s / 1e9 : 0.0);
}
