/* SPDX-License-Identifier: MIT
 *
 * inflate.h - raw deflate data (RFC 1951) by whichever library is there.
 *
 * zlib always is. ISA-L inflates streams twice as fast and more, libdeflate whole blocks.
 * What surrounds the data, and every check of it, is gzip.c's and bgzf.c's: so they
 * all accept and refuse the same.
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

/* What one call may use; it moves the pointers on. */
struct inflate_span {
	const unsigned char *in;
	size_t in_nbytes;
	unsigned char *out;
	size_t out_nbytes;
	/* At INFLATE_ENDED: how many of the bytes before in were not part of the data after
	 * all, at most 8. They may be from earlier calls. */
	size_t in_excess_nbytes;
	const char *words; /* at INFLATE_DAMAGED: what is wrong, or NULL */
};

struct inflate_ops {
	const char *name; /* as GPUSTAT_INFLATE spells it */

	/* NULL: no memory. */
	void *(*open)(void);
	void (*close)(void *state);

	/* Makes ready for a stream. NULL, as is run: whole blocks only. */
	void (*reset)(void *state);

	/* Inflates what it can. Gives out all that the input it used determines. */
	enum inflate_result (*run)(void *state, struct inflate_span *span);

	/* Inflates a whole stream. INFLATE_ENDED: it is exactly in_nbytes long and makes exactly
	 * out_nbytes. INFLATE_DAMAGED, INFLATE_NO_MEMORY: out may hold anything. */
	enum inflate_result (*whole)(void *state, const unsigned char *in, size_t in_nbytes,
				     unsigned char *out, size_t out_nbytes);

	/* Continues a CRC-32 (RFC 1952), which begins as 0. */
	uint32_t (*crc)(uint32_t crc, const unsigned char *data, size_t nbytes);
};

/* The fastest for streams, and for whole blocks. The environment's GPUSTAT_INFLATE, naming
 * one, masks the others (zlib stands in for what that one cannot do). Tests use it. Any
 * thread. */
const struct inflate_ops *inflate_stream(void);
const struct inflate_ops *inflate_block(void);

/* Each library's own; NULL: not built in, or not there now. */
const struct inflate_ops *inflate_zlib(void);
const struct inflate_ops *inflate_isal(void);
const struct inflate_ops *inflate_libdeflate(void);

/* The version that was built in; NULL: none. */
const char *inflate_isal_version(void);
const char *inflate_libdeflate_version(void);

#endif
