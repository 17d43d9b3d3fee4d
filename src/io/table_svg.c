/* SPDX-License-Identifier: MIT
 *
 * table_svg.c - see table_svg.h.
 */
#include "io/table_svg.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/bars.h"
#include "io/svg.h"

#define PITCH (24 * SVG_PX) /* from one bar to the next */
#define BAR (18 * SVG_PX)
#define ABOVE (36 * SVG_PX) /* of a panel, for its name */
#define BELOW (46 * SVG_PX) /* of a panel, for the axis */
#define GAP (8 * SVG_PX)
#define NAMES_GAP (24 * SVG_PX) /* between the labels' names and the first tick, whose text is in the way */
#define ROOM_MIN (300 * SVG_PX)
#define LABEL_WIDTH_MAX 44 /* columns: longer labels are cut */
#define NINTERVALS 8

struct chart {
	const struct table *t;
	FILE *out;
	size_t nrows;   /* that are drawn */
	char **labels;  /* nrows, and that of the names behind them */
	int64_t left;   /* where the axis begins */
	int64_t room;   /* its length */
	int64_t width;  /* of the picture */
};

/* ---- labels ---- */

/* The labels of a row in one text, to be freed. NULL: out of memory. */
static char *join_labels(const struct table *t, const struct cell *row)
{
	const char *between = t->labels_are_bounds ? " \u2013 " : ", ";
	char *text = NULL;
	size_t nbytes;
	FILE *out = open_memstream(&text, &nbytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < t->nlabels; i++)
		fprintf(out, "%s%s", i ? between : "", row[i].text);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static enum status make_labels(struct chart *c)
{
	c->labels = calloc(c->nrows + 1, sizeof *c->labels);
	for (size_t i = 0; c->labels && i <= c->nrows; i++) {
		c->labels[i] = join_labels(c->t, i == c->nrows ? c->t->names : bars_cell(c->t, i, 0));
		if (!c->labels[i])
			return STATUS_NO_MEMORY;
	}
	return c->labels ? STATUS_OK : STATUS_NO_MEMORY;
}

static void free_labels(struct chart *c)
{
	for (size_t i = 0; c->labels && i <= c->nrows; i++)
		free(c->labels[i]);
	free(c->labels);
}

/* ---- one panel ---- */

static void draw_axis(const struct chart *c, const struct bars *b, int64_t top, int64_t bottom)
{
	char text[AXIS_TICK_NBYTES];
	struct axis_ticks ticks;

	axis_ticks_set(&ticks, &b->axis, NINTERVALS);
	for (int128 i = ticks.first; i <= ticks.last; i++) {
		int64_t x = c->left + axis_tick(&ticks, &b->axis, i, c->room, text);
		if (b->axis.low == b->axis.high)
			x = c->left;
		svg_line(c->out, x, top, x, bottom, i ? "g" : "z");
		svg_text(c->out, x, bottom + 16 * SVG_PX, "f", SVG_MIDDLE, text, SIZE_MAX);
	}
	svg_text(c->out, c->left - NAMES_GAP, bottom + 16 * SVG_PX, "f", SVG_END, c->labels[c->nrows],
		 LABEL_WIDTH_MAX);
}

static void draw_rect(FILE *out, int64_t x, int64_t y, int64_t width)
{
	fputs("<rect class=\"bar\" x=\"", out);
	svg_print_px(out, x);
	fputs("\" y=\"", out);
	svg_print_px(out, y);
	fputs("\" width=\"", out);
	svg_print_px(out, width);
	fputs("\" height=\"", out);
	svg_print_px(out, BAR);
	fputs("\"/>\n", out);
}

/* A row: its label, its bar and its value, which is at the right end of the bar. */
static void draw_row(const struct chart *c, const struct bars *b, size_t row, size_t column, int64_t y)
{
	const struct cell *cell = bars_cell(c->t, row, column);
	const char *number = cell_number(cell);
	int64_t zero = c->left, end, length, text_y = y + (BAR * 3) / 4;

	fputs("<g><title>", c->out);
	svg_print(c->out, c->labels[row], strlen(c->labels[row]));
	fputs(": ", c->out);
	svg_print(c->out, cell->text, strlen(cell->text));
	fputs("</title>\n", c->out);
	if (b->axis.low != b->axis.high)
		zero += axis_place(&b->axis, "0", c->room);
	end = zero;
	if (bars_has(cell)) {
		length = axis_length(&b->axis, number, c->room);
		draw_rect(c->out, *number == '-' ? zero - length : zero, y, length);
		end = *number == '-' ? zero : zero + length;
	}
	svg_text(c->out, c->left - GAP, text_y, "t", SVG_END, c->labels[row], LABEL_WIDTH_MAX);
	svg_text(c->out, end + GAP * 3 / 4, text_y, "t", SVG_START, cell->text, SIZE_MAX);
	fputs("</g>\n", c->out);
}

static void draw_panel(const struct chart *c, size_t column, int64_t y)
{
	int64_t top = y + ABOVE, bottom = top + (int64_t)c->nrows * PITCH;
	struct bars b;

	bars_measure(&b, c->t, column, c->nrows);
	svg_text(c->out, SVG_MARGIN, y + 20 * SVG_PX, "h", SVG_START, c->t->names[column].text,
		 SVG_TEXT_WIDTH_MAX);
	draw_axis(c, &b, top, bottom);
	for (size_t i = 0; i < c->nrows; i++)
		draw_row(c, &b, i, column, top + (int64_t)i * PITCH + (PITCH - BAR) / 2);
}

/* ---- the page ---- */

/* Sets where the axes are: behind the longest label, and before the longest value. */
static void place_axes(struct chart *c)
{
	int64_t label = 0, value = 0;

	for (size_t i = 0; i <= c->nrows; i++) {
		int64_t width = svg_text_width(c->labels[i], LABEL_WIDTH_MAX) +
				(i == c->nrows ? NAMES_GAP - GAP : 0);
		label = width > label ? width : label;
	}
	for (size_t column = c->t->nlabels; column < c->t->ncolumns; column++) {
		struct bars b;
		bars_measure(&b, c->t, column, c->nrows);
		if ((int64_t)b.value_width * SVG_CHARACTER > value)
			value = (int64_t)b.value_width * SVG_CHARACTER;
	}
	c->left = SVG_MARGIN + label + GAP;
	c->room = SVG_WIDTH - c->left - value - 2 * GAP - SVG_MARGIN / 2;
	if (c->room < ROOM_MIN)
		c->room = ROOM_MIN;
	c->width = c->left + c->room + value + 2 * GAP + SVG_MARGIN / 2;
	c->width = (c->width + SVG_PX - 1) / SVG_PX * SVG_PX;
}

static void draw(const struct chart *c)
{
	size_t npanels = c->t->ncolumns - c->t->nlabels;
	int64_t panel = ABOVE + (int64_t)c->nrows * PITCH + BELOW;
	char words[64] = "";

	if (c->nrows < c->t->nrows)
		snprintf(words, sizeof words, "the first %zu of %zu", c->nrows, c->t->nrows);
	svg_begin(c->out, c->width, SVG_HEADER + (int64_t)npanels * panel, c->t->title, words);
	for (size_t i = 0; i < npanels; i++)
		draw_panel(c, c->t->nlabels + i, SVG_HEADER - 14 * SVG_PX + (int64_t)i * panel);
	svg_end(c->out);
}

enum status table_svg(const struct table *t, FILE *out)
{
	struct chart c = {.t = t, .out = out,
			  .nrows = t->nrows < TABLE_SVG_NROWS_MAX ? t->nrows : TABLE_SVG_NROWS_MAX};
	enum status status = make_labels(&c);

	if (status == STATUS_OK) {
		place_axes(&c);
		draw(&c);
	}
	free_labels(&c);
	return status;
}
