/* SPDX-License-Identifier: MIT
 *
 * part_threads.h - threads that decode parts of one compressed stream, which are handed in and taken out
 * in the stream's order. One thread calls these functions.
 */
#ifndef GPUSTAT_PART_THREADS_H
#define GPUSTAT_PART_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* Compressed data that decodes by itself, as whole frames do. All 0 to begin with; reused. */
struct part {
	unsigned char *data; /* compressed */
	size_t nbytes, room_nbytes;
	unsigned char *text;
	size_t text_nbytes, text_room_nbytes;
	size_t text_most_nbytes; /* what data may decode to at most */
	bool good;               /* after part_threads_wait: text is complete */
};

/* What a thread of the threads does with a part. */
struct part_threads_ops {
	void *(*open)(void); /* a thread's means of decoding; NULL: out of memory */
	void (*close)(void *thread_state);

	/* Decodes and checks data to text, which has room for text_most_nbytes; sets text_nbytes.
	 * False: it is damaged or longer than that, or memory is short. */
	bool (*decode)(void *thread_state, struct part *part);
};

struct part_threads;

/* Starts so many threads, or fewer where the system has no more. NULL: none was started. */
struct part_threads *part_threads_open(const struct part_threads_ops *ops, int nthreads);

/* Ends the threads. NULL is good. */
void part_threads_close(struct part_threads *c);

/* The part to be filled next, or NULL: as many as there is room for have been handed in. */
struct part *part_threads_next(struct part_threads *c);

/* Hands in the part that part_threads_next returned. */
void part_threads_submit(struct part_threads *c);

/* The first part that was handed in and not taken out, or NULL. */
struct part *part_threads_first(struct part_threads *c);

/* Whether part_threads_wait would return at once. */
bool part_threads_is_done(struct part_threads *c);

/* Waits until the first part has been decoded. */
void part_threads_wait(struct part_threads *c);

/* Takes the first part out; it is empty when part_threads_next returns it. */
void part_threads_take_out(struct part_threads *c);

/* Makes room for nbytes of compressed data. False: out of memory. */
bool part_reserve(struct part *p, size_t nbytes);

/* Empties the part. */
void part_clear(struct part *p);

#endif
