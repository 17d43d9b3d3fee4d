/* SPDX-License-Identifier: MIT
 *
 * utf8.c - see utf8.h.
 */
#include "base/utf8.h"

#include <stdlib.h>
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

bool utf8_prints(const char *text, size_t nbytes, size_t *length)
{
	uint32_t code;
	bool is_control, is_separator_or_direction;

	*length = utf8_decode(text, nbytes, &code);
	if (*length == 0)
		return false;
	is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	/* Line and paragraph separators, and controls of text direction. */
	is_separator_or_direction = code == 0x061c || code == 0x200e || code == 0x200f ||
				    (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
	return !is_control && !is_separator_or_direction;
}

/* ---- columns of a terminal ---- */

struct code_range {
	uint32_t first, last;
};

/* Blocks whose characters take two columns: UAX #11 (Unicode 15.1), Wide and Fullwidth, and the pictures
 * that are wide by themselves. What is unassigned in a block counts as the block. */
static const struct code_range wide[] = {
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
	{0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
	{0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
	{0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
	{0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x3247}, {0x3250, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6b}, {0xff01, 0xff60},
	{0xffe0, 0xffe6}, {0x16fe0, 0x18d08}, {0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
	{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
	{0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
	{0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
	{0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
	{0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
	{0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb},
	{0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff},
	{0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

/* Blocks of marks that are drawn over the character before, and the joiners. */
static const struct code_range marks[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x1160, 0x11ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20f0},
	{0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static int compare_range(const void *key, const void *range)
{
	uint32_t code = *(const uint32_t *)key;
	const struct code_range *r = range;

	return code < r->first ? -1 : code > r->last;
}

/* The columns that a character takes which prints. */
static size_t columns_of(uint32_t code)
{
	if (code < marks[0].first)
		return 1;
	if (bsearch(&code, marks, sizeof marks / sizeof *marks, sizeof *marks, compare_range))
		return 0;
	return bsearch(&code, wide, sizeof wide / sizeof *wide, sizeof *wide, compare_range) ? 2 : 1;
}

size_t utf8_next_width(const char *text, size_t nbytes, size_t *length)
{
	char escaped[5];
	uint32_t code;

	if (utf8_prints(text, nbytes, length)) {
		utf8_decode(text, nbytes, &code);
		return columns_of(code);
	}
	*length = 1;
	return escape(*text, escaped);
}

size_t utf8_width(const char *text)
{
	size_t width = 0, length, nbytes = strlen(text);

	for (; nbytes; text += length, nbytes -= length)
		width += utf8_next_width(text, nbytes, &length);
	return width;
}

size_t utf8_fit(const char *text, size_t *width)
{
	size_t fits = 0, length, nbytes = strlen(text);

	for (; fits < nbytes; fits += length) {
		size_t w = utf8_next_width(text + fits, nbytes - fits, &length);
		if (w > *width)
			break;
		*width -= w;
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

/* Characters that look like a blank, or like nothing (Unicode 15.1: Zs but U+0020, and the format characters
 * that may stand in any text), ascending. */
static const struct code_range invisible[] = {
	{0x00a0, 0x00a0}, {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x115f, 0x1160}, {0x1680, 0x1680},
	{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f}, {0x202f, 0x202f}, {0x205f, 0x206f},
	{0x3000, 0x3000}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
};

void utf8_print_visibly(FILE *to, const char *text, size_t nbytes)
{
	size_t begin = 0, length;

	for (size_t at = 0; at < nbytes; at += length) {
		uint32_t code;
		length = utf8_decode(text + at, nbytes - at, &code);
		if (length < 2 || !utf8_prints(text + at, nbytes - at, &length) ||
		    !bsearch(&code, invisible, sizeof invisible / sizeof *invisible, sizeof *invisible,
			     compare_range)) {
			length = length ? length : 1;
			continue;
		}
		utf8_print(to, text + begin, at - begin);
		fprintf(to, "\\u%04x", code);
		begin = at + length;
	}
	utf8_print(to, text + begin, nbytes - begin);
}

/* ---- composition ---- */

/* The letters from U+00C0 on, without their accents, and the accents; a blank where a letter has none. */
static const char letters[] = "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y"
			      "AaAaAaCcCcCcCcDd  EeEeEeEeEeGgGgGgGgHh  IiIiIiIiI   JjKk LlLlLl "
			      "   NnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTt  UuUuUuUuUuUuWwYyYZzZzZz ";
static const char accents[] = "`'^~:o ,`'^:`'^: ~`'^~:  `'^:'  `'^~:o ,`'^:`'^: ~`'^~:  `'^:' :"
			      "--uu;;''^^..vvvv  --uu..;;vv^^uu..,,^^  ~~--uu;;.   ^^,, '',,vv "
			      "   '',,vv   --uu\"\"  '',,vv''^^,,vv,,vv  ~~--uuoo\"\";;^^^^:''..vv ";

/* The combining mark of an accent in that table. */
static uint32_t mark_of(char accent)
{
	static const char names[] = "`'^~-u.:o\"v,;";
	static const uint16_t marks[] = {0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307,
					 0x308, 0x30a, 0x30b, 0x30c, 0x327, 0x328};

	return marks[strchr(names, accent) - names];
}

/* A text as characters without composed ones. */
struct decomposed {
	const char *text;
	uint32_t mark; /* comes next; 0: the text does */
};

/* The next character, a byte if it is no UTF-8; 0 at the end. */
static uint32_t next_decomposed(struct decomposed *d)
{
	uint32_t code = d->mark;
	size_t nbytes;

	d->mark = 0;
	if (code || !*d->text)
		return code;
	nbytes = utf8_decode(d->text, strlen(d->text), &code);
	if (nbytes == 0)
		return UINT32_MAX - (unsigned char)*d->text++;
	d->text += nbytes;
	if (code < 0xc0 || code - 0xc0 >= sizeof letters - 1 || letters[code - 0xc0] == ' ')
		return code;
	d->mark = mark_of(accents[code - 0xc0]);
	return (uint32_t)letters[code - 0xc0];
}

bool utf8_is_recomposed(const char *a, const char *b)
{
	struct decomposed x = {a, 0}, y = {b, 0};
	uint32_t code;

	if (!strcmp(a, b))
		return false;
	do {
		code = next_decomposed(&x);
		if (next_decomposed(&y) != code)
			return false;
	} while (code);
	return true;
}
