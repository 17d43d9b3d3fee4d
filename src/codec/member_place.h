/* SPDX-License-Identifier: MIT
 *
 * member_place.h - a place in a gzip member's data at which a decoder can begin: between two blocks, with the
 * text before it. Who decodes elsewhere, as on a GPU, tells by it where a CPU goes on.
 */
#ifndef GPUSTAT_MEMBER_PLACE_H
#define GPUSTAT_MEMBER_PLACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "codec/deflate.h"

struct member_place {
	off_t position; /* in the file, of the byte that has the next bit ... */
	unsigned bit;   /* ... which is this one of it, 0 to 7 */
	uint64_t text_nbytes; /* of the member before it */
	uint32_t crc;         /* of that text */
	unsigned char window[DEFLATE_WINDOW_NBYTES]; /* its last bytes, at the end */
};

/* How much of the window there is. */
static inline size_t member_place_window_nbytes(const struct member_place *p)
{
	return p->text_nbytes < DEFLATE_WINDOW_NBYTES ? (size_t)p->text_nbytes : DEFLATE_WINDOW_NBYTES;
}

/* Decodes nbytes of the text, from skip bytes behind the place on, of a plain file's member: what has been decoded
 * before and is wanted again. Any thread. Errors: STATUS_NO_MEMORY; STATUS_READ; STATUS_DAMAGED, if the file has
 * changed. */
enum status member_place_read(const struct member_place *p, int fd, uint64_t skip, void *to, size_t nbytes,
			      struct fault *fault);

#endif
