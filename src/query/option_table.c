/* SPDX-License-Identifier: MIT
 *
 * option_table.c - see option_table.h.
 */
#include "query/option_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "number/decimal.h"
#include "lang/select.h"

#define NAME_NBYTES 32 /* every name is shorter */

struct parser {
	const struct option_table *table;
	char **next, **end; /* the arguments not yet read */
	void *options;
	enum option_about *about;
	struct fault *fault;
};

/* ---- unknown options ---- */

/* Whether a word that was typed is `name`: in any case, and with _ for -. Letters, -t and -T, differ. */
static bool is_word(const char *typed, const char *name, size_t nbytes)
{
	if (*name == '-')
		return !memcmp(typed, name, nbytes);
	for (size_t i = 0; i < nbytes; i++)
		if (name[i] != (typed[i] == '_' ? '-' : tolower((unsigned char)typed[i])))
			return false;
	return true;
}

const char *option_find_meant(const struct option_synonym *list, const char *typed, size_t nbytes)
{
	for (; list && list->typed; list++)
		for (const char *name = list->typed; *name;) {
			size_t length = strcspn(name, " ");
			if (length == nbytes && is_word(typed, name, nbytes))
				return list->meant;
			name += length + (name[length] == ' ');
		}
	return NULL;
}

/* Reports an option that is not there: typed, with its dashes, shown of it. meant: as in struct option_synonym; NULL:
 * unknown. */
static enum status fail_meant(const struct parser *p, const char *typed, int shown, const char *meant)
{
	bool is_option = meant && *meant == '-' && !strchr(meant, ' ');

	if (!meant)
		return option_fault(p->fault, "unknown option '%.*s'", shown, typed);
	return option_fault(p->fault, is_option ? "unknown option '%.*s': did you mean '%s'?"
						: "unknown option '%.*s' (try %s)", shown, typed, meant);
}

/* Suggests what is meant, or the nearest name. typed: the name after its dashes. */
static enum status fail_unknown(const struct parser *p, const char *typed, size_t nbytes)
{
	struct nearest nearest = nearest_begin(typed, nbytes);
	const char *meant = option_find_meant(p->table->synonyms, typed, nbytes);
	char name[NAME_NBYTES + 2];

	for (size_t i = 0; i < p->table->nrows; i++)
		nearest_offer(&nearest, p->table->rows[i].name);
	if (!meant && nearest.name) {
		snprintf(name, sizeof name, "--%s", nearest.name);
		meant = name;
	}
	return fail_meant(p, typed - 2, nbytes < 62 ? (int)nbytes + 2 : 64, meant);
}

/* ---- parsing ---- */

/* typed: row->name itself where the letter was typed. */
static enum status handle(const struct parser *p, const struct option_row *row, const char *typed,
			  const char *argument)
{
	static const enum option_about about_rows[] = {ABOUT_BASH, ABOUT_HELP, ABOUT_VERSION};
	size_t index = (size_t)(row - p->table->rows);
	size_t first = p->table->nrows - sizeof about_rows / sizeof *about_rows;
	int about, word = 0;

	if (index < first)
		return p->table->handle(p->options, index, typed, argument, p->fault);
	about = (int)about_rows[index - first];
	if (about == ABOUT_BASH)
		word = option_find_word(row, argument, strlen(argument), p->fault);
	if (about == ABOUT_HELP && typed == row->name && p->table->print_brief_help)
		about = ABOUT_BRIEF_HELP;
	if (word >= 0 && about + word > (int)*p->about)
		*p->about = (enum option_about)(about + word);
	return word < 0 ? STATUS_USAGE : STATUS_OK;
}

size_t option_before_number(const char *name)
{
	size_t nbytes = strlen(name), number_nbytes = strlen(OPTION_NUMBER);

	if (nbytes <= number_nbytes || strcmp(name + nbytes - number_nbytes, OPTION_NUMBER))
		return 0;
	return nbytes - number_nbytes;
}

static bool row_matches(const struct option_row *row, const char *typed, size_t nbytes)
{
	size_t before = option_before_number(row->name);

	if (before && nbytes > before && decimal_is_digit(typed[before]))
		return !strncmp(row->name, typed, before);
	return !strncmp(row->name, typed, nbytes) && !row->name[nbytes];
}

