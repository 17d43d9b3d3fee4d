/* SPDX-License-Identifier: MIT
 *
 * expr_test.c - compiles one comparison to a test, or to several. See expr_parser.h.
 */
#include "query/expr_parser.h"
#include "query/expr_value.h"

#include <stdlib.h>

#include "query/pattern.h"

/* Returns the orders of (b, a) from those of (a, b). */
static unsigned mirrored(unsigned accepts)
{
	return (accepts & EXPR_EQUAL) | (accepts & EXPR_LESS ? EXPR_GREATER : 0u) |
	       (accepts & EXPR_GREATER ? EXPR_LESS : 0u);
}

/* Sets the test's kind, columns and literal, and the columns' uses. left is a column. */
static bool set_operands(struct expr_parser *p, const struct expr_token *left,
			 const struct expr_token *right, struct expr_test *test)
{
	bool is_text = right->kind == EXPR_TOKEN_STRING;

	if (!expr_add_column(p, left, is_text ? EXPR_AS_TEXT : EXPR_AS_NUMBER, &test->left))
		return false;
	if (is_text) {
		test->kind = EXPR_TEST_TEXT;
		expr_add_literal(p, right, test);
		return test->literal_nbytes ||
		       expr_fail(p, right->begin, "an empty field is missing: write 'is missing'");
	}
	if (right->kind == EXPR_TOKEN_NUMBER) {
		test->kind = EXPR_TEST_NUMBER;
		return expr_add_number(p, right, test);
	}
	test->kind = EXPR_TEST_COLUMNS;
	return expr_add_column(p, right, EXPR_AS_NUMBER, &test->right);
}

/* Compares left, a column, with right. Returns false after an error. */
static bool compare(struct expr_parser *p, const struct expr_token *left,
		    const struct expr_token *right, unsigned accepts, struct expr_part *out)
{
	struct expr_test test = {.accepts = (uint8_t)accepts};

	if (!set_operands(p, left, right, &test))
		return false;
	*out = expr_emit(p, test);
	return true;
}

static unsigned complement_if(bool negated, unsigned accepts)
{
	return negated ? accepts ^ EXPR_ANY_ORDER : accepts;
}

/* left = right, and the other signs */
static bool parse_compare(struct expr_parser *p, const struct expr_token *left, bool negated,
			  struct expr_part *out)
{
	unsigned accepts = complement_if(negated, p->token.accepts);
	struct expr_token right;

	expr_advance(p);
	if (!expr_parse_operand(p, &right))
		return false;
	if (left->kind == EXPR_TOKEN_COLUMN)
		return compare(p, left, &right, accepts, out);
	if (right.kind != EXPR_TOKEN_COLUMN && (left->kind == EXPR_TOKEN_STRING || right.kind == EXPR_TOKEN_STRING))
		return expr_fail(p, left->begin, "neither side of this comparison is a column: `NAME` is one, \"NAME\" a text");
	if (right.kind != EXPR_TOKEN_COLUMN)
		return expr_fail(p, left->begin, "neither side of this comparison is a column");
	return compare(p, &right, left, mirrored(accepts), out);
}

static bool takes_word(struct expr_parser *p, const char *word)
{
	bool takes = expr_is_word(&p->token, p->text, word);

	if (takes)
		expr_advance(p);
	return takes;
}

/* Tests a property of a column. Returns false after an error. */
static bool test_column(struct expr_parser *p, const struct expr_token *column, enum expr_use use,
			struct expr_test test, struct expr_part *out)
{
	if (!expr_add_column(p, column, use, &test.left))
		return false;
	*out = expr_emit(p, test);
	return true;
}

/* is missing, is not number, ... */
static bool parse_is(struct expr_parser *p, const struct expr_token *left, bool negated,
		     struct expr_part *out)
{
	if (left->kind != EXPR_TOKEN_COLUMN)
		return expr_fail(p, left->begin, "only a column can be missing, or a number");
	expr_advance(p);
	if (p->token.kind == EXPR_TOKEN_NOT) {
		negated = !negated;
		expr_advance(p);
	}
	if (takes_word(p, "number"))
		return test_column(p, left, EXPR_FOR_KIND,
				   (struct expr_test){.kind = EXPR_TEST_IS_NUMBER,
						      .accepts = (uint8_t)complement_if(
							      negated, EXPR_EQUAL)},
				   out);
	if (p->token.kind != EXPR_TOKEN_MISSING)
		return expr_unexpected(p, "'missing', 'number' or 'not'");
	expr_advance(p);
	return test_column(p, left, EXPR_FOR_PRESENCE,
			   (struct expr_test){.kind = EXPR_TEST_MISSING,
					      .accepts = (uint8_t)complement_if(negated, EXPR_LESS)},
			   out);
}

