/* SPDX-License-Identifier: MIT
 *
 * traced_worker.c - see traced_worker.h.
 */
#include "bench/pipeline/traced_worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/ladder/timing.h"
#ifdef HAVE_CUDA
#include "bench/pipeline/device_marks.h"
#endif

/* How long workers wait for one that is never opened, because no thread could be started for it. */
#define GATE_S 60

struct worker {
	const struct worker_ops *ops; /* of the worker inside */
	struct worker *inside;
	struct lane *lane; /* NULL: only begin and end are asked for */
	struct device_marks *marks;
	struct chunk chunk; /* the last one read */
	bool waited;        /* for all workers to be open */
	bool reads;         /* STAGE_READ began at read_ns */
	size_t nspans;      /* of the lane, when it began */
	double read_ns, write_ns;
};

/* The run that workers belong to. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t all_open;
	struct trace *trace;
	int nworkers, nopen;
	bool spans;
} run = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0, false};

void traced_begin(struct trace *trace, int nworkers, bool spans)
{
	pthread_mutex_lock(&run.lock);
	run.trace = trace;
	run.nworkers = nworkers;
	run.nopen = 0;
	run.spans = spans;
	pthread_mutex_unlock(&run.lock);
}

/* ---- open and close ---- */

/* Counts a worker that is open, or failed to open. The last one begins the run. */
static void count_open(void)
{
	pthread_mutex_lock(&run.lock);
	if (++run.nopen >= run.nworkers) {
		run.trace->begin_ns = run.trace->end_ns = timing_now_ns();
		pthread_cond_broadcast(&run.all_open);
	}
	pthread_mutex_unlock(&run.lock);
}

static void wait_for_all(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GATE_S;
	pthread_mutex_lock(&run.lock);
	while (run.nopen < run.nworkers &&
	       pthread_cond_timedwait(&run.all_open, &run.lock, &until) == 0)
		;
	pthread_mutex_unlock(&run.lock);
}

/* Gives an open worker a lane, if the run records spans. */
static enum status watch(struct worker *w, struct fault *fault)
{
	if (!run.spans)
		return STATUS_OK;
	pthread_mutex_lock(&run.lock);
	w->lane = trace_add_lane(run.trace, w->ops->name);
	pthread_mutex_unlock(&run.lock);
	if (!w->lane)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no lane");
#ifdef HAVE_CUDA
	if (w->ops == &worker_gpu)
		return device_marks_open(&w->marks, w->inside, fault);
#endif
	return STATUS_OK;
}

static void traced_close(struct worker *w)
{
	double now_ns = timing_now_ns();

	pthread_mutex_lock(&run.lock);
	if (now_ns > run.trace->end_ns)
		run.trace->end_ns = now_ns;
	pthread_mutex_unlock(&run.lock);
#ifdef HAVE_CUDA
	if (w->marks)
		device_marks_close(w->marks);
#endif
	if (w->inside)
		w->ops->close(w->inside);
	free(w);
}

static enum status traced_open(const struct worker_ops *ops, struct worker **out,
			       const struct plan *plan, const struct worker_setup *setup,
			       struct fault *fault)
{
	struct worker *w = calloc(1, sizeof *w);
	enum status status = STATUS_NO_MEMORY;

	if (w) {
		w->ops = ops;
		status = ops->open(&w->inside, plan, setup, fault);
		if (status == STATUS_OK)
			status = watch(w, fault);
	} else {
		fault_set(fault, status, 0, NULL);
	}
	if (status == STATUS_OK)
		*out = w;
	else if (w)
		traced_close(w);
	count_open();
	return status;
}

/* ---- the steps ---- */

static void add_span(struct worker *w, enum stage stage, double begin_ns)
{
	lane_add(w->lane, stage, w->chunk.index, w->chunk.nbytes, begin_ns, timing_now_ns());
}

/* Records a step that began at begin_ns, and what the device did for it. */
static enum status end_step(struct worker *w, enum stage stage, double begin_ns,
			    enum status status, struct fault *fault)
{
	if (!w->lane || status != STATUS_OK)
		return status;
	add_span(w, stage, begin_ns);
#ifdef HAVE_CUDA
	if (w->marks)
		return device_marks_move(w->marks, w->lane, &w->chunk, fault);
#else
	(void)fault;
#endif
	return STATUS_OK;
}

/* The worker for which this thread reads. */
static _Thread_local struct worker *reader;

void traced_section(enum section_stage stage, size_t text_nbytes, double begin_s, double end_s)
{
	_Static_assert(STAGE_RESOLVE - STAGE_FIND == SECTION_NSTAGES - 1, "a stage for each");

	if (reader && reader->lane)
		lane_append(reader->lane,
			    (struct span){(enum stage)(STAGE_FIND + stage), reader->chunk.index,
					  text_nbytes, begin_s * 1e9, end_s * 1e9});
}

