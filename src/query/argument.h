/* SPDX-License-Identifier: MIT
 *
 * argument.h - what both programs' command lines have in common: how they complain.
 */
#ifndef GPUSTAT_ARGUMENT_H
#define GPUSTAT_ARGUMENT_H

#include "base/status.h"

/* What getopt_long returns for the first option of a table; beyond every letter. */
#define ARGUMENT_FIRST_ID 0x100

/* Makes the sentence STATUS_USAGE's detail, cut where it does not fit. Returns STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) enum status argument_usage(struct fault *fault,
								 const char *format, ...);

/* The complaint about what getopt_long has just returned: ':', an option without its argument,
 * or anything else, no option. argv: as getopt_long has it. Returns STATUS_USAGE. */
enum status argument_getopt_fault(int returned, char **argv, struct fault *fault);

#endif
