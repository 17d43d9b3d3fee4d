/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h.
 *
 * Three chains (chain.h) run through the chunks in input order:
 *
 *   entry chain   chunk k's transition map takes its entry state to chunk k + 1's
 *   total chain   chunk k's partial is added to the total of all chunks before it
 *   write chain   if records are printed, chunk k's output follows chunk k - 1's
 *
 * A thread leaves its chunk's map in the entry chain, and then waits for the entry. In the
 * total chain it need not wait, mostly: sums are exact, so that what a chunk without a fault
 * folds to may be added at any time. The thread adds it to a partial of its own and leaves only
 * the ends of the chunk in the chain, where records are cut. Where order matters, it waits: for
 * a chunk with a fault in it, for the first values of a column, and for records to print.
 *
 * Deadlock cannot arise: chunks are handed out in order, every worker finishes the one it
 * has before it takes another, and none waits for a later one.
 */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "chain.h"
#include "writer.h"

#define TOTAL_NSLOTS 256 /* chunks that may be folded while the total waits for one */

/* What is at a chunk's slot of the total chain: who waits, or what was left. */
struct total_slot {
	struct member *member;
	struct border border;
};

struct engine {
	const struct plan *plan;
	struct input *input;
	struct member *members;
	int nmembers;

	struct chain entries, totals, writes;
	struct member **entry_slots, **write_slots; /* who is there. Owned, as the next. */
	struct total_slot *total_slots;
	struct chunk_entry entry; /* of the next chunk; his whose turn it is in the entry chain */
	struct total *total;      /* his whose turn it is in the total chain */
	struct writer writer;     /* his whose turn it is in the write chain */
	atomic_bool settled;      /* total->settled, once it is */

	atomic_bool failed;
	pthread_mutex_t lock; /* guards all below, and the squads' results */
	pthread_cond_t finished;
	int nrunning;         /* threads that have not finished */
	struct fault *fault;  /* once failed: why */
};

/* One thread. */
struct member {
	struct engine *engine;
	struct squad *squad;
	pthread_t thread;
	struct waiter waiter;
	struct worker *worker;
	struct chunk chunk; /* the one in hand */
	struct chunk_map map;
	struct chunk_entry entry;
	struct partial partial;
	struct partial deferred; /* of chunks that have left only their ends in the total chain */
	struct seam_folder folder;
	uint64_t nbytes, nchunks;
	struct emission emission;
	struct text_buffer text; /* the chunk's own output */
};

/* ---- the chains ---- */

/* Ends the run; the first call's fault is the run's. */
static void fail(struct engine *e, const struct fault *fault)
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
	for (int i = 0; i < e->nmembers; i++)
		waiter_call(&e->members[i].waiter);
	input_stop(e->input);
}

/* Waits for the turn of the member's chunk; false if the run has failed. at: where others
 * look for who waits in the chunk's slot. */
static bool wait_for_turn(struct member *m, struct chain *chain, struct member **at)
{
	waiter_reset(&m->waiter);
	if (!chain_enter(chain, m->chunk.index))
		return false;
	*at = m;
	if (!chain_join(chain, m->chunk.index, CHAIN_WAITS))
		waiter_wait(&m->waiter);
	return !m->engine->failed;
}

/* Tells the members from chunk k on, whose turn is the caller's, how their chunks are entered. */
static void pass_entries(struct engine *e, uint64_t k)
{
	const struct chunk_entry afresh = {CSV_FIELD_START, false};
	enum chain_guest next;

	do {
		struct member *m = e->entry_slots[chain_slot(&e->entries, k)];
		m->entry = m->chunk.first_of_file ? afresh : e->entry;
		e->entry = chunk_entry_after(&m->chunk, m->map.map, m->entry);
		waiter_call(&m->waiter);
		next = chain_pass(&e->entries, k++);
	} while (next == CHAIN_LEFT);
}

