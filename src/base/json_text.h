/* SPDX-License-Identifier: MIT
 *
 * json_text.h - lines of JSON as this program writes them, and the reading of just those.
 *
 * A part (cluster/part.h) is written and read by the same program, and a checksum stands behind it. So its
 * lines have one form, without blanks and with members in one order, and the reader expects that form
 * byte for byte: it is no reader of JSON in general. What it writes is JSON (RFC 8259) for others.
 *
 * Writer and reader keep the first error, so a caller writes or reads many things and asks once.
 */
#ifndef GPUSTAT_JSON_TEXT_H
#define GPUSTAT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "base/text_buffer.h"

#define JSON_LINE_NBYTES 65536 /* a line that may be broken is, once it is longer */

struct json_writer {
	struct text_buffer text; /* owned */
	size_t line_begin;       /* of the line that is being written, in it */
	enum status status;      /* STATUS_OK, STATUS_NO_MEMORY, or what flush returned */
	const char *prefix;      /* with which a broken line goes on; NULL: lines are not broken */
	/* Takes whole lines, text[0 .. nbytes). NULL: all is kept in text. */
	enum status (*flush)(void *context, const char *text, size_t nbytes);
	void *context;
};

void json_put_bytes(struct json_writer *w, const char *text, size_t nbytes);

/* Appends a text that is JSON already. Inline, as its siblings below: the lengths of literals are known. */
static inline void json_put(struct json_writer *w, const char *text)
{
	json_put_bytes(w, text, strlen(text));
}

void json_put_number(struct json_writer *w, uint64_t number);

/* Appends a string of any bytes. What is no UTF-8 becomes \udcXX, a byte each, as Python's
 * surrogateescape has it, so no byte is lost. */
void json_put_string(struct json_writer *w, const char *text, size_t nbytes);

/* Ends a line, which is flushed with those before it once they are long. */
void json_end_line(struct json_writer *w);

/* Whether the line is to be broken, and may be. */
bool json_is_long(const struct json_writer *w);

/* Ends the line with `end`, and begins the next with the prefix and `begin`. */
void json_break(struct json_writer *w, const char *end, const char *begin);

/* Flushes all lines. Returns the status. */
enum status json_flush(struct json_writer *w);

struct json_reader {
	const char *at, *end;
	enum status status; /* STATUS_DAMAGED: it is not what was expected; then at == end */
	struct text_buffer scratch; /* owned */
	struct text_buffer joined;  /* for the caller; owned */
};

/* Makes the reader fail, unless it has failed already. */
void json_fail(struct json_reader *r, enum status status);

/* Skips `text` if it is next. */
static inline bool json_try(struct json_reader *r, const char *text)
{
	size_t nbytes = strlen(text);

	if ((size_t)(r->end - r->at) < nbytes || memcmp(r->at, text, nbytes) != 0)
		return false;
	r->at += nbytes;
	return true;
}

/* Skips `text`, which must be next. */
static inline void json_expect(struct json_reader *r, const char *text)
{
	if (!json_try(r, text))
		json_fail(r, STATUS_DAMAGED);
}

/* Skips a value. */
void json_skip(struct json_reader *r);

/* A number below 2^64; 0 after an error. */
uint64_t json_number(struct json_reader *r);

/* A string: its bytes, which lie in the line or in the scratch and stay valid until the next string is
 * read. NULL after an error. */
const char *json_string(struct json_reader *r, size_t *nbytes);

/* Like json_string, but a copy of its own, NUL-terminated. A string with a NUL is an error. */
char *json_copy_string(struct json_reader *r);

#endif
