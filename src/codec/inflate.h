/* SPDX-License-Identifier: MIT
 *
 * inflate.h - raw deflate data (RFC 1951) by one of several libraries.
 *
 * zlib is always built in. ISA-L decodes streams more than twice as fast; libdeflate decodes whole
 * blocks where ISA-L is not there. gzip.c and bgzf.c check CRCs and lengths, so that the result
 * does not depend on the library.
 */
#ifndef GPUSTAT_INFLATE_H
#define GPUSTAT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inflate_result {
	INFLATE_GOES_ON, /* all input is used, or all room for output */
	INFLATE_ENDED,   /* the last block's end was reached; output is complete */
	INFLATE_DAMAGED,
	INFLATE_NO_MEMORY,
};

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

	/* Continues a CRC-32 (RFC 1952), which starts at 0. */
	uint32_t (*crc)(uint32_t crc, const unsigned char *data, size_t nbytes);
};

/* For tests: names the only library to use; zlib then does what that one cannot. */
#define INFLATE_VARIABLE "GPUSTAT_INFLATE"

/* Whether the variable may have this value: a library, built in or not. */
bool inflate_is_library(const char *name);

/* The fastest library for streams, and for whole blocks. Any thread. */
const struct inflate_ops *inflate_stream(void);
const struct inflate_ops *inflate_block(void);

/* One library each. NULL: not built in, or the shared library is missing now. */
const struct inflate_ops *inflate_zlib(void);
const struct inflate_ops *inflate_isal(void);
const struct inflate_ops *inflate_libdeflate(void);

/* The version that was built in; NULL: none. */
const char *inflate_zlib_version(void);
const char *inflate_isal_version(void);
const char *inflate_libdeflate_version(void);

#endif