/* The entry chain: learns how the chunk is entered. */
static bool learn_entry(struct member *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->chunk.index;

	waiter_reset(&m->waiter);
	if (!chain_enter(&e->entries, k))
		return false;
	e->entry_slots[chain_slot(&e->entries, k)] = m;
	if (chain_join(&e->entries, k, CHAIN_LEFT))
		pass_entries(e, k);
	waiter_wait(&m->waiter);
	return !e->failed;
}

/* The write chain: writes the chunk's output when its turn has come. */
static bool write_in_turn(struct member *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->chunk.index;
	struct member **slots = e->write_slots;
	struct fault fault;

	if (!wait_for_turn(m, &e->writes, &slots[chain_slot(&e->writes, k)]))
		return false;
	if (writer_write(&e->writer, &m->emission.head, &fault) != STATUS_OK ||
	    writer_write(&e->writer, &m->text, &fault) != STATUS_OK ||
	    writer_write(&e->writer, &m->emission.tail, &fault) != STATUS_OK) {
		fail(e, &fault);
		return false;
	}
	if (chain_pass(&e->writes, k) == CHAIN_WAITS)
		waiter_call(&slots[chain_slot(&e->writes, k + 1)]->waiter);
	return true;
}

/* What comes before a fault in the chunk is printed all the same, so that the output ends
 * at the same record whoever did what. */
static void fail_after_output(struct member *m, const struct fault *fault)
{
	struct engine *e = m->engine;
	const struct emission *before = &m->emission;

	m->text.nbytes = 0;
	if (e->plan->emits && before->good_nbytes &&
	    records_emit(&e->total->emitter, m->chunk.data, before->good_nbytes, m->entry, false,
			 &before->before, m->chunk.offset_bytes, &m->text) != STATUS_OK)
		m->text.nbytes = 0;
	if (!e->plan->emits || write_in_turn(m))
		fail(e, fault);
}

static struct total_slot *total_slot(struct engine *e, uint64_t k)
{
	return &e->total_slots[chain_slot(&e->totals, k)];
}

/* Adds to the total what was left at chunk k, whose turn m has. */
static bool add_border(struct member *m, uint64_t k)
{
	struct engine *e = m->engine;
	const struct border *border = &total_slot(e, k)->border;
	struct fault fault;

	if (total_add_border(e->total, border, &m->folder, &m->deferred, &fault) == STATUS_OK)
		return true;
	fault.file = input_name(e->input, border->chunk.file);
	fail(e, &fault);
	return false;
}

/* Ends the turn of chunk k in the total chain, and takes those that were left to whoever
 * passes. False if the run has failed. */
static bool pass_totals(struct member *m, uint64_t k)
{
	struct engine *e = m->engine;
	enum chain_guest next;

	if (!e->settled && e->total->settled)
		e->settled = true;
	while ((next = chain_pass(&e->totals, k)) == CHAIN_LEFT)
		if (!add_border(m, ++k))
			return false;
	if (next == CHAIN_WAITS)
		waiter_call(&total_slot(e, k + 1)->member->waiter);
	return true;
}

/* The total chain, where order does not matter: only the chunk's ends take part. */
static bool defer_to_total(struct member *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->chunk.index;
	struct fault fault;

	if (partial_combine(&m->deferred, &m->partial) != STATUS_OK) {
		fault_set(&fault, STATUS_NO_MEMORY, 0, NULL);
		fail(e, &fault);
		return false;
	}
	if (!chain_enter(&e->totals, k))
		return false;
	border_take(&total_slot(e, k)->border, &m->chunk, m->map.nlines, &m->partial);
	if (!chain_join(&e->totals, k, CHAIN_LEFT))
		return true;
	return add_border(m, k) && pass_totals(m, k);
}

/* The total chain: adds the chunk to the total when its turn has come. */
static bool add_in_turn(struct member *m)
{
	struct engine *e = m->engine;
	uint64_t k = m->chunk.index;
	struct fault fault;

	if (!wait_for_turn(m, &e->totals, &total_slot(e, k)->member))
		return false;
	if (total_add(e->total, &m->chunk, m->map.nlines, &m->partial, &m->emission, &fault) !=
	    STATUS_OK) {
		fault.file = input_name(e->input, m->chunk.file);
		fail_after_output(m, &fault);
		return false;
	}
	return pass_totals(m, k);
}

