/* SPDX-License-Identifier: MIT
 *
 * query.c - makes a query: see query.h. In this order: what the options say is parsed, the first records are read, what is
 * asked of each field is noted as a demand, and the demands become the plan.
 */
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "csv/record.h"
#include "csv/word_layout.h"
#include "query/option_table.h"
#include "lang/select.h"

#define FEW_SELECTORS 16
#define MATRIX_COLUMNS_MAX 1000 /* a thread takes up to 0.4 KiB a pair: 200 MB */

/* What is asked of one field. */
struct demand {
	bool selected;        /* at all */
	unsigned needs;       /* the moments that operations need; 0: only a condition reads it */
	bool number;          /* named in COLS of an operation that needs numbers */
	bool counts_text;     /* named in COLS of an operation that takes text */
	bool star;            /* included by '*' */
	bool is_key;          /* named by --by */
	bool is_over;         /* named by --over: '*' leaves it out */
	bool is_sorted;       /* named by --sort, or what tells whether a record is among the first of some */
	bool is_dropped;      /* named by --drop */
	size_t column;        /* its place in the plan */
};

/* A field that a list names. */
struct listed_field {
	uint32_t field;
	size_t selector; /* which of the list's names it */
};

/* The state of making a query. */
struct making {
	struct query *q;
	struct options *options;
	struct input *input;          /* NULL: the query has its header */
	struct selection *selections; /* one an operation, --by's, and one for each --rename */
	size_t nselections, keys_selection; /* keys_selection: --by's */
	const struct selector **all; /* nall: those of these, then of conditions and of computed columns; owned */
	size_t nall;
	struct demand *demands;       /* by field */
	size_t ndemands;
	struct demand *let_demands;   /* of computed columns */
	size_t nkeys, keys_capacity;
	uint32_t *keys;               /* fields, as --by names them. Owned. */
	struct listed_field *listed;  /* by list_fields; owned */
	size_t nlisted;
	size_t nby; /* of the keys' selectors: those before that of --pivot */
	size_t sort_selection, unique_selection; /* --sort's, of records; --unique's */
	bool is_timed, over_is_column; /* there are windows by time; --over is a column, and no
					  expression, or it is not given */
	size_t over_let; /* the computed column of their times, unless a column has them in seconds
			  */
	size_t over;     /* the field or computed column that has */
	bool *descend;                /* ... and whether each of its selectors is descending; owned */
	size_t ndescend;
	uint32_t use;                 /* of the options: what is asked just now */
	struct name_index index; /* if there are many selectors */
	struct name_index first; /* the input's names, as far as they are known */
	struct signed_names names; /* of these those with signs; its array owned */
	size_t nfirst;
	bool waits_for_names;    /* the first record has not been read: an expression may mean its names */
	bool needs_names;        /* and one does, or it is an error */
	bool found_star;         /* '*' has found a column */
	struct fault *fault;
};

const struct csv_dialect finished_dialect = {.delimiter = ',', .quote = '"'};

/* ---- what the options say ---- */

/* Compiles an expression of an option. Where names may mend an error, and the first record has not been read, the error is
 * left until it has been: the program is empty until then. of_results: it is one of finishers. */
static enum status compile(struct making *m, struct program *p, const char *option, const char *text, bool of_results)
{
	const struct options *o = m->options;
	const char *reads_once = of_results ? NULL : o->partial ? "partial" : o->save_state ? "save-state" : o->from_state ? "from-state" : NULL;
	const struct program_context context = {&m->names,
						of_results ? &finished_dialect : &o->dialect,
						o->notation.decimal,
						of_results ? result_names : aggregate_names,
						&o->zone,
						of_results,
						reads_once,
						!strcmp(option, "over")};
	enum status status = program_compile(p, option, text, &context, m->fault);

	if (status != STATUS_USAGE || !p->may_be_name || !m->waits_for_names)
		return status;
	m->needs_names = true;
	program_free(p);
	return STATUS_OK;
}

static enum status parse_let(struct making *m, const char *text)
{
	struct query *q = m->q;
	struct program *let = ARRAY_ADD(q->lets, q->ncomputed);

	NEED(let);
	TRY(compile(m, let, "let", text, false));
	if (!let->name) /* the error is reported when names are known */
		return STATUS_OK;
	q->ncomputed = ++q->nlets;
	for (size_t i = 0; i + 1 < q->nlets; i++)
		if (!strcmp(q->lets[i].name, let->name))
			return option_fault(m->fault, "--let: there are two new columns '%.64s'", let->name);
	return STATUS_OK;
}

static enum status parse_rename(struct making *m, const struct new_name *given, struct rename *rename)
{
	struct selection *of = ARRAY_ADD(m->selections, m->nselections);
	enum status status;

	NEED(of);
	m->nselections++;
	status = selection_parse(given->old, of, m->fault);
	rename->name = given->name;
	rename->old = strdup(status == STATUS_OK && of->nselectors == 1 ? of->selectors[0].text : given->old);
	return rename->old ? status : STATUS_NO_MEMORY;
}

/* ---- columns, and expressions in their place ---- */

enum list_kind {
	LIST_COLUMNS,
	LIST_PAIRS,
	LIST_KEYS,   /* --by */
	LIST_SIGNED, /* --sort: each item may have a minus before it */
};

/* A list of columns that is parsed. */
struct column_list {
	const char *option, *text; /* the option's name; what it was given */
	enum list_kind kind;
	struct selection *to;
};

/* The input's name i. */
static const char *first_name(const struct making *m, size_t i)
{
	const struct header *h = &m->q->header;

	return m->input ? h->record[0].values[i].text : h->names[i];
}

/* Whether a text is a name of the input, or of a column of --let. */
static bool is_name(const struct making *m, const char *text)
{
	size_t n;

	for (size_t k = 0; k < m->q->nlets; k++)
		if (!strcmp(text, m->q->lets[k].name))
			return true;
	return name_index_find(&m->first, text, &n) != NULL;
}

/* Whether an item is a column whatever names there are: it is in quotes, or a position, or has no sign. */
static bool is_plain_item(const char *item)
{
	const char *c = item;
	struct field_range range;

	if (*item == '"') {
		while (*++c)
			if (*c == '"' && *++c != '"') /* a doubled one does not end it */
				return !*c;
		return false;
	}
	while (token_in_name(*c))
		c++;
	return !*c || selector_by_position(&(struct selector){.text = (char *)(uintptr_t)item}, 0, &range);
}

/* Returns the first such sign, a comma or a colon, that is outside quotes and parentheses and does not begin a position; the text's
 * end if there is none, NULL if a parenthesis or a quote is not closed. Any other byte that begins no token belongs to a name, and so
 * does a quote right behind an operand, as in 12" disk. */
static const char *find_sign(const struct making *m, const char *text, char sign)
{
	struct token token = {0};
	bool follows_operand = false;
	int depth = 0;

	do {
		token = token_at(text, token.begin + token.nbytes, &m->names);
		if (text[token.begin] == ':' && (follows_operand || token.kind == TOKEN_BAD)) {
			token.nbytes = 1;
			token.kind = TOKEN_COMMA;
		}
		const bool is_quote = token.kind != TOKEN_END && strchr("\"'`", text[token.begin]);
		const bool is_within = is_quote && follows_operand && !decimal_is_blank(text[token.begin - 1]);
		if (token.kind == TOKEN_BAD && is_quote && !is_within)
			return NULL;
		if (token.kind == TOKEN_BAD || is_within) {
			token.nbytes = 1;
			token.kind = TOKEN_COLUMN;
		}
		depth += (token.kind == TOKEN_OPEN) - (token.kind == TOKEN_CLOSE);
		follows_operand = token.kind == TOKEN_COLUMN || token.kind == TOKEN_NUMBER || token.kind == TOKEN_STRING ||
				  token.kind == TOKEN_CLOSE;
	} while (token.kind != TOKEN_END && !(token.kind == TOKEN_COMMA && text[token.begin] == sign && depth <= 0));
	return depth == 0 ? text + token.begin : NULL;
}

/* Whether an item that compiles, but has a column that is unknown, is probably the name of one: temp-max, p/e. */
static bool is_unknown_name(const struct making *m, const struct program *p, const char *item)
{
	struct field_range range;
	size_t nknown = 0;

	for (size_t i = 0; i < p->names.nselectors; i++)
		nknown += is_name(m, p->names.selectors[i].text) || selector_by_position(&p->names.selectors[i], 0, &range);
	if (!name_is_signed(item) || nknown == p->names.nselectors)
		return false;
	return !strpbrk(item, "+*/") || (nknown == 0 && !program_has(p, STEP_NUMBER));
}

/* Whether an expression is called as a column that is not in it: status=500 may be meant as a comparison. */
static bool is_called_as_other(const struct making *m, const struct program *p)
{
	for (size_t i = 0; i < p->names.nselectors; i++)
		if (!strcmp(p->names.selectors[i].text, p->name))
			return false;
	return is_name(m, p->name);
}

/* Whether the input has a name that is nearly the item, and could be no expression. */
static bool is_nearly_name(const struct making *m, const char *item)
{
	struct nearest nearest = nearest_begin(item, strlen(item));

	for (size_t i = 0; i < m->nfirst; i++)
		if (first_name(m, i) && !is_plain_item(first_name(m, i)))
			nearest_offer(&nearest, first_name(m, i));
	return nearest.name != NULL;
}

static enum status add_item(struct selection *to, const char *item, uint32_t computed)
{
	struct selector *s = ARRAY_ADD(to->selectors, to->nselectors);

	NEED(s);
	s->text = strdup(item);
	s->computed = computed;
	to->nselectors++;
	return s->text ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Whether a text is what trunc() takes: a unit, or digits and one. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"second", "minute", "hour", "day", "week", "month", "quarter", "year"};
	const size_t ndigits = strspn(text, "0123456789");

	for (size_t i = 0; ndigits == 0 && i < sizeof units / sizeof *units; i++)
		if (!strcmp(text, units[i]))
			return true;
	return ndigits > 0 && text[ndigits] && strspn(text + ndigits, "abcdefghijklmnopqrstuvwxyz") == strlen(text + ndigits);
}

/* Appends a name in backquotes. to: room for 2 * its length + 3. Returns the end. */
static char *append_name(char *to, const char *name)
{
	*to++ = '`';
	for (; *name; name++) {
		*to++ = *name;
		if (*name == '`')
			*to++ = '`';
	}
	return stpcpy(to, "`");
}

/* Appends a column to an expression: a position, 3, :3 or col3, as one, unless it is_quoted, and any other as a name. */
static char *append_column(char *to, const char *item, bool is_quoted)
{
	const char *digits = item + (strncmp(item, "col", 3) ? *item == ':' : 3);

	if (is_quoted || !*digits || digits[strspn(digits, "0123456789")])
		return append_name(to, item);
	return stpcpy(stpcpy(to, digits == item ? ":" : ""), item);
}

