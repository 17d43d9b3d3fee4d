/* SPDX-License-Identifier: MIT
 *
 * lane.h - one value of one record, and what a step of a program makes of it: for CPU threads and GPU lanes.
 */
#pragma once

#include "lang/program.h"
#include "number/decimal_arithmetic.h"
#include "number/decimal_compare.h"
#include "number/exact.h"

#define LANE_NVALUES_MAX 8 /* a lane has room for */
#define LANE_NTRUTHS_MAX 32

enum lane_kind {
	LANE_UNREAD,  /* a text whose number has not been parsed */
	LANE_MISSING,
	LANE_NUMBER,  /* number is set */
	LANE_LONG,    /* a number too long for struct decimal: use the text */
	LANE_NOT_A_NUMBER,
	LANE_OUT_OF_RANGE, /* a number, but beyond the range */
};

/* A value, quotes removed. */
struct lane_value {
	const char *text; /* nbytes; not owned. Undefined where kind is LANE_MISSING, or of a number that was computed */
	size_t nbytes;
	struct decimal number;
	enum lane_kind kind;
};

/* What is true of a record: both bits; what an invalid value leaves open: LANE_MAYBE alone. */
#define LANE_TRUE 3u
#define LANE_MAYBE 2u
#define LANE_FALSE 0u

HD int lane_is_number(const struct lane_value *v)
{
	return v->kind == LANE_NUMBER || v->kind == LANE_LONG;
}

/* Parses a value's number if it is LANE_UNREAD and sets its kind. Range: exact_parse()'s. */
HD void lane_read(struct lane_value *v)
{
	struct decimal_syntax s;
	const char *text;
	size_t nbytes = v->nbytes;
	int64_t scale;

	if (v->kind != LANE_UNREAD)
		return;
	switch (decimal_parse(v->text, v->nbytes, &v->number)) {
	case DECIMAL_NUMBER:
		v->kind = LANE_NUMBER;
		return;
	case DECIMAL_MISSING:
		v->kind = LANE_MISSING;
		return;
	case DECIMAL_INVALID:
		v->kind = LANE_NOT_A_NUMBER;
		return;
	case DECIMAL_WIDE:
		break;
	}
	text = decimal_trim(v->text, &nbytes);
	decimal_tokenize(text, nbytes, &s);
	scale = s.nfraction - s.exponent;
	v->kind = LANE_LONG;
	if (scale > EXACT_SCALE_MAX || (s.ndigits && s.ndigits - scale > EXACT_MAGNITUDE_MAX))
		v->kind = LANE_OUT_OF_RANGE;
}

