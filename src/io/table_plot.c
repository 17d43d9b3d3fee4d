/* SPDX-License-Identifier: MIT
 *
 * table_plot.c - see table_plot.h.
 */
#include "io/table_plot.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/bars.h"

#define GAP 2      /* columns behind a label */
#define ROOM_MIN 8 /* for bars, however long the values are */
#define LABEL_MIN 4

struct block {
	const struct table *t;
	FILE *out;
	bool is_utf8;
	const size_t *widths; /* of the labels */
	size_t column;        /* which is drawn */
	struct bars bars;
	size_t before, room;  /* columns of a terminal: left of the line, and for both sides together */
	size_t pending;       /* blanks that are printed once something follows */
};

/* ---- text ---- */

static void put_pending(struct block *b)
{
	fprintf(b->out, "%*s", (int)b->pending, "");
	b->pending = 0;
}

/* Prints text of the input. */
static void put(struct block *b, const char *text, size_t nbytes)
{
	if (nbytes == 0)
		return;
	put_pending(b);
	utf8_print(b->out, text, nbytes);
}

/* Prints n times a text of this file. */
static void put_times(struct block *b, size_t n, const char *text)
{
	if (n > 0 && *text)
		put_pending(b);
	while (n-- > 0)
		fputs(text, b->out);
}

static void end_line(struct block *b)
{
	b->pending = 0;
	putc('\n', b->out);
}

/* Prints text in `width` columns, cut if it is longer. */
static void put_label(struct block *b, const char *text, size_t width, bool right)
{
	size_t left = width, nbytes = strlen(text), needed = utf8_width(text);

	if (needed > width) {
		left--;
		nbytes = utf8_fit(text, &left);
		put(b, text, nbytes);
		put_times(b, 1, b->is_utf8 ? "\u2026" : "~");
		b->pending += left;
		return;
	}
	b->pending += right ? width - needed : 0;
	put(b, text, nbytes);
	b->pending += right ? 0 : width - needed;
}

static void put_labels(struct block *b, const struct cell *row)
{
	for (size_t i = 0; i < b->t->nlabels; i++) {
		put_label(b, row[i].text, b->widths[i], b->t->names[i].is_number);
		b->pending += GAP;
	}
}

/* ---- bars ---- */

/* How long a bar is, in so many parts of a column; at least one unless it is 0. */
static size_t bar_length(const struct block *b, const char *number, size_t nparts)
{
	size_t n = (size_t)axis_length(&b->bars.axis, number, (int64_t)(b->room * nparts));

	return n == 0 && plain_top(number) != PLAIN_NO_TOP ? 1 : n;
}

/* To the right. */
static void put_bar(struct block *b, const char *number)
{
	static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
					      "\u258a", "\u2589"};
	size_t n;

	if (!b->is_utf8) {
		put_times(b, bar_length(b, number, 1), "#");
		return;
	}
	n = bar_length(b, number, 8);
	put_times(b, n / 8, "\u2588");
	put_times(b, 1, eighths[n % 8]);
}

/* To the left, ending at the line. At the right of a column there are blocks of an eighth, a half and the whole:
 * the nearest is taken, and an eighth for anything but 0. */
static void put_left_bar(struct block *b, const char *number)
{
	size_t n = b->is_utf8 ? bar_length(b, number, 8) : 8 * bar_length(b, number, 1);
	size_t whole = (n + 2) / 8, rest = (n + 2) % 8;
	const char *part = rest >= 5 ? "\u2590" : rest >= 3 ? "\u2595" : "";

	b->pending += b->before - whole - (*part != '\0');
	put_times(b, 1, part);
	put_times(b, whole, b->is_utf8 ? "\u2588" : "#");
}

static void put_row(struct block *b, const struct cell *row)
{
	const struct cell *cell = &row[b->column];
	const char *number = cell_number(cell);
	bool has = bars_has(cell), left = has && b->bars.has_negative && *number == '-';

	put_labels(b, row);
	if (left)
		put_left_bar(b, number);
	else
		b->pending += b->before;
	if (b->bars.has_negative)
		put_times(b, 1, b->is_utf8 ? "\u2502" : "|");
	if (has && !left)
		put_bar(b, number);
	b->pending++;
	put(b, cell->text, strlen(cell->text));
	end_line(b);
}

/* ---- how wide ---- */

static size_t sum_cut(const size_t *widths, size_t n, size_t most)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (widths[i] < most ? widths[i] : most) + GAP;
	return sum;
}

/* Sets the labels' widths so that together they take at most `room` columns, each at least LABEL_MIN if it needs
 * as many. Returns what they take. */
static size_t fit_labels(const struct table *t, size_t *widths, size_t room)
{
	size_t most = room;

	for (size_t i = 0; i < t->nlabels; i++)
		widths[i] = utf8_width(t->names[i].text);
	for (size_t row = 0; row < t->nrows; row++)
		for (size_t i = 0; i < t->nlabels; i++) {
			size_t width = utf8_width(bars_cell(t, row, i)->text);
			widths[i] = width > widths[i] ? width : widths[i];
		}
	while (most > LABEL_MIN && sum_cut(widths, t->nlabels, most) > room)
		most--;
	for (size_t i = 0; i < t->nlabels; i++)
		widths[i] = widths[i] < most ? widths[i] : most;
	return sum_cut(widths, t->nlabels, most);
}

/* Shares the columns of a line behind the labels among bars to both sides, the line and the values. */
static void share_room(struct block *b, size_t nleft)
{
	size_t taken = b->bars.value_width + 1 + (b->bars.has_negative ? 2 : 0);
	struct axis *a = &b->bars.axis;

	b->room = nleft > taken + ROOM_MIN ? nleft - taken : ROOM_MIN;
	b->before = 0;
	if (b->bars.has_negative) /* rounded up: the column more is in taken */
		b->before = (size_t)((-a->low * (int128)b->room + (a->high - a->low) - 1) /
				     (a->high - a->low));
}

enum status table_plot(const struct table *t, const struct terminal *terminal, FILE *out)
{
	size_t *widths = calloc(t->nlabels + 1, sizeof *widths), taken;
	struct block b = {.t = t, .out = out, .is_utf8 = terminal->is_utf8, .widths = widths};

	if (!widths)
		return STATUS_NO_MEMORY;
	taken = fit_labels(t, widths, terminal->width / 2);
	for (b.column = t->nlabels; b.column < t->ncolumns; b.column++) {
		const char *name = t->names[b.column].text;
		bars_measure(&b.bars, t, b.column, t->nrows);
		share_room(&b, terminal->width > taken ? terminal->width - taken : 0);
		if (b.column > t->nlabels)
			putc('\n', out);
		put_labels(&b, t->names);
		put(&b, name, strlen(name));
		end_line(&b);
		for (size_t i = 0; i < t->nrows; i++)
			put_row(&b, &t->cells[i * t->ncolumns]);
	}
	free(widths);
	return STATUS_OK;
}
