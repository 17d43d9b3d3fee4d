/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h. First what each thread does with its chunks, then how threads start and end.
 *
 * Three ordered queues (base/thread.h) have the chunks as their items:
 *
 *   entries   chunk k's transition map takes its entry state to chunk k + 1's
 *   totals    chunk k's partial is added to the total of all chunks before it
 *   writes    if records are printed, chunk k's output follows chunk k - 1's
 *
 * A thread posts its chunk's map to the entries, and waits for the entry only if the fold
 * depends on it (enum chunk_dependence). For the totals it rarely has to wait: sums are
 * exact, so the fold of a chunk without a fault may be added at any time. The thread adds it to a
 * partial of its own and posts only the chunk's border: its two ends, which hold cut records. It
 * waits only where order matters: if the chunk has a fault or long ends, until every column has had
 * a value, and to print records.
 *
 * There is no deadlock: chunks are handed out in order, every thread finishes its chunks in that
 * order (it may have read one more), and none waits for a later chunk.
 *
 * A GPU takes some time to wake, and the CPUs may finish before that. The threads of an optional
 * pool therefore wait until the run has shown its speed, and wake their device if the run then ends
 * sooner. They count as running only once the device is awake; those that are too late touch nothing.
 */
#include "engine/engine.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/thread.h"
#include "emit/lead.h"
#include "fold/groups.h"
#include "io/output.h"

/* Chunks that may be folded while the total waits for one. There are more entries, one for
 * each thread: its threads may be a chunk ahead, and an entry must still be there when it is asked
 * for. */
#define NTOTALS 1024
#define NENTRIES ORDERED_QUEUE_MOST /* --threads takes at most 1024, and each GPU some */

_Atomic uint64_t engine_nbytes_begun;

/* Counts bytes and seconds of output since the first look. All zero: not begun. */
struct pace_meter {
	double first_s, first_nbytes, first_write_s;
	double speed, writing; /* since then */
	unsigned npaying;      /* looks in a row at which the device would have paid */
};

/* What the entries have of a chunk: its transition map, and, after its turn, its entry. */
struct entry_slot {
	csv_full_map map;
	bool first_of_file;
	bool is_empty, ends_line; /* no bytes; the last is an LF */
	struct chunk_entry entry;
};

struct engine {
	const struct plan *plan;
	struct input *input;
	struct worker_thread *threads;
	int nthreads;

	struct ordered_queue entries, totals, writes;
	struct entry_slot *entry_slots; /* NENTRIES; owned */
	struct border *borders;         /* NTOTALS; owned */
	bool guesses; /* chunks may be folded before their entry is known */
	struct chunk_entry entry; /* of the next chunk; guarded by the turn of the entries */
	struct total *total;      /* guarded by the turn of the totals */
	struct writer writer;     /* these two: guarded by the turn of the writes */
	struct lead_queue leads;
	pthread_mutex_t writing;  /* held while a chunk's output is written. Once the run has failed
				   * it stays locked: the process must not end during a write. */
	atomic_bool settled;      /* total->settled, once it is */

	atomic_int nsurplus; /* threads of retiring pools that must end */
	double begin_s;      /* clock_s, when the run began */
	uint64_t nbytes_before; /* of engine_nbytes_begun */
	uint64_t nbytes_all, nbytes_stored; /* of the input's text, and of its files; UINT64_MAX: not known */

	atomic_bool failed;
	pthread_mutex_t lock; /* guards all below, and the pools' results */
	pthread_cond_t finished;
	int nrunning;         /* threads that may still read chunks */
	bool over;            /* nrunning has fallen to 0 */
	struct fault *fault;  /* once failed: why */
};

static_assert(BORDER_NBYTES <= WORKER_ENDS_NBYTES, "a border is copied from the buffer");

/* A worker, and its chunk. */
struct work_slot {
	const struct worker_ops *ops; /* the pool's, or worker_cpu in place of a GPU that failed */
	struct worker *worker;        /* NULL: not open */
	struct chunk chunk;
	enum status status; /* of reading it and beginning with it; not reported yet */
	struct fault fault;
};

struct worker_thread {
	struct engine *engine;
	struct worker_pool *pool;
	pthread_t thread;
	bool opening;   /* its device is waking; the run does not wait for the thread */
	bool is_first;  /* of its pool */
	bool has_place; /* a core has been freed for it, so it works even if the device fails */
	struct pace_meter meter; /* of the first thread of an optional pool */
	struct work_slot slots[2];
	int nslots;
	struct section_reader section;
	struct work_slot *slot;   /* the current one: all below belongs to its chunk */
	struct chunk_map map;
	struct chunk_entry entry; /* with which it was folded */
	bool guessed;             /* the fold assumed that the chunk is entered outside quotes */
	struct partial partial;   /* these four are zeroed, and their tables made when needed */
	struct partial deferred;  /* the fold of all chunks that posted only their borders */
	struct seam_folder folder;
	struct chunk_output output;
	struct text_buffer *text; /* the chunk's own output, in the worker; NULL: none */
	uint64_t nbytes, nchunks; /* of all chunks so far */
};

