/* SPDX-License-Identifier: MIT
 *
 * device_choice.c - see device_choice.h.
 *
 * Making a CUDA context takes as long as a few cores take to fold a gigabyte (AUTO_COST_S).
 * --device auto therefore does not touch the driver unless the input is known to be so large that
 * GPUs save more than that; and then only the GPUs' threads do, while the CPUs work. Each of these
 * threads replaces a CPU's once its GPU is awake.
 */
#include "run/device_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/cores.h"
#include "emit/running_ratio.h"
#include "io/message.h"
#include "query/expr_eval.h"
#include "simd/simd.h"
#ifdef HAVE_CUDA
#include "kernels/worker/gpu.h"
#endif

#define CPU_CHUNK_NBYTES ((size_t)512 << 10) /* with its bitmaps in a second-level cache */
/* Of sections of compressed data whose chunks wait for one another: the text of a section, so that
 * a thread waits once for each. 16 threads printed all records of gzipped logs at 5.1 GB/s, and
 * with chunks of 512 KiB, of which a section made several, at 2.0 (2026-11-22). */
#define ORDERED_CHUNK_NBYTES ((size_t)1 << 20)
#define GPU_CHUNK_NBYTES ((size_t)4 << 20)
#define GPU_PRINTED_CHUNK_NBYTES ((size_t)8 << 20) /* more kernels, which larger chunks keep busy */
#define SAMPLE_NWORDS 256     /* of the text, to estimate the size of its fields */
#define LIKELY_FIELD_NBYTES 8 /* if the text is not known */

/* What --device auto estimates with (Xeon with AVX-512, 16 threads, and H200, 2026-11-22:
 * docs/speed.md). A GPU wakes in 0.2 s, its workers open in 0.03, and a process that has woken one
 * takes 0.1 s longer to end; meanwhile the CPUs do what they can. Several GPUs wake one after the
 * other. */
#define AUTO_COST_S 0.32
#define AUTO_COST_S_EACH_MORE 0.2
#define CORES_MANY 12

/* Seconds of a core: for reading and finding separators, and what each field adds to that; for
 * converting numbers; for a condition. */
#define SCAN_S_PER_BYTE 0.19e-9
#define SCAN_S_PER_FIELD 0.65e-9
#define CONVERT_S_PER_BYTE 0.24e-9
#define PREDICATE_S_PER_RECORD 8e-9

