/* SPDX-License-Identifier: MIT
 *
 * test_tap.c - the verbs of tap.h say what happened: a child process uses them, and
 * its output is compared as text. A harness that cannot fail would prove nothing.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Runs use() in a child; out gets what it printed, as a string. Returns its exit
 * status, or -1 where it was killed. */
static int child_output(void (*use)(void), char *out, size_t out_nbytes)
{
	int ends[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		bail("cannot start a child: %s", strerror(errno));
	if (pid == 0) {
		if (dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(99);
		close(ends[0]);
		close(ends[1]);
		tap_nplanned = tap_nrun = tap_nfailed = 0;
		use();
		exit(done());
	}
	close(ends[1]);
	while ((got = read(ends[0], out + n, out_nbytes - 1 - n)) > 0)
		n += (size_t)got;
	close(ends[0]);
	out[n] = '\0';
	if (waitpid(pid, &status, 0) != pid)
		bail("lost the child: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void use_passing(void)
{
	plan(3);
	ok(true, "issue #%d", 2);
	is_string("a", "a", NULL);
	is_blob("ab", "ab", 2, "bytes");
}

static void use_failing(void)
{
	plan_lazy();
	ok(false, "no");
	is_int(-1, 1, "one");
	is_uint(UINT64_MAX, 0, "most");
	is_string("a", NULL, "two\nlines");
	is_blob("ab", "ac", 2, "bytes");
}

static void use_short_plan(void)
{
	plan(2);
	ok(true, "only one");
}

static void use_skip(void)
{
	plan(2);
	skip(2, "no %s", "GPU");
}

static void use_skip_all(void)
{
	skip_all("no %s", "GPU");
}

static void use_bail(void)
{
	bail("no disk");
}

int main(void)
{
	static const struct {
		const char *name;
		void (*use)(void);
		int exit_status;
		const char *output;
	} cases[] = {
		{"passing", use_passing, 0,
		 "1..3\nok 1 - issue \\#2\nok 2\nok 3 - bytes\n"},
		{"failing", use_failing, 0,
		 "not ok 1 - no\n"
		 "not ok 2 - one\n# wanted: -1\n#   seen: 1\n"
		 "not ok 3 - most\n# wanted: 18446744073709551615\n#   seen: 0\n"
		 "not ok 4 - two lines\n# wanted: a\n#   seen: (null)\n"
		 "not ok 5 - bytes\n# byte 1 of 2: wanted 0x62, seen 0x63\n"
		 "1..5\n# failed 5 of 5 checks\n"},
		{"short plan", use_short_plan, 0,
		 "1..2\nok 1 - only one\n# planned 2 checks, ran 1\n"},
		{"skip", use_skip, 0, "1..2\nok 1 # SKIP no GPU\nok 2 # SKIP no GPU\n"},
		{"skip_all", use_skip_all, 0, "1..0 # SKIP no GPU\n"},
		{"bail", use_bail, 255, "Bail out! no disk\n"},
	};
	size_t ncases = sizeof cases / sizeof cases[0];
	char output[4096];

	plan(2 * ncases);
	for (size_t i = 0; i < ncases; i++) {
		int status = child_output(cases[i].use, output, sizeof output);

		is_int(cases[i].exit_status, status, "%s: exit status", cases[i].name);
		is_string(cases[i].output, output, "%s: output", cases[i].name);
	}
	return done();
}
