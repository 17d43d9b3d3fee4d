/* SPDX-License-Identifier: MIT
 *
 * expr.c - the EXPR language: tokens, errors, operands, comparisons, conditions. See expr.h, expr_eval.h; let.c compiles values
 * with the same tokens and operands (expr_parser.h).
 *
 * Conditions are compiled by recursive descent to a chain of tests. There is no syntax tree. Each part of an expression becomes tests whose exits are not yet set: the
 * exits taken when the part is true, and those when it is not. `and` sets the first part's true
 * exits to the second part's first test; `or`, the other exits. `not` sets a flag for the functions
 * below it, which swap and/or and complement comparisons (De Morgan). Unset exits form a list
 * linked through the exits themselves: backpatching, as in Aho, Lam, Sethi, Ullman: Compilers,
 * section 6.7.
 */
#include "query/expr.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/utf8.h"
#include "number/decimal.h"
#include "query/expr_parser.h"
#include "query/let.h"
#include "query/pattern.h"

#define EXPR_NBYTES_MAX ((size_t)1 << 28)
#define TEST_NBYTES_LEAST 2 /* 1, in a list */
#define SHOW_NBYTES 128
#define WINDOW_NBYTES 36 /* shown on each side of an error */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CALCULATES "a condition compares, and does not calculate"
#define UNKNOWN_CHARACTER "unexpected character (a name that has it is written in `backquotes`)"
#define QUOTES " (text is written in quotes)"

/* A list of exits to be set: test i's if_true is exit 2 i, its if_not 2 i + 1. */
#define EXIT_NONE UINT32_MAX
struct exits {
	uint32_t first, last;
};

/* A compiled part: tests from `begin` to the start of the next part. */
struct part {
	uint32_t begin;
	struct exits if_true, if_not;
};

/* ---- tokens ----
 *
 * Bytes from 0x80 on are letters in every locale, so that a name may be in any script. A sign is not part of a name
 * for lex: next_token knows the columns that have one (struct expr_names). */

/* "==" stands before "=", "!~" before "!": the first match counts. */
static const struct sign {
	const char *text;
	enum expr_token_kind kind;
	unsigned accepts;
} signs[] = {
	{"==", EXPR_TOKEN_COMPARE, EXPR_EQUAL},
	{"!~", EXPR_TOKEN_MATCH, EXPR_LESS | EXPR_GREATER},
	{"~", EXPR_TOKEN_MATCH, EXPR_EQUAL},
	{"!=", EXPR_TOKEN_COMPARE, EXPR_LESS | EXPR_GREATER},
	{"<=", EXPR_TOKEN_COMPARE, EXPR_LESS | EXPR_EQUAL},
	{">=", EXPR_TOKEN_COMPARE, EXPR_GREATER | EXPR_EQUAL},
	{"=", EXPR_TOKEN_COMPARE, EXPR_EQUAL},
	{"<", EXPR_TOKEN_COMPARE, EXPR_LESS},
	{">", EXPR_TOKEN_COMPARE, EXPR_GREATER},
	{"&&", EXPR_TOKEN_AND, 0},
	{"||", EXPR_TOKEN_OR, 0},
	{"!", EXPR_TOKEN_NOT, 0},
	{"(", EXPR_TOKEN_OPEN, 0},
	{")", EXPR_TOKEN_CLOSE, 0},
	{",", EXPR_TOKEN_COMMA, 0},
	{"+", EXPR_TOKEN_PLUS, 0},
	{"-", EXPR_TOKEN_MINUS, 0},
	{"*", EXPR_TOKEN_STAR, 0},
	{"/", EXPR_TOKEN_SLASH, 0},
};