/* in (1, 2): = 1 or = 2; not in: != 1 and != 2 */
static bool parse_in(struct expr_parser *p, const struct expr_token *left, bool negated,
		     struct expr_part *out)
{
	unsigned accepts = complement_if(negated, EXPR_EQUAL);
	struct expr_token value;
	struct expr_part next;

	if (p->token.kind != EXPR_TOKEN_OPEN)
		return expr_unexpected(p, "'(' and a list of values behind 'in'");
	expr_advance(p);
	if (!expr_parse_operand(p, &value) || !compare(p, left, &value, accepts, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_COMMA) {
		expr_advance(p);
		if (!expr_parse_operand(p, &value) || !compare(p, left, &value, accepts, &next))
			return false;
		expr_join(p, negated, out, &next);
	}
	if (p->token.kind != EXPR_TOKEN_CLOSE)
		return expr_unexpected(p, expr_is_operand(p) ? "',' or ')'" EXPR_QUOTES
							     : "',' or ')'");
	expr_advance(p);
	return true;
}

/* between a and b: >= a and <= b; not between: < a or > b */
static bool parse_between(struct expr_parser *p, const struct expr_token *left, bool negated,
			  struct expr_part *out)
{
	unsigned above = complement_if(negated, EXPR_GREATER | EXPR_EQUAL);
	unsigned below = complement_if(negated, EXPR_LESS | EXPR_EQUAL);
	struct expr_token least, greatest;
	struct expr_part next;

	if (!expr_parse_operand(p, &least))
		return false;
	if (p->token.kind != EXPR_TOKEN_AND)
		return expr_unexpected(p, "'and': between LEAST and GREATEST");
	expr_advance(p);
	if (!expr_parse_operand(p, &greatest) || !compare(p, left, &least, above, out) ||
	    !compare(p, left, &greatest, below, &next))
		return false;
	expr_join(p, !negated, out, &next);
	return true;
}

/* contains "x", and the like; the token is the string */
static bool parse_part_of(struct expr_parser *p, const struct expr_token *left,
			  enum expr_test_kind kind, bool negated, struct expr_part *out)
{
	struct expr_test test = {.kind = (uint8_t)kind,
				 .accepts = (uint8_t)complement_if(negated, EXPR_EQUAL)};

