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
#pragma once

#include <string.h>

#include "base/status.h"
#include "base/array.h"

#define JSON_LINE_NBYTES 65536 /* a line that may be broken is, once it is longer */

/* A text on its way, in one direction. One function describes each thing that is written and read: json_mark, json_number and
 * so on write what their pointer points to or, if `reads`, expect the same text and set it. The members of an object are
 * rows of a table (json_members), so none is named twice. */
struct json_text {
	bool reads;         /* else writes */
	enum status status; /* STATUS_OK; STATUS_NO_MEMORY; reading: STATUS_DAMAGED: it is not what was expected, then at == end;
			     * writing: what flush returned */
	/* reading */
	const char *at, *end;
	struct text_buffer scratch; /* owned */
	struct text_buffer joined;  /* for the caller; owned */
	/* writing */
	struct text_buffer text; /* owned */
	size_t line_begin;       /* of the line that is being written, in it */
	const char *prefix;      /* with which a broken line goes on; NULL: lines are not broken */
	const char *member;      /* then comes the name of the member that is being written */
	/* Takes whole lines, text[0 .. nbytes). NULL: all is kept in text. */
	enum status (*flush)(void *context, const char *text, size_t nbytes);
	void *context;
};

/* Makes the writing or reading fail, unless it has failed already. */
void json_fail(struct json_text *j, enum status status);

/* ---- writing ---- */

void json_put_bytes(struct json_text *j, const char *text, size_t nbytes);

/* Appends a text that is JSON already. Inline, as its siblings below: the lengths of literals are known. */
static inline void json_put(struct json_text *j, const char *text)
{
	json_put_bytes(j, text, strlen(text));
}

void json_put_number(struct json_text *j, uint64_t number);

/* Appends a string of any bytes. What is no UTF-8 becomes \udcXX, a byte each, as Python's
 * surrogateescape has it, so no byte is lost. */
void json_put_string(struct json_text *j, const char *text, size_t nbytes);

/* Ends a line, which is flushed with those before it once they are long. */
void json_end_line(struct json_text *j);

/* If the line is long and may be broken: ends it with `end`, and begins the next with the prefix, the member and `begin`. */
void json_break(struct json_text *j, const char *end, const char *begin);

/* Flushes all lines. Returns the status. */
enum status json_flush(struct json_text *j);

/* ---- reading ---- */

static inline bool json_try_bytes(struct json_text *j, const char *text, size_t nbytes)
{
	if ((size_t)(j->end - j->at) < nbytes || memcmp(j->at, text, nbytes) != 0)
		return false;
	j->at += nbytes;
	return true;
}

/* Skips `text` if it is next. */
static inline bool json_try(struct json_text *j, const char *text)
{
	return json_try_bytes(j, text, strlen(text));
}

/* Skips a value. */
void json_skip(struct json_text *j);

/* A number below 2^64; 0 after an error. */
uint64_t json_get_number(struct json_text *j);

/* A string: its bytes, which lie in the line or in the scratch and stay valid until the next string is
 * read. NULL after an error, and *nbytes 0. */
const char *json_get_string(struct json_text *j, size_t *nbytes);

/* ---- both ---- */

/* A text that must be next. Returns j, as others do that a value may follow. */
static inline struct json_text *json_mark(struct json_text *j, const char *text)
{
	if (!j->reads)
		json_put(j, text);
	else if (!json_try(j, text))
		json_fail(j, STATUS_DAMAGED);
	return j;
}

/* A text that may be next. Writing: if `is`. Returns whether it is there. */
static inline bool json_option(struct json_text *j, bool is, const char *text)
{
	if (j->reads)
		return json_try(j, text);
	if (is)
		json_put(j, text);
	return is;
}

/* Whether an object or a list has just begun: no comma follows. */
static inline bool json_has_begun(const struct json_text *j)
{
	char last = j->reads ? j->at[-1] : j->text.nbytes ? j->text.data[j->text.nbytes - 1] : '{';

	return last == '{' || last == '[';
}

/* Whether a list goes on with an item, which is next. Writing: if `is`. */
bool json_item(struct json_text *j, bool is);

/* Whether an object or a list that is read has more members or items. */
static inline bool json_goes_on(const struct json_text *j)
{
	return j->at < j->end && *j->at == ',';
}

/* An item that must be there. Returns j. */
static inline struct json_text *json_next(struct json_text *j)
{
	return json_has_begun(j) ? j : json_mark(j, ",");
}

/* Whether something has been read, and is what it must be. */
static inline bool json_has_read(const struct json_text *j)
{
	return j->reads && j->status == STATUS_OK;
}

void json_number(struct json_text *j, uint64_t *number);
void json_bool(struct json_text *j, bool *is);

/* A string without NULs. Reading: *text becomes a copy, which the caller owns; NULL after an error. */
void json_string(struct json_text *j, char **text);

/* A string of any bytes, and a NUL behind them. Reading: the buffer keeps its memory, or is zeroed. */
void json_bytes(struct json_text *j, struct text_buffer *text);

/* ---- objects, by tables of their members ---- */