static char *traced_buffer(struct worker *w)
{
	reader = w;
	w->nspans = w->lane ? w->lane->nspans : 0;
	if (!w->waited)
		wait_for_all();
	w->waited = w->reads = true;
	w->read_ns = timing_now_ns();
	return w->ops->buffer(w->inside);
}

void traced_has_read(struct worker *w, const struct chunk *chunk)
{
	reader = NULL;
	w->chunk = *chunk;
	for (size_t i = w->nspans; w->lane && w->reads && i < w->lane->nspans; i++)
		w->lane->spans[i].chunk = chunk->index; /* sections decoded for this chunk */
	if (w->reads && w->lane)
		add_span(w, STAGE_READ, w->read_ns);
	w->reads = false;
}

#ifdef HAVE_CUDA
static enum status traced_read(struct worker *w, int fd, off_t position, const struct chunk *chunk,
			       struct fault *fault)
{
	return w->ops->read(w->inside, fd, position, chunk, fault);
}

static enum status traced_read_blocks(struct worker *w, const struct block_batch *batch,
				      const struct chunk *chunk, bool *decoded, struct fault *fault)
{
	return w->ops->read_blocks(w->inside, batch, chunk, decoded, fault);
}

static bool traced_read_text(struct worker *w, const struct device_text *text, const struct chunk *chunk)
{
	return w->ops->read_text(w->inside, text, chunk);
}

static void traced_load_text(struct worker *w)
{
	w->ops->load_text(w->inside);
}

static enum status traced_start(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	traced_has_read(w, chunk);
	return w->ops->begin(w->inside, chunk, fault);
}
#endif

static enum status traced_map(struct worker *w, const struct chunk *chunk, struct chunk_map *out,
			      struct fault *fault)
{
	traced_has_read(w, chunk);
	double begin_ns = timing_now_ns();

	return end_step(w, STAGE_MAP, begin_ns, w->ops->map(w->inside, chunk, out, fault), fault);
}

static enum status traced_fold(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, struct partial *out, struct fault *fault)
{
	double begin_ns = timing_now_ns();

	return end_step(w, STAGE_FOLD, begin_ns, w->ops->fold(w->inside, chunk, entry, out, fault),
			fault);
}

static enum status traced_emit(struct worker *w, const struct chunk *chunk,
			       struct chunk_entry entry, const struct partial *before,
			       struct text_buffer **out, struct fault *fault)
{
	double begin_ns = timing_now_ns();
	enum status status = w->ops->emit(w->inside, chunk, entry, before, out, fault);

	if (status == STATUS_OK && w->lane)
		w->lane->output_nbytes += (*out)->nbytes;
	return end_step(w, STAGE_EMIT, begin_ns, status, fault);
}

static void traced_writes(struct worker *w, bool begins)
{
	if (begins)
		w->write_ns = timing_now_ns();
	else if (w->lane)
		add_span(w, STAGE_WRITE, w->write_ns);
}

/* ---- the kinds ---- */

static enum status traced_cpu_open(struct worker **out, const struct plan *plan,
				   const struct worker_setup *setup, struct fault *fault)
{
	return traced_open(&worker_cpu, out, plan, setup, fault);
}

static const struct worker_ops traced_cpu = {
	.name = "cpu",
	.open = traced_cpu_open,
	.buffer = traced_buffer,
	.map = traced_map,
	.fold = traced_fold,
	.emit = traced_emit,
	.close = traced_close,
	.writes = traced_writes,
};

#ifdef HAVE_CUDA
static enum status traced_gpu_open(struct worker **out, const struct plan *plan,
				   const struct worker_setup *setup, struct fault *fault)
{
	return traced_open(&worker_gpu, out, plan, setup, fault);
}

static enum status traced_gpu_finish(const struct plan *plan, const struct worker_finish *how, struct fault *fault)
{
	return worker_gpu.finish(plan, how, fault);
}

static const struct worker_ops traced_gpu = {
	.name = "gpu",
	.open = traced_gpu_open,
	.buffer = traced_buffer,
	.read = traced_read,
	.read_blocks = traced_read_blocks,
	.read_text = traced_read_text,
	.load_text = traced_load_text,
	.begin = traced_start,
	.map = traced_map,
	.fold = traced_fold,
	.emit = traced_emit,
	.close = traced_close,
	.writes = traced_writes,
	.finish = traced_gpu_finish,
};
#endif

const struct worker_ops *traced_ops(const struct worker_ops *ops)
{
#ifdef HAVE_CUDA
	if (ops == &worker_gpu)
		return &traced_gpu;
#endif
	(void)ops;
	return &traced_cpu;
}
