/* SPDX-License-Identifier: MIT
 *
 * time.c - see time.h: zones, the calendar, ISO 8601, formats, units.
 *
 * Everything goes through struct civil, what a clock of the zone shows, but for the commonest text, YYYY-MM-DDThh:mm:ss, whose day
 * is compared with the last one and whose other digits are read at once.
 */
#include "lang/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "number/decimal_text.h"
#include "simd/simd.h"

#define DAY TIME_DAY_NSECONDS
#define QUARTER 900 /* seconds in which no zone changes its offset, as far as they are alike at both ends */
#define FIRST_SECOND (-INT64_C(62167219200)) /* 0000-01-01T00:00:00 */
#define LAST_SECOND INT64_C(253402300799)    /* 9999-12-31T23:59:59 */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What a calendar and a clock show; and what is read of a text. */
struct civil {
	int year, month, day, hour, minute, second;
	uint64_t fraction;
	int nfraction;
	bool has_time, has_offset;
	int32_t offset; /* in seconds */
};

static const struct civil first_civil = {.year = 1970, .month = 1, .day = 1};

/* ---- calendar ---- */

/* floor(a / b), b > 0 */
static int64_t floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int days_of_month(int year, int month)
{
	bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (month == 2)
		return is_leap ? 29 : 28;
	return 30 + (month + month / 8) % 2;
}

/* Days from 1970-01-01: years begin in March, so that the leap day is their last. */
static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + floor_divide(y, 4) - floor_divide(y, 100) + floor_divide(y, 400) + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* The date of a day from 1970-01-01 on: the inverse, by eras of 400 years. (Howard Hinnant, chrono-compatible low-level date
 * algorithms.) */
static struct civil civil_of_day(int64_t days)
{
	int64_t era = floor_divide(days + 719468, 146097), of_era = days + 719468 - era * 146097;
	int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
	struct civil c = {.day = (int)(of_year - (153 * m + 2) / 5 + 1), .month = (int)(m < 10 ? m + 3 : m - 9)};

	c.year = (int)(y + era * 400) + (c.month <= 2);
	return c;
}

/* 0: Monday */
static int weekday_of(int64_t days)
{
	return (int)(days + 3 - 7 * floor_divide(days + 3, 7));
}

/* The first day of a week's year: the Monday of the week with January 4th. */
static int64_t week_year_begin(int year)
{
	int64_t fourth = days_before(year, 1, 4);

	return fourth - weekday_of(fourth);
}

/* The year of a day's week, and *week from 1 on. */
static int week_of(int64_t days, int *week)
{
	int year = civil_of_day(days - weekday_of(days) + 3).year; /* that of its Thursday */

	*week = (int)(days - week_year_begin(year)) / 7 + 1;
	return year;
}

/* ---- zones ---- */

/* Reads two digits. Returns whether they are digits, and at most max. */
static bool two_digits(const char *p, unsigned max, int *out)
{
	unsigned tens = (unsigned char)(p[0] - '0'), ones = (unsigned char)(p[1] - '0');

	*out = (int)(10 * tens + ones);
	return tens < 10 && ones < 10 && 10 * tens + ones <= max;
}

/* Reads +hh:mm, +hhmm or +hh, or the same with -, up to the end. */
static bool read_offset(const char *p, const char *end, int32_t *offset)
{
	bool is_negative = p < end && *p == '-';
	int hours, minutes = 0;

	if (end - p < 3 || (*p != '+' && *p != '-') || !two_digits(p + 1, 23, &hours))
		return false;
	p += 3;
	if (p < end) {
		p += *p == ':';
		if (end - p != 2 || !two_digits(p, 59, &minutes))
			return false;
	}
	*offset = 60 * (60 * hours + minutes) * (is_negative ? -1 : 1);
	return true;
}

/* Whether the zoneinfo database has the name. */
static bool is_zone(const char *name)
{
	const char *folder = getenv("TZDIR");
	char path[512], begin[4] = "";
	FILE *f;

	if (*name == '/' || strstr(name, "..") ||
	    (size_t)snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name) >= sizeof path)
		return false;
	f = fopen(path, "rb");
	if (!f)
		return false;
	if (fread(begin, 1, sizeof begin, f) < sizeof begin)
		*begin = '\0';
	fclose(f);
	return !memcmp(begin, "TZif", sizeof begin);
}

const char *time_zone_set(struct time_zone *zone, const char *name)
{
	*zone = (struct time_zone){0};
	if (!strcasecmp(name, "UTC") || !strcasecmp(name, "GMT") || !strcasecmp(name, "Z") ||
	    read_offset(name, name + strlen(name), &zone->offset))
		return NULL;
	if (strcmp(name, "local") != 0) {
		if (!is_zone(name))
			return "no zone of this name is in the system's zoneinfo database: Europe/Berlin is one, UTC and +02:00 need none";
		if (setenv("TZ", name, 1) != 0)
			return "no memory";
	}
	tzset();
	zone->is_named = true;
	return NULL;
}

