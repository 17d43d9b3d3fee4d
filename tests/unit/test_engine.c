/* SPDX-License-Identifier: MIT
 *
 * test_engine.c - the engine folds each chunk once, and again only after a wrong guess.
 *
 * The workers are CPU workers. Wrappers of their operations count the calls.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.c" /* for its gain and pace */
#include "tap.h"

#define CHUNK_NBYTES 1000
#define NRECORDS 400

static atomic_uint nfolds;

static enum status counted_fold(struct worker *w, const struct chunk *chunk,
				struct chunk_entry entry, struct partial *out, struct fault *fault)
{
	nfolds++;
	return worker_cpu.fold(w, chunk, entry, out, fault);
}

/* The chunk that each of the thread's two workers has begun. */
static _Thread_local struct {
	struct worker *worker;
	uint64_t index;
	bool begun;
} begun[2];
static _Atomic uint64_t failing_index = UINT64_MAX; /* a GPU fails at this chunk */
static atomic_uint nbegun, nahead, nwrong; /* nahead: maps while the other worker had begun */

static int place_of(const struct worker *w)
{
	int i = begun[0].worker && begun[0].worker != w;

	if (begun[i].worker && begun[i].worker != w)
		nwrong++;
	return i;
}

static enum status noted_begin(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	int i = place_of(w);

	if (chunk->index == failing_index)
		return fault_set(fault, STATUS_GPU, 0, "as the test wants it");
	nbegun++;
	nwrong += begun[i].begun;
	begun[i].worker = w;
	begun[i].index = chunk->index;
	begun[i].begun = true;
	return STATUS_OK;
}

static enum status noted_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			     struct fault *fault)
{
	int i = place_of(w);

	nwrong += !begun[i].begun || begun[i].index != chunk->index;
	nahead += begun[!i].begun && begun[!i].index > chunk->index;
	begun[i].begun = false;
	return worker_cpu.map(w, chunk, out, fault);
}

static struct plan_column columns[] = {
	{.field = 0, .name = "a", .needs = MOMENTS_FUSED, .parses = true, .if_numeric = true,
	 .invalid = INVALID_SKIP},
	{.field = 1, .name = "b", .needs = MOMENTS_FUSED, .parses = true, .if_numeric = true,
	 .invalid = INVALID_SKIP},
};
static const struct plan test_plan = {.dialect = {.delimiter = ',', .quote = '"'},
				      .notation = {.decimal = '.'}, .ragged = {RAGGED_EXTRA, 2, false},
				      .bad_record = INVALID_ERROR, .where = PREDICATE_NONE,
				      .ncolumns = 2, .columns = columns};

/* Writes NRECORDS records `1,second`. Returns the path, which the caller unlinks and frees. */
static char *file_of(const char *second)
{
	char *path = strdup("test_engine.XXXXXX");
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		bail("no file can be made");
	for (int i = 0; i < NRECORDS; i++)
		fprintf(f, "1,%s\n", second);
	if (fclose(f))
		bail("no file can be written");
	return path;
}

/* One run and its results. Static, since threads of a failed run may still be running. */
static struct run {
	struct worker_ops ops;
	struct worker_pool pool;
	struct input *input;
	struct total total;
	struct fault fault;
	enum status status;
	uint64_t nnumbers; /* in the first column */
	const char *paths[1];
} runs[16];
static size_t nruns;

/* Runs the engine with r->pool over records `1,second`. */
static void run_pool(struct run *r, const char *second, const struct plan *plan, bool may_guess)
{
	bool all_ended;

	r->paths[0] = file_of(second);
	if (input_open(&r->input, r->paths, 1, 0, &r->fault) || total_init(&r->total, plan))
		bail("no input, or no memory");
	r->status = engine_run(plan, r->input, &r->pool, 1, &r->total, may_guess, &all_ended,
			       &r->fault);
	r->nnumbers = r->total.partial.columns[0].numbers.count;
	unlink(r->paths[0]);
}

static struct run *run_with(const char *second, bool may_guess, bool reads_ahead)
{
	struct run *r = &runs[nruns++];

	r->ops = worker_cpu;
	r->ops.fold = counted_fold;
	if (reads_ahead) {
		r->ops.begin = noted_begin;
		r->ops.map = noted_map;
	}
	r->pool = (struct worker_pool){.ops = &r->ops, .nthreads = 3, .setup.chunk_nbytes = CHUNK_NBYTES,
				  .reads_ahead = reads_ahead};
	nfolds = nbegun = nahead = nwrong = 0;
	run_pool(r, second, &test_plan, may_guess);
	return r;
}

static struct run *run(const char *second, bool may_guess)
{
	return run_with(second, may_guess, false);
}

