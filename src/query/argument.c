/* SPDX-License-Identifier: MIT
 *
 * argument.c - see argument.h.
 */
#include "query/argument.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

enum status argument_usage(struct fault *fault, const char *format, ...)
{
	char text[FAULT_DETAIL_NBYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return fault_set_usage(fault, text);
}

enum status argument_getopt_fault(int returned, char **argv, struct fault *fault)
{
	const char *culprit = argv[optind - 1];
	char letter[3] = {'-', (char)optopt, '\0'};

	if (optopt > 0 && optopt < ARGUMENT_FIRST_ID)
		culprit = letter;
	if (returned == ':')
		return argument_usage(fault, "option '%.64s' needs an argument", culprit);
	return argument_usage(fault, "unknown or ambiguous option '%.64s'", culprit);
}
