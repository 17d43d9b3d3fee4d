/* SPDX-License-Identifier: MIT
 *
 * feed.h - compressed bytes as they come from a file: what was read and not yet used.
 *
 * One thread at a time. Whoever decodes takes bytes at feed_data and says so with
 * feed_use; when it starves, its caller decides whether to wait for more.
 */
#ifndef GPUSTAT_FEED_H
#define GPUSTAT_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define FEED_NBYTES (256 * 1024) /* the most that lies unused; longer than any BGZF block */
#define FEED_KEPT 8              /* used bytes that can still be given back */

/* How a step of decoding ended. */
enum step {
	STEP_GOES_ON, /* no room for output is left, or a member has ended */
	STEP_STARVES, /* the feed has not enough */
	STEP_ENDED,   /* the feed has ended, between members: that was all */
};

struct feed {
	int fd;          /* not owned */
	int wake;        /* readable once waiting must end; -1: nothing will be */
	/* Where wake is: told before feed_more waits, and after. */
	void (*note_wait)(void *argument, bool waits);
	void *note_argument;
	bool stopped;    /* wake was readable */
	bool at_end;     /* fd has no more */
	size_t begin, end; /* unused: data[begin .. end) */
	unsigned char data[FEED_KEPT + FEED_NBYTES];
};

/* prefix: bytes already read from fd, at most FEED_NBYTES; copied. */
void feed_init(struct feed *f, int fd, const void *prefix, size_t nbytes);

/* The unused bytes; *nbytes of them. Valid until feed_more. */
const unsigned char *feed_data(const struct feed *f, size_t *nbytes);

/* Takes the first nbytes of the unused ones. */
void feed_use(struct feed *f, size_t nbytes);

/* Gives back the last nbytes used, at most FEED_KEPT, if so many were. */
void feed_give_back(struct feed *f, size_t nbytes);

/* No room for more: what is decoded must not need so much at once. */
bool feed_is_full(const struct feed *f);

/* Whether feed_more would not wait. */
bool feed_is_ready(const struct feed *f);

/* Reads more, waiting for at least one byte, the end (at_end), or wake (stopped). Not to be
 * called when full. Errors: STATUS_READ. */
enum status feed_more(struct feed *f, struct fault *fault);

#endif
