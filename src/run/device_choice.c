/* SPDX-License-Identifier: MIT
 *
 * device_choice.c - see device_choice.h.
 *
 * A CUDA context costs as long as a few cores need for a gigabyte (AUTO_COST_S). --device auto
 * therefore does not touch the driver at all unless the input is known to be so large that GPUs
 * save more than that; and then only in the threads of the GPUs: the CPUs have begun by then. Every
 * thread that has a GPU awake takes the place of a CPU's.
 */
#include "run/device_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/cores.h"
#include "io/message.h"
#include "simd/nibbles.h"
#include "simd/simd.h"
#ifdef HAVE_CUDA
#include "kernels/worker/gpu.h"
#endif

#define CPU_CHUNK_NBYTES ((size_t)512 << 10) /* with its bitmaps in a second-level cache */
#define GPU_CHUNK_NBYTES ((size_t)4 << 20)
#define GPU_PRINTED_CHUNK_NBYTES ((size_t)8 << 20) /* more kernels, which larger chunks keep busy */
#define SAMPLE_NBYTES ((size_t)16 << 10) /* of the text, to see what it is like */
#define SAMPLE_NWORDS (SAMPLE_NBYTES / SIMD_WORD_NBYTES)
#define LIKELY_FIELD_NBYTES 8            /* where there is none to see */
#define GPU_MIN_FEEDERS 3 /* threads, each with a stream: one reads, one copies, one computes */
#define GPU_MAX_FEEDERS 16        /* who pack, or read no chunk before theirs is folded */
#define GPU_MAX_IN_TURN 12        /* who wait for a pipe, or to print, are no faster with more */
#define GPU_MAX_READING_AHEAD 10  /* these keep the bus as busy */
#define ALL_GPUS_READING_AHEAD 24 /* more of them get less out of the host's memory */

/* Threads that pack the text make more of the bus; but fewer of them do less than others that do
 * not (79 GB/s with 16, 55 with 10, where 52 is all without: H200, 2026-11-22). Two GPUs have more
 * bus than the host's memory can fill. */
#define GPU_MIN_PACKING 12

/* What --device auto reckons with (Xeon with AVX-512, 16 threads, and H200, 2026-11-22:
 * docs/speed.md). A GPU wakes in 0.2 s, its workers open in 0.03, and a process that has woken one
 * takes 0.1 s longer to end; in the meantime the CPUs do what they can. Several GPUs wake one
 * after the other. */
#define AUTO_COST_S 0.32
#define AUTO_COST_S_EACH_MORE 0.2
#define CORES_MANY 12

/* A core's seconds: for reading and finding separators, for what a field adds to that, and for
 * converting numbers; for a condition; for reading for a GPU beside such work, and for reading and
 * packing. And a GPU's, which are its bus's, or those of 16 threads that wait for their folds, as
 * with a condition; 300 columns take twice as many. */
#define SCAN_S_PER_BYTE 0.19e-9
#define SCAN_S_PER_FIELD 0.65e-9
#define CONVERT_S_PER_BYTE 0.24e-9
#define PREDICATE_S_PER_RECORD 8e-9
#define FEED_S_PER_BYTE 0.18e-9
#define PACK_S_PER_BYTE 0.22e-9
#define GPU_S_PER_BYTE 0.019e-9
#define GPU_PACKED_S_PER_BYTE 0.0125e-9
#define GPU_WAITED_S_PER_BYTE 0.036e-9

/* What is to be done. */
struct job {
	const struct options *options;
	const struct query *query;
	const struct input *input;
	uint64_t nbytes; /* of all of it; UINT64_MAX: not known */
};

/* The beginning of the text, if it has been peeked at; *nbytes may be 0. */
static const char *sample(const struct job *job, size_t *nbytes)
{
	const char *text = input_peeked(job->input, nbytes);

	*nbytes = *nbytes < SAMPLE_NBYTES ? *nbytes : SAMPLE_NBYTES;
	return text;
}

