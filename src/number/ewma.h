/* SPDX-License-Identifier: MIT
 *
 * ewma.h - the exponentially weighted mean: y = x for the first value, then y = A x + (1 - A) y.
 *
 * An exact y would have more digits after each value. So each step is computed exactly and then rounded once,
 * half-even, to EWMA_NDIGITS significant digits (those of IEEE 754's decimal128), and to no more than
 * WIDE_SCALE_MAX places, which is the range of numbers. That is a definition: y depends on the values and
 * their order, and on nothing else. Until a step has more digits, y is exact.
 */
#ifndef GPUSTAT_EWMA_H
#define GPUSTAT_EWMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "number/decimal.h"
#include "number/wide.h"

#define EWMA_NDIGITS 34

/* Longest text: sign, 0, point, 400 places and 17 digits, or 400 digits, NUL. */
#define EWMA_TEXT_NBYTES 424

/* A and 1 - A, both x 10^scale. */
struct ewma_weight {
	int64_t now, before;
	int scale;
};

/* Zeroed: of no value. */
struct ewma {
	bool is_set, negative;
	bool is_rounded;   /* one of the values was (quotient.h) */
	int scale;         /* may be negative */
	uint128 magnitude; /* y x 10^scale, at most 10^EWMA_NDIGITS */
};

/* Sets *w to A, a plain decimal with 0 < A <= 1 of up to 18 digits. Returns false if the text is no such number. */
bool ewma_weight_parse(const char *text, size_t nbytes, struct ewma_weight *w);

/* Adds the next value: number or, if text is not NULL, the number that text[0 .. nbytes) is, in decimal.h's
 * syntax; one beyond the range changes nothing. */
void ewma_add(struct ewma *y, const struct ewma_weight *w, struct decimal number, const char *text,
	      size_t nbytes);

/* Writes y rounded half-even to 17 significant digits, as ratio_format does; nothing of no value. No
 * terminator. Returns the text's end. */
char *ewma_write(const struct ewma *y, char to[EWMA_TEXT_NBYTES]);

#endif
