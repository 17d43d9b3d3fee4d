/* SPDX-License-Identifier: MIT
 *
 * dialect.h - how an input writes CSV.
 */
#ifndef GPUSTAT_CSV_DIALECT_H
#define GPUSTAT_CSV_DIALECT_H

#include <stdbool.h>

struct csv_dialect {
	char delimiter;
	bool one_column; /* records have one field: a blank line is a record with a missing value */
};

#endif