/* As many threads as were asked for (0: as there are cores), but no more than chunks: a short
 * input is not worth starting one for, nor looking how many cores there are. */
static int count_threads(int nasked, size_t chunk_nbytes, uint64_t input_nbytes)
{
	uint64_t nfull = input_nbytes / chunk_nbytes;
	int nthreads;

	if (nfull == 0)
		return 1;
	nthreads = nasked ? nasked : cores_count();
	return nfull < (uint64_t)nthreads ? (int)nfull + 1 : nthreads;
}

/* decoding: the input has a thread of its own, which is one of those that were asked for. */
static void add_cpu(struct device_choice *devices, const struct job *job, bool decoding)
{
	const struct options *o = job->options;
	struct worker_pool *s = &devices->pools[devices->npools++];

	s->ops = &worker_cpu;
	s->setup.chunk_nbytes = o->chunk_nbytes ? o->chunk_nbytes : CPU_CHUNK_NBYTES;
	s->nthreads = count_threads(o->nthreads, s->setup.chunk_nbytes, job->nbytes);
	s->nthreads -= decoding && s->nthreads > 1;
	s->retires = true;
}

#ifdef HAVE_CUDA
/* Whether a GPU's thread may read one chunk while its GPU works on another. Where it might wait for
 * what it reads, or where chunks wait for each other, more threads do better: 300 columns took 1.54
 * s so, and take 0.82; a sum with a condition 1.10 and 0.88 (H200, 2026-11-22). */
static bool may_read_ahead(const struct job *job)
{
	return job->nbytes != UINT64_MAX && gpu_folds_ahead(&job->query->plan);
}

/* Whether the text can be packed, as far as can be seen. */
static bool is_packable(const struct job *job)
{
	struct nibble_letters letters = nibble_letters(job->query->plan.dialect.delimiter);
	unsigned char packed[SAMPLE_NBYTES / 2];
	size_t nbytes;
	const char *text = sample(job, &nbytes);

	return nbytes > 0 && nibbles_pack(text, nbytes, letters, packed);
}

/* The cores that each of ngpus can have. */
static int cores_each(const struct job *job, int ngpus)
{
	int nasked = job->options->nthreads;

	return (nasked ? nasked : cores_count()) / ngpus;
}

/* As many threads as a GPU of the pool may have, of ngpus. */
static int gpu_most_threads(const struct job *job, const struct worker_pool *s, int ngpus)
{
	int share = ALL_GPUS_READING_AHEAD / ngpus;

	if (job->nbytes == UINT64_MAX || job->query->plan.emits)
		return GPU_MAX_IN_TURN;
	if (s->setup.packs || !s->reads_ahead)
		return GPU_MAX_FEEDERS;
	return share < GPU_MAX_READING_AHEAD ? share : GPU_MAX_READING_AHEAD;
}

/* Threads that keep a GPU of the pool busy: no more than most, but GPU_MIN_FEEDERS at least. What
 * takes longest is reading, at 7 GB/s a thread. Those that read and nothing else leave half of the
 * cores to CPUs beside them. */
static int gpu_nthreads(const struct worker_pool *s, int ncores, int most)
{
	bool halve = s->replaces && s->reads_ahead && !s->setup.packs;
	int nthreads = halve ? ncores / 2 : ncores;

	nthreads = nthreads < most ? nthreads : most;
	return nthreads > GPU_MIN_FEEDERS ? nthreads : GPU_MIN_FEEDERS;
}

static size_t gpu_chunk_nbytes(const struct job *job)
{
	if (job->options->chunk_nbytes)
		return job->options->chunk_nbytes;
	return job->query->plan.emits ? GPU_PRINTED_CHUNK_NBYTES : GPU_CHUNK_NBYTES;
}