/* ---- what is done in order ---- */

/* Ends the run; the first call's fault is the run's. */
static void engine_fail(struct engine *e, const struct fault *fault)
{
	pthread_mutex_lock(&e->lock);
	if (!e->failed)
		*e->fault = *fault;
	e->failed = true;
	pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
	ordered_queue_stop(&e->entries);
	ordered_queue_stop(&e->totals);
	ordered_queue_stop(&e->writes);
	input_stop(e->input);
}

/* Ends the run unless status is STATUS_OK. fault: of status, which it need not have. Returns whether the run goes on. */
static bool engine_goes_on(struct engine *e, enum status status, struct fault *fault)
{
	if (fault_complete(fault, status) != STATUS_OK)
		engine_fail(e, fault);
	return status == STATUS_OK;
}

/* Notes that a pool's device has failed, and keeps the first fault of those of its kind in *first. */
static void note_failure(struct engine *e, struct worker_pool *pool, struct fault *first, const struct fault *fault)
{
	pthread_mutex_lock(&e->lock);
	if (first->status == STATUS_OK)
		*first = *fault;
	pthread_mutex_unlock(&e->lock);
	pool->failed = true;
}

/* Notes that a pool's device has failed with groups that it kept. fault: of that failure; becomes STATUS_GPU_LOST, which
 * is returned. */
static enum status engine_lose_device(struct engine *e, struct worker_pool *pool, struct fault *fault)
{
	note_failure(e, pool, &pool->work_fault, fault);
	return fault->status = STATUS_GPU_LOST;
}

/* Waits for the turn of the thread's chunk; false if the run has failed. */
static bool wait_for_turn(struct worker_thread *t, struct ordered_queue *queue)
{
	return ordered_queue_await(queue, t->slot->chunk.index, t->slot->chunk.index);
}

static struct entry_slot *entry_slot(struct engine *e, uint64_t k)
{
	return &e->entry_slots[k % NENTRIES];
}

/* Determines the entries of chunk k, whose turn the caller has, and of the posted ones behind
 * it. */
static void pass_entries(struct engine *e, uint64_t k)
{
	do {
		struct entry_slot *s = entry_slot(e, k);
		s->entry = s->first_of_file ? CHUNK_BETWEEN_RECORDS : e->entry;
		e->entry = s->is_empty ? s->entry
				       : chunk_entry_after(s->map, s->ends_line, s->entry);
	} while (ordered_queue_finish(&e->entries, k++, STATUS_OK, NULL));
}

/* Posts the chunk's map to the entries. */
static bool post_map(struct worker_thread *t)
{
	struct engine *e = t->engine;
	const struct chunk *chunk = &t->slot->chunk;
	struct entry_slot *s = entry_slot(e, chunk->index);

	if (!ordered_queue_enter(&e->entries, chunk->index))
		return false;
	s->map = t->map.map;
	s->first_of_file = chunk->first_of_file;
	s->is_empty = chunk->nbytes == 0;
	s->ends_line = chunk->nbytes > 0 && chunk->data[chunk->nbytes - 1] == '\n';
	if (ordered_queue_post(&e->entries, chunk->index))
		pass_entries(e, chunk->index);
	return true;
}

/* Waits for the entry of chunk k, whose map has been posted: until its turn is over. False if the run has failed. */
static bool await_entry(struct worker_thread *t, uint64_t k, struct chunk_entry *entry)
{
	if (!ordered_queue_await(&t->engine->entries, k + 1, k + 1))
		return false;
	*entry = entry_slot(t->engine, k)->entry;
	return true;
}

/* Writes the chunk's output: all of it or, once the run has failed, none. */
static enum status write_whole(struct worker_thread *t, struct fault *fault)
{
	struct engine *e = t->engine;
	struct text_buffer *texts[] = {&t->output.head, t->text, &t->output.tail};
	void (*report)(struct worker *w, bool begins) = t->slot->ops->writes;
	enum status status = STATUS_OK;

	pthread_mutex_lock(&e->writing);
	if (report)
		report(t->slot->worker, true);
	for (int i = e->failed ? 3 : 0; i < 3 && status == STATUS_OK; i++)
		status = texts[i] ? lead_queue_write(&e->leads, texts[i], &e->writer, fault) : STATUS_OK;
	if (report)
		report(t->slot->worker, false);
	pthread_mutex_unlock(&e->writing);
	return status;
}

