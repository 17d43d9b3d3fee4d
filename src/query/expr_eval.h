/* SPDX-License-Identifier: MIT
 *
 * expr_eval.h - a compiled condition, and whether it keeps a record.
 *
 * expr.c compiles the language of --where to a chain of tests. Each test compares one or two fields
 * and has two exits, to later tests. So a record needs no stack, no recursion, no memory, and only
 * the tests that decide it. Plain arrays and inline code: a CPU thread and a GPU lane run the same
 * source.
 *
 * The compiler pushes `not` down to the tests: not (a < 1) is a >= 1. A comparison with a missing
 * value is then never true. For a filter that is all of SQL's three-valued logic: and/or are
 * monotone, so without `not` unknown and false lead to the same records.
 *
 * By the same monotony, a field that is not a number matters only if the record is kept when every
 * test of such a field counts as true, and dropped when each counts as false. Otherwise the other
 * tests decide, in whatever order they were written.
 */
#ifndef GPUSTAT_EXPR_EVAL_H
#define GPUSTAT_EXPR_EVAL_H

#include <stddef.h>
#include <stdint.h>

#include "number/decimal.h"
#include "base/hd.h"
#include "number/wide.h"

/* ---- the compiled form ---- */

struct pattern;       /* pattern.h */
struct pattern_match;

/* The order of two values; a test has the set of orders that make it true. */
enum expr_order { EXPR_LESS = 1, EXPR_EQUAL = 2, EXPR_GREATER = 4, EXPR_ANY_ORDER = 7 };

enum expr_test_kind {
	EXPR_TEST_NUMBER,  /* column against a number literal */
	EXPR_TEST_TEXT,    /* column against a string literal */
	EXPR_TEST_COLUMNS, /* column against column, as numbers */
	EXPR_TEST_MISSING, /* is missing: EXPR_LESS where it is, else EXPR_GREATER */
	/* Whether something holds: EXPR_EQUAL where it does, else EXPR_GREATER. */
	EXPR_TEST_IS_NUMBER, /* the column is a number */
	EXPR_TEST_STARTS,    /* its text starts with a string literal, */
	EXPR_TEST_ENDS,      /* ... ends with it, */
	EXPR_TEST_CONTAINS,  /* ... contains it */
	EXPR_TEST_MATCH,     /* ... matches a pattern: on CPUs only */
};

enum expr_value_kind {
	EXPR_UNREAD,        /* a field whose number has not been parsed */
	EXPR_MISSING,
	EXPR_NUMBER,        /* number is set */
	EXPR_WIDE,          /* a number too long for struct decimal: use the text */
	EXPR_NOT_A_NUMBER,
	EXPR_OUT_OF_RANGE,  /* a number, but beyond wide.h */
	EXPR_TOO_COSTLY,    /* a text on which a pattern takes too many steps */
	EXPR_WRONG,         /* a computed value without a result: neither a number nor a text */
};

/* A field's value, quotes removed, or a literal. */
struct expr_value {
	const char *text; /* nbytes; not owned. Undefined where kind is EXPR_MISSING */
	size_t nbytes;
	struct decimal number;
	enum expr_value_kind kind;
};

/* Exits that end the chain. */
#define EXPR_ACCEPT UINT32_MAX
#define EXPR_REJECT (UINT32_MAX - 1)

struct expr_test {
	uint8_t kind;         /* enum expr_test_kind */
	uint8_t accepts;      /* set of enum expr_order */
	uint8_t literal_kind; /* of a number literal: EXPR_NUMBER or EXPR_WIDE */
	bool is_quoted;       /* "...": a text that in SQL would be a column's name; not '...' */
	uint32_t left, right; /* columns: 0 .. ncolumns - 1; right for EXPR_TEST_COLUMNS */
	uint32_t pattern;     /* of EXPR_TEST_MATCH: 0 .. npatterns - 1 */
	uint32_t if_true, if_not; /* a later test, EXPR_ACCEPT or EXPR_REJECT */
	uint32_t literal_begin, literal_nbytes; /* in the condition's literals */
	struct decimal number;
};

/* A compiled condition. To move it to a GPU, copy the arrays and set the pointers. */
struct expr {
	uint32_t ntests, ncolumns, nliteral_bytes;
	const struct expr_test *tests; /* ntests >= 1, evaluated from the first */
	const char *literals;          /* nliteral_bytes, no terminators */
	uint32_t *columns;             /* ncolumns indexes into the plan */
	uint32_t npatterns;
	struct pattern **patterns; /* compiled: pattern.h. On CPUs only */
	/* pattern_matches. A pointer, so that code for a GPU does not need PCRE2. */
	int (*matches)(const struct pattern *pattern, struct pattern_match *match,
		       const char *text, size_t nbytes);
};

