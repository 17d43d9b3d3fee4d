/* SPDX-License-Identifier: MIT
 *
 * deflate_header.h - the code lengths in a dynamic block's header (RFC 1951, section 3.2.7).
 */
#ifndef GPUSTAT_DEFLATE_HEADER_H
#define GPUSTAT_DEFLATE_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/deflate_bits.h"

#define DEFLATE_NLITERALS_MAX 286 /* literals, the end of the block, lengths */
#define DEFLATE_NDISTANCES_MAX 30

struct deflate_lengths {
	unsigned nliterals, ndistances;
	/* Of both codes, one behind the other; a run of 138 may be written behind them. */
	uint8_t length[DEFLATE_NLITERALS_MAX + DEFLATE_NDISTANCES_MAX + 138];
};

/* Reads a dynamic block's header behind its first 3 bits. Reads up to 24 bytes behind the input's
 * end. False: *words says what is wrong, as zlib does, or is NULL where the input ends within the
 * header. What it does not check: that both codes are complete. */
bool deflate_read_lengths(struct deflate_bits *b, struct deflate_lengths *lengths,
			  const char **words);

#endif
