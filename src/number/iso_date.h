/* SPDX-License-Identifier: MIT
 *
 * iso_date.h - dates as ISO 8601 writes them, in the form that RFC 3339 keeps of it.
 */
#ifndef GPUSTAT_ISO_DATE_H
#define GPUSTAT_ISO_DATE_H

#include <stddef.h>

enum iso_date { ISO_NONE, ISO_DATE, ISO_DATETIME };

/* What text[0 .. nbytes) is: YYYY-MM-DD of the Gregorian calendar; that date, T or a blank, hh:mm or
 * hh:mm:ss with perhaps a fraction behind a point or comma, and perhaps Z, +hh:mm, +hhmm or +hh, or
 * the same with -; or neither. Seconds go to 60, for the leap second. */
enum iso_date iso_date_of(const char *text, size_t nbytes);

#endif
