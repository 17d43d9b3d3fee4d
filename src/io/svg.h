/* SPDX-License-Identifier: MIT
 *
 * svg.h - the parts of a picture as SVG 1.1: text, lines, bars, the page. A picture has its own background, light
 * or dark as the viewer's page is, and needs no font, script or other file.
 *
 * Places and lengths are integers in hundredths of a pixel, so that the same picture is the same bytes anywhere.
 */
#ifndef GPUSTAT_SVG_H
#define GPUSTAT_SVG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "io/axis.h"

#define SVG_PX 100           /* a pixel */
#define SVG_MARGIN (24 * SVG_PX)
#define SVG_WIDTH (960 * SVG_PX)
#define SVG_HEADER (74 * SVG_PX)      /* of the page, above what is drawn */
#define SVG_CHARACTER (75 * SVG_PX / 10) /* the width that is kept free for a column of 13 px text */
#define SVG_TEXT_WIDTH_MAX 110 /* columns of a heading: longer ones are cut */

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Begins a page with a heading, and words below it, which may be "". */
void svg_begin(FILE *out, int64_t width, int64_t height, const char *heading, const char *words);
void svg_end(FILE *out);

/* Prints text[0 .. nbytes) as XML: markup escaped, and what would not print as utf8_print shows it. */
void svg_print(FILE *out, const char *text, size_t nbytes);

/* Text, cut to width_max columns. class: of the page's style, "t" for ordinary text, "f" for faint, "h" for the name
 * of a part. */
void svg_text(FILE *out, int64_t x, int64_t y, const char *class, enum svg_anchor anchor,
	      const char *text, size_t width_max);

/* A line of the grid ("g") or of the axis ("z"). */
void svg_line(FILE *out, int64_t x, int64_t y, int64_t to_x, int64_t to_y, const char *class);

/* Prints a length in pixels. */
void svg_print_px(FILE *out, int64_t length);

/* What is left of a line of text in columns, as a length. */
int64_t svg_text_width(const char *text, size_t width_max);

#endif
