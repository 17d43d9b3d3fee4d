/* SPDX-License-Identifier: MIT
 *
 * chart.c - see chart.h.
 *
 * Everything is placed here, in pixels: there is no layout engine behind an SVG, and a
 * figure's text goes inside its bar where the bar is long, behind it where it is short, so
 * that it meets no other line.
 */
#include "bench/report/chart.h"

#include <stdio.h>
#include <string.h>

#include "bench/report/svg.h"

#define PLOT_LEFT 265 /* labels of bars stand left of it */
#define PLOT_WIDTH 615
#define PANEL_HEADER_HEIGHT 52
#define PANEL_FOOTER_HEIGHT 40
#define BAR_PITCH 24
#define BAR_HEIGHT 18
#define FOOTER_HEIGHT 10
#define NTICKS_MAX 8

/* Colours of what is drawn. Each contrasts with the background, and so do the texts in bars
 * with the bars. */
#define COLOUR_RUNG "#2f6fb5"
#define COLOUR_SHIPPED "#17733f"
#define COLOUR_CUB "#8a5a00"
#define COLOUR_CPU "#6e7781"
#define COLOUR_WRONG "#b3261e"
#define COLOUR_PEAK "#8c2f5b"
#define COLOUR_CEILING "#1f2328"

struct chart {
	FILE *to;
	const struct bench_run *run;
	double scale_gbps; /* at the right end of the plot */
};

/* A panel: the rungs of one type, figures[begin, end). */
struct panel {
	size_t begin, end;
	uint64_t n; /* what most of its rungs work on: the largest */
};

/* ---- the scale ---- */

