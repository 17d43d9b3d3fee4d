/* SPDX-License-Identifier: MIT
 *
 * inflate.cuh - decodes many independent deflate streams at once, on the GPU (RFC 1951).
 *
 * They are BGZF blocks, or whole members: each begins without text before it, and says how long its
 * text is and which CRC it has.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

/* Behind the packed data, so many bytes may be read. */
#define INFLATE_PAD_NBYTES 8

struct inflate_stream {
	uint64_t data_offset, text_offset; /* in the packed data, and in the text */
	uint32_t nbytes, text_nbytes;
	uint32_t crc;
};

/* What a launch works on. Device memory, all of it. */
struct inflate_job {
	const unsigned char *data; /* 4-byte aligned */
	const struct inflate_stream *streams;
	uint32_t nstreams;
	char *text;
	uint32_t *ndamaged; /* streams that are damaged, or of another length or CRC; added to. Their text is
			     * undefined, but nothing beside it is written. */
	uint32_t *ticket;   /* 0; left undefined */
};

/* Decodes all streams. Launches one kernel on stream, and does not wait. Errors: the launch's. */
cudaError_t inflate_launch(struct inflate_job job, cudaStream_t stream);

/* Compares the CRC of each text with its stream's. Launches one kernel on stream, and does not wait. Errors:
 * the launch's. */
cudaError_t inflate_check_launch(struct inflate_job job, cudaStream_t stream);
