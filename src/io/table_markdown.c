/* SPDX-License-Identifier: MIT
 *
 * table_markdown.c - see table_markdown.h. GitHub Flavored Markdown Spec 0.29, "Tables (extension)" and
 * "Backslash escapes".
 */
#include "io/table_markdown.h"

#include <stdbool.h>
#include <string.h>

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Whether the byte at would be markup. An underscore within a word is not. */
static bool is_markup(const char *text, size_t at)
{
	if (text[at] == '_')
		return at == 0 || !is_alphanumeric(text[at - 1]) || !is_alphanumeric(text[at + 1]);
	return strchr("\\`*[]<>|~&$", text[at]) != NULL;
}

/* Prints a text that is shown as it is; its line ends as <br>, since a row is a line. */
static void print_text(FILE *out, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '\r' && text[i + 1] == '\n')
			i++;
		if (text[i] == '\n' || text[i] == '\r') {
			fputs("<br>", out);
			continue;
		}
		if (is_markup(text, i))
			putc('\\', out);
		putc(text[i], out);
	}
}

static void print_row(FILE *out, const struct cell *row, size_t ncells)
{
	for (size_t i = 0; i < ncells; i++) {
		fputs("| ", out);
		print_text(out, row[i].text);
		putc(' ', out);
	}
	fputs("|\n", out);
}

void table_print_markdown(const struct table *t, FILE *out)
{
	print_row(out, t->names, t->ncolumns);
	for (size_t i = 0; i < t->ncolumns; i++)
		fputs(t->names[i].is_number ? "| --: " : "| --- ", out);
	fputs("|\n", out);
	for (size_t i = 0; i < t->nrows; i++)
		print_row(out, t->cells + i * t->ncolumns, t->ncolumns);
}
