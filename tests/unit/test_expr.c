/* SPDX-License-Identifier: MIT
 *
 * test_expr.c - the language of expressions: what conditions mean, what it refuses and where it points.
 * Random conditions are in test_expr_random.c.
 */
#include "expr_case.h"

/* ---- what it means ---- */

#define F EXPR_FALSE
#define T EXPR_TRUE
#define X EXPR_INVALID

static const struct meaning {
	const char *text, *record; /* of fields a, b, c, ... */
	enum expr_truth truth;
} meanings[] = {
	/* the signs */
	{"a = 1", "1", T}, {"a = 1", "2", F}, {"a == 1", "1", T}, {"a != 1", "2", T},
	{"a != 1", "1", F}, {"a < 1", "0", T}, {"a < 1", "1", F}, {"a <= 1", "1", T},
	{"a <= 1", "2", F}, {"a > 1", "2", T}, {"a > 1", "1", F}, {"a >= 1", "1", T},
	{"a >= 1", "0", F}, {"a>=1", "1", T}, {"a<-1", "-2", T}, {"a=+.5", "0.50", T},
	{"1 < a", "2", T}, {"1 < a", "0", F}, {"1 >= a", "1", T}, {"1 >= a", "2", F},
	{"1 != a", "1", F}, {"'x' < a", "y", T}, {"\t a\n=\r1 ", "1", T},
	/* exact numbers */
	{"a = 0.10", "0.1", T}, {"a = 1e2", "100", T}, {"a = 100", "1e2", T},
	{"a = 1E+2", "100.000", T}, {"a = -0", "0", T}, {"a = 0e-9", "-0.0", T},
	{"a > 12345678901234567889", "12345678901234567890", T},
	{"a > 12345678901234567890", "12345678901234567890", F},
	{"a >= 12345678901234567890", "12345678901234567890.0", T},
	{"a > 0", "1e-300", T}, {"a < 0", "-1e-300", T}, {"a = 0", "1e-300", F},
	{"1e-300 > a", "0", T}, {"a < 1e300", "1e299", T}, {"a = 1e300", "10e299", T},
	{"a = 9007199254740993", "9007199254740992", F},
	{"a < 0.1", "0.0999999999999999999999999999999999999", T},
	{"a = 0.3", "0.3000000000000000000000000000000000000", T},
	{"a = 1e17", "100000000000000000.0000000000000000000000000000000", T},
	{"a > 999999999999999999", "0.0000000000000000000000000000001", F},
	{"a > -999999999999999999", "-0.0000000000000000000000000000001", T},
	{"a > 999999999999999999", "1e399", T}, {"a = 1e-400", "0.1e-399", T},
	{"a = 1", " 1\t", T}, {"a = 1", "\"1\"", T}, {"a = 1", "\" 1\"", T},
	/* columns as numbers */
	{"a = b", "1.0|1", T}, {"a < b", "9|10", T}, {"a < b", "10|9", F}, {"a=a", "1", T},
	{"a < b", "1e20|1e21", T}, {"a > b", "5|-1e40", T}, {"a < b", "-1e21|-1e20", T}, {"a != b", "1|1.00", F},
	/* strings */
	{"a = \"GET\"", "GET", T}, {"a = 'GET'", "GET", T}, {"a = 'GET'", "get", F},
	{"a != 'GET'", "POST", T}, {"a = 'GET'", "\"GET\"", T}, {"a = 'GET'", " GET", F},
	{"a = ' GET'", " GET", T}, {"a = 'it''s'", "it's", T}, {"a = \"it's\"", "it's", T},
	{"a = 'say \"x\"'", "\"say \"\"x\"\"\"", T}, {"a = \"say \"\"x\"\"\"", "\"say \"\"x\"\"\"", T},
	{"a = 'x|y'", "x", F}, {"a < 'b'", "a", T}, {"a < 'ab'", "a", T}, {"a > 'a'", "ab", T},
	{"a < 'b'", "B", T}, {"a > 'z'", "\xc3\xa9", T}, {"a = '1'", "1.0", F},
	{"a < '9'", "10", T}, {"a = '\xff\x01'", "\xff\x01", T},
	{"a = 'p' and b = 'q\"'", "\"p\"|\"q\"\"\"", T}, {"a='x\"' and b='y\"'", "\"x\"\"\"|\"y\"\"\"", T},
	/* missing */
	{"a is missing", "", T}, {"a is missing", " \t", T}, {"a is missing", "NA", T},
	{"a is missing", "\"\"", T}, {"a is missing", "0", F}, {"a is missing", "x", F},
	{"a is not missing", "", F}, {"a is not missing", "x", T}, {"not a is missing", "x", T},
	{"not a is not missing", "", T}, {"a = 1", "", F}, {"a != 1", "", F}, {"not a = 1", "", F},
	{"not a != 1", "NA", F}, {"a = 'NA'", "NA", F}, {"a != 'x'", "", F}, {"a = b", "|", F},
	{"a = a", "", F}, {"a != b", "|1", F}, {"a != b", "1|", F}, {"not a = b", "1|", F},
	/* precedence: not, and, or */
	{"a=1 or b=1 and c=1", "1|0|0", T}, {"(a=1 or b=1) and c=1", "1|0|0", F},
	{"a=1 and b=1 or c=1", "0|0|1", T}, {"a=1 and (b=1 or c=1)", "0|0|1", F},
	{"not a=1 and b=1", "0|0", F}, {"not (a=1 and b=1)", "0|0", T},
	{"not a=1 or b=1", "0|1", T}, {"not (a=1 or b=1)", "0|1", F},
	{"not not a=1", "1", T}, {"!!!a=1", "1", F}, {"! ( ! (a=1) )", "1", T},
	{"not (a=1 or not (b=1 and c=1))", "0|1|1", T}, {"not(a=1)and b=1", "2|1", T},
	/* words */
	{"a=1 AND b=1", "1|1", T}, {"a=1 && b=1", "1|0", F}, {"a=1 || b=1", "0|1", T},
	{"a > - 5", "0.12345678901234567890123", T}, {"a > -(5)", "0.12345678901234567890123", T}, {"a < - -5", "0.12345678901234567890123", T},
	{"a contains - 5", "x-5", T}, {"a <> 1", "2", T}, {"a =~ '^x'", "xy", T}, {"a like 'x%'", "xy", T}, {"a % 3 = 1", "-2|", F}, {"mod(a, 3) = -2", "-2", T}, {"floor(a) = -3", "-2.5", T},
	{"ceil(a) + sign(b) = -1", "-2.5|7", T}, {"round_half_up(a) = -3", "-2.5", T}, {"trunc(a, 1) = 2.5", "2.59", T}, {"bin(a, 5) = -5", "-0.1", T},
	{"a=1 Or b=1", "0|1", T}, {"NOT a=1", "0", T}, {"!a=1", "0", T}, {"a Is Not Missing", "1", T},
	{"a=1and b=1", "1|1", X}, /* no such literal: seen below */
	/* columns */
	{":2 = 5", "0|5", T}, {"col2 = 5", "0|5", T}, {"`user agent` = 'x'", "|||x", T},
	{"`and` = 5", "||||5", T}, {"gr\xc3\xb6\xc3\x9f" "e = 5", "|||||5", T},
	{"`a``b` = 5", "||||||5", T}, {"`7` = 5", "|||||||5", T}, {"`:1` = 5", "||||||||5", T},
	{":1 = 5", "5|||||||||", T}, {":10 is missing", "", T}, {"`a` = 1", "1", T},
	{"a = 1 and :1 = 1 and `a` = 1 and col1 = 1", "1", T},
	/* a field that is not a number makes the result invalid only where it decides */
	{"a > 1", "x", X}, {"not a > 1", "x", X}, {"a > 1 and b > 1", "x|0", F},
	{"b > 1 and a > 1", "x|0", F}, {"a > 1 and b > 1", "x|2", X}, {"a > 1 or b > 1", "x|2", T},
	{"b > 1 or a > 1", "x|2", T}, {"a > 1 or b > 1", "x|0", X}, {"a > 1 and b > 1", "x|", F},
	{"a > 1 or b > 1", "x|", X}, {"b = 'n' and a > 1", "x|t", F}, {"a > 1 and b = 'n'", "x|t", F},
	{"a > 1 and b = 'n'", "x|n", X}, {"a > b", "x|1", X}, {"a > b", "1|x", X},
	{"a > b", "x|", F}, {"a > b", "|x", F}, {"a > 1", "1e400", X}, {"a > 1", "1e-401", X},
	{"a = 'x'", "x", T}, {"a is not missing", "x", T}, {"a > 1 or a <= 1", "x", X},
	{"a > 1 and b > 1", "x|y", X}, {"not (a > 1 and b > 1)", "x|0", T},
	/* values that are computed */
	{"a + 1 = 2", "1", T}, {"a+1 > 2", "1", F}, {"a*b = 6", "2|3", T}, {"a - b < 0", "2|3", T}, {"a/b = 1.5", "3|2", T},
	{"-a > 2", "-3", T}, {"a > -b", "1|0", T}, {"(a + 1)*2 > 3", "1", T}, {"not (a + 1 > 2)", "1", T}, {"((a+1)) = 2", "1", T},
	{"(a) = 1", "1", T}, {"a between b-1 and b+1", "5|4", T}, {"a in (b+1, 7)", "5|4", T}, {"a+1 in (1, 2, 3)", "1", T},
	{"(a = 1) + 1 = 2", "1", T}, {"(a = 1) = b", "2|0", T}, {"(a = 1) = b", "1|0", F}, {"(a = 1) is missing", "", T}, {"(not a > 1 and b > 1) = 0", "3|", T},
	{"(a > 1 and b > 1) is missing", "3|", T}, {"contains(a, b)", "xyz|yz", T}, {"not ends_with(a, b)", "xyz|yz", F}, {"a starts with b", "xyz|x", T}, {"a+1 not in (1, 3)", "1", T}, {"abs(a) in (2) or b = 1", "-3|1", T}, {"lower(a) = 'x'", "X", T}, {"lower(a) = lower(b)", "X|x", T},
	{"lower(a) = b", "X|x", T}, {"upper(a) contains 'X'", "x", T}, {"length(a) = 2", "\xc3\xa9" "e", T}, {"abs(a) is missing", "", T},
	{"a + b is missing", "1|", T}, {"a + b > 0", "1|", F}, {"not a + b > 0", "1|", F}, {"a + b > 0", "1|x", X}, {"a + b > 0", "|x", F},
	{"a + 1 > 0 or b = 1", "x|1", T}, {"b = 1 or a + 1 > 0", "x|1", T}, {"a + 1 > 0 and b = 1", "x|2", F}, {"a / 0 is missing", "1", T},
	{"if(a > 1, b, c) = 3", "2|3|4", T}, {"if(a > 1, b, c) = 3", "0|3|4", F}, {"if(a > 1, b, c) = 3", "x|3|3", X},
	{"if(a > 1 or b = 1, if(c > 1, 1, 2), 3) = 2", "0|1|1", T}, {"coalesce(a, b) > 1", "|2", T}, {"max(a, b) = min(b, c)", "1|2|2", T},
	{"a * 1000000000 * 1000000000 > 5e18", "6", T}, {"round(a, 0) = 2", "2.5", T}, {"a+1 is number", "x", F}, {"a is number", "x", F},
	{"1e300 * a > 1", "1e300", X}, {"not if(a = 1, b, c) = 1", "1|2|1", T}, {"a--1 = 2", "1", T}, {"2*-a = -2", "1", T},
};

