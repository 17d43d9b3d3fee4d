/* SPDX-License-Identifier: MIT
 *
 * beyond_gpus.h - what the kernels cannot do, and CPUs therefore do alone.
 */
#ifndef GPUSTAT_BEYOND_GPUS_H
#define GPUSTAT_BEYOND_GPUS_H

#include "query/plan.h"

/* The reason why no GPU can run a plan, for --verbose; NULL: one can. A constant. */
const char *beyond_gpus(const struct plan *plan);

#endif
