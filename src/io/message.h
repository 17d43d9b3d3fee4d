/* SPDX-License-Identifier: MIT
 *
 * message.h - all output to stderr.
 */
#pragma once

#include <stdatomic.h>

#include "base/status.h"

/* Sets the program's name in messages, "gpustat" by default, to what follows the last '/' of path: a
 * program that was installed under another name says that one. A name with bytes other than letters,
 * digits and +-._ is ignored. path is not copied. */
void message_program(const char *path);

/* Prints a fault as `gpustat: FILE:LINE: column 'NAME': what: 'value'` on one line, with bytes that
 * could harm a terminal escaped; a usage fault adds a line that points to --help. Returns the
 * program's exit status. */
int message_fault(const struct fault *fault);

/* Prints the number of columns, the first names, colN for NULL, and the name that is nearest to the
 * unknown one: of these and of nothers computed columns. */
void message_columns(char *const *names, size_t ncolumns, const char *const *others, size_t nothers,
		     const char *unknown);

/* Prints one line of words, in which @ stands for a text that others wrote, of which each byte is shown, # for a number, a
 * uint64_t, and $ after it for the s of a plural. */
void message_say(const char *format, ...);

/* The same, a warning about n values or records: what is wrong with the first of them, and where, comes after the words. */
void message_first_of(uint64_t n, const struct fault *first, const char *format, ...);

/* Notes that the first record was taken for the header. first: its place and its text, as a value. */
void message_header_guessed(const struct fault *first);

/* Makes SIGUSR1, unless it is ignored, print the bytes done, the total, and the speed since the
 * first call; later calls only set the total. done: static storage. all: UINT64_MAX: unknown. */
void message_progress(const _Atomic uint64_t *done, uint64_t all);

/* ---- a line about a run that goes on ---- */

/* Whether standard error is a terminal on which a line can be rewritten. */
bool message_can_rewrite(void);

/* Allows message_line. Every other message, and message_line_end, takes the line away and forbids it. */
void message_line_begin(void);

/* Shows text behind the program's name, in place of the text before; cut to the terminal's width. Does
 * nothing while the program is in the background, or where another thread has not been able to write for
 * a while. From the first call on, the line is taken away before a signal ends or stops the process.
 * rewrite: false: prints a whole line that stays. */
void message_line(const char *text, bool rewrite);

void message_line_end(void);

/* Prints one line, for --verbose. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
