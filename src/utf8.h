/* SPDX-License-Identifier: MIT
 *
 * utf8.h - printing bytes that strangers wrote.
 */
#ifndef GPUSTAT_UTF8_H
#define GPUSTAT_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* The length of the UTF-8 character that text[0 .. nbytes) begins with (RFC 3629: no
 * overlong form, no surrogate), or 0 where it begins with none. */
size_t utf8_length(const char *text, size_t nbytes);

/* The columns that utf8_print's output takes, counting one for each character. */
size_t utf8_width(const char *text);

/* Prints text[0 .. nbytes) on one line and harmlessly to a terminal: control characters
 * and bytes that are no UTF-8 print as \n, \t, \r or \xNN. */
void utf8_print(FILE *to, const char *text, size_t nbytes);

#endif
