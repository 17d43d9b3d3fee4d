/* SPDX-License-Identifier: MIT
 *
 * picture.h - results as pictures: on the terminal, and in a file.
 */
#ifndef GPUSTAT_PICTURE_H
#define GPUSTAT_PICTURE_H

#include <stdbool.h>

#include "base/status.h"
#include "io/table.h"
#include "io/curve.h"

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

/* Whether the file can be written, before the work: it is not there, or is empty, an SVG or no regular file.
 * Nothing else is ever overwritten, so a file of data that is named by mistake is safe. Errors: STATUS_OPEN,
 * STATUS_NOT_SVG. */
enum status picture_check(const struct picture *p, struct fault *fault);

/* Prints a table in the format and draws it: only draws it where a picture is asked for and no format. Errors:
 * STATUS_NO_MEMORY, STATUS_OPEN, STATUS_WRITE. */
enum status picture_print_table(const struct picture *p, const struct table *t, enum format format,
				struct fault *fault);

/* Draws a running column called `name`. Errors: likewise. */
enum status picture_print_curve(const struct picture *p, const struct curve *t, const char *name,
				struct fault *fault);

#endif
