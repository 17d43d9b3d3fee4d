/* SPDX-License-Identifier: MIT
 *
 * picture.c - tables as bars and running columns as lines, drawn with characters or as SVG: see picture.h.
 *
 * Where a number lies on an axis is computed in 128 bits from the leading 30 digits, and SVG has integers in hundredths of a
 * pixel, so that the same picture is the same bytes on every machine; a place is exact up to 30 digits but for its one
 * rounding. Scalable Vector Graphics (SVG) 1.1; XML 1.0, section 2.2, for what a text may hold. An SVG has its own background,
 * light or dark as the viewer's page is, and needs no font, script or other file.
 */
#include "io/picture.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "io/output.h"
#include "number/decimal.h"
#include "number/plain.h"

/* ---- what standard output can show ---- */

#define TERMINAL_WIDTH_MIN 20
#define TERMINAL_WIDTH_MAX 1000
#define TERMINAL_WIDTH_DEFAULT 80

struct terminal {
	size_t width; /* in columns: the terminal's, else $COLUMNS, else 80; within the limits above */
	bool is_utf8; /* by the environment's locale */
};

static size_t find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long width = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width == 0 && columns)
		width = strtoul(columns, NULL, 10);
	if (width == 0)
		width = TERMINAL_WIDTH_DEFAULT;
	if (width > TERMINAL_WIDTH_MAX)
		return TERMINAL_WIDTH_MAX;
	return width < TERMINAL_WIDTH_MIN ? TERMINAL_WIDTH_MIN : width;
}

/* A locale of its own: all else in the program goes by "C". */
static bool find_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is;

	if (!locale)
		return false;
	is = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return is;
}

/* ---- where numbers lie on an axis ---- */

#define AXIS_TICK_NBYTES 512
#define TICK_NDIGITS_MAX 15 /* longer ones have an exponent */
#define TICK_NPLACES_MAX 12
#define BAR_NINTERVALS 8
#define LINE_NINTERVALS 6

/* From low to high, in units of 10^(top - PLAIN_NDIGITS + 1). Ticks are at multiples of digit x 10^power, which are first,
 * first + 1, ... last times it. */
struct axis {
	int top;
	int128 low, high;
	int digit, power;
	int128 step; /* in the axis' units */
	int128 first, last;
};

static int greater(int a, int b)
{
	return a > b ? a : b;
}

/* x / y rounded down, y > 0. */
static int128 floor_divide(int128 x, int128 y)
{
	return x / y - (x % y < 0);
}

/* Sets the axis from one number to another that is not less, with the closest ticks, 1, 2 or 5 times a power of ten apart, that
 * make at most nmax intervals. nplaces: the most digits after the point of what is drawn on it: a tick has no more. */
static void axis_set(struct axis *a, const char *low, const char *high, int nplaces, int nmax)
{
	int unit;
	int128 power = 1;

	a->top = greater(plain_top(low), plain_top(high));
	if (a->top == PLAIN_NO_TOP)
		a->top = 0;
	a->low = plain_window(low, a->top);
	a->high = plain_window(high, a->top);
	unit = a->top - PLAIN_NDIGITS + 1;
	a->digit = 1;
	a->power = greater(-nplaces, unit);
	for (int i = unit; i < a->power; i++)
		power *= 10;
	while (a->digit * power * nmax < a->high - a->low) {
		a->digit = a->digit == 1 ? 2 : a->digit == 2 ? 5 : 10;
		if (a->digit < 10)
			continue;
		a->digit = 1;
		a->power++;
		power *= 10;
	}
	a->step = a->digit * power;
	a->first = -floor_divide(-a->low, a->step);
	a->last = floor_divide(a->high, a->step);
}

/* x nunits / range, x and range not negative, rounded half up. A window is below 10^30, so the product is
 * below 2^125. */
static int64_t scale(int128 x, int128 range, int64_t nunits)
{
	return (int64_t)((2 * x * nunits + range) / (2 * range));
}

/* Where a number between low and high lies, from 0 to nunits, at most 10^7, rounded half up. In the middle if low is high. */
static int64_t axis_place(const struct axis *a, const char *number, int64_t nunits)
{
	if (a->low == a->high)
		return nunits / 2;
	return scale(plain_window(number, a->top) - a->low, a->high - a->low, nunits);
}

