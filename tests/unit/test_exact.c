/* SPDX-License-Identifier: MIT
 *
 * test_exact.c - numbers beyond the fast path: parsing, adding, comparing, printing, means; and the number that grows.
 */
#include "tap.h"
#include "number/exact.h"
#include "number/ratio.h"

/* A number as it is read. */
static struct exact number_of(const char *text, struct integer *room)
{
	struct exact x;

	if (exact_parse(text, strlen(text), room, &x) != STATUS_OK)
		bail("'%s' does not parse", text);
	return x;
}

static const struct {
	const char *text, *printed;
} round_trips[] = {
	{"0", "0"},
	{"-0", "0"},
	{"-0.00", "0.00"},
	{"007.50", "7.50"},
	{"-1", "-1"},
	{"999999999", "999999999"},
	{"1000000000", "1000000000"},
	{"-1000000000.000000001", "-1000000000.000000001"},
	{"9223372036854775808", "9223372036854775808"},
	{"1e20", "100000000000000000000"},
	{"12.5e-3", "0.0125"},
	{"-12.5e3", "-12500"},
	{".5", "0.5"},
	{"5.", "5"},
	{"+123456789012345678901234567890.123456789012345678901234567890",
	 "123456789012345678901234567890.123456789012345678901234567890"},
};

static void test_round_trips(void)
{
	char text[EXACT_TEXT_NBYTES];
	struct integer room;

	for (size_t i = 0; i < sizeof round_trips / sizeof *round_trips; i++) {
		struct exact x = number_of(round_trips[i].text, &room);
		*exact_write(&x, x.scale, text) = '\0';
		is_string(round_trips[i].printed, text, "'%s' prints", round_trips[i].text);
	}
}

static void test_range(void)
{
	static const struct {
		const char *text;
		enum status status;
	} cases[] = {
		{"1e399", STATUS_OK},
		{"-9.99e399", STATUS_OK},
		{"1e400", STATUS_OUT_OF_RANGE},
		{"10e399", STATUS_OUT_OF_RANGE},
		{"1e-400", STATUS_OK},
		{"1.0e-400", STATUS_OUT_OF_RANGE},
		{"1e-401", STATUS_OUT_OF_RANGE},
		{"0e400", STATUS_OK},
		{"0e-401", STATUS_OUT_OF_RANGE},
		{"1e9999999999999", STATUS_OUT_OF_RANGE},
		{"1e-9999999999999", STATUS_OUT_OF_RANGE},
		{"1x", STATUS_NOT_A_NUMBER},
		{"", STATUS_NOT_A_NUMBER},
		{"1e", STATUS_NOT_A_NUMBER},
	};
	struct integer room;
	struct exact x;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_int(cases[i].status, exact_parse(cases[i].text, strlen(cases[i].text), &room, &x),
		       "range of '%s'", cases[i].text);
}

static void is_sum(const char *a, const char *b, const char *wanted)
{
	char text[EXACT_TEXT_NBYTES];
	struct integer room;
	struct exact x = number_of(a, &room), sum = {0};

	exact_add(&sum, &x);
	x = number_of(b, &room);
	exact_add(&sum, &x);
	*exact_write(&sum, sum.scale, text) = '\0';
	is_string(wanted, text, "%s + %s", a, b);
	exact_negate(&x);
	exact_add(&sum, &x);
	x = number_of(a, &room);
	is_int(0, exact_compare(&sum, &x), "less the other");
	exact_free(&sum);
}

static void test_sums(void)
{
	is_sum("0.1", "0.2", "0.3");
	is_sum("999999999.999999999", "0.000000001", "1000000000.000000000");
	is_sum("1000000000", "-1", "999999999");
	is_sum("-1000000000", "1", "-999999999");
	is_sum("1e300", "-1e300", "0");
	is_sum("1000000000000000000000000000", "-0.000000000000000000000000001",
	       "999999999999999999999999999.999999999999999999999999999");
	is_sum("-5", "3", "-2");
	is_sum("9.99", "-10", "-0.01");
}

static void test_decimals(void)
{
	const int128 most = (int128)(~(uint128)0 >> 1);
	char text[EXACT_TEXT_NBYTES];
	struct exact x = {0};

	exact_add_scaled(&x, most, 0);
	*exact_write(&x, 0, text) = '\0';
	is_string("170141183460469231731687303715884105727", text, "the largest int128");
	exact_free(&x);
	exact_add_scaled(&x, -most - 1, 31);
	*exact_write(&x, 31, text) = '\0';
	is_string("-17014118.3460469231731687303715884105728", text, "the least, at scale 31");
	exact_add_scaled(&x, most, 31);
	*exact_write(&x, 31, text) = '\0';
	is_string("-0.0000000000000000000000000000001", text, "and the two together");
	exact_free(&x);
}

static void test_compare(void)
{
	static const char *const ascending[] = {"-1e300", "-10.5", "-10.4", "-1e-300", "0",
						"1e-300", "0.9",   "1",     "1e9",     "1e300"};
	int n = sizeof ascending / sizeof *ascending;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			struct integer x_room, y_room;
			struct exact x = number_of(ascending[i], &x_room), y = number_of(ascending[j], &y_room);
			is_int((i > j) - (i < j), exact_compare(&x, &y), "%s against %s", ascending[i], ascending[j]);
		}
	}
}