const struct option_row *option_find_row(const struct option_table *table, const char *typed, size_t nbytes)
{
	for (size_t i = 0; i < table->nrows; i++)
		if (row_matches(&table->rows[i], typed, nbytes))
			return &table->rows[i];
	return NULL;
}

static enum status parse_long(struct parser *p, const char *typed)
{
	size_t nbytes = strcspn(typed, "=");
	const char *argument = typed[nbytes] ? typed + nbytes + 1 : NULL;
	const struct option_row *row = option_find_row(p->table, typed, nbytes);

	if (!row)
		return fail_unknown(p, typed, nbytes);
	if (argument && !*row->argument)
		return option_fault(p->fault, "option '--%s' takes no argument", row->name);
	if (*row->argument && !argument && p->next == p->end)
		return option_fault(p->fault, "option '--%s' needs an argument", row->name);
	return handle(p, row, typed, *row->argument && !argument ? *p->next++ : argument);
}

static enum status parse_letters(struct parser *p, const char *typed)
{
	enum status status = STATUS_OK;

	for (; status == STATUS_OK && *typed; typed++) {
		const struct option_row *row = p->table->rows, *end = row + p->table->nrows;
		while (row < end && row->letter != *typed)
			row++;
		if (row == end) {
			const char letter[] = {'-', *typed, '\0'};
			return fail_meant(p, letter, 2, option_find_meant(p->table->synonyms, letter, 2));
		}
		if (*row->argument && !typed[1] && p->next == p->end)
			return option_fault(p->fault, "option '-%c' needs an argument", *typed);
		if (*row->argument)
			return handle(p, row, row->name, typed[1] ? typed + 1 : *p->next++);
		status = handle(p, row, row->name, NULL);
	}
	return status;
}

enum status option_parse(const struct option_table *table, int argc, char **argv, void *options,
			 enum option_about *about, int *noperands, struct fault *fault)
{
	struct parser p = {table, argv + 1, argv + argc, options, about, fault};
	enum status status = STATUS_OK;
	bool ended = false;

	*about = ABOUT_NOTHING;
	*noperands = 0;
	while (status == STATUS_OK && p.next < p.end) {
		char *word = *p.next++;
		if (ended || word[0] != '-' || !word[1]) {
			argv[++*noperands] = word;
			ended |= getenv("POSIXLY_CORRECT") != NULL;
		} else if (!strcmp(word, "--")) {
			ended = true;
		} else {
			status = word[1] == '-' ? parse_long(&p, word + 2)
						: parse_letters(&p, word + 1);
		}
	}
	if ((*about == ABOUT_HELP || *about == ABOUT_BRIEF_HELP) && table->topic && *noperands > 0 && !strcmp(argv[1], table->topic))
		*about = ABOUT_TOPIC;
	return status;
}

/* ---- arguments ---- */

int option_find_word(const struct option_row *row, const char *text, size_t nbytes,
		     struct fault *fault)
{
	int index = 0;

	for (const char *word = row->words; *word; index++) {
		size_t length = strcspn(word, ",");
		if (length == nbytes && !strncmp(word, text, nbytes))
			return index;
		word += length + strspn(word + length, ", ");
	}
	option_fault(fault, "--%s: '%.*s' is none of %s", row->name,
		     nbytes < 64 ? (int)nbytes : 64, text, row->words);
	return -1;
}

const char *option_digits(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	if (!decimal_is_digit(*text))
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && *number <= most ? end : NULL;
}

enum status option_number(const struct option_row *row, const char *text, int most, int *number,
			  struct fault *fault)
{
	uint64_t read;
	const char *end = option_digits(text, (uint64_t)most, &read);

	if (!end || *end || read == 0)
		return option_fault(fault, "--%s: '%.64s' is not a number from 1 to %d", row->name,
				    text, most);
	*number = (int)read;
	return STATUS_OK;
}