static void test_meanings(void)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
		const struct meaning *m = &meanings[i];
		struct outcome out = ask(m->text, m->record);
		if (!strcmp(m->text, "a=1and b=1"))
			ok(out.status == STATUS_USAGE && out.error_offset == 2, "1and is no number");
		else if (ok(out.status == STATUS_OK, "'%s' is an expression", m->text))
			ok(m->truth == out.truth && !out.lane_differs, "'%s' of '%s'", m->text, m->record);
		else
			diag("%s", out.fault.detail);
	}
}

static void is_culprit(const char *text, const char *record, uint32_t field, enum status why)
{
	struct outcome out = ask(text, record);

	is_int(EXPR_INVALID, out.truth, "'%s' of '%s' hangs on a bad field", text, record);
	is_uint(field, out.field, "which is number %u", field);
	is_int(why, out.why, "for its reason");
}

static void test_culprits(void)
{
	is_culprit("a > 1", "x", 0, STATUS_NOT_A_NUMBER);
	is_culprit("b > a", "x|1", 0, STATUS_NOT_BOTH_NUMBERS);
	is_culprit("b > a", "1|x", 1, STATUS_NOT_BOTH_NUMBERS);
	is_culprit("a > 1", "1e400", 0, STATUS_OUT_OF_RANGE);
	is_culprit("a > 1 and b > 1", "x|y", 0, STATUS_NOT_A_NUMBER);
	is_culprit("a > 1 and b = 'n' or c > 1", "x|t|y", 2, STATUS_NOT_A_NUMBER);
	is_culprit("c > 1 or a > 1 and b = 'n'", "x|t|y", 2, STATUS_NOT_A_NUMBER);
	is_culprit("(a > 1 or b = 1) and c > 1", "x|1|y", 2, STATUS_NOT_A_NUMBER);
	is_culprit("c in (1, 2, a) or b = 1", "x|2|3", 0, STATUS_NOT_BOTH_NUMBERS);
	is_culprit("b + 1 > a", "1|x", 1, STATUS_NOT_A_NUMBER);
	is_culprit("b * c > 1", "0|1e300|1e300", 1, STATUS_OUT_OF_RANGE);
	is_culprit("if(b > 1, a, c) = 1", "1|x|1", 1, STATUS_NOT_A_NUMBER);
	is_culprit("a = 1 and if(if(c > 1, 1, 2) = 1 and b > 1, a, c) = 1", "1|x|2", 1, STATUS_NOT_A_NUMBER);
	is_culprit("epoch(a) > 1", "x", 0, STATUS_NOT_A_DATE);
}

