/* SPDX-License-Identifier: MIT
 *
 * test_select.c - the COLS language: lists, quotes, positions, ranges, names, limits.
 */
#include "lang/select.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A selector with a text of its own. */
static struct selector selector_of(const char *text, bool quoted)
{
	struct selector s = {.text = strdup(text), .quoted = quoted};

	if (!s.text)
		bail("no memory");
	return s;
}

/* ---- lists ---- */

static const struct {
	const char *cols;
	size_t nitems;
	const char *items[3];
	bool quoted[3];
} lists[] = {
	{"a", 1, {"a"}, {0}},
	{"a,b,c", 3, {"a", "b", "c"}, {0}},
	{"1,col2,:3", 3, {"1", "col2", ":3"}, {0}},
	{"2-,-4,*", 3, {"2-", "-4", "*"}, {0}},
	{" a, b ", 2, {" a", " b "}, {0}},
	{"a b", 1, {"a b"}, {0}},
	{"\"a\"", 1, {"a"}, {1}},
	{"\"a,b\"", 1, {"a,b"}, {1}},
	{"\"a,b\",c", 2, {"a,b", "c"}, {1, 0}},
	{"c,\"a,b\"", 2, {"c", "a,b"}, {0, 1}},
	{"\"a\"\"b\"", 1, {"a\"b"}, {1}},
	{"\"\"\"\"", 1, {"\""}, {1}},
	{"\"\"\",\"", 1, {"\","}, {1}},
	{"\"\"", 1, {""}, {1}},
	{"\"a\",\"b\",\"*\"", 3, {"a", "b", "*"}, {1, 1, 1}},
	{"12\" disk", 1, {"12\" disk"}, {0}},
	{"a\"b,c\"d", 2, {"a\"b", "c\"d"}, {0}},
	{"\xc3\xa9t\xc3\xa9,\xff", 2, {"\xc3\xa9t\xc3\xa9", "\xff"}, {0}},
};

static void test_lists(void)
{
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct selection s = {0};
		struct fault fault = {0};

		is_int(STATUS_OK, selection_parse(lists[i].cols, &s, &fault), "%s is a list",
		       lists[i].cols);
		is_uint(lists[i].nitems, s.nselectors, "%s: items", lists[i].cols);
		for (size_t j = 0; j < lists[i].nitems && j < s.nselectors; j++) {
			is_string(lists[i].items[j], s.selectors[j].text, "%s: item %zu",
				  lists[i].cols, j);
			is_int(lists[i].quoted[j], s.selectors[j].quoted, "%s: quotes of item %zu",
			       lists[i].cols, j);
		}
		selection_free(&s);
		ok(s.nselectors == 0 && !s.selectors, "%s: freed", lists[i].cols);
	}
}

