/* SPDX-License-Identifier: MIT
 *
 * iso_date.h - dates as ISO 8601 writes them, in the form that RFC 3339 keeps of it.
 */
#ifndef GPUSTAT_ISO_DATE_H
#define GPUSTAT_ISO_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iso_date { ISO_NONE, ISO_DATE, ISO_DATETIME };

/* What text[0 .. nbytes) is: YYYY-MM-DD of the Gregorian calendar; that date, T or a blank, hh:mm or
 * hh:mm:ss with perhaps a fraction after a point or comma, and perhaps Z, +hh:mm, +hhmm or +hh, or
 * the same with -; or neither. Seconds go to 60, for the leap second. */
enum iso_date iso_date_of(const char *text, size_t nbytes);

/* The seconds from 1970-01-01T00:00:00Z to a date, leap seconds not counted: without the fraction of
 * a second, which is text[*fraction .. + *nfraction) as digits. A time without an offset is one of UTC.
 * The date may be one that iso_date_of knows, or in the basic form, which looks like a number: YYYYMMDD, perhaps followed
 * by T or a blank, hhmm or hhmmss, and the rest.
 * Returns false where text is no date. */
bool iso_date_epoch(const char *text, size_t nbytes, int64_t *seconds, size_t *fraction,
		    size_t *nfraction);

#endif