/* The pool of one of ngpus. */
static void add_gpu(struct device_choice *devices, const struct job *job, int device, int ngpus, bool optional)
{
	int ncores = cores_each(job, ngpus), wanted;
	bool beside_cpus = devices->pools[0].retires;
	struct worker_pool *s = &devices->pools[devices->npools++];

	s->ops = &worker_gpu;
	s->setup.device = device;
	s->setup.chunk_nbytes = gpu_chunk_nbytes(job);
	s->optional = optional;
	s->replaces = beside_cpus;
	s->reads_ahead = may_read_ahead(job);
	s->setup.packs = s->reads_ahead && ngpus == 1 && ncores >= GPU_MIN_PACKING &&
			 is_packable(job);
	wanted = gpu_nthreads(s, ncores, gpu_most_threads(job, s, ngpus));
	s->nthreads = count_threads(wanted, s->setup.chunk_nbytes, job->nbytes);
	s->reads_ahead =
		s->reads_ahead && job->nbytes / s->setup.chunk_nbytes >= (uint64_t)wanted;
}

/* Adds the GPU that was asked for by number, or every one; returns how many. optional: the driver
 * is not asked yet, as that takes long. */
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

/* Bytes of text for each field, as far as can be seen. */
static double field_nbytes(const struct job *job)
{
	uint64_t separators[SAMPLE_NWORDS], newlines[SAMPLE_NWORDS], quotes[SAMPLE_NWORDS];
	const struct simd_bits bits = {separators, newlines, quotes};
	size_t nbytes, nwords, nfields;
	const char *text = sample(job, &nbytes);

	nwords = nbytes / SIMD_WORD_NBYTES;
	simd()->classify(text, nwords, job->query->plan.dialect.delimiter, bits);
	nfields = simd()->count(separators, nwords);
	return nfields ? (double)(nwords * SIMD_WORD_NBYTES) / (double)nfields
		       : LIKELY_FIELD_NBYTES;
}

/* What a CPU's thread does, in bytes a second. */
static double thread_speed(const struct job *job)
{
	const struct query *q = job->query;
	double nfields = q->header.nfields ? (double)q->header.nfields : 1;
	double field = field_nbytes(job), record = nfields * field;
	double share = (double)q->plan.ncolumns / nfields;

	return 1 / (SCAN_S_PER_BYTE + share * CONVERT_S_PER_BYTE + SCAN_S_PER_FIELD / field +
		    (double)q->plan.npredicates * PREDICATE_S_PER_RECORD / record);
}

/* What a GPU does with its threads, likewise. */
static double gpu_speed(const struct worker_pool *s)
{
	double feeds = s->nthreads / (s->setup.packs ? PACK_S_PER_BYTE : FEED_S_PER_BYTE);
	double takes = 1 / (!s->reads_ahead  ? GPU_WAITED_S_PER_BYTE
			    : s->setup.packs ? GPU_PACKED_S_PER_BYTE
					     : GPU_S_PER_BYTE);

	return feeds < takes ? feeds : takes;
}

/* What CPUs and GPUs would do together, once all are awake; each_speed: a CPU's thread. */
static double devices_speed(const struct device_choice *devices, double each_speed)
{
	int ncpus = devices->pools[0].nthreads;
	double speed = 0;

	for (size_t i = 1; i < devices->npools; i++) {
		speed += gpu_speed(&devices->pools[i]);
		ncpus -= devices->pools[i].nthreads;
	}
	return speed + (ncpus > 0 ? ncpus * each_speed : 0);
}

/* Why the GPUs added to the CPUs would not pay; NULL: they would. */
static const char *why_no_gpu(const struct device_choice *devices, const struct job *job, double each_speed)
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

/* Leaves a core to each GPU that wakes, if there are many: to wake beside as many busy threads as
 * there are cores took 45 ms longer than 200 (H200, 2026-11-22). */
static void leave_cores(struct device_choice *devices)
{
	struct worker_pool *cpus = &devices->pools[0];

	for (size_t i = 1; i < devices->npools && cpus->nthreads >= CORES_MANY; i++) {
		devices->pools[i].has_core = true;
		cpus->nthreads--;
	}
}

