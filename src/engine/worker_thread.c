/* SPDX-License-Identifier: MIT
 *
 * worker_thread.c - see worker_thread.h.
 *
 * Three chains (chain.h) run through the chunks in input order:
 *
 *   entry chain   chunk k's transition map takes its entry state to chunk k + 1's
 *   total chain   chunk k's partial is added to the total of all chunks before it
 *   write chain   if records are printed, chunk k's output follows chunk k - 1's
 *
 * A thread posts its chunk's map to the entry chain, and waits for the entry only if the fold
 * depends on it (enum chunk_dependence). In the total chain it rarely has to wait: sums are
 * exact, so the fold of a chunk without a fault may be added at any time. The thread adds it to a
 * partial of its own and posts only the chunk's border: its two ends, which hold cut records. It
 * waits only where order matters: if the chunk has a fault or long ends, until every column has had
 * a value, and to print records.
 *
 * There is no deadlock: chunks are handed out in order, every thread finishes its chunks in that
 * order (it may have read one more), and none waits for a later chunk.
 */
#include "engine/worker_thread.h"

#include <string.h>

/* ---- the chains ---- */

void engine_fail(struct engine *e, const struct fault *fault)
{
	pthread_mutex_lock(&e->lock);
	if (!e->failed)
		*e->fault = *fault;
	e->failed = true;
	pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
	chain_stop(&e->entries);
	chain_stop(&e->totals);
	chain_stop(&e->writes);
	for (int i = 0; i < e->nthreads; i++)
		waiter_call(&e->threads[i].waiter);
	input_stop(e->input);
}

/* Waits for the turn of the thread's chunk; false if the run has failed. *at, the chunk's slot,
 * tells others which thread waits. */
static bool wait_for_turn(struct worker_thread *t, struct chain *chain, struct worker_thread **at)
{
	waiter_reset(&t->waiter);
	if (!chain_enter(chain, t->slot->chunk.index))
		return false;
	*at = t;
	if (!chain_join(chain, t->slot->chunk.index, CHAIN_WAITING))
		waiter_wait(&t->waiter);
	return !t->engine->failed;
}

static struct entry_slot *entry_slot(struct engine *e, uint64_t k)
{
	return &e->entry_slots[chain_slot(&e->entries, k)];
}

/* Determines the entries of chunk k, whose turn the caller has, and of the posted ones behind
 * it. */
static void pass_entries(struct engine *e, uint64_t k)
{
	enum chain_slot next;

	do {
		struct entry_slot *s = entry_slot(e, k);
		s->entry = s->first_of_file ? CHUNK_BETWEEN_RECORDS : e->entry;
		e->entry = s->is_empty ? s->entry
				       : chunk_entry_after(s->map, s->ends_line, s->entry);
		if (atomic_exchange(&s->state, ENTRY_KNOWN) == ENTRY_AWAITED)
			waiter_call(s->waiter);
		next = chain_pass(&e->entries, k++);
	} while (next == CHAIN_POSTED);
}

/* The entry chain: posts the chunk's map. */
static bool post_map(struct worker_thread *t)
{
	struct engine *e = t->engine;
	const struct chunk *chunk = &t->slot->chunk;
	struct entry_slot *s = entry_slot(e, chunk->index);

	if (!chain_enter(&e->entries, chunk->index))
		return false;
	s->map = t->map.map;
	s->first_of_file = chunk->first_of_file;
	s->is_empty = chunk->nbytes == 0;
	s->ends_line = chunk->nbytes > 0 && chunk->data[chunk->nbytes - 1] == '\n';
	atomic_store(&s->state, ENTRY_UNKNOWN);
	if (chain_join(&e->entries, chunk->index, CHAIN_POSTED))
		pass_entries(e, chunk->index);
	return true;
}

/* Waits for the entry of chunk k, whose map has been posted; false if the run has failed. */
static bool await_entry(struct worker_thread *t, uint64_t k, struct chunk_entry *entry)
{
	struct entry_slot *s = entry_slot(t->engine, k);
	int unknown = ENTRY_UNKNOWN;

	waiter_reset(&t->waiter);
	if (t->engine->failed)
		return false;
	s->waiter = &t->waiter;
	if (atomic_compare_exchange_strong(&s->state, &unknown, ENTRY_AWAITED))
		waiter_wait(&t->waiter);
	if (t->engine->failed)
		return false; /* the failure may have ended the wait: the entry may be unset */
	*entry = s->entry;
	return true;
}

