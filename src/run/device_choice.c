/* SPDX-License-Identifier: MIT
 *
 * device_choice.c - see device_choice.h.
 *
 * Making a CUDA context takes as long as a few cores take to fold a gigabyte. --device auto therefore
 * begins with the CPUs alone. A GPU is an offer (engine/engine.h): once the CPUs have shown their speed at
 * this plan and this input, it is used if the run then ends sooner, and each of its threads replaces a
 * CPU's. The driver is not touched before that. Only if it is sure beforehand that GPUs alone are faster, CPUs do not
 * begin: a measurement would come too late. Numbers that are kept are searched or sorted when all have been read, and
 * those that CPUs keep until a GPU is awake are work for both. So are groups, where nearly each record makes one, as a sample
 * of the text shows: if n records draw from G keys that are equally likely, n^2 / 2G pairs of them are the same (the birthday
 * problem), so from the number of records whose key has come before follows G, as long as these are few. And one member of a
 * compressed file is decoded by the CPUs or by a GPU, not by both. In these cases constants decide, and only if the
 * difference is large.
 */
#include "run/device_choice.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "csv/dfa.h"
#include "csv/record.h"
#include "fold/word_set.h"
#include "io/message.h"
#include "io/source.h"
#include "io/source.h"
#include "run/beyond_gpus.h"
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
/* Of files so short on average, opening one takes longer than folding it, and threads only wait for each other to do it:
 * 10,000 files of 300 bytes took 0.13 s with two threads, and take 0.09 with one (2 cores, 2026-11-27). */
#define FILE_NBYTES_LEAST 2048
#define GPU_CHUNK_NBYTES ((size_t)4 << 20)
#define GPU_UNPACKED_CHUNK_NBYTES ((size_t)32 << 20) /* of text: a warp has a block of 64 KiB */
/* Of that many packed bytes, in blocks: some 5 of 16 workers' chunks are decoded at once, and 1024 warps of each fill a GPU
 * better than 512. 32 GB of logs took 1.23 s, and take 1.09; 12 GB 0.72 and 0.69 (H200, 2026-11-24). */
#define LONG_PACKED_NBYTES ((uint64_t)1 << 30)
#define GPU_LONG_UNPACKED_CHUNK_NBYTES ((size_t)64 << 20)
#define GPU_PRINTED_CHUNK_NBYTES ((size_t)8 << 20) /* more kernels, which larger chunks keep busy */

/* How many threads feed a GPU. */
#define MIN_THREADS 3        /* each with a stream: one reads, one copies, one computes */
#define MAX_THREADS 16       /* that pack, or read no chunk before theirs is folded */
#define MAX_IN_TURN 12       /* that wait for a pipe, or to print: more are no faster */
#define MAX_READING_AHEAD 10 /* that keep the bus busy */
#define MAX_READING_AHEAD_ALL 24 /* for all GPUs: more get less out of the host's memory */

/* Packing makes more of the bus, but it takes threads: 16 do 79 GB/s and 10 do 55, where 52 is all
 * that the bus carries unpacked (H200, 2026-11-22). Two GPUs' buses together are faster than the
 * host's memory, so packing does not help there. Text that cannot be packed has at most
 * MAX_READING_AHEAD readers, so their number says whether they pack. */
#define MIN_PACKING 12
static_assert(MAX_READING_AHEAD < MIN_PACKING, "a number of readers says whether they pack");

/* Seconds a byte (Xeon with AVX-512, 16 threads, and H200, 2026-11-22: docs/speed.md): of a core
 * that reads for a GPU, beside others that fold, and of one that packs as well; of a GPU, which are
 * its bus's, or those of 16 threads that wait for their folds, as with a condition, with more
 * columns than column_fold takes, or with text to print. */
#define READ_S_PER_BYTE 0.18e-9
#define PACK_S_PER_BYTE 0.22e-9
#define GPU_S_PER_BYTE 0.019e-9
#define GPU_PACKED_S_PER_BYTE 0.0125e-9
#define GPU_WAITED_S_PER_BYTE 0.036e-9
#define GPU_MANY_S_PER_BYTE 0.07e-9
#define GPU_PRINTED_S_PER_BYTE 0.043e-9
#define GPU_UNPACKED_S_PER_BYTE 0.028e-9 /* of text whose blocks it decodes (H100, 2026-11-23) */

