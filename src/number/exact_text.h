/* SPDX-License-Identifier: MIT
 *
 * exact_text.h - numbers as strings of JSON (base/json_text.h), digit for digit: "-1234e-2", "10", "1e30", without zeros at the
 * end of a fraction or of a long integer. So a number's text depends on its value alone: not on its scale, nor on where the input was cut.
 *
 * Reading fails with STATUS_DAMAGED where the text is no such number, or does not fit.
 */
#pragma once

#include "base/json_text.h"
#include "number/exact.h"

void exact_put(struct json_text *j, const struct exact *x);

/* Sets *x, which owns nothing before, to a number that is read: a sum of so many numbers as there may be, each the product of
 * `power` numbers. It is 0 after an error. */
void exact_get(struct json_text *j, struct exact *x, int power);

/* Writes x, or adds what is read to it. */
void exact_text(struct json_text *j, struct exact *x, int power);

/* A number of 128 bits. */
void exact_int128(struct json_text *j, int128 *x);

/* A significand without the quotes: as a member of a list of integers in a string. */
void exact_put_int64(struct json_text *j, int64_t x);
int64_t exact_get_int64(struct json_text *j);

/* A scale below nscales. */
void exact_scale(struct json_text *j, int *scale, int nscales);
