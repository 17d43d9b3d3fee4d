/* SPDX-License-Identifier: MIT
 *
 * deflate_find.h - where in the midst of deflate data (RFC 1951) a block may begin.
 */
#ifndef GPUSTAT_DEFLATE_FIND_H
#define GPUSTAT_DEFLATE_FIND_H

#include <stddef.h>
#include <stdint.h>

/* Returns the first bit in [from, to) where a dynamic block that is not the last may begin, or
 * UINT64_MAX. Bit 8 * k + i is bit i of in[k], the lowest being bit 0. The 64 bytes behind
 * in[nbytes - 1] are readable and of any content; bits from 8 * nbytes on belong to no header.
 *
 * There, 12 or more code lengths make up a complete code, in which the lengths of two codes are
 * written. The literals' code is complete and has an end of block. The distances' code is complete,
 * a single code of one bit, or empty. A block that begins otherwise is not found: stored, fixed,
 * last, 4 to 11 code lengths, an empty block of one code. Random bits are taken for a beginning
 * once in 10^10 or so; only a decoder that comes from the block before proves one. */
uint64_t deflate_find(const unsigned char *in, size_t nbytes, uint64_t from, uint64_t to);

#endif
