/* SPDX-License-Identifier: MIT
 *
 * picture.c - see picture.h.
 */
#include "io/picture.h"

#include <stdio.h>
#include <string.h>

#include "io/output.h"
#include "io/table_plot.h"
#include "io/table_svg.h"
#include "io/terminal.h"

/* ---- the file ---- */

static bool is_stdout(const char *path)
{
	return !strcmp(path, PICTURE_STDOUT);
}

const struct out_file_kind picture_svg_kind = {"<svg ", STATUS_NOT_SVG, true};

/* Where an SVG is drawn: standard output, or a file. */
struct svg_output {
	FILE *to;
	bool is_file;
	struct out_file file;
};

static enum status begin_svg(struct svg_output *out, const struct picture *p, struct fault *fault)
{
	enum status status = STATUS_OK;

	out->is_file = !is_stdout(p->svg);
	if (out->is_file)
		status = out_file_begin(&out->file, p->svg, &picture_svg_kind, fault);
	out->to = out->is_file ? out->file.stream : output_stream();
	return status;
}

/* Ends the SVG that was drawn with a status. */
static enum status end_svg(struct svg_output *out, enum status status, struct fault *fault)
{
	if (status != STATUS_OK)
		fault_set(fault, status, 0, NULL);
	if (out->is_file)
		return out_file_end(&out->file, status, fault);
	return status == STATUS_OK ? output_flush(fault) : status;
}

/* ---- tables ---- */

static enum status plot_table(const struct table *t, struct fault *fault)
{
	struct terminal terminal = terminal_look();
	enum status status = table_plot(t, &terminal, output_stream());

	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

enum status picture_print_table(const struct picture *p, const struct table *t, enum format format,
				struct fault *fault)
{
	bool numbers = format != FORMAT_AUTO || !picture_is_asked(p);
	enum status status = numbers ? table_print(t, format, fault) : STATUS_OK;
	struct svg_output out;

	if (status == STATUS_OK && p->plots) {
		if (numbers)
			putc('\n', output_stream());
		status = plot_table(t, fault);
	}
	if (status != STATUS_OK || !p->svg)
		return status;
	status = begin_svg(&out, p, fault);
	return status == STATUS_OK ? end_svg(&out, table_svg(t, out.to), fault) : status;
}

/* ---- running columns ---- */

static enum status plot_curve(const struct curve *t, const char *name, struct fault *fault)
{
	struct terminal terminal = terminal_look();
	enum status status = curve_plot(t, name, &terminal, output_stream());

	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

enum status picture_print_curve(const struct picture *p, const struct curve *t, const char *name,
				struct fault *fault)
{
	enum status status = p->plots ? plot_curve(t, name, fault) : STATUS_OK;
	struct svg_output out;

	if (status != STATUS_OK || !p->svg)
		return status;
	status = begin_svg(&out, p, fault);
	return status == STATUS_OK ? end_svg(&out, curve_svg(t, name, out.to), fault) : status;
}
