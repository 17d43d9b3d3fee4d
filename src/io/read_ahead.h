/* SPDX-License-Identifier: MIT
 *
 * read_ahead.h - a compressed file, decoded by a thread ahead of its reader.
 *
 * Where a gzip member ends is known only when it has been decoded. One thread therefore decodes
 * all members in order, into a ring of slots. A file that ends within the first slot starts no
 * thread. Nor do blocks: they are cut for other threads to decode (read_ahead_cut).
 */
#ifndef GPUSTAT_READ_AHEAD_H
#define GPUSTAT_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "codec/bgzf.h"

struct read_ahead;

/* Starts on the compressed stream that fd delivers. prefix: bytes already read from fd, at most
 * FEED_NBYTES; copied. nthreads: as codec.open takes it. The caller closes fd, after read_ahead_close. Memory: 2.5 MiB.
 * Errors: the codec's open. */
enum status read_ahead_open(struct read_ahead **out, const struct codec *codec, int fd,
			    const void *prefix, size_t prefix_nbytes, int nthreads,
			    struct fault *fault);

/* Has the stream end at that place of a plain file. Before anything is read. */
void read_ahead_end_at(struct read_ahead *r, off_t position);

/* Ends the thread, even where it waits for input, and frees all. NULL is good. */
void read_ahead_close(struct read_ahead *r);

/* Copies up to capacity bytes of text into to; *nbytes of them, perhaps fewer than there are. 0
 * bytes: the stream is complete. Waits only while no byte is decoded. One thread at a time.
 * Errors: STATUS_READ, STATUS_NO_MEMORY, the codec's step. They stay. */
enum status read_ahead_read(struct read_ahead *r, char *to, size_t capacity, size_t *nbytes,
			    struct fault *fault);

/* Whether read_ahead_read would return at once. False also where no thread runs and only reading
 * on can tell. */
bool read_ahead_is_ready(struct read_ahead *r);

/* Whether all text has been read, no thread runs, and read_ahead_cut may find blocks next. */
bool read_ahead_has_blocks(const struct read_ahead *r);

/* Whether blocks follow what has been read so far. False where a thread decodes. */
bool read_ahead_expects_blocks(const struct read_ahead *r);

/* Moves blocks to the batch until it has no room for the next, or, if batch->fd is the plain file that is
 * decoded, measures them where they are; sets it to -1 if they were moved. Reads more; if prompt, only while
 * the batch is empty or input need not be waited for. An empty batch: what is next is no block,
 * or one longer than all of the room. *ended: the stream is complete.
 * Errors: STATUS_READ, if the batch is empty; behind blocks the next call reads again.
 * Where read_ahead_has_blocks. read_ahead_read goes on behind them. */
enum status read_ahead_cut(struct read_ahead *r, struct block_batch *batch, bool prompt,
			   bool *ended, struct fault *fault);

/* Whether the caller's threads decode what can be decoded in sections; otherwise a thread of its
 * own does. */
void read_ahead_share(struct read_ahead *r, bool shared);

/* Whether all text has been read, no thread runs, and sections can go on. */
bool read_ahead_has_sections(const struct read_ahead *r);

/* Begins with sections, where read_ahead_has_sections; read_ahead_join ends it. False:
 * out of memory. */
bool read_ahead_split(struct read_ahead *r, struct sections *sections, size_t section_nbytes);

/* read_ahead_read goes on behind the sections. crc, text_nbytes: of the member's whole text. */
void read_ahead_join(struct read_ahead *r, uint32_t crc, uint64_t text_nbytes);

/* Where the data that sections would go on with began: see gzip_began. */
bool read_ahead_began(const struct read_ahead *r, struct member_place *place, uint64_t *text_nbytes);

/* read_ahead_read goes on at the place of a plain file, or, if the data has ended there, behind it. */
void read_ahead_resume(struct read_ahead *r, const struct member_place *place, bool ended);

/* Whether zero bytes behind the stream were left out; after read_ahead_read has found its end. */
bool read_ahead_is_padded(struct read_ahead *r);

/* Whether a thread decodes. */
bool read_ahead_has_thread(const struct read_ahead *r);

#endif
