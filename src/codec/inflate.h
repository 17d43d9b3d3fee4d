/* SPDX-License-Identifier: MIT
 *
 * inflate.h - raw deflate data (RFC 1951) by the project's own decoder (deflate.h), or by zlib,
 * which tests compare it with.
 *
 * gzip.c and bgzf.c check CRCs and lengths, whichever decodes.
 */
#ifndef GPUSTAT_INFLATE_H
#define GPUSTAT_INFLATE_H

#include <stddef.h>

enum inflate_result {
	INFLATE_GOES_ON, /* all room for output is used, or all input but for the part of a code or of
			  * a header, which must be given again with what follows it */
	INFLATE_ENDED,   /* the last block's end was reached; output is complete */
	INFLATE_DAMAGED,
	INFLATE_NO_MEMORY,
};

/* Input and room for output of one call, which moves the pointers forward. FEED_PAD_NBYTES
 * are readable behind any input. */
struct inflate_span {
	const unsigned char *in;
	size_t in_nbytes;
	unsigned char *out;
	size_t out_nbytes;
	const char *words; /* at INFLATE_DAMAGED: what is wrong, or NULL */
};

struct inflate_ops {
	const char *name; /* as GPUSTAT_INFLATE spells it */

	/* NULL: no memory. */
	void *(*open)(void);
	void (*close)(void *state);

	/* Prepares for a stream. */
	void (*reset)(void *state);

	/* Inflates as much as input and room allow. */
	enum inflate_result (*run)(void *state, struct inflate_span *span);

	/* Inflates a whole stream. INFLATE_ENDED: the stream takes exactly in_nbytes and gives exactly
	 * out_nbytes. INFLATE_DAMAGED, INFLATE_NO_MEMORY: out is undefined. */
	enum inflate_result (*whole)(void *state, const unsigned char *in, size_t in_nbytes,
				     unsigned char *out, size_t out_nbytes);
};

extern const struct inflate_ops inflate_own, inflate_zlib;

/* For tests: the name of the decoder to use. */
#define INFLATE_VARIABLE "GPUSTAT_INFLATE"

/* NULL: no decoder has this name. */
const struct inflate_ops *inflate_find(const char *name);

/* The decoder that the variable names, else inflate_own. Any thread. */
const struct inflate_ops *inflate_chosen(void);

/* The decoder of a stream that inflate_own has run, and its window. Leaves text_nbytes to the
 * caller. */
struct deflate_trunk;
void inflate_own_trunk(const void *state, struct deflate_trunk *trunk);

/* Has inflate_own go on at a place of a member: the input is what follows its position. */
struct member_place;
void inflate_own_resume(void *state, const struct member_place *place);

/* A struct codec_library's version (codec.h). */
const char *inflate_zlib_version(void);

#endif
