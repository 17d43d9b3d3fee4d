/* SPDX-License-Identifier: MIT
 *
 * curve.c - see curve.h.
 */
#include "io/curve.h"

#include <string.h>

#include "number/plain.h"

void curve_free(struct curve *c)
{
	for (size_t i = 0; i < CURVE_NBUCKETS; i++) {
		text_free(&c->buckets[i].least);
		text_free(&c->buckets[i].greatest);
	}
	text_free(&c->value);
	text_free(&c->last);
}

/* ---- buckets ---- */

/* *to becomes a copy of the value. */
static enum status keep(struct text_buffer *to, const struct text_buffer *value)
{
	to->nbytes = 0;
	TRY(text_reserve(to, value->nbytes + 1));
	memcpy(to->data, value->data, value->nbytes + 1);
	to->nbytes = value->nbytes;
	return STATUS_OK;
}

static void exchange(struct text_buffer *a, struct text_buffer *b)
{
	struct text_buffer kept = *a;

	*a = *b;
	*b = kept;
}

/* a takes over the value of b where that is less, or greater if sign is -1. */
static void merge_end(struct text_buffer *a, struct text_buffer *b, int sign)
{
	if (b->nbytes && (!a->nbytes || sign * plain_compare(b->data, a->data) < 0))
		exchange(a, b);
	b->nbytes = 0;
}

/* Every two buckets become one. Memory stays with the buckets. */
static void halve(struct curve *c)
{
	for (size_t i = 0; i < CURVE_NBUCKETS / 2; i++) {
		struct curve_bucket *to = &c->buckets[i], *from = &c->buckets[2 * i];
		merge_end(&from[0].least, &from[1].least, 1);
		merge_end(&from[0].greatest, &from[1].greatest, -1);
		if (from == to)
			continue;
		exchange(&to->least, &from->least);
		exchange(&to->greatest, &from->greatest);
		from->least.nbytes = from->greatest.nbytes = 0;
	}
	c->bucket_nrecords *= 2;
}

/* Adds the record whose value has been read. */
static enum status add_record(struct curve *c)
{
	struct curve_bucket *b;
	enum status status = STATUS_OK;

	if (c->nrecords == c->bucket_nrecords * CURVE_NBUCKETS)
		halve(c);
	b = &c->buckets[c->nrecords++ / c->bucket_nrecords];
	if (!plain_is(c->value.data))
		return STATUS_OK;
	if (!b->least.nbytes || plain_compare(c->value.data, b->least.data) < 0)
		status = keep(&b->least, &c->value);
	if (status == STATUS_OK && (!b->greatest.nbytes || plain_compare(c->value.data, b->greatest.data) > 0))
		status = keep(&b->greatest, &c->value);
	exchange(&c->last, &c->value);
	return status;
}

/* ---- reading ---- */

/* Whether a byte is of a number: others are quotes and line ends. */
static bool is_of_number(char c)
{
	return (unsigned char)(c - '0') < 10 || c == '-' || c == '.';
}

/* Reads a line's value. */
static enum status read_value(struct text_buffer *value, const char *line, const char *end)
{
	value->nbytes = 0;
	TRY(text_reserve(value, (size_t)(end - line) + 1));
	for (; line < end; line++)
		if (is_of_number(*line))
			value->data[value->nbytes++] = *line;
	value->data[value->nbytes] = '\0';
	return STATUS_OK;
}

enum status curve_add(struct curve *c, const struct text_buffer *text)
{
	const char *line = text->data, *end = line + text->nbytes;
	enum status status = STATUS_OK;

	if (c->bucket_nrecords == 0)
		c->bucket_nrecords = 1;
	while (status == STATUS_OK && line < end) {
		const char *lf = memchr(line, '\n', (size_t)(end - line));
		const char *stop = lf ? lf : end;
		status = read_value(&c->value, line, stop);
		THEN(status, add_record(c));
		line = stop + (lf != NULL);
	}
	return status;
}

/* ---- what was kept ---- */

size_t curve_nbuckets(const struct curve *c)
{
	return c->nrecords ? (size_t)((c->nrecords - 1) / c->bucket_nrecords) + 1 : 0;
}

bool curve_range(const struct curve *c, size_t begin, size_t end, struct curve_range *out)
{
	*out = (struct curve_range){NULL, NULL};
	for (size_t i = begin; i < end; i++) {
		const struct curve_bucket *b = &c->buckets[i];
		if (!b->least.nbytes)
			continue;
		if (!out->least || plain_compare(b->least.data, out->least) < 0)
			out->least = b->least.data;
		if (!out->greatest || plain_compare(b->greatest.data, out->greatest) > 0)
			out->greatest = b->greatest.data;
	}
	return out->least != NULL;
}
