/* SPDX-License-Identifier: MIT
 *
 * engine.c - see engine.h.
 *
 * Three chains run through the chunks in input order, all of them dominoes: whoever holds
 * chunk k waits for chunk k - 1's word and passes its own on.
 *
 *   entry chain   chunk k's transition map takes its entry state to chunk k + 1's
 *   total chain   chunk k's partial is added to the total of all chunks before it
 *   write chain   if records are printed, chunk k's output follows chunk k - 1's
 *
 * Deadlock cannot arise: chunks are handed out in order, every worker finishes the one it
 * has before it takes another, and none waits for a later one.
 */
#include "engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct engine {
	const struct plan *plan;
	struct input *input;
	struct total *total; /* whoever's turn it is in the total chain owns it */
	bool owes_newline;   /* ... in the write chain: what is written ends inside a line */

	pthread_mutex_t lock; /* guards all below, and the squads' results */
	pthread_cond_t entry_turn, total_turn, write_turn, finished;
	uint64_t entry_next, total_next, write_next; /* the chunks whose turns they are */
	struct chunk_entry entry;        /* of chunk entry_next */
	int nrunning;                    /* threads that have not finished */
	bool failed;
	struct fault *fault; /* once failed: why */
};

/* One thread. */
struct member {
	struct engine *engine;
	struct squad *squad;
	pthread_t thread;
	struct worker *worker;
	struct partial partial;
	struct emission emission;
	struct text_buffer text; /* the chunk's own output */
};

/* ---- the chains ---- */

/* Waits for chunk index's turn; false if the run has failed. Takes the lock and keeps it
 * if it returns true. */
static bool lock_turn(struct engine *e, pthread_cond_t *turn, const uint64_t *next, uint64_t index)
{
	pthread_mutex_lock(&e->lock);
	while (!e->failed && *next != index)
		pthread_cond_wait(turn, &e->lock);
	if (!e->failed)
		return true;
	pthread_mutex_unlock(&e->lock);
	return false;
}

static void pass_turn(struct engine *e, pthread_cond_t *turn, uint64_t *next)
{
	++*next;
	pthread_cond_broadcast(turn);
	pthread_mutex_unlock(&e->lock);
}

/* Ends the run; the first call's fault is the run's. */
static void fail(struct engine *e, const struct fault *fault)
{
	pthread_mutex_lock(&e->lock);
	if (!e->failed) {
		*e->fault = *fault;
		e->failed = true;
	}
	pthread_cond_broadcast(&e->entry_turn);
	pthread_cond_broadcast(&e->total_turn);
	pthread_cond_broadcast(&e->write_turn);
	pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
	input_stop(e->input);
}

/* The entry chain: learns how the chunk is entered and passes on how it is left. */
static bool learn_entry(struct engine *e, const struct chunk *chunk, csv_map map,
			struct chunk_entry *entry)
{
	const struct chunk_entry afresh = {CSV_FIELD_START, false};

	if (!lock_turn(e, &e->entry_turn, &e->entry_next, chunk->index))
		return false;
	*entry = chunk->first_of_file ? afresh : e->entry;
	e->entry = chunk_entry_after(chunk, map, *entry);
	pass_turn(e, &e->entry_turn, &e->entry_next);
	return true;
}

/* Writes all of data to standard output. */
static enum status write_all(const char *data, size_t nbytes, struct fault *fault)
{
	while (nbytes) {
		ssize_t n = write(STDOUT_FILENO, data, nbytes);
		if (n < 0 && errno != EINTR)
			return fault_set(fault, STATUS_WRITE, errno, NULL);
		data += n < 0 ? 0 : n;
		nbytes -= n < 0 ? 0 : (size_t)n;
	}
	return STATUS_OK;
}

/* Writes text. A file's last record may lack its LF; it gets one if anything follows. */
static enum status write_text(struct engine *e, const struct text_buffer *text,
			      struct fault *fault)
{
	enum status status = STATUS_OK;