/* ---- and, or, not over true, false and unknown ---- */

static void test_three_values(void)
{
	/* a test of each: field a is 1, 0 or missing */
	static const char *const fields[] = {"0", "", "1"}; /* false < unknown < true */
	char record[8];

	for (int i = 0; i < 3; i++) {
		is_int(i == 2, ask("a=1", fields[i]).truth, "a of %d", i);
		is_int(i == 0, ask("not a=1", fields[i]).truth, "not a of %d", i);
		for (int j = 0; j < 3; j++) {
			int least = i < j ? i : j, most = i < j ? j : i;
			snprintf(record, sizeof record, "%s|%s", fields[i], fields[j]);
			is_int(least == 2, ask("a=1 and b=1", record).truth, "%d and %d", i, j);
			is_int(least == 0, ask("not (a=1 and b=1)", record).truth, "not that");
			is_int(most == 2, ask("a=1 or b=1", record).truth, "%d or %d", i, j);
			is_int(most == 0, ask("not (a=1 or b=1)", record).truth, "not that");
		}
	}
}

/* ---- what it refuses ---- */

static const struct refusal {
	const char *text;
	size_t offset;
	const char *words; /* part of the message */
} refusals[] = {
	{"", 0, "empty"},
	{"  ", 0, "empty"},
	{"a", 1, "expected a comparison"},
	{"a b", 2, "expected a comparison"},
	{"a and b = 1", 2, "expected a comparison"},
	{"5", 1, "expected a comparison"},
	{"2025-03-01 > 5", 4, "a date is text: write it in quotes"},
	{"a =", 3, "expected a column or a value, not the end"},
	{"a = = 1", 4, "expected a column or a value"},
	{"= 1", 0, "expected a column or a value"},
	{"a = 1 b", 6, "expected 'and', 'or' or the end"},
	{"a = 1 and", 9, "not the end"},
	{"a = 1 and and b = 1", 10, "written `and`"},
	{"or = 1", 0, "written `or`"},
	{"a = Missing", 4, "write 'is missing'"},
	{"a = 1 && || b = 1", 9, "expected a column or a value"},
	{"a = 1 not b = 1", 6, "expected 'and'"},
	{"1 < a < 5", 6, "do not chain"},
	{"a < b = c", 6, "do not chain"},
	{"a is missing = 1", 13, "do not chain"},
	{"a = 1 is missing", 6, "do not chain"},
	{"1 = 1", 0, "neither side"},
	{"'x' = \"x\"", 0, "neither side"},
	{"1 is missing", 0, "only a column"},
	{"a is 1", 5, "expected 'missing', 'number'"},
	{"a is not not missing", 9, "expected 'missing', 'number'"},
	{"a is", 4, "not the end"},
	{"(a = 1", 6, "expected ')'"},
	{"a = 1)", 5, "no parenthesis is open"},
	{"()", 1, "expected a column or a value"},
	{"not", 3, "not the end"},
	{"a = 'x", 4, "does not close"},
	{"a = \"x''", 4, "does not close"},
	{"a = 'x''", 4, "does not close"},
	{"`a = 1", 0, "does not close"},
	{"a = ''", 4, "is missing"},
	{"a != \"\"", 5, "is missing"},
	{"a = 0x10", 4, "not a number"},
	{"a = 1e", 4, "not a number"},
	{"a = 1.2.3", 4, "not a number"},
	{"a = 1e400", 4, "number beyond"},
	{"a = 1e-401", 4, "number beyond"},
	{"a = 1e99999999999999999999", 4, "number beyond"},
	{"a = 1,000", 5, "expected 'and', 'or' or the end"},
	{"a + = 2", 4, "expected a column or a value"},
	{"a + 1", 5, "expected a comparison"},
	{"1 + 1 = 2", 0, "no column"},
	{"'x' + a = 1", 0, "a number is needed, not a text"},
	{"sqr(a) > 1", 0, "no function of this name"},
	{"left(a) > 1", 6, "expected ',': left(t, n)"},
	{"if(a, 1, 2) = 1", 4, "expected a comparison"},
	{"not a + 1", 9, "expected a comparison"},
	{"a = 1 & b = 1", 6, "unexpected character"},
	{"a = 1; b", 5, "unexpected character"},
	{"a =! 1", 3, "expected a column or a value"},
	{"a = -", 5, "expected a column or a value"},
	{": = 1", 0, "':' is followed by"},
	{":1x = 1", 0, "':' is followed by"},
	{"a\x01 = 1", 1, "unexpected character"},
	{"gr\xc3\xb6\xc3\x9f" "e ?", 8, "unexpected character"},
};

