/* SPDX-License-Identifier: MIT
 *
 * output_ahead.h - disk blocks of standard output, if that is a file, are reserved ahead of what is written: a write
 * into reserved blocks costs the kernel less. The file's size is never changed by it, so at any moment the file
 * holds what was written and nothing more. What is reserved beyond is given back at the end of the process,
 * also at a deadly signal; not if it is killed by SIGKILL.
 *
 * Nothing is reserved for a file that is appended to (>>), or written to at another place than its end, or that
 * another process writes to meanwhile; for the first OUTPUT_AHEAD_LEAST bytes; and where the file system cannot.
 */
#ifndef GPUSTAT_OUTPUT_AHEAD_H
#define GPUSTAT_OUTPUT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_AHEAD_LEAST (16 << 20) /* bytes */
#define OUTPUT_AHEAD_STEP (64 << 20)

/* Writes nbytes to standard output as fd_write does. One thread at a time. */
bool output_ahead_write(const char *data, size_t nbytes);

/* Gives back what is reserved, if any. Threads that still write wait meanwhile, and then reserve nothing. */
void output_ahead_trim(void);

#endif
