/* SPDX-License-Identifier: MIT
 *
 * crew.h - threads that decode parts of one compressed stream, which are handed in and taken out
 * in the stream's order. One thread calls these functions.
 */
#ifndef GPUSTAT_CREW_H
#define GPUSTAT_CREW_H

#include <stdbool.h>
#include <stddef.h>

/* Compressed data that decodes by itself, as whole frames do. All 0 to begin with; reused. */
struct part {
	unsigned char *data; /* compressed */
	size_t nbytes, room_nbytes;
	unsigned char *text;
	size_t text_nbytes, text_room_nbytes;
	size_t text_most_nbytes; /* what data may decode to at most */
	bool good;               /* after crew_wait: text is complete */
};

/* What a thread of the crew does with a part. */
struct crew_ops {
	void *(*open)(void); /* a thread's means of decoding; NULL: out of memory */
	void (*close)(void *thread_state);

	/* Decodes and checks data to text, which has room for text_most_nbytes; sets text_nbytes.
	 * False: it is damaged or longer than that, or memory is short. */
	bool (*decode)(void *thread_state, struct part *part);
};

struct crew;

/* Starts so many threads, or fewer where the system has no more. NULL: none was started. */
struct crew *crew_open(const struct crew_ops *ops, int nthreads);

/* Ends the threads. NULL is good. */
void crew_close(struct crew *c);

/* The part to be filled next, or NULL: as many as there is room for have been handed in. */
struct part *crew_next(struct crew *c);

/* Hands in the part that crew_next returned. */
void crew_submit(struct crew *c);

/* The first part that was handed in and not taken out, or NULL. */
struct part *crew_first(struct crew *c);

/* Whether crew_wait would return at once. */
bool crew_is_done(struct crew *c);

/* Waits until the first part has been decoded. */
void crew_wait(struct crew *c);

/* Takes the first part out; it is empty when crew_next returns it. */
void crew_take_out(struct crew *c);

/* Makes room for nbytes of compressed data. False: out of memory. */
bool part_reserve(struct part *p, size_t nbytes);

/* Empties the part. */
void part_clear(struct part *p);

#endif