static void test_folds_once(const char *what, const char *second, bool may_guess)
{
	struct run *r = run(second, may_guess);

	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nfolds == r->pool.nchunks &&
	   nfolds > 1, "%s, %s", what, may_guess ? "ahead" : "in turn");
}

/* Returns `of`, repeated to at least nbytes bytes, between two copies of `around`. */
static const char *repeated(const char *of, size_t nbytes, const char *around)
{
	static char text[40 * CHUNK_NBYTES];
	size_t n = strlen(around), each = strlen(of);

	memcpy(text, around, n);
	for (; n < nbytes; n += each)
		memcpy(text + n, of, each);
	strcpy(text + n, around);
	return text;
}

/* Chunks inside a quoted field whose text looks like records. */
static void test_wrong_guesses(void)
{
	const char *rows = repeated("4,4\n", 3 * CHUNK_NBYTES, "\"");
	struct run *r = run(rows, true);

	ok(r->status == STATUS_MISGUESSED, "a wrong guess is seen in its turn");
	r = run(rows, false);
	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nfolds == r->pool.nchunks,
	   "without guesses there is none");
	r = run(repeated("4\n", 3 * CHUNK_NBYTES, "\""), true);
	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nfolds > r->pool.nchunks,
	   "where the chunk has to wait, it is folded again");
}

/* Two workers per thread: one worker begins its chunk before the other maps an earlier chunk. */
static void test_reads_ahead(const char *second, bool may_guess)
{
	struct run *r = run_with(second, may_guess, true);

	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nbegun == r->pool.nchunks &&
	   nahead > 0 && nwrong == 0, "two workers a thread, %u of %u chunks begun ahead", nahead,
	   nbegun);
	failing_index = 1;
	r = run_with(second, may_guess, true);
	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nwrong == 0 &&
	   r->pool.work_fault.status == STATUS_GPU, "one of them fails: a CPU has its place");
	failing_index = UINT64_MAX;
}

/* ---- text that is not in the buffer ---- */

#define PIECED_NBYTES 20000

static _Thread_local char whole[PIECED_NBYTES]; /* the whole chunk */
static atomic_uint nloaded;

/* Reads in pieces of odd sizes. */
static enum status piece_read(struct worker *w, int fd, off_t position, const struct chunk *chunk,
			      struct fault *fault)
{
	static const size_t sizes[] = {1, 63, 64, 777, 5000};
	enum status status = STATUS_OK;

	(void)w;
	for (size_t done = 0, n; done < chunk->nbytes && status == STATUS_OK; done += n) {
		n = sizes[done % (sizeof sizes / sizeof *sizes)];
		n = n < chunk->nbytes - done ? n : chunk->nbytes - done;
		status = file_read_range(fd, position + (off_t)done, whole + done, n, fault);
	}
	return status;
}

static void piece_load_text(struct worker *w)
{
	nloaded++;
	memcpy(worker_cpu.buffer(w), whole, PIECED_NBYTES);
}

static enum status piece_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			     struct fault *fault)
{
	memcpy(chunk->data, whole, chunk->nbytes);
	if (chunk->index == failing_index)
		return fault_set(fault, STATUS_GPU, 0, "as the test wants it");
	return worker_cpu.map(w, chunk, out, fault);
}

/* After the fold, overwrites all of the buffer but the ends that a worker must keep. */
static enum status piece_fold(struct worker *w, const struct chunk *chunk,
			      struct chunk_entry entry, struct partial *out, struct fault *fault)
{
	memcpy(chunk->data, whole, chunk->nbytes);
	enum status status = worker_cpu.fold(w, chunk, entry, out, fault);
	if (chunk->nbytes > 2 * WORKER_ENDS_NBYTES)
		memset(chunk->data + WORKER_ENDS_NBYTES, '?', chunk->nbytes - 2 * WORKER_ENDS_NBYTES);
	return status;
}

static struct run *run_in_pieces(const char *second, const struct plan *plan)
{
	struct run *r = &runs[nruns++];

	r->ops = worker_cpu;
	r->ops.read = piece_read;
	r->ops.load_text = piece_load_text;
	r->ops.map = piece_map;
	r->ops.fold = piece_fold;
	r->pool = (struct worker_pool){.ops = &r->ops, .nthreads = 3,
				  .setup.chunk_nbytes = PIECED_NBYTES};
	nloaded = 0;
	run_pool(r, second, plan, true);
	return r;
}

