/* SPDX-License-Identifier: MIT
 *
 * explain.h - --explain: what a run would do, in words.
 */
#ifndef GPUSTAT_EXPLAIN_H
#define GPUSTAT_EXPLAIN_H

#include "run/run.h"

/* Of a run whose input has been opened, and whose devices are chosen: prints to output_stream() what will be read and how, why the first record is a header or is not, which
 * columns are looked at, what is printed, and which devices work, a line each. Bytes that could harm a
 * terminal are escaped. Errors: STATUS_NO_MEMORY. */
enum status explain_print(const struct run *r);

#endif