/* Writes the chunk's output when its turn has come. */
static bool write_in_turn(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct fault fault = {.status = STATUS_OK};

	if (!wait_for_turn(t, &e->writes) || !engine_goes_on(e, write_whole(t, &fault), &fault))
		return false;
	ordered_queue_finish(&e->writes, t->slot->chunk.index, STATUS_OK, NULL);
	return true;
}

static struct border *border_at(struct engine *e, uint64_t k)
{
	return &e->borders[k % NTOTALS];
}

/* Adds to the total the border that was posted at chunk k, whose turn the thread has. */
static bool add_border(struct worker_thread *t, uint64_t k)
{
	struct engine *e = t->engine;
	const struct border *border = border_at(e, k);
	struct fault fault = {.status = STATUS_OK};
	struct chunk_entry entry;
	enum status status;

	/* It may have been folded as if it were entered outside quotes. All earlier chunks have posted their maps, so the wait is short. */
	if (border->guesses && await_entry(t, border->chunk.index, &entry) && entry.state == CSV_QUOTED)
		status = STATUS_MISGUESSED;
	else
		status = total_add_border(e->total, border, &t->folder, &t->deferred, &fault);
	fault_complete(&fault, status);
	fault.file = input_name(e->input, border->chunk.file);
	return engine_goes_on(e, status, &fault);
}

/* Ends the turn of chunk k in the totals, and does those of the posted chunks behind it. False
 * if the run has failed. */
static bool pass_totals(struct worker_thread *t, uint64_t k)
{
	struct engine *e = t->engine;

	if (!e->settled && e->total->settled)
		e->settled = true;
	while (ordered_queue_finish(&e->totals, k, STATUS_OK, NULL))
		if (!add_border(t, ++k))
			return false;
	return true;
}

/* Where order does not matter: posts the chunk's border to the totals. */
static bool post_border(struct worker_thread *t)
{
	struct engine *e = t->engine;
	uint64_t k = t->slot->chunk.index;
	enum status status = partial_need(&t->deferred, e->plan);
	struct fault fault = {.status = STATUS_OK};

	THEN(status, partial_fault(&t->deferred, e->plan, partial_combine(&t->deferred, &t->partial),
				   &fault));
	if (!engine_goes_on(e, status, &fault) || !ordered_queue_enter(&e->totals, k))
		return false;
	border_copy(border_at(e, k), &t->slot->chunk, t->map.nlines, &t->partial);
	border_at(e, k)->guesses = t->guessed;
	if (!ordered_queue_post(&e->totals, k))
		return true;
	return add_border(t, k) && pass_totals(t, k);
}

/* Adds the chunk to the total when its turn has come. */
static bool add_in_turn(struct worker_thread *t)
{
	struct engine *e = t->engine;
	const struct chunk *chunk = &t->slot->chunk;
	struct fault fault = {.status = STATUS_OK};
	enum status status;
	const struct partial *p = &t->partial;

	/* Loads the chunk's text if the total needs more of it than its ends: before the turn, which others wait for. */
	if (p->head_nbytes > WORKER_ENDS_NBYTES ||
	    t->slot->chunk.nbytes - p->tail_offset > WORKER_ENDS_NBYTES ||
	    !ends_suffice(e->total, p, e->settled))
		worker_load_text(t->slot->ops, t->slot->worker);
	if (!wait_for_turn(t, &e->totals))
		return false;
	t->output.entry = t->entry;
	status = total_add(e->total, chunk, t->map.nlines, &t->partial, &t->output, &fault);
	if (fault_complete(&fault, status) != STATUS_OK) {
		fault.file = input_name(e->input, chunk->file);
		/* Fails the run at a fault in the chunk. The records before the fault are printed, so that the
		 * output ends at the same record on any number of workers. */
		t->text = NULL;
		total_emit_before_fault(e->total, &t->slot->chunk, t->entry, &t->output);
		if (!e->plan->emits || write_in_turn(t))
			engine_fail(e, &fault);
		return false;
	}
	return pass_totals(t, chunk->index);
}

/* Fails the run because reading failed at this chunk, unless an earlier chunk has a fault. */
static void fail_in_turn(struct worker_thread *t, const struct fault *fault)
{
	struct engine *e = t->engine;

	if (!wait_for_turn(t, &e->totals))
		return;
	t->text = NULL;
	t->output.head.nbytes = t->output.tail.nbytes = 0;
	if (!e->plan->emits || write_in_turn(t))
		engine_fail(e, fault);
}

