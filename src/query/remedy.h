/* SPDX-License-Identifier: MIT
 *
 * remedy.h - what to type instead, where the text at a fault tells.
 */
#ifndef GPUSTAT_REMEDY_H
#define GPUSTAT_REMEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "query/plan.h"

/* Whether text[0 .. nbytes) is what programs write where there is no value: N/A, null, -, NaN. */
bool remedy_is_no_value(const char *text, size_t nbytes);

/* Returns the delimiter that text[0 .. nbytes), which has one field, probably has instead of a
 * comma: the one of ; tab | that it has most of, or 0. */
char remedy_delimiter(const char *text, size_t nbytes);

/* How the delimiter is given: -d ';'. */
const char *remedy_delimiter_option(char delimiter);

/* Returns where the record begins that has a field at text[offset], if it is the header once more; else SIZE_MAX.
 * text: nbytes, which hold the whole record. */
size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset);

#endif
