/* SPDX-License-Identifier: MIT
 *
 * test_expr_random.c - random text, numbers and conditions, judged by evaluators that share
 * nothing with the compiler: exact.h for numbers, Kleene's tables for conditions.
 */
#include "expr_case.h"
#include "number/exact.h"

static uint64_t random_state = 20260101;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* Random words and random bytes: the parser must not crash, whether or not it accepts them. */
static void test_hostile(void)
{
	static const char *const words[] = {"a", "b ", "(", ")", "not ", "!", " and ", "&&", " or ",
					    "= ", "<", ">=", "1", "1e9", "'x'", "\"y", "`", ":1",
					    " is ", " missing", "-", "+", "*", "if(", ",", "in (", "abs(", "\xff", "\xc3\xa9", "a=1", "b<a"};
	unsigned long nfine = 0, nwrong = 0;
	char text[256];

	for (int i = 0; i < 200000; i++) {
		size_t n = 0, wanted = random_below(200);
		while (n < wanted && i % 4) {
			const char *word = words[random_below(sizeof words / sizeof *words)];
			n += (size_t)sprintf(text + n, "%s", word);
			if (i % 4 == 1 && n > 20)
				break;
		}
		for (; n < wanted && i % 4 == 0; n++)
			text[n] = (char)(1 + random_below(255));
		text[n] = '\0';
		struct outcome out = ask(text, "1|x");
		nfine += out.status == STATUS_OK;
		nwrong += out.status != STATUS_OK && out.status != STATUS_USAGE &&
			  out.status != STATUS_UNKNOWN_COLUMN;
		nwrong += out.error_offset > n || strlen(out.fault.detail) > 254 || out.lane_differs;
	}
	ok(nwrong == 0, "hostile text is judged");
	ok(nfine > 100, "and some of it is fine (%lu)", nfine);
}

/* ---- numbers against exact.h ---- */

static size_t random_number(char *text)
{
	size_t n = 0;
	uint32_t ndigits = random_below(3) ? 1 + random_below(4) : 1 + random_below(40);

	if (random_below(3) == 0)
		text[n++] = "+-"[random_below(2)];
	for (uint32_t i = 0, point = random_below(ndigits + 1); i < ndigits; i++) {
		if (i == point && random_below(2))
			text[n++] = '.';
		text[n++] = "0001259"[random_below(7)];
	}
	if (random_below(3) == 0)
		n += (size_t)sprintf(text + n, "e%d",
				     (int)random_below(random_below(2) ? 6 : 300) - (random_below(2) ? 3 : 150));
	text[n] = '\0';
	return n;
}

static void test_numbers(void)
{
	static const char *const signs[] = {"<", "=", ">"};
	unsigned long nwrong = 0, nequal = 0;

	for (int i = 0; i < 60000; i++) {
		char a[400], b[400], text[500], record[900];
		struct integer x_room, y_room;
		struct exact x, y;
		int order;
		size_t a_nbytes = random_number(a), b_nbytes = random_number(b);
		if (exact_parse(a, a_nbytes, &x_room, &x) || exact_parse(b, b_nbytes, &y_room, &y))
			bail("%s or %s is no number", a, b);
		order = exact_compare(&x, &y);
		nequal += order == 0;
		for (int s = -1; s <= 1; s++) {
			snprintf(text, sizeof text, "a %s %s", signs[s + 1], b);
			nwrong += ask(text, a).truth != (s == order ? EXPR_TRUE : EXPR_FALSE);
			snprintf(text, sizeof text, "a %s b", signs[s + 1]);
			snprintf(record, sizeof record, "%s|%s", a, b);
			nwrong += ask(text, record).truth != (s == order ? EXPR_TRUE : EXPR_FALSE);
		}
		if (nwrong == 1)
			diag("%s against %s", a, b);
	}
	ok(nwrong == 0, "random numbers compare as exact.h has it");
	ok(nequal > 500, "and many are equal (%lu)", nequal);
}

/* ---- random trees ---- */

/* A tree, its text, and its truth by Kleene's tables: 0 false, 1 unknown, 2 true. Fields
 * hold small whole numbers, -1: missing, -2: not a number. */
struct random_case {
	int values[3];
	char text[4000];
	size_t nbytes;
};

TAP_PRINTF(2, 3) static void say(struct random_case *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	c->nbytes += (size_t)vsprintf(c->text + c->nbytes, format, args);
	va_end(args);
}

static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};

/* Compares a with b: unknown if one is missing, else `bad` if one is not a number. */
static int compare(int a, int b, int sign, int bad)
{
	const bool holds[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};

	if (a == -1 || b == -1)
		return 1;
	if (a == -2 || b == -2)
		return bad;
	return holds[sign] ? 2 : 0;
}

static int leaf(struct random_case *c)
{
	uint32_t left = random_below(3), right = random_below(3);
	int sign = (int)random_below(6), number = (int)random_below(3);
	bool negative = random_below(2);

	switch (random_below(4)) {
	case 0:
		say(c, "%c is %smissing", 'a' + left, negative ? "not " : "");
		return (c->values[left] == -1) != negative ? 2 : 0;
	case 1:
		say(c, "%c %s %c", 'a' + left, signs[sign], 'a' + right);
		return compare(c->values[left], c->values[right], sign, 1);
	case 2:
		say(c, "%d.0 %s %c", number, signs[sign], 'a' + left);
		return compare(number, c->values[left], sign, 1);
	default:
		say(c, "%c%s%d", 'a' + left, signs[sign], number);
		return compare(c->values[left], number, sign, 1);
	}
}