/* Writes the expression that an item COL:WIDTH or COL:UNIT stands for to `to`, of 3 * nbytes + 34: bin(COL, WIDTH), trunc(COL, "UNIT").
 * Returns false for any other item. */
static bool write_short_form(const char *item, size_t nbytes, char *to)
{
	const char *colon = strrchr(item, ':');
	char *name = to + 2 * nbytes + 32;
	struct decimal width;
	bool is_number;

	if (!colon || colon == item)
		return false;
	is_number = decimal_parse(colon + 1, strlen(colon + 1), &width) == DECIMAL_NUMBER;
	if ((!is_number && !is_unit(colon + 1)) || (*item == '"' && selector_unquote(item, name) != colon))
		return false;
	if (*item != '"')
		strcpy(mempcpy(name, item, (size_t)(colon - item)), "");
	to = append_column(stpcpy(to, is_number ? "bin(" : "trunc("), name, *item == '"');
	sprintf(to, is_number ? ", %s)" : ", \"%s\")", colon + 1);
	return true;
}

static bool has_aggregate(const struct program *p)
{
	for (size_t i = 0; i < p->names.nselectors; i++)
		if (p->names.selectors[i].is_aggregate)
			return true;
	return false;
}

/* Returns the computed column of an earlier item with the same text, counted from 1, or 0. */
static uint32_t find_same(const struct making *m, const char *item)
{
	for (const struct selection *list = m->selections; list < m->selections + m->nselections; list++)
		for (const struct selector *s = list->selectors; s < list->selectors + list->nselectors; s++)
			if (s->computed && !strcmp(s->text, item))
				return s->computed;
	return 0;
}

/* Puts words before the first sign of an item, "avg ms = seconds", in backquotes. to: for two bytes more. False: there are none. */
static bool quote_words(const char *item, char *to)
{
	const char *sign = strchr(item, '='), *end = sign;

	if (!sign || sign[1] == '=')
		return false;
	while (end > item && decimal_is_blank(end[-1]))
		end--;
	if (strcspn(item, "()+*/%<>!\"'`&|~") < (size_t)(end - item) || !memchr(item, ' ', (size_t)(end - item)))
		return false;
	sprintf(to, "`%.*s`%s", (int)(end - item), item, sign);
	return true;
}

/* Compiles an item. What is no expression may be one with a name of several words. */
static enum status compile_item(struct making *m, struct program *p, const char *option, const char *item)
{
	enum status status = compile(m, p, option, item, false);
	const struct fault fault = *m->fault;
	const size_t error_offset = p->error_offset;
	char *text;

	if (status != STATUS_USAGE)
		return status;
	NEED(text = malloc(strlen(item) + 3));
	if (quote_words(item, text)) {
		program_free(p);
		status = compile(m, p, option, text, false);
		*m->fault = status == STATUS_USAGE ? fault : *m->fault;
		p->error_offset = error_offset;
	}
	free(text);
	return status;
}

/* Adds an item that may be an expression: it is a computed column then, which no name means. A name with signs whose parts are no
 * columns, or with blanks alone, is a column that is unknown. */
static enum status add_expression(struct making *m, const struct column_list *list, const char *item)
{
	struct query *q = m->q;
	struct program *p = ARRAY_ADD(q->lets, q->ncomputed);
	const size_t nbytes = strlen(item);
	const uint32_t same = find_same(m, item);
	char *text = malloc(3 * nbytes + 34);
	enum status status = STATUS_OK;
	bool is_short, is_column;

	NEED(p && text);
	if (same) {
		free(text);
		return add_item(list->to, item, same);
	}
	is_short = list->kind == LIST_KEYS && write_short_form(item, nbytes, text);
	status = compile_item(m, p, list->option, is_short ? text : item);
	is_column = status == STATUS_USAGE ? (p->error_offset < nbytes && !strpbrk(item, "(=\"'`")) || is_nearly_name(m, item)
					   : is_unknown_name(m, p, item);
	free(text);
	if (status == STATUS_OK && is_short) {
		free(p->name);
		NEED(p->name = strdup(item));
	}
	q->ncomputed += status == STATUS_OK && !is_column;
	if (status == STATUS_OK && !is_column && is_called_as_other(m, p))
		return option_fault(m->fault, "--%s: there is a column '%.64s' already: NAME=EXPR gives a new name, and == compares",
				    list->option, p->name);
	if (status == STATUS_OK && !is_column && has_aggregate(p) && !m->options->aggregates)
		return option_fault(m->fault, "--%s: there is no column '%.64s': --let 'NAME=%.64s' makes one of an aggregate", list->option,
				    item, item);
	if (status == STATUS_OK && !is_column)
		return add_item(list->to, item, (uint32_t)q->ncomputed);
	program_free(p);
	return is_column ? add_item(list->to, item, 0) : status;
}

/* Returns the computed column of --by that is called so, counted from 1, or 0. */
static uint32_t find_key(const struct making *m, const char *name)
{
	const struct selection *keys = &m->selections[m->keys_selection];

	for (size_t i = 0; m->options->by && i < keys->nselectors; i++)
		if (keys->selectors[i].computed && !strcmp(m->q->lets[keys->selectors[i].computed - 1].name, name))
			return keys->selectors[i].computed;
	return 0;
}

/* Cuts off the blanks at a text's end. Returns what follows those at its beginning. */
static char *trim(char *text)
{
	size_t nbytes = strlen(text);

	while (nbytes > 0 && decimal_is_blank(text[nbytes - 1]))
		text[--nbytes] = '\0';
	return text + strspn(text, " \t");
}

/* Adds an item, which is NUL-terminated: a column if that is its name, or else an expression. Until names are known, what may be
 * one is taken for one. */
static enum status add_column(struct making *m, const struct column_list *list, char *item)
{
	if (list->kind == LIST_SIGNED && !is_name(m, item) && find_key(m, item))
		return add_item(list->to, item, find_key(m, item));
	if (*item && is_plain_item(item))
		return selection_parse(item, list->to, m->fault);
	if (*item && is_name(m, item))
		return add_item(list->to, item, 0);
	item = trim(item);
	if (!*item)
		return option_fault(m->fault, "'%.128s' is not a list of columns: an item is empty", list->text);
	if (is_plain_item(item))
		return selection_parse(item, list->to, m->fault);
	m->needs_names |= m->waits_for_names;
	return m->waits_for_names || is_name(m, item) ? add_item(list->to, item, 0) : add_expression(m, list, item);
}

/* What speaks for a text as one side of a pair. 2: it names a column; 1: it is a position; 0: nothing. */
static int side_worth(const struct making *m, const char *text)
{
	const struct selector s = {.text = (char *)(uintptr_t)text};
	struct field_range range;

	return !selector_is_position(&s) && is_name(m, text) ? 2 : selector_by_position(&s, 0, &range);
}

/* Sets *out to the best of several colons between two columns, a name or a position each, where names win over positions; NULL: none. */
static enum status choose_colon(struct making *m, char *item, char **out)
{
	int best = 0;
	bool several = false;

	*out = NULL;
	for (char *colon = strchr(item + 1, ':'); colon && colon[1]; colon = strchr(colon + 1, ':')) {
		*colon = '\0';
		int first = side_worth(m, item), second = side_worth(m, colon + 1);
		*colon = ':';
		if (!first || !second || first + second < best)
			continue;
		several = first + second == best;
		best = first + second;
		*out = colon;
	}
	if (several)
		return option_fault(m->fault, "'%.64s' is a pair of columns in several ways: put names in quotes, \"a:b\":c", item);
	return STATUS_OK;
}

/* Whether a text is a pair of columns that are known. */
static bool has_colon(struct making *m, char *item)
{
	char *colon = NULL;

	return *item && *item != '"' && choose_colon(m, item, &colon) == STATUS_OK && colon;
}

/* Returns the colon before the second column of a pair, or NULL. */
static char *find_colon(const struct making *m, char *item)
{
	const char *sign = find_sign(m, item, ':');

	for (char *quoted = strstr(item, ":\""); quoted && *item != '"'; quoted = strstr(quoted + 1, ":\""))
		if (quoted > item && is_plain_item(quoted + 1))
			return quoted;
	if (sign && sign > item && *sign)
		return item + (sign - item);
	return *item == '"' ? NULL : strchr(item + 1, ':');
}

/* Adds both columns of a pair. */
static enum status add_pair_of(struct making *m, const struct column_list *list, char *item)
{
	char *colon = NULL;

	if (*item && *item != '"')
		TRY(choose_colon(m, item, &colon));
	if (*item && !colon)
		colon = find_colon(m, item);
	if (!colon || !colon[1])
		return option_fault(m->fault, "'%.128s' is not a list of pairs of columns: x:y", list->text);
	m->needs_names |= m->waits_for_names && strchr(item + 1, ':') != strrchr(item, ':');
	*colon = '\0';
	TRY(add_column(m, list, item));
	return add_column(m, list, colon + 1);
}

/* Skips the minus before an item. Returns whether it is there, and no part of a name. */
static bool skip_minus(const struct making *m, const char **p)
{
	const char *begin = *p + strspn(*p, " \t");
	char *item = strndup(*p, strcspn(*p, ","));
	const bool is_there = item && *begin == '-' && !is_name(m, item);

	free(item);
	*p = is_there ? begin + 1 : *p;
	return is_there;
}

/* Returns the item at *p, to be freed, and moves *p to its end: a comma that is not within quotes or parentheses, unless what ends at
 * an earlier one is a name. NULL: no memory. */
static char *cut_item(struct making *m, const char **p, bool in_pairs)
{
	size_t nbytes = strcspn(*p, ",");
	char *item = strndup(*p, nbytes);

	if (item && !(in_pairs ? has_colon(m, item) : is_plain_item(item) || is_name(m, item))) {
		const char *comma = find_sign(m, *p, ',');
		if (comma && comma != *p + nbytes) {
			nbytes = (size_t)(comma - *p);
			free(item);
			item = strndup(*p, nbytes);
		}
	}
	*p += nbytes;
	return item;
}

/* Adds the columns of a list. */
static enum status parse_columns(struct making *m, const struct column_list *list)
{
	const bool has_signs = list->kind == LIST_SIGNED, in_pairs = list->kind == LIST_PAIRS;

