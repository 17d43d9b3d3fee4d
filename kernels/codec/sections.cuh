/* SPDX-License-Identifier: MIT
 *
 * sections.cuh - one long deflate stream, decoded in sections by many warps (RFC 1951).
 *
 * Like src/codec/sections.c, for a GPU. Wherever the header of a block can be read, a section may begin:
 * one bit in 10^10 or so looks like that and is none. A warp decodes a section without the 32 KiB of text before it, to
 * symbols: bytes, or places in that unknown window. It goes on from block to block until one ends at the very
 * bit at which another section begins. So each section names the one behind it, and what can be reached
 * from the stream's true beginning is the stream; a false beginning is passed over, and costs time only.
 *
 * Then the windows are found: what the text before a section makes of its window is a map from places to
 * symbols, and maps compose. Sections are taken in groups: a block composes the maps of a group's sections, one
 * after the other; one block resolves the windows before the groups; and all symbols become bytes.
 * member.cu does these steps for a batch. Source of the idea: Kerbiriou and Chikhi, "Parallel decompression of
 * gzip-compressed files", 2019.
 *
 * All pointers are to device memory. Bits are counted from the batch's first byte. Launches do not wait; errors
 * are the launch's.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/codec/inflate.cuh"

#define SECTION_WINDOW_NBYTES 32768u

/* Packed bytes of a stream; INFLATE_PAD_NBYTES may be read behind them. */
struct section_data {
	const unsigned char *data; /* 4-byte aligned */
	uint32_t nbytes;           /* below 2^29 */
};

/* ---- 1. beginnings ---- */

struct section_list {
	uint64_t *bit;
	uint32_t *n; /* 0; may become more than capacity: only so many bits are written */
	uint32_t capacity;
};

/* Lists the bits in [from, to) where a dynamic block that is not the last may begin, as deflate_find() does,
 * in any order. */
cudaError_t sections_find_launch(struct section_data data, uint64_t from, uint64_t to, struct section_list list,
				 cudaStream_t stream);

/* ---- 2. symbols ---- */

enum section_end {
	SECTION_MEETS,   /* another section begins there */
	SECTION_IS_LAST, /* the stream ends */
	SECTION_STARVES, /* the data ends within a block */
	SECTION_IS_FULL, /* there is no room for its symbols */
	SECTION_IS_DAMAGED,
};

/* A section. To be filled in: the first three members. */
struct inflate_section {
	uint64_t begin;      /* bit */
	uint64_t symbols_at; /* where its symbols go */
	uint32_t room;       /* at most so many; below 2^31 */
	uint32_t nsymbols;
	uint64_t end; /* bit: of the last block's end that it came to */
	uint32_t next;       /* SECTION_MEETS: the section that begins there */
	uint32_t how;        /* an enum section_end */
};

struct section_job {
	struct section_data data;
	struct inflate_section *sections; /* ordered by begin, no two the same */
	uint32_t nsections;
	uint16_t *symbols;
	uint32_t *ticket; /* 0; left undefined */
};

/* Decodes all sections to symbols. Only the symbols of those that end with SECTION_MEETS or SECTION_IS_LAST are
 * defined. */
cudaError_t sections_decode_launch(struct section_job job, cudaStream_t stream);

/* ---- 3. text ---- */

/* A section of the stream itself, one behind the other. */
struct section_text {
	uint64_t symbols_at, text_offset;
	uint32_t nsymbols;
};

struct section_texts {
	const struct section_text *all;
	uint32_t n, ngroup; /* sections, and in a group */
	const uint16_t *symbols;
	char *text;
	uint64_t nbefore; /* bytes of the stream's text before the first section: what lies before them is no
			   * window, and to ask for it is damage */
	uint16_t *maps;   /* SECTION_WINDOW_NBYTES for each section and for each group; undefined */
	unsigned char *windows; /* the same for each group and one more: the first is given, the last becomes the
				 * window behind the text */
	uint32_t *ndamaged;     /* symbols that ask for what lies before the stream's beginning; added to */
};

static inline uint32_t section_ngroups(const struct section_texts &t)
{
	return (t.n + t.ngroup - 1) / t.ngroup;
}

/* Makes the text of the symbols. Launches three kernels. */
cudaError_t sections_text_launch(struct section_texts texts, cudaStream_t stream);

/* Sets crc[i] to the CRC-32 of the text of section i, 0 <= i < n. */
cudaError_t sections_crc_launch(struct section_texts texts, uint32_t *crc, cudaStream_t stream);