#define COLUMNS_MANY 256
#define SAMPLE_NBYTES ((size_t)16 << 10) /* enough to see whether text can be packed */

/* What --device auto counts with (Xeon with AVX-512, 16 threads, H100 and H200: docs/speed.md). A GPU wakes in
 * 0.2 s, its workers open in 0.03, and beside CPUs that work both take somewhat longer. A process that has
 * woken one takes 0.1 s longer to end, or more if it ends before all workers are open. Several GPUs wake one
 * after the other. */
#define WAKE_S 0.26
#define WAKE_S_EACH_MORE 0.2
#define END_S 0.15
#define CORES_MANY 12
#define LIKELY_RATIO 8 /* of text to packed files */
#define MEMBER_S_PER_BYTE 0.2e-9 /* of packed bytes, one member on a GPU */
#define MEMBER_NBYTES_LONG ((uint64_t)512 << 20) /* packed: of shorter ones some begin and end while others wait */

/* Seconds of a core (Xeon with AVX-512, 16 threads, 900 million numbers in 16 GB, and 4.4 GB of packed logs,
 * 2026-11-23: docs/speed.md): to read and fold a byte of text; to decode a packed byte, and fold its text; to keep a
 * number and search it; to keep a number's text and tell how many differ. */
#define READ_S 0.5e-9
#define DECODE_S 7.5e-9
#define VALUE_S 18e-9
#define KEY_S 36e-9

/* Groups (logs, 2 to 16 GB, up to 86 million groups by path and 17 million by host; an H200 and 16 cores, 2026-11-24): for
 * the CPUs to find a record's group among many, and to make and print a new one, whose key is short (fold/key.h) or long;
 * for a GPU to find a group, which a core does not do; for a core to print what a GPU has made. */
#define FIND_S 170e-9
#define MAKE_SHORT_S 300e-9
#define MAKE_LONG_S 750e-9
#define GPU_FIND_S 1.4e-9
#define PRINT_SHORT_S 60e-9
#define PRINT_LONG_S 135e-9
#define SHORT_NBYTES 16 /* of a key and its delimiter */
#define SAMPLE_NRECORDS_MIN 4000

/* The CPUs must take so many times as long: other cores and other text are other constants. */
#define SURE 1.25

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
	bool has_sections = ordered && source_has_sections(input_next(job->input));
	size_t usual = has_sections ? ORDERED_CHUNK_NBYTES : CPU_CHUNK_NBYTES;
	size_t record = FIELD_NBYTES * plan->ragged.nfields, wanted;

	record = plan->header_nbytes > record ? plan->header_nbytes : record;
	wanted = CHUNK_NRECORDS_LEAST * record;
	wanted = wanted < LONG_CHUNK_NBYTES ? wanted : LONG_CHUNK_NBYTES;
	return wanted > usual && !has_moments(plan) ? wanted : usual;
}

/* ---- the forecast ---- */

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3) /* of FNV-1a: Fowler, Noll, Vo */
#define REPEATED_SHARE 4 /* one record in so many may be of a key that was there before, or groups are few */

static double lines_per_byte(const char *text, size_t nbytes)
{
	return nbytes ? (double)count_lines(text, nbytes) / (double)nbytes : 0;
}

/* Records of a sample, how many distinct keys they have, and the bytes of all records' keys with their delimiters. */
struct group_sample {
	size_t nrecords, nkeys, nbytes;
};

/* Counts a text that begins with a record, up to the last record that it has whole. The keys are compared by hashes
 * of their fields as they stand in the text: an estimate is made of it, and nothing else. Returns 0 records where fields end
 * at blanks, a key is too far right, or memory is short. Cost: some ns a byte. */
