/* SPDX-License-Identifier: MIT
 *
 * curve.h - a running column as a line over the records, in constant memory: it takes the place of standard output
 * behind the writer.
 *
 * The records are kept as up to CURVE_NBUCKETS buckets of the same number of records, a power of two; of each, the
 * least and the greatest value, as text. When all are full, every two become one. A peak of the records
 * is in the picture at any width.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"

#define CURVE_NBUCKETS 1024

/* Of no value: empty. */
struct curve_bucket {
	struct text_buffer least, greatest; /* NUL-terminated if not empty */
};

/* Zeroed: no record yet. */
struct curve {
	uint64_t nrecords;
	uint64_t bucket_nrecords; /* 0: 1 */
	struct text_buffer value; /* the last that was read */
	struct text_buffer last;  /* the last that is a number */
	struct curve_bucket buckets[CURVE_NBUCKETS];
};

void curve_free(struct curve *c);

/* Adds the records of a text, a line each with a number of plain decimal and nothing else but quotes, or without a
 * value. The last one's LF may be missing. A last record without a byte and without an LF is not counted: it is one
 * without a value, before which none had one. Errors: STATUS_NO_MEMORY. */
enum status curve_add(struct curve *c, const struct text_buffer *text);

/* The number of buckets that hold records; the last may not be full. */
size_t curve_nbuckets(const struct curve *c);

/* The least and the greatest value of buckets [begin, end), in *out; false if they have none. */
struct curve_range {
	const char *least, *greatest; /* in the curve */
};
bool curve_range(const struct curve *c, size_t begin, size_t end, struct curve_range *out);
