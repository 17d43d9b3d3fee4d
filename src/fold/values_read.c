/* SPDX-License-Identifier: MIT
 *
 * values_read.c - how kept numbers are packed into blocks, and read. See values.h.
 */
#include <assert.h>
#include <string.h>

#include "fold/values.h"

#define INT128_NDIGITS 38 /* 10^38 < 2^127 */

/* A record: the lowest limb that is not 0, 7 bits; the number of limbs up to the highest, 7 bits; 0, or how much the scale of
 * a rounded number is above WIDE_SCALE_MAX, 16 bits; the sign; the limbs, 32 bits each. */
#define LIMB_BITS 7
#define SIGN ((uint32_t)1 << 31)
static_assert(WIDE_NLIMBS < 1 << LIMB_BITS && WIDE_SCALE_LAST - WIDE_SCALE_MAX < 1 << 16, "they fit");

int values_wide_scale(const unsigned char *from)
{
	uint32_t head, above;

	memcpy(&head, from, sizeof head);
	above = head >> 2 * LIMB_BITS & 0xffff;
	return above ? WIDE_SCALE_MAX + (int)above : 0;
}

uint32_t values_pack_wide(const struct wide *x, int scale, unsigned char *to)
{
	uint32_t low = 0, high = WIDE_NLIMBS, head, limb;

	while (low < WIDE_NLIMBS && x->limb[low] == 0)
		low++;
	while (high > low && x->limb[high - 1] == 0)
		high--;
	head = low | (high - low) << LIMB_BITS;
	if (wide_scale_is_rounded(scale))
		head |= (uint32_t)(scale - WIDE_SCALE_MAX) << 2 * LIMB_BITS;
	if (high > low && x->limb[high - 1] < 0)
		head |= SIGN;
	memcpy(to, &head, sizeof head);
	for (uint32_t i = low; i < high; i++) {
		limb = (uint32_t)(x->limb[i] < 0 ? -x->limb[i] : x->limb[i]);
		memcpy(to + 4 + 4 * (i - low), &limb, sizeof limb);
	}
	return 4u + 4u * (high - low);
}

uint32_t values_unpack_wide(const unsigned char *from, struct wide *x)
{
	uint32_t head, limb, low, nlimbs;

	memcpy(&head, from, sizeof head);
	low = head & ((1 << LIMB_BITS) - 1);
	nlimbs = head >> LIMB_BITS & ((1 << LIMB_BITS) - 1);
	wide_clear(x);
	for (uint32_t i = 0; i < nlimbs; i++) {
		memcpy(&limb, from + 4 + 4 * i, sizeof limb);
		x->limb[low + i] = head & SIGN ? -(int64_t)limb : (int64_t)limb;
	}
	return 4u + 4u * nlimbs;
}

int128 values_lift(int64_t significand, int from, int scale)
{
	int128 x = significand;

	for (; from < scale && x; from++)
		x *= 10;
	return x;
}

/* Reads the record at the cursor, whose form is VALUES_DECIMAL or VALUES_WIDE, as an integer. */
static int128 read_record(struct values_cursor *at, int scale)
{
	const unsigned char *from = at->block->data + at->offset_bytes;
	int64_t significand;
	struct wide wide;
	int128 x = 0;

	if (at->block->form == VALUES_WIDE) {
		at->offset_bytes += values_unpack_wide(from, &wide);
		wide_to_int128(&wide, scale, &x);
		return x;
	}
	memcpy(&significand, from, sizeof significand);
	at->offset_bytes += VALUES_DECIMAL_NBYTES;
	return values_lift(significand, from[sizeof significand], scale);
}

/* How many numbers the next batch has; moves the cursor past them. */
static size_t take_batch(struct values_cursor *at)
{
	uint32_t left = at->block->nvalues - at->nread;
	uint32_t n = left < VALUES_BATCH ? left : VALUES_BATCH;

	at->nread += n;
	return n;
}

size_t values_next64(struct values_cursor *at, int scale, int64_t *out)
{
	const struct values_block *b = at->block;
	uint32_t first = at->nread;
	size_t n = take_batch(at);
	int64_t unit = 1;

	if (b->form == VALUES_DECIMAL || b->form == VALUES_WIDE) {
		for (size_t i = 0; i < n; i++)
			out[i] = (int64_t)read_record(at, scale);
		return n;
	}
	for (int i = b->scale; i < scale; i++)
		if (__builtin_mul_overflow(unit, 10, &unit))
			unit = 0; /* the only number that still fits is 0 */
	if (b->form == VALUES_INT32)
		for (size_t i = 0; i < n; i++)
			out[i] = ((const int32_t *)(const void *)b->data)[first + i];
	else
		memcpy(out, b->data + first * sizeof *out, n * sizeof *out);
	for (size_t i = 0; i < n && unit != 1; i++)
		out[i] *= unit;
	return n;
}

size_t values_next128(struct values_cursor *at, int scale, int128 *out)
{
	const struct values_block *b = at->block;
	int64_t x[VALUES_BATCH];
	int128 unit;
	size_t n;

	if (b->form == VALUES_DECIMAL || b->form == VALUES_WIDE) {
		n = take_batch(at);
		for (size_t i = 0; i < n; i++)
			out[i] = read_record(at, scale);
		return n;
	}
	n = values_next64(at, b->scale, x);
	unit = scale - b->scale > INT128_NDIGITS ? 0 /* the only number that fits is 0 */
						 : values_lift(1, b->scale, scale);
	for (size_t i = 0; i < n; i++)
		out[i] = x[i] * unit;
	return n;
}

size_t values_next_settled(struct values_cursor *at, struct wide *out)
{
	const unsigned char *from = at->block->data + at->offset_bytes;
	size_t n = values_next_wide(at, out);

	for (size_t i = 0; at->block->form == VALUES_WIDE && i < n; i++) {
		struct wide ignored;
		wide_settle(&out[i], values_wide_scale(from));
		from += values_unpack_wide(from, &ignored);
	}
	return n;
}

size_t values_next_wide(struct values_cursor *at, struct wide *out)
{
	const struct values_block *b = at->block;
	int64_t x[VALUES_BATCH];
	size_t n;

	if (b->form == VALUES_INT32 || b->form == VALUES_INT64) {
		n = values_next64(at, b->scale, x);
		for (size_t i = 0; i < n; i++) {
			wide_set_decimal(&out[i], x[i], b->scale);
		}
		return n;
	}
	n = take_batch(at);
	for (size_t i = 0; i < n; i++) {
		const unsigned char *from = b->data + at->offset_bytes;
		if (b->form == VALUES_WIDE) {
			at->offset_bytes += values_unpack_wide(from, &out[i]);
			continue;
		}
		memcpy(x, from, sizeof *x);
		at->offset_bytes += VALUES_DECIMAL_NBYTES;
		wide_set_decimal(&out[i], x[0], from[sizeof *x]);
	}
	return n;
}
