/* SPDX-License-Identifier: MIT
 *
 * notation.h - how an input writes numbers, where that is not decimal.h's syntax.
 */
#ifndef GPUSTAT_NOTATION_H
#define GPUSTAT_NOTATION_H

#include <stdbool.h>

#define NOTATION_THOUSANDS_NBYTES 4

struct number_notation {
	char decimal;                               /* the decimal point */
	char thousands[NOTATION_THOUSANDS_NBYTES + 1]; /* one character of UTF-8, or "": none */
	bool money;                                 /* currency signs, (5), 5- */
	bool percent;                               /* 12% is 0.12 */
};

#endif