/* How long a bar from 0 to the number is on an axis on which 0 lies, rounded half up; 0 if low is high. */
static int64_t axis_length(const struct axis *a, const char *number, int64_t nunits)
{
	int128 x = plain_window(number, a->top);

	return a->low == a->high ? 0 : scale(x < 0 ? -x : x, a->high - a->low, nunits);
}

/* Writes a multiple of a power of ten: in plain decimal, or as 5e20 beyond 15 digits. */
static void write_tick(int128 multiple, int power, char text[AXIS_TICK_NBYTES])
{
	bool is_short = power < 0 && power >= -TICK_NPLACES_MAX;
	size_t n = decimal_format(multiple, is_short ? -power : 0, text);

	if (power > 0 && n + (size_t)power <= TICK_NDIGITS_MAX && multiple) {
		memset(text + n, '0', (size_t)power);
		n += (size_t)power;
	} else if (power && !is_short && multiple) {
		n += (size_t)snprintf(text + n, AXIS_TICK_NBYTES - n, "e%d", power);
	}
	text[n] = '\0';
}

/* Writes the i-th multiple. Returns its place. */
static int64_t axis_tick(const struct axis *a, int128 i, int64_t nunits, char text[AXIS_TICK_NBYTES])
{
	write_tick(i * a->digit, a->power, text);
	if (a->low == a->high)
		return nunits / 2;
	return scale(i * a->step - a->low, a->high - a->low, nunits);
}

/* ---- SVG: text, lines, the page ---- */

#define PX 100           /* a pixel, in units of places and lengths */
#define SVG_MARGIN (24 * PX)
#define SVG_WIDTH (960 * PX)
#define SVG_HEADER (74 * PX)      /* of the page, above what is drawn */
#define SVG_GAP (8 * PX)
#define SVG_ROOM_MIN (300 * PX)
#define SVG_CHARACTER (75 * PX / 10) /* the width that is kept free for a column of 13 px text */
#define SVG_TEXT_WIDTH_MAX 110 /* columns of a heading: longer ones are cut */
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

/* Prints text as XML: markup escaped, and what would not print as utf8_print shows it. XML has no U+FFFE and no U+FFFF. */
static void svg_print(FILE *out, const char *text, size_t nbytes)
{
	size_t length;

	for (; nbytes; text += length, nbytes -= length) {
		uint32_t code = 0;
		if (utf8_prints(text, nbytes, &length))
			utf8_decode(text, nbytes, &code);
		else
			length = 1;
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (code == 0xfffe || code == 0xffff)
			fputs("\ufffd", out);
		else
			utf8_print(out, text, length);
	}
}

/* How many bytes of the text are shown; sets *is_cut. */
static size_t cut(const char *text, size_t width_max, bool *is_cut)
{
	*is_cut = utf8_width(text) > width_max;
	return *is_cut ? utf8_fit(text, &(size_t){width_max - 1}) : strlen(text);
}

/* What is shown of a line of text, as a length. */
static int64_t svg_text_width(const char *text, size_t width_max)
{
	size_t width = utf8_width(text);

	return (int64_t)(width < width_max ? width : width_max) * SVG_CHARACTER;
}

/* Prints a text of this file, with a length in pixels for each @ and a word for each $. */
static void svg_put(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		if (*format == '@') {
			int64_t length = va_arg(arguments, int64_t);
			uint64_t n = length < 0 ? -(uint64_t)length : (uint64_t)length;
			fprintf(out, "%s%" PRIu64, length < 0 ? "-" : "", n / PX);
			if (n % PX)
				fprintf(out, ".%02" PRIu64, n % PX);
		} else if (*format == '$') {
			fputs(va_arg(arguments, const char *), out);
		} else {
			putc(*format, out);
		}
	}
	va_end(arguments);
}

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Text, cut to width_max columns. class: of the page's style, "t" for ordinary text, "f" for faint, "h" for the name
 * of a part. */