enum status option_add_items(const struct option_row *row, const char *list, const char ***items, size_t *nitems,
			     struct fault *fault)
{
	for (;; list++) {
		const char **added = ARRAY_ADD(*items, *nitems), *end;
		size_t trimmed;
		char *item;

		while (decimal_is_blank(*list))
			list++;
		end = list + strcspn(list, ",");
		trimmed = (size_t)(end - list);
		decimal_trim(list, &trimmed);
		item = !added ? NULL : *list == '"' ? strdup(list) : strndup(list, trimmed);
		NEED(item);
		*added = item;
		(*nitems)++;
		if (*list == '"')
			for (end = selector_unquote(list, item); end && decimal_is_blank(*end);)
				end++;
		if (!end || (*end && *end != ','))
			return option_fault(fault, "--%s: after '%.64s' a quote is missing, or a comma; a quote in quotes is doubled",
					    row->name, list);
		list = end;
		if (!*list)
			return STATUS_OK;
	}
}

void option_free_items(const char **items, size_t nitems)
{
	for (size_t i = 0; i < nitems; i++)
		free((void *)items[i]);
	free(items);
}

/* ---- completion: names of columns are data, no shell may expand what they hold ---- */

/* What the argument of an option is. A column of PAIRS ends at ':' too. */
static bool takes_pairs(const struct option_row *row)
{
	return !strcmp(row->argument, "PAIRS");
}

static bool takes_columns(const struct option_row *row)
{
	return !strncmp(row->argument, "COL", 3) || takes_pairs(row);
}

static bool takes_file(const struct option_row *row)
{
	return !strcmp(row->argument, "FILE");
}

static bool any_takes_columns(const struct option_table *t)
{
	for (size_t i = 0; i < t->nrows; i++)
		if (takes_columns(&t->rows[i]))
			return true;
	return false;
}

/* The words that are offered for a row's argument. */
static const char *offered_words(const struct option_table *t, const struct option_row *row)
{
	const char *expr = strstr(row->argument, "EXPR");

	return t->expr_words && expr && !expr[4] ? t->expr_words : row->words;
}

/* Prints "a, b" as "a b" between two texts, or nothing if there are no words. */
static void print_words(const char *before, const char *words, const char *after)
{
	if (!*words)
		return;
	fputs(before, stdout);
	for (; *words; words++)
		if (*words != ',')
			putchar(*words);
	fputs(after, stdout);
}

