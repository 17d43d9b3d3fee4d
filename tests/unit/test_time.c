/* SPDX-License-Identifier: MIT
 *
 * test_time.c - the calendar against a walk over its days, texts in and out, units, zones.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/time.h"
#include "tap.h"

static struct time_zone utc;

/* Reads a text from memory of its own length. Returns its epoch seconds as text, or "no". */
static const char *read_as(struct time_reader *r, const char *format, const char *text)
{
	static char out[DECIMAL_TEXT_NBYTES + 1];
	size_t nbytes = strlen(text);
	char *copy = malloc(nbytes ? nbytes : 1);
	struct instant x;
	int128 significand;
	bool is_read;
	int scale;

	if (!copy)
		bail("no memory");
	memcpy(copy, text, nbytes);
	is_read = format ? time_read_format(r, format, strlen(format), copy, nbytes, &x) : time_read(r, copy, nbytes, &x);
	free(copy);
	if (!is_read)
		return "no";
	scale = time_to_epoch(&x, &significand);
	out[decimal_format(significand, scale, out)] = '\0';
	return out;
}

static void becomes(struct time_reader *r, const char *format, const char *text, const char *want)
{
	is_string(want, read_as(r, format, text), "%s by %s", text, format ? format : "ISO 8601");
}

static void test_iso(void)
{
	static const char *const same[][2] = {
		{"1970-01-01", "0"}, {"1970-01-01T00:00:00Z", "0"}, {"1969-12-31T23:59:59.5Z", "-0.5"},
		{"2024-05-01T10:15:00Z", "1714558500"}, {"2024-05-01 10:15:00", "1714558500"},
		{"2024-05-01T11:15+01:00", "1714558500"}, {"2024-05-01T11:15:00+0100", "1714558500"},
		{"2024-05-01T09:15:00-01", "1714558500"}, {"2024-05-01T10:15:00,250Z", "1714558500.250"},
		{"20240501T101500Z", "1714558500"}, {"20240501 1015", "1714558500"}, {"2024-05-01t10:15:00z", "1714558500"},
		{"2024-05-01 12:15:00 +0200", "1714558500"}, {"2024-05-01 10:15:00 UTC", "1714558500"},
		{"2024-W18-3T10:15Z", "1714558500"}, {"2024W183T1015Z", "1714558500"}, {"2024-122T10:15Z", "1714558500"},
		{"2024-05", "1714521600"}, {"2020-W53-5", "1609459200"}, {"2021-W01-1", "1609718400"},
		{"2016-12-31T23:59:60Z", "1483228800"}, {"2000-02-29", "951782400"}, {"0001-01-01", "-62135596800"},
		{"0000-01-01", "-62167219200"}, {"9999-12-31T23:59:59Z", "253402300799"},
		{"2024-05-01T10:15:00.123456789012345678Z", "1714558500.123456789012345678"},
		{"2024-05-01T10:15:00.1234567890123456789Z", "no"}, {"2021-W53-1", "no"}, {"2024-367", "no"}, {"2023-366", "no"},
		{"1900-02-29", "no"}, {"2024-13-01", "no"}, {"2024-00-01", "no"}, {"2024-05-00", "no"}, {"2024-05-32", "no"},
		{"2024-05-01T24:00:00Z", "no"}, {"2024-05-01T10:60:00Z", "no"}, {"2024-05-01T10:15:61Z", "no"},
		{"2024-05-01T10:15:0", "no"}, {"2024-05-01T10:15:00.Z", "no"}, {"2024-05-01T10:15:00+24:00", "no"},
		{"2024-05-01T10:15:00+01:0", "no"}, {"2024-05-01x10:15", "no"}, {"24-05-01", "no"}, {"", "no"}, {"2024", "no"},
		{"2024-05-01T10:15:00ZZ", "no"}, {"2024-05-01T1:15:00Z", "no"}, {"2024-05-01T10.15.00", "no"},
		{"2024-05-01T10:15:/0Z", "no"}, {"2024-05-01T10:15::0Z", "no"}, {"2024-05-01T10:15:00  UTC", "no"},
	};
	struct time_reader r;

	time_reader_init(&r, &utc);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		becomes(&r, NULL, same[i][0], same[i][1]);
	for (size_t i = sizeof same / sizeof *same; i-- > 0;) /* with what the reader remembers now */
		is_string(same[i][1], read_as(&r, NULL, same[i][0]), "%s again", same[i][0]);
	ok(time_form_of("2024-05-01T10:15:00Z", 20) == TIME_DATETIME, "a time by itself");
	ok(time_form_of("2024-05-01", 10) == TIME_DATE, "a date by itself");
	ok(time_form_of("20240501", 8) == TIME_NONE && time_form_of("2024-05", 7) == TIME_NONE, "what may be a number is none");
}

