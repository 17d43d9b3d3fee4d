/* SPDX-License-Identifier: MIT
 *
 * notation.h - how an input writes numbers, where that is not decimal.h's syntax.
 */
#ifndef GPUSTAT_NOTATION_H
#define GPUSTAT_NOTATION_H

#include <stdbool.h>
#include <stddef.h>

#define NOTATION_THOUSANDS_NBYTES 4

struct number_notation {
	char decimal;                               /* the decimal point */
	char thousands[NOTATION_THOUSANDS_NBYTES + 1]; /* one character of UTF-8, or "": none */
	bool money;                                 /* currency signs, (5), 5- */
	bool percent;                               /* 12% is 0.12 */
};

/* Whether the value would be a number with some --decimal, --thousands, --money and --percent, or
 * in a program's notation (0x10, 1_000): no name of a column looks like that. */
bool notation_resembles_number(const char *text, size_t nbytes);

#endif
