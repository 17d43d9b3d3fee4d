/* SPDX-License-Identifier: MIT
 *
 * values_pass.c - see values_pass.h.
 */
#include "fold/values_pass.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BLOCKS_AT_ONCE 8
#define BLOCKS_A_THREAD 32 /* for fewer, a thread is not worth its start */

static void count_block(void *context, const struct values_block *block)
{
	(void)block;
	++*(size_t *)context;
}

static void add_block(void *context, const struct values_block *block)
{
	struct values_blocks *blocks = context;

	blocks->at[blocks->n++] = block;
}

enum status values_blocks_list(const struct values *v, struct values_blocks *out)
{
	size_t nblocks = 0;

	out->n = 0;
	if (v)
		values_each_block(v, count_block, &nblocks);
	out->at = calloc(nblocks + 1, sizeof(const struct values_block *));
	if (!out->at)
		return STATUS_NO_MEMORY;
	if (v)
		values_each_block(v, add_block, out);
	return STATUS_OK;
}

void values_blocks_free(struct values_blocks *blocks)
{
	free(blocks->at);
}

int values_pass_nthreads(const struct values_blocks *blocks, int nmost)
{
	size_t nuseful = blocks->n / BLOCKS_A_THREAD + 1;

	return nuseful < (size_t)nmost ? (int)nuseful : nmost;
}

struct pass {
	const struct values_blocks *blocks;
	void (*visit)(void *context, const struct values_block *block);
	atomic_size_t next; /* the first block that no thread has taken */
};

struct pass_thread {
	struct pass *pass;
	void *context;
	pthread_t thread;
	bool started;
};

static void *pass_main(void *argument)
{
	struct pass_thread *t = argument;
	struct pass *p = t->pass;
	size_t first, n = p->blocks->n;

	while ((first = atomic_fetch_add(&p->next, BLOCKS_AT_ONCE)) < n)
		for (size_t i = first; i < first + BLOCKS_AT_ONCE && i < n; i++)
			p->visit(t->context, p->blocks->at[i]);
	return NULL;
}

void values_pass(const struct values_blocks *blocks, int nthreads,
		 void (*visit)(void *context, const struct values_block *block), void *contexts,
		 size_t context_nbytes)
{
	struct pass pass = {.blocks = blocks, .visit = visit};
	struct pass_thread threads[nthreads];

	for (int i = 0; i < nthreads; i++) {
		struct pass_thread *t = &threads[i];
		*t = (struct pass_thread){.pass = &pass,
					  .context = (char *)contexts + (size_t)i * context_nbytes};
		t->started = i > 0 && !pthread_create(&t->thread, NULL, pass_main, t);
	}
	pass_main(&threads[0]);
	for (int i = 1; i < nthreads; i++)
		if (threads[i].started)
			pthread_join(threads[i].thread, NULL);
}