static double x_of(const struct chart *chart, double gbps)
{
	return PLOT_LEFT + PLOT_WIDTH * gbps / chart->scale_gbps;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* One scale for all panels, so that bars compare across them. */
static double scale_of(const struct bench_run *run)
{
	double scale = greater(run->peak_gbps, run->ceiling_gbps);

	for (size_t i = 0; i < run->nfigures; i++)
		scale = greater(scale, bench_gbps(&run->figures[i]));
	return scale > 0 ? scale * 1.01 : 1;
}

/* ---- one bar ---- */

static const char *colour_of(const struct bench_figure *f)
{
	if (!f->is_right)
		return COLOUR_WRONG;
	if (f->on_cpu)
		return COLOUR_CPU;
	if (!strncmp(f->rung, "cub", strlen("cub")))
		return COLOUR_CUB;
	return strncmp(f->rung, "shipped", strlen("shipped")) ? COLOUR_RUNG : COLOUR_SHIPPED;
}

/* "warp_shuffle", "shipped, min", "simple, n = 2Ki". */
static void draw_label(const struct chart *chart, const struct panel *panel,
		       const struct bench_figure *f, double y)
{
	char n_text[BENCH_N_NBYTES];

	svg_text_begin(chart->to, PLOT_LEFT - 8, y, "end", SVG_TEXT, "");
	svg_text(chart->to, f->rung);
	if (f->fold != BENCH_SUM)
		fprintf(chart->to, ", %s", bench_fold_name(f->fold));
	if (f->n != panel->n)
		fprintf(chart->to, ", n = %s", bench_n_text(f->n, n_text));
	svg_text_end(chart->to);
}

/* "4511 GB/s, 93.7% of peak" */
static void put_speed(const struct chart *chart, const struct bench_figure *f)
{
	double gbps = bench_gbps(f), peak_gbps = chart->run->peak_gbps;

	if (!f->is_right)
		fputs("WRONG ", chart->to);
	if (gbps == 0) {
		fputs("not timed", chart->to);
		return;
	}
	fprintf(chart->to, gbps < 10 ? "%.2g GB/s" : "%.0f GB/s", gbps);
	if (peak_gbps > 0 && !f->on_cpu)
		fprintf(chart->to, gbps < 0.1 * peak_gbps ? ", %.2g%% of peak" : ", %.1f%% of peak",
			100 * gbps / peak_gbps);
}

static void draw_bar(const struct chart *chart, const struct panel *panel,
		     const struct bench_figure *f, double y)
{
	double end = x_of(chart, bench_gbps(f)), baseline = y + BAR_HEIGHT - 4.5;
	bool inside = end - PLOT_LEFT > 0.4 * PLOT_WIDTH;

	fputs("<g class=\"bar\"><title>", chart->to);
	svg_text(chart->to, f->idea);
	fprintf(chart->to,
		"</title>\n<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
		PLOT_LEFT, y, greater(end - PLOT_LEFT, 1), BAR_HEIGHT, colour_of(f));
	draw_label(chart, panel, f, baseline);
	svg_text_begin(chart->to, inside ? end - 8 : greater(end, PLOT_LEFT + 1) + 7, baseline,
		   inside ? "end" : "start", inside ? SVG_PAGE : SVG_TEXT, "");
	put_speed(chart, f);
	svg_text_end(chart->to);
	fputs("</g>\n", chart->to);
}

/* ---- one panel ---- */

static struct panel panel_at(const struct bench_run *run, size_t begin)
{
	struct panel panel = {begin, begin, 0};

	for (; panel.end < run->nfigures; panel.end++) {
		const struct bench_figure *f = &run->figures[panel.end];
		if (f->type != run->figures[begin].type)
			break;
		panel.n = f->n > panel.n ? f->n : panel.n;
	}
	return panel;
}

static double panel_height(const struct panel *panel)
{
	return PANEL_HEADER_HEIGHT + PANEL_FOOTER_HEIGHT +
	       BAR_PITCH * (double)(panel->end - panel->begin);
}

/* Grid lines, and below them what they stand for. */
static void draw_axis(const struct chart *chart, double top, double bottom)
{
	double tick = svg_tick(chart->scale_gbps, NTICKS_MAX);

	for (int i = 0; i * tick <= chart->scale_gbps; i++) {
		double x = x_of(chart, i * tick);
		fprintf(chart->to,
			"<path d=\"M%.1f %.1fV%.1f\" stroke=\"" SVG_GRID "\"/>\n", x, top, bottom);
		svg_text_begin(chart->to, x, bottom + 16, "middle", SVG_FAINT, " font-size=\"11\"");
		fprintf(chart->to, "%g%s", i * tick, i ? "" : " GB/s");
		svg_text_end(chart->to);
	}
}

/* A limit as a vertical line, its name above it, to the left of the line or to the right. */
static void draw_limit(const struct chart *chart, double gbps, const char *name, bool to_left,
		       const char *colour, const char *dashes, double top, double bottom)
{
	double x = x_of(chart, gbps);

	if (gbps <= 0)
		return;
	fprintf(chart->to, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n", x,
		top - 16, bottom, colour, dashes);
	svg_text_begin(chart->to, x + (to_left ? -5 : 5), top - 8, to_left ? "end" : "start", colour,
		   " font-size=\"11\"");
	fprintf(chart->to, "%s %.0f", name, gbps);
	svg_text_end(chart->to);
}

/* The lower limit is named to the left and the higher to the right, so that they never meet. */
static void draw_limits(const struct chart *chart, double top, double bottom)
{
	const struct bench_run *run = chart->run;
	bool peak_is_lower = run->peak_gbps < run->ceiling_gbps;

	draw_limit(chart, run->ceiling_gbps,
		   run->ladder == BENCH_REDUCE ? "read, measured:" : "copy, measured:",
		   !peak_is_lower, COLOUR_CEILING, " stroke-dasharray=\"4 3\"", top, bottom);
	draw_limit(chart, run->peak_gbps, "peak:", peak_is_lower, COLOUR_PEAK, "", top, bottom);
}

static void draw_panel_title(const struct chart *chart, const struct panel *panel, double y)
{
	char n_text[BENCH_N_NBYTES];
	const struct bench_run *run = chart->run;

	svg_text_begin(chart->to, 24, y + 20, "start", SVG_TEXT, " font-size=\"14\" font-weight=\"600\"");
	fprintf(chart->to, "%s, n = %s", bench_type_name(run->figures[panel->begin].type),
		bench_n_text(panel->n, n_text));
	svg_text_end(chart->to);
}

static void draw_panel(const struct chart *chart, const struct panel *panel, double y)
{
	double top = y + PANEL_HEADER_HEIGHT;
	double bottom = top + BAR_PITCH * (double)(panel->end - panel->begin);

	draw_panel_title(chart, panel, y);
	draw_axis(chart, top, bottom);
	draw_limits(chart, top, bottom);
	for (size_t i = panel->begin; i < panel->end; i++)
		draw_bar(chart, panel, &chart->run->figures[i],
			 top + BAR_PITCH * (double)(i - panel->begin) +
				 (BAR_PITCH - BAR_HEIGHT) / 2.0);
}

/* ---- the whole ---- */

static double chart_height(const struct bench_run *run)
{
	double height = SVG_HEADER_HEIGHT + FOOTER_HEIGHT;

	for (size_t i = 0; i < run->nfigures;) {
		struct panel panel = panel_at(run, i);
		height += panel_height(&panel);
		i = panel.end;
	}
	return height;
}

static void draw_header(const struct chart *chart, const char *date, double height)
{
	const struct bench_run *run = chart->run;
	const char *ladder = run->ladder == BENCH_REDUCE ? "Reductions" : "Scans";
	char words[sizeof run->gpu + 64];

	snprintf(words, sizeof words, "%s on %s", ladder, run->gpu);
	svg_begin(chart->to, height, words);
	snprintf(words, sizeof words, "%s, naive to shipped, on %s", ladder, run->gpu);
	svg_heading(chart->to, words, run->versions, date);
}

static void draw(const struct bench_run *run, const char *date, FILE *to)
{
	struct chart chart = {to, run, scale_of(run)};
	double y = SVG_HEADER_HEIGHT;

	draw_header(&chart, date, chart_height(run));
	for (size_t i = 0; i < run->nfigures;) {
		struct panel panel = panel_at(run, i);
		draw_panel(&chart, &panel, y);
		y += panel_height(&panel);
		i = panel.end;
	}
	fputs("</svg>\n", to);
}

enum status chart_write(const struct bench_run *run, const char *date, const char *path,
			struct fault *fault)
{
	FILE *to = svg_open(path, fault);

	if (!to)
		return fault->status;
	draw(run, date, to);
	return svg_close(to, path, fault);
}