static int tree(struct random_case *c, int level)
{
	uint32_t kind = level == 0 ? 0 : random_below(5), spelling = random_below(2);
	int truth, next;

	if (kind == 0)
		return leaf(c);
	say(c, kind > 1 ? "(" : spelling ? "not (" : "!(");
	truth = tree(c, level - 1);
	if (kind > 1) {
		say(c, kind % 2 ? spelling ? ") and (" : ")&&(" : spelling ? ") or (" : ")||(");
		next = tree(c, level - 1);
		truth = (kind % 2 ? next < truth : next > truth) ? next : truth;
	}
	say(c, ")");
	return kind == 1 ? 2 - truth : truth;
}

static size_t write_field(char *to, int value)
{
	return (size_t)(value == -1   ? sprintf(to, "%s", random_below(2) ? "" : "NA")
			: value == -2 ? sprintf(to, "x")
				      : sprintf(to, "%d%s", value, random_below(2) ? "" : ".00"));
}

/* Without bad fields: the truth is Kleene's. */
static void test_trees(void)
{
	unsigned long nwrong = 0, ntrue = 0;

	for (int i = 0; i < 100000; i++) {
		struct random_case c = {.nbytes = 0};
		char record[64], *to = record;
		for (int f = 0; f < 3; f++) {
			c.values[f] = (int)random_below(4) - 1;
			to += write_field(to, c.values[f]);
			to += sprintf(to, f < 2 ? "|" : "");
		}
		int truth = tree(&c, 5);
		struct outcome out = ask(c.text, record);
		bool wrong = out.status != STATUS_OK ||
			     out.lane_differs || out.truth != (truth == 2 ? EXPR_TRUE : EXPR_FALSE);
		ntrue += out.truth == EXPR_TRUE;
		nwrong += wrong;
		if (wrong && nwrong == 1)
			diag("%s of %s", c.text, record);
	}
	ok(nwrong == 0, "random conditions are as Kleene's tables have it");
	ok(ntrue > 20000 && ntrue < 80000, "true and not (%lu)", ntrue);
}

/* Evaluates n truths. joins[k] joins the k-th to the one before: nonzero `and`, 0 `or`. */
static int or_of_ands(const int *truths, const int *joins, int n)
{
	int best = 0, run = truths[0];

	for (int k = 1; k < n; k++) {
		if (joins[k]) {
			run = truths[k] < run ? truths[k] : run;
		} else {
			best = run > best ? run : best;
			run = truths[k];
		}
	}
	return run > best ? run : best;
}

#define NTESTS 6 /* one on each of six fields, in pairs: not (:1 < 0 or :2 = 0) and ... */
struct bad_case {
	int values[NTESTS], sign[NTESTS], joins[NTESTS], nots[NTESTS / 2];
	char text[400], record[64];
};

static void make_bad_case(struct bad_case *c)
{
	char *text = c->text, *record = c->record;

	for (int f = 0; f < NTESTS; f++) {
		const char *join = f == 0 ? "" : (c->joins[f] = (int)random_below(2)) ? " and " : " or ";
		c->values[f] = (int)random_below(4) - 2; /* bad, missing, 0, 1 */
		c->sign[f] = (int)random_below(6);
		if (f % 2 == 0)
			c->nots[f / 2] = (int)random_below(2);
		text += sprintf(text, "%s%s:%d %s 0%s", join,
				f % 2 ? "" : c->nots[f / 2] ? "not (" : "(", f + 1,
				signs[c->sign[f]], f % 2 ? ")" : "");
		record += sprintf(record, f ? "|" : "");
		record += write_field(record, c->values[f]);
	}
}

/* Returns the expected truth. It tries every assignment of true and false to the bad tests. If
 * all agree on whether the record is kept, that is the result; else the record is invalid. */
static enum expr_truth truth_of_choices(const struct bad_case *c)
{
	int joins[NTESTS / 2] = {0, c->joins[2], c->joins[4]};
	bool some_kept = false, some_dropped = false;

	for (int chosen = 0; chosen < 1 << NTESTS; chosen++) {
		int pairs[NTESTS / 2];
		for (int k = 0; k < NTESTS / 2; k++) {
			int t[2];
			for (int i = 0, f = 2 * k; i < 2; i++, f++)
				t[i] = compare(c->values[f], 0, c->sign[f], chosen >> f & 1 ? 2 : 0);
			pairs[k] = or_of_ands(t, &c->joins[2 * k], 2);
			pairs[k] = c->nots[k] ? 2 - pairs[k] : pairs[k];
		}
		if (or_of_ands(pairs, joins, NTESTS / 2) == 2)
			some_kept = true;
		else
			some_dropped = true;
	}
	return !some_kept ? EXPR_FALSE : some_dropped ? EXPR_INVALID : EXPR_TRUE;
}

static void test_bad_fields(void)
{
	unsigned long nwrong = 0, ninvalid = 0;

	for (int i = 0; i < 50000; i++) {
		struct bad_case c = {.joins = {0}};
		make_bad_case(&c);
		struct outcome out = ask(c.text, c.record);
		enum expr_truth wanted = truth_of_choices(&c);
		bool wrong = out.status != STATUS_OK || out.truth != wanted || out.lane_differs ||
			     (wanted == EXPR_INVALID && c.values[out.field] != -2);
		ninvalid += wanted == EXPR_INVALID;
		nwrong += wrong;
		if (wrong && nwrong == 1)
			diag("%s of %s: %d, not %d", c.text, c.record, out.truth, wanted);
	}
	ok(nwrong == 0, "a bad field matters just where it decides");
	ok(ninvalid > 5000, "and often does (%lu)", ninvalid);
}

int main(void)
{
	plan_lazy();
	test_hostile();
	test_numbers();
	test_trees();
	test_bad_fields();
	return done();
}