static const struct keyword {
	const char *text;
	enum expr_token_kind kind;
} keywords[] = {
	{"and", EXPR_TOKEN_AND}, {"or", EXPR_TOKEN_OR},           {"not", EXPR_TOKEN_NOT},
	{"is", EXPR_TOKEN_IS},   {"missing", EXPR_TOKEN_MISSING},
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Whether a byte can be in a name that stands for itself; the first is no digit and no point. */
static bool in_name(char c)
{
	return begins_name(c) || decimal_is_digit(c) || c == '.';
}

static struct expr_token bad(const char *words)
{
	return (struct expr_token){.kind = EXPR_TOKEN_BAD, .words = words};
}

static struct expr_token quoted(const char *p)
{
	enum expr_token_kind kind = *p == '`' ? EXPR_TOKEN_COLUMN : EXPR_TOKEN_STRING;
	const char *end = p + 1;

	for (; *end; end++)
		if (*end == *p && *++end != *p)
			return (struct expr_token){.kind = kind, .nbytes = (size_t)(end - p)};
	return bad("this quote does not close");
}

static struct expr_token name_or_keyword(const char *p)
{
	struct expr_token token = {.kind = EXPR_TOKEN_COLUMN};

	while (in_name(p[token.nbytes]))
		token.nbytes++;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (strlen(keywords[i].text) == token.nbytes &&
		    !strncasecmp(keywords[i].text, p, token.nbytes))
			token.kind = keywords[i].kind;
	return token;
}

/* Reads letters too, so that 0x10 is one malformed number, not a number and a name. */
static struct expr_token number(const char *p)
{
	const char *end = p + 1;

	while (in_name(*end) || ((*end == '+' || *end == '-') && (end[-1] | 0x20) == 'e'))
		end++;
	return (struct expr_token){.kind = EXPR_TOKEN_NUMBER, .nbytes = (size_t)(end - p)};
}

static bool begins_number(const char *p)
{
	if (*p == '+' || *p == '-')
		p++;
	if (*p == '.')
		p++;
	return decimal_is_digit(*p);
}

static struct expr_token position(const char *p)
{
	struct expr_token token = {.kind = EXPR_TOKEN_COLUMN, .nbytes = 1};

	while (decimal_is_digit(p[token.nbytes]))
		token.nbytes++;
	if (token.nbytes == 1 || in_name(p[token.nbytes]))
		return bad("':' is followed by a column's number");
	return token;
}

static struct expr_token sign(const char *p)
{
	for (size_t i = 0; i < COUNT(signs); i++)
		if (!strncmp(p, signs[i].text, strlen(signs[i].text)))
			return (struct expr_token){.kind = signs[i].kind,
						   .nbytes = strlen(signs[i].text),
						   .accepts = signs[i].accepts};
	return bad(UNKNOWN_CHARACTER);
}

static struct expr_token lex_at(const char *p)
{
	if (!*p)
		return (struct expr_token){.kind = EXPR_TOKEN_END};
	if (*p == '"' || *p == '\'' || *p == '`')
		return quoted(p);
	if (begins_name(*p))
		return name_or_keyword(p);
	if (begins_number(p))
		return number(p);
	return *p == ':' ? position(p) : sign(p);
}

struct expr_token expr_lex(const char *text, size_t from)
{
	struct expr_token token;

	while (is_space(text[from]))
		from++;
	token = lex_at(text + from);
	token.begin = from;
	return token;
}

size_t expr_unquote(const char *token, size_t nbytes, char *to)
{
	size_t length = 0;

	for (size_t i = 1; i + 1 < nbytes; i++) {
		to[length++] = token[i];
		i += token[i] == token[0];
	}
	return length;
}

/* ---- errors ---- */

/* Copies text to `to`, with '?' for what does not print, and a NUL. Returns the number of
 * characters. */
static size_t copy_printing(const char *text, size_t nbytes, char *to)
{
	size_t ncharacters = 0, length;

	for (; nbytes; text += length, nbytes -= length, ncharacters++) {
		if (!utf8_prints(text, nbytes, &length)) {
			*to++ = '?';
			length = length ? length : 1;
			continue;
		}
		memcpy(to, text, length);
		to += length;
	}
	*to = '\0';
	return ncharacters;
}

/* Returns the start of the character that has byte `offset`. */
static size_t character_start(const char *text, size_t offset)
{
	for (size_t back = 1; back < 4 && back <= offset; back++)
		if (utf8_length(text + offset - back, 4) > back)
			return offset - back;
	return offset;
}

/* Writes two lines, the second without a line end: text (NUL-terminated, any bytes) around byte
 * `offset` in printing characters, with "..." for what is cut; and a caret below that byte's
 * character. A character counts as one column. */
static void show(const char *text, size_t offset, char lines[SHOW_NBYTES])
{
	char before[WINDOW_NBYTES + 4], after[WINDOW_NBYTES + 1];
	size_t nbytes = strlen(text), begin = 0, end = nbytes, width;

	offset = character_start(text, offset);
	if (offset > WINDOW_NBYTES)
		begin = character_start(text, offset - WINDOW_NBYTES + 3);
	if (nbytes - offset > WINDOW_NBYTES)
		end = character_start(text, offset + WINDOW_NBYTES);
	width = copy_printing(text + begin, offset - begin, before);
	copy_printing(text + offset, end - offset, after);
	snprintf(lines, SHOW_NBYTES, "%s%s%s%s\n%*s^", begin ? "..." : "", before, after,
		 end < nbytes ? "..." : "", (int)width + (begin ? 3 : 0), "");
}

/* How other languages write what this one has another word for. nbefore: bytes of it that were read as something of this
 * language before the rest failed. */
static const struct {
	const char *text;
	size_t nbefore;
	const char *remedy;
} foreign_words[] = {
	{"<>", 1, "!="},
	{"=~", 1, "~"},
	{"===", 2, "="},
	{"null", 0, "'is missing', or 'is not missing'"},
	{"not null", 0, "'is not missing'"},
	{"na", 0, "'is missing', or 'is not missing'"},
	{"like", 0, "contains, starts with, ends with, or ~ and a regular expression"},
	{"ilike", 0, "~ and a regular expression that begins with (?i)"},
	{"matches", 0, "~ and a regular expression"},
	{"regexp", 0, "~ and a regular expression"},
	{"eq", 0, "="},
	{"ne", 0, "!="},
	{"lt", 0, "<"},
	{"le", 0, "<="},
	{"gt", 0, ">"},
	{"ge", 0, ">="},
};

static bool is_word_byte(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Sets the remedy where the error is at a word or a sign of another language. */
static void suggest_word(struct expr_parser *p, size_t offset)
{
	for (size_t i = 0; i < COUNT(foreign_words); i++) {
		const char *word = foreign_words[i].text;
		size_t n = strlen(word), nbefore = foreign_words[i].nbefore;
		if (offset < nbefore || strncasecmp(p->text + offset - nbefore, word, n) != 0 ||
		    (is_word_byte(word[n - 1]) && is_word_byte(p->text[offset - nbefore + n])))
			continue;
		snprintf(p->fault->remedy, sizeof p->fault->remedy, "%s", foreign_words[i].remedy);
		return;
	}
}

bool expr_fail(struct expr_parser *p, size_t offset, const char *format, ...)
{
	char words[FAULT_DETAIL_NBYTES], lines[SHOW_NBYTES];
	char detail[FAULT_DETAIL_NBYTES];
	va_list arguments;

	if (p->status != STATUS_OK)
		return false;
	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	show(p->text, offset, lines);
	snprintf(detail, sizeof detail, "--%.16s: %.100s\n%s", p->option, words, lines);
	p->request->error_offset = offset;
	p->status = fault_set(p->fault, STATUS_USAGE, 0, detail);
	suggest_word(p, offset);
	return false;
}

/* ---- values that are calculated in a condition: where they are ---- */

/* The length of the longest name that the text begins with, and that does not go on; 0: none. */
static size_t match_name(const struct expr_names *names, const char *text)
{
	size_t longest = 0;

	for (size_t i = 0; i < names->n; i++) {
		size_t nbytes = strlen(names->at[i]);
		if (nbytes > longest && !strncmp(names->at[i], text, nbytes) &&
		    !(in_name(text[nbytes - 1]) && in_name(text[nbytes])))
			longest = nbytes;
	}
	return longest;
}

/* The first token at or after byte `from` of the text, which may be a name with a sign. */
static struct expr_token next_token(const struct expr_parser *p, size_t from)
{
	struct expr_token t = expr_lex(p->text, from);
	size_t nbytes = 0;

	if (p->names && in_name(p->text[t.begin]))
		nbytes = match_name(p->names, p->text + t.begin);
	if (nbytes > 0)
		t = (struct expr_token){.kind = EXPR_TOKEN_COLUMN, .begin = t.begin, .nbytes = nbytes, .is_signed = true};
	return t;
}

void expr_advance(struct expr_parser *p)
{
	p->token = next_token(p, p->token.begin + p->token.nbytes);
}

bool expr_is_word(const struct expr_token *token, const char *text, const char *word)
{
	return token->kind == EXPR_TOKEN_COLUMN && token->nbytes == strlen(word) &&
	       !strncasecmp(text + token->begin, word, token->nbytes);
}

static bool are_digits(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!decimal_is_digit(text[i]))
			return false;
	return true;
}

bool expr_is_date(const char *text, size_t at)
{
	const char *minus = text + at;

	if (at < 4 || *minus != '-' || !are_digits(minus - 4, 4) || (at > 4 && decimal_is_digit(minus[-5])) ||
	    !are_digits(minus + 1, 2) || decimal_is_digit(minus[3]))
		return false;
	return minus[1] == '0' || (minus[3] == '-' && are_digits(minus + 4, 2));
}

static bool is_sign(const struct expr_parser *p, const struct expr_token *t)
{
	char first = p->text[t->begin];

	return (t->kind >= EXPR_TOKEN_PLUS && t->kind <= EXPR_TOKEN_SLASH) ||
	       (t->kind == EXPR_TOKEN_NUMBER && (first == '+' || first == '-') && !expr_is_date(p->text, t->begin));
}

/* Whether a value ends before this token. after_value: the token before it ends one. */
static bool ends_value(const struct expr_parser *p, const struct expr_token *t, bool after_value)
{
	static const char *const words[] = {"in", "between", "contains", "starts", "ends"};

	for (size_t i = 0; after_value && i < COUNT(words); i++)
		if (expr_is_word(t, p->text, words[i]))
			return true;
	return t->kind == EXPR_TOKEN_END || t->kind == EXPR_TOKEN_BAD ||
	       (t->kind >= EXPR_TOKEN_COMPARE && t->kind <= EXPR_TOKEN_MISSING) || t->kind == EXPR_TOKEN_COMMA;
}

/* Returns the token that ends the value which goes on at `from`; *end: behind the value. */
static struct expr_token skip_value(const struct expr_parser *p, size_t from, size_t *end)
{
	bool after_value = false;
	size_t depth = 0;

	for (;;) {
		struct expr_token t = next_token(p, from);
		if ((depth == 0 && (ends_value(p, &t, after_value) || t.kind == EXPR_TOKEN_CLOSE)) ||
		    t.kind == EXPR_TOKEN_END || t.kind == EXPR_TOKEN_BAD)
			return t;
		depth += t.kind == EXPR_TOKEN_OPEN;
		depth -= t.kind == EXPR_TOKEN_CLOSE;
		after_value = t.kind == EXPR_TOKEN_COLUMN || t.kind == EXPR_TOKEN_NUMBER || t.kind == EXPR_TOKEN_STRING ||
			      t.kind == EXPR_TOKEN_CLOSE;
		*end = from = t.begin + t.nbytes;
	}
}

/* Where the parenthesis stands that the value which begins at `begin` follows; SIZE_MAX: another thing is before it. */
static size_t opening_before(const char *text, size_t begin)
{
	while (begin > 0 && strchr(" \t\r\n", text[begin - 1]))
		begin--;
	return begin > 0 && text[begin - 1] == '(' ? begin - 1 : SIZE_MAX;
}

/* Whether the parser's token, which no condition has, goes on with the operand that was read last, as a value of --let
 * would: a sign, or the parenthesis of a function. Then sets the request's value to where this value stands. */
static bool find_value(struct expr_parser *p)
{
	const struct expr_token *t = &p->token;
	bool is_first = t->begin == p->operand.begin, is_call = t->kind == EXPR_TOKEN_OPEN && !is_first &&
			p->operand.kind == EXPR_TOKEN_COLUMN &&
			let_is_function(p->text + p->operand.begin, p->operand.nbytes);
	size_t begin = p->operand.begin, end = begin, outer_begin = begin, outer_end, opening;
	struct expr_token next;

	if (!is_call && (!is_sign(p, t) || (is_first && t->kind != EXPR_TOKEN_MINUS)))
		return false;
	next = skip_value(p, begin, &end);

	/* (a + 1) > 2: the parentheses are the value's, not the condition's. */
	while (next.kind == EXPR_TOKEN_CLOSE && (opening = opening_before(p->text, outer_begin)) != SIZE_MAX) {
		outer_begin = opening;
		outer_end = next.begin + 1;
		next = next_token(p, outer_end);
		if (next.kind == EXPR_TOKEN_CLOSE)
			continue; /* ((a + 1)): the next ones tell */
		if (next.kind == EXPR_TOKEN_AND || next.kind == EXPR_TOKEN_OR || next.kind == EXPR_TOKEN_END ||
		    next.kind == EXPR_TOKEN_COMMA)
			break;
		next = skip_value(p, outer_begin, &outer_end);
		begin = outer_begin;
		end = outer_end;
	}
	if (strchr("+-*/(", p->text[end - 1])) /* nothing follows the sign */
		return false;
	p->request->value_begin = begin;
	p->request->value_end = end;
	p->request->may_be_name = true;
	return true;
}

bool expr_unexpected(struct expr_parser *p, const char *wanted)
{
	if (p->token.kind == EXPR_TOKEN_NUMBER && expr_is_date(p->text, p->token.begin))
		p->request->may_be_name = true;
	if (p->in_condition && find_value(p))
		return expr_fail(p, p->token.begin, CALCULATES);
	if (p->token.kind >= EXPR_TOKEN_COMMA && p->is_condition) /* in lists and in --let only */
		return expr_fail(p, p->token.begin, UNKNOWN_CHARACTER);
	if (p->token.kind == EXPR_TOKEN_BAD)
		return expr_fail(p, p->token.begin, "%s", p->token.words);
	return expr_fail(p, p->token.begin, "expected %s%s", wanted,
		    p->token.kind == EXPR_TOKEN_END ? ", not the end" : "");
}

static bool is_operand(const struct expr_parser *p)
{
	return p->token.kind == EXPR_TOKEN_COLUMN || p->token.kind == EXPR_TOKEN_NUMBER;
}

bool expr_take(struct expr_parser *p, enum expr_token_kind kind, const char *wanted)
{
	if (p->token.kind != kind)
		return expr_unexpected(p, wanted);
	expr_advance(p);
	return true;
}

bool expr_no_memory(struct expr_parser *p)
{
	p->status = fault_set(p->fault, STATUS_NO_MEMORY, 0, NULL);
	return false;
}

/* ---- operands ---- */

bool expr_is_signed_name(const char *name)
{
	struct expr_value v = {.text = name, .nbytes = strlen(name)};
	bool has_sign = false;

	if (!in_name(*name))
		return false;
	for (const char *c = name; *c; c++) {
		bool is_sign = strchr("+-*/", *c) != NULL;
		if (!is_sign && !in_name(*c))
			return false;
		has_sign |= is_sign;
	}
	if (has_sign)
		expr_read(&v);
	return has_sign && !expr_is_number(&v);
}

static bool is_text_and_number(unsigned uses)
{
	return (uses & EXPR_AS_TEXT) && (uses & (EXPR_AS_NUMBER | EXPR_FOR_KIND));
}

/* Returns the index of the selector's column, added if it is new. A column that is compared both as
 * text and as a number is two. Owns s.text from here on. */
static uint32_t find_column(struct expr_parser *p, struct selector s, enum expr_use use)
{
	struct selection *columns = &p->request->columns;
	uint8_t *uses = p->request->uses;

	for (size_t i = 0; i < columns->nselectors; i++) {
		if (columns->selectors[i].quoted != s.quoted ||
		    strcmp(columns->selectors[i].text, s.text) ||
		    is_text_and_number(uses[i] | (unsigned)use))
			continue;
		uses[i] |= (uint8_t)use;
		free(s.text);
		return (uint32_t)i;
	}
	uses[columns->nselectors] = (uint8_t)use;
	columns->selectors[columns->nselectors++] = s;
	return p->e->ncolumns++;
}

bool expr_add_column(struct expr_parser *p, const struct expr_token *token, enum expr_use use,
		       uint32_t *column)
{
	const char *text = p->text + token->begin;
	struct selector s = {.text = strndup(text, token->nbytes), .quoted = *text == '`' || token->is_signed};

	if (!s.text)
		return expr_no_memory(p);
	if (*text == '`')
		s.text[expr_unquote(text, token->nbytes, s.text)] = '\0';
	*column = find_column(p, s, use);
	return true;
}

/* Whether a token is a keyword, not a sign. first: its first byte. */
static bool is_keyword(const struct expr_token *token, char first)
{
	return token->kind >= EXPR_TOKEN_AND && token->kind <= EXPR_TOKEN_MISSING &&
	       (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
}

/* Reads a column or a literal. Returns false after an error. */
static bool parse_operand(struct expr_parser *p, struct expr_token *operand)
{
	const char *text = p->text + p->token.begin;

	*operand = p->operand = p->token;
	switch (p->token.kind) {
	case EXPR_TOKEN_COLUMN:
	case EXPR_TOKEN_NUMBER:
	case EXPR_TOKEN_STRING:
		expr_advance(p);
		return true;
	default:
		if (is_keyword(&p->token, *text))
			return expr_fail(p, p->token.begin, "expected a column or a value; a column "
				    "of this name is written `%.*s`", (int)p->token.nbytes, text);
		return expr_unexpected(p, "a column or a value");
	}
}

void expr_add_literal(struct expr_parser *p, const struct expr_token *token, struct expr_test *test)
{
	char *to = p->literals + p->e->nliteral_bytes;
	size_t nbytes = token->nbytes;

	if (token->kind == EXPR_TOKEN_STRING)
		nbytes = expr_unquote(p->text + token->begin, nbytes, to);
	else
		memcpy(to, p->text + token->begin, nbytes);
	test->literal_begin = p->e->nliteral_bytes;
	test->literal_nbytes = (uint32_t)nbytes;
	test->is_quoted = p->text[token->begin] == '"';
	p->e->nliteral_bytes += (uint32_t)nbytes;
}

bool expr_add_number(struct expr_parser *p, const struct expr_token *token, struct expr_test *test)
{
	struct expr_value v = {.text = p->text + token->begin, .nbytes = token->nbytes};

	expr_read(&v);
	if (!expr_is_number(&v))
		return expr_fail(p, token->begin, "%s", v.kind == EXPR_OUT_OF_RANGE
				? status_words(STATUS_OUT_OF_RANGE) : "not a number" QUOTES);
	expr_add_literal(p, token, test);
	test->literal_kind = (uint8_t)v.kind;
	test->number = v.number;
	return true;
}

/* ---- parts: backpatching ---- */

static uint32_t *exit_at(struct expr_parser *p, uint32_t exit)
{
	struct expr_test *test = &p->tests[exit / 2];

	return exit % 2 ? &test->if_not : &test->if_true;
}

/* Sets the test to which a list of exits leads. */
static void set_exits(struct expr_parser *p, struct exits exits, uint32_t target)
{
	for (uint32_t exit = exits.first, next; exit != EXIT_NONE; exit = next) {
		next = *exit_at(p, exit);
		*exit_at(p, exit) = target;
	}
}

static struct exits concatenate(struct expr_parser *p, struct exits a, struct exits b)
{
	*exit_at(p, a.last) = b.first; /* every part has exits of both kinds */
	return (struct exits){a.first, b.last};
}

/* Makes part `part and next` or `part or next`. */
static void join(struct expr_parser *p, bool with_and, struct part *part, const struct part *next)
{
	set_exits(p, with_and ? part->if_true : part->if_not, next->begin);
	if (with_and) {
		part->if_not = concatenate(p, part->if_not, next->if_not);
		part->if_true = next->if_true;
	} else {
		part->if_true = concatenate(p, part->if_true, next->if_true);
		part->if_not = next->if_not;
	}
}

/* Appends a test. Returns it as a part. */
static struct part emit(struct expr_parser *p, struct expr_test test)
{
	uint32_t at = p->e->ntests++;

	test.if_true = test.if_not = EXIT_NONE;
	p->tests[at] = test;
	return (struct part){at, {2 * at, 2 * at}, {2 * at + 1, 2 * at + 1}};
}

/* ---- comparisons ---- */

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
		    const struct expr_token *right, unsigned accepts, struct part *out)
{
	struct expr_test test = {.accepts = (uint8_t)accepts};

	if (!set_operands(p, left, right, &test))
		return false;
	*out = emit(p, test);
	return true;
}

static unsigned complement_if(bool negated, unsigned accepts)
{
	return negated ? accepts ^ EXPR_ANY_ORDER : accepts;
}

/* left = right, and the other signs */
static bool parse_compare(struct expr_parser *p, const struct expr_token *left, bool negated,
			  struct part *out)
{
	unsigned accepts = complement_if(negated, p->token.accepts);
	struct expr_token right;

	expr_advance(p);
	if (!parse_operand(p, &right))
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
			struct expr_test test, struct part *out)
{
	if (!expr_add_column(p, column, use, &test.left))
		return false;
	*out = emit(p, test);
	return true;
}

/* is missing, is not number, ... */
static bool parse_is(struct expr_parser *p, const struct expr_token *left, bool negated,
		     struct part *out)
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
						      .accepts = (uint8_t)complement_if(negated, EXPR_EQUAL)}, out);
	return expr_take(p, EXPR_TOKEN_MISSING, "'missing', 'number' or 'not'") &&
	       test_column(p, left, EXPR_FOR_PRESENCE,
			   (struct expr_test){.kind = EXPR_TEST_MISSING,
					      .accepts = (uint8_t)complement_if(negated, EXPR_LESS)}, out);
}

