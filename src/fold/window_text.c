/* SPDX-License-Identifier: MIT
 *
 * window_text.c - what a window keeps as JSON, exactly, and back: a member of a state. See partial_text.h.
 *
 * Values are a list of strings, null for a missing one; those of a window of numbers are plain decimals, whose digits behind
 * the point are their scale. A weighted mean is its integer and its power of ten: "-12345e-3"; of one of rounded numbers, its
 * reach follows likewise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fold/partial_text.h"
#include "fold/window.h"
#include "number/decimal_text.h"
#include "number/wide.h"

#define MEAN_TEXT_NBYTES 80 /* sign, 35 digits, e, sign, 3 digits, and what int could have */

/* ---- writing ---- */

static void put_mean(const struct window_fold *w, struct json_writer *to)
{
	struct window_fold now = {.plan = w->plan};
	char digits[40 + DECIMAL_TEXT_SLACK], text[MEAN_TEXT_NBYTES];

	window_combine(&now, w); /* to the last of its values */
	if (!now.mean.is_set)
		return;
	*decimal_write_u128(digits, now.mean.magnitude) = '\0';
	snprintf(text, sizeof text, "%s%se%d", now.mean.negative ? "-" : "", digits, -now.mean.scale);
	json_put(to, "\"mean\":");
	json_put_string(to, text, strlen(text));
	if (now.mean.reach.digits == 0)
		return;
	snprintf(text, sizeof text, "%" PRIu32 "e%d", now.mean.reach.digits, -now.mean.reach.scale);
	json_put(to, ",\"reach\":");
	json_put_string(to, text, strlen(text));
}

/* A list on its way to the text. */
struct value_list {
	struct json_writer *to;
	const char *separator; /* what comes before the next value */
};

static enum status put_value(void *context, const struct recent_value *v)
{
	struct value_list *l = context;
	char text[DECIMAL_TEXT_NBYTES];

	if (json_is_long(l->to)) {
		json_break(l->to, "]}", "\"values\":[");
		l->separator = "";
	}
	json_put(l->to, l->separator);
	l->separator = ",";
	if (v->kind == RECENT_NUMBER)
		json_put_string(l->to, text, decimal_format(v->number.significand, v->number.scale, text));
	else if (v->kind == RECENT_TEXT)
		json_put_string(l->to, v->text, v->nbytes);
	else
		json_put(l->to, "null");
	return l->to->status;
}

bool window_is_empty(const struct window_fold *w)
{
	return w->recent.nvalues == 0 && !w->mean.is_set;
}

void window_write(const struct window_fold *w, const char *prefix, struct json_writer *to)
{
	struct value_list list = {to, ""};

	json_put(to, prefix ? prefix : "{");
	if (w->plan->kind == NEW_EWMA) {
		put_mean(w, to);
	} else if (w->recent.nvalues > 0) {
		json_put(to, "\"values\":[");
		to->prefix = prefix;
		recent_each(&w->recent, put_value, &list);
		to->prefix = NULL;
		json_put(to, "]");
	}
	json_put(to, "}");
}

/* ---- reading ---- */

/* Reads digits up to `most`; returns what follows, or NULL if no digit follows, or too many do. */
static const char *read_digits(const char *p, const char *end, uint128 most, uint128 *out)
{
	const char *begin = p;

	for (*out = 0; p < end && decimal_is_digit(*p); p++) {
		*out = *out * 10 + (uint128)(*p - '0');
		if (*out > most)
			return NULL;
	}
	return p > begin ? p : NULL;
}

/* Reads an integer up to `most` and a power of ten, one of which the scale is scale_most at most, either way. Returns false
 * where there are none. */
static bool read_power(const char *p, const char *end, uint128 most, int scale_most, uint128 *out, int *scale)
{
	uint128 exponent = 0;
	bool divides;

	p = read_digits(p, end, most, out);
	divides = p && end - p >= 2 && p[1] == '-';
	p = p && p < end && *p == 'e' ? read_digits(p + 1 + divides, end, (uint128)scale_most, &exponent) : NULL;
	*scale = divides ? (int)exponent : -(int)exponent;
	return p == end;
}

static void read_mean(struct ewma *mean, struct json_reader *r)
{
	size_t nbytes = 0;
	const char *p = json_string(r, &nbytes), *end = p + nbytes;
	const uint128 most = (uint128)decimal_powers[17] * decimal_powers[17]; /* 10^EWMA_NDIGITS */

	if (!p)
		return;
	*mean = (struct ewma){.is_set = true, .negative = p < end && *p == '-'};
	if (!read_power(p + mean->negative, end, most, WIDE_SCALE_MAX, &mean->magnitude, &mean->scale))
		json_fail(r, STATUS_DAMAGED);
}

static void read_reach(struct ewma_reach *reach, struct json_reader *r)
{
	size_t nbytes = 0;
	const char *p = json_string(r, &nbytes);
	uint128 digits;

	if (!p)
		return;
	if (!read_power(p, p + nbytes, decimal_powers[EWMA_REACH_NDIGITS] - 1, EWMA_REACH_SCALE_MAX, &digits, &reach->scale) ||
	    digits < decimal_powers[EWMA_REACH_NDIGITS - 1])
		json_fail(r, STATUS_DAMAGED);
	else
		reach->digits = (uint32_t)digits;
}

/* Sets *v to the value that a text is. Returns false if it is no value. */
static bool value_of(const struct plan_window *plan, const char *text, size_t nbytes, struct recent_value *v)
{
	struct decimal number;
	struct wide ignored;
	int scale;

	*v = (struct recent_value){.kind = RECENT_TEXT, .text = text, .nbytes = nbytes};
	if (new_column_has(plan->kind, NEW_COPIES))
		return true;
	if (decimal_parse(text, nbytes, &number) == DECIMAL_NUMBER) {
		*v = (struct recent_value){.kind = RECENT_NUMBER, .number = number};
		return true;
	}
	return wide_parse(text, nbytes, &ignored, &scale) == STATUS_OK;
}

static void read_value(struct window_fold *w, struct json_reader *r)
{
	struct recent_value v = {.kind = RECENT_NONE};
	const char *text;
	size_t nbytes;

	if (!json_try(r, "null")) {
		text = json_string(r, &nbytes);
		if (text && !value_of(w->plan, text, nbytes, &v))
			json_fail(r, STATUS_DAMAGED);
	}
	if (r->status == STATUS_OK && recent_push(&w->recent, &v) != STATUS_OK)
		json_fail(r, STATUS_NO_MEMORY);
}

void window_read(struct window_fold *w, struct json_reader *r)
{
	if (json_try(r, "}"))
		return;
	if (w->plan->kind == NEW_EWMA) {
		json_expect(r, "\"mean\":");
		read_mean(&w->mean, r);
		if (r->status == STATUS_OK && json_try(r, ",\"reach\":"))
			read_reach(&w->mean.reach, r);
	} else {
		json_expect(r, "\"values\":[");
		do
			read_value(w, r);
		while (r->status == STATUS_OK && json_try(r, ","));
		json_expect(r, "]");
		recent_keep(&w->recent, plan_window_nbefore(w->plan));
	}
	json_expect(r, "}");
}