static void test_magnitudes(void)
{
	static const struct {
		const char *text;
		int magnitude;
	} cases[] = {{"1", 1}, {"-1", 1}, {"9.99", 1}, {"10", 2}, {"0.1", 0}, {"0.0999", -1}, {"1e-9", -8}, {"-999999999", 9},
		     {"1e9", 10}, {"1e300", 301}, {"1e-400", -399}, {"0", EXACT_MAGNITUDE_OF_0}};
	struct integer room;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct exact x = number_of(cases[i].text, &room);
		is_int(cases[i].magnitude, exact_magnitude(&x), "magnitude of %s", cases[i].text);
	}
}

static void is_mean(const char *sum, uint64_t count, const char *wanted)
{
	char text[RATIO_TEXT_NBYTES];
	struct integer n;
	struct exact x = number_of(sum, &n);

	*exact_write_mean(&x, x.scale, count, text) = '\0';
	is_string(wanted, text, "%s / %ju", sum, (uintmax_t)count);
}

static void test_means(void)
{
	is_mean("0", 3, "0");
	is_mean("6", 3, "2");
	is_mean("6.00", 3, "2");
	is_mean("1", 3, "0.33333333333333333");
	is_mean("2", 3, "0.66666666666666667");
	is_mean("-2", 3, "-0.66666666666666667");
	is_mean("1", 8, "0.125");
	is_mean("1000", 1, "1000");
	is_mean("10000000000000000.5", 1, "10000000000000000");
	is_mean("10000000000000001.5", 1, "10000000000000002");
	is_mean("10000000000000000.50000000000000000001", 1, "10000000000000001");
	is_mean("100000000000000005", 1, "100000000000000000");
	is_mean("100000000000000015", 1, "100000000000000020");
	is_mean("999999999999999999", 1, "1000000000000000000");
	is_mean("0.0999999999999999999", 1, "0.1");
	is_mean("1e300", 4,
		"2500000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000"
		"000000000000000000000000000000000000000000000000000000000000000000000000");
	is_mean("1", UINT64_MAX, "0.000000000000000000054210108624275222");
	is_mean("20000000000000001", 2, "10000000000000000");
	is_mean("20000000000000003", 2, "10000000000000002");
}

static void exact_is(const char *want, bool is_long, const struct exact *x, const char *what)
{
	char text[EXACT_TEXT_NBYTES + 1];

	*exact_write(x, x->scale, text) = '\0';
	is_string(want, text, "%s", what);
	is_int(is_long, x->is_long, "%s: its size", what);
}

static void test_exact(void)
{
	const int128 most = (int128)(~(uint128)0 >> 1);
	struct exact x = {0}, y = {0}, number;
	struct integer n;

	exact_add_decimal(&x, (struct decimal){.significand = -5, .scale = 0});
	exact_add_decimal(&x, (struct decimal){.significand = 25, .scale = 2});
	exact_add_decimal(&x, (struct decimal){.significand = 1, .scale = 1});
	exact_is("-4.65", false, &x, "numbers of three scales add up");
	exact_raise(&x, 1);
	exact_is("-4.65", false, &x, "a scale never falls");
	exact_free(&x);
	exact_add_scaled(&x, most, 0);
	exact_is("170141183460469231731687303715884105727", false, &x, "128 bits are short");
	exact_add_decimal(&x, (struct decimal){.significand = 1, .scale = 0});
	exact_is("170141183460469231731687303715884105728", true, &x, "one more is long");
	exact_add_decimal(&x, (struct decimal){.significand = 1, .scale = 1});
	exact_is("170141183460469231731687303715884105728.1", true, &x, "a long one takes a larger scale");
	number = number_of("-170141183460469231731687303715884105729.05", &n);
	exact_add(&x, &number);
	exact_is("-0.95", true, &x, "and stays long when it cancels");
	number = number_of("-0.95", &n);
	is_int(0, exact_compare(&x, &number), "which compares as a short one");
	exact_copy(&x, &number);
	exact_is("-0.95", false, &x, "a copy is as short as the other");
	exact_add_scaled(&x, most, 0);
	exact_is("170141183460469231731687303715884105726.05", true, &x, "a term that cannot be rescaled");
	exact_copy(&y, &x);
	exact_add_scaled(&x, -most, 0);
	exact_add_scaled(&x, 95, 2);
	ok(exact_is_zero(&x) && !exact_is_zero(&y), "a copy of a long one is its own");
	is_int(-1, exact_compare(&x, &y), "0 is less");
	exact_free(&x);
	exact_free(&y);
}

/* Sums of some numbers in two orders, and by two halves, are the same. */
static void test_sums_of_exact(void)
{
	static const char *const texts[] = {"1e399", "-0.001", "12345678901234567890123456789012345678", "-1e399", "1e-400", "7",
					    "-99999999999999999999999999999999999999999.5"};
	const int count = sizeof texts / sizeof *texts;
	struct exact forth = {0}, back = {0}, halves[2] = {{.scale = 0}};
	struct integer n;

	for (int i = 0; i < count; i++) {
		struct exact x = number_of(texts[i], &n);
		exact_add(&forth, &x);
		exact_add(&halves[i % 2], &x);
		x = number_of(texts[count - 1 - i], &n);
		exact_add(&back, &x);
	}
	exact_add(&halves[0], &halves[1]);
	ok(exact_compare(&forth, &back) == 0 && forth.scale == back.scale, "a sum does not depend on the order");
	ok(exact_compare(&forth, &halves[0]) == 0 && forth.scale == halves[0].scale, "nor on where it is cut");
	exact_free(&forth);
	exact_free(&back);
	exact_free(&halves[0]);
	exact_free(&halves[1]);
}

int main(void)
{
	plan_lazy();
	test_round_trips();
	test_range();
	test_sums();
	test_decimals();
	test_compare();
	test_magnitudes();
	test_means();
	test_exact();
	test_sums_of_exact();
	return done();
}