enum expr_truth {
	EXPR_FALSE, /* false, or unknown because a value is missing */
	EXPR_TRUE,
	EXPR_INVALID, /* it depends on a field that is not a number */
};

/* ---- comparing ---- */

HD enum expr_order expr_order_of(int comparison)
{
	return comparison < 0 ? EXPR_LESS : comparison > 0 ? EXPR_GREATER : EXPR_EQUAL;
}

/* Compares exactly; -1, 0 or 1. A significand other than 0, shifted by DECIMAL_NDIGITS places,
 * exceeds every other one, so the product below fits. */
HD int decimal_compare(struct decimal a, struct decimal b)
{
	int32_t nplaces = b.scale - a.scale;
	int64_t coarse = nplaces < 0 ? b.significand : a.significand;
	int64_t fine = nplaces < 0 ? a.significand : b.significand;
	int sign = nplaces < 0 ? -1 : 1;
	int128 raised;

	if (nplaces < 0)
		nplaces = -nplaces;
	if (nplaces >= DECIMAL_NDIGITS && coarse != 0)
		return coarse < 0 ? -sign : sign;
	raised = coarse ? (int128)coarse * decimal_shift(1, nplaces) : 0;
	return raised < fine ? -sign : raised > fine ? sign : 0;
}

/* Returns the digit at *p and moves *p beyond it; skips the point; 0 after the last. */
HD int expr_next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		++*p;
	return *p < end && decimal_is_digit(**p) ? *(*p)++ - '0' : 0;
}

/* Compares two numbers' texts of any length; -1, 0 or 1: by sign, then by the place of the first
 * significant digit, then digit by digit. */
HD int expr_compare_texts(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	struct decimal_syntax x, y;
	const char *a_end, *b_end;
	int64_t x_top, y_top, ndigits;
	int x_sign, y_sign;

	a = decimal_trim(a, &a_nbytes);
	b = decimal_trim(b, &b_nbytes);
	decimal_tokenize(a, a_nbytes, &x);
	decimal_tokenize(b, b_nbytes, &y);
	x_sign = x.ndigits == 0 ? 0 : x.negative ? -1 : 1;
	y_sign = y.ndigits == 0 ? 0 : y.negative ? -1 : 1;
	if (x_sign != y_sign || x_sign == 0)
		return x_sign < y_sign ? -1 : x_sign > y_sign;
	x_top = x.ndigits - x.nfraction + x.exponent;
	y_top = y.ndigits - y.nfraction + y.exponent;
	if (x_top != y_top)
		return x_top < y_top ? -x_sign : x_sign;
	for (a_end = a + a_nbytes; *a == '+' || *a == '-' || *a == '0' || *a == '.';)
		a++;
	for (b_end = b + b_nbytes; *b == '+' || *b == '-' || *b == '0' || *b == '.';)
		b++;
	ndigits = x.ndigits > y.ndigits ? x.ndigits : y.ndigits;
	for (; ndigits > 0; ndigits--) {
		int difference = expr_next_digit(&a, a_end) - expr_next_digit(&b, b_end);
		if (difference)
			return difference < 0 ? -x_sign : x_sign;
	}
	return 0;
}

/* Returns the first digit that is not 0, or '0'. */
HD char expr_first_digit(const char *text, size_t nbytes)
{
	for (; nbytes > 0; text++, nbytes--)
		if (*text > '0' && *text <= '9')
			return *text;
		else if (*text != '0' && *text != '+' && *text != '-' && *text != '.')
			break;
	return '0';
}

/* Whether both texts, without blanks around them, are numbers, and of the same value. */
HD int expr_is_same_number(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	struct decimal_syntax ignored;

	return expr_first_digit(a, a_nbytes) == expr_first_digit(b, b_nbytes) &&
	       decimal_tokenize(a, a_nbytes, &ignored) && decimal_tokenize(b, b_nbytes, &ignored) &&
	       expr_compare_texts(a, a_nbytes, b, b_nbytes) == 0;
}

