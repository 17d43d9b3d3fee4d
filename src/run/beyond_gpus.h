/* SPDX-License-Identifier: MIT
 *
 * beyond_gpus.h - what the kernels cannot do, and CPUs therefore do alone.
 */
#pragma once

#include "io/input.h"
#include "query/plan.h"

/* The reason why no GPU can run a plan over an input, for --verbose; NULL: one can. A constant. */
const char *beyond_gpus(const struct plan *plan, const struct input *input);
