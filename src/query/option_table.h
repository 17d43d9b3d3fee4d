/* SPDX-License-Identifier: MIT
 *
 * option_table.h - the command line of a program, from a table of its options: parsing, errors,
 * --help, --version, and completion for shells.
 *
 * Options may follow operands; "--" ends them, and so does the first operand if POSIXLY_CORRECT is
 * set. Forms: --name ARG, --name=ARG, -x ARG, -xARG, -xyz. Unlike getopt_long this accepts no
 * abbreviated name, so that a new option never changes what an old command line means.
 */
#pragma once

#include "base/status.h"

/* Stands for a number in a name: "pNN" is p50, p99.9 and so on. What begins with a digit matches; the
 * program checks the rest. */
#define OPTION_NUMBER "NN"

struct option_row {
	char letter; /* 0: none */
	const char *name;     /* if it ends in OPTION_NUMBER, any number stands there */
	const char *argument; /* what --help calls it, "FILE" if it is one; "": takes none */
	const char *words;    /* the arguments there are, "auto, yes, no"; "": any */
	unsigned group;       /* for the program's own use */
	const char *help;
};

/* The last rows of every table. option_parse itself handles them. */
#define OPTION_ABOUT_ROWS(help_words) \
	{0, "completion", "SHELL", "bash, zsh, fish", ~0u, \
	 "print completion for bash, zsh or fish, and exit"}, \
	{'h', "help", "", "", ~0u, help_words}, \
	{'V', "version", "", "", ~0u, "print the version and what was built in, and exit"}

/* What to print instead of running; the largest given counts. The shells are in the order of completion's
 * words. */
enum option_about {
	ABOUT_NOTHING, ABOUT_VERSION, ABOUT_BRIEF_HELP, ABOUT_HELP, ABOUT_TOPIC, ABOUT_BASH, ABOUT_ZSH, ABOUT_FISH
};

/* Names that other programs have for something, with blanks between, hyphens for underscores, in lower case; and what
 * is typed here: an option, "--mean", or words that follow "try". A letter's name is "-t". */
struct option_synonym {
	const char *typed, *meant;
};

struct option_table {
	const char *program;
	const char *operands; /* words that the first may be, "reduce, scan"; "": operands are files */
	const struct option_row *rows;
	size_t nrows;
	const struct option_synonym *synonyms; /* for suggestions; one whose typed is NULL ends them. NULL: none */
	/* Handles rows[row] with its argument, NULL if it takes none. typed: its name, which ends at a
	 * '=' or NUL. */
	enum status (*handle)(void *options, size_t row, const char *typed, const char *argument,
			      struct fault *fault);
	void (*print_help)(void);
	void (*print_brief_help)(void); /* for -h; NULL: print_help */
	const char *expr_words; /* like a row's words, what is offered for an argument EXPR, and within COLS; NULL: no option has these */
	const char *topic; /* an operand after --help; NULL: none */
	void (*print_topic)(void);
	void (*print_libraries)(void); /* for --version */
};

/* Calls table->handle(options, ...) for each option in order until one fails, and sets *about.
 * Moves the operands to argv[1] ... and stores their number. Errors: handle's; STATUS_USAGE for an
 * unknown option, a missing argument, or one too many. */
enum status option_parse(const struct option_table *table, int argc, char **argv, void *options,
			 enum option_about *about, int *noperands, struct fault *fault);

/* Returns what is meant by a name in a list that a NULL typed ends, or NULL. List NULL: empty. */
const char *option_find_meant(const struct option_synonym *list, const char *typed, size_t nbytes);

/* Returns the row of the name typed[0 .. nbytes), without dashes, or NULL. */
const struct option_row *option_find_row(const struct option_table *table, const char *typed, size_t nbytes);

/* The length of a name without OPTION_NUMBER, if it ends so; else 0. */
size_t option_before_number(const char *name);

/* Prints what `about` names to stdout. Returns false, and prints nothing, for ABOUT_NOTHING. */
bool option_print_about(const struct option_table *table, enum option_about about);

/* Prints a row of --help to stdout, its names padded to `width` columns, without a line end. */
void option_print_row(const struct option_row *row, int width);

/* Returns the index in row->words of text[0 .. nbytes), or -1 with STATUS_USAGE in fault. */
int option_find_word(const struct option_row *row, const char *text, size_t nbytes,
		     struct fault *fault);

/* Reads digits at the start of text, at most `most`. Returns what follows, or NULL. */
const char *option_digits(const char *text, uint64_t most, uint64_t *number);

/* Reads text as a number from 1 to most. Errors: STATUS_USAGE. */
enum status option_number(const struct option_row *row, const char *text, int most, int *number,
			  struct fault *fault);

/* Appends copies of the items of a comma-separated list, blanks around each trimmed, to *items. One in quotes may hold
 * commas. Free with option_free_items, after an error too. Errors: STATUS_USAGE, a quote that is not closed; STATUS_NO_MEMORY. */
enum status option_add_items(const struct option_row *row, const char *list, const char ***items, size_t *nitems,
			     struct fault *fault);
void option_free_items(const char **items, size_t nitems);
