/* SPDX-License-Identifier: MIT
 *
 * picture.h - results as pictures: on the terminal, and in a file.
 */
#pragma once

#include "base/status.h"
#include "io/curve.h"
#include "io/out_file.h"
#include "io/table.h"

#define PICTURE_STDOUT "-"

/* What is asked for. Zeroed: no picture. */
struct picture {
	bool plots;      /* on standard output, of characters */
	const char *svg; /* the file that gets the SVG, PICTURE_STDOUT, or NULL */
};

static inline bool picture_is_asked(const struct picture *p)
{
	return p->plots || p->svg;
}

/* The file of an SVG: out_files_check says before the work whether it can be written. */
extern const struct out_file_kind picture_svg_kind;

/* Prints a table in the format and draws it: only draws it where a picture is asked for and no format. Errors:
 * STATUS_NO_MEMORY, those of out_file_begin, STATUS_WRITE. */
enum status picture_print_table(const struct picture *p, const struct table *t, struct style style,
				struct fault *fault);

/* Draws a running column called `name`. Errors: those of picture_print_table. */
enum status picture_print_curve(const struct picture *p, const struct curve *t, const char *name,
				struct fault *fault);