enum json_kind {
	JSON_OTHER,   /* text does it; where `has` is false, it is not there */
	JSON_MAY,     /* text does it, NULL: a uint64_t; it is left out where `has` is false, which is asked when it is written */
	JSON_NUMBER,  /* a uint64_t */
	JSON_COUNT,   /* one that is left out where it is 0, and to which what is read is added */
	JSON_BOOL,    /* a bool */
	JSON_FLAG,    /* one that is left out where it is false */
	JSON_STRING,  /* a char *, owned */
	JSON_BYTES,   /* a char * and how many bytes, a size_t; owned */
	JSON_STRINGS, /* a char ** and how many strings; owned */
	JSON_NAMES,   /* the same, of which some may be NULL */
	JSON_NUMBERS, /* a uint64_t * and how many numbers; owned */
};

/* A member of an object: a table of these, which an empty one ends, says how objects of a kind are written, read and freed. */
struct json_row {
	const char *name; /* ,"name": */
	size_t name_nbytes;
	enum json_kind kind;
	size_t at, n; /* the offsets of the value, and of how many there are */
	void (*text)(struct json_text *j, void *value);
	bool (*has)(const void *value); /* NULL: true */
};

#define JSON_KIND(value) _Generic((value), uint64_t: JSON_NUMBER, bool: JSON_BOOL, char *: JSON_STRING)
#define JSON_NAME(name) ",\"" name "\":", sizeof ",\"" name "\":" - 1
#define JSON_ROW(type, name, member) {JSON_NAME(name), JSON_KIND(((type *)NULL)->member), offsetof(type, member), 0, NULL, NULL}
#define JSON_COUNTED(type, name, member) {JSON_NAME(name), JSON_COUNT, offsetof(type, member), 0, NULL, NULL}
#define JSON_ROW_OF(type, name, member, text) {JSON_NAME(name), JSON_OTHER, offsetof(type, member), 0, text, NULL}
#define JSON_FLAGGED(type, name, member) {JSON_NAME(name), JSON_FLAG, offsetof(type, member), 0, NULL, NULL}
#define JSON_IF(kind, name, text, has) {JSON_NAME(name), kind, 0, 0, text, has} /* of the whole object */
#define JSON_LIST(kind, type, name, member, n) {JSON_NAME(name), kind, offsetof(type, member), offsetof(type, n), NULL, NULL}

/* Whether an object goes on with the member: behind a comma, or at its beginning. */
static inline bool json_row_is_next(const struct json_row *row, const char *at, const char *end, bool has_begun)
{
	if (!has_begun && (at == end || *at++ != ','))
		return false;
	return (size_t)(end - at) >= row->name_nbytes && at[1] == row->name[2] && !memcmp(at, row->name + 1, row->name_nbytes - 1);
}

/* The name of a member that is there: of one that may be left out, if it is next, or is to be written. Returns whether it is. */
static inline __attribute__((always_inline)) bool
json_row_name(struct json_text *j, const struct json_row *row, const void *value)
{
	const bool begins = json_has_begun(j), may = row->kind == JSON_MAY || row->kind == JSON_COUNT || row->kind == JSON_FLAG;

	if (!(j->reads && may) &&
	    (row->kind == JSON_COUNT ? *(const uint64_t *)value == 0
	     : row->kind == JSON_FLAG ? !*(const bool *)value : row->has && !row->has(value)))
		return false;
	if (!j->reads) {
		j->member = row->name;
		json_put_bytes(j, row->name + begins, row->name_nbytes - begins);
		return true;
	}
	if (json_row_is_next(row, j->at, j->end, begins)) {
		j->at += row->name_nbytes - begins;
		return true;
	}
	if (!may)
		json_fail(j, STATUS_DAMAGED);
	return false;
}

/* Writes or reads the value of a member that no function of its row does. n: of how many it is. */
void json_row_value(struct json_text *j, const struct json_row *row, void *value, void *n);

/* The first n members of an object. Inline, for tables that the compiler knows: JSON_MEMBERS. */
static inline __attribute__((always_inline)) void
json_first_members(struct json_text *j, const struct json_row *rows, size_t n, void *object)
{
#ifndef __CUDACC__
#pragma GCC unroll 16
#endif
	for (size_t i = 0; i < n; i++) {
		void *value = (char *)object + rows[i].at;
		if (j->status != STATUS_OK || !json_row_name(j, &rows[i], value))
			continue;
		if (rows[i].text)
			rows[i].text(j, value);
		else if (rows[i].kind == JSON_NUMBER || rows[i].kind == JSON_MAY)
			json_number(j, (uint64_t *)value);
		else
			json_row_value(j, &rows[i], value, (char *)object + rows[i].n);
	}
}

/* What json_members does, several times as fast, where `rows` is a table of this file: its code is made for each place. */
#define JSON_MEMBERS(j, rows, object) json_first_members(j, rows, sizeof(rows) / sizeof *(rows) - 1, object)

/* The members of an object. What is owned is zeroed before it is read, but counts and what has no kind. */
void json_members(struct json_text *j, const struct json_row *rows, void *object);

/* The same in braces. */
void json_object(struct json_text *j, const struct json_row *rows, void *object);

/* Frees what has been read of an object, but what has no kind. It can be freed again. */
void json_free(const struct json_row *rows, void *object);
