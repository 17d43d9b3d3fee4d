/* SPDX-License-Identifier: MIT
 *
 * svg.c - see svg.h. Scalable Vector Graphics (SVG) 1.1; XML 1.0, section 2.2, for what a text may hold.
 */
#include "io/svg.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define FONTS "system-ui, 'Segoe UI', 'Liberation Sans', Helvetica, Arial, sans-serif"

/* The colours of bench/report/draw.py, and theirs on a dark page: each contrasts with its page. */
static const char style[] =
	"<style>\n"
	".page{fill:#ffffff;stroke:#d0d7de}\n"
	".t,.h,.title{fill:#1f2328}\n"
	".f{fill:#59636e;font-size:11px}\n"
	".h{font-size:14px;font-weight:600}\n"
	".title{font-size:19px;font-weight:600}\n"
	".g{stroke:#e6eaef}\n"
	".z{stroke:#59636e}\n"
	".bar{fill:#2f6fb5}\n"
	".line{fill:none;stroke:#2f6fb5;stroke-width:1.5;stroke-linejoin:round}\n"
	"@media (prefers-color-scheme:dark){\n"
	".page{fill:#0d1117;stroke:#30363d}\n"
	".t,.h,.title{fill:#e6edf3}\n"
	".f{fill:#9198a1}\n"
	".g{stroke:#262c36}\n"
	".z{stroke:#9198a1}\n"
	".bar{fill:#5b9bdf}\n"
	".line{stroke:#5b9bdf}\n"
	"}\n"
	"</style>\n";

/* ---- text ---- */

/* Prints one character, or one byte that is no character. XML has no U+FFFE and no U+FFFF. */
static void print_character(FILE *out, const char *text, size_t nbytes, size_t length)
{
	uint32_t code = 0;

	if (length)
		utf8_decode(text, nbytes, &code);
	if (*text == '&')
		fputs("&amp;", out);
	else if (*text == '<')
		fputs("&lt;", out);
	else if (*text == '>')
		fputs("&gt;", out);
	else if (code == 0xfffe || code == 0xffff)
		fputs("\ufffd", out);
	else
		utf8_print(out, text, length ? length : 1);
}

void svg_print(FILE *out, const char *text, size_t nbytes)
{
	size_t length;

	for (; nbytes; text += length, nbytes -= length) {
		if (!utf8_prints(text, nbytes, &length))
			length = 0;
		print_character(out, text, nbytes, length);
		length = length ? length : 1;
	}
}

/* How many bytes of the text are shown; sets *is_cut. */
static size_t cut(const char *text, size_t width_max, bool *is_cut)
{
	*is_cut = utf8_width(text) > width_max;
	return *is_cut ? utf8_fit(text, &(size_t){width_max - 1}) : strlen(text);
}

int64_t svg_text_width(const char *text, size_t width_max)
{
	size_t width = utf8_width(text);

	return (int64_t)(width < width_max ? width : width_max) * SVG_CHARACTER;
}

void svg_text(FILE *out, int64_t x, int64_t y, const char *class, enum svg_anchor anchor,
	      const char *text, size_t width_max)
{
	static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
	bool is_cut;
	size_t nbytes = cut(text, width_max, &is_cut);

	fprintf(out, "<text class=\"%s\"%s x=\"", class, anchors[anchor]);
	svg_print_px(out, x);
	fputs("\" y=\"", out);
	svg_print_px(out, y);
	fputs("\">", out);
	svg_print(out, text, nbytes);
	fprintf(out, "%s</text>\n", is_cut ? "\u2026" : "");
}

/* ---- shapes ---- */

void svg_print_px(FILE *out, int64_t length)
{
	uint64_t n = length < 0 ? -(uint64_t)length : (uint64_t)length;

	fprintf(out, "%s%" PRIu64, length < 0 ? "-" : "", n / SVG_PX);
	if (n % SVG_PX)
		fprintf(out, ".%02" PRIu64, n % SVG_PX);
}

void svg_line(FILE *out, int64_t x, int64_t y, int64_t to_x, int64_t to_y, const char *class)
{
	fprintf(out, "<path class=\"%s\" d=\"M", class);
	svg_print_px(out, x);
	putc(' ', out);
	svg_print_px(out, y);
	putc('L', out);
	svg_print_px(out, to_x);
	putc(' ', out);
	svg_print_px(out, to_y);
	fputs("\"/>\n", out);
}

/* ---- the page ---- */

void svg_begin(FILE *out, int64_t width, int64_t height, const char *heading, const char *words)
{
	int64_t w = width / SVG_PX, h = height / SVG_PX;

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %" PRId64 " %" PRId64 "\" width=\"%"
		PRId64 "\" height=\"%" PRId64 "\" role=\"img\" font-family=\"%s\" font-size=\"13\">\n<title>",
		w, h, w, h, FONTS);
	svg_print(out, heading, strlen(heading));
	fprintf(out, "</title>\n%s<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%" PRId64 "\" height=\"%" PRId64
		"\" rx=\"6\"/>\n", style, w - 1, h - 1);
	svg_text(out, SVG_MARGIN, 34 * SVG_PX, "title", SVG_START, heading, SVG_TEXT_WIDTH_MAX * 2 / 3);
	if (*words)
		svg_text(out, SVG_MARGIN, 54 * SVG_PX, "f", SVG_START, words, SIZE_MAX);
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}