static void svg_text(FILE *out, int64_t x, int64_t y, const char *class, enum svg_anchor anchor,
		     const char *text, size_t width_max)
{
	static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
	bool is_cut;
	size_t nbytes = cut(text, width_max, &is_cut);

	svg_put(out, "<text class=\"$\"$ x=\"@\" y=\"@\">", class, anchors[anchor], x, y);
	svg_print(out, text, nbytes);
	svg_put(out, "$</text>\n", is_cut ? "\u2026" : "");
}

/* A line of the grid ("g") or of the axis ("z"). */
static void svg_line(FILE *out, int64_t x, int64_t y, int64_t to_x, int64_t to_y, const char *class)
{
	svg_put(out, "<path class=\"$\" d=\"M@ @L@ @\"/>\n", class, x, y, to_x, to_y);
}

/* What is drawn, from left to right. */
struct svg_page {
	int64_t left, room, width; /* where the axis begins, its length; of the page */
};

/* label: the width of the longest label of the axis. right: what is behind the axis. */
static struct svg_page svg_share(int64_t label, int64_t right)
{
	int64_t left = SVG_MARGIN + label + SVG_GAP, room = SVG_WIDTH - left - right;

	room = room < SVG_ROOM_MIN ? SVG_ROOM_MIN : room;
	return (struct svg_page){left, room, (left + room + right + PX - 1) / PX * PX};
}

/* Begins a page with a heading, and words below it, which may be "". */
static void svg_begin(FILE *out, int64_t width, int64_t height, const char *heading, const char *words)
{
	int64_t w = width / PX * PX, h = height / PX * PX;

	svg_put(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 @ @\" width=\"@\" height=\"@\" role=\"img\" "
		"font-family=\"" FONTS "\" font-size=\"13\">\n<title>", w, h, w, h);
	svg_print(out, heading, strlen(heading));
	svg_put(out, "</title>\n$<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"@\" height=\"@\" rx=\"6\"/>\n", style,
		w - PX, h - PX);
	svg_text(out, SVG_MARGIN, 34 * PX, "title", SVG_START, heading, SVG_TEXT_WIDTH_MAX * 2 / 3);
	if (*words)
		svg_text(out, SVG_MARGIN, 54 * PX, "f", SVG_START, words, SIZE_MAX);
}

static void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

/* ---- a column of a table as bars ---- */

/* One column of numbers behind the labels of the rows. */
struct bars {
	struct axis axis;     /* holds 0, and all numbers of the rows */
	bool has_negative;
	size_t value_width;   /* of the widest value, as printed */
};

static const struct cell *cell_at(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->ncolumns + column];
}

/* Whether the cell has a bar: it is a number. */
static bool bars_has(const struct cell *cell)
{
	return cell->is_number && plain_is(cell_number(cell));
}

/* Measures a column over the first nrows rows. */
static void bars_measure(struct bars *b, const struct table *t, size_t column, size_t nrows)
{
	const char *low = "0", *high = "0";
	int nplaces = 0;

	b->value_width = 0;
	for (size_t i = 0; i < nrows; i++) {
		const struct cell *cell = cell_at(t, i, column);
		const char *number = cell_number(cell);
		size_t width = utf8_width(cell->text);
		b->value_width = width > b->value_width ? width : b->value_width;
		if (!bars_has(cell))
			continue;
		low = plain_compare(number, low) < 0 ? number : low;
		high = plain_compare(number, high) > 0 ? number : high;
		nplaces = plain_nplaces(number) > nplaces ? plain_nplaces(number) : nplaces;
	}
	axis_set(&b->axis, low, high, nplaces, BAR_NINTERVALS);
	b->has_negative = b->axis.low < 0;
}

/* ---- bars of characters ---- */

#define PLOT_GAP 2      /* columns behind a label */
#define PLOT_ROOM_MIN 8 /* for bars, however long the values are */
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
		b->pending += PLOT_GAP;
	}
}

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

static size_t sum_cut(const size_t *widths, size_t n, size_t most)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (widths[i] < most ? widths[i] : most) + PLOT_GAP;
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
			size_t width = utf8_width(cell_at(t, row, i)->text);
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

	b->room = nleft > taken + PLOT_ROOM_MIN ? nleft - taken : PLOT_ROOM_MIN;
	b->before = 0;
	if (b->bars.has_negative) /* rounded up: the column more is in taken */
		b->before = (size_t)((-a->low * (int128)b->room + (a->high - a->low) - 1) /
				     (a->high - a->low));
}

