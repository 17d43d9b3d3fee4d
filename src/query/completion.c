/* SPDX-License-Identifier: MIT
 *
 * completion.c - see completion.h. Names of columns are data: no shell may expand what they hold.
 */
#include "query/completion.h"

#include <stdio.h>
#include <string.h>

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

/* The names go to COMPREPLY one by one: compgen -W would expand them. $1: the bytes that end a
 * column. A reply has only what belongs to bash's last word. */
static void print_bash_columns(const struct option_table *t)
{
	printf("_%s_columns() {\n"
	       "\tlocal file name last=${argument##*[\"$1\"]} reply\n"
	       "\tfor file in \"${COMP_WORDS[@]:1}\"; do\n"
	       "\t\t[[ -f $file ]] || continue\n"
	       "\t\twhile IFS= read -r name; do\n"
	       "\t\t\t[[ $name == \"$last\"* ]] || continue\n"
	       "\t\t\treply=${argument%%\"$last\"}$(printf %%q \"$name\")\n"
	       "\t\t\tCOMPREPLY+=(\"${reply:${#argument}-${#word}}\")\n"
	       "\t\tdone < <(%s --columns -- \"$file\" 2>/dev/null)\n"
	       "\t\tcompopt -o nospace +o default 2>/dev/null\n"
	       "\t\treturn 0\n"
	       "\tdone\n"
	       "}\n", t->program, t->program);
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

/* bash splits --name=a:b at "=" and ":" (COMP_WORDBREAKS): sets argument to "a:b" and before to
 * "--name". */
static void print_bash_argument(void)
{
	fputs("\tif [[ $word == [=:] ]]; then word=; else ((at--)); fi\n"
	      "\targument=$word\n"
	      "\twhile ((at > 1)) && [[ ${COMP_WORDS[at]} == : ]]; do\n"
	      "\t\targument=${COMP_WORDS[at-1]}:$argument\n"
	      "\t\t((at -= 2))\n"
	      "\tdone\n"
	      "\t[[ ${COMP_WORDS[at]} == \"=\" ]] && ((at--))\n"
	      "\tbefore=${COMP_WORDS[at]}\n", stdout);
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
	print_bash_argument();
	puts("\tcase $before in");
	if (any_takes_columns(t)) {
		print_bash_case(given, false, ",");
		print_bash_case(given, true, ",:");
	}
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
	       "}\n"
	       "_%s_pairs() {\n"
	       "\tcompset -P '*:'\n"
	       "\t_%s_columns\n"
	       "}\n", t->program, t->program, t->program, t->program);
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
	print_words("(", row->words, ")");
	if (takes_columns(row))
		printf("_%s_%s", t->program, takes_pairs(row) ? "pairs" : "columns");
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

/* $argv: the bytes that end a column. */
static void print_fish_columns(const struct option_table *t)
{
	printf("function __%s_columns\n"
	       "    set -l typed (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
	       "    set -l listed (string match -r \"^.*[$argv]\" -- $typed)\n"
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
		printf(" -a '(__%s_columns %s)'", t->program, takes_pairs(row) ? ",:" : ",");
	printf("%s -d '", takes_file(row) ? " -rF" : *row->argument ? " -x" : "");
	print_escaped(row->help, "'\\");
	puts("'");
}

/* Of an option with any number. */
static void print_fish_number(const struct option_table *t, const struct option_row *row)
{
	printf("complete -c %s -n \"string match -qr -- '^--%.*s[0-9][^=]*\\$' (commandline -opc)[-1]\""
	       " -f -a '(__%s_columns ,)'\n", t->program, (int)option_before_number(row->name),
	       row->name, t->program);
}

static void print_fish(const struct option_table *t, const struct option_table *given)
{
	if (any_takes_columns(t))
		print_fish_columns(t);
	for (size_t i = 0; i < given->nrows; i++)
		if (option_before_number(given->rows[i].name) && takes_columns(&given->rows[i]))
			print_fish_number(t, &given->rows[i]);
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
		print_bash(t, table);
	else if (shell == ABOUT_ZSH)
		print_zsh(t, table);
	else
		print_fish(t, table);
}
