/* SPDX-License-Identifier: MIT
 *
 * member.cuh - the deflate data of one gzip member, batch by batch on a GPU.
 *
 * A batch is as much of the packed data as lies on the device. Its sections are found, decoded and chained
 * from the bit at which the batch before ended (sections.cuh). What cannot be chained is left to the next batch.
 */
#pragma once

#include <cuda_runtime.h>

#include "kernels/codec/sections.cuh"
#include "kernels/level/gpu_memory.cuh"

#define MEMBER_RATIO 16 /* symbols for each packed byte: text that is packed better takes more batches */
#define MEMBER_NBYTES_MAX ((uint32_t)256 << 20)
#define MEMBER_MEMORY_RATIO 37 /* bytes of device memory for each packed byte of a batch */

enum member_end {
	MEMBER_GOES_ON, /* behind end, with the same data or with more */
	MEMBER_ENDED,   /* end is behind the last block */
	MEMBER_STARVES, /* nothing was decoded: the data ends within the block at end */
	MEMBER_FAILED,  /* nothing was decoded, nor will be: the CPU is to decode what is at end */
};

/* All 0 to begin with. */
struct member {
	uint32_t capacity_nbytes; /* of a batch's packed data */
	uint32_t nsections, ngroups;
	size_t nsymbols;          /* there is room for */
	cudaStream_t stream;      /* not owned */
	struct arena device, pinned;

	/* Of the text so far. */
	uint64_t text_nbytes;
	uint32_t crc;

	uint32_t ratio;  /* symbols for which a packed byte has room */
	uint64_t hidden; /* so many bits after a batch's first begin no section: what seems to begin there does not, or is too near */

	/* Pinned. */
	uint64_t *found;
	struct inflate_section *sections;
	struct section_text *texts;
	uint32_t *counts; /* of found, of damaged symbols */
	uint32_t *crcs;

	/* On the device. */
	struct section_list list;
	struct section_job job;
	struct section_texts text;
	uint32_t *device_crcs;
};

/* A batch. */
struct member_batch {
	struct section_data data;
	uint64_t begin; /* bit */
	char *text;     /* device memory */
	size_t text_room_nbytes;
	/* The result: */
	size_t text_nbytes;
	uint64_t end; /* bit */
	enum member_end how;
};

/* Reserves memory for batches of up to capacity_nbytes packed, MEMBER_NBYTES_MAX at most.
 * Errors: cudaMalloc's; member_close is to be called then, too. */
cudaError_t member_open(struct member *m, uint32_t capacity_nbytes, cudaStream_t stream);
void member_close(struct member *m);

/* Begins with a member: there is no text before. */
void member_begin(struct member *m);

/* Decodes a batch that goes on where the one before ended. Waits for the stream. Errors: of the launches, and of
 * earlier work. */
cudaError_t member_decode(struct member *m, struct member_batch *batch);

/* Copies the window behind the text so far, of which the last text_nbytes are valid. Waits. */
cudaError_t member_window(struct member *m, unsigned char window[SECTION_WINDOW_NBYTES]);