	m->ndescend *= !has_signs;
	for (const char *p = list->text;; p++) {
		const bool descends = has_signs && skip_minus(m, &p);
		char *item = cut_item(m, &p, in_pairs);
		enum status status;
		NEED(item);
		status = in_pairs ? add_pair_of(m, list, item) : add_column(m, list, item);
		free(item);
		while (status == STATUS_OK && has_signs && m->ndescend < list->to->nselectors)
			status = ARRAY_PUSH(m->descend, m->ndescend, descends);
		if (status != STATUS_OK || !*p)
			return status;
	}
}

/* Makes the next selection of a list; text: NULL: of none. */
static enum status parse_list(struct making *m, const char *option, const char *text, enum list_kind kind)
{
	struct selection *to = ARRAY_ADD(m->selections, m->nselections);

	NEED(to);
	m->nselections++;
	return text ? parse_columns(m, &(struct column_list){option, text, kind, to}) : STATUS_OK;
}

/* ---- the times of windows ---- */

/* Compiles --over as a computed column: without it, until the first record is known, of the first
 * column. */
static enum status parse_over(struct making *m)
{
	struct query *q = m->q;
	struct program *p = ARRAY_ADD(q->lets, q->ncomputed);
	struct selection column = {0, NULL};
	const char *item = m->options->over ? m->options->over : ":1", *text = item;
	char *of_column = NULL;
	enum status status = STATUS_OK;

	NEED(p);
	m->over_is_column = *item && (is_plain_item(item) || is_name(m, item));
	if (m->over_is_column && *item == '"')
		status = selection_parse(item, &column, m->fault);
	if (m->over_is_column && status == STATUS_OK) {
		item = column.nselectors ? column.selectors[0].text : item;
		NEED(text = of_column = malloc(2 * strlen(item) + 4));
		append_column(of_column, item, column.nselectors > 0);
	}
	m->needs_names |= m->waits_for_names && !m->over_is_column;
	if (status == STATUS_OK)
		status = compile(m, p, "over", text, false);
	if (status == STATUS_OK && p->name) {
		free(p->name);
		p->name = strdup(item);
		status = p->name ? STATUS_OK : STATUS_NO_MEMORY;
		m->over_let = q->ncomputed++;
	}
	selection_free(&column);
	free(of_column);
	return status;
}

/* ---- what is computed of results ---- */

/* Adds the column that an aggregate is of, or makes one of its argument, as --let does. */
static enum status add_argument(struct making *m, struct selection *of, const char *argument)
{
	struct query *q = m->q;
	const size_t nbytes = strlen(argument);
	const struct token token = token_at(argument, 0, &m->names);
	char *text = malloc(3 * nbytes + 4);
	struct program *p = ARRAY_ADD(q->lets, q->ncomputed);
	const uint32_t same = strchr(argument, '=') ? 0 : find_same(m, argument); /* a = 1 is NAME=EXPR there */
	enum status status;

	NEED(text && p);
	if (same) {
		free(text);
		return add_item(of, argument, same);
	}
	if (is_name(m, argument) || (token.kind == TOKEN_COLUMN && token.nbytes == nbytes)) {
		strcpy(text, argument);
		if (*text == '`')
			text[token_unquote(argument, nbytes, text)] = '\0';
		status = add_item(of, text, 0);
		if (status == STATUS_OK)
			of->selectors[0].quoted = *argument == '`' || token.is_signed;
		free(text);
		return status;
	}
	strcpy(stpcpy(append_name(text, argument), "="), argument);
	status = compile(m, p, "let", text, false);
	free(text);
	if (status == STATUS_OK && p->name) /* else its names are not known yet */
		return add_item(of, argument, (uint32_t)++q->ncomputed);
	program_free(p);
	return status;
}

/* Adds a result that a finisher looks up, sum(x), unless it is there. */
static enum status add_hidden(struct making *m, const char *text)
{
	struct query *q = m->q;
	const char *records = operation_title(OPERATION_COUNT_RECORDS), *argument;
	size_t nbefore, nbytes = aggregate_argument(text, &argument, &nbefore), n = q->nhidden;
	struct operation_use *use;
	enum status status;
	char *copy;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(q->hidden[i], text))
			return STATUS_OK;
	NEED(use = ARRAY_ADD(q->uses, q->nuses + n));
	TRY(ARRAY_PUSH(q->hidden, q->nhidden, strdup(text)));
	NEED(q->hidden[n]);
	TRY(parse_list(m, NULL, NULL, LIST_COLUMNS));
	if (nbytes == 0)
		return operation_use_of(use, records, strlen(records), m->fault);
	TRY(operation_use_of(use, text, nbefore, m->fault));
	NEED(copy = strndup(argument, nbytes));
	status = add_argument(m, &m->selections[m->nselections - 1], copy);
	free(copy);
	return status;
}

/* Compiles an item of --sort, which may be the name of a result and no expression: the program is empty then. */
static enum status compile_sort_item(struct making *m, struct program *p, const char *text)
{
	struct fault *fault = m->fault, ignored;
	enum status status;

	m->fault = &ignored;
	status = compile(m, p, "sort", text, true);
	m->fault = fault;
	if (status == STATUS_USAGE)
		program_free(p);
	return status == STATUS_USAGE ? STATUS_OK : status;
}

/* Takes the next item of --sort of groups: its text without its sign, the blanks around it and, where it is a name in quotes, these. */
static enum status cut_sort_item(struct making *m, const char **p, struct sort_item *item)
{
	struct selection name = {0, NULL};
	char *text;

	item->is_descending = skip_minus(m, p);
	*p += strspn(*p, " \t");
	NEED(item->text = cut_item(m, p, false));
	text = trim(item->text);
	if (*text != '"' || !is_plain_item(text))
		return STATUS_OK;
	TRY(selection_parse(text, &name, m->fault));
	strcpy(text, name.selectors[0].text);
	item->is_quoted = true;
	selection_free(&name);
	return STATUS_OK;
}

/* Whether a name means what groups have that are only counted: their count, or a column of --by, by its name or its place. */
static bool names_count(const struct making *m, const struct selector *s)
{
	const struct selection *keys = &m->selections[m->keys_selection];
	struct field_range key, field = {0, 0, false};
	size_t n;
	const struct name_entry *named = name_index_find(&m->first, s->text, &n);
	const bool has_field = named || selector_by_position(s, FIELD_LIMIT, &field);

	if (named)
		field.first = field.last = named->field;
	if (s->is_aggregate || !strcmp(s->text, "count") || !strcmp(s->text, operation_name(OPERATION_COUNT_RECORDS)) ||
	    !strcmp(s->text, operation_title(OPERATION_COUNT_RECORDS)) || find_key(m, s->text))
		return true;
	for (const struct selector *k = keys->selectors; k < keys->selectors + keys->nselectors; k++) {
		if (!strcmp(k->text, s->text))
			return true;
		if (k->computed || !has_field || field.star)
			continue;
		named = name_index_find(&m->first, k->text, &n);
		if (named)
			key.first = key.last = named->field;
		else if (!selector_by_position(k, FIELD_LIMIT, &key))
			continue;
		if (key.first <= field.first && field.last <= key.last)
			return true;
	}
	return false;
}

/* Whether all that --sort names is of groups that are counted. */
static enum status sorts_counts(struct making *m, bool *counts)
{
	enum status status = STATUS_OK;

	*counts = true;
	for (const char *p = m->options->sort; status == STATUS_OK && *counts; p++) {
		struct sort_item item = {.text = NULL};
		struct program program = {.nsteps = 0};
		status = cut_sort_item(m, &p, &item);
		if (status == STATUS_OK && !names_count(m, &(struct selector){.text = item.text, .quoted = item.is_quoted})) {
			status = item.is_quoted ? STATUS_OK : compile_sort_item(m, &program, item.text);
			*counts = program.names.nselectors > 0;
			for (size_t i = 0; i < program.names.nselectors; i++)
				*counts &= names_count(m, &program.names.selectors[i]);
			program_free(&program);
		}
		free(item.text);
		if (!*p)
			break;
	}
	return status;
}

/* Settles options that are open, once names are known. Records with --by have a meaning with an aggregate of their group, or where
 * --top takes the first ones of each. */
static enum status settle(struct making *m)
{
	struct options *o = m->options;
	bool has_aggregates = m->q->naggregates > 0, counts = true;

	if (o->merge)
		return options_settle(o, false, false, m->fault);
	if (o->sort)
		TRY(sorts_counts(m, &counts));
	has_aggregates |= !counts && o->sort && (aggregates_in(o->sort, aggregate_names, &m->names) & AGGREGATES_WITH_COLUMN);
	if (o->runs && has_aggregates)
		return option_fault(m->fault, "--runs: an aggregate in an expression of records is not of a run: give --by, or --agg for results");
	return options_settle(o, o->sort && (o->selects || has_aggregates || (!counts && o->top)), has_aggregates, m->fault);
}

static struct program *add_finisher(struct query *q)
{
	struct program *p = ARRAY_ADD(q->finishers, q->nfinishers);

	q->nfinishers += p != NULL;
	return p;
}

/* Compiles what is computed of results, and adds the results that it takes. A part of --merge has no more than was asked for. */
static enum status parse_finishers(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	struct program *p;
	size_t nasked;

	for (size_t i = 0; i < o->nuses; i++) {
		if (operation_kind(o->uses[i].operation) != OPERATION_EXPR)
			continue;
		NEED(p = add_finisher(q));
		TRY(compile(m, p, "agg", o->uses[i].argument, true));
		for (const struct program *other = q->finishers; other < p; other++)
			if (other->name && p->name && !strcmp(other->name, p->name))
				return option_fault(m->fault, "--agg: there are two results '%.64s'", p->name);
	}
	if (o->having) {
		NEED(p = add_finisher(q));
		TRY(compile(m, p, "having", o->having, true));
	}
	nasked = q->nfinishers;
	for (const char *at = o->sorts || o->is_open ? NULL : o->sort; at; at = *at ? at + 1 : NULL) {
		struct sort_item *item = ARRAY_ADD(q->sorts, q->nsorts);
		NEED(item);
		q->nsorts++;
		TRY(cut_sort_item(m, &at, item));
		NEED(p = add_finisher(q));
		if (!item->is_quoted)
			TRY(compile_sort_item(m, p, item->text));
	}
	for (size_t i = 0; i < o->nwanted; i++)
		TRY(add_hidden(m, o->wanted[i].name));
	for (size_t i = 0; i < (o->merge ? nasked : q->nfinishers); i++)
		for (size_t k = 0; k < q->finishers[i].names.nselectors; k++)
			if (q->finishers[i].names.selectors[k].is_aggregate)
				TRY(add_hidden(m, q->finishers[i].names.selectors[k].text));
	return STATUS_OK;
}

/* ---- all that is selected ---- */

