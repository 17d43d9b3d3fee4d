/* SPDX-License-Identifier: MIT
 *
 * row_currencies.h - which currencies the numbers of a block's rows are in, with --money.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"

struct row_folder;

/* Notes in out->currencies those of some of the block's rows, in the plan's columns that have one; values without a
 * currency go with any. Whether two differ by chunks or within one, total_check finds out. Errors: STATUS_NO_MEMORY. */
enum status row_currencies_fold(struct row_folder *f, uint64_t rows, struct partial *out);
