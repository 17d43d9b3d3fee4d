/* SPDX-License-Identifier: MIT
 *
 * expr_parser.c - see expr_parser.h.
 */
#include "query/expr_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <strings.h>

#include "query/expr_show.h"
#include "query/expr_value.h"
#include "query/pattern.h"

/* ---- errors ---- */

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
	for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
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
	char words[FAULT_DETAIL_NBYTES], lines[EXPR_SHOW_NBYTES];
	char detail[FAULT_DETAIL_NBYTES];
	va_list arguments;

	if (p->status != STATUS_OK)
		return false;
	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	expr_show(p->text, offset, lines);
	snprintf(detail, sizeof detail, "--%.16s: %.100s\n%s", p->option, words, lines);
	p->request->error_offset = offset;
	p->status = fault_set(p->fault, STATUS_USAGE, 0, detail);
	suggest_word(p, offset);
	return false;
}

bool expr_unexpected(struct expr_parser *p, const char *wanted)
{
	if (p->token.kind == EXPR_TOKEN_NUMBER && expr_is_date(p->text, p->token.begin))
		p->request->may_be_name = true;
	if (p->in_condition && expr_find_value(p))
		return expr_fail(p, p->token.begin, EXPR_CALCULATES);
	if (p->token.kind >= EXPR_TOKEN_COMMA && p->is_condition) /* in lists and in --let only */
		return expr_fail(p, p->token.begin, EXPR_UNKNOWN_CHARACTER);
	if (p->token.kind == EXPR_TOKEN_BAD)
		return expr_fail(p, p->token.begin, "%s", p->token.words);
	return expr_fail(p, p->token.begin, "expected %s%s", wanted,
		    p->token.kind == EXPR_TOKEN_END ? ", not the end" : "");
}

bool expr_is_operand(const struct expr_parser *p)
{
	return p->token.kind == EXPR_TOKEN_COLUMN || p->token.kind == EXPR_TOKEN_NUMBER;
}

/* ---- backpatching ---- */

static uint32_t *exit_at(struct expr_parser *p, uint32_t exit)
{
	struct expr_test *test = &p->tests[exit / 2];

	return exit % 2 ? &test->if_not : &test->if_true;
}

void expr_set_exits(struct expr_parser *p, struct expr_exits exits, uint32_t target)
{
	for (uint32_t exit = exits.first, next; exit != EXIT_NONE; exit = next) {
		next = *exit_at(p, exit);
		*exit_at(p, exit) = target;
	}
}

static struct expr_exits concatenate(struct expr_parser *p, struct expr_exits a, struct expr_exits b)
{
	*exit_at(p, a.last) = b.first; /* every part has exits of both kinds */
	return (struct expr_exits){a.first, b.last};
}

void expr_join(struct expr_parser *p, bool with_and, struct expr_part *part, const struct expr_part *next)
{
	expr_set_exits(p, with_and ? part->if_true : part->if_not, next->begin);
	if (with_and) {
		part->if_not = concatenate(p, part->if_not, next->if_not);
		part->if_true = next->if_true;
	} else {
		part->if_true = concatenate(p, part->if_true, next->if_true);
		part->if_not = next->if_not;
	}
}

struct expr_part expr_emit(struct expr_parser *p, struct expr_test test)
{
	uint32_t at = p->e->ntests++;

	test.if_true = test.if_not = EXIT_NONE;
	p->tests[at] = test;
	return (struct expr_part){at, {2 * at, 2 * at}, {2 * at + 1, 2 * at + 1}};
}

/* ---- operands ---- */

bool expr_is_signed_name(const char *name)
{
	struct expr_value v = {.text = name, .nbytes = strlen(name)};
	bool has_sign = false;

	if (!expr_in_name(*name))
		return false;
	for (const char *c = name; *c; c++) {
		bool is_sign = strchr("+-*/", *c) != NULL;
		if (!is_sign && !expr_in_name(*c))
			return false;
		has_sign |= is_sign;
	}
	if (has_sign)
		expr_read(&v);
	return has_sign && !expr_is_number(&v);
}

/* The length of the longest name that the text begins with, and that does not go on; 0: none. */
static size_t match_name(const struct expr_names *names, const char *text)
{
	size_t longest = 0;

	for (size_t i = 0; i < names->n; i++) {
		size_t nbytes = strlen(names->at[i]);
		if (nbytes > longest && !strncmp(names->at[i], text, nbytes) &&
		    !(expr_in_name(text[nbytes - 1]) && expr_in_name(text[nbytes])))
			longest = nbytes;
	}
	return longest;
}

struct expr_token expr_next_token(const struct expr_parser *p, size_t from)
{
	struct expr_token t = expr_lex(p->text, from);
	size_t nbytes = 0;

	if (p->names && expr_in_name(p->text[t.begin]))
		nbytes = match_name(p->names, p->text + t.begin);
	if (nbytes > 0)
		t = (struct expr_token){.kind = EXPR_TOKEN_COLUMN, .begin = t.begin, .nbytes = nbytes, .is_signed = true};
	return t;
}

void expr_advance(struct expr_parser *p)
{
	p->token = expr_next_token(p, p->token.begin + p->token.nbytes);
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

	if (!s.text) {
		p->status = fault_set(p->fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	if (*text == '`')
		s.text[expr_unquote(text, token->nbytes, s.text)] = '\0';
	*column = find_column(p, s, use);
	return true;
}

bool expr_is_word(const struct expr_token *token, const char *text, const char *word)
{
	return token->kind == EXPR_TOKEN_COLUMN && token->nbytes == strlen(word) &&
	       !strncasecmp(text + token->begin, word, token->nbytes);
}

/* Whether a token is a keyword, not a sign. first: its first byte. */
static bool is_keyword(const struct expr_token *token, char first)
{
	return token->kind >= EXPR_TOKEN_AND && token->kind <= EXPR_TOKEN_MISSING &&
	       (first | 0x20) >= 'a' && (first | 0x20) <= 'z';
}

bool expr_parse_operand(struct expr_parser *p, struct expr_token *operand)
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
				? status_words(STATUS_OUT_OF_RANGE) : "not a number" EXPR_QUOTES);
	expr_add_literal(p, token, test);
	test->literal_kind = (uint8_t)v.kind;
	test->number = v.number;
	return true;
}

/* ---- the whole ---- */

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
