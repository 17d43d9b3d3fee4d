/* SPDX-License-Identifier: MIT
 *
 * json.c - see json.h. RFC 8259, but any run of a number's or a literal's bytes passes as one.
 */
#include "codec/json.h"

#include <stdint.h>
#include <string.h>

#define LIMIT_NBYTES 4096
#define DEPTH_MAX 63

/* What may come next. */
enum place { AT_VALUE, AT_FIRST_ITEM, AT_FIRST_NAME, AT_NAME, AT_COLON, BEHIND_VALUE };

struct scan {
	const unsigned char *data;
	size_t at, nbytes;
	enum place place;
	uint64_t objects; /* bit d: the container at depth d is an object */
	unsigned depth;
	bool has_member;
};

static bool is_in_object(const struct scan *s)
{
	return s->objects >> s->depth & 1;
}

static bool open_container(struct scan *s, unsigned char c)
{
	if (s->depth == DEPTH_MAX)
		return false;
	s->depth++;
	s->objects &= ~(UINT64_C(1) << s->depth);
	s->objects |= (uint64_t)(c == '{') << s->depth;
	s->place = c == '{' ? AT_FIRST_NAME : AT_FIRST_ITEM;
	s->at++;
	return true;
}

static bool close_container(struct scan *s, unsigned char c)
{
	if (c != (is_in_object(s) ? '}' : ']'))
		return false;
	s->depth--;
	s->place = BEHIND_VALUE;
	s->at++;
	return true;
}

/* Passes over a string, or what there is of it. Returns false if it is no string. */
static bool pass_string(struct scan *s)
{
	if (s->data[s->at++] != '"')
		return false;
	for (; s->at < s->nbytes && s->data[s->at] != '"'; s->at++) {
		if (s->data[s->at] < ' ')
			return false;
		s->at += s->data[s->at] == '\\';
	}
	s->at = s->at < s->nbytes ? s->at + 1 : s->nbytes;
	return true;
}

/* Passes over a number or a literal. */
static bool pass_word(struct scan *s)
{
	size_t begin = s->at;

	while (s->at < s->nbytes && s->data[s->at] &&
	       strchr("+-.0123456789EINaefilnrstuy", s->data[s->at]))
		s->at++;
	return s->at > begin;
}

static bool pass_value(struct scan *s, unsigned char c)
{
	if (c == '{' || c == '[')
		return open_container(s, c);
	s->place = BEHIND_VALUE;
	return c == '"' ? pass_string(s) : pass_word(s);
}

/* Passes over the token that begins with c, no blank. False: this is no JSON. */
static bool pass_token(struct scan *s, unsigned char c)
{
	switch (s->place) {
	case AT_FIRST_NAME:
		if (c == '}')
			return close_container(s, c);
		/* fall through */
	case AT_NAME:
		s->place = AT_COLON;
		return pass_string(s);
	case AT_COLON:
		s->place = AT_VALUE;
		s->has_member = true;
		s->at++;
		return c == ':';
	case AT_FIRST_ITEM:
		if (c == ']')
			return close_container(s, c);
		/* fall through */
	case AT_VALUE:
		return pass_value(s, c);
	case BEHIND_VALUE:
		break;
	}
	if (c != ',')
		return close_container(s, c);
	s->place = is_in_object(s) ? AT_NAME : AT_VALUE;
	s->at++;
	return true;
}

static bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Passes over blanks; returns whether an LF was among them. */
static bool pass_blanks(struct scan *s)
{
	bool line_ended = false;

	for (; s->at < s->nbytes && is_blank(s->data[s->at]); s->at++)
		line_ended |= s->data[s->at] == '\n';
	return line_ended;
}

enum codec_match json_begins(const unsigned char *data, size_t nbytes, bool at_end, bool *is_array)
{
	bool all = at_end || nbytes >= LIMIT_NBYTES, line_ended = false;
	struct scan s = {.data = data, .nbytes = nbytes < LIMIT_NBYTES ? nbytes : LIMIT_NBYTES};

	pass_blanks(&s);
	if (s.at == s.nbytes || (data[s.at] != '{' && data[s.at] != '['))
		return CODEC_OTHER;
	*is_array = data[s.at] == '[';
	do {
		if (!pass_token(&s, data[s.at]))
			return CODEC_OTHER;
		line_ended = pass_blanks(&s);
	} while (s.at < s.nbytes && s.depth > 0);
	if (s.depth == 0 && !line_ended && s.at < s.nbytes)
		return CODEC_OTHER;
	if (s.depth > 0 || !line_ended) /* cut short, unless all is there */
		if (!all)
			return CODEC_PERHAPS;
	return s.has_member ? CODEC_BEGINS : CODEC_OTHER;
}