/* Reports the beginning or the end of a write to the worker. */
static void report_write(struct worker_thread *t, bool begins)
{
	if (t->slot->ops->writes)
		t->slot->ops->writes(t->slot->worker, begins);
}

/* Writes the chunk's output: all of it or, once the run has failed, none. */
static enum status write_whole(struct worker_thread *t, struct fault *fault)
{
	struct engine *e = t->engine;
	struct text_buffer *texts[] = {&t->output.head, t->text, &t->output.tail};
	enum status status = STATUS_OK;

	pthread_mutex_lock(&e->writing);
	report_write(t, true);
	for (int i = e->failed ? 3 : 0; i < 3 && status == STATUS_OK; i++)
		status = texts[i] ? lead_queue_write(&e->leads, texts[i], &e->writer, fault) : STATUS_OK;
	report_write(t, false);
	pthread_mutex_unlock(&e->writing);
	return status;
}

/* The write chain: writes the chunk's output when its turn has come. */
static bool write_in_turn(struct worker_thread *t)
{
	struct engine *e = t->engine;
	uint64_t k = t->slot->chunk.index;
	struct worker_thread **slots = e->write_slots;
	struct fault fault;

	if (!wait_for_turn(t, &e->writes, &slots[chain_slot(&e->writes, k)]))
		return false;
	if (write_whole(t, &fault) != STATUS_OK) {
		engine_fail(e, &fault);
		return false;
	}
	if (chain_pass(&e->writes, k) == CHAIN_WAITING)
		waiter_call(&slots[chain_slot(&e->writes, k + 1)]->waiter);
	return true;
}

/* Fails the run at a fault in the chunk. The records before the fault are printed, so that the
 * output ends at the same record on any number of workers. */
static void fail_after_output(struct worker_thread *t, const struct fault *fault)
{
	struct engine *e = t->engine;

	t->text = NULL;
	total_emit_before_fault(e->total, &t->slot->chunk, t->entry, &t->output);
	if (!e->plan->emits || write_in_turn(t))
		engine_fail(e, fault);
}

static struct total_slot *total_slot(struct engine *e, uint64_t k)
{
	return &e->total_slots[chain_slot(&e->totals, k)];
}

/* Whether the border's chunk was folded as if it were entered outside quotes, and is not. All
 * earlier chunks have posted their maps, so the wait is short. */
static bool is_misguessed(struct worker_thread *t, const struct border *border)
{
	struct chunk_entry entry;

	return border->guesses && await_entry(t, border->chunk.index, &entry) &&
	       entry.state == CSV_QUOTED;
}

/* Adds to the total the border that was posted at chunk k, whose turn the thread has. */
static bool add_border(struct worker_thread *t, uint64_t k)
{
	struct engine *e = t->engine;
	const struct border *border = &total_slot(e, k)->border;
	struct fault fault;

	if (is_misguessed(t, border)) {
		fault_set(&fault, STATUS_MISGUESSED, 0, NULL);
		engine_fail(e, &fault);
		return false;
	}
	if (total_add_border(e->total, border, &t->folder, &t->deferred, &fault) == STATUS_OK)
		return true;
	fault.file = input_name(e->input, border->chunk.file);
	engine_fail(e, &fault);
	return false;
}

/* Ends the turn of chunk k in the total chain, and does those of the posted chunks behind it. False
 * if the run has failed. */
static bool pass_totals(struct worker_thread *t, uint64_t k)
{
	struct engine *e = t->engine;
	enum chain_slot next;

	if (!e->settled && e->total->settled)
		e->settled = true;
	while ((next = chain_pass(&e->totals, k)) == CHAIN_POSTED)
		if (!add_border(t, ++k))
			return false;
	if (next == CHAIN_WAITING)
		waiter_call(&total_slot(e, k + 1)->thread->waiter);
	return true;
}

/* Fails the run unless status, of what was done with p, is STATUS_OK. */
static bool must(struct worker_thread *t, const struct partial *p, enum status status)
{
	struct fault fault;

	if (status == STATUS_OK)
		return true;
	partial_fault(p, t->engine->plan, status, &fault);
	engine_fail(t->engine, &fault);
	return false;
}