/* Reading failed at this chunk: an error, unless an earlier chunk has one. */
static void fail_in_turn(struct member *m, const struct fault *fault)
{
	struct engine *e = m->engine;

	if (!wait_for_turn(m, &e->totals, &total_slot(e, m->chunk.index)->member))
		return;
	m->text.nbytes = m->emission.head.nbytes = m->emission.tail.nbytes = 0;
	if (!e->plan->emits || write_in_turn(m))
		fail(e, fault);
}

/* ---- one thread ---- */

static bool emit_chunk(struct member *m)
{
	struct fault fault;

	m->text.nbytes = 0;
	if (m->squad->ops->emit(m->worker, &m->chunk, m->entry, &m->emission.before, &m->text,
				&fault) != STATUS_OK) {
		fail(m->engine, &fault);
		return false;
	}
	return write_in_turn(m);
}

static bool fold_chunk(struct member *m)
{
	const struct worker_ops *ops = m->squad->ops;
	struct engine *e = m->engine;
	struct fault fault;

	if (ops->map(m->worker, &m->chunk, &m->map, &fault) != STATUS_OK) {
		fail(e, &fault);
		return false;
	}
	if (!learn_entry(m))
		return false;
	partial_clear(&m->partial);
	if (ops->fold(m->worker, &m->chunk, m->entry, &m->partial, &fault) != STATUS_OK) {
		fail(e, &fault);
		return false;
	}
	m->nbytes += m->chunk.nbytes;
	m->nchunks++;
	if (border_suffices(e->plan, &m->chunk, &m->partial, e->settled))
		return defer_to_total(m);
	return add_in_turn(m) && (!e->plan->emits || emit_chunk(m));
}

static void fold_chunks(struct member *m)
{
	char *buffer = m->squad->ops->buffer(m->worker);
	enum status status;
	struct fault fault;

	while (input_take(m->engine->input, buffer, m->squad->chunk_nbytes, &m->chunk, &status,
			  &fault)) {
		if (status != STATUS_OK) {
			fail_in_turn(m, &fault);
			return;
		}
		if (!fold_chunk(m))
			return;
	}
}

static bool open_worker(struct member *m)
{
	struct squad *squad = m->squad;
	struct fault fault;
	enum status status = squad->ops->open(&m->worker, m->engine->plan, squad->chunk_nbytes,
					      squad->device, &fault);

	if (status == STATUS_OK)
		return true;
	if (!squad->optional)
		fail(m->engine, &fault);
	pthread_mutex_lock(&m->engine->lock);
	squad->open_fault = fault;
	pthread_mutex_unlock(&m->engine->lock);
	return false;
}