static struct group_sample count_sample(const struct plan *plan, const char *text, size_t nbytes)
{
	struct group_sample sample = {0, 0, 0};
	struct word_set keys = {.n = 0};
	enum csv_state state = CSV_FIELD_START;
	uint64_t hash = FNV_BEGIN, fields = 0, wanted; /* bit i: field i is a key */
	unsigned char classes[256];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->nkeys; i++) {
		size_t field = plan->columns[plan->keys[i]].field;
		if (field >= 64 || plan->dialect.whitespace)
			return sample;
		fields |= (uint64_t)1 << field;
	}
	for (int byte = 0; byte < 256; byte++)
		classes[byte] = (unsigned char)csv_dialect_classify(&plan->dialect, (char)byte);
	wanted = fields;
	for (size_t i = 0; i < nbytes && status == STATUS_OK; i++) {
		enum csv_class c = classes[(unsigned char)text[i]];
		bool inside = state == CSV_QUOTED;
		state = csv_full_step(state, c);
		if (wanted & 1) {
			hash = (hash ^ (unsigned char)text[i]) * FNV_PRIME;
			sample.nbytes++;
		}
		if (inside || (c != CSV_DELIMITER && c != CSV_NEWLINE))
			continue;
		wanted >>= 1;
		if (c == CSV_DELIMITER)
			continue;
		status = word_set_add(&keys, false, hash | 1, (struct key_count){0, 0});
		sample.nrecords++;
		hash = FNV_BEGIN;
		wanted = fields;
	}
	word_set_settle(&keys);
	sample.nkeys = keys.n;
	word_set_free(&keys);
	return status == STATUS_OK ? sample : (struct group_sample){0, 0, 0};
}

/* If the keys of all records are as evenly spread as the sample's. Few: at most some times as many as it has records. */
struct forecast_groups forecast_groups_of(const struct forecast *f)
{
	const double nrecords = f->nbytes * lines_per_byte(f->sample, f->sample_nbytes);
	struct group_sample s = {0, 0, 0};
	size_t nrepeated;
	double ngroups;

	if (f->plan->nkeys && f->nbytes > 0 && f->plan->where == PREDICATE_NONE && !f->plan->emits)
		s = count_sample(f->plan, f->sample, f->sample_nbytes);
	nrepeated = s.nrecords - s.nkeys;
	if (s.nrecords < SAMPLE_NRECORDS_MIN || nrepeated > s.nrecords / REPEATED_SHARE)
		return (struct forecast_groups){0, false};
	ngroups = (double)s.nrecords * (double)s.nrecords / (2.0 * (double)(nrepeated ? nrepeated : 1));
	/* some of them do not come: about 1 - e^-x, and simpler */
	return (struct forecast_groups){nrecords * ngroups / (nrecords + ngroups), s.nbytes > SHORT_NBYTES * s.nrecords};
}

static double text_nbytes(const struct forecast *f)
{
	return f->nbytes_packed > 0 ? f->nbytes_packed * FORECAST_TEXT_RATIO : f->nbytes;
}

bool forecast_gpu_alone(const struct forecast *f)
{
	const double per_byte = lines_per_byte(f->sample, f->sample_nbytes), nrecords = f->nbytes * per_byte;
	const double read_s = f->nbytes_packed > 0 ? f->nbytes_packed * DECODE_S : f->nbytes * READ_S; /* of a core */
	double kept_s = 0; /* of a record's values, when all have been read */

	if (f->groups.n > 0) { /* many: neither CPUs nor GPUs help the other then */
		double make_s = f->groups.are_long ? MAKE_LONG_S : MAKE_SHORT_S;
		double print_s = f->groups.are_long ? PRINT_LONG_S : PRINT_SHORT_S;
		double cpu_s = read_s + nrecords * FIND_S + f->groups.n * make_s;
		return cpu_s / f->ncores > f->gpu_s + nrecords * GPU_FIND_S + f->groups.n * print_s / f->ncores;
	}
	for (size_t c = 0; c < f->plan->ncolumns && !f->plan->nkeys; c++) {
		kept_s += f->plan->columns[c].needs & MOMENT_VALUES ? VALUE_S : 0;
		kept_s += f->plan->columns[c].needs & MOMENT_KEYS ? KEY_S : 0;
	}
	kept_s *= per_byte;
	if (kept_s <= 0 && f->can_share)
		return false; /* the run will show its speed */
	return (read_s + text_nbytes(f) * kept_s) / f->ncores > f->gpu_s * SURE;
}