static void test_refusals(void)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const struct refusal *r = &refusals[i];
		struct outcome out = ask(r->text, "");
		is_int(STATUS_USAGE, out.status, "'%s' is refused", r->text);
		is_uint(r->offset, out.error_offset, "where it is wrong");
		if (!ok(strstr(out.fault.detail, r->words) != NULL, "with '%s'", r->words))
			diag("%s", out.fault.detail);
	}
	is_int(STATUS_UNKNOWN_COLUMN, ask("nope = 1", "").status, "an unknown column");
	is_int(STATUS_UNKNOWN_COLUMN, ask(":11 = 1", "").status, "a field beyond the last");
	is_int(STATUS_UNKNOWN_COLUMN, ask(":0 = 1", "").status, "field 0");
	is_int(STATUS_UNKNOWN_COLUMN, ask("`:2` = 1", "").status, "backquotes only name");
	is_string("nope", ask("nope = 1", "").fault.detail, "is named");
}

static void is_message(const char *text, const char *wanted)
{
	is_string(wanted, ask(text, "").fault.detail, "the message for '%.40s'", text);
}

static void test_messages(void)
{
	is_message("a and b", "--where: expected a comparison (= != < <= > >= ~, is, in, between, contains, "
		   "starts, ends)\n"
			      "a and b\n  ^");
	is_message("\xff < 1 or gr\xc3\xb6\xc3\x9f" "e\n\x01? 1",
		   "--where: unexpected character (a name that has it is written in `backquotes`)\n"
		   "? < 1 or gr\xc3\xb6\xc3\x9f" "e??? 1\n               ^");
	is_message("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee = 1 = ffffffffffggggggggggh"
		   "hhhhhhhhh", "--where: comparisons do not chain: join them with 'and'\n"
		   "...ccccccccddddddddddeeeeeeeeee = 1 = ffffffffffgggggggggghhhhhhhhhh\n"
		   "                                    ^");
}