/* ---- one thread ---- */

enum phase { PHASE_MAP, PHASE_FOLD, PHASE_EMIT };

/* Runs a phase of the work on the current chunk; the phases before it have run. */
static enum status run_phase(struct worker_thread *t, enum phase phase, struct fault *fault)
{
	const struct worker_ops *ops = t->slot->ops;
	struct worker *w = t->slot->worker;

	switch (phase) {
	case PHASE_MAP:
		if (t->slot->status == STATUS_OK)
			return ops->map(w, &t->slot->chunk, &t->map, fault);
		*fault = t->slot->fault; /* begin failed */
		return t->slot->status;
	case PHASE_FOLD:
		TRY(partial_need(&t->partial, t->engine->plan));
		partial_clear(&t->partial);
		return total_bind(t->engine->plan, &t->partial, fault,
				  ops->fold(w, &t->slot->chunk, t->entry, &t->partial, fault));
	default:
		return ops->emit(w, &t->slot->chunk, t->entry, &t->output.before, &t->text,
				 fault);
	}
}

/* Opens a CPU worker in slot, where a GPU's has failed or cannot be opened. fault: that failure,
 * which is copied to *first unless an earlier one is there. Errors: STATUS_NO_MEMORY, in fault. */
static enum status worker_thread_use_cpu(struct worker_thread *t, struct work_slot *slot,
				  struct fault *first, struct fault *fault)
{
	note_failure(t->engine, t->pool, first, fault);
	slot->ops = &worker_cpu;
	slot->worker = NULL;
	return worker_cpu.open(&slot->worker, t->engine->plan, &t->pool->setup, fault);
}

/* Replaces a GPU worker that has failed by a CPU's, which takes over the chunk. */
static enum status replace_worker(struct worker_thread *t, struct fault *fault)
{
	struct work_slot failed = *t->slot, *slot = t->slot;
	enum status status = worker_thread_use_cpu(t, slot, &t->pool->work_fault, fault);

	worker_load_text(failed.ops, failed.worker);
	slot->status = STATUS_OK;
	if (status == STATUS_OK) {
		memcpy(slot->ops->buffer(slot->worker), slot->chunk.data, slot->chunk.nbytes);
		slot->chunk.data = slot->ops->buffer(slot->worker);
	}
	failed.ops->close(failed.worker);
	return status;
}

/* Repeats the chunk's phases on a CPU, up to the one in which a GPU failed. The map comes out the
 * same, but a fold without the entry may need it now. */
static enum status repeat_on_cpu(struct worker_thread *t, enum phase last, struct fault *fault)
{
	enum status status = replace_worker(t, fault);

	for (int phase = PHASE_MAP; status == STATUS_OK && phase <= (int)last; phase++) {
		if (phase == PHASE_FOLD && t->entry.unknown) {
			partial_clear(&t->partial);
			t->partial.needs_entry = true;
			break;
		}
		status = run_phase(t, (enum phase)phase, fault);
	}
	return status;
}

/* Completes a phase, on a CPU if a GPU fails in it; false if the run has failed. */
static bool complete(struct worker_thread *t, enum phase phase)
{
	struct fault fault = {.status = STATUS_OK};
	enum status status = run_phase(t, phase, &fault);

	if (status == STATUS_GPU && t->slot->ops != &worker_cpu)
		status = plan_leaves_groups(t->engine->plan) ? engine_lose_device(t->engine, t->pool, &fault)
							     : repeat_on_cpu(t, phase, &fault);
	return engine_goes_on(t->engine, status, &fault);
}

/* Whether the total needs no more of the chunk than its border. */
static bool border_is_enough(const struct worker_thread *t)
{
	return border_suffices(t->engine->total, &t->slot->chunk, &t->partial, t->engine->settled);
}

/* Folds the chunk before its entry is known, unless it is CHUNK_DEPENDS, or the first record's end may lie in it: that is
 * kept by itself, and the head of an early fold may have several records. *folded: whether the fold
 * is valid; if t->guessed, only if the chunk is not entered in quotes. False if the run failed. */
static bool fold_early(struct worker_thread *t, bool *folded)
{
	*folded = false;
	t->guessed = t->map.dependence == CHUNK_GUESSES;
	if (!t->engine->guesses || t->map.dependence == CHUNK_DEPENDS || t->engine->total->keeps_head)
		return true;
	t->entry = CHUNK_UNKNOWN;
	if (!complete(t, PHASE_FOLD))
		return false;
	*folded = !t->partial.needs_entry;
	return true;
}

