/* SPDX-License-Identifier: MIT
 *
 * utf8.c - see utf8.h.
 */
#include "base/utf8.h"

#include <string.h>

/* Returns the length of a character with first byte c, and its least code point; 0: none. */
static size_t length_of(unsigned char c, uint32_t *least)
{
	*least = c < 0x80 ? 0 : c < 0xe0 ? 0x80 : c < 0xf0 ? 0x800 : 0x10000;
	return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

size_t utf8_decode(const char *text, size_t nbytes, uint32_t *code)
{
	uint32_t least;
	size_t length = nbytes ? length_of((unsigned char)*text, &least) : 0;

	if (length == 0 || length > nbytes)
		return 0;
	*code = (unsigned char)*text;
	if (length > 1)
		*code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (*code < least || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

size_t utf8_length(const char *text, size_t nbytes)
{
	return utf8_decode(text, nbytes, &(uint32_t){0});
}

/* Writes the escape for byte c and a NUL. Returns its length. */
static size_t escape(char c, char out[5])
{
	const char *special = "\n\t\r", *at = c ? strchr(special, c) : NULL;

	if (at)
		return (size_t)snprintf(out, 5, "\\%c", "ntr"[at - special]);
	return (size_t)snprintf(out, 5, "\\x%02x", (unsigned char)c);
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Line and paragraph separators, and controls of text direction. */
static bool is_separator_or_direction(uint32_t code)
{
	return code == 0x061c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool utf8_prints(const char *text, size_t nbytes, size_t *length)
{
	uint32_t code;

	*length = utf8_decode(text, nbytes, &code);
	return *length && !is_control(code) && !is_separator_or_direction(code);
}

size_t utf8_width(const char *text)
{
	size_t width = 0, length, nbytes = strlen(text);
	char escaped[5];

	while (nbytes) {
		bool plain = utf8_prints(text, nbytes, &length);
		width += plain ? 1 : escape(*text, escaped);
		length = plain ? length : 1;
		text += length;
		nbytes -= length;
	}
	return width;
}

size_t utf8_fit(const char *text, size_t *width)
{
	size_t fits = 0, length, nbytes = strlen(text);
	char escaped[5];

	while (fits < nbytes) {
		bool plain = utf8_prints(text + fits, nbytes - fits, &length);
		size_t w = plain ? 1 : escape(text[fits], escaped);
		if (w > *width)
			break;
		*width -= w;
		fits += plain ? length : 1;
	}
	return fits;
}

void utf8_print(FILE *to, const char *text, size_t nbytes)
{
	char escaped[5];
	size_t length;

	while (nbytes) {
		if (utf8_prints(text, nbytes, &length)) {
			fwrite(text, 1, length, to);
		} else {
			length = 1;
			fwrite(escaped, 1, escape(*text, escaped), to);
		}
		text += length;
		nbytes -= length;
	}
}
