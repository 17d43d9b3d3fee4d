/* SPDX-License-Identifier: MIT
 *
 * section_pool.c - see section_pool.h.
 */
#include "codec/section_pool.h"

#include <stdlib.h>
#include <string.h>

void section_pool_init(struct section_pool *pool)
{
	pool->idle = NULL;
	pthread_mutex_init(&pool->lock, NULL);
}

void section_pool_free(struct section_pool *pool)
{
	struct section *section;

	while ((section = pool->idle)) {
		pool->idle = section->next;
		free(section);
	}
	pthread_mutex_destroy(&pool->lock);
}

void section_release(struct section *section)
{
	struct section_pool *pool = section->pool;

	if (atomic_fetch_sub(&section->nusers, 1) > 1)
		return;
	pthread_mutex_lock(&pool->lock);
	section->next = pool->idle;
	pool->idle = section;
	pthread_mutex_unlock(&pool->lock);
}

/* The part is the section's first member. */
static void release_part(struct feed_part *part)
{
	section_release((struct section *)part);
}

struct section *section_pool_get(struct section_pool *pool)
{
	struct section *section;

	pthread_mutex_lock(&pool->lock);
	section = pool->idle;
	if (section)
		pool->idle = section->next;
	pthread_mutex_unlock(&pool->lock);
	if (!section)
		section = malloc(sizeof *section);
	if (!section)
		return NULL;
	memset(section, 0, offsetof(struct section, data));
	section->pool = pool;
	section->nusers = 1;
	section->part = (struct feed_part){.data = section->data, .release = release_part};
	return section;
}
