/* SPDX-License-Identifier: MIT
 *
 * record.h - one record cut into fields, for headers and messages: a byte at a time, from any text.
 * Data goes through rows.h. And which records are odd: ragged ones, and the header again.
 */
#pragma once

#include "base/status.h"
#include "csv/field.h"

struct record {
	size_t nbytes; /* with its line end; 0: the text holds no complete record */
	size_t nfields;
	struct field_span *fields; /* in the text given; without the CR before LF. Owned. */
	size_t stray_offset; /* of the first byte of text after a closing quote, or of a quote before
			      * which its field has blanks; 0 of a line whose words do not stand below the
			      * header's; SIZE_MAX: nothing of that occurs */
	bool is_comment;     /* nbytes are those of a comment */
};

/* Cuts the first record of data[0 .. nbytes) into fields. A blank line and a comment have no field.
 * at_end: the file ends here, which completes a record that lacks its LF.
 * Free with record_free. Errors: STATUS_NO_MEMORY; STATUS_OPEN_QUOTE and STATUS_OPEN_ESCAPE with
 * at_end, then fields holds the one that never ends. */
enum status record_split(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			 bool at_end, struct record *out);
void record_free(struct record *r);

/* Like record_split of a text that ends with the file, but cuts the first field only: out has one field, or no
 * field if the text has no record. */
enum status record_split_first(const char *data, size_t nbytes, const struct csv_dialect *dialect,
			       struct record *out);

/* Whether the quoted field that was closed before text[at] ends there, blanks aside. */
bool record_field_ends(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at);

/* Whether text[at], a quote after blanks with which a field begins, is there to quote it: after the
 * closing one a separator follows, perhaps blanks, or the rest of its line lacks one. */
bool record_quote_opens(const struct csv_dialect *dialect, const char *text, size_t nbytes, size_t at);

/* Sets fault to STATUS_STRAY_QUOTE, STATUS_BLANK_QUOTE or STATUS_UNALIGNED, with the words of the remedy, for what is at
 * the stray_offset of data[0 .. nbytes). Returns the status. */
enum status record_fault_stray(const char *data, size_t nbytes, size_t offset,
			       const struct csv_dialect *dialect, struct fault *fault);

/* Returns the number of LFs in text[0 .. nbytes). */
uint64_t count_lines(const char *text, size_t nbytes);

/* ---- ragged records ----
 *
 * Records with another number of fields than the first, and what is done with them. CPU
 * threads and GPU lanes share this text.
 */

enum ragged_policy {
	RAGGED_ERROR, /* none is taken */
	RAGGED_EXTRA, /* those with more fields are taken */
	RAGGED_ALLOW, /* all are taken; fields that are not there are missing */
	RAGGED_COUNT, /* like RAGGED_ALLOW, but they are counted: the summary's way */
};

struct ragged_rule {
	enum ragged_policy policy;
	uint32_t nfields;   /* of the first record; at least 1 */
	bool may_lack_end;  /* a shorter record lacks its last fields for sure: it is not ragged */
	bool last_is_empty; /* the first record's last field is: other records may lack it */
};

/* Whether a record of n fields is ragged. ends_empty: its last field has no byte, not even quotes;
 * read only if n is nfields + 1. Blank lines that are no records are not asked about. */
HD bool ragged_is(const struct ragged_rule *rule, uint32_t n, bool ends_empty)
{
	if (n == rule->nfields + 1)
		return !ends_empty; /* a delimiter at the line's end */
	return n != rule->nfields && !(rule->may_lack_end && n < rule->nfields) &&
	       !(rule->last_is_empty && n + 1 == rule->nfields);
}

/* Whether a ragged record of n fields is folded and printed. */
HD bool ragged_is_taken(const struct ragged_rule *rule, uint32_t n)
{
	return rule->policy >= RAGGED_ALLOW || (rule->policy == RAGGED_EXTRA && n > rule->nfields);
}

/* Whether a ragged record of n fields is counted in partial.nragged. */
HD bool ragged_is_counted(const struct ragged_rule *rule, uint32_t n)
{
	return rule->policy == RAGGED_COUNT || !ragged_is_taken(rule, n);
}

/* ---- the header again ----
 *
 * Records that have the header's names for values: where files were joined before they were
 * read. The names may be written in another way, with or without quotes, with more blanks where these mean nothing,
 * with a delimiter at the end. CPU threads and GPU lanes share the test that most records fail.
 */

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
