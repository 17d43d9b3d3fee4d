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
 * A thread leaves its chunk's map in the entry chain, and waits for the entry only where the
 * fold depends on it (enum chunk_dependence). In the total chain it need not wait, mostly: sums
 * are exact, so that what a chunk without a fault folds to may be added at any time. The thread
 * adds it to a partial of its own and leaves only the ends of the chunk in the chain, where
 * records are cut. Where order matters, it waits: for a chunk with a fault in it or with long
 * ends, for the first values of a column, and for records to print.
 *
 * Deadlock cannot arise: chunks are handed out in order, every thread finishes those it has in that
 * order (it may have read one more), and none waits for a later one.
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

/* Waits for the turn of the member's chunk; false if the run has failed. at: where others
 * look for who waits in the chunk's slot. */
static bool wait_for_turn(struct worker_thread *m, struct chain *chain, struct worker_thread **at)
{
	waiter_reset(&m->waiter);
	if (!chain_enter(chain, m->slot->chunk.index))
		return false;
	*at = m;
	if (!chain_join(chain, m->slot->chunk.index, CHAIN_WAITING))
		waiter_wait(&m->waiter);
	return !m->engine->failed;
}

static struct entry_slot *entry_slot(struct engine *e, uint64_t k)
{
	return &e->entry_slots[chain_slot(&e->entries, k)];
}

/* Says how the chunks from k on are entered, whose turn is the caller's. */
static void pass_entries(struct engine *e, uint64_t k)
{
	const struct chunk_entry afresh = {CSV_FIELD_START, false, false};
	enum chain_slot next;

	do {
		struct entry_slot *s = entry_slot(e, k);
		s->entry = s->first_of_file ? afresh : e->entry;
		e->entry = s->is_empty ? s->entry
				       : chunk_entry_after(s->map, s->ends_line, s->entry);
		if (atomic_exchange(&s->state, ENTRY_KNOWN) == ENTRY_AWAITED)
			waiter_call(s->waiter);
		next = chain_pass(&e->entries, k++);
	} while (next == CHAIN_POSTED);
}

/* The entry chain: leaves what the chunk does to the automaton. */
static bool leave_map(struct worker_thread *m)
{
	struct engine *e = m->engine;
	const struct chunk *chunk = &m->slot->chunk;
	struct entry_slot *s = entry_slot(e, chunk->index);

	if (!chain_enter(&e->entries, chunk->index))
		return false;
	s->map = m->map.map;
	s->first_of_file = chunk->first_of_file;
	s->is_empty = chunk->nbytes == 0;
	s->ends_line = chunk->nbytes > 0 && chunk->data[chunk->nbytes - 1] == '\n';
	atomic_store(&s->state, ENTRY_UNKNOWN);
	if (chain_join(&e->entries, chunk->index, CHAIN_POSTED))
		pass_entries(e, chunk->index);
	return true;
}

/* Waits until it is known how chunk k is entered, which has left its map; false if the run has
 * failed. */
static bool learn_entry(struct worker_thread *m, uint64_t k, struct chunk_entry *entry)
{
	struct entry_slot *s = entry_slot(m->engine, k);
	int unknown = ENTRY_UNKNOWN;

	waiter_reset(&m->waiter);
	if (m->engine->failed)
		return false;
	s->waiter = &m->waiter;
	if (atomic_compare_exchange_strong(&s->state, &unknown, ENTRY_AWAITED))
		waiter_wait(&m->waiter);
	if (m->engine->failed)
		return false; /* which may be what woke it: nobody has written the entry, or is at it */
	*entry = s->entry;
	return true;
}

/* Tells the worker that its chunk's output begins to be written, or that it is. */
static void tell_writes(struct worker_thread *m, bool begins)
{
	if (m->slot->ops->writes)
		m->slot->ops->writes(m->slot->worker, begins);
}

/* Writes the chunk's output, all of it or, once the run has failed, none. */
static enum status write_whole(struct worker_thread *m, struct fault *fault)
{
	struct engine *e = m->engine;
	struct text_buffer *texts[] = {&m->output.head, m->text, &m->output.tail};
	enum status status = STATUS_OK;

