/* SPDX-License-Identifier: MIT
 *
 * total_join.h - joins the threads' own partials to the total, in parallel where they are large.
 */
#ifndef GPUSTAT_TOTAL_JOIN_H
#define GPUSTAT_TOTAL_JOIN_H

#include <stddef.h>

#include "base/status.h"
#include "fold/column.h"
#include "query/plan.h"

/* total becomes the fold of its records and those of partials[0 .. npartials), which may be in any
 * order: nothing but their keys is large, and keys commute. The partials are left without keys.
 * nthreads: how many may work at once. Errors, in fault: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status total_join(struct partial *total, struct partial *const *partials, size_t npartials,
		       const struct plan *plan, int nthreads, struct fault *fault);

#endif
