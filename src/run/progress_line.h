/* SPDX-License-Identifier: MIT
 *
 * progress_line.h - how far a run is, in words.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROGRESS_LINE_NBYTES 512

struct progress_state {
	unsigned pass;       /* from 1; only further ones are named */
	uint64_t nbytes;     /* of the decompressed text, so far */
	uint64_t done, all;  /* bytes of the files as they are stored; all is UINT64_MAX: not known */
	double elapsed_s;
	double speed;        /* of the text, in bytes a second */
	double done_speed;   /* of the files, likewise */
	const char *devices; /* at work; "": none */
};

/* Writes `45 %, 12.3 GB, 1.23 GB/s, 0:12 left, 2 CPU threads`, without a line end. Where the whole is not
 * known, the time that has passed stands in place of the percentage and the time left. Sizes and
 * percentages are cut, not rounded: 100 % is all. */
void progress_line(char text[PROGRESS_LINE_NBYTES], const struct progress_state *state);