/* Adds a list of columns to all that is selected, and marks its selectors that are names of the first nlets computed columns. */
static enum status add_selection(struct making *m, struct selection *list, size_t nlets)
{
	for (struct selector *s = list->selectors; s < list->selectors + list->nselectors; s++) {
		TRY(ARRAY_PUSH(m->all, m->nall, s));
		for (size_t k = 0; k < nlets && !s->computed && !s->is_aggregate; k++)
			if (!strcmp(s->text, m->q->lets[k].name))
				s->computed = (uint32_t)k + 1;
	}
	return STATUS_OK;
}

/* The type of an aggregate. */
static enum value_type aggregate_type(const char *text)
{
	size_t nbytes = strcspn(text, "(");

	for (const struct aggregate_name *a = aggregate_names; a->name; a++)
		if (strlen(a->name) == nbytes && !memcmp(a->name, text, nbytes))
			return a->type;
	return TYPE_NUMBER; /* a percentile */
}

/* Makes the aggregates of expressions computed columns, each once, after all others. */
static enum status add_aggregates(struct making *m, struct selection names) /* not a pointer: q->lets grows */
{
	struct query *q = m->q;

	for (struct selector *s = names.selectors; s < names.selectors + names.nselectors; s++) {
		size_t k = q->ncomputed - q->naggregates;
		if (!s->is_aggregate)
			continue;
		while (k < q->ncomputed && strcmp(q->lets[k].name, s->text) != 0)
			k++;
		s->computed = (uint32_t)k + 1;
		if (k < q->ncomputed)
			continue;
		NEED(ARRAY_ADD(q->lets, k));
		q->lets[k] = (struct program){.name = strdup(s->text), .type = aggregate_type(s->text), .is_aggregate = true,
					      .aggregate = q->naggregates++, .nvalues = 1};
		q->ncomputed++;
		NEED(q->lets[k].name);
	}
	return STATUS_OK;
}

/* Lists all that is selected. A computed column takes earlier ones only. */
static enum status list_selections(struct making *m)
{
	struct query *q = m->q;
	const bool has_aggregates = m->options->aggregates;

	for (size_t i = 0; i < q->nconditions && has_aggregates; i++)
		TRY(add_aggregates(m, q->conditions[i].names));
	for (size_t k = 0, nothers = q->ncomputed; k < nothers && has_aggregates; k++)
		TRY(add_aggregates(m, q->lets[k].names));
	free(m->let_demands);
	m->let_demands = calloc(q->ncomputed + 1, sizeof *m->let_demands);
	NEED(m->let_demands);
	for (size_t i = 0; i < m->nselections; i++)
		TRY(add_selection(m, &m->selections[i], q->nlets));
	for (size_t i = 0; i < q->nconditions; i++)
		TRY(add_selection(m, &q->conditions[i].names, q->nlets));
	for (size_t k = 0; k < q->ncomputed; k++)
		TRY(add_selection(m, &q->lets[k].names, k < q->nlets ? k : q->nlets));
	return STATUS_OK;
}

/* Conditions: --where's first, if it is there; then those of every --offsets. */
static enum status parse_selections(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	struct selection *keys;

	q->conditions = calloc(o->nuses + 1, sizeof *q->conditions);
	q->renames = calloc(o->nrenames + 1, sizeof *q->renames);
	NEED(q->conditions && q->renames);
	q->nuses = 0;
	for (size_t i = 0; i < o->nuses; i++)
		TRY(ARRAY_PUSH(q->uses, q->nuses, o->uses[i]));
	NEED(ARRAY_ADD(q->uses, q->nuses)); /* the summary's */
	if (o->where)
		TRY(compile(m, &q->conditions[q->nconditions++], "where", o->where, false));
	for (size_t i = 0; i < o->nuses; i++)
		if (o->uses[i].operation == OPERATION_OFFSETS)
			TRY(compile(m, &q->conditions[q->nconditions++], "offsets", o->uses[i].argument, false));
	for (size_t i = 0; i < o->nuses; i++)
		if (o->uses[i].operation == OPERATION_LET_COLUMN)
			TRY(parse_let(m, o->uses[i].argument));
	for (size_t i = 0; i < o->nuses; i++) {
		const struct operation_use *use = &o->uses[i];
		const bool in_pairs = operation_kind(use->operation) == OPERATION_PAIR && !operation_use_is_matrix(use);
		TRY(parse_list(m, use->name, operation_has_columns(use->operation) ? use->argument : NULL,
			       in_pairs ? LIST_PAIRS : LIST_COLUMNS));
	}
	m->is_timed = false;
	for (size_t i = 0; i < o->nuses; i++)
		m->is_timed |= operation_use_is_timed(&o->uses[i]);
	if (m->is_timed)
		TRY(parse_over(m));
	TRY(parse_finishers(m));
	m->keys_selection = m->nselections;
	TRY(parse_list(m, "by", o->by, LIST_KEYS));
	keys = &m->selections[m->keys_selection];
	m->nby = o->pivot == o->by ? 0 : keys->nselectors;
	if (o->pivot && o->pivot != o->by) /* the last key */
		TRY(parse_columns(m, &(struct column_list){"pivot", o->pivot, LIST_KEYS, keys}));
	m->sort_selection = m->nselections;
	TRY(parse_list(m, "sort", o->sorts && !o->is_open ? o->sort : NULL, LIST_SIGNED));
	m->unique_selection = m->nselections;
	TRY(parse_list(m, "unique", o->unique, LIST_COLUMNS));
	for (size_t i = 0; i < o->nrenames; i++)
		TRY(parse_rename(m, &o->renames[i], &q->renames[q->nrenames++]));
	return list_selections(m);
}

static void free_requests(struct query *q)
{
	for (size_t i = 0; i < q->nconditions; i++)
		program_free(&q->conditions[i]);
	for (size_t i = 0; i < q->ncomputed; i++)
		program_free(&q->lets[i]);
	for (size_t i = 0; i < q->nfinishers; i++)
		program_free(&q->finishers[i]);
	for (size_t i = 0; i < q->nsorts; i++)
		free(q->sorts[i].text);
	for (size_t i = 0; i < q->nhidden; i++) {
		free(q->hidden[i]);
		free(q->uses[q->nuses + i].typed);
	}
	free(q->conditions);
	free(q->lets);
	for (size_t i = 0; q->renames && i < q->nrenames; i++)
		free(q->renames[i].old);
	free(q->renames);
	free(q->finishers);
	free(q->sorts);
	free(q->hidden);
	free(q->uses);
	q->conditions = NULL;
	q->lets = NULL;
	q->finishers = NULL;
	q->renames = NULL;
	q->sorts = NULL;
	q->hidden = NULL;
	q->uses = NULL;
	q->nconditions = q->nlets = q->ncomputed = q->naggregates = q->nrenames = q->nfinishers = q->nsorts = q->nhidden = 0;
}

static void free_selections(struct making *m)
{
	for (size_t i = 0; i < m->nselections; i++)
		selection_free(&m->selections[i]);
	free(m->selections);
	free(m->all);
	free(m->let_demands);
	m->selections = NULL;
	m->all = NULL;
	m->let_demands = NULL;
	m->nselections = m->nall = 0;
}

/* ---- the first records ---- */

/* Whether the second record must be read too: the first may be a header, and some selector is `*`, it is the summary, or
 * a note may be due on what a condition compares. */
static bool needs_second(const struct making *m)
{
	struct field_range range;

	if (m->options->header == HEADER_NO)
		return false;
	for (size_t i = 0; i < m->nall; i++)
		if (selector_by_position(m->all[i], 0, &range) && range.star)
			return true;
	return m->q->summary || (m->is_timed && !m->options->over) || query_has_order_as_text(m->q);
}

/* Skips what stands before the first record, and reads that as q->header. */
static enum status read_first(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	bool of_words = q->plan.dialect.whitespace && o->header != HEADER_NO;
	enum status status;

	TRY(input_skip_preamble(m->input, o->nskipped_lines, q->guesses_delimiter, &q->plan.dialect, m->fault));
	status = header_read(&q->header, m->input, &q->plan, m->fault);
	q->guesses_delimiter &= q->plan.dialect.delimiter == ',';
	TRY(status);
	if (of_words)
		TRY(header_line_up(&q->header, m->input, &q->plan, m->fault));
	if (needs_second(m))
		TRY(header_read_below(&q->header, m->input, &q->plan, m->fault));
	return STATUS_OK;
}

static enum status add_signed_name(struct making *m, const char *name)
{
	return name && name_is_signed(name) ? ARRAY_PUSH(m->names.at, m->names.n, name) : STATUS_OK;
}

/* Parses what the options say again, now that names are known. */
static enum status parse_again(struct making *m)
{
	free_requests(m->q);
	free_selections(m);
	return parse_selections(m);
}

/* Parses what the options say: usage errors come before the input is read. An expression may have names with signs, those
 * of the first record, so its own come after that. */
static enum status parse(struct making *m)
{
	const struct header *h = &m->q->header;

	if (m->input) {
		m->waits_for_names = true;
		TRY(parse_selections(m));
		TRY(read_first(m));
	}
	m->nfirst = !m->input ? h->nnames : m->options->header == HEADER_NO ? 0 : h->record[0].nfields;
	for (size_t i = 0; i < m->nfirst; i++)
		TRY(add_signed_name(m, first_name(m, i)));
	m->waits_for_names = false;
	if (m->input && m->names.n == 0 && !m->needs_names && !m->options->is_open)
		return STATUS_OK;
	TRY(!m->input ? name_index_make(&m->first, h->names, sizeof *h->names, m->nfirst)
	    : m->nfirst ? first_record_index(&m->first, &h->record[0]) : STATUS_OK);
	TRY(parse_again(m));
	if (!m->options->is_open)
		return STATUS_OK;
	TRY(settle(m));
	return parse_again(m);
}

/* Names the columns of an input without records after the selectors that are names, after those
 * that are selected by number: it has every column that is asked for. */
static enum status name_blindly(struct making *m)
{
	struct header *h = &m->q->header;
	size_t nfields = 0;
	struct field_range range;

	for (size_t i = 0; i < m->nall; i++)
		if (!m->all[i]->computed && selector_by_position(m->all[i], 0, &range) && range.last >= nfields)
			nfields = (size_t)range.last + 1;
	free(h->names);
	h->nnames = nfields;
	h->names = calloc(nfields + m->nall + 1, sizeof *h->names);
	NEED(h->names);
	for (size_t i = 0; i < m->nall; i++)
		if (!m->all[i]->computed)
			TRY(header_add_name(h, m->all[i]));
	return STATUS_OK;
}

/* An input without any byte has no column of a name: what writes it may have failed. */
static enum status check_empty(const struct making *m)
{
	struct field_range range;

