/* SPDX-License-Identifier: MIT
 *
 * numbers.h - folding numbers that have been converted already, up to 64 rows at a time.
 */
#ifndef GPUSTAT_NUMBERS_H
#define GPUSTAT_NUMBERS_H

#include <stdint.h>

#include "number/decimal.h"
#include "simd/simd.h"

/* Folds x's numbers in `rows`, a subset of x->numbers, into f. */
void numbers_fold(struct decimal_fold *f, const struct simd_numbers *x, uint64_t rows);

#endif
