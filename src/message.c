/* SPDX-License-Identifier: MIT
 *
 * message.c - see message.h.
 */
#include "message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

static const char *program = "gpustat";

void message_program(const char *name)
{
	program = name;
}

/* A message leaves in as few pieces as it has lines, not byte by byte, so that lines of
 * processes that share a log stay whole. */
static void begin_message(void)
{
	static char buffer[BUFSIZ];
	static bool begun;

	if (!begun)
		setvbuf(stderr, buffer, _IOLBF, sizeof buffer);
	begun = true;
}

static void print_program(void)
{
	begin_message();
	fprintf(stderr, "%s: ", program);
}

static void print_text(const char *text)
{
	utf8_print(stderr, text, strlen(text));
}

/* What the value itself says, or a library's or the system's words. */
static void print_detail(const struct fault *f)
{
	switch (f->status) {
	case STATUS_NOT_A_NUMBER:
	case STATUS_OUT_OF_RANGE:
	case STATUS_UNKNOWN_COLUMN:
		fputs(f->status == STATUS_UNKNOWN_COLUMN ? " '" : ": '", stderr);
		utf8_print(stderr, f->detail, f->detail_nbytes);
		fputs("'", stderr);
		if (f->value_nbytes > f->detail_nbytes)
			fprintf(stderr, "... (%zu bytes)", f->value_nbytes);
		break;
	default:
		if (f->detail_nbytes) {
			fputs(": ", stderr);
			utf8_print(stderr, f->detail, f->detail_nbytes);
		}
		if (f->error_number)
			fprintf(stderr, ": %s", strerror(f->error_number));
	}
}

static void print_place(const struct fault *f)
{
	if (f->file)
		print_text(f->file);
	if (f->line)
		fprintf(stderr, ":%" PRIu64, f->line);
	if (f->file)
		fputs(": ", stderr);
	if (f->column) {
		fputs("column '", stderr);
		print_text(f->column);
		fputs("': ", stderr);
	}
}

/* Our own lines, each made harmless: an expression and a caret below it, say. */
static void print_lines(const char *text)
{
	while (*text) {
		size_t nbytes = strcspn(text, "\n");
		utf8_print(stderr, text, nbytes);
		fputc('\n', stderr);
		text += nbytes + (text[nbytes] != '\0');
	}
}

int message_fault(const struct fault *fault)
{
	print_program();
	if (fault->status == STATUS_USAGE) {
		print_lines(fault->detail);
		fprintf(stderr, "Try '%s --help'.", program);
	} else {
		print_place(fault);
		fputs(status_words(fault->status), stderr);
		print_detail(fault);
	}
	fputc('\n', stderr);
	return status_exit(fault->status);
}

void message_columns(char *const *names, size_t ncolumns)
{
	const char *before = ": ";

	print_program();
	fprintf(stderr, "the input has %zu column%s", ncolumns, ncolumns == 1 ? "" : "s");
	for (size_t i = 0; i < ncolumns; i++) {
		if (!names[i])
			continue;
		fputs(before, stderr);
		print_text(names[i]);
		before = ", ";
	}
	fputc('\n', stderr);
}

void message_left_out(uint64_t n, const char *column)
{
	print_program();
	fprintf(stderr, "warning: %" PRIu64 " ", n);
	if (column) {
		fputs(n == 1 ? "value of column '" : "values of column '", stderr);
		print_text(column);
		fputs("' left out: not a number\n", stderr);
	} else {
		fprintf(stderr, "%s left out: too few fields\n", n == 1 ? "record" : "records");
	}
}

void message_undecided(uint64_t n)
{
	print_program();
	fprintf(stderr, "warning: %" PRIu64 " record%s without an answer to the condition: "
		"text was compared with a number\n", n, n == 1 ? "" : "s");
}

void message_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_program();
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}
