/* SPDX-License-Identifier: MIT
 *
 * spool.h - temporary files, and inputs that are read twice: pipes are kept, and files are watched.
 */
#pragma once

#include "base/status.h"

/* Opens a file without a name in the folder that TMPDIR names, or /tmp. Returns its descriptor; -1: errno tells the error. */
int spool_file(void);

/* Reads each input that is no plain file to its end, and puts a file with its bytes in its place: at standard input for "-", else at
 * the descriptor of /dev/fd/N, or under another name, which replaces the one at *path. It is in memory up to a quarter of --memory,
 * then in the folder that TMPDIR names, without a name. Errors, with the input's name: STATUS_OPEN, STATUS_READ, STATUS_WRITE,
 * STATUS_NO_MEMORY. What was made lives as long as the process. */
enum status spool_pipes(const char **paths, int npaths, struct fault *fault);

/* A number, not 0, that is another one once something has been written to one of the inputs: of their lengths and times. */
uint64_t spool_stamp(const char *const *paths, int npaths);
