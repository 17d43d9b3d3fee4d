/* SPDX-License-Identifier: MIT
 *
 * repeated_header.h - records that have the header's names for values: where files were joined before they were
 * read. The names may be written in another way, with or without quotes, with more blanks where these mean nothing,
 * with a delimiter at the end. CPU threads and GPU lanes share the test that most records fail.
 */
#ifndef GPUSTAT_REPEATED_HEADER_H
#define GPUSTAT_REPEATED_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hd.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define BYTE_ORDER_MARK_NBYTES ((size_t)3) /* it may stand before the header of a file that was joined */

struct csv_dialect;

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
	char delimiter;
	char quote, escape; /* 0: the dialect has none */
};

/* Whether a byte may stand in one spelling of a record and not in another one. */
HD bool sought_header_ignores(const struct sought_header *h, char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || (byte && (byte == h->quote || byte == h->escape));
}

/* Whether bytes at a record's end may be absent from another spelling of it. */
HD bool sought_header_ends(const struct sought_header *h, const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (text[i] != h->delimiter && !sought_header_ignores(h, text[i]))
			return false;
	return true;
}

/* Whether the record text[0 .. nbytes), without its line end, has the header's bytes but for quotes, escape bytes, blanks
 * and the delimiters at its end: all records do that are the header again, and hardly any others. */
HD bool header_may_be_repeated(const struct sought_header *h, const char *text, size_t nbytes)
{
	size_t i = byte_order_mark_nbytes(text, nbytes), k = 0;

	for (;;) {
		while (i < nbytes && sought_header_ignores(h, text[i]))
			i++;
		while (k < h->nbytes && sought_header_ignores(h, h->text[k]))
			k++;
		if (i == nbytes || k == h->nbytes || text[i] != h->text[k])
			break;
		i++;
		k++;
	}
	return sought_header_ends(h, text + i, nbytes - i) && sought_header_ends(h, h->text + k, h->nbytes - k);
}

/* Returns the header text[0 .. nbytes), without its line end, to be looked for in records of a dialect. text is not
 * copied. */
struct sought_header sought_header_of(const char *text, size_t nbytes, const struct csv_dialect *dialect);

/* Whether the record text[0 .. nbytes), without its line end, is the header: it has the names for values, and besides
 * them at most an empty last field, as the header may. Also where memory runs out and it may be. */
bool header_is_repeated(const struct sought_header *h, const struct csv_dialect *dialect, const char *text, size_t nbytes);

#endif
