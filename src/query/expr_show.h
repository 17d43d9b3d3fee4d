/* SPDX-License-Identifier: MIT
 *
 * expr_show.h - points at a character of an expression, for messages.
 */
#ifndef GPUSTAT_EXPR_SHOW_H
#define GPUSTAT_EXPR_SHOW_H

#include <stddef.h>

#define EXPR_SHOW_NBYTES 128

/* Writes two lines without a last line end: the expression around byte `offset` of text
 * (NUL-terminated, any bytes), as printing characters, "..." where it was cut; and a
 * caret below the character that has the byte. Characters count one column each. */
void expr_show(const char *text, size_t offset, char lines[EXPR_SHOW_NBYTES]);

#endif
