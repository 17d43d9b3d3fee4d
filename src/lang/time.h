/* SPDX-License-Identifier: MIT
 *
 * time.h - points in time: from text, to text, their parts and the calendar.
 *
 * Days are those of the Gregorian calendar, also before 1582, from year 0000 to 9999. Leap seconds are not counted: 23:59:60 is
 * the next day's 00:00:00. A time without an offset is one of the zone, and parts of times and their text are of the zone, so that
 * one instant has one text, whatever the offset that it was written with.
 *
 * Zones with a name are the C library's: the system's zoneinfo database, read by localtime_r, which is the same for all
 * threads once time_zone_set has set TZ. No function depends on the locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/decimal.h"

/* ---- zones ---- */

/* Zeroed: UTC. */
struct time_zone {
	bool is_named;  /* one of the system's, of which a process has one at a time */
	int32_t offset; /* else: seconds that its clocks are ahead of UTC's */
};

/* Reads UTC, an offset (+02:00, +0200, +02), a name (Europe/Berlin) or local, the system's own. Sets TZ for a name, so no other
 * thread may run yet. Returns NULL, or what is wrong, for a message: not owned. */
const char *time_zone_set(struct time_zone *zone, const char *name);

/* ---- instants ---- */

#define TIME_NFRACTION_MAX 18
#define TIME_DAY_NSECONDS 86400

struct instant {
	int64_t seconds;   /* from 1970-01-01T00:00:00Z */
	uint64_t fraction; /* of a second: < 10^nfraction */
	uint8_t nfraction; /* digits, as written: 0 .. TIME_NFRACTION_MAX */
	bool is_date;      /* a day: seconds are where it begins in the zone */
};

/* One thread's memory of a zone, and of what was read and written last: neighbours are usually alike. */
struct time_reader {
	const struct time_zone *zone;
	char day_text[10]; /* YYYY-MM-DD, or zeros */
	int64_t day;       /* it, from 1970-01-01 */
	struct instant written; /* without a fraction, as written_text[0 .. written_nbytes), if that is not 0 */
	size_t written_nbytes;
	char written_text[32];
	struct time_offset {
		int64_t quarter; /* of an hour: seconds / 900 */
		int32_t offset;  /* of the zone in all of it */
	} of_instant, of_local;
};

/* zone: outlives the reader. */
void time_reader_init(struct time_reader *r, const struct time_zone *zone);

/* ---- from text and to text ---- */

enum time_form { TIME_NONE, TIME_DATE, TIME_DATETIME };

/* What text[0 .. nbytes) is by itself: YYYY-MM-DD; that date, T or a blank, hh:mm or hh:mm:ss with perhaps a fraction after a
 * point or comma, and perhaps Z, +hh:mm, +hhmm or +hh, or the same with -; or neither. These forms are no numbers. */
enum time_form time_form_of(const char *text, size_t nbytes);

/* Reads ISO 8601 where a time is expected: what time_form_of knows; without the signs, which may look like a number (YYYYMMDD,
 * perhaps T or a blank and hhmm or hhmmss); a week's or a year's day (2024-W05-3, 2024W053, 2024-123); a month (2024-05); t and z;
 * and a blank before the offset, which may also be UTC or GMT; and blanks around it. Returns false where the text is none of that, or its fraction of
 * a second is longer than TIME_NFRACTION_MAX digits. */
bool time_read(struct time_reader *r, const char *text, size_t nbytes, struct instant *out);

/* Reads text by a format of strptime's letters (time_format_fault). What the format does not have is as in 1970-01-01T00:00:00.
 * A blank in the format stands for any number of blanks. Names and AM, PM are English, in any case. Names of weekdays are not
 * compared with the date. The format has no fault. */
bool time_read_format(struct time_reader *r, const char *format, size_t format_nbytes, const char *text, size_t nbytes,
		      struct instant *out);

/* Returns NULL, or what is wrong with a format, for a message, at byte *at of it. reads: for time_read_format, else for
 * time_write_format. */
const char *time_format_fault(const char *format, size_t nbytes, bool reads, size_t *at);

/* Whether the instant's year is one that time_write can write. */
bool time_is_in_range(struct time_reader *r, const struct instant *x);

/* Writes YYYY-MM-DD of a date, or YYYY-MM-DDThh:mm:ss[.fraction] and Z or the zone's offset. x is in range. Returns the length. */
#define TIME_TEXT_NBYTES 48
size_t time_write(struct time_reader *r, const struct instant *x, char to[TIME_TEXT_NBYTES]);

/* Writes an instant, which is in range, by a format of strftime's letters that has no fault. to: TIME_FORMAT_NBYTES(format_nbytes)
 * bytes. Returns the length. */
#define TIME_FORMAT_NBYTES(format_nbytes) (12 * (format_nbytes) + 24)
size_t time_write_format(struct time_reader *r, const char *format, size_t format_nbytes, const struct instant *x, char *to);

/* The number that one of the format's letters stands for: YmdHMSjVuq and their like. *step: as time_format_step. */
int64_t time_part(struct time_reader *r, char letter, const struct instant *x, int64_t *step);

/* ---- units ---- */

/* A span of the calendar. */
struct time_unit {
	int64_t seconds; /* 0: */
	int64_t months;
};

/* Reads a unit, perhaps after a number: second, minute, hour, day, week, month, quarter, year, also with an s, or their short
 * forms s, m, min, h, d, w, mo, y: "15m", "month", "2 weeks". Returns false where the text is something else. */
bool time_unit_read(const char *text, size_t nbytes, struct time_unit *out);

/* Makes x the beginning of the unit that it lies in. Units of months begin with a year, of days on 1970-01-01, of weeks on
 * Monday, and shorter ones at midnight, if they divide a day. */
void time_truncate(struct time_reader *r, const struct time_unit *unit, struct instant *x);

/* ---- arithmetic ---- */

/* The seconds from 1970-01-01T00:00:00Z: *significand x 10^-scale. */
int time_to_epoch(const struct instant *x, int128 *significand);

/* Less than 0, 0 or more, as x is before, at or after y. */
int time_compare(const struct instant *x, const struct instant *y);

/* The instant of epoch seconds. Returns false where they are out of range, or have too long a fraction. */
bool time_of_epoch(struct time_reader *r, int128 significand, int scale, struct instant *out);

/* Seconds from begin up to end. */
struct time_span {
	int64_t begin, end;
};

/* The seconds around x in which clocks of the zone show the same multiple of `step` seconds, counted from 1970-01-01T00:00:00, or
 * some of them; none if step is 0. */
struct time_span time_span_of(struct time_reader *r, const struct instant *x, int64_t step);

/* Returns a number of seconds whose multiples bound the times for which time_truncate, or time_write_format, gives one result; 0: none
 * is known. */
int64_t time_unit_step(const struct time_unit *unit);
int64_t time_format_step(const char *format, size_t nbytes);

/* Adds months. A day that the month does not have becomes its last. */
void time_add_months(struct time_reader *r, struct instant *x, int64_t months);