int forecast_ngpus(double work_s, double more_s)
{
	int n = 1;

	while (work_s / n - work_s / (n + 1) > more_s)
		n++;
	return n;
}

#ifdef HAVE_CUDA
/* Whether GPUs decode the input: blocks; members only where all workers are on GPUs. */
static bool unpacks(const struct job *job)
{
	const struct source *next = input_next(job->input);

	return source_leaves_blocks(next) || (job->gpus_alone && source_has_long_member(next));
}

static size_t gpu_chunk_nbytes(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);
	bool has_blocks = source_leaves_blocks(input_next(job->input));
	bool is_long = has_blocks && stored != UINT64_MAX && stored >= LONG_PACKED_NBYTES;

	if (job->options->chunk_nbytes)
		return job->options->chunk_nbytes;
	if (unpacks(job))
		return is_long ? GPU_LONG_UNPACKED_CHUNK_NBYTES : GPU_UNPACKED_CHUNK_NBYTES;
	return job->query->plan.emits ? GPU_PRINTED_CHUNK_NBYTES : GPU_CHUNK_NBYTES;
}

/* The bytes of all text; of compressed files, as they usually turn out; 0: not known. */
static uint64_t likely_nbytes(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);

	if (job->nbytes != UINT64_MAX)
		return job->nbytes;
	return stored == UINT64_MAX ? 0 : stored * LIKELY_RATIO;
}

/* ---- how GPUs are fed ---- */

/* Whether a thread should read one chunk while its GPU works on another. False if the thread may
 * have to wait for its input or for other chunks; more threads are faster then: 300 columns took
 * 1.54 s with reading ahead and 0.82 without, a sum with a condition 1.10 and 0.88 (H200,
 * 2026-11-22). */
static bool reads_ahead(const struct job *job)
{
	return job->nbytes != UINT64_MAX && plan_folds_columns(&job->query->plan);
}

static bool is_packable(const struct job *job)
{
	unsigned char packed[SAMPLE_NBYTES / 2];
	size_t nbytes;
	const char *sample = source_peeked(input_next(job->input), 0, &nbytes);

	nbytes = nbytes < SAMPLE_NBYTES ? nbytes : SAMPLE_NBYTES;
	return nbytes > 0 && nibbles_pack(sample, nbytes, nibble_letters(job->query->plan.dialect.delimiter), packed);
}

/* The number of threads that keep one of ngpus busy. Reading takes longest, at 7 GB/s a thread; threads
 * that only read leave half of the cores to CPU workers beside them. */
static int count_feeding(const struct job *job, int ngpus, bool beside_cpus)
{
	int nasked = job->options->nthreads, nthreads = (nasked ? nasked : cores_count()) / ngpus, most = MAX_THREADS;
	bool packs = reads_ahead(job) && ngpus == 1 && nthreads >= MIN_PACKING && is_packable(job);
	bool only_reads = reads_ahead(job) && !packs;

	if (only_reads && beside_cpus)
		nthreads /= 2;
	if (!unpacks(job) && (job->nbytes == UINT64_MAX || job->query->plan.emits))
		most = MAX_IN_TURN;
	else if (!unpacks(job) && only_reads)
		most = MAX_READING_AHEAD_ALL / ngpus < MAX_READING_AHEAD ? MAX_READING_AHEAD_ALL / ngpus : MAX_READING_AHEAD;
	nthreads = nthreads < most ? nthreads : most;
	return nthreads > MIN_THREADS ? nthreads : MIN_THREADS;
}

