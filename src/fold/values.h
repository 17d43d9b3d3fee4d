/* SPDX-License-Identifier: MIT
 *
 * values.h - a column's numbers, kept: what order statistics are computed from.
 *
 * It is a moment (moment.h), and a state of groups (group.h). Their order does not matter, so they
 * lie in a list of blocks, and combining two columns takes over the later one's blocks. A block holds
 * numbers of one form. A number goes into the smallest form that holds it, unless wider ones came
 * before:
 *
 *     VALUES_INT32  4 bytes: its significand at the block's scale
 *     VALUES_INT64  8 bytes: the same
 *     VALUES_EXACT  8 bytes, and 8 for each limb: any other number, with a scale of its own
 *
 * The scale of new blocks is the largest that the list has seen: a column has few scales, and a
 * number is lifted to that scale if it then fits in 64 bits.
 */
#pragma once

#include "base/status.h"
#include "fold/moment.h"
#include "fold/device_run.h"
#include "number/decimal.h"
#include "number/exact.h"

enum values_form { VALUES_INT32, VALUES_INT64, VALUES_EXACT, VALUES_NFORMS };

struct values_block {
	struct values_block *before; /* NULL: none */
	uint16_t nvalues;
	uint16_t nleft;              /* room for so many more; of VALUES_EXACT, in 8 bytes */
	uint8_t scale;               /* of VALUES_INT32 and VALUES_INT64 */
	uint8_t order;               /* it has 2^order bytes */
	uint8_t form;                /* enum values_form */
	uint8_t is_in_arena : 1;     /* of a group */
	uint8_t is_counted : 1;      /* its memory was taken of --memory */
	unsigned char data[];
};

/* Zeroed: no numbers. */
struct values_list {
	struct values_block *last;
};

/* The cell. Zeroed: no numbers. All owned. */
struct values {
	struct values_list list;
	struct device_run *runs; /* numbers that lie on devices, besides */
};

/* Writes a list's numbers at a scale that is no smaller than theirs. Returns false where they do not
 * fit. */
bool values_list_get(const struct values_list *l, unsigned scale, int64_t *to);

/* Calls visit for each block that holds numbers: all of them, where none lie on devices. */
void values_each_block(const struct values *v,
		       void (*visit)(void *context, const struct values_block *block),
		       void *context);

/* Whether the cell holds numbers. */
bool values_have_any(const struct values *v);

/* `text` of the moment. */
void values_text(void *cell, struct json_text *j, const struct moment_source *source);

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
