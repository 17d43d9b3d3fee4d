/* SPDX-License-Identifier: MIT
 *
 * compile.c - the language of expressions: errors, operands, comparisons, conditions, functions. See program.h.
 *
 * Recursive descent; steps come out in postfix order, and there is no syntax tree. Each part of an expression is the steps from
 * its first one to the last so far.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "csv/field.h"
#include "lang/lane.h"
#include "lang/pattern.h"
#include "lang/program.h"
#include "number/notation.h"

#define PROGRAM_NBYTES_MAX ((size_t)1 << 28)
#define PLACES_MAX EXACT_SCALE_MAX
#define SHOW_NBYTES 128
#define WINDOW_NBYTES 36 /* shown on each side of an error */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define QUOTES " (text is written in quotes)"
#define A_VALUE "a column or a value"
#define A_COMPARISON "a comparison (= != < <= > >= ~, is, in, between, contains, starts, ends)"

struct parser {
	struct program *program;
	const struct program_context *context;
	const char *option, *text;
	struct token token; /* the look-ahead */
	size_t names_capacity, steps_capacity, literals_capacity;
	int nlevels;
	bool is_in_aggregate;
	int or_level;   /* of nested parts, where what follows a || is looked at; -1: nowhere */
	char *or_signs; /* by byte of the text: what a || there was found to be, enum or_sign; NULL:
			   none was looked at. Owned */
	enum status status;
	struct fault *fault;
};

/* A part that was compiled: the steps from `first` to the next part's first. */
struct operand {
	enum value_type type;
	bool is_missing; /* the word */
	bool is_epoch;   /* a number that is a time's seconds, to be compared with times */
	bool is_quotient; /* a / b, of which a and b stay for several comparisons */
	size_t begin; /* in the text; of a comparison: its sign */
	size_t first, end; /* end: of one whose value stays for several comparisons */
};

/* All functions below that return a bool return false after an error. */
typedef bool parse_function(struct parser *p, struct operand *out);
static parse_function parse_expression, parse_not, parse_joined;

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
	{"===", 2, "="},
	{"//", 1, "div(a, b), or floor(a / b)"},
	{"**", 1, "pow(x, k)"},
	{"^", 0, "pow(x, k)"},
	{"?", 0, "if(condition, a, b)"},
	{"when", 0, "case when condition then a else b end"},
	{"as", 0, "the name first: NAME = EXPR"},
	{"where", 0, "--where CONDITION, an option of its own"},
	{"from", 0, "hour(time), month(time) and the like"},
	{"xor", 0, "(a = 1) != (b = 1)"},
	{"na", 0, "'is missing', or 'is not missing'"},
	{"glob", 0, "like, or ~ and a regular expression"},
	{"rlike", 0, "~ and a regular expression"},
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
static void suggest_word(struct parser *p, size_t offset)
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

/* Whether a sign up to the byte of the text may be part of a name: a-b. */
static bool has_sign_in_name(const char *text, size_t offset)
{
	for (size_t i = 1; i <= offset; i++)
		if (text[i] && strchr("+-*/", text[i]) && token_in_name(text[i - 1]))
			return true;
	return false;
}

/* Stores the first error, at a byte of the text. */
__attribute__((format(printf, 3, 4))) static bool fail(struct parser *p, size_t offset, const char *format, ...)
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
	p->program->error_offset = offset;
	p->program->may_be_name = has_sign_in_name(p->text, offset);
	p->status = fault_set(p->fault, STATUS_USAGE, 0, detail);
	suggest_word(p, offset);
	return false;
}

static bool no_memory(struct parser *p)
{
	p->status = STATUS_NO_MEMORY;
	return false;
}

/* Reports that the next token is not what the grammar requires. */
static bool unexpected(struct parser *p, const char *wanted)
{
	if (p->token.kind == TOKEN_BAD)
		return fail(p, p->token.begin, "%s", p->token.words);
	return fail(p, p->token.begin, "expected %s%s", wanted, p->token.kind == TOKEN_END ? ", not the end" : "");
}

/* Like unexpected, where a word that stands there may be meant as a text. */
static bool unexpected_word(struct parser *p, const char *wanted)
{
	char words[FAULT_DETAIL_NBYTES];
	bool is_word = p->token.kind == TOKEN_COLUMN || p->token.kind == TOKEN_NUMBER;

	snprintf(words, sizeof words, "%s%s", wanted, is_word ? QUOTES : "");
	return unexpected(p, words);
}

static void advance(struct parser *p)
{
	p->token = token_at(p->text, p->token.begin + p->token.nbytes, p->context->names);
}

/* Reads the next token after one of this kind. */
static bool take(struct parser *p, enum token_kind kind, const char *wanted)
{
	if (p->token.kind != kind)
		return unexpected(p, wanted);
	advance(p);
	return true;
}

static bool takes_word(struct parser *p, const char *word)
{
	bool takes = token_is_word(&p->token, p->text, word);

	if (takes)
		advance(p);
	return takes;
}

static bool enter(struct parser *p)
{
	if (p->nlevels++ <= PROGRAM_NLEVELS) /* the operand within the last ones is one, too */
		return true;
	return fail(p, p->token.begin, "more than %d parentheses within each other", PROGRAM_NLEVELS);
}

/* ---- steps ---- */

static bool add_step(struct parser *p, struct step step)
{
	if (ARRAY_GROW(p->program->steps, p->steps_capacity, p->program->nsteps + 1) != STATUS_OK)
		return no_memory(p);
	if (p->program->nsteps >= PROGRAM_NSTEPS_MAX)
		return fail(p, 0, "the expression is too long");
	p->program->steps[p->program->nsteps++] = step;
	return true;
}

static struct step *last_step(const struct parser *p)
{
	return &p->program->steps[p->program->nsteps - 1];
}

/* Whether steps [first, end) are a literal alone. */
static bool is_literal(const struct parser *p, size_t first, size_t end)
{
	const struct step *step = &p->program->steps[first];

	return end == first + 1 && (step->code == STEP_NUMBER || step->code == STEP_LITERAL);
}

/* Says what steps [first, end) are for, if they are a column alone. Returns the column, or NO_COLUMN. */
static uint32_t use_column(const struct parser *p, size_t first, size_t end, enum step_load load)
{
	struct step *step = &p->program->steps[first];

	if (end != first + 1 || step->code != STEP_LOAD)
		return NO_COLUMN;
	step->load = (uint8_t)load;
	return step->index;
}

/* Complements a condition, which begins at `first`: its tests, and whether it is `and` or `or` (De Morgan). */
static void negate(struct parser *p, size_t first)
{
	static const uint8_t others[] = {[STEP_AND_THEN] = STEP_OR_THEN, [STEP_OR_THEN] = STEP_AND_THEN, [STEP_AND] = STEP_OR,
					 [STEP_OR] = STEP_AND};

	for (size_t i = first; i < p->program->nsteps; i++) {
		struct step *step = &p->program->steps[i];
		if (step->depth > 0)
			continue;
		if (step_is_test(step))
			step->accepts ^= ORDER_ANY;
		else if (step->code < sizeof others && others[step->code])
			step->code = others[step->code];
	}
}

/* Room for another literal. */
static char *literal_room(struct parser *p, size_t nbytes)
{
	struct program *program = p->program;

	if (program->nliteral_bytes + nbytes <= 8 * PROGRAM_NBYTES_MAX &&
	    ARRAY_GROW(program->literals, p->literals_capacity, program->nliteral_bytes + nbytes) == STATUS_OK)
		return program->literals + program->nliteral_bytes;
	no_memory(p);
	return NULL;
}

/* Copies a token's text to the literals, without its quotes. */
static bool add_literal(struct parser *p, const struct token *token, struct step *step)
{
	struct program *program = p->program;
	char *to = literal_room(p, token->nbytes);
	size_t nbytes = token->nbytes;

	if (!to)
		return false;
	if (token->kind == TOKEN_STRING)
		nbytes = token_unquote(p->text + token->begin, nbytes, to);
	else
		memcpy(to, p->text + token->begin, nbytes);
	step->literal_begin = (uint32_t)program->nliteral_bytes;
	step->literal_nbytes = (uint32_t)nbytes;
	step->is_quoted = p->text[token->begin] == '"';
	program->nliteral_bytes += nbytes;
	return true;
}

/* ---- values ---- */

static bool want_truth(struct parser *p, const struct operand *x)
{
	return x->type == TYPE_TRUTH || unexpected(p, A_COMPARISON);
}

/* Copies a condition, steps [first, end), which are the last ones, as its complement. */
static bool copy_complement(struct parser *p, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (!add_step(p, p->program->steps[i]))
			return false;
	negate(p, end);
	return true;
}

/* Makes steps `first` ... part of a condition of if(). */
static void deepen(const struct parser *p, size_t first)
{
	for (size_t i = first; i < p->program->nsteps; i++)
		p->program->steps[i].depth++;
}

/* Makes the last operand a value: of a condition 1, 0, or missing where neither it nor its complement is true. */
static bool want_value(struct parser *p, struct operand *x)
{
	const size_t first = x->first, middle = p->program->nsteps;
	const struct step number = {.code = STEP_NUMBER, .at = (uint32_t)x->begin}, missing = {.code = STEP_LITERAL, .at = number.at};
	const struct step choose = {.code = STEP_IF, .nvalues = 2, .at = number.at};
	struct step one = number;

	if (x->type != TYPE_TRUTH)
		return true;
	x->type = TYPE_NUMBER;
	one.number.significand = 1;
	if (!copy_complement(p, first, middle))
		return false;
	deepen(p, first);
	if (!add_step(p, one)) /* to be moved between the two */
		return false;
	memmove(&p->program->steps[middle + 1], &p->program->steps[middle], (p->program->nsteps - middle - 1) * sizeof one);
	p->program->steps[middle] = one;
	return add_step(p, number) && add_step(p, missing) && add_step(p, choose) && add_step(p, choose);
}

