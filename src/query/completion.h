/* SPDX-License-Identifier: MIT
 *
 * completion.h - what a shell needs to complete a program's command line, from its option table.
 *
 * Options are completed by name, their words, files, and columns by the names that
 * `PROGRAM --columns FILE` prints of the first file on the command line.
 */
#ifndef GPUSTAT_COMPLETION_H
#define GPUSTAT_COMPLETION_H

#include "query/option_table.h"

/* Prints the script for a shell, ABOUT_BASH, ABOUT_ZSH or ABOUT_FISH, to stdout. */
void completion_print(const struct option_table *t, enum option_about shell);

#endif