/* Prints, for each column of t behind its labels, a block: a line of names, and for each row its labels, a bar
 * and the value as it is. Bars are drawn in eighths of a column, to the left of a line in halves, or in whole
 * columns of # without UTF-8; what is not 0 has some bar. Labels that take more than half of the width are cut,
 * values never. */
static enum status table_plot(const struct table *t, const struct terminal *terminal, FILE *out)
{
	size_t *widths = calloc(t->nlabels + 1, sizeof *widths), taken;
	struct block b = {.t = t, .out = out, .is_utf8 = terminal->is_utf8, .widths = widths};

	NEED(widths);
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
			put_row(&b, cell_at(t, i, 0));
	}
	free(widths);
	return STATUS_OK;
}

/* ---- bars as SVG ---- */

#define TABLE_SVG_NROWS_MAX 10000 /* more make a picture that no viewer shows; the words below the heading say so */
#define PITCH (24 * PX) /* from one bar to the next */
#define BAR (18 * PX)
#define PANEL_ABOVE (36 * PX) /* of a panel, for its name */
#define PANEL_BELOW (46 * PX) /* of a panel, for the axis */
#define NAMES_GAP (24 * PX) /* between the labels' names and the first tick, whose text is in the way */
#define LABEL_WIDTH_MAX 44 /* columns: longer labels are cut */

struct bar_chart {
	const struct table *t;
	FILE *out;
	size_t nrows;   /* that are drawn */
	char **labels;  /* nrows, and that of the names behind them */
	struct svg_page page;
};

static enum status make_labels(struct bar_chart *c)
{
	const struct table *t = c->t;

	c->labels = calloc(c->nrows + 1, sizeof *c->labels);
	for (size_t i = 0; c->labels && i <= c->nrows; i++)
		NEED(c->labels[i] = table_join(i == c->nrows ? t->names : cell_at(t, i, 0), t->nlabels,
					       t->labels_are_bounds ? " \u2013 " : ", "));
	return c->labels ? STATUS_OK : STATUS_NO_MEMORY;
}

/* An axis of numbers from left to right, with its ticks: lines from one height to another, and words. */
static void draw_axis(FILE *out, const struct svg_page *page, const struct axis *a, int64_t from, int64_t to, const char *class,
		      int64_t words)
{
	char text[AXIS_TICK_NBYTES];

	for (int128 i = a->first; i <= a->last; i++) {
		int64_t x = page->left + axis_tick(a, i, page->room, text);
		svg_line(out, x, from, x, to, i ? class : "z");
		svg_text(out, x, words, "f", SVG_MIDDLE, text, SIZE_MAX);
	}
}

/* A row: its label, its bar and its value, which is at the right end of the bar. */
static void draw_row(const struct bar_chart *c, const struct bars *b, size_t row, size_t column, int64_t y)
{
	const struct cell *cell = cell_at(c->t, row, column);
	const char *number = cell_number(cell);
	int64_t zero = c->page.left, end, length, text_y = y + (BAR * 3) / 4;

	fputs("<g><title>", c->out);
	svg_print(c->out, c->labels[row], strlen(c->labels[row]));
	fputs(": ", c->out);
	svg_print(c->out, cell->text, strlen(cell->text));
	fputs("</title>\n", c->out);
	if (b->axis.low != b->axis.high)
		zero += axis_place(&b->axis, "0", c->page.room);
	end = zero;
	if (bars_has(cell)) {
		length = axis_length(&b->axis, number, c->page.room);
		svg_put(c->out, "<rect class=\"bar\" x=\"@\" y=\"@\" width=\"@\" height=\"@\"/>\n",
			*number == '-' ? zero - length : zero, y, length, (int64_t)BAR);
		end = *number == '-' ? zero : zero + length;
	}
	svg_text(c->out, c->page.left - SVG_GAP, text_y, "t", SVG_END, c->labels[row], LABEL_WIDTH_MAX);
	svg_text(c->out, end + SVG_GAP * 3 / 4, text_y, "t", SVG_START, cell->text, SIZE_MAX);
	fputs("</g>\n", c->out);
}