/* The offset of a named zone at an instant. */
static int32_t system_offset(int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	return localtime_r(&t, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

/* The offset at a local time: the earlier of two instants with it, and where clocks skip it, that before they do. */
static int32_t system_offset_local(int64_t local)
{
	int32_t before = system_offset(local - DAY), after = system_offset(local + DAY);

	if (before == after || system_offset(local - before) == before || system_offset(local - after) != after)
		return before;
	return after;
}

/* Looks up an offset, or takes that of the same quarter of an hour. */
static int32_t offset_at(const struct time_reader *r, struct time_offset *known, int64_t seconds, int32_t (*look_up)(int64_t seconds))
{
	int64_t quarter;
	int32_t offset;

	if (!r->zone->is_named)
		return r->zone->offset;
	quarter = floor_divide(seconds, QUARTER);
	if (quarter == known->quarter)
		return known->offset;
	offset = look_up(QUARTER * quarter);
	if (offset != look_up(QUARTER * quarter + QUARTER - 1))
		return look_up(seconds);
	*known = (struct time_offset){quarter, offset};
	return offset;
}

static int64_t local_of(struct time_reader *r, int64_t seconds)
{
	return seconds + offset_at(r, &r->of_instant, seconds, system_offset);
}

static int64_t seconds_of_local(struct time_reader *r, int64_t local)
{
	return local - offset_at(r, &r->of_local, local, system_offset_local);
}

void time_reader_init(struct time_reader *r, const struct time_zone *zone)
{
	memset(r, 0, sizeof *r); /* the text, too, of which more is copied than was written */
	r->zone = zone;
	r->of_instant.quarter = r->of_local.quarter = INT64_MIN;
}

/* ---- clocks ---- */

/* The instant at which clocks show c. Returns false where they never do. */
static bool instant_of(struct time_reader *r, const struct civil *c, struct instant *out)
{
	int64_t local;

	if (c->month < 1 || c->month > 12 || c->day < 1 || c->day > days_of_month(c->year, c->month))
		return false;
	local = DAY * days_before(c->year, c->month, c->day) + 3600 * c->hour + 60 * c->minute + c->second;
	*out = (struct instant){.seconds = c->has_offset ? local - c->offset : seconds_of_local(r, local),
				.fraction = c->fraction, .nfraction = (uint8_t)c->nfraction, .is_date = !c->has_time};
	return true;
}

/* What clocks of the zone show at an instant. */
static struct civil civil_of(struct time_reader *r, const struct instant *x, int64_t *days)
{
	int64_t local = local_of(r, x->seconds);
	struct civil c;
	int of_day;

	*days = floor_divide(local, DAY);
	c = civil_of_day(*days);
	of_day = (int)(local - DAY * *days);
	c.hour = of_day / 3600;
	c.minute = of_day / 60 % 60;
	c.second = of_day % 60;
	c.fraction = x->fraction;
	c.nfraction = x->nfraction;
	c.offset = (int32_t)(local - x->seconds);
	return c;
}

bool time_is_in_range(struct time_reader *r, const struct instant *x)
{
	int64_t local;

	if (x->seconds < FIRST_SECOND - DAY || x->seconds > LAST_SECOND + DAY)
		return false;
	local = local_of(r, x->seconds);
	return local >= FIRST_SECOND && local <= LAST_SECOND;
}

/* ---- ISO 8601 ---- */

/* Each of these reads a part of a time, which is optional, from p on, and returns where it ends: p where it is not there, and NULL
 * where it is malformed. n: separators between two parts, 1 in the extended form (10:15), 0 in the basic one (1015). */
static const char *read_digits(const char *p, const char *end, struct civil *c)
{
	c->fraction = 0;
	for (c->nfraction = 0; p < end && decimal_is_digit(*p); p++, c->nfraction += c->nfraction <= TIME_NFRACTION_MAX)
		if (c->nfraction < TIME_NFRACTION_MAX)
			c->fraction = 10 * c->fraction + (uint64_t)(*p - '0');
	return c->nfraction > 0 ? p : NULL;
}

static const char *read_fraction(const char *p, const char *end, struct civil *c)
{
	return p < end && (*p == '.' || *p == ',') ? read_digits(p + 1, end, c) : p;
}

static const char *read_seconds(const char *p, const char *end, size_t n, struct civil *c)
{
	if (p == end || (n ? *p != ':' : !decimal_is_digit(*p)))
		return p;
	if ((size_t)(end - p) < 2 + n || !two_digits(p + n, 60, &c->second))
		return NULL;
	return read_fraction(p + 2 + n, end, c);
}

/* Reads what follows the seconds, up to the end. is_strict: as time_form_of has it. */
static bool read_zone(const char *p, const char *end, bool is_strict, struct civil *c)
{
	c->has_offset = p < end;
	if (p == end || (end - p == 1 && (*p == 'Z' || (*p == 'z' && !is_strict))))
		return true;
	if (*p == ' ' && !is_strict) {
		p++;
		if (end - p == 3 && (!memcmp(p, "UTC", 3) || !memcmp(p, "GMT", 3)))
			return true;
	}
	return read_offset(p, end, &c->offset);
}

/* Reads a time of day, perhaps with an offset. */
static bool read_clock(const char *p, const char *end, size_t n, bool is_strict, struct civil *c)
{
	c->has_time = true;
	if ((size_t)(end - p) < 4 + n || !two_digits(p, 23, &c->hour) || (n && p[2] != ':') || !two_digits(p + 2 + n, 59, &c->minute))
		return false;
	p = read_seconds(p + 4 + n, end, n, c);
	return p && read_zone(p, end, is_strict, c);
}

/* Reads the date that the text begins with. Returns its length, or 0; n as above. */
static size_t read_date(const char *p, size_t nbytes, size_t n, struct civil *c)
{
	int century, year;

	if (nbytes < 8 + 2 * n || !two_digits(p, 99, &century) || !two_digits(p + 2, 99, &year) ||
	    (n && (p[4] != '-' || p[7] != '-')) || !two_digits(p + 4 + n, 12, &c->month) ||
	    !two_digits(p + 6 + 2 * n, 31, &c->day))
		return 0;
	c->year = 100 * century + year;
	return c->month > 0 && c->day > 0 && c->day <= days_of_month(c->year, c->month) ? 8 + 2 * n : 0;
}

/* Reads YYYY-Www-d, YYYYWwwd, YYYY-ddd or YYYY-MM, alike. */
static size_t read_rare_date(const char *p, size_t nbytes, size_t *n, struct civil *c)
{
	int century, year, number, digit;
	int64_t days;

	*n = nbytes > 4 && p[4] == '-';
	if (nbytes < 7 || !two_digits(p, 99, &century) || !two_digits(p + 2, 99, &year))
		return 0;
	c->year = 100 * century + year;
	if (p[4 + *n] == 'W') {
		if (nbytes < 8 + 2 * *n || !two_digits(p + 5 + *n, 53, &number) || (*n && p[8] != '-'))
			return 0;
		digit = p[7 + 2 * *n] - '0';
		days = week_year_begin(c->year) + 7 * (number - 1) + digit - 1;
		if (number < 1 || digit < 1 || digit > 7 || (number == 53 && week_of(days, &number) != c->year))
			return 0;
		*c = civil_of_day(days);
		return c->year >= 0 && c->year <= 9999 ? 8 + 2 * *n : 0;
	}
	if (!*n || !two_digits(p + 5, 99, &number))
		return 0;
	if (nbytes == 7) {
		c->month = number;
		c->day = 1;
		return number >= 1 && number <= 12 ? 7 : 0;
	}
	number = 10 * number + p[7] - '0';
	if (!decimal_is_digit(p[7]) || number < 1 || number > 337 + days_of_month(c->year, 2))
		return 0;
	*c = civil_of_day(days_before(c->year, 1, 1) + number - 1);
	return 8;
}

/* Reads all of a text. */
static enum time_form read_iso(const char *text, size_t nbytes, bool is_strict, struct civil *c)
{
	const char *end = text + nbytes;
	size_t n = is_strict || (nbytes > 4 && text[4] == '-'), length = read_date(text, nbytes, n, c);

	if (length == 0 && !is_strict)
		length = read_rare_date(text, nbytes, &n, c);
	if (length == 0)
		return TIME_NONE;
	if (length == nbytes)
		return TIME_DATE;
	if (text[length] != 'T' && text[length] != ' ' && (is_strict || text[length] != 't'))
		return TIME_NONE;
	return read_clock(text + length + 1, end, n, is_strict, c) ? TIME_DATETIME : TIME_NONE;
}

/* Reads hh:mm:ss from its eight bytes, the first in the lowest: seconds, or -1. Bytes from 10 on, and of colons from 1 on, get
 * their highest bit by the sum. */
static inline int clock_seconds(uint64_t word)
{
	uint64_t digits = word ^ UINT64_C(0x30303a30303a3030), tens;
	int hour, minute, second;

	if (((digits + UINT64_C(0x76767f76767f7676)) | digits) & UINT64_C(0x8080808080808080))
		return -1;
	tens = digits * 10 + (digits >> 8);
	hour = (int)(tens & 0xff);
	minute = (int)(tens >> 24 & 0xff);
	second = (int)(tens >> 48 & 0xff);
	return hour > 23 || minute > 59 || second > 60 ? -1 : 3600 * hour + 60 * minute + second;
}

/* Whether the first eight bytes of a date are YYYY-MM- and the next two, which are given, a day that every month has. */
static bool is_usual_date(uint64_t word, const char *day)
{
	uint64_t digits = word ^ UINT64_C(0x2d30302d30303030);
	unsigned month = (unsigned)(10 * (digits >> 40 & 0xff) + (digits >> 48 & 0xff));
	unsigned tens = (unsigned char)(day[0] - '0'), ones = (unsigned char)(day[1] - '0');

	return !(((digits + UINT64_C(0x7f76767f76767676)) | digits) & UINT64_C(0x8080808080808080)) && month - 1 < 12 && ones < 10 &&
	       10 * tens + ones - 1 < 28;
}

enum time_form time_form_of(const char *text, size_t nbytes)
{
	struct civil c = {0};

	if (nbytes < 10 || text[4] != '-')
		return TIME_NONE;
	if ((nbytes == 10 || nbytes == 19 || (nbytes == 20 && text[19] == 'Z')) && is_usual_date(simd_load_word(text), text + 8)) {
		if (nbytes == 10)
			return TIME_DATE;
		if ((text[10] == 'T' || text[10] == ' ') && clock_seconds(simd_load_word(text + 11)) >= 0)
			return TIME_DATETIME;
	}
	return read_iso(text, nbytes, true, &c);
}

static int two_ascii(const char *p)
{
	return 10 * (p[0] - '0') + p[1] - '0';
}

/* YYYY-MM-DD, T or a blank, hh:mm:ss, and perhaps Z, of the same day as the last, or one that every month has. */
static inline bool read_usual(struct time_reader *r, const char *text, size_t nbytes, struct instant *out)
{
	bool has_offset = nbytes == 20 && text[19] == 'Z';
	int64_t local;
	int of_day;

	if ((nbytes != 19 && !has_offset) || (text[10] != 'T' && text[10] != ' '))
		return false;
	if (memcmp(text, r->day_text, sizeof r->day_text) != 0) {
		if (!is_usual_date(simd_load_word(text), text + 8))
			return false;
		memcpy(r->day_text, text, sizeof r->day_text);
		r->day = days_before(100 * two_ascii(text) + two_ascii(text + 2), two_ascii(text + 5), two_ascii(text + 8));
	}
	of_day = clock_seconds(simd_load_word(text + 11));
	if (of_day < 0)
		return false;
	local = DAY * r->day + of_day;
	*out = (struct instant){.seconds = has_offset ? local : seconds_of_local(r, local)};
	return true;
}

bool time_read(struct time_reader *r, const char *text, size_t nbytes, struct instant *out)
{
	struct civil c = {0};

	if (read_usual(r, text, nbytes, out))
		return true;
	text = decimal_trim(text, &nbytes);
	if (read_iso(text, nbytes, false, &c) == TIME_NONE || c.nfraction > TIME_NFRACTION_MAX || !instant_of(r, &c, out))
		return false;
	if (text[4] == '-' && nbytes >= sizeof r->day_text && text[7] == '-' && text[5] != 'W') {
		memcpy(r->day_text, text, sizeof r->day_text);
		r->day = days_before(c.year, c.month, c.day);
	}
	return true;
}

/* Writes the digits of x < 100. */
static char *put_2(char *to, int x)
{
	to[0] = (char)('0' + x / 10);
	to[1] = (char)('0' + x % 10);
	return to + 2;
}

static char *put_text(char *to, const char *text)
{
	size_t nbytes = strlen(text);

	memcpy(to, text, nbytes);
	return to + nbytes;
}

static char *put_number(char *to, int64_t x, int ndigits)
{
	return to + sprintf(to, "%0*lld", ndigits, (long long)x);
}

static char *put_date(char *to, const struct civil *c)
{
	to = put_2(put_2(to, c->year / 100), c->year % 100);
	*to++ = '-';
	to = put_2(to, c->month);
	*to++ = '-';
	return put_2(to, c->day);
}

static char *put_clock(char *to, int of_day)
{
	to = put_2(to, of_day / 3600);
	*to++ = ':';
	to = put_2(to, of_day / 60 % 60);
	*to++ = ':';
	return put_2(to, of_day % 60);
}

/* Seconds of an offset that has some, as zones of the 19th century, are not written. */
static char *put_offset(char *to, int32_t offset, const char *colon)
{
	int32_t minutes = (offset < 0 ? -offset : offset) / 60;

	*to++ = offset < 0 ? '-' : '+';
	return put_2(put_text(put_2(to, minutes / 60), colon), minutes % 60);
}

size_t time_write(struct time_reader *r, const struct instant *x, char to[TIME_TEXT_NBYTES])
{
	int64_t local, day;
	char *p = to + sizeof r->day_text;

	if (x->seconds == r->written.seconds && x->is_date == r->written.is_date && x->nfraction == 0 && r->written_nbytes > 0) {
		memcpy(to, r->written_text, sizeof r->written_text);
		return r->written_nbytes;
	}
	local = local_of(r, x->seconds);
	day = floor_divide(local, DAY);
	if (day != r->day || !*r->day_text) {
		const struct civil c = civil_of_day(day);
		put_date(r->day_text, &c);
		r->day = day;
	}
	memcpy(to, r->day_text, sizeof r->day_text);
	if (!x->is_date) {
		*p++ = 'T';
		p = put_clock(p, (int)(local - DAY * day));
		if (x->nfraction > 0) {
			*p++ = '.';
			p = decimal_write_padded(p, x->fraction, x->nfraction);
		}
		if (local != x->seconds || r->zone->is_named)
			p = put_offset(p, (int32_t)(local - x->seconds), ":");
		else
			*p++ = 'Z';
	}
	if (x->nfraction == 0) {
		r->written = *x;
		r->written_nbytes = (size_t)(p - to);
		memcpy(r->written_text, to, sizeof r->written_text);
	}
	return (size_t)(p - to);
}

/* ---- formats ---- */

static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September",
				     "October", "November", "December"};
static const char *const weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/* The letters after %. digits: how many of a number are written, and read at most; 0: no number. step: of seconds in which
 * what is written is the same. stands_for: other letters. max: of a number that is a member of
 * struct civil, at byte `at`; 0: it is none. */
static const struct letter {
	char letter;
	bool is_read;
	uint8_t digits;
	int16_t max;
	int32_t step;
	const char *stands_for;
	size_t at;
} letters[128] = {
#define LETTER(letter, ...) [letter] = {letter, __VA_ARGS__}
#define NUMBER(letter, member, digits, max, step) \
	LETTER(letter, true, digits, max, step, NULL, offsetof(struct civil, member))
	NUMBER('Y', year, 4, 9999, DAY),	NUMBER('m', month, 2, 99, DAY),
	NUMBER('d', day, 2, 99, DAY),		NUMBER('e', day, 2, 99, DAY),
	NUMBER('H', hour, 2, 23, 3600),		NUMBER('M', minute, 2, 59, 60),
	NUMBER('S', second, 2, 60, 1),		LETTER('I', true, 2, 0, 3600, NULL, 0),
	LETTER('f', true, 0, 0, 0, NULL, 0),	LETTER('j', true, 3, 0, DAY, NULL, 0),
	LETTER('y', true, 2, 0, DAY, NULL, 0),	LETTER('p', true, 0, 0, 3600, NULL, 0),
	LETTER('b', true, 0, 0, DAY, NULL, 0),	LETTER('h', true, 0, 0, DAY, NULL, 0),
	LETTER('B', true, 0, 0, DAY, NULL, 0),	LETTER('a', true, 0, 0, DAY, NULL, 0),
	LETTER('A', true, 0, 0, DAY, NULL, 0),	LETTER('z', true, 0, 0, DAY, NULL, 0),
	LETTER('Z', true, 0, 0, 1, NULL, 0),	LETTER('s', true, 0, 0, 1, NULL, 0),
	LETTER('G', false, 4, 0, DAY, NULL, 0), LETTER('V', false, 2, 0, DAY, NULL, 0),
	LETTER('u', false, 1, 0, DAY, NULL, 0), LETTER('w', false, 1, 0, DAY, NULL, 0),
	LETTER('q', false, 1, 0, DAY, NULL, 0), LETTER('%', true, 0, 0, DAY, NULL, 0),
	LETTER('n', true, 0, 0, DAY, NULL, 0),	LETTER('t', true, 0, 0, DAY, NULL, 0),
	LETTER('F', true, 0, 0, DAY, "%Y-%m-%d", 0), LETTER('T', true, 0, 0, 1, "%H:%M:%S", 0),
	LETTER('D', true, 0, 0, DAY, "%m/%d/%y", 0), LETTER('R', true, 0, 0, 60, "%H:%M", 0),
#undef NUMBER
#undef LETTER
};

/* A number of a civil time. */
static int *civil_number(struct civil *c, size_t at)
{
	return (int *)(void *)((char *)c + at);
}

static inline const struct letter *find_letter(char c)
{
	const unsigned char at = (unsigned char)c;

	return at < COUNT(letters) && letters[at].letter ? &letters[at] : NULL;
}

const char *time_format_fault(const char *format, size_t nbytes, bool reads, size_t *at)
{
	bool has_any = false;

	for (size_t i = 0; i < nbytes; i++) {
		const struct letter *letter;
		if (format[i] != '%')
			continue;
		*at = i++;
		letter = i < nbytes ? find_letter(format[i]) : NULL;
		if (!letter)
			return "no letter of a format: %Y %m %d %H %M %S %f %z, %b %B %a %A %p %I %y %j %e %s %Z %F %T %D %R are";
		if (reads && !letter->is_read)
			return "%G, %V, %u, %w and %q are written, but not read";
		has_any |= !strchr("%nt", format[i]);
	}
	*at = 0;
	return has_any ? NULL : "a format has letters after %, such as %d.%m.%Y %H:%M:%S";
}

/* Reads up to max digits, at least one. Returns their end, or NULL. */
static const char *read_number(const char *p, const char *end, int max, int *out)
{
	const char *begin = p;

	for (*out = 0; p < end && p - begin < max && decimal_is_digit(*p); p++)
		*out = 10 * *out + (*p - '0');
	return p > begin ? p : NULL;
}

/* Reads one of the names, whole or its first three letters. Returns its end, or NULL. */
static const char *read_name(const char *p, const char *end, const char *const *names, int n, int *out)
{
	for (*out = 0; end - p >= 3 && *out < n; ++*out) {
		const char *name = names[*out];
		size_t nbytes;
		if ((p[0] | 0x20) != (name[0] | 0x20) || (p[1] | 0x20) != name[1] || (p[2] | 0x20) != name[2])
			continue;
		nbytes = strlen(name);
		return p + ((size_t)(end - p) >= nbytes && !strncasecmp(p, name, nbytes) ? nbytes : 3);
	}
	return NULL;
}

/* What a format has told so far, beside the parts of a civil time. */
struct format_reading {
	struct civil civil;
	int64_t epoch; /* its magnitude */
	int day_of_year, half; /* half: 0: AM, 1: PM, -1: a day has 24 hours */
	bool has_epoch, is_negative;
};

/* Reads [-]digits. */
static const char *read_epoch(const char *p, const char *end, struct format_reading *x)
{
	const char *digits;

	x->has_epoch = true;
	x->is_negative = p < end && *p == '-';
	digits = p += x->is_negative;
	for (; p < end && p - digits < 13 && decimal_is_digit(*p); p++)
		x->epoch = 10 * x->epoch + (*p - '0');
	return p > digits ? p : NULL;
}

static const char *read_offset_letter(const char *p, const char *end, struct civil *c)
{
	size_t nbytes = end - p >= 6 && p[3] == ':' ? 6 : end - p >= 5 && decimal_is_digit(p[3]) && decimal_is_digit(p[4]) ? 5 : 3;

	c->has_offset = true;
	if (p < end && (*p == 'Z' || *p == 'z'))
		return p + 1;
	return (size_t)(end - p) >= nbytes && read_offset(p, p + nbytes, &c->offset) ? p + nbytes : NULL;
}

static const char *read_utc(const char *p, const char *end, struct civil *c)
{
	c->has_offset = true;
	if (end - p >= 3 && (!strncasecmp(p, "UTC", 3) || !strncasecmp(p, "GMT", 3)))
		return p + 3;
	return p < end && *p == 'Z' ? p + 1 : NULL;
}

/* Reads what a letter stands for. Returns its end, or NULL. */
static const char *read_letter(const struct letter *letter, const char *p, const char *end, struct format_reading *x)
{
	struct civil *c = &x->civil;
	int number = 0;

	if (letter->digits > 0) {
		p += (letter->letter == 'e' || letter->letter == 'd') && p < end && *p == ' ';
		p = read_number(p, end, letter->digits, &number);
	}
	if (p && strchr("HIMS", letter->letter))
		c->has_time = true;
	if (letter->max) {
		*civil_number(c, letter->at) = number;
		return number <= letter->max ? p : NULL;
	}
	switch (letter->letter) {
	case 'y':
		c->year = number + (number < 69 ? 2000 : 1900);
		return p;
	case 'j':
		x->day_of_year = number ? number : -1;
		return p;
	case 'I':
		c->hour = number == 12 ? 0 : number;
		return number >= 1 && number <= 12 ? p : NULL;
	case 'f':
		return read_digits(p, end, c);
	case 'p':
		x->half = p < end && (*p | 0x20) == 'p';
		return end - p >= 2 && (x->half || (*p | 0x20) == 'a') && (p[1] | 0x20) == 'm' ? p + 2 : NULL;
	case 'b':
	case 'h':
	case 'B':
		p = read_name(p, end, months, 12, &number);
		c->month = number + 1;
		return p;
	case 'a':
	case 'A':
		return read_name(p, end, weekdays, 7, &number);
	case 'z':
		return read_offset_letter(p, end, c);
	case 'Z':
		return read_utc(p, end, c);
	case 's':
		return read_epoch(p, end, x);
	default: /* % */
		return p < end && *p == '%' ? p + 1 : NULL;
	}
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads text by a format from p on. Returns the end of what was read, or NULL. */
static const char *read_by(const char *format, size_t format_nbytes, const char *p, const char *end, struct format_reading *x)
{
	for (const char *f = format; p && f < format + format_nbytes; f++) {
		const struct letter *letter = NULL;
		if (*f == '%')
			letter = find_letter(*++f);
		if (is_space(*f) || (letter && (*f == 'n' || *f == 't')))
			while (p < end && is_space(*p))
				p++;
		else if (!letter)
			p = p < end && *p == *f ? p + 1 : NULL;
		else if (letter->stands_for)
			p = read_by(letter->stands_for, strlen(letter->stands_for), p, end, x);
		else
			p = read_letter(letter, p, end, x);
	}
	return p;
}

bool time_read_format(struct time_reader *r, const char *format, size_t format_nbytes, const char *text, size_t nbytes,
		      struct instant *out)
{
	struct format_reading x = {.civil = first_civil, .half = -1};
	const char *end = text + nbytes;

	if (read_by(format, format_nbytes, text, end, &x) != end || x.civil.nfraction > TIME_NFRACTION_MAX)
		return false;
	if (x.has_epoch) {
		int128 fraction = (int128)x.civil.fraction, whole = (int128)x.epoch * (int128)decimal_powers[x.civil.nfraction];
		return time_of_epoch(r, x.is_negative ? -whole - fraction : whole + fraction, x.civil.nfraction, out);
	}
	if (x.half > 0)
		x.civil.hour += 12;
	if (x.day_of_year) {
		struct civil day = civil_of_day(days_before(x.civil.year, 1, 1) + x.day_of_year - 1);
		if (x.day_of_year < 0 || day.year != x.civil.year)
			return false;
		x.civil.month = day.month;
		x.civil.day = day.day;
	}
	return x.civil.hour < 24 && instant_of(r, &x.civil, out);
}

/* The first six digits of a fraction. */
static char *put_micros(char *to, const struct civil *c)
{
	uint64_t x = c->fraction;

	x = c->nfraction > 6 ? x / decimal_powers[c->nfraction - 6] : x * decimal_powers[6 - c->nfraction];
	return put_number(to, (int64_t)x, 6);
}

/* A zone's short name at an instant, or its offset. */
static char *put_zone(const struct time_reader *r, char *to, int64_t seconds, int32_t offset)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (r->zone->is_named && localtime_r(&t, &tm) && tm.tm_zone && strlen(tm.tm_zone) < 24)
		return put_text(to, tm.tm_zone);
	return offset ? put_offset(to, offset, ":") : put_text(to, "UTC");
}

/* The number that a letter stands for, on a day. */
static inline int64_t number_of(const struct letter *letter, struct civil *c, int64_t days)
{
	int week, week_year;

	if (letter->max)
		return *civil_number(c, letter->at);
	switch (letter->letter) {
	case 'y':
		return c->year % 100;
	case 'I':
		return (c->hour + 11) % 12 + 1;
	case 'j':
		return days - days_before(c->year, 1, 1) + 1;
	case 'q':
		return (c->month + 2) / 3;
	case 'u':
		return weekday_of(days) + 1;
	case 'w':
		return (weekday_of(days) + 1) % 7;
	default: /* G, V */
		week_year = week_of(days, &week);
		return letter->letter == 'G' ? week_year : week;
	}
}

static char *put_letter(const struct time_reader *r, const struct letter *letter, struct civil *c,
			int64_t days, int64_t seconds, char *to)
{
	if (letter->digits > 0) {
		const int64_t number = number_of(letter, c, days);
		to = letter->digits == 2 ? put_2(to, (int)number) : put_number(to, number, letter->digits);
		if (letter->letter == 'e' && number < 10)
			to[-2] = ' ';
		return to;
	}
	switch (letter->letter) {
	case 'f':
		return put_micros(to, c);
	case 'p':
		return put_text(to, c->hour < 12 ? "AM" : "PM");
	case 'b':
	case 'h':
		memcpy(to, months[c->month - 1], 3);
		return to + 3;
	case 'B':
		return put_text(to, months[c->month - 1]);
	case 'a':
		memcpy(to, weekdays[weekday_of(days)], 3);
		return to + 3;
	case 'A':
		return put_text(to, weekdays[weekday_of(days)]);
	case 'z':
		return put_offset(to, c->offset, "");
	case 'Z':
		return put_zone(r, to, seconds, c->offset);
	case 's':
		return put_number(to, seconds, 1);
	default: /* n, t, % */
		*to = letter->letter == 'n' ? '\n' : letter->letter == 't' ? '\t' : '%';
		return to + 1;
	}
}

static char *put_by(const struct time_reader *r, const char *format, size_t format_nbytes,
		    struct civil *c, int64_t days, int64_t seconds, char *to)
{
	for (const char *f = format; f < format + format_nbytes; f++) {
		const struct letter *letter = *f == '%' ? find_letter(*++f) : NULL;
		if (!letter)
			*to++ = *f;
		else if (letter->stands_for)
			to = put_by(r, letter->stands_for, strlen(letter->stands_for), c, days, seconds, to);
		else
			to = put_letter(r, letter, c, days, seconds, to);
	}
	return to;
}

size_t time_write_format(struct time_reader *r, const char *format, size_t format_nbytes, const struct instant *x, char *to)
{
	int64_t days;
	struct civil c = civil_of(r, x, &days);

	return (size_t)(put_by(r, format, format_nbytes, &c, days, x->seconds, to) - to);
}

int64_t time_format_step(const char *format, size_t nbytes)
{
	int64_t step = DAY;

	for (const char *f = format; f < format + nbytes; f++)
		if (*f == '%' && find_letter(*++f)->step < step)
			step = find_letter(*f)->step;
	return step;
}

int64_t time_part(struct time_reader *r, char letter, const struct instant *x, int64_t *step)
{
	const struct letter *of = find_letter(letter);
	int64_t days;
	struct civil c = civil_of(r, x, &days);

	*step = of->step;
	return number_of(of, &c, days);
}

/* ---- units ---- */

bool time_unit_read(const char *text, size_t nbytes, struct time_unit *out)
{
	static const struct {
		const char *name, *brief, *brief_too;
		struct time_unit unit;
	} units[] = {
		{"second", "s", "sec", {1, 0}}, {"minute", "m", "min", {60, 0}}, {"hour", "h", "hr", {3600, 0}},
		{"day", "d", "d", {DAY, 0}}, {"week", "w", "w", {7 * DAY, 0}}, {"month", "mo", "mon", {0, 1}},
		{"quarter", "q", "q", {0, 3}}, {"year", "y", "yr", {0, 12}},
	};
	const char *end, *p;
	int count = 1;

	text = decimal_trim(text, &nbytes);
	end = text + nbytes;
	p = text;
	if (p < end && decimal_is_digit(*p))
		p = read_number(p, end, 7, &count);
	while (p < end && *p == ' ')
		p++;
	for (size_t i = 0; i < COUNT(units); i++) {
		size_t left = (size_t)(end - p), n = strlen(units[i].name);
		bool is_name = left >= n && left <= n + 1 && !strncasecmp(p, units[i].name, n) && (left == n || (p[n] | 0x20) == 's');
		bool is_brief = (left == strlen(units[i].brief) && !memcmp(p, units[i].brief, left)) ||
				(left == strlen(units[i].brief_too) && !memcmp(p, units[i].brief_too, left));
		if (!is_name && !is_brief)
			continue;
		*out = (struct time_unit){count * units[i].unit.seconds, count * units[i].unit.months};
		return count > 0;
	}
	return false;
}

/* floor to a multiple of `step` after `origin` */
static int64_t floor_from(int64_t x, int64_t origin, int64_t step)
{
	return origin + step * floor_divide(x - origin, step);
}

int64_t time_unit_step(const struct time_unit *unit)
{
	return unit->seconds > 0 && unit->seconds % (7 * DAY) != 0 ? unit->seconds : DAY;
}

void time_truncate(struct time_reader *r, const struct time_unit *unit, struct instant *x)
{
	const int64_t monday = 4 * DAY; /* 1970-01-05 */
	int64_t local = local_of(r, x->seconds), offset = local - x->seconds;

	x->fraction = 0;
	x->nfraction = 0;
	x->is_date = unit->seconds % DAY == 0;
	if (unit->seconds == 0) {
		struct civil c = civil_of_day(floor_divide(local, DAY));
		int64_t month = floor_from(12 * (int64_t)c.year + c.month - 1, 0, unit->months);
		x->seconds = seconds_of_local(r, DAY * days_before(month / 12, month % 12 + 1, 1));
		return;
	}
	local = floor_from(local, unit->seconds % (7 * DAY) == 0 ? monday : 0, unit->seconds);
	x->seconds = local - offset;
	if (x->is_date || local_of(r, x->seconds) != local) /* clocks have been changed since */
		x->seconds = seconds_of_local(r, local);
}

/* ---- arithmetic ---- */

int time_to_epoch(const struct instant *x, int128 *significand)
{
	*significand = (int128)x->seconds * (int128)decimal_powers[x->nfraction] + (int128)x->fraction;
	return x->nfraction;
}

int time_compare(const struct instant *x, const struct instant *y)
{
	int128 a, b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	a = (int128)x->fraction * (int128)decimal_powers[TIME_NFRACTION_MAX - x->nfraction];
	b = (int128)y->fraction * (int128)decimal_powers[TIME_NFRACTION_MAX - y->nfraction];
	return (a > b) - (a < b);
}

struct time_span time_span_of(struct time_reader *r, const struct instant *x, int64_t step)
{
	const int64_t local = local_of(r, x->seconds), quarter = floor_divide(x->seconds, QUARTER);
	struct time_span span;

	if (step == 0 || (r->zone->is_named && quarter != r->of_instant.quarter))
		return (struct time_span){0, 0};
	span.begin = x->seconds - (local - floor_from(local, 0, step));
	span.end = span.begin + step;
	if (r->zone->is_named && span.begin < QUARTER * quarter)
		span.begin = QUARTER * quarter;
	if (r->zone->is_named && span.end > QUARTER * (quarter + 1))
		span.end = QUARTER * (quarter + 1);
	return span;
}

bool time_of_epoch(struct time_reader *r, int128 significand, int scale, struct instant *out)
{
	int128 power, seconds;

	for (; scale > TIME_NFRACTION_MAX && significand % 10 == 0; scale--)
		significand /= 10;
	if (scale > TIME_NFRACTION_MAX)
		return false;
	power = (int128)decimal_powers[scale];
	seconds = significand / power - (significand % power < 0);
	if (seconds < FIRST_SECOND - DAY || seconds > LAST_SECOND + DAY)
		return false;
	*out = (struct instant){.seconds = (int64_t)seconds, .fraction = (uint64_t)(significand - seconds * power),
				.nfraction = (uint8_t)scale};
	return time_is_in_range(r, out);
}

void time_add_months(struct time_reader *r, struct instant *x, int64_t nmonths)
{
	int64_t days, month;
	struct civil c = civil_of(r, x, &days);
	int last;

	month = 12 * (int64_t)c.year + c.month - 1 + nmonths;
	c.year = (int)floor_divide(month, 12);
	c.month = (int)(month - 12 * (int64_t)c.year) + 1;
	last = days_of_month(c.year, c.month);
	if (c.day > last)
		c.day = last;
	x->seconds = seconds_of_local(r, DAY * days_before(c.year, c.month, c.day) + 3600 * c.hour + 60 * c.minute + c.second);
}
