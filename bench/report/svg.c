/* SPDX-License-Identifier: MIT
 *
 * svg.c - see svg.h.
 */
#include "bench/report/svg.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* ---- text ---- */

void svg_text(FILE *to, const char *text)
{
	while (*text) {
		size_t nbytes = utf8_length(text, strlen(text));
		unsigned char c = (unsigned char)*text;
		if (nbytes == 0 || c < 0x20)
			fputs("\xef\xbf\xbd", to);
		else if (strchr("<>&\"'", c))
			fprintf(to, "&#%d;", c);
		else
			fwrite(text, 1, nbytes, to);
		text += nbytes ? nbytes : 1;
	}
}

void svg_text_begin(FILE *to, double x, double y, const char *anchor, const char *colour,
		    const char *extra)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, anchor,
		colour, extra);
}

void svg_text_end(FILE *to)
{
	fputs("</text>\n", to);
}

/* ---- the frame ---- */

void svg_begin(FILE *to, double height, const char *title)
{
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
		"height=\"%.0f\" font-family=\"system-ui, 'Segoe UI', 'Liberation Sans', Helvetica, "
		"Arial, sans-serif\" font-size=\"13\" role=\"img\">\n<title>",
		SVG_WIDTH, height, SVG_WIDTH, height);
	svg_text(to, title);
	fprintf(to,
		"</title>\n<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%.0f\" rx=\"6\" "
		"fill=\"" SVG_PAGE "\" stroke=\"" SVG_BORDER "\"/>\n",
		SVG_WIDTH - 1, height - 1);
}

void svg_heading(FILE *to, const char *heading, const char *words, const char *date)
{
	svg_text_begin(to, 24, 34, "start", SVG_TEXT, " font-size=\"19\" font-weight=\"600\"");
	svg_text(to, heading);
	svg_text_end(to);
	svg_text_begin(to, 24, 54, "start", SVG_FAINT, "");
	svg_text(to, words);
	fputs(", gpustat-bench " PACKAGE_VERSION ", ", to);
	svg_text(to, date);
	svg_text_end(to);
}

double svg_tick(double length, int nmax)
{
	static const double steps[] = {2, 2.5, 2}; /* from 1 to 2, to 5, to 10 */
	double tick = 0.001;

	for (int i = 0; tick * nmax < length; i++)
		tick *= steps[i % 3];
	return tick;
}

/* ---- the file ---- */

static enum status file_fault(struct fault *fault, enum status status, const char *path)
{
	fault_set(fault, status, errno, NULL);
	fault->file = path;
	return status;
}

enum status svg_try(const char *path, struct fault *fault)
{
	FILE *to = fopen(path, "a");

	if (!to || fclose(to))
		return file_fault(fault, STATUS_OPEN, path);
	return STATUS_OK;
}

FILE *svg_open(const char *path, struct fault *fault)
{
	FILE *to = fopen(path, "w");

	if (!to)
		file_fault(fault, STATUS_OPEN, path);
	return to;
}

enum status svg_close(FILE *to, const char *path, struct fault *fault)
{
	bool failed = fflush(to) || ferror(to);

	if (failed)
		file_fault(fault, STATUS_WRITE, path); /* before fclose sets another errno */
	if (fclose(to) && !failed)
		return file_fault(fault, STATUS_WRITE, path);
	return failed ? STATUS_WRITE : STATUS_OK;
}
