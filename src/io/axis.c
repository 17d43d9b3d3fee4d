/* SPDX-License-Identifier: MIT
 *
 * axis.c - see axis.h.
 */
#include "io/axis.h"

#include <stdio.h>
#include <string.h>

#include "number/decimal.h"

#define TICK_NDIGITS_MAX 15 /* longer ones have an exponent */
#define TICK_NPLACES_MAX 12

static int greater(int a, int b)
{
	return a > b ? a : b;
}

void axis_set(struct axis *a, const char *low, const char *high, int nplaces)
{
	a->top = greater(plain_top(low), plain_top(high));
	if (a->top == PLAIN_NO_TOP)
		a->top = 0;
	a->low = plain_window(low, a->top);
	a->high = plain_window(high, a->top);
	a->nplaces = nplaces;
}

/* x nunits / range, x and range not negative, rounded half up. A window is below 10^30, so the product is
 * below 2^125. */
static int64_t scale(int128 x, int128 range, int64_t nunits)
{
	return (int64_t)((2 * x * nunits + range) / (2 * range));
}

int64_t axis_place(const struct axis *a, const char *number, int64_t nunits)
{
	if (a->low == a->high)
		return nunits / 2;
	return scale(plain_window(number, a->top) - a->low, a->high - a->low, nunits);
}

int64_t axis_length(const struct axis *a, const char *number, int64_t nunits)
{
	int128 x = plain_window(number, a->top);

	return a->low == a->high ? 0 : scale(x < 0 ? -x : x, a->high - a->low, nunits);
}

static int128 power_of_ten(int n)
{
	int128 power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* x / y rounded down, y > 0. */
static int128 floor_divide(int128 x, int128 y)
{
	return x / y - (x % y < 0);
}

void axis_ticks_set(struct axis_ticks *t, const struct axis *a, int nmax)
{
	int unit = a->top - PLAIN_NDIGITS + 1;
	int128 power;

	t->digit = 1;
	t->power = greater(-a->nplaces, unit);
	power = power_of_ten(t->power - unit);
	while (t->digit * power * nmax < a->high - a->low) {
		t->digit = t->digit == 1 ? 2 : t->digit == 2 ? 5 : 10;
		if (t->digit < 10)
			continue;
		t->digit = 1;
		t->power++;
		power *= 10;
	}
	t->step = t->digit * power;
	t->first = -floor_divide(-a->low, t->step);
	t->last = floor_divide(a->high, t->step);
}

static void write_tick(int128 multiple, int power, char text[AXIS_TICK_NBYTES])
{
	bool is_short = power < 0 && power >= -TICK_NPLACES_MAX;
	size_t n = decimal_format(multiple, is_short ? -power : 0, text);

	if (power > 0 && n + (size_t)power <= TICK_NDIGITS_MAX && multiple) {
		memset(text + n, '0', (size_t)power);
		n += (size_t)power;
	} else if (power && !is_short && multiple) {
		n += (size_t)snprintf(text + n, AXIS_TICK_NBYTES - n, "e%d", power);
	}
	text[n] = '\0';
}

int64_t axis_tick(const struct axis_ticks *t, const struct axis *a, int128 i, int64_t nunits,
		  char text[AXIS_TICK_NBYTES])
{
	write_tick(i * t->digit, t->power, text);
	if (a->low == a->high)
		return nunits / 2;
	return scale(i * t->step - a->low, a->high - a->low, nunits);
}