/* Waits for the chunk's entry, folds the chunk unless the early fold is valid, and adds it to the total. */
static bool fold_in_turn(struct worker_thread *t, bool folded)
{
	struct chunk_entry entry;

	if (!await_entry(t, t->slot->chunk.index, &entry))
		return false;
	if (!folded || (t->guessed && entry.state == CSV_QUOTED)) {
		t->entry = entry;
		if (!complete(t, PHASE_FOLD))
			return false;
	}
	t->guessed = false;
	if (border_is_enough(t))
		return post_border(t);
	if (!add_in_turn(t))
		return false;
	return !t->engine->plan->emits || (complete(t, PHASE_EMIT) && write_in_turn(t));
}

static bool fold_chunk(struct worker_thread *t)
{
	bool folded;

	if (!complete(t, PHASE_MAP))
		return false;
	t->nbytes += t->slot->chunk.nbytes;
	atomic_fetch_add_explicit(&engine_nbytes_begun, t->slot->chunk.nbytes,
				  memory_order_relaxed);
	t->nchunks++;
	if (!post_map(t) || !fold_early(t, &folded))
		return false;
	return folded && border_is_enough(t) ? post_border(t) : fold_in_turn(t, folded);
}

/* Whether the thread ends to free its core for a GPU's thread. */
static bool retires(struct worker_thread *t)
{
	atomic_int *nsurplus = &t->engine->nsurplus;

	if (!t->pool->retires || atomic_load(nsurplus) <= 0)
		return false;
	if (atomic_fetch_sub(nsurplus, 1) > 0)
		return true;
	atomic_fetch_add(nsurplus, 1); /* another thread was sooner */
	return false;
}

/* Reads the next chunk into a slot and begins with it; false at the end of the input, or if the thread ends. */
static bool read_next(struct worker_thread *t, struct work_slot *slot)
{
	const struct worker_ops *ops = slot->ops;

	if (!t->section.decoder && retires(t))
		return false;
	const struct reader reader = {ops->buffer(slot->worker), t->pool->setup.chunk_nbytes,
				      slot->worker, &t->section, ops->read, ops->read_blocks, ops->read_text};
	if (!input_read_chunk(t->engine->input, &reader, &slot->chunk, &slot->status, &slot->fault))
		return false;
	if (slot->status == STATUS_OK && ops->begin)
		slot->status = ops->begin(slot->worker, &slot->chunk, &slot->fault);
	fault_complete(&slot->fault, slot->status);
	return true;
}

/* Folds, adds and prints the chunk in a slot; false if the run has failed. */
static bool finish_chunk(struct worker_thread *t, struct work_slot *slot)
{
	t->slot = slot;
	if (slot->status == STATUS_OK || slot->status == STATUS_GPU)
		return fold_chunk(t);
	fail_in_turn(t, &slot->fault);
	return false;
}

/* Takes chunks until the input ends, the run fails, or the thread retires. Its workers are open. */
static void worker_thread_run(struct worker_thread *t)
{
	struct work_slot *slot = &t->slots[0], *next = &t->slots[t->nslots - 1];
	bool full = read_next(t, slot);

	while (full) {
		bool next_full = next != slot && read_next(t, next);
		struct work_slot *done = slot;
		if (!finish_chunk(t, slot))
			return;
		full = next == done ? read_next(t, done) : next_full;
		slot = next;
		next = done;
	}
}

/* ---- whether a device joins ---- */

/* What it would gain to wake a device in the midst of a run, by the run's own speed. The speed of the CPUs at
 * this plan and this input is measured, not estimated. Only the device's is known beforehand (run/device_choice.c). */

/* Seconds after which to look again. */
#define PACE_LOOK_S 0.02

/* Seconds by which the run ends sooner if the device joins it now; negative: later. speed: of the run, in bytes a second, measured;
 * nbytes_left: of the input; kept: the share of the speed that is left once the device's threads have replaced others; writing: the
 * share of the time in which output is being written: no device makes that any faster. */
static double gain_s(const struct device_offer *device, double speed, double nbytes_left, double kept, double writing)
{
	double left = nbytes_left - device->wake_s * speed; /* when it is awake */
	double joint = device->speed + kept * speed, most = speed / writing; /* infinite where nothing is written */

	return left > 0 ? left / speed - left / (joint < most ? joint : most) - device->end_s : -device->end_s;
}

/* Looks at the run's counters: seconds since its beginning, bytes begun, and seconds in which output was
 * written. Returns false if this tells nothing: at the first look, since threads that start are slow, and
 * if too little happened since then. */