/* ---- depth ---- */

/* n times open, then middle, then n times close. */
static char *nested(size_t n, const char *open, const char *middle, const char *close)
{
	size_t open_nbytes = strlen(open), close_nbytes = strlen(close);
	char *text = malloc(n * (open_nbytes + close_nbytes) + strlen(middle) + 1), *to = text;

	if (!text)
		bail("no memory");
	for (size_t i = 0; i < n; i++, to += open_nbytes)
		memcpy(to, open, open_nbytes);
	to += sprintf(to, "%s", middle);
	for (size_t i = 0; i < n; i++, to += close_nbytes)
		memcpy(to, close, close_nbytes);
	*to = '\0';
	return text;
}

static void is_nested(size_t n, const char *open, const char *middle, const char *close,
		      enum status status, enum expr_truth truth)
{
	char *text = nested(n, open, middle, close);
	struct outcome out = ask(text, "1");

	is_int(status, out.status, "%zu times '%s'", n, open);
	if (status == STATUS_OK)
		is_int(truth, out.truth, "and its truth");
	else
		ok(strlen(out.fault.detail) < FAULT_DETAIL_NBYTES - 1, "and the message fits");
	free(text);
}

static void test_depth(void)
{
	is_nested(PROGRAM_NLEVELS, "(", "a=1", ")", STATUS_OK, EXPR_TRUE);
	is_nested(PROGRAM_NLEVELS + 1, "(", "a=1", ")", STATUS_USAGE, EXPR_FALSE);
	is_nested(100000, "(", "a=1", ")", STATUS_USAGE, EXPR_FALSE);
	is_nested(PROGRAM_NLEVELS, "not (", "a=1", ")", STATUS_OK, EXPR_TRUE);
	is_nested(PROGRAM_NLEVELS - 1, "!(a=2 or ", "a=1", ")", STATUS_OK, EXPR_FALSE);
	is_nested(PROGRAM_NLEVELS, "!(a=2 or ", "a=1", ")", STATUS_OK, EXPR_TRUE);
	is_nested(100001, "!", "a=1", "", STATUS_OK, EXPR_FALSE);
	is_nested(100000, "", "a=1", " or a=2", STATUS_OK, EXPR_TRUE);
	is_nested(100000, "a=2||", "a=1", "&&a=1", STATUS_OK, EXPR_TRUE);
	is_nested(100000, "a=1 and not ", "a=2", "", STATUS_OK, EXPR_FALSE);
	is_nested(5000, "(a=1)and", "(a=1)", "", STATUS_OK, EXPR_TRUE);
	is_nested(100000, "a", "", "", STATUS_USAGE, EXPR_FALSE);
	is_nested(100000, "\xc3\xa9", "", "", STATUS_USAGE, EXPR_FALSE);
	is_nested(100000, "\x80", "", "", STATUS_USAGE, EXPR_FALSE);
	is_nested(100000, "`", "", "", STATUS_USAGE, EXPR_FALSE);
}

