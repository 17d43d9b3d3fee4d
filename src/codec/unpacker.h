/* SPDX-License-Identifier: MIT
 *
 * unpacker.h - what a thread needs to inflate blocks of BGZF itself: room for the packed
 * blocks and a library's state, kept from one batch to the next.
 *
 * Any thread, any of it: there is a lock of its own, which nobody holds while he waits.
 */
#ifndef GPUSTAT_UNPACKER_H
#define GPUSTAT_UNPACKER_H

#include <pthread.h>
#include <stddef.h>

#include "codec/bgzf.h"
#include "codec/inflate.h"
#include "base/status.h"

struct unpacker {
	struct bgzf_batch batch;
	const struct inflate_ops *ops;
	void *state;
	struct unpacker *next; /* idle, too */
};

/* Those that nobody uses. */
struct unpackers {
	pthread_mutex_t lock;
	struct unpacker *idle;
};

void unpackers_init(struct unpackers *all);

/* Frees the idle ones. */
void unpackers_free(struct unpackers *all);

/* Gives out one whose batch is empty, and has room for inflated_nbytes or a block if that is
 * more. NULL: no memory. */
struct unpacker *unpacker_take(struct unpackers *all, size_t inflated_nbytes);

/* Inflates the batch into to, which has room for its inflated_nbytes.
 * Errors: STATUS_GZIP_DATA, STATUS_NO_MEMORY, as bgzf_inflate. */
enum status unpacker_run(struct unpacker *u, char *to, struct fault *fault);

/* It is no longer used. */
void unpacker_give_back(struct unpackers *all, struct unpacker *u);

#endif