	for (size_t i = 0; !m->q->header.has_byte && i < m->nall; i++) {
		const struct selector *s = m->all[i];
		if (s->computed || selector_is_position(s) || selector_by_position(s, 0, &range))
			continue;
		fault_set_value(m->fault, STATUS_EMPTY, s->text, strlen(s->text));
		m->fault->file = input_name(m->input, 0);
		return STATUS_EMPTY;
	}
	return STATUS_OK;
}

/* Adds the names of the files after the first to q->header: those files are opened for that, and closed again. */
static enum status unite(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	enum status status = STATUS_OK;

	for (int i = 1; i < o->npaths && status == STATUS_OK; i++) {
		struct csv_dialect dialect = q->plan.dialect; /* read_first has found out about it */
		struct plan plan = q->plan;
		struct header h = {.nfields = 0};
		struct input *input = NULL;
		status = input_open(&input, &o->paths[i], 1, 1, m->fault);
		THEN(status, input_skip_preamble(input, o->nskipped_lines, false, &dialect,
						 m->fault));
		plan.dialect.layout = NULL;
		THEN(status, header_read(&h, input, &plan, m->fault));
		if (status == STATUS_OK && plan.dialect.whitespace && h.nfields > 0)
			status = header_line_up(&h, input, &plan, m->fault);
		THEN(status, header_unite(&q->header, &h.record[0]));
		if (status != STATUS_OK && m->fault->file)
			m->fault->file = o->paths[i]; /* the input's, which ends */
		header_free(&h);
		if (input)
			input_close(input);
	}
	q->plan.nunited = q->header.nnames;
	return status;
}

/* Decides on q->header after read_first, and takes it out of the input. Where what is wrong is one of the values of the first
 * record, or what follows it, q->header has its names, too. */
static enum status decide_header(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	struct header *h = &q->header;
	const struct header_request request = {o->header, m->all, m->nall, q->summary, o->emits};

	TRY(header_decide(h, m->input, &q->plan, &request, m->fault));
	if (o->unites && h->nfields > 0)
		TRY(unite(m));
	if (h->present || h->reason == HEADER_ALL_NUMBERS)
		TRY(file_headers_init(&q->later, h, &q->plan, o->header == HEADER_YES, m->input));
	if (h->nfields == 0) {
		TRY(name_blindly(m));
		TRY(check_empty(m));
	}
	return o->emits && needs_second(m) ? header_read_second(h, m->input, &q->plan, m->fault) : STATUS_OK;
}

static enum status find_header(struct making *m)
{
	struct header *h = &m->q->header;
	struct plan *plan = &m->q->plan;
	enum status status;

	if (!m->input)
		return h->nfields == 0 ? name_blindly(m) : STATUS_OK;
	status = decide_header(m);
	if (h->present && h->line) { /* else memory ran out */
		plan->header = h->line;
		plan->header_nbytes = h->end - h->begin;
		plan->line_below_header = h->line_number + count_lines(h->line, h->line_nbytes);
	}
	return status;
}

/* Whether --invalid skip leaves the record out because it is ragged. */
static bool is_left_out(const struct query *q, const struct options *o, const struct first_record *r)
{
	const struct ragged_rule rule = {.policy = q->plan.ragged.policy,
					 .nfields = (uint32_t)q->header.nfields,
					 .last_is_empty = q->header.ends_empty};
	uint32_t n = (uint32_t)r->nfields;
	bool ends_empty = n > 0 && r->values[n - 1].has_no_byte;

	return o->invalid == INVALID_SKIP && n > 0 && ragged_is(&rule, n, ends_empty) &&
	       !ragged_is_taken(&rule, n);
}

bool query_starts_unfit(const struct query *q, const struct options *o, uint32_t field)
{
	const struct header *h = &q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	if (field >= r->nfields || (!o->emits && is_left_out(q, o, r)))
		return o->emits;
	return !r->values[field].is_number && (o->emits || !r->values[field].is_missing);
}

/* ---- what is asked of the fields ---- */

/* What is asked of a field, made if need be. NULL: no memory. */
static struct demand *demand_of(struct making *m, size_t field)
{
	if (field >= FIELD_COMPUTED)
		return &m->let_demands[field - FIELD_COMPUTED];
	for (; m->ndemands <= field; m->ndemands++)
		if (!ARRAY_ADD(m->demands, m->ndemands))
			return NULL;
	return &m->demands[field];
}

static enum status select_field(struct making *m, size_t field)
{
	struct demand *d = demand_of(m, field);

	NEED(d);
	d->selected = true;
	return STATUS_OK;
}

static enum status select_columns(struct making *m, const struct program *p)
{
	for (size_t i = 0; i < p->names.nselectors; i++)
		TRY(select_field(m, p->fields[i]));
	return STATUS_OK;
}

/* Appends a result, or a new column. Until the plan is made, its column is the field. */
static enum status add_result(struct making *m, struct result result)
{
	result.use = m->use;
	return ARRAY_PUSH(m->q->results, m->q->nresults, result);
}

/* Asks for what operation needs of one field. star: '*' includes it. */
static enum status demand_values(struct making *m, enum operation operation, uint32_t field, bool star)
{
	struct demand *d = demand_of(m, field);

	NEED(d);
	d->selected = true;
	d->needs |= m->q->summary ? summary_needs(m->options->all) : operation_needs(operation);
	d->needs |= m->q->matrix ? MOMENT_SQUARES : 0; /* for its diagonal */
	d->star |= star;
	d->number |= star ? m->options->emits : !operation_takes_text(operation);
	d->counts_text |= operation_takes_text(operation) && !star;
	return STATUS_OK;
}

/* Asks operation of one field. */
static enum status demand_field(struct making *m, enum operation operation, uint32_t field, bool star)
{
	const struct options *o = m->options;
	bool unfit = star && query_starts_unfit(m->q, o, field);

	if (star && field < m->ndemands && (m->demands[field].is_key || m->demands[field].is_over))
		return STATUS_OK;
	if (unfit && !o->partial && !o->merge) /* a part has what may be a number in other parts */
		return STATUS_OK;
	TRY(demand_values(m, operation, field, star));
	if (unfit && !o->partial)
		return STATUS_OK;
	m->found_star |= star;
	return add_result(m, (struct result){operation, .column = field, .if_numeric = star});
}

/* The number of columns there are; 0: it is not known, since there is no record. */
static size_t ncolumns_of(const struct header *h)
{
	return h->nfields ? h->nnames : 0;
}

static enum status demand_range(struct making *m, enum operation operation, struct field_range range)
{
	size_t end = range.star ? ncolumns_of(&m->q->header) : (size_t)range.last + 1;

	m->q->star |= range.star;
	for (size_t field = range.first; field < end; field++)
		TRY(demand_field(m, operation, (uint32_t)field, range.star));
	return STATUS_OK;
}

/* In an empty input, a position is not one of the columns that name_blindly made. */
static enum status resolve(struct making *m, const struct selector *s, struct field_range *range)
{
	const struct header *h = &m->q->header;
	bool blindly = h->nfields == 0 && selector_by_position(s, 0, range);

	if (s->computed) {
		range->first = range->last = FIELD_COMPUTED + s->computed - 1;
		range->star = false;
		return STATUS_OK;
	}
	return selector_resolve(s, &m->index, h->names, blindly ? 0 : h->nnames, range, m->fault);
}

/* Asks operation of a pair of columns. */
static enum status demand_pair(struct making *m, enum operation operation, const struct selector pair[2])
{
	struct field_range sides[2];

	for (int i = 0; i < 2; i++) {
		TRY(resolve(m, &pair[i], &sides[i]));
		if (sides[i].star || sides[i].first != sides[i].last)
			return option_fault(m->fault, "--%s: '%.64s' is not one column", operation_name(operation),
					    pair[i].text);
		TRY(demand_values(m, operation, sides[i].first, false));
	}
	return add_result(m, (struct result){.operation = operation, .column = sides[0].first, .other = sides[1].first});
}

/* Prints a field, or a computed column, of the record. */
static enum status demand_print(struct making *m, uint32_t field)
{
	enum operation as = field >= FIELD_COMPUTED ? OPERATION_LET_COLUMN : OPERATION_SELECT;

	if (field >= FIELD_COMPUTED)
		TRY(demand_values(m, as, field, false));
	TRY(select_field(m, field));
	return add_result(m, (struct result){.operation = as, .column = field});
}

/* Prints the columns of --select; notes those of --drop. */
static enum status demand_fields(struct making *m, enum operation operation, struct field_range range)
{
	if (range.star)
		return option_fault(m->fault, "--%s: '*' is not a column", operation_name(operation));
	if (operation == OPERATION_DROP && range.first >= FIELD_COMPUTED + m->q->nlets)
		return option_fault(m->fault, "--drop: '%.64s' is no column of the records", m->q->lets[range.first - FIELD_COMPUTED].name);
	for (uint32_t field = range.first; field <= range.last; field++) {
		struct demand *d = demand_of(m, field);
		NEED(d);
		d->is_dropped |= operation == OPERATION_DROP;
		if (operation == OPERATION_SELECT)
			TRY(demand_print(m, field));
	}
	return STATUS_OK;
}

/* After the last --drop, prints what none of them names. */
static enum status demand_left(struct making *m)
{
	const struct options *o = m->options;
	bool is_left = m->q->header.nfields == 0; /* no record: nothing is known of its columns */

	for (size_t j = m->use + 1; j < o->nuses; j++)
		if (o->uses[j].operation == OPERATION_DROP)
			return STATUS_OK;
	for (size_t j = 0; j < o->nuses; j++) /* a new column is printed besides */
		is_left |= operation_kind(o->uses[j].operation) != OPERATION_FIELDS &&
			   operation_kind(o->uses[j].operation) != OPERATION_LET;
	for (size_t f = 0; f < m->q->header.nnames; f++)
		if (f >= m->ndemands || !m->demands[f].is_dropped) {
			TRY(demand_print(m, (uint32_t)f));
			is_left = true;
		}
	for (size_t k = 0; k < m->q->nlets; k++)
		if (!m->let_demands[k].is_dropped) {
			TRY(demand_print(m, FIELD_COMPUTED + (uint32_t)k));
			is_left = true;
		}
	if (!is_left)
		return option_fault(m->fault, "--drop: no column is left to print: --select says which are printed");
	return STATUS_OK;
}

/* nlets, nexprs: how many computed columns and results come before. */
static enum status demand_use(struct making *m, const struct operation_use *use, size_t *nlets, size_t *nexprs)
{
	const struct selection *s = &m->selections[m->use];
	enum operation operation = use->operation;
	enum operation_kind kind = operation_kind(operation);
	bool in_pairs = !m->q->matrix && kind == OPERATION_PAIR;
	struct field_range range;