static void test_malformed_lists(void)
{
	static const struct {
		const char *cols, *why;
	} cases[] = {
		{"", "an item is empty"},
		{",", "an item is empty"},
		{"a,", "an item is empty"},
		{",a", "an item is empty"},
		{"a,,b", "an item is empty"},
		{"\"a\",", "an item is empty"},
		{"\"", "a quote does not close"},
		{"\"a", "a quote does not close"},
		{"\"a,b", "a quote does not close"},
		{"\"\"\"", "a quote does not close"},
		{"a,\"b", "a quote does not close"},
		{"\"a\"b", "a quote does not close"},
		{"\"a\" ,b", "a quote does not close"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct selection s = {0};
		struct fault fault = {0};

		is_int(STATUS_USAGE, selection_parse(cases[i].cols, &s, &fault),
		       "'%s' is no list", cases[i].cols);
		ok(strstr(fault.detail, cases[i].why) != NULL, "'%s': %s", cases[i].cols,
		   cases[i].why);
		ok(*cases[i].cols == '\0' || strstr(fault.detail, cases[i].cols) != NULL,
		   "'%s' is in the message", cases[i].cols);
		selection_free(&s);
	}
}

/* A list of many items, and one of a single long one. */
static void test_long_lists(void)
{
	enum { NITEMS = 5000, NBYTES = 100000 };
	char *text = malloc(NBYTES + 1);
	struct selection s = {0};
	struct fault fault = {0};
	bool same = true;

	if (!text)
		bail("no memory");
	for (int i = 0; i < NITEMS; i++)
		memcpy(text + 2 * i, "7,", 2);
	text[2 * NITEMS - 1] = '\0';
	is_int(STATUS_OK, selection_parse(text, &s, &fault), "a list of %d items", NITEMS);
	is_uint(NITEMS, s.nselectors, "and all of them are there");
	for (size_t i = 0; i < s.nselectors; i++)
		same = same && !strcmp(s.selectors[i].text, "7");
	ok(same, "each of them whole");
	selection_free(&s);

	memset(text, 'x', NBYTES);
	text[NBYTES] = '\0';
	is_int(STATUS_OK, selection_parse(text, &s, &fault), "an item of %d bytes", NBYTES);
	is_string(text, s.nselectors ? s.selectors[0].text : NULL, "is not cut");
	selection_free(&s);
	text[0] = '"';
	is_int(STATUS_USAGE, selection_parse(text, &s, &fault), "nor does a bad one that is");
	ok(strlen(fault.detail) < FAULT_DETAIL_NBYTES, "as long overflow the message");
	selection_free(&s);
	free(text);
}

/* ---- positions ---- */

#define NO UINT32_MAX /* not a position, or one past the last field */

static const struct {
	const char *text;
	uint32_t first, last;             /* of records of 5 fields */
	uint32_t blind_first, blind_last; /* when the number of fields is unknown */
} positions[] = {
	{"1", 0, 0, 0, 0},
	{"5", 4, 4, 4, 4},
	{"6", NO, NO, 5, 5},
	{"03", 2, 2, 2, 2},
	{"col3", 2, 2, 2, 2},
	{":3", 2, 2, 2, 2},
	{"col6", NO, NO, 5, 5},
	{":6", NO, NO, 5, 5},
	{"2-4", 1, 3, 1, 3},
	{"3-3", 2, 2, 2, 2},
	{"1-5", 0, 4, 0, 4},
	{"1-6", NO, NO, 0, 5},
	{"6-7", NO, NO, 5, 6},
	{"2-", 1, 4, 1, 1},
	{"5-", 4, 4, 4, 4},
	{"6-", NO, NO, 5, 5},
	{"-4", 0, 3, 0, 3},
	{"-5", 0, 4, 0, 4},
	{"-6", NO, NO, 0, 5},
	{"16777216", NO, NO, FIELD_LIMIT - 1, FIELD_LIMIT - 1},
	{"-16777216", NO, NO, 0, FIELD_LIMIT - 1},
	/* never a position */
	{"0", NO, NO, NO, NO},
	{"col0", NO, NO, NO, NO},
	{":0", NO, NO, NO, NO},
	{"-0", NO, NO, NO, NO},
	{"0-3", NO, NO, NO, NO},
	{"4-2", NO, NO, NO, NO},
	{"16777217", NO, NO, NO, NO},
	{":16777217", NO, NO, NO, NO},
	{"1-16777217", NO, NO, NO, NO},
	{"4294967297", NO, NO, NO, NO},
	{"18446744073709551617", NO, NO, NO, NO},
	{"99999999999999999999999999999999", NO, NO, NO, NO},
	{"", NO, NO, NO, NO},
	{"-", NO, NO, NO, NO},
	{"--3", NO, NO, NO, NO},
	{"2--4", NO, NO, NO, NO},
	{"2-4-", NO, NO, NO, NO},
	{"2-4x", NO, NO, NO, NO},
	{":", NO, NO, NO, NO},
	{"::3", NO, NO, NO, NO},
	{":2-4", NO, NO, NO, NO},
	{":col2", NO, NO, NO, NO},
	{"col", NO, NO, NO, NO},
	{"col2-col4", NO, NO, NO, NO},
	{"col2-4", NO, NO, NO, NO},
	{"Col2", NO, NO, NO, NO},
	{"colour", NO, NO, NO, NO},
	{"+3", NO, NO, NO, NO},
	{"3 ", NO, NO, NO, NO},
	{" 3", NO, NO, NO, NO},
	{"3.0", NO, NO, NO, NO},
	{"1e1", NO, NO, NO, NO},
	{"**", NO, NO, NO, NO},
	{"name", NO, NO, NO, NO},
};

static void is_position(const struct selector *s, size_t nfields, uint32_t first, uint32_t last)
{
	struct field_range range = {77, 77, true}; /* poisoned */
	bool found = selector_by_position(s, nfields, &range);

	is_int(first != NO, found, "'%s' of %zu fields is %s position", s->text, nfields,
	       first != NO ? "a" : "no");
	if (!found || first == NO)
		return;
	is_uint(first, range.first, "'%s' of %zu fields: first", s->text, nfields);
	is_uint(last, range.last, "'%s' of %zu fields: last", s->text, nfields);
	ok(!range.star, "'%s' is not all of them", s->text);
}

static void test_positions(void)
{
	struct field_range range;

	for (size_t i = 0; i < COUNT(positions); i++) {
		struct selector s = selector_of(positions[i].text, false);

		is_position(&s, 5, positions[i].first, positions[i].last);
		is_position(&s, 0, positions[i].blind_first, positions[i].blind_last);
		s.quoted = true;
		ok(!selector_by_position(&s, 5, &range) && !selector_by_position(&s, 0, &range),
		   "'%s' in quotes is never a position", s.text);
		free(s.text);
	}
}

static void test_star(void)
{
	struct selector s = selector_of("*", false);
	struct field_range range = {0};

	ok(selector_by_position(&s, 5, &range) && range.star, "* is all of 5 fields");
	range.star = false;
	ok(selector_by_position(&s, 0, &range) && range.star, "and of fields yet unknown");
	s.quoted = true;
	ok(!selector_by_position(&s, 5, &range), "in quotes it is a name");
	free(s.text);
}

/* ---- names ---- */

static const char *const header[] = {"id", "a,b", "5", "x", "x", NULL, "col1", "*", "2-3", " id"};
#define NHEADER COUNT(header)

static const struct {
	const char *text;
	bool quoted;
	enum status status;
	uint32_t first, last;
} names[] = {
	{"id", false, STATUS_OK, 0, 0},
	{"id", true, STATUS_OK, 0, 0},
	{" id", false, STATUS_OK, 9, 9},
	{"a,b", true, STATUS_OK, 1, 1},
	/* digits are a position, and an exact name wins over others */
	{"5", false, STATUS_OK, 4, 4},
	{"5", true, STATUS_OK, 2, 2},
	{":5", false, STATUS_OK, 4, 4},
	{"col5", false, STATUS_OK, 4, 4},
	{"col1", false, STATUS_OK, 6, 6},
	{":1", false, STATUS_OK, 0, 0},
	{"1", false, STATUS_OK, 0, 0},
	{"2-3", false, STATUS_OK, 8, 8},
	{"2-4", false, STATUS_OK, 1, 3},
	{"9-", false, STATUS_OK, 8, 9},
	{"-2", false, STATUS_OK, 0, 1},
	{"*", false, STATUS_OK, 7, 7},
	{"*", true, STATUS_OK, 7, 7},
	/* an empty name does not select a column without a name */
	{"6", false, STATUS_OK, 5, 5},
	{"col6", false, STATUS_OK, 5, 5},
	{"", true, STATUS_UNKNOWN_COLUMN, 0, 0},
	/* two columns with the same name */
	{"x", false, STATUS_USAGE, 0, 0},
	{"x", true, STATUS_USAGE, 0, 0},
	{"4", false, STATUS_OK, 3, 3},
	/* none */
	{"ID", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"i", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"idx", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"id ", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"0", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"11", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{":11", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"9-11", false, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"1", true, STATUS_UNKNOWN_COLUMN, 0, 0},
	{":1", true, STATUS_UNKNOWN_COLUMN, 0, 0},
	{"1-2", true, STATUS_UNKNOWN_COLUMN, 0, 0},
};

static void test_names(void)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		struct selector s = selector_of(names[i].text, names[i].quoted);
		struct field_range range = {77, 77, true};
		struct fault fault = {0};
		enum status status =
			selector_resolve(&s, NULL, (char *const *)header, NHEADER, &range, &fault);
		const char *quote = s.quoted ? "\"" : "";

		is_int(names[i].status, status, "%s%s%s resolves", quote, s.text, quote);
		if (status == STATUS_OK && names[i].status == STATUS_OK) {
			is_uint(names[i].first, range.first, "%s%s%s: first", quote, s.text, quote);
			is_uint(names[i].last, range.last, "%s%s%s: last", quote, s.text, quote);
			ok(!range.star, "%s%s%s: not all", quote, s.text, quote);
		} else if (status == STATUS_UNKNOWN_COLUMN) {
			is_uint(strlen(s.text), fault.value_nbytes, "its length is in the fault");
			ok(fault.detail_nbytes == strlen(s.text) &&
				   !memcmp(fault.detail, s.text, fault.detail_nbytes),
			   "and the name itself");
		} else if (status == STATUS_USAGE) {
			ok(strstr(fault.detail, "2 columns are called 'x'") != NULL,
			   "it says how many there are");
		}
		free(s.text);
	}
}

