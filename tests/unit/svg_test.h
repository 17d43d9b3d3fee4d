/* SPDX-License-Identifier: MIT
 *
 * svg_test.h - what tests of pictures share: a picture drawn into a file and read back, and whether
 * it is well-formed XML. Header only, as tap.h.
 */
#ifndef GPUSTAT_SVG_TEST_H
#define GPUSTAT_SVG_TEST_H

#include <unistd.h>

#include "bench/report/svg.h"
#include "tap.h"

/* ---- XML, as far as an SVG of ours goes ---- */

/* Skips a tag that begins at '<': returns its end, and adds 1 or -1 to *depth. NULL: it has no
 * end, or an attribute without quotes around it. */
static const char *skip_tag(const char *tag, int *depth)
{
	const char *c = tag + 1;

	*depth += *c == '/' ? -1 : 1;
	for (; *c && *c != '>'; c++) {
		if (*c == '<')
			return NULL;
		if (*c == '"') {
			c = strpbrk(c + 1, "\"<>");
			if (!c || *c != '"')
				return NULL;
		}
	}
	if (!*c)
		return NULL;
	*depth -= c[-1] == '/';
	return c;
}

/* Whether text is one element, with every tag closed and every & the start of a &#N;. */
__attribute__((unused)) static bool is_well_formed(const char *text)
{
	int depth = 0;

	for (const char *c = text; *c; c++) {
		unsigned number;
		int nread = 0;
		if (*c == '<' && !(c = skip_tag(c, &depth)))
			return false;
		if (depth < 0 || (depth == 0 && c[1] && strcmp(c + 1, "\n")))
			return false;
		if (*c == '&' && (sscanf(c, "&#%u%n", &number, &nread) != 1 || c[nread] != ';'))
			return false;
		if ((unsigned char)*c < 0x20 && *c != '\n')
			return false;
		if (depth == 0)
			break;
	}
	return depth == 0;
}

__attribute__((unused)) static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

/* Shows that the checker can fail. */
static void is_checked_xml(void)
{
	ok(is_well_formed("<a b=\"c\"><d/>x &#38; y</a>\n"), "the checker takes XML");
	ok(!is_well_formed("<a><b></a>"), "not a tag left open");
	ok(!is_well_formed("<a>x & y</a>"), "not a bare &");
	ok(!is_well_formed("<a>x < y</a>"), "not a bare <");
	ok(!is_well_formed("<a b=\"<\"/>"), "not a < in an attribute");
	ok(!is_well_formed("<a/><b/>"), "not two elements");
}

/* Draws into a file, and returns what is in it, until the next
 * call. */
static const char *svg_drawn(enum status (*write)(const char *path, struct fault *fault))
{
	static char text[1 << 20];
	char path[] = "/tmp/svg_test.XXXXXX";
	struct fault fault = {0};
	int fd = mkstemp(path);
	ssize_t nread = 0;

	if (fd < 0)
		bail("no temporary file: %s", strerror(errno));
	is_int(STATUS_OK, svg_try(path, &fault), "the file can be written");
	is_int(STATUS_OK, write(path, &fault), "it is written");
	nread = read(fd, text, sizeof text - 1);
	ok(nread > 0 && nread < (ssize_t)sizeof text - 1, "all of it is read");
	text[nread > 0 ? nread : 0] = '\0';
	close(fd);
	unlink(path);
	return text;
}

#endif