/* Reports a text where a number is needed. */
static bool want_number(struct parser *p, struct operand *x)
{
	use_column(p, x->first, p->program->nsteps, LOAD_CALCULATE);
	if (x->type == TYPE_TIME)
		return fail(p, x->begin, "a number is needed, not a time: epoch() is its seconds");
	return want_value(p, x) && (x->type != TYPE_TEXT || fail(p, x->begin, "a number is needed, not a text"));
}

/* A number of up to 18 digits is computed with; a longer one stays text. */
static bool parse_number(struct parser *p)
{
	const struct token *t = &p->token;
	struct lane_value v = {.text = p->text + t->begin, .nbytes = t->nbytes};
	struct step step = {.at = (uint32_t)t->begin};

	lane_read(&v);
	if (v.kind != LANE_NUMBER && v.kind != LANE_LONG)
		return fail(p, t->begin, "%s",
			    v.kind == LANE_OUT_OF_RANGE ? "number beyond 10^-400 to 10^400" : "not a number" QUOTES);
	if (!add_literal(p, t, &step))
		return false;
	step.code = v.kind == LANE_NUMBER ? STEP_NUMBER : STEP_LITERAL;
	step.is_long = v.kind == LANE_LONG;
	step.number = v.number;
	advance(p);
	return add_step(p, step);
}

static bool parse_string(struct parser *p)
{
	struct step step = {.code = STEP_LITERAL, .at = (uint32_t)p->token.begin};

	if (!add_literal(p, &p->token, &step))
		return false;
	advance(p);
	return add_step(p, step);
}

/* Pushes a column, which is added to the program's if it is new. s.text: becomes the program's, or is freed. */
static bool load_column(struct parser *p, struct selector s, size_t at)
{
	struct selection *names = &p->program->names;
	size_t i = 0;

	if (!s.text)
		return no_memory(p);
	while (i < names->nselectors &&
	       (names->selectors[i].quoted != s.quoted || names->selectors[i].is_aggregate != s.is_aggregate ||
		strcmp(names->selectors[i].text, s.text) != 0))
		i++;
	if (i < names->nselectors) {
		free(s.text);
	} else if (ARRAY_GROW(names->selectors, p->names_capacity, i + 1) == STATUS_OK) {
		names->selectors[names->nselectors++] = s;
	} else {
		free(s.text);
		return no_memory(p);
	}
	return add_step(p, (struct step){.code = STEP_LOAD, .index = (uint32_t)i, .at = (uint32_t)at});
}

/* Pushes the column of a token. */
static bool add_column(struct parser *p, const struct token *token)
{
	const char *text = p->text + token->begin;
	struct selector s = {.text = strndup(text, token->nbytes), .quoted = *text == '`' || token->is_signed};

	if (s.text && *text == '`')
		s.text[token_unquote(text, token->nbytes, s.text)] = '\0';
	return load_column(p, s, token->begin);
}

/* ---- functions ---- */

struct function;
static bool parse_arguments(struct parser *p, const struct function *f, struct operand *out);
static bool parse_test(struct parser *p, const struct function *f, struct operand *out);
static bool parse_nullif(struct parser *p, const struct function *f, struct operand *out);

static const struct function {
	const char *name, *arguments, *help;
	bool (*parse)(struct parser *p, const struct function *f, struct operand *out);
	enum step_code code;
	enum value_type type;
} functions[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help) \
	{name, arguments, help, parse_arguments, STEP_##id, TYPE_##type},
#define COMPILED_FUNCTION(name, arguments, parse, code, help) \
	{name, arguments, help, parse, STEP_##code, TYPE_ANY},
#include "lang/functions.def"
#undef FUNCTION
};

static const struct synonym {
	const char *name, *of;
} synonyms[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help)
#define SYNONYM(name, of) {name, of},
#include "lang/functions.def"
#undef FUNCTION
};

/* An integer from least to greatest, which becomes the step's index. */
static bool parse_index(struct parser *p, struct step *step, uint32_t greatest, const char *what)
{
	size_t begin = p->token.begin;
	const struct step *number;

	if (p->token.kind == TOKEN_NUMBER && !parse_number(p))
		return false;
	number = last_step(p);
	if (p->token.begin == begin || number->code != STEP_NUMBER || number->number.scale != 0 ||
	    number->number.significand < 0 || number->number.significand > greatest)
		return fail(p, begin, "%s from 0 to %" PRIu32, what, greatest);
	step->index = (uint32_t)number->number.significand;
	p->program->nsteps--;
	return true;
}

/* A text in quotes, which becomes the step's literal. */
static bool parse_constant(struct parser *p, struct step *step)
{
	if (p->token.kind != TOKEN_STRING)
		return unexpected(p, "a text in quotes");
	if (!add_literal(p, &p->token, step))
		return false;
	step->is_quoted = false; /* nobody takes it for a name */
	advance(p);
	return true;
}

/* A unit of time, a format of times or the units of sizes: a constant whose text is checked. */
static bool parse_word_of(struct parser *p, char kind, struct step *step)
{
	const size_t begin = p->token.begin;
	struct time_unit unit = {0, 0};
	const char *text, *wrong = NULL;
	size_t nbytes, at = 0;

	if (!parse_constant(p, step))
		return false;
	text = p->program->literals + step->literal_begin;
	nbytes = step->literal_nbytes;
	if (kind == 'u' && !time_unit_read(text, nbytes, &unit))
		wrong = "no unit of time: second, minute, hour, day, week, month, quarter, year, also 15m, 6 hours";
	else if (kind == 'z' && !(nbytes == 3 && !memcmp(text, "iec", 3)) && !(nbytes == 2 && !memcmp(text, "si", 2)))
		wrong = "no units of sizes: \"iec\" or \"si\"";
	else if (kind == 'r' || kind == 'w')
		wrong = time_format_fault(text, nbytes, kind == 'r', &at);
	step->number = (struct decimal){unit.seconds, (int32_t)unit.months};
	return !wrong || fail(p, begin + 1 + at, "%s", wrong); /* a doubled quote before it moves the caret */
}

/* Compiles the step's literal, which began at a byte of the text, as a pattern of the program. is_text: it is what stands there. */
static bool add_pattern(struct parser *p, struct step *step, uint32_t *index, size_t begin, bool is_text)
{
	char words[PATTERN_WORDS_NBYTES];
	size_t offset;
	struct pattern **pattern = ARRAY_ADD(p->program->patterns, p->program->npatterns);
	enum status status;

	if (!pattern)
		return no_memory(p);
	*index = (uint32_t)p->program->npatterns++;
	status = pattern_compile(p->program->literals + step->literal_begin, step->literal_nbytes, pattern, &offset, words);
	if (status == STATUS_USAGE) /* a doubled quote before it moves the caret: it is near */
		return fail(p, begin + (pattern_library() && is_text ? 1 + offset : 0), "%s", words);
	if (status != STATUS_OK)
		p->status = fault_set(p->fault, status, 0, NULL);
	return status == STATUS_OK;
}

/* A regular expression, which becomes the step's literal. */
static bool compile_pattern(struct parser *p, struct step *step, uint32_t *index)
{
	size_t begin = p->token.begin;

	if (p->token.kind != TOKEN_STRING)
		return unexpected(p, "a regular expression in quotes");
	if (!parse_constant(p, step))
		return false;
	if (step->literal_nbytes == 0)
		return fail(p, begin, "the regular expression is empty");
	return add_pattern(p, step, index, begin, true);
}

/* Checks a value that is an integer, or a text, as far as it is a literal. */
static bool want_kind(struct parser *p, char kind, struct operand *x)
{
	const struct step *step = last_step(p);
	const bool literal = is_literal(p, x->first, p->program->nsteps);

	if (strchr("nio", kind) && !want_number(p, x))
		return false;
	if (strchr("io", kind) && literal &&
	    (step->code != STEP_NUMBER || decimal_compare(step->number, decimal_round(step->number, 0)) != 0))
		return fail(p, x->begin, "an integer is needed");
	if (kind == 'o' && literal && step->number.significand == 0)
		return fail(p, x->begin, "the first is 1, the last is -1");
	return want_value(p, x) && (!strchr("td", kind) || !literal || step->code == STEP_NUMBER || step->literal_nbytes > 0 ||
				    fail(p, x->begin, "an empty text is missing, and so is the result"));
}

/* After the first argument: the row of the name that takes the next one. */
static const struct function *choose_row(const struct parser *p, const struct function *f)
{
	struct token next = token_at(p->text, p->token.begin + p->token.nbytes, p->context->names);

	while (f + 1 < functions + COUNT(functions) && !strcmp(f->name, f[1].name) && p->token.kind == TOKEN_COMMA &&
	       next.kind == TOKEN_STRING && !strchr("tedvspurwz", f->arguments[1]))
		f++;
	return f;
}

/* Argument k of *f, a row of functions.def, which may become another one of its name. */
static bool parse_argument(struct parser *p, const struct function **f, size_t k, struct step *step, struct operand *out)
{
	char kind = (*f)->arguments[k];

	switch (kind) {
	case 'k':
		return parse_index(p, step, PLACES_MAX, "a number of digits");
	case 'g':
		return parse_index(p, step, pattern_keep_groups(p->program->patterns[step->left]), "a group of the regular expression");
	case 's':
		return parse_constant(p, step);
	case 'u':
	case 'r':
	case 'w':
	case 'z':
		return parse_word_of(p, kind, step);
	case 'p':
		if (!compile_pattern(p, step, &step->left))
			return false;
		step->index = pattern_keep_groups(p->program->patterns[step->left]) > 0;
		return true;
	default:
		break;
	}
	if (!parse_expression(p, out))
		return false;
	if (k == 0)
		*f = choose_row(p, *f);
	kind = (*f)->arguments[k];
	step->nvalues += kind != 'c';
	if (kind != 'c')
		return want_kind(p, kind, out);
	deepen(p, out->first);
	return want_truth(p, out);
}

