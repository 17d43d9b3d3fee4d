/* SPDX-License-Identifier: MIT
 *
 * running_change.h - a value compared with the one before it: its difference or its ratio, record after
 * record. The one before is the last that is not missing.
 */
#ifndef GPUSTAT_RUNNING_CHANGE_H
#define GPUSTAT_RUNNING_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "query/plan.h"
#include "query/value.h"

/* Zeroed: owns nothing, and no value came before. */
struct running_change {
	enum new_column_kind kind; /* NEW_DELTA, NEW_RATIO */
	bool is_set;               /* there is a value before, */
	bool is_long;              /* ... which is text[0 .. nbytes), */
	struct decimal last;       /* ... or this */
	char *text;                /* owned */
	size_t nbytes, capacity;
};

static inline bool running_change_is(enum new_column_kind kind)
{
	return kind == NEW_DELTA || kind == NEW_RATIO;
}

void running_change_free(struct running_change *r);

/* Makes the last number in before, the fold of the records so far, the value before. Errors:
 * STATUS_NO_MEMORY. */
enum status running_change_begin(struct running_change *r, enum new_column_kind kind,
				 const struct column_partial *before);

/* Writes how v differs from the value before, in no more than RUNNING_RATIO_NBYTES; nothing where one of
 * the two is not there, or for a ratio to 0. Then v is the value before, if it is a number. Returns the
 * text's end, or NULL where memory ran out. */
char *running_change_write(struct running_change *r, const struct value *v, char *to);

#endif
