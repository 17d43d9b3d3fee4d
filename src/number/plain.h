/* SPDX-License-Identifier: MIT
 *
 * plain.h - results as they print, [-]digits[.digits], compared and measured for pictures. No value is
 * rounded or converted: the text is the number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hd.h"

#define PLAIN_NDIGITS 30 /* of a window: 10^30 times a picture's units fits in 128 bits */
#define PLAIN_NO_TOP INT32_MIN

/* Whether text has the form above, at least one digit before the point. */
bool plain_is(const char *text);

/* The power of ten of the first digit that is not 0; PLAIN_NO_TOP for 0. */
int plain_top(const char *text);

/* The number of digits after the point. */
int plain_nplaces(const char *text);

/* The digits of 10^top down to 10^(top - PLAIN_NDIGITS + 1) as an integer, with the number's sign. top:
 * at least plain_top. What comes after is cut. */
int128 plain_window(const char *text, int top);

/* -1, 0 or 1 as a is less than, equal to or greater than b, exactly. */
int plain_compare(const char *a, const char *b);