/* The type of what is one of several values: theirs, if they agree. A missing one has none. */
static void take_type(struct operand *out, const struct operand *x)
{
	if (!x->is_missing)
		out->type = out->is_missing || out->type == x->type ? x->type : TYPE_ANY;
	out->is_missing &= x->is_missing;
}

/* The arguments of a function, up to the parenthesis, and its steps. */
static bool parse_arguments(struct parser *p, const struct function *f, struct operand *out)
{
	struct operand chosen = {.is_missing = true};
	struct step step = {.at = (uint32_t)out->begin};
	bool is_optional = false;
	char comma[FAULT_DETAIL_NBYTES], how = '\0';
	struct operand x;

	for (size_t k = 0; f->arguments[k]; k++) {
		size_t n = 0;
		how = f->arguments[k + 1] && strchr("+*?", f->arguments[k + 1]) ? f->arguments[k + 1] : '\0';
		is_optional |= how == '?';
		if (is_optional && p->token.kind == TOKEN_CLOSE)
			break;
		snprintf(comma, sizeof comma, "',': %s", f->help);
		do {
			if ((n > 0 || k > 0) && !take(p, TOKEN_COMMA, comma))
				return false;
			if (!parse_argument(p, &f, k, &step, &x))
				return false;
			step.code = (uint8_t)f->code;
			step.nvalues = how == '+' ? 2 : step.nvalues;
			if (how == '+' && n > 0 && !add_step(p, step))
				return false;
			if (f->type == TYPE_ANY && f->arguments[k] == 'v')
				take_type(&chosen, &x);
			n++;
		} while ((how == '+' && n < 2) || ((how == '+' || how == '*') && p->token.kind == TOKEN_COMMA));
		k += how != '\0';
	}
	out->type = f->type == TYPE_ANY ? chosen.type : f->type;
	return how == '+' || add_step(p, step);
}

static bool test_part(struct parser *p, const struct operand *left, struct operand *part, enum step_code code);

/* The arguments of contains() and the like. */
static bool parse_test(struct parser *p, const struct function *f, struct operand *out)
{
	char comma[FAULT_DETAIL_NBYTES];
	struct operand left, part;

	snprintf(comma, sizeof comma, "',': %s", f->help);
	if (!parse_expression(p, &left) || !want_kind(p, 't', &left) || !take(p, TOKEN_COMMA, comma) ||
	    !parse_expression(p, &part) || !test_part(p, &left, &part, f->code))
		return false;
	out->type = TYPE_TRUTH;
	return true;
}

/* Takes back what was compiled since the program was `saved`. */
static void take_back(struct program *program, const struct program *saved)
{
	while (program->names.nselectors > saved->names.nselectors)
		free(program->names.selectors[--program->names.nselectors].text);
	while (program->npatterns > saved->npatterns)
		pattern_free(program->patterns[--program->npatterns]);
	program->nsteps = saved->nsteps;
	program->nliteral_bytes = saved->nliteral_bytes;
	program->norders = saved->norders;
}

/* Where the condition that is on the stack holds, the first value that follows it; else the second. */
static bool choose(struct parser *p, size_t at)
{
	return add_step(p, (struct step){.code = STEP_IF, .nvalues = 2, .at = (uint32_t)at});
}

static bool compare(struct parser *p, struct operand left, struct operand right, unsigned accepts,
		    bool keeps);

/* Parses again the value that begins with a token. */
static bool parse_again(struct parser *p, const struct token *value, struct operand *out)
{
	const struct token next = p->token;

	p->token = *value;
	if (!parse_expression(p, out) || !want_value(p, out))
		return false;
	p->token = next;
	return true;
}

/* Compares a value with one that follows: a condition of if(). */
static bool parse_equals(struct parser *p, struct operand left)
{
	struct operand right;

	if (!parse_expression(p, &right) || !compare(p, left, right, ORDER_EQUAL, false))
		return false;
	deepen(p, left.first);
	return true;
}

static bool add_missing(struct parser *p, size_t at)
{
	return add_step(p, (struct step){.code = STEP_LITERAL, .at = (uint32_t)at});
}

/* nullif(a, b): if(a = b, missing, a) */
static bool parse_nullif(struct parser *p, const struct function *f, struct operand *out)
{
	const struct token token = p->token;
	char comma[FAULT_DETAIL_NBYTES];
	struct operand x;

	snprintf(comma, sizeof comma, "',': %s", f->help);
	if (!parse_expression(p, &x) || !want_value(p, &x) || !take(p, TOKEN_COMMA, comma) ||
	    !parse_equals(p, x) || !add_missing(p, token.begin) || !parse_again(p, &token, &x))
		return false;
	out->type = x.type;
	return choose(p, token.begin);
}

/* when condition then a ..., up to `end`; value: what is compared with that of each `when`, or
 * NULL. */
static bool parse_when(struct parser *p, const struct token *value, struct operand *out)
{
	const size_t first = p->program->nsteps, at = p->token.begin;
	struct operand x, other = {.is_missing = true};

	if (!takes_word(p, "when"))
		return unexpected(p, "'when'");
	if (!enter(p) || (value && !parse_again(p, value, &x)))
		return false;
	if (value ? !parse_equals(p, x) : !(parse_expression(p, &x) && want_truth(p, &x)))
		return false;
	if (!value)
		deepen(p, first);
	if (!takes_word(p, "then"))
		return unexpected(p, "'then'");
	if (!parse_expression(p, &x) || !want_value(p, &x))
		return false;
	if (token_is_word(&p->token, p->text, "when")) {
		if (!parse_when(p, value, &other))
			return false;
	} else if (takes_word(p, "else") ? !parse_expression(p, &other) || !want_value(p, &other)
					 : !add_missing(p, p->token.begin)) {
		return false;
	}
	take_type(out, &x);
	take_type(out, &other);
	p->nlevels--;
	return choose(p, at);
}

/* The comparisons that begin with a word, and how they are compiled. */
static const struct comparison_word {
	const char *word;
	enum step_code code;
} comparison_words[] = {{"in", STEP_OR},	 {"between", STEP_AND}, {"contains", STEP_CONTAINS},
			{"starts", STEP_STARTS}, {"ends", STEP_ENDS},	{"like", STEP_MATCH},
			{"ilike", STEP_MATCH}};

/* Returns the one that a token is, or NULL. */
static const struct comparison_word *find_comparison(const struct parser *p)
{
	for (size_t i = 0; i < COUNT(comparison_words); i++)
		if (token_is_word(&p->token, p->text, comparison_words[i].word))
			return &comparison_words[i];
	return NULL;
}

/* Whether the word `case` before the token is no column: a value follows, or `when`. */
static bool is_case(const struct parser *p)
{
	static const char *const others[] = {"then", "else", "end"};

	for (size_t i = 0; i < COUNT(others); i++)
		if (token_is_word(&p->token, p->text, others[i]))
			return false;
	return (p->token.kind == TOKEN_COLUMN && !find_comparison(p)) ||
	       p->token.kind == TOKEN_STRING || p->token.kind == TOKEN_OPEN ||
	       (p->token.kind == TOKEN_NUMBER && decimal_is_digit(p->text[p->token.begin]));
}

/* case when condition then a else b end, or case x when value then a ...; the token is the one
 * after `case`. */
static bool parse_case(struct parser *p, struct operand *out)
{
	const bool has_value = !token_is_word(&p->token, p->text, "when");
	const struct token value = p->token;
	const struct program saved = *p->program;
	struct operand x;

	out->is_missing = true;
	if (has_value && !parse_expression(p, &x))
		return false;
	take_back(p->program, &saved);
	return parse_when(p, has_value ? &value : NULL, out) &&
	       (takes_word(p, "end") || unexpected(p, "'when', 'else' or 'end'"));
}

/* Whether a token of the text is a name, or a synonym of it. */
static bool is_called(const char *text, const struct token *token, const char *name)
{
	for (size_t i = 0; i < COUNT(synonyms); i++)
		if (!strcmp(synonyms[i].of, name) && token_is_word(token, text, synonyms[i].name))
			return true;
	return token_is_word(token, text, name);
}

/* ---- aggregates ---- */

/* Whether there is a comma between the arguments after the parenthesis at text[begin]. */
static bool has_several_arguments(const char *text, size_t begin, const struct signed_names *names)
{
	struct token token = {.begin = begin + 1};
	int depth = 1;

	do {
		token = token_at(text, token.begin + token.nbytes, names);
		depth += (token.kind == TOKEN_OPEN) - (token.kind == TOKEN_CLOSE);
		if (token.kind == TOKEN_COMMA && depth == 1)
			return true;
	} while (depth > 0 && token.kind != TOKEN_END && token.kind != TOKEN_BAD);
	return false;
}

/* p and a number with digits after its point, perhaps. */
static bool is_percentile(const char *text, size_t nbytes)
{
	bool has_digit = false;

	for (size_t i = 1; i < nbytes; i++) {
		if (!decimal_is_digit(text[i]) && text[i] != '.')
			return false;
		has_digit |= text[i] != '.';
	}
	return has_digit && (*text | 0x20) == 'p';
}

/* The aggregate that a name means, which the parenthesis at text[open] follows; NULL: none. min and max of several values are those of
 * the record's. */
static const struct aggregate_name *find_aggregate(const struct aggregate_name *list, const char *text, const struct token *name, size_t open,
						   const struct signed_names *names)
{
	const char *word = text + name->begin;

	for (; list && list->name; list++) {
		bool is_function = false;
		if (!strcmp(list->name, "pNN") ? !is_percentile(word, name->nbytes)
					       : !is_called(text, name, list->name))
			continue;
		for (size_t i = 0; i < COUNT(functions); i++)
			is_function |= !strcmp(functions[i].name, list->name);
		return is_function && has_several_arguments(text, open, names) ? NULL : list;
	}
	return NULL;
}

