/* SPDX-License-Identifier: MIT
 *
 * curve_plot.c - a running column as a line of characters. See curve.h.
 *
 * A column of the terminal is two dots wide and a line of text two dots high, drawn with the quadrants of Unicode's
 * block elements; without UTF-8 both are one, drawn with #. A column of dots has all from the least to the greatest
 * value of its records, and reaches to those of the column before, so that the line has no gap.
 */
#include "io/curve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "io/axis.h"

#define NLINES 16

/* One column of dots: those from low to high, counted from below; high < low: none. */
struct span {
	int64_t low, high;
};

struct plot {
	const struct curve *curve;
	FILE *out;
	bool is_utf8;
	struct curve_range range;
	struct axis axis;
	int ndots;        /* of a column or a line of text, either way */
	size_t gutter;    /* columns of the labels */
	size_t ncolumns;  /* of the line */
	struct span *spans; /* ncolumns x ndots; owned */
};

/* ---- the line ---- */

static struct span span_of(const struct plot *p, size_t begin, size_t end)
{
	struct span none = {0, -1};
	struct curve_range range;
	int64_t top = NLINES * p->ndots - 1;

	if (!curve_range(p->curve, begin, end, &range))
		return none;
	return (struct span){axis_place(&p->axis, range.least, top),
			     axis_place(&p->axis, range.greatest, top)};
}

/* s reaches to the dots of the column before. */
static void reach(struct span *s, const struct span *before)
{
	if (s->high < s->low || before->high < before->low)
		return;
	if (s->low > before->high + 1)
		s->low = before->high + 1;
	else if (s->high < before->low - 1)
		s->high = before->low - 1;
}

static enum status make_spans(struct plot *p)
{
	size_t n = p->ncolumns * (size_t)p->ndots, nbuckets = curve_nbuckets(p->curve);

	p->spans = calloc(n, sizeof *p->spans);
	if (!p->spans)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		size_t begin = i * nbuckets / n, end = (i + 1) * nbuckets / n;
		p->spans[i] = span_of(p, begin, end > begin ? end : begin + 1);
	}
	for (size_t i = n; i-- > 1;) /* from the end, so that only the values themselves are reached for */
		reach(&p->spans[i], &p->spans[i - 1]);
	return STATUS_OK;
}

static bool has_dot(const struct plot *p, size_t x, int64_t y)
{
	return y >= p->spans[x].low && y <= p->spans[x].high;
}

static void put_line_of_dots(const struct plot *p, int line)
{
	static const char *const quadrants[] = {
		" ", "\u2598", "\u259d", "\u2580", "\u2596", "\u258c", "\u259e", "\u259b",
		"\u2597", "\u259a", "\u2590", "\u259c", "\u2584", "\u2599", "\u259f", "\u2588"};
	int64_t top = (int64_t)(NLINES - line) * p->ndots - 1;
	size_t pending = 0;

	for (size_t i = 0; i < p->ncolumns; i++) {
		unsigned dots = 0;
		for (int k = 0; k < p->ndots * p->ndots; k++)
			dots |= (unsigned)has_dot(p, i * (size_t)p->ndots + (size_t)(k % p->ndots),
						  top - k / p->ndots) << k;
		if (!dots) {
			pending++;
			continue;
		}
		fprintf(p->out, "%*s%s", (int)pending, "", p->is_utf8 ? quadrants[dots] : "#");
		pending = 0;
	}
	putc('\n', p->out);
}

/* ---- around it ---- */

/* The label of a line of text, aligned right, cut if it is too long. */
static void put_label(const struct plot *p, const char *text)
{
	size_t left = p->gutter, width = strlen(text);

	if (width <= left)
		fprintf(p->out, "%*s", (int)left, text);
	else
		fprintf(p->out, "%.*s%s", (int)left - 1, text, p->is_utf8 ? "\u2026" : "~");
}

/* The line of text on which a number lies. */
static int line_of(const struct plot *p, const char *number)
{
	return NLINES - 1 - (int)(axis_place(&p->axis, number, NLINES * p->ndots - 1) / p->ndots);
}

static const char *label_of(const struct plot *p, int line)
{
	if (line == line_of(p, p->range.greatest))
		return p->range.greatest;
	if (line == line_of(p, p->range.least))
		return p->range.least;
	return p->axis.low < 0 && p->axis.high > 0 && line == line_of(p, "0") ? "0" : "";
}

static void put_lines(const struct plot *p)
{
	for (int line = 0; line < NLINES; line++) {
		put_label(p, label_of(p, line));
		fputs(p->is_utf8 ? " \u2502" : " |", p->out);
		put_line_of_dots(p, line);
	}
}

/* The numbers of the first and of the last record. */
static void put_records(const struct plot *p)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%" PRIu64, p->curve->nrecords);

	fprintf(p->out, "%*s", (int)p->gutter, "");
	fputs(p->is_utf8 ? " \u2514" : " +", p->out);
	for (size_t i = 0; i < p->ncolumns; i++)
		fputs(p->is_utf8 ? "\u2500" : "-", p->out);
	fprintf(p->out, "\n%*s1", (int)p->gutter + 2, "");
	if (p->curve->nrecords > 1 && p->ncolumns > (size_t)n)
		fprintf(p->out, "%*s", (int)p->ncolumns - 1, text);
	fprintf(p->out, "\n%*srecord\n", (int)(p->gutter + 2 + p->ncolumns / 2 - 3), "");
}

static void put_heading(const struct plot *p, const char *name)
{
	utf8_print(p->out, name, strlen(name));
	if (p->range.least)
		fprintf(p->out, ": least %s, greatest %s, last %s", p->range.least, p->range.greatest,
			p->curve->last.data);
	else
		fputs(": no values", p->out);
	putc('\n', p->out);
}

static void share_width(struct plot *p, size_t width)
{
	size_t low = strlen(p->range.least), high = strlen(p->range.greatest);

	p->gutter = low > high ? low : high;
	if (p->gutter > width / 3)
		p->gutter = width / 3;
	p->ncolumns = width - p->gutter - 2;
}

enum status curve_plot(const struct curve *curve, const char *name, const struct terminal *terminal, FILE *out)
{
	struct plot p = {.curve = curve, .out = out, .is_utf8 = terminal->is_utf8,
			 .ndots = terminal->is_utf8 ? 2 : 1};
	enum status status;
	bool any = curve_range(curve, 0, curve_nbuckets(curve), &p.range);

	put_heading(&p, name);
	if (!any)
		return STATUS_OK;
	axis_set(&p.axis, p.range.least, p.range.greatest, 0);
	share_width(&p, terminal->width);
	status = make_spans(&p);
	if (status == STATUS_OK) {
		put_lines(&p);
		put_records(&p);
	}
	free(p.spans);
	return status;
}