/* Prints text within single quotes, a backslash before each of `escaped`. */
static void print_escaped(const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'' && !strchr(escaped, '\''))
			fputs("'\\'", stdout);
		else if (strchr(escaped, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Prints the option as a shell's pattern; a number stands for OPTION_NUMBER. */
static void print_pattern(const struct option_row *row)
{
	size_t before = option_before_number(row->name);

	if (before)
		printf("--%.*s[0-9]*", (int)before, row->name);
	else
		printf("--%s", row->name);
}

/* ---- bash ---- */

/* The names go to COMPREPLY one by one: compgen -W would expand them. $1: the bytes that end a column. After them a name is
 * looked for, then, within an expression, after what is no letter; and where none begins so, a word of expressions if a letter of
 * it is there. A reply has only what belongs to bash's last word. Bash itself writes the quote that the word begins with; a name
 * that would mean something else within it is left out. */
static void print_bash_columns(const struct option_table *t)
{
	printf("_%s_columns() {\n"
	       "\tlocal file ends last name quote='' reply\n"
	       "\tlocal -a names=()\n", t->program);
	puts("\t[[ $word == [\\'\\\"]* ]] && quote=${word:0:1} word=${word:1} argument=${argument#[\\'\\\"]}\n"
	     "\tfor file in \"${COMP_WORDS[@]:1}\"; do\n"
	     "\t\t[[ -f $file ]] || continue");
	printf("\t\tmapfile -t names < <(%s --columns -- \"$file\" 2>/dev/null)\n", t->program);
	puts("\t\tcompopt -o nospace +o default 2>/dev/null\n"
	     "\t\tbreak\n"
	     "\tdone\n"
	     "\tfor ends in \"$1\" '![:alnum:]_' words; do");
	print_words("\t\t[[ $ends == words ]] && ends='![:alnum:]_' names=(", t->expr_words, ")\n");
	puts("\t\tlast=${argument##*[$ends]}");
	puts("\t\tfor name in \"${names[@]}\"; do\n"
	     "\t\t\t[[ $name == \"$last\"* ]] || continue\n"
	     "\t\t\tcase $quote in\n"
	     "\t\t\t\\') [[ $name != *\\'* ]] || continue ;;\n"
	     "\t\t\t\\\") [[ $name != *[\\\"\\$\\`\\\\!]* ]] || continue ;;\n"
	     "\t\t\t*) name=$(printf %q \"$name\") ;;\n"
	     "\t\t\tesac\n"
	     "\t\t\treply=${argument%\"$last\"}$name\n"
	     "\t\t\tCOMPREPLY+=(\"${reply:${#argument}-${#word}}\")\n"
	     "\t\tdone\n"
	     "\t\t[[ ${#COMPREPLY[@]} -gt 0 || -z $last ]] && break\n"
	     "\tdone\n"
	     "}");
}

/* Prints the options that take columns, or pairs of them, as patterns of case. */
static void print_bash_case(const struct option_table *t, bool pairs, const char *ends)
{
	const char *before = "\t";

	for (size_t i = 0; i < t->nrows; i++) {
		if (!takes_columns(&t->rows[i]) || takes_pairs(&t->rows[i]) != pairs)
			continue;
		fputs(before, stdout);
		print_pattern(&t->rows[i]);
		before = "|";
	}
	printf(") _%s_columns '%s'; return ;;\n", t->program, ends);
}

/* given: the table as it was given, with OPTION_NUMBER; here and below. */
static void print_bash(const struct option_table *t, const struct option_table *given)
{
	if (any_takes_columns(t))
		print_bash_columns(t);
	printf("_%s() {\n"
	       "\tlocal at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} argument before words=\n"
	       "\tCOMPREPLY=()\n",
	       t->program);
	print_words("\twords='", t->operands, "'\n");
	/* bash splits --name=a:b at "=" and ":" (COMP_WORDBREAKS): argument is "a:b" then, and before "--name" */
	puts("\tif [[ $word == [=:] ]]; then word=; else ((at--)); fi\n"
	     "\targument=$word\n"
	     "\twhile ((at > 1)) && [[ ${COMP_WORDS[at]} == : ]]; do\n"
	     "\t\targument=${COMP_WORDS[at-1]}:$argument\n"
	     "\t\t((at -= 2))\n"
	     "\tdone\n"
	     "\t[[ ${COMP_WORDS[at]} == \"=\" ]] && ((at--))\n"
	     "\tbefore=${COMP_WORDS[at]}\n"
	     "\tcase $before in");
	if (any_takes_columns(t)) {
		print_bash_case(given, false, ",");
		print_bash_case(given, true, ",:");
	}
	for (size_t i = 0; i < t->nrows; i++) {
		if (*offered_words(t, &t->rows[i]))
			printf("\t--%s)", t->rows[i].name);
		print_words(" words='", offered_words(t, &t->rows[i]), "' ;;\n");
	}
	printf("\t*) [[ $word == -* ]] && words='");
	for (size_t i = 0; i < t->nrows; i++)
		printf("%s--%s", i ? " " : "", t->rows[i].name);
	printf("' ;;\n"
	       "\tesac\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	       "}\n"
	       "complete -o default -F _%s %s\n", t->program, t->program);
}

/* ---- zsh ---- */

/* As in bash. */
static void print_zsh_columns(const struct option_table *t)
{
	printf("_%s_columns() {\n"
	       "\tlocal file\n"
	       "\tlocal -a names known=(", t->program);
	print_words("", t->expr_words, "");
	printf(")\n"
	       "\tfor file in ${(Q)words[2,-1]}; do\n"
	       "\t\t[[ -f $file ]] && { names=(${(f)\"$(%s --columns -- $file 2>/dev/null)\"}); break }\n"
	       "\tdone\n"
	       "\tcompset -P '*,'\n"
	       "\tcompadd -S '' -a names && return\n"
	       "\tcompset -P '*[^[:alnum:]_]' && compadd -S '' -a names && return\n"
	       "\t[[ -n $PREFIX ]] && compadd -S '' -a known\n"
	       "}\n"
	       "_%s_pairs() {\n"
	       "\tcompset -P '*:'\n"
	       "\t_%s_columns\n"
	       "}\n", t->program, t->program, t->program);
}

/* _arguments cannot be told of an option that ends in any number. */
static void print_zsh_number(const struct option_table *t, const struct option_row *row)
{
	fputs("\tif [[ $words[CURRENT-1] == ", stdout);
	print_pattern(row);
	printf(" && $words[CURRENT-1] != *=* ]]; then\n"
	       "\t\t_%s_columns\n"
	       "\t\treturn\n"
	       "\telif [[ $words[CURRENT] == ", t->program);
	print_pattern(row);
	printf("=* ]]; then\n"
	       "\t\tcompset -P '*='\n"
	       "\t\t_%s_columns\n"
	       "\t\treturn\n"
	       "\tfi\n", t->program);
}

static void print_zsh_argument(const struct option_table *t, const struct option_row *row)
{
	if (!*row->argument)
		return;
	printf(":%s:", row->argument);
	print_words("(", offered_words(t, row), ")");
	if (takes_columns(row))
		printf("_%s_%s", t->program, takes_pairs(row) ? "pairs" : "columns");
	else if (takes_file(row))
		fputs("_files", stdout);
	else if (!*offered_words(t, row))
		putchar(' ');
}

static void print_zsh_row(const struct option_table *t, const struct option_row *row)
{
	const char *equals = *row->argument ? "=" : "";

	if (row->letter)
		printf("\t\t'*'{-%c%s,--%s%s}'[", row->letter, *row->argument ? "+" : "", row->name,
		       equals);
	else
		printf("\t\t'*--%s%s[", row->name, equals);
	print_escaped(row->help, "[]\\");
	putchar(']');
	print_zsh_argument(t, row);
	puts("' \\");
}

/* The script is sourced, or lies in a folder of fpath as the function of its name. */
static void print_zsh(const struct option_table *t, const struct option_table *given)
{
	printf("#compdef %s\n", t->program);
	if (any_takes_columns(t))
		print_zsh_columns(t);
	printf("_%s() {\n", t->program);
	for (size_t i = 0; i < given->nrows; i++)
		if (option_before_number(given->rows[i].name) && takes_columns(&given->rows[i]))
			print_zsh_number(t, &given->rows[i]);
	puts("\t_arguments -s -S \\");
	for (size_t i = 0; i < t->nrows; i++)
		print_zsh_row(t, &t->rows[i]);
	print_words("\t\t'1:command:(", t->operands, ")' \\\n");
	printf("\t\t'*:file:_files'\n"
	       "}\n"
	       "if [[ ${funcstack[1]-} == _%s ]]; then\n"
	       "\t_%s \"$@\"\n"
	       "else\n"
	       "\tcompdef _%s %s\n"
	       "fi\n", t->program, t->program, t->program, t->program);
}

/* ---- fish ---- */

/* $argv: the bytes that end a column. As in bash. */
static void print_fish_columns(const struct option_table *t)
{
	printf("function __%s_columns\n"
	       "    set -l typed (string replace -r '^--[^=]*=' '' -- (commandline -ct) | string trim -l -c '\\'\"')\n"
	       "    set -l names\n"
	       "    for file in (commandline -opc) (commandline -o)\n"
	       "        test -f $file; or continue\n"
	       "        set names (%s --columns -- $file 2>/dev/null)\n"
	       "        break\n"
	       "    end\n", t->program, t->program);
	puts("    for before in \"[$argv]\" '[^[:alnum:]_]'\n"
	     "        set -l all (string match -r \"^.*$before\" -- \"$typed\"; or echo)$names\n"
	     "        string match -qr '^'(string escape --style=regex -- \"$typed\") -- $all; or continue\n"
	     "        printf '%s\\n' $all\n"
	     "        return\n"
	     "    end");
	print_words("    set -l known ", t->expr_words, "\n");
	puts("    string match -qr '[[:alnum:]_]$' -- $typed; or return\n"
	     "    printf '%s\\n' (string match -r '^.*[^[:alnum:]_]' -- \"$typed\"; or echo)$known");
	puts("end");
}

static void print_fish_row(const struct option_table *t, const struct option_row *row)
{
	printf("complete -c %s -l %s", t->program, row->name);
	if (row->letter)
		printf(" -s %c", row->letter);
	print_words(" -a '", offered_words(t, row), "'");
	if (takes_columns(row))
		printf(" -a '(__%s_columns %s)'", t->program, takes_pairs(row) ? ",:" : ",");
	printf("%s -d '", takes_file(row) ? " -rF" : *row->argument ? " -x" : "");
	print_escaped(row->help, "'\\");
	puts("'");
}

static void print_fish(const struct option_table *t, const struct option_table *given)
{
	if (any_takes_columns(t))
		print_fish_columns(t);
	for (const struct option_row *row = given->rows; row < given->rows + given->nrows; row++)
		if (option_before_number(row->name) && takes_columns(row)) /* with any number */
			printf("complete -c %s -n \"string match -qr -- '^--%.*s[0-9][^=]*\\$' (commandline -opc)[-1]\""
			       " -f -a '(__%s_columns ,)'\n", t->program, (int)option_before_number(row->name),
			       row->name, t->program);
	for (size_t i = 0; i < t->nrows; i++)
		print_fish_row(t, &t->rows[i]);
	if (*t->operands)
		printf("complete -c %s -n __fish_use_subcommand", t->program);
	print_words(" -a '", t->operands, "'\n");
}

/* The numbers that are offered for OPTION_NUMBER. */
static const char *const offered[] = {"50", "90", "95", "99"};
#define NOFFERED (sizeof offered / sizeof *offered)
#define NROWS_MAX 256

/* Copies the rows; one whose name ends in OPTION_NUMBER once for each number that is offered. Returns
 * how many there are. names: of those. */
static size_t offer_numbers(const struct option_table *t, struct option_row rows[NROWS_MAX],
			    char names[NOFFERED][NAME_NBYTES])
{
	size_t n = 0, nnames = 0;

	for (size_t i = 0; i < t->nrows && n + NOFFERED <= NROWS_MAX; i++) {
		size_t before = option_before_number(t->rows[i].name);
		rows[n++] = t->rows[i];
		for (size_t k = 0; before && k < NOFFERED && nnames < NOFFERED; k++) {
			snprintf(names[nnames], NAME_NBYTES, "%.*s%s", (int)before,
				 t->rows[i].name, offered[k]);
			rows[n - 1 + k] = t->rows[i];
			rows[n - 1 + k].name = names[nnames++];
		}
		n += before ? NOFFERED - 1 : 0;
	}
	return n;
}

/* ---- help, version ---- */

void option_print_row(const struct option_row *row, int width)
{
	char names[2 * NAME_NBYTES];

	snprintf(names, sizeof names, "%s %s", row->name, row->argument);
	printf("  %c%c%c --%-*s %s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
	       row->letter ? ',' : ' ', width, names, row->help);
}

bool option_print_about(const struct option_table *table, enum option_about about)
{
	static struct option_row rows[NROWS_MAX];
	static char names[NOFFERED][NAME_NBYTES];
	struct option_table all = *table; /* with the numbers that are offered */

	all.nrows = offer_numbers(table, rows, names);
	all.rows = rows;
	switch (about) {
	case ABOUT_NOTHING:
		return false;
	case ABOUT_HELP:
		table->print_help();
		break;
	case ABOUT_TOPIC:
		table->print_topic();
		break;
	case ABOUT_BRIEF_HELP:
		table->print_brief_help();
		break;
	case ABOUT_BASH:
		print_bash(&all, table);
		break;
	case ABOUT_ZSH:
		print_zsh(&all, table);
		break;
	case ABOUT_FISH:
		print_fish(&all, table);
		break;
	case ABOUT_VERSION:
		printf("%s %s\n", table->program, PACKAGE_VERSION);
		if (table->print_libraries)
			table->print_libraries();
#ifdef HAVE_CUDA
		printf("CUDA %s, built for %s\n", CUDA_VERSION_TEXT, CUDA_ARCH_TEXT);
#else
		printf("CUDA not built in\n");
#endif
		printf("License: MIT\n");
	}
	return true;
}