static void test_formats(void)
{
	static const char *const same[][3] = {
		{"%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700", "971211336"},
		{"%d/%b/%Y:%H:%M:%S %z", "10/oct/2000:13:55:36   -07:00", "971211336"},
		{"%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36", "no"},
		{"%d.%m.%Y", "1.5.2024", "1714521600"}, {"%d.%m.%Y", "01.05.2024", "1714521600"}, {"%d.%m.%Y", "31.04.2024", "no"},
		{"%m/%d/%y %I:%M %p", "05/01/24 10:15 AM", "1714558500"}, {"%m/%d/%y %I:%M %p", "05/01/24 12:15 am", "1714522500"},
		{"%m/%d/%y %I:%M%p", "05/01/24 12:15PM", "1714565700"}, {"%I", "13", "no"}, {"%I", "0", "no"},
		{"%Y%m%d%H%M%S", "20240501101500", "1714558500"}, {"%Y-%j", "2024-122", "1714521600"}, {"%Y-%j", "2023-366", "no"},
		{"%s", "1714558500", "1714558500"}, {"%s.%f", "-1.25", "-1.25"}, {"%S.%f", "1.000250", "1.000250"},
		{"%a, %d %b %Y %T %Z", "Wed, 01 May 2024 10:15:00 GMT", "1714558500"}, {"%A %e %B %Y", "Wednesday  1 May 2024", "1714521600"},
		{"%F %R", "2024-05-01 10:15", "1714558500"}, {"%D", "05/01/24", "1714521600"}, {"%H:%M", "10:15", "36900"},
		{"%d %b", "29 Feb", "no"}, {"100%% %Y", "100% 1970", "0"}, {"%y", "68", "3092601600"}, {"%y", "69", "-31536000"},
		{"%B", "Sept", "no"}, {"%b", "Sep", "20995200"}, {"%z", "+0100", "-3600"}, {"%Y", "12345", "no"},
	};
	struct time_reader r;
	size_t at;

	time_reader_init(&r, &utc);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		ok(!time_format_fault(same[i][0], strlen(same[i][0]), true, &at), "%s is a format", same[i][0]);
		is_string(same[i][2], read_as(&r, same[i][0], same[i][1]), "%s by %s", same[i][1], same[i][0]);
	}
	ok(time_format_fault("%Y %Q", 5, true, &at) && at == 3, "a letter that does not exist is at byte 3");
	ok(time_format_fault("%Y %", 4, true, &at) && at == 3, "a percent sign alone");
	ok(time_format_fault("Y-m-d", 5, true, &at), "no letter at all");
	ok(time_format_fault("%G-%V", 5, true, &at) && !time_format_fault("%G-%V", 5, false, &at), "some are written only");
}

static void writes(struct time_reader *r, const char *text, const char *format, const char *want)
{
	char to[TIME_FORMAT_NBYTES(64)];
	struct instant x;
	size_t nbytes;

	ok(time_read(r, text, strlen(text), &x), "%s is a time", text);
	nbytes = format ? time_write_format(r, format, strlen(format), &x, to) : time_write(r, &x, to);
	to[nbytes] = '\0';
	is_string(want, to, "%s as %s", text, format ? format : "ISO 8601");
}

static void test_writing(void)
{
	struct time_reader r;

	time_reader_init(&r, &utc);
	writes(&r, "2024-05-01T10:15:00+02:00", NULL, "2024-05-01T08:15:00Z");
	writes(&r, "2024-05-01", NULL, "2024-05-01");
	writes(&r, "1969-12-31 23:59:59.050", NULL, "1969-12-31T23:59:59.050Z");
	writes(&r, "0001-01-01T00:00:00+00:01", NULL, "0000-12-31T23:59:00Z");
	writes(&r, "2024-05-01T00:05:09.25", "%Y %m %d %e %H %I %p %M %S %f %j %b %B %a %A", "2024 05 01  1 00 12 AM 05 09 250000 122 May May Wed Wednesday");
	writes(&r, "2024-12-30T13:00", "%G-W%V-%u %w %y %I%p %F %T %D %R %z %Z %s%%", "2025-W01-1 1 24 01PM 2024-12-30 13:00:00 12/30/24 13:00 +0000 UTC 1735563600%");
}

static void test_units(void)
{
	static const char *const same[][2] = {
		{"second", "2024-05-17T10:47:33Z"}, {"10s", "2024-05-17T10:47:30Z"}, {"minute", "2024-05-17T10:47:00Z"},
		{"15m", "2024-05-17T10:45:00Z"}, {"hour", "2024-05-17T10:00:00Z"}, {"6 hours", "2024-05-17T06:00:00Z"},
		{"day", "2024-05-17"}, {"week", "2024-05-13"}, {"month", "2024-05-01"}, {"quarter", "2024-04-01"},
		{"year", "2024-01-01"}, {"10y", "2020-01-01"}, {"2mo", "2024-05-01"}, {"6 months", "2024-01-01"}, {"1D", "no"},
		{"fortnight", "no"}, {"0m", "no"}, {"m5", "no"}, {"", "no"}, {"15", "no"}, {"hourss", "no"}, {"-1h", "no"},
	};
	struct time_reader r;

	time_reader_init(&r, &utc);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		char to[TIME_TEXT_NBYTES + 1] = "no";
		struct time_unit unit;
		struct instant x;
		time_read(&r, "2024-05-17T10:47:33.9Z", 22, &x);
		if (time_unit_read(same[i][0], strlen(same[i][0]), &unit)) {
			time_truncate(&r, &unit, &x);
			to[time_write(&r, &x, to)] = '\0';
		}
		is_string(same[i][1], to, "unit %s", same[i][0]);
	}
}

