/* SPDX-License-Identifier: MIT
 *
 * test_notation.c - values to plain text in every notation; what is suggested for the others.
 */
#include <stdlib.h>
#include <string.h>

#include "number/notation.h"
#include "query/value.h"
#include "tap.h"

static const struct number_notation plain = {.decimal = '.'};
static const struct number_notation comma = {.decimal = ','};
static const struct number_notation english = {.decimal = '.', .thousands = ","};
static const struct number_notation german = {.decimal = ',', .thousands = "."};
static const struct number_notation blanks = {.decimal = ',', .thousands = " "};
static const struct number_notation swiss = {.decimal = '.', .thousands = "'"};
static const struct number_notation curly = {.decimal = '.', .thousands = "\u2019"};
static const struct number_notation money = {.decimal = '.', .thousands = ",", .money = true};
static const struct number_notation percent = {.decimal = '.', .percent = true};
static const struct number_notation durations = {.decimal = '.', .durations = true};
static const struct number_notation durations_comma = {.decimal = ',', .durations = true};
static const struct number_notation iec = {.decimal = '.', .sizes = SIZES_IEC}, si = {.decimal = '.', .sizes = SIZES_SI};
static const struct number_notation both = {.decimal = '.', .money = true, .percent = true};

/* The value's plain text is want; "": it is no number. It is read from memory of its own length, so
 * that a sanitizer sees what is read beside it. */
static void becomes(const struct number_notation *n, const char *text, const char *want)
{
	size_t nbytes = strlen(text), length;
	char *value = malloc(nbytes + 1), *to = malloc(nbytes + NOTATION_ROOM + 1);

	if (!value || !to)
		bail("no memory");
	memcpy(value, text, nbytes);
	value = realloc(value, nbytes ? nbytes : 1);
	length = notation_to_plain(n, value, nbytes, to);
	ok(length == notation_to_plain(n, value, nbytes, NULL), "'%s' is checked as it is written",
	   text);
	to[length] = '\0';
	is_string(want, to, "plain text of '%s'", text);
	free(value);
	free(to);
}

static void test_points_and_groups(void)
{
	becomes(&plain, " -1.50 ", "-1.50");
	becomes(&plain, "+.5E+3", ".5e3");
	becomes(&plain, "1e-00", "1");
	becomes(&plain, "5.", "5.");
	becomes(&plain, "1,5", "");
	becomes(&comma, "-1,50", "-1.50");
	becomes(&comma, ",5", ".5");
	becomes(&comma, "1.5", "");
	becomes(&comma, "1,5,", "");
	becomes(&comma, ",", "");
	becomes(&english, "1,234.50", "1234.50");
	becomes(&english, "1234.5", "1234.5");
	becomes(&english, "-1,234,567e2", "-1234567e2");
	becomes(&english, "001,234", "");
	becomes(&english, "1,23", "");
	becomes(&english, "1234,567", "");
	becomes(&english, "1,2345", "");
	becomes(&english, ",123", "");
	becomes(&english, "1,234,", "");
	becomes(&english, "1,,234", "");
	becomes(&english, "1.234,567", "");
	becomes(&english, "1e1,000", "");
	becomes(&german, "1.234,50", "1234.50");
	becomes(&german, "1.23.4", "");
	becomes(&german, "1.5", "");
	becomes(&swiss, "1'234.5", "1234.5");
	becomes(&swiss, "1\u2019234", "");
	becomes(&curly, "1\u2019234", "1234");
	becomes(&blanks, "1 234\u00a0567\u202f890,5", "1234567890.5");
	becomes(&blanks, "1\t234", "");
	becomes(&blanks, "1  234", "");
}

