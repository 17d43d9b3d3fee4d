/* SPDX-License-Identifier: MIT
 *
 * block_ahead.h - threads that find the blocks of a large plain file before they are asked for.
 *
 * Where a block begins is told by the one before it: from block to block is one way through the file, at a short read for
 * each. 64 KiB of text cost 0.5 to 0.8 us so, which is 100 GB/s and more, but all who wait for their blocks are waiting
 * then, and each of them is woken in turn (docs/speed.md, "Inflate on a GPU"). Here threads go through one range of
 * the file each, from what seems to be the first block there. It is one if the blocks before it end there. Ranges that do
 * not go on like that are not used.
 */
#ifndef GPUSTAT_BLOCK_AHEAD_H
#define GPUSTAT_BLOCK_AHEAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "codec/codec.h"

struct block_ahead;

/* Starts threads for the file from `begin` on up to `end`, or to the file's end if that is less; it is cut in ranges of
 * range_nbytes. fd: not owned; it must stay open. NULL: the file has too few ranges for it to pay, or there are no threads. */
struct block_ahead *block_ahead_open(const struct codec_blocks *blocks, int fd, off_t begin, off_t end, off_t range_nbytes);

/* Ends the threads. NULL is good. */
void block_ahead_close(struct block_ahead *a);

/* Adds the lengths of blocks that begin at *position, which is where a block begins, as far as they have been found, the
 * batch has room, and they end at or before `end`; moves *position behind them. Waits for nothing. One thread at a time.
 * Returns whether it has met a block that the batch does not take, so that nothing is left to do; otherwise the next blocks are
 * to be found one by one. a: NULL: none have been found. */
bool block_ahead_walk(struct block_ahead *a, off_t *position, off_t end, struct block_batch *batch);

#endif