/* Bytes of text a second that a pool's GPU folds, once awake. */
static double gpu_speed(const struct plan *plan, const struct worker_pool *pool)
{
	double threads = pool->nthreads / (pool->setup.packs ? PACK_S_PER_BYTE : READ_S_PER_BYTE);
	double gpu = pool->setup.packs ? GPU_PACKED_S_PER_BYTE : GPU_S_PER_BYTE; /* seconds a byte, with as many as it needs */

	if (plan->emits)
		gpu = GPU_PRINTED_S_PER_BYTE;
	else if (pool->setup.unpacks)
		gpu = GPU_UNPACKED_S_PER_BYTE;
	else if (!plan_folds_columns(plan) && plan->ncolumns > COLUMNS_MANY)
		gpu = GPU_MANY_S_PER_BYTE;
	else if (!pool->reads_ahead)
		gpu = GPU_WAITED_S_PER_BYTE;
	return threads < 1 / gpu && !pool->setup.unpacks ? threads : 1 / gpu;
}

/* Adds the pool of one of ngpus. */
static void add_gpu(struct device_choice *devices, const struct job *job, int device, int ngpus,
		    bool optional)
{
	const struct plan *plan = &job->query->plan;
	bool beside_cpus = devices->pools[0].retires;
	int wanted = count_feeding(job, ngpus, beside_cpus);
	struct worker_pool *p = &devices->pools[devices->npools++];
	size_t nsampled;
	const char *sample = source_peeked(input_next(job->input), 0, &nsampled);

	p->ops = &worker_gpu;
	p->setup.device = device;
	p->setup.input_nbytes = likely_nbytes(job);
	p->setup.nrecords = (uint64_t)((double)p->setup.input_nbytes * lines_per_byte(sample, nsampled));
	p->setup.unpacks = unpacks(job);
	p->setup.chunk_nbytes = gpu_chunk_nbytes(job);
	p->replaces = beside_cpus;
	p->nthreads = count_threads(wanted, p->setup.chunk_nbytes, job->nbytes);
	p->reads_ahead = reads_ahead(job) && job->nbytes / p->setup.chunk_nbytes >= (uint64_t)wanted;
	p->setup.packs = reads_ahead(job) && p->nthreads >= MIN_PACKING;
	p->note = p->setup.packs ? " that pack" : NULL;
	p->forgives = job->options->device == DEVICE_AUTO;
	if (optional) {
		double nbefore = (double)(p - &devices->pools[1]);
		/* the pool waits until it pays */
		p->optional = true;
		p->offer = (struct device_offer){gpu_speed(plan, p), WAKE_S + nbefore * WAKE_S_EACH_MORE, END_S};
		/* To wake a GPU while every core was busy took 245 ms instead of 200 (H200, 2026-11-22). */
		p->needs_core = devices->pools[0].nthreads >= CORES_MANY;
	}
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

/* The bytes of compressed files that a GPU may decode, blocks or long members; 0 if it cannot decode them. */
static uint64_t nbytes_packed(const struct job *job)
{
	uint64_t stored = input_nbytes_stored(job->input);
	bool is_decoded = source_has_long_member(input_next(job->input));

	for (int i = 0; i < input_nfiles(job->input); i++)
		is_decoded &= source_nbytes_stored(input_source(job->input, i)) >= MEMBER_NBYTES_LONG;
	return stored != UINT64_MAX && (is_decoded || source_leaves_blocks(input_next(job->input))) ? stored : 0;
}

/* What is known of the run before it begins. */
static struct forecast forecast_of(const struct device_choice *devices, const struct job *job)
{
	double nbytes = job->nbytes == UINT64_MAX ? 0 : (double)job->nbytes;
	struct forecast f = {.plan = &job->query->plan, .nbytes = nbytes,
			     .nbytes_packed = nbytes > 0 ? 0 : (double)nbytes_packed(job),
			     .can_share = nbytes > 0 || source_leaves_blocks(input_next(job->input)),
			     .ncores = devices->pools[0].nthreads, .gpu_s = WAKE_S + END_S};

	f.sample = source_peeked(input_next(job->input), 0, &f.sample_nbytes);
	f.groups = forecast_groups_of(&f);
	return f;
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
	work_s = f.can_share ? text_nbytes(&f) / offered.pools[1].offer.speed : f.nbytes_packed * MEMBER_S_PER_BYTE;
	f.gpu_s += work_s;
	if (!forecast_gpu_alone(&f))
		return 0;
	/* If there are many groups, those of one GPU would have to be copied to the host first. Two H100s saved 5 % of 64 GB by
	 * host, and lost 7 and 22 % of 16 GB by path and by host, even when one GPU copied its groups to the other directly
	 * (2026-11-24). */
	return f.can_share && f.groups.n <= 0 ? forecast_ngpus(work_s, WAKE_S_EACH_MORE) : 1;
}

/* Chooses what a forecast tells; returns what is to be said of it; NULL: the run will show its speed. */
static const char *add_as_forecast(struct device_choice *devices, const struct job *job)
{
	struct forecast f = forecast_of(devices, job);
	struct device_choice alone = {.npools = 0};
	struct job changed = *job;

	changed.gpus_alone = true;
	changed.ngpus_most = count_gpus_preferred(devices, job, f);
	if (changed.ngpus_most == 0)
		return f.groups.n > 0 ? "CPU only: too few records for so many groups on GPUs" : NULL;
	if (!add_gpus(&alone, &changed, false))
		return "CPU only: no GPU";
	*devices = alone;
	return "GPUs, as many as pay: the CPUs would surely take longer";
}

#else /* no GPU is there */
#define gpu_estimate() 0
#define add_gpus(devices, job, optional) 0
#define add_as_forecast(devices, job) NULL
#endif

/* --device auto: offers GPUs to the CPUs; returns what is to be said of it. */
static const char *offer_gpus(struct device_choice *devices, const struct job *job)
{
	bool has_blocks = source_leaves_blocks(input_next(job->input));
	uint64_t nbytes = has_blocks ? input_nbytes_stored(job->input) : job->nbytes;
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
	const struct options *o = job->options;
	struct worker_pool *p = &devices->pools[devices->npools++];

	*p = (struct worker_pool){.ops = &worker_cpu, .retires = true};
	p->setup.chunk_nbytes = o->chunk_nbytes ? o->chunk_nbytes : cpu_chunk_nbytes(job);
	p->nthreads = count_threads(o->nthreads, p->setup.chunk_nbytes, job->nbytes);
	if (!o->chunk_nbytes &&
	    job->nbytes / (uint64_t)input_nfiles(job->input) < FILE_NBYTES_LEAST)
		p->nthreads = 1;
	p->nthreads -= source_has_thread(input_next(job->input)) && p->nthreads > 1; /* one that decodes is one of --threads */
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
	return source_peek(input_next(input), FORECAST_SAMPLE_NBYTES, fault);
}

enum status devices_choose(struct device_choice *devices, const struct options *options,
			   const struct query *query, const struct input *input,
			   struct fault *fault)
{
	const struct job job = {options, query, input, input_nbytes_left(input), options->device == DEVICE_GPU, 0};

	char gpu[64];

	memset(devices, 0, sizeof *devices);
	snprintf(gpu, sizeof gpu, "gpu:%d", options->device_number);
	if (options->device == DEVICE_GPU && !add_gpus(devices, &job, false))
		return fault_set(fault, STATUS_NO_GPU, 0, options->device_number < 0 ? NULL : gpu);
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
	return gpu_estimate();
}

void devices_set_up_input(const struct device_choice *devices, const struct plan *plan,
			  struct input *input)
{
	struct input_setup setup = {.is_prompt = plan->emits && !plan->sorter,
				    .is_ordered = plan->emits || !input_is_repeatable(input)};

	for (size_t i = 0; i < devices->npools; i++) /* a thread reads a chunk before it has finished the last one */
		setup.decodes_alone |= devices->pools[i].reads_ahead;
#ifdef HAVE_CUDA
	if (devices->npools && devices->pools[0].ops == &worker_gpu && !setup.decodes_alone &&
	    source_has_long_member(input_next(input))) {
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
