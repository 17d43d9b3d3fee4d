/* SPDX-License-Identifier: MIT
 *
 * shared_file.h - a plain file that many threads read from, each its own range.
 */
#ifndef GPUSTAT_RANGED_H
#define GPUSTAT_RANGED_H

#include <sys/types.h>

#include "csv/chunk.h"
#include "base/status.h"

struct ranged;

/* The file of a descriptor, with one user: the caller. NULL: no memory. */
struct ranged *ranged_make(int fd);

/* One user more, who has it until its own ranged_release. */
void ranged_add_user(struct ranged *r);

/* One user less. The last one closes the file, unless it is standard input. */
void ranged_release(struct ranged *r);

/* Reads chunk->nbytes from position on to where reader says. Any thread that is a user.
 * Errors: STATUS_SHRANK, STATUS_READ. */
enum status ranged_read(const struct ranged *r, off_t position, const struct chunk *chunk,
			const struct reader *reader, struct fault *fault);

#endif
