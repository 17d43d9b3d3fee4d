/* SPDX-License-Identifier: MIT
 *
 * progress_line.c - see progress_line.h.
 */
#include "run/progress_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/hd.h"

/* The line as far as it is written. */
struct line {
	char *text;
	size_t nbytes;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
	size_t room = PROGRESS_LINE_NBYTES - l->nbytes;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(l->text + l->nbytes, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		l->nbytes += (size_t)n < room ? (size_t)n : room - 1;
}

/* Adds three digits of a number of bytes, with a unit that is a power of 1000. */
static void add_size(struct line *l, uint64_t nbytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	uint64_t scale = 1, whole, thousandths;
	int unit = 0;

	for (; nbytes / scale >= 1000; scale *= 1000)
		unit++;
	whole = nbytes / scale;
	thousandths = unit ? nbytes % scale / (scale / 1000) : 0;
	if (unit == 0 || whole >= 100)
		add(l, "%" PRIu64 " %s", whole, units[unit]);
	else if (whole >= 10)
		add(l, "%" PRIu64 ".%" PRIu64 " %s", whole, thousandths / 100, units[unit]);
	else
		add(l, "%" PRIu64 ".%02" PRIu64 " %s", whole, thousandths / 10, units[unit]);
}

/* Adds 0:07, 12:34 or 1:02:03. */
static void add_time(struct line *l, double s)
{
	uint64_t n = s < 1e9 ? (uint64_t)s : 1000000000;

	if (n >= 3600)
		add(l, "%" PRIu64 ":%02" PRIu64, n / 3600, n / 60 % 60);
	else
		add(l, "%" PRIu64, n / 60);
	add(l, ":%02" PRIu64, n % 60);
}

/* Adds the time left, rounded up, or that all has been read. */
static void add_time_left(struct line *l, const struct progress_state *s)
{
	if (s->done >= s->all) {
		add(l, "finishing");
	} else if (s->done_speed > 0) {
		add_time(l, (double)(s->all - s->done) / s->done_speed + 1);
		add(l, " left");
	} else {
		add(l, "-:-- left");
	}
}

static unsigned percentage(const struct progress_state *s)
{
	if (s->done >= s->all)
		return 100;
	return (unsigned)((uint128)s->done * 100 / s->all);
}

void progress_line(char text[PROGRESS_LINE_NBYTES], const struct progress_state *s)
{
	struct line l = {text, 0};
	bool is_known = s->all != UINT64_MAX;

	*text = '\0';
	if (s->pass > 1)
		add(&l, "pass %u, ", s->pass);
	if (is_known)
		add(&l, "%u %%, ", percentage(s));
	add_size(&l, s->nbytes);
	add(&l, ", ");
	add_size(&l, (uint64_t)s->speed);
	add(&l, "/s, ");
	if (is_known)
		add_time_left(&l, s);
	else
		add_time(&l, s->elapsed_s);
	if (*s->devices)
		add(&l, ", %s", s->devices);
}
