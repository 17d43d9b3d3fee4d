/* SPDX-License-Identifier: MIT
 *
 * block_ahead.c - see block_ahead.h. A range has a slot, the one of its number modulo their number, until the walk has
 * passed it.
 */
#include "codec/block_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cores.h"
#include "base/thread.h"

#define NSLOTS 16
#define NBLOCKS_MAX 4096 /* of a range that are listed */
#define NTHREADS_MAX 4
#define CORES_PER_THREAD 4

struct range {
	off_t number;
	enum { RANGE_FREE, RANGE_SEARCHED, RANGE_LISTED } state; /* guarded by the lock */
	off_t position; /* of blocks[nused] in the file */
	size_t nblocks, nused;
	struct block_length blocks[NBLOCKS_MAX];
};

struct block_ahead {
	const struct codec_blocks *codec;
	int fd;
	off_t end, range_nbytes;
	pthread_t threads[NTHREADS_MAX];
	int nthreads;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t moved;
	off_t next, walked; /* ranges: that no thread has taken; that the walk is in */
	bool stop;
	struct range slots[NSLOTS];
};

static struct range *slot_of(struct block_ahead *a, off_t number)
{
	return &a->slots[number % NSLOTS];
}

/* ---- threads ---- */

/* Whether the next range can be taken. */
static bool is_takeable(struct block_ahead *a)
{
	return a->next < a->walked + NSLOTS && slot_of(a, a->next)->state != RANGE_SEARCHED;
}

/* Takes a range. Returns NULL when no range is left. */
static struct range *take_range(struct block_ahead *a)
{
	struct range *r = NULL;

	pthread_mutex_lock(&a->lock);
	while (!a->stop && a->next * a->range_nbytes < a->end && !is_takeable(a))
		pthread_cond_wait(&a->moved, &a->lock);
	if (!a->stop && a->next * a->range_nbytes < a->end) {
		r = slot_of(a, a->next);
		r->number = a->next++;
		r->state = RANGE_SEARCHED;
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* Lists the blocks that begin in a range. */
static void search(struct block_ahead *a, struct range *r)
{
	off_t begin = r->number * a->range_nbytes, position;
	uint64_t block;

	r->nblocks = r->nused = 0;
	if (!a->codec->seek(a->fd, (uint64_t)begin, (uint64_t)a->end, &block))
		return;
	r->position = position = (off_t)block;
	r->nblocks = a->codec->list(a->fd, &position, begin + a->range_nbytes, r->blocks, NBLOCKS_MAX);
}

static void *search_ranges(void *ahead)
{
	struct block_ahead *a = ahead;
	struct range *r;

	while ((r = take_range(a))) {
		search(a, r);
		pthread_mutex_lock(&a->lock);
		r->state = RANGE_LISTED;
		pthread_cond_broadcast(&a->moved);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

static void start_threads(struct block_ahead *a)
{
	int wanted = cores_count() / CORES_PER_THREAD;

	wanted = wanted < 1 ? 1 : wanted < NTHREADS_MAX ? wanted : NTHREADS_MAX;
	while (a->nthreads < wanted && thread_start(&a->threads[a->nthreads], search_ranges, a))
		a->nthreads++;
}

struct block_ahead *block_ahead_open(const struct codec_blocks *blocks, int fd, off_t begin, off_t end, off_t range_nbytes)
{
	struct block_ahead *a;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	end = end < st.st_size ? end : st.st_size;
	a = (end - begin) / range_nbytes >= NTHREADS_MAX ? calloc(1, sizeof *a) : NULL;
	if (!a)
		return NULL;
	a->codec = blocks;
	a->fd = fd;
	a->end = end;
	a->range_nbytes = range_nbytes;
	a->walked = begin / range_nbytes;
	a->next = a->walked + 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->moved, NULL);
	start_threads(a);
	if (a->nthreads > 0)
		return a;
	block_ahead_close(a);
	return NULL;
}

void block_ahead_close(struct block_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->moved);
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < a->nthreads; i++)
		pthread_join(a->threads[i], NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->moved);
	free(a);
}

/* ---- the walk ---- */

/* The list of the range that the walk is in; ranges before it are free. NULL before the first. */
static struct range *enter_range(struct block_ahead *a, off_t position)
{
	off_t number = position / a->range_nbytes;
	struct range *r = slot_of(a, number);

	pthread_mutex_lock(&a->lock);
	if (number > a->walked) {
		a->walked = number;
		a->next = a->next > number ? a->next : number + 1;
		pthread_cond_broadcast(&a->moved);
	}
	if (r->state != RANGE_LISTED || r->number != number)
		r = NULL;
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* Whether one of the range's blocks begins at the position. Those before it have been passed. */
static bool meets(struct range *r, off_t position)
{
	for (; r->nused < r->nblocks && r->position < position; r->nused++)
		r->position += r->blocks[r->nused].nbytes;
	return r->nused < r->nblocks && r->position == position;
}

bool block_ahead_walk(struct block_ahead *a, off_t *position, off_t end, struct block_batch *batch)
{
	struct range *r = NULL;

	while (a && (r = enter_range(a, *position)) && meets(r, *position))
		for (; r->nused < r->nblocks; r->nused++) {
			struct block_length block = r->blocks[r->nused];
			if ((off_t)block.nbytes > end - *position || !block_batch_take(batch, block))
				return true;
			*position += block.nbytes;
			r->position = *position;
		}
	return false;
}