static void test_pieces(void)
{
	static struct plan_column strict[2];
	static struct plan strict_plan;
	char number[351] = {0}, *faulty;
	struct run *r;

	memset(number, '5', 350);
	r = run_in_pieces(number, &test_plan);

	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && r->pool.nchunks > 5 &&
	   nloaded < r->pool.nchunks, "text that is nowhere whole, loaded %u times for %u "
	   "chunks", nloaded, (unsigned)r->pool.nchunks);
	r = run_in_pieces(repeated("x", 5 * WORKER_ENDS_NBYTES, ""), &test_plan);
	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS && nloaded > 0,
	   "records longer than what is kept");
	failing_index = 3;
	r = run_in_pieces(number, &test_plan);
	failing_index = UINT64_MAX;
	ok(r->status == STATUS_OK && r->nnumbers == NRECORDS &&
	   r->pool.work_fault.status == STATUS_GPU, "a CPU takes the place of who had it");
	memcpy(strict, columns, sizeof strict);
	strict[0].invalid = INVALID_ERROR;
	strict[0].if_numeric = false;
	strict_plan = test_plan;
	strict_plan.columns = strict;
	faulty = strdup(repeated("x", 2 * WORKER_ENDS_NBYTES, "")); /* in no chunk's ends */
	r = run_in_pieces(strcat(realloc(faulty, strlen(faulty) + 10), "\nnone,1"), &strict_plan);
	ok(r->status == STATUS_NOT_A_NUMBER && r->fault.line == 2 && !strcmp(r->fault.detail, "none"),
	   "a fault is told with its text");
}

/* ---- a device beside CPUs ---- */

#define NDEVICE_THREADS 3

/* A run with CPU workers and a device, whose number is its index. Static, since late threads may
 * still use it. */
static struct beside {
	enum status wakes, opens;
	atomic_uint ntried; /* threads of the device that have tried to wake or to open it */
	struct worker_ops cpu, device;
	struct worker_pool pools[2];
	const char *paths[1];
	struct input *input;
	struct total total;
	struct fault fault;
} besides[10];
static int nbesides;
static uint64_t nbytes_before; /* of engine_nbytes_begun, when the run began */

static enum status device_wake(int device, struct fault *fault)
{
	struct beside *b = &besides[device];

	if (b->wakes == STATUS_OK)
		return STATUS_OK;
	b->ntried++;
	return fault_set(fault, b->wakes, 0, "does not wake");
}

static enum status device_open(struct worker **out, const struct plan *plan,
			       const struct worker_setup *setup, struct fault *fault)
{
	struct beside *b = &besides[setup->device];

	b->ntried++;
	if (b->opens != STATUS_OK)
		return fault_set(fault, b->opens, 0, "does not open");
	return worker_cpu.open(out, plan, setup, fault);
}

/* Delays a CPU worker until a thread of the device has tried to wake or open it, at most 1 s. */
static char *late_buffer(struct worker *w)
{
	for (int n = 0; besides[nbesides].ntried == 0 && n < 10000; n++)
		usleep(100);
	return worker_cpu.buffer(w);
}

/* The same for a device that waits until it pays: not before something has been folded, and 0.05 s. */
static char *late_second_buffer(struct worker *w)
{
	bool is_second = engine_nbytes_begun > nbytes_before;

	for (int n = 0; is_second && besides[nbesides].ntried == 0 && n < 500; n++)
		usleep(100);
	return worker_cpu.buffer(w);
}

static void beside_make(struct beside *b, bool needs_core)
{
	b->cpu = b->device = worker_cpu;
	b->cpu.buffer = late_buffer;
	b->device.wake = device_wake;
	b->device.open = device_open;
	b->pools[0] = (struct worker_pool){.ops = &b->cpu, .nthreads = 2, .retires = true,
				      .setup.chunk_nbytes = CHUNK_NBYTES};
	b->pools[1] = (struct worker_pool){.ops = &b->device, .nthreads = NDEVICE_THREADS,
				      .setup = {CHUNK_NBYTES, nbesides, 0, false}, .optional = true,
				      .replaces = true, .needs_core = needs_core};
	b->paths[0] = file_of("2");
	if (input_open(&b->input, b->paths, 1, 0, &b->fault) || total_init(&b->total, &test_plan))
		bail("no input, or no memory");
}

/* The result is complete whether or not the device wakes and opens. */
static void test_beside(enum status wakes, enum status opens, bool needs_core, const char *what)
{
	struct beside *b = &besides[nbesides];
	bool all_ended;

	beside_make(b, needs_core);
	b->wakes = wakes;
	b->opens = opens;
	enum status status = engine_run(&test_plan, b->input, b->pools, 2, &b->total, true,
					&all_ended, &b->fault);
	unlink(b->paths[0]);
	ok(status == STATUS_OK && b->total.partial.columns[0].numbers.count == NRECORDS,
	   "%s%s: nothing is lost", what, needs_core ? ", on a core of its own" : "");
	ok(b->pools[1].work_fault.status == STATUS_OK, "... and nobody is warned");
	nbesides++;
}

