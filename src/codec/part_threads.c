/* SPDX-License-Identifier: MIT
 *
 * part_threads.c - see part_threads.h. Parts stand in a ring: [ntaken, ndone...) are being decoded or done,
 * in any order; the one at nsubmitted is being filled.
 */
#include "codec/part_threads.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/thread.h"

/* Beyond one for each thread: one that is filled, and one whose text is read. */
#define SPARE_PARTS 2

struct part_threads {
	const struct part_threads_ops *ops;
	struct part *parts; /* nparts of them */
	bool *done;         /* likewise; guarded by lock */
	size_t nparts;
	pthread_t *threads;
	int nthreads;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t handed_in, decoded;
	uint64_t nsubmitted, nbegun, ntaken;
	bool stop;
};

/* ---- parts ---- */

bool part_reserve(struct part *p, size_t nbytes)
{
	size_t room = 2 * p->room_nbytes > nbytes ? 2 * p->room_nbytes : nbytes;
	unsigned char *grown;

	if (nbytes <= p->room_nbytes)
		return true;
	grown = realloc(p->data, room);
	if (!grown)
		return false;
	p->data = grown;
	p->room_nbytes = room;
	return true;
}

void part_clear(struct part *p)
{
	p->nbytes = p->text_nbytes = p->text_most_nbytes = 0;
	p->good = false;
}

/* False: out of memory. */
static bool make_text_room(struct part *p)
{
	if (p->text_most_nbytes <= p->text_room_nbytes)
		return true;
	free(p->text);
	p->text = malloc(p->text_most_nbytes);
	p->text_room_nbytes = p->text ? p->text_most_nbytes : 0;
	return p->text != NULL;
}

/* ---- threads ---- */

/* Waits for a part to decode; returns its place in the ring, or nparts: there will be none. */
static size_t begin_part(struct part_threads *c)
{
	size_t place = c->nparts;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && c->nbegun == c->nsubmitted)
		pthread_cond_wait(&c->handed_in, &c->lock);
	if (!c->stop)
		place = c->nbegun++ % c->nparts;
	pthread_mutex_unlock(&c->lock);
	return place;
}

static void end_part(struct part_threads *c, size_t place)
{
	pthread_mutex_lock(&c->lock);
	c->done[place] = true;
	pthread_cond_signal(&c->decoded);
	pthread_mutex_unlock(&c->lock);
}

static void *thread_main(void *argument)
{
	struct part_threads *c = argument;
	void *state = c->ops->open();
	size_t place;

	while ((place = begin_part(c)) < c->nparts) {
		struct part *p = &c->parts[place];
		p->good = state && make_text_room(p) && c->ops->decode(state, p);
		end_part(c, place);
	}
	if (state)
		c->ops->close(state);
	return NULL;
}

static void start_threads(struct part_threads *c, int nthreads)
{
	while (c->nthreads < nthreads && thread_start(&c->threads[c->nthreads], thread_main, c))
		c->nthreads++;
}

struct part_threads *part_threads_open(const struct part_threads_ops *ops, int nthreads)
{
	struct part_threads *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->ops = ops;
	c->nparts = (size_t)nthreads + SPARE_PARTS;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->handed_in, NULL);
	pthread_cond_init(&c->decoded, NULL);
	c->parts = calloc(c->nparts, sizeof *c->parts);
	c->done = calloc(c->nparts, sizeof *c->done);
	c->threads = calloc((size_t)nthreads, sizeof *c->threads);
	if (c->parts && c->done && c->threads)
		start_threads(c, nthreads);
	if (c->nthreads)
		return c;
	part_threads_close(c);
	return NULL;
}

void part_threads_close(struct part_threads *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->handed_in);
	pthread_mutex_unlock(&c->lock);
	for (int i = 0; i < c->nthreads; i++)
		pthread_join(c->threads[i], NULL);
	for (size_t i = 0; c->parts && i < c->nparts; i++) {
		free(c->parts[i].data);
		free(c->parts[i].text);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->handed_in);
	pthread_cond_destroy(&c->decoded);
	free(c->parts);
	free(c->done);
	free(c->threads);
	free(c);
}

/* ---- the ring: nsubmitted and ntaken are changed by the caller's thread only ---- */

struct part *part_threads_next(struct part_threads *c)
{
	return c->nsubmitted - c->ntaken < c->nparts - 1 ? &c->parts[c->nsubmitted % c->nparts]
							 : NULL;
}

void part_threads_submit(struct part_threads *c)
{
	pthread_mutex_lock(&c->lock);
	c->nsubmitted++;
	pthread_cond_signal(&c->handed_in);
	pthread_mutex_unlock(&c->lock);
}

struct part *part_threads_first(struct part_threads *c)
{
	return c->ntaken < c->nsubmitted ? &c->parts[c->ntaken % c->nparts] : NULL;
}

bool part_threads_is_done(struct part_threads *c)
{
	bool done;

	pthread_mutex_lock(&c->lock);
	done = c->done[c->ntaken % c->nparts];
	pthread_mutex_unlock(&c->lock);
	return done;
}

void part_threads_wait(struct part_threads *c)
{
	pthread_mutex_lock(&c->lock);
	while (!c->done[c->ntaken % c->nparts])
		pthread_cond_wait(&c->decoded, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

void part_threads_take_out(struct part_threads *c)
{
	part_clear(part_threads_first(c));
	c->done[c->ntaken % c->nparts] = false; /* no thread has this place now */
	c->ntaken++;
}
