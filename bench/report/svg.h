/* SPDX-License-Identifier: MIT
 *
 * svg.h - what the pictures have in common: colours, text, the frame and heading, ticks, the file.
 *
 * A picture brings its own background, so it can be read on a light and on a dark page, and
 * asks for no font, script or other file.
 */
#ifndef GPUSTAT_SVG_H
#define GPUSTAT_SVG_H

#include <stdio.h>

#include "base/status.h"

#define SVG_WIDTH 960
#define SVG_HEADER_HEIGHT 66

/* Each contrasts with the page. */
#define SVG_PAGE "#ffffff"
#define SVG_BORDER "#d0d7de"
#define SVG_TEXT "#1f2328"
#define SVG_FAINT "#59636e"
#define SVG_GRID "#e6eaef"

/* Writes text one character at a time: XML's own are escaped; what XML 1.0 forbids, bytes that are
 * no UTF-8 among them, becomes U+FFFD. */
void svg_text(FILE *to, const char *text);

/* Around a text. anchor: "start", "middle", "end"; extra: more attributes. */
void svg_text_begin(FILE *to, double x, double y, const char *anchor, const char *colour,
		    const char *extra);
void svg_text_end(FILE *to);

/* Begins a picture of SVG_WIDTH by height, with its frame; title: what a reader is told of it. It
 * ends with "</svg>\n". */
void svg_begin(FILE *to, double height, const char *title);

/* The heading, and a fainter line below it: "WORDS, gpustat-bench 0.1.0, DATE". */
void svg_heading(FILE *to, const char *heading, const char *words, const char *date);

/* The least of 1, 2, 5 x 10^k, k >= -3, that cuts length into nmax parts at most. */
double svg_tick(double length, int nmax);

/* Whether a picture can be written to path: to be asked before measuring for minutes. What is in
 * the file stays. Errors: STATUS_OPEN, with the path and its cause. */
enum status svg_try(const char *path, struct fault *fault);

/* Opens path in the place of what was there; NULL, and a fault: STATUS_OPEN. */
FILE *svg_open(const char *path, struct fault *fault);

/* Closes it. Errors: STATUS_WRITE, with the path and its cause, if anything was not written. */
enum status svg_close(FILE *to, const char *path, struct fault *fault);

#endif
