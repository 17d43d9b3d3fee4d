/* SPDX-License-Identifier: MIT
 *
 * feed.h - compressed bytes that were read from a file and not yet decoded. One thread at a time.
 */
#ifndef GPUSTAT_FEED_H
#define GPUSTAT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

#define FEED_NBYTES (256 * 1024) /* the most unused bytes; more than any BGZF block has */
#define FEED_PAD_NBYTES 64       /* readable bytes behind the unused ones, of any value */

/* Bytes that were taken from a feed and given back. */
struct feed_part {
	const unsigned char *data;
	size_t begin, end; /* unused: data[begin .. end) */
	struct feed_part *next;
	void (*release)(struct feed_part *part); /* called when all are used */
};

struct feed {
	int fd;   /* not owned */
	int wake; /* feed_more stops waiting when this is readable; -1: never */
	/* With wake: called before feed_more waits (true) and after (false). */
	void (*note_wait)(void *argument, bool waits);
	void *note_argument;
	off_t position; /* what is read of fd stands there, and fd's own position is not used; -1: it is */
	struct feed_part *parts; /* to be read before fd */
	bool stopped;      /* wake was readable */
	bool at_end;       /* fd has no more */
	off_t fd_end;      /* where its reading of a plain file ends; -1: at the file's end */
	size_t begin, end; /* unused: data[begin .. end) */
	unsigned char data[FEED_NBYTES + FEED_PAD_NBYTES];
};

/* Releases what was given back. */
void feed_free(struct feed *f);

/* prefix: bytes already read from fd, at most FEED_NBYTES; copied. */
void feed_init(struct feed *f, int fd, const void *prefix, size_t nbytes);

/* Begins at a place of a plain file, whose own position stays: for any thread. */
void feed_init_at(struct feed *f, int fd, off_t position);

/* The unused bytes; *nbytes of them, and FEED_PAD_NBYTES behind them. Valid until feed_more. */
const unsigned char *feed_data(const struct feed *f, size_t *nbytes);

/* Marks the first nbytes of the unused bytes as used. */
void feed_use(struct feed *f, size_t nbytes);

/* Marks the last nbytes that were used, since the last feed_more, as unused again. */
void feed_unuse(struct feed *f, size_t nbytes);

/* Whether there is no room for more: what is decoded must not need so much at once. */
bool feed_is_full(const struct feed *f);

/* Whether feed_more would not wait. */
bool feed_is_ready(const struct feed *f);

/* Reads more: waits for at least one byte, the end (at_end) or wake (stopped). The feed must not
 * be full. Errors: STATUS_READ. */
enum status feed_more(struct feed *f, struct fault *fault);

/* Moves up to capacity bytes to `to`: the unused ones, or else those that are next. Waits for at
 * least one; *nbytes is 0 at the end (at_end). Errors: STATUS_READ. */
enum status feed_take(struct feed *f, void *to, size_t capacity, size_t *nbytes,
		      struct fault *fault);

/* Where the first unused byte stands in a plain file, of feed_init; -1: there is no telling, as behind what was given
 * back. */
off_t feed_tell(const struct feed *f);

/* Ends at that place of a plain file as if the file ended there. Before anything is read. */
void feed_end_at(struct feed *f, off_t position);

/* Where it ends in a plain file; INT64_MAX: at the file's end. */
off_t feed_end(const struct feed *f);

/* Goes on at that place of the file, and drops the unused bytes. */
void feed_seek(struct feed *f, off_t position);

/* Gives taken bytes back, so that they come next. The feed must have no unused bytes. The part is the
 * feed's until it is released, perhaps at once. Of several parts, the last comes first. */
void feed_give_back_part(struct feed *f, struct feed_part *part);

#endif
