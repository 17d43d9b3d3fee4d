/* SPDX-License-Identifier: MIT
 *
 * merge_head.h - a file of parts that is being merged, and the heads in it: does the part answer the same query,
 * does it follow the one before, and where are its columns?
 */
#ifndef GPUSTAT_MERGE_HEAD_H
#define GPUSTAT_MERGE_HEAD_H

#include "base/json_text.h"
#include "base/status.h"
#include "cluster/part.h"
#include "cluster/part_lines.h"
#include "cluster/part_text.h"

/* A file of parts. */
struct part_file {
	struct part_text text;
	const char *run;      /* lines of the block that are to be added, up to the current one; NULL: none */
	uint64_t run_begin;   /* lines before them */
	const char *unsummed; /* the current part's bytes of the block that are not in the CRC */
	uint64_t begin;   /* lines before the current part */
	uint32_t crc;     /* of the current part so far */
	bool is_inside;   /* a part has begun and not ended */
	bool is_skipped;  /* it has no records */
	size_t ninputs;   /* of the parts before, less one where the part goes on with the last */
	uint64_t offset_bytes;  /* of the part in the input */
	uint64_t nlines_before; /* of the file in the midst of which the part begins */
	struct part_seam left, right; /* of the part; their names are not owned, nor valid */
	struct part_map *map;
	const struct plan *plan; /* for records that the part's ends cut: its columns are where they are in the
				  * part's inputs */
};

/* Sets m's fault to a status, words, and the file's current line. Returns status. */
enum status merge_fail(struct merge *m, const struct part_file *f, enum status status, const char *words);

/* The same for the status of a reader of the line. head: NULL, or the head that was read. */
enum status merge_fail_reading(struct merge *m, const struct part_file *f, enum status status,
			       const struct part_head *head);

/* Reads the first line of a part, and begins with the part: of the first one, the query is made (merge_begin).
 * Errors: those of merge_parts. */
enum status merge_read_head(struct merge *m, struct part_file *f, struct json_text *r);

#endif
