/* SPDX-License-Identifier: MIT
 *
 * left_out.h - what a run has left out: the warnings, and when it is too much.
 */
#ifndef GPUSTAT_LEFT_OUT_H
#define GPUSTAT_LEFT_OUT_H

#include "run/run.h"

/* Fails if --invalid skip has left out every value of a column, every record, or more of them than
 * --max-invalid allows: fault is then the first value or record that was left out. */
enum status left_out_check(const struct run *r, struct fault *fault);

/* Warns of values and records that were left out, and of ragged records that the summary took. */
void left_out_report(const struct run *r);

#endif
