/* SPDX-License-Identifier: MIT
 *
 * field_read.cuh - a thread finds a field's end, and determines its code.
 */
#pragma once

extern "C" {
#include "fold/device_run.h"
#include "number/decimal_compare.h"
}

#include "kernels/csv/fields.cuh"

/* A half-open range of the text. */
struct span {
	size_t begin, end;
};

/* One record. */
struct row {
	const char *text;
	struct span bytes; /* of the record, without its line end */
	uint32_t number;
	char delimiter, quote;
};

/* Finds the end of the field that begins at `begin`: its delimiter, or the record's end. */
static __device__ inline size_t field_find_end(const struct row &row, size_t begin)
{
	enum csv_state state = CSV_FIELD_START;
	size_t i = begin;

	for (; i < row.bytes.end; i++) {
		enum csv_class c = csv_classify((unsigned char)row.text[i],
						(unsigned char)row.delimiter,
						(unsigned char)row.quote);
		if (c == CSV_DELIMITER && csv_outside_quotes(state))
			break;
		state = csv_step(state, c);
	}
	return i;
}

/* Removes the quotes of a field that has one at either end and none within. Returns false if its
 * quotes are irregular: the field's text then is not its value. */
static __device__ inline bool field_unquote(const char *text, char quote, struct span *field)
{
	if (field->begin == field->end || text[field->begin] != quote)
		return true;
	for (size_t i = field->begin + 1; i < field->end; i++) {
		if (text[i] != quote)
			continue;
		if (i + 1 != field->end)
			return false;
		field->begin++;
		field->end--;
		return true;
	}
	return false;
}

static __device__ inline bool bytes_equal(const char *a, const char *b, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* value_is_missing() of value.h. */
static __device__ inline bool field_is_missing(const struct fields_plan &plan, const char *value,
					       size_t nbytes)
{
	value = decimal_trim(value, &nbytes);
	if (nbytes == 0)
		return true;
	for (uint32_t i = 0, begin = 0; i < plan.nmissing; begin = plan.missing_end[i++]) {
		uint32_t spelling_nbytes = plan.missing_end[i] - begin;
		if ((spelling_nbytes == nbytes && bytes_equal(plan.missing + begin, value, nbytes)) ||
		    (plan.missing_is_number &&
		     decimal_texts_are_same(plan.missing + begin, spelling_nbytes, value, nbytes)))
			return true;
	}
	return false;
}

/* Whether value is what a number is written as, and a key number. */
static __device__ inline bool value_is_key_number(const char *value, size_t nbytes, const struct decimal &x)
{
	uint64_t left = x.significand < 0 ? -(uint64_t)x.significand : (uint64_t)x.significand;
	size_t i = nbytes;

	if (left >> KEY_NUMBER_BITS)
		return false;
	for (int ndigits = 0; ndigits <= x.scale || left > 0; ndigits++, left /= 10) {
		if (ndigits == x.scale && ndigits > 0 && (i == 0 || value[--i] != '.'))
			return false;
		if (i == 0 || value[--i] != (char)('0' + left % 10))
			return false;
	}
	if (x.significand < 0 && (i == 0 || value[--i] != '-'))
		return false;
	return i == 0;
}

/* Returns the code of a field, and for a number sets *significand. keeps_keys: the column's of the plan. */
static __device__ inline unsigned field_read(const struct fields_plan &plan, bool parses,
					     bool keeps_keys, const char *text, struct span field,
					     int64_t *significand)
{
	struct decimal x;

	if (!field_unquote(text, plan.quote, &field))
		return FIELD_EXCEPTION;
	const char *value = text + field.begin;
	size_t nbytes = field.end - field.begin;
	if (field_is_missing(plan, value, nbytes))
		return FIELD_MISSING;
	if (!parses)
		return 0; /* present, which is all that counts */
	switch (decimal_parse(value, nbytes, &x)) {
	case DECIMAL_NUMBER:
		*significand = x.significand;
		return keeps_keys && !value_is_key_number(value, nbytes, x)
			       ? FIELD_EXCEPTION
			       : (unsigned)x.scale;
	case DECIMAL_WIDE:
		return FIELD_EXCEPTION;
	case DECIMAL_MISSING: /* blank: field_is_missing has returned true */
	case DECIMAL_INVALID:
		break;
	}
	return FIELD_INVALID;
}