	pthread_mutex_lock(&e->writing);
	tell_writes(m, true);
	for (int i = e->failed ? 3 : 0; i < 3 && status == STATUS_OK; i++)
		status = texts[i] ? writer_write(&e->writer, texts[i], fault) : STATUS_OK;
	tell_writes(m, false);
	pthread_mutex_unlock(&e->writing);
	return status;
}

/* The write chain: writes the chunk's output when its turn has come. */
static bool write_in_turn(struct worker_thread *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->slot->chunk.index;
	struct worker_thread **slots = e->write_slots;
	struct fault fault;

	if (!wait_for_turn(m, &e->writes, &slots[chain_slot(&e->writes, k)]))
		return false;
	if (write_whole(m, &fault) != STATUS_OK) {
		engine_fail(e, &fault);
		return false;
	}
	if (chain_pass(&e->writes, k) == CHAIN_WAITING)
		waiter_call(&slots[chain_slot(&e->writes, k + 1)]->waiter);
	return true;
}

/* What comes before a fault in the chunk is printed all the same, so that the output ends
 * at the same record whoever did what. */
static void fail_after_output(struct worker_thread *m, const struct fault *fault)
{
	struct engine *e = m->engine;

	m->text = NULL;
	total_emit_before_fault(e->total, &m->slot->chunk, m->entry, &m->output);
	if (!e->plan->emits || write_in_turn(m))
		engine_fail(e, fault);
}

static struct total_slot *total_slot(struct engine *e, uint64_t k)
{
	return &e->total_slots[chain_slot(&e->totals, k)];
}

/* Whether the border's chunk was folded as if it were entered outside quotes, and is not. All
 * earlier chunks have left their maps, so that the entry is about to be known. */
static bool is_misguessed(struct worker_thread *m, const struct border *border)
{
	struct chunk_entry entry;

	return border->guesses && learn_entry(m, border->chunk.index, &entry) &&
	       entry.state == CSV_QUOTED;
}

/* Adds to the total what was left at chunk k, whose turn m has. */
static bool add_border(struct worker_thread *m, uint64_t k)
{
	struct engine *e = m->engine;
	const struct border *border = &total_slot(e, k)->border;
	struct fault fault;

	if (is_misguessed(m, border)) {
		fault_set(&fault, STATUS_MISGUESSED, 0, NULL);
		engine_fail(e, &fault);
		return false;
	}
	if (total_add_border(e->total, border, &m->folder, &m->deferred, &fault) == STATUS_OK)
		return true;
	fault.file = input_name(e->input, border->chunk.file);
	engine_fail(e, &fault);
	return false;
}

/* Ends the turn of chunk k in the total chain, and takes those that were left to whoever
 * passes. False if the run has failed. */
static bool pass_totals(struct worker_thread *m, uint64_t k)
{
	struct engine *e = m->engine;
	enum chain_slot next;

	if (!e->settled && e->total->settled)
		e->settled = true;
	while ((next = chain_pass(&e->totals, k)) == CHAIN_POSTED)
		if (!add_border(m, ++k))
			return false;
	if (next == CHAIN_WAITING)
		waiter_call(&total_slot(e, k + 1)->member->waiter);
	return true;
}

/* The total chain, where order does not matter: only the chunk's ends take part. */
static bool defer_to_total(struct worker_thread *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->slot->chunk.index;
	struct fault fault;

	if (partial_combine(&m->deferred, &m->partial) != STATUS_OK) {
		fault_set(&fault, STATUS_NO_MEMORY, 0, NULL);
		engine_fail(e, &fault);
		return false;
	}
	if (!chain_enter(&e->totals, k))
		return false;
	border_copy(&total_slot(e, k)->border, &m->slot->chunk, m->map.nlines, &m->partial);
	total_slot(e, k)->border.guesses = m->guessed;
	if (!chain_join(&e->totals, k, CHAIN_POSTED))
		return true;
	return add_border(m, k) && pass_totals(m, k);
}

/* Has all that the total looks at lie in the worker's buffer. */
static void restore_for_total(struct worker_thread *m)
{
	struct engine *e = m->engine;
	const struct partial *p = &m->partial;

	if (p->head_nbytes > WORKER_ENDS_NBYTES ||
	    m->slot->chunk.nbytes - p->tail_offset > WORKER_ENDS_NBYTES ||
	    !ends_suffice(e->plan, p, e->settled))
		worker_restore(m->slot->ops, m->slot->worker);
}

