/* SPDX-License-Identifier: MIT
 *
 * timeline.c - see timeline.h.
 */
#include "bench/report/timeline.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/svg.h"

#define PLOT_LEFT 90 /* names of lanes stand left of it */
#define PLOT_WIDTH 845
#define LEGEND_HEIGHT 24
#define GROUP_HEADER_HEIGHT 26
#define LANE_PITCH 12
#define BAR_HEIGHT 10
#define BAR_WIDTH_MIN 0.1 /* what takes a microsecond must not hide what takes a hundred */
#define AXIS_HEIGHT 40
#define NTICKS_MAX 10

static const char *const colours[STAGE_COUNT] = {
	[STAGE_READ] = "#2f6fb5",  [STAGE_MAP] = "#c77700",         [STAGE_FOLD] = "#17733f",
	[STAGE_EMIT] = "#8c2f5b",  [STAGE_WRITE] = "#1f2328",       [STAGE_COPY_UP] = "#4a90d9",
	[STAGE_RECORDS] = "#e09b2d", [STAGE_COLUMN_FOLD] = "#2e9e5b", [STAGE_FIELDS] = "#7bbf4a",
	[STAGE_REDUCE] = "#0f5c4d", [STAGE_SCAN] = "#7a5cc2",       [STAGE_FORMAT] = "#c2478a",
	[STAGE_COPY_BACK] = "#6e7781",
};

/* Lanes that are shown together: a place of one kind of device. */
static const struct group {
	const char *device;
	enum stage_place place;
	const char *name, *lane;
} groups[] = {
	{"cpu", STAGE_HOST, "CPU threads", "thread"},
	{"gpu", STAGE_HOST, "threads that feed GPUs: reading, and calls that wait", "thread"},
	{"gpu", STAGE_UP, "streams of GPUs, copying up", "stream"},
	{"gpu", STAGE_KERNELS, "streams of GPUs, kernels", "stream"},
	{"gpu", STAGE_BACK, "streams of GPUs, copying back", "stream"},
};
#define NGROUPS (sizeof groups / sizeof *groups)

struct timeline {
	FILE *to;
	const struct trace *trace;
	struct timeline_window window;
};

/* ---- what is shown ---- */

struct timeline_window timeline_choose(const struct trace *t, size_t nbars, int from_ms)
{
	double all_ns = t->end_ns - t->begin_ns, shown_ns = all_ns, from_ns = from_ms * 1e6;
	size_t nspans = 0;

	for (size_t i = 0; i < t->nlanes; i++)
		nspans += t->lanes[i].nspans;
	if (nspans > nbars)
		shown_ns = all_ns * (double)nbars / (double)nspans;
	if (from_ms == TIMELINE_MIDDLE)
		from_ns = (all_ns - shown_ns) / 2;
	if (from_ns > all_ns - shown_ns)
		from_ns = all_ns - shown_ns;
	return (struct timeline_window){t->begin_ns + from_ns, t->begin_ns + from_ns + shown_ns};
}

static bool is_shown(const struct timeline *t, const struct span *s)
{
	return s->begin_ns < t->window.end_ns && s->end_ns > t->window.begin_ns;
}

static bool has_lane(const struct timeline *t, const struct group *g, const struct lane *lane)
{
	if (strcmp(g->device, lane->device))
		return false;
	for (size_t i = 0; i < lane->nspans; i++)
		if (stage_place(lane->spans[i].stage) == g->place && is_shown(t, &lane->spans[i]))
			return true;
	return false;
}

static int count_lanes(const struct timeline *t, const struct group *g)
{
	int n = 0;

	for (size_t i = 0; i < t->trace->nlanes; i++)
		n += has_lane(t, g, &t->trace->lanes[i]);
	return n;
}

static double group_height(int nlanes)
{
	return nlanes ? GROUP_HEADER_HEIGHT + LANE_PITCH * nlanes : 0;
}

static bool has_stage(const struct timeline *t, enum stage stage)
{
	for (size_t i = 0; i < t->trace->nlanes; i++) {
		const struct lane *lane = &t->trace->lanes[i];
		for (size_t j = 0; j < lane->nspans; j++)
			if (lane->spans[j].stage == stage && is_shown(t, &lane->spans[j]))
				return true;
	}
	return false;
}

/* ---- drawing ---- */

/* Where a time lies; outside the window, at its end. */
static double x_of(const struct timeline *t, double ns)
{
	double length = t->window.end_ns - t->window.begin_ns;
	double share = length > 0 ? (ns - t->window.begin_ns) / length : 0;

	return PLOT_LEFT + PLOT_WIDTH * (share < 0 ? 0 : share > 1 ? 1 : share);
}

static void draw_bar(const struct timeline *t, const struct span *s, double y)
{
	double begin = x_of(t, s->begin_ns), width = x_of(t, s->end_ns) - begin;

	fprintf(t->to,
		"<rect class=\"bar\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
		"fill=\"%s\"><title>%s %llu</title></rect>\n",
		begin, y, width > BAR_WIDTH_MIN ? width : BAR_WIDTH_MIN, BAR_HEIGHT,
		colours[s->stage], stage_name(s->stage), (unsigned long long)s->chunk);
}

