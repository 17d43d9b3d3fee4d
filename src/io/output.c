/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h.
 */
#include "io/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static ssize_t write_output(void *ignored, const char *data, size_t nbytes)
{
	(void)ignored;
	return fd_write(STDOUT_FILENO, data, nbytes) ? (ssize_t)nbytes : 0;
}

FILE *output_stream(void)
{
	static FILE *stream;

	if (!stream)
		stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
	return stream ? stream : stdout; /* out of memory */
}

void output_field(FILE *to, const char *text, char delimiter)
{
	if (!strpbrk(text, "\"\r\n") && !strchr(text, delimiter)) {
		fputs(text, to);
		return;
	}
	putc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', to);
		putc(*text, to);
	}
	putc('"', to);
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

	/* EBADF: it was never open. If there was output, the flush has failed. */
	if (status == STATUS_OK && close(STDOUT_FILENO) && errno != EBADF)
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}