	for (size_t j = 0; j < s->nselectors; j += 1 + in_pairs) {
		if (in_pairs) {
			TRY(demand_pair(m, operation, &s->selectors[j]));
			continue;
		}
		TRY(resolve(m, &s->selectors[j], &range));
		TRY(kind == OPERATION_FIELDS ? demand_fields(m, operation, range) : demand_range(m, operation, range));
	}
	if (operation == OPERATION_DROP)
		TRY(demand_left(m));
	if (kind == OPERATION_LET) {
		uint32_t field = FIELD_COMPUTED + (uint32_t)(*nlets)++;
		if (m->options->emits && !m->options->selects && !picture_is_asked(&m->options->picture))
			TRY(demand_print(m, field)); /* a computed column is printed where records are */
	} else if (!operation_has_columns(operation)) {
		m->q->plan.counts_records |= operation == OPERATION_COUNT_RECORDS;
		TRY(add_result(m, (struct result){.operation = operation, .other = kind == OPERATION_EXPR ? (uint32_t)(*nexprs)++ : 0}));
	}
	if (kind == OPERATION_TABLE && (m->q->star || m->q->nresults != 1))
		return option_fault(m->fault, "--%s: '%.64s' is not one column", operation_name(operation), use->argument);
	return STATUS_OK;
}

/* Lists the columns of a selection, which may not be all of them. purpose: what they are named for, in the message. */
static enum status list_fields(struct making *m, const struct selection *s, const char *option, const char *purpose)
{
	struct field_range range;

	m->nlisted = 0;
	for (size_t i = 0; i < s->nselectors; i++) {
		TRY(resolve(m, &s->selectors[i], &range));
		if (range.star)
			return option_fault(m->fault, "--%s: '*' is not a column: name those %s", option, purpose);
		for (uint32_t field = range.first; field <= range.last; field++) {
			TRY(select_field(m, field));
			TRY(ARRAY_PUSH(m->listed, m->nlisted, (struct listed_field){field, i}));
		}
	}
	return STATUS_OK;
}

/* Checks that --pivot, the last item of the keys, names one column. */
static enum status check_pivot(const struct making *m)
{
	const struct options *o = m->options;
	size_t n = 0;

	for (size_t i = 0; i < m->nlisted; i++)
		n += m->listed[i].selector >= m->nby;
	if (!o->pivot || n == 1)
		return STATUS_OK;
	return option_fault(m->fault, "--pivot: '%.64s' is not one column", o->pivot);
}

/* The columns of --by. */
static enum status demand_keys(struct making *m)
{
	m->nkeys = 0;
	if (!m->options->by)
		return STATUS_OK;
	TRY(list_fields(m, &m->selections[m->keys_selection], "by", "that make a group"));
	TRY(check_pivot(m));
	TRY(ARRAY_GROW(m->keys, m->keys_capacity, m->nlisted));
	for (size_t i = 0; i < m->nlisted; i++) {
		demand_of(m, m->listed[i].field)->is_key = true;
		m->keys[m->nkeys++] = m->listed[i].field;
	}
	return STATUS_OK;
}

/* The columns of --sort. */
static enum status demand_sort_keys(struct making *m)
{
	struct plan *plan = &m->q->plan;

	plan->nsort_keys = 0;
	if (!m->options->sorts)
		return STATUS_OK;
	TRY(list_fields(m, &m->selections[m->sort_selection], "sort", "to sort by"));
	for (size_t i = 0; i < m->nlisted; i++) {
		const struct plan_sort_key key = {m->listed[i].field, m->descend[m->listed[i].selector]};
		TRY(ARRAY_PUSH(plan->sort_keys, plan->nsort_keys, key));
		demand_of(m, m->listed[i].field)->is_sorted = true;
	}
	return STATUS_OK;
}

/* Which records are chosen of all; and the columns of those of which some are printed: of --unique, or of --by. */
static enum status demand_sort_groups(struct making *m)
{
	const struct options *o = m->options;
	const struct record_choice *choice = &o->choice;
	const uint64_t chosen = choice->tail ? choice->tail : choice->sample;
	const bool by = o->by && (chosen || (o->sorts && o->top));
	struct plan *plan = &m->q->plan;

	plan->nsort_groups = 0;
	plan->choice = choice->tail ? CHOICE_LAST : choice->sample ? CHOICE_SAMPLE : CHOICE_NONE;
	plan->seed = choice->seed;
	plan->top = by ? 0 : chosen ? chosen : o->sorts || o->unique ? o->top : 0;
	plan->group_top = !by ? o->unique != NULL : chosen ? chosen : o->top;
	if (by && o->runs)
		return option_fault(m->fault, "--runs: %s is of groups: give --by", !chosen ? "--top of sorted records"
				    : choice->tail ? "--tail" : "--sample");
	m->nlisted = 0;
	if (plan->group_top)
		TRY(list_fields(m, &m->selections[by ? m->keys_selection : m->unique_selection], by ? "by" : "unique",
				"that tell records apart"));
	for (size_t i = 0; i < m->nlisted; i++) {
		TRY(ARRAY_PUSH(plan->sort_groups, plan->nsort_groups, m->listed[i].field));
		demand_of(m, m->listed[i].field)->is_sorted = true;
	}
	for (size_t i = 0; i < m->nkeys && by && !o->aggregates && !o->starts_anew; i++)
		demand_of(m, m->keys[i])->is_key = false;
	m->nkeys *= !by || o->aggregates || o->starts_anew;
	return STATUS_OK;
}

/* Whether a value is a time. */
static bool is_time(const struct making *m, const struct first_value *v)
{
	struct time_reader times;
	struct instant ignored;

	time_reader_init(&times, &m->q->plan.zone);
	return !v->is_missing && time_read(&times, v->text, strlen(v->text), &ignored);
}

/* Sets *field to the only column that has a time in the first record. */
static enum status find_times(struct making *m, uint32_t *field)
{
	const struct header *h = &m->q->header;
	const struct first_record *r = &h->record[h->present ? 1 : 0];
	size_t found[2], n = 0;

	for (size_t i = 0; i < r->nfields; i++)
		if (!r->values[i].is_number && is_time(m, &r->values[i]) && n < 2)
			found[n++] = i;
	*field = n > 0 ? (uint32_t)found[0] : 0;
	if (n == 1 || r->nfields == 0) /* without a record, no column is read */
		return STATUS_OK;
	for (size_t i = 0; i < m->options->nuses; i++) {
		const struct operation_use *use = &m->options->uses[i];
		char *names[2] = {NULL, NULL};
		if (!operation_use_is_timed(use))
			continue;
		for (size_t k = 0; k < n; k++)
			names[k] = header_column_name(h, found[k]);
		option_fault(m->fault,
			     n ? "--%s %.64s%s: '%.64s' and '%.64s' both have times: say --over "
				 "%.64s, or the other one"
			       : "--%s %.64s%s: no column has a time in the first record: say "
				 "--over COL, the column of the times",
			     use->name, use->argument, use->suffix, names[0] ? names[0] : "",
			     names[1] ? names[1] : "", names[0] ? names[0] : "");
		free(names[0]);
		free(names[1]);
		break;
	}
	return STATUS_USAGE;
}

/* Finds the column of the times of windows: one of --let that has numbers, or that which is
 * computed. */
static enum status demand_times(struct making *m)
{
	struct program *let = &m->q->lets[m->over_let];
	struct demand *d;
	uint32_t field;

	if (!m->is_timed)
		return STATUS_OK;
	if (!m->options->over) {
		TRY(find_times(m, &let->fields[0]));
		free(let->name);
		NEED(let->name = header_column_name(&m->q->header, let->fields[0]));
	}
	if (let->names.nselectors == 0)
		return option_fault(m->fault, "--over: '%.64s' has no column of the records",
				    m->options->over);
	field = let->fields[0];
	m->over = FIELD_COMPUTED + m->over_let;
	if (m->over_is_column && field >= FIELD_COMPUTED &&
	    m->q->lets[field - FIELD_COMPUTED].type == TYPE_NUMBER)
		m->over = field;
	NEED(d = demand_of(m, field));
	d->is_over = true;
	NEED(d = demand_of(m, m->over));
	d->selected = d->number = true;
	d->needs |= MOMENT_COUNT;
	return STATUS_OK;
}

/* Sorts the names if that is faster than searching all of them for each selector. */
static enum status index_names(struct making *m)
{
	const struct header *h = &m->q->header;
	size_t nselectors = 0;

	for (size_t i = 0; i < m->nselections; i++)
		nselectors += m->selections[i].nselectors;
	if (nselectors <= FEW_SELECTORS || h->nfields == 0)
		return STATUS_OK;
	return name_index_make(&m->index, h->names, sizeof *h->names, h->nnames);
}

/* Finds the columns that computed columns are made of. */
static enum status resolve_lets(struct making *m)
{
	const struct header *h = &m->q->header;

	for (size_t k = 0; k < m->q->nlets; k++)
		if (header_names_column(h, m->q->lets[k].name, strlen(m->q->lets[k].name)))
			return option_fault(m->fault, "--let: the input has a column '%.64s' already", m->q->lets[k].name);
	for (struct program *let = m->q->lets; let < m->q->lets + m->q->ncomputed; let++)
		TRY(program_resolve(let, h->names, h->nnames, m->fault));
	return STATUS_OK;
}

/* Whether a name, which is no column's, may be a new column's. */
static bool is_new_heading(const struct making *m, const char *name)
{
	const struct query *q = m->q;

	for (size_t i = 0; i < q->nresults && !header_names_column(&q->header, name, strlen(name)); i++) {
		const char *title = operation_title(q->results[i].operation);
		const size_t n = strlen(title), column = q->results[i].column;
		if (operation_is_new_column(q->results[i].operation) &&
		    ((!strncmp(name, title, n) && (!name[n] || name[n] == '(')) ||
		     (column >= FIELD_COMPUTED + q->nlets && q->lets[column - FIELD_COMPUTED].is_named &&
		      !strcmp(q->lets[column - FIELD_COMPUTED].name, name))))
			return true;
	}
	return false;
}

/* Finds the one column of each OLD. */
static enum status find_renames(struct making *m)
{
	const struct options *o = m->options;
	const struct header *h = &m->q->header;
	const struct selection *s = m->selections + m->nselections - o->nrenames;