static bool pace_look(struct pace_meter *meter, double now_s, double nbytes, double write_s)
{
	double seconds = now_s - meter->first_s;

	if (seconds < PACE_LOOK_S / 2 || nbytes <= meter->first_nbytes)
		return false;
	if (meter->first_s == 0) {
		meter->first_s = now_s;
		meter->first_nbytes = nbytes;
		meter->first_write_s = write_s;
		return false;
	}
	meter->speed = (nbytes - meter->first_nbytes) / seconds;
	meter->writing = (write_s - meter->first_write_s) / seconds;
	return true;
}

/* Whether a device that pays at this look is to be called: it must have paid at the one before, too. A
 * speed of 20 ms may be that of a moment. */
static bool pace_is_sure(struct pace_meter *meter, bool pays)
{
	meter->npaying = pays ? meter->npaying + 1 : 0;
	return meter->npaying >= 2;
}

/* Bytes of text that are left. Of packed files, as their bytes that have been read have turned out. */
static double nbytes_left(const struct engine *e, double nbytes_begun)
{
	double nread = (double)fd_nbytes_read;

	if (e->nbytes_all != UINT64_MAX)
		return (double)e->nbytes_all - nbytes_begun;
	return nread > 0 ? nbytes_begun * ((double)e->nbytes_stored - nread) / nread : 0;
}

/* Looks at the run's pace; whether it would end sooner with the pool's device. Holds the engine's lock. */
static bool offer_pays(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct worker_pool *pool = t->pool;
	double nbytes = (double)(engine_nbytes_begun - e->nbytes_before), now_s = clock_s() - e->begin_s, speed, kept;
	int nworking = 0, nreplaced = pool->replaces ? pool->nthreads : 0;

	if (!pace_look(&t->meter, now_s, nbytes, (double)e->writer.busy_ns * 1e-9))
		return false;
	speed = t->meter.speed;
	for (int i = 0; i < e->nthreads; i++) {
		const struct worker_pool *other = e->threads[i].pool;
		if (!e->threads[i].is_first)
			continue;
		nworking += other->nworking;
		speed += other->called_s > 0 && other->nworking == 0 ? other->offer.speed : 0; /* called, and not at work yet */
	}
	kept = nworking > nreplaced ? (double)(nworking - nreplaced) / nworking : 0;
	if (!pace_is_sure(&t->meter, gain_s(&pool->offer, speed, nbytes_left(e, nbytes), kept, t->meter.writing) > 0))
		return false;
	pool->called_s = now_s;
	pool->others_speed = speed;
	return true;
}

/* Waits for the run's end or, the pool's first thread, for the next look at its pace. */
static void await_look(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct timespec when;

	if (!t->is_first) {
		pthread_cond_wait(&e->finished, &e->lock);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &when); /* what the condition's clock is everywhere */
	when.tv_nsec += (long)(PACE_LOOK_S * 1e9);
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&e->finished, &e->lock, &when);
}

/* Makes a thread of a retiring pool end, whose core this one needs. */
static void replace_other(struct worker_thread *t)
{
	if (t->pool->replaces && !t->has_place)
		atomic_fetch_add(&t->engine->nsurplus, 1);
	t->has_place = t->pool->replaces;
}

/* Waits until it pays to wake an optional thread's device. Returns false if the run is over before. */
static bool await_call(struct worker_thread *t)
{
	struct engine *e = t->engine;
	struct worker_pool *pool = t->pool;
	bool in_time;

	if (!pool->optional)
		return true;
	pthread_mutex_lock(&e->lock);
	while (!e->over && !e->failed && pool->offer.speed > 0 && pool->called_s == 0) {
		await_look(t);
		if (t->is_first && !e->over && offer_pays(t))
			pthread_cond_broadcast(&e->finished);
	}
	in_time = t->opening = !e->over && !e->failed;
	pthread_mutex_unlock(&e->lock);
	if (in_time && t->is_first && pool->needs_core)
		replace_other(t);
	return in_time;
}

/* ---- one thread ---- */

/* Counts an optional thread as running, once its device is awake or has failed to wake. Returns
 * false if the run is over: the thread then must not touch anything. */
static bool admit(struct worker_thread *t)
{
	struct engine *e = t->engine;
	bool in_time;

	pthread_mutex_lock(&e->lock);
	in_time = !e->over && !e->failed;
	if (in_time && t->opening) {
		t->opening = false;
		e->nrunning++;
	}
	pthread_mutex_unlock(&e->lock);
	return in_time;
}

static void leave(struct worker_thread *t)
{
	struct engine *e = t->engine;

	pthread_mutex_lock(&e->lock);
	t->pool->nbytes += t->nbytes;
	t->pool->nchunks += t->nchunks;
	e->over = --e->nrunning == 0;
	if (e->over)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
}

