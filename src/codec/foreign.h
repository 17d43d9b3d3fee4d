/* SPDX-License-Identifier: MIT
 *
 * foreign.h - formats that are not read, each a row of one table: recognised, so that the message
 * can say what the file is and which command makes CSV of it.
 */
#ifndef GPUSTAT_FOREIGN_H
#define GPUSTAT_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "codec/codec.h"

/* How much of a file decides at most. */
#define FOREIGN_NBYTES 512

struct foreign {
	const char *name;   /* "bzip2 data" */
	const char *remedy; /* what to do, a sentence; each % stands for the file's name */
	/* Either a magic number of magic_nbytes at offset_bytes, or a function. */
	const char *magic;
	size_t magic_nbytes, offset_bytes;
	bool (*is)(const unsigned char *data, size_t nbytes);
};

/* Looks for a foreign format in a file's first nbytes, compressed data decompressed. at_end: there
 * are no more. Returns CODEC_BEGINS and sets *found; CODEC_OTHER: text, *found is NULL;
 * CODEC_PERHAPS: more bytes decide. What it returns does not depend on how the bytes arrive. It
 * never asks for more than the first line, unless that is no text or may be JSON. */
enum codec_match foreign_find(const unsigned char *data, size_t nbytes, bool at_end,
			      const struct foreign **found);

/* Fills the fault with STATUS_FOREIGN and the message's end. name: the file's, if a shell takes it
 * as one word it becomes part of the command. codec: what it was decompressed by, or NULL.
 * Returns STATUS_FOREIGN. */
enum status foreign_fault(struct fault *fault, const struct foreign *f, const char *name,
			  const struct codec *codec);

#endif