	for (size_t i = 0; i < o->nrenames && !o->emits; i++)
		m->q->renames[i].field = RENAME_HEADING;
	if (o->nrenames == 0 || !o->emits)
		return STATUS_OK;
	if (h->nfields > 0 && !h->present)
		return option_fault(m->fault, "--rename: the input has no header");
	for (size_t i = 0; i < o->nrenames; i++, s++) {
		struct rename *out = &m->q->renames[i];
		struct field_range range = {0, 0, false};
		out->field = RENAME_HEADING;
		if (is_new_heading(m, out->old))
			continue;
		if (s->nselectors == 1 && s->selectors[0].computed)
			range.first = range.last = FIELD_COMPUTED + s->selectors[0].computed - 1;
		else if (s->nselectors == 1)
			TRY(selector_resolve(&s->selectors[0], NULL, h->names, h->nnames, &range, m->fault));
		if (s->nselectors != 1 || range.star || range.first != range.last)
			return option_fault(m->fault, "--rename: '%s' is not one column", o->renames[i].old);
		out->field = range.first;
	}
	return STATUS_OK;
}

const char *query_new_name(const struct query *q, uint32_t field)
{
	for (size_t i = q->nrenames; i-- > 0;)
		if (q->renames[i].field == field)
			return q->renames[i].name;
	return NULL;
}

static enum status demand(struct making *m)
{
	struct query *q = m->q;
	size_t nlets = 0, nexprs = 0;

	TRY(index_names(m));
	TRY(resolve_lets(m));
	TRY(demand_times(m));
	TRY(demand_keys(m)); /* first: '*' leaves them out */
	TRY(demand_sort_keys(m));
	TRY(demand_sort_groups(m));
	if (q->summary && q->header.nfields) /* each column's values decide whether it is number or text */
		TRY(demand_range(m, OPERATION_SUM, (struct field_range){0, (uint32_t)ncolumns_of(&q->header) - 1, false}));
	for (m->use = 0; !q->summary && m->use < m->options->nuses; m->use++)
		TRY(demand_use(m, &q->uses[m->use], &nlets, &nexprs));
	q->nshown = q->nresults;
	for (; !q->summary && m->use < q->nuses + q->nhidden; m->use++)
		TRY(demand_use(m, &q->uses[m->use], &nlets, &nexprs));
	for (size_t i = 0; i < q->nconditions; i++) {
		TRY(program_resolve(&q->conditions[i], q->header.names, q->header.nnames, m->fault));
		TRY(select_columns(m, &q->conditions[i]));
	}
	TRY(find_renames(m));
	for (size_t k = q->ncomputed; k-- > 0;) /* last: what they need */
		if (m->let_demands[k].selected)
			TRY(select_columns(m, &q->lets[k]));
	return STATUS_OK;
}

/* A column that the first record cannot have is the error, if that record was understood, before one of
 * its values or of what follows it. */
static enum status prefer_unknown(struct making *m, enum status status)
{
	struct fault *fault = m->fault, unknown;

	if (status == STATUS_NO_MEMORY || m->q->header.nnames == 0)
		return status;
	m->fault = &unknown;
	if (demand(m) == STATUS_UNKNOWN_COLUMN) {
		*fault = unknown;
		status = STATUS_UNKNOWN_COLUMN;
	}
	m->fault = fault;
	return status;
}

/* ---- the plan ---- */

/* Sets the plan's next column, which has its name and its field, to what is demanded of it. */
static enum status plan_column(struct making *m, struct demand *d)
{
	struct plan_column *c = &m->q->plan.columns[m->q->plan.ncolumns];

	c->needs = d->needs;
	c->takes_text = (d->needs & MOMENT_ENDS) && !d->number && !d->star;
	c->parses = d->number || d->star || c->takes_text;
	c->if_numeric = m->q->summary || (d->star && !d->number);
	c->counts_text = d->counts_text;
	c->invalid = m->q->summary ? INVALID_TEXT : m->options->invalid;
	c->nkeys_most = m->q->summary ? SUMMARY_NKEYS_MOST : 0;
	c->is_key = d->is_key;
	c->takes_text |= d->is_key && !d->needs; /* text is no error, but for a NUL */
	d->column = m->q->plan.ncolumns++;
	return c->name ? STATUS_OK : STATUS_NO_MEMORY;
}

static size_t column_of(struct making *m, size_t field)
{
	return demand_of(m, field)->column;
}

/* Sets where in the plan a program's columns are. */
static void place(struct making *m, struct program *p)
{
	for (size_t i = 0; i < p->names.nselectors; i++)
		p->columns[i] = (uint32_t)column_of(m, p->fields[i]);
	m->q->plan.computes |= p->computes || p->name;
}

/* A column of numbers is always one: a value that is no number is an error wherever it is used. */
static enum status plan_let(struct making *m, struct program *let, struct demand *d)
{
	struct plan *plan = &m->q->plan;

	place(m, let);
	if (let->type == TYPE_NUMBER && (d->is_key || d->is_sorted))
		d->needs |= MOMENT_COUNT;
	if (let->type == TYPE_NUMBER && d->needs) {
		d->number = true;
		d->counts_text = false;
	}
	plan->columns[plan->ncolumns].let = let;
	plan->columns[plan->ncolumns].name = strdup(let->name);
	plan->nlets++;
	return plan_column(m, d);
}

/* The columns: fields first, then computed ones. */
static enum status plan_columns(struct making *m)
{
	struct query *q = m->q;
	struct plan *plan = &q->plan;

	for (size_t i = 0; i < m->ndemands; i++) {
		struct plan_column *c = &plan->columns[plan->ncolumns];
		if (!m->demands[i].selected)
			continue;
		c->field = (uint32_t)i;
		c->name = header_column_name(&q->header, i);
		c->begins_as_text = query_starts_unfit(q, m->options, (uint32_t)i);
		TRY(plan_column(m, &m->demands[i]));
	}
	for (size_t k = q->ncomputed - q->naggregates; k < q->ncomputed; k++) /* first: others take them */
		TRY(plan_let(m, &q->lets[k], &m->let_demands[k]));
	for (size_t k = 0; k < q->ncomputed - q->naggregates; k++)
		if (m->let_demands[k].selected)
			TRY(plan_let(m, &q->lets[k], &m->let_demands[k]));
	for (struct result *r = q->results; r < q->results + q->nresults; r++) {
		enum operation_kind kind = operation_kind(r->operation);
		if (operation_has_columns(r->operation) || kind == OPERATION_LET)
			r->column = column_of(m, r->column);
		if (kind == OPERATION_PAIR)
			r->other = (uint32_t)column_of(m, r->other);
	}
	for (; plan->nkeys < m->nkeys; plan->nkeys++)
		plan->keys[plan->nkeys] = column_of(m, m->keys[plan->nkeys]);
	for (size_t i = 0; i < plan->nsort_groups; i++)
		plan->sort_groups[i] = column_of(m, plan->sort_groups[i]);
	for (size_t i = 0; i < plan->nsort_keys; i++)
		plan->sort_keys[i].column = column_of(m, plan->sort_keys[i].column);
	return STATUS_OK;
}

/* Marks the columns whose numbers a program computes with. */
static void mark_currencies(struct plan *plan, const struct program *p)
{
	for (const struct step *step = p->steps; step < p->steps + p->nsteps; step++)
		if (step->code == STEP_LOAD && step->load == LOAD_CALCULATE)
			plan->columns[p->columns[step->index]].has_currency = true;
}

/* Marks the columns whose numbers meet in a result or an expression: what is compared alone need not share a currency. */
static void plan_currencies(struct plan *plan)
{
	for (size_t c = 0; plan->notation.money && c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		column->has_currency |= !column->let && column->parses && column->needs && !column->takes_text;
		if (column->let)
			mark_currencies(plan, column->let);
	}
	for (size_t p = 0; plan->notation.money && p < plan->npredicates; p++)
		mark_currencies(plan, plan->predicates[p]);
	for (size_t c = 0; plan->nlets && c < plan->ncolumns; c++)
		plan->columns[c].has_currency &= !plan->columns[c].let;
}

/* Whether numbers of a computed column may be rounded quotients. before: of the columns before it, all that it takes. */
static bool may_be_rounded(const struct program *let, const bool *before)
{
	for (const struct step *step = let->steps; step < let->steps + let->nsteps; step++)
		if (step_rounds(step) || (step->code == STEP_LOAD && before[let->columns[step->index]]))
			return true;
	return false;
}

/* Asks for the extremes of pairs with quotients: of one side they tell how far the errors of the other reach. */
static enum status need_extremes(struct making *m)
{
	struct plan *plan = &m->q->plan;
	bool *rounded;

	if (plan->nlets == 0 || plan->npairs == 0)
		return STATUS_OK;
	rounded = calloc(plan->ncolumns, sizeof *rounded);
	NEED(rounded);
	for (size_t c = 0; c < plan->ncolumns; c++)
		rounded[c] = plan->columns[c].let && may_be_rounded(plan->columns[c].let, rounded);
	for (const struct plan_pair *p = plan->pairs; p < plan->pairs + plan->npairs; p++) {
		if (!rounded[p->x] && !rounded[p->y])
			continue;
		plan->columns[p->x].needs |= MOMENT_EXTREMES;
		plan->columns[p->y].needs |= MOMENT_EXTREMES;
	}
	free(rounded);
	return STATUS_OK;
}

static size_t add_pair(struct plan *plan, const struct result *r, size_t y)
{
	plan->pairs[plan->npairs] = (struct plan_pair){.x = r->column, .y = y};
	return plan->npairs++;
}

/* The pairs of columns: one for each result of two columns; of a matrix, one for each two of its columns, in the order of
 * query_matrix_pair. Columns of a pair with quotients get MOMENT_EXTREMES. */
static enum status plan_pairs(struct making *m)
{
	struct query *q = m->q;
	struct plan *plan = &q->plan;
	size_t n = q->nresults;

	if (q->matrix && n > MATRIX_COLUMNS_MAX)
		return option_fault(m->fault, "--%s '*' is a matrix of %zu columns: more than %d",
				    operation_name(q->results[0].operation), n, MATRIX_COLUMNS_MAX);
	plan->pairs = calloc(q->matrix ? n * n / 2 + 1 : n + 1, sizeof *plan->pairs);
	NEED(plan->pairs);
	for (size_t i = 0; i < n; i++) {
		struct result *r = &q->results[i];
		for (size_t j = i + 1; q->matrix && j < n; j++)
			add_pair(plan, r, q->results[j].column);
		if (!q->matrix && operation_kind(r->operation) == OPERATION_PAIR)
			r->pair = (uint32_t)add_pair(plan, r, r->other);
	}
	return need_extremes(m);
}

/* Sets where the times of windows are. */
static enum status plan_times(struct making *m)
{
	struct plan *plan = &m->q->plan;
	const struct plan_column *c;

