/* SPDX-License-Identifier: MIT
 *
 * query_header.h - the first records of the input, as a query needs them.
 */
#ifndef GPUSTAT_QUERY_HEADER_H
#define GPUSTAT_QUERY_HEADER_H

#include "query/query.h"

/* Skips what stands before the first record, finds q->header, and takes it out of the input.
 * selections: one for each operation, then the columns of each condition that tell of a header.
 * Errors: header_read's, header_decide's, input_skip_preamble's; STATUS_LONE_HEADER where no record
 * follows a header that was guessed. Where the first record was read and what is wrong is one of its
 * values or what follows it, q->header has its names, too. */
enum status query_read_header(struct query *q, const struct options *options,
			      const struct selection *selections, size_t nselections,
			      struct input *input, struct fault *fault);

#endif
