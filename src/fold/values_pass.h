/* SPDX-License-Identifier: MIT
 *
 * values_pass.h - a pass over a column's kept numbers, in several threads.
 */
#ifndef GPUSTAT_VALUES_PASS_H
#define GPUSTAT_VALUES_PASS_H

#include <stddef.h>

#include "base/status.h"
#include "fold/values.h"

/* The blocks of a cell that hold numbers. */
struct values_blocks {
	const struct values_block **at; /* owned, the blocks are not */
	size_t n;
};

/* Lists v's blocks; v may be NULL. Errors: STATUS_NO_MEMORY. Free with values_blocks_free, after an
 * error too. */
enum status values_blocks_list(const struct values *v, struct values_blocks *out);
void values_blocks_free(struct values_blocks *blocks);

/* The number of threads that a pass is worth, from 1 to nmost. */
int values_pass_nthreads(const struct values_blocks *blocks, int nmost);

/* Calls visit once for each block, with contexts[i], context_nbytes each, in thread i of nthreads. The
 * calling thread is one of them, and does the work of those that the system refuses. */
void values_pass(const struct values_blocks *blocks, int nthreads,
		 void (*visit)(void *context, const struct values_block *block), void *contexts,
		 size_t context_nbytes);

#endif