static void test_money(void)
{
	static const char *const same[] = {
		"-1234.5", "$-1,234.5", "-$1,234.5", "($1234.5)", "$(1,234.5)", "$ (1,234.5)",
		"(1,234.5 $)", "1,234.5-", "1,234.5-\u00a0EUR", "-1,234.5\u00a0EUR",
		"\u20ac\u202f-1,234.5", "-EUR1234.5", "USD 1,234.5-", "1234.5 \U0001ecb0-",
	};
	static const char *const none[] = {
		"$", "()", "$ $5", "$5 EUR", "--5", "-5-", "(-5)", "((5))", "(5", "5)", "5--",
		"+5-", "- 5", "$  5", "usd5", "US 5", "USDX5", "5USDX", "(5)%", "5\xa3", "5 %", "5+",
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		becomes(&money, same[i], "-1234.5");
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		becomes(&money, none[i], "");
	becomes(&money, "+$5", "5");
	becomes(&money, "1E3EUR", "1e3");
	becomes(&plain, "$5", "");
	becomes(&plain, "(5)", "");
	becomes(&plain, "5-", "");
}

static void test_percent(void)
{
	becomes(&percent, "12%", "12e-2");
	becomes(&percent, "-12.50 %", "-12.50e-2");
	becomes(&percent, "12\u00a0%", "12e-2");
	becomes(&percent, "1e3%", "1e1");
	becomes(&percent, "1e2%", "1");
	becomes(&percent, "0e99999999999999999999%", "0e9999999999997"); /* clipped */
	becomes(&percent, "12", "12");
	becomes(&percent, "%", "");
	becomes(&percent, "12%%", "");
	becomes(&percent, "12  %", "");
	becomes(&percent, "%12", "");
	becomes(&percent, "(5%)", "");
	becomes(&percent, "5%-", "");
	becomes(&both, "(5%)", "-5e-2");
	becomes(&both, "5%-", "-5e-2");
	becomes(&both, "5-%", "-5e-2");
	becomes(&both, "$5%", "");
	becomes(&plain, "12%", "");
}

static void test_durations(void)
{
	static const char *const same[][2] = {
		{"1h30m", "5400"}, {"45m", "2700"}, {"01:30:15", "5415"}, {"10:00", "600"}, {"-0:30", "-30"}, {"+1h", "3600"},
		{"90", "90"}, {"1.5", "1.5"}, {"1.5h", "5400"}, {"2d 3h", "183600"}, {"2 days 3 hours", "183600"}, {"1w", "604800"},
		{"1 day, 2:03:04", "93784"}, {"1-02:03:04", "93784"}, {"1d2:03:04.50", "93784.5"}, {"100:00:00", "360000"}, {"90:00", "5400"},
		{"1h2m3s4ms5us6ns", "3723.004005006"}, {"1.25ms", "0.00125"}, {"250\u00b5s", "0.00025"}, {"PT1H30M", "5400"}, {"P1DT2H", "93600"},
		{"P1W", "604800"}, {"PT0.5S", "0.5"}, {"3 min", "180"}, {"1hr 5mins", "3900"}, {"0s", "0"}, {"5.h", "18000"},
		{"m", ""}, {"1h30", ""}, {"30m1h", ""}, {"1h1h", ""}, {"1:2:3", ""}, {"1:60", ""}, {"1:00:60", ""}, {"1::00", ""}, {"1:", ""},
		{":30", ""}, {"1:.5", ""}, {"1.:30", ""}, {"1d10:00", ""}, {"1h10:00", ""}, {"1-2", ""}, {"1-5h", ""}, {"1-,02:03:04", ""}, {"P", ""}, {"PT", ""},
		{"P1M", ""}, {"P1Y", ""}, {"P1DT", ""}, {"PT1D", ""}, {"P1H", ""}, {"PT1h", ""}, {"1 month", ""}, {"1H", ""}, {"1M", ""}, {"h", ""},
		{"1  h", ""}, {"1h,30m", ""}, {"1d, 2h", "93600"}, {"1d,", ""}, {"1:00:00:00", ""}, {"10:00:0", ""}, {"10:00.", ""}, {"99999999999999999w", ""},
		{"0.0000000001ns", ""}, {"1.0000000000ns", "0.000000001"}, {"--1h", ""}, {"1h%", ""}, {"1e3s", ""},
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		becomes(&durations, same[i][0], same[i][1]);
	becomes(&durations_comma, "1,5h", "5400");
	becomes(&durations_comma, "0:30,5", "30.5");
	becomes(&durations_comma, "1.5h", "");
	becomes(&plain, "1h", "");
}

static void test_sizes(void)
{
	static const char *const same[][3] = { /* iec, si */
		{"1.5K", "1536", "1.5e3"}, {"10M", "10485760", "10e6"}, {"2GiB", "2147483648", "2147483648"}, {"512", "512", "512"},
		{"512B", "512", "512"}, {"1KB", "1024", "1e3"}, {"1 kB", "1024", "1e3"}, {"1kb", "1024", "1e3"}, {"1Ki", "1024", "1024"},
		{"1.1K", "1126.4", "1.1e3"}, {"-2G", "-2147483648", "-2e9"}, {"3t", "3298534883328", "3e12"}, {"1E", "1152921504606846976", "1e18"},
		{"999999999999999999E", "1152921504606846974847078495393153024", "999999999999999999e18"}, {"1P", "1125899906842624", "1e15"},
		{"1mib", "1048576", "1048576"}, {"1E3", "1e3", "1e3"}, {"1Kb", "", ""}, {"1m", "", ""}, {"1e", "", ""}, {"1mB", "", ""}, {"1gi", "", ""},
		{"K", "", ""}, {"1KK", "", ""}, {"1 K B", "", ""}, {"1 bytes", "", ""}, {"1iB", "", ""}, {"1KiBs", "", ""}, {"1  K", "", ""},
		{"1e3K", "", ""}, {"1K%", "", ""}, {"1234567890123456789K", "", "1234567890123456789e3"},
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		becomes(&iec, same[i][0], same[i][1]);
		becomes(&si, same[i][0], same[i][2]);
	}
}

/* ---- what is suggested ---- */

static void suggests(const struct number_notation *n, const char *text, const char *want)
{
	char suggestion[NOTATION_SUGGESTION_NBYTES];

	notation_suggest(n, text, strlen(text), suggestion);
	is_string(want, suggestion, "suggestion for '%s'", text);
}

static void test_suggestions(void)
{
	suggests(&plain, "1,234.50", "--thousands ,");
	suggests(&plain, "1,5", "--decimal ,");
	suggests(&plain, "1,234", "--decimal , or --thousands ,");
	suggests(&plain, "1.234,50", "--decimal , --thousands .");
	suggests(&plain, "1.234.567", "--decimal , --thousands .");
	suggests(&plain, "1 234,5", "--decimal , --thousands ' '");
	suggests(&plain, "1'234", "--thousands \"'\"");
	suggests(&plain, "1\u2019234", "--thousands \u2019");
	suggests(&plain, "$5", "--money");
	suggests(&plain, "(5)", "--money");
	suggests(&plain, "12 %", "--percent");
	suggests(&plain, "1h30m", "--durations");
	suggests(&plain, "10:00", "--durations");
	suggests(&plain, "1.5K", "--sizes iec");
	suggests(&comma, "1.5K", "--decimal . --sizes iec");
	suggests(&plain, "$1,234", "--decimal , --money or --thousands , --money");
	suggests(&comma, "1.5", "--decimal .");
	suggests(&comma, "1.234", "--decimal . or --thousands .");
	suggests(&english, "1.234,5", "--decimal , --thousands .");
	suggests(&plain, "COL1", "");
	suggests(&plain, "USD1", "--money");
	suggests(&money, "COL1.234,5", "--decimal , --thousands .");
	suggests(&plain, "0x10", "");
	suggests(&plain, "nan", "");
	suggests(&plain, "1,23,4", "");
	suggests(&plain, "", "");
}

static void test_resemblance(void)
{
	static const char *const numbers[] = {
		"5", "1e500", "$5", "1,5", "12 %", "(1.5)", "USD 5", "0x1F", "-0xff", "1_000",
		"1.2.3", "1,00,000", "1 234", " 1,5 ",
	};
	static const char *const names[] = {
		"", " ", "-", "price", "COL1", "Q1", "a,b", "0xyz", "x12", "$", "%", "nan", "2nd",
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		ok(notation_resembles_number(numbers[i], strlen(numbers[i])),
		   "'%s' resembles a number", numbers[i]);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ok(!notation_resembles_number(names[i], strlen(names[i])),
		   "'%s' does not resemble a number", names[i]);
	ok(!notation_resembles_number("1\0", 2), "a NUL is no mark in a number");
}

static void test_faults(void)
{
	const struct number_notation same = {.decimal = ',', .thousands = ","};
	const struct number_notation digit = {.decimal = '5'}, letter = {.decimal = 'e'};
	const struct number_notation two = {.decimal = '.', .thousands = "''"};
	const struct number_notation sign = {.decimal = '.', .thousands = "-"};
	const struct number_notation latin_1 = {.decimal = '.', .thousands = "\xa0"};

	ok(notation_fault(&same) && notation_fault(&digit) && notation_fault(&letter) &&
	   notation_fault(&two) && notation_fault(&sign), "notations that contradict themselves");
	ok(!notation_fault(&latin_1) && !notation_fault(&blanks) && !notation_fault(&curly),
	   "one character of UTF-8, or one byte");
}

/* Reads a raw field, its value in the scratch if it has quotes within quotes. */
static void reads(const char *field, int64_t significand, int scale)
{
	const struct plan p = {.dialect = {.delimiter = ';', .quote = '"'},
			       .notation = {.decimal = ',', .thousands = "\"", .percent = true}};
	struct scratch scratch = {NULL, 0};
	size_t nbytes = strlen(field);
	char *text = malloc(nbytes);
	struct value v;

	if (!text)
		bail("no memory");
	memcpy(text, field, nbytes);
	is_int(STATUS_OK, value_read(&p, true, text, nbytes, &scratch, &v), "%s is read", field);
	if (ok(v.kind == DECIMAL_NUMBER, "%s is a number", field)) {
		is_int(significand, v.number.significand, "%s: its digits", field);
		is_int(scale, v.number.scale, "%s: its scale", field);
	}
	free(text);
	free(scratch.data);
}

static void test_values(void)
{
	reads("1,5", 15, 1);
	reads("\"1,50\"", 150, 2);
	reads("\"1\"\"234,5%\"", 12345, 3);
	reads("\" 1\"\"234\"\"567 % \"", 1234567, 2);
}

int main(void)
{
	plan_lazy();
	test_points_and_groups();
	test_money();
	test_percent();
	test_durations();
	test_sizes();
	test_suggestions();
	test_resemblance();
	test_faults();
	test_values();
	return done();
}