/* Compares bytes as unsigned; a prefix is less than the whole. */
HD int expr_compare_bytes(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
	size_t i, nbytes = a_nbytes < b_nbytes ? a_nbytes : b_nbytes;

	for (i = 0; i < nbytes; i++)
		if (a[i] != b[i])
			return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
	return a_nbytes < b_nbytes ? -1 : a_nbytes > b_nbytes;
}

/* Whether text[0 .. nbytes) has part[0 .. part_nbytes) at byte `at`. */
HD int expr_has_at(const char *text, size_t nbytes, const char *part, size_t part_nbytes, size_t at)
{
	size_t i;

	if (at > nbytes || nbytes - at < part_nbytes)
		return 0;
	for (i = 0; i < part_nbytes; i++)
		if (text[at + i] != part[i])
			return 0;
	return 1;
}

/* Returns the order of a text and a literal in a test of text: see enum expr_test_kind. */
HD enum expr_order expr_text_order(const struct expr_test *t, const char *text, size_t nbytes,
				   const char *literal)
{
	size_t n = t->literal_nbytes, at = 0;
	int holds;

	if (t->kind == EXPR_TEST_TEXT)
		return expr_order_of(expr_compare_bytes(text, nbytes, literal, n));
	if (t->kind == EXPR_TEST_ENDS && n <= nbytes)
		at = nbytes - n;
	holds = expr_has_at(text, nbytes, literal, n, at);
	if (t->kind == EXPR_TEST_CONTAINS)
		for (at = 1; !holds && at + n <= nbytes; at++)
			holds = expr_has_at(text, nbytes, literal, n, at);
	return holds ? EXPR_EQUAL : EXPR_GREATER;
}

/* Parses a value's number if it is EXPR_UNREAD and sets its kind. Range: wide_parse()'s. */
HD void expr_read(struct expr_value *v)
{
	struct decimal_syntax s;
	const char *text;
	size_t nbytes = v->nbytes;
	int64_t scale;

	if (v->kind != EXPR_UNREAD)
		return;
	switch (decimal_parse(v->text, v->nbytes, &v->number)) {
	case DECIMAL_NUMBER:
		v->kind = EXPR_NUMBER;
		return;
	case DECIMAL_MISSING:
		v->kind = EXPR_MISSING;
		return;
	case DECIMAL_INVALID:
		v->kind = EXPR_NOT_A_NUMBER;
		return;
	case DECIMAL_WIDE:
		break;
	}
	text = decimal_trim(v->text, &nbytes);
	decimal_tokenize(text, nbytes, &s);
	scale = s.nfraction - s.exponent;
	v->kind = EXPR_WIDE;
	if (scale > WIDE_SCALE_MAX || (s.ndigits && s.ndigits - scale > WIDE_MAGNITUDE_MAX))
		v->kind = EXPR_OUT_OF_RANGE;
}

/* Compares two values that expr_is_number accepts; -1, 0 or 1. */
HD int expr_compare_numbers(const struct expr_value *a, const struct expr_value *b)
{
	if (a->kind == EXPR_NUMBER && b->kind == EXPR_NUMBER)
		return decimal_compare(a->number, b->number);
	return expr_compare_texts(a->text, a->nbytes, b->text, b->nbytes);
}

HD int expr_is_number(const struct expr_value *v)
{
	return v->kind == EXPR_NUMBER || v->kind == EXPR_WIDE;
}

/* ---- testing ---- */

HD struct expr_value expr_literal(const struct expr *e, const struct expr_test *t)
{
	struct expr_value v;

	v.text = e->literals + t->literal_begin;
	v.nbytes = t->literal_nbytes;
	v.number = t->number;
	v.kind = (enum expr_value_kind)t->literal_kind;
	return v;
}

/* Evaluates a test of two numbers: EXPR_FALSE if one is missing, even if the other is invalid. */
HD enum expr_truth expr_test_numbers(const struct expr_test *t, struct expr_value *left,
				     struct expr_value *right)
{
	expr_read(left);
	expr_read(right);
	if (left->kind == EXPR_MISSING || right->kind == EXPR_MISSING)
		return EXPR_FALSE;
	if (!expr_is_number(left) || !expr_is_number(right))
		return EXPR_INVALID;
	return t->accepts & expr_order_of(expr_compare_numbers(left, right)) ? EXPR_TRUE
									     : EXPR_FALSE;
}

