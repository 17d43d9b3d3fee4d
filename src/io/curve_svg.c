/* SPDX-License-Identifier: MIT
 *
 * curve_svg.c - a running column as a line in SVG. See curve.h.
 *
 * A bucket of one record is a point. One of several is its least and its greatest value at its middle record, the
 * nearer one to the point before first.
 */
#include "io/curve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/axis.h"
#include "io/svg.h"

#define HEIGHT (300 * SVG_PX)
#define BELOW (56 * SVG_PX) /* for the axis of records */
#define RIGHT (40 * SVG_PX)
#define GAP (8 * SVG_PX)
#define ROOM_MIN (300 * SVG_PX)
#define NINTERVALS 6
#define NUMBER_NBYTES 24

struct chart {
	const struct curve *curve;
	FILE *out;
	struct curve_range range;
	struct axis values, records;
	struct axis_ticks value_ticks, record_ticks;
	int64_t left, room, width; /* of the line: where it begins, its length; of the picture */
};

static int64_t y_of(int64_t place)
{
	return SVG_HEADER + HEIGHT - place;
}

/* ---- the line ---- */

/* The middle record of a bucket, in hundredths of a pixel. */
static int64_t x_of(const struct chart *c, size_t bucket)
{
	uint64_t n = c->curve->bucket_nrecords, first = bucket * n + 1;
	uint64_t last = first + n - 1 < c->curve->nrecords ? first + n - 1 : c->curve->nrecords;
	char text[NUMBER_NBYTES];

	snprintf(text, sizeof text, "%" PRIu64, first + (last - first) / 2);
	return c->left + axis_place(&c->records, text, c->room);
}

static void put_point(const struct chart *c, char command, int64_t x, int64_t y)
{
	fputc(command, c->out);
	svg_print_px(c->out, x);
	putc(' ', c->out);
	svg_print_px(c->out, y);
}

/* Draws one bucket. command: M at the beginning, L behind another point. Returns where the line then is. */
static int64_t put_bucket(const struct chart *c, const struct curve_range *range, char command, int64_t x,
			  int64_t before)
{
	int64_t a = y_of(axis_place(&c->values, range->least, HEIGHT));
	int64_t b = y_of(axis_place(&c->values, range->greatest, HEIGHT));

	if (command == 'L' && llabs(b - before) < llabs(a - before)) {
		int64_t kept = a;
		a = b;
		b = kept;
	}
	put_point(c, command, x, a);
	if (a != b)
		put_point(c, 'L', x, b);
	return b;
}

/* A gap stands for records without a value. */
static void put_path(const struct chart *c)
{
	struct curve_range range;
	char command = 'M';
	int64_t y = 0;

	fputs("<path class=\"line\" d=\"", c->out);
	for (size_t i = 0; i < curve_nbuckets(c->curve); i++) {
		if (!curve_range(c->curve, i, i + 1, &range)) {
			command = 'M';
			continue;
		}
		y = put_bucket(c, &range, command, x_of(c, i), y);
		command = 'L';
	}
	fputs("\"/>\n", c->out);
}

/* ---- the axes ---- */

static void put_value_axis(const struct chart *c)
{
	char text[AXIS_TICK_NBYTES];

	for (int128 i = c->value_ticks.first; i <= c->value_ticks.last; i++) {
		int64_t y = y_of(axis_tick(&c->value_ticks, &c->values, i, HEIGHT, text));
		svg_line(c->out, c->left, y, c->left + c->room, y, i ? "g" : "z");
		svg_text(c->out, c->left - GAP, y + 4 * SVG_PX, "f", SVG_END, text, SIZE_MAX);
	}
}

static void put_record_axis(const struct chart *c)
{
	int64_t bottom = y_of(0);
	char text[AXIS_TICK_NBYTES];

	svg_line(c->out, c->left, bottom, c->left + c->room, bottom, "z");
	for (int128 i = c->record_ticks.first; i <= c->record_ticks.last; i++) {
		int64_t x = c->left + axis_tick(&c->record_ticks, &c->records, i, c->room, text);
		svg_line(c->out, x, bottom, x, bottom + 5 * SVG_PX, "z");
		svg_text(c->out, x, bottom + 18 * SVG_PX, "f", SVG_MIDDLE, text, SIZE_MAX);
	}
	svg_text(c->out, c->left + c->room / 2, bottom + 38 * SVG_PX, "f", SVG_MIDDLE, "record", SIZE_MAX);
}

/* The widest label of a value. */
static int64_t label_width(const struct chart *c)
{
	char text[AXIS_TICK_NBYTES];
	int64_t most = 0;

	for (int128 i = c->value_ticks.first; i <= c->value_ticks.last; i++) {
		axis_tick(&c->value_ticks, &c->values, i, HEIGHT, text);
		if (svg_text_width(text, SIZE_MAX) > most)
			most = svg_text_width(text, SIZE_MAX);
	}
	return most;
}

/* ---- the page ---- */

static void set_axes(struct chart *c)
{
	char last[NUMBER_NBYTES];
	int low = plain_nplaces(c->range.least), high = plain_nplaces(c->range.greatest);

	snprintf(last, sizeof last, "%" PRIu64, c->curve->nrecords);
	axis_set(&c->records, "1", last, 0);
	axis_set(&c->values, c->range.least, c->range.greatest, low > high ? low : high);
	axis_ticks_set(&c->record_ticks, &c->records, NINTERVALS);
	axis_ticks_set(&c->value_ticks, &c->values, NINTERVALS);
	c->left = SVG_MARGIN + label_width(c) + GAP;
	c->room = SVG_WIDTH - c->left - RIGHT;
	if (c->room < ROOM_MIN)
		c->room = ROOM_MIN;
	c->width = (c->left + c->room + RIGHT + SVG_PX - 1) / SVG_PX * SVG_PX;
}

/* The exact values, in words; to be freed. NULL: out of memory. */
static char *describe(const struct chart *c)
{
	char *words = NULL;

	if (asprintf(&words, "records 1 to %" PRIu64 ": least %s, greatest %s, last %s", c->curve->nrecords,
		     c->range.least, c->range.greatest, c->curve->last.data) < 0)
		return NULL;
	return words;
}

enum status curve_svg(const struct curve *curve, const char *name, FILE *out)
{
	struct chart c = {.curve = curve, .out = out};
	char *words;

	if (!curve_range(curve, 0, curve_nbuckets(curve), &c.range)) {
		svg_begin(out, SVG_WIDTH, SVG_HEADER, name, "no values");
		svg_end(out);
		return STATUS_OK;
	}
	set_axes(&c);
	words = describe(&c);
	if (!words)
		return STATUS_NO_MEMORY;
	svg_begin(out, c.width, SVG_HEADER + HEIGHT + BELOW, name, words);
	free(words);
	put_value_axis(&c);
	put_record_axis(&c);
	put_path(&c);
	svg_end(out);
	return STATUS_OK;
}
