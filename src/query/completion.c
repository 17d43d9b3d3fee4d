/* SPDX-License-Identifier: MIT
 *
 * completion.c - see completion.h. Names of columns are data: no shell may expand what they hold.
 */
#include "query/completion.h"

#include <stdio.h>
#include <string.h>

/* What the argument of an option is. */
static bool takes_columns(const struct option_row *row)
{
	return !strcmp(row->argument, "COLS");
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

/* ---- bash ---- */

/* The names go to COMPREPLY one by one: compgen -W would expand them. */
static void print_bash_columns(const struct option_table *t)
{
	printf("_%s_columns() {\n"
	       "\tlocal file name listed=${word%%\"${word##*,}\"}\n"
	       "\tfor file in \"${COMP_WORDS[@]:1}\"; do\n"
	       "\t\t[[ -f $file ]] || continue\n"
	       "\t\twhile IFS= read -r name; do\n"
	       "\t\t\t[[ $name == \"${word##*,}\"* ]] && COMPREPLY+=(\"$listed$(printf %%q \"$name\")\")\n"
	       "\t\tdone < <(%s --columns -- \"$file\" 2>/dev/null)\n"
	       "\t\tcompopt -o nospace +o default 2>/dev/null\n"
	       "\t\treturn 0\n"
	       "\tdone\n"
	       "}\n", t->program, t->program);
}

/* Prints the options that take columns as a pattern of case. */
static void print_bash_case(const struct option_table *t)
{
	const char *before = "\t";

	for (size_t i = 0; i < t->nrows; i++) {
		if (!takes_columns(&t->rows[i]))
			continue;
		printf("%s--%s", before, t->rows[i].name);
		before = "|";
	}
	printf(") _%s_columns; return ;;\n", t->program);
}

/* bash splits --name=word at the "=" (COMP_WORDBREAKS). */
static void print_bash(const struct option_table *t)
{
	if (any_takes_columns(t))
		print_bash_columns(t);
	printf("_%s() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	       "\tCOMPREPLY=()\n",
	       t->program);
	print_words("\twords='", t->operands, "'\n");
	printf("\t[[ $word == \"=\" ]] && word=\n"
	       "\t[[ $before == \"=\" ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
	       "\tcase $before in\n");
	if (any_takes_columns(t))
		print_bash_case(t);
	for (size_t i = 0; i < t->nrows; i++) {
		if (*t->rows[i].words)
			printf("\t--%s)", t->rows[i].name);
		print_words(" words='", t->rows[i].words, "' ;;\n");
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

static void print_zsh_columns(const struct option_table *t)
{
	printf("_%s_columns() {\n"
	       "\tlocal file\n"
	       "\tlocal -a names\n"
	       "\tfor file in ${(Q)words[2,-1]}; do\n"
	       "\t\t[[ -f $file ]] && { names=(${(f)\"$(%s --columns -- $file 2>/dev/null)\"}); break }\n"
	       "\tdone\n"
	       "\tcompset -P '*,'\n"
	       "\tcompadd -S '' -a names\n"
	       "}\n", t->program, t->program);
}

static void print_zsh_argument(const struct option_table *t, const struct option_row *row)
{
	if (!*row->argument)
		return;
	printf(":%s:", row->argument);
	print_words("(", row->words, ")");
	if (takes_columns(row))
		printf("_%s_columns", t->program);
	else if (takes_file(row))
		fputs("_files", stdout);
	else if (!*row->words)
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
static void print_zsh(const struct option_table *t)
{
	printf("#compdef %s\n", t->program);
	if (any_takes_columns(t))
		print_zsh_columns(t);
	printf("_%s() {\n"
	       "\t_arguments -s -S \\\n", t->program);
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

static void print_fish_columns(const struct option_table *t)
{
	printf("function __%s_columns\n"
	       "    set -l listed (string match -r '^.*,' -- (string replace -r '^--[^=]*=' '' -- (commandline -ct)))\n"
	       "    for file in (commandline -opc) (commandline -o)\n"
	       "        test -f $file; or continue\n"
	       "        for name in (%s --columns -- $file 2>/dev/null)\n"
	       "            echo \"$listed$name\"\n"
	       "        end\n"
	       "        return\n"
	       "    end\n"
	       "end\n", t->program, t->program);
}

static void print_fish_row(const struct option_table *t, const struct option_row *row)
{
	printf("complete -c %s -l %s", t->program, row->name);
	if (row->letter)
		printf(" -s %c", row->letter);
	print_words(" -a '", row->words, "'");
	if (takes_columns(row))
		printf(" -a '(__%s_columns)'", t->program);
	printf("%s -d '", takes_file(row) ? " -rF" : *row->argument ? " -x" : "");
	print_escaped(row->help, "'\\");
	puts("'");
}

static void print_fish(const struct option_table *t)
{
	if (any_takes_columns(t))
		print_fish_columns(t);
	for (size_t i = 0; i < t->nrows; i++)
		print_fish_row(t, &t->rows[i]);
	if (*t->operands)
		printf("complete -c %s -n __fish_use_subcommand", t->program);
	print_words(" -a '", t->operands, "'\n");
}

/* The numbers that are offered for OPTION_NUMBER. */
static const char *const offered[] = {"50", "90", "95", "99"};
#define NOFFERED (sizeof offered / sizeof *offered)
#define NAME_NBYTES 32
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

void completion_print(const struct option_table *table, enum option_about shell)
{
	static struct option_row rows[NROWS_MAX];
	static char names[NOFFERED][NAME_NBYTES];
	struct option_table all = *table;
	const struct option_table *t = &all;

	all.nrows = offer_numbers(table, rows, names);
	all.rows = rows;
	if (shell == ABOUT_BASH)
		print_bash(t);
	else if (shell == ABOUT_ZSH)
		print_zsh(t);
	else
		print_fish(t);
}