/* Whether a token is a word of `case`, of which so many are open. */
static bool is_case_word(const struct token *token, const char *text, int *ncases)
{
	static const char *const words[] = {"when", "then", "else"};
	bool is_word = false;

	for (size_t i = 0; i < COUNT(words); i++)
		is_word |= token_is_word(token, text, words[i]);
	if (token_is_word(token, text, "case"))
		++*ncases;
	else if (*ncases > 0 && token_is_word(token, text, "end"))
		--*ncases;
	else
		return is_word && *ncases > 0;
	return true;
}

unsigned aggregates_in(const char *list, const struct aggregate_name *aggregates, const struct signed_names *names)
{
	struct token name, token = token_at(list, 0, names);
	unsigned all = 0, item = 0; /* sets of enum aggregates_in */
	int depth = 0, ncases = 0, within = 0; /* within: the depth of an aggregate's argument; 0: outside */
	bool has_ended = false; /* the item's expression, by a colon */

	do {
		bool is_call, is_apart;
		name = token;
		name.nbytes += name.kind == TOKEN_BAD;
		token = token_at(list, name.begin + name.nbytes, names);
		is_call = name.kind == TOKEN_COLUMN && token.kind == TOKEN_OPEN;
		is_apart = name.kind == TOKEN_END || (name.kind == TOKEN_COMMA && depth == 0);
		has_ended |= list[name.begin] == ':' && (item & AGGREGATES_ANY) && depth == 0;
		if (is_apart) {
			all |= item & AGGREGATES_ANY ? item : 0;
			item = 0;
			has_ended = false;
		} else if (is_call && find_aggregate(aggregates, list, &name, token.begin, names)) {
			item |= (item ? AGGREGATES_COMPUTED : 0) | AGGREGATES_ANY;
			within = within ? within : depth + 1;
		} else if (!within && !has_ended && name.kind != TOKEN_BAD) {
			item |= AGGREGATES_COMPUTED;
			if (name.kind == TOKEN_COLUMN && !is_case_word(&name, list, &ncases) && !is_call)
				item |= AGGREGATES_WITH_COLUMN;
		}
		depth += (name.kind == TOKEN_OPEN) - (name.kind == TOKEN_CLOSE);
		within = name.kind == TOKEN_CLOSE && depth < within ? 0 : within;
	} while (name.kind != TOKEN_END);
	return all;
}

size_t aggregate_argument(const char *text, const char **argument, size_t *nbefore)
{
	*nbefore = strcspn(text, "(");
	*argument = text + *nbefore + 1;
	return strlen(*argument) - 1;
}

/* Pushes the aggregate of a name and an argument. */
static bool load_aggregate(struct parser *p, const char *name, size_t name_nbytes, const char *argument, size_t nbytes, size_t at)
{
	struct selector s = {.text = malloc(name_nbytes + nbytes + 3), .quoted = true, .is_aggregate = true};

	if (s.text)
		sprintf(s.text, "%.*s(%.*s)", (int)name_nbytes, name, (int)nbytes, argument);
	return load_column(p, s, at);
}

/* Whether the expression stands where columns do. */
static bool is_in_list(const struct parser *p)
{
	static const char *const others[] = {"let", "where", "offsets"};

	for (size_t i = 0; i < COUNT(others); i++)
		if (!strcmp(p->option, others[i]))
			return false;
	return !p->context->of_results;
}

/* The argument of an aggregate, which is computed elsewhere: it is compiled to find its errors. The token is the parenthesis. */
static bool parse_aggregate(struct parser *p, const struct aggregate_name *f, const struct token *name, struct operand *out)
{
	const struct program saved = *p->program;
	const bool is_percentile = !strcmp(f->name, "pNN"), is_count = !strcmp(f->name, "count");
	const bool was_in_aggregate = p->is_in_aggregate;
	bool is_all; /* count(*), as SQL has it */
	const char *called = is_percentile ? p->text + name->begin : f->name, *argument = p->text + p->token.begin + 1;
	size_t called_nbytes = is_percentile ? name->nbytes : strlen(f->name), nbytes;
	struct operand x;

	if (p->is_in_aggregate && p->context->of_results)
		return fail(p, name->begin, "an aggregate within an aggregate: compute the one within by a run of its own, or by --let");
	if (!strcmp(p->option, "by"))
		return fail(p, name->begin, "an aggregate is no key: print it with --let, and group what is printed");
	if (p->context->reads_once)
		return fail(p, name->begin, "an aggregate needs all records, and --%s has some: leave it out", p->context->reads_once);
	advance(p);
	is_all = is_count && p->token.kind == TOKEN_STAR;
	if (is_all)
		advance(p);
	p->is_in_aggregate = true;
	if ((p->token.kind != TOKEN_CLOSE || !is_count) && !(parse_expression(p, &x) && want_value(p, &x)))
		return false;
	p->is_in_aggregate = was_in_aggregate;
	take_back(p->program, &saved);
	if (p->token.kind != TOKEN_CLOSE)
		return unexpected(p, "')': an aggregate takes one argument");
	for (nbytes = is_all ? 0 : (size_t)(p->text + p->token.begin - argument); nbytes > 0 && decimal_is_blank(argument[nbytes - 1]); nbytes--)
		;
	for (; nbytes > 0 && decimal_is_blank(*argument); nbytes--)
		argument++;
	advance(p);
	out->type = f->type;
	if (strcmp(f->name, "mean"))
		return load_aggregate(p, called, called_nbytes, argument, nbytes, name->begin);
	return load_aggregate(p, "sum", 3, argument, nbytes, name->begin) && load_aggregate(p, "count", 5, argument, nbytes, name->begin) &&
	       add_step(p, (struct step){.code = STEP_DIVIDE, .nvalues = 2, .at = (uint32_t)name->begin});
}

/* Functions of other languages that are not quite one of these. */
static const struct {
	const char *name, *remedy;
} foreign_functions[] = {
	{"log", "ln(x), or log10(x)"},
	{"lpad", "pad(t, n, fill)"},
	{"rpad", "pad(t, -n, fill)"},
	{"regexp_extract", "extract(t, \"regex\", group)"},
	{"regexp_matches", "t ~ \"regex\""},
	{"regexp_like", "t ~ \"regex\""},
	{"strpos", "contains(t, part)"},
	{"instr", "contains(t, part)"},
	{"cast", "number(x), or text(x)"},
	{"to_number", "number(x)"},
	{"isnull", "x is missing"},
	{"isna", "x is missing"},
	{"is_null", "x is missing"},
	{"where", "if(condition, x, y)"},
	{"iff", "if(condition, x, y)"},
	{"quantile", "p90(x), p99.9(x)"},
	{"percentile", "p90(x), p99.9(x)"},
	{"percentile_cont", "p90(x), p99.9(x)"},
	{"lag", "--lag COLS, and gpustat again for what it prints"},
	{"lead", "--lead COLS, and gpustat again for what it prints"},
	{"diff", "--delta COLS, and gpustat again for what it prints"},
	{"delta", "--delta COLS, and gpustat again for what it prints"},
	{"rank", "--rank COLS, and gpustat again for what it prints"},
	{"dense_rank", "--rank-dense COLS, and gpustat again for what it prints"},
	{"percent_rank", "--percent-rank COLS, and gpustat again for what it prints"},
	{"ntile", "--ntile COLS:4, and gpustat again for what it prints"},
	{"row_number", "--row-number, and gpustat again for what it prints"},
	{"cumsum", "--cumsum COLS, and gpustat again for what it prints"},
	{"datediff", "end - start, in seconds"},
	{"date_diff", "end - start, in seconds"},
	{"timediff", "end - start, in seconds"},
	{"dateadd", "t + \"1 day\""},
	{"date_add", "t + \"1 day\""},
	{"date_part", "hour(t), month(t) and the like"},
	{"datepart", "hour(t), month(t) and the like"},
	{"date_format", "format(time, \"%F %H:00\")"},
	{"to_char", "format(time, \"%F %H:00\")"},
	{"to_date", "time(t, \"%d.%m.%Y\")"},
	{"str_to_date", "time(t, \"%d.%m.%Y\")"},
	{"parse_date", "time(t, \"%d.%m.%Y\")"},
	{"to_timestamp", "from_epoch(n)"},
	{"now", "the time in quotes, which the shell writes: \"'$(date -Is)'\""},
	{"today", "the day in quotes, which the shell writes: \"'$(date -I)'\""},
	{"from_unixtime", "from_epoch(n)"},
	{"unix_timestamp", "epoch(t)"},
};

/* Says what a function that is none may mean. */
static bool fail_unknown(struct parser *p, const struct token *name, const char *nearest)
{
	const char *remedy = NULL;

	fail(p, name->begin, "no function of this name");
	for (size_t i = 0; i < COUNT(foreign_functions); i++)
		if (token_is_word(name, p->text, foreign_functions[i].name))
			remedy = foreign_functions[i].remedy;
	snprintf(p->fault->remedy, sizeof p->fault->remedy, "%s%sgpustat --help expr, which lists them",
		 remedy ? remedy : nearest ? nearest : "", remedy ? ", or " : nearest ? "(), or " : "");
	return false;
}

/* The name was read; the token is the parenthesis. */
static bool parse_call(struct parser *p, const struct token *name, struct operand *out)
{
	const struct aggregate_name *aggregate =
		find_aggregate(p->context->aggregates, p->text, name, p->token.begin, p->context->names);
	struct nearest nearest = nearest_begin(p->text + name->begin, name->nbytes);

	if (aggregate)
		return parse_aggregate(p, aggregate, name, out);
	for (size_t i = 0; i < COUNT(functions); i++) {
		const struct function *f = &functions[i];
		if (is_called(p->text, name, f->name)) {
			advance(p);
			if (f->parse(p, f, out) && take(p, TOKEN_CLOSE, "')'"))
				return true;
			if (token_is_word(name, p->text, "date_trunc") && !*p->fault->remedy)
				strcpy(p->fault->remedy, "trunc(time, \"hour\")");
			return false;
		}
		nearest_offer(&nearest, f->name);
	}
	return fail_unknown(p, name, nearest.name);
}

/* ---- operators ---- */

