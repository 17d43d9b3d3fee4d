/* SPDX-License-Identifier: MIT
 *
 * query_header.h - the first records of the input, as a query needs them.
 */
#ifndef GPUSTAT_QUERY_HEADER_H
#define GPUSTAT_QUERY_HEADER_H

#include "query/expr.h"
#include "query/query.h"
#include "query/select.h"

/* Skips what stands before the first record, and reads that as q->header. selections: as below. Errors: header_read's,
 * input_skip_preamble's. */
enum status query_read_first(struct query *q, const struct options *options, const struct selection *selections,
			     size_t nselections, struct input *input, struct fault *fault);

/* Decides on q->header after query_read_first, and takes it out of the input.
 * selections: one for each operation, then --by's and those of --rename; pairs in them that have
 * several colons are cut, now that the names are known.
 * Errors: header_decide's; STATUS_EMPTY where a column is asked for by name. Where the first record was read and what
 * is wrong is one of its values or what follows it, q->header has its names, too. */
enum status query_read_header(struct query *q, const struct options *options,
			      struct selection *selections, size_t nselections,
			      struct input *input, struct fault *fault);

/* Like query_read_header, where q->header is known already: but for selections, it was made by another run. */
enum status query_use_header(struct query *q, struct selection *selections, size_t nselections,
			     struct fault *fault);

/* Whether the first record that is no header excludes this field from '*'. If its value is missing
 * there, or the record is left out, the field's first value decides later. If records are printed,
 * that would be too late for their header: the field is then excluded. */
bool query_starts_unfit(const struct query *q, const struct options *options, uint32_t field);

#endif
