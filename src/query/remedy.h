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

/* Sets fault->remedy to the command that names a column before the first, in the header at that line. when: its next words. */
void remedy_row_names(const struct csv_dialect *dialect, uint64_t line, const char *when, struct fault *fault);

/* Sets fault->remedy if fault is a value that is no number in the record right below the header, and the values there
 * are units, such as m, s and kg.
 * text: nbytes, which hold the whole record; offset: of the value. */
void remedy_units(const struct plan *plan, const char *text, size_t nbytes, size_t offset, struct fault *fault);

/* Returns where the record begins that has a field at text[offset], if it is the header once more; else SIZE_MAX.
 * text: nbytes, which hold the whole record. */
size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset);

#endif