	if (p->token.kind != EXPR_TOKEN_STRING)
		return expr_unexpected(p, "a text in quotes");
	expr_add_literal(p, &p->token, &test);
	if (test.literal_nbytes == 0)
		return expr_fail(p, p->token.begin, "an empty text is in every value");
	expr_advance(p);
	return test_column(p, left, EXPR_AS_TEXT, test, out);
}

static bool parse_with(struct expr_parser *p, const struct expr_token *left,
		       enum expr_test_kind kind, bool negated, struct expr_part *out)
{
	if (!takes_word(p, "with"))
		return expr_unexpected(p, kind == EXPR_TEST_STARTS ? "'with' behind 'starts'"
								   : "'with' behind 'ends'");
	return parse_part_of(p, left, kind, negated, out);
}

/* Turns the test for a pattern into that of the text that it stands for. */
static void make_plain(struct expr_parser *p, struct expr_test *test)
{
	static const enum expr_test_kind kinds[] = {EXPR_TEST_MATCH, EXPR_TEST_CONTAINS,
						    EXPR_TEST_STARTS, EXPR_TEST_ENDS,
						    EXPR_TEST_TEXT};
	size_t begin, end;
	enum pattern_plain plain = pattern_plain(p->literals + test->literal_begin,
						 test->literal_nbytes, &begin, &end);

	test->kind = (uint8_t)kinds[plain];
	test->is_quoted = false; /* nobody takes a pattern for a name */
	if (plain == PATTERN_NOT_PLAIN)
		return;
	test->literal_begin += (uint32_t)begin;
	test->literal_nbytes = (uint32_t)(end - begin);
}

/* Compiles the pattern of a test, the token, whose text is its literal. */
static bool compile_pattern(struct expr_parser *p, struct expr_test *test)
{
	char words[PATTERN_WORDS_NBYTES];
	size_t offset, begin = p->token.begin;
	struct pattern **grown = realloc(p->e->patterns,
					 (p->e->npatterns + (size_t)1) * sizeof *grown);
	enum status status;

	if (!grown) {
		p->status = fault_set(p->fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	p->e->patterns = grown;
	test->pattern = p->e->npatterns;
	status = pattern_compile(p->literals + test->literal_begin, test->literal_nbytes,
				 &grown[p->e->npatterns++], &offset, words);
	if (status == STATUS_USAGE) /* a doubled quote before it moves the caret: it is near */
		return expr_fail(p, begin + (pattern_library() ? 1 + offset : 0), "%s", words);
	if (status != STATUS_OK)
		p->status = fault_set(p->fault, status, 0, NULL);
	return status == STATUS_OK;
}

/* ~ "regex", !~ "regex" */
static bool parse_match(struct expr_parser *p, const struct expr_token *left, bool negated,
			struct expr_part *out)
{
	struct expr_test test = {.accepts = (uint8_t)complement_if(negated, p->token.accepts)};

	if (left->kind != EXPR_TOKEN_COLUMN)
		return expr_fail(p, left->begin, "only a column matches a regular expression");
	expr_advance(p);
	if (p->token.kind != EXPR_TOKEN_STRING)
		return expr_unexpected(p, "a regular expression in quotes");
	expr_add_literal(p, &p->token, &test);
	if (test.literal_nbytes == 0)
		return expr_fail(p, p->token.begin, "the regular expression is empty");
	if (!compile_pattern(p, &test))
		return false;
	make_plain(p, &test);
	expr_advance(p);
	return test_column(p, left, EXPR_AS_TEXT, test, out);
}

/* The comparisons that begin with a word. */
static bool parse_word(struct expr_parser *p, const struct expr_token *left, bool negated,
		       struct expr_part *out)
{
	const struct expr_token word = p->token;

	if (word.kind == EXPR_TOKEN_COLUMN)
		expr_advance(p);
	if (expr_is_word(&word, p->text, "in"))
		return parse_in(p, left, negated, out);
	if (expr_is_word(&word, p->text, "between"))
		return parse_between(p, left, negated, out);
	if (expr_is_word(&word, p->text, "contains"))
		return parse_part_of(p, left, EXPR_TEST_CONTAINS, negated, out);
	if (expr_is_word(&word, p->text, "starts"))
		return parse_with(p, left, EXPR_TEST_STARTS, negated, out);
	if (expr_is_word(&word, p->text, "ends"))
		return parse_with(p, left, EXPR_TEST_ENDS, negated, out);
	p->token = word;
	return expr_unexpected(p, "a comparison (= != < <= > >= ~, is, in, between, contains, "
				  "starts, ends)");
}

static bool parse_behind(struct expr_parser *p, const struct expr_token *left, bool negated,
			 struct expr_part *out)
{
	if (left->kind == EXPR_TOKEN_NUMBER && p->token.kind == EXPR_TOKEN_NUMBER &&
	    p->text[p->token.begin] == '-' && expr_is_date(p->text, p->token.begin)) {
		p->request->may_be_name = true;
		return expr_fail(p, p->token.begin, "a date is text: write it in quotes");
	}
	if (p->token.kind == EXPR_TOKEN_IS)
		return parse_is(p, left, negated, out);
	if (p->token.kind == EXPR_TOKEN_COMPARE)
		return parse_compare(p, left, negated, out);
	if (p->token.kind == EXPR_TOKEN_MATCH)
		return parse_match(p, left, negated, out);
	if (p->token.kind == EXPR_TOKEN_NOT && left->kind == EXPR_TOKEN_COLUMN) {
		negated = !negated;
		expr_advance(p);
		if (p->token.kind != EXPR_TOKEN_COLUMN)
			return expr_unexpected(p, "'in', 'between', 'contains', 'starts' or 'ends'");
	}
	if (left->kind != EXPR_TOKEN_COLUMN && p->token.kind == EXPR_TOKEN_COLUMN)
		return expr_fail(p, left->begin, "not a column: a comparison with a word behind it "
						 "begins with one");
	return parse_word(p, left, negated, out);
}

bool expr_parse_comparison(struct expr_parser *p, bool negated, struct expr_part *out)
{
	struct expr_token left;

	if (!expr_parse_operand(p, &left) || !parse_behind(p, &left, negated, out))
		return false;
	if (p->token.kind == EXPR_TOKEN_COMPARE || p->token.kind == EXPR_TOKEN_IS ||
	    p->token.kind == EXPR_TOKEN_MATCH)
		return expr_fail(p, p->token.begin,
				 "comparisons do not chain: join them with 'and'");
	return true;
}