	if (text->nbytes == 0)
		return STATUS_OK;
	if (e->owes_newline)
		status = write_all("\n", 1, fault);
	e->owes_newline = text->data[text->nbytes - 1] != '\n';
	return status == STATUS_OK ? write_all(text->data, text->nbytes, fault) : status;
}

/* The write chain: writes the chunk's output, outside the lock but inside its turn. */
static bool write_in_turn(struct member *m, const struct chunk *chunk)
{
	struct engine *e = m->engine;
	struct fault fault;

	if (!lock_turn(e, &e->write_turn, &e->write_next, chunk->index))
		return false;
	pthread_mutex_unlock(&e->lock);
	if (write_text(e, &m->emission.head, &fault) != STATUS_OK ||
	    write_text(e, &m->text, &fault) != STATUS_OK ||
	    write_text(e, &m->emission.tail, &fault) != STATUS_OK) {
		fail(e, &fault);
		return false;
	}
	pthread_mutex_lock(&e->lock);
	pass_turn(e, &e->write_turn, &e->write_next);
	return true;
}

/* What comes before a fault in the chunk is printed all the same, so that the output ends
 * at the same record whoever did what. */
static void fail_after_output(struct member *m, const struct chunk *chunk,
			      struct chunk_entry entry, const struct fault *fault)
{
	struct engine *e = m->engine;
	const struct emission *before = &m->emission;

	m->text.nbytes = 0;
	if (e->plan->emits && before->good_nbytes &&
	    records_emit(&e->total->emitter, chunk->data, before->good_nbytes, entry, false,
			 &before->before, chunk->offset_bytes, &m->text) != STATUS_OK)
		m->text.nbytes = 0;
	if (!e->plan->emits || write_in_turn(m, chunk))
		fail(e, fault);
}

/* The total chain: adds the chunk to the total, outside the lock but inside its turn. */
static bool add_to_total(struct member *m, const struct chunk *chunk, struct chunk_entry entry,
			 uint64_t nlines)
{
	struct engine *e = m->engine;
	struct fault fault;

	if (!lock_turn(e, &e->total_turn, &e->total_next, chunk->index))
		return false;
	pthread_mutex_unlock(&e->lock);
	if (total_add(e->total, chunk, nlines, &m->partial, &m->emission, &fault) != STATUS_OK) {
		fault.file = input_name(e->input, chunk->file);
		fail_after_output(m, chunk, entry, &fault);
		return false;
	}
	pthread_mutex_lock(&e->lock);
	m->squad->nbytes += chunk->nbytes;
	m->squad->nchunks++;
	pass_turn(e, &e->total_turn, &e->total_next);
	return true;
}

/* Reading failed at this chunk: an error, unless an earlier chunk has one. */
static void fail_in_turn(struct member *m, const struct chunk *chunk, const struct fault *fault)
{
	struct engine *e = m->engine;

	if (!lock_turn(e, &e->total_turn, &e->total_next, chunk->index))
		return;
	pthread_mutex_unlock(&e->lock);
	m->text.nbytes = m->emission.head.nbytes = m->emission.tail.nbytes = 0;
	if (!e->plan->emits || write_in_turn(m, chunk))
		fail(e, fault);
}

/* ---- one thread ---- */

static bool emit_chunk(struct member *m, const struct chunk *chunk, struct chunk_entry entry)
{
	struct fault fault;

	m->text.nbytes = 0;
	if (m->squad->ops->emit(m->worker, chunk, entry, &m->emission.before, &m->text, &fault) !=
	    STATUS_OK) {
		fail(m->engine, &fault);
		return false;
	}
	return write_in_turn(m, chunk);
}

static bool fold_chunk(struct member *m, const struct chunk *chunk)
{
	const struct worker_ops *ops = m->squad->ops;
	struct chunk_entry entry;
	struct chunk_map map;
	struct fault fault;

	if (ops->map(m->worker, chunk, &map, &fault) != STATUS_OK) {
		fail(m->engine, &fault);
		return false;
	}
	if (!learn_entry(m->engine, chunk, map.map, &entry))
		return false;
	partial_clear(&m->partial);
	if (ops->fold(m->worker, chunk, entry, &m->partial, &fault) != STATUS_OK) {
		fail(m->engine, &fault);
		return false;
	}
	if (!add_to_total(m, chunk, entry, map.nlines))
		return false;
	return !m->engine->plan->emits || emit_chunk(m, chunk, entry);
}

