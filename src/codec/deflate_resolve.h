/* SPDX-License-Identifier: MIT
 *
 * deflate_resolve.h - deflate data decoded without the text before it, once that text is known.
 */
#ifndef GPUSTAT_DEFLATE_RESOLVE_H
#define GPUSTAT_DEFLATE_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "codec/deflate.h"

/* Writes the bytes to[0 .. n) that symbols[0 .. n) stand for. window: the 32768 bytes before the
 * text that symbols[0] belongs to. Symbols from 256 to 0x7fff do not occur. `to` overlaps neither of the
 * others; nothing has to be aligned; nothing is read or written beyond these arrays. Takes 64 KiB
 * of stack, and 1 us a call besides the work. */
void deflate_resolve(unsigned char *to, const uint16_t *symbols, size_t n,
		     const unsigned char *window);

/* The work, for one instruction set of simd/simd.h; tests call it. table: the byte for each of
 * 65536 symbols. */
struct deflate_resolver {
	const char *simd_name;
	void (*resolve)(unsigned char *to, const uint16_t *symbols, size_t n,
			const unsigned char *table);
};
extern const struct deflate_resolver deflate_resolvers[]; /* the last one has no name */

#endif