static enum status resolve_blind(const char *text, size_t nfields, struct field_range *range)
{
	char *nameless[4] = {NULL};
	struct selector s = selector_of(text, false);
	struct fault fault = {0};
	enum status status = selector_resolve(&s, NULL, nameless, nfields, range, &fault);

	free(s.text);
	return status;
}

/* No header: names do not resolve. No records either: any position does, up to a limit. */
static void test_nameless(void)
{
	struct field_range range = {0};

	is_int(STATUS_OK, resolve_blind("3", 4, &range), "no names: a number does");
	is_uint(2, range.first, "and is that column");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("a", 4, &range), "a name does not");
	is_int(STATUS_OK, resolve_blind("*", 4, &range), "* does");
	ok(range.star, "and means all");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("5", 4, &range), "beyond: unknown");
	is_int(STATUS_OK, resolve_blind("16777216", 0, &range), "empty input: any number does");
	is_uint(FIELD_LIMIT - 1, range.first, "as it is");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("16777217", 0, &range), "up to the limit");
	is_int(STATUS_OK, resolve_blind("1-4096", 0, &range), "a range of 4096, too");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("1-4097", 0, &range), "but no more");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("-16777216", 0, &range), "nor all there are");
	is_int(STATUS_UNKNOWN_COLUMN, resolve_blind("a", 0, &range), "nor a name");
}

