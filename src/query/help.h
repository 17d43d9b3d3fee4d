/* SPDX-License-Identifier: MIT
 *
 * help.h - what --help and -h print, from the table of options.
 */
#ifndef GPUSTAT_HELP_H
#define GPUSTAT_HELP_H

#include "query/option_table.h"

/* Prints all options to stdout, in the groups of options.def, each with its example. */
void help_print(void);

/* Prints the most used options and three examples: one screen, at most 24 lines of 80 columns. */
void help_print_brief(void);

#endif
