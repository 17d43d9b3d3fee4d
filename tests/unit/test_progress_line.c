/* SPDX-License-Identifier: MIT
 *
 * test_progress_line.c - what the line of a run says.
 */
#include "run/progress_line.h"

#include "unit/tap.h"

#define UNKNOWN UINT64_MAX

static const struct {
	struct progress_state state;
	const char *line;
} cases[] = {
	{{1, 0, 0, UNKNOWN, 1, 0, 0, ""}, "0 B, 0 B/s, 0:01"},
	{{1, 999, 999, UNKNOWN, 59.9, 999.9, 0, ""}, "999 B, 999 B/s, 0:59"},
	{{1, 1000, 1000, UNKNOWN, 60, 1000, 0, ""}, "1.00 kB, 1.00 kB/s, 1:00"},
	{{1, 9999, 0, UNKNOWN, 3599.9, 10000, 0, ""}, "9.99 kB, 10.0 kB/s, 59:59"},
	{{1, 99999, 0, UNKNOWN, 3600, 100000, 0, ""}, "99.9 kB, 100 kB/s, 1:00:00"},
	{{1, 999999, 0, UNKNOWN, 360000, 1e6, 0, ""}, "999 kB, 1.00 MB/s, 100:00:00"},
	{{1, 1050000000, 0, UNKNOWN, 7, 1.23e9, 0, "1 CPU thread"},
	 "1.05 GB, 1.23 GB/s, 0:07, 1 CPU thread"},
	{{1, UINT64_MAX, 0, UNKNOWN, 1e30, 1e18, 0, ""}, "18.4 EB, 1.00 EB/s, 277777:46:40"},
	{{1, 2000, 1000, 4000, 1, 1000, 500, "2 CPU threads, gpu:0"},
	 "25 %, 2.00 kB, 1.00 kB/s, 0:07 left, 2 CPU threads, gpu:0"},
	{{1, 2000, 0, 4000, 1, 0, 0, ""}, "0 %, 2.00 kB, 0 B/s, -:-- left"},
	{{1, 2000, 3999, 4000, 1, 0, 1000, ""}, "99 %, 2.00 kB, 0 B/s, 0:01 left"},
	{{1, 2000, 4000, 4000, 1, 0, 1000, ""}, "100 %, 2.00 kB, 0 B/s, finishing"},
	{{1, 2000, 4001, 4000, 1, 0, 1000, ""}, "100 %, 2.00 kB, 0 B/s, finishing"},
	{{1, 0, 0, 0, 1, 0, 0, ""}, "100 %, 0 B, 0 B/s, finishing"},
	{{1, 0, UINT64_MAX - 2, UINT64_MAX - 1, 1, 0, 1e9, ""}, "99 %, 0 B, 0 B/s, 0:01 left"},
	{{1, 0, 1, 4000, 1, 0, 1e-300, ""}, "0 %, 0 B, 0 B/s, 277777:46:40 left"},
	{{2, 2000, 1000, 4000, 1, 1000, 500, ""}, "pass 2, 25 %, 2.00 kB, 1.00 kB/s, 0:07 left"},
};

/* Names of many devices are cut where the room ends. */
static void check_room(void)
{
	char names[2 * PROGRESS_LINE_NBYTES], line[PROGRESS_LINE_NBYTES + 1];
	struct progress_state state = {1, 0, 0, UNKNOWN, 1, 0, 0, names};

	memset(names, 'x', sizeof names - 1);
	names[sizeof names - 1] = '\0';
	memset(line, '#', sizeof line);
	progress_line(line, &state);
	ok(memchr(line, '\0', sizeof line) == line + PROGRESS_LINE_NBYTES - 1 &&
	   line[PROGRESS_LINE_NBYTES] == '#', "it ends where its room ends");
}

int main(void)
{
	size_t n = sizeof cases / sizeof *cases;
	char line[PROGRESS_LINE_NBYTES];

	plan(n + 1);
	for (size_t i = 0; i < n; i++) {
		progress_line(line, &cases[i].state);
		is_string(cases[i].line, line, "%s", cases[i].line);
	}
	check_room();
	return done();
}
