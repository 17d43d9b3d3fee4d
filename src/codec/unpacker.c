/* SPDX-License-Identifier: MIT
 *
 * unpacker.c - see unpacker.h.
 */
#include "codec/unpacker.h"

#include <stdlib.h>

void unpackers_init(struct unpackers *all)
{
	all->idle = NULL;
	pthread_mutex_init(&all->lock, NULL);
}

static void unpacker_free(struct unpacker *u)
{
	if (u->state)
		u->ops->close(u->state);
	free(u->batch.data);
	free(u);
}

void unpackers_free(struct unpackers *all)
{
	while (all->idle) {
		struct unpacker *u = all->idle;
		all->idle = u->next;
		unpacker_free(u);
	}
	pthread_mutex_destroy(&all->lock);
}

static struct unpacker *unpacker_make(void)
{
	struct unpacker *u = calloc(1, sizeof *u);

	if (!u)
		return NULL;
	u->ops = inflate_block();
	u->state = u->ops->open();
	if (u->state)
		return u;
	free(u);
	return NULL;
}

struct unpacker *unpacker_take(struct unpackers *all, size_t inflated_nbytes)
{
	struct unpacker *u;

	pthread_mutex_lock(&all->lock);
	u = all->idle;
	if (u)
		all->idle = u->next;
	pthread_mutex_unlock(&all->lock);
	if (!u)
		u = unpacker_make();
	if (!u || bgzf_make_room(&u->batch, inflated_nbytes))
		return u;
	unpacker_free(u);
	return NULL;
}

enum status unpacker_run(struct unpacker *u, char *to, struct fault *fault)
{
	size_t nbytes;

	return bgzf_inflate(&u->batch, u->ops, u->state, (unsigned char *)to, &nbytes, fault);
}

void unpacker_give_back(struct unpackers *all, struct unpacker *u)
{
	pthread_mutex_lock(&all->lock);
	u->next = all->idle;
	all->idle = u;
	pthread_mutex_unlock(&all->lock);
}
