/* SPDX-License-Identifier: MIT
 *
 * zstd_frames.h - a stream of zstd frames (RFC 8878), as gzip.h is one of gzip members.
 */
#ifndef GPUSTAT_UNZSTD_H
#define GPUSTAT_UNZSTD_H

#include <stddef.h>

#include "codec/feed.h"
#include "base/status.h"

struct unzstd;

/* The version that was built in; NULL: none, and unzstd_open always fails. */
const char *unzstd_version(void);

/* Errors: STATUS_NO_MEMORY; STATUS_OPEN, with words: not built in. */
enum status unzstd_open(struct unzstd **out, struct fault *fault);
void unzstd_close(struct unzstd *z);

/* Decompresses up to capacity bytes into to; *nbytes of them, also where it fails. A frame's
 * checksum, if it has one, is verified; frames that are to be skipped are.
 * Errors: STATUS_NO_MEMORY; STATUS_READ, with words: damaged or truncated data, or bytes that
 * begin no further frame. */
enum status unzstd_step(struct unzstd *z, struct feed *feed, unsigned char *to, size_t capacity,
			size_t *nbytes, enum step *step, struct fault *fault);

#endif