/* Opens a worker; a CPU in place of a GPU that fails, or, in a pool that forgives it, that cannot be
 * opened. The user is not warned of the latter. */
static bool open_worker(struct worker_thread *t, struct work_slot *slot)
{
	struct worker_pool *pool = t->pool;
	bool forgives = pool->optional || pool->forgives;
	struct fault fault = {.status = STATUS_OK}, *first = forgives ? &pool->open_fault : &pool->work_fault;
	enum status status = fault_complete(&fault, slot->ops->open(&slot->worker, t->engine->plan, &pool->setup, &fault));

	if (status == STATUS_GPU || (status != STATUS_OK && forgives))
		status = worker_thread_use_cpu(t, slot, first, &fault);
	return engine_goes_on(t->engine, status, &fault);
}

/* Whether an admitted thread has work to do. If its device did not wake it has none, unless a core
 * was left for it: then it opens a CPU worker instead. */
static bool has_work(struct worker_thread *t, enum status woken, const struct fault *fault)
{
	if (!t->pool->optional)
		return true;
	if (woken == STATUS_OK || t->has_place)
		return !input_is_over(t->engine->input);
	pthread_mutex_lock(&t->engine->lock);
	t->pool->open_fault = *fault;
	pthread_mutex_unlock(&t->engine->lock);
	return false;
}

static void *thread_main(void *argument)
{
	struct worker_thread *t = argument;
	const struct worker_pool *pool = t->pool;
	struct fault fault;
	enum status woken = STATUS_OK;

	if (!await_call(t))
		return NULL;
	if (pool->replaces && pool->ops->wake) /* others work meanwhile; without them, opening the worker wakes the device */
		woken = pool->ops->wake(pool->setup.device, &fault);
	if (!admit(t))
		return NULL;
	if (has_work(t, woken, &fault)) {
		replace_other(t);
		if (open_worker(t, &t->slots[0]) && (t->nslots == 1 || open_worker(t, &t->slots[1]))) {
			atomic_fetch_add(&t->pool->nworking, 1);
			worker_thread_run(t);
			atomic_fetch_sub(&t->pool->nworking, 1);
		}
	}
	for (int i = 0; i < t->nslots; i++)
		if (t->slots[i].worker)
			t->slots[i].ops->close(t->slots[i].worker);
	leave(t);
	return NULL;
}

/* ---- all threads ---- */

/* Makes the threads, and what they share. */
static enum status threads_init(struct engine *e, struct worker_pool *pools, size_t npools)
{
	struct worker_thread *t;

	for (size_t i = 0; i < npools; i++)
		e->nthreads += pools[i].nthreads;
	ordered_queue_init(&e->entries, NENTRIES, UINT64_MAX, false);
	ordered_queue_init(&e->totals, NTOTALS, UINT64_MAX, false);
	ordered_queue_init(&e->writes, ORDERED_QUEUE_MOST, UINT64_MAX, false);
	e->entry_slots = calloc(NENTRIES, sizeof *e->entry_slots);
	e->borders = calloc(NTOTALS, sizeof *e->borders);
	t = e->threads = calloc((size_t)e->nthreads + 1, sizeof *t);
	NEED(e->entry_slots && e->borders && t && e->nthreads);
	for (size_t i = 0; i < npools; i++) {
		e->nrunning += pools[i].optional ? 0 : pools[i].nthreads;
		for (int j = 0; j < pools[i].nthreads; j++, t++) {
			t->engine = e;
			t->pool = &pools[i];
			t->nslots = pools[i].reads_ahead ? 2 : 1;
			t->slots[0].ops = t->slots[1].ops = pools[i].ops;
			t->is_first = j == 0;
		}
	}
	return STATUS_OK;
}

static struct engine *engine_make(const struct plan *plan, struct input *input,
				  struct worker_pool *pools, size_t npools, struct total *total,
				  struct fault *fault)
{
	struct engine *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->plan = plan;
	e->input = input;
	e->total = total;
	e->fault = fault;
	e->begin_s = clock_s();
	e->nbytes_before = engine_nbytes_begun;
	e->nbytes_all = input_nbytes_left(input);
	e->nbytes_stored = input_nbytes_stored(input);
	if (total->keeps_head)
		e->entry = (struct chunk_entry){CSV_QUOTED, true, false};
	e->writer.owes_newline = plan->inside_line;
	e->writer.curve = total->curve;
	e->writer.rows = total->rows;
	e->writer.format = plan->row_format;
	e->leads = (struct lead_queue){.plan = plan};
	pthread_mutex_init(&e->lock, NULL);
	pthread_mutex_init(&e->writing, NULL);
	pthread_cond_init(&e->finished, NULL);
	return threads_init(e, pools, npools) == STATUS_OK ? e : NULL; /* the process ends: see engine_run */
}

