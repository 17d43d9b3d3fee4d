/* SPDX-License-Identifier: MIT
 *
 * copy_text.h - copies of short texts: fixed lengths are faster than exact ones.
 */
#ifndef GPUSTAT_COPY_TEXT_H
#define GPUSTAT_COPY_TEXT_H

#include <stddef.h>
#include <string.h>

#define COPY_NBYTES 32 /* copied at once; reads beyond a piece's end stay within the padding */

/* Copies nbytes, or COPY_NBYTES more than that. Returns the copy's end. */
static inline char *copy_text(char *to, const char *from, size_t nbytes)
{
	memcpy(to, from, COPY_NBYTES);
	if (nbytes > 8 * COPY_NBYTES)
		memcpy(to, from, nbytes);
	else
		for (size_t i = COPY_NBYTES; i < nbytes; i += COPY_NBYTES)
			memcpy(to + i, from + i, COPY_NBYTES);
	return to + nbytes;
}

/* Writes n delimiters, of fields that a record lacks. Returns the end. */
static inline char *copy_delimiters(char *to, char delimiter, size_t n)
{
	if (n > 0) /* almost never: no call then */
		memset(to, delimiter, n);
	return to + n;
}

#endif