struct job {
	const struct options *options;
	const struct query *query;
	const struct input *input;
	uint64_t nbytes; /* of the input; UINT64_MAX: not known */
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

static size_t cpu_chunk_nbytes(const struct job *job)
{
	bool ordered = job->query->plan.emits || !input_is_repeatable(job->input);

	return ordered && input_has_sections(job->input) ? ORDERED_CHUNK_NBYTES : CPU_CHUNK_NBYTES;
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
static size_t gpu_chunk_nbytes(const struct job *job)
{
	if (job->options->chunk_nbytes)
		return job->options->chunk_nbytes;
	return job->query->plan.emits ? GPU_PRINTED_CHUNK_NBYTES : GPU_CHUNK_NBYTES;
}

/* Adds the pool of one of ngpus. */
static void add_gpu(struct device_choice *devices, const struct job *job, int device, int ngpus,
		    bool optional)
{
	const struct plan *plan = &job->query->plan;
	int nasked = job->options->nthreads, wanted;
	struct gpu_work work = {.plan = plan, .input_nbytes = job->nbytes, .ngpus = ngpus,
				.ncores = (nasked ? nasked : cores_count()) / ngpus,
				.beside_cpus = devices->pools[0].retires};
	struct worker_pool *p = &devices->pools[devices->npools++];

	work.sample = input_peeked(job->input, &work.sample_nbytes);
	wanted = gpu_nthreads(&work);
	p->ops = &worker_gpu;
	p->setup.device = device;
	p->setup.chunk_nbytes = gpu_chunk_nbytes(job);
	p->optional = optional;
	p->replaces = work.beside_cpus;
	p->nthreads = count_threads(wanted, p->setup.chunk_nbytes, job->nbytes);
	p->reads_ahead = gpu_reads_ahead(&work) &&
			 job->nbytes / p->setup.chunk_nbytes >= (uint64_t)wanted;
	p->setup.nreaders = job->nbytes == UINT64_MAX ? 0 : p->nthreads;
	p->note = gpu_packs(plan, &p->setup) ? " that pack" : NULL;
	devices->gpu_speed += gpu_speed(plan, p);
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
	for (int i = first; i < end && devices->npools < MAX_POOLS; i++)
		add_gpu(devices, job, i, end - first, optional);
	return (int)(devices->npools - before);
}
#else
static int add_gpus(struct device_choice *devices, const struct job *job, bool optional)
{
	(void)devices;
	(void)job;
	(void)optional;
	return 0;
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

/* Bytes of text a field, estimated from the beginning of the text, if that has been peeked at. */
static double field_nbytes(const struct job *job)
{
	uint64_t separators[SAMPLE_NWORDS], newlines[SAMPLE_NWORDS], quotes[SAMPLE_NWORDS];
	const struct simd_bits bits = {separators, newlines, quotes};
	size_t nbytes, nwords, nfields;
	const char *text = input_peeked(job->input, &nbytes);

	nwords = nbytes / SIMD_WORD_NBYTES;
	nwords = nwords < SAMPLE_NWORDS ? nwords : SAMPLE_NWORDS;
	simd()->classify(text, nwords, job->query->plan.dialect.delimiter, '\0', bits);
	nfields = simd()->count(separators, nwords);
	return nfields ? (double)(nwords * SIMD_WORD_NBYTES) / (double)nfields
		       : LIKELY_FIELD_NBYTES;
}

/* The speed of a CPU thread, in bytes a second. */
static double thread_speed(const struct job *job)
{
	const struct query *q = job->query;
	double nfields = q->header.nfields ? (double)q->header.nfields : 1;
	double field = field_nbytes(job), record = nfields * field;
	double share = (double)q->plan.ncolumns / nfields;

	return 1 / (SCAN_S_PER_BYTE + share * CONVERT_S_PER_BYTE + SCAN_S_PER_FIELD / field +
		    (double)q->plan.npredicates * PREDICATE_S_PER_RECORD / record);
}

/* The speed of CPUs and GPUs together, once all are awake; each_speed: of a CPU thread. */
static double devices_speed(const struct device_choice *devices, double each_speed)
{
	int ncpus = devices->pools[0].nthreads;

	for (size_t i = 1; i < devices->npools; i++)
		ncpus -= devices->pools[i].nthreads;
	return devices->gpu_speed + (ncpus > 0 ? ncpus * each_speed : 0);
}

/* The reason why GPUs would not shorten the run; NULL: they would. */
static const char *why_no_gpu(const struct device_choice *devices, const struct job *job,
			      double each_speed)
{
	size_t ngpus = devices->npools - 1;
	double nbytes = (double)job->nbytes, gain_s;

	if (ngpus == 0)
		return "CPU only: no GPU";
	gain_s = nbytes / (devices->pools[0].nthreads * each_speed) -
		 nbytes / devices_speed(devices, each_speed);
	if (gain_s <= 0)
		return "CPU only: the work is too light for a GPU to pay";
	if (gain_s < AUTO_COST_S + (double)(ngpus - 1) * AUTO_COST_S_EACH_MORE)
		return "CPU only: the input is too small for GPUs to pay";
	return NULL;
}

/* Leaves a core to each GPU that wakes, if there are many cores: to wake it while every core was
 * busy took 245 ms instead of 200 (H200, 2026-11-22). */
static void leave_cores(struct device_choice *devices)
{
	struct worker_pool *cpus = &devices->pools[0];

	for (size_t i = 1; i < devices->npools && cpus->nthreads >= CORES_MANY; i++) {
		devices->pools[i].has_core = true;
		cpus->nthreads--;
	}
}

/* --device auto: adds GPUs to the CPUs if that shortens the run; returns the reason. */
static const char *add_gpus_if_they_pay(struct device_choice *devices, const struct job *job)
{
	const char *why_not;
	double each_speed;

	if (job->nbytes == UINT64_MAX)
		return "CPU only: how large the input is cannot be known";
	if (job->query->plan.emits)
		return "CPU only: records are printed";
	each_speed = thread_speed(job);
	/* Decided before the system is asked for GPUs: */
	if ((double)job->nbytes < AUTO_COST_S * devices->pools[0].nthreads * each_speed)
		return "CPU only: the input is too small for GPUs to pay";
	add_gpus(devices, job, true);
	why_not = why_no_gpu(devices, job, each_speed);
	if (why_not == NULL) {
		leave_cores(devices);
		return "CPUs, and GPUs once awake: a large input";
	}
	devices->npools = 1; /* the CPUs */
	return why_not;
}

/* Whether a column's texts are needed, and the column is not likely to be one of numbers, whose texts
 * may be left out. */
static bool needs_texts_of_cpu(const struct plan *plan, const struct plan_column *column)
{
	return plan_column_has_texts(column) && (!plan->guesses_texts || column->begins_as_text);
}

/* Whether a GPU evaluates the tests of a condition. */
static bool is_for_gpus(const struct expr *e)
{
	for (uint32_t i = 0; i < e->ntests; i++)
		if (e->tests[i].kind > EXPR_TEST_MISSING)
			return false;
	return true;
}

/* The reason why no GPU can do the work; NULL: one can. */
static const char *beyond_gpus(const struct plan *plan)
{
	const struct csv_dialect *dialect = &plan->dialect;

	if (dialect->whitespace)
		return "CPU only: no GPU reads --whitespace";
	if (dialect->escape)
		return "CPU only: no GPU reads --escape";
	if (dialect->comment)
		return "CPU only: no GPU reads --comment";
	if (!notation_is_plain(&plan->notation))
		return "CPU only: no GPU reads numbers in this notation";
	if (plan_copies_records(plan) && plan->npredicates == 0)
		return "CPU only: no GPU copies records";
	if (plan->nlets)
		return "CPU only: no GPU computes columns";
	if (plan->nkeys)
		return "CPU only: no GPU keeps groups";
	for (size_t p = 0; p < plan->npredicates; p++)
		if (!is_for_gpus(plan->predicates[p]))
			return "CPU only: no GPU evaluates this condition";
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_moments(&plan->columns[c]) || plan->npairs ||
		    needs_texts_of_cpu(plan, &plan->columns[c]))
			return "CPU only: no GPU computes all that is asked";
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (running_ratio_is(plan->new_columns[i].kind) || plan->new_columns[i].kind == NEW_ROW_NUMBER ||
		    plan->new_columns[i].kind == NEW_FIELD)
			return "CPU only: no GPU computes all that is asked";
	return NULL;
}

/* Chooses GPUs beside the CPUs, or CPUs alone; says why. */
static const char *add_cpus_and_gpus(struct device_choice *devices, const struct job *job)
{
	add_cpu(devices, job, input_has_thread(job->input));
	if (job->options->device == DEVICE_CPU)
		return "CPU only, as asked";
	if (beyond_gpus(&job->query->plan))
		return beyond_gpus(&job->query->plan);
	if (job->options->device == DEVICE_AUTO)
		return add_gpus_if_they_pay(devices, job);
	return add_gpus(devices, job, false) ? "every device, as asked"
					     : "every device, as asked: no GPU";
}

enum status devices_choose(struct device_choice *devices, const struct options *options,
			   const struct query *query, const struct input *input,
			   struct fault *fault)
{
	const struct job job = {options, query, input, input_nbytes_left(input)};

	memset(devices, 0, sizeof *devices);
	if (options->device == DEVICE_GPU && !add_gpus(devices, &job, false))
		return no_gpu(options, fault);
	if (options->device == DEVICE_GPU && !beyond_gpus(&query->plan)) {
		devices->why = "GPU only, as asked";
		return STATUS_OK;
	}
	devices->npools = 0; /* GPUs that were asked for are there, but cannot do the work */
	devices->why = add_cpus_and_gpus(devices, &job);
	return STATUS_OK;
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
	if (any_reads_ahead(devices))
		input_decode_alone(input);
	if (plan->emits)
		input_set_prompt(input);
	if (plan->emits || !input_is_repeatable(input))
		input_keep_order(input);
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
		message_note("%s: threads %d%s, chunks %llu, bytes %llu",
			     device_name(p, name, sizeof name), p->nthreads,
			     p->note ? p->note : "",
			     (unsigned long long)p->nchunks, (unsigned long long)p->nbytes);
		if (p->open_fault.status != STATUS_OK)
			message_fault(&p->open_fault);
	}
	message_note("%llu bytes in %.3f s: %.2f GB/s", (unsigned long long)nbytes, elapsed_s,
		     elapsed_s > 0 ? (double)nbytes / elapsed_s / 1e9 : 0.0);
}
