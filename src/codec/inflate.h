/* SPDX-License-Identifier: MIT
 *
 * inflate.h - raw deflate data (RFC 1951) by one of several libraries, or by the project's own
 * decoder.
 *
 * zlib and the own decoder (deflate.h) are always built in. gzip.c and bgzf.c check CRCs and
 * lengths, so that the result does not depend on the library.
 */
#ifndef GPUSTAT_INFLATE_H
#define GPUSTAT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inflate_result {
	INFLATE_GOES_ON, /* all room for output is used, or all input but for the part of a code or of
			  * a header, which must be given again with what follows it */
	INFLATE_ENDED,   /* the last block's end was reached; output is complete */
	INFLATE_DAMAGED,
	INFLATE_NO_MEMORY,
};

#define INFLATE_PAD_NBYTES 64 /* readable bytes behind any input, of any value */

/* Input and room for output of one call, which moves the pointers forward. */
struct inflate_span {
	const unsigned char *in;
	size_t in_nbytes;
	unsigned char *out;
	size_t out_nbytes;
	/* At INFLATE_ENDED: how many bytes just before `in` lie behind the stream's end, at most 8.
	 * Earlier calls may have used them. */
	size_t in_excess_nbytes;
	const char *words; /* at INFLATE_DAMAGED: what is wrong, or NULL */
};

struct inflate_ops {
	const char *name; /* as GPUSTAT_INFLATE spells it */

	/* NULL: no memory. */
	void *(*open)(void);
	void (*close)(void *state);

	/* Prepares for a stream. NULL, as run is: the library decodes whole blocks only. */
	void (*reset)(void *state);

	/* Inflates as much as input and room allow. */
	enum inflate_result (*run)(void *state, struct inflate_span *span);

	/* Inflates a whole stream. INFLATE_ENDED: the stream takes exactly in_nbytes and gives exactly
	 * out_nbytes. INFLATE_DAMAGED, INFLATE_NO_MEMORY: out is undefined. */
	enum inflate_result (*whole)(void *state, const unsigned char *in, size_t in_nbytes,
				     unsigned char *out, size_t out_nbytes);
};

/* For tests: names the only library to use; zlib then does what that one cannot. */
#define INFLATE_VARIABLE "GPUSTAT_INFLATE"

/* Whether the variable may have this value: a library, built in or not. */
bool inflate_is_library(const char *name);

/* The fastest library for streams, and for whole blocks. Any thread. */
const struct inflate_ops *inflate_stream(void);
const struct inflate_ops *inflate_block(void);

/* The project's own decoder. */
const struct inflate_ops *inflate_own(void);

/* One library each. NULL: not built in, or the shared library is missing now. */
const struct inflate_ops *inflate_zlib(void);
const struct inflate_ops *inflate_isal(void);
const struct inflate_ops *inflate_libdeflate(void);

/* The decoder of a stream that inflate_own() has run, and its window. Leaves text_nbytes to the
 * caller. */
struct deflate_trunk;
void inflate_own_trunk(const void *state, struct deflate_trunk *trunk);

/* The version that was built in; NULL: none. */
const char *inflate_zlib_version(void);
const char *inflate_isal_version(void);
const char *inflate_libdeflate_version(void);

#endif