/* in (1, 2): = 1 or = 2; not in: != 1 and != 2 */
static bool parse_in(struct expr_parser *p, const struct expr_token *left, bool negated,
		     struct part *out)
{
	unsigned accepts = complement_if(negated, EXPR_EQUAL);
	struct expr_token value;
	struct part next;

	if (!expr_take(p, EXPR_TOKEN_OPEN, "'(' and a list of values behind 'in'") || !parse_operand(p, &value) || !compare(p, left, &value, accepts, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_COMMA) {
		expr_advance(p);
		if (!parse_operand(p, &value) || !compare(p, left, &value, accepts, &next))
			return false;
		join(p, negated, out, &next);
	}
	return expr_take(p, EXPR_TOKEN_CLOSE, is_operand(p) ? "',' or ')'" QUOTES : "',' or ')'");
}

/* between a and b: >= a and <= b; not between: < a or > b */
static bool parse_between(struct expr_parser *p, const struct expr_token *left, bool negated,
			  struct part *out)
{
	unsigned above = complement_if(negated, EXPR_GREATER | EXPR_EQUAL);
	unsigned below = complement_if(negated, EXPR_LESS | EXPR_EQUAL);
	struct expr_token least, greatest;
	struct part next;

	if (!parse_operand(p, &least) || !expr_take(p, EXPR_TOKEN_AND, "'and': between LEAST and GREATEST") ||
	    !parse_operand(p, &greatest) || !compare(p, left, &least, above, out) ||
	    !compare(p, left, &greatest, below, &next))
		return false;
	join(p, !negated, out, &next);
	return true;
}

/* contains "x", and the like; the token is behind the word */
static bool parse_part_of(struct expr_parser *p, const struct expr_token *left,
			  enum expr_test_kind kind, bool negated, struct part *out)
{
	struct expr_test test = {.kind = (uint8_t)kind,
				 .accepts = (uint8_t)complement_if(negated, EXPR_EQUAL)};