/* The total chain, where order does not matter: posts the chunk's border. */
static bool post_border(struct worker_thread *t)
{
	struct engine *e = t->engine;
	uint64_t k = t->slot->chunk.index;
	enum status status = partial_need(&t->deferred, e->plan);

	if (status == STATUS_OK)
		status = partial_combine(&t->deferred, &t->partial);
	if (!must(t, &t->deferred, status) || !chain_enter(&e->totals, k))
		return false;
	border_copy(&total_slot(e, k)->border, &t->slot->chunk, t->map.nlines, &t->partial);
	total_slot(e, k)->border.guesses = t->guessed;
	if (!chain_join(&e->totals, k, CHAIN_POSTED))
		return true;
	return add_border(t, k) && pass_totals(t, k);
}

/* Loads the chunk's text if the total needs more of it than its ends. */
static void load_for_total(struct worker_thread *t)
{
	struct engine *e = t->engine;
	const struct partial *p = &t->partial;

	if (p->head_nbytes > WORKER_ENDS_NBYTES ||
	    t->slot->chunk.nbytes - p->tail_offset > WORKER_ENDS_NBYTES ||
	    !ends_suffice(e->total, p, e->settled))
		worker_load_text(t->slot->ops, t->slot->worker);
}

/* The total chain: adds the chunk to the total when its turn has come. */
static bool add_in_turn(struct worker_thread *t)
{
	struct engine *e = t->engine;
	const struct chunk *chunk = &t->slot->chunk;
	uint64_t k = chunk->index;
	struct fault fault;

	load_for_total(t); /* before the turn: others wait for it */
	if (!wait_for_turn(t, &e->totals, &total_slot(e, k)->thread))
		return false;
	t->output.entry = t->entry;
	if (total_add(e->total, chunk, t->map.nlines, &t->partial, &t->output, &fault) !=
	    STATUS_OK) {
		fault.file = input_name(e->input, chunk->file);
		fail_after_output(t, &fault);
		return false;
	}
	return pass_totals(t, k);
}

/* Fails the run because reading failed at this chunk, unless an earlier chunk has a fault. */
static void fail_in_turn(struct worker_thread *t, const struct fault *fault)
{
	struct engine *e = t->engine;

	if (!wait_for_turn(t, &e->totals, &total_slot(e, t->slot->chunk.index)->thread))
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
		if (partial_need(&t->partial, t->engine->plan) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		partial_clear(&t->partial);
		return total_bind(t->engine->plan, &t->partial, fault,
				  ops->fold(w, &t->slot->chunk, t->entry, &t->partial, fault));
	default:
		return ops->emit(w, &t->slot->chunk, t->entry, &t->output.before, &t->text,
				 fault);
	}
}

enum status worker_thread_use_cpu(struct worker_thread *t, struct work_slot *slot,
				  struct fault *first, struct fault *fault)
{
	struct worker_pool *pool = t->pool;

	pthread_mutex_lock(&t->engine->lock);
	if (first->status == STATUS_OK)
		*first = *fault;
	pthread_mutex_unlock(&t->engine->lock);
	pool->failed = true;
	slot->ops = &worker_cpu;
	slot->worker = NULL;
	return worker_cpu.open(&slot->worker, t->engine->plan, &pool->setup, fault);
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
	struct fault fault;
	enum status status = run_phase(t, phase, &fault);

	if (status == STATUS_GPU && t->slot->ops != &worker_cpu)
		status = plan_leaves_groups(t->engine->plan) ? engine_lose_device(t->engine, t->pool, &fault)
							     : repeat_on_cpu(t, phase, &fault);
	if (status != STATUS_OK)
		engine_fail(t->engine, &fault);
	return status == STATUS_OK;
}

/* Folds the current chunk. entry may be CHUNK_UNKNOWN. */
static bool fold(struct worker_thread *t, struct chunk_entry entry)
{
	t->entry = entry;
	return complete(t, PHASE_FOLD);
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
	if (!fold(t, CHUNK_UNKNOWN))
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
	folded = folded && !(t->guessed && entry.state == CSV_QUOTED);
	if (!folded && !fold(t, entry))
		return false;
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

void worker_thread_run(struct worker_thread *t)
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