/* All days of 10,000 years, one after the other. */
static void test_calendar(void)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t day = -719528, nwrong = 0;
	int weekday = 6, week = 52, of_year; /* 0000-01-01 was a Saturday */
	int64_t step;
	struct time_reader r;

	time_reader_init(&r, &utc);
	for (int year = 0; year <= 9999; year++) {
		bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
		of_year = 1;
		for (int month = 1; month <= 12; month++)
			for (int d = 1; d <= lengths[month - 1] + (month == 2 && is_leap); d++, day++, of_year++) {
				char text[TIME_TEXT_NBYTES], written[TIME_TEXT_NBYTES];
				struct instant x;
				if (weekday == 1) /* a Monday: the week's Thursday is 3 days on */
					week = of_year + 3 > 365 + is_leap ? 1 : (of_year + 3 - 1) / 7 + 1;
				snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, d);
				nwrong += !time_read(&r, text, 10, &x) || x.seconds != 86400 * day || time_write(&r, &x, written) != 10 ||
					  memcmp(text, written, 10) != 0 || time_part(&r, 'u', &x, &step) != weekday ||
					  time_part(&r, 'V', &x, &step) != week || time_part(&r, 'j', &x, &step) != of_year ||
					  time_part(&r, 'q', &x, &step) != (month - 1) / 3 + 1;
				weekday = weekday % 7 + 1;
			}
	}
	is_int(0, nwrong, "every day of 10,000 years is read and written, and has its weekday, week and quarter");
}

static void test_months(void)
{
	static const struct {
		const char *from, *to;
		int months;
	} same[] = {{"2024-01-31", "2024-02-29", 1}, {"2023-01-31T10:00:00Z", "2023-02-28T10:00:00Z", 1}, {"2024-02-29", "2023-02-28", -12},
		    {"2024-05-01", "2024-04-01", -1}, {"2024-12-15", "2026-01-15", 13}};
	struct time_reader r;

	time_reader_init(&r, &utc);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		char to[TIME_TEXT_NBYTES + 1];
		struct instant x;
		time_read(&r, same[i].from, strlen(same[i].from), &x);
		time_add_months(&r, &x, same[i].months);
		to[time_write(&r, &x, to)] = '\0';
		is_string(same[i].to, to, "%s and %d months", same[i].from, same[i].months);
	}
}

static void test_zones(void)
{
	static const char *const offsets[] = {"UTC", "Z", "+02:00", "-0530", "+01"};
	static const int32_t want[] = {0, 0, 7200, -19800, 3600};
	struct time_zone zone;
	struct time_reader r;
	struct time_unit unit;
	struct instant x;
	char to[TIME_TEXT_NBYTES + 1];

	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		ok(!time_zone_set(&zone, offsets[i]) && !zone.is_named && zone.offset == want[i], "zone %s", offsets[i]);
	ok(time_zone_set(&zone, "Nowhere/None") && time_zone_set(&zone, "../zoneinfo/UTC") && time_zone_set(&zone, "+25:00"),
	   "zones that do not exist");
	time_zone_set(&zone, "-05:30");
	time_reader_init(&r, &zone);
	writes(&r, "2024-05-01T01:15:00Z", NULL, "2024-04-30T19:45:00-05:30");
	is_string("1714545900", read_as(&r, NULL, "2024-05-01T01:15:00"), "a time without an offset is of the zone");
	if (time_zone_set(&zone, "Europe/Berlin")) {
		ok(true, "Europe/Berlin # SKIP no zoneinfo database");
		return;
	}
	time_reader_init(&r, &zone);
	writes(&r, "2024-03-31T00:59:59Z", NULL, "2024-03-31T01:59:59+01:00");
	writes(&r, "2024-03-31T01:00:00Z", NULL, "2024-03-31T03:00:00+02:00");
	writes(&r, "2024-03-31 02:30", NULL, "2024-03-31T03:30:00+02:00");
	writes(&r, "2024-10-27 02:30", NULL, "2024-10-27T02:30:00+02:00");
	writes(&r, "2024-10-27T01:30Z", "%F %T %Z %z", "2024-10-27 02:30:00 CET +0100");
	time_unit_read("day", 3, &unit);
	time_read(&r, "2024-10-27T22:59:00Z", 20, &x);
	time_truncate(&r, &unit, &x);
	is_int(1729980000, x.seconds, "a day of 25 hours begins at its midnight");
	time_unit_read("6h", 2, &unit);
	time_read(&r, "2024-10-27T02:00:00Z", 20, &x);
	time_truncate(&r, &unit, &x);
	to[time_write(&r, &x, to)] = '\0';
	is_string("2024-10-27T00:00:00+02:00", to, "six hours begin before clocks are changed");
}

int main(void)
{
	plan_lazy();
	test_iso();
	test_formats();
	test_writing();
	test_units();
	test_calendar();
	test_months();
	test_zones();
	return done();
}