	while (plan->first_timed < plan->nwindows && !plan->windows[plan->first_timed].is_timed)
		plan->first_timed++;
	if (!m->is_timed)
		return STATUS_OK;
	plan->over = plan->over_field = column_of(m, m->over);
	while ((c = &plan->columns[plan->over_field])->let && c->let->names.nselectors > 0)
		plan->over_field = c->let->columns[0];
	return c->let ? option_fault(m->fault, "--over: '%.64s' has no column of the records",
				     m->options->over)
		      : STATUS_OK;
}

#define LOOKED_AT_NDIGITS 6 /* significant digits of a table on a terminal, or of a picture */

/* How numbers are printed; NULL: as they are computed. */
static const struct number_style *plan_style(struct making *m)
{
	struct style *style = &m->options->style;
	const bool is_table =
		style->format == FORMAT_TABLE || (style->format == FORMAT_AUTO && m->q->summary);
	const bool is_picture = style->format == FORMAT_AUTO &&
				picture_is_asked(&m->options->picture) && !m->options->emits;

	style->numbers.ndigits_most =
		is_picture || (is_table && style->to_terminal) ? LOOKED_AT_NDIGITS : 0;
	return number_style_is_set(&style->numbers) || style->numbers.ndigits_most ? &style->numbers
										   : NULL;
}

/* The new columns, in the order of the command line. */
static void plan_new_columns(struct making *m)
{
	struct plan *plan = &m->q->plan;
	const struct header *h = &m->q->header;
	size_t predicate = plan->where == PREDICATE_NONE ? 0 : plan->where + 1;

	plan->emits = m->options->emits;
	plan->shown = plan_style(m);
	plan->formats = plan->emits && (m->options->style.format != FORMAT_AUTO || m->options->unites);
	*(m->options->by ? &plan->group_head : &plan->head) = m->options->choice.head;
	plan->only = m->options->only || m->options->selects || picture_is_asked(&m->options->picture);
	plan->shares_header = plan->emits && !plan->only;
	plan->exclusive = m->options->exclusive;
	plan->inside_line = h->present && h->line[h->line_nbytes - 1] != '\n';
	for (; plan->emits && plan->nnew_columns < m->q->nresults; plan->nnew_columns++) {
		const struct result *r = &m->q->results[plan->nnew_columns];
		const struct operation_use *use = &m->q->uses[r->use];
		struct new_column *s = &plan->new_columns[plan->nnew_columns];
		s->kind = operation_new_column(r->operation);
		s->column = r->column;
		s->predicate = s->kind == NEW_OFFSET ? predicate++ : 0;
		if (new_column_has(s->kind, NEW_LOOKS_BACK)) {
			s->window = plan->nwindows++;
			plan->windows[s->window] =
				(struct plan_window){.kind = s->kind,
						     .column = s->column,
						     .nrows = use->nrows,
						     .weight = use->weight,
						     .is_timed = operation_use_is_timed(use),
						     .width = use->width};
		}
		s->nahead = use->nrows;
		s->is_descending = use->is_descending;
		s->counts = operation_counts(r->operation);
		s->rank = plan->nranks;
		plan->nleads += s->kind == NEW_LEAD;
		plan->nahead_max = s->kind == NEW_LEAD && s->nahead > plan->nahead_max ? s->nahead : plan->nahead_max;
		plan->nranks += new_column_has(s->kind, NEW_RANKS);
	}
}

/* Whether a new column may have values that begin with a byte: fields of the input's first column cannot begin with
 * that of comments, unless blanks before it are dropped. */
static bool may_begin_with(const struct plan *plan, const struct new_column *column, char byte)
{
	const struct plan_column *of = &plan->columns[column->column];

	if (!new_column_has(column->kind, NEW_COPIES))
		return decimal_is_digit(byte) || byte == '-' || byte == plan->notation.decimal;
	return of->let || of->field > 0 || plan->dialect.trim;
}

/* Checks that no line that is printed has to begin with the byte of comments. */
static enum status check_comments(struct making *m)
{
	const struct plan *plan = &m->q->plan;
	const struct csv_dialect *d = &plan->dialect;

	if (!d->comment || d->quote || d->escape || d->whitespace || !plan->only || plan->nnew_columns == 0 ||
	    !may_begin_with(plan, &plan->new_columns[0], d->comment))
		return STATUS_OK;
	return option_fault(m->fault, "--quote none: a line that is printed could begin with '%c', the byte of "
			    "--comment, and nothing can quote it: try --escape '\\', or the input's first column "
			    "first", d->comment);
}

/* Makes the plan's columns, keys, pairs, predicates and new columns from the demands. */
static enum status make_plan(struct making *m)
{
	struct query *q = m->q;
	struct plan *plan = &q->plan;
	const size_t nnew = m->options->emits ? q->nresults : 0;

	plan->columns = calloc(m->ndemands + q->ncomputed + 1, sizeof *plan->columns);
	plan->keys = calloc(m->nkeys + 1, sizeof *plan->keys);
	plan->predicates = calloc(q->nconditions + 1, sizeof *plan->predicates);
	plan->new_columns = calloc(nnew + 1, sizeof *plan->new_columns);
	plan->windows = calloc(nnew + 1, sizeof *plan->windows);
	NEED(plan->columns && plan->keys && plan->predicates && plan->new_columns && plan->windows);
	TRY(plan_columns(m));
	TRY(plan_pairs(m));
	plan->where = (size_t)(m->options->where != NULL) - 1; /* PREDICATE_NONE: -1 */
	for (; plan->npredicates < q->nconditions; plan->npredicates++) {
		place(m, &q->conditions[plan->npredicates]);
		plan->predicates[plan->npredicates] = &q->conditions[plan->npredicates];
	}
	plan_currencies(plan);
	plan_new_columns(m);
	TRY(plan_times(m));
	return check_comments(m);
}

enum status plan_use_layout(struct plan *plan, struct word_layout *layout)
{
	bool widens = plan_widens_records(plan);

	plan->dialect.layout = layout;
	plan->ragged.may_lack_end = false;
	if (widens && !layout)
		plan->dialect.nfields = 0; /* the last value takes no rest: what follows it could not be told from it */
	if (!layout)
		return STATUS_OK;
	if (widens && !layout->by_words)
		return STATUS_ALIGNED_ONLY;
	layout->by_columns &= !widens;
	layout->takes_rest &= !widens;
	if (layout->by_columns)
		plan->ragged.may_lack_end = !layout->by_words || (plan->ragged.policy == RAGGED_ERROR &&
								  plan->bad_record == INVALID_ERROR);
	layout->shorter_fails = plan->ragged.may_lack_end;
	return STATUS_OK;
}

/* ---- all of it ---- */

/* Copies what the options say of every record to q->plan, before the first record is read. */
static void begin(struct query *q, const struct options *options)
{
	memset(q, 0, sizeof *q);
	q->plan.dialect = options->dialect;
	q->plan.notation = options->notation;
	q->plan.zone = options->zone;
	q->plan.bad_record = options->invalid;
	q->plan.nmissing = options->nmissing;
	q->plan.missing = options->missing;
	q->guesses_delimiter = !options->has_delimiter && !options->dialect.whitespace;
	q->nthreads = options->nthreads;
	q->summary = options->nuses + options->nwanted == 0 && !options->where && options->nrenames == 0 && !options->is_open &&
		     !options->sorts && !options->unique && !options_choice_name(options);
	q->all = options->all;
	q->plan.ragged.policy = q->summary && !options->has_ragged ? RAGGED_COUNT : options->ragged;
	q->plan.counts_records = options->invalid == INVALID_SKIP;
	q->plan.has_runs = options->runs != NULL;
	q->plan.is_saved = options->partial || options->save_state;
	for (size_t i = 0; i < options->nuses; i++) {
		q->plan.counts_records |= options->uses[i].operation == OPERATION_COUNT_RECORDS;
		q->matrix |= operation_use_is_matrix(&options->uses[i]);
	}
}

/* Sets what the plan says of the shape of records. */
static enum status plan_records(struct making *m)
{
	struct query *q = m->q;
	size_t nfields = q->header.nfields ? q->header.nfields : q->header.nnames;

	q->plan.dialect.one_column = nfields <= 1;
	q->plan.ragged.nfields = nfields ? (uint32_t)nfields : 1;
	q->plan.ragged.last_is_empty = q->header.ends_empty;
	q->plan.guesses_texts = q->summary && m->input && input_is_repeatable(m->input);
	if (q->plan.dialect.whitespace)
		q->plan.dialect.nfields = q->header.nfields;
	if (!m->input)
		return STATUS_OK;
	if (plan_use_layout(&q->plan, q->header.layout) != STATUS_OK)
		return fault_set(m->fault, STATUS_ALIGNED_ONLY, 0, NULL);
	query_seek_header(q, m->options->partial);
	return STATUS_OK;
}

static enum status make(struct making *m)
{
	enum status status;

	TRY(parse(m));
	if (m->input && !m->options->emits && !m->q->summary && !m->q->plan.dialect.whitespace && m->options->header != HEADER_NO)
		TRY(header_find_units(&m->q->header, m->input, &m->q->plan, m->fault));
	status = find_header(m);
	if (status != STATUS_OK)
		return prefer_unknown(m, status);
	TRY(demand(m));
	if (m->options->emits && m->q->star && !m->found_star)
		return fault_set(m->fault, STATUS_NO_NUMERIC_COLUMN, 0, NULL);
	TRY(make_plan(m));
	return plan_records(m);
}

static enum status make_and_free(struct making m)
{
	enum status status = make(&m);

	free_selections(&m);
	free(m.names.at);
	free(m.demands);
	free(m.keys);
	free(m.listed);
	free(m.descend);
	name_index_free(&m.index);
	name_index_free(&m.first);
	return status;
}

enum status query_make(struct query *q, struct options *options, struct input *input, struct fault *fault)
{
	begin(q, options);
	return make_and_free((struct making){.q = q, .options = options, .input = input, .fault = fault});
}

enum status query_make_again(struct query *q, struct options *options, struct header *header, struct fault *fault)
{
	begin(q, options);
	q->header = *header;
	memset(header, 0, sizeof *header);
	return make_and_free((struct making){.q = q, .options = options, .fault = fault});
}

void query_free(struct query *q)
{
	for (size_t c = 0; c < q->plan.ncolumns; c++)
		free((char *)q->plan.columns[c].name);
	free_requests(q);
	free(q->plan.columns);
	free(q->plan.keys);
	free(q->plan.sort_keys);
	free(q->plan.sort_groups);
	free(q->plan.pairs);
	free(q->plan.predicates);
	free(q->plan.new_columns);
	free(q->plan.windows);
	free(q->results);
	file_headers_free(&q->later);
	header_free(&q->header);
	memset(q, 0, sizeof *q);
}