/* A device without CPUs beside it that cannot be opened: CPUs do its work. */
static void test_alone(bool forgives, const char *what)
{
	struct beside *b = &besides[nbesides];
	bool all_ended;

	beside_make(b, false);
	b->opens = STATUS_GPU;
	b->pools[1].optional = b->pools[1].replaces = false;
	b->pools[1].forgives = forgives;
	enum status status = engine_run(&test_plan, b->input, &b->pools[1], 1, &b->total, true, &all_ended, &b->fault);
	unlink(b->paths[0]);
	ok(status == STATUS_OK && b->total.partial.columns[0].numbers.count == NRECORDS, "%s: nothing is lost", what);
	ok((b->pools[1].work_fault.status == STATUS_OK) == forgives, "... and %s is told", forgives ? "nobody" : "the user");
	nbesides++;
}

/* A device that waits until it pays: it joins if it is fast, and is not touched if it is slow. */
static void test_offer(double speed, bool joins, const char *what)
{
	struct beside *b = &besides[nbesides];
	bool all_ended;

	beside_make(b, false);
	b->wakes = STATUS_NO_GPU; /* counts the threads that try to wake it */
	b->pools[1].offer = (struct device_offer){speed, 1e-3, 0};
	b->cpu.buffer = late_second_buffer;
	b->pools[0].setup.chunk_nbytes = b->pools[1].setup.chunk_nbytes = CHUNK_NBYTES / 10;
	nbytes_before = engine_nbytes_begun;
	enum status status = engine_run(&test_plan, b->input, b->pools, 2, &b->total, true,
					&all_ended, &b->fault);
	unlink(b->paths[0]);
	ok(status == STATUS_OK && b->total.partial.columns[0].numbers.count == NRECORDS,
	   "%s: nothing is lost", what);
	ok((b->ntried > 0) == joins && (b->pools[1].called_s > 0) == joins, "... it %s",
	   joins ? "joins" : "is not touched");
	nbesides++;
}

/* 10 GB are left at 1 GB/s; a device of 9 GB/s wakes in 1 s. */
static void test_gain(void)
{
	const struct device_offer device = {9e9, 1, 0.5};
	struct pace_meter meter = {0};

	ok(gain_s(&device, 1e9, 10e9, 1, 0) == 9 - 0.9 - 0.5, "gain: beside all others");
	ok(gain_s(&device, 1e9, 10e9, 0, 0) == 9 - 1 - 0.5, "gain: in place of them");
	ok(gain_s(&device, 1e9, 10e9, 1, 0.5) == 9 - 4.5 - 0.5,
	   "gain: no faster than what is written");
	ok(gain_s(&device, 1e9, 0.9e9, 1, 0) == -0.5, "gain: it would wake too late");
	ok(!pace_look(&meter, 0.001, 1e6, 0), "pace: too early to tell");
	ok(!pace_look(&meter, 0.5, 1e9, 0.25), "pace: the first look");
	ok(!pace_look(&meter, 1, 1e9, 0.25), "pace: nothing has moved");
	ok(pace_look(&meter, 1, 3e9, 0.5) && meter.speed == 4e9 && meter.writing == 0.5, "pace: a look");
	ok(pace_look(&meter, 2.5, 5e9, 0.5) && meter.speed == 2e9 && meter.writing == 0.125,
	   "pace: all since the first");
	ok(!pace_is_sure(&meter, true) && !pace_is_sure(&meter, false) && !pace_is_sure(&meter, true) &&
	   pace_is_sure(&meter, true), "pace: a device is called that pays twice in a row");
}

static void test_device(void)
{
	test_gain();
	test_offer(INFINITY, true, "a fast device on offer");
	test_offer(1, false, "a slow one");
	test_alone(false, "a device alone, which was asked for, and cannot be opened");
	test_alone(true, "one that was chosen");
	for (int needs_core = 0; needs_core < 2; needs_core++) {
		test_beside(STATUS_OK, STATUS_OK, needs_core, "a device that comes later");
		test_beside(STATUS_NO_GPU, STATUS_OK, needs_core, "one that does not wake");
		test_beside(STATUS_OK, STATUS_GPU, needs_core, "one that cannot be opened");
	}
}

int main(void)
{
	plan_lazy();
	test_device();
	test_pieces();
	test_folds_once("numbers", "2", true);
	test_folds_once("text", "GET", true);
	test_folds_once("text", "GET", false);
	test_folds_once("long records", repeated("x", 2 * CHUNK_NBYTES, "2,"), true);
	test_reads_ahead("2000000000", true); /* more chunks than threads: one has two */
	test_reads_ahead(repeated("x", 2 * CHUNK_NBYTES, "2,"), false);
	test_wrong_guesses();
	_exit(done()); /* threads of the failed run may still be running */
}