static void test_long_names(void)
{
	enum { NBYTES = 1000 };
	char text[NBYTES + 1];
	char *const twice[] = {text, text};
	struct field_range range;
	struct fault fault = {0};
	struct selector s;

	memset(text, 'n', NBYTES);
	text[NBYTES] = '\0';
	s = selector_of(text, false);
	is_int(STATUS_OK, selector_resolve(&s, NULL, twice, 1, &range, &fault), "a long name is found");
	is_int(STATUS_USAGE, selector_resolve(&s, NULL, twice, 2, &range, &fault), "and found twice");
	ok(strstr(fault.detail, "say which with :N") != NULL, "and the advice is not cut off");
	s.text[NBYTES - 1] = 'm';
	is_int(STATUS_UNKNOWN_COLUMN, selector_resolve(&s, NULL, twice, 2, &range, &fault),
	       "it counts to its last byte");
	is_uint(NBYTES, fault.value_nbytes, "the fault knows its length");
	ok(fault.detail_nbytes <= FAULT_DETAIL_NBYTES, "and holds what fits");
	free(s.text);
}

int main(void)
{
	plan_lazy();
	test_lists();
	test_malformed_lists();
	test_long_lists();
	test_positions();
	test_star();
	test_names();
	test_nameless();
	test_long_names();
	return done();
}