static void draw_lane(const struct timeline *t, const struct group *g, const struct lane *lane,
		      double y)
{
	svg_text_begin(t->to, PLOT_LEFT - 8, y + BAR_HEIGHT - 1, "end", SVG_FAINT,
		       " font-size=\"10\"");
	fprintf(t->to, "%s %d", g->lane, lane->number);
	svg_text_end(t->to);
	for (size_t i = 0; i < lane->nspans; i++)
		if (stage_place(lane->spans[i].stage) == g->place && is_shown(t, &lane->spans[i]))
			draw_bar(t, &lane->spans[i], y);
}

/* Returns where the next group begins. */
static double draw_group(const struct timeline *t, const struct group *g, double y)
{
	int nlanes = count_lanes(t, g);
	double end = y + group_height(nlanes);

	if (nlanes == 0)
		return y;
	svg_text_begin(t->to, 24, y + 18, "start", SVG_TEXT, " font-weight=\"600\"");
	svg_text(t->to, g->name);
	svg_text_end(t->to);
	y += GROUP_HEADER_HEIGHT;
	for (size_t i = 0; i < t->trace->nlanes; i++) {
		const struct lane *lane = &t->trace->lanes[i];
		if (!has_lane(t, g, lane))
			continue;
		draw_lane(t, g, lane, y);
		y += LANE_PITCH;
	}
	return end;
}

static void draw_legend(const struct timeline *t, double y)
{
	double x = 24;

	for (int i = 0; i < STAGE_COUNT; i++) {
		const char *name = stage_name((enum stage)i);
		if (!has_stage(t, (enum stage)i))
			continue;
		fprintf(t->to,
			"<rect x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
			y + 3, colours[i]);
		svg_text_begin(t->to, x + 14, y + 12, "start", SVG_TEXT, " font-size=\"11\"");
		svg_text(t->to, name);
		svg_text_end(t->to);
		x += 30 + 6.2 * (double)strlen(name);
	}
}

/* Grid lines from top to bottom, and below them the time since all workers were open. */
static void draw_axis(const struct timeline *t, double top, double bottom)
{
	double first = (t->window.begin_ns - t->trace->begin_ns) / 1e6;
	double last = (t->window.end_ns - t->trace->begin_ns) / 1e6;
	double tick = svg_tick(last - first, NTICKS_MAX);
	long i = (long)(first / tick);

	for (i += i * tick < first; i * tick <= last; i++) {
		double x = x_of(t, t->trace->begin_ns + i * tick * 1e6);
		fprintf(t->to, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"" SVG_GRID "\"/>\n", x, top,
			bottom);
		svg_text_begin(t->to, x, bottom + 16, "middle", SVG_FAINT, " font-size=\"11\"");
		fprintf(t->to, "%.10g", i * tick);
		svg_text_end(t->to);
	}
	svg_text_begin(t->to, PLOT_LEFT - 8, bottom + 16, "end", SVG_FAINT, " font-size=\"11\"");
	fputs("ms", t->to);
	svg_text_end(t->to);
}

/* "Pipeline of 985.2 MB, 2 CPU threads, ms 120 to 180 of 310" */
static void make_title(const struct timeline *t, const struct pipeline_run *run, char *text,
		       size_t nbytes)
{
	double begin = t->trace->begin_ns;
	int n = snprintf(text, nbytes, "Pipeline of %.1f MB", (double)run->nbytes / 1e6);

	if (run->nthreads)
		n += snprintf(text + n, nbytes - (size_t)n, ", CPU threads: %d", run->nthreads);
	if (run->ngpus)
		n += snprintf(text + n, nbytes - (size_t)n, ", GPUs: %d, streams: %d", run->ngpus,
			      run->nfeeders);
	snprintf(text + n, nbytes - (size_t)n, "; ms %.2f to %.2f of %.2f",
		 (t->window.begin_ns - begin) / 1e6, (t->window.end_ns - begin) / 1e6,
		 (t->trace->end_ns - begin) / 1e6);
}

static void draw(const struct timeline *t, const struct pipeline_run *run, const char *date)
{
	double top = SVG_HEADER_HEIGHT + LEGEND_HEIGHT, bottom = top, y = top;
	char title[256];

	for (size_t g = 0; g < NGROUPS; g++)
		bottom += group_height(count_lanes(t, &groups[g]));
	make_title(t, run, title, sizeof title);
	svg_begin(t->to, bottom + AXIS_HEIGHT, title);
	svg_heading(t->to, title, *run->gpu ? run->gpu : "no GPU in it", date);
	draw_legend(t, SVG_HEADER_HEIGHT);
	draw_axis(t, top, bottom + 4);
	for (size_t g = 0; g < NGROUPS; g++)
		y = draw_group(t, &groups[g], y);
	fputs("</svg>\n", t->to);
}

enum status timeline_write(const struct pipeline_run *run, const char *date, int from_ms,
			   const char *path, struct fault *fault)
{
	struct timeline t = {svg_open(path, fault), &run->trace,
			     timeline_choose(&run->trace, TIMELINE_NBARS, from_ms)};

	if (!t.to)
		return fault->status;
	draw(&t, run, date);
	return svg_close(t.to, path, fault);
}
