/* SPDX-License-Identifier: MIT
 *
 * expr_show.h - an excerpt of an expression with a caret, for messages.
 */
#ifndef GPUSTAT_EXPR_SHOW_H
#define GPUSTAT_EXPR_SHOW_H

#include <stddef.h>

#define EXPR_SHOW_NBYTES 128

/* Writes two lines, the second without a line end: text (NUL-terminated, any bytes) around byte
 * `offset` in printing characters, with "..." for what is cut; and a caret below that byte's
 * character. A character counts as one column. */
void expr_show(const char *text, size_t offset, char lines[EXPR_SHOW_NBYTES]);

#endif