static bool parse_factor(struct parser *p, struct operand *out);

static bool parse_parentheses(struct parser *p, struct operand *out)
{
	size_t begin = p->token.begin;

	advance(p);
	if (!parse_expression(p, out))
		return false;
	if (out->type != TYPE_TRUTH)
		out->begin = begin;
	if (p->token.kind != TOKEN_CLOSE)
		return unexpected_word(p, out->type == TYPE_TRUTH ? "')', 'and' or 'or'" : "')'");
	advance(p);
	return true;
}

/* Negates a number, and its text, which long numbers are compared with. */
static bool negate_number(struct parser *p, struct step *step)
{
	char *to = literal_room(p, step->literal_nbytes + (size_t)1), *begin = to;
	const char *text = p->program->literals + step->literal_begin;
	const size_t nsign = *text == '-' || *text == '+';

	if (!to)
		return false;
	if (*text != '-')
		*to++ = '-';
	memcpy(to, text + nsign, step->literal_nbytes - nsign);
	step->literal_begin = (uint32_t)p->program->nliteral_bytes;
	step->literal_nbytes = (uint32_t)((size_t)(to - begin) + step->literal_nbytes - nsign);
	step->number.significand *= -1;
	p->program->nliteral_bytes += step->literal_nbytes;
	return true;
}

static bool parse_negation(struct parser *p, struct operand *out)
{
	advance(p);
	if (!parse_factor(p, out) || !want_number(p, out))
		return false;
	out->type = TYPE_NUMBER;
	if (last_step(p)->code == STEP_NUMBER && out->first + 1 == p->program->nsteps)
		return negate_number(p, last_step(p));
	return add_step(p, (struct step){.code = STEP_NEGATE, .nvalues = 1, .at = (uint32_t)out->begin});
}

static bool parse_value(struct parser *p, struct operand *out)
{
	const struct token token = p->token;

	switch (token.kind) {
	case TOKEN_NUMBER:
		out->type = TYPE_NUMBER;
		return parse_number(p);
	case TOKEN_STRING:
		out->type = TYPE_TEXT;
		return parse_string(p);
	case TOKEN_OPEN:
		return parse_parentheses(p, out);
	case TOKEN_MINUS:
		return parse_negation(p, out);
	case TOKEN_COLUMN:
		advance(p);
		if (token_is_word(&token, p->text, "case") && is_case(p))
			return parse_case(p, out);
		if (p->token.kind == TOKEN_OPEN && p->text[token.begin] != '`')
			return parse_call(p, &token, out);
		return add_column(p, &token);
	case TOKEN_MISSING:
		advance(p);
		out->is_missing = true;
		return add_missing(p, token.begin);
	case TOKEN_AND:
	case TOKEN_OR:
	case TOKEN_NOT:
	case TOKEN_IS:
		if (token_in_name(p->text[token.begin]))
			return fail(p, token.begin, "expected " A_VALUE "; a column of this name is written `%.*s`", (int)token.nbytes,
				    p->text + token.begin);
		/* fall through */
	default:
		return unexpected(p, A_VALUE);
	}
}

static bool parse_factor(struct parser *p, struct operand *out)
{
	*out = (struct operand){.begin = p->token.begin, .first = p->program->nsteps};
	if (!enter(p) || !parse_value(p, out))
		return false;
	p->nlevels--;
	return true;
}

/* An operand of an operator. Other languages join texts by +. */
static bool want_term(struct parser *p, enum step_code code, struct operand *x)
{
	if (code == STEP_ADD && x->type == TYPE_TEXT)
		return fail(p, x->begin, "a number is needed, not a text: a || b joins texts");
	if (want_number(p, x))
		return true;
	if (code == STEP_SUBTRACT && x->type == TYPE_TEXT)
		snprintf(p->fault->remedy, sizeof p->fault->remedy,
			 "time(a) - \"1h30m\", time(text_max(a)) - \"1 day\"");
	return false;
}

/* Puts a step behind those before `at`. */
static bool insert_step(struct parser *p, size_t at, struct step step)
{
	struct step *steps;

	if (!add_step(p, step))
		return false;
	steps = p->program->steps;
	memmove(steps + at + 1, steps + at, (p->program->nsteps - 1 - at) * sizeof *steps);
	steps[at] = step;
	return true;
}

/* Makes a literal significand x 10^-scale. Returns false if memory ran out. */
static bool set_number(struct parser *p, struct step *literal, int128 significand, int scale)
{
	char *to = literal_room(p, DECIMAL_TEXT_NBYTES);

	if (!to)
		return false;
	literal->literal_begin = (uint32_t)p->program->nliteral_bytes;
	literal->literal_nbytes = (uint32_t)decimal_format(significand, scale, to);
	p->program->nliteral_bytes += literal->literal_nbytes;
	literal->is_long = decimal_parse(to, literal->literal_nbytes, &literal->number) != DECIMAL_NUMBER;
	literal->code = literal->is_long ? STEP_LITERAL : STEP_NUMBER;
	return true;
}

/* Makes a value of steps [x->first, end), which is a time or its text, its epoch seconds. */
static bool to_epoch(struct parser *p, struct operand *x, size_t end)
{
	static const struct time_zone utc;
	struct step *step = &p->program->steps[x->first];
	struct time_reader times;
	struct instant instant;
	int128 seconds;
	int scale;

	if (x->is_epoch)
		return true;
	if (x->type == TYPE_NUMBER || x->type == TYPE_TRUTH)
		return fail(p, x->begin, "a time is needed here: \"2024-05-01T10:15:00Z\", time(), from_epoch()");
	x->type = TYPE_NUMBER;
	x->is_epoch = true;
	use_column(p, x->first, end, LOAD_VALUE);
	if (!is_literal(p, x->first, end))
		return insert_step(p, end,
				   (struct step){.code = STEP_EPOCH,
						 .nvalues = 1,
						 .index = p->context->is_time,
						 .at = (uint32_t)x->begin});
	time_reader_init(&times, p->context->zone ? p->context->zone : &utc);
	if (!time_read(&times, p->program->literals + step->literal_begin, step->literal_nbytes, &instant))
		return fail(p, x->begin, "not a time: \"2024-05-01\", \"2024-05-01T10:15:00Z\"");
	scale = time_to_epoch(&instant, &seconds);
	return set_number(p, step, seconds, scale) || no_memory(p);
}

/* A time and a text, "1h30m" or "2 months", which is the last step: adds or subtracts the duration that it is. */
static bool shift_time(struct parser *p, enum step_code code, struct operand *a)
{
	const struct number_notation notation = {.decimal = '.', .durations = true};
	struct step literal = *last_step(p);
	const char *text = p->program->literals + literal.literal_begin;
	char plain[64 + NOTATION_ROOM];
	struct time_unit unit;
	size_t nbytes;

	p->program->nsteps--;
	if (time_unit_read(text, literal.literal_nbytes, &unit) && unit.months > 0 && a->type != TYPE_NUMBER) {
		a->type = TYPE_TIME;
		use_column(p, a->first, p->program->nsteps, LOAD_VALUE);
		return (set_number(p, &literal, code == STEP_ADD ? unit.months : -unit.months, 0) || no_memory(p)) && add_step(p, literal) && add_step(p, (struct step){.code = STEP_ADD_MONTHS, .nvalues = 2, .at = literal.at});
	}
	nbytes = literal.literal_nbytes > 64 ? 0 : notation_to_plain(&notation, text, literal.literal_nbytes, plain);
	if (nbytes == 0 || decimal_parse(plain, nbytes, &literal.number) != DECIMAL_NUMBER)
		return fail(p, literal.at, "a number is needed, not a text%s",
			    code == STEP_ADD ? ": a || b joins texts" : "");
	if (!set_number(p, &literal, literal.number.significand, literal.number.scale))
		return no_memory(p);
	if (!to_epoch(p, a, p->program->nsteps) || !add_step(p, literal) ||
	    !add_step(p, (struct step){.code = (uint8_t)code, .nvalues = 2, .at = literal.at}) ||
	    !add_step(p, (struct step){.code = STEP_FROM_EPOCH, .nvalues = 1, .at = literal.at}))
		return false;
	a->type = TYPE_TIME;
	a->is_epoch = false;
	return true;
}

/* Adds or subtracts where a side is a time: time + seconds, time - seconds, time - time. */
static bool apply_to_times(struct parser *p, struct step step, struct operand *a, struct operand *b)
{
	const bool is_difference = step.code == STEP_SUBTRACT && b->type != TYPE_NUMBER;
	const size_t before = p->program->nsteps;

	if ((!is_difference && !want_number(p, b)) || !to_epoch(p, a, b->first))
		return false;
	b->first += p->program->nsteps - before;
	if ((is_difference && !to_epoch(p, b, p->program->nsteps)) || !add_step(p, step))
		return false;
	a->type = is_difference ? TYPE_NUMBER : TYPE_TIME;
	a->is_epoch = false;
	return is_difference || add_step(p, (struct step){.code = STEP_FROM_EPOCH, .nvalues = 1, .at = step.at});
}

/* Applies an operator to a and the value that follows. */
static bool apply(struct parser *p, enum step_code code, struct operand *a, parse_function *parse)
{
	const bool is_sum = code == STEP_ADD || code == STEP_SUBTRACT, is_text = a->type == TYPE_TEXT || a->type == TYPE_TIME;
	struct step step = {.code = (uint8_t)code, .nvalues = 2, .at = (uint32_t)p->token.begin};
	struct operand b;

	advance(p);
	if (code == STEP_SUBTRACT && a->type == TYPE_TEXT && is_literal(p, a->first, p->program->nsteps) &&
	    time_form_of(p->program->literals + last_step(p)->literal_begin, last_step(p)->literal_nbytes) != TIME_NONE)
		a->type = TYPE_TIME; /* "2024-05-01" - t */
	if ((!(is_sum && is_text) && !want_term(p, code, a)) || !parse(p, &b))
		return false;
	if (is_sum && (is_text || a->type == TYPE_ANY) && b.type == TYPE_TEXT && is_literal(p, b.first, p->program->nsteps) && !is_literal(p, a->first, b.first)) {
		const struct step *literal = last_step(p);
		if (time_form_of(p->program->literals + literal->literal_begin, literal->literal_nbytes) == TIME_NONE)
			return shift_time(p, code, a);
		b.type = TYPE_TIME;
	}
	if (is_sum && (a->type == TYPE_TIME || (b.type == TYPE_TIME && code == STEP_SUBTRACT)))
		return apply_to_times(p, step, a, &b);
	if ((is_text && !want_term(p, code, a)) || !want_term(p, code, &b))
		return false;
	a->type = TYPE_NUMBER;
	return add_step(p, step);
}