	if (kind == EXPR_TEST_STARTS && !takes_word(p, "with"))
		return expr_unexpected(p, "'with' behind 'starts'");
	if (kind == EXPR_TEST_ENDS && !takes_word(p, "with"))
		return expr_unexpected(p, "'with' behind 'ends'");
	if (p->token.kind != EXPR_TOKEN_STRING)
		return expr_unexpected(p, "a text in quotes");
	expr_add_literal(p, &p->token, &test);
	if (test.literal_nbytes == 0)
		return expr_fail(p, p->token.begin, "an empty text is in every value");
	expr_advance(p);
	return test_column(p, left, EXPR_AS_TEXT, test, out);
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
	struct pattern **pattern = ARRAY_ADD(p->e->patterns, p->e->npatterns);
	enum status status;

	if (!pattern)
		return expr_no_memory(p);
	test->pattern = p->e->npatterns++;
	status = pattern_compile(p->literals + test->literal_begin, test->literal_nbytes, pattern, &offset, words);
	if (status == STATUS_USAGE) /* a doubled quote before it moves the caret: it is near */
		return expr_fail(p, begin + (pattern_library() ? 1 + offset : 0), "%s", words);
	if (status != STATUS_OK)
		p->status = fault_set(p->fault, status, 0, NULL);
	return status == STATUS_OK;
}

/* ~ "regex", !~ "regex" */
static bool parse_match(struct expr_parser *p, const struct expr_token *left, bool negated,
			struct part *out)
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
		       struct part *out)
{
	static const struct {
		const char *word;
		enum expr_test_kind kind;
	} parts[] = {{"contains", EXPR_TEST_CONTAINS}, {"starts", EXPR_TEST_STARTS}, {"ends", EXPR_TEST_ENDS}};
	const struct expr_token word = p->token;

