/* SPDX-License-Identifier: MIT
 *
 * repeated_header.h - records that are the header again, byte for byte: where files were joined before they were
 * read. CPU threads and GPU lanes share this text.
 */
#ifndef GPUSTAT_REPEATED_HEADER_H
#define GPUSTAT_REPEATED_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hd.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define BYTE_ORDER_MARK_NBYTES ((size_t)3) /* it may stand before the header of a file that was joined */

/* Returns how many bytes of text[0 .. nbytes) are a byte-order mark at its start: BYTE_ORDER_MARK_NBYTES or 0. */
HD size_t byte_order_mark_nbytes(const char *text, size_t nbytes)
{
	return nbytes >= BYTE_ORDER_MARK_NBYTES && text[0] == '\xef' && text[1] == '\xbb' && text[2] == '\xbf'
		       ? BYTE_ORDER_MARK_NBYTES
		       : 0;
}

/* A header that is looked for in the records. Zeroed: none is. */
struct sought_header {
	const char *text; /* without its line end; not owned */
	uint32_t nbytes;
};

/* Whether the record text[0 .. nbytes), without its line end, is the header. */
HD bool header_is_repeated(const struct sought_header *h, const char *text, size_t nbytes)
{
	size_t mark_nbytes = nbytes > h->nbytes ? byte_order_mark_nbytes(text, nbytes) : 0;

	text += mark_nbytes;
	nbytes -= mark_nbytes;
	if (nbytes != h->nbytes)
		return false;
	for (size_t i = 0; i < nbytes; i++)
		if (text[i] != h->text[i])
			return false;
	return true;
}

#endif
