/* SPDX-License-Identifier: MIT
 *
 * read_ahead.h - a compressed file, decompressed ahead of whoever reads it.
 *
 * A thread of its own decompresses into a ring of buffers while what it made before is
 * taken out: members are not known to end before they have been inflated, and so come one
 * after the other; so do frames of zstd. A file that ends within the first buffer starts no
 * thread. Nor do blocks of BGZF: they are cut for others to inflate (ahead_cut).
 */
#ifndef GPUSTAT_AHEAD_H
#define GPUSTAT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/decoder.h"
#include "base/status.h"

struct ahead;

/* Makes a reader of the compressed stream that fd delivers. prefix: bytes already read from
 * fd, at most FEED_NBYTES, copied. fd stays the caller's, who closes it after ahead_close.
 * Memory: 2.5 MiB.
 * Errors: STATUS_NO_MEMORY; STATUS_OPEN, with words: this build cannot. */
enum status ahead_open(struct ahead **out, enum decoder_format format, int fd, const void *prefix,
		       size_t prefix_nbytes, struct fault *fault);

/* Ends the thread, which waits for no input then, and frees all. NULL is good. */
void ahead_close(struct ahead *a);

/* Copies up to capacity bytes into to; *nbytes of them. 0 bytes: the stream has ended, and all
 * of it was right. May return fewer bytes than there are; waits only while there are none. One
 * thread at a time.
 * Errors: STATUS_READ, STATUS_NO_MEMORY, STATUS_GZIP_*, for ever again. */
enum status ahead_read(struct ahead *a, char *to, size_t capacity, size_t *nbytes,
		       struct fault *fault);

/* Whether ahead_cut may find blocks: all text has been taken, and no thread is ahead. */
bool ahead_has_blocks(const struct ahead *a);

/* Like decoder_cut(), where ahead_has_blocks. What it does not take, ahead_read has next. */
enum status ahead_cut(struct ahead *a, struct bgzf_batch *batch, bool prompt, bool *ended,
		      struct fault *fault);

/* Whether a thread decompresses. */
bool ahead_has_thread(const struct ahead *a);

/* Whether ahead_read would return at once. */
bool ahead_is_ready(struct ahead *a);

#endif