static void engine_free(struct engine *e)
{
	for (int i = 0; i < e->nthreads; i++) {
		struct worker_thread *t = &e->threads[i];
		partial_free(&t->partial);
		partial_free(&t->deferred);
		seam_folder_free(&t->folder);
		chunk_output_free(&t->output);
	}
	lead_queue_free(&e->leads);
	free(e->threads);
	free(e->entry_slots);
	free(e->borders);
	ordered_queue_destroy(&e->entries);
	ordered_queue_destroy(&e->totals);
	ordered_queue_destroy(&e->writes);
	pthread_mutex_destroy(&e->lock);
	pthread_mutex_destroy(&e->writing);
	pthread_cond_destroy(&e->finished);
	free(e);
}

/* Waits until all work is done or the run has failed. Returns whether all threads have ended. */
static bool end_threads(struct engine *e, const bool *started)
{
	bool all_ended = true;

	pthread_mutex_lock(&e->lock);
	while (!e->failed && !e->over)
		pthread_cond_wait(&e->finished, &e->lock);
	for (int i = 0; i < e->nthreads; i++)
		if (started[i] && (e->failed || e->threads[i].opening))
			all_ended = false;
	pthread_mutex_unlock(&e->lock);
	if (e->failed)
		pthread_mutex_lock(&e->writing); /* for good: no thread writes any more */
	for (int i = 0; i < e->nthreads; i++) {
		if (started[i] && (e->failed || e->threads[i].opening))
			pthread_detach(e->threads[i].thread);
		else if (started[i])
			pthread_join(e->threads[i].thread, NULL);
	}
	return all_ended;
}

/* Adds the groups that devices have kept to the store, behind all others, which are few: see group_words.h. Or
 * forgets them, if the run has failed with a status. Returns the status. */
static enum status finish_pools(struct engine *e, struct worker_pool *pools, size_t npools, enum status status)
{
	for (size_t i = 0; i < npools; i++) {
		struct worker_pool *pool = &pools[i];
		struct worker_finish how = {pool->setup.device, e->nthreads, false};
		struct fault fault = {.status = STATUS_OK};
		enum status finished;
		if (!pool->ops->finish || !plan_leaves_groups(e->plan))
			continue;
		THEN(status, total_store_groups(e->total, e->fault));
		how.wanted = status == STATUS_OK;
		finished = pool->ops->finish(e->plan, &how, &fault);
		if (finished == STATUS_GPU)
			finished = engine_lose_device(e, pool, &fault);
		if (finished == STATUS_OK || status != STATUS_OK)
			continue;
		*e->fault = fault;
		status = fault_complete(e->fault, finished);
	}
	return status;
}

enum status engine_run(const struct plan *plan, struct input *input, struct worker_pool *pools,
		       size_t npools, struct total *total, bool may_guess, bool *all_ended,
		       struct fault *fault)
{
	struct engine *e = engine_make(plan, input, pools, npools, total, fault);
	enum status status;

	*all_ended = true;
	if (!e)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no worker");
	e->guesses = may_guess && !plan->emits && e->nthreads > 1;
	if (e->nthreads == 1) { /* a short input: no thread is started */
		thread_main(&e->threads[0]);
	} else {
		bool started[e->nthreads];
		/* Starts the threads. The calling thread does the work of those that the system refuses. */
		for (int i = 0; i < e->nthreads; i++)
			started[i] = !pthread_create(&e->threads[i].thread, NULL, thread_main,
						     &e->threads[i]);
		for (int i = 0; i < e->nthreads; i++)
			if (!started[i] && !e->threads[i].pool->optional)
				thread_main(&e->threads[i]);
		*all_ended = end_threads(e, started);
	}
	if (e->failed) {
		status = e->fault->status;
	} else { /* the threads' own partials join the total */
		struct partial *deferred[e->nthreads];
		size_t n = 0;
		for (int i = 0; i < e->nthreads; i++)
			if (e->threads[i].deferred.columns)
				deferred[n++] = &e->threads[i].deferred;
		status = total_join(&total->partial, deferred, n, plan, e->nthreads, fault);
	}
	status = finish_pools(e, pools, npools, status);
	total->owes_newline = e->writer.owes_newline;
	if (status == STATUS_ENOUGH) /* the first fault in the order of the input: all that was asked is done */
		status = STATUS_OK;
	if (status == STATUS_OK) /* no thread writes any more */
		status = lead_queue_end(&e->leads, &e->writer, fault);
	if (*all_ended)
		engine_free(e);
	return status;
}