static bool parse_product(struct parser *p, struct operand *out)
{
	if (!parse_factor(p, out))
		return false;
	for (;;) {
		enum step_code code = p->token.kind == TOKEN_STAR ? STEP_MULTIPLY : p->token.kind == TOKEN_SLASH ? STEP_DIVIDE : STEP_MOD;
		if (code == STEP_MOD && p->token.kind != TOKEN_PERCENT)
			return true;
		if (!apply(p, code, out, parse_factor))
			return false;
	}
}

/* After a value the sign of a number, +1, is an operator. */
static void split_sign(struct parser *p)
{
	struct token *t = &p->token;
	char first = p->text[t->begin];

	if (t->kind != TOKEN_NUMBER || (first != '+' && first != '-'))
		return;
	t->kind = first == '+' ? TOKEN_PLUS : TOKEN_MINUS;
	t->nbytes = 1;
}

static bool parse_sum(struct parser *p, struct operand *out)
{
	if (!parse_product(p, out))
		return false;
	for (split_sign(p); p->token.kind == TOKEN_PLUS || p->token.kind == TOKEN_MINUS; split_sign(p)) {
		if (token_is_date(p->text, p->token.begin))
			return fail(p, p->token.begin, "a date is text: write it in quotes");
		if (!apply(p, p->token.kind == TOKEN_PLUS ? STEP_ADD : STEP_SUBTRACT, out, parse_product))
			return false;
	}
	return true;
}

/* Whether the token is ||, which joins texts after a value, and is `or` after a condition. */
static bool is_bars(const struct parser *p)
{
	return p->token.kind == TOKEN_OR && p->text[p->token.begin] == '|';
}

enum or_sign { OR_UNKNOWN, OR_OF_TEXTS, OR_OF_CONDITIONS };

/* Whether the || after a comparison is `or`, as before another condition: a = "x" || b = "y". What
 * follows is compiled to see that, once for each sign: conditions within each other would take 2^n
 * times else. */
static bool is_or(struct parser *p)
{
	const struct program saved = *p->program;
	const struct token token = p->token;
	const int level = p->or_level;
	struct operand x;

	if (p->or_level == p->nlevels) /* a comparison, whatever follows */
		return true;
	if (!p->or_signs && !(p->or_signs = calloc(strlen(p->text) + 1, 1)))
		return no_memory(p);
	if (p->or_signs[token.begin] == OR_UNKNOWN) {
		advance(p);
		p->or_level = p->nlevels;
		if (!parse_not(p, &x))
			return false;
		p->or_level = level;
		p->or_signs[token.begin] = x.type == TYPE_TRUTH ? OR_OF_CONDITIONS : OR_OF_TEXTS;
		take_back(p->program, &saved);
		p->token = token;
	}
	return p->or_signs[token.begin] == OR_OF_CONDITIONS;
}

/* Joins texts by ||; is_compared: they are the right side of a comparison. */
static bool parse_texts(struct parser *p, struct operand *out, bool is_compared)
{
	struct step join = {
		.code = STEP_CONCAT, .index = 1, .nvalues = 1, .at = (uint32_t)p->token.begin};
	struct operand x;

	if (!parse_sum(p, out))
		return false;
	while (out->type != TYPE_TRUTH && is_bars(p) && !(is_compared && is_or(p))) {
		if (p->status != STATUS_OK || (join.nvalues == 1 && !want_kind(p, 't', out)))
			return false;
		out->type = TYPE_TEXT;
		advance(p);
		if (!parse_sum(p, &x))
			return false;
		if (x.type == TYPE_TRUTH)
			return fail(p, x.begin,
				    "|| joins two texts, or two conditions: before it is a value, "
				    "and this is a condition");
		if (!want_kind(p, 't', &x))
			return false;
		if (join.nvalues++ == PROGRAM_NVALUES_MAX)
			return fail(p, x.begin, "too many texts at once: use several --let");
	}
	return p->status == STATUS_OK && (join.nvalues == 1 || add_step(p, join));
}

static bool parse_joined(struct parser *p, struct operand *out)
{
	return parse_texts(p, out, false);
}

/* ---- comparisons ---- */

/* Returns the orders of (b, a) from those of (a, b). */
static unsigned mirrored(unsigned accepts)
{
	return (accepts & ORDER_EQUAL) | (accepts & ORDER_LESS ? ORDER_GREATER : 0u) | (accepts & ORDER_GREATER ? ORDER_LESS : 0u);
}

static unsigned complement_if(bool negated, unsigned accepts)
{
	return negated ? accepts ^ ORDER_ANY : accepts;
}

static bool add_test(struct parser *p, struct step test)
{
	test.nvalues = (uint8_t)(step_nleft(&test) + step_nright(&test));
	return add_step(p, test);
}

/* Moves the literal of the left side after the steps of the right side. */
static void exchange(struct parser *p, struct operand *left, struct operand *right)
{
	struct step *first = &p->program->steps[left->first], literal = *first;
	struct operand swapped = *left;

	memmove(first, first + 1, (p->program->nsteps - right->first) * sizeof *first);
	*last_step(p) = literal;
	*left = *right;
	left->first = swapped.first;
	*right = swapped;
	right->first = p->program->nsteps - 1;
}

/* Compares times, by their seconds. */
static bool compare_times(struct parser *p, struct operand left, struct operand right, unsigned accepts, bool keeps)
{
	const size_t before = p->program->nsteps;

	if (keeps && !left.is_epoch)
		return fail(p, left.begin, "times are compared with times: time(column)");
	if (!to_epoch(p, &left, right.first))
		return false;
	right.first += p->program->nsteps - before;
	if (!to_epoch(p, &right, p->program->nsteps))
		return false;
	left.is_epoch = false;
	return compare(p, left, right, accepts, keeps);
}

/* Takes the division away that a side of a comparison, whose steps end at `end`, ends with. Returns
 * whether there is one. */
static bool take_division(struct parser *p, size_t end)
{
	struct step *steps = p->program->steps;

	if (steps[end - 1].code != STEP_DIVIDE)
		return false;
	memmove(steps + end - 1, steps + end, (p->program->nsteps - end) * sizeof *steps);
	p->program->nsteps--;
	return true;
}

/* Compares left with right, which is the last operand. keeps: left's value stays. */
static bool compare(struct parser *p, struct operand left, struct operand right, unsigned accepts, bool keeps)
{
	struct step test = {.accepts = (uint8_t)accepts, .keeps = keeps, .right = NO_COLUMN, .at = (uint32_t)right.begin};
	const bool is_value = want_value(p, &right), is_left_literal = !keeps && is_literal(p, left.first, right.first),
		   is_right_literal = is_literal(p, right.first, p->program->nsteps);
	size_t left_end = keeps ? left.end : right.first;

	if (!is_value)
		return false;
	if (left.type == TYPE_TIME || left.is_epoch || right.type == TYPE_TIME)
		return compare_times(p, left, right, accepts, keeps);
	if (is_left_literal && is_right_literal)
		return fail(p, left.begin, "neither side of this comparison is a column%s",
			    left.type == TYPE_TEXT || right.type == TYPE_TEXT ? ": `NAME` is one, \"NAME\" a text" : "");
	if (is_left_literal) {
		exchange(p, &left, &right);
		test.accepts = (uint8_t)mirrored(accepts);
		left_end = right.first;
	}
	test.left = use_column(p, left.first, left_end, LOAD_TEST);
	if (is_left_literal || is_right_literal) {
		const struct step *literal = last_step(p);
		test.code = right.type == TYPE_TEXT ? STEP_ORDER_TEXT : STEP_ORDER_NUMBER;
		test.index = right.type == TYPE_TEXT ? 0 : p->program->norders++;
		test.is_long = literal->is_long;
		test.is_quoted = literal->is_quoted;
		test.literal_begin = literal->literal_begin;
		test.literal_nbytes = literal->literal_nbytes;
		test.number = literal->number;
		p->program->nsteps--;
		if (test.literal_nbytes == 0)
			return fail(p, right.begin, "an empty field is missing: write 'is missing'");
	} else {
		bool are_texts = (left.type == TYPE_TEXT || right.type == TYPE_TEXT) && left.type != TYPE_NUMBER &&
				 right.type != TYPE_NUMBER;
		test.code = are_texts ? STEP_ORDER_TEXT : STEP_ORDER_NUMBERS;
		test.of_two = true;
		test.index = left.type == TYPE_ANY && right.type == TYPE_ANY;
		test.right = use_column(p, right.first, p->program->nsteps, LOAD_TEST);
		if (!are_texts && take_division(p, p->program->nsteps))
			test.quotients |= QUOTIENT_RIGHT;
	}
	if (keeps ? left.is_quotient
		  : test.code != STEP_ORDER_TEXT && take_division(p, left_end))
		test.quotients |= QUOTIENT_LEFT;
	return add_test(p, test);
}

/* left = right, and the other signs */
static bool parse_compare(struct parser *p, const struct operand *left)
{
	unsigned accepts = p->token.accepts;
	struct operand right;

	advance(p);
	return parse_texts(p, &right, true) && compare(p, *left, right, accepts, false);
}