/* Evaluates `is number`: EXPR_FALSE if the value is missing. */
HD enum expr_truth expr_test_is_number(const struct expr_test *t, struct expr_value *v)
{
	expr_read(v);
	if (v->kind == EXPR_MISSING)
		return EXPR_FALSE;
	return t->accepts & (expr_is_number(v) ? EXPR_EQUAL : EXPR_GREATER) ? EXPR_TRUE
									    : EXPR_FALSE;
}

/* Evaluates a pattern for a text that is not missing: EXPR_INVALID where it takes too many steps. */
HD enum expr_truth expr_test_match(const struct expr *e, const struct expr_test *t,
				   struct expr_value *v)
{
	int found = -1;

#ifndef __CUDA_ARCH__
	found = e->matches(e->patterns[t->pattern], NULL, v->text, v->nbytes);
#endif
	if (found < 0) {
		v->kind = EXPR_TOO_COSTLY;
		return EXPR_INVALID;
	}
	return t->accepts & (found ? EXPR_EQUAL : EXPR_GREATER) ? EXPR_TRUE : EXPR_FALSE;
}

HD enum expr_truth expr_test_truth(const struct expr *e, const struct expr_test *t,
				   struct expr_value *values)
{
	struct expr_value *left = &values[t->left], literal;
	enum expr_order order;
	int missing = left->kind == EXPR_MISSING;

	if (t->kind == EXPR_TEST_COLUMNS)
		return expr_test_numbers(t, left, &values[t->right]);
	if (t->kind == EXPR_TEST_MISSING)
		return t->accepts & (missing ? EXPR_LESS : EXPR_GREATER) ? EXPR_TRUE : EXPR_FALSE;
	if (missing)
		return EXPR_FALSE;
	if (t->kind == EXPR_TEST_IS_NUMBER)
		return expr_test_is_number(t, left);
	if (left->kind == EXPR_WRONG)
		return EXPR_INVALID;
	if (t->kind == EXPR_TEST_MATCH)
		return expr_test_match(e, t, left);
	literal = expr_literal(e, t);
	if (t->kind == EXPR_TEST_NUMBER)
		return expr_test_numbers(t, left, &literal);
	order = expr_text_order(t, left->text, left->nbytes, literal.text);
	return t->accepts & order ? EXPR_TRUE : EXPR_FALSE;
}

/* Whether the record is kept if an invalid test counts as true from test `true_from` on, and as
 * false before it. Sets *ninvalid to the number of invalid tests evaluated. */
HD int expr_keeps(const struct expr *e, struct expr_value *values, uint32_t true_from,
		  uint32_t *ninvalid)
{
	uint32_t at = 0;

	*ninvalid = 0;
	while (at < e->ntests) {
		enum expr_truth truth = expr_test_truth(e, &e->tests[at], values);
		if (truth == EXPR_INVALID) {
			++*ninvalid;
			truth = at >= true_from ? EXPR_TRUE : EXPR_FALSE;
		}
		at = truth == EXPR_TRUE ? e->tests[at].if_true : e->tests[at].if_not;
	}
	return at == EXPR_ACCEPT;
}

/* Returns the column that makes the record invalid. A higher true_from can only turn kept into
 * dropped; the test where that happens has the column. */
HD uint32_t expr_culprit(const struct expr *e, struct expr_value *values)
{
	uint32_t kept = 0, dropped = e->ntests, ignored;

	while (dropped - kept > 1) {
		uint32_t middle = kept + (dropped - kept) / 2;
		if (expr_keeps(e, values, middle, &ignored))
			kept = middle;
		else
			dropped = middle;
	}
	return expr_is_number(&values[e->tests[kept].left]) ? e->tests[kept].right
							    : e->tests[kept].left;
}

/* Evaluates the condition for a record.
 * values: e->ncolumns in the order of e->columns; kind EXPR_MISSING, EXPR_UNREAD with text, or
 * parsed. Parses numbers in place as needed.
 * With EXPR_INVALID, *culprit is the column that decides but is not a number, and
 * values[*culprit].kind tells why; otherwise *culprit is unchanged.
 * Cost: one pass; up to 2 + log2(ntests) for a record with an invalid field. */
HD enum expr_truth expr_eval(const struct expr *e, struct expr_value *values,
			     uint32_t *culprit)
{
	uint32_t ninvalid;

	if (expr_keeps(e, values, e->ntests, &ninvalid))
		return EXPR_TRUE;
	if (ninvalid == 0 || !expr_keeps(e, values, 0, &ninvalid))
		return EXPR_FALSE;
	*culprit = expr_culprit(e, values);
	return EXPR_INVALID;
}

#endif
