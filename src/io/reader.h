/* SPDX-License-Identifier: MIT
 *
 * reader.h - how a chunk is read from a range of a plain file.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "csv/chunk.h"

struct worker;
struct block_batch;
struct device_text;

/* A section of compressed data that a thread has decoded and reads chunk by chunk. All 0: none. */
struct section_reader {
	struct section_decoder *decoder; /* NULL: none. The input's. */
	int result;                      /* an enum section_result */
	bool finished;                   /* its turn has ended */
	struct chunk next;               /* the next chunk, all but its data */
	struct fault fault;              /* at SECTION_FAILED: what ends the text */
};

/* A worker's buffer, and its own way to read a chunk if it has one. */
struct reader {
	char *buffer; /* of nbytes, the longest chunk */
	size_t nbytes;
	struct worker *worker;
	struct section_reader *section; /* the thread's */
	/* Reads a chunk of a plain file: see worker.h. NULL: it goes into the buffer. */
	enum status (*read)(struct worker *worker, int fd, off_t position,
			    const struct chunk *chunk, struct fault *fault);
	/* Reads and decodes blocks: see worker.h. NULL: they are decoded into the buffer. */
	enum status (*read_blocks)(struct worker *worker, const struct block_batch *batch,
				   const struct chunk *chunk, bool *decoded, struct fault *fault);
	/* Takes text from a device: see worker.h. NULL: it is copied to the buffer. */
	bool (*read_text)(struct worker *worker, const struct device_text *text, const struct chunk *chunk);
};

/* Reads nbytes of a plain file from position on into data. Any thread.
 * Errors: STATUS_SHRANK, STATUS_READ. */
enum status file_read_range(int fd, off_t position, char *data, size_t nbytes, struct fault *fault);
