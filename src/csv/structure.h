/* SPDX-License-Identifier: MIT
 *
 * structure.h - finding the bytes that matter to CSV, 64 at a time.
 *
 * Which of up to 64 bytes are delimiters, LFs and quotes, as bitmaps, for a text that has no
 * padding (simd.h). What they mean is the automaton's business (record_walk.h).
 */
#ifndef GPUSTAT_STRUCTURE_H
#define GPUSTAT_STRUCTURE_H

#include <stddef.h>
#include <stdint.h>

#define STRUCTURE_NBYTES 64

/* Bit i speaks of byte i. */
struct structure {
	uint64_t delimiter, newline, quote;
};

/* Scans text[0 .. nbytes), 1 <= nbytes <= 64; bits from nbytes on are 0. Reads no byte
 * beyond nbytes. */
struct structure structure_classify(const char *text, size_t nbytes, char delimiter);

/* The number of bytes of text[0 .. nbytes) that are LF. */
uint64_t structure_count_lines(const char *text, size_t nbytes);

#endif