/* Adds a test of one value, which has the step's literal. */
static bool test_value(struct parser *p, const struct operand *left, enum step_code code, bool negated, struct step test)
{
	unsigned accepts = code == STEP_IS_MISSING ? ORDER_LESS : ORDER_EQUAL;

	test.code = (uint8_t)code;
	test.accepts = (uint8_t)complement_if(negated, accepts);
	test.left = use_column(p, left->first, p->program->nsteps, LOAD_TEST);
	test.right = NO_COLUMN;
	return add_test(p, test);
}

/* is missing, is not number, ... */
static bool parse_is(struct parser *p, const struct operand *left)
{
	bool negated = false;

	advance(p);
	if (p->token.kind == TOKEN_NOT) {
		negated = true;
		advance(p);
	}
	if (takes_word(p, "number"))
		return test_value(p, left, STEP_IS_NUMBER, negated, (struct step){0});
	return (takes_word(p, "null") || take(p, TOKEN_MISSING, "'missing', 'number' or 'not'")) &&
	       test_value(p, left, STEP_IS_MISSING, negated, (struct step){0});
}

/* Compares left, whose value stays, with what is parsed next. is_last: nothing more belongs to the
 * comparison. */
static bool compare_next(struct parser *p, const struct operand *left, unsigned accepts,
			 bool is_last)
{
	struct operand value;

	return parse_texts(p, &value, is_last) && compare(p, *left, value, accepts, true);
}

/* Begins the next part of a chain of `and` or `or`. *last: the step that did so before, which this one refers to until
 * close_chain; NO_COLUMN: none did. */
static bool open_part(struct parser *p, enum step_code then, uint32_t *last)
{
	if (!add_step(p, (struct step){.code = (uint8_t)then, .index = *last}))
		return false;
	*last = (uint32_t)p->program->nsteps - 1;
	return true;
}

/* Has the steps that begin parts of a chain go to its end. */
static void close_chain(struct parser *p, uint32_t last)
{
	while (last != NO_COLUMN) {
		struct step *then = &p->program->steps[last];
		uint32_t before = then->index;
		then->index = (uint32_t)p->program->nsteps - last;
		last = before;
	}
}

/* in (1, 2): = 1 or = 2 */
static bool parse_in(struct parser *p, const struct operand *left)
{
	uint32_t last = NO_COLUMN;

	if (!take(p, TOKEN_OPEN, "'(' and a list of values after 'in'") ||
	    !compare_next(p, left, ORDER_EQUAL, false))
		return false;
	while (p->token.kind == TOKEN_COMMA) {
		advance(p);
		if (!open_part(p, STEP_OR_THEN, &last) ||
		    !compare_next(p, left, ORDER_EQUAL, false) ||
		    !add_step(p, (struct step){.code = STEP_OR}))
			return false;
	}
	close_chain(p, last);
	if (p->token.kind != TOKEN_CLOSE)
		return unexpected_word(p, "',' or ')'");
	advance(p);
	return true;
}

/* between a and b: >= a and <= b */
static bool parse_between(struct parser *p, const struct operand *left)
{
	uint32_t last = NO_COLUMN;

	if (!compare_next(p, left, ORDER_GREATER | ORDER_EQUAL, false) ||
	    !take(p, TOKEN_AND, "'and': between LEAST and GREATEST") ||
	    !open_part(p, STEP_AND_THEN, &last) ||
	    !compare_next(p, left, ORDER_LESS | ORDER_EQUAL, true) ||
	    !add_step(p, (struct step){.code = STEP_AND}))
		return false;
	close_chain(p, last);
	return true;
}

/* Whether a text has another one, the last operand, in it, or begins or ends with it. */
static bool test_part(struct parser *p, const struct operand *left, struct operand *part, enum step_code code)
{
	struct step test = {.code = (uint8_t)code, .accepts = ORDER_EQUAL, .of_two = true, .at = (uint32_t)part->begin};
	const struct step *literal = last_step(p);

	if (!want_value(p, part))
		return false;
	if (!is_literal(p, part->first, p->program->nsteps)) {
		test.left = use_column(p, left->first, part->first, LOAD_TEST);
		test.right = use_column(p, part->first, p->program->nsteps, LOAD_TEST);
		return add_test(p, test);
	}
	test.of_two = false;
	test.literal_begin = literal->literal_begin;
	test.literal_nbytes = literal->literal_nbytes;
	p->program->nsteps--;
	if (test.literal_nbytes == 0)
		return fail(p, part->begin, "an empty text is in every value");
	return test_value(p, left, code, false, test);
}

/* contains "x", and the like; the token is the one after the word */
static bool parse_part_of(struct parser *p, const struct operand *left, enum step_code code)
{
	struct operand part;

	if (code != STEP_CONTAINS && !takes_word(p, "with"))
		return unexpected(p, code == STEP_STARTS ? "'with' after 'starts'" : "'with' after 'ends'");
	return parse_texts(p, &part, true) && test_part(p, left, &part, code);
}

/* The code of the test for a pattern, or for the text that it stands for, which becomes its literal. */
static enum step_code plain_code(struct parser *p, struct step *test)
{
	static const enum step_code codes[] = {STEP_MATCH, STEP_CONTAINS, STEP_STARTS, STEP_ENDS, STEP_ORDER_TEXT};
	size_t begin, end;
	enum pattern_plain plain = pattern_plain(p->program->literals + test->literal_begin, test->literal_nbytes, &begin, &end);

	test->is_quoted = false; /* nobody takes a pattern for a name */
	if (plain != PATTERN_NOT_PLAIN) {
		test->literal_begin += (uint32_t)begin;
		test->literal_nbytes = (uint32_t)(end - begin);
	}
	return codes[plain];
}

/* Replaces the pattern of `like`, the step's literal, by a regular expression: % is any text, _ any character, and a backslash
 * takes the meaning of what follows it. */
static bool translate_like(struct parser *p, struct step *test, bool ignores_case)
{
	char *to = literal_room(p, 2 * (size_t)test->literal_nbytes + 8), *begin = to;
	const char *text = p->program->literals + test->literal_begin, *end = text + test->literal_nbytes;
	bool is_open = false; /* after a % */

	if (!to)
		return false;
	if (ignores_case)
		to = stpcpy(to, "(?i)");
	if (text == end || *text != '%')
		*to++ = '^';
	for (const char *c = text; c < end; c++) {
		const bool is_end = (c == text || c + 1 == end) && !ignores_case; /* so it is plain */
		is_open = *c == '%';
		if (is_open) {
			to = is_end ? to : stpcpy(to, ".*");
		} else if (*c == '_') {
			*to++ = '.';
		} else {
			c += *c == '\\' && c + 1 < end;
			if (strchr("\\^$.|?*+()[]{}", *c) && *c)
				*to++ = '\\';
			*to++ = *c;
		}
	}
	if (!is_open)
		*to++ = '$';
	test->literal_begin = (uint32_t)p->program->nliteral_bytes;
	test->literal_nbytes = (uint32_t)(to - begin);
	p->program->nliteral_bytes += test->literal_nbytes;
	return true;
}

/* like "a%", ilike "a%"; the token is the one after the word */
static bool parse_like(struct parser *p, const struct operand *left, bool ignores_case)
{
	struct step test = {.at = (uint32_t)p->token.begin};

	if (!parse_constant(p, &test))
		return false;
	if (test.literal_nbytes == 0)
		return fail(p, test.at, "an empty field is missing: write 'is missing'");
	return translate_like(p, &test, ignores_case) && add_pattern(p, &test, &test.index, test.at, false) &&
	       test_value(p, left, plain_code(p, &test), false, test);
}

/* ~ "regex", !~ "regex" */
static bool parse_match(struct parser *p, const struct operand *left)
{
	bool negated = p->token.accepts != ORDER_EQUAL;
	struct step test = {.at = (uint32_t)p->token.begin};

	advance(p);
	if (!compile_pattern(p, &test, &test.index))
		return false;
	return test_value(p, left, plain_code(p, &test), negated, test);
}

/* The comparisons that begin with a word; if there is none, *out stays a value. */
static bool parse_word(struct parser *p, struct operand *out)
{
	const bool negated = p->token.kind == TOKEN_NOT;
	const struct comparison_word *found = (negated ? advance(p) : (void)0, find_comparison(p));

	if (!found)
		return !negated || unexpected(p, "'in', 'between', 'like', 'contains', 'starts' or 'ends'");
	if (is_literal(p, out->first, p->program->nsteps))
		return fail(p, out->begin, "not a column: a comparison with a word after it begins with one");
	advance(p);
	if (out->type == TYPE_TIME && (found->code == STEP_OR || found->code == STEP_AND) &&
	    !to_epoch(p, out, p->program->nsteps))
		return false;
	out->is_quotient = found->code >= STEP_AND && take_division(p, p->program->nsteps);
	out->end = p->program->nsteps;
	if (found->code >= STEP_AND) {
		if (!(found->code == STEP_OR ? parse_in(p, out) : parse_between(p, out)) ||
		    !add_step(p, (struct step){.code = STEP_DROP,
					       .nvalues = out->is_quotient ? 2 : 1}))
			return false;
	} else if (!(found->code == STEP_MATCH ? parse_like(p, out, *found->word == 'i')
					       : parse_part_of(p, out, found->code))) {
		return false;
	}
	if (negated)
		negate(p, out->first);
	out->type = TYPE_TRUTH;
	out->is_epoch = false;
	return true;
}