	if (word.kind == EXPR_TOKEN_COLUMN)
		expr_advance(p);
	if (expr_is_word(&word, p->text, "in"))
		return parse_in(p, left, negated, out);
	if (expr_is_word(&word, p->text, "between"))
		return parse_between(p, left, negated, out);
	for (size_t i = 0; i < COUNT(parts); i++)
		if (expr_is_word(&word, p->text, parts[i].word))
			return parse_part_of(p, left, parts[i].kind, negated, out);
	p->token = word;
	return expr_unexpected(p, "a comparison (= != < <= > >= ~, is, in, between, contains, "
				  "starts, ends)");
}

static bool parse_behind(struct expr_parser *p, const struct expr_token *left, bool negated,
			 struct part *out)
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

/* Compiles a comparison, or its complement. Returns false after an error. */
static bool parse_comparison(struct expr_parser *p, bool negated, struct part *out)
{
	struct expr_token left;

	if (!parse_operand(p, &left) || !parse_behind(p, &left, negated, out))
		return false;
	if (p->token.kind == EXPR_TOKEN_COMPARE || p->token.kind == EXPR_TOKEN_IS ||
	    p->token.kind == EXPR_TOKEN_MATCH)
		return expr_fail(p, p->token.begin,
				 "comparisons do not chain: join them with 'and'");
	return true;
}