static void draw_panel(const struct bar_chart *c, size_t column, int64_t y)
{
	int64_t top = y + PANEL_ABOVE, bottom = top + (int64_t)c->nrows * PITCH;
	struct svg_page page = c->page;
	struct bars b;

	bars_measure(&b, c->t, column, c->nrows);
	if (b.axis.low == b.axis.high) /* all are 0, which is at the left */
		page.room = 0;
	svg_text(c->out, SVG_MARGIN, y + 20 * PX, "h", SVG_START, c->t->names[column].text,
		 SVG_TEXT_WIDTH_MAX);
	draw_axis(c->out, &page, &b.axis, top, bottom, "g", bottom + 16 * PX);
	svg_text(c->out, c->page.left - NAMES_GAP, bottom + 16 * PX, "f", SVG_END, c->labels[c->nrows], LABEL_WIDTH_MAX);
	for (size_t i = 0; i < c->nrows; i++)
		draw_row(c, &b, i, column, top + (int64_t)i * PITCH + (PITCH - BAR) / 2);
}

static void draw_page(const struct bar_chart *c)
{
	size_t npanels = c->t->ncolumns - c->t->nlabels;
	int64_t panel = PANEL_ABOVE + (int64_t)c->nrows * PITCH + PANEL_BELOW;
	char words[64] = "";

	if (c->nrows < c->t->nrows)
		snprintf(words, sizeof words, "the first %zu of %zu", c->nrows, c->t->nrows);
	svg_begin(c->out, c->page.width, SVG_HEADER + (int64_t)npanels * panel, c->t->title, words);
	for (size_t i = 0; i < npanels; i++)
		draw_panel(c, c->t->nlabels + i, SVG_HEADER - 14 * PX + (int64_t)i * panel);
	svg_end(c->out);
}

/* Prints, for each column of t behind its labels, a panel: its name, a bar for each row with the value as it is,
 * and an axis with ticks at round numbers. */
static enum status table_svg(const struct table *t, FILE *out)
{
	struct bar_chart c = {.t = t, .out = out,
			  .nrows = t->nrows < TABLE_SVG_NROWS_MAX ? t->nrows : TABLE_SVG_NROWS_MAX};
	enum status status = make_labels(&c);

	if (status == STATUS_OK) {
		int64_t label = 0, value = 0;
		/* the axes are behind the longest label, and before the longest value */
		for (size_t i = 0; i <= c.nrows; i++) {
			int64_t width = svg_text_width(c.labels[i], LABEL_WIDTH_MAX) +
					(i == c.nrows ? NAMES_GAP - SVG_GAP : 0);
			label = width > label ? width : label;
		}
		for (size_t column = c.t->nlabels; column < c.t->ncolumns; column++) {
			struct bars b;
			bars_measure(&b, c.t, column, c.nrows);
			if ((int64_t)b.value_width * SVG_CHARACTER > value)
				value = (int64_t)b.value_width * SVG_CHARACTER;
		}
		c.page = svg_share(label, value + 2 * SVG_GAP + SVG_MARGIN / 2);
		draw_page(&c);
	}
	for (size_t i = 0; c.labels && i <= c.nrows; i++)
		free(c.labels[i]);
	free(c.labels);
	return status;
}

/* ---- a line of characters ---- */

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
	NEED(p->spans);
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

/* The label of a line of text, aligned right, cut if it is too long. */
static void put_value_label(const struct plot *p, const char *text)
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

/* Draws a running column: a column of the terminal is two dots wide and a line of text two dots high, drawn with the quadrants
 * of Unicode's block elements; without UTF-8 both are one, drawn with #. A column of dots has all from the least to the
 * greatest value of its records, and reaches to those of the column before, so that the line has no gap. */
static enum status curve_plot(const struct curve *curve, const char *name, const struct terminal *terminal, FILE *out)
{
	struct plot p = {.curve = curve, .out = out, .is_utf8 = terminal->is_utf8,
			 .ndots = terminal->is_utf8 ? 2 : 1};
	enum status status;
	bool any = curve_range(curve, 0, curve_nbuckets(curve), &p.range);