/* The total chain: adds the chunk to the total when its turn has come. */
static bool add_in_turn(struct worker_thread *m)
{
	struct engine *e = m->engine;
	const struct chunk *chunk = &m->slot->chunk;
	uint64_t k = chunk->index;
	struct fault fault;

	restore_for_total(m); /* before others wait for it */
	if (!wait_for_turn(m, &e->totals, &total_slot(e, k)->member))
		return false;
	if (total_add(e->total, chunk, m->map.nlines, &m->partial, &m->output, &fault) !=
	    STATUS_OK) {
		fault.file = input_name(e->input, chunk->file);
		fail_after_output(m, &fault);
		return false;
	}
	return pass_totals(m, k);
}

/* Reading failed at this chunk: an error, unless an earlier chunk has one. */
static void fail_in_turn(struct worker_thread *m, const struct fault *fault)
{
	struct engine *e = m->engine;

	if (!wait_for_turn(m, &e->totals, &total_slot(e, m->slot->chunk.index)->member))
		return;
	m->text = NULL;
	m->output.head.nbytes = m->output.tail.nbytes = 0;
	if (!e->plan->emits || write_in_turn(m))
		engine_fail(e, fault);
}

/* ---- one thread ---- */

enum phase { PHASE_MAP, PHASE_FOLD, PHASE_EMIT };

/* Does a step of the work on the chunk in slot, given those before it. */
static enum status run_phase(struct worker_thread *m, enum phase step, struct fault *fault)
{
	const struct worker_ops *ops = m->slot->ops;
	struct worker *w = m->slot->worker;

	switch (step) {
	case PHASE_MAP:
		if (m->slot->status == STATUS_OK)
			return ops->map(w, &m->slot->chunk, &m->map, fault);
		*fault = m->slot->fault; /* it has failed to begin */
		return m->slot->status;
	case PHASE_FOLD:
		partial_clear(&m->partial);
		return ops->fold(w, &m->slot->chunk, m->entry, &m->partial, fault);
	default:
		return ops->emit(w, &m->slot->chunk, m->entry, &m->output.before, &m->text,
				 fault);
	}
}

enum status worker_thread_use_cpu(struct worker_thread *m, struct work_slot *slot, struct fault *first,
			   struct fault *fault)
{
	struct worker_pool *pool = m->pool;

	pthread_mutex_lock(&m->engine->lock);
	if (first->status == STATUS_OK)
		*first = *fault;
	pthread_mutex_unlock(&m->engine->lock);
	slot->ops = &worker_cpu;
	slot->worker = NULL;
	return worker_cpu.open(&slot->worker, m->engine->plan, &pool->setup, fault);
}

/* Puts a CPU in the place of a worker that has failed; the chunk in slot goes with it. */
static enum status replace_worker(struct worker_thread *m, struct fault *fault)
{
	struct work_slot failed = *m->slot, *slot = m->slot;
	enum status status = worker_thread_use_cpu(m, slot, &m->pool->work_fault, fault);

	worker_restore(failed.ops, failed.worker);
	slot->status = STATUS_OK;
	if (status == STATUS_OK) {
		memcpy(slot->ops->buffer(slot->worker), slot->chunk.data, slot->chunk.nbytes);
		slot->chunk.data = slot->ops->buffer(slot->worker);
	}
	failed.ops->close(failed.worker);
	return status;
}

/* Begins anew with the chunk, up to a step that a GPU has failed in. A map of the same chunk is the
 * same, but a fold that did not know the entry may need it now. */
static enum status begin_anew(struct worker_thread *m, enum phase last, struct fault *fault)
{
	enum status status = replace_worker(m, fault);

	for (int step = PHASE_MAP; status == STATUS_OK && step <= (int)last; step++) {
		if (step == PHASE_FOLD && m->entry.unknown) {
			partial_clear(&m->partial);
			m->partial.needs_entry = true;
			break;
		}
		status = run_phase(m, (enum phase)step, fault);
	}
	return status;
}

/* Does a step, if need be in the place of a GPU that fails; false if the run has failed. */
static bool step(struct worker_thread *m, enum phase step)
{
	struct fault fault;
	enum status status = run_phase(m, step, &fault);

	if (status == STATUS_GPU && m->slot->ops != &worker_cpu)
		status = begin_anew(m, step, &fault);
	if (status != STATUS_OK)
		engine_fail(m->engine, &fault);
	return status == STATUS_OK;
}

