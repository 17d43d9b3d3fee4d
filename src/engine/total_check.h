/* SPDX-License-Identifier: MIT
 *
 * total_check.h - what in a chunk is an error, and what is noted as left out.
 */
#ifndef GPUSTAT_TOTAL_CHECK_H
#define GPUSTAT_TOTAL_CHECK_H

#include <stdbool.h>

#include "base/status.h"
#include "engine/diagnosis.h"
#include "engine/total.h"
#include "fold/column.h"

/* The number of a total's notes: three of records, and three of each column. */
#define TOTAL_NNOTES_OF_RECORDS 3
#define TOTAL_NNOTES(plan) (TOTAL_NNOTES_OF_RECORDS + 3 * (plan)->ncolumns)

/* Finds the first error in text, whose partial is `later`, and sets t->fault_offset. Without an error, notes
 * what is left out. In the chunk's turn. Errors: those of total_add that values have. */
enum status total_check(struct total *t, struct text *text, const struct partial *later,
			struct fault *fault);

/* Adds what a part has noted of column c's currency: the value of a fault that has its line and column, whose remedy is
 * the currency. file: of the input. Errors: STATUS_CURRENCY, with fault as total_check has it, but for its file;
 * STATUS_NO_MEMORY. */
enum status total_add_currency(struct total *t, size_t c, int file, struct fault *fault);

/* Whether a chunk has an error, or what must be noted: of a column whose invalid values are no errors the
 * first is, and once it is, a chunk whose turn has not come holds later ones only. Any thread may call it. */
bool total_has_fault(const struct total *t, const struct partial *p);

#endif