static void fold_chunks(struct member *m)
{
	char *buffer = m->squad->ops->buffer(m->worker);
	struct chunk chunk;
	enum status status;
	struct fault fault;

	while (input_take(m->engine->input, buffer, m->squad->chunk_nbytes, &chunk, &status,
			  &fault)) {
		if (status != STATUS_OK) {
			fail_in_turn(m, &chunk, &fault);
			return;
		}
		if (!fold_chunk(m, &chunk))
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
	emission_free(&m->emission);
	text_free(&m->text);
	pthread_mutex_lock(&e->lock);
	if (--e->nrunning == 0)
		pthread_cond_broadcast(&e->finished);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* ---- the team ---- */

static struct engine *engine_make(const struct plan *plan, struct input *input,
				  struct total *total, struct fault *fault)
{
	struct engine *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->plan = plan;
	e->input = input;
	e->total = total;
	e->fault = fault;
	e->owes_newline = plan->inside_line;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->entry_turn, NULL);
	pthread_cond_init(&e->total_turn, NULL);
	pthread_cond_init(&e->write_turn, NULL);
	pthread_cond_init(&e->finished, NULL);
	return e;
}

static void engine_free(struct engine *e)
{
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->entry_turn);
	pthread_cond_destroy(&e->total_turn);
	pthread_cond_destroy(&e->write_turn);
	pthread_cond_destroy(&e->finished);
	free(e);
}

static struct member *members_make(struct engine *e, struct squad *squads, size_t nsquads)
{
	struct member *members, *m;

	for (size_t i = 0; i < nsquads; i++)
		e->nrunning += squads[i].nthreads;
	members = m = calloc((size_t)e->nrunning, sizeof *members);
	if (!members)
		return NULL;
	for (size_t i = 0; i < nsquads; i++) {
		for (int j = 0; j < squads[i].nthreads; j++, m++) {
			m->engine = e;
			m->squad = &squads[i];
			if (partial_init(&m->partial, e->plan) != STATUS_OK ||
			    emission_init(&m->emission, e->plan) != STATUS_OK)
				return NULL;
		}
	}
	return members;
}

/* Starts a thread for each member and waits until all have finished or one has failed.
 * Where the system has no thread left, the calling thread takes that member's part. */
static void run_threads(struct engine *e, struct member *members, int nmembers)
{
	bool started[nmembers], failed;

	for (int i = 0; i < nmembers; i++)
		started[i] = !pthread_create(&members[i].thread, NULL, member_main, &members[i]);
	for (int i = 0; i < nmembers; i++)
		if (!started[i])
			member_main(&members[i]);
	pthread_mutex_lock(&e->lock);
	while (!e->failed && e->nrunning > 0)
		pthread_cond_wait(&e->finished, &e->lock);
	failed = e->failed;
	pthread_mutex_unlock(&e->lock);
	for (int i = 0; i < nmembers; i++) {
		if (started[i] && failed)
			pthread_detach(members[i].thread);
		else if (started[i])
			pthread_join(members[i].thread, NULL);
	}
}

enum status engine_run(const struct plan *plan, struct input *input, struct squad *squads,
		       size_t nsquads, struct total *total, struct fault *fault)
{
	struct engine *e = engine_make(plan, input, total, fault);
	struct member *members = e ? members_make(e, squads, nsquads) : NULL;
	enum status status;
	int nmembers;

	if (!members || e->nrunning == 0)
		return fault_set(fault, STATUS_NO_MEMORY, 0, "no worker");
	nmembers = e->nrunning;
	if (nmembers == 1) /* no thread to start: a short input is answered sooner */
		member_main(members);
	else
		run_threads(e, members, nmembers);
	if (e->failed && nmembers > 1)
		return fault->status;
	status = e->failed ? fault->status : STATUS_OK;
	free(members);
	engine_free(e);
	return status;
}
