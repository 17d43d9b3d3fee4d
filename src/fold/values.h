/* SPDX-License-Identifier: MIT
 *
 * values.h - a column's numbers, kept: what order statistics are computed from.
 *
 * It is a moment (moment.h). Its order does not matter, so a cell is a list of blocks, and combining
 * takes over the later cell's blocks. A block holds numbers of one form. A number goes into the
 * smallest form that holds it:
 *
 *     VALUES_INT32  4 bytes: its significand at the block's scale
 *     VALUES_INT64  8 bytes: the same
 *     VALUES_EXACT  8 bytes, and 8 for each limb: any other number, with a scale of its own
 *
 * The scale of a cell's new blocks is the largest that the cell has seen: a column has few scales, and
 * a number is lifted to that scale if it then fits in 64 bits.
 */
#pragma once

#include <stdalign.h>

#include "base/status.h"
#include "fold/moment.h"
#include "fold/device_run.h"
#include "number/decimal.h"
#include "number/exact.h"

enum values_form { VALUES_INT32, VALUES_INT64, VALUES_EXACT, VALUES_NFORMS };

#define VALUES_BLOCK_NBYTES 16384 /* of the numbers in a large block */

struct values_block {
	struct values_block *next;
	uint32_t nbytes, capacity_nbytes; /* of data */
	uint32_t nvalues;
	uint8_t form;  /* enum values_form */
	uint8_t scale; /* of VALUES_INT32 and VALUES_INT64 */
	bool is_counted; /* its memory was taken of --memory */
	alignas(16) unsigned char data[];
};

/* The cell. Zeroed: no numbers. */
struct values {
	struct values_block *first, *last;          /* full ones; owned */
	struct values_block *open[VALUES_NFORMS];   /* to which numbers are added; NULL: none. Owned. */
	uint32_t next_nbytes; /* of the next block's data; 0: the least */
	uint8_t scale;        /* of new blocks */
	struct device_run *runs; /* numbers that lie on devices, beside the blocks; owned */
};

/* Calls visit for each block that holds numbers: all of them, where none lie on devices. */
void values_each_block(const struct values *v,
		       void (*visit)(void *context, const struct values_block *block),
		       void *context);

/* Whether the cell holds numbers. */
bool values_have_any(const struct values *v);

/* Has a cell without numbers forget the scale of those that it had: no number gets a larger one than its own column has. */
void values_forget_scale(struct values *v);

/* `text` of the moment. */
void values_text(void *cell, struct json_text *j, const struct moment_source *source);

/* ---- a number of VALUES_EXACT ---- */

/* The bytes that it takes, a multiple of 8; writes it; and reads it: its limbs are the record's. */
size_t values_record_nbytes(const struct exact *x);
void values_record_put(void *to, const struct exact *x, bool is_fast);
struct exact values_record_get(const void *from);

/* ---- reading ---- */

#define VALUES_BATCH 256

/* A place in a block. Zeroed but for block: its beginning. */
struct values_cursor {
	const struct values_block *block;
	uint32_t nread, offset_bytes;
};

/* These write the next numbers of the block, up to VALUES_BATCH, and return how many; 0: no more. Each x 10^scale, which is an
 * integer that fits; the caller knows the column's largest scale and its extremes. */
size_t values_next64(struct values_cursor *at, int scale, int64_t *out);
size_t values_next128(struct values_cursor *at, int scale, int128 *out);

/* Sets *out to the next number, whose limbs are the block's. Returns false if there is no more. */
bool values_next_exact(struct values_cursor *at, struct exact *out);

/* Whether the number at the cursor, of VALUES_EXACT, is one of the fast path. */
bool values_next_is_fast(const struct values_cursor *at);
