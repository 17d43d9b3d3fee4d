/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h.
 */
#include "io/output.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/output_ahead.h"
#include "number/decimal.h"

/* What was written through output_stream, and how much of that is not to be written once more. */
static uint64_t nwritten, nrepeated;

static ssize_t write_output(void *ignored, const char *data, size_t nbytes)
{
	size_t nleft_out = nbytes < nrepeated ? nbytes : (size_t)nrepeated;

	(void)ignored;
	nrepeated -= nleft_out;
	nwritten += nbytes - nleft_out;
	return fd_write(STDOUT_FILENO, data + nleft_out, nbytes - nleft_out) ? (ssize_t)nbytes : 0;
}

void output_repeat(void)
{
	fflush(output_stream());
	nrepeated = nwritten;
}

FILE *output_stream(void)
{
	static FILE *stream;

	if (!stream)
		stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
	return stream ? stream : stdout; /* out of memory */
}

static bool separates(const struct csv_dialect *d, char byte)
{
	return byte == d->delimiter || byte == '\r' || byte == '\n';
}

/* Whether text begins a comment. */
static bool begins_comment(const struct csv_dialect *d, const char *text, bool is_first)
{
	return is_first && d->comment && *text == d->comment;
}

/* Whether text as it is would be read as another value, or not as one. */
static bool needs_quotes(const struct csv_dialect *d, const char *text, bool is_first)
{
	size_t nbytes = d->trim ? strlen(text) : 0;

	if (begins_comment(d, text, is_first) ||
	    (nbytes > 0 && (decimal_is_blank(text[0]) || decimal_is_blank(text[nbytes - 1]))))
		return true;
	while (*text && !separates(d, *text) && *text != d->quote)
		text++;
	return *text != '\0';
}

bool output_field_fits(const char *text, const struct csv_dialect *d, bool is_first)
{
	return d->whitespace || d->quote || d->escape || !needs_quotes(d, text, is_first);
}

/* Like output_field: fields end at blanks, and nothing quotes one; but a line that begins with a blank is no comment. */
static void print_word(FILE *to, const char *text, const struct csv_dialect *d, bool is_first)
{
	if (begins_comment(d, text, is_first))
		putc(' ', to);
	for (; *text; text++)
		putc(decimal_is_blank(*text) ? '_' : *text, to);
}

void output_field(FILE *to, const char *text, const struct csv_dialect *d, bool is_first)
{
	bool quoted = needs_quotes(d, text, is_first), escaped = quoted && !d->quote;

	if (d->whitespace) {
		print_word(to, text, d, is_first);
		return;
	}
	if (quoted && d->quote)
		putc(d->quote, to);
	else if (begins_comment(d, text, is_first))
		putc(d->escape, to);
	for (; *text; text++) {
		if (*text == d->quote)
			putc(d->quote, to);
		else if (d->escape && (*text == d->escape || (escaped && (separates(d, *text) ||
									  decimal_is_blank(*text)))))
			putc(d->escape, to);
		putc(*text, to);
	}
	if (quoted && d->quote)
		putc(d->quote, to);
}

enum status output_flush(struct fault *fault)
{
	FILE *out = output_stream();

	if (fflush(stdout) || ferror(stdout) || fflush(out) || ferror(out))
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return STATUS_OK;
}

enum status output_close(struct fault *fault)
{
	enum status status = output_flush(fault);

	output_ahead_trim();
	/* EBADF: it was never open. If there was output, the flush has failed. */
	if (status == STATUS_OK && close(STDOUT_FILENO) && errno != EBADF)
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}
