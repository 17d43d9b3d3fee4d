/* SPDX-License-Identifier: MIT
 *
 * printed_row.h - a record that is printed in another format than its input's (plan->row_format).
 */
#pragma once

#include "base/array.h"
#include "base/status.h"
#include "csv/field.h"
#include "emit/new_fields.h"
#include "fold/row_block.h"
#include "query/plan.h"

struct lead_cell; /* emit/lead.h */

/* Appends the k-th row of those for which new_fields_write has written fields. cells: if not NULL, is set to where the fields of later
 * records go, which are written as the record's own. Errors: STATUS_NO_MEMORY. */
enum status printed_row_append(const struct row_block *b, const struct new_fields *fields, unsigned k, struct scratch *scratch,
			       struct lead_cell *cells, struct text_buffer *out);
