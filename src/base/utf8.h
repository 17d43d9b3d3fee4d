/* SPDX-License-Identifier: MIT
 *
 * utf8.h - printing bytes that strangers wrote.
 */
#ifndef GPUSTAT_UTF8_H
#define GPUSTAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The length of the UTF-8 character that text[0 .. nbytes) begins with (RFC 3629: no
 * overlong form, no surrogate), or 0 where it begins with none. */
size_t utf8_length(const char *text, size_t nbytes);

/* Whether text[0 .. nbytes) begins with a character that a terminal shows as itself: none of
 * those that control it, break the line or turn the direction of what stands beside them
 * (Unicode 15.1, section 23.2). *length: its bytes, or 0 where there is no UTF-8. */
bool utf8_prints(const char *text, size_t nbytes, size_t *length);

/* The columns that utf8_print's output takes, counting one for each character. */
size_t utf8_width(const char *text);

/* Prints text[0 .. nbytes) on one line and harmlessly to a terminal: what
 * utf8_prints refuses prints as \n, \t, \r or \xNN, byte by byte. */
void utf8_print(FILE *to, const char *text, size_t nbytes);

#endif
