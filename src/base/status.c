/* SPDX-License-Identifier: MIT
 *
 * status.c - see status.h.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *words;
	int exit_status;
	const char *remedy;
} rows[] = {
#define STATUS_ROW(name, words, exit_status, remedy) [name] = {words, exit_status, remedy},
	STATUS_TABLE(STATUS_ROW)
#undef STATUS_ROW
};

const char *status_words(enum status status)
{
	return rows[status].words;
}

const char *status_remedy(enum status status)
{
	return rows[status].remedy;
}

int status_exit(enum status status)
{
	return rows[status].exit_status;
}

enum status fault_set(struct fault *f, enum status status, int error_number, const char *words)
{
	fault_set_value(f, status, words ? words : "", words ? strlen(words) : 0);
	f->error_number = error_number;
	return status;
}

enum status fault_set_file(struct fault *f, enum status status, int error_number, const char *file)
{
	fault_set(f, status, error_number, NULL);
	f->file = file;
	return status;
}

enum status fault_complete(struct fault *f, enum status status)
{
	return status == STATUS_OK || f->status == status ? status : fault_set(f, status, 0, NULL);
}

enum status fault_set_usage(struct fault *f, const char *sentence)
{
	char line[FAULT_DETAIL_NBYTES];
	size_t nbytes = 0;

	for (; *sentence && nbytes < sizeof line - 2; sentence++) {
		if (*sentence == '\n')
			line[nbytes++] = '\\';
		line[nbytes++] = *sentence == '\n' ? 'n' : *sentence;
	}
	line[nbytes] = '\0';
	return fault_set(f, STATUS_USAGE, 0, line);
}

enum status option_fault(struct fault *fault, const char *format, ...)
{
	char text[FAULT_DETAIL_NBYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return fault_set_usage(fault, text);
}

enum status fault_set_value(struct fault *f, enum status status, const char *value, size_t nbytes)
{
	size_t kept = nbytes < sizeof f->detail ? nbytes : sizeof f->detail - 1;

	memset(f, 0, sizeof *f);
	f->status = status;
	memcpy(f->detail, value, kept);
	f->detail_nbytes = kept;
	f->value_nbytes = nbytes;
	return status;
}