static void *member_main(void *argument)
{
	struct member *m = argument;
	struct engine *e = m->engine;

	if (open_worker(m)) {
		fold_chunks(m);
		m->squad->ops->close(m->worker);
	}
	partial_free(&m->partial);
	seam_folder_free(&m->folder);
	emission_free(&m->emission);
	text_free(&m->text);
	pthread_mutex_lock(&e->lock);
	m->squad->nbytes += m->nbytes;
	m->squad->nchunks += m->nchunks;
	if (--e->nrunning == 0)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* ---- the team ---- */

static enum status chains_init(struct engine *e)
{
	uint64_t nmembers = (uint64_t)e->nmembers;

	if (chain_init(&e->entries, nmembers) != STATUS_OK ||
	    chain_init(&e->writes, nmembers) != STATUS_OK ||
	    chain_init(&e->totals, TOTAL_NSLOTS) != STATUS_OK)
		return STATUS_NO_MEMORY;
	e->entry_slots = calloc(e->entries.nslots, sizeof(struct member *));
	e->write_slots = calloc(e->writes.nslots, sizeof(struct member *));
	e->total_slots = calloc(e->totals.nslots, sizeof *e->total_slots);
	return e->entry_slots && e->write_slots && e->total_slots ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status member_init(struct member *m, struct engine *e, struct squad *squad)
{
	m->engine = e;
	m->squad = squad;
	waiter_init(&m->waiter);
	if (partial_init(&m->partial, e->plan) != STATUS_OK ||
	    partial_init(&m->deferred, e->plan) != STATUS_OK ||
	    seam_folder_init(&m->folder, e->plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return emission_init(&m->emission, e->plan);
}

static enum status members_init(struct engine *e, struct squad *squads, size_t nsquads)
{
	struct member *m;

	for (size_t i = 0; i < nsquads; i++)
		e->nmembers += squads[i].nthreads;
	m = e->members = calloc((size_t)e->nmembers + 1, sizeof *m);
	if (!m || e->nmembers == 0)
		return STATUS_NO_MEMORY;
	e->nrunning = e->nmembers;
	for (size_t i = 0; i < nsquads; i++)
		for (int j = 0; j < squads[i].nthreads; j++)
			if (member_init(m++, e, &squads[i]) != STATUS_OK)
				return STATUS_NO_MEMORY;
	return STATUS_OK;
}

static struct engine *engine_make(const struct plan *plan, struct input *input,
				  struct squad *squads, size_t nsquads, struct total *total,
				  struct fault *fault)
{
	struct engine *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->plan = plan;
	e->input = input;
	e->total = total;
	e->fault = fault;
	e->writer.owes_newline = plan->inside_line;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->finished, NULL);
	if (members_init(e, squads, nsquads) != STATUS_OK || chains_init(e) != STATUS_OK)
		return NULL; /* the process ends: see engine_run */
	return e;
}

static void engine_free(struct engine *e)
{
	for (int i = 0; i < e->nmembers; i++) {
		waiter_destroy(&e->members[i].waiter);
		partial_free(&e->members[i].deferred);
	}
	free(e->members);
	free(e->entry_slots);
	free(e->write_slots);
	free(e->total_slots);
	chain_destroy(&e->entries);
	chain_destroy(&e->writes);
	chain_destroy(&e->totals);
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->finished);
	free(e);
}

/* Starts a thread for each member and waits until all have finished or one has failed.
 * Where the system has no thread left, the calling thread takes that member's part. */
static void run_threads(struct engine *e)
{
	bool started[e->nmembers], failed;

	for (int i = 0; i < e->nmembers; i++)
		started[i] = !pthread_create(&e->members[i].thread, NULL, member_main,
					     &e->members[i]);
	for (int i = 0; i < e->nmembers; i++)
		if (!started[i])
			member_main(&e->members[i]);
	pthread_mutex_lock(&e->lock);
	while (!e->failed && e->nrunning > 0)
		pthread_cond_wait(&e->finished, &e->lock);
	failed = e->failed;
	pthread_mutex_unlock(&e->lock);
	for (int i = 0; i < e->nmembers; i++) {
		if (started[i] && failed)
			pthread_detach(e->members[i].thread);
		else if (started[i])
			pthread_join(e->members[i].thread, NULL);
	}
}

/* Adds what the members have kept to themselves. */
static enum status add_deferred(struct engine *e)
{
	for (int i = 0; i < e->nmembers; i++)
		if (partial_combine(&e->total->partial, &e->members[i].deferred) != STATUS_OK)
			return fault_set(e->fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

enum status engine_run(const struct plan *plan, struct input *input, struct squad *squads,
		       size_t nsquads, struct total *total, struct fault *fault)
{
	struct engine *e = engine_make(plan, input, squads, nsquads, total, fault);
	enum status status;

	if (!e)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no worker");
	if (e->nmembers == 1) /* no thread to start: a short input is answered sooner */
		member_main(&e->members[0]);
	else
		run_threads(e);
	if (e->failed && e->nmembers > 1)
		return fault->status;
	status = e->failed ? fault->status : add_deferred(e);
	engine_free(e);
	return status;
}
