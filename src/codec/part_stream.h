/* SPDX-License-Identifier: MIT
 *
 * part_stream.h - a stream of frames, decoded by several threads where that works and else in order.
 *
 * A codec's step decodes the first frames itself, from part_stream_data. Between frames it asks
 * part_stream_begins, and then part_stream_step does its work: it gathers whole frames to parts and takes the
 * text of parts that threads have decoded. Whatever is not plain there - damage, a frame that is too
 * long, the stream's end, a pipe that keeps one waiting - goes back to the codec's own way, with all
 * bytes that were gathered. So text and errors do not depend on the threads.
 */
#ifndef GPUSTAT_PART_STREAM_H
#define GPUSTAT_PART_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/codec.h"

/* Compressed data that decodes by itself, as whole frames do. */
struct part {
	unsigned char *data; /* compressed */
	size_t nbytes, room_nbytes;
	unsigned char *text;
	size_t text_nbytes, text_room_nbytes;
	size_t text_most_nbytes; /* what data may decode to at most */
	bool good;               /* text is complete */
};

enum gathering {
	GATHER_WHOLE,  /* the part has frames enough and ends where one ends */
	GATHER_STARVES,
	GATHER_OTHER,  /* no frame that can be decoded ahead */
};

struct part_stream_ops {
	void *(*open)(void); /* a thread's means of decoding; NULL: out of memory */
	void (*close)(void *thread_state);

	/* Decodes and checks data to text, which has room for text_most_nbytes; sets text_nbytes.
	 * False: it is damaged or longer than that, or memory is short. */
	bool (*decode)(void *thread_state, struct part *part);

	int nthreads_most; /* more would wait for memory */

	/* Moves bytes from the feed to the part, and adds to text_most_nbytes. walk: where it is, all 0
	 * at the part's beginning. */
	enum gathering (*gather)(void *walk, struct part *part, struct feed *feed);
	size_t walk_nbytes;
};

struct part_threads;

/* All 0 to begin with, but for the first three members. */
struct part_stream {
	const struct part_stream_ops *ops;
	void *walk;
	int nthreads;        /* as asked for; 0: one for each core */
	bool refused;        /* no thread could be started, or only one is wanted */
	size_t text_nbytes;  /* that the codec decoded */
	struct part_threads *threads; /* NULL: not begun */
	struct part *held;   /* decoded by the codec: a part that was gathered, or handed in */
	size_t offset_bytes; /* what was used of it; or of the first part's text */
};

void part_stream_close(struct part_stream *a);

/* Whether part_stream_step is to be called, between frames. Starts threads where there is more than a
 * piece of text. */
bool part_stream_begins(struct part_stream *a, const struct feed *feed);

/* Like codec.step. False: it has done nothing, and the codec decodes what is next. */
bool part_stream_step(struct part_stream *a, struct feed *feed, struct piece *piece, enum decode_step *step);

/* The bytes that the codec decodes next; *nbytes of them, 0 only if the feed has no byte left. */
const unsigned char *part_stream_data(struct part_stream *a, const struct feed *feed, size_t *nbytes);

/* Marks nbytes of them as used, which gave text_nbytes of text. */
void part_stream_use(struct part_stream *a, struct feed *feed, size_t nbytes, size_t text_nbytes);

/* Moves up to nbytes from the feed to the part. False: out of memory. */
bool part_take(struct part *p, struct feed *feed, size_t nbytes);

#endif