/* ---- what the planner is told ---- */

static void test_columns(void)
{
	static const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};
	const struct program_context context = {NULL, &dialect, '.', NULL, NULL};
	struct program p;
	struct fault fault;

	is_int(STATUS_OK, program_compile(&p, "offsets", "x > 1 and y = 'z' or :3 is missing and x = `x`", &context, &fault),
	       "compiles before names are known");
	is_uint(4, p.names.nselectors, "x, y, :3 and `x`");
	is_uint(15, p.nsteps, "five loads, four tests, three joins, and before each a step that may leave its part out");
	ok(!p.computes && p.type == TYPE_TRUTH && !p.name, "a condition that computes nothing");
	ok(!p.names.selectors[2].quoted && p.names.selectors[3].quoted, "quotes are told");
	is_string(":3", p.names.selectors[2].text, "by position");
	program_free(&p);
	is_int(STATUS_OK, program_compile(&p, "let", "y = x + 1 - x", &context, &fault), "a value compiles");
	is_uint(1, p.names.nselectors, "a column that is named twice is one");
	ok(p.computes && p.type == TYPE_NUMBER && p.nvalues == 2, "it computes a number");
	is_string("y", p.name, "for a column");
	program_free(&p);
}

int main(void)
{
	plan_lazy();
	test_meanings();
	test_culprits();
	test_three_values();
	test_refusals();
	test_messages();
	test_depth();
	test_columns();
	return done();
}