HD enum order lane_order_of(int comparison)
{
	return comparison < 0 ? ORDER_LESS : comparison > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

/* The order of two values that lane_is_number accepts. Both have texts unless both are LANE_NUMBER. */
HD enum order lane_order_numbers(const struct lane_value *a, const struct lane_value *b)
{
	if (a->kind == LANE_NUMBER && b->kind == LANE_NUMBER)
		return lane_order_of(decimal_compare(a->number, b->number));
	return lane_order_of(decimal_compare_texts(a->text, a->nbytes, b->text, b->nbytes));
}

/* Compares bytes as unsigned; a prefix is less than the whole. */
HD enum order lane_order_bytes(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	size_t i, nbytes = a_nbytes < b_nbytes ? a_nbytes : b_nbytes;

	for (i = 0; i < nbytes; i++)
		if (a[i] != b[i])
			return (unsigned char)a[i] < (unsigned char)b[i] ? ORDER_LESS : ORDER_GREATER;
	return a_nbytes < b_nbytes ? ORDER_LESS : a_nbytes > b_nbytes ? ORDER_GREATER : ORDER_EQUAL;
}

/* Whether text[0 .. nbytes) has part[0 .. part_nbytes) at byte `at`. */
HD int lane_has_at(const char *text, size_t nbytes, const char *part, size_t part_nbytes, size_t at)
{
	size_t i;

	if (at > nbytes || nbytes - at < part_nbytes)
		return 0;
	for (i = 0; i < part_nbytes; i++)
		if (text[at + i] != part[i])
			return 0;
	return 1;
}

/* The order of a text and another one, of a test of one of these codes: see enum step_code. */
HD enum order lane_order_texts(uint32_t code, const char *text, size_t nbytes, const char *other, size_t n)
{
	size_t at = 0;
	int holds;

	if (code != STEP_STARTS && code != STEP_ENDS && code != STEP_CONTAINS)
		return lane_order_bytes(text, nbytes, other, n);
	if (code == STEP_ENDS && n <= nbytes)
		at = nbytes - n;
	holds = lane_has_at(text, nbytes, other, n, at);
	if (code == STEP_CONTAINS)
		for (at = 1; !holds && at + n <= nbytes; at++)
			holds = lane_has_at(text, nbytes, other, n, at);
	return holds ? ORDER_EQUAL : ORDER_GREATER;
}

HD unsigned lane_accepts(const struct step *step, enum order order)
{
	return step->accepts & order ? LANE_TRUE : LANE_FALSE;
}

/* Tests the order of two numbers: false if one is missing, even if the other is no number. */
HD unsigned lane_test_numbers(const struct step *step, struct lane_value *a, struct lane_value *b)
{
	lane_read(a);
	lane_read(b);
	if (a->kind == LANE_MISSING || b->kind == LANE_MISSING)
		return LANE_FALSE;
	if (!lane_is_number(a) || !lane_is_number(b))
		return LANE_MAYBE;
	if ((!a->text || !b->text) && (a->kind != LANE_NUMBER || b->kind != LANE_NUMBER))
		return LANE_MAYBE;
	return lane_accepts(step, lane_order_numbers(a, b));
}

/* The truth of a test of one value. A computed number has no text. */
HD unsigned lane_test_value(const struct step *step, const char *literals, struct lane_value *v)
{
	const char *literal = literals + step->literal_begin;
	struct lane_value number;

	if (step->code == STEP_IS_MISSING)
		return lane_accepts(step, v->kind == LANE_MISSING ? ORDER_LESS : ORDER_GREATER);
	if (v->kind == LANE_MISSING)
		return LANE_FALSE;
	if (step->code == STEP_IS_NUMBER) {
		lane_read(v);
		return v->kind == LANE_MISSING ? LANE_FALSE : lane_accepts(step, lane_is_number(v) ? ORDER_EQUAL : ORDER_GREATER);
	}
	if (step->code != STEP_ORDER_NUMBER)
		return v->text ? lane_accepts(step, lane_order_texts(step->code, v->text, v->nbytes, literal, step->literal_nbytes))
			       : LANE_MAYBE;
	number.text = literal;
	number.nbytes = step->literal_nbytes;
	number.number = step->number;
	number.kind = step->is_long ? LANE_LONG : LANE_NUMBER;
	return lane_test_numbers(step, v, &number);
}

/* How a step rounds. */
HD enum decimal_rounding lane_rounding(uint32_t code)
{
	switch (code) {
	case STEP_ROUND_HALF_UP:
		return DECIMAL_HALF_UP;
	case STEP_TRUNC:
		return DECIMAL_TOWARDS_0;
	case STEP_FLOOR:
		return DECIMAL_DOWN;
	case STEP_CEIL:
		return DECIMAL_UP;
	default:
		return DECIMAL_HALF_EVEN;
	}
}

/* What a step makes of a number, or of two. Returns 0 where the result does not fit, or is beyond lanes. */
HD int lane_calculate(uint32_t code, uint32_t nplaces, struct decimal x, struct decimal y, struct decimal *out)
{
	*out = x;
	switch (code) {
	case STEP_ADD:
		return decimal_add(x, y, out);
	case STEP_SUBTRACT:
		return decimal_add(x, decimal_negate(y), out);
	case STEP_MULTIPLY:
		return decimal_multiply(x, y, out);
	case STEP_MIN: /* of equal ones the first */
		if (decimal_compare(x, y) > 0)
			*out = y;
		return 1;
	case STEP_MAX:
		if (decimal_compare(x, y) < 0)
			*out = y;
		return 1;
	case STEP_ROUND:
	case STEP_ROUND_HALF_UP:
	case STEP_TRUNC:
	case STEP_FLOOR:
	case STEP_CEIL:
		*out = decimal_round_to(x, (int32_t)nplaces, lane_rounding(code));
		return 1;
	case STEP_SIGN:
		out->significand = (x.significand > 0) - (x.significand < 0);
		out->scale = 0;
		return 1;
	case STEP_ABS:
	case STEP_NEGATE:
		if (code == STEP_NEGATE || x.significand < 0)
			*out = decimal_negate(x);
		return 1;
	default:
		return code == STEP_NUMBER_OF;
	}
}
