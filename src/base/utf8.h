/* SPDX-License-Identifier: MIT
 *
 * utf8.h - prints untrusted bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the length of the UTF-8 character (RFC 3629: no overlong form, no surrogate) that
 * text[0 .. nbytes) begins with, and its code point; or 0, then *code is undefined. */
size_t utf8_decode(const char *text, size_t nbytes, uint32_t *code);

/* Like utf8_decode, for the length alone. */
size_t utf8_length(const char *text, size_t nbytes);

/* Whether text[0 .. nbytes) begins with a character that is safe on a terminal: no control
 * character, line separator, or control of text direction (Unicode 15.1, section 23.2). Sets
 * *length to utf8_length. */
bool utf8_prints(const char *text, size_t nbytes, size_t *length);

/* Sets *length to the bytes that text[0 .. nbytes), at least one, prints next: one character or the escape of one byte.
 * Returns the columns of a terminal that they take. */
size_t utf8_next_width(const char *text, size_t nbytes, size_t *length);

/* Returns the columns of a terminal that utf8_print's text takes: two for a wide character (UAX #11), none
 * for a combining mark. */
size_t utf8_width(const char *text);

/* Returns how many of text's first bytes utf8_print prints in at most *width columns, and takes
 * the number of these from *width. */
size_t utf8_fit(const char *text, size_t *width);

/* Whether two texts differ only in how accents of Latin letters are written: in one character with the letter (NFC), or
 * as a character of their own after it (NFD). False for equal texts. */
bool utf8_is_recomposed(const char *a, const char *b);

/* Prints text[0 .. nbytes) on one line. Bytes that utf8_prints refuses print as \n, \t, \r or
 * \xNN each. */
void utf8_print(FILE *to, const char *text, size_t nbytes);

/* Like utf8_print, for messages: characters that cannot be seen, or not told from a blank, print as
 * \uNNNN: U+00A0, U+200B, U+FEFF. */
void utf8_print_visibly(FILE *to, const char *text, size_t nbytes);