	put_heading(&p, name);
	if (!any)
		return STATUS_OK;
	axis_set(&p.axis, p.range.least, p.range.greatest, greater(plain_nplaces(p.range.least), plain_nplaces(p.range.greatest)),
		 LINE_NINTERVALS);
	share_width(&p, terminal->width);
	status = make_spans(&p);
	if (status == STATUS_OK) {
		for (int line = 0; line < NLINES; line++) {
			put_value_label(&p, label_of(&p, line));
			fputs(p.is_utf8 ? " \u2502" : " |", p.out);
			put_line_of_dots(&p, line);
		}
		put_records(&p);
	}
	free(p.spans);
	return status;
}

/* ---- a line as SVG ---- */

#define LINE_HEIGHT (300 * PX)
#define LINE_BELOW (56 * PX) /* for the axis of records */
#define LINE_RIGHT (40 * PX)
#define NUMBER_NBYTES 24

struct line_chart {
	const struct curve *curve;
	FILE *out;
	struct curve_range range;
	struct axis values, records;
	struct svg_page page;
};

static int64_t y_of(int64_t place)
{
	return SVG_HEADER + LINE_HEIGHT - place;
}

/* The middle record of a bucket, in hundredths of a pixel. */
static int64_t x_of(const struct line_chart *c, size_t bucket)
{
	uint64_t n = c->curve->bucket_nrecords, first = bucket * n + 1;
	uint64_t last = first + n - 1 < c->curve->nrecords ? first + n - 1 : c->curve->nrecords;
	char text[NUMBER_NBYTES];

	snprintf(text, sizeof text, "%" PRIu64, first + (last - first) / 2);
	return c->page.left + axis_place(&c->records, text, c->page.room);
}

/* Draws one bucket. command: M at the beginning, L behind another point. Returns where the line then is. */
static int64_t put_bucket(const struct line_chart *c, const struct curve_range *range, const char *command, int64_t x,
			  int64_t before)
{
	int64_t a = y_of(axis_place(&c->values, range->least, LINE_HEIGHT));
	int64_t b = y_of(axis_place(&c->values, range->greatest, LINE_HEIGHT));

	if (*command == 'L' && llabs(b - before) < llabs(a - before)) {
		int64_t kept = a;
		a = b;
		b = kept;
	}
	svg_put(c->out, "$@ @", command, x, a);
	if (a != b)
		svg_put(c->out, "L@ @", x, b);
	return b;
}

/* A gap stands for records without a value. */
static void put_path(const struct line_chart *c)
{
	struct curve_range range;
	const char *command = "M";
	int64_t y = 0;

	fputs("<path class=\"line\" d=\"", c->out);
	for (size_t i = 0; i < curve_nbuckets(c->curve); i++) {
		if (!curve_range(c->curve, i, i + 1, &range)) {
			command = "M";
			continue;
		}
		y = put_bucket(c, &range, command, x_of(c, i), y);
		command = "L";
	}
	fputs("\"/>\n", c->out);
}

static void put_value_axis(const struct line_chart *c)
{
	char text[AXIS_TICK_NBYTES];

	for (int128 i = c->values.first; i <= c->values.last; i++) {
		int64_t y = y_of(axis_tick(&c->values, i, LINE_HEIGHT, text));
		svg_line(c->out, c->page.left, y, c->page.left + c->page.room, y, i ? "g" : "z");
		svg_text(c->out, c->page.left - SVG_GAP, y + 4 * PX, "f", SVG_END, text, SIZE_MAX);
	}
}

/* The widest label of a value. */
static int64_t label_width(const struct line_chart *c)
{
	char text[AXIS_TICK_NBYTES];
	int64_t most = 0;

	for (int128 i = c->values.first; i <= c->values.last; i++) {
		axis_tick(&c->values, i, LINE_HEIGHT, text);
		if (svg_text_width(text, SIZE_MAX) > most)
			most = svg_text_width(text, SIZE_MAX);
	}
	return most;
}

