/* SPDX-License-Identifier: MIT
 *
 * table_json.h - a table as JSON.
 */
#ifndef GPUSTAT_TABLE_JSON_H
#define GPUSTAT_TABLE_JSON_H

#include <stdio.h>

#include "io/table.h"

/* Prints t as a list of objects, or as one object if it is t->one_record. Keys are the columns'
 * names; of columns with the same name, the second's key ends in _2 and so on, so that no key is
 * there twice. JSON is UTF-8: any other byte prints as U+FFFD. Errors: STATUS_NO_MEMORY. */
enum status table_print_json(const struct table *t, FILE *out);

/* The same objects, one a line, and no list. */
enum status table_print_ndjson(const struct table *t, FILE *out);

#endif