/* Folds the chunk in slot, given how it is entered, or CHUNK_UNKNOWN. */
static bool fold(struct worker_thread *m, struct chunk_entry entry)
{
	m->entry = entry;
	return step(m, PHASE_FOLD);
}

static bool may_defer(const struct worker_thread *m)
{
	return border_suffices(m->engine->plan, &m->slot->chunk, &m->partial, m->engine->settled);
}

/* Folds the chunk before it is known how it is entered, if that hardly matters. *folded: whether it
 * is folded, so that nothing but a wrong guess can be against it. False if the run has failed. */
static bool fold_ahead(struct worker_thread *m, bool *folded)
{
	*folded = false;
	m->guessed = m->map.dependence == CHUNK_GUESSES;
	if (!m->engine->guesses || m->map.dependence == CHUNK_DEPENDS)
		return true;
	if (!fold(m, CHUNK_UNKNOWN))
		return false;
	*folded = !m->partial.needs_entry;
	return true;
}

/* Folds the chunk when it is known how it is entered, unless what was folded ahead holds, and adds
 * it to the total. */
static bool fold_in_turn(struct worker_thread *m, bool folded)
{
	struct chunk_entry entry;

	if (!learn_entry(m, m->slot->chunk.index, &entry))
		return false;
	folded = folded && !(m->guessed && entry.state == CSV_QUOTED);
	if (!folded && !fold(m, entry))
		return false;
	m->guessed = false;
	if (may_defer(m))
		return defer_to_total(m);
	if (!add_in_turn(m))
		return false;
	return !m->engine->plan->emits || (step(m, PHASE_EMIT) && write_in_turn(m));
}

static bool fold_chunk(struct worker_thread *m)
{
	bool folded;

	if (!step(m, PHASE_MAP))
		return false;
	m->nbytes += m->slot->chunk.nbytes;
	atomic_fetch_add_explicit(&engine_nbytes_begun, m->slot->chunk.nbytes,
				  memory_order_relaxed);
	m->nchunks++;
	if (!leave_map(m) || !fold_ahead(m, &folded))
		return false;
	return folded && may_defer(m) ? defer_to_total(m) : fold_in_turn(m, folded);
}

/* Whether another thread has come for this one, and takes its core. */
static bool retires(struct worker_thread *m)
{
	atomic_int *nsurplus = &m->engine->nsurplus;

	if (!m->pool->retires || atomic_load(nsurplus) <= 0)
		return false;
	if (atomic_fetch_sub(nsurplus, 1) > 0)
		return true;
	atomic_fetch_add(nsurplus, 1); /* somebody else was sooner */
	return false;
}

/* Takes the next chunk into a slot; false if there is none, or none for this thread. */
static bool take(struct worker_thread *m, struct work_slot *slot)
{
	const struct worker_ops *ops = slot->ops;

	if (retires(m))
		return false;
	const struct reader reader = {{ops->buffer(slot->worker), m->pool->setup.chunk_nbytes},
				      slot->worker, ops->next};
	if (!input_read_chunk(m->engine->input, &reader, &slot->chunk, &slot->status, &slot->fault))
		return false;
	if (slot->status == STATUS_OK && ops->begin)
		slot->status = ops->begin(slot->worker, &slot->chunk, &slot->fault);
	return true;
}

/* Does all there is to do with the chunk in a slot; false if the run has failed. */
static bool work_off(struct worker_thread *m, struct work_slot *slot)
{
	m->slot = slot;
	if (slot->status == STATUS_OK || slot->status == STATUS_GPU)
		return fold_chunk(m);
	fail_in_turn(m, &slot->fault);
	return false;
}

void worker_thread_run(struct worker_thread *m)
{
	struct work_slot *slot = &m->slots[0], *next = &m->slots[m->nslots - 1];
	bool full = take(m, slot);

	while (full) {
		bool next_full = next != slot && take(m, next);
		struct work_slot *done = slot;
		if (!work_off(m, slot))
			return;
		full = next == done ? take(m, done) : next_full;
		slot = next;
		next = done;
	}
}
