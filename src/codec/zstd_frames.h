/* SPDX-License-Identifier: MIT
 *
 * zstd_frames.h - whole zstd frames, found by their headers and decoded ahead.
 */
#ifndef GPUSTAT_ZSTD_FRAMES_H
#define GPUSTAT_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/part_stream.h"

/* Where a walk over the frames of a part is. All 0: at the part's beginning. */
struct zstd_walk {
	size_t at_bytes;   /* where the next header begins: a frame's, or a block's */
	bool inside_frame; /* the latter */
	bool has_checksum; /* the frame */
	bool has_nbytes;   /* ... its text's length in its header */
};

extern const struct part_stream_ops zstd_ahead;

#endif