static bool parse_comparison(struct parser *p, struct operand *out)
{
	const size_t sign = (parse_joined(p, out), p->token.begin);
	const enum token_kind kind = p->token.kind;
	bool is_constant;

	if (p->status != STATUS_OK)
		return false;
	is_constant = is_literal(p, out->first, p->program->nsteps);
	if ((kind == TOKEN_IS || kind == TOKEN_MATCH || kind == TOKEN_COMPARE) && !want_value(p, out))
		return false;
	if (kind == TOKEN_COMPARE) {
		if (!parse_compare(p, out))
			return false;
	} else if (kind == TOKEN_IS) {
		if (is_constant)
			return fail(p, out->begin, "only a column can be missing, or a number");
		if (!parse_is(p, out))
			return false;
	} else if (kind == TOKEN_MATCH) {
		if (is_constant)
			return fail(p, out->begin, "only a column matches a regular expression");
		if (!parse_match(p, out))
			return false;
	} else if (out->type == TYPE_TRUTH || !parse_word(p, out) || out->type != TYPE_TRUTH) {
		return p->status == STATUS_OK;
	}
	out->type = TYPE_TRUTH;
	out->begin = sign;
	if (p->token.kind == TOKEN_COMPARE || p->token.kind == TOKEN_IS || p->token.kind == TOKEN_MATCH)
		return fail(p, p->token.begin, "comparisons do not chain: join them with 'and'");
	return true;
}

/* ---- and, or, not ---- */

static bool parse_not(struct parser *p, struct operand *out)
{
	bool negated = false, is_condition = p->token.kind == TOKEN_NOT;
	size_t first = p->program->nsteps;

	for (; p->token.kind == TOKEN_NOT; advance(p))
		negated = !negated;
	if (!parse_comparison(p, out) || (is_condition && !want_truth(p, out)))
		return false;
	if (negated)
		negate(p, first);
	return true;
}

static bool parse_chain(struct parser *p, struct operand *out, enum token_kind sign, enum step_code then, enum step_code join,
			parse_function *parse)
{
	uint32_t last = NO_COLUMN;
	struct operand next;

	if (!parse(p, out))
		return false;
	while (p->token.kind == sign) {
		if (!want_truth(p, out))
			return false;
		advance(p);
		if (!open_part(p, then, &last) || !parse(p, &next) || !want_truth(p, &next) ||
		    !add_step(p, (struct step){.code = (uint8_t)join}))
			return false;
	}
	close_chain(p, last);
	return true;
}

static bool parse_and(struct parser *p, struct operand *out)
{
	return parse_chain(p, out, TOKEN_AND, STEP_AND_THEN, STEP_AND, parse_not);
}

static bool parse_expression(struct parser *p, struct operand *out)
{
	return parse_chain(p, out, TOKEN_OR, STEP_OR_THEN, STEP_OR, parse_and);
}

/* ---- the whole ---- */

/* NAME = */
static bool parse_name(struct parser *p)
{
	const struct token name = p->token;
	const char *text = p->text + name.begin;

	if (name.kind != TOKEN_COLUMN || *text == ':')
		return unexpected(p, "the new column's name: NAME = EXPR");
	p->program->name = strndup(text, name.nbytes);
	if (!p->program->name)
		return no_memory(p);
	p->program->is_named = true;
	if (*text == '`')
		p->program->name[token_unquote(text, name.nbytes, p->program->name)] = '\0';
	advance(p);
	if (p->token.kind != TOKEN_COMPARE || p->token.nbytes != 1 || p->token.accepts != ORDER_EQUAL)
		return unexpected(p, "'=' after the new column's name");
	advance(p);
	return true;
}

/* Whether the token and the one after it are NAME =. */
static bool is_name(const struct parser *p)
{
	const struct token next = token_at(p->text, p->token.begin + p->token.nbytes, p->context->names);

	return p->token.kind == TOKEN_COLUMN && next.kind == TOKEN_COMPARE && next.nbytes == 1 && next.accepts == ORDER_EQUAL;
}

static bool parse_all(struct parser *p)
{
	const bool is_unnamed = p->context->of_results && !strcmp(p->option, "sort"), is_column = is_unnamed || !strcmp(p->option, "agg") || is_in_list(p);
	const bool is_let = is_column || !strcmp(p->option, "let");
	struct operand x;

	advance(p);
	if (is_column && (is_unnamed || !is_name(p))) {
		p->program->name = strdup(p->text);
		if (!p->program->name)
			return no_memory(p);
	} else if (is_let && !parse_name(p)) {
		return false;
	}
	if (!is_let && p->token.kind == TOKEN_END)
		return fail(p, 0, "the expression is empty");
	if (!parse_expression(p, &x) || !(is_let ? want_value(p, &x) : want_truth(p, &x)))
		return false;
	if (p->context->is_time && x.type != TYPE_NUMBER && !to_epoch(p, &x, p->program->nsteps))
		return false;
	p->program->type = x.type == TYPE_TIME ? TYPE_TEXT : x.type;
	if (p->token.kind == TOKEN_CLOSE)
		return fail(p, p->token.begin, "no parenthesis is open here");
	if (p->token.kind != TOKEN_END)
		return unexpected_word(p, is_let ? "an operator or the end" : "'and', 'or' or the end");
	return is_let || p->program->names.nselectors > 0 || fail(p, 0, "no column is in this condition");
}

/* Makes a literal a raw field. */
static bool quote_literal(struct parser *p, struct step *step)
{
	const struct csv_dialect *d = p->context->dialect;
	struct program *program = p->program;
	char *field = literal_room(p, field_nbytes_max(step->literal_nbytes)), *text = program->literals + step->literal_begin;
	size_t nbytes;

	if (!field)
		return false;
	for (size_t i = 0; step->is_long && i < step->literal_nbytes; i++)
		text[i] = text[i] == '.' ? p->context->decimal : text[i];
	nbytes = field_write(d, text, step->literal_nbytes, field);
	if (nbytes == step->literal_nbytes)
		return true;
	if (nbytes == SIZE_MAX)
		return fail(p, step->at, "a text with a delimiter or a quote in it cannot be written in this input%s",
			    d->quote || d->whitespace ? "" : " without --escape");
	step->literal_begin = (uint32_t)program->nliteral_bytes;
	step->literal_nbytes = (uint32_t)nbytes;
	program->nliteral_bytes += nbytes;
	return true;
}

void program_balance(const struct step *step, int *nvalues, int *ntruths)
{
	*nvalues += (step->code < STEP_ORDER_NUMBERS) + (int)step_nkept(step) - step->nvalues;
	*ntruths += step_is_test(step) - (step->code == STEP_AND || step->code == STEP_OR || step->code == STEP_IF);
}

/* Measures the stacks, and makes fields of literals. */
static bool finish(struct parser *p)
{
	struct program *program = p->program;
	int nvalues = 0, ntruths = 0;

	for (struct step *step = program->steps; step < program->steps + program->nsteps; step++) {
		if (step->code == STEP_LITERAL && !quote_literal(p, step))
			return false;
		program_balance(step, &nvalues, &ntruths);
		if (nvalues > PROGRAM_NVALUES_MAX)
			return fail(p, step->at, "too many values at once: use several --let");
		program->nvalues = (uint32_t)nvalues > program->nvalues ? (uint32_t)nvalues : program->nvalues;
		program->ntruths = (uint32_t)ntruths > program->ntruths ? (uint32_t)ntruths : program->ntruths;
		program->computes |= step->quotients ||
				     (step->code < STEP_ORDER_NUMBERS && step->code != STEP_LOAD);
	}
	program->fields = calloc(program->names.nselectors + 1, sizeof *program->fields);
	program->columns = calloc(program->names.nselectors + 1, sizeof *program->columns);
	return (program->fields && program->columns) || no_memory(p);
}

enum status program_compile(struct program *program, const char *option, const char *text, const struct program_context *context,
			    struct fault *fault)
{
	struct parser p = {.program = program, .context = context, .option = option, .text = text, .fault = fault,
			   .or_level = -1};

	memset(program, 0, sizeof *program);
	if (strlen(text) > PROGRAM_NBYTES_MAX || !literal_room(&p, 1))
		return STATUS_NO_MEMORY;
	if (parse_all(&p))
		finish(&p);
	free(p.or_signs);
	return p.status;
}

/* ---- its columns ---- */

/* Like selector_resolve, but :N is a position even if a column has that name. */
static enum status resolve(const struct selector *s, char *const *names, size_t nfields, uint32_t *field, struct fault *fault)
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

/* The column with which the program compares column i, or NO_COLUMN. */
static uint32_t compared_with(const struct program *p, uint32_t i)
{
	for (const struct step *step = p->steps; step < p->steps + p->nsteps; step++)
		if (step->code == STEP_ORDER_NUMBERS && (step->left == i || step->right == i))
			return step->left == i ? step->right : step->left;
	return NO_COLUMN;
}

/* Says how text is written if column i, which is unknown, is compared with one that is known. */
static void suggest_quotes(const struct program *p, uint32_t i, char *const *names, size_t nfields, struct fault *fault)
{
	const struct selector *s = &p->names.selectors[i];
	uint32_t other = compared_with(p, i), field;
	struct fault ignored;

	if (!s->quoted && !strcasecmp(s->text, "null"))
		snprintf(fault->remedy, sizeof fault->remedy,
			 "'is missing' in a condition, and missing as a value");
	else if (!s->quoted && *s->text != ':' && other != NO_COLUMN &&
		 resolve(&p->names.selectors[other], names, nfields, &field, &ignored) == STATUS_OK)
		snprintf(fault->remedy, sizeof fault->remedy, "\"%.64s\": text is written in quotes", s->text);
}

enum status program_resolve(struct program *p, char *const *names, size_t nfields, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < p->names.nselectors; i++) {
		status = resolve(&p->names.selectors[i], names, nfields, &p->fields[i], fault);
		if (status == STATUS_UNKNOWN_COLUMN)
			suggest_quotes(p, (uint32_t)i, names, nfields, fault);
	}
	return status;
}

void program_free(struct program *p)
{
	for (size_t i = 0; i < p->npatterns; i++)
		pattern_free(p->patterns[i]);
	free(p->patterns);
	free(p->steps);
	free(p->literals);
	free(p->columns);
	free(p->fields);
	free(p->name);
	selection_free(&p->names);
	memset(p, 0, sizeof *p);
}

bool program_has(const struct program *p, enum step_code code)
{
	for (size_t i = 0; i < p->nsteps; i++)
		if (p->steps[i].code == code)
			return true;
	return false;
}
