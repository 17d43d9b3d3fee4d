/* SPDX-License-Identifier: MIT
 *
 * tap.h - small verbs for a test program that reports in the Test Anything
 * Protocol (testanything.org, version 12), for C and for CUDA.
 *
 *     plan(2);                                  or plan_lazy() where n is not known
 *     ok(p != NULL, "allocates");
 *     is_int(3, nrows, "counts %s", name);      wanted first, then seen
 *     return done();
 *
 * A failed check is a "not ok" line, not an exit status: the harness reads the
 * lines, and a status other than 0 is one more failure to it (a crash, a sanitizer's
 * verdict, bail). Header only; each test is a program with one file that includes it.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_PRINTF(format_at, args_at) \
	__attribute__((unused, format(printf, format_at, args_at)))

static unsigned long tap_nplanned;
static unsigned long tap_nrun;
static unsigned long tap_nfailed;

/* Announces n checks; done() tells when another number ran. */
__attribute__((unused)) static void plan(unsigned long n)
{
	tap_nplanned = n;
	printf("1..%lu\n", n);
	fflush(stdout);
}

/* Leaves the number of checks to done(), which then cannot miss one. */
__attribute__((unused)) static void plan_lazy(void)
{
	tap_nplanned = 0;
}

/* One result line; words may be NULL. A '#' in them would start a directive, so it is
 * escaped, and a line end would end the line, so it becomes a blank. */
static void tap_line(bool passed, const char *words, va_list args)
{
	char text[1024];

	tap_nrun++;
	if (!passed)
		tap_nfailed++;
	printf("%s %lu", passed ? "ok" : "not ok", tap_nrun);
	if (words != NULL) {
		vsnprintf(text, sizeof text, words, args);
		fputs(" - ", stdout);
		for (const char *c = text; *c != '\0'; c++) {
			if (*c == '#')
				putchar('\\');
			putchar(*c == '\n' || *c == '\r' ? ' ' : *c);
		}
	}
	putchar('\n');
	fflush(stdout);
}

/* A comment line; several where the text has several. */
TAP_PRINTF(1, 2) static void diag(const char *words, ...)
{
	char text[4096];
	va_list args;

	va_start(args, words);
	vsnprintf(text, sizeof text, words, args);
	va_end(args);
	fputs("# ", stdout);
	for (const char *c = text; *c != '\0'; c++) {
		putchar(*c);
		if (*c == '\n')
			fputs("# ", stdout);
	}
	putchar('\n');
	fflush(stdout);
}

/* One check; returns whether it passed. */
TAP_PRINTF(2, 3) static bool ok(bool passed, const char *words, ...)
{
	va_list args;

	va_start(args, words);
	tap_line(passed, words, args);
	va_end(args);
	return passed;
}

/* Like ok(), but compares integers and shows both when they differ. */
TAP_PRINTF(3, 4) static bool is_int(intmax_t wanted, intmax_t seen, const char *words, ...)
{
	va_list args;

	va_start(args, words);
	tap_line(wanted == seen, words, args);
	va_end(args);
	if (wanted != seen)
		diag("wanted: %jd\n  seen: %jd", wanted, seen);
	return wanted == seen;
}

/* Like is_int(), but unsigned. */
TAP_PRINTF(3, 4) static bool is_uint(uintmax_t wanted, uintmax_t seen, const char *words, ...)
{
	va_list args;

	va_start(args, words);
	tap_line(wanted == seen, words, args);
	va_end(args);
	if (wanted != seen)
		diag("wanted: %ju\n  seen: %ju", wanted, seen);
	return wanted == seen;
}

/* Like ok(), but compares strings; NULL equals only NULL. */
TAP_PRINTF(3, 4) static bool is_string(const char *wanted, const char *seen, const char *words, ...)
{
	bool same = wanted == seen || (wanted != NULL && seen != NULL && strcmp(wanted, seen) == 0);
	va_list args;

	va_start(args, words);
	tap_line(same, words, args);
	va_end(args);
	if (!same)
		diag("wanted: %s\n  seen: %s", wanted != NULL ? wanted : "(null)",
		     seen != NULL ? seen : "(null)");
	return same;
}

/* Like ok(), but compares nbytes bytes and shows the first that differs. */
TAP_PRINTF(4, 5) static bool is_blob(const void *wanted, const void *seen, size_t nbytes,
				     const char *words, ...)
{
	const unsigned char *w = (const unsigned char *)wanted;
	const unsigned char *s = (const unsigned char *)seen;
	size_t at = 0;
	va_list args;

	while (at < nbytes && w[at] == s[at])
		at++;
	va_start(args, words);
	tap_line(at == nbytes, words, args);
	va_end(args);
	if (at < nbytes)
		diag("byte %zu of %zu: wanted 0x%02x, seen 0x%02x", at, nbytes, w[at], s[at]);
	return at == nbytes;
}

/* Stands for n checks that cannot run here, and says why. */
TAP_PRINTF(2, 3) static void skip(unsigned long n, const char *reason, ...)
{
	char text[1024];
	va_list args;

	va_start(args, reason);
	vsnprintf(text, sizeof text, reason, args);
	va_end(args);
	while (n-- > 0)
		printf("ok %lu # SKIP %s\n", ++tap_nrun, text);
	fflush(stdout);
}

/* Ends a program none of whose checks can run here; called instead of plan(). */
__attribute__((noreturn)) TAP_PRINTF(1, 2) static void skip_all(const char *reason, ...)
{
	va_list args;

	fputs("1..0 # SKIP ", stdout);
	va_start(args, reason);
	vprintf(reason, args);
	va_end(args);
	putchar('\n');
	exit(fflush(stdout) == 0 ? 0 : 255);
}

/* Ends a program that cannot go on: not a failed check, but broken surroundings. */
__attribute__((noreturn)) TAP_PRINTF(1, 2) static void bail(const char *words, ...)
{
	va_list args;

	fputs("Bail out! ", stdout);
	va_start(args, words);
	vprintf(words, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	exit(255);
}

/* Ends main(): prints the plan where it was left open, and returns the exit status. */
__attribute__((unused)) static int done(void)
{
	if (tap_nplanned == 0)
		printf("1..%lu\n", tap_nrun);
	else if (tap_nplanned != tap_nrun)
		diag("planned %lu checks, ran %lu", tap_nplanned, tap_nrun);
	if (tap_nfailed > 0)
		diag("failed %lu of %lu checks", tap_nfailed, tap_nrun);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 255;
}
