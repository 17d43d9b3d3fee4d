/* SPDX-License-Identifier: MIT
 *
 * expr_show.c - see expr_show.h.
 */
#include "query/expr_show.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define WINDOW_NBYTES 36 /* shown on each side of the error */

/* Copies text to `to`, with '?' for what does not print, and a NUL. Returns the number of
 * characters. */
static size_t copy_printing(const char *text, size_t nbytes, char *to)
{
	size_t ncharacters = 0, length;

	for (; nbytes; text += length, nbytes -= length, ncharacters++) {
		if (!utf8_prints(text, nbytes, &length)) {
			*to++ = '?';
			length = length ? length : 1;
			continue;
		}
		memcpy(to, text, length);
		to += length;
	}
	*to = '\0';
	return ncharacters;
}

/* Returns the start of the character that has byte `offset`. */
static size_t character_start(const char *text, size_t offset)
{
	for (size_t back = 1; back < 4 && back <= offset; back++)
		if (utf8_length(text + offset - back, 4) > back)
			return offset - back;
	return offset;
}

void expr_show(const char *text, size_t offset, char lines[EXPR_SHOW_NBYTES])
{
	char before[WINDOW_NBYTES + 4], after[WINDOW_NBYTES + 1];
	size_t nbytes = strlen(text), begin = 0, end = nbytes, width;

	offset = character_start(text, offset);
	if (offset > WINDOW_NBYTES)
		begin = character_start(text, offset - WINDOW_NBYTES + 3);
	if (nbytes - offset > WINDOW_NBYTES)
		end = character_start(text, offset + WINDOW_NBYTES);
	width = copy_printing(text + begin, offset - begin, before);
	copy_printing(text + offset, end - offset, after);
	snprintf(lines, EXPR_SHOW_NBYTES, "%s%s%s%s\n%*s^", begin ? "..." : "", before, after,
		 end < nbytes ? "..." : "", (int)width + (begin ? 3 : 0), "");
}