/* ---- and, or, not ---- */

static bool parse_or(struct expr_parser *p, bool negated, struct part *out);

static bool parse_parentheses(struct expr_parser *p, bool negated, struct part *out)
{
	if (p->nlevels == EXPR_NLEVELS)
		return expr_fail(p, p->token.begin, "more than %d parentheses within each other",
			    EXPR_NLEVELS);
	p->nlevels++;
	expr_advance(p);
	if (!parse_or(p, negated, out))
		return false;
	p->nlevels--;
	return expr_take(p, EXPR_TOKEN_CLOSE, is_operand(p) ? "')', 'and' or 'or'" QUOTES : "')', 'and' or 'or'");
}

static bool parse_not(struct expr_parser *p, bool negated, struct part *out)
{
	for (; p->token.kind == EXPR_TOKEN_NOT; expr_advance(p))
		negated = !negated;
	if (p->token.kind == EXPR_TOKEN_OPEN)
		return parse_parentheses(p, negated, out);
	return parse_comparison(p, negated, out);
}

static bool parse_and(struct expr_parser *p, bool negated, struct part *out)
{
	struct part next;

	if (!parse_not(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_AND) {
		expr_advance(p);
		if (!parse_not(p, negated, &next))
			return false;
		join(p, !negated, out, &next);
	}
	return true;
}

static bool parse_or(struct expr_parser *p, bool negated, struct part *out)
{
	struct part next;

	if (!parse_and(p, negated, out))
		return false;
	while (p->token.kind == EXPR_TOKEN_OR) {
		expr_advance(p);
		if (!parse_and(p, negated, &next))
			return false;
		join(p, negated, out, &next);
	}
	return true;
}

/* Compiles a condition. Its end is left to the caller. */
static bool parse_condition(struct expr_parser *p)
{
	struct part part;

	if (!parse_or(p, false, &part))
		return false;
	set_exits(p, part.if_true, EXPR_ACCEPT);
	set_exits(p, part.if_not, EXPR_REJECT);
	return true;
}

static bool parse_all(struct expr_parser *p)
{
	expr_advance(p);
	if (p->token.kind == EXPR_TOKEN_END)
		return expr_fail(p, 0, "the expression is empty");
	if (!parse_condition(p))
		return false;
	if (p->token.kind == EXPR_TOKEN_CLOSE)
		return expr_fail(p, p->token.begin, "no parenthesis is open here");
	if (p->token.kind != EXPR_TOKEN_END)
		return expr_unexpected(p, is_operand(p) ? "'and', 'or' or the end" QUOTES
							     : "'and', 'or' or the end");
	return true;
}

bool expr_parser_begin(struct expr_parser *p, struct expr_request *r, const char *option,
		       const char *text, const struct expr_names *names, size_t test_nbytes, struct fault *fault)
{
	size_t nbytes = strlen(text), ntests = nbytes / test_nbytes + 1, ncolumns = 2 * ntests;

	*p = (struct expr_parser){
		.request = r, .e = &r->expr, .option = option, .text = text, .names = names, .fault = fault};
	memset(r, 0, sizeof *r);
	r->expr.matches = pattern_matches;
	if (nbytes > EXPR_NBYTES_MAX)
		return false;
	r->expr.tests = p->tests = calloc(ntests, sizeof *p->tests);
	r->expr.literals = p->literals = malloc(2 * nbytes + 2);
	r->expr.columns = calloc(ncolumns, sizeof *r->expr.columns);
	r->columns.selectors = calloc(ncolumns, sizeof *r->columns.selectors);
	r->uses = calloc(ncolumns, sizeof *r->uses);
	r->fields = calloc(ncolumns, sizeof *r->fields);
	return p->tests && p->literals && r->expr.columns && r->columns.selectors && r->uses &&
	       r->fields;
}

enum status expr_parse(struct expr_request *r, const char *option, const char *text,
		       const struct expr_names *names, struct fault *fault)
{
	struct expr_parser p;

	if (!expr_parser_begin(&p, r, option, text, names, TEST_NBYTES_LEAST, fault))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	p.is_condition = p.in_condition = true;
	parse_all(&p);
	return p.status;
}

bool expr_parse_condition(struct expr_parser *within, struct expr_request *r)
{
	struct expr_parser p;
	bool is_fine = false;

	if (!expr_parser_begin(&p, r, within->option, within->text, within->names, TEST_NBYTES_LEAST,
			       within->fault)) {
		p.status = fault_set(within->fault, STATUS_NO_MEMORY, 0, NULL);
	} else {
		p.token = within->token;
		p.in_condition = true;
		is_fine = parse_condition(&p) &&
			  (!find_value(&p) || expr_fail(&p, p.token.begin, CALCULATES));
	}
	within->token = p.token;
	within->status = p.status;
	within->request->error_offset = r->error_offset;
	within->request->value_begin = r->value_begin;
	within->request->value_end = r->value_end;
	within->request->may_be_name = r->may_be_name;
	return is_fine;
}

/* ---- its columns ---- */

/* Like selector_resolve, but :N is a position even if a column has that name. */
static enum status resolve(const struct selector *s, char *const *names, size_t nfields,
			   uint32_t *field, struct fault *fault)
{
	struct field_range range;
	enum status status = STATUS_OK;

	if (s->computed) {
		*field = FIELD_COMPUTED + s->computed - 1;
		return STATUS_OK;
	}
	if (s->quoted || s->text[0] != ':' || !selector_by_position(s, nfields, &range))
		status = selector_resolve(s, NULL, names, nfields, &range, fault);
	if (status == STATUS_OK)
		*field = range.first;
	return status;
}

/* The column with which the condition compares column i, or UINT32_MAX. */
static uint32_t compared_with(const struct expr *e, uint32_t i)
{
	for (uint32_t t = 0; t < e->ntests; t++) {
		const struct expr_test *test = &e->tests[t];
		if (test->kind == EXPR_TEST_COLUMNS && test->left == i)
			return test->right;
		if (test->kind == EXPR_TEST_COLUMNS && test->right == i)
			return test->left;
	}
	return UINT32_MAX;
}

/* Says how text is written if column i, which is unknown, is compared with one that is known. */
static void suggest_quotes(const struct expr_request *r, uint32_t i, char *const *names,
			   size_t nfields, struct fault *fault)
{
	const struct selector *s = &r->columns.selectors[i];
	uint32_t other = compared_with(&r->expr, i), field;
	struct fault ignored;

	if (s->quoted || *s->text == ':' || other == UINT32_MAX ||
	    resolve(&r->columns.selectors[other], names, nfields, &field, &ignored) != STATUS_OK)
		return;
	snprintf(fault->remedy, sizeof fault->remedy, "\"%.64s\": text is written in quotes",
		 s->text);
}

enum status expr_resolve(struct expr_request *r, char *const *names, size_t nfields,
			 struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < r->columns.nselectors; i++) {
		status = resolve(&r->columns.selectors[i], names, nfields, &r->fields[i], fault);
		if (status == STATUS_UNKNOWN_COLUMN)
			suggest_quotes(r, (uint32_t)i, names, nfields, fault);
	}
	return status;
}

void expr_free(struct expr_request *r)
{
	for (uint32_t i = 0; i < r->expr.npatterns; i++)
		pattern_free(r->expr.patterns[i]);
	free(r->expr.patterns);
	free((void *)r->expr.tests);
	free((void *)r->expr.literals);
	free(r->expr.columns);
	selection_free(&r->columns);
	free(r->uses);
	free(r->fields);
	memset(r, 0, sizeof *r);
}