static void set_axes(struct line_chart *c)
{
	char last[NUMBER_NBYTES];

	snprintf(last, sizeof last, "%" PRIu64, c->curve->nrecords);
	axis_set(&c->records, "1", last, 0, LINE_NINTERVALS);
	axis_set(&c->values, c->range.least, c->range.greatest,
		 greater(plain_nplaces(c->range.least), plain_nplaces(c->range.greatest)), LINE_NINTERVALS);
	c->page = svg_share(label_width(c), LINE_RIGHT);
}

/* Prints it as SVG, with ticks at round numbers. A bucket of one record is a point. One of several is its least and its
 * greatest value at its middle record, the nearer one to the point before first. */
static enum status curve_svg(const struct curve *curve, const char *name, FILE *out)
{
	struct line_chart c = {.curve = curve, .out = out};
	int64_t bottom = y_of(0);
	char *words; /* the exact values */

	if (!curve_range(curve, 0, curve_nbuckets(curve), &c.range)) {
		svg_begin(out, SVG_WIDTH, SVG_HEADER, name, "no values");
		svg_end(out);
		return STATUS_OK;
	}
	set_axes(&c);
	if (asprintf(&words, "records 1 to %" PRIu64 ": least %s, greatest %s, last %s", curve->nrecords, c.range.least,
		     c.range.greatest, curve->last.data) < 0)
		return STATUS_NO_MEMORY;
	svg_begin(out, c.page.width, SVG_HEADER + LINE_HEIGHT + LINE_BELOW, name, words);
	free(words);
	put_value_axis(&c);
	svg_line(out, c.page.left, bottom, c.page.left + c.page.room, bottom, "z");
	draw_axis(out, &c.page, &c.records, bottom, bottom + 5 * PX, "z", bottom + 18 * PX);
	svg_text(out, c.page.left + c.page.room / 2, bottom + 38 * PX, "f", SVG_MIDDLE, "record", SIZE_MAX);
	put_path(&c);
	svg_end(out);
	return STATUS_OK;
}

/* ---- where it is drawn ---- */

const struct out_file_kind picture_svg_kind = {"<svg ", STATUS_NOT_SVG, true};

/* What is drawn: a table, or a running column with its name. */
struct drawn {
	const struct table *table; /* NULL: a curve */
	const struct curve *curve;
	const char *name;
};

static enum status plot(const struct drawn *d, struct fault *fault)
{
	struct terminal terminal = {find_width(), find_utf8()};
	enum status status = d->table ? table_plot(d->table, &terminal, output_stream())
				      : curve_plot(d->curve, d->name, &terminal, output_stream());

	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

/* Draws into a file, or on standard output. */
static enum status draw_svg(const struct picture *p, const struct drawn *d, struct fault *fault)
{
	bool is_file = strcmp(p->svg, PICTURE_STDOUT) != 0;
	struct out_file file;
	FILE *to = output_stream();
	enum status status;

	if (is_file) {
		TRY(out_file_begin(&file, p->svg, &picture_svg_kind, fault));
		to = file.stream;
	}
	status = d->table ? table_svg(d->table, to) : curve_svg(d->curve, d->name, to);
	if (status != STATUS_OK)
		fault_set(fault, status, 0, NULL);
	if (is_file)
		return out_file_end(&file, status, fault);
	return status == STATUS_OK ? output_flush(fault) : status;
}

static enum status draw(const struct picture *p, const struct drawn *d, struct fault *fault)
{
	if (p->plots)
		TRY(plot(d, fault));
	return p->svg ? draw_svg(p, d, fault) : STATUS_OK;
}

enum status picture_print_table(const struct picture *p, const struct table *t, struct style style, struct fault *fault)
{
	bool numbers = style.format != FORMAT_AUTO || !picture_is_asked(p);

	if (numbers)
		TRY(table_print(t, style, fault));
	if (numbers && p->plots)
		putc('\n', output_stream());
	return draw(p, &(struct drawn){.table = t}, fault);
}

enum status picture_print_curve(const struct picture *p, const struct curve *c, const char *name, struct fault *fault)
{
	return draw(p, &(struct drawn){.curve = c, .name = name}, fault);
}
