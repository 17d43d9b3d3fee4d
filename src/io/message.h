/* SPDX-License-Identifier: MIT
 *
 * message.h - the only writer to stderr.
 */
#ifndef GPUSTAT_MESSAGE_H
#define GPUSTAT_MESSAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Sets the name that every message begins with: "gpustat" until then. name is not copied. */
void message_program(const char *name);

/* Prints a fault as one line, `gpustat: FILE:LINE: column 'NAME': what: 'value'`, bytes
 * that could harm a terminal escaped; a usage fault points to --help. Returns the exit
 * status that it asks for. */
int message_fault(const struct fault *fault);

/* Prints the names that an unknown column could have had: of ncolumns columns, those that
 * have one. */
void message_columns(char *const *names, size_t ncolumns);

/* Warns that n values of the column were left out for being no numbers, or (column NULL) n
 * records for having too few fields. */
void message_left_out(uint64_t n, const char *column);

/* Warns that for n records a condition compared text with a number. */
void message_undecided(uint64_t n);

/* Lets SIGUSR1, unless it is ignored, print one line: how many bytes are done, of how many, since
 * the first call, and how fast. done: counts bytes, and outlives the process's signals. all:
 * UINT64_MAX if it is not known. */
void message_progress(const _Atomic uint64_t *done, uint64_t all);

/* Prints the program's name and a line, for --verbose. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