/* --device auto: adds GPUs to the CPUs if that pays; says why or why not. */
static const char *add_gpus_if_they_pay(struct device_choice *devices, const struct job *job)
{
	const char *why_not;
	double each_speed;

	if (job->nbytes == UINT64_MAX)
		return "CPU only: how large the input is cannot be known";
	if (job->query->plan.emits)
		return "CPU only: records are printed";
	each_speed = thread_speed(job);
	/* Known before anybody looks for GPUs: */
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

/* Whether every moment that the plan needs is computed on a GPU as well. */
static bool has_device_moments(const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs & ~(unsigned)MOMENTS_FUSED)
			return false;
	return true;
}

/* Gives the work to the CPUs alone: a GPU does not compute all of the plan's moments. */
static void use_cpu_instead(struct device_choice *devices, const struct job *job)
{
	devices->npools = 0;
	add_cpu(devices, job, input_has_thread(job->input));
	devices->why = "CPU only: no GPU computes squares";
}

enum status devices_choose(struct device_choice *devices, const struct options *options,
			const struct query *query, const struct input *input, struct fault *fault)
{
	const struct job job = {options, query, input, input_nbytes_left(input)};

	memset(devices, 0, sizeof *devices);
	if (options->device == DEVICE_GPU) {
		devices->why = "GPU only, as asked";
		if (!add_gpus(devices, &job, false))
			return no_gpu(options, fault);
		if (!has_device_moments(&query->plan))
			use_cpu_instead(devices, &job);
		return STATUS_OK;
	}
	add_cpu(devices, &job, input_has_thread(input));
	devices->why = "CPU only, as asked";
	if (options->device != DEVICE_CPU && !has_device_moments(&query->plan)) {
		use_cpu_instead(devices, &job);
		return STATUS_OK;
	}
	if (options->device == DEVICE_ALL)
		devices->why = add_gpus(devices, &job, false) ? "every device, as asked"
							: "every device, as asked: no GPU";
	if (options->device == DEVICE_AUTO)
		devices->why = add_gpus_if_they_pay(devices, &job);
	return STATUS_OK;
}

static const char *device_name(const struct worker_pool *s, char *text, size_t nbytes)
{
	snprintf(text, nbytes, "cpu");
#ifdef HAVE_CUDA
	if (s->ops == &worker_gpu) {
		int used = snprintf(text, nbytes, "gpu:%d ", s->setup.device);
		gpu_name(s->setup.device, text + used, nbytes - (size_t)used);
	}
#else
	(void)s;
#endif
	return text;
}

void devices_report_failures(const struct device_choice *devices)
{
	char name[128];

	for (size_t i = 0; i < devices->npools; i++) {
		const struct worker_pool *s = &devices->pools[i];
		if (s->work_fault.status == STATUS_OK)
			continue;
		message_note("warning: %s failed: %s; the CPU has done its work",
			     device_name(s, name, sizeof name), s->work_fault.detail);
	}
}

void devices_report(const struct device_choice *devices, double elapsed_s)
{
	char name[128];
	uint64_t nbytes = 0;

	message_note("%s", devices->why);
	message_note("instruction set of the CPU: %s", simd()->name);
	for (size_t i = 0; i < devices->npools; i++) {
		const struct worker_pool *s = &devices->pools[i];
		nbytes += s->nbytes;
		message_note("%s: threads %d%s, chunks %llu, bytes %llu",
			     device_name(s, name, sizeof name), s->nthreads,
			     s->setup.packs ? " that pack" : "",
			     (unsigned long long)s->nchunks, (unsigned long long)s->nbytes);
		if (s->open_fault.status != STATUS_OK)
			message_fault(&s->open_fault);
	}
	message_note("%llu bytes in %.3f s: %.2f GB/s", (unsigned long long)nbytes, elapsed_s,
		     elapsed_s > 0 ? (double)nbytes / elapsed_s / 1e9 : 0.0);
}
