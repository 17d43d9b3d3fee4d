/* SPDX-License-Identifier: MIT
 *
 * section_pool.h - the compressed bytes of sections (sections.h), in memory that is used again.
 */
#ifndef GPUSTAT_SECTION_POOL_H
#define GPUSTAT_SECTION_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "codec/deflate.h"
#include "codec/feed.h"
#include "codec/sections.h"

#define SECTION_AHEAD_NBYTES (SECTION_NBYTES / 4)

/* Compressed bytes. They are followed by the first ones of the next section, because the last block
 * that begins in a section ends behind it. */
struct section {
	struct feed_part part; /* its own bytes, when they are given back to the feed */
	size_t nbytes, ahead_nbytes;
	bool last;          /* nothing follows, because ... */
	enum status status; /* ... the file ends (STATUS_OK), or cannot be read */
	struct fault fault;
	uint64_t number;
	struct section *next;      /* in the stream, or in the pool */
	struct section_pool *pool;
	atomic_int nusers; /* the thread that decodes it; and the list of sections, or the feed */
	bool checked;
	uint32_t crc; /* of its text, once it is checked */
	uint64_t text_nbytes;
	unsigned char data[SECTION_NBYTES + SECTION_AHEAD_NBYTES + DEFLATE_PAD_NBYTES];
};

struct section_pool {
	pthread_mutex_t lock;
	struct section *idle;
};

void section_pool_init(struct section_pool *pool);

/* All sections must have been released. */
void section_pool_free(struct section_pool *pool);

/* Returns an empty section with one user; NULL: out of memory. */
struct section *section_pool_get(struct section_pool *pool);

/* Gives the section back to its pool when its last user calls this. Any thread. */
void section_release(struct section *section);

#endif
